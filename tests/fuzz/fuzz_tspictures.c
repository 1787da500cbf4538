/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes the division of a transport stream into units. A unit consists either
 * of the packets of one picture, or of packets that belong to no picture. All
 * units together must be identical to the input. The numbers of units and of
 * pictures must not depend on the size of the buffers into which the input is
 * divided.
 *
 * If a picture is dropped, some of its packets are still sent. They are called
 * the rest of the picture. The rest must consist of whole packets and must not
 * be larger than the picture.
 *
 * Input: the size of the buffers (1 to 256), then the stream.
 */

#include "fuzz.h"
#include "tspictures.h"

typedef struct
{
  TsPictures *pictures;
  const guint8 *expected;
  gsize left;
  guint64 n_units, n_pictures;
} Cutter;

static void
check_unit (const TsUnit * unit)
{
  fuzz_check (unit->size > 0);
  if (!unit->has_picture) {
    fuzz_check (!unit->stream && !unit->rest && unit->n_removed == 0);
    return;
  }
  fuzz_check (unit->size % TS_PACKET_SIZE == 0);
  fuzz_check (unit->rest_size % TS_PACKET_SIZE == 0);
  fuzz_check (unit->rest_size <= unit->size);
  fuzz_check (unit->stream_size > 0 && unit->stream_size < unit->size);
  fuzz_check (unit->n_removed <= unit->size / TS_PACKET_SIZE);
  fuzz_check (unit->pid < TS_NO_PID);
}

static void
poll_units (Cutter * cutter)
{
  TsUnit unit;

  while (ts_pictures_poll (cutter->pictures, &unit)) {
    check_unit (&unit);
    fuzz_check (unit.size <= cutter->left);
    fuzz_check (memcmp (unit.data, cutter->expected, unit.size) == 0);
    cutter->expected += unit.size;
    cutter->left -= unit.size;
    cutter->n_units++;
    cutter->n_pictures += unit.has_picture;
    ts_shift_counters (unit.data, unit.size, unit.pid, 5);
    ts_unit_clear (&unit);
  }
}

static Cutter
cut (const guint8 * data, gsize size, gsize piece)
{
  Cutter cutter = { ts_pictures_new (), data, size, 0, 0 };

  while (size > 0) {
    gsize n = MIN (piece, size);
    guint8 *copy = g_memdup2 (data, n);

    ts_pictures_input (cutter.pictures, copy, n, 0);
    g_free (copy);
    poll_units (&cutter);
    data += n;
    size -= n;
  }
  ts_pictures_drain (cutter.pictures);
  poll_units (&cutter);
  fuzz_check (cutter.left == 0);
  ts_pictures_free (cutter.pictures);
  return cutter;
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  FuzzInput input = { data, size };
  gsize piece = fuzz_take_u8 (&input) + 1;
  Cutter pieces = cut (input.data, input.size, piece);
  Cutter whole = cut (input.data, input.size, G_MAXSIZE);

  fuzz_check (pieces.n_units == whole.n_units);
  fuzz_check (pieces.n_pictures == whole.n_pictures);
  return 0;
}

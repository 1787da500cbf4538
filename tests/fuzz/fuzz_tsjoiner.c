/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes how mmtpsink cuts a transport stream into pieces, and how mmtpsrc
 * joins the pieces. The pieces are joined three times:
 * - No piece is missing. The output of the joiner must be identical to the
 *   stream, and the pieces together must be as long as the stream.
 * - Pieces are missing. The output must not be longer than the pieces that
 *   arrived.
 * - Pieces are missing, and the flags of the other pieces are wrong. The output
 *   must not be longer than the pieces that arrived.
 *
 * Each time, the joiner must free all pieces that it got.
 *
 * Input: the size of the buffers (1 to 256), which pieces are missing (4
 * bytes), bits of the flags that are inverted (1 byte), then the stream.
 */

#include "fuzz.h"
#include "mmtptscutter.h"
#include "mmtptsjoiner.h"

static GPtrArray *
cut (const guint8 * data, gsize size, gsize buffer)
{
  GPtrArray *pieces = g_ptr_array_new ();
  MmtpTsCutter *cutter = mmtp_ts_cutter_new ();
  MmtpTsPiece piece;
  gsize at, part;

  for (at = 0; at < size; at += part) {
    part = MIN (buffer, size - at);
    mmtp_ts_cutter_input (cutter, data + at, part, at);
  }
  mmtp_ts_cutter_drain (cutter);
  while (mmtp_ts_cutter_poll (cutter, &piece))
    g_ptr_array_add (pieces, g_memdup2 (&piece, sizeof piece));
  fuzz_check (!mmtp_ts_cutter_poll (cutter, &piece));
  mmtp_ts_cutter_free (cutter);
  return pieces;
}

static void
free_user (gpointer user)
{
  (*(guint *) user)--;
}

static void
poll (MmtpTsJoiner * joiner, guint * n_users, GByteArray * output)
{
  gpointer user;
  GBytes *data;

  while ((data = mmtp_ts_joiner_poll (joiner, &user))) {
    fuzz_check (user == n_users);
    (*n_users)--;
    if (g_bytes_get_size (data) > 0)
      g_byte_array_append (output, g_bytes_get_data (data, NULL),
          g_bytes_get_size (data));
    g_bytes_unref (data);
  }
}

/* Joins each piece i for which bit i % 32 of `missing` is not set. Returns the
 * number of bytes of these pieces. */
static gsize
join (const GPtrArray * pieces, guint32 missing, guint8 flags,
    GByteArray * output)
{
  guint n_users = 0, i;
  MmtpTsJoiner *joiner = mmtp_ts_joiner_new (free_user);
  gboolean is_gap = FALSE;
  gsize arrived = 0;

  for (i = 0; i < pieces->len; i++) {
    const MmtpTsPiece *piece = g_ptr_array_index (pieces, i);

    if (missing >> (i % 32) & 1) {
      is_gap = TRUE;
      continue;
    }
    n_users++;
    arrived += g_bytes_get_size (piece->data);
    mmtp_ts_joiner_input (joiner, piece->data, piece->flags ^ flags, is_gap,
        &n_users);
    poll (joiner, &n_users, output);
    is_gap = FALSE;
  }
  if (!(flags & 1)) {
    mmtp_ts_joiner_drain (joiner);
    poll (joiner, &n_users, output);
  }
  mmtp_ts_joiner_free (joiner);
  fuzz_check (n_users == 0);
  return arrived;
}

static void
free_piece (gpointer data, gpointer user_data)
{
  MmtpTsPiece *piece = data;

  g_bytes_unref (piece->data);
  g_free (piece);
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  FuzzInput input = { data, size };
  const gsize buffer = fuzz_take_u8 (&input) + 1;
  const guint32 missing = fuzz_take_u32 (&input);
  const guint8 flags = fuzz_take_u8 (&input);
  GPtrArray *pieces = cut (input.data, input.size, buffer);
  GByteArray *output = g_byte_array_new ();

  fuzz_check (join (pieces, 0, 0, output) == input.size);
  fuzz_check (output->len == input.size);
  fuzz_check (input.size == 0 ||
      memcmp (output->data, input.data, input.size) == 0);
  g_byte_array_set_size (output, 0);
  fuzz_check (join (pieces, missing, 0, output) >= output->len);
  g_byte_array_set_size (output, 0);
  fuzz_check (join (pieces, missing, flags, output) >= output->len);
  g_byte_array_unref (output);
  g_ptr_array_foreach (pieces, free_piece, NULL);
  g_ptr_array_unref (pieces);
  return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes the parser of slotuse.h. A decoder of VP8, VP9 or AV1 stores reference
 * frames and other state in places that are called slots. For each unit, which
 * is a frame or a few frames, the parser returns which slots the unit uses and
 * which slots it updates. The test checks that no byte beyond the unit is read,
 * and that the result never contradicts itself. For a malformed unit, for
 * example one that is cut off, the result must be that the unit uses and
 * updates all slots.
 *
 * Input: the codec, and then the units. Each unit has:
 * - one byte of flags:
 *   bit 0: the parser is told the temporal layer of the unit
 *   bit 1: the parser is told that the unit refers only to frames of the base
 *   layer
 *   bit 2: the parser is reset before the unit
 *   bits 4 to 7: the number of the temporal layer
 * - two bytes of length
 * - the bytes of the unit
 */

#include "fuzz.h"
#include "slotuse.h"

#define FLAG_LAYER 1
#define FLAG_SYNC 2
#define FLAG_FLUSH 4
#define LAYER(flags) ((flags) >> 4)

static void
check_use (SlotCodec codec, gboolean is_valid, const SlotUse * use)
{
  fuzz_check (use->is_key == TRUE || use->is_key == FALSE);
  fuzz_check (use->is_reference == TRUE || use->is_reference == FALSE);
  fuzz_check (use->is_shown == TRUE || use->is_shown == FALSE);
  fuzz_check (use->layer >= SLOT_LAYER_UNKNOWN && use->layer < SLOT_MAX_LAYERS);
  if (use->is_key)
    fuzz_check (use->uses == 0 && use->updates == SLOTS_ALL
        && use->is_reference);
  if (!is_valid)
    fuzz_check (!use->is_key && use->is_reference && use->uses == SLOTS_ALL
        && use->updates == SLOTS_ALL);
  if (!use->is_reference)
    fuzz_check ((use->updates & 7) == 0);
}

static void
read_unit (SlotReader * reader, SlotCodec codec, FuzzInput * input)
{
  guint flags = fuzz_take_u8 (input);
  gsize wanted = fuzz_take_u16 (input), size = MIN (wanted, input->size);
  guint8 *bytes = fuzz_take_copy (input, size);
  SlotLayer layer = { LAYER (flags), (flags & FLAG_SYNC) != 0 };
  gboolean is_valid;
  SlotUse use;

  if (flags & FLAG_FLUSH)
    slot_reader_reset (reader);
  memset (&use, 0xa5, sizeof use);
  is_valid = slot_reader_input (reader, bytes, size,
      flags & FLAG_LAYER ? &layer : NULL, &use);
  check_use (codec, is_valid, &use);
  g_free (bytes);
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  FuzzInput input = { data, size };
  SlotCodec codec = fuzz_take_u8 (&input) % SLOT_CODEC_LAST;
  SlotReader *reader = slot_reader_new (codec);

  while (input.size > 0)
    read_unit (reader, codec, &input);
  slot_reader_free (reader);
  return 0;
}

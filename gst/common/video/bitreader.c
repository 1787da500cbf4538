/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of bitreader.h: reading the bits of a header. */

#include "bitreader.h"

void
bit_reader_init (BitReader * reader, const guint8 * data, gsize size)
{
  reader->data = data;
  reader->size = size;
  reader->position = 0;
  reader->beyond = FALSE;
}

/* Returns whether `n` more bits can be read. If they cannot be read, sets
 * `beyond`. */
static gboolean
require (BitReader * reader, gsize n)
{
  /* The number of remaining bits is computed only if the position is before the
   * end of the data. Otherwise the unsigned subtraction would wrap around.
   */
  if (!reader->beyond && reader->position / 8 < reader->size
      && n > (reader->size - reader->position / 8) * 8 - reader->position % 8)
    reader->beyond = TRUE;
  if (n > 0 && reader->position / 8 >= reader->size)
    reader->beyond = TRUE;
  return !reader->beyond;
}

guint32
bit_reader_take (BitReader * reader, guint n)
{
  guint32 value = 0;
  guint left, part, byte;

  if (!require (reader, n))
    return 0;
  for (; n > 0; n -= part, reader->position += part) {
    left = 8 - reader->position % 8;
    part = MIN (n, left);
    byte = reader->data[reader->position / 8] >> (left - part);
    value = value << part | (byte & ((1u << part) - 1));
  }
  return value;
}

gboolean
bit_reader_take_flag (BitReader * reader)
{
  return bit_reader_take (reader, 1) != 0;
}

void
bit_reader_skip (BitReader * reader, gsize n)
{
  if (require (reader, n))
    reader->position += n;
}

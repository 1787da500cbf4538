/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the bits of a header that has no emulation prevention bytes, such as a
 * header of VP9 or AV1. The reader never reads beyond the end of the data.
 * After parsing a whole header, the caller can check the field `beyond` once to
 * learn whether the header was complete.
 */

#pragma once

#include <glib.h>

#pragma GCC visibility push(hidden)

typedef struct
{
  const guint8 *data;
  gsize size;                   /* in bytes */
  gsize position;               /* in bits */
  /* TRUE if the caller has tried to read beyond the end of the data */
  gboolean beyond;
} BitReader;

void bit_reader_init (BitReader * reader, const guint8 * data, gsize size);
/* Reads an unsigned number of `n` bits, with the most significant bit first
 * (f(n) of the AV1 and VP9 specifications). `n` is at most 32. Returns 0 if
 * fewer than `n` bits are left. */
guint32 bit_reader_take (BitReader * reader, guint n);
/* Reads a single bit. */
gboolean bit_reader_take_flag (BitReader * reader);
void bit_reader_skip (BitReader * reader, gsize n);

#pragma GCC visibility pop

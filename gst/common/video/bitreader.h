/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the bits of a header that has no emulation prevention bytes, such as
 * those of VP9 and AV1. It never reads beyond the end. A caller can parse a
 * whole header and check only once, at its end, whether all of it was
 * available.
 */

#pragma once

#include <glib.h>

#pragma GCC visibility push(hidden)

typedef struct
{
  const guint8 *data;
  gsize size;                   /* in bytes */
  gsize position;               /* in bits */
  /* The caller has tried to read beyond the end. */
  gboolean beyond;
} BitReader;

void bit_reader_init (BitReader * reader, const guint8 * data, gsize size);
/* Reads f(n) with `n` up to 32, the most significant bit first; returns 0
 * beyond the end. */
guint32 bit_reader_take (BitReader * reader, guint n);
/* Reads a single bit. */
gboolean bit_reader_take_flag (BitReader * reader);
void bit_reader_skip (BitReader * reader, gsize n);

#pragma GCC visibility pop

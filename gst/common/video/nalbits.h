/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the payload of an H.264 or H.265 NAL unit by bytes or bits, and removes
 * the emulation prevention bytes (H.264, 7.3.1 and 9.1). It never reads beyond
 * the end. A caller can parse a whole structure and check only once, at its
 * end, whether all of it was available.
 */

#pragma once

#include <glib.h>

#pragma GCC visibility push(hidden)

typedef struct
{
  const guint8 *next, *end;
  /* number of zero bytes directly before `next` */
  guint zeros;
  guint8 byte;                  /* the byte whose bits are being read */
  /* number of bits of `byte` that were not read yet */
  guint left;
  /* The caller has tried to read beyond the end, or the data contain a number
   * that is not allowed. */
  gboolean beyond;
} NalBits;

void nal_bits_init (NalBits * bits, const guint8 * data, const guint8 * end);

/* Reads a byte. Must not be called between two bytes, when bits of a byte are
 * left. Returns FALSE at the end. */
gboolean nal_bits_take_byte (NalBits * bits, guint8 * byte);
/* Reads u(n) with `n` up to 32; returns 0 beyond the end. */
guint32 nal_bits_take (NalBits * bits, guint n);
/* Read ue(v) and se(v); return 0 beyond the end. */
guint32 nal_bits_take_ue (NalBits * bits);
gint32 nal_bits_take_se (NalBits * bits);
/* Reads ue(v). A value above `max` sets `beyond`, and 0 is returned. */
guint32 nal_bits_take_index (NalBits * bits, guint32 max);

#pragma GCC visibility pop

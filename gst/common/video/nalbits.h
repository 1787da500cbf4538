/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the payload of an H.264 or H.265 NAL unit by bytes or bits, and removes
 * the emulation prevention bytes (H.264, 7.3.1 and 9.1). It never reads beyond
 * the end of the NAL unit. A caller can parse a whole structure and check only
 * once, at the end of the structure, whether all of it was available.
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

/* Reads a byte. Must not be called while a byte has been read in part. Returns
 * FALSE at the end of the NAL unit. */
gboolean nal_bits_take_byte (NalBits * bits, guint8 * byte);
/* Reads an unsigned number of `n` bits, u(n) in the standard, with `n` up to
 * 32. Returns 0 beyond the end. */
guint32 nal_bits_take (NalBits * bits, guint n);
/* Read an unsigned or signed Exp-Golomb code, ue(v) and se(v) in the standard.
 * Return 0 beyond the end. */
guint32 nal_bits_take_ue (NalBits * bits);
gint32 nal_bits_take_se (NalBits * bits);
/* Reads an unsigned Exp-Golomb code, ue(v) in the standard. If the value is
 * above `max`, sets `beyond` and returns 0. */
guint32 nal_bits_take_index (NalBits * bits, guint32 max);

#pragma GCC visibility pop

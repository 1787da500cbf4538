/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the payload of an H.264 or H.265 NAL unit by bytes or bits, and removes
 * the emulation prevention bytes (H.264, 7.3.1 and 9.1). The reader never reads
 * beyond the end of the NAL unit. A caller can parse a whole structure first
 * and then check `beyond` once to learn whether the structure was complete.
 */

#pragma once

#include <glib.h>

#pragma GCC visibility push(hidden)

typedef struct
{
  const guint8 *next, *end;
  /* number of zero bytes directly before `next`, needed to find emulation
   * prevention bytes */
  guint zeros;
  guint8 byte;                  /* the byte whose bits are being read */
  /* number of bits of `byte` that were not read yet */
  guint left;
  /* TRUE if the caller has tried to read beyond the end of the NAL unit, or if
   * a field has a value that is not allowed */
  gboolean beyond;
} NalBits;

void nal_bits_init (NalBits * bits, const guint8 * data, const guint8 * end);

/* Reads a whole byte. Returns FALSE at the end of the NAL unit. Do not call
 * this function while some bits of a byte were not read yet. */
gboolean nal_bits_take_byte (NalBits * bits, guint8 * byte);
/* Reads an unsigned number of `n` bits, which is u(n) in the standard. The
 * maximum of `n` is 32. Returns 0 beyond the end of the NAL unit. */
guint32 nal_bits_take (NalBits * bits, guint n);
/* Read an Exp-Golomb code: an unsigned one (ue(v) in the standard) or a signed
 * one (se(v)). Return 0 beyond the end of the NAL unit. */
guint32 nal_bits_take_ue (NalBits * bits);
gint32 nal_bits_take_se (NalBits * bits);
/* Reads an unsigned Exp-Golomb code, which is ue(v) in the standard. If the
 * value is above `max`, sets `beyond` and returns 0. */
guint32 nal_bits_take_index (NalBits * bits, guint32 max);

#pragma GCC visibility pop

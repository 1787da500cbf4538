/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the payload of an H.264 or H.265 NAL unit byte by byte or bit by bit,
 * and removes the emulation prevention bytes (H.264, 7.3.1 and 9.1). The reader
 * never reads beyond the end of the NAL unit, but sets the field `beyond`
 * instead. A caller can therefore parse a whole structure first. One check of
 * `beyond` then shows whether the structure was complete. */

#pragma once

#include <glib.h>

#pragma GCC visibility push(hidden)

typedef struct
{
  const guint8 *next, *end;
  /* Number of zero bytes directly before `next`. It is needed to recognize an
   * emulation prevention byte, which follows two zero bytes. */
  guint zeros;
  guint8 byte;                  /* byte that contains the next bit */
  /* number of bits of `byte` that have not been read yet */
  guint left;
  /* TRUE if the caller has tried to read beyond the end of the NAL unit, or if
   * a field has a value that is not allowed */
  gboolean beyond;
} NalBits;

void nal_bits_init (NalBits * bits, const guint8 * data, const guint8 * end);

/* Reads a whole byte. Returns FALSE at the end of the NAL unit. Call this
 * function only at a byte boundary: all bits of the previous byte must have
 * been read. */
gboolean nal_bits_take_byte (NalBits * bits, guint8 * byte);
/* Reads an unsigned number of `n` bits (u(n) in the standard). `n` is at most
 * 32. If the NAL unit ends too early, the missing bits are read as 0 and
 * `beyond` is set. */
guint32 nal_bits_take (NalBits * bits, guint n);
/* nal_bits_take_ue () reads an unsigned Exp-Golomb code (ue(v) in the
 * standard). nal_bits_take_se () reads a signed one (se(v)). If the NAL unit
 * ends too early, both set `beyond` and return 0. */
guint32 nal_bits_take_ue (NalBits * bits);
gint32 nal_bits_take_se (NalBits * bits);
/* Reads an unsigned Exp-Golomb code (ue(v) in the standard) whose value must
 * not be above `max`. If it is above `max`, sets `beyond` and returns 0. */
guint32 nal_bits_take_index (NalBits * bits, guint32 max);

#pragma GCC visibility pop

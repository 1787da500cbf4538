/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The payload of a NAL unit of H.264 or H.265, byte by byte or bit by bit,
 * without the bytes that prevent the emulation of start codes (H.264, 7.3.1 and
 * 9.1). Nothing is read beyond the end: a caller reads a whole structure, and
 * asks once, at the end of it, whether all of it was there.
 */

#pragma once

#include <glib.h>

#pragma GCC visibility push(hidden)

typedef struct
{
  const guint8 *next, *end;
  guint zeros;                  /* zero bytes just before next */
  guint8 byte;                  /* the bits that are being taken */
  guint left;                   /* bits of byte that were not taken yet */
  gboolean beyond;              /* more was asked for than there is, or a number
                                 * that no stream has */
} NalBits;

void nal_bits_init (NalBits * bits, const guint8 * data, const guint8 * end);

/* A whole byte, where no bits of another one are left. FALSE: the end */
gboolean nal_bits_take_byte (NalBits * bits, guint8 * byte);
/* u(n), n up to 32; 0 beyond the end */
guint32 nal_bits_take (NalBits * bits, guint n);
/* ue(v) and se(v); 0 beyond the end */
guint32 nal_bits_take_ue (NalBits * bits);
gint32 nal_bits_take_se (NalBits * bits);
/* ue(v) of at most max: larger ones count as beyond the end */
guint32 nal_bits_take_index (NalBits * bits, guint32 max);

#pragma GCC visibility pop

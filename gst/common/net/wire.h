/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions that the code of all wire formats uses: integers in network byte
 * order, the Internet checksum, and the comparison of secrets.
 */

#pragma once

#include <glib.h>

static inline guint64
wire_read (const guint8 * bytes, gsize size)
{
  guint64 number = 0;
  gsize i;

  for (i = 0; i < size; i++)
    number = number << 8 | bytes[i];
  return number;
}

static inline void
wire_write (guint8 * bytes, gsize size, guint64 number)
{
  for (; size > 0; size--, number >>= 8)
    bytes[size - 1] = number;
}

/* Returns the sum of the 16-bit words of `bytes`, from which the Internet
 * checksum is computed (RFC 1071). The words are read in the byte order of the
 * machine (RFC 1071, section 2 B), and an odd last byte is padded with zero.
 * The sum is not yet folded to 16 bits, so several sums can be added first. */
guint64 wire_sum (gconstpointer bytes, gsize size);

static inline guint16
wire_fold_sum (guint64 sum)
{
  sum = (sum & G_MAXUINT32) + (sum >> 32);
  sum = (sum & G_MAXUINT32) + (sum >> 32);
  sum = (sum & G_MAXUINT16) + (sum >> 16);
  return (sum & G_MAXUINT16) + (sum >> 16);
}

/* Returns whether two values of `size` bytes are equal. The comparison takes
 * the same time wherever the values differ, so that the duration reveals
 * nothing about a secret. */
gboolean wire_is_same (const guint8 * a, const guint8 * b, gsize size);

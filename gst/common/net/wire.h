/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What wire formats have in common: numbers, the checksum of the Internet, and
 * the comparison of secrets. Numbers have their most significant byte first.
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

/* The sum of RFC 1071, of 16-bit words as they lie in memory (its section 2 B),
 * the last one filled up with zeros. Sums can be added before they are folded. */
guint64 wire_sum (gconstpointer bytes, gsize size);

static inline guint16
wire_fold_sum (guint64 sum)
{
  sum = (sum & G_MAXUINT32) + (sum >> 32);
  sum = (sum & G_MAXUINT32) + (sum >> 32);
  sum = (sum & G_MAXUINT16) + (sum >> 16);
  return (sum & G_MAXUINT16) + (sum >> 16);
}

/* In a time that does not depend on where they differ */
gboolean wire_is_same (const guint8 * a, const guint8 * b, gsize size);

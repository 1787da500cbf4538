/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of wire.h. The checksum covers every byte of a packet, so it
 * processes eight bytes at a time to be fast.
 */

#include "wire.h"

#include <string.h>

/* Each 64-bit sum adds 32-bit halves of words, so it cannot overflow before
 * 2^32 words were added. */
guint64
wire_sum (gconstpointer bytes, gsize size)
{
  const guint8 *next = bytes;
  guint64 low = 0, high = 0, word;

  for (; size >= sizeof (word); next += sizeof (word), size -= sizeof (word)) {
    memcpy (&word, next, sizeof (word));
    low += word & G_MAXUINT32;
    high += word >> 32;
  }
  if (size > 0) {
    word = 0;
    memcpy (&word, next, size);
    low += word & G_MAXUINT32;
    high += word >> 32;
  }
  return (guint64) wire_fold_sum (low) + wire_fold_sum (high);
}

gboolean
wire_is_same (const guint8 * a, const guint8 * b, gsize size)
{
  volatile guint64 difference = 0;
  guint64 words[2] = { 0 };
  gsize n;

  for (; size > 0; a += n, b += n, size -= n) {
    n = MIN (size, sizeof (words[0]));
    memcpy (&words[0], a, n);
    memcpy (&words[1], b, n);
    difference |= words[0] ^ words[1];
  }
  return difference == 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of wire.h. The checksum covers every byte of a packet. To be
 * fast, the code adds 32 bytes at a time.
 */

#include "wire.h"

#include <string.h>

/* Two 64-bit words. If the CPU has a vector unit (SSE2, NEON), one vector
 * instruction processes both words. Otherwise the compiler generates separate
 * instructions for each word. */
typedef guint64 Vector __attribute__((vector_size (16)));

/* Two parts of a sum of 64-bit words. `low` is the sum of the low 32 bits of
 * all words, and `high` is the sum of their high 32 bits. Both sums have 64
 * bits, so they cannot overflow before 2^32 words were added. */
typedef struct
{
  guint64 low, high;
} Sums;

static void
add_word (Sums * sums, guint64 word)
{
  sums->low += word & G_MAXUINT32;
  sums->high += word >> 32;
}

/* Adds the bytes of `bytes`, as 64-bit words, to `sums`. The Internet checksum
 * is computed from these sums. A vector consists of two 64-bit words, and each
 * step adds two vectors (32 bytes). The function returns the number of bytes
 * that were added. The rest is shorter than 32 bytes and is left to the caller.
 *
 * The first and the second vector of a step are added to separate sums, so that
 * the CPU can do both additions at the same time. With a single sum, each
 * addition would have to wait for the result of the previous addition. */
static gsize
add_vectors (Sums * sums, const guint8 * bytes, gsize size)
{
  Vector low[2] = { {0, 0}, {0, 0} }, high[2] = { {0, 0}, {0, 0} };
  Vector words[2];
  gsize done;

  for (done = 0; size - done >= sizeof (words); done += sizeof (words)) {
    memcpy (words, bytes + done, sizeof (words));
    low[0] += words[0] & G_MAXUINT32;
    low[1] += words[1] & G_MAXUINT32;
    high[0] += words[0] >> 32;
    high[1] += words[1] >> 32;
  }
  low[0] += low[1];
  high[0] += high[1];
  sums->low += low[0][0] + low[0][1];
  sums->high += high[0][0] + high[0][1];
  return done;
}

guint64
wire_sum (gconstpointer bytes, gsize size)
{
  const guint8 *next = bytes;
  Sums sums = { 0, 0 };
  guint64 word;
  gsize done = add_vectors (&sums, next, size);

  next += done;
  size -= done;
  for (; size >= sizeof (word); next += sizeof (word), size -= sizeof (word)) {
    memcpy (&word, next, sizeof (word));
    add_word (&sums, word);
  }
  if (size > 0) {
    word = 0;
    memcpy (&word, next, size);
    add_word (&sums, word);
  }
  return (guint64) wire_fold_sum (sums.low) + wire_fold_sum (sums.high);
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

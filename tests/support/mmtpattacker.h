/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the tests with attackers of an MMTP session share: numbers that can be
 * drawn again, addresses of hosts that are no end of the session, messages that
 * were seen on the path, and damage to them.
 */

#ifndef __MMTP_ATTACKER_H__
#define __MMTP_ATTACKER_H__

#include "mmtpnetwork.h"

#include <string.h>

G_BEGIN_DECLS

typedef struct
{
  guint64 time;                 /* ns */
  MmtpRole from;
  MmtpAddress address;          /* of the sender's channel */
  guint8 bytes[1500];
  gsize size;
} Recorded;

/* xorshift32; `state` is a guint32 that is not 0. */
static inline guint32
draw (gpointer state)
{
  guint32 *x = state;

  *x ^= *x << 13;
  *x ^= *x >> 17;
  *x ^= *x << 5;
  return *x;
}

/* A host in a network of its own */
static inline MmtpAddress
make_stranger (guint32 number)
{
  MmtpAddress address =
      { 6, {198, 51, number >> 16, number >> 8, 0, number}, 4, 3 };

  return address;
}

/* On the host of the sender's first channel, with a port of its own */
static inline MmtpAddress
make_lodger (void)
{
  MmtpAddress address;

  mmtp_pair_get_address (0, &address);
  address.bytes[4] = 0xff;
  return address;
}

static inline gboolean
is_stranger (const MmtpAddress * address)
{
  return address->bytes[0] == 198 || address->bytes[4] == 0xff;
}

static inline void
record (Recorded * recorded, MmtpPair * pair, MmtpRole from,
    const MmtpAddress * address, const guint8 * bytes, gsize size)
{
  g_assert (size <= sizeof (recorded->bytes));
  recorded->time = pair->now;
  recorded->from = from;
  recorded->address = *address;
  recorded->size = size;
  memcpy (recorded->bytes, bytes, size);
}

/* Changes one bit, or cuts the end off. */
static inline void
spoil (guint32 * state, guint8 * bytes, gsize * size)
{
  guint bit = draw (state) % (*size * 8);

  if (draw (state) & 1)
    bytes[bit / 8] ^= 1 << bit % 8;
  else
    *size = draw (state) % *size;
}

G_END_DECLS

#endif /* __MMTP_ATTACKER_H__ */

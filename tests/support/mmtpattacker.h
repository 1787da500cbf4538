/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the tests with attackers of an MMTP session share: numbers that can be
 * drawn again, addresses of hosts that are no end of the session, messages that
 * were seen on the path, and damage to them.
 */

#ifndef __MMTPATTACKER_H__
#define __MMTPATTACKER_H__

#include "mmtpnetwork.h"

#include <string.h>

G_BEGIN_DECLS

typedef struct
{
  guint64 time;                 /* ns */
  MmtpRole from;
  MmtpAddress address;          /* of the sender's path */
  guint8 bytes[1500];
  gsize size;
} Recorded;

/* xorshift32; `state` is a guint32 that is not 0. */
guint32 attacker_draw (gpointer state);
/* A host in a network of its own */
MmtpAddress attacker_make_stranger (guint32 number);
/* On the host of the sender's first path, with a port of its own */
MmtpAddress attacker_make_shared_address (void);
gboolean attacker_is_stranger (const MmtpAddress * address);
void attacker_record (Recorded * recorded, MmtpNetwork * network, MmtpRole from,
    const MmtpAddress * address, const guint8 * bytes, gsize size);
/* Changes one bit, or cuts the end off. */
void attacker_spoil (guint32 * state, guint8 * bytes, gsize * size);

G_END_DECLS

#endif /* __MMTPATTACKER_H__ */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Helpers for tests with attackers of an MMTP session: reproducible random
 * numbers, addresses of hosts outside the session, recorded messages, and
 * damage to messages.
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
  MmtpAddress address;          /* Address of the sender's path. */
  guint8 bytes[1500];
  gsize size;
} Recorded;

/* Returns a random number (xorshift32). `state` is a guint32 that must not be
 * 0. */
guint32 attacker_draw (gpointer state);
/* Returns the address of host number `number` of the attacker. The attacker's
 * hosts are in a network that no endpoint of the session uses. */
MmtpAddress attacker_make_unknown_host (guint32 number);
/* Returns an address of an attacker that has the same IP address as the sender
 * on its first path, but another port. */
MmtpAddress attacker_make_shared_address (void);
gboolean attacker_is_unknown_host (const MmtpAddress * address);
void attacker_record (Recorded * recorded, MmtpNetwork * network, MmtpRole from,
    const MmtpAddress * address, const guint8 * bytes, gsize size);
/* Damages a message: inverts one bit of it, or cuts its end off. */
void attacker_spoil (guint32 * state, guint8 * bytes, gsize * size);

G_END_DECLS

#endif /* __MMTPATTACKER_H__ */

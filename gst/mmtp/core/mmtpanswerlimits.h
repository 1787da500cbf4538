/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Limits the rate at which COOKIE and REFUSE messages are sent to hosts whose
 * address is not verified yet. Without the limit, the receiver could be used
 * for reflection attacks (docs/wire-mmtp.md, section 4).
 *
 * A seal is a MAC that a sender with the application's key adds to its INIT.
 * Answers to INITs with a valid seal have a limit of their own. A flood from
 * hosts without the key therefore cannot use up the answers for senders that
 * have the key. The number of these answers is limited as well: an attacker can
 * replay a sealed INIT from any address for as long as the key is in use.
 */

#pragma once

#include "mmtpaddress.h"
#include "mmtpkeys.h"
#include "prefixlimiter.h"

typedef struct
{
  PrefixLimiter *strangers;
  PrefixLimiter *sealed;
} MmtpAnswerLimits;

/* There are two hash tables. The first one is for hosts whose INIT had no valid
 * seal, and its secret is `strangers`. The second one is for hosts whose INIT
 * had a valid seal, and its secret is `sealed`. The two secrets must be
 * different. */
void mmtp_answer_limits_init (MmtpAnswerLimits * self,
    const guint8 strangers[MMTP_KEY_SIZE], const guint8 sealed[MMTP_KEY_SIZE]);
void mmtp_answer_limits_clear (MmtpAnswerLimits * self);
/* Returns whether an answer to an INIT may be sent to `address` at `now` (ns).
 * If so, the answer is counted. `is_sealed` is TRUE if the INIT had a valid
 * seal, which is a MAC with the application's key. `is_busy` is TRUE while a
 * session is alive. */
gboolean mmtp_answer_limits_take (MmtpAnswerLimits * self, guint64 now,
    const MmtpAddress * address, gboolean is_sealed, gboolean is_busy);
/* Called when a host has proved that it receives packets at `address`. From
 * then on, some answers are reserved for this host. A flood from other hosts
 * cannot use up these answers. */
void mmtp_answer_limits_remember (MmtpAnswerLimits * self,
    const MmtpAddress * address);

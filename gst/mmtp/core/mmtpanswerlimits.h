/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A handshake begins with an INIT message of the sender. The receiver answers
 * with a COOKIE or REFUSE message. This module limits the rate of the answers
 * to hosts whose address is not verified yet. Without the limit, the receiver
 * could be used for reflection attacks (docs/wire-mmtp.md, section 4).
 *
 * A sender that has the application's key adds a seal to its INIT. The seal is
 * a MAC. Answers to INITs with a valid seal have a limit of their own. A flood
 * from hosts without the key therefore cannot use up the answers for senders
 * that have the key. The number of answers to sealed INITs is limited as well,
 * because an attacker can record a sealed INIT and replay it from any address
 * for as long as the key is in use. */

#pragma once

#include "mmtpaddress.h"
#include "mmtpkeys.h"
#include "prefixlimiter.h"

typedef struct
{
  PrefixLimiter *unknown_hosts;
  PrefixLimiter *sealed;
} MmtpAnswerLimits;

/* Creates two limits for the answers to INITs, the first messages of
 * handshakes. One limit is for hosts whose INIT had no valid seal, and the
 * other one is for hosts whose INIT had a valid seal. Each limit stores its
 * counters in hash tables with a secret key. `unknown_hosts` is the key of the
 * first limit, and `sealed` is the key of the second limit. The two keys must
 * be different. */
void mmtp_answer_limits_init (MmtpAnswerLimits * self,
    const guint8 unknown_hosts[MMTP_KEY_SIZE],
    const guint8 sealed[MMTP_KEY_SIZE]);
void mmtp_answer_limits_clear (MmtpAnswerLimits * self);
/* Returns whether the receiver may answer an INIT (the first message of a
 * handshake) from `address` at the time `now` (ns). If so, counts the answer.
 * `is_sealed` is TRUE if the INIT had a valid seal, which is a MAC with the
 * application's key. `is_busy` is TRUE while a session is alive. */
gboolean mmtp_answer_limits_take (MmtpAnswerLimits * self, guint64 now,
    const MmtpAddress * address, gboolean is_sealed, gboolean is_busy);
/* Called when a host has proved that it receives packets at `address`. From
 * then on, a part of the answers that may be sent is reserved for this host. A
 * flood from other hosts cannot use up this part. */
void mmtp_answer_limits_remember (MmtpAnswerLimits * self,
    const MmtpAddress * address);

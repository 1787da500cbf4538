/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How many COOKIE and REFUSE messages a receiver sends to hosts that have not
 * shown yet that they get what is sent to their address. Answers to INITs with
 * a right seal have a budget of their own, so that a flood of strangers cannot
 * use up what senders with the key need. They are limited as well: an INIT has
 * no freshness, and whoever sees one can replay it from any address for as long
 * as the key is in use.
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

/* Secrets of the hash tables, different ones */
void mmtp_answer_limits_init (MmtpAnswerLimits * self,
    const guint8 strangers[MMTP_KEY_SIZE], const guint8 sealed[MMTP_KEY_SIZE]);
void mmtp_answer_limits_clear (MmtpAnswerLimits * self);
/* Whether an answer may be sent, which is counted. `is_busy`: there is a
 * session */
gboolean mmtp_answer_limits_take (MmtpAnswerLimits * self, guint64 now,
    const MmtpAddress * address, gboolean is_sealed, gboolean is_busy);
/* This host receives what is sent to its address: it gets answers also where
 * strangers take all of theirs. */
void mmtp_answer_limits_remember (MmtpAnswerLimits * self,
    const MmtpAddress * address);

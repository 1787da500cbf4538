/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rate limits for COOKIE and REFUSE messages, with which the receiver answers
 * the first handshake messages of unknown hosts. */

#include "mmtpanswerlimits.h"

#include <string.h>

/* Maximum number of answers to INITs (the first messages of handshakes) per
 * second, summed over all hosts (docs/wire-mmtp.md, section 4). The answers are
 * COOKIE and REFUSE messages. The maximum applies separately to two groups of
 * answers: the answers to INITs with a valid seal (a MAC with the application's
 * key), and the answers to all other INITs.
 *
 * While a session is alive, the maximum is ANSWERS_WHILE_BUSY. It is lower for
 * two reasons: no other session can begin during this session, and the answers
 * share the return path with the session's reports. */
#define ANSWERS_WHILE_FREE 20000
#define ANSWERS_WHILE_BUSY 1000

void
mmtp_answer_limits_init (MmtpAnswerLimits * self,
    const guint8 unknown_hosts[MMTP_KEY_SIZE],
    const guint8 sealed[MMTP_KEY_SIZE])
{
  self->unknown_hosts = prefix_limiter_new (unknown_hosts);
  self->sealed = prefix_limiter_new (sealed);
}

void
mmtp_answer_limits_clear (MmtpAnswerLimits * self)
{
  prefix_limiter_free (self->unknown_hosts);
  prefix_limiter_free (self->sealed);
}

static void
get_host (const MmtpAddress * address, PrefixLimiterHost * host)
{
  gsize prefix_size = address->prefix_size ? address->prefix_size :
      address->size;

  memset (host, 0, sizeof (*host));
  host->size = MIN (address->host_size, sizeof (host->bytes));
  host->prefix_size = MIN (prefix_size, sizeof (host->bytes));
  memcpy (host->bytes, address->bytes, MAX (host->size, host->prefix_size));
}

gboolean
mmtp_answer_limits_take (MmtpAnswerLimits * self, guint64 now,
    const MmtpAddress * address, gboolean is_sealed, gboolean is_busy)
{
  PrefixLimiterHost host;

  get_host (address, &host);
  return prefix_limiter_take (is_sealed ? self->sealed : self->unknown_hosts,
      now, &host, is_busy ? ANSWERS_WHILE_BUSY : ANSWERS_WHILE_FREE);
}

void
mmtp_answer_limits_remember (MmtpAnswerLimits * self,
    const MmtpAddress * address)
{
  PrefixLimiterHost host;

  get_host (address, &host);
  prefix_limiter_remember (self->unknown_hosts, &host);
  prefix_limiter_remember (self->sealed, &host);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtplargelosses.h: counts the lost large messages. */

#include "mmtplargelosses.h"

#include <string.h>

#define MILLISECOND G_GUINT64_CONSTANT (1000000)

/* A path counts as delivering nothing if at least LOST_PERCENT of its recent
 * large messages are lost. This decision needs at least MIN_JUDGED messages for
 * which it is known whether they have arrived. With the values 75 % and 8, at
 * least 6 of 8 messages must be lost. If 10 % of the messages are lost at
 * random, this happens only in one of 40,000 cases. */
#define LOST_PERCENT 75
#define MIN_JUDGED 8
/* The numbers are halved when `judged` has reached MAX_JUDGED and MIN_TIME (ns)
 * has passed since they were halved last.
 *
 * Without the condition MIN_TIME, the numbers of a fast path would be halved in
 * almost every report, and would cover only the last few reports. If a queue
 * then overflows once, a single report shows dozens of lost messages. This one
 * report would make the path count as delivering nothing. */
#define MAX_JUDGED 32
#define MIN_TIME (1000 * MILLISECOND)

void
mmtp_large_losses_clear (MmtpLargeLosses * losses)
{
  memset (losses, 0, sizeof (*losses));
}

void
mmtp_large_losses_begin_report (MmtpLargeLosses * losses, guint64 now)
{
  if (losses->since == 0)
    losses->since = now;
  if (losses->judged < MAX_JUDGED || now < losses->since + MIN_TIME)
    return;
  losses->since = now;
  losses->judged /= 2;
  losses->lost /= 2;
}

void
mmtp_large_losses_add_judged (MmtpLargeLosses * losses)
{
  losses->judged++;
}

void
mmtp_large_losses_add_lost (MmtpLargeLosses * losses)
{
  losses->lost++;
}

gboolean
mmtp_large_losses_are_few (const MmtpLargeLosses * losses)
{
  return losses->judged < MIN_JUDGED ||
      losses->lost * 100 < losses->judged * LOST_PERCENT;
}

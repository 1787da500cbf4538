/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtpfirstrate.h: checks the first estimate of the rate. */

#include "mmtpfirstrate.h"

/* Maximum size in bytes, with IP and UDP headers, of a short message with which
 * the estimate is checked. A KEEPALIVE has 83 bytes over IPv4. */
#define MAX_SHORT 128
/* Number of messages that are checked. The longer the check lasts, the more
 * likely is a single long delay, and the more the two clocks differ. */
#define MAX_CHECKED 8

void
mmtp_first_rate_check_begin (MmtpFirstRateCheck * check,
    const MmtpFirstRate * first)
{
  check->estimate = *first;
  check->is_over = first->time == 0 || first->is_minimum;
  check->n_checked = 0;
}

void
mmtp_first_rate_check_end (MmtpFirstRateCheck * check)
{
  check->is_over = TRUE;
}

/* A message that is not alone on the path may have to wait for others, so only
 * the delay of a message that is alone can be jitter. If the estimate is right,
 * the delay of a short message minus that of the OPEN is -estimate.time. If the
 * short message was much slower than this, or than an earlier short message,
 * there is jitter. The OPEN may then have been delayed by jitter, too, and the
 * real rate may be much higher. */
gboolean
mmtp_first_rate_check_add (MmtpFirstRateCheck * check, const MmtpSent * message,
    gint64 latest, gint64 base)
{
  const gint64 time = check->estimate.time;
  const gint64 jitter = latest - MIN (base, -time);
  const gboolean is_wrong = time <= MMTP_JITTER_FACTOR * jitter;

  if (check->is_over || message->size > MAX_SHORT ||
      message->in_flight > message->size)
    return FALSE;
  check->is_over = ++check->n_checked == MAX_CHECKED || is_wrong;
  return is_wrong;
}

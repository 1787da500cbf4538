/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtpfirstrate.h: checks the first estimate of the rate. */

#include "mmtpfirstrate.h"
#include "mmtpratecontrol.h"

/* Maximum size in bytes, with IP and UDP headers, of a short message with which
 * the estimate is checked. A KEEPALIVE has 83 bytes over IPv4. */
#define MAX_SHORT 128
/* Number of messages that are checked. The longer the check lasts, the more
 * likely is a single long delay, and the more the two clocks differ. */
#define MAX_CHECKED 8
/* Shorter differences (ns) than this do not count as jitter. The estimate itself
 * is not more accurate: mmtphandshake.c assumes that a large message takes at
 * least 0.2 ms longer than a short one. */
#define MIN_JITTER 250000

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

/* Returns the time in ns that the bytes in flight before `message` take at most
 * on the path, if the estimate is right. */
static gint64
get_waiting_time (const MmtpFirstRateCheck * check, const MmtpSent * message)
{
  const guint64 before = message->in_flight -
      MIN (message->in_flight, message->size);

  return mmtp_rate_get_time (check->estimate.rate, before);
}

/* If the estimate is right, the delay of a short message minus that of the OPEN
 * is -estimate.time. The short message may also have waited for other messages
 * that were sent before it. If it was much slower than this, or than an earlier
 * short message, there is jitter. The OPEN may then have been delayed by jitter,
 * too, and the real rate may be much higher. */
gboolean
mmtp_first_rate_check_add (MmtpFirstRateCheck * check, const MmtpSent * message,
    gint64 latest, gint64 base)
{
  const gint64 time = check->estimate.time;
  const gint64 jitter = latest - MIN (base, -time) -
      get_waiting_time (check, message);
  const gboolean is_wrong = jitter > MIN_JITTER &&
      time <= MMTP_JITTER_FACTOR * jitter;

  if (check->is_over || message->size > MAX_SHORT)
    return FALSE;
  check->is_over = ++check->n_checked == MAX_CHECKED || is_wrong;
  return is_wrong;
}

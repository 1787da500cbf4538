/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The first estimate of the rate of a path, and a check of this estimate. The
 * estimate assumes that a large message (the OPEN) took longer than a short one
 * because of its size. The rate is computed from the difference. But on a path
 * with jitter, the difference may be mere jitter. The short messages that
 * follow show whether this is the case. Times are in ns. */

#pragma once

#include "mmtpsentlog.h"

typedef struct
{
  guint64 rate;                 /* bit/s; 0 if unknown */
  /* TRUE in two cases:
   * - The path has so much jitter that the rate cannot be estimated. `rate` is
   *   then 0.
   * - Messages were lost, and the estimate was therefore limited to a low
   *   value. The actual rate may be much higher. */
  gboolean is_minimum;
  /* how much longer the large message took than the short one; 0 if unknown */
  guint64 time;
} MmtpFirstRate;

/* The rate of a path cannot be estimated from the difference of two times, that
 * of a large message and that of a short one, if this difference is mostly
 * jitter. This is assumed if the difference is not more than this factor times
 * the measured jitter. Only a few messages are measured, so the real jitter may
 * be several times as long as the measured one. The timeout of TCP allows for
 * four times the deviation of the round trip, too (RFC 6298, section 2). With a
 * larger factor, a few ms of jitter would prevent a good estimate on a narrow
 * path. */
#define MMTP_JITTER_FACTOR 4

typedef struct
{
  MmtpFirstRate estimate;
  gboolean is_over;             /* TRUE if there is nothing to check any more */
  guint n_checked;              /* short messages compared with `estimate` */
} MmtpFirstRateCheck;

/* Begins to check the estimate `first`. There is nothing to check if `first`
 * contains no time, or if it is only a minimum of the rate. */
void mmtp_first_rate_check_begin (MmtpFirstRateCheck * check,
    const MmtpFirstRate * first);
/* Ends the check. It is called when a large message is sent, because this
 * message will show the rate better than the OPEN has. */
void mmtp_first_rate_check_end (MmtpFirstRateCheck * check);
/* Checks the estimate with a message that has arrived. `latest` is its delay
 * minus that of the OPEN, and `base` is the minimum of these differences.
 * Returns TRUE if the estimate was jitter. The check is over then. */
gboolean mmtp_first_rate_check_add (MmtpFirstRateCheck * check,
    const MmtpSent * message, gint64 latest, gint64 base);

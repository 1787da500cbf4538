/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One-way delays of a path, from the reports. The base delay is the minimum of
 * the last minute, or the minimum that was found when the path's queue had been
 * drained on purpose. The standing delay is the minimum of the last reports;
 * the base delay subtracted from it gives the queueing delay of even the
 * luckiest message. The high delay is one that nearly all messages stay below.
 * Times are in ns. One-way delays have an unknown constant offset, so only
 * differences are meaningful. */

#pragma once

#include <glib.h>

#define MMTP_DELAY_SPANS 10
#define MMTP_DELAY_REPORTS 3

typedef struct
{
  /* begin in ns; a span without messages is not in use */
  guint64 began;
  guint n;                      /* number of messages */
  /* `highest` and `second` are the two highest maxima of reports. */
  gint64 min, highest, second;
} MmtpDelaySpan;

typedef struct
{
  /* ring buffer of spans of one second */
  MmtpDelaySpan spans[MMTP_DELAY_SPANS];
  guint at;
  gboolean is_known;
  /* ring buffer of spans of six seconds */
  MmtpDelaySpan base_spans[MMTP_DELAY_SPANS];
  guint base_at;
  /* Minimum of `base_spans`; 0 if nothing is known. It is asked for several
   * times per packet, and changes only with a report. */
  gint64 base;
  gint64 latest;                /* delay of the newest message */
  gint64 min, high;             /* minimum and maximum of the last report */
  /* minima of the last reports, a ring buffer */
  gint64 minima[MMTP_DELAY_REPORTS];
  guint n_minima;               /* number of reports so far */
  /* difference between `high` and `min`, smoothed */
  gint64 spread;
  /* from the receiver, as in RFC 3550, section 6.4.1 */
  gint64 jitter;
} MmtpPathDelay;

void mmtp_path_delay_clear (MmtpPathDelay * delay);
/* Adds a report about `n` messages: the delays of the newest, the fastest and
 * the slowest one. */
void mmtp_path_delay_add (MmtpPathDelay * delay, guint64 now, gint64 latest,
    gint64 min, gint64 high, guint n);
/* Sets the base delay to `base`, the minimum delay of messages sent after all
 * data in flight had been drained. */
void mmtp_path_delay_rebase (MmtpPathDelay * delay, gint64 base);
/* Returns 0 if nothing is known. */
gint64 mmtp_path_delay_get_base (const MmtpPathDelay * delay);
/* Returns the minimum of the last three reports; 0 if nothing is known. */
gint64 mmtp_path_delay_get_standing (const MmtpPathDelay * delay);
/* Returns the delay that all messages of the last ten seconds stayed below,
 * except for the slowest one if there were many. */
gint64 mmtp_path_delay_get_high (const MmtpPathDelay * delay, guint64 now);

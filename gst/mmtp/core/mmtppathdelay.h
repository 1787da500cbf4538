/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One-way delays of a path, from the receiver's reports. Times are in ns.
 * One-way delays have an unknown constant offset, so only differences between
 * them are meaningful.
 *
 * - The base delay is the minimum delay of the last minute. If the sender has
 *   emptied the queue of the path on purpose, the base delay is the minimum
 *   delay that was measured afterwards.
 * - The standing delay is the minimum delay in the last three reports. The
 *   standing delay minus the base delay is the minimum queueing delay in these
 *   reports.
 * - The high delay is an upper bound for the delay of nearly all messages. */

#pragma once

#include <glib.h>

#define MMTP_DELAY_SPANS 10
#define MMTP_DELAY_REPORTS 3

typedef struct
{
  /* Start time of the span, in ns. A span is the period that this struct
   * covers. If `n` is 0, this struct is not in use. */
  guint64 began;
  /* number of messages whose delays were reported in this period */
  guint n;
  /* One-way delays in ns, from the reports that arrived in the span, the period
   * that this struct covers. `min` is the minimum delay of all reported
   * messages. Each report also contains one maximum delay, that of its slowest
   * message. `highest` is the highest of the maximum delays of all reports, and
   * `second` is the second highest of them. */
  gint64 min, highest, second;
} MmtpDelaySpan;

typedef struct
{
  /* delays of the last ten seconds as a ring buffer; each MmtpDelaySpan covers
   * one second */
  MmtpDelaySpan spans[MMTP_DELAY_SPANS];
  guint at;
  gboolean is_known;
  /* delays of the last minute as a ring buffer; each MmtpDelaySpan covers six
   * seconds */
  MmtpDelaySpan base_spans[MMTP_DELAY_SPANS];
  guint base_at;
  /* The base delay: the minimum delay in `base_spans`; 0 if nothing is known.
   * It is stored here because it is read several times per packet and changes
   * only with a report. */
  gint64 base;
  gint64 latest;                /* delay of the newest message */
  /* Minimum (`min`) and maximum (`high`) one-way delay in ns, from the last
   * report that contained them. */
  gint64 min, high;
  /* minimum delay in each of the last MMTP_DELAY_REPORTS reports (ring buffer)
   */
  gint64 minima[MMTP_DELAY_REPORTS];
  guint n_minima;               /* number of reports so far */
  /* Moving average of the spread of the reports, in ns. The spread of a report
   * is its maximum one-way delay minus its minimum one-way delay. */
  gint64 spread;
  /* Jitter in ns, as reported by the receiver. The receiver computes it as in
   * RFC 3550, section 6.4.1. */
  gint64 jitter;
} MmtpPathDelay;

void mmtp_path_delay_clear (MmtpPathDelay * delay);
/* Adds a report about `n` messages, with the delays of the newest, the fastest
 * and the slowest message. */
void mmtp_path_delay_add (MmtpPathDelay * delay, guint64 now, gint64 latest,
    gint64 min, gint64 high, guint n);
/* Adds a report about `n` messages that contains only the delay of the newest
 * message (`latest`). If this delay is lower than the base delay, it becomes
 * the base delay. The minimum and maximum delays of earlier reports stay in
 * use, if there are any. */
void mmtp_path_delay_add_latest (MmtpPathDelay * delay, guint64 now,
    gint64 latest, guint n);
/* Sets the base delay to `base` after the sender has emptied the queue of the
 * path on purpose. `base` is the minimum delay of the messages that were sent
 * when the queue was empty. */
void mmtp_path_delay_rebase (MmtpPathDelay * delay, gint64 base);
/* Returns the base delay in ns, or 0 if it is unknown. The base delay is the
 * minimum one-way delay of the last minute. If the sender has emptied the queue
 * of the path on purpose during this minute, only the delays that were measured
 * since then count. */
gint64 mmtp_path_delay_get_base (const MmtpPathDelay * delay);
/* Returns the minimum one-way delay in the last three reports of the receiver,
 * in ns; 0 if no report has arrived yet. */
gint64 mmtp_path_delay_get_standing (const MmtpPathDelay * delay);
/* Returns the maximum delay of the messages of the last ten seconds. If there
 * were many messages, the slowest message is not counted. */
gint64 mmtp_path_delay_get_high (const MmtpPathDelay * delay, guint64 now);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Moving minimum and maximum of the one-way delays of a path. */

#include "mmtppathdelay.h"

#include <string.h>

/* Length in ns of one of the ten periods (spans) over which the high delay is
 * computed. The high delay is a one-way delay that nearly all messages of the
 * path do not exceed. The ten spans together are ten seconds. */
#define SPAN_TIME G_GUINT64_CONSTANT (1000000000)
/* Length of one of the ten spans over which the base delay is computed. The
 * base delay is the minimum one-way delay in these spans, which together are
 * one minute. LEDBAT (RFC 6817, section 2.4.2) uses some minutes.
 *
 * A sender may keep a queue on the path on purpose. The ten spans together must
 * be longer than the time in which a sender does this. If the queue existed
 * during all ten spans, it would delay all messages in these spans. The base
 * delay would then include the queueing delay. */
#define BASE_SPAN_TIME (6 * SPAN_TIME)
/* Approximate number of reports in the moving average of the spread. The spread
 * of a report is the maximum one-way delay in it minus the minimum one-way
 * delay. */
#define SPREAD_REPORTS 8
#define MEMORY (MMTP_DELAY_SPANS * SPAN_TIME)
/* If at least this number of messages was reported in the last ten seconds
 * (MEMORY), the maximum delay is computed without the slowest message, because
 * its delay may be an accident. */
#define ACCIDENT 256

void
mmtp_path_delay_clear (MmtpPathDelay * delay)
{
  memset (delay, 0, sizeof (*delay));
}

static void
begin_span (MmtpDelaySpan * span, guint64 now)
{
  span->began = now;
  span->n = 0;
  span->min = G_MAXINT64;
  span->highest = span->second = G_MININT64;
}

/* Returns the span that contains the time `now`. A span is a period of `length`
 * ns. If the newest span has ended, begins a new span. */
static MmtpDelaySpan *
open_span (MmtpDelaySpan * spans, guint * at, guint64 now, guint64 length)
{
  MmtpDelaySpan *span = &spans[*at];

  if (span->n > 0 && now - span->began < length)
    return span;
  *at = (*at + 1) % MMTP_DELAY_SPANS;
  span = &spans[*at];
  begin_span (span, now);
  return span;
}

/* Computes the base delay of the path, which is the minimum of the delays in
 * all spans (periods of time). A span is only replaced when a new report
 * arrives, so a path without reports keeps its base delay. */
static void
update_base (MmtpPathDelay * delay)
{
  gint64 base = G_MAXINT64;
  guint i;

  for (i = 0; i < MMTP_DELAY_SPANS; i++)
    if (delay->base_spans[i].n > 0)
      base = MIN (base, delay->base_spans[i].min);
  delay->base = base == G_MAXINT64 ? 0 : base;
}

void
mmtp_path_delay_add (MmtpPathDelay * delay, guint64 now, gint64 latest,
    gint64 min, gint64 high, guint n)
{
  MmtpDelaySpan *span = open_span (delay->spans, &delay->at, now, SPAN_TIME);
  MmtpDelaySpan *base = open_span (delay->base_spans, &delay->base_at, now,
      BASE_SPAN_TIME);

  span->n += MAX (n, 1);
  base->n += MAX (n, 1);
  base->min = MIN (base->min, min);
  update_base (delay);
  if (high > span->highest) {
    span->second = span->highest;
    span->highest = high;
  } else if (high > span->second) {
    span->second = high;
  }
  delay->spread += (high - min - delay->spread) / SPREAD_REPORTS;
  delay->is_known = TRUE;
  delay->minima[delay->n_minima++ % MMTP_DELAY_REPORTS] = min;
  delay->latest = latest;
  delay->min = min;
  delay->high = high;
}

void
mmtp_path_delay_add_latest (MmtpPathDelay * delay, guint64 now,
    gint64 latest, guint n)
{
  MmtpDelaySpan *base;

  if (!delay->is_known) {
    mmtp_path_delay_add (delay, now, latest, latest, latest, n);
    return;
  }
  base = open_span (delay->base_spans, &delay->base_at, now, BASE_SPAN_TIME);
  base->n += MAX (n, 1);
  base->min = MIN (base->min, latest);
  update_base (delay);
}

void
mmtp_path_delay_rebase (MmtpPathDelay * delay, gint64 base)
{
  guint i;

  for (i = 0; i < MMTP_DELAY_SPANS; i++)
    delay->base_spans[i].min = base;
  update_base (delay);
}

gint64
mmtp_path_delay_get_base (const MmtpPathDelay * delay)
{
  return delay->base;
}

gint64
mmtp_path_delay_get_standing (const MmtpPathDelay * delay)
{
  guint n = MIN (delay->n_minima, MMTP_DELAY_REPORTS), i;
  gint64 standing = n > 0 ? delay->minima[0] : 0;

  for (i = 1; i < n; i++)
    standing = MIN (standing, delay->minima[i]);
  return standing;
}

gint64
mmtp_path_delay_get_high (const MmtpPathDelay * delay, guint64 now)
{
  gint64 highest = G_MININT64, second = G_MININT64;
  guint i, n = 0;

  for (i = 0; i < MMTP_DELAY_SPANS; i++) {
    const MmtpDelaySpan *span = &delay->spans[i];

    if (span->n == 0 || now - span->began > MEMORY)
      continue;
    n += span->n;
    if (span->highest > highest) {
      second = MAX (highest, span->second);
      highest = span->highest;
    } else {
      second = MAX (second, span->highest);
    }
  }
  if (n == 0)
    return delay->high;
  return n >= ACCIDENT && second != G_MININT64 ? second : highest;
}

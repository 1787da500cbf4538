/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtparrivals.h: the receiver measures the messages of one
 * path. */

#include "mmtparrivals.h"

#include <stdlib.h>
#include <string.h>

#define MSECOND G_GUINT64_CONSTANT (1000000)
#define SECOND G_GUINT64_CONSTANT (1000000000)

/* Length of a time window in ns. The statistics cover the current window and
 * the previous window. A window is long enough to contain several frames of a
 * stream with a low frame rate. It is short enough for the statistics to follow
 * a change of the network. */
#define WINDOW_LENGTH (500 * MSECOND)
/* Minimum time in ns for which the receiver waits for a missing message,
 * because later messages may have overtaken it. If the jitter is higher than
 * this minimum, the waiting time equals the jitter. A message that has not
 * arrived by then counts as lost (docs/wire-mmtp.md, REPORT). */
#define MIN_TOLERANCE (10 * MSECOND)
/* The gain of the jitter estimator is 1 / JITTER_GAIN (RFC 3550, section
 * 6.4.1). */
#define JITTER_GAIN 16

/* --- life cycle ----------------------------------------------------------- */

static void
begin_window (MmtpArrivalWindow * window, guint64 now)
{
  window->start = now;
  window->bytes = 0;
  window->min = G_MAXINT64;
}

static void
begin_span (MmtpArrivalSpan * span)
{
  span->n = 0;
  span->min = G_MAXINT64;
  span->highest = G_MININT64;
}

void
mmtp_arrivals_begin_path (MmtpArrivals * arrivals, guint64 now)
{
  arrivals->any = arrivals->any_load = arrivals->has_latest = FALSE;
  arrivals->last_arrival = arrivals->arrival_before = 0;
  arrivals->jitter = 0;
  begin_span (&arrivals->span);
  begin_span (&arrivals->reported);
  begin_window (&arrivals->windows.before, now);
  begin_window (&arrivals->windows.present, now);
}

void
mmtp_arrivals_init (MmtpArrivals * arrivals, guint64 now, guint64 silence)
{
  memset (arrivals, 0, sizeof (*arrivals));
  arrivals->silence = silence;
  mmtp_losses_init (&arrivals->losses);
  mmtp_arrivals_begin_path (arrivals, now);
}

/* --- windows of the statistics -------------------------------------------- */

static void
end_windows (MmtpArrivalWindows * windows, guint64 now)
{
  guint64 passed = now - windows->present.start;

  if (passed < WINDOW_LENGTH)
    return;
  windows->before = windows->present;
  if (passed >= 2 * WINDOW_LENGTH)
    begin_window (&windows->before, now - WINDOW_LENGTH);
  begin_window (&windows->present, now);
}

guint64
mmtp_arrivals_get_rate (const MmtpArrivals * arrivals, guint64 now)
{
  MmtpArrivalWindows windows = arrivals->windows;

  end_windows (&windows, now);
  return (windows.before.bytes + windows.present.bytes) * SECOND
      / MAX (now - windows.before.start, MSECOND);
}

gboolean
mmtp_arrivals_get_min_transit (const MmtpArrivals * arrivals, guint64 now,
    gint64 * transit)
{
  MmtpArrivalWindows windows = arrivals->windows;

  end_windows (&windows, now);
  *transit = MIN (windows.before.min, windows.present.min);
  return *transit != G_MAXINT64;
}

/* --- arrival of a message ------------------------------------------------- */

static guint64
get_tolerance (const MmtpArrivals * arrivals)
{
  return MAX (MIN_TOLERANCE, (guint64) arrivals->jitter);
}

static void
note_time (MmtpArrivals * arrivals, guint64 now, gint64 transit,
    gboolean is_load)
{
  /* Only DATA, PROBE and REPAIR messages count for the jitter. The other
   * messages are short, and on a slow path they arrive faster just because of
   * their size. */
  if (is_load && arrivals->any_load)
    arrivals->jitter += (ABS (transit - arrivals->last_transit)
        - arrivals->jitter) / JITTER_GAIN;
  if (is_load) {
    arrivals->last_transit = transit;
    arrivals->any_load = TRUE;
  }
  arrivals->arrival_before = arrivals->last_arrival;
  arrivals->last_arrival = now;
  arrivals->any = TRUE;
}

static void
note_latest (MmtpArrivals * arrivals, guint64 now, guint64 number,
    gint64 transit)
{
  if (arrivals->has_latest && number < arrivals->latest_number)
    return;
  arrivals->has_latest = TRUE;
  arrivals->latest_number = number;
  arrivals->latest_arrival = now;
  arrivals->latest_transit = transit;
}

static void
add_to_span (MmtpArrivalSpan * span, gint64 transit)
{
  span->n++;
  span->min = MIN (span->min, transit);
  span->highest = MAX (span->highest, transit);
}

void
mmtp_arrivals_add (MmtpArrivals * arrivals, guint64 now,
    const MmtpArrival * arrival)
{
  MmtpArrivalWindow *window = &arrivals->windows.present;
  gint64 transit = (gint64) now - arrival->sent;

  end_windows (&arrivals->windows, now);
  window->bytes += arrival->size;
  window->min = MIN (window->min, transit);
  arrivals->received++;
  arrivals->bytes += arrival->size;
  note_time (arrivals, now, transit, arrival->is_load);
  note_latest (arrivals, now, arrival->number, transit);
  add_to_span (&arrivals->span, transit);
  mmtp_losses_add (&arrivals->losses, now, arrival->number,
      get_tolerance (arrivals), arrival->repair_until);
}

void
mmtp_arrivals_add_late (MmtpArrivals * arrivals)
{
  arrivals->late++;
}

void
mmtp_arrivals_timeout (MmtpArrivals * arrivals, guint64 now)
{
  mmtp_losses_timeout (&arrivals->losses, now, get_tolerance (arrivals));
}

guint64
mmtp_arrivals_next_wakeup (const MmtpArrivals * arrivals)
{
  return mmtp_losses_next_wakeup (&arrivals->losses, get_tolerance (arrivals));
}

gboolean
mmtp_arrivals_is_silent (const MmtpArrivals * arrivals, guint64 now)
{
  return arrivals->any && now - arrivals->last_arrival > arrivals->silence;
}

/* --- record of a report --------------------------------------------------- */

static gint32
to_ticks (gint64 time)
{
  return CLAMP (time / (gint64) MMTP_TICK_TIME, G_MININT32, G_MAXINT32);
}

/* Prepares `reported`, the statistics for the new record, which is written at
 * the time `now`. A record is the part of a REPORT (feedback message) that
 * describes this path. `span` contains the statistics of the messages that
 * arrived since the previous record.
 *
 * The function distinguishes two cases:
 * - If the previous record was written at an earlier time, or if there is none,
 *   `reported` is replaced by `span`.
 * - If the previous record was also written at the time `now`, `reported` still
 *   has the statistics of the previous record, and `span` is added to them.
 *
 * The reason for the second case is that several REPORTs may be sent at the
 * same time on several paths, each with a record about this path. Messages that
 * the first of these records covers must not be missing in the other records.
 *
 * `span` is empty afterwards. */
static void
end_span (MmtpArrivals * arrivals, guint64 now)
{
  MmtpArrivalSpan *reported = &arrivals->reported;
  const MmtpArrivalSpan *span = &arrivals->span;

  if (!arrivals->any_record || arrivals->record_time != now)
    begin_span (reported);
  reported->n += span->n;
  reported->min = MIN (reported->min, span->min);
  reported->highest = MAX (reported->highest, span->highest);
  begin_span (&arrivals->span);
  arrivals->any_record = TRUE;
  arrivals->record_time = now;
}

static void
write_times (const MmtpArrivals * arrivals, MmtpRecord * record)
{
  const MmtpArrivalSpan *reported = &arrivals->reported;

  if (reported->n == 0)
    record->flags |= MMTP_RECORD_UNMEASURED;
  if (!arrivals->has_latest)
    return;
  record->arrival = mmtp_to_ticks (arrivals->latest_arrival);
  record->transit = to_ticks (arrivals->latest_transit);
  record->min_transit = record->high_transit = record->transit;
  if (reported->n > 0) {
    record->min_transit = to_ticks (reported->min);
    record->high_transit = to_ticks (reported->highest);
  }
}

void
mmtp_arrivals_get_record (MmtpArrivals * arrivals, guint64 now,
    gboolean is_counted, guint ranges, MmtpRecord * record)
{
  memset (record, 0, sizeof (*record));
  end_span (arrivals, now);
  write_times (arrivals, record);
  record->highest = arrivals->losses.highest & G_MAXUINT32;
  record->received = arrivals->received & G_MAXUINT32;
  record->lost = arrivals->losses.lost & G_MAXUINT32;
  record->late = arrivals->late & G_MAXUINT32;
  record->bytes = arrivals->bytes & G_MAXUINT32;
  record->jitter = MIN (arrivals->jitter / 1000, G_MAXUINT32);
  record->n_ranges = mmtp_losses_report (&arrivals->losses, now,
      is_counted, record->ranges, MIN (ranges, MMTP_MAX_RANGES));
}

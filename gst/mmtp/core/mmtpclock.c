/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtpclock.h: the receiver's estimate of the sender's clock.
 */

#include "mmtpclock.h"

#include <string.h>

#define SECOND 1e9
#define DUE_BITS 32

/* Due times are converted from the sender's clock to the receiver's clock. If a
 * better estimate shows that the converted due times are wrong, they are
 * corrected gradually: their error decreases exponentially with the time
 * constant CORRECTION_TIME (ns). The correction is limited to MAX_SLEW, which
 * is 1 ms per second, so that it is neither audible nor visible. */
#define CORRECTION_TIME (20 * SECOND)
#define MAX_SLEW 1e-3
/* The offset is the difference between the sender's clock and the receiver's
 * clock. The first offset is only an estimate, which is computed from the round
 * trips of the handshake. As long as the offset is wrong, the deadlines are
 * wrong as well, so an error is corrected fast at the beginning of a session.
 *
 * For the time SETTLING_TIME (ns), the error of the offset decreases
 * exponentially with the time constant SETTLING_CORRECTION (ns). During this
 * time, the offset may change by at most SETTLING_SLEW, which is 500 ms per
 * second. */
#define SETTLING_TIME (5 * SECOND)
#define SETTLING_CORRECTION (0.2 * SECOND)
#define SETTLING_SLEW 0.5
/* The skew of the clocks is computed from points that cover at least 20 s.
 * There is one point for each second: the minimum transit of the messages in
 * this second. A transit is the arrival time minus the sending time of a
 * message.
 *
 * After the first seconds of a session, the receiver changes the offset between
 * the clocks by at most MAX_SLEW (1 ms per second). These changes compensate
 * for the skew and correct errors of the offset. The measured skew is limited
 * to half of MAX_SLEW, so that the other half remains for the errors.
 */
#define POINT_DISTANCE (1 * SECOND)
#define MIN_SPAN (20 * SECOND)
#define MAX_SKEW 5e-4
/* Maximum error of a measured skew. The skew and its error are ratios (ns per
 * ns). If noise may have changed a measured skew by more than MAX_ERROR, the
 * measurement is ignored. */
#define MAX_ERROR 5e-5
/* Messages of the sender contain times of the sender's clock. `sender_start` is
 * the time at which the sender sent OPEN. FARTHEST is the maximum difference,
 * in us, between such a time and `sender_start`. It is about two years. A
 * larger difference is reduced to this maximum, so sums of times in ns fit into
 * 64 bits, whatever the peer sends. */
#define FARTHEST (G_GINT64_CONSTANT (1) << 46)

void
mmtp_clock_init (MmtpClock * clock, guint64 now, guint64 sender_now)
{
  memset (clock, 0, sizeof (*clock));
  clock->start = now;
  clock->sender_start = sender_now;
  clock->sent = sender_now / MMTP_TICK;
  clock->due = sender_now;
  clock->sent_time = clock->due_time = clock->offset_time = now;
}

/* Returns the time from the sending of OPEN (the request for the session) to
 * `sender_time`, on the sender's clock. `sender_time` is in us, and the result
 * is in ns. */
static gint64
get_elapsed (const MmtpClock * clock, guint64 sender_time)
{
  gint64 elapsed = (gint64) (sender_time - clock->sender_start);

  return CLAMP (elapsed, -FARTHEST, FARTHEST) * 1000;
}

/* `ticks` contains only the low bits of a sending time, so it can mean many
 * different sending times. This function chooses the sending time that is
 * nearest to the expected sending time. The expected sending time is the
 * previous sending time plus the time that has passed since then. */
gint64
mmtp_clock_unwrap_sent (MmtpClock * clock, guint64 now, guint32 ticks)
{
  guint64 near = clock->sent + (now - clock->sent_time) / MMTP_TICK_TIME;

  clock->sent = mmtp_unwrap (ticks, MMTP_TICKS_BITS, near);
  clock->sent_time = now;
  return (gint64) clock->start + get_elapsed (clock, clock->sent * MMTP_TICK);
}

guint64
mmtp_clock_unwrap_due (MmtpClock * clock, guint64 now, guint32 due)
{
  guint64 near = clock->due + (now - clock->due_time) / 1000;

  clock->due = mmtp_unwrap (due, DUE_BITS, near);
  clock->due_time = now;
  return clock->due;
}

static gboolean
is_settling (const MmtpClock * clock, guint64 now)
{
  return now < clock->start + SETTLING_TIME;
}

/* --- offset --------------------------------------------------------------- */

void
mmtp_clock_add_transit (MmtpClock * clock, gint64 transit)
{
  clock->min = clock->any_transit ? MIN (clock->min, transit) : transit;
  clock->any_transit = TRUE;
}

void
mmtp_clock_set_offset (MmtpClock * clock, guint64 now, gint64 offset)
{
  gdouble weight = 1;

  if (clock->fixed && clock->has_announced && !is_settling (clock, now))
    weight = MIN (1, (now - clock->announced_time) / CORRECTION_TIME);
  clock->announced += (offset - clock->announced) * weight;
  clock->has_announced = TRUE;
  clock->announced_time = now;
}

static void
advance (MmtpClock * clock, guint64 now)
{
  gdouble passed = (gdouble) (now - clock->offset_time), step, max;
  gboolean settling;

  /* If the kernel has merged several packets into one (GRO), all of them have
   * the same arrival time `now`. The offset is then updated only once, for the
   * first packet. */
  if (clock->fixed && now == clock->offset_time)
    return;
  clock->offset_time = now;
  if (!clock->fixed) {
    clock->offset = clock->has_announced ? clock->announced : clock->min;
    return;
  }
  settling = is_settling (clock, now);
  max = (settling ? SETTLING_SLEW : MAX_SLEW) * passed;
  step = clock->skew * passed;
  if (clock->has_announced)
    step += (clock->announced - clock->offset) * MIN (1, passed /
        (settling ? SETTLING_CORRECTION : CORRECTION_TIME));
  clock->offset += CLAMP (step, -max, max);
}

guint64
mmtp_clock_map (MmtpClock * clock, guint64 now, guint64 due)
{
  gint64 mapped;

  advance (clock, now);
  mapped = (gint64) clock->start + get_elapsed (clock, due)
      + (gint64) clock->offset;
  return MAX (mapped, 0);
}

guint64
mmtp_clock_map_output (MmtpClock * clock, guint64 now, guint64 due)
{
  guint64 mapped = mmtp_clock_map (clock, now, due);

  if (clock->fixed && due >= clock->last_due)
    mapped = MAX (mapped, clock->last_mapped);
  clock->fixed = TRUE;
  clock->last_due = due;
  clock->last_mapped = mapped;
  return mapped;
}

/* --- skew ----------------------------------------------------------------- */

void
mmtp_clock_restart_skew (MmtpClock * clock)
{
  clock->n_points = 0;
}

static const MmtpClockPoint *
find_min (const MmtpClockPoint * points, guint n)
{
  const MmtpClockPoint *min = points;
  guint i;

  for (i = 1; i < n; i++)
    if (points[i].transit < min->transit)
      min = &points[i];
  return min;
}

/* Returns the noise of the points from which the skew is computed, in ns. A
 * transit is the arrival time of a message minus its sending time. Each point
 * contains the minimum of the transits in one second. The noise is the mean
 * absolute difference between the values of successive points. */
static gdouble
get_noise (const MmtpClock * clock)
{
  gdouble sum = 0;
  guint i;

  for (i = 1; i < clock->n_points; i++)
    sum += ABS (clock->points[i].transit - clock->points[i - 1].transit);
  return sum / (clock->n_points - 1);
}

/* Computes the skew of the clocks from several points. Each point is the
 * minimum transit of the messages in one second. The skew is the slope of the
 * line through two of these points: the lowest point in the first third of the
 * points, and the lowest point in the last third. */
static void
measure_skew (MmtpClock * clock)
{
  guint third = clock->n_points / 3;
  const MmtpClockPoint *first = find_min (clock->points, third);
  const MmtpClockPoint *last =
      find_min (clock->points + clock->n_points - third, third);
  gdouble span = (gdouble) (last->time - first->time), skew;

  if (get_noise (clock) > MAX_ERROR * span)
    return;
  skew = CLAMP ((last->transit - first->transit) / span, -MAX_SKEW, MAX_SKEW);
  clock->skew += clock->has_skew ? (skew - clock->skew) / 8 : skew;
  clock->has_skew = TRUE;
}

void
mmtp_clock_add_min (MmtpClock * clock, guint64 now, gint64 min)
{
  MmtpClockPoint point = { now, min };
  guint n = clock->n_points;

  if (n > 0 && now - clock->points[n - 1].time < POINT_DISTANCE)
    return;
  if (n == MMTP_CLOCK_POINTS)
    memmove (clock->points, clock->points + 1, --n * sizeof (point));
  clock->points[n++] = point;
  clock->n_points = n;
  if (n >= 6 && point.time - clock->points[0].time >= MIN_SPAN)
    measure_skew (clock);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of socketclock.h: arrival times on the monotonic clock. */

#include "socketclock.h"

#include <string.h>
#include <time.h>

/* Maximum uncertainty, in ns, of the difference between the monotonic clock and
 * CLOCK_REALTIME. It has two causes: the clocks are read one after the other,
 * and their times are rounded. */
#define CLOCK_TOLERANCE (10 * 1000)     /* in ns */
/* Maximum number of attempts to read the monotonic clock and CLOCK_REALTIME
 * shortly one after the other. If the thread was interrupted between the two
 * readings, too much time has passed, and both clocks are read again. */
#define MAX_READINGS 8

void
socket_clock_init (SocketClock * self)
{
  self->offset_low = G_MININT64;
  self->offset_high = G_MAXINT64;
  self->empty = 0;
}

/* Asks the kernel for timestamps. Without a timestamp, the time at which a
 * packet is read is used as its arrival time. */
void
socket_clock_ask_for_stamps (gint fd)
{
#ifdef SO_TIMESTAMPNS
  gint yes = TRUE;

  setsockopt (fd, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof (yes));
#endif
}

gint64
socket_clock_now (void)
{
  return g_get_monotonic_time () * 1000;
}

void
socket_clock_set_empty (SocketClock * self, gint64 now)
{
  self->empty = now;
}

/* Reads the monotonic clock, then CLOCK_REALTIME, and then the monotonic clock
 * again. The two monotonic times give a lower and an upper bound of the
 * difference of the clocks (monotonic minus real). The bounds are stored in
 * `low` and `high`, in ns. Returns the present monotonic time in ns. */
static gint64
read_clocks (gint64 * low, gint64 * high)
{
  gint64 before = socket_clock_now (), real = 0, after;
  struct timespec now;

  if (clock_gettime (CLOCK_REALTIME, &now) == 0)
    real = now.tv_sec * (gint64) 1000000000 + now.tv_nsec;
  after = socket_clock_now ();
  *low = before - real;
  /* g_get_monotonic_time () is rounded down to whole microseconds, so the true
   * time may be up to 1000 ns later. */
  *high = after + 1000 - real;
  return after;
}

/* Compares the monotonic clock with CLOCK_REALTIME, and stores the bounds of
 * their difference. The kernel adjusts the rate of both clocks equally, so
 * their difference is constant until somebody sets CLOCK_REALTIME. */
gint64
socket_clock_compare (SocketClock * self)
{
  gint64 now, low, high;
  guint i;

  for (i = 0; i < MAX_READINGS; i++) {
    now = read_clocks (&low, &high);
    if (high - low <= CLOCK_TOLERANCE)
      break;
  }
  if (low > self->offset_high || high < self->offset_low) {
    self->offset_low = low;
    self->offset_high = high;
  } else {
    self->offset_low = MAX (self->offset_low, low);
    self->offset_high = MIN (self->offset_high, high);
  }
  return now;
}

gboolean
socket_clock_read_stamp (const struct cmsghdr *control, guint64 * stamp)
{
#ifdef SO_TIMESTAMPNS
  struct timespec time;

  if (control->cmsg_level == SOL_SOCKET && control->cmsg_type == SO_TIMESTAMPNS) {
    memcpy (&time, CMSG_DATA (control), sizeof (time));
    *stamp = time.tv_sec * (guint64) 1000000000 + time.tv_nsec;
    return TRUE;
  }
#endif
  return FALSE;
}

/* Returns the arrival time of a packet on the monotonic clock, in ns. If
 * somebody sets CLOCK_REALTIME after the packet has arrived, the computed time
 * may be impossible: later than now, or earlier than the moment at which the
 * socket was last empty. In this case, and if there is no timestamp, the
 * present time is returned.
 */
guint64
socket_clock_get_arrival (const SocketClock * self, guint64 stamp, gint64 now)
{
  /* The arrival time of a packet is its timestamp, a time of CLOCK_REALTIME,
   * plus the difference between the monotonic clock and CLOCK_REALTIME. Only
   * bounds of this difference are known. The lower bound is used for all
   * packets. As long as nobody sets CLOCK_REALTIME, the lower bound never
   * decreases. If packet A has a later timestamp than packet B and is read
   * later, the arrival time of A is therefore not earlier than that of B. */
  gint64 time = (gint64) stamp + self->offset_low;

  if (stamp == 0 || time > now || time < self->empty - CLOCK_TOLERANCE)
    return now;
  return time;
}

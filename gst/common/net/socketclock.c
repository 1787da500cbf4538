/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See socketclock.h. */

#include "socketclock.h"

#include <string.h>
#include <time.h>

/* Two clocks that are read one after the other, and rounded */
#define CLOCK_TOLERANCE (10 * 1000)     /* ns */
/* A thread that had to wait between them reads them again, so often */
#define MAX_READINGS 8

void
socket_clock_init (SocketClock * self)
{
  self->offset_low = G_MININT64;
  self->offset_high = G_MAXINT64;
  self->empty = 0;
}

/* Without them the time is that at which we look. */
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

/* Returns now */
static gint64
read_clocks (gint64 * low, gint64 * high)
{
  gint64 before = socket_clock_now (), real = 0, after;
  struct timespec now;

  if (clock_gettime (CLOCK_REALTIME, &now) == 0)
    real = now.tv_sec * (gint64) 1000000000 + now.tv_nsec;
  after = socket_clock_now ();
  *low = before - real;
  *high = after + 1000 - real;  /* it is in whole us, rounded down */
  return after;
}

/* Both clocks are slewed alike, so that what lies between them stays until
 * somebody sets one. */
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

/* A time that can't be, since a clock was set after the packet had come, is
 * taken for now. */
guint64
socket_clock_get_arrival (const SocketClock * self, guint64 stamp, gint64 now)
{
  /* which only grows, so that a later stamp is no earlier time */
  gint64 time = (gint64) stamp + self->offset_low;

  if (stamp == 0 || time > now || time < self->empty - CLOCK_TOLERANCE)
    return now;
  return time;
}

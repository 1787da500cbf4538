/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtplateness.h: the controller of the expected delay. */

#include "mmtplateness.h"

#define MILLISECOND G_GUINT64_CONSTANT (1000000)

/* The correction rises while the mean share of late packets is above MANY_LATE,
 * and falls while the share is below FEW_LATE. MEMORY (ns) is the time constant
 * of the mean. RISE and FALL say how fast the correction changes, in ns per ns
 * of time. A report counts for at most MAX_STEP (ns). */
#define MANY_LATE 0.1
#define FEW_LATE 0.02
#define MEMORY (500. * MILLISECOND)
#define RISE 0.5
#define FALL 0.01
#define MAX_STEP (100 * MILLISECOND)
/* The correction is at most 1/ROOM_PART of the time between the base delay and
 * the latency of the session. */
#define ROOM_PART 3

void
mmtp_lateness_add_marginal (MmtpLateness * lateness)
{
  lateness->marginal++;
}

void
mmtp_lateness_follow (MmtpLateness * lateness, guint64 since, guint late,
    guint n_acked, guint64 room)
{
  gdouble step = MIN (since, MAX_STEP), share;

  share = MIN (late, lateness->marginal) / (gdouble) MAX (n_acked, late);
  lateness->marginal = 0;
  lateness->share += (share - lateness->share) * MIN (1, step / MEMORY);
  if (lateness->share > MANY_LATE)
    lateness->time += (lateness->share - MANY_LATE) * step * RISE;
  else if (lateness->share < FEW_LATE)
    lateness->time -= step * FALL;
  lateness->time = CLAMP (lateness->time, 0, room / (gdouble) ROOM_PART);
}

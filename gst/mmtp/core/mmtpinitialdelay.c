/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The initial delay (D0) of a session, and its limits. */

#include "mmtpinitialdelay.h"

#include <string.h>

/* The receiver accepts at most MAX_CHANGES changes of the initial delay (D0,
 * the latency of the session) in CHANGES_PERIOD (in ns). A sender changes D0 on
 * its own at most once per second (DELAY_PERIOD in mmtpsender.c). Its
 * application, however, can change D0 at any time.
 *
 * If there are more changes, the receiver ignores the excess ones at first. It
 * does not miss the last value, because each KEEPALIVE of the sender contains
 * the current D0. The receiver accepts this value from a later KEEPALIVE. */
#define CHANGES_PERIOD G_GUINT64_CONSTANT (1000000000)
#define MAX_CHANGES 4

/* Stores the requested D0, `wanted` (in us), and returns the D0 within the
 * limits of the configuration that is nearest to it. */
static guint64
limit (MmtpInitialDelay * self, guint32 wanted)
{
  self->wanted = wanted * G_GUINT64_CONSTANT (1000);
  return MIN (MAX (self->wanted, self->min), self->max);
}

void
mmtp_initial_delay_init (MmtpInitialDelay * self, guint64 min, guint64 max,
    guint32 wanted)
{
  memset (self, 0, sizeof (*self));
  self->min = min;
  self->max = max;
  self->delay = limit (self, wanted);
}

/* Returns whether a change of D0 is accepted now, and counts the change. The
 * number of changes per period is limited, because each change costs work and
 * causes an event for the application. */
static gboolean
may_change (MmtpInitialDelay * self, guint64 now)
{
  if (now >= self->changes_from + CHANGES_PERIOD) {
    self->changes_from = now;
    self->n_changes = 0;
  }
  return self->n_changes++ < MAX_CHANGES;
}

gint64
mmtp_initial_delay_request (MmtpInitialDelay * self, guint64 now,
    guint32 wanted)
{
  const guint64 old = self->delay;
  const guint64 delay = limit (self, wanted);

  if (delay == old || !may_change (self, now))
    return 0;
  self->delay = delay;
  return (gint64) (delay - old);
}

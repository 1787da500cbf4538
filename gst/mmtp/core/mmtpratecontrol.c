/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls the operations of a rate control algorithm. */

#include "mmtpratecontrol.h"

#include <string.h>

#define SECOND G_GUINT64_CONSTANT (1000000000)

struct _MmtpRateControl
{
  const MmtpRateControlClass *klass;
  gpointer state;
};

guint64
mmtp_rate_get_time (guint64 rate, guint64 bytes)
{
  return rate ? bytes * 8 * (SECOND / 1000) / MAX (rate / 1000, 1) : 0;
}

MmtpRateControl *
mmtp_rate_control_new (const MmtpRateControlClass * klass, guint64 now,
    const MmtpRateControlStart * start)
{
  MmtpRateControl *control = g_new (MmtpRateControl, 1);

  control->klass = klass;
  control->state = g_malloc0 (klass->size);
  klass->init (control->state, now, start);
  return control;
}

void
mmtp_rate_control_restart (MmtpRateControl * control, guint64 now,
    const MmtpRateControlStart * start)
{
  memset (control->state, 0, control->klass->size);
  control->klass->init (control->state, now, start);
}

void
mmtp_rate_control_free (MmtpRateControl * control)
{
  g_free (control->state);
  g_free (control);
}

void
mmtp_rate_control_sent (MmtpRateControl * control, guint64 now, guint64 size,
    guint64 in_flight)
{
  if (control->klass->sent)
    control->klass->sent (control->state, now, size, in_flight);
}

void
mmtp_rate_control_feedback (MmtpRateControl * control,
    const MmtpRateSample * sample)
{
  control->klass->feedback (control->state, sample);
}

void
mmtp_rate_control_get_limits (const MmtpRateControl * control,
    MmtpRateLimits * limits)
{
  memset (limits, 0, sizeof (*limits));
  control->klass->get_limits (control->state, limits);
}

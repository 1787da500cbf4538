/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls the operations of a rate control algorithm. */

#include "mmtpratecontrol.h"

#include <string.h>

/* Initial window: RFC 6928, section 2, and its minimum: RFC 5681, section 3.1.
 */
#define INITIAL_PACKETS 10
#define MIN_INITIAL_PACKETS 3
/* REPORT_TIME is the time until the first report, in addition to the round
 * trip. INITIAL_ROUND_TRIP is the maximum round trip for a full initial window.
 */
#define REPORT_TIME (100 * G_GUINT64_CONSTANT (1000000))
#define INITIAL_ROUND_TRIP (100 * G_GUINT64_CONSTANT (1000000))

const MmtpRateControlClass *const mmtp_rate_controls[] = {
  &mmtp_delivery_control,
  NULL
};

struct _MmtpRateControl
{
  const MmtpRateControlClass *klass;
  gpointer state;
};

const MmtpRateControlClass *
mmtp_rate_control_find (const gchar * name)
{
  guint i;

  if (!name)
    return mmtp_rate_controls[0];
  for (i = 0; mmtp_rate_controls[i]; i++)
    if (strcmp (mmtp_rate_controls[i]->name, name) == 0)
      return mmtp_rate_controls[i];
  return NULL;
}

MmtpRateControl *
mmtp_rate_control_new (const MmtpRateControlClass * klass, guint64 now,
    guint packet, guint64 round_trip, guint64 rate)
{
  MmtpRateControl *control = g_new (MmtpRateControl, 1);

  control->klass = klass;
  control->state = g_malloc0 (klass->size);
  klass->init (control->state, now, packet, round_trip, rate);
  return control;
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

guint64
mmtp_rate_control_get_initial_window (guint packet, guint64 round_trip,
    guint64 rate)
{
  guint64 packets = INITIAL_PACKETS;

  if (rate)
    return MAX (rate / 8 * ((round_trip + REPORT_TIME) / 1000000) / 1000,
        MIN_INITIAL_PACKETS * packet);

  if (round_trip > INITIAL_ROUND_TRIP)
    packets = MAX (INITIAL_PACKETS * INITIAL_ROUND_TRIP / round_trip,
        MIN_INITIAL_PACKETS);
  return packets * packet;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of gstwarninglimit.h: at most one warning in 10 s. */

#include "gstwarninglimit.h"

/* minimum time in us between two warnings */
#define WARNING_INTERVAL (10 * G_TIME_SPAN_SECOND)

gboolean
gst_warning_limit_allow (GstWarningLimit * limit)
{
  const gint64 now = g_get_monotonic_time ();

  if (limit->warned_at != 0 && now - limit->warned_at < WARNING_INTERVAL)
    return FALSE;
  limit->warned_at = now;
  return TRUE;
}

void
gst_warning_limit_reset (GstWarningLimit * limit)
{
  limit->warned_at = 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Limits the number of warnings about a problem that may occur with every
 * packet. Without a limit, the warnings would fill the log or the bus, and a
 * remote host could cause them at will. At most one warning in 10 s is allowed.
 *
 * The code is not thread safe. The owner of a GstWarningLimit protects it. */

#pragma once

#include <glib.h>

typedef struct
{
  /* monotonic time in us of the last warning; 0 = none yet */
  gint64 warned_at;
} GstWarningLimit;

/* Returns whether the caller may warn now, and if so, records that it warns.
 * Returns FALSE if less than 10 s have passed since the last warning. */
gboolean gst_warning_limit_allow (GstWarningLimit * limit);
/* Forgets the last warning, so that the next warning is allowed. Called when a
 * stream or a connection begins. A new struct whose bytes are zero is in this
 * state already. */
void gst_warning_limit_reset (GstWarningLimit * limit);

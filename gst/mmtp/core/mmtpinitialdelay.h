/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The initial delay (D0) of a session at the receiver. D0 is the latency of the
 * session: the time from the due time of a buffer until the buffer is played.
 * The sender requests a D0 in its OPEN and in each KEEPALIVE. The configuration
 * of the receiver limits D0, and this module limits how often D0 may change.
 * Times are in ns.
 */

#pragma once

#include <glib.h>

typedef struct
{
  guint64 min, max;             /* limits of the configuration */
  guint64 delay;                /* the D0 that is used */
  guint64 wanted;               /* the D0 that the sender has requested last */
  /* Time at which the current period began. In each period, the receiver
   * accepts only a limited number of changes of D0. */
  guint64 changes_from;
  guint n_changes;              /* requested changes in the current period */
} MmtpInitialDelay;

/* Begins a session. `wanted` is the D0 in us that the OPEN requests. If `min`
 * is greater than `max`, D0 is `max`. */
void mmtp_initial_delay_init (MmtpInitialDelay * self, guint64 min,
    guint64 max, guint32 wanted);
/* Sets D0 to `wanted`, which a KEEPALIVE requests and which is in us, within
 * the limits. Returns the difference between the new and the previous D0. It is
 * 0 if D0 does not change, or if it has already changed too often in the
 * current period. */
gint64 mmtp_initial_delay_request (MmtpInitialDelay * self, guint64 now,
    guint32 wanted);

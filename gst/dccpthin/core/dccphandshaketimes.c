/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of dccphandshaketimes.h: measures the round-trip time during
 * the handshake. */

#include "dccphandshaketimes.h"

void
dccp_handshake_times_add_request (DccpHandshakeTimes * times, guint64 now,
    guint64 sequence)
{
  times->requests[sequence % DCCP_MAX_REQUESTS] = now;
}

void
dccp_handshake_times_add_response (DccpHandshakeTimes * times, guint64 now,
    guint64 sequence)
{
  times->response = sequence;
  times->response_time = now;
}

guint64
dccp_handshake_times_measure_request (const DccpHandshakeTimes * times,
    guint64 now, guint64 acknowledgement)
{
  return now - times->requests[acknowledgement % DCCP_MAX_REQUESTS];
}

gboolean
dccp_handshake_times_measure_response (const DccpHandshakeTimes * times,
    guint64 now, guint64 acknowledgement, guint64 elapsed, guint64 * round_trip)
{
  const guint64 sample = now - times->response_time;

  if (acknowledgement != times->response)
    return FALSE;
  *round_trip = sample - MIN (elapsed, sample);
  return TRUE;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures the round-trip time during the handshake of a DCCP connection. A
 * client measures it from a Request to the Response, and a server from a
 * Response to its acknowledgement. Times are in ns.
 */

#pragma once

#include <glib.h>

/* Number of Requests whose sending times a client stores. The client waits 1
 * second after the first Request. Each further waiting time is twice as long,
 * up to 64 seconds. Within the default connect_timeout of eight minutes, a
 * client therefore sends fewer than 16 Requests. */
#define DCCP_MAX_REQUESTS 16

typedef struct
{
  /* Sending times of the latest Requests. A Request has the index of its
   * sequence number modulo DCCP_MAX_REQUESTS. */
  guint64 requests[DCCP_MAX_REQUESTS];
  /* `response` is the sequence number of the last Response that we sent, and
   * `response_time` is its sending time. */
  guint64 response, response_time;
} DccpHandshakeTimes;

/* Called when a Request or a Response with the number `sequence` is sent. */
void dccp_handshake_times_add_request (DccpHandshakeTimes * times,
    guint64 now, guint64 sequence);
void dccp_handshake_times_add_response (DccpHandshakeTimes * times,
    guint64 now, guint64 sequence);

/* Returns the round-trip time that a client measures when a Response
 * acknowledges its Request with the number `acknowledgement`. */
guint64 dccp_handshake_times_measure_request (const DccpHandshakeTimes * times,
    guint64 now, guint64 acknowledgement);
/* Measures the round-trip time on a server when the number `acknowledgement` is
 * acknowledged. `elapsed` is the time for which the client has waited before it
 * sent this acknowledgement. Returns FALSE if the number is not that of the
 * last Response. */
gboolean dccp_handshake_times_measure_response (
    const DccpHandshakeTimes * times, guint64 now, guint64 acknowledgement,
    guint64 elapsed, guint64 * round_trip);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One end of DCCP: connects or listens, has one connection at a time, and answers
 * everybody else as RFC 4340 says, at a limited rate. A core: no I/O, times and
 * randomness are the caller's.
 *
 *   endpoint = dccp_endpoint_new (&config, entropy);
 *   dccp_endpoint_connect (endpoint, now, &path);       a client
 *   dccp_endpoint_input (endpoint, now, &path, bytes, size);
 *   dccp_endpoint_put (endpoint, now, payload, size, more, &sequence);
 *   while (dccp_endpoint_poll_output (endpoint, now, &datagram))
 *     send it
 *   while (dccp_endpoint_poll_event (endpoint, &event))
 *     media that arrived is an event, too
 *   wait until dccp_endpoint_next_wakeup (endpoint), then
 *   dccp_endpoint_timeout (endpoint, now)
 *
 * Times are ns on one clock of the caller's and never go back; an earlier one
 * counts as the latest seen. Poll outputs and events after each call.
 */

#pragma once

#include "dccphistory.h"
#include "dccptypes.h"
#include "driververbs.h"

#define DCCP_ENTROPY_SIZE 32
/* Packets of data that may be put before they are polled */
#define DCCP_MAX_PUT 64

#define DCCP_SERVICE_CODE(a, b, c, d) \
  ((guint32) (a) << 24 | (guint32) (b) << 16 | (guint32) (c) << 8 | (guint32) (d))
/* RFC 5762 section 5.1: RTP with video */
#define DCCP_SERVICE_RTPV DCCP_SERVICE_CODE ('R', 'T', 'P', 'V')

/* Every field's default */
void dccp_endpoint_config_init (DccpEndpointConfig * config);

typedef struct _DccpEndpoint DccpEndpoint;

DccpEndpoint *dccp_endpoint_new (const DccpEndpointConfig * config,
    const guint8 entropy[DCCP_ENTROPY_SIZE]);
void dccp_endpoint_free (DccpEndpoint * endpoint);

/* From now on decisions are traced: states of the connection, what both ends
 * agreed on, changes of the allowed rate, and packets that are discarded. NULL:
 * none */
void dccp_endpoint_set_trace (DccpEndpoint * endpoint, DriverTrace trace,
    gpointer owner);

/* A client's; again after the last connection has closed */
void dccp_endpoint_connect (DccpEndpoint * endpoint, guint64 now,
    const DatagramPath * path);
/* Close: what was sent before is there first, if it is not lost. A server of data
 * closes too: CloseReq is its way to leave TIMEWAIT to the client. CLOSED
 * follows, or TIMED_OUT; at once where there is no connection. */
void dccp_endpoint_close (DccpEndpoint * endpoint, guint64 now);
/* Reset, at once; ABORTED follows. */
void dccp_endpoint_abort (DccpEndpoint * endpoint, guint64 now);

/* When the next data packet may go; G_MAXUINT64: there is no connection, or it is
 * closing. `now` or earlier: at once. */
guint64 dccp_endpoint_next_send (DccpEndpoint * endpoint, guint64 now);
/* Bytes of payload that fit in one packet */
guint dccp_endpoint_get_max_payload (DccpEndpoint * endpoint);
/* Makes a packet of this payload, which dccp_endpoint_poll_output gives out; the
 * payload must stay until that was sent. `more`: another one waits. `sequence`
 * becomes its number. FALSE: not now, or too long. */
gboolean dccp_endpoint_put (DccpEndpoint * endpoint, guint64 now,
    const guint8 * payload, gsize size, gboolean more, guint64 * sequence);
gboolean dccp_endpoint_get_path (DccpEndpoint * endpoint, DatagramPath * path);

/* The bytes stay until the events were polled. */
void dccp_endpoint_input (DccpEndpoint * endpoint, guint64 now,
    const DatagramPath * path, const guint8 * bytes, gsize size);
/* ICMP says that nobody is there, or (mtu not 0) that packets were too long */
void dccp_endpoint_unreachable (DccpEndpoint * endpoint, guint64 now,
    guint mtu);

/* The application can't keep up (RFC 4340 section 11.6): told to the sender with
 * each feedback until it can, and to those who come after it. That it can again is
 * told at once. */
void dccp_endpoint_set_slow (DccpEndpoint * endpoint, guint64 now,
    gboolean slow);
/* It threw this packet away (11.7) */
void dccp_endpoint_dropped (DccpEndpoint * endpoint, guint64 now,
    guint64 sequence, guint8 drop_code);

/* Did the other end report as dropped one of the packets that this history has,
 * among `n` numbers of ours from the first on? What is long ago is forgotten. */
gboolean dccp_endpoint_were_dropped (DccpEndpoint * endpoint,
    DccpHistory * packets, guint64 first, gint64 n);

void dccp_endpoint_timeout (DccpEndpoint * endpoint, guint64 now);
/* Data first. Writes at most DCCP_MAX_CONTROL bytes to datagram->bytes, and
 * sets its size, its path, and its part, which is the payload. FALSE: there is
 * nothing to send now. */
gboolean dccp_endpoint_poll_output (DccpEndpoint * endpoint, guint64 now,
    Datagram * datagram);
/* Not of data: who has some waits until dccp_endpoint_next_send */
guint64 dccp_endpoint_next_wakeup (DccpEndpoint * endpoint);

gboolean dccp_endpoint_poll_event (DccpEndpoint * endpoint,
    DccpEvent * event);


void dccp_endpoint_get_stats (DccpEndpoint * endpoint, DccpStats * stats);
DccpState dccp_endpoint_get_state (DccpEndpoint * endpoint);

/* How the driver runs an endpoint, which has one path, number 0 */
extern const DriverVerbs dccp_endpoint_verbs;

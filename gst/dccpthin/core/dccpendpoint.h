/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One DCCP endpoint: connects or listens, and has one connection at a time. If
 * a packet does not belong to this connection, the endpoint answers it as RFC
 * 4340 requires. The rate of these answers is limited. The endpoint is a core
 * without I/O: the caller supplies the times and the random bytes.
 *
 *   endpoint = dccp_endpoint_new (&config, entropy);
 *   dccp_endpoint_connect (endpoint, now, &path);       a client
 *   dccp_endpoint_input (endpoint, now, &path, bytes, size);
 *   dccp_endpoint_put (endpoint, now, payload, size, more, &sequence);
 *   while (dccp_endpoint_poll_output (endpoint, now, &datagram))
 *     send the datagram
 *   while (dccp_endpoint_poll_event (endpoint, &event))
 *     handle the event; received data is an event, too
 *   wait until dccp_endpoint_next_wakeup (endpoint), then
 *   dccp_endpoint_timeout (endpoint, now)
 *
 * Times are in ns on one clock of the caller. If a time is earlier than the
 * latest time so far, the endpoint uses that latest time instead. Poll outputs
 * and events after each call.
 */

#pragma once

#include "dccphistory.h"
#include "dccptypes.h"
#include "driververbs.h"

#define DCCP_ENTROPY_SIZE 32
/* Maximum number of data packets that dccp_endpoint_put () accepts before
 * dccp_endpoint_poll_output () is called. */
#define DCCP_MAX_PUT 64

#define DCCP_SERVICE_CODE(a, b, c, d) \
  ((guint32) (a) << 24 | (guint32) (b) << 16 | (guint32) (c) << 8 | (guint32) (d))
/* Service code of video over RTP, RFC 5762 section 5.1. */
#define DCCP_SERVICE_RTPV DCCP_SERVICE_CODE ('R', 'T', 'P', 'V')

/* Sets every field to its default. */
void dccp_endpoint_config_init (DccpEndpointConfig * config);

typedef struct _DccpEndpoint DccpEndpoint;

DccpEndpoint *dccp_endpoint_new (const DccpEndpointConfig * config,
    const guint8 entropy[DCCP_ENTROPY_SIZE]);
void dccp_endpoint_free (DccpEndpoint * endpoint);

/* Sets the function that traces decisions: changes of the connection's state,
 * agreed features, changes of the allowed rate, and discarded packets. NULL =
 * no trace. */
void dccp_endpoint_set_trace (DccpEndpoint * endpoint, DriverTrace trace,
    gpointer owner);

/* Begins to connect to `path`. Only a client without a connection may call this
 * function. */
void dccp_endpoint_connect (DccpEndpoint * endpoint, guint64 now,
    const DatagramPath * path);
/* Closes the connection. Data that was sent before still arrives, unless it is
 * lost. A client sends a Close. A server sends a CloseReq instead, which asks
 * the client to send the Close. The reason is that the endpoint that sends the
 * Close has to stay in TIMEWAIT afterwards.
 *
 * The event CLOSED or TIMED_OUT follows later. If there is no connection,
 * CLOSED follows immediately. */
void dccp_endpoint_close (DccpEndpoint * endpoint, guint64 now);
/* Ends the connection immediately with a Reset. The event ABORTED follows. */
void dccp_endpoint_abort (DccpEndpoint * endpoint, guint64 now);

/* Returns the time at which the next data packet may be sent. `now` or an
 * earlier time means immediately. G_MAXUINT64 means that no time is known, for
 * example because no connection is open. */
guint64 dccp_endpoint_next_send (DccpEndpoint * endpoint, guint64 now);
/* Returns the maximum payload size of a packet in bytes. */
guint dccp_endpoint_get_max_payload (DccpEndpoint * endpoint);
/* Makes a data packet. A later call of dccp_endpoint_poll_output () returns the
 * packet. The payload must stay valid until the packet was sent. The caller
 * sets `more` to TRUE if it has another packet to send after this one.
 * `sequence` is set to the sequence number of the packet. Returns FALSE if no
 * packet may be sent now, or if the payload is too long. */
gboolean dccp_endpoint_put (DccpEndpoint * endpoint, guint64 now,
    const guint8 * payload, gsize size, gboolean more, guint64 * sequence);
gboolean dccp_endpoint_get_path (DccpEndpoint * endpoint, DatagramPath * path);

/* Call this function when a packet has arrived. `bytes` must stay valid until
 * the events were polled. */
void dccp_endpoint_input (DccpEndpoint * endpoint, guint64 now,
    const DatagramPath * path, const guint8 * bytes, gsize size);
/* Reports an ICMP error. If `mtu` is 0, the peer is unreachable. Otherwise
 * packets were too long for the path, whose MTU is `mtu`. */
void dccp_endpoint_unreachable (DccpEndpoint * endpoint, guint64 now,
    guint mtu);

/* Tells the endpoint whether the application is too slow for the data (RFC 4340
 * section 11.6). While it is too slow, each Ack reports this to the sender.
 * When the application is fast enough again, an Ack says so immediately. Later
 * connections of the endpoint use the same setting. */
void dccp_endpoint_set_slow (DccpEndpoint * endpoint, guint64 now,
    gboolean slow);
/* Tells the endpoint that the application has dropped the received packet
 * `sequence` (RFC 4340 section 11.7). */
void dccp_endpoint_dropped (DccpEndpoint * endpoint, guint64 now,
    guint64 sequence, guint8 drop_code);

/* Returns whether the peer has reported that it dropped at least one of certain
 * packets that we sent. These are the packets with the numbers `first` to
 * `first` + `n` - 1 whose bit is set in the history `packets`. Reports that are
 * older than the history are ignored. */
gboolean dccp_endpoint_were_dropped (DccpEndpoint * endpoint,
    DccpHistory * packets, guint64 first, gint64 n);

void dccp_endpoint_timeout (DccpEndpoint * endpoint, guint64 now);
/* Returns the next datagram. Data packets come before all other packets. At
 * most DCCP_MAX_CONTROL bytes are written to datagram->bytes: the header of a
 * data packet, or a whole control packet. The payload of a data packet is not
 * copied, but is in datagram->parts. The function also sets the size and the
 * path of the datagram. Returns FALSE if there is nothing to send now. */
gboolean dccp_endpoint_poll_output (DccpEndpoint * endpoint, guint64 now,
    Datagram * datagram);
/* Returns the time at which dccp_endpoint_timeout () has to be called next.
 * Data that waits to be sent does not change this time:
 * dccp_endpoint_next_send () returns the time at which data may be sent. */
guint64 dccp_endpoint_next_wakeup (DccpEndpoint * endpoint);

gboolean dccp_endpoint_poll_event (DccpEndpoint * endpoint,
    DccpEvent * event);


void dccp_endpoint_get_stats (DccpEndpoint * endpoint, DccpStats * stats);
DccpState dccp_endpoint_get_state (DccpEndpoint * endpoint);

/* Table of functions by which the driver, which does the I/O for all protocol
 * cores, runs an endpoint. An endpoint has one path, number 0. */
extern const DriverVerbs dccp_endpoint_verbs;

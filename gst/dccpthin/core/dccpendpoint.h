/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One DCCP endpoint. It connects or listens, and has one connection at a time.
 * If a packet does not belong to this connection, the endpoint answers it as
 * RFC 4340 requires. The rate of these answers is limited. This code does no
 * I/O of its own: the caller sends and receives the packets, and supplies the
 * times and the random bytes. The caller uses the functions as follows:
 *
 *   endpoint = dccp_endpoint_new (&config, entropy);
 *   dccp_endpoint_connect (endpoint, now, &path);       a client
 *   dccp_endpoint_input (endpoint, now, &datagram);
 *   dccp_endpoint_put (endpoint, now, payload, size, more, &sequence);
 *   while (dccp_endpoint_poll_output (endpoint, now, &datagram))
 *     send the datagram
 *   while (dccp_endpoint_poll_event (endpoint, &event))
 *     handle the event; received data is an event, too
 *   wait until dccp_endpoint_next_wakeup (endpoint), then
 *   dccp_endpoint_timeout (endpoint, now)
 *
 * Times are in ns on one clock of the caller. If a time is earlier than the
 * latest time so far, the endpoint uses that latest time instead. The caller
 * must poll outputs and events after each call of another function.
 */

#pragma once

#include "dccphistory.h"
#include "dccptypes.h"
#include "driververbs.h"

/* Size of the buffer for data packets, in packets. When the buffer is full,
 * dccp_endpoint_put () accepts no packet until dccp_endpoint_poll_output () has
 * returned all packets of the buffer. */
#define DCCP_MAX_PUT 64

#define DCCP_SERVICE_CODE(a, b, c, d) \
  ((guint32) (a) << 24 | (guint32) (b) << 16 | (guint32) (c) << 8 | (guint32) (d))
/* Service code of video over RTP (RFC 5762 section 5.1). */
#define DCCP_SERVICE_RTPV DCCP_SERVICE_CODE ('R', 'T', 'P', 'V')

/* Sets every field of `config` to its default value. */
void dccp_endpoint_config_init (DccpEndpointConfig * config);

typedef struct _DccpEndpoint DccpEndpoint;

DccpEndpoint *dccp_endpoint_new (const DccpEndpointConfig * config,
    const guint8 entropy[DCCP_ENTROPY_SIZE]);
void dccp_endpoint_free (DccpEndpoint * endpoint);

/* Sets the function that the endpoint calls with a log message when one of
 * these things happens: the state of the connection changes, features are
 * agreed, the allowed rate changes, or a packet is discarded. NULL = no log
 * messages. */
void dccp_endpoint_set_trace (DccpEndpoint * endpoint, DriverTrace trace,
    gpointer owner);

/* Begins to connect to the server at `path`. Only a client that has no
 * connection may call this function. */
void dccp_endpoint_connect (DccpEndpoint * endpoint, guint64 now,
    const DatagramPath * path);
/* Closes the connection. Data that was sent before this call still arrives,
 * unless the network loses it. A client sends a Close. A server sends a
 * CloseReq instead, which asks the client to send the Close. The reason is that
 * the endpoint that sends the Close has to stay in the state TIMEWAIT
 * afterwards, and this should not be the server.
 *
 * The event CLOSED or TIMED_OUT follows later. If there is no connection, the
 * event CLOSED follows immediately. */
void dccp_endpoint_close (DccpEndpoint * endpoint, guint64 now);
/* Ends the connection immediately with a Reset. The event ABORTED follows. */
void dccp_endpoint_abort (DccpEndpoint * endpoint, guint64 now);

/* Returns the time at which the next data packet may be sent. `now` or an
 * earlier time means immediately. G_MAXUINT64 means that no time is known, for
 * example because no connection is open. */
guint64 dccp_endpoint_next_send (DccpEndpoint * endpoint, guint64 now);
/* Returns the maximum payload size of a data packet in bytes. */
guint dccp_endpoint_get_max_payload (DccpEndpoint * endpoint);
/* Makes a data packet. A later call of dccp_endpoint_poll_output () returns
 * this packet. The payload is not copied. It must therefore stay valid until
 * the packet was sent. The caller sets `more` to TRUE if it has another packet
 * to send after this one. `sequence` is set to the sequence number of the
 * packet. Returns FALSE if no packet may be sent now, or if the payload is too
 * long. */
gboolean dccp_endpoint_put (DccpEndpoint * endpoint, guint64 now,
    const guint8 * payload, gsize size, gboolean more, guint64 * sequence);
gboolean dccp_endpoint_get_path (DccpEndpoint * endpoint, DatagramPath * path);

/* Call this function when a packet has arrived. The bytes of `datagram` must
 * stay valid until the caller has polled all events, because an event may point
 * into them. */
void dccp_endpoint_input (DccpEndpoint * endpoint, guint64 now,
    const Datagram * datagram);
/* Tells the endpoint about an ICMP error. If `mtu` is 0, the error says that
 * the peer is unreachable. Otherwise it says that a packet was too long for the
 * path, and `mtu` is the path MTU in bytes. */
void dccp_endpoint_unreachable (DccpEndpoint * endpoint, guint64 now,
    guint mtu);

/* Tells the endpoint whether the application is too slow to process the
 * received data (RFC 4340 section 11.6). While `slow` is TRUE, each Ack of the
 * endpoint contains the option Slow Receiver. When `slow` becomes FALSE again,
 * an Ack without this option is sent immediately. The setting also applies to
 * later connections of the endpoint. */
void dccp_endpoint_set_slow (DccpEndpoint * endpoint, guint64 now,
    gboolean slow);
/* Tells the endpoint that the application has dropped the data of the received
 * packet `sequence`. `drop_code` is the reason (RFC 4340 section 11.7). */
void dccp_endpoint_dropped (DccpEndpoint * endpoint, guint64 now,
    guint64 sequence, guint8 drop_code);

/* Returns whether the peer has reported that it dropped at least one of certain
 * packets that we have sent. These are the packets whose numbers are from
 * `first` to `first` + `n` - 1 and whose bits in the history `packets` are set.
 * Packets that are too old for the history are ignored. */
gboolean dccp_endpoint_were_dropped (DccpEndpoint * endpoint,
    DccpHistory * packets, guint64 first, gint64 n);

void dccp_endpoint_timeout (DccpEndpoint * endpoint, guint64 now);
/* Gets the next datagram that has to be sent. Data packets come before control
 * packets, which have no application data. datagram->bytes must have room for
 * DCCP_MAX_CONTROL bytes. The function writes the header of a data packet, or a
 * whole control packet, to this memory. The payload of a data packet is not
 * copied: datagram->parts points to it. The function also sets the size and the
 * path of the datagram. Returns FALSE if there is nothing to send now. */
gboolean dccp_endpoint_poll_output (DccpEndpoint * endpoint, guint64 now,
    Datagram * datagram);
/* Returns the time at which dccp_endpoint_timeout () has to be called next.
 * Data that the caller wants to send does not change this time. For such data,
 * dccp_endpoint_next_send () returns the time at which it may be sent. */
guint64 dccp_endpoint_next_wakeup (DccpEndpoint * endpoint);

gboolean dccp_endpoint_poll_event (DccpEndpoint * endpoint,
    DccpEvent * event);


void dccp_endpoint_get_stats (DccpEndpoint * endpoint, DccpStats * stats);
DccpState dccp_endpoint_get_state (DccpEndpoint * endpoint);

/* Table of the functions that the driver calls to run an endpoint. The driver
 * does the I/O for all protocols of this project, and knows each protocol only
 * by such a table. A DCCP endpoint has only one path, with the number 0. */
extern const DriverVerbs dccp_endpoint_verbs;

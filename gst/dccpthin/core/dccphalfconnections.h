/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The two half-connections of a DCCP connection (RFC 4340 section 2): we send
 * data in one of them, and we receive data in the other. Each half-connection
 * has a congestion control, whose functions it calls (dccpccid.h). The
 * congestion control is negotiated with the peer. Until this negotiation has
 * ended, the half-connection uses the congestion control that we prefer. Times
 * are in ns.
 */

#pragma once

#include "dccpfeatures.h"
#include "dccptypes.h"

typedef struct
{
  const DccpCcid *const *ccids;
  DccpFeatures *features;       /* features of the connection */
  /* Round-trip time in ns that the handshake measured; 0 = unknown. */
  guint64 round_trip;
  DccpCcidConfig config;
  /* NULL until the half-connections begin */
  const DccpCcid *sender_ccid, *receiver_ccid;
  gpointer sender, receiver;
} DccpHalfConnections;

void dccp_half_connections_init (DccpHalfConnections * halves,
    const DccpEndpointConfig * config, DccpFeatures * features);
/* Begins both half-connections. `iss` is the first sequence number that we
 * sent. `sequence` is the sequence number of the packet from the peer with
 * which the half-connections begin. */
void dccp_half_connections_begin (DccpHalfConnections * halves, guint64 now,
    guint max_segment, guint64 iss, guint64 sequence);
/* Called after the options of the packet `sequence` were processed. These
 * options may have changed the congestion control of a half-connection, because
 * the endpoints can negotiate it again at any time, even in the state OPEN. If
 * the congestion control has changed, the function adds the counters of the
 * previous congestion control to `stats`, and begins the half-connection again
 * with the new congestion control. `gss` is the last sequence number that we
 * sent. Returns TRUE if the half-connection in which we send data has begun
 * again. */
gboolean dccp_half_connections_follow (DccpHalfConnections * halves,
    guint64 now, guint64 gss, guint64 sequence, DccpStats * stats);
void dccp_half_connections_clear (DccpHalfConnections * halves,
    DccpStats * stats);

/* Writes the state of the half-connection in which we send data to `state`. If
 * dccp_half_connections_begin () was not called yet, all fields of `state` are
 * set to 0. */
void dccp_half_connections_get_sender (DccpHalfConnections * halves,
    DccpCcidSenderState * state);
/* Returns the rate at which we may send, in bit/s. */
guint64 dccp_half_connections_get_rate (DccpHalfConnections * halves);
/* Writes the values that describe the present state of both half-connections to
 * `stats`. These are the rates, the loss event rates, the round-trip time, the
 * queueing delay and the bytes in flight. The counters in `stats` are not
 * changed. */
void dccp_half_connections_describe (DccpHalfConnections * halves,
    DccpStats * stats);
/* Adds the counters of both half-connections to the counters in `stats`. */
void dccp_half_connections_add_stats (DccpHalfConnections * halves,
    DccpStats * stats);
void dccp_half_connections_set_round_trip (DccpHalfConnections * halves,
    guint64 now, guint64 round_trip);

/* The options of one received packet that are for the congestion control with
 * which we send data. The caller must set all fields to 0 before it reads the
 * first option of a packet. */
typedef struct
{
  /* Congestion control to which the options in `own` belong. NULL = `own`
   * contains no options yet. */
  const DccpCcid *ccid;
  DccpCcidHeard own;
} DccpHalfHeard;

/* Reads a DCCP option that belongs to a congestion control. The type of such an
 * option is from 128 to 255:
 * - Options of the types 192 to 255 are for the congestion control with which
 *   we send data. The value of the option is stored in `heard`, and is used
 *   later.
 * - Options of the types 128 to 191 are for the congestion control with which
 *   we receive data. They are passed to this congestion control immediately.
 *
 * May be called before the half-connections begin. */
DccpCcidOptionResult dccp_half_connections_read_option (
    DccpHalfConnections * halves, guint64 now, const DccpOption * option,
    DccpHalfHeard * heard);
/* Writes the options that the congestion control adds to packets of the
 * half-connection in which we send data. May be called before the
 * half-connections begin. */
void dccp_half_connections_write_options (DccpHalfConnections * halves,
    guint64 now, DccpOptionWriter * writer);

/* dccp_half_connections_sent_other () tells the congestion control that we sent
 * a packet without data. dccp_half_connections_input () tells it that a packet
 * was received. Before the half-connections begin, both functions do nothing.
 */
void dccp_half_connections_sent_other (DccpHalfConnections * halves,
    guint64 now, guint64 sequence);
void dccp_half_connections_input (DccpHalfConnections * halves, guint64 now,
    const DccpCcidPacket * packet);
/* Returns whether we have to send feedback now. Feedback is sent with an Ack.
 * Before the half-connections begin, the result is FALSE. */
gboolean dccp_half_connections_want_feedback (DccpHalfConnections * halves,
    guint64 now);
void dccp_half_connections_write_feedback (DccpHalfConnections * halves,
    guint64 now, DccpOptionWriter * writer);

/* Processes an Ack of the peer that acknowledges data which we sent. Returns
 * FALSE if the Ack contains no information about congestion. */
gboolean dccp_half_connections_feedback (DccpHalfConnections * halves,
    guint64 now, DccpCcidAck * ack, DccpHalfHeard * heard,
    DccpCcidNews * news);
guint64 dccp_half_connections_next_send (DccpHalfConnections * halves,
    guint64 now);
/* Tells the congestion control that a data packet was sent. `size` is the
 * payload size of this packet in bytes. `more` is TRUE if another packet waits
 * to be sent. Returns the value that the caller writes into the header field
 * CCVal of the packet. */
guint8 dccp_half_connections_sent (DccpHalfConnections * halves, guint64 now,
    guint64 sequence, guint32 size, gboolean more);

guint64 dccp_half_connections_next_wakeup (DccpHalfConnections * halves);
/* Checks the timer of the congestion control with which we send data. If the
 * timer has expired at the time `now`, the function performs the action of the
 * timer and returns TRUE. Otherwise it does nothing and returns FALSE. */
gboolean dccp_half_connections_timeout (DccpHalfConnections * halves,
    guint64 now);

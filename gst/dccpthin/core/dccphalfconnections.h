/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The two half-connections of a connection (RFC 4340 section 2): in one of them
 * we send data, in the other we receive data. Each half-connection calls the
 * functions of its negotiated congestion control (dccpccid.h). Until the
 * negotiation has ended, it calls the functions of the preferred congestion
 * control. Times are in ns.
 */

#pragma once

#include "dccpfeatures.h"
#include "dccptypes.h"

typedef struct
{
  const DccpCcid *const *ccids;
  DccpFeatures *features;       /* features of the connection */
  /* round-trip time that the handshake measured; 0 = unknown */
  guint64 round_trip;
  DccpCcidConfig config;
  /* NULL until the half-connections begin */
  const DccpCcid *sender_ccid, *receiver_ccid;
  gpointer sender, receiver;
} DccpHalfConnections;

void dccp_half_connections_init (DccpHalfConnections * halves,
    const DccpEndpointConfig * config, DccpFeatures * features);
/* Begins both half-connections. `iss` is our first sequence number, and
 * `sequence` is the number of the first packet of the peer. */
void dccp_half_connections_begin (DccpHalfConnections * halves, guint64 now,
    guint max_segment, guint64 iss, guint64 sequence);
/* Called after the options of the packet `sequence` were processed. These
 * options may have changed the negotiated congestion controls, even in the
 * state OPEN. A half-connection whose congestion control has changed begins
 * again with the new congestion control. The counters of the previous
 * congestion control are then added to `stats`. `gss` is the last sequence
 * number that we sent. Returns TRUE if the half-connection in which we send
 * data began again. */
gboolean dccp_half_connections_follow (DccpHalfConnections * halves,
    guint64 now, guint64 gss, guint64 sequence, DccpStats * stats);
void dccp_half_connections_clear (DccpHalfConnections * halves,
    DccpStats * stats);

/* The following two functions write the state of one half-connection to
 * `state`, for the statistics. They set all fields of `state` to 0 if
 * dccp_half_connections_begin () was not called yet. */
void dccp_half_connections_get_sender (DccpHalfConnections * halves,
    DccpCcidSenderState * state);
void dccp_half_connections_get_receiver (DccpHalfConnections * halves,
    DccpCcidReceiverState * state);
/* Adds the counters of the half-connections to `stats`. */
void dccp_half_connections_add_stats (DccpHalfConnections * halves,
    DccpStats * stats);
void dccp_half_connections_set_round_trip (DccpHalfConnections * halves,
    guint64 now, guint64 round_trip);

/* The options of one received packet for the half-connection in which we send
 * data. All fields must be 0 before the first option of the packet is read. */
typedef struct
{
  /* congestion control to which the options in `own` belong; NULL if `own`
   * contains no options yet */
  const DccpCcid *ccid;
  DccpCcidHeard own;
} DccpHalfHeard;

/* Reads an option of type 128 to 255 and stores its values in `heard`. May be
 * called before the half-connections begin. */
DccpCcidOptionResult dccp_half_connections_read_option (
    DccpHalfConnections * halves, guint64 now, const DccpOption * option,
    DccpHalfHeard * heard);
/* Writes the options of the half-connection in which we send data. May be
 * called before the half-connections begin. */
void dccp_half_connections_write_options (DccpHalfConnections * halves,
    guint64 now, DccpOptionWriter * writer);

/* The following two functions do nothing before the half-connections begin. */
void dccp_half_connections_sent_other (DccpHalfConnections * halves,
    guint64 now, guint64 sequence);
void dccp_half_connections_input (DccpHalfConnections * halves, guint64 now,
    const DccpCcidPacket * packet);
/* Returns whether feedback is due. Before the half-connections begin, no
 * feedback is due. */
gboolean dccp_half_connections_want_feedback (DccpHalfConnections * halves,
    guint64 now);
void dccp_half_connections_write_feedback (DccpHalfConnections * halves,
    guint64 now, DccpOptionWriter * writer);

/* Processes an Ack. Returns FALSE if the Ack says nothing about congestion. */
gboolean dccp_half_connections_feedback (DccpHalfConnections * halves,
    guint64 now, DccpCcidAck * ack, DccpHalfHeard * heard,
    DccpCcidNews * news);
guint64 dccp_half_connections_next_send (DccpHalfConnections * halves,
    guint64 now);
/* Tells the congestion control that a data packet was sent. `size` is the size
 * of its payload in bytes. `more` is TRUE if another packet waits to be sent.
 * Returns the value for the header field CCVal of the packet. */
guint8 dccp_half_connections_sent (DccpHalfConnections * halves, guint64 now,
    guint64 sequence, guint32 size, gboolean more);

guint64 dccp_half_connections_next_wakeup (DccpHalfConnections * halves);
/* Runs the timer of the sender. Returns TRUE if the timer had expired. */
gboolean dccp_half_connections_timeout (DccpHalfConnections * halves,
    guint64 now);

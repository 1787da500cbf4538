/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The two half-connections of a connection (RFC 4340 section 2): in one we are
 * the sender of data, in the other the receiver. Each calls the table of the
 * congestion control that was negotiated for it (dccpccid.h), or that is
 * preferred until then. Times are ns.
 */

#pragma once

#include "dccpfeatures.h"
#include "dccptypes.h"

typedef struct
{
  const DccpCcid *const *ccids;
  DccpFeatures *features;       /* of the connection */
  guint64 round_trip;           /* of the handshake; 0: unknown */
  DccpCcidConfig config;
  const DccpCcid *sender_ccid, *receiver_ccid;  /* NULL until they begin */
  gpointer sender, receiver;
} DccpHalfConnections;

void dccp_half_connections_init (DccpHalfConnections * halves,
    const DccpEndpointConfig * config, DccpFeatures * features);
/* `iss`: our first number; `sequence`: of the packet that is the first one */
void dccp_half_connections_begin (DccpHalfConnections * halves, guint64 now,
    guint max_segment, guint64 iss, guint64 sequence);
/* The packet of this number may have changed what is agreed on, even in OPEN.
 * Those whose congestion control is another one now begin again; `gss` is the
 * last number that we sent. What was counted goes to `stats`. TRUE: so did the
 * sender. */
gboolean dccp_half_connections_follow (DccpHalfConnections * halves,
    guint64 now, guint64 gss, guint64 sequence, DccpStats * stats);
void dccp_half_connections_clear (DccpHalfConnections * halves,
    DccpStats * stats);

/* All 0 before they begin */
void dccp_half_connections_get_sender (DccpHalfConnections * halves,
    DccpCcidSenderState * state);
void dccp_half_connections_get_receiver (DccpHalfConnections * halves,
    DccpCcidReceiverState * state);
/* What they count themselves */
void dccp_half_connections_add_stats (DccpHalfConnections * halves,
    DccpStats * stats);
void dccp_half_connections_set_round_trip (DccpHalfConnections * halves,
    guint64 now, guint64 round_trip);

/* What the options of one packet say to the sender; zero before the first */
typedef struct
{
  const DccpCcid *ccid;         /* whose they are; NULL: none */
  DccpCcidHeard own;
} DccpHalfHeard;

/* An option of type 128 to 255, before they begin too */
DccpCcidOptionResult dccp_half_connections_read_option (
    DccpHalfConnections * halves, guint64 now, const DccpOption * option,
    DccpHalfHeard * heard);
/* The sender's, before it begins too */
void dccp_half_connections_write_options (DccpHalfConnections * halves,
    guint64 now, DccpOptionWriter * writer);

/* Before they begin these two do nothing. */
void dccp_half_connections_sent_other (DccpHalfConnections * halves,
    guint64 now, guint64 sequence);
void dccp_half_connections_input (DccpHalfConnections * halves, guint64 now,
    const DccpCcidPacket * packet);
/* FALSE before they begin */
gboolean dccp_half_connections_want_feedback (DccpHalfConnections * halves,
    guint64 now);
void dccp_half_connections_write_feedback (DccpHalfConnections * halves,
    guint64 now, DccpOptionWriter * writer);

/* FALSE: it says nothing of the congestion. */
gboolean dccp_half_connections_feedback (DccpHalfConnections * halves,
    guint64 now, DccpCcidAck * ack, DccpHalfHeard * heard,
    DccpCcidNews * news);
guint64 dccp_half_connections_next_send (DccpHalfConnections * halves,
    guint64 now);
/* Its CCVal */
guint8 dccp_half_connections_sent (DccpHalfConnections * halves, guint64 now,
    guint64 sequence, guint32 size, gboolean more);

guint64 dccp_half_connections_next_wakeup (DccpHalfConnections * halves);
/* TRUE: it was the sender's time. */
gboolean dccp_half_connections_timeout (DccpHalfConnections * halves,
    guint64 now);

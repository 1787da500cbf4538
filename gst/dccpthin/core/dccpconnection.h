/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One DCCP connection (RFC 4340) between an endpoint and one peer, from its
 * first packet to its last. This header has the state of the connection, and
 * the functions that create and end it. Three more headers have the other
 * functions that an endpoint calls:
 * - dccpconnectioninput.h processes received packets.
 * - dccpconnectionoutput.h writes the packets that are sent.
 * - dccpconnectiontimeouts.h performs the actions of the timers.
 *
 * Only the code of the endpoint, of the connection and of their tests includes
 * these headers.
 */

#pragma once

#include "dccpcommon.h"
#include "dccpcookielist.h"
#include "dccpdropped.h"
#include "dccpdropreports.h"
#include "dccpfeatures.h"
#include "dccphalfconnections.h"
#include "dccphandshaketimes.h"
#include "dccpnumbers.h"
#include "dccpoptions.h"
#include "dccppending.h"
#include "dccpreceived.h"
#include "dccptimers.h"

typedef struct
{
  DccpCommon *common;
  guint64 now;                  /* ns */
  DatagramPath path;
  guint16 local_port, remote_port;
  guint32 service_code;
  guint mtu;                    /* path MTU in bytes */
  gboolean is_server;
  DccpState state;

  /* parts with a module of their own */
  DccpFeatures *features;
  DccpHalfConnections halves;   /* in use from PARTOPEN or OPEN on */
  DccpNumbers numbers;
  DccpTimers timers;
  DccpHandshakeTimes handshake_times;
  DccpPending pending;
  /* A client has to return these cookies. A server stores the cookie that its
   * Response contains. */
  DccpCookieList cookies;
  DccpReceived received;
  /* packets of the peer that we dropped, and that we have to report */
  DccpDropped dropped;
  /* packets of ours that the peer dropped */
  DccpDropReports drop_reports;

  /* packets that are sent */
  /* TRUE if an Ack has to be sent, even if it contains no feedback and no
   * feature options */
  gboolean owes_ack;
  DccpLimiter responses;
  /* Size in bytes of the last packet that arrived for this connection. As long
   * as the client has not acknowledged anything, its address may be forged. A
   * Reset or Sync to it must then not be longer than this packet. */
  gsize answer_room;
  /* `stamp` is the last Timestamp that arrived, and `stamp_time` is its arrival
   * time in ns. `owes_echo` is TRUE if it was not echoed yet. */
  gboolean owes_echo;
  guint32 stamp;
  guint64 stamp_time;
  /* Number of packets without data that we have sent since our last packet with
   * data. The option NDP Count contains this number. */
  guint64 ndp;
  /* TRUE if our last Ack contained the option Slow Receiver, which says that
   * our application is too slow for the data. */
  gboolean told_slow;

  /* events that were reported to the application */
  gboolean is_told;             /* DCCP_EVENT_CONNECTED was reported. */
  gboolean they_are_slow;
  guint64 told_rate;            /* last reported rate in bit/s */
} DccpConnection;

/* The following two functions create a connection. The connection of a client
 * begins in the state REQUEST. The connection of a server begins in the state
 * RESPOND, because the server has already received `request`. */
DccpConnection *dccp_connection_new_client (DccpCommon * common, guint64 now,
    const DatagramPath * path, guint16 local_port, guint64 iss);
DccpConnection *dccp_connection_new_server (DccpCommon * common, guint64 now,
    const DatagramPath * path, const DccpPacket * request, guint64 iss);
/* Frees the connection. Its counters are added to those of the endpoint. */
void dccp_connection_free (DccpConnection * connection);
void dccp_connection_add_stats (DccpConnection * connection,
    DccpStats * stats);
/* Returns whether `packet`, which arrived on `path`, has the addresses and the
 * ports of this connection. */
gboolean dccp_connection_matches (const DccpConnection * connection,
    const DatagramPath * path, const DccpPacket * packet);
gboolean dccp_connection_is_over (const DccpConnection * connection);
gboolean dccp_connection_is_open (const DccpConnection * connection);

void dccp_connection_close (DccpConnection * connection, guint64 now);
/* Ends the connection and sets its state to `state`. Nothing is sent
 * afterwards. The application receives an event of the type `type`. There is
 * one exception: if this is a connection of a server and its opening was never
 * reported, its end is not reported either. */
void dccp_connection_end (DccpConnection * connection, DccpState state,
    DccpEventType type, guint8 code, const guint8 * data);
/* Ends the connection and sends a Reset with the code `code`. If the address of
 * the peer may be forged, special rules limit the number and the size of
 * Resets. If these rules forbid the Reset, the connection ends without one.
 *
 * The application receives an event of the type `type`. There is one exception:
 * if this is a connection of a server and its opening was never reported, its
 * end is not reported either. */
void dccp_connection_abort (DccpConnection * connection, DccpEventType type,
    guint8 code, const guint8 * data);

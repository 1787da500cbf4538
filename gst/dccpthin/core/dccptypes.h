/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Types that a DCCP endpoint and its connections use: settings, events, states
 * and counters.
 */

#pragma once

#include "dccpccid.h"
#include "dccppacket.h"

/* Maximum number of bytes that dccp_endpoint_poll_output () writes into the
 * caller's buffer. For a data packet, it writes only the header, because the
 * payload is not copied. For a packet without data, it writes the whole packet.
 */
#define DCCP_MAX_CONTROL DCCP_MAX_HEADER
/* number of random bytes that the caller supplies to an endpoint */
#define DCCP_ENTROPY_SIZE 32

typedef struct
{
  gboolean is_listener;
  /* Our DCCP port. If a client sets it to 0, the endpoint chooses a random
   * port. */
  guint16 local_port;
  guint16 remote_port;          /* used by a client only */
  guint32 service_code;
  /* Sequence Window that we announce to the peer, in packets. The peer accepts
   * our packets only if their sequence numbers are in a window of this size
   * (RFC 4340 section 7.5.2). */
  guint64 sequence_window;
  guint mtu;                    /* path MTU in bytes */
  /* Checksum coverage of the packets that we send: the value of their header
   * field CsCov (RFC 4340 section 9.2). If the peer does not accept this value,
   * the checksum of our packets covers all bytes. */
  guint8 coverage;
  /* Minimum checksum coverage (CsCov) that we accept in packets of the peer.
   * 0 = we accept only packets whose checksum covers all bytes. */
  guint8 min_coverage;
  /* Maximum time in ns for which a client waits for the Response of the server;
   * 0 = no timeout. */
  guint64 connect_timeout;
  /* Maximum time in ns without a valid packet from the peer. After this time,
   * the connection ends. 0 = no timeout. After half of this time, the endpoint
   * begins to send Syncs, which the peer must answer. */
  guint64 idle_timeout;
  /* Time in ns for which an ended connection stays in the state TIMEWAIT, by
   * default two maximum segment lifetimes. During this time, a listener refuses
   * a Request that comes from the addresses and ports of this connection. It
   * may accept other clients during this time. */
  guint64 time_wait;
  /* Congestion controls that we accept, in order of preference. The last entry
   * is NULL. */
  const DccpCcid *const *ccids;
  gint equation;                /* for CCID 3: a TfrcEquation */
  gboolean reduce_oscillation;  /* for CCID 3: RFC 5348 section 4.5 */
  /* Used by CCID 3 only: packet size s in bytes in the TFRC throughput equation
   * (RFC 5348). 0 = the mean size of the sent packets is used. */
  guint32 segment_size;
  /* Resolution in ns of the timer with which the caller sends packets. */
  guint64 granularity;
} DccpEndpointConfig;

typedef struct
{
  const guint8 *payload;        /* points into the received bytes */
  /* Memory block that contains the payload, or NULL. This field is set only if
   * the structure is part of an event. The code that handles the event needs
   * the payload. If there is a block, this code can keep a reference to the
   * part of the block that contains the payload. If the field is NULL, the
   * code must copy the payload instead. */
  DatagramBlock *block;
  gsize size;
  guint64 sequence;
  /* TRUE if packets with data are missing between the last delivered packet and
   * this packet. The missing packets may still arrive. */
  gboolean discont;
  /* Checksum coverage (CsCov) of the packet. The bytes of the payload that the
   * checksum does not cover may be damaged. */
  guint8 coverage;
} DccpData;

typedef enum
{
  /* The connection is open, and data may be sent to the peer. `path` has the
   * address of the peer. */
  DCCP_EVENT_CONNECTED,
  /* The connection was closed normally, by the peer or by us. */
  DCCP_EVENT_CLOSED,
  /* The peer ended the connection with a Reset, and not by a regular close.
   * `reset_code` and `reset_data` are the values in this Reset. */
  DCCP_EVENT_RESET,
  /* We ended the connection with a Reset, whose code is `reset_code`. The
   * reason is that the application aborted the connection, or that a packet of
   * the peer was invalid. */
  DCCP_EVENT_ABORTED,
  /* The peer did not answer in time, for example within connect_timeout or
   * idle_timeout. */
  DCCP_EVENT_TIMED_OUT,
  DCCP_EVENT_UNREACHABLE,       /* ICMP error while the client connects */
  /* A second client tried to connect and was refused. `path` has the address of
   * this client. */
  DCCP_EVENT_REFUSED,
  /* The allowed rate has changed: `rate` differs by at least 10 % from the rate
   * in the last event of this type. */
  DCCP_EVENT_RATE,
  /* The peer has become a slow receiver (`slow` is TRUE), or is no longer a
   * slow receiver (`slow` is FALSE). */
  DCCP_EVENT_SLOW_RECEIVER,
  /* The peer reported that it dropped packets that we sent. They are in a range
   * of sequence numbers: `sequence` is the first number of the range, and
   * `lost` is the count of numbers in the range. The first and the last packet
   * of the range were dropped. It is possible that some packets between them
   * were not dropped. */
  DCCP_EVENT_DROPPED,
  /* The peer reported lost packets that it had not reported before. They are in
   * a range of sequence numbers: `sequence` is the first number of the range,
   * and `lost` is the count of numbers in the range. Some packets in this range
   * may have arrived. */
  DCCP_EVENT_LOST,
  /* Data arrived from the peer. `data` describes the data, and `time` is its
   * arrival time. */
  DCCP_EVENT_DATA
} DccpEventType;

typedef struct
{
  DccpEventType type;
  DatagramPath path;
  guint8 reset_code, reset_data[3];
  gboolean slow;
  /* For DCCP_EVENT_DROPPED: number of packets that the peer dropped for the
   * reason `drop_code`. Packets that the peer had reported earlier are not
   * counted again. */
  guint dropped;
  /* For DCCP_EVENT_DROPPED: the Drop Code (RFC 4340 section 11.7), which is the
   * reason for which the peer dropped the packets. */
  guint8 drop_code;
  guint64 sequence;
  guint32 lost;
  guint64 rate;                 /* bit/s of payload */
  DccpData data;
  /* For DCCP_EVENT_DATA: time in ns at which the data arrived. */
  guint64 time;
} DccpEvent;

typedef enum                    /* RFC 4340 section 4.3 */
{
  DCCP_STATE_CLOSED,
  DCCP_STATE_LISTEN,
  DCCP_STATE_REQUEST,
  DCCP_STATE_RESPOND,
  DCCP_STATE_PARTOPEN,
  DCCP_STATE_OPEN,
  DCCP_STATE_CLOSE_REQ,
  DCCP_STATE_CLOSING,
  DCCP_STATE_TIME_WAIT
} DccpState;

const gchar *dccp_state_get_name (DccpState state);

/* Statistics of an endpoint. The counters never decrease, because they are not
 * reset when a new connection begins. */
typedef struct
{
  DccpState state;
  guint64 connections;          /* connections established so far */
  /* received: valid packets only */
  guint64 sent[DCCP_LAST_TYPE], received[DCCP_LAST_TYPE];
  guint64 bytes_sent, bytes_received;   /* payload bytes */
  guint64 refused[DCCP_LAST_REFUSAL];   /* packets by reason */
  /* Number of Syncs, Resets and Responses that should have been sent as
   * answers, but were not sent. The reason was a rate limit, a full queue, or a
   * received packet that was shorter than the answer to it. */
  guint64 answers_suppressed;
  guint64 connections_refused;
  /* Number of received options that were invalid or unknown. Each of them was
   * ignored, or the connection was reset because of it. */
  guint64 option_errors;
  /* data that we send */
  /* Allowed rate X of RFC 5348: the rate in bit/s of payload at which we may
   * send. 0 = no connection. */
  guint64 rate;
  /* Rate in bit/s of payload at which our data arrives at the peer, as the peer
   * reports it (X_recv of RFC 5348). */
  guint64 reported_rate;
  gdouble loss_event_rate;      /* p of RFC 5348; 0 = no loss */
  /* TRUE if the application sends less data than the allowed rate `rate`. In
   * this case, `rate` is only a lower bound: the path may be able to carry
   * more. */
  gboolean is_app_limited;
  guint64 round_trip;           /* ns; 0: unknown */
  guint64 round_trip_variance;  /* ns */
  guint64 queue_delay;          /* ns */
  guint64 in_flight;            /* payload bytes */
  guint64 feedback_received, no_feedback;
  /* Number of loss events that the peer reported in the option Loss Intervals.
   * It stays 0 if the peer reports only the loss event rate. */
  guint64 loss_events_received;
  /* Number of packets in the loss events that loss_events_received counts. A
   * loss event consists of all packets from its first lost packet to its last
   * lost packet, even if some of them arrived. */
  guint64 packets_lost;
  guint64 slow_receiver_received, dropped_received;
  /* data that the peer sends */
  gdouble their_loss_event_rate;
  /* Rate in bit/s at which payload from the peer arrives here. This is our own
   * measurement (X_recv of RFC 5348). */
  guint64 receive_rate;
  guint64 lost, loss_events, reordered, duplicates;
  guint64 feedback_sent;
  guint64 slow_receiver_sent, dropped_sent;
} DccpStats;

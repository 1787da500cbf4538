/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Settings, events, states and counters of a DCCP endpoint. The endpoint and
 * its connections use these types.
 */

#pragma once

#include "dccpccid.h"
#include "dccppacket.h"

/* Maximum number of bytes that dccp_endpoint_poll_output () writes into the
 * caller's buffer. These are the header of a data packet, or a whole packet
 * without data. A payload is not copied into the buffer. */
#define DCCP_MAX_CONTROL DCCP_MAX_HEADER

typedef struct
{
  gboolean is_listener;
  /* our DCCP port; a client may set 0, and a random port is then used */
  guint16 local_port;
  guint16 remote_port;          /* used by a client only */
  guint32 service_code;
  /* our Sequence Window in packets (RFC 4340 section 7.5.2) */
  guint64 sequence_window;
  guint mtu;                    /* path MTU in bytes */
  /* Checksum coverage (CsCov) of the data that we send. If the peer does not
   * allow it, the checksum covers all bytes. */
  guint8 coverage;
  /* minimum checksum coverage (CsCov) that we accept; 0 = the checksum must
   * cover all bytes */
  guint8 min_coverage;
  /* maximum time in ns that a client waits for the Response; 0 = no timeout */
  guint64 connect_timeout;
  /* Maximum time without a valid packet in ns; 0 = no timeout. After half of
   * this time the endpoint begins to send Syncs, which the peer must answer. */
  guint64 idle_timeout;
  /* Time in ns that a connection stays in the state TIMEWAIT, by default two
   * maximum segment lifetimes. A listener may accept the next connection before
   * this time is over. */
  guint64 time_wait;
  /* Accepted congestion controls in order of preference, followed by NULL. */
  const DccpCcid *const *ccids;
  gint equation;                /* for CCID 3: a TfrcEquation */
  gboolean reduce_oscillation;  /* for CCID 3: RFC 5348 section 4.5 */
  /* for CCID 3: segment size s of the TFRC throughput equation (RFC 5348) in
   * bytes; 0 = mean size of the sent packets */
  guint32 segment_size;
  guint64 granularity;          /* resolution of the caller's timer in ns */
} DccpEndpointConfig;

typedef struct
{
  const guint8 *payload;        /* points into the received bytes */
  /* The memory block that contains the payload. The receiver of the event can
   * refer to a slice of this block instead of copying the payload. NULL if the
   * payload must be copied. The field is set in events only. */
  DatagramBlock *block;
  gsize size;
  guint64 sequence;
  /* TRUE if packets with data between the last delivered packet and this packet
   * are missing; they may still arrive */
  gboolean discont;
  /* checksum coverage (CsCov); bytes that are not covered may be damaged */
  guint8 coverage;
} DccpData;

typedef enum
{
  /* The connection is open, and data may be sent to the peer. `path` has the
   * address of the peer. */
  DCCP_EVENT_CONNECTED,
  /* The connection was closed normally, by the peer or by us. */
  DCCP_EVENT_CLOSED,
  /* The peer sent a Reset with reset_code and reset_data. */
  DCCP_EVENT_RESET,
  /* We sent a Reset with reset_code, because the application aborted the
   * connection or because a packet of the peer was invalid. */
  DCCP_EVENT_ABORTED,
  /* The peer did not answer in time, for example within connect_timeout or
   * idle_timeout. */
  DCCP_EVENT_TIMED_OUT,
  DCCP_EVENT_UNREACHABLE,       /* ICMP error while the client connects */
  /* A second client tried to connect and was refused. `path` has the address of
   * this client. */
  DCCP_EVENT_REFUSED,
  /* The allowed rate differs by at least 10 % from the last reported rate. */
  DCCP_EVENT_RATE,
  /* `slow` is TRUE if the peer is a slow receiver now. */
  DCCP_EVENT_SLOW_RECEIVER,
  /* The peer dropped packets. The first dropped packet has the sequence number
   * `sequence`, and the last dropped packet has `sequence` + `lost` - 1. Some
   * packets between these two may have arrived.
   */
  DCCP_EVENT_DROPPED,
  /* The peer reported a loss that it had not reported before. The lost packets
   * are in a range of `lost` sequence numbers that begins with `sequence`.
   * Other packets in this range may have arrived. */
  DCCP_EVENT_LOST,
  DCCP_EVENT_DATA               /* Data arrived: `data` and `time` are set. */
} DccpEventType;

typedef struct
{
  DccpEventType type;
  DatagramPath path;
  guint8 reset_code, reset_data[3];
  gboolean slow;
  /* Number of packets that the peer reported as dropped for the reason
   * `drop_code`. Packets that the peer had reported before are not counted. */
  guint dropped;
  /* reason for which the peer dropped the packets */
  guint8 drop_code;
  guint64 sequence;
  guint32 lost;
  guint64 rate;                 /* bit/s of payload */
  DccpData data;
  guint64 time;                 /* arrival time of the data in ns */
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

/* Counters never decrease; they continue from one connection to the next. */
typedef struct
{
  DccpState state;
  guint64 connections;          /* connections established so far */
  /* received: valid packets only */
  guint64 sent[DCCP_LAST_TYPE], received[DCCP_LAST_TYPE];
  guint64 bytes_sent, bytes_received;   /* payload bytes */
  guint64 refused[DCCP_LAST_REFUSAL];   /* packets by reason */
  /* Number of Syncs, Resets and Responses that were not sent, because of a rate
   * limit or because the received packet was too short for the answer */
  guint64 answers_suppressed;
  guint64 connections_refused;
  /* Number of invalid or unknown options that were received. Such an option was
   * ignored, or the connection was reset because of it. */
  guint64 option_errors;
  /* data that we send */
  /* Allowed rate X of RFC 5348 in bit/s of payload; 0 = no connection. */
  guint64 rate;
  /* receive rate (X_recv) that the peer reports, in bit/s */
  guint64 reported_rate;
  gdouble loss_event_rate;      /* p of RFC 5348; 0 = no loss */
  /* TRUE if the application limits the rate. The path may then carry more than
   * `rate`. */
  gboolean is_app_limited;
  guint64 round_trip;           /* ns; 0: unknown */
  guint64 round_trip_variance;  /* ns */
  guint64 queue_delay;          /* ns */
  guint64 in_flight;            /* payload bytes */
  guint64 feedback_received, no_feedback;
  /* Number of loss events. It stays 0 if the peer reports only the loss event
   * rate and no Loss Intervals. */
  guint64 loss_events_received;
  /* Number of packets in the loss events that loss_events_received counts. The
   * packets of one loss event are all packets from its first lost packet to its
   * last lost packet. */
  guint64 packets_lost;
  guint64 slow_receiver_received, dropped_received;
  /* data that the peer sends */
  gdouble their_loss_event_rate;
  /* receive rate (X_recv) that we measure, in bit/s */
  guint64 receive_rate;
  guint64 lost, loss_events, reordered, duplicates;
  guint64 feedback_sent;
  guint64 slow_receiver_sent, dropped_sent;
} DccpStats;

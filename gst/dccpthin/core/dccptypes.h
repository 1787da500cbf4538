/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What an endpoint of DCCP is told, and what it tells: settings, events, states
 * and counters. Its connections know them too.
 */

#pragma once

#include "dccpccid.h"
#include "dccppacket.h"

/* Maximum bytes that dccp_endpoint_poll_output writes. Data is not written, but
 * pointed to. */
#define DCCP_MAX_CONTROL DCCP_MAX_HEADER

typedef struct
{
  gboolean is_listener;
  guint16 local_port;           /* of DCCP; a client's 0: one by chance */
  guint16 remote_port;          /* a client's */
  guint32 service_code;
  guint64 sequence_window;      /* packets, of our own direction (7.5.2) */
  guint mtu;                    /* bytes of an IP packet on the path */
  guint8 coverage;              /* CsCov of our data; used when the other end
                                 * allows it, else all is covered */
  guint8 min_coverage;          /* that we accept, 0: only CsCov 0 */
  guint64 connect_timeout;      /* ns without a Response; 0: never */
  guint64 idle_timeout;         /* ns without any valid packet, though Syncs asked
                                 * for one from half of it on; 0: never */
  guint64 time_wait;            /* ns, 2 MSL; a listener is ready for the next
                                 * connection all the same */
  const DccpCcid *const *ccids; /* congestion controls to agree on, the preferred
                                 * one first; NULL behind the last */
  gint equation;                /* of CCID 3, a TfrcEquation */
  gboolean reduce_oscillation;  /* of CCID 3 */
  guint32 segment_size;         /* s, bytes; 0: mean of those sent */
  guint64 granularity;          /* ns, of the caller's timer */
} DccpEndpointConfig;

typedef struct
{
  const guint8 *payload;        /* within the bytes that came */
  gsize size;
  guint64 sequence;
  gboolean discont;             /* packets before it are missing, for now */
  guint8 coverage;              /* CsCov: what is behind may be damaged */
} DccpData;

typedef enum
{
  DCCP_EVENT_CONNECTED,         /* data may go; path says to whom */
  DCCP_EVENT_CLOSED,            /* in order, by them or by us */
  DCCP_EVENT_RESET,             /* by them: reset_code, reset_data */
  DCCP_EVENT_ABORTED,           /* by us, as what they sent can't be: reset_code */
  DCCP_EVENT_TIMED_OUT,         /* no answer within a timeout of the config */
  DCCP_EVENT_UNREACHABLE,       /* ICMP, while connecting */
  DCCP_EVENT_REFUSED,           /* somebody else wanted to connect: path */
  DCCP_EVENT_RATE,              /* of data allowed, has changed by a tenth */
  DCCP_EVENT_SLOW_RECEIVER,     /* TRUE: the other end is slow; FALSE: no more */
  DCCP_EVENT_DROPPED,           /* the other end threw packets away: `sequence`
                                 * and some of the `lost` - 1 that follow */
  DCCP_EVENT_LOST,              /* the other end misses packets, that it had not
                                 * told of: `sequence` and some of the `lost` - 1
                                 * that follow */
  DCCP_EVENT_DATA               /* data for the application: `data`, `time` */
} DccpEventType;

typedef struct
{
  DccpEventType type;
  DatagramPath path;
  guint8 reset_code, reset_data[3];
  gboolean slow;
  guint dropped;                /* packets newly reported, */
  guint8 drop_code;             /* for this reason */
  guint64 sequence;
  guint32 lost;
  guint64 rate;                 /* bits per second of payload */
  DccpData data;
  guint64 time;                 /* ns, when the data arrived */
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

/* Counters never go back, and go on from connection to connection. */
typedef struct
{
  DccpState state;
  guint64 connections;          /* that were open */
  guint64 sent[DCCP_LAST_TYPE], received[DCCP_LAST_TYPE];      /* valid ones */
  guint64 bytes_sent, bytes_received;   /* of payload */
  guint64 refused[DCCP_LAST_REFUSAL];   /* packets */
  guint64 answers_suppressed;   /* Syncs and Resets beyond the limit */
  guint64 connections_refused;
  guint64 option_errors;        /* broken or unknown ones, ignored */
  /* our data */
  guint64 rate;                 /* X, bits per second of payload; 0: no
                                 * connection */
  guint64 reported_rate;        /* X_recv of the other end, bits per second */
  gdouble loss_event_rate;      /* p; 0: no loss */
  gboolean is_app_limited;      /* the path may carry more than `rate` */
  guint64 round_trip;           /* ns; 0: unknown */
  guint64 round_trip_variance;  /* ns */
  guint64 feedback_received, no_feedback;
  guint64 loss_events_received; /* where the other end tells of them one by one */
  guint64 slow_receiver_received, dropped_received;
  /* their data */
  gdouble their_loss_event_rate;
  guint64 receive_rate;         /* X_recv, bits per second */
  guint64 lost, loss_events, reordered, duplicates;
  guint64 feedback_sent;
  guint64 slow_receiver_sent, dropped_sent;
} DccpStats;

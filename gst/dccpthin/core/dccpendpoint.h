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

#ifndef __DCCP_ENDPOINT_H__
#define __DCCP_ENDPOINT_H__

#include "dccpccid.h"
#include "dccphistory.h"
#include "dccppacket.h"
#include "driververbs.h"

G_BEGIN_DECLS

#define DCCP_ENTROPY_SIZE 32
/* Of what dccp_endpoint_poll_output writes. Data is not written, but pointed
 * to. */
#define DCCP_LONGEST_CONTROL DCCP_LONGEST_HEADER
/* Packets of data that may be put before they are polled */
#define DCCP_MAX_PUT 64

#define DCCP_SERVICE_CODE(a, b, c, d) \
  ((guint32) (a) << 24 | (guint32) (b) << 16 | (guint32) (c) << 8 | (guint32) (d))
/* RFC 5762 section 5.1: RTP with video */
#define DCCP_SERVICE_RTPV DCCP_SERVICE_CODE ('R', 'T', 'P', 'V')

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

/* Every field's default */
void dccp_endpoint_config_init (DccpEndpointConfig * config);

typedef struct _DccpEndpoint DccpEndpoint;

DccpEndpoint *dccp_endpoint_new (const DccpEndpointConfig * config,
    const guint8 entropy[DCCP_ENTROPY_SIZE]);
void dccp_endpoint_free (DccpEndpoint * endpoint);

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

typedef struct
{
  const guint8 *payload;        /* within the bytes that came */
  gsize size;
  guint64 sequence;
  gboolean discont;             /* packets before it are missing, for now */
  guint8 coverage;              /* CsCov: what is behind may be damaged */
} DccpData;

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
/* Data first. Writes at most DCCP_LONGEST_CONTROL bytes to datagram->bytes, and
 * sets its size, its path, and its part, which is the payload. FALSE: there is
 * nothing to send now. */
gboolean dccp_endpoint_poll_output (DccpEndpoint * endpoint, guint64 now,
    Datagram * datagram);
/* Not of data: who has some waits until dccp_endpoint_next_send */
guint64 dccp_endpoint_next_wakeup (DccpEndpoint * endpoint);

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

gboolean dccp_endpoint_poll_event (DccpEndpoint * endpoint,
    DccpEvent * event);

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

void dccp_endpoint_get_stats (DccpEndpoint * endpoint, DccpStats * stats);
DccpState dccp_endpoint_get_state (DccpEndpoint * endpoint);

/* How the driver runs an endpoint, which has one path, number 0 */
extern const DriverVerbs dccp_endpoint_verbs;

G_END_DECLS

#endif /* __DCCP_ENDPOINT_H__ */

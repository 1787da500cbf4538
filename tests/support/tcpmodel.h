/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A bulk transfer over a TCP that is simple but complete enough to feel a
 * radio or a shared queue: Reno (RFC 5681) with loss recovery by SACK (RFC
 * 6675), as Linux has had it since 2.2, delayed acknowledgements (RFC 1122
 * 4.2.3.2), RTO of RFC 6298 with Linux's minimum of 200 ms. An ACK that
 * arrives tells all of the receiver's holes. Sequence numbers count segments.
 * Virtual time, and whatever network the caller gives it. Instead of Reno's
 * window it can have that of CUBIC (RFC 9438), Linux's default since 2.6.19,
 * without HyStart.
 * */

#ifndef __TCPMODEL_H__
#define __TCPMODEL_H__

#include <math.h>
#include <string.h>

#include <glib.h>

#define TCP_SECOND G_GUINT64_CONSTANT (1000000000)
#define TCP_DELACK (TCP_SECOND / 25)
#define TCP_RTO_MIN (TCP_SECOND / 5)
#define TCP_RTO_MAX (120 * TCP_SECOND)
/* RFC 9438 4.6 and 5: C in segments per cubic second */
#define TCP_CUBIC_BETA 0.7
#define TCP_CUBIC_C 0.4

typedef enum
{
  TCP_RENO,
  TCP_CUBIC
} TcpAlgorithm;

typedef struct
{
  guint segments;               /* to send */
  guint32 mss, header;          /* bytes */
  guint receive_window;         /* segments */
  guint ack_every;
  TcpAlgorithm algorithm;
} TcpConfig;

/* RFC 9438 4.1.2, in segments and seconds */
typedef struct
{
  guint64 epoch;                /* ns: when congestion avoidance began, or 0 */
  gdouble k, w_max, w_est;
} TcpCubic;

typedef struct _Tcp Tcp;

/* A segment, from 0; or an acknowledgement of all segments below the number */
typedef void (*TcpSend) (Tcp * tcp, gboolean is_ack, guint32 size,
    guint number);

struct _Tcp
{
  TcpConfig config;
  TcpSend send;
  gpointer network;             /* the caller's */
  guint64 now;                  /* ns */
  /* sender */
  guint una, next, recover, dupacks;
  gdouble cwnd, ssthresh;       /* segments */
  TcpCubic cubic;
  gboolean recovering;
  guint64 rto_at, rto, srtt, rttvar;
  gboolean have_rtt;
  guint timed;                  /* segment whose round trip is measured */
  guint64 timed_at;
  guint64 retransmissions;
  guint8 *sent;                 /* times, by segment */
  guint8 *repeated;             /* in this recovery, by segment */
  /* receiver */
  guint expected, unacked, highest;
  guint8 *have;
  guint64 delack_at;
};

/* `tcp` is zero; nothing goes before tcp_send_more */
void tcp_init (Tcp * tcp, const TcpConfig * config, TcpSend send,
    gpointer network);
void tcp_clear (Tcp * tcp);
void tcp_send_more (Tcp * tcp);
void tcp_receive_ack (Tcp * tcp, guint ack);
void tcp_receive_data (Tcp * tcp, guint segment);
guint64 tcp_next_wakeup (const Tcp * tcp);
void tcp_timeout (Tcp * tcp);

#endif /* __TCPMODEL_H__ */

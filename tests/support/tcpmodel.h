/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A bulk transfer over a simple model of TCP. The model is complete enough to
 * react realistically to a radio link or to a shared queue. It runs in virtual
 * time over any network that the caller provides. It has these parts:
 * - The default congestion control is Reno (RFC 5681) with SACK loss recovery
 *   (RFC 6675), as in Linux since 2.2. CUBIC (RFC 9438) without HyStart can be
 *   chosen instead. CUBIC is the default of Linux since 2.6.19.
 * - Acknowledgements are delayed (RFC 1122 section 4.2.3.2). An ACK tells the
 *   sender all gaps in the segments that have arrived.
 * - The retransmission timeout is that of RFC 6298, with Linux's minimum of 200
 *   ms.
 * - Sequence numbers count segments instead of bytes. */

#ifndef __TCPMODEL_H__
#define __TCPMODEL_H__

#include <math.h>
#include <string.h>

#include <glib.h>

#define TCP_SECOND G_GUINT64_CONSTANT (1000000000)
#define TCP_DELACK (TCP_SECOND / 25)
#define TCP_RTO_MIN (TCP_SECOND / 5)
#define TCP_RTO_MAX (120 * TCP_SECOND)
/* Constants of CUBIC (RFC 9438 sections 4.6 and 5). C is in segments per cubic
 * second. */
#define TCP_CUBIC_BETA 0.7
#define TCP_CUBIC_C 0.4

typedef enum
{
  TCP_RENO,
  TCP_CUBIC
} TcpAlgorithm;

typedef struct
{
  guint segments;               /* Segments to send. */
  guint32 mss, header;          /* bytes */
  guint receive_window;         /* segments */
  guint ack_every;
  TcpAlgorithm algorithm;
} TcpConfig;

/* State of CUBIC (RFC 9438 section 4.1.2). `w_max` and `w_est` are in segments,
 * and `k` is in seconds. */
typedef struct
{
  /* Time in ns at which the current phase of congestion avoidance began; 0 if
   * no such phase has begun since the last loss. */
  guint64 epoch;
  gdouble k, w_max, w_est;
} TcpCubic;

typedef struct _Tcp Tcp;

/* Sends a packet into the caller's network. It is either the segment `number`,
 * counted from 0, or (if `is_ack` is TRUE) an acknowledgement of all segments
 * below `number`. `size` is the size in bytes of the IP packet. */
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
  /* Number of the segment with which the round-trip time is being measured. */
  guint timed;
  guint64 timed_at;
  guint64 retransmissions;
  /* Number of times that each segment was sent. */
  guint8 *sent;
  /* For each segment, TRUE if it was retransmitted after the current loss
   * recovery had begun. */
  guint8 *repeated;
  /* receiver */
  guint expected, unacked, highest;
  guint8 *have;
  guint64 delack_at;
};

/* Initializes `tcp`, whose bytes the caller must have set to zero. No segment
 * is sent before tcp_send_more () is called. */
void tcp_init (Tcp * tcp, const TcpConfig * config, TcpSend send,
    gpointer network);
void tcp_clear (Tcp * tcp);
void tcp_send_more (Tcp * tcp);
void tcp_receive_ack (Tcp * tcp, guint ack);
void tcp_receive_data (Tcp * tcp, guint segment);
guint64 tcp_next_wakeup (const Tcp * tcp);
void tcp_timeout (Tcp * tcp);

#endif /* __TCPMODEL_H__ */

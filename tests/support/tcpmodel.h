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

#ifndef __TCP_MODEL_H__
#define __TCP_MODEL_H__

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
static inline void
tcp_init (Tcp * tcp, const TcpConfig * config, TcpSend send, gpointer network)
{
  tcp->config = *config;
  tcp->send = send;
  tcp->network = network;
  tcp->cwnd = 3;
  tcp->ssthresh = 1e9;
  tcp->rto = TCP_SECOND;
  tcp->rto_at = tcp->delack_at = G_MAXUINT64;
  tcp->sent = g_new0 (guint8, config->segments);
  tcp->repeated = g_new0 (guint8, config->segments);
  tcp->have = g_new0 (guint8, config->segments);
}

static inline void
tcp_clear (Tcp * tcp)
{
  g_free (tcp->sent);
  g_free (tcp->repeated);
  g_free (tcp->have);
}

static inline void
tcp_transmit (Tcp * tcp, guint segment)
{
  if (tcp->sent[segment]++) {
    tcp->retransmissions++;
    if (tcp->timed >= segment)
      tcp->timed_at = 0;        /* Karn */
  } else if (!tcp->timed_at) {
    tcp->timed = segment;
    tcp->timed_at = tcp->now + 1;
  }
  if (tcp->rto_at == G_MAXUINT64)
    tcp->rto_at = tcp->now + tcp->rto;
  tcp->send (tcp, FALSE, tcp->config.mss + tcp->config.header, segment);
}

/* RFC 6675 section 2: more than two segments above it have arrived */
static inline gboolean
tcp_is_lost (const Tcp * tcp, guint segment)
{
  return !tcp->have[segment] && segment + 3 <= tcp->highest;
}

static inline guint
tcp_pipe (const Tcp * tcp)
{
  guint i, pipe = 0;

  for (i = tcp->una; i < tcp->next; i++)
    pipe += !tcp->have[i] && (tcp->repeated[i] || !tcp_is_lost (tcp, i));
  return pipe;
}

/* The first hole that nobody has repeated yet */
static inline guint
tcp_find_hole (const Tcp * tcp)
{
  guint i;

  for (i = tcp->una; i < tcp->next; i++) {
    if (!tcp->repeated[i] && tcp_is_lost (tcp, i))
      break;
  }
  return i;
}

static inline gboolean
tcp_send_next (Tcp * tcp)
{
  guint hole = tcp->recovering ? tcp_find_hole (tcp) : tcp->next;

  if (hole < tcp->next) {
    tcp->repeated[hole] = TRUE;
    tcp_transmit (tcp, hole);
    return TRUE;
  }
  /* after an RTO: what has arrived need not be sent again */
  while (tcp->next < tcp->config.segments && tcp->have[tcp->next]
      && tcp->sent[tcp->next])
    tcp->next++;
  if (tcp->next >= tcp->config.segments
      || tcp->next >= tcp->una + tcp->config.receive_window)
    return FALSE;
  tcp_transmit (tcp, tcp->next++);
  return TRUE;
}

static inline void
tcp_send_more (Tcp * tcp)
{
  guint pipe = tcp_pipe (tcp);

  while (pipe < (guint) tcp->cwnd && tcp_send_next (tcp))
    pipe++;
}

/* RFC 6298 section 2 */
static inline void
tcp_measure (Tcp * tcp, guint64 rtt)
{
  if (!tcp->have_rtt) {
    tcp->srtt = rtt;
    tcp->rttvar = rtt / 2;
    tcp->have_rtt = TRUE;
  } else {
    guint64 difference = rtt > tcp->srtt ? rtt - tcp->srtt : tcp->srtt - rtt;

    tcp->rttvar = (3 * tcp->rttvar + difference) / 4;
    tcp->srtt = (7 * tcp->srtt + rtt) / 8;
  }
  tcp->rto = CLAMP (tcp->srtt + MAX (4 * tcp->rttvar, TCP_RTO_MIN), TCP_RTO_MIN,
      TCP_RTO_MAX);
}

/* RFC 9438 4.2 to 4.5, congestion avoidance */
static inline void
tcp_cubic_grow (Tcp * tcp, guint acked)
{
  TcpCubic *cubic = &tcp->cubic;
  gdouble t, target, alpha = 3 * (1 - TCP_CUBIC_BETA) / (1 + TCP_CUBIC_BETA);

  if (cubic->epoch == 0) {
    cubic->epoch = tcp->now;
    cubic->w_max = MAX (cubic->w_max, tcp->cwnd);
    cubic->k = cbrt ((cubic->w_max - tcp->cwnd) / TCP_CUBIC_C);
    cubic->w_est = tcp->cwnd;
  }
  t = (gdouble) (tcp->now - cubic->epoch + tcp->srtt) / TCP_SECOND - cubic->k;
  target = CLAMP (TCP_CUBIC_C * t * t * t + cubic->w_max, tcp->cwnd,
      1.5 * tcp->cwnd);
  cubic->w_est += (cubic->w_est >= cubic->w_max ? 1 : alpha) * acked
      / tcp->cwnd;
  tcp->cwnd = MAX (cubic->w_est,
      tcp->cwnd + acked * (target - tcp->cwnd) / tcp->cwnd);
}

/* RFC 9438 4.6 and 4.7: multiplicative decrease and fast convergence */
static inline void
tcp_cubic_decrease (Tcp * tcp)
{
  TcpCubic *cubic = &tcp->cubic;

  if (tcp->cwnd < cubic->w_max)
    cubic->w_max = tcp->cwnd * (1 + TCP_CUBIC_BETA) / 2;
  else
    cubic->w_max = tcp->cwnd;
  cubic->epoch = 0;
}

/* Half of what is in flight (RFC 5681 equation 4), or CUBIC's share of it */
static inline gdouble
tcp_get_decreased (Tcp * tcp)
{
  if (tcp->config.algorithm == TCP_CUBIC) {
    tcp_cubic_decrease (tcp);
    return MAX (tcp_pipe (tcp) * TCP_CUBIC_BETA, 2);
  }
  return MAX (tcp_pipe (tcp) / 2.0, 2);
}

/* RFC 5681 3.1, RFC 6675 5 */
static inline void
tcp_new_ack (Tcp * tcp, guint ack)
{
  guint acked = ack - tcp->una;

  if (tcp->timed_at && ack > tcp->timed) {
    tcp_measure (tcp, tcp->now + 1 - tcp->timed_at);
    tcp->timed_at = 0;
  }
  tcp->una = ack;
  tcp->next = MAX (tcp->next, ack);
  tcp->dupacks = 0;
  tcp->rto_at = ack < tcp->next ? tcp->now + tcp->rto : G_MAXUINT64;
  if (tcp->recovering) {
    tcp->recovering = ack < tcp->recover;
  } else if (tcp->cwnd < tcp->ssthresh) {
    tcp->cwnd += acked;
  } else if (tcp->config.algorithm == TCP_CUBIC) {
    tcp_cubic_grow (tcp, acked);
  } else {
    tcp->cwnd += acked / tcp->cwnd;
  }
}

static inline void
tcp_duplicate_ack (Tcp * tcp)
{
  if (tcp->recovering || ++tcp->dupacks != 3)
    return;
  tcp->ssthresh = tcp_get_decreased (tcp);
  tcp->cwnd = tcp->ssthresh;
  tcp->recover = tcp->next;
  tcp->recovering = TRUE;
  memset (tcp->repeated, 0, tcp->config.segments);
  tcp->repeated[tcp->una] = TRUE;
  tcp_transmit (tcp, tcp->una);
}

static inline void
tcp_receive_ack (Tcp * tcp, guint ack)
{
  if (ack > tcp->una)
    tcp_new_ack (tcp, ack);
  else if (ack == tcp->una && tcp->next > tcp->una)
    tcp_duplicate_ack (tcp);
  tcp_send_more (tcp);
}

static inline void
tcp_rto (Tcp * tcp)
{
  tcp->ssthresh = tcp_get_decreased (tcp);
  tcp->cwnd = 1;
  tcp->recovering = FALSE;
  memset (tcp->repeated, 0, tcp->config.segments);
  tcp->dupacks = 0;
  tcp->next = tcp->una;
  tcp->rto = MIN (tcp->rto * 2, TCP_RTO_MAX);
  tcp->rto_at = G_MAXUINT64;
  tcp_send_more (tcp);
}

static inline void
tcp_send_ack (Tcp * tcp)
{
  tcp->unacked = 0;
  tcp->delack_at = G_MAXUINT64;
  tcp->send (tcp, TRUE, tcp->config.header, tcp->expected);
}

static inline void
tcp_receive_data (Tcp * tcp, guint segment)
{
  gboolean in_order = segment == tcp->expected;
  gboolean gap;

  tcp->have[segment] = TRUE;
  tcp->highest = MAX (tcp->highest, segment + 1);
  while (tcp->expected < tcp->config.segments && tcp->have[tcp->expected])
    tcp->expected++;
  gap = tcp->expected != segment + 1;
  if (!in_order || gap || ++tcp->unacked >= tcp->config.ack_every)
    tcp_send_ack (tcp);
  else if (tcp->delack_at == G_MAXUINT64)
    tcp->delack_at = tcp->now + TCP_DELACK;
}

static inline guint64
tcp_next_wakeup (const Tcp * tcp)
{
  return MIN (tcp->rto_at, tcp->delack_at);
}

static inline void
tcp_timeout (Tcp * tcp)
{
  if (tcp->now >= tcp->delack_at)
    tcp_send_ack (tcp);
  if (tcp->now >= tcp->rto_at)
    tcp_rto (tcp);
}

#endif /* __TCP_MODEL_H__ */

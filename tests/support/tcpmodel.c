/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tcpmodel.h"

void
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

void
tcp_clear (Tcp * tcp)
{
  g_free (tcp->sent);
  g_free (tcp->repeated);
  g_free (tcp->have);
}

static void
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

/* Returns whether the segment counts as lost: it has not arrived, but a segment
 * whose number is higher by at least 2 has arrived. This approximates RFC 6675
 * section 2. */
static gboolean
tcp_is_lost (const Tcp * tcp, guint segment)
{
  return !tcp->have[segment] && segment + 3 <= tcp->highest;
}

static guint
tcp_pipe (const Tcp * tcp)
{
  guint i, pipe = 0;

  for (i = tcp->una; i < tcp->next; i++)
    pipe += !tcp->have[i] && (tcp->repeated[i] || !tcp_is_lost (tcp, i));
  return pipe;
}

/* Returns the number of the first segment that counts as lost and was not
 * retransmitted since the current loss recovery began. Returns `tcp->next`, the
 * number of the next new segment, if there is no such segment. */
static guint
tcp_find_hole (const Tcp * tcp)
{
  guint i;

  for (i = tcp->una; i < tcp->next; i++) {
    if (!tcp->repeated[i] && tcp_is_lost (tcp, i))
      break;
  }
  return i;
}

static gboolean
tcp_send_next (Tcp * tcp)
{
  guint hole = tcp->recovering ? tcp_find_hole (tcp) : tcp->next;

  if (hole < tcp->next) {
    tcp->repeated[hole] = TRUE;
    tcp_transmit (tcp, hole);
    return TRUE;
  }
  /* After a retransmission timeout, the sender goes back to the first
   * unacknowledged segment, and sends all segments from there on again. It
   * leaves out the segments that have already arrived. */
  while (tcp->next < tcp->config.segments && tcp->have[tcp->next]
      && tcp->sent[tcp->next])
    tcp->next++;
  if (tcp->next >= tcp->config.segments
      || tcp->next >= tcp->una + tcp->config.receive_window)
    return FALSE;
  tcp_transmit (tcp, tcp->next++);
  return TRUE;
}

void
tcp_send_more (Tcp * tcp)
{
  guint pipe = tcp_pipe (tcp);

  while (pipe < (guint) tcp->cwnd && tcp_send_next (tcp))
    pipe++;
}

/* RFC 6298 section 2 */
static void
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
static void
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

/* Updates the state of CUBIC after a loss: multiplicative decrease and fast
 * convergence (RFC 9438 sections 4.6 and 4.7).
 */
static void
tcp_cubic_decrease (Tcp * tcp)
{
  TcpCubic *cubic = &tcp->cubic;

  if (tcp->cwnd < cubic->w_max)
    cubic->w_max = tcp->cwnd * (1 + TCP_CUBIC_BETA) / 2;
  else
    cubic->w_max = tcp->cwnd;
  cubic->epoch = 0;
}

/* Returns the new size of the congestion window after a loss, in segments. With
 * Reno, it is half of the number of segments in flight (RFC 5681 equation 4).
 * With CUBIC, it is 0.7 times the number of segments in flight. */
static gdouble
tcp_get_decreased (Tcp * tcp)
{
  if (tcp->config.algorithm == TCP_CUBIC) {
    tcp_cubic_decrease (tcp);
    return MAX (tcp_pipe (tcp) * TCP_CUBIC_BETA, 2);
  }
  return MAX (tcp_pipe (tcp) / 2.0, 2);
}

/* RFC 5681 3.1, RFC 6675 5 */
static void
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

static void
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

void
tcp_receive_ack (Tcp * tcp, guint ack)
{
  if (ack > tcp->una)
    tcp_new_ack (tcp, ack);
  else if (ack == tcp->una && tcp->next > tcp->una)
    tcp_duplicate_ack (tcp);
  tcp_send_more (tcp);
}

static void
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

static void
tcp_send_ack (Tcp * tcp)
{
  tcp->unacked = 0;
  tcp->delack_at = G_MAXUINT64;
  tcp->send (tcp, TRUE, tcp->config.header, tcp->expected);
}

void
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

guint64
tcp_next_wakeup (const Tcp * tcp)
{
  return MIN (tcp->rto_at, tcp->delack_at);
}

void
tcp_timeout (Tcp * tcp)
{
  if (tcp->now >= tcp->delack_at)
    tcp_send_ack (tcp);
  if (tcp->now >= tcp->rto_at)
    tcp_rto (tcp);
}

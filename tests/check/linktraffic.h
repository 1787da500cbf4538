/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Traffic for tests of the link in virtual time: a source that always has one
 * more packet (a blocking UDP socket, iperf), and a bulk transfer over a TCP
 * that is simple but complete enough to feel a radio: Reno (RFC 5681) with
 * loss recovery by SACK (RFC 6675), as Linux has had it since 2.2, delayed
 * acknowledgements (RFC 1122 4.2.3.2), RTO of RFC 6298 with Linux's minimum of
 * 200 ms. An ACK that arrives tells all of the receiver's holes.
 */

#ifndef __LINK_TRAFFIC_H__
#define __LINK_TRAFFIC_H__

#include <string.h>

#include "link.h"
#include "seededdraw.h"

typedef struct
{
  guint least, most;            /* bytes of an IP packet, uniform */
} TrafficSizes;

typedef struct
{
  gdouble seconds;              /* until the last packet came to its end */
  guint64 delivered;            /* bytes of IP packets */
  LinkFlowStats stats;
} TrafficResult;

static inline Link *
traffic_link_new (const LinkConfig * config)
{
  GError *error = NULL;
  Link *link = link_new (config, &error);

  g_assert_no_error (error);
  return link;
}

static inline void
traffic_drop_events (Link * link)
{
  LinkEvent event;

  while (link_poll_event (link, &event));
}

static inline guint32
traffic_size (const TrafficSizes * sizes, guint64 index)
{
  return sizes->least + seeded_draw_below (seeded_draw (4711, 0, 0, index, 0),
      sizes->most - sizes->least + 1);
}

/* n packets, each as soon as the queue has room */
static inline TrafficResult
traffic_saturate (const LinkConfig * config, guint n, TrafficSizes sizes)
{
  Link *link = traffic_link_new (config);
  guint flow = link_add_flow (link, 0), sent = 0, ended = 0;
  TrafficResult result = { 0, };
  guint64 now = 0, last = 0;
  LinkPacket packet;
  LinkEvent event;

  while (TRUE) {
    while (sent < n && link_has_room (link, flow, sizes.most))
      link_input (link, now, flow, traffic_size (&sizes, sent++), NULL);
    while (link_poll_output (link, &packet))
      result.delivered += packet.size;
    while (link_poll_event (link, &event)) {
      if (event.type != LINK_EVENT_FATE)
        continue;
      ended++;
      last = event.time;
    }
    if (ended == n)
      break;
    now = link_next_wakeup (link);
    g_assert_cmpuint (now, !=, LINK_NEVER);
    link_timeout (link, now);
  }
  link_get_flow_stats (link, flow, &result.stats);
  result.seconds = last / 1e9;
  link_free (link, NULL);
  return result;
}

/* TCP. Sequence numbers count segments. */

#define TCP_DELACK (40 * LINK_MS)
#define TCP_RTO_MIN (200 * LINK_MS)
#define TCP_RTO_MAX (120 * LINK_SECOND)

typedef struct
{
  guint segments;               /* to send */
  guint32 mss, header;          /* bytes */
  guint receive_window;         /* segments */
  guint ack_every;
} TcpConfig;

typedef struct
{
  gdouble seconds;
  guint64 retransmissions;
  LinkFlowStats data, acks;
} TcpResult;

typedef struct
{
  TcpConfig config;
  Link *link;
  guint data_flow, ack_flow;
  guint64 now;
  /* sender */
  guint una, next, recover, dupacks;
  gdouble cwnd, ssthresh;       /* segments */
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
} Tcp;

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
  if (tcp->rto_at == LINK_NEVER)
    tcp->rto_at = tcp->now + tcp->rto;
  link_input (tcp->link, tcp->now, tcp->data_flow,
      tcp->config.mss + tcp->config.header, GUINT_TO_POINTER (segment + 1));
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
  tcp->rto_at = ack < tcp->next ? tcp->now + tcp->rto : LINK_NEVER;
  if (tcp->recovering) {
    tcp->recovering = ack < tcp->recover;
  } else if (tcp->cwnd < tcp->ssthresh) {
    tcp->cwnd += acked;
  } else {
    tcp->cwnd += acked / tcp->cwnd;
  }
}

static inline void
tcp_duplicate_ack (Tcp * tcp)
{
  if (tcp->recovering || ++tcp->dupacks != 3)
    return;
  tcp->ssthresh = MAX (tcp_pipe (tcp) / 2.0, 2);
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
  tcp->ssthresh = MAX (tcp_pipe (tcp) / 2.0, 2);
  tcp->cwnd = 1;
  tcp->recovering = FALSE;
  memset (tcp->repeated, 0, tcp->config.segments);
  tcp->dupacks = 0;
  tcp->next = tcp->una;
  tcp->rto = MIN (tcp->rto * 2, TCP_RTO_MAX);
  tcp->rto_at = LINK_NEVER;
  tcp_send_more (tcp);
}

static inline void
tcp_send_ack (Tcp * tcp)
{
  tcp->unacked = 0;
  tcp->delack_at = LINK_NEVER;
  link_input (tcp->link, tcp->now, tcp->ack_flow, tcp->config.header,
      GUINT_TO_POINTER (tcp->expected));
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
  else if (tcp->delack_at == LINK_NEVER)
    tcp->delack_at = tcp->now + TCP_DELACK;
}

static inline void
tcp_receive (Tcp * tcp)
{
  LinkPacket packet;

  while (link_poll_output (tcp->link, &packet)) {
    guint number = GPOINTER_TO_UINT (packet.user);

    if (packet.flow == tcp->data_flow)
      tcp_receive_data (tcp, number - 1);
    else
      tcp_receive_ack (tcp, number);
  }
  traffic_drop_events (tcp->link);
}

static inline void
tcp_step (Tcp * tcp)
{
  guint64 wakeup = link_next_wakeup (tcp->link);

  tcp->now = MAX (tcp->now, MIN (wakeup, MIN (tcp->rto_at, tcp->delack_at)));
  link_timeout (tcp->link, tcp->now);
  tcp_receive (tcp);
  if (tcp->now >= tcp->delack_at)
    tcp_send_ack (tcp);
  if (tcp->now >= tcp->rto_at)
    tcp_rto (tcp);
}

static inline TcpResult
traffic_tcp (const LinkConfig * config, const TcpConfig * tcp_config)
{
  TcpResult result = { 0, };
  Tcp tcp = { *tcp_config, };

  tcp.link = traffic_link_new (config);
  tcp.data_flow = link_add_flow (tcp.link, 0);
  tcp.ack_flow = link_add_flow (tcp.link, 1);
  tcp.cwnd = 3;
  tcp.ssthresh = 1e9;
  tcp.rto = LINK_SECOND;
  tcp.rto_at = tcp.delack_at = LINK_NEVER;
  tcp.sent = g_new0 (guint8, tcp_config->segments);
  tcp.repeated = g_new0 (guint8, tcp_config->segments);
  tcp.have = g_new0 (guint8, tcp_config->segments);
  tcp_send_more (&tcp);
  while (tcp.una < tcp_config->segments)
    tcp_step (&tcp);
  result.seconds = tcp.now / 1e9;
  result.retransmissions = tcp.retransmissions;
  link_get_flow_stats (tcp.link, tcp.data_flow, &result.data);
  link_get_flow_stats (tcp.link, tcp.ack_flow, &result.acks);
  link_free (tcp.link, NULL);
  g_free (tcp.sent);
  g_free (tcp.repeated);
  g_free (tcp.have);
  return result;
}

#endif /* __LINK_TRAFFIC_H__ */

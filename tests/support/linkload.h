/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Traffic for tests of the link in virtual time: a source that always has one
 * more packet (a blocking UDP socket, iperf), and a bulk transfer over TCP.
 */

#ifndef __LINK_TRAFFIC_H__
#define __LINK_TRAFFIC_H__

#include "link.h"
#include "seededdraw.h"
#include "tcpmodel.h"

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

typedef struct
{
  gdouble seconds;
  guint64 retransmissions;
  LinkFlowStats data, acks;
} TcpResult;

/* TCP's network */
typedef struct
{
  Link *link;
  guint data_flow, ack_flow;
} TrafficTcpPath;

static inline void
traffic_tcp_send (Tcp * tcp, gboolean is_ack, guint32 size, guint number)
{
  TrafficTcpPath *path = tcp->network;

  link_input (path->link, tcp->now, is_ack ? path->ack_flow : path->data_flow,
      size, GUINT_TO_POINTER (number));
}

static inline void
traffic_tcp_receive (Tcp * tcp)
{
  TrafficTcpPath *path = tcp->network;
  LinkPacket packet;

  while (link_poll_output (path->link, &packet)) {
    guint number = GPOINTER_TO_UINT (packet.user);

    if (packet.flow == path->data_flow)
      tcp_receive_data (tcp, number);
    else
      tcp_receive_ack (tcp, number);
  }
  traffic_drop_events (path->link);
}

static inline void
traffic_tcp_step (Tcp * tcp)
{
  TrafficTcpPath *path = tcp->network;
  guint64 wakeup = link_next_wakeup (path->link);

  tcp->now = MAX (tcp->now, MIN (wakeup, tcp_next_wakeup (tcp)));
  link_timeout (path->link, tcp->now);
  traffic_tcp_receive (tcp);
  tcp_timeout (tcp);
}

static inline TcpResult
traffic_tcp (const LinkConfig * config, const TcpConfig * tcp_config)
{
  Link *link = traffic_link_new (config);
  TrafficTcpPath path = { link, };
  TcpResult result = { 0, };
  Tcp tcp = { {0,}, };

  path.data_flow = link_add_flow (link, 0);
  path.ack_flow = link_add_flow (link, 1);
  tcp_init (&tcp, tcp_config, traffic_tcp_send, &path);
  tcp_send_more (&tcp);
  while (tcp.una < tcp_config->segments)
    traffic_tcp_step (&tcp);
  result.seconds = tcp.now / 1e9;
  result.retransmissions = tcp.retransmissions;
  link_get_flow_stats (link, path.data_flow, &result.data);
  link_get_flow_stats (link, path.ack_flow, &result.acks);
  link_free (link, NULL);
  tcp_clear (&tcp);
  return result;
}

#endif /* __LINK_TRAFFIC_H__ */

/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "linkload.h"

LinkConfig
link_load_profile (const gchar * nick, LinkQuality quality, guint64 seed)
{
  LinkConfig config;
  guint i;

  for (i = 0; i < link_profile_get_number (); i++) {
    if (g_str_equal (link_profile_get_info (i)->nick, nick))
      break;
  }
  if (i == link_profile_get_number ())
    g_error ("linkprofiles.c has no profile \"%s\"", nick);
  link_config_init (&config, i, quality);
  config.seed = seed;
  return config;
}

Link *
link_load_link_new (const LinkConfig * config)
{
  GError *error = NULL;
  Link *link = link_new (config, &error);

  g_assert_no_error (error);
  return link;
}

void
link_load_drop_events (Link * link)
{
  LinkEvent event;

  while (link_poll_event (link, &event));
}

static guint32
link_load_size (const LinkLoadSizes * sizes, guint64 index)
{
  return sizes->min + seeded_draw_below (seeded_draw (4711, 0, 0, index, 0),
      sizes->max - sizes->min + 1);
}

LinkLoadResult
link_load_saturate (const LinkConfig * config, guint n, LinkLoadSizes sizes)
{
  Link *link = link_load_link_new (config);
  guint flow = link_add_flow (link, 0), sent = 0, ended = 0;
  LinkLoadResult result = { 0, };
  guint64 now = 0, last = 0;
  LinkPacket packet;
  LinkEvent event;

  while (TRUE) {
    while (sent < n && link_has_room (link, flow, sizes.max))
      link_input (link, now, flow, link_load_size (&sizes, sent++), NULL);
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

static void
link_load_tcp_send (Tcp * tcp, gboolean is_ack, guint32 size, guint number)
{
  LinkLoadTcpPath *path = tcp->network;

  link_input (path->link, tcp->now, is_ack ? path->ack_flow : path->data_flow,
      size, GUINT_TO_POINTER (number));
}

static void
link_load_tcp_receive (Tcp * tcp)
{
  LinkLoadTcpPath *path = tcp->network;
  LinkPacket packet;

  while (link_poll_output (path->link, &packet)) {
    guint number = GPOINTER_TO_UINT (packet.user);

    if (packet.flow == path->data_flow)
      tcp_receive_data (tcp, number);
    else
      tcp_receive_ack (tcp, number);
  }
  link_load_drop_events (path->link);
}

static void
link_load_tcp_step (Tcp * tcp)
{
  LinkLoadTcpPath *path = tcp->network;
  guint64 wakeup = link_next_wakeup (path->link);

  tcp->now = MAX (tcp->now, MIN (wakeup, tcp_next_wakeup (tcp)));
  link_timeout (path->link, tcp->now);
  link_load_tcp_receive (tcp);
  tcp_timeout (tcp);
}

TcpResult
link_load_tcp (const LinkConfig * config, const TcpConfig * tcp_config)
{
  Link *link = link_load_link_new (config);
  LinkLoadTcpPath path = { link, };
  TcpResult result = { 0, };
  Tcp tcp = { {0,}, };

  path.data_flow = link_add_flow (link, 0);
  path.ack_flow = link_add_flow (link, 1);
  tcp_init (&tcp, tcp_config, link_load_tcp_send, &path);
  tcp_send_more (&tcp);
  while (tcp.una < tcp_config->segments)
    link_load_tcp_step (&tcp);
  result.seconds = tcp.now / 1e9;
  result.retransmissions = tcp.retransmissions;
  link_get_flow_stats (link, path.data_flow, &result.data);
  link_get_flow_stats (link, path.ack_flow, &result.acks);
  link_free (link, NULL);
  tcp_clear (&tcp);
  return result;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Traffic for tests of the link model in virtual time. There are two kinds of
 * traffic. The first comes from a sender that always has another packet to
 * send, such as iperf or a program that writes to a blocking UDP socket. The
 * second is a bulk transfer over TCP.
 */

#ifndef __LINKLOAD_H__
#define __LINKLOAD_H__

#include "link.h"
#include "seededdraw.h"
#include "tcpmodel.h"

/* link_input () and link_has_room () are the functions of link.h for packets
 * that are not of a video stream. Most tests use only such packets. */
static inline void
link_input (Link * link, guint64 now, guint flow, guint32 size, gpointer user)
{
  link_input_video (link, now, flow, size, NULL, user);
}

static inline gboolean
link_has_room (Link * link, guint flow, guint32 size)
{
  return link_has_room_for_video (link, flow, size, NULL);
}

typedef struct
{
  /* Minimum and maximum size of an IP packet in bytes. The sizes are uniformly
   * distributed between them. */
  guint min, max;
} LinkLoadSizes;

typedef struct
{
  /* Time in seconds from the start until the last packet was delivered or lost.
   */
  gdouble seconds;
  guint64 delivered;            /* bytes of IP packets */
  LinkFlowStats stats;
} LinkLoadResult;

/* Returns the configuration of a link profile, such as "cellular". `nick` is
 * the name of the profile. It is a string and not an enum value, because some
 * tests use profiles that the enum LinkProfile does not contain. */
LinkConfig link_load_profile (const gchar * nick, LinkQuality quality,
    guint64 seed);
Link *link_load_link_new (const LinkConfig * config);
void link_load_drop_events (Link * link);
/* Sends `n` packets over a link with the configuration `config`, as fast as the
 * link allows. Each packet is sent as soon as the queue of the link has room
 * for it. */
LinkLoadResult link_load_saturate (const LinkConfig * config, guint n,
    LinkLoadSizes sizes);

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
} LinkLoadTcpPath;

TcpResult link_load_tcp (const LinkConfig * config,
    const TcpConfig * tcp_config);

#endif /* __LINKLOAD_H__ */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See socketoptions.h. */

#define _GNU_SOURCE             /* SO_RCVBUFFORCE */

#include "socketoptions.h"

#include <netinet/in.h>
#include <sys/socket.h>

void
socket_options_set_fragments (GSocket * socket, gboolean allowed)
{
#if defined (IP_MTU_DISCOVER) && defined (IP_PMTUDISC_DO)
  if (g_socket_get_family (socket) == G_SOCKET_FAMILY_IPV4)
    g_socket_set_option (socket, IPPROTO_IP, IP_MTU_DISCOVER,
        allowed ? IP_PMTUDISC_DONT : IP_PMTUDISC_DO, NULL);
#endif
#if defined (IPV6_MTU_DISCOVER) && defined (IPV6_PMTUDISC_DO)
  if (g_socket_get_family (socket) == G_SOCKET_FAMILY_IPV6)
    g_socket_set_option (socket, IPPROTO_IPV6, IPV6_MTU_DISCOVER,
        allowed ? IPV6_PMTUDISC_DONT : IPV6_PMTUDISC_DO, NULL);
#endif
}

void
socket_options_set_receive_buffer (GSocket * socket, gint size)
{
#ifdef SO_RCVBUFFORCE
  if (g_socket_set_option (socket, SOL_SOCKET, SO_RCVBUFFORCE, size, NULL))
    return;
#endif
  g_socket_set_option (socket, SOL_SOCKET, SO_RCVBUF, size, NULL);
}

void
socket_options_set_send_buffer (GSocket * socket, gint size)
{
#ifdef SO_SNDBUFFORCE
  if (g_socket_set_option (socket, SOL_SOCKET, SO_SNDBUFFORCE, size, NULL))
    return;
#endif
  g_socket_set_option (socket, SOL_SOCKET, SO_SNDBUF, size, NULL);
}

guint
socket_options_get_path_mtu (gint fd, gint family)
{
  gint mtu = 0;
  socklen_t size = sizeof (mtu);

#ifdef IP_MTU
  if (family == AF_INET
      && getsockopt (fd, IPPROTO_IP, IP_MTU, &mtu, &size) == 0)
    return mtu;
#endif
#ifdef IPV6_MTU
  if (family == AF_INET6
      && getsockopt (fd, IPPROTO_IPV6, IPV6_MTU, &mtu, &size) == 0)
    return mtu;
#endif
  return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See socketpktinfo.h. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#define _GNU_SOURCE             /* in6_pktinfo */

#include "socketpktinfo.h"

#include <errno.h>
#include <string.h>

#include <netinet/in.h>

gboolean
socket_pktinfo_enable (gint fd, gint family)
{
  const gint yes = TRUE;

#ifdef IP_PKTINFO
  if (family == AF_INET)
    return setsockopt (fd, IPPROTO_IP, IP_PKTINFO, &yes, sizeof (yes)) == 0;
#endif
#ifdef IPV6_RECVPKTINFO
  if (family == AF_INET6)
    return setsockopt (fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &yes,
        sizeof (yes)) == 0;
#endif
  errno = ENOPROTOOPT;
  return FALSE;
}

static void
add_control (struct msghdr *message, struct cmsghdr *control, gint level,
    gint type, gconstpointer data, gsize size)
{
  message->msg_control = control;
  message->msg_controllen = CMSG_SPACE (size);
  memset (control, 0, CMSG_SPACE (size));
  control->cmsg_level = level;
  control->cmsg_type = type;
  control->cmsg_len = CMSG_LEN (size);
  memcpy (CMSG_DATA (control), data, size);
}

void
socket_pktinfo_write (struct msghdr *message, gpointer control, gint family,
    const guint8 address[16], guint interface)
{
  static const guint8 any[16] = { 0 };

  if (memcmp (address, any, sizeof (any)) == 0)
    return;
#ifdef IP_PKTINFO
  if (family == AF_INET) {
    struct in_pktinfo ipv4 = { 0 };

    memcpy (&ipv4.ipi_spec_dst, address, 4);
    add_control (message, control, IPPROTO_IP, IP_PKTINFO, &ipv4,
        sizeof (ipv4));
  }
#endif
#ifdef IPV6_PKTINFO
  if (family == AF_INET6) {
    struct in6_pktinfo ipv6 = {.ipi6_ifindex = interface };

    memcpy (&ipv6.ipi6_addr, address, 16);
    add_control (message, control, IPPROTO_IPV6, IPV6_PKTINFO, &ipv6,
        sizeof (ipv6));
  }
#endif
}

gboolean
socket_pktinfo_read (const struct cmsghdr *control, gint family,
    guint8 address[16], guint * interface)
{
#ifdef IP_PKTINFO
  if (family == AF_INET && control->cmsg_level == IPPROTO_IP
      && control->cmsg_type == IP_PKTINFO) {
    struct in_pktinfo ipv4;

    memcpy (&ipv4, CMSG_DATA (control), sizeof (ipv4));
    memcpy (address, &ipv4.ipi_spec_dst, 4);
    *interface = ipv4.ipi_ifindex;
    return TRUE;
  }
#endif
#ifdef IPV6_PKTINFO
  if (family == AF_INET6 && control->cmsg_level == IPPROTO_IPV6
      && control->cmsg_type == IPV6_PKTINFO) {
    struct in6_pktinfo ipv6;

    memcpy (&ipv6, CMSG_DATA (control), sizeof (ipv6));
    if (IN6_IS_ADDR_MULTICAST (&ipv6.ipi6_addr))
      return FALSE;
    memcpy (address, &ipv6.ipi6_addr, 16);
    *interface = ipv6.ipi6_ifindex;
    return TRUE;
  }
#endif
  return FALSE;
}

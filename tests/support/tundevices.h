/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A network of the test's own, with interfaces that lead nowhere. Each test has
 * its process, with which network and interfaces go. Include it with
 * _GNU_SOURCE. */

#ifndef __OWN_NETWORK_H__
#define __OWN_NETWORK_H__

#include <gst/check/gstcheck.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>

#include "skipped.h"

#ifdef __linux__

#include <linux/if_tun.h>

static inline gboolean
own_network_bring_up (const gchar * name)
{
  struct ifreq request = {.ifr_flags = IFF_UP | IFF_MULTICAST };
  gint fd = socket (AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  gboolean up;

  g_strlcpy (request.ifr_name, name, IFNAMSIZ);
  up = ioctl (fd, SIOCSIFFLAGS, &request) == 0;
  close (fd);
  return up;
}

/* FALSE, which is said: we may not */
static inline gboolean
own_network_enter (const gchar * test)
{
  if (unshare (CLONE_NEWNET) == 0 && own_network_bring_up ("lo"))
    return TRUE;
  say_skipped (test, "no network of our own may be made: %s",
      g_strerror (errno));
  return FALSE;
}

/* An interface that is up: IFF_TUN, which any packet leaves at once, or IFF_TAP,
 * where it waits for a neighbour. Its index; 0, which is said: we may not */
static inline guint
own_network_add (const gchar * test, const gchar * name, gint type)
{
  struct ifreq request = {.ifr_flags = type | IFF_NO_PI };
  gint tun = open ("/dev/net/tun", O_RDWR | O_CLOEXEC);

  g_strlcpy (request.ifr_name, name, IFNAMSIZ);
  if (tun >= 0 && ioctl (tun, TUNSETIFF, &request) == 0
      && own_network_bring_up (name))
    return if_nametoindex (name);
  say_skipped (test, "no TUN device may be made: %s",
      g_strerror (errno));
  return 0;
}

/* The kernel gives a new interface its address of IPv6 in a thread of its own. */
static inline void
own_network_wait_for_address (guint index, const struct sockaddr *group,
    socklen_t size)
{
  gint fd = socket (AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

  fail_unless (setsockopt (fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, &index,
          sizeof (index)) == 0);
  while (connect (fd, group, size) < 0)
    g_usleep (1000);
  close (fd);
}

#else

#define IFF_TUN 0
#define IFF_TAP 0

static inline gboolean
own_network_enter (const gchar * test)
{
  say_skipped (test, "no network of our own on this system");
  return FALSE;
}

static inline guint
own_network_add (const gchar * test, const gchar * name, gint type)
{
  return 0;
}

static inline void
own_network_wait_for_address (guint index, const struct sockaddr *group,
    socklen_t size)
{
}

#endif

#endif /* __OWN_NETWORK_H__ */

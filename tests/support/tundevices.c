/* SPDX-License-Identifier: LGPL-2.1-or-later */

#define _GNU_SOURCE
#include "tundevices.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <sys/ioctl.h>

#include "skipped.h"

#ifdef __linux__

static gboolean
tun_device_bring_up (const gchar * name)
{
  struct ifreq request = {.ifr_flags = IFF_UP | IFF_MULTICAST };
  gint fd = socket (AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  gboolean up;

  g_strlcpy (request.ifr_name, name, IFNAMSIZ);
  up = ioctl (fd, SIOCSIFFLAGS, &request) == 0;
  close (fd);
  return up;
}

gboolean
tun_device_enter (const gchar * test)
{
  if (unshare (CLONE_NEWNET) == 0 && tun_device_bring_up ("lo"))
    return TRUE;
  say_skipped (test, "could not make a network namespace: %s",
      g_strerror (errno));
  return FALSE;
}

guint
tun_device_add (const gchar * test, const gchar * name, gint type)
{
  struct ifreq request = {.ifr_flags = type | IFF_NO_PI };
  gint tun = open ("/dev/net/tun", O_RDWR | O_CLOEXEC);

  g_strlcpy (request.ifr_name, name, IFNAMSIZ);
  if (tun >= 0 && ioctl (tun, TUNSETIFF, &request) == 0
      && tun_device_bring_up (name))
    return if_nametoindex (name);
  say_skipped (test, "could not make a TUN device: %s", g_strerror (errno));
  return 0;
}

void
tun_device_wait_for_address (guint index, const struct sockaddr *group,
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

gboolean
tun_device_enter (const gchar * test)
{
  say_skipped (test, "this system has no network namespaces");
  return FALSE;
}

guint
tun_device_add (const gchar * test, const gchar * name, gint type)
{
  return 0;
}

void
tun_device_wait_for_address (guint index, const struct sockaddr *group,
    socklen_t size)
{
}

#endif

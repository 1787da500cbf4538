/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of ifdtcpsocket.h: system calls on a TCP socket. */

#include "ifdtcpsocket.h"

#ifdef G_OS_UNIX
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#endif
#ifdef __linux__
#include <linux/sockios.h>
/* On Linux, <linux/tcp.h> is included instead of <netinet/tcp.h>, because the
 * struct tcp_info in <linux/tcp.h> has more fields. */
#include <linux/tcp.h>
#elif defined (G_OS_UNIX)
#include <netinet/tcp.h>
#endif

static void
set_option (GSocket * socket, gint level, gint name, gint value)
{
  GError *error = NULL;

  if (g_socket_set_option (socket, level, name, value, &error))
    return;
  g_debug ("socket option %d of level %d: %s", name, level, error->message);
  g_error_free (error);
}

static void
set_dscp (GSocket * socket, gint dscp)
{
  /* The DSCP is in the upper six bits of the TOS or Traffic Class field (RFC
   * 2474). */
  gint tos = (dscp & 0x3f) << 2;

#ifdef IPV6_TCLASS
  if (g_socket_get_family (socket) == G_SOCKET_FAMILY_IPV6) {
    set_option (socket, IPPROTO_IPV6, IPV6_TCLASS, tos);
    return;
  }
#endif
#ifdef IP_TOS
  set_option (socket, IPPROTO_IP, IP_TOS, tos);
#endif
}

static void
set_ttl (GSocket * socket, gint ttl)
{
#ifdef IPV6_UNICAST_HOPS
  if (g_socket_get_family (socket) == G_SOCKET_FAMILY_IPV6) {
    set_option (socket, IPPROTO_IPV6, IPV6_UNICAST_HOPS, ttl);
    return;
  }
#endif
#ifdef IP_TTL
  set_option (socket, IPPROTO_IP, IP_TTL, ttl);
#endif
}

void
ifd_tcp_socket_set_notsent_lowat (GSocket * socket, guint lowat)
{
#ifdef TCP_NOTSENT_LOWAT
  if (lowat > 0)
    set_option (socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, MIN (lowat, G_MAXINT));
#endif
}

void
ifd_tcp_socket_set_options (GSocket * socket, const IfdTcpOptions * options)
{
#ifdef TCP_NODELAY
  /* Without TCP_NODELAY, the last segment of a frame, which is usually small,
   * would wait until the receiver has acknowledged the earlier segments. */
  set_option (socket, IPPROTO_TCP, TCP_NODELAY, 1);
#endif
  ifd_tcp_socket_set_notsent_lowat (socket, options->notsent_lowat);
#ifdef TCP_USER_TIMEOUT
  /* If the receiver does not acknowledge data within `timeout`, the kernel ends
   * the connection. It does so even if the program writes no more data (RFC
   * 5482). */
  if (options->timeout > 0)
    set_option (socket, IPPROTO_TCP, TCP_USER_TIMEOUT,
        CLAMP (options->timeout / 1000000, 1, G_MAXINT));
#endif
  if (options->dscp >= 0)
    set_dscp (socket, options->dscp);
  if (options->ttl > 0)
    set_ttl (socket, options->ttl);
  if (options->buffer_size > 0)
    set_option (socket, SOL_SOCKET, SO_SNDBUF, options->buffer_size);
}

void
ifd_tcp_socket_set_reset (GSocket * socket)
{
#ifdef SO_LINGER
  const struct linger at_once = { 1, 0 };

  if (setsockopt (g_socket_get_fd (socket), SOL_SOCKET, SO_LINGER,
          (gconstpointer) & at_once, sizeof (at_once)) != 0)
    g_debug ("SO_LINGER: %s", g_strerror (errno));
#endif
}

#ifdef __linux__
static guint64
get_queue (GSocket * socket, gulong request)
{
  gint bytes = 0;

  if (ioctl (g_socket_get_fd (socket), request, &bytes) != 0 || bytes < 0)
    return 0;
  return bytes;
}
#endif

gsize
ifd_tcp_socket_get_room (GSocket * socket, guint lowat)
{
#ifdef __linux__
  guint64 unsent;

  if (lowat > 0) {
    unsent = get_queue (socket, SIOCOUTQNSD);
    return unsent < lowat ? lowat - unsent : 0;
  }
#endif
  return G_MAXSSIZE;
}

void
ifd_tcp_socket_get_queue (GSocket * socket, guint64 * unsent,
    guint64 * unacknowledged)
{
  *unsent = *unacknowledged = 0;
#ifdef __linux__
  *unsent = get_queue (socket, SIOCOUTQNSD);
  *unacknowledged = get_queue (socket, SIOCOUTQ);
#endif
}

void
ifd_tcp_socket_get_figures (GSocket * socket, IfdTcpFigures * figures)
{
#ifdef __linux__
  struct tcp_info info = { 0 };
  socklen_t size = sizeof (info);
#endif

  memset (figures, 0, sizeof (*figures));
  ifd_tcp_socket_get_queue (socket, &figures->unsent, &figures->unacknowledged);
#ifdef __linux__
  if (getsockopt (g_socket_get_fd (socket), IPPROTO_TCP, TCP_INFO, &info,
          &size) != 0)
    return;
  figures->rtt = (guint64) info.tcpi_rtt * 1000;
  figures->min_rtt = (guint64) info.tcpi_min_rtt * 1000;
  figures->retransmissions = info.tcpi_total_retrans;
  figures->delivery_rate = info.tcpi_delivery_rate;
#endif
}

gboolean
ifd_tcp_socket_is_acknowledged (GSocket * socket, gboolean * all)
{
#ifdef __linux__
  gint bytes = 0;

  if (ioctl (g_socket_get_fd (socket), SIOCOUTQ, &bytes) != 0)
    return FALSE;
  *all = bytes == 0;
  return TRUE;
#else
  return FALSE;
#endif
}

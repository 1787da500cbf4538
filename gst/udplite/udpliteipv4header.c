/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of udpliteipv4header.h for Linux. It writes the IPv4 headers
 * of packets that a raw socket sends with the option IP_HDRINCL. */

#include "udpliteipv4header.h"

#include <errno.h>
#include <string.h>

#include <netinet/in.h>
#include <netinet/ip.h>
#include <sys/socket.h>

/* Maximum size in bytes of a packet that is sent with IP_HDRINCL. For such a
 * packet, the kernel needs contiguous memory. Memory of up to this size is
 * always available (SKB_MAX_ALLOC of Linux). */
#define MAX_PACKET 16384

void
udplite_ipv4_header_init (UdpliteIpv4Header * self, gint fd)
{
  memset (self, 0, sizeof (*self));
  self->fd = fd;
  self->id = g_random_int ();
}

void
udplite_ipv4_header_limit (UdpliteIpv4Header * self, gsize size)
{
  self->max_packet = MIN (self->max_packet, size - 1);
}

#ifdef __linux__

static gint
get_option (const UdpliteIpv4Header * self, gint level, gint option)
{
  gint value = -1;
  socklen_t size = sizeof (value);

  if (getsockopt (self->fd, level, option, &value, &size) < 0)
    return -1;
  return value;
}

static gboolean
has_ip_options (const UdpliteIpv4Header * self)
{
  guint8 options[40];           /* maximum size, RFC 791 section 3.1 */
  socklen_t size = sizeof (options);

  return getsockopt (self->fd, IPPROTO_IP, IP_OPTIONS, options, &size) < 0
      || size > 0;
}

/* Returns whether the socket option IP_MTU_DISCOVER makes the kernel set the
 * bit "don't fragment" in each packet that fits the path MTU. */
static gboolean
forbids_fragments (const UdpliteIpv4Header * self)
{
  gint discovery = get_option (self, IPPROTO_IP, IP_MTU_DISCOVER);

  return discovery == IP_PMTUDISC_WANT || discovery == IP_PMTUDISC_DO;
}

/* Returns whether the socket has a routing mark (SO_MARK). Because of the mark,
 * the kernel may use another route than the one that UdpliteRoutes has found
 * without the mark. */
static gboolean
has_mark (const UdpliteIpv4Header * self)
{
  return get_option (self, SOL_SOCKET, SO_MARK) != 0;
}

void
udplite_ipv4_header_read_options (UdpliteIpv4Header * self)
{
  const gint tos = get_option (self, IPPROTO_IP, IP_TOS);
  const gint ttl = get_option (self, IPPROTO_IP, IP_TTL);
  const gint multicast_ttl = get_option (self, IPPROTO_IP, IP_MULTICAST_TTL);

  self->max_packet = 0;
  if (self->is_refused || tos < 0 || ttl < 0 || multicast_ttl < 0
      || !forbids_fragments (self) || has_ip_options (self) || has_mark (self))
    return;
  self->max_packet = MAX_PACKET;
  self->tos = tos;
  self->ttl = ttl;
  self->multicast_ttl = multicast_ttl;
}

/* Writes the IPv4 header of a packet. The field Identification is incremented
 * for each packet. The kernel fills in the length and the checksum.
 *
 * With IP_HDRINCL, the kernel leaves the field Identification at 0 if the bit
 * "don't fragment" is set, because such a packet needs no number (RFC 6864
 * section 4.1). However, a router may clear this bit and fragment the packet.
 * For this reason, this function numbers the packets. For a connected socket
 * without IP_HDRINCL, the kernel would number them, too. */
gboolean
udplite_ipv4_header_write (UdpliteIpv4Header * self, guint8 * bytes,
    const UdpliteRoute * route, gsize size)
{
  struct iphdr header = {.version = 4,.ihl = sizeof (header) / 4 };
  const guint8 *destination = route->addresses.destination;

  size += sizeof (header);
  if (size > self->max_packet || size > route->mtu)
    return FALSE;
  header.tos = self->tos;
  header.id = g_htons (self->id);
  self->id++;
  header.frag_off = g_htons (IP_DF);
  header.ttl = IN_MULTICAST ((guint32) destination[0] << 24) ?
      self->multicast_ttl : self->ttl;
  header.protocol = UDPLITE_PROTOCOL;
  memcpy (&header.saddr, route->addresses.source, sizeof (header.saddr));
  memcpy (&header.daddr, destination, sizeof (header.daddr));
  memcpy (bytes, &header, sizeof (header));
  return TRUE;
}

gboolean
udplite_ipv4_header_set_included (UdpliteIpv4Header * self,
    gboolean is_included)
{
  const gint value = is_included;

  if (is_included == self->is_included)
    return TRUE;
  self->is_refused = setsockopt (self->fd, IPPROTO_IP, IP_HDRINCL, &value,
      sizeof (value)) < 0;
  if (!self->is_refused)
    self->is_included = is_included;
  return !self->is_refused;
}

#else

void
udplite_ipv4_header_read_options (UdpliteIpv4Header * self)
{
}

gboolean
udplite_ipv4_header_write (UdpliteIpv4Header * self, guint8 * bytes,
    const UdpliteRoute * route, gsize size)
{
  return FALSE;
}

gboolean
udplite_ipv4_header_set_included (UdpliteIpv4Header * self,
    gboolean is_included)
{
  errno = ENOTSUP;
  return !is_included;
}

#endif

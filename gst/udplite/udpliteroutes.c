/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Asks the kernel by a socket of UDP that is connected, sends nothing, and is
 * thrown away. That costs three system calls, so that answers are kept.
 */

#define _GNU_SOURCE             /* struct ip_mreqn */

#include "udpliteroutes.h"
#include "udplitesocketprivate.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <net/if.h>

#define KEEP (1 * G_TIME_SPAN_SECOND)
#define MAX_ROUTES 4096

/* connect() wants a port other than 0; nothing is sent: discard, RFC 863. */
#define ANY_PORT 9

struct _UdpliteRoutes
{
  UdpliteRoute bound;           /* of all packets, if the socket is bound */
  gboolean is_bound;
  GHashTable *routes;           /* of UdpliteRoute, by destination and scope */
  const UdpliteRoute *last;     /* in routes, or NULL */
  gint64 cleared;               /* monotonic time */
};

static guint
route_hash (gconstpointer key)
{
  const UdpliteRoute *route = key;
  guint32 words[4];

  memcpy (words, route->addresses.destination, sizeof (words));
  return (words[0] ^ words[1] ^ words[2] ^ words[3] ^ route->scope)
      * 2654435761u;
}

static gboolean
route_equal (gconstpointer a, gconstpointer b)
{
  const UdpliteRoute *one = a, *other = b;

  return one->scope == other->scope && memcmp (one->addresses.destination,
      other->addresses.destination, sizeof (one->addresses.destination)) == 0;
}

UdpliteRoutes *
udplite_routes_new (GInetAddress * bound)
{
  UdpliteRoutes *self = g_new0 (UdpliteRoutes, 1);

  self->is_bound = !g_inet_address_get_is_any (bound)
      && !g_inet_address_get_is_multicast (bound);
  memcpy (self->bound.addresses.source, g_inet_address_to_bytes (bound),
      g_inet_address_get_native_size (bound));
  self->routes = g_hash_table_new_full (route_hash, route_equal, g_free, NULL);
  return self;
}

void
udplite_routes_free (UdpliteRoutes * self)
{
  g_hash_table_unref (self->routes);
  g_free (self);
}

void
udplite_routes_clear (UdpliteRoutes * self)
{
  self->last = NULL;
  g_hash_table_remove_all (self->routes);
  self->cleared = g_get_monotonic_time ();
}

void
udplite_routes_expire (UdpliteRoutes * self)
{
  if (self->is_bound)
    return;
  if (g_get_monotonic_time () - self->cleared > KEEP
      || g_hash_table_size (self->routes) > MAX_ROUTES)
    udplite_routes_clear (self);
}

/* It must go where the packets would go. */
static void
send_like (gint probe, gint fd, gboolean ipv6, guint multicast_interface)
{
  gint yes = TRUE;

  setsockopt (probe, SOL_SOCKET, SO_BROADCAST, &yes, sizeof (yes));
#ifdef SO_BINDTODEVICE
  {
    gchar device[IFNAMSIZ] = "";
    socklen_t size = sizeof (device);

    if (getsockopt (fd, SOL_SOCKET, SO_BINDTODEVICE, device, &size) == 0
        && size > 1)
      setsockopt (probe, SOL_SOCKET, SO_BINDTODEVICE, device, size);
  }
#endif
  if (multicast_interface == 0)
    return;
  udplite_set_multicast_interface (probe, ipv6, multicast_interface);
}

/* A link-local address is one of an interface, which the kernel wants to hear
 * along with it (RFC 3542 section 6.2). */
static void
read_ipv6_source (UdpliteRoute * route, const struct sockaddr_in6 *local,
    guint multicast_interface)
{
  memcpy (route->addresses.source, &local->sin6_addr, 16);
  route->say_source = TRUE;
  if (!IN6_IS_ADDR_LINKLOCAL (&local->sin6_addr))
    return;
  route->source_interface = local->sin6_scope_id;
  if (route->source_interface == 0 && route->addresses.destination[0] == 0xff)
    route->source_interface = multicast_interface;
  route->say_source = route->source_interface != 0;
}

static gboolean
read_source (UdpliteRoute * route, gint probe, guint multicast_interface)
{
  struct sockaddr_storage local;
  socklen_t size = sizeof (local);

  if (getsockname (probe, (struct sockaddr *) &local, &size) < 0)
    return FALSE;
  if (local.ss_family == AF_INET6) {
    read_ipv6_source (route, (struct sockaddr_in6 *) &local,
        multicast_interface);
    return TRUE;
  }
  memcpy (route->addresses.source,
      &((struct sockaddr_in *) &local)->sin_addr, 4);
  route->say_source = TRUE;
  return TRUE;
}

static void
set_route_error (GError ** error, gint error_number,
    const struct sockaddr *destination)
{
  gchar *address = udplite_address_describe (destination);

  socket_set_error (error, error_number, "No way to %s", address);
  g_free (address);
}

static gboolean
ask (UdpliteRoute * route, const struct sockaddr *destination, socklen_t size,
    gint fd, guint multicast_interface, GError ** error)
{
  struct sockaddr_storage address;
  gint probe = udplite_socket_open (destination->sa_family, SOCK_DGRAM, 0,
      error);
  gboolean done;

  if (probe < 0)
    return FALSE;
  memcpy (&address, destination, size);
  udplite_address_set_port (&address, ANY_PORT);
  send_like (probe, fd, route->addresses.ipv6, multicast_interface);
  done = connect (probe, (struct sockaddr *) &address, size) == 0
      && read_source (route, probe, multicast_interface);
  if (!done)
    set_route_error (error, errno, destination);
  close (probe);
  return done;
}

static void
read_destination (UdpliteRoute * route, const struct sockaddr *destination)
{
  const struct sockaddr_in *ipv4 = (const struct sockaddr_in *) destination;
  const struct sockaddr_in6 *ipv6 = (const struct sockaddr_in6 *) destination;

  route->addresses.ipv6 = destination->sa_family == AF_INET6;
  if (!route->addresses.ipv6) {
    memcpy (route->addresses.destination, &ipv4->sin_addr, 4);
    return;
  }
  memcpy (route->addresses.destination, &ipv6->sin6_addr, 16);
  route->scope = ipv6->sin6_scope_id;
}

static const UdpliteRoute *
lookup (UdpliteRoutes * self, const UdpliteRoute * wanted)
{
  if (!self->last || !route_equal (self->last, wanted))
    self->last = g_hash_table_lookup (self->routes, wanted);
  return self->last;
}

const UdpliteRoute *
udplite_routes_find (UdpliteRoutes * self, const struct sockaddr *destination,
    socklen_t size, gint fd, guint multicast_interface, GError ** error)
{
  UdpliteRoute wanted = { {0} };

  if (self->is_bound) {
    read_destination (&self->bound, destination);
    return &self->bound;
  }
  read_destination (&wanted, destination);
  if (lookup (self, &wanted))
    return self->last;
  if (!ask (&wanted, destination, size, fd, multicast_interface, error))
    return NULL;
  self->last = g_memdup2 (&wanted, sizeof (wanted));
  g_hash_table_add (self->routes, (gpointer) self->last);
  return self->last;
}

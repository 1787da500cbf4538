/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Looks up the route to a destination. For this purpose, a UDP socket is
 * connected to the destination. The kernel thereby gives the socket a local
 * address, which is the source address of packets on this route. The socket is
 * closed without sending anything. The results are cached, because the lookup
 * takes several system calls.
 *
 * If user space writes the IP header, the kernel does not check the source
 * address. After a change of the network, the packets would therefore be sent
 * with an outdated address until the cache expires. For this reason, user space
 * writes the header only if the kernel can report changes of the network.
 */

#include "udpliteroutes.h"

#include <string.h>
#include <unistd.h>

#include "udplitenetlink.h"

#define MAX_AGE (1 * G_TIME_SPAN_SECOND)
#define MAX_ROUTES 4096

/* Entry of the hash table that caches the routes. The hash table uses the entry
 * itself as the key, and compares only the field `to`. */
typedef struct
{
  DatagramPath to;              /* destination; its port is ignored */
  UdpliteRoute route;
} Entry;

struct _UdpliteRoutes
{
  /* source address of all packets if `is_bound` is TRUE, that is, if the socket
   * is bound to an address; otherwise not used */
  guint8 bound[16];
  gboolean is_bound;
  /* File descriptor of an rtnetlink(7) socket, which reports changes of
   * addresses and routes. The socket is opened when the cache is used for the
   * first time. -1 = the socket is not open yet, or the system has no such
   * sockets. */
  gint changes;
  GHashTable *entries;          /* set of Entry */
  /* Entry that the last lookup returned; NULL = none. It belongs to the table
   * `entries`. */
  const Entry *last;
  /* Monotonic time in us at which the cache was last emptied. 0 means that the
   * cache has not been used yet. */
  gint64 cleared;
};

static guint
entry_hash (gconstpointer key)
{
  const Entry *entry = key;
  guint32 words[4];

  memcpy (words, entry->to.remote, sizeof (words));
  return (words[0] ^ words[1] ^ words[2] ^ words[3] ^ entry->to.scope)
      * 2654435761u;
}

static gboolean
is_same_host (const DatagramPath * one, const DatagramPath * other)
{
  return one->scope == other->scope
      && memcmp (one->remote, other->remote, sizeof (one->remote)) == 0;
}

static gboolean
entry_equal (gconstpointer a, gconstpointer b)
{
  const Entry *one = a, *other = b;

  return is_same_host (&one->to, &other->to);
}

UdpliteRoutes *
udplite_routes_new (GInetAddress * bound)
{
  UdpliteRoutes *self = g_new0 (UdpliteRoutes, 1);

  self->is_bound = !g_inet_address_get_is_any (bound)
      && !g_inet_address_get_is_multicast (bound);
  memcpy (self->bound, g_inet_address_to_bytes (bound),
      g_inet_address_get_native_size (bound));
  self->changes = -1;
  self->entries = g_hash_table_new_full (entry_hash, entry_equal, g_free, NULL);
  return self;
}

void
udplite_routes_free (UdpliteRoutes * self)
{
  g_hash_table_unref (self->entries);
  if (self->changes >= 0)
    close (self->changes);
  g_free (self);
}

void
udplite_routes_clear (UdpliteRoutes * self)
{
  self->last = NULL;
  g_hash_table_remove_all (self->entries);
  self->cleared = g_get_monotonic_time ();
}

void
udplite_routes_expire (UdpliteRoutes * self, gint64 now)
{
  if (self->cleared == 0)
    self->changes = udplite_netlink_open ();
  if ((self->changes >= 0 && udplite_netlink_has_changed (self->changes))
      || now - self->cleared > MAX_AGE
      || g_hash_table_size (self->entries) > MAX_ROUTES)
    udplite_routes_clear (self);
}

static gboolean
find_source_address (UdpliteRoutes * self, Entry * entry,
    DatagramSocket * socket, GError ** error)
{
  UdpliteRoute *route = &entry->route;

  route->addresses.ipv6 = entry->to.address_size == 16;
  memcpy (route->addresses.destination, entry->to.remote, 16);
  route->path = entry->to;
  if (!self->is_bound
      && !datagram_socket_find_local (socket, &route->path, error))
    return FALSE;
  memcpy (route->addresses.source, self->is_bound ? self->bound :
      route->path.local, 16);
  return TRUE;
}

static void
find_mtu (UdpliteRoutes * self, UdpliteRoute * route, DatagramSocket * socket)
{
  const UdpliteAddresses *addresses = &route->addresses;

  if (self->changes >= 0 && !addresses->ipv6
      && udplite_netlink_is_plain_route (addresses->source,
          addresses->destination, datagram_socket_get_interface (socket,
              &route->path)))
    route->mtu = datagram_socket_get_mtu (socket, &route->path, 0);
}

static const Entry *
add_entry (UdpliteRoutes * self, const DatagramPath * to,
    DatagramSocket * socket, GError ** error)
{
  Entry entry = {.to = *to }, *added;

  if (!find_source_address (self, &entry, socket, error))
    return NULL;
  find_mtu (self, &entry.route, socket);
  added = g_memdup2 (&entry, sizeof (entry));
  g_hash_table_add (self->entries, added);
  return added;
}

static const Entry *
look_up (UdpliteRoutes * self, const DatagramPath * to)
{
  Entry wanted = {.to = *to };

  return g_hash_table_lookup (self->entries, &wanted);
}

const UdpliteRoute *
udplite_routes_find (UdpliteRoutes * self, const DatagramPath * to,
    DatagramSocket * socket, GError ** error)
{
  if (!self->last || !is_same_host (&self->last->to, to))
    self->last = look_up (self, to);
  if (!self->last)
    self->last = add_entry (self, to, socket, error);
  return self->last ? &self->last->route : NULL;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Looks up the route of a destination. For this, a UDP socket is connected to
 * the destination. The local address of the socket is then the source address.
 * The socket is closed without sending anything. The results are cached,
 * because the lookup takes several system calls.
 */

#include "udpliteroutes.h"

#include <string.h>

#define MAX_AGE (1 * G_TIME_SPAN_SECOND)
#define MAX_ROUTES 4096

/* Entry of the hash table; the entry is also its own key. */
typedef struct
{
  DatagramPath to;              /* destination; its port is ignored */
  UdpliteRoute route;
} Entry;

struct _UdpliteRoutes
{
  /* route of all packets, if the socket is bound */
  UdpliteRoute bound;
  gboolean is_bound;
  GHashTable *entries;          /* set of Entry */
  /* entry that was used last, owned by `entries`; NULL = none */
  const Entry *last;
  /* monotonic time in us at which the cache was last emptied */
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
  memcpy (self->bound.addresses.source, g_inet_address_to_bytes (bound),
      g_inet_address_get_native_size (bound));
  self->entries = g_hash_table_new_full (entry_hash, entry_equal, g_free, NULL);
  return self;
}

void
udplite_routes_free (UdpliteRoutes * self)
{
  g_hash_table_unref (self->entries);
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
udplite_routes_expire (UdpliteRoutes * self)
{
  if (self->is_bound)
    return;
  if (g_get_monotonic_time () - self->cleared > MAX_AGE
      || g_hash_table_size (self->entries) > MAX_ROUTES)
    udplite_routes_clear (self);
}

static void
set_remote (UdpliteRoute * route, const DatagramPath * to)
{
  route->addresses.ipv6 = to->address_size == 16;
  memcpy (route->addresses.destination, to->remote, 16);
  route->path = *to;
}

static gboolean
find_source_address (Entry * entry, DatagramSocket * socket, GError ** error)
{
  UdpliteRoute *route = &entry->route;

  set_remote (route, &entry->to);
  if (!datagram_socket_find_local (socket, &route->path, error))
    return FALSE;
  memcpy (route->addresses.source, route->path.local, 16);
  return TRUE;
}

static gboolean
look_up (UdpliteRoutes * self, const Entry * wanted)
{
  if (!self->last || !entry_equal (self->last, wanted))
    self->last = g_hash_table_lookup (self->entries, wanted);
  return self->last != NULL;
}

const UdpliteRoute *
udplite_routes_find (UdpliteRoutes * self, const DatagramPath * to,
    DatagramSocket * socket, GError ** error)
{
  Entry wanted = {.to = *to };

  if (self->is_bound) {
    set_remote (&self->bound, to);
    return &self->bound;
  }
  if (!look_up (self, &wanted)) {
    if (!find_source_address (&wanted, socket, error))
      return NULL;
    self->last = g_memdup2 (&wanted, sizeof (wanted));
    g_hash_table_add (self->entries, (gpointer) self->last);
  }
  return &self->last->route;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adds and removes the receivers of udplitesink, resolves their names, and
 * opens their sockets. The functions are documented in
 * gstudplitesinkreceivers.h. */

#include "gstudplitesinkreceivers.h"

#include "gstudplitesinkgroups.h"
#include "socketmessages.h"

#define GST_CAT_DEFAULT gst_udplite_sink_debug

#define LOCK(self) g_mutex_lock ((self)->lock)
#define UNLOCK(self) g_mutex_unlock ((self)->lock)

static guint64
get_now (void)
{
  return g_get_real_time () * GST_USECOND;
}

void
gst_udplite_sink_receivers_init (GstUdpliteSinkReceivers * self,
    GstElement * element, GMutex * lock, GstUdpliteSinkSockets * sockets,
    const gchar * host, guint16 port)
{
  self->element = element;
  self->lock = lock;
  self->sockets = sockets;
  self->clients = udplite_clients_new ();
  udplite_clients_add (self->clients, host, port, get_now ());
}

void
gst_udplite_sink_receivers_finalize (GstUdpliteSinkReceivers * self)
{
  udplite_clients_free (self->clients);
}

/* --- addresses and sockets ------------------------------------------------ */

/* Opens the socket for `client`, whose address must be known. If the address is
 * a multicast address and auto-multicast is set, joins the group. Call with the
 * lock held. */
static gboolean
open_client (GstUdpliteSinkReceivers * self, UdpliteClient * client,
    GError ** error)
{
  if (!gst_udplite_sink_sockets_open (self->sockets,
          gst_udplite_sink_sockets_get_family (&client->path), error))
    return FALSE;
  gst_udplite_sink_groups_join (self->sockets, self->clients, client);
  return TRUE;
}

/* Chooses one of the addresses to which a name was resolved.
 *
 * If bind-address is set, returns the first address of its family, because only
 * such an address can be reached. If bind-address is unset, returns the first
 * IPv4 address. There are two reasons for this: udplitesrc listens on 0.0.0.0
 * by default, and receivers do not answer, so they cannot show which address is
 * right.
 *
 * If no address has the wanted family, returns the first address of the list.
 */
static GInetAddress *
choose_address (const GstUdpliteSinkOptions * options, GList * addresses)
{
  GInetAddress *bound = options->bind_address ?
      g_inet_address_new_from_string (options->bind_address) : NULL;
  const GSocketFamily family = bound ? g_inet_address_get_family (bound)
      : G_SOCKET_FAMILY_IPV4;
  GInetAddress *chosen = addresses->data;
  GList *walk;

  for (walk = addresses; walk; walk = walk->next) {
    if (g_inet_address_get_family (walk->data) == family) {
      chosen = walk->data;
      break;
    }
  }
  g_clear_object (&bound);
  return g_object_ref (chosen);
}

/* Resolves the name of the receiver `id` if its address is not known yet.
 * Returns FALSE with `error` set if the name cannot be resolved. Also returns
 * FALSE if the receiver was removed in the meantime. The caller holds the lock,
 * which is released while the name is resolved. */
static gboolean
resolve (GstUdpliteSinkReceivers * self, guint64 id, GCancellable * cancellable,
    GError ** error)
{
  UdpliteClient *client = udplite_clients_find_id (self->clients, id);
  GInetAddress *address;
  GList *addresses;
  gchar *host;

  if (!client)
    return FALSE;
  if (client->path.address_size > 0)
    return TRUE;
  host = g_strdup (client->host);
  UNLOCK (self);
  addresses = datagram_look_up (host, cancellable, error);
  g_free (host);
  LOCK (self);

  client = udplite_clients_find_id (self->clients, id);
  if (client && addresses) {
    address = choose_address (&self->sockets->options, addresses);
    udplite_client_set_address (client, address);
    g_object_unref (address);
  }
  g_resolver_free_addresses (addresses);
  return client && client->path.address_size > 0;
}

static void
warn_of_client (GstUdpliteSinkReceivers * self, const GError * error)
{
  GST_ELEMENT_WARNING (self->element, RESOURCE, OPEN_WRITE,
      ("Could not send to one of the receivers: %s.%s", error->message,
          socket_error_get_advice (error)), (NULL));
}

/* Argument of resolve_and_prepare (). */
typedef struct
{
  GstUdpliteSinkReceivers *receivers;   /* part of the element */
  guint64 id;
} Resolve;

/* Called in a thread of its own, in which the element exists. */
static void
resolve_and_prepare (GstElement * element, gpointer data)
{
  GstUdpliteSinkReceivers *self = ((Resolve *) data)->receivers;
  const guint64 id = ((Resolve *) data)->id;
  GError *error = NULL;

  LOCK (self);
  if (resolve (self, id, NULL, &error) && self->is_open)
    open_client (self, udplite_clients_find_id (self->clients, id), &error);
  UNLOCK (self);
  if (error)
    warn_of_client (self, error);
  g_clear_error (&error);
}

static void
resolve_later (GstUdpliteSinkReceivers * self, guint64 id)
{
  Resolve *call = g_new (Resolve, 1);

  call->receivers = self;
  call->id = id;
  gst_element_call_async (self->element, resolve_and_prepare, call, g_free);
}

/* Called without the lock when a receiver was just added. If the sockets are
 * open, prepares the receiver: opens the socket of its address family and joins
 * its multicast group. If its host name has to be resolved first, another
 * thread resolves the name and prepares the receiver. */
static void
prepare_client (GstUdpliteSinkReceivers * self, guint64 id)
{
  UdpliteClient *client;
  GError *error = NULL;
  gboolean resolves;

  LOCK (self);
  client = udplite_clients_find_id (self->clients, id);
  /* A receiver that is added while the sockets are closed needs no preparation
   * here. gst_udplite_sink_receivers_connect () prepares it when it opens the
   * sockets. */
  resolves = self->is_open && client && client->path.address_size == 0;
  if (self->is_open && client && !resolves)
    open_client (self, client, &error);
  UNLOCK (self);

  if (error)
    warn_of_client (self, error);
  g_clear_error (&error);
  if (resolves)
    resolve_later (self, id);
}

/* --- adding and removing -------------------------------------------------- */

gboolean
gst_udplite_sink_receivers_add (GstUdpliteSinkReceivers * self,
    const gchar * host, gint port)
{
  UdpliteClient *client;
  guint64 id;

  if (!host || port < 0 || port > G_MAXUINT16) {
    GST_WARNING_OBJECT (self->element, "%s:%d is not a valid receiver",
        host ? host : "", port);
    return FALSE;
  }
  LOCK (self);
  client = udplite_clients_add (self->clients, host, port, get_now ());
  id = client->id;
  UNLOCK (self);
  GST_DEBUG_OBJECT (self->element, "added receiver %s:%d", host, port);
  prepare_client (self, id);
  return TRUE;
}

gboolean
gst_udplite_sink_receivers_remove (GstUdpliteSinkReceivers * self,
    const gchar * host, gint port)
{
  UdpliteClient *client;
  gboolean removed;

  if (!host || port < 0 || port > G_MAXUINT16) {
    GST_WARNING_OBJECT (self->element, "%s:%d is not a receiver",
        host ? host : "", port);
    return FALSE;
  }
  LOCK (self);
  client = udplite_clients_find (self->clients, host, port);
  if (client && client->times == 1)
    gst_udplite_sink_groups_leave (self->sockets, self->clients, client);
  removed = udplite_clients_remove (self->clients, host, port, get_now ());
  UNLOCK (self);
  if (!removed) {
    GST_WARNING_OBJECT (self->element, "%s:%d is not a receiver", host, port);
    return FALSE;
  }
  GST_DEBUG_OBJECT (self->element, "removed receiver %s:%d", host, port);
  return TRUE;
}

gboolean
gst_udplite_sink_receivers_get_first (GstUdpliteSinkReceivers * self,
    gchar ** host, gint * port)
{
  gboolean there;

  LOCK (self);
  there = udplite_clients_get_number (self->clients) > 0;
  if (there) {
    *host = g_strdup (udplite_clients_get (self->clients, 0)->host);
    *port = udplite_clients_get (self->clients, 0)->port;
  }
  UNLOCK (self);
  return there;
}

GstStructure *
gst_udplite_sink_receivers_create_stats (GstUdpliteSinkReceivers * self,
    const gchar * host, gint port)
{
  GstStructure *stats = gst_structure_new_empty ("multiudpsink-stats");
  const UdpliteClient *client;

  if (!host || port < 0 || port > G_MAXUINT16)
    return stats;
  LOCK (self);
  client = udplite_clients_find (self->clients, host, port);
  if (!client)
    client = udplite_clients_find_removed (self->clients, host, port);
  if (client)
    gst_structure_set (stats, "bytes-sent", G_TYPE_UINT64, client->bytes_sent,
        "packets-sent", G_TYPE_UINT64, client->packets_sent,
        "connect-time", G_TYPE_UINT64, client->added_at,
        "disconnect-time", G_TYPE_UINT64, client->removed_at,
        "errors", G_TYPE_UINT64, client->errors, NULL);
  UNLOCK (self);
  return stats;
}

/* --- the connection ------------------------------------------------------- */

/* Returns the ids of all receivers. The caller holds the lock. */
static GArray *
get_ids (GstUdpliteSinkReceivers * self)
{
  GArray *ids = g_array_new (FALSE, FALSE, sizeof (guint64));
  guint i;

  for (i = 0; i < udplite_clients_get_number (self->clients); i++)
    g_array_append_val (ids, udplite_clients_get (self->clients, i)->id);
  return ids;
}

/* Returns the id of the receiver that was added last, or 0. The caller holds
 * the lock. */
static guint64
get_newest_id (GstUdpliteSinkReceivers * self)
{
  guint n = udplite_clients_get_number (self->clients);

  return n > 0 ? udplite_clients_get (self->clients, n - 1)->id : 0;
}

/* Resolves and prepares all receivers. Returns the number of receivers that can
 * be reached. `error` is set to the error of the last receiver that cannot be
 * reached. The caller holds the lock, which is released while a name is
 * resolved. */
static guint
open_clients (GstUdpliteSinkReceivers * self, GCancellable * cancellable,
    GError ** error)
{
  GArray *ids = get_ids (self);
  GError *local_error = NULL;
  guint i, opened = 0;

  g_clear_error (error);
  for (i = 0; i < ids->len; i++) {
    guint64 id = g_array_index (ids, guint64, i);

    if (resolve (self, id, cancellable, &local_error)
        && open_client (self, udplite_clients_find_id (self->clients, id),
            &local_error))
      opened++;
    if (local_error) {
      g_clear_error (error);
      g_propagate_error (error, g_steal_pointer (&local_error));
    }
  }
  g_array_unref (ids);
  return opened;
}

/* Leaves all groups and closes our own sockets. Resolved addresses are
 * forgotten: when the sockets are opened again, a name may resolve to another
 * address, or an address of the other family may be needed. The caller holds
 * the lock. */
static void
close_sockets (GstUdpliteSinkReceivers * self)
{
  guint i;

  gst_udplite_sink_groups_leave_all (self->sockets, self->clients);
  for (i = 0; i < udplite_clients_get_number (self->clients); i++)
    udplite_client_forget_address (udplite_clients_get (self->clients, i));
  gst_udplite_sink_sockets_close (self->sockets);
}

gboolean
gst_udplite_sink_receivers_connect (GstUdpliteSinkReceivers * self,
    GCancellable * cancellable, GError ** error)
{
  GError *local_error = NULL;
  guint64 newest;
  guint opened;

  LOCK (self);
  do {
    newest = get_newest_id (self);
    opened = open_clients (self, cancellable, &local_error);
    /* While a name is resolved, the lock is released. A receiver may be added
     * in this time, and needs to be resolved in a further pass of this loop. */
  } while (get_newest_id (self) != newest);
  self->is_open = opened > 0 || !local_error;
  if (!self->is_open)
    close_sockets (self);
  UNLOCK (self);

  if (opened == 0 && local_error) {
    g_propagate_error (error, local_error);
    return FALSE;
  }
  if (local_error)
    warn_of_client (self, local_error);
  g_clear_error (&local_error);
  return TRUE;
}

/* The first failure has posted a warning, so a further failure is only logged.
 */
void
gst_udplite_sink_receivers_resolve_again (GstUdpliteSinkReceivers * self,
    GCancellable * cancellable)
{
  GError *error = NULL;

  LOCK (self);
  open_clients (self, cancellable, &error);
  UNLOCK (self);
  if (error)
    GST_DEBUG_OBJECT (self->element, "%s", error->message);
  g_clear_error (&error);
}

void
gst_udplite_sink_receivers_disconnect (GstUdpliteSinkReceivers * self)
{
  LOCK (self);
  self->is_open = FALSE;
  close_sockets (self);
  UNLOCK (self);
}

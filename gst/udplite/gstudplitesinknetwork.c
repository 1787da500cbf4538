/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The receivers and sockets of udplitesink: names become addresses, each family
 * of them has a socket, and each receiver gets all packets.
 */

#include "gstudplitesinkprivate.h"

#include <errno.h>
#include <string.h>

#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip.h>

#include "socketmessages.h"

#define GST_CAT_DEFAULT gst_udplite_sink_debug

/* Between two looks for receivers that could not be found, in ms */
#define LOOK_INTERVAL 5000
/* Between two warnings of packets that can't be sent */
#define WARNING_INTERVAL (10 * G_TIME_SPAN_SECOND)
/* A socket may say that it has room while the queue of the device behind it has
 * none (ENOBUFS): then a pause, in ms, after so short a wait, in us */
#define PAUSE 1
#define NO_WAIT 100

static const GSocketFamily families[] = {
  [FAMILY_V4] = G_SOCKET_FAMILY_IPV4,
  [FAMILY_V6] = G_SOCKET_FAMILY_IPV6,
};

static Family
get_family (const UdpliteClient * client)
{
  return client->path.address_size == 16 ? FAMILY_V6 : FAMILY_V4;
}

/* --- options of a socket ------------------------------------------------- */

static void
set_number (GstUdpliteSink * self, gint fd, gint level, gint option,
    gint value, const gchar * name)
{
  if (setsockopt (fd, level, option, &value, sizeof (value)) != 0)
    GST_WARNING_OBJECT (self, "%s: %s", name, g_strerror (errno));
}

/* 0: as the routes say */
static guint
get_multicast_index (GstUdpliteSink * self)
{
  const gchar *name = self->options.multicast_iface;
  guint index = name ? if_nametoindex (name) : 0;

  if (name && index == 0)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
        ("There is no network interface \"%s\" for multicast-iface (\"ip link\" "
            "lists them): the route chooses the interface.", name), (NULL));
  return index;
}

static void
set_v4_options (GstUdpliteSink * self, gint fd)
{
  const SocketOptions *options = &self->options;

  set_number (self, fd, IPPROTO_IP, IP_TTL, options->ttl, "ttl");
  set_number (self, fd, IPPROTO_IP, IP_MULTICAST_TTL, options->ttl_mc,
      "ttl-mc");
  set_number (self, fd, IPPROTO_IP, IP_MULTICAST_LOOP, options->loop, "loop");
  if (options->qos_dscp >= 0)
    set_number (self, fd, IPPROTO_IP, IP_TOS, options->qos_dscp << 2,
        "qos-dscp");
}

static void
set_v6_options (GstUdpliteSink * self, gint fd)
{
  const SocketOptions *options = &self->options;

  set_number (self, fd, IPPROTO_IPV6, IPV6_UNICAST_HOPS, options->ttl, "ttl");
  set_number (self, fd, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, options->ttl_mc,
      "ttl-mc");
  set_number (self, fd, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, options->loop,
      "loop");
  if (options->qos_dscp >= 0)
    set_number (self, fd, IPPROTO_IPV6, IPV6_TCLASS, options->qos_dscp << 2,
        "qos-dscp");
}

static void
set_options (GstUdpliteSink * self, Family family)
{
  GSocket *socket = udplite_socket_get_socket (self->sockets[family]);
  gint fd = g_socket_get_fd (socket);
  GError *error = NULL;

  if (self->options.buffer_size > 0)
    set_number (self, fd, SOL_SOCKET, SO_SNDBUF, self->options.buffer_size,
        "buffer-size");
  set_number (self, fd, SOL_SOCKET, SO_BROADCAST, TRUE, "broadcast");
  if (family == FAMILY_V4)
    set_v4_options (self, fd);
  else
    set_v6_options (self, fd);
  if (!udplite_socket_set_multicast_interface (self->sockets[family],
          get_multicast_index (self), &error))
    GST_WARNING_OBJECT (self, "multicast-iface: %s", error->message);
  g_clear_error (&error);
}

void
gst_udplite_sink_apply_options (GstUdpliteSink * self)
{
  guint i;

  for (i = 0; i < FAMILY_LAST; i++) {
    if (self->sockets[i])
      set_options (self, i);
  }
}

/* --- sockets -------------------------------------------------------------- */

static GInetSocketAddress *
get_bind_address (GstUdpliteSink * self, Family family, GError ** error)
{
  GInetAddress *address;
  GSocketAddress *whole;

  if (self->options.bind_address)
    address = g_inet_address_new_from_string (self->options.bind_address);
  else
    address = g_inet_address_new_any (families[family]);
  if (!address || g_inet_address_get_family (address) != families[family]) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        "bind-address \"%s\" is not an IPv%u address, and the receiver has "
        "one. Set an address of this host, or leave the property unset",
        self->options.bind_address, family == FAMILY_V4 ? 4 : 6);
    g_clear_object (&address);
    return NULL;
  }
  whole = g_inet_socket_address_new (address, self->options.bind_port);
  g_object_unref (address);
  return G_INET_SOCKET_ADDRESS (whole);
}

/* With the lock. Opens the socket of the family, if it is not */
static gboolean
open_socket (GstUdpliteSink * self, Family family, GError ** error)
{
  GInetSocketAddress *address;
  gchar *tried = NULL;

  if (self->sockets[family])
    return TRUE;
  if (self->given[family]) {
    self->sockets[family] = udplite_socket_new_from_socket
        (self->given[family], FALSE, error);
  } else {
    address = get_bind_address (self, family, error);
    if (!address)
      return FALSE;
    self->sockets[family] = udplite_socket_new (self->options.backend, address,
        TRUE, &tried, error);
    g_object_unref (address);
  }
  if (!self->sockets[family])
    return FALSE;
  GST_INFO_OBJECT (self, "backend %s%s%s", udplite_backend_get_name
      (udplite_socket_get_backend (self->sockets[family])), tried ? "; " : "",
      tried ? tried : "");
  g_free (tried);
  set_options (self, family);
  return TRUE;
}

/* --- groups --------------------------------------------------------------- */

/* NULL: it is none, or not known yet */
static GInetAddress *
get_group (const UdpliteClient * client)
{
  GInetAddress *address;

  if (client->path.address_size == 0)
    return NULL;
  address = g_inet_address_new_from_bytes (client->path.remote,
      families[get_family (client)]);
  if (!g_inet_address_get_is_multicast (address))
    g_clear_object (&address);
  return address;
}

/* Joins or leaves, as is told. A socket of the application's may be in there
 * already: then whoever joined will leave. */
static void
set_membership (GstUdpliteSink * self, UdpliteClient * client, gboolean join)
{
  UdpliteSocket *socket = self->sockets[get_family (client)];
  GInetAddress *group = get_group (client);
  guint index = client->path.scope;
  GError *error = NULL;
  gboolean quiet;

  if (!group)
    return;
  /* The address of a group of a link has its interface (RFC 4007 section 11). */
  if (index == 0)
    index = get_multicast_index (self);
  client->is_joined = udplite_socket_set_membership (socket, join, group, NULL,
      index, &error) && join;
  quiet = client->is_refused
      || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_ADDRESS_IN_USE);
  if (error)
    GST_CAT_LEVEL_LOG (GST_CAT_DEFAULT, quiet ? GST_LEVEL_DEBUG :
        GST_LEVEL_WARNING, self, "%s: %s", client->host, error->message);
  client->is_refused = error && join;
  g_clear_error (&error);
  g_object_unref (group);
}

static gboolean
is_same_group (const UdpliteClient * one, const UdpliteClient * other)
{
  GInetAddress *group = get_group (one), *group_of_other = get_group (other);
  gboolean same = group && group_of_other
      && g_inet_address_equal (group, group_of_other)
      && one->path.scope == other->path.scope;

  g_clear_object (&group);
  g_clear_object (&group_of_other);
  return same;
}

/* Another receiver in the same group, which is joined once for all: one that did
 * it, or any */
static UdpliteClient *
find_neighbour (GstUdpliteSink * self, const UdpliteClient * client,
    gboolean joined)
{
  guint i;

  for (i = 0; i < udplite_clients_get_number (self->clients); i++) {
    UdpliteClient *candidate = udplite_clients_get (self->clients, i);

    if (candidate != client && (candidate->is_joined || !joined)
        && is_same_group (client, candidate))
      return candidate;
  }
  return NULL;
}

static void
join_group (GstUdpliteSink * self, UdpliteClient * client)
{
  if (self->options.auto_multicast && !client->is_joined
      && !find_neighbour (self, client, TRUE))
    set_membership (self, client, TRUE);
}

void
gst_udplite_sink_leave_group (GstUdpliteSink * self, UdpliteClient * client)
{
  UdpliteClient *neighbour = find_neighbour (self, client, FALSE);

  if (client->is_joined && neighbour)
    neighbour->is_joined = TRUE;
  else if (client->is_joined)
    set_membership (self, client, FALSE);
  client->is_joined = FALSE;
}

/* A socket of the application's stays open, and must not stay in a group. A name
 * may be another address next time, or be asked for one of the other family. */
static void
close_sockets (GstUdpliteSink * self)
{
  guint i;

  for (i = 0; i < udplite_clients_get_number (self->clients); i++) {
    UdpliteClient *client = udplite_clients_get (self->clients, i);

    if (client->is_joined)
      set_membership (self, client, FALSE);
    udplite_client_forget_address (client);
  }
  for (i = 0; i < FAMILY_LAST; i++)
    g_clear_pointer (&self->sockets[i], udplite_socket_free);
}

/* --- receivers ------------------------------------------------------------ */

/* With the lock: its address is known, and the sockets are to be open */
static gboolean
open_client (GstUdpliteSink * self, UdpliteClient * client, GError ** error)
{
  if (!open_socket (self, get_family (client), error))
    return FALSE;
  join_group (self, client);
  return TRUE;
}

/* One that a socket of ours can reach, the first if any can */
static GInetAddress *
choose_address (const SocketOptions * options, GList * addresses)
{
  GInetAddress *bound = options->bind_address ?
      g_inet_address_new_from_string (options->bind_address) : NULL;
  GInetAddress *chosen = addresses->data;
  GList *walk;

  for (walk = addresses; walk && bound; walk = walk->next) {
    if (g_inet_address_get_family (walk->data)
        == g_inet_address_get_family (bound)) {
      chosen = walk->data;
      break;
    }
  }
  g_clear_object (&bound);
  return g_object_ref (chosen);
}

/* With the lock, which is dropped in between. FALSE: error, or the receiver has
 * gone */
static gboolean
resolve (GstUdpliteSink * self, guint64 id, GCancellable * cancellable,
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
    address = choose_address (&self->options, addresses);
    udplite_client_set_address (client, address);
    g_object_unref (address);
  }
  g_resolver_free_addresses (addresses);
  return client && client->path.address_size > 0;
}

static void
warn_of_client (GstUdpliteSink * self, const GError * error)
{
  GST_ELEMENT_WARNING (self, RESOURCE, OPEN_WRITE,
      ("Could not send to one of the receivers: %s.%s", error->message,
          socket_error_get_advice (error)), (NULL));
}

static void
prepare_client (GstElement * element, gpointer id)
{
  GstUdpliteSink *self = GST_UDPLITE_SINK (element);
  UdpliteClient *client;
  GError *error = NULL;

  LOCK (self);
  if (resolve (self, *(guint64 *) id, NULL, &error) && self->is_open) {
    client = udplite_clients_find_id (self->clients, *(guint64 *) id);
    open_client (self, client, &error);
  }
  UNLOCK (self);
  if (error)
    warn_of_client (self, error);
  g_clear_error (&error);
}

void
gst_udplite_sink_prepare_client (GstUdpliteSink * self, guint64 id)
{
  UdpliteClient *client;
  GError *error = NULL;
  gboolean resolves;

  LOCK (self);
  client = udplite_clients_find_id (self->clients, id);
  /* Otherwise connect does it. */
  resolves = self->is_open && client && client->path.address_size == 0;
  if (self->is_open && client && !resolves)
    open_client (self, client, &error);
  UNLOCK (self);

  if (error)
    warn_of_client (self, error);
  g_clear_error (&error);
  if (resolves)
    gst_element_call_async (GST_ELEMENT_CAST (self), prepare_client,
        g_memdup2 (&id, sizeof (id)), g_free);
}

/* --- the connection ------------------------------------------------------- */

/* With the lock: the receivers there are now */
static GArray *
get_ids (GstUdpliteSink * self)
{
  GArray *ids = g_array_new (FALSE, FALSE, sizeof (guint64));
  guint i;

  for (i = 0; i < udplite_clients_get_number (self->clients); i++)
    g_array_append_val (ids, udplite_clients_get (self->clients, i)->id);
  return ids;
}

/* With the lock */
static guint64
get_newest_id (GstUdpliteSink * self)
{
  guint n = udplite_clients_get_number (self->clients);

  return n > 0 ? udplite_clients_get (self->clients, n - 1)->id : 0;
}

/* With the lock, which is dropped in between. Error: that of the last one that
 * can't be reached. Returns how many can */
static guint
open_clients (GstUdpliteSink * self, GCancellable * cancellable,
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

gboolean
gst_udplite_sink_connect (GstNetworkSink * sink, GCancellable * cancellable,
    GError ** error)
{
  GstUdpliteSink *self = GST_UDPLITE_SINK (sink);
  GError *local_error = NULL;
  guint64 newest;
  guint opened;

  LOCK (self);
  do {
    newest = get_newest_id (self);
    opened = open_clients (self, cancellable, &local_error);
    /* Somebody may have added one meanwhile. */
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

/* Looks again for receivers whose names nobody knew: quietly, there was a
 * warning. */
static void
look_again (GstUdpliteSink * self, GCancellable * cancellable)
{
  GError *error = NULL;

  LOCK (self);
  open_clients (self, cancellable, &error);
  UNLOCK (self);
  if (error)
    GST_DEBUG_OBJECT (self, "%s", error->message);
  g_clear_error (&error);
}

void
gst_udplite_sink_watch (GstNetworkSink * sink, GCancellable * cancellable,
    GError ** error)
{
  while (!g_cancellable_set_error_if_cancelled (cancellable, error)) {
    gst_network_sink_pause (cancellable, LOOK_INTERVAL);
    if (!g_cancellable_is_cancelled (cancellable))
      look_again (GST_UDPLITE_SINK (sink), cancellable);
  }
}

void
gst_udplite_sink_disconnect (GstNetworkSink * sink, gboolean reset)
{
  GstUdpliteSink *self = GST_UDPLITE_SINK (sink);

  LOCK (self);
  self->is_open = FALSE;
  close_sockets (self);
  UNLOCK (self);
}

/* --- sending, with the lock ----------------------------------------------- */

G_STATIC_ASSERT (UDPLITE_MAX_ROUND >= DATAGRAM_BATCH);

/* The receiver can't get the packet: others may. Takes the error */
static void
count_error (GstUdpliteSink * self, UdpliteClient * client, GError * error)
{
  gint64 now = g_get_monotonic_time ();

  client->errors++;
  self->send_errors++;
  GST_DEBUG_OBJECT (self, "could not send a packet to %s:%u: %s", client->host,
      client->port, error->message);
  if (self->warned_at == 0 || now - self->warned_at >= WARNING_INTERVAL) {
    self->warned_at = now;
    GST_WARNING_OBJECT (self, "can't send to %s:%u: %s (no more than one such "
        "warning in 10 s)", client->host, client->port, error->message);
  }
  g_error_free (error);
}

/* As udplite_socket_send () */
static guint
send_some (GstUdpliteSink * self, const UdpliteClient * client, guint first,
    guint n, GError ** error)
{
  UdpliteSocket *socket = self->sockets[get_family (client)];
  const UdpliteOutput *outputs;

  if (client->path.address_size == 0 || !socket) {
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
        "its address is not known");
    return 0;
  }
  outputs = gst_udplite_packets_address (self->packets, &client->path);
  return udplite_socket_send (socket, outputs + first, n, error);
}

static void
count_sent (GstUdpliteSink * self, const UdpliteTurn * turn,
    GstBuffer ** buffers, guint sent)
{
  gsize bytes = 0;
  guint i;

  for (i = 0; i < sent; i++)
    bytes += gst_buffer_get_size (buffers[turn->first + i]);
  turn->client->bytes_sent += bytes;
  turn->client->packets_sent += sent;
  self->bytes_served += bytes;
}

/* Goes on with the round of these packets. FALSE: there is no room */
static gboolean
send_to_all (GstUdpliteSink * self, GstBuffer ** buffers, guint n)
{
  GError *error = NULL;
  UdpliteTurn turn;
  guint sent;

  while (udplite_round_next (&self->round, self->clients,
          self->send_duplicates, n, &turn)) {
    sent = send_some (self, turn.client, turn.first, turn.n, &error);
    count_sent (self, &turn, buffers, sent);
    udplite_round_note_sent (&self->round, sent);
    if (error) {
      count_error (self, turn.client, g_steal_pointer (&error));
      udplite_round_skip (&self->round);
    } else if (sent < turn.n) {
      self->full = get_family (turn.client);
      return FALSE;
    }
  }
  return TRUE;
}

static void
begin_anew (GstUdpliteSink * self)
{
  udplite_round_clear (&self->round);
  gst_clear_buffer (&self->resume_at);
}

/* The first `done` packets are done with. Those of them that went to nobody were
 * not sent. */
static void
end_round (GstUdpliteSink * self, GstBuffer ** buffers, guint done)
{
  guint i;

  for (i = 0; i < done; i++) {
    if (!self->round.reached[i])
      gst_network_sink_refuse_packet (GST_NETWORK_SINK (self), buffers[i]);
  }
  begin_anew (self);
}

/* There is no room. Where all packets go once, the first one that found none is
 * offered next. Otherwise the round goes on with the same packets. Returns how
 * many are done with. */
static guint
interrupt_round (GstUdpliteSink * self, GstBuffer ** buffers)
{
  const guint done = self->round.packet;

  if (self->round.time > 0
      || !udplite_round_goes_once (self->clients, self->send_duplicates)) {
    gst_buffer_replace (&self->resume_at, buffers[0]);
    return 0;
  }
  end_round (self, buffers, done);
  return done;
}

GstNetworkSinkResult
gst_udplite_sink_send_packets (GstNetworkSink * sink, GstBuffer ** buffers,
    guint n, guint * sent, GError ** error)
{
  GstUdpliteSink *self = GST_UDPLITE_SINK (sink);
  GstNetworkSinkResult result = GST_NETWORK_SINK_SENT;
  guint mapped;

  LOCK (self);
  /* Who doesn't wait drops a packet for all receivers that have not got it. */
  if (n > 1 && !gst_network_sink_get_blocking (sink)
      && !udplite_round_goes_once (self->clients, self->send_duplicates))
    n = 1;
  /* Otherwise it is at the beginning already. */
  if (self->resume_at && self->resume_at != buffers[0])
    begin_anew (self);
  mapped = gst_udplite_packets_map (self->packets, buffers, n, &self->coverage);
  if (mapped == 0) {
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED,
        "its memory could not be mapped");
    result = GST_NETWORK_SINK_UNSENDABLE;
  } else if (send_to_all (self, buffers, mapped)) {
    *sent = mapped;
    end_round (self, buffers, mapped);
  } else {
    *sent = interrupt_round (self, buffers);
    result = GST_NETWORK_SINK_FULL;
  }
  gst_udplite_packets_unmap (self->packets);
  UNLOCK (self);
  return result;
}

void
gst_udplite_sink_wait (GstNetworkSink * sink, gint64 timeout,
    GCancellable * cancellable)
{
  GstUdpliteSink *self = GST_UDPLITE_SINK (sink);
  gint64 begin = g_get_monotonic_time ();
  GSocket *socket = NULL;

  LOCK (self);
  if (self->sockets[self->full])
    socket = g_object_ref (udplite_socket_get_socket
        (self->sockets[self->full]));
  UNLOCK (self);
  if (!socket)
    return;
  g_socket_condition_timed_wait (socket, G_IO_OUT, timeout, cancellable, NULL);
  g_object_unref (socket);
  if (g_get_monotonic_time () - begin < NO_WAIT)
    gst_network_sink_pause (cancellable, PAUSE);
}

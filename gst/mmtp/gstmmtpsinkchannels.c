/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which channels mmtpsink has: what the property says, or the interfaces that
 * lead to the receiver, as they come and go (Magalhães and Kravets 2001,
 * sections 4.1 and 4.6). One that can't be opened is tried again; one whose
 * path has gone is closed at once, so that what was under way goes elsewhere.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstmmtpsinkprivate.h"

#include <net/if.h>
#include <string.h>

/* --- the list that is wanted ---------------------------------------------- */

/* With lock. No second attempt changes an error of these. */
static MmtpChannels *
parse_channels (GstMmtpSink * self, GError ** error)
{
  GstMmtpSinkSettings *settings = &self->settings;
  GError *local_error = NULL;
  MmtpChannels *channels;

  if (settings->bonding_addresses && *settings->bonding_addresses)
    channels = mmtp_channels_parse_bonding (settings->bonding_addresses,
        &local_error);
  else
    channels = mmtp_channels_parse (settings->channels ? settings->channels :
        "", settings->host, settings->port, &local_error);
  if (!channels)
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        local_error->message);
  g_clear_error (&local_error);
  return channels;
}

/* With lock. The interfaces, or one channel as routing chooses where nobody
 * knows them */
static void
find_channels (GstMmtpSink * self, MmtpChannels * channels)
{
  const GPtrArray *interfaces = self->interfaces ?
      mmtp_interfaces_get (self->interfaces) : NULL;
  MmtpChannels *routed;
  guint i;

  for (i = 0; interfaces && i < interfaces->len; i++) {
    const MmtpInterface *interface = g_ptr_array_index (interfaces, i);

    g_ptr_array_add (channels->specs,
        mmtp_channel_spec_new_interface (interface->name, self->settings.host,
            self->settings.port));
  }
  /* Those of a moment ago stay until others are there. */
  if (channels->specs->len > 0 || self->channels->len > 0)
    return;
  routed = mmtp_channels_parse ("", self->settings.host, self->settings.port,
      NULL);
  g_ptr_array_add (channels->specs, g_ptr_array_steal_index (routed->specs, 0));
  mmtp_channels_free (routed);
}

static gboolean
is_same (const MmtpChannelSpec * a, const MmtpChannelSpec * b)
{
  return g_strcmp0 (a->name, b->name) == 0
      && g_strcmp0 (a->interface, b->interface) == 0
      && g_strcmp0 (a->local_address, b->local_address) == 0
      && a->local_port == b->local_port && g_strcmp0 (a->host, b->host) == 0
      && a->port == b->port && a->rate == b->rate && a->delay == b->delay
      && a->mtu == b->mtu;
}

/* --- names ---------------------------------------------------------------- */

static GList *
lookup (const gchar * host, GCancellable * cancellable, GError ** error)
{
  GResolver *resolver = g_resolver_get_default ();
  GList *addresses =
      g_resolver_lookup_by_name (resolver, host, cancellable, error);

  g_object_unref (resolver);
  return addresses;
}

/* Without lock. FALSE: error */
static gboolean
resolve_host (GstMmtpSink * self, const gchar * host,
    GCancellable * cancellable, GError ** error)
{
  GList *addresses;
  gboolean known;

  LOCK (self);
  known = g_hash_table_contains (self->addresses, host);
  UNLOCK (self);
  if (known)
    return TRUE;
  addresses = lookup (host, cancellable, error);
  if (!addresses)
    return FALSE;
  LOCK (self);
  g_hash_table_replace (self->addresses, g_strdup (host), addresses);
  UNLOCK (self);
  return TRUE;
}

/* An address or a route needs no interface of a certain name. */
static gboolean
is_interface_missing (const MmtpChannelSpec * spec)
{
  return spec->interface && if_nametoindex (spec->interface) == 0;
}

/* Whether the channel can be opened, as far as names tell */
static gboolean
resolve_channel (GstMmtpSink * self, const MmtpChannelSpec * spec,
    GCancellable * cancellable, GError ** error)
{
  GError *problem = NULL;

  if (is_interface_missing (spec))
    g_set_error (&problem, G_RESOLVER_ERROR, G_RESOLVER_ERROR_NOT_FOUND,
        "there is no network interface %s", spec->interface);
  if (resolve_host (self, spec->host, cancellable, problem ? NULL : &problem)
      && !problem)
    return TRUE;
  GST_WARNING_OBJECT (self, "channel %s: %s", spec->name, problem->message);
  g_clear_error (error);
  g_propagate_error (error, problem);
  return FALSE;
}

/* Once for each start: an interface may come later. */
static void
warn_of_missing (GstMmtpSink * self, const GError * error)
{
  gboolean is_told;

  LOCK (self);
  is_told = self->missing_told;
  self->missing_told = TRUE;
  UNLOCK (self);
  if (!is_told)
    GST_ELEMENT_WARNING (self, RESOURCE, NOT_FOUND,
        ("A channel is not used now: %s. It will be used as soon as it can be.",
            error->message), (NULL));
}

/* FALSE: none can be opened, with the error of the last one. */
static gboolean
resolve_channels (GstMmtpSink * self, const MmtpChannels * channels,
    GCancellable * cancellable, GError ** error)
{
  GError *problem = NULL;
  guint n_found = 0, i;

  for (i = 0; i < channels->specs->len; i++)
    n_found += resolve_channel (self, g_ptr_array_index (channels->specs, i),
        cancellable, &problem);
  if (!problem)
    return TRUE;
  if (n_found == 0) {
    g_propagate_error (error, problem);
    return FALSE;
  }
  warn_of_missing (self, problem);
  g_error_free (problem);
  return TRUE;
}

gboolean
gst_mmtp_sink_resolve (GstMmtpSink * self, GCancellable * cancellable,
    GError ** error)
{
  MmtpChannels *channels;
  gchar *host;
  gboolean found;

  LOCK (self);
  channels = parse_channels (self, error);
  host = g_strdup (self->settings.host);
  UNLOCK (self);

  found = channels != NULL;
  if (found && channels->is_auto)
    found = resolve_host (self, host, cancellable, error);
  else if (found)
    found = resolve_channels (self, channels, cancellable, error);
  if (found)
    found = !g_cancellable_set_error_if_cancelled (cancellable, error);
  g_free (host);
  g_clear_pointer (&channels, mmtp_channels_free);
  return found;
}

/* With lock. That of this index among those that `local` can reach; NULL: there
 * is none */
static GSocketAddress *
get_address (GstMmtpSink * self, const gchar * host, guint16 port,
    GSocketAddress * local, guint index)
{
  GList *walk = g_hash_table_lookup (self->addresses, host);

  for (; walk; walk = walk->next) {
    if (local && g_inet_address_get_family (walk->data)
        != g_socket_address_get_family (local))
      continue;
    if (index-- == 0)
      return g_inet_socket_address_new (walk->data, port);
  }
  return NULL;
}

/* --- open and close: all with lock ---------------------------------------- */

static Channel *
channel_new (MmtpChannelSpec * spec)
{
  Channel *channel = g_new0 (Channel, 1);

  channel->spec = spec;
  mmtp_retry_init (&channel->retry);
  return channel;
}

static void
channel_free (Channel * channel)
{
  mmtp_channel_spec_free (channel->spec);
  g_clear_object (&channel->local);
  g_free (channel->problem);
  g_free (channel);
}

static void
close_channel (GstMmtpSink * self, Channel * channel, MmtpLeaveReason reason)
{
  if (!channel->retry.is_open)
    return;
  GST_INFO_OBJECT (self, "channel %s is closed", channel->spec->name);
  if (self->sender)
    mmtp_sender_remove_channel (self->sender, gst_mmtp_now (),
        channel->number, reason);
  self->by_number[channel->number] = NULL;
  driver_remove_path (&self->driver, channel->number);
  mmtp_retry_note_closed (&channel->retry);
  g_clear_error (&channel->gone);
}

/* Any address with the port that was asked for */
static GSocketAddress *
make_any_address (GSocketAddress * like, guint16 port)
{
  gboolean ipv6 = g_socket_address_get_family (like) == G_SOCKET_FAMILY_IPV6;

  return g_inet_socket_address_new_from_string (ipv6 ? "::" : "0.0.0.0", port);
}

static DatagramSocket *
open_socket (GstMmtpSink * self, const Channel * channel, GError ** error)
{
  const MmtpChannelSpec *spec = channel->spec;
  GSocketAddress *local = NULL, *remote;
  DatagramSocketOptions options;
  DatagramSocket *socket;

  if (spec->local_address)
    local = g_inet_socket_address_new_from_string (spec->local_address,
        spec->local_port);
  remote = get_address (self, spec->host, spec->port, local,
      channel->retry.address);
  if (!remote) {
    g_set_error (error, G_RESOLVER_ERROR, G_RESOLVER_ERROR_NOT_FOUND,
        "%s has no address that %s can reach", spec->host, spec->name);
    g_clear_object (&local);
    return NULL;
  }
  if (!local && spec->local_port > 0)
    local = make_any_address (remote, spec->local_port);
  datagram_socket_options_init (&options);
  options.interface = spec->interface;
  socket = datagram_socket_new_connected (remote, local, &options, error);
  g_object_unref (remote);
  g_clear_object (&local);
  return socket;
}

/* A name may have addresses at which nobody listens, as localhost's of IPv6
 * where the receiver has IPv4. */
static guint
count_addresses (GstMmtpSink * self, const Channel * channel)
{
  const MmtpChannelSpec *spec = channel->spec;
  GSocketAddress *local = NULL, *found;
  guint n = 0;

  if (spec->local_address)
    local = g_inet_socket_address_new_from_string (spec->local_address, 0);
  while ((found = get_address (self, spec->host, spec->port, local, n))) {
    g_object_unref (found);
    n++;
  }
  g_clear_object (&local);
  return n;
}

/* A limit of its own counts where it is lower than that of all. */
static guint
get_mtu (GstMmtpSink * self, const MmtpChannelSpec * spec)
{
  return spec->mtu > 0 ? MIN (spec->mtu, self->settings.mtu) :
      self->settings.mtu;
}

/* Takes the socket, unless there is a problem. NULL, or why it can't be a
 * channel; free it */
static gchar *
add_to_core (GstMmtpSink * self, Channel * channel, DatagramSocket * socket)
{
  const MmtpChannelSpec *spec = channel->spec;
  MmtpChannelConfig config = { NULL };
  guint longest = datagram_socket_get_max_payload (socket,
      get_mtu (self, spec));
  gint number;

  config.name = spec->name;
  config.longest = longest;
  config.overhead = datagram_socket_get_overhead (socket);
  config.rate = spec->rate;
  config.delay = spec->delay;
  if (longest < MMTP_MIN_LONGEST)
    return g_strdup_printf ("IP packets of %u bytes, which MMTP needs, do not "
        "fit into the MTU of its interface or route",
        MMTP_MIN_LONGEST + config.overhead);
  number = mmtp_sender_add_channel (self->sender, gst_mmtp_now (), &config);
  if (number < 0)
    return g_strdup_printf ("there are %d channels", MMTP_MAX_CHANNELS);
  channel->number = number;
  self->by_number[number] = channel;
  driver_add_path (&self->driver, number, socket, config.longest);
  return NULL;
}

/* Takes the text; each is logged once. */
static void
postpone (GstMmtpSink * self, Channel * channel, gchar * problem)
{
  mmtp_retry_note_failure (&channel->retry, gst_mmtp_now ());
  if (g_strcmp0 (problem, channel->problem) != 0)
    GST_WARNING_OBJECT (self, "channel %s: %s", channel->spec->name, problem);
  g_free (channel->problem);
  channel->problem = problem;
}

static gboolean
has_address (const MmtpInterface * interface, GInetAddress * address)
{
  guint i;

  for (i = 0; address && i < interface->addresses->len; i++) {
    if (g_inet_address_equal (g_ptr_array_index (interface->addresses, i),
            address))
      return TRUE;
  }
  return FALSE;
}

/* That of its name, or, where none was asked for, the one that has the address
 * from which it sends */
static gboolean
is_interface_there (GstMmtpSink * self, const Channel * channel)
{
  const GPtrArray *interfaces = self->interfaces ?
      mmtp_interfaces_get (self->interfaces) : NULL;
  const gchar *name = channel->spec->interface;
  guint i;

  for (i = 0; interfaces && i < interfaces->len; i++) {
    const MmtpInterface *interface = g_ptr_array_index (interfaces, i);

    if (name ? g_str_equal (interface->name, name) :
        has_address (interface, channel->local))
      return TRUE;
  }
  return FALSE;
}

static void
note_interface (GstMmtpSink * self, Channel * channel, DatagramSocket * socket)
{
  GSocketAddress *local =
      g_socket_get_local_address (datagram_socket_get_socket (socket), NULL);

  g_clear_object (&channel->local);
  if (local)
    channel->local = g_object_ref (g_inet_socket_address_get_address
        (G_INET_SOCKET_ADDRESS (local)));
  g_clear_object (&local);
  channel->retry.is_there = is_interface_there (self, channel);
}

static void
open_channel (GstMmtpSink * self, Channel * channel)
{
  DatagramSocket *socket;
  GError *error = NULL;
  gchar *problem;

  channel->n_addresses = count_addresses (self, channel);
  do {
    g_clear_error (&error);
    socket = open_socket (self, channel, &error);
  } while (!socket && mmtp_retry_take_next_address (&channel->retry,
          channel->n_addresses));
  if (!socket) {
    postpone (self, channel, g_strdup (error->message));
    g_error_free (error);
    return;
  }
  problem = add_to_core (self, channel, socket);
  if (problem) {
    datagram_socket_free (socket);
    postpone (self, channel, problem);
    return;
  }
  note_interface (self, channel, socket);
  mmtp_retry_note_open (&channel->retry, gst_mmtp_now ());
  GST_INFO_OBJECT (self, "channel %s is number %u", channel->spec->name,
      channel->number);
}

/* --- as the list, the interfaces and the clock say: all with lock --------- */

static void
remove_channel (GstMmtpSink * self, guint index, MmtpLeaveReason reason)
{
  Channel *channel = g_ptr_array_index (self->channels, index);

  close_channel (self, channel, reason);
  g_ptr_array_remove_index (self->channels, index);
  channel_free (channel);
}

/* TRUE: it is among the specs, from which it is taken out. */
static gboolean
take_same (GPtrArray * specs, const MmtpChannelSpec * spec)
{
  guint i;

  for (i = 0; i < specs->len; i++) {
    if (is_same (g_ptr_array_index (specs, i), spec)) {
      mmtp_channel_spec_free (g_ptr_array_steal_index (specs, i));
      return TRUE;
    }
  }
  return FALSE;
}

/* The new ones first, so that what was under way has somewhere to go */
static void
replace_channels (GstMmtpSink * self, MmtpChannels * channels)
{
  guint i, n_old = self->channels->len;
  gboolean *stays = g_new0 (gboolean, n_old + 1);
  Channel *channel;

  for (i = 0; i < n_old; i++) {
    channel = g_ptr_array_index (self->channels, i);
    stays[i] = take_same (channels->specs, channel->spec);
  }
  while (channels->specs->len > 0) {
    channel = channel_new (g_ptr_array_steal_index (channels->specs, 0));
    g_ptr_array_add (self->channels, channel);
    open_channel (self, channel);
  }
  for (i = n_old; i > 0; i--) {
    if (!stays[i - 1])
      remove_channel (self, i - 1,
          channels->is_auto ? MMTP_LEAVE_INTERFACE : MMTP_LEAVE_ASKED);
  }
  g_free (stays);
}

static void
close_interfaces (GstMmtpSink * self)
{
  g_clear_pointer (&self->interfaces, mmtp_interfaces_free);
  driver_watch (&self->driver, -1);
}

/* Those that lead to the receiver are the channels of `auto`. Of a list each has
 * its own way, and which interface is there is all that counts. */
static MmtpInterfaces *
watch_interfaces (GstMmtpSink * self, GError ** error)
{
  GSocketAddress *remote;
  MmtpInterfaces *interfaces;

  if (!self->is_auto)
    return mmtp_interfaces_new (NULL, error);
  remote = get_address (self, self->settings.host, self->settings.port, NULL,
      0);
  if (!remote) {
    g_set_error (error, G_RESOLVER_ERROR, G_RESOLVER_ERROR_NOT_FOUND,
        "%s has no address", self->settings.host);
    return NULL;
  }
  interfaces = mmtp_interfaces_new (remote, error);
  g_object_unref (remote);
  return interfaces;
}

/* Where nobody tells of interfaces, `auto` is one channel. */
static void
open_interfaces (GstMmtpSink * self, gboolean is_auto)
{
  GError *error = NULL;

  if (self->interfaces && self->is_auto == is_auto)
    return;
  close_interfaces (self);
  self->is_auto = is_auto;
  self->interfaces = watch_interfaces (self, &error);
  if (!self->interfaces) {
    GST_INFO_OBJECT (self, "interfaces are not watched: %s", error->message);
    g_error_free (error);
    return;
  }
  driver_watch (&self->driver, mmtp_interfaces_get_fd (self->interfaces));
}

static void
read_list (GstMmtpSink * self)
{
  GError *error = NULL;
  MmtpChannels *channels = parse_channels (self, &error);

  if (!channels) {
    GST_WARNING_OBJECT (self, "channels stay as they are: %s", error->message);
    g_error_free (error);
    return;
  }
  open_interfaces (self, channels->is_auto);
  if (channels->is_auto)
    find_channels (self, channels);
  if (channels->specs->len > 0)
    replace_channels (self, channels);
  mmtp_channels_free (channels);
}

/* The interface of a channel of the list went down, or came up. */
static void
look_at_interface (GstMmtpSink * self, Channel * channel)
{
  if (mmtp_retry_note_interface (&channel->retry,
          is_interface_there (self, channel)) != MMTP_RETRY_CLOSE)
    return;
  close_channel (self, channel, MMTP_LEAVE_INTERFACE);
  postpone (self, channel, g_strdup ("its interface went down"));
}

static void
retry_channel (GstMmtpSink * self, Channel * channel)
{
  gchar *problem;

  switch (mmtp_retry_get_action (&channel->retry, gst_mmtp_now (),
          channel->n_addresses)) {
    case MMTP_RETRY_NOTHING:
      break;
    case MMTP_RETRY_OPEN:
      open_channel (self, channel);
      break;
    case MMTP_RETRY_REOPEN:
      close_channel (self, channel, MMTP_LEAVE_INTERFACE);
      open_channel (self, channel);
      break;
    case MMTP_RETRY_NEXT_ADDRESS:
      GST_INFO_OBJECT (self, "channel %s: no answer, the next address",
          channel->spec->name);
      close_channel (self, channel, MMTP_LEAVE_ASKED);
      open_channel (self, channel);
      break;
    case MMTP_RETRY_CLOSE:
      problem = g_strdup (channel->gone->message);
      close_channel (self, channel, MMTP_LEAVE_INTERFACE);
      postpone (self, channel, problem);
      break;
  }
}

void
gst_mmtp_sink_update_channels (GstMmtpSink * self)
{
  gboolean moved = driver_take_watched (&self->driver)
      && mmtp_interfaces_update (self->interfaces);
  guint i;

  if (self->channels_changed || moved) {
    self->channels_changed = FALSE;
    read_list (self);
  }
  for (i = 0; i < self->channels->len; i++) {
    Channel *channel = g_ptr_array_index (self->channels, i);

    if (moved)
      look_at_interface (self, channel);
    retry_channel (self, channel);
  }
}

guint64
gst_mmtp_sink_get_retry_time (GstMmtpSink * self)
{
  guint64 earliest = G_MAXUINT64, time;
  guint i;

  for (i = 0; i < self->channels->len; i++) {
    const Channel *channel = g_ptr_array_index (self->channels, i);

    time = mmtp_retry_get_wakeup (&channel->retry, channel->n_addresses);
    earliest = MIN (earliest, time);
  }
  return earliest;
}

gchar *
gst_mmtp_sink_get_channel_problem (GstMmtpSink * self)
{
  const gchar *problem = "there is no channel";
  guint i;

  for (i = 0; i < self->channels->len; i++) {
    const Channel *channel = g_ptr_array_index (self->channels, i);

    if (channel->retry.is_open)
      return NULL;
    if (channel->problem)
      problem = channel->problem;
  }
  return g_strdup (problem);
}

/* --- a session's end: with lock ------------------------------------------- */

void
gst_mmtp_sink_close_channels (GstMmtpSink * self)
{
  while (self->channels->len > 0)
    remove_channel (self, self->channels->len - 1, MMTP_LEAVE_ASKED);
  close_interfaces (self);
  g_hash_table_remove_all (self->addresses);
}

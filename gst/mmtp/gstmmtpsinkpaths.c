/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The paths of mmtpsink. They are the paths of the property `channels`, or the
 * interfaces that currently lead to the receiver (Magalhães and Kravets 2001,
 * sections 4.1 and 4.6). If a path cannot be opened, the attempt is repeated
 * later. If the route of a path disappears, the path is closed immediately, so
 * that packets in flight are sent again on other paths. The property and the
 * messages call a path a channel, as the MMTP paper does.
 */

#include "gstmmtpsinkprivate.h"

#include <net/if.h>
#include <string.h>

#include "gstwirelessgso.h"

/* --- list of paths -------------------------------------------------------- */

/* Parses the list of paths. Call with `lock` held. On failure, the code of the
 * error is G_IO_ERROR_INVALID_ARGUMENT. This code tells the base class not to
 * try again, because a second attempt would fail in the same way. */
static MmtpPathList *
parse_paths (GstMmtpSink * self, GError ** error)
{
  GstMmtpSinkSettings *settings = &self->settings;
  GError *local_error = NULL;
  MmtpPathList *paths;

  if (settings->bonding_addresses)
    paths = mmtp_path_list_parse_bonding (settings->bonding_addresses,
        &local_error);
  else
    paths = mmtp_path_list_parse (settings->channels ? settings->channels :
        "", settings->host, settings->port, &local_error);
  if (!paths)
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        local_error->message);
  g_clear_error (&local_error);
  return paths;
}

/* If the property `channels` is `auto`, there is one path for each interface
 * that leads to the receiver. This function adds these paths to `paths`. If the
 * interfaces are unknown, it adds a single path, whose interface the routing
 * table of the system chooses. Call with `lock` held. */
static void
add_auto_paths (GstMmtpSink * self, MmtpPathList * paths)
{
  const GPtrArray *interfaces = self->interfaces ?
      mmtp_interfaces_get (self->interfaces) : NULL;
  MmtpPathList *routed;
  guint i;

  for (i = 0; interfaces && i < interfaces->len; i++) {
    const MmtpInterface *interface = g_ptr_array_index (interfaces, i);

    g_ptr_array_add (paths->specs,
        mmtp_path_spec_new_interface (interface->name, self->settings.host,
            self->settings.port));
  }
  /* If no interface leads to the receiver at the moment, the existing paths
   * stay until another interface appears.
   */
  if (paths->specs->len > 0 || self->paths->len > 0)
    return;
  routed = mmtp_path_list_parse ("", self->settings.host, self->settings.port,
      NULL);
  g_ptr_array_add (paths->specs, g_ptr_array_steal_index (routed->specs, 0));
  mmtp_path_list_free (routed);
}

static gboolean
is_same (const MmtpPathSpec * a, const MmtpPathSpec * b)
{
  return g_strcmp0 (a->name, b->name) == 0
      && g_strcmp0 (a->interface, b->interface) == 0
      && g_strcmp0 (a->local_address, b->local_address) == 0
      && a->local_port == b->local_port && g_strcmp0 (a->host, b->host) == 0
      && a->port == b->port && a->rate == b->rate && a->delay == b->delay
      && a->mtu == b->mtu;
}

/* --- host names ----------------------------------------------------------- */

/* Resolves the host name `host` and stores its addresses in the table
 * `addresses`. Does nothing if they are in the table already. Call without
 * `lock`, because the function may block. Returns FALSE on failure. */
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
  addresses = datagram_look_up (host, cancellable, error);
  if (!addresses)
    return FALSE;
  LOCK (self);
  g_hash_table_replace (self->addresses, g_strdup (host), addresses);
  UNLOCK (self);
  return TRUE;
}

/* Returns TRUE if the path names an interface and this interface does not
 * exist. A path does not have to name an interface. */
static gboolean
is_interface_missing (const MmtpPathSpec * spec)
{
  return spec->interface && if_nametoindex (spec->interface) == 0;
}

/* Resolves the host name in `spec`. Returns TRUE if the host name was resolved
 * and the interface in `spec` exists. Otherwise returns FALSE and sets `error`.
 */
static gboolean
resolve_path (GstMmtpSink * self, const MmtpPathSpec * spec,
    GCancellable * cancellable, GError ** error)
{
  GError *problem = NULL;

  if (is_interface_missing (spec))
    g_set_error (&problem, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
        "there is no network interface \"%s\". Set one of the interfaces that "
        "\"ip link\" lists", spec->interface);
  if (resolve_host (self, spec->host, cancellable, problem ? NULL : &problem)
      && !problem)
    return TRUE;
  GST_WARNING_OBJECT (self, "Could not use the channel \"%s\": %s.",
      spec->name, problem->message);
  g_clear_error (error);
  g_propagate_error (error, problem);
  return FALSE;
}

/* Posts a warning that a path cannot be used. It is a warning and not an error,
 * because the reason may disappear: for example, a missing interface may appear
 * later. The warning is posted only once for each start of the element. */
static void
warn_of_missing (GstMmtpSink * self, const GError * error)
{
  gboolean has_warned;

  LOCK (self);
  has_warned = self->has_warned_of_missing;
  self->has_warned_of_missing = TRUE;
  UNLOCK (self);
  if (!has_warned)
    GST_ELEMENT_WARNING (self, RESOURCE, NOT_FOUND,
        ("A channel is not used now: %s. The channel will be used as soon as "
            "it can be.", error->message), (NULL));
}

/* Resolves the host names of all paths. Returns FALSE if no path can be opened,
 * and sets `error` to the error of the last path. If only some paths cannot be
 * opened, posts a warning and returns TRUE. */
static gboolean
resolve_paths (GstMmtpSink * self, const MmtpPathList * paths,
    GCancellable * cancellable, GError ** error)
{
  GError *problem = NULL;
  guint n_found = 0, i;

  for (i = 0; i < paths->specs->len; i++)
    n_found += resolve_path (self, g_ptr_array_index (paths->specs, i),
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
  MmtpPathList *paths;
  gchar *host;
  gboolean found;

  LOCK (self);
  paths = parse_paths (self, error);
  host = g_strdup (self->settings.host);
  UNLOCK (self);

  found = paths != NULL;
  if (found && paths->is_auto)
    found = resolve_host (self, host, cancellable, error);
  else if (found)
    found = resolve_paths (self, paths, cancellable, error);
  if (found)
    found = !g_cancellable_set_error_if_cancelled (cancellable, error);
  g_free (host);
  g_clear_pointer (&paths, mmtp_path_list_free);
  return found;
}

/* Returns one of the addresses of `host`, together with the port. `index` is
 * the number of this address; the first address has the number 0. If `local` is
 * not NULL, counts only the addresses that can be reached from `local`. Returns
 * NULL if `index` is too high. Call with `lock` held. */
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

/* --- opening and closing a path, with `lock` held ------------------------- */

static GstMmtpSinkPath *
path_new (MmtpPathSpec * spec)
{
  GstMmtpSinkPath *path = g_new0 (GstMmtpSinkPath, 1);

  path->spec = spec;
  mmtp_retry_init (&path->retry);
  return path;
}

static void
path_free (GstMmtpSinkPath * path)
{
  mmtp_path_spec_free (path->spec);
  g_clear_object (&path->local);
  g_free (path->problem);
  g_free (path);
}

static void
close_path (GstMmtpSink * self, GstMmtpSinkPath * path, MmtpLeaveReason reason)
{
  if (!path->retry.is_open)
    return;
  GST_INFO_OBJECT (self, "channel %s is closed", path->spec->name);
  if (self->sender)
    mmtp_sender_remove_path (self->sender, gst_mmtp_now (),
        path->number, reason);
  self->by_number[path->number] = NULL;
  driver_remove_path (&self->driver, path->number);
  mmtp_retry_note_closed (&path->retry);
  g_clear_error (&path->gone);
}

/* Returns the wildcard address (0.0.0.0 or ::) with the port `port`. Its
 * address family is that of `like`. */
static GSocketAddress *
make_any_address (GSocketAddress * like, guint16 port)
{
  gboolean ipv6 = g_socket_address_get_family (like) == G_SOCKET_FAMILY_IPV6;

  return g_inet_socket_address_new_from_string (ipv6 ? "::" : "0.0.0.0", port);
}

/* Returns the local address of a path. It is the address in the text of the
 * path or, if there is none, the address of the property bind-address. NULL
 * means any address. */
static const gchar *
get_local_address (GstMmtpSink * self, const MmtpPathSpec * spec)
{
  return spec->local_address || spec->interface ? spec->local_address :
      self->settings.bind_address;
}

static guint16
get_local_port (GstMmtpSink * self, const MmtpPathSpec * spec)
{
  return spec->local_port > 0 ? spec->local_port : self->settings.bind_port;
}

static DatagramSocket *
open_socket (GstMmtpSink * self, const GstMmtpSinkPath * path, GError ** error)
{
  const MmtpPathSpec *spec = path->spec;
  const gchar *local_address = get_local_address (self, spec);
  const guint16 local_port = get_local_port (self, spec);
  GSocketAddress *local = NULL, *remote;
  DatagramSocketOptions options;
  DatagramSocket *socket;

  if (local_address) {
    local = g_inet_socket_address_new_from_string (local_address, local_port);
    if (!local) {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
          "the property bind-address, \"%s\", is not an IP address. Set an "
          "address of this host, or leave the property unset", local_address);
      return NULL;
    }
  }
  remote = get_address (self, spec->host, spec->port, local,
      path->retry.address);
  if (!remote) {
    g_set_error (error, G_RESOLVER_ERROR, G_RESOLVER_ERROR_NOT_FOUND,
        "%s has no address that the channel %s can reach. Set a receiver of "
        "the address family of the channel", spec->host, spec->name);
    g_clear_object (&local);
    return NULL;
  }
  if (!local && local_port > 0)
    local = make_any_address (remote, local_port);
  datagram_socket_options_init (&options);
  options.interface = spec->interface;
  options.send_buffer_size = self->settings.buffer_size;
  options.ttl = self->settings.ttl;
  options.dscp = self->settings.dscp;
  options.gso = self->settings.gso != GST_WIRELESS_GSO_OFF;
  socket = datagram_socket_new_connected (remote, local, &options, error);
  g_object_unref (remote);
  g_clear_object (&local);
  return socket;
}

/* Resolving the host name of a path may give several addresses. Returns how
 * many of them the path can use. If the path has a local address, it can use
 * only addresses of the same family (IPv4 or IPv6). The receiver need not
 * listen on all these addresses. For example, a receiver on localhost may use
 * IPv4 only. */
static guint
count_addresses (GstMmtpSink * self, const GstMmtpSinkPath * path)
{
  const MmtpPathSpec *spec = path->spec;
  const gchar *local_address = get_local_address (self, spec);
  GSocketAddress *local = NULL, *found;
  guint n = 0;

  if (local_address)
    local = g_inet_socket_address_new_from_string (local_address, 0);
  while ((found = get_address (self, spec->host, spec->port, local, n))) {
    g_object_unref (found);
    n++;
  }
  g_clear_object (&local);
  return n;
}

/* Returns the maximum size of an IP packet on the path, in bytes. It is the
 * lower of two limits: the option mtu of the path, if it is set, and the
 * property mtu of the element. */
static guint
get_mtu (GstMmtpSink * self, const MmtpPathSpec * spec)
{
  return spec->mtu > 0 ? MIN (spec->mtu, self->settings.mtu) :
      self->settings.mtu;
}

/* Adds the path to the core and to the driver, and takes ownership of `socket`.
 * On failure, returns the reason, which has to be freed with g_free(); `socket`
 * then still belongs to the caller. */
static gchar *
add_to_core (GstMmtpSink * self, GstMmtpSinkPath * path,
    DatagramSocket * socket)
{
  const MmtpPathSpec *spec = path->spec;
  MmtpPathConfig config = { NULL };
  guint max_size = datagram_socket_get_max_payload (socket,
      get_mtu (self, spec));
  gint number;

  config.name = spec->name;
  config.max_size = max_size;
  config.overhead = datagram_socket_get_overhead (socket);
  config.rate = spec->rate;
  config.delay = spec->delay;
  if (max_size < MMTP_MIN_MESSAGE_SIZE)
    return g_strdup_printf ("IP packets of %u bytes, which MMTP needs, do not "
        "fit into the MTU of its interface or route",
        MMTP_MIN_MESSAGE_SIZE + config.overhead);
  number = mmtp_sender_add_path (self->sender, gst_mmtp_now (), &config);
  if (number < 0)
    return g_strdup_printf ("the maximum of %d channels is reached",
        MMTP_MAX_PATHS);
  path->number = number;
  self->by_number[number] = path;
  driver_add_path (&self->driver, number, socket, config.max_size);
  return NULL;
}

/* Schedules another attempt to open the path. Takes ownership of `problem`,
 * which is logged if it differs from the last problem. */
static void
postpone (GstMmtpSink * self, GstMmtpSinkPath * path, gchar * problem)
{
  mmtp_retry_note_failure (&path->retry, gst_mmtp_now ());
  if (g_strcmp0 (problem, path->problem) != 0)
    GST_WARNING_OBJECT (self, "Could not use the channel \"%s\": %s.",
        path->spec->name, problem);
  g_free (path->problem);
  path->problem = problem;
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

/* Returns whether the interface of the path exists. If the path names no
 * interface, its interface is the interface that has the local address of the
 * path. */
static gboolean
is_interface_there (GstMmtpSink * self, const GstMmtpSinkPath * path)
{
  const GPtrArray *interfaces = self->interfaces ?
      mmtp_interfaces_get (self->interfaces) : NULL;
  const gchar *name = path->spec->interface;
  guint i;

  for (i = 0; interfaces && i < interfaces->len; i++) {
    const MmtpInterface *interface = g_ptr_array_index (interfaces, i);

    if (name ? g_str_equal (interface->name, name) :
        has_address (interface, path->local))
      return TRUE;
  }
  return FALSE;
}

static void
note_interface (GstMmtpSink * self, GstMmtpSinkPath * path,
    DatagramSocket * socket)
{
  GSocketAddress *local =
      g_socket_get_local_address (datagram_socket_get_socket (socket), NULL);

  g_clear_object (&path->local);
  if (local)
    path->local = g_object_ref (g_inet_socket_address_get_address
        (G_INET_SOCKET_ADDRESS (local)));
  g_clear_object (&local);
  path->retry.is_there = is_interface_there (self, path);
}

static void
open_path (GstMmtpSink * self, GstMmtpSinkPath * path)
{
  DatagramSocket *socket;
  GError *error = NULL;
  gchar *problem;

  path->n_addresses = count_addresses (self, path);
  do {
    g_clear_error (&error);
    socket = open_socket (self, path, &error);
  } while (!socket && mmtp_retry_take_next_address (&path->retry,
          path->n_addresses));
  if (!socket) {
    postpone (self, path, g_strdup (error->message));
    g_error_free (error);
    return;
  }
  problem = add_to_core (self, path, socket);
  if (problem) {
    datagram_socket_free (socket);
    postpone (self, path, problem);
    return;
  }
  note_interface (self, path, socket);
  mmtp_retry_note_open (&path->retry, gst_mmtp_now ());
  GST_INFO_OBJECT (self, "channel %s is open as number %u", path->spec->name,
      path->number);
}

/* --- updating the list of paths, with `lock` held ------------------------- */

static void
remove_path (GstMmtpSink * self, guint index, MmtpLeaveReason reason)
{
  GstMmtpSinkPath *path = g_ptr_array_index (self->paths, index);

  close_path (self, path, reason);
  g_ptr_array_remove_index (self->paths, index);
  path_free (path);
}

/* Searches `specs` for the description of a path that is equal to `spec`, and
 * removes it from `specs`. Returns FALSE if there is none. */
static gboolean
take_same (GPtrArray * specs, const MmtpPathSpec * spec)
{
  guint i;

  for (i = 0; i < specs->len; i++) {
    if (is_same (g_ptr_array_index (specs, i), spec)) {
      mmtp_path_spec_free (g_ptr_array_steal_index (specs, i));
      return TRUE;
    }
  }
  return FALSE;
}

/* Replaces the paths of the element by the paths in the list `paths`. An old
 * path that is also in `paths` stays as it is. New paths are opened before old
 * paths are closed. Packets in flight on an old path can then be sent again on
 * a new one. */
static void
replace_paths (GstMmtpSink * self, MmtpPathList * paths)
{
  guint i, n_old = self->paths->len;
  gboolean *stays = g_new0 (gboolean, n_old + 1);
  GstMmtpSinkPath *path;

  for (i = 0; i < n_old; i++) {
    path = g_ptr_array_index (self->paths, i);
    stays[i] = take_same (paths->specs, path->spec);
  }
  while (paths->specs->len > 0) {
    path = path_new (g_ptr_array_steal_index (paths->specs, 0));
    g_ptr_array_add (self->paths, path);
    open_path (self, path);
  }
  for (i = n_old; i > 0; i--) {
    if (!stays[i - 1])
      remove_path (self, i - 1,
          paths->is_auto ? MMTP_LEAVE_INTERFACE : MMTP_LEAVE_ASKED);
  }
  g_free (stays);
}

static void
close_interfaces (GstMmtpSink * self)
{
  g_clear_pointer (&self->interfaces, mmtp_interfaces_free);
  driver_watch (&self->driver, -1);
}

/* Returns the object that watches the interfaces. If `channels` is `auto`, the
 * object watches only interfaces that have a route to the receiver. If
 * `channels` is a list, the object watches all interfaces and does not check
 * their routes. Each path of the list has its own route, so a check of the
 * routes is not needed.
 */
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

/* Starts to watch the network interfaces for changes. If this fails,
 * channels=auto results in a single path, whose interface the routing table of
 * the system chooses. */
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
update_list (GstMmtpSink * self)
{
  GError *error = NULL;
  MmtpPathList *paths = parse_paths (self, &error);

  if (!paths) {
    GST_WARNING_OBJECT (self, "channels stay as they are: %s", error->message);
    g_error_free (error);
    return;
  }
  open_interfaces (self, paths->is_auto);
  if (paths->is_auto)
    add_auto_paths (self, paths);
  if (paths->specs->len > 0)
    replace_paths (self, paths);
  mmtp_path_list_free (paths);
}

/* If the interface of the path has disappeared, closes the path. Also notes if
 * the interface has appeared again, so that the path is soon opened again. */
static void
check_interface (GstMmtpSink * self, GstMmtpSinkPath * path)
{
  if (mmtp_retry_note_interface (&path->retry,
          is_interface_there (self, path)) != MMTP_RETRY_CLOSE)
    return;
  close_path (self, path, MMTP_LEAVE_INTERFACE);
  postpone (self, path, g_strdup ("its interface went down"));
}

static void
retry_path (GstMmtpSink * self, GstMmtpSinkPath * path)
{
  gchar *problem;

  switch (mmtp_retry_get_action (&path->retry, gst_mmtp_now (),
          path->n_addresses)) {
    case MMTP_RETRY_NOTHING:
      break;
    case MMTP_RETRY_OPEN:
      open_path (self, path);
      break;
    case MMTP_RETRY_REOPEN:
      close_path (self, path, MMTP_LEAVE_INTERFACE);
      open_path (self, path);
      break;
    case MMTP_RETRY_NEXT_ADDRESS:
      GST_INFO_OBJECT (self, "channel %s: no answer, trying the next address",
          path->spec->name);
      close_path (self, path, MMTP_LEAVE_ASKED);
      open_path (self, path);
      break;
    case MMTP_RETRY_CLOSE:
      problem = g_strdup (path->gone->message);
      close_path (self, path, MMTP_LEAVE_INTERFACE);
      postpone (self, path, problem);
      break;
  }
}

void
gst_mmtp_sink_update_paths (GstMmtpSink * self)
{
  gboolean moved = driver_take_watched (&self->driver)
      && mmtp_interfaces_update (self->interfaces);
  guint i;

  if (self->paths_changed || moved) {
    self->paths_changed = FALSE;
    update_list (self);
  }
  for (i = 0; i < self->paths->len; i++) {
    GstMmtpSinkPath *path = g_ptr_array_index (self->paths, i);

    if (moved)
      check_interface (self, path);
    retry_path (self, path);
  }
}

guint64
gst_mmtp_sink_get_retry_time (GstMmtpSink * self)
{
  guint64 earliest = G_MAXUINT64, time;
  guint i;

  for (i = 0; i < self->paths->len; i++) {
    const GstMmtpSinkPath *path = g_ptr_array_index (self->paths, i);

    time = mmtp_retry_next_wakeup (&path->retry, path->n_addresses);
    earliest = MIN (earliest, time);
  }
  return earliest;
}

gchar *
gst_mmtp_sink_get_path_problem (GstMmtpSink * self)
{
  const gchar *problem = "no channel is available";
  guint i;

  for (i = 0; i < self->paths->len; i++) {
    const GstMmtpSinkPath *path = g_ptr_array_index (self->paths, i);

    if (path->retry.is_open)
      return NULL;
    if (path->problem)
      problem = path->problem;
  }
  return g_strdup (problem);
}

/* --- closing all paths at the end of a session, `lock` is held ------------ */

void
gst_mmtp_sink_close_paths (GstMmtpSink * self)
{
  while (self->paths->len > 0)
    remove_path (self, self->paths->len - 1, MMTP_LEAVE_ASKED);
  close_interfaces (self);
  g_hash_table_remove_all (self->addresses);
}

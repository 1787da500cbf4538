/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of udplitesocket.h. This file chooses a backend that works on
 * this system, and implements the functions that are the same for all backends.
 */

#include "udplitesocket.h"

#include <errno.h>
#include <string.h>

#include <netinet/in.h>
#include <sys/socket.h>

#include "socketmessages.h"
#include "udplitesocketbackend.h"

/* A receive call reads batches of datagrams until it finds a valid packet, but
 * at most this number of batches. It then returns without a packet, so that the
 * caller can do other work. */
#define MAX_REFUSED_BATCHES 16
/* Maximum number of datagrams per receive call while the kernel merges received
 * packets (GRO). With this limit, the bytes of one call fit into the cache of
 * the CPU. */
#define MERGED_BATCH 8

static const UdpliteSocketBackend *const backends[] = {
  &udplite_socket_backend_kernel,
  &udplite_socket_backend_raw,
  &udplite_socket_backend_udp,
};

/* --- life cycle ----------------------------------------------------------- */

static UdpliteSocket *
socket_new (const UdpliteSocketBackend * backend, gboolean ipv6)
{
  UdpliteSocket *self = g_new0 (UdpliteSocket, 1);

  self->backend = backend;
  self->ipv6 = ipv6;
  self->min_coverage = -1;
  self->packets = g_array_new (FALSE, FALSE, sizeof (UdplitePacket));
  g_mutex_init (&self->lock);
  return self;
}

void
udplite_socket_free (UdpliteSocket * self)
{
  if (self->backend->free)
    self->backend->free (self);
  g_clear_pointer (&self->socket, datagram_socket_free);
  g_array_unref (self->packets);
  g_mutex_clear (&self->lock);
  g_free (self);
}

/* Creates a socket with `backend`. Returns NULL with `error` set if the system
 * does not support this kind of socket, or does not permit it. */
static UdpliteSocket *
create (const UdpliteSocketBackend * backend, gboolean ipv6, GError ** error)
{
  UdpliteSocket *self = socket_new (backend, ipv6);

  if (backend->create (self, ipv6 ? G_SOCKET_FAMILY_IPV6 :
          G_SOCKET_FAMILY_IPV4, error))
    return self;
  udplite_socket_free (self);
  return NULL;
}

static void
add_reason (GString * reasons, const UdpliteSocketBackend * backend,
    const GError * reason)
{
  g_string_append_printf (reasons, "%s%s: %s", reasons->len > 0 ? "; " : "",
      backend->name, reason->message);
}

/* Creates a socket with the first backend that the system supports and permits.
 * The socket is bound later. If binding fails because the port is in use, the
 * caller must not try another backend, because that backend would use another
 * protocol on this port. */
static UdpliteSocket *
create_any (gboolean ipv6, gchar ** tried, GError ** error)
{
  GString *reasons = g_string_new (NULL);
  GError *reason = NULL;
  UdpliteSocket *self = NULL;
  guint i;

  for (i = 0; !self && i < G_N_ELEMENTS (backends); i++) {
    self = create (backends[i], ipv6, &reason);
    if (!self)
      add_reason (reasons, backends[i], reason);
    g_clear_error (&reason);
  }
  if (!self)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
        "no UDP-Lite backend works on this system: %s", reasons->str);
  if (tried)
    *tried = g_strdup (reasons->str);
  g_string_free (reasons, TRUE);
  return self;
}

static const UdpliteSocketBackend *
find_backend (UdpliteBackend backend)
{
  guint i;

  for (i = 0; i < G_N_ELEMENTS (backends); i++) {
    if (backends[i]->backend == backend)
      return backends[i];
  }
  return NULL;
}

UdpliteSocket *
udplite_socket_new (UdpliteBackend backend, GInetSocketAddress * address,
    gboolean reuse, gchar ** tried, GError ** error)
{
  gboolean ipv6 = g_socket_address_get_family (G_SOCKET_ADDRESS (address))
      == G_SOCKET_FAMILY_IPV6;
  UdpliteSocket *self;

  if (tried)
    *tried = NULL;
  if (backend == UDPLITE_BACKEND_AUTO)
    self = create_any (ipv6, tried, error);
  else
    self = create (find_backend (backend), ipv6, error);
  if (!self)
    return NULL;
  if (!self->backend->bind (self, address, reuse, error)) {
    udplite_socket_free (self);
    return NULL;
  }
  return self;
}

static guint16
read_port (GSocket * socket)
{
  GSocketAddress *address = g_socket_get_local_address (socket, NULL);
  guint16 port = 0;

  if (!address)
    return 0;
  if (G_IS_INET_SOCKET_ADDRESS (address))
    port = g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (address));
  g_object_unref (address);
  return port;
}

static gboolean
check_protocol (gint fd, GError ** error)
{
#ifdef SO_PROTOCOL
  gint protocol = 0, type = 0;
  socklen_t size = sizeof (gint);

  if (getsockopt (fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) < 0
      || getsockopt (fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0)
    return socket_set_error (error, errno, "this is not a socket");
  if (protocol == UDPLITE_PROTOCOL && type == SOCK_DGRAM)
    return TRUE;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
      "a UDP-Lite socket has the type %d and the protocol %d, and this one has "
      "the type %d and the protocol %d. Set a socket made with "
      "IPPROTO_UDPLITE, or NULL", SOCK_DGRAM, UDPLITE_PROTOCOL, type, protocol);
  return FALSE;
#else
  gint coverage;
  socklen_t size = sizeof (coverage);

  if (getsockopt (fd, UDPLITE_SOCKET_LEVEL, UDPLITE_SOCKET_SEND_COVERAGE,
          &coverage, &size) == 0)
    return TRUE;
  return socket_set_error (error, errno, "this is not a UDP-Lite socket");
#endif
}

UdpliteSocket *
udplite_socket_new_from_socket (GSocket * socket, gboolean close_it,
    GError ** error)
{
  UdpliteSocket *self;
  gint fd = g_socket_get_fd (socket);

  if (g_socket_is_closed (socket)) {
    /* The error code G_IO_ERROR_CLOSED would suggest that a later attempt may
     * succeed. However, the socket that the application gave stays closed.
     * Therefore another error code is used. */
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        "the socket that was given is closed: give an open one");
    return NULL;
  }
  if (!check_protocol (fd, error))
    return NULL;
  self = socket_new (&udplite_socket_backend_kernel,
      g_socket_get_family (socket) == G_SOCKET_FAMILY_IPV6);
  udplite_socket_take (self, datagram_socket_new_from_socket (socket,
          close_it));
  self->port = read_port (socket);
  self->backend->adopt (self);
  return self;
}

/* --- properties of the socket --------------------------------------------- */

UdpliteBackend
udplite_socket_get_backend (const UdpliteSocket * self)
{
  return self->backend->backend;
}

const gchar *
udplite_backend_get_name (UdpliteBackend backend)
{
  const UdpliteSocketBackend *found = find_backend (backend);

  return found ? found->name : "auto";
}

GSocket *
udplite_socket_get_socket (UdpliteSocket * self)
{
  return datagram_socket_get_socket (self->socket);
}

DatagramSocket *
udplite_socket_get_datagram_socket (UdpliteSocket * self)
{
  return self->socket;
}

guint16
udplite_socket_get_port (const UdpliteSocket * self)
{
  return self->port ? self->port :
      read_port (datagram_socket_get_socket (self->socket));
}

/* Checks that the socket is still open. An application may close its socket
 * while we use it, and the number of the file descriptor may then belong to
 * another file. */
static gboolean
check_open (UdpliteSocket * self, GError ** error)
{
  if (!g_socket_is_closed (datagram_socket_get_socket (self->socket)))
    return TRUE;
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CLOSED,
      "the socket is already closed");
  return FALSE;
}

/* --- settings ------------------------------------------------------------- */

gboolean
udplite_socket_set_min_coverage (UdpliteSocket * self, gint min_coverage,
    GError ** error)
{
  if (min_coverage < 0)
    min_coverage = -1;
  if (min_coverage == g_atomic_int_get (&self->min_coverage))
    return TRUE;
  if (self->backend->set_min_coverage
      && !self->backend->set_min_coverage (self, min_coverage, error))
    return FALSE;
  g_atomic_int_set (&self->min_coverage, min_coverage);
  return TRUE;
}

gboolean
udplite_socket_set_multicast_interface (UdpliteSocket * self, guint index,
    GError ** error)
{
  return check_open (self, error)
      && datagram_socket_set_multicast_interface (self->socket, index, error);
}

void
udplite_socket_stop_receiving (UdpliteSocket * self)
{
  if (self->backend->stop_receiving)
    self->backend->stop_receiving (self);
}

void
udplite_socket_options_changed (UdpliteSocket * self)
{
  if (self->backend->options_changed)
    self->backend->options_changed (self);
}

void
udplite_socket_set_gso (UdpliteSocket * self, gboolean uses_gso)
{
  self->uses_gso = uses_gso && self->backend->backend == UDPLITE_BACKEND_UDP;
}

gboolean
udplite_socket_check_gso (UdpliteSocket * self, GError ** error)
{
  return datagram_socket_check_gso (self->socket, error);
}

gboolean
udplite_socket_enable_gro (UdpliteSocket * self)
{
  return self->backend->backend == UDPLITE_BACKEND_UDP
      && datagram_socket_enable_gro (self->socket);
}

static void
native_address (struct sockaddr_storage *native, GInetAddress * address)
{
  GSocketAddress *wrapped = g_inet_socket_address_new (address, 0);

  g_socket_address_to_native (wrapped, native, sizeof (*native), NULL);
  g_object_unref (wrapped);
}

/* Joins or leaves a multicast group with the protocol-independent call of RFC
 * 3678 section 5, which serves both address families. GSocket's own function is
 * not used, because it refuses raw sockets. */
static gint
request_membership (UdpliteSocket * self, gboolean join, GInetAddress * group,
    GInetAddress * source, guint index)
{
  gint level = self->ipv6 ? IPPROTO_IPV6 : IPPROTO_IP;
  struct group_req any = {.gr_interface = index };
  struct group_source_req one = {.gsr_interface = index };

  if (!source) {
    native_address (&any.gr_group, group);
    return setsockopt (self->fd, level,
        join ? MCAST_JOIN_GROUP : MCAST_LEAVE_GROUP, &any, sizeof (any));
  }
  native_address (&one.gsr_group, group);
  native_address (&one.gsr_source, source);
  return setsockopt (self->fd, level,
      join ? MCAST_JOIN_SOURCE_GROUP : MCAST_LEAVE_SOURCE_GROUP, &one,
      sizeof (one));
}

gboolean
udplite_socket_set_membership (UdpliteSocket * self, gboolean join,
    GInetAddress * group, GInetAddress * source, guint index, GError ** error)
{
  gchar *text;

  if (!check_open (self, error))
    return FALSE;
  if (request_membership (self, join, group, source, index) == 0)
    return TRUE;
  text = g_inet_address_to_string (group);
  socket_set_error (error, errno,
      "could not %s the group %s on the interface %u",
      join ? "join" : "leave", text, index);
  g_free (text);
  return FALSE;
}

/* --- packets -------------------------------------------------------------- */

guint
udplite_socket_send (UdpliteSocket * self, const UdpliteOutput * outputs,
    guint n, GError ** error)
{
  GError *failure = NULL;
  guint size, went, sent = 0;

  if (!check_open (self, error))
    return 0;

  while (sent < n) {
    size = MIN (n - sent, DATAGRAM_BATCH);
    went = self->backend->send (self, outputs + sent, size, &failure);
    sent += went;
    if (failure)
      g_propagate_error (error, failure);
    if (failure || went < size)
      break;
  }
  return sent;
}

/* Checks the packets of a received datagram, and appends the valid ones to
 * `self->packets`. A datagram contains several packets if the kernel has merged
 * them (GRO). Returns whether all packets were valid. */
static gboolean
accept_datagram (UdpliteSocket * self, const Datagram * datagram,
    UdpliteSocketStats * stats)
{
  const guint n = datagram_count_segments (datagram);
  const guint before = self->packets->len;
  UdplitePacket *packet;
  Datagram segment;
  guint i;

  if (datagram->is_truncated) {
    stats->truncated++;
    return FALSE;
  }
  g_array_set_size (self->packets, before + n);
  packet = &g_array_index (self->packets, UdplitePacket, before);
  for (i = 0; i < n; i++) {
    datagram_get_segment (datagram, i, &segment);
    packet->path = datagram->path;
    if (self->backend->accept (self, &segment, packet, stats))
      packet++;
  }
  g_array_set_size (self->packets,
      packet - (UdplitePacket *) self->packets->data);
  return self->packets->len == before + n;
}

static void
add_stats (UdpliteSocket * self, const UdpliteSocketStats * stats)
{
  guint i;

  g_mutex_lock (&self->lock);
  for (i = 0; i < UDPLITE_LAST; i++)
    self->stats.refused[i] += stats->refused[i];
  self->stats.truncated += stats->truncated;
  self->stats.foreign += stats->foreign;
  g_mutex_unlock (&self->lock);
}

static gint
receive_datagrams (UdpliteSocket * self, Datagram * datagrams,
    const UdpliteMemory * memories, guint n, GError ** error)
{
  guint i;

  for (i = 0; i < n; i++)
    datagram_init (&datagrams[i], memories[i].data, memories[i].capacity);
  return datagram_socket_receive (self->socket, datagrams, n, error);
}

const UdplitePacket *
udplite_socket_receive (UdpliteSocket * self, const UdpliteMemory * memories,
    guint n, guint * n_packets, GError ** error)
{
  Datagram datagrams[DATAGRAM_BATCH];
  UdpliteSocketStats stats;
  gboolean all_valid;
  guint batch, i;
  gint came = 0;

  *n_packets = 0;
  if (!check_open (self, error))
    return NULL;
  n = MIN (n, self->merges ? MERGED_BATCH : DATAGRAM_BATCH);
  g_array_set_size (self->packets, 0);
  for (batch = 0; self->packets->len == 0 && batch < MAX_REFUSED_BATCHES;
      batch++) {
    came = receive_datagrams (self, datagrams, memories, n, error);
    if (came <= 0)
      return NULL;
    memset (&stats, 0, sizeof (stats));
    all_valid = TRUE;
    for (i = 0; i < came; i++)
      all_valid &= accept_datagram (self, &datagrams[i], &stats);
    if (!all_valid)
      add_stats (self, &stats);
  }
  self->merges = self->packets->len > came;
  *n_packets = self->packets->len;
  return (const UdplitePacket *) self->packets->data;
}

void
udplite_socket_get_stats (UdpliteSocket * self, UdpliteSocketStats * stats)
{
  g_mutex_lock (&self->lock);
  *stats = self->stats;
  g_mutex_unlock (&self->lock);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the backend that works here, and does what is the same for all of them.
 */

#define _GNU_SOURCE             /* SOCK_CLOEXEC, sendmmsg */

#include "udplitesocketprivate.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* So often a receiver looks again after nothing but refused packets, before it
 * lets its caller look after other things. */
#define MAX_REFUSED_BATCHES 16

static const UdpliteSocketBackend *const backends[] = {
  &udplite_socket_backend_kernel,
  &udplite_socket_backend_raw,
  &udplite_socket_backend_udp,
};

/* --- for the backends ----------------------------------------------------- */

static gint
open_socket (gint family, gint type, gint protocol)
{
#if defined (SOCK_CLOEXEC) && defined (SOCK_NONBLOCK)
  return socket (family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
#else
  gint fd = socket (family, type, protocol);

  if (fd >= 0) {
    fcntl (fd, F_SETFD, FD_CLOEXEC);
    fcntl (fd, F_SETFL, O_NONBLOCK);
  }
  return fd;
#endif
}

/* A raw socket never gets packets of the other family, and no other shall. */
static gboolean
refuse_ipv4 (gint fd)
{
  gint yes = TRUE;

  return setsockopt (fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof (yes)) == 0;
}

gint
udplite_socket_open (gint family, gint type, gint protocol, GError ** error)
{
  gint fd = open_socket (family, type, protocol);

  if (fd >= 0 && (family != AF_INET6 || type == SOCK_RAW || refuse_ipv4 (fd)))
    return fd;
  socket_set_error (error, errno, "No %ssocket of %s for protocol %d",
      type == SOCK_RAW ? "raw (CAP_NET_RAW) " : "",
      family == AF_INET6 ? "IPv6" : "IPv4", protocol);
  if (fd >= 0)
    close (fd);
  return -1;
}

gboolean
udplite_socket_wrap (UdpliteSocket * self, gint fd, GError ** error)
{
  /* Not g_socket_new(): it knows no protocol 136, and makes one of UDP. */
  self->socket = g_socket_new_from_fd (fd, error);
  if (!self->socket) {
    close (fd);
    return FALSE;
  }
  self->fd = fd;
  g_socket_set_blocking (self->socket, FALSE);
  return TRUE;
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

gboolean
udplite_socket_bind (UdpliteSocket * self, GInetSocketAddress * address,
    gboolean reuse, GError ** error)
{
  if (!g_socket_bind (self->socket, G_SOCKET_ADDRESS (address), reuse, error))
    return FALSE;
  self->port = read_port (self->socket);
  return TRUE;
}

/* -1: any; 0: all of the packet. Of udplite_parse(): bytes */
static guint
get_min_covered_bytes (UdpliteSocket * self)
{
  gint min_coverage = g_atomic_int_get (&self->min_coverage);

  if (min_coverage < 0)
    return 0;
  return min_coverage == 0 ? G_MAXUINT : min_coverage;
}

gboolean
udplite_socket_check (UdpliteSocket * self, UdpliteInput * input,
    gsize offset, gsize size, const UdpliteAddresses * addresses,
    UdpliteSocketStats * stats)
{
  UdpliteHeader header;
  UdpliteVerdict verdict = udplite_parse (input->data + offset, size,
      addresses, get_min_covered_bytes (self), &header);

  if (verdict != UDPLITE_VALID) {
    stats->refused[verdict]++;
    return FALSE;
  }
  input->offset = offset + UDPLITE_HEADER_SIZE;
  input->size = size - UDPLITE_HEADER_SIZE;
  input->covered = header.coverage - UDPLITE_HEADER_SIZE;
  return TRUE;
}

/* --- life cycle ----------------------------------------------------------- */

static UdpliteSocket *
socket_new (const UdpliteSocketBackend * backend, gboolean ipv6)
{
  UdpliteSocket *self = g_new0 (UdpliteSocket, 1);

  self->backend = backend;
  self->ipv6 = ipv6;
  self->fd = -1;
  self->close_it = TRUE;
  self->min_coverage = -1;
  g_mutex_init (&self->lock);
  return self;
}

void
udplite_socket_free (UdpliteSocket * self)
{
  if (self->backend->free)
    self->backend->free (self);
  if (self->socket && self->close_it)
    g_socket_close (self->socket, NULL);
  g_clear_object (&self->socket);
  g_mutex_clear (&self->lock);
  g_free (self);
}

/* NULL: this system has no such socket, or keeps it from us. */
static UdpliteSocket *
create (const UdpliteSocketBackend * backend, gboolean ipv6, GError ** error)
{
  UdpliteSocket *self = socket_new (backend, ipv6);

  if (backend->create (self, ipv6 ? AF_INET6 : AF_INET, error))
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

/* Only what the system doesn't have, or doesn't give, makes it try the next: a
 * port in use is in use, and no reason to talk something else on it. */
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
        "No backend of UDP-Lite works here: %s", reasons->str);
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

static gboolean
check_protocol (gint fd, GError ** error)
{
#ifdef SO_PROTOCOL
  gint protocol = 0, type = 0;
  socklen_t size = sizeof (gint);

  if (getsockopt (fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) < 0
      || getsockopt (fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0)
    return socket_set_error (error, errno, "No socket");
  if (protocol == UDPLITE_PROTOCOL && type == SOCK_DGRAM)
    return TRUE;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
      "This is no UDP-Lite socket, which is of type %d and protocol %d, but one"
      " of type %d and protocol %d", SOCK_DGRAM, UDPLITE_PROTOCOL, type,
      protocol);
  return FALSE;
#else
  gint coverage;
  socklen_t size = sizeof (coverage);

  if (getsockopt (fd, UDPLITE_SOCKET_LEVEL, UDPLITE_SOCKET_SEND_COVERAGE,
          &coverage, &size) == 0)
    return TRUE;
  return socket_set_error (error, errno, "This is no UDP-Lite socket");
#endif
}

UdpliteSocket *
udplite_socket_new_from_socket (GSocket * socket, gboolean close_it,
    GError ** error)
{
  UdpliteSocket *self;
  gint fd = g_socket_get_fd (socket);

  if (g_socket_is_closed (socket)) {
    /* no matter for a second attempt, as G_IO_ERROR_CLOSED might be */
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        "The socket that was given is closed");
    return NULL;
  }
  if (!check_protocol (fd, error))
    return NULL;
  self = socket_new (&udplite_socket_backend_kernel,
      g_socket_get_family (socket) == G_SOCKET_FAMILY_IPV6);
  self->socket = g_object_ref (socket);
  self->fd = fd;
  self->close_it = close_it;
  self->port = read_port (socket);
  udplite_socket_become_kernel (self);
  return self;
}

/* --- what it is ----------------------------------------------------------- */

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
  return self->socket;
}

guint16
udplite_socket_get_port (const UdpliteSocket * self)
{
  return self->port ? self->port : read_port (self->socket);
}

gsize
udplite_socket_get_overhead (const UdpliteSocket * self)
{
  return self->backend->get_overhead (self);
}

/* An application may close the socket that it gave: then its number is that of
 * another file. */
static gboolean
check_open (UdpliteSocket * self, GError ** error)
{
  if (!g_socket_is_closed (self->socket))
    return TRUE;
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CLOSED,
      "Socket is already closed");
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

gint
udplite_set_multicast_interface (gint fd, gboolean ipv6, guint index)
{
  struct ip_mreqn of_ipv4 = {.imr_ifindex = index };
  gint of_ipv6 = index;

  if (ipv6)
    return setsockopt (fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, &of_ipv6,
        sizeof (of_ipv6));
  return setsockopt (fd, IPPROTO_IP, IP_MULTICAST_IF, &of_ipv4,
      sizeof (of_ipv4));
}

gboolean
udplite_socket_set_multicast_interface (UdpliteSocket * self, guint index,
    GError ** error)
{
  if (!check_open (self, error))
    return FALSE;
  if (udplite_set_multicast_interface (self->fd, self->ipv6, index) < 0)
    return socket_set_error (error, errno,
        "Could not send multicast by interface %u", index);
  self->multicast_interface = index;
  return TRUE;
}

static void
native_address (struct sockaddr_storage *native, GInetAddress * address)
{
  GSocketAddress *wrapped = g_inet_socket_address_new (address, 0);

  g_socket_address_to_native (wrapped, native, sizeof (*native), NULL);
  g_object_unref (wrapped);
}

/* RFC 3678 section 5: the same call for both families. Not GSocket's own, which
 * refuses raw sockets. */
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
  socket_set_error (error, errno, "Could not %s group %s on interface %u",
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
    size = MIN (n - sent, UDPLITE_MAX_BATCH);
    went = self->backend->send (self, outputs + sent, size, &failure);
    sent += went;
    if (failure)
      g_propagate_error (error, failure);
    if (failure || went < size)
      break;
  }
  return sent;
}

/* Those that are accepted come first. */
static guint
sort_out (UdpliteInput * inputs, const gboolean * accepted, guint n)
{
  UdpliteInput refused;
  guint i, count = 0;

  for (i = 0; i < n; i++) {
    if (!accepted[i])
      continue;
    if (i != count) {
      refused = inputs[count];
      inputs[count] = inputs[i];
      inputs[i] = refused;
    }
    count++;
  }
  return count;
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

guint
udplite_socket_receive (UdpliteSocket * self, UdpliteInput * inputs, guint n,
    GError ** error)
{
  gboolean accepted[UDPLITE_MAX_BATCH];
  guint batch, came, count = 0;

  if (!check_open (self, error))
    return 0;
  n = MIN (n, UDPLITE_MAX_BATCH);
  for (batch = 0; count == 0 && batch < MAX_REFUSED_BATCHES; batch++) {
    UdpliteSocketStats stats = { {0}, 0, 0 };

    came = self->backend->receive (self, inputs, accepted, n, &stats, error);
    if (came == 0)
      return 0;
    count = sort_out (inputs, accepted, came);
    if (count < came)
      add_stats (self, &stats);
  }
  return count;
}

void
udplite_socket_get_stats (UdpliteSocket * self, UdpliteSocketStats * stats)
{
  g_mutex_lock (&self->lock);
  *stats = self->stats;
  g_mutex_unlock (&self->lock);
}

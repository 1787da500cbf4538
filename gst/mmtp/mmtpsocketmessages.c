/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Packets to and from the system: whereto they go and from where, what became
 * of them, and when they came, on which all of MMTP's measurements rest.
 */

#define _GNU_SOURCE             /* in6_pktinfo */

#include "mmtpsocketprivate.h"

#include <errno.h>
#include <string.h>

#include <arpa/inet.h>
#include <net/if.h>

#include "prefixlimiter.h"
#include "socketmessages.h"
#include "socketpktinfo.h"

G_STATIC_ASSERT (sizeof (MmtpEndpoints) <=
    sizeof (((MmtpAddress *) NULL)->bytes));

typedef union
{
  struct sockaddr any;
  struct sockaddr_in ipv4;
  struct sockaddr_in6 ipv6;
} NativeAddress;

/* Room for what the kernel says of a packet, and is told */
typedef union
{
  struct cmsghdr header;        /* for its alignment */
  guint8 bytes[CMSG_SPACE (sizeof (struct timespec))
      + CMSG_SPACE (sizeof (struct in6_pktinfo))];
} Control;

typedef struct
{
  SocketMessage messages[MMTP_SOCKET_BATCH];
  struct iovec vectors[MMTP_SOCKET_BATCH];
  NativeAddress addresses[MMTP_SOCKET_BATCH];
  Control controls[MMTP_SOCKET_BATCH];
} Batch;

/* --- addresses ------------------------------------------------------------ */

void
mmtp_address_set_endpoints (MmtpAddress * address,
    const MmtpEndpoints * endpoints)
{
  memset (address, 0, sizeof (*address));
  address->size = sizeof (*endpoints);
  address->host_size = G_STRUCT_OFFSET (MmtpEndpoints, port);
  address->prefix_size = prefix_limiter_get_prefix_size (endpoints->remote,
      endpoints->family == AF_INET ? 4 : 16);
  memcpy (address->bytes, endpoints, sizeof (*endpoints));
}

void
mmtp_address_get_endpoints (const MmtpAddress * address,
    MmtpEndpoints * endpoints)
{
  memcpy (endpoints, address->bytes, sizeof (*endpoints));
}

const guint8 *
mmtp_address_get_host (const MmtpAddress * address, gsize * size)
{
  MmtpEndpoints endpoints;

  mmtp_address_get_endpoints (address, &endpoints);
  *size = endpoints.family == AF_INET ? 4 : 16;
  return address->bytes + G_STRUCT_OFFSET (MmtpEndpoints, remote);
}

gchar *
mmtp_address_to_string (const MmtpAddress * address)
{
  MmtpEndpoints endpoints;
  gchar text[INET6_ADDRSTRLEN] = "?", interface[IF_NAMESIZE];
  guint port;

  mmtp_address_get_endpoints (address, &endpoints);
  port = g_ntohs (endpoints.port);
  if (endpoints.family == AF_INET6
      && IN6_IS_ADDR_V4MAPPED ((struct in6_addr *) endpoints.remote)) {
    inet_ntop (AF_INET, endpoints.remote + 12, text, sizeof (text));
    return g_strdup_printf ("%s:%u", text, port);
  }
  inet_ntop (endpoints.family, endpoints.remote, text, sizeof (text));
  if (endpoints.family != AF_INET6)
    return g_strdup_printf ("%s:%u", text, port);
  if (if_indextoname (endpoints.remote_scope, interface))
    return g_strdup_printf ("[%s%%%s]:%u", text, interface, port);
  return g_strdup_printf ("[%s]:%u", text, port);
}

static socklen_t
get_remote (NativeAddress * native, const MmtpEndpoints * endpoints)
{
  memset (native, 0, sizeof (*native));
  native->any.sa_family = endpoints->family;
  if (endpoints->family == AF_INET) {
    native->ipv4.sin_port = endpoints->port;
    memcpy (&native->ipv4.sin_addr, endpoints->remote, 4);
    return sizeof (native->ipv4);
  }
  native->ipv6.sin6_port = endpoints->port;
  native->ipv6.sin6_scope_id = endpoints->remote_scope;
  memcpy (&native->ipv6.sin6_addr, endpoints->remote, 16);
  return sizeof (native->ipv6);
}

static void
set_remote (MmtpEndpoints * endpoints, const NativeAddress * native)
{
  endpoints->family = native->any.sa_family;
  if (endpoints->family == AF_INET) {
    endpoints->port = native->ipv4.sin_port;
    memcpy (endpoints->remote, &native->ipv4.sin_addr, 4);
    return;
  }
  endpoints->port = native->ipv6.sin6_port;
  endpoints->remote_scope = native->ipv6.sin6_scope_id;
  memcpy (endpoints->remote, &native->ipv6.sin6_addr, 16);
}

/* --- what the kernel says ------------------------------------------------- */

/* `time`: CLOCK_REALTIME, ns; 0: not said */
static void
read_control (const struct cmsghdr *control, MmtpEndpoints * endpoints,
    guint64 * time)
{
  struct in6_addr ipv6;
  guint interface;

  if (socket_clock_read_stamp (control, time)
      || !socket_pktinfo_read (control, endpoints->family, endpoints->local,
          &interface) || endpoints->family != AF_INET6)
    return;
  memcpy (&ipv6, endpoints->local, sizeof (ipv6));
  if (IN6_IS_ADDR_LINKLOCAL (&ipv6))
    endpoints->local_scope = interface;
}

/* --- sending -------------------------------------------------------------- */

static void
prepare_output (MmtpSocket * self, Batch * batch, guint i,
    const MmtpDatagram * datagram)
{
  struct msghdr *message = &batch->messages[i].msg_hdr;
  MmtpEndpoints endpoints;

  memset (message, 0, sizeof (*message));
  batch->vectors[i].iov_base = datagram->bytes;
  batch->vectors[i].iov_len = datagram->size;
  message->msg_iov = &batch->vectors[i];
  message->msg_iovlen = 1;
  if (self->is_connected)
    return;
  mmtp_address_get_endpoints (&datagram->address, &endpoints);
  message->msg_name = &batch->addresses[i];
  message->msg_namelen = get_remote (&batch->addresses[i], &endpoints);
  socket_pktinfo_write (message, &batch->controls[i], endpoints.family,
      endpoints.local, endpoints.local_scope);
}

static void
note_refusal (MmtpSocket * self, const SocketErrors * errors)
{
  if (errors->earlier && self->is_connected && !self->refused_told)
    self->refused = errors->earlier;
}

static void
set_would_block (GError ** error)
{
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK,
      g_strerror (EAGAIN));
}

static void
set_send_error (MmtpSocket * self, const MmtpDatagram * datagram,
    gint error_number, GError ** error)
{
  gchar *to = self->is_connected ? g_strdup (self->description) :
      mmtp_address_to_string (&datagram->address);

  socket_set_error (error, error_number,
      "Could not send a packet of %" G_GSIZE_FORMAT " bytes to %s",
      datagram->size, to);
  g_free (to);
}

gint
mmtp_socket_send (MmtpSocket * self, MmtpDatagram * datagrams, guint n,
    GError ** error)
{
  SocketErrors errors;
  Batch batch;
  guint i, sent;

  n = MIN (n, MMTP_SOCKET_BATCH);
  for (i = 0; i < n; i++)
    prepare_output (self, &batch, i, &datagrams[i]);
  sent = socket_messages_send (self->fd, batch.messages, n, &errors);
  note_refusal (self, &errors);
  if (sent > 0 || n == 0)
    return sent;
  if (errors.own)
    set_send_error (self, &datagrams[0], errors.own, error);
  else
    set_would_block (error);
  return -1;
}

/* --- receiving ------------------------------------------------------------ */

static void
prepare_input (Batch * batch, guint i, const MmtpDatagram * datagram)
{
  struct msghdr *message = &batch->messages[i].msg_hdr;

  memset (message, 0, sizeof (*message));
  batch->vectors[i].iov_base = datagram->bytes;
  batch->vectors[i].iov_len = datagram->size;
  message->msg_iov = &batch->vectors[i];
  message->msg_iovlen = 1;
  message->msg_name = &batch->addresses[i];
  message->msg_namelen = sizeof (batch->addresses[i]);
  message->msg_control = &batch->controls[i];
  message->msg_controllen = sizeof (batch->controls[i]);
}

static void
read_input (MmtpSocket * self, Batch * batch, guint i,
    MmtpDatagram * datagram, gint64 now)
{
  struct msghdr *message = &batch->messages[i].msg_hdr;
  MmtpEndpoints endpoints = { 0 };
  struct cmsghdr *control;
  guint64 time = 0;

  set_remote (&endpoints, &batch->addresses[i]);
  for (control = CMSG_FIRSTHDR (message); control;
      control = CMSG_NXTHDR (message, control))
    read_control (control, &endpoints, &time);
  mmtp_address_set_endpoints (&datagram->address, &endpoints);
  datagram->size = batch->messages[i].msg_len;
  datagram->time = socket_clock_get_arrival (&self->clock, time, now);
}

static void
set_receive_error (MmtpSocket * self, gint error_number, GError ** error)
{
  if (error_number) {
    socket_set_error (error, error_number, "Could not receive");
  } else if (self->refused) {
    socket_set_error (error, self->refused, "What was sent to %s came back",
        self->description);
    self->refused = 0;
    self->refused_told = TRUE;
  } else {
    set_would_block (error);
  }
}

gint
mmtp_socket_receive (MmtpSocket * self, MmtpDatagram * datagrams, guint n,
    GError ** error)
{
  gint64 before = socket_clock_now (), now;
  SocketErrors errors;
  Batch batch;
  guint i, came;

  n = MIN (n, MMTP_SOCKET_BATCH);
  for (i = 0; i < n; i++)
    prepare_input (&batch, i, &datagrams[i]);
  came = socket_messages_receive (self->fd, batch.messages, n, &errors);
  note_refusal (self, &errors);
  if (came == 0) {
    socket_clock_set_empty (&self->clock, before);
    set_receive_error (self, errors.own, error);
    return -1;
  }
  self->refused_told = FALSE;
  now = socket_clock_compare (&self->clock);
  for (i = 0; i < came; i++)
    read_input (self, &batch, i, &datagrams[i], now);
  return came;
}

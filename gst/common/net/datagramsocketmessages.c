/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sends and receives batches of packets, with their addresses, arrival times
 * and errors.
 */

#define _GNU_SOURCE             /* struct in6_pktinfo */

#include "datagramsocketprivate.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "rawsocket.h"
#include "socketmessages.h"
#include "wire.h"

#define IPV4_WORD 4             /* unit of the header length field, in bytes */

/* --- batches -------------------------------------------------------------- */

/* Buffer for the control messages of one packet */
typedef union
{
  struct cmsghdr header;        /* ensures the alignment */
  guint8 bytes[CMSG_SPACE (sizeof (struct timespec))
      + CMSG_SPACE (sizeof (struct in6_pktinfo))];
} Control;

typedef struct
{
  SocketMessage messages[DATAGRAM_BATCH];
  struct iovec vectors[DATAGRAM_BATCH][DATAGRAM_MAX_PARTS + 1];
  DatagramNative addresses[DATAGRAM_BATCH];
  Control controls[DATAGRAM_BATCH];
  guint8 ip_headers[DATAGRAM_BATCH][IPV4_HEADER_SIZE];
} Batch;

static void
add_vector (struct msghdr *message, gconstpointer data, gsize size)
{
  message->msg_iov[message->msg_iovlen].iov_base = (gpointer) data;
  message->msg_iov[message->msg_iovlen].iov_len = size;
  message->msg_iovlen++;
}

static struct msghdr *
prepare_message (Batch * batch, guint i)
{
  struct msghdr *message = &batch->messages[i].msg_hdr;

  memset (message, 0, sizeof (*message));
  message->msg_iov = batch->vectors[i];
  return message;
}

/* An unconnected socket ignores ICMP errors, because the kernel does not tell
 * which destination caused them. */
static void
note_returned (DatagramSocket * self, gint error_number)
{
  if (error_number && self->is_connected
      && (error_number != self->reported || error_number == EMSGSIZE))
    self->returned = error_number;
}

/* --- sending -------------------------------------------------------------- */

static void
add_control (struct msghdr *message, Control * control, gint level, gint type,
    gconstpointer data, gsize size)
{
  message->msg_control = control;
  message->msg_controllen = CMSG_SPACE (size);
  memset (control, 0, CMSG_SPACE (size));
  control->header.cmsg_level = level;
  control->header.cmsg_type = type;
  control->header.cmsg_len = CMSG_LEN (size);
  memcpy (CMSG_DATA (&control->header), data, size);
}

/* Sets path->local as source address of the packet, if it is known. A
 * link-local address without its interface is skipped, because the kernel
 * refuses it. */
static void
write_local (struct msghdr *message, Control * control,
    const DatagramPath * path)
{
  static const guint8 any[16] = { 0 };

  if (memcmp (path->local, any, sizeof (any)) == 0 || (path->scope == 0
          && datagram_is_link_local (path->local, path->address_size)))
    return;
#ifdef IP_PKTINFO
  if (datagram_path_get_family (path) == AF_INET) {
    struct in_pktinfo ipv4 = { 0 };

    memcpy (&ipv4.ipi_spec_dst, path->local, 4);
    add_control (message, control, IPPROTO_IP, IP_PKTINFO, &ipv4,
        sizeof (ipv4));
  }
#endif
#ifdef IPV6_PKTINFO
  if (datagram_path_get_family (path) == AF_INET6) {
    struct in6_pktinfo ipv6 = {.ipi6_ifindex = path->scope };

    memcpy (&ipv6.ipi6_addr, path->local, 16);
    add_control (message, control, IPPROTO_IPV6, IPV6_PKTINFO, &ipv6,
        sizeof (ipv6));
  }
#endif
}

static void
prepare_output (DatagramSocket * self, Batch * batch, guint i,
    const Datagram * datagram)
{
  struct msghdr *message = prepare_message (batch, i);
  guint part;

  if (datagram->size > 0)
    add_vector (message, datagram->bytes, datagram->size);
  for (part = 0; part < datagram->n_parts; part++)
    add_vector (message, datagram->parts[part].data,
        datagram->parts[part].size);
  if (self->is_connected)
    return;
  message->msg_name = &batch->addresses[i];
  message->msg_namelen =
      datagram_native_from_path (&batch->addresses[i], &datagram->path);
  if (self->is_raw)
    batch->addresses[i].ipv4.sin_port = 0;
  write_local (message, &batch->controls[i], &datagram->path);
}

static void
set_send_error (DatagramSocket * self, const Datagram * datagram,
    gint error_number, GError ** error)
{
  gchar *to = self->is_connected ? g_strdup (self->description) :
      datagram_path_to_string (&datagram->path);

  socket_set_error (error, error_number,
      "could not send a packet of %" G_GSIZE_FORMAT " bytes to %s",
      datagram_get_size (datagram), to);
  g_free (to);
}

gint
datagram_socket_send (DatagramSocket * self, const Datagram * datagrams,
    guint n, GError ** error)
{
  SocketErrors errors;
  Batch batch;
  guint i, sent;

  n = MIN (n, DATAGRAM_BATCH);
  for (i = 0; i < n; i++)
    prepare_output (self, &batch, i, &datagrams[i]);
  sent = socket_messages_send (self->fd, batch.messages, n, &errors);
  note_returned (self, errors.earlier);
  if (sent > 0 || !errors.own)
    return sent;
  set_send_error (self, &datagrams[0], errors.own, error);
  return -1;
}

/* --- receiving ------------------------------------------------------------ */

static gboolean
has_ip_header (DatagramSocket * self)
{
  return self->is_raw && !self->keeps_header && self->family == AF_INET;
}

static void
prepare_input (DatagramSocket * self, Batch * batch, guint i,
    const Datagram * datagram)
{
  struct msghdr *message = prepare_message (batch, i);

  if (has_ip_header (self))
    add_vector (message, batch->ip_headers[i], IPV4_HEADER_SIZE);
  add_vector (message, datagram->bytes, datagram->size);
  message->msg_name = &batch->addresses[i];
  message->msg_namelen = sizeof (batch->addresses[i]);
  message->msg_control = &batch->controls[i];
  message->msg_controllen = sizeof (batch->controls[i]);
}

/* Removes the options of an IPv4 header from the start of `bytes`; the first 20
 * bytes of the header are in `header`. The kernel has validated the header.
 * `size` includes those 20 bytes. Returns the size of the payload. */
static gsize
remove_ip_header (const guint8 * header, guint8 * bytes, gsize size)
{
  gsize options = (header[0] & 0xf) * IPV4_WORD;

  if (size < IPV4_HEADER_SIZE)
    return 0;
  size -= IPV4_HEADER_SIZE;
  options -= MIN (options, IPV4_HEADER_SIZE);
  options = MIN (options, size);
  if (options > 0)
    memmove (bytes, bytes + options, size - options);
  return size - options;
}

/* Systems without socket filters also deliver packets for other ports, which
 * are recognized here. */
static gboolean
is_ours (DatagramSocket * self, const Datagram * datagram)
{
  const guint8 *port = datagram->bytes + RAW_SOCKET_DESTINATION_OFFSET;

  return self->raw_port == 0 || self->keeps_header
      || (datagram->size >= RAW_SOCKET_DESTINATION_OFFSET + 2
      && wire_read (port, 2) == self->raw_port);
}

/* Stores the destination address of a received packet in `path`. A multicast
 * group is not stored, because an answer cannot be sent from it. A peer with a
 * global address may send to a link-local address of this host, so the
 * interface of the destination address becomes part of the path. */
static void
read_local (DatagramSocket * self, const struct cmsghdr *control,
    DatagramPath * path)
{
#ifdef IP_PKTINFO
  if (control->cmsg_level == IPPROTO_IP && control->cmsg_type == IP_PKTINFO
      && self->family == AF_INET) {
    struct in_pktinfo ipv4;

    memcpy (&ipv4, CMSG_DATA (control), sizeof (ipv4));
    memcpy (path->local, &ipv4.ipi_spec_dst, 4);
  }
#endif
#ifdef IPV6_PKTINFO
  if (control->cmsg_level == IPPROTO_IPV6 && control->cmsg_type == IPV6_PKTINFO
      && self->family == AF_INET6) {
    struct in6_pktinfo ipv6;

    memcpy (&ipv6, CMSG_DATA (control), sizeof (ipv6));
    if (self->keeps_header || !IN6_IS_ADDR_MULTICAST (&ipv6.ipi6_addr))
      memcpy (path->local, &ipv6.ipi6_addr, 16);
    if (path->scope == 0 && datagram_is_link_local (path->local, 16))
      path->scope = ipv6.ipi6_ifindex;
  }
#endif
}

static void
read_path (DatagramSocket * self, const DatagramNative * address,
    struct msghdr *message, DatagramPath * path, guint64 * stamp)
{
  struct cmsghdr *control;

  *path = self->path;
  if (!self->is_connected) {
    memset (path, 0, sizeof (*path));
    datagram_path_set_native (path, address);
    path->local_port = self->path.local_port;
  }
  if (self->is_raw)
    path->remote_port = 0;
  for (control = CMSG_FIRSTHDR (message); control;
      control = CMSG_NXTHDR (message, control)) {
    if (!socket_clock_read_stamp (control, stamp))
      read_local (self, control, path);
  }
}

static void
read_input (DatagramSocket * self, Batch * batch, guint i,
    Datagram * datagram, gint64 now)
{
  struct msghdr *message = &batch->messages[i].msg_hdr;
  guint64 stamp = 0;

  read_path (self, &batch->addresses[i], message, &datagram->path, &stamp);
  datagram->size = batch->messages[i].msg_len;
  datagram->is_truncated = (message->msg_flags & MSG_TRUNC) != 0;
  if (self->has_details)
    datagram->time = socket_clock_get_arrival (&self->clock, stamp, now);
  if (has_ip_header (self))
    datagram->size = remove_ip_header (batch->ip_headers[i], datagram->bytes,
        datagram->size);
  /* The packet becomes empty. Every protocol core ignores empty packets. */
  if (!is_ours (self, datagram))
    datagram->size = 0;
}

static gboolean
set_receive_error (DatagramSocket * self, gint error_number, GError ** error)
{
  if (error_number)
    return socket_set_error (error, error_number, "could not receive");
  if (!self->returned)
    return TRUE;
  self->reported = self->returned;
  self->returned = 0;
  return socket_set_error (error, self->reported,
      "%s returned a packet by ICMP", self->description);
}

gint
datagram_socket_receive (DatagramSocket * self, Datagram * datagrams,
    guint n, GError ** error)
{
  gint64 before = self->has_details ? socket_clock_now () : 0, now = 0;
  SocketErrors errors;
  Batch batch;
  guint i, came;

  n = MIN (n, DATAGRAM_BATCH);
  for (i = 0; i < n; i++)
    prepare_input (self, &batch, i, &datagrams[i]);
  came = socket_messages_receive (self->fd, batch.messages, n, &errors);
  note_returned (self, errors.earlier);
  if (came == 0) {
    socket_clock_set_empty (&self->clock, before);
    return set_receive_error (self, errors.own, error) ? 0 : -1;
  }
  self->reported = 0;
  if (self->has_details)
    now = socket_clock_compare (&self->clock);
  for (i = 0; i < came; i++)
    read_input (self, &batch, i, &datagrams[i], now);
  return came;
}

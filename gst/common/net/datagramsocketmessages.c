/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sends and receives batches of packets, with their addresses, arrival times
 * and errors.
 */

#define _GNU_SOURCE             /* struct in6_pktinfo */

#include "datagramsocketprivate.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "gso.h"
#include "rawsocket.h"
#include "socketmessages.h"
#include "wire.h"

/* The header length field of an IPv4 header counts units of this number of
 * bytes. */
#define IPV4_WORD 4

/* --- batches -------------------------------------------------------------- */

/* Memory for the control messages (cmsghdr) of one message. They contain the
 * arrival time and the local address. If the message consists of several
 * packets (GSO, GRO), they also contain the size of these packets. */
typedef union
{
  struct cmsghdr header;        /* ensures the alignment */
  guint8 bytes[CMSG_SPACE (sizeof (struct timespec))
      + CMSG_SPACE (sizeof (struct in6_pktinfo)) + CMSG_SPACE (sizeof (gint))];
}
Control;

/* A batch of messages. Without GSO and GRO, each message is one packet. With
 * GSO or GRO, a message consists of one or more packets. */
typedef struct
{
  SocketMessage messages[DATAGRAM_BATCH];
  /* For sending: n_packets[i] is the number of packets in messages[i]. Not used
   * for receiving. */
  guint n_packets[DATAGRAM_BATCH];
  /* shared by all messages */
  struct iovec vectors[DATAGRAM_BATCH * (DATAGRAM_MAX_PARTS + 1)];
  guint n_vectors;
  DatagramNative addresses[DATAGRAM_BATCH];
  Control controls[DATAGRAM_BATCH];
  guint8 ip_headers[DATAGRAM_BATCH][IPV4_HEADER_SIZE];
} Batch;

/* Appends a part of a packet to `message`, as an iovec. All messages of a batch
 * share one array of iovecs, and the iovecs of a message must be consecutive in
 * this array. Each message therefore has to be completed before the next one is
 * prepared. */
static void
add_vector (Batch * batch, struct msghdr *message, gconstpointer data,
    gsize size)
{
  struct iovec *vector = &batch->vectors[batch->n_vectors++];

  vector->iov_base = (gpointer) data;
  vector->iov_len = size;
  message->msg_iovlen++;
}

static struct msghdr *
prepare_message (Batch * batch, guint i)
{
  struct msghdr *message = &batch->messages[i].msg_hdr;

  memset (message, 0, sizeof (*message));
  message->msg_iov = batch->vectors + batch->n_vectors;
  return message;
}

/* Stores an ICMP error, which datagram_socket_receive reports later. ICMP
 * errors of an unconnected socket are ignored, because the kernel does not tell
 * which destination caused them. */
static void
note_returned (DatagramSocket * self, gint error_number)
{
  if (error_number && self->is_connected
      && (error_number != self->reported || error_number == EMSGSIZE))
    self->returned = error_number;
}

/* --- sending -------------------------------------------------------------- */

/* Appends a control message to those that `control` already contains.
 * msg_controllen must not include the padding after the last control message.
 * The reason is that Linux allocates memory in each call if the control
 * messages exceed a certain size. With the padding, IPV6_PKTINFO would exceed
 * this size. */
static void
add_control (struct msghdr *message, Control * control, gint level, gint type,
    gconstpointer data, gsize size)
{
  gsize offset = message->msg_controllen == 0 ? 0 :
      CMSG_SPACE (message->msg_controllen - CMSG_LEN (0));
  struct cmsghdr *header = (struct cmsghdr *) (control->bytes + offset);

  message->msg_control = control;
  message->msg_controllen = offset + CMSG_LEN (size);
  memset (header, 0, CMSG_SPACE (size));
  header->cmsg_level = level;
  header->cmsg_type = type;
  header->cmsg_len = CMSG_LEN (size);
  memcpy (CMSG_DATA (header), data, size);
}

/* Makes path->local the source address of a packet. In two cases, the function
 * does nothing, so that the kernel selects the source address:
 *
 * - path->local is unknown.
 * - path->local is link-local, and its interface is unknown. The kernel would
 *   refuse such an address. */
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
add_packet (Batch * batch, struct msghdr *message, const Datagram * datagram)
{
  guint part;

  if (datagram->size > 0)
    add_vector (batch, message, datagram->bytes, datagram->size);
  for (part = 0; part < datagram->n_parts; part++)
    add_vector (batch, message, datagram->parts[part].data,
        datagram->parts[part].size);
}

static void
write_address (DatagramSocket * self, Batch * batch, guint i,
    const DatagramPath * path)
{
  struct msghdr *message = &batch->messages[i].msg_hdr;

  if (self->is_connected)
    return;
  message->msg_name = &batch->addresses[i];
  message->msg_namelen = datagram_native_from_path (&batch->addresses[i], path);
  if (self->is_raw)
    batch->addresses[i].ipv4.sin_port = 0;
  write_local (message, &batch->controls[i], path);
}

static void
write_segment_size (struct msghdr *message, Control * control, gsize size)
{
#ifdef UDP_SEGMENT
  const guint16 segment_size = size;

  add_control (message, control, IPPROTO_UDP, UDP_SEGMENT, &segment_size,
      sizeof (segment_size));
#endif
}

/* Prepares message number `i` of the batch for sending. The message consists of
 * the first `n` packets of `datagrams`. */
static void
prepare_output (DatagramSocket * self, Batch * batch, guint i,
    const Datagram * datagrams, guint n)
{
  struct msghdr *message = prepare_message (batch, i);
  guint packet;

  for (packet = 0; packet < n; packet++)
    add_packet (batch, message, &datagrams[packet]);
  write_address (self, batch, i, &datagrams[0].path);
  if (n > 1)
    write_segment_size (message, &batch->controls[i],
        datagram_get_size (&datagrams[0]));
  batch->n_packets[i] = n;
}

guint
datagram_socket_get_run (DatagramSocket * self, const Datagram * datagrams,
    guint n)
{
  return self->max_segment == 0 ? 1 : datagram_get_run (datagrams, n,
      self->max_segment, self->is_connected);
}

/* Returns the number of messages. */
static guint
prepare_outputs (DatagramSocket * self, Batch * batch,
    const Datagram * datagrams, guint n)
{
  guint done, run, n_messages = 0;

  batch->n_vectors = 0;
  for (done = 0; done < n; done += run) {
    run = self->no_checksum ? 1 : datagram_socket_get_run (self,
        datagrams + done, n - done);
    prepare_output (self, batch, n_messages++, datagrams + done, run);
  }
  return n_messages;
}

/* GSO means that several packets are passed to the kernel as one message. The
 * kernel or the network device may refuse such a message. Returns TRUE if
 * `error_number` is one of the errors by which they do this. The same errors
 * may also have other causes, so TRUE does not prove that GSO was the cause. If
 * GSO was the cause, the errors mean:
 *
 * - EINVAL: The socket sends no checksum (SO_NO_CHECK). In older kernels also:
 *   the packets exceed the MTU.
 * - EMSGSIZE: The packets exceed the MTU.
 * - EIO: The device has no checksum offload, or the packets use UDP-Lite or
 *   IPsec.
 * - EOPNOTSUPP, ENOPROTOOPT: The kernel does not know the control message. */
static gboolean
may_refuse_gso (gint error_number)
{
  return error_number == EINVAL || error_number == EIO
      || error_number == EOPNOTSUPP || error_number == ENOPROTOOPT
      || error_number == EMSGSIZE;
}

/* Records that the system or the network device has refused to send several
 * packets as one message (GSO).
 *
 * If the error is EMSGSIZE, the packets exceed the MTU. Each of them has to be
 * sent by itself, because it cannot be fragmented as a part of a GSO message.
 * GSO is used only for smaller packets from now on. Smaller packets can follow,
 * for example after the protocol has learned the path MTU.
 *
 * With any other error, GSO is no longer used. */
static void
note_gso_refused (DatagramSocket * self, gint error_number, gsize segment_size)
{
  self->max_segment = error_number == EMSGSIZE ? segment_size - 1 : 0;
  if (!self->has_told_gso_error)
    self->gso_error = error_number;
}

/* Sends packets and returns how many were sent. If the system has refused to
 * send several packets as one message (GSO), sets `again` to TRUE. The caller
 * then calls this function a second time for the remaining packets, and the
 * second call sends the refused packets one by one. */
static guint
send_messages (DatagramSocket * self, const Datagram * datagrams, guint n,
    SocketErrors * errors, gboolean * again)
{
  Batch batch;
  guint n_messages = prepare_outputs (self, &batch, datagrams, n);
  guint done = socket_messages_send (self->fd, batch.messages, n_messages,
      errors);
  guint i, sent = 0;

  for (i = 0; i < done; i++)
    sent += batch.n_packets[i];
  note_returned (self, errors->earlier);
  *again = done < n_messages && batch.n_packets[done] > 1
      && may_refuse_gso (errors->own);
  if (*again)
    note_gso_refused (self, errors->own, datagram_get_size (&datagrams[sent]));
  return sent;
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
  gboolean again;
  SocketErrors errors;
  guint sent = 0;

  n = MIN (n, DATAGRAM_BATCH);
  do
    sent += send_messages (self, datagrams + sent, n - sent, &errors, &again);
  while (again);
  if (sent > 0 || !errors.own)
    return sent;
  set_send_error (self, &datagrams[0], errors.own, error);
  return -1;
}

gboolean
datagram_socket_check_gso (DatagramSocket * self, GError ** error)
{
  const gint gso_error = self->gso_error;

  if (!gso_error)
    return TRUE;
  self->gso_error = 0;
  self->has_told_gso_error = TRUE;
  return socket_set_error (error, gso_error,
      "packets are sent without GSO, because the system refused it");
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
    add_vector (batch, message, batch->ip_headers[i], IPV4_HEADER_SIZE);
  add_vector (batch, message, datagram->bytes, datagram->size);
  message->msg_name = &batch->addresses[i];
  message->msg_namelen = sizeof (batch->addresses[i]);
  message->msg_control = &batch->controls[i];
  message->msg_controllen = sizeof (batch->controls[i]);
}

/* Removes the options of an IPv4 header. `header` contains the first 20 bytes
 * of the header. `bytes` contains the rest of the packet: first the options,
 * then the payload. `size` is the size of the whole packet, with those 20
 * bytes. The kernel has validated the header. Returns the size of the payload.
 */
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

/* Returns whether a received packet is for the port of this socket. Normally a
 * socket filter lets only such packets pass. On systems without socket filters,
 * a raw socket also receives packets for other ports, which this function
 * detects. */
static gboolean
is_ours (DatagramSocket * self, const Datagram * datagram)
{
  const guint8 *port = datagram->bytes + RAW_SOCKET_DESTINATION_OFFSET;

  return self->raw_port == 0 || self->keeps_header
      || (datagram->size >= RAW_SOCKET_DESTINATION_OFFSET + 2
      && wire_read (port, 2) == self->raw_port);
}

/* Stores in `path` the local address to which a received packet was sent, so
 * that an answer can be sent from the same address.
 *
 * If the packet was sent to a multicast group, the address of the group is
 * normally not stored, because it cannot be the source address of an answer.
 * There is an exception: with the option keep_header, the caller asks for the
 * destination address of each packet, so the address of an IPv6 group is
 * stored, too. (The address of an IPv4 group is in the IP header.)
 *
 * A peer with a global address may send to a link-local address of this host.
 * An answer can be sent from a link-local address only if the interface of this
 * address is known. The interface is therefore stored in `path` too. */
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

static gboolean
read_segment_size (const struct cmsghdr *control, gsize * segment_size)
{
#ifdef UDP_GRO
  gint size;

  if (control->cmsg_level == IPPROTO_UDP && control->cmsg_type == UDP_GRO) {
    memcpy (&size, CMSG_DATA (control), sizeof (size));
    if (size > 0)
      *segment_size = MIN (*segment_size, size);
    return TRUE;
  }
#endif
  return FALSE;
}

static void
read_path (DatagramSocket * self, const DatagramNative * address,
    struct msghdr *message, Datagram * datagram, guint64 * stamp)
{
  DatagramPath *path = &datagram->path;
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
    if (!socket_clock_read_stamp (control, stamp)
        && !read_segment_size (control, &datagram->segment_size))
      read_local (self, control, path);
  }
}

static void
read_input (DatagramSocket * self, Batch * batch, guint i,
    Datagram * datagram, gint64 now)
{
  struct msghdr *message = &batch->messages[i].msg_hdr;
  guint64 stamp = 0;

  datagram->size = datagram->segment_size = batch->messages[i].msg_len;
  read_path (self, &batch->addresses[i], message, datagram, &stamp);
  datagram->is_truncated = (message->msg_flags & MSG_TRUNC) != 0;
  if (self->has_details)
    datagram->time = socket_clock_get_arrival (&self->clock, stamp, now);
  if (has_ip_header (self))
    datagram->size = remove_ip_header (batch->ip_headers[i], datagram->bytes,
        datagram->size);
  /* On systems without socket filters, a raw socket also receives packets that
   * are for another socket. The size of such a packet is set to 0, because
   * every protocol core ignores empty packets. */
  if (!is_ours (self, datagram))
    datagram->size = 0;
  if (self->is_raw)
    datagram->segment_size = datagram->size;
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
      "%s returned an ICMP error", self->description);
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
  batch.n_vectors = 0;
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

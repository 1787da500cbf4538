/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Packets to and from the system: whereto they go and from where, what became of
 * them, and when they came, on which TFRC's measurements rest.
 */

#define _GNU_SOURCE             /* in6_pktinfo */

#include "dccpsocketprivate.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "rawsocket.h"
#include "socketmessages.h"
#include "socketpktinfo.h"

/* RFC 791: without options, and the unit of its length */
#define IPV4_HEADER_SIZE 20
#define IPV4_WORD 4

/* Room for what the kernel says of a packet, and is told */
typedef union
{
  struct cmsghdr header;        /* for its alignment */
  guint8 bytes[CMSG_SPACE (sizeof (struct timespec))
      + CMSG_SPACE (sizeof (struct in6_pktinfo))];
} Control;

typedef struct
{
  SocketMessage messages[DCCP_SOCKET_BATCH];
  struct iovec vectors[DCCP_SOCKET_BATCH][2];
  DccpNativeAddress addresses[DCCP_SOCKET_BATCH];
  Control controls[DCCP_SOCKET_BATCH];
  guint8 ip_headers[DCCP_SOCKET_BATCH][IPV4_HEADER_SIZE];
} Batch;

/* --- what the kernel says ------------------------------------------------- */

static void
read_control (const struct cmsghdr *control, DccpPath * path, guint64 * stamp)
{
  guint interface;

  if (!socket_clock_read_stamp (control, stamp))
    socket_pktinfo_read (control, path->address_size == 4 ? AF_INET : AF_INET6,
        path->local, &interface);
}

/* --- errors --------------------------------------------------------------- */

/* A server hears of nobody's that way. */
static void
note_returned (DccpSocket * self, const SocketErrors * errors)
{
  if (errors->earlier && self->is_client)
    self->returned = errors->earlier;
}

static void
set_would_block (GError ** error)
{
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK,
      g_strerror (EAGAIN));
}

static void
set_send_error (DccpSocket * self, const DccpDatagram * datagram,
    gint error_number, GError ** error)
{
  gchar *to = dccp_path_to_string (&datagram->path);

  socket_set_error (error, error_number,
      "Could not send a packet of %" G_GSIZE_FORMAT " bytes to %s",
      datagram->header_size + datagram->size, to);
  g_free (to);
}

static void
set_receive_error (DccpSocket * self, gint error_number, GError ** error)
{
  if (error_number) {
    socket_set_error (error, error_number, "Could not receive");
  } else if (self->returned) {
    socket_set_error (error, self->returned, "What was sent to %s came back",
        self->description);
    self->returned = 0;
  } else {
    set_would_block (error);
  }
}

/* --- sending -------------------------------------------------------------- */

static void
prepare_output (DccpSocket * self, Batch * batch, guint i,
    const DccpDatagram * datagram)
{
  struct msghdr *message = &batch->messages[i].msg_hdr;
  guint n = 0;

  memset (message, 0, sizeof (*message));
  if (datagram->header) {
    batch->vectors[i][n].iov_base = (gpointer) datagram->header;
    batch->vectors[i][n++].iov_len = datagram->header_size;
  }
  batch->vectors[i][n].iov_base = datagram->bytes;
  batch->vectors[i][n++].iov_len = datagram->size;
  message->msg_iov = batch->vectors[i];
  message->msg_iovlen = n;
  if (self->is_client)
    return;
  message->msg_name = &batch->addresses[i];
  message->msg_namelen = dccp_native_set_remote (&batch->addresses[i],
      &datagram->path, self->family);
  /* Answers leave from the address that was spoken to. */
  socket_pktinfo_write (message, &batch->controls[i], self->family,
      datagram->path.local, datagram->path.scope);
}

gint
dccp_socket_send (DccpSocket * self, DccpDatagram * datagrams, guint n,
    GError ** error)
{
  SocketErrors errors;
  Batch batch;
  guint i, sent;

  n = MIN (n, DCCP_SOCKET_BATCH);
  for (i = 0; i < n; i++)
    prepare_output (self, &batch, i, &datagrams[i]);
  sent = socket_messages_send (self->fd, batch.messages, n, &errors);
  note_returned (self, &errors);
  if (sent > 0 || n == 0)
    return sent;
  if (errors.own)
    set_send_error (self, &datagrams[0], errors.own, error);
  else
    set_would_block (error);
  return -1;
}

/* --- receiving ------------------------------------------------------------ */

static gboolean
has_ip_header (DccpSocket * self)
{
  return self->is_raw && self->family == AF_INET;
}

static void
prepare_input (DccpSocket * self, Batch * batch, guint i,
    const DccpDatagram * datagram)
{
  struct msghdr *message = &batch->messages[i].msg_hdr;
  guint n = 0;

  memset (message, 0, sizeof (*message));
  if (has_ip_header (self)) {
    batch->vectors[i][n].iov_base = batch->ip_headers[i];
    batch->vectors[i][n++].iov_len = IPV4_HEADER_SIZE;
  }
  batch->vectors[i][n].iov_base = datagram->bytes;
  batch->vectors[i][n++].iov_len = datagram->size;
  message->msg_iov = batch->vectors[i];
  message->msg_iovlen = n;
  message->msg_name = &batch->addresses[i];
  message->msg_namelen = sizeof (batch->addresses[i]);
  message->msg_control = &batch->controls[i];
  message->msg_controllen = sizeof (batch->controls[i]);
}

/* The kernel has looked at the header. What it has of options is away. */
static gsize
take_ip_header_off (const guint8 * header, guint8 * bytes, gsize size)
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

static void
read_input (DccpSocket * self, Batch * batch, guint i, DccpDatagram * datagram,
    gint64 now)
{
  struct msghdr *message = &batch->messages[i].msg_hdr;
  struct cmsghdr *control;
  guint64 stamp = 0;

  memset (&datagram->path, 0, sizeof (datagram->path));
  dccp_path_set_remote (&datagram->path, &batch->addresses[i], self->is_raw);
  datagram->path.local_udp = self->udp_port;
  for (control = CMSG_FIRSTHDR (message); control;
      control = CMSG_NXTHDR (message, control))
    read_control (control, &datagram->path, &stamp);
  if (self->is_client)
    datagram->path = self->path;
  datagram->size = batch->messages[i].msg_len;
  if (has_ip_header (self))
    datagram->size = take_ip_header_off (batch->ip_headers[i], datagram->bytes,
        datagram->size);
  datagram->time = socket_clock_get_arrival (&self->clock, stamp, now);
}

/* Where the system has filters, this was one. */
static gboolean
is_ours (DccpSocket * self, const DccpDatagram * datagram)
{
  const guint8 *port = datagram->bytes + RAW_SOCKET_DESTINATION_OFFSET;

  return self->dccp_port == 0
      || (datagram->size >= RAW_SOCKET_DESTINATION_OFFSET + 2
      && (port[0] << 8 | port[1]) == self->dccp_port);
}

gint
dccp_socket_receive (DccpSocket * self, DccpDatagram * datagrams, guint n,
    GError ** error)
{
  gint64 before = socket_clock_now (), now;
  SocketErrors errors;
  Batch batch;
  guint i, came;

  n = MIN (n, DCCP_SOCKET_BATCH);
  for (i = 0; i < n; i++)
    prepare_input (self, &batch, i, &datagrams[i]);
  came = socket_messages_receive (self->fd, batch.messages, n, &errors);
  note_returned (self, &errors);
  if (came == 0) {
    socket_clock_set_empty (&self->clock, before);
    set_receive_error (self, errors.own, error);
    return -1;
  }
  now = socket_clock_compare (&self->clock);
  for (i = 0; i < came; i++) {
    read_input (self, &batch, i, &datagrams[i], now);
    /* an empty packet is refused by everybody */
    if (!is_ours (self, &datagrams[i]))
      datagrams[i].size = 0;
  }
  return came;
}

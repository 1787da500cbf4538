/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inputs and outputs as the messages of the system's calls, and its errors as
 * those that a user reads.
 */

#include "udplitesocketprivate.h"

#include <string.h>

#include <arpa/inet.h>

static gsize
get_message_size (const SocketMessage * message)
{
  gsize size = 0;
  guint i;

  for (i = 0; i < message->msg_hdr.msg_iovlen; i++)
    size += message->msg_hdr.msg_iov[i].iov_len;
  return size;
}

gchar *
udplite_address_describe (const struct sockaddr *address)
{
  const struct sockaddr_in *ipv4 = (const struct sockaddr_in *) address;
  const struct sockaddr_in6 *ipv6 = (const struct sockaddr_in6 *) address;
  gchar text[INET6_ADDRSTRLEN] = "?";

  if (!address)
    return g_strdup ("the socket's peer");
  if (address->sa_family == AF_INET6)
    inet_ntop (AF_INET6, &ipv6->sin6_addr, text, sizeof (text));
  else
    inet_ntop (AF_INET, &ipv4->sin_addr, text, sizeof (text));
  return g_strdup (text);
}

static void
set_send_error (GError ** error, gint error_number,
    const SocketMessage * message)
{
  gchar *address = udplite_address_describe (message->msg_hdr.msg_name);

  socket_set_error (error, error_number,
      "Could not send a packet of %" G_GSIZE_FORMAT " bytes to %s",
      get_message_size (message), address);
  g_free (address);
}

guint
udplite_messages_send (gint fd, SocketMessage * messages, guint n,
    GError ** error)
{
  SocketErrors errors;
  guint sent = socket_messages_send (fd, messages, n, &errors);

  if (errors.own)
    set_send_error (error, errors.own, messages + sent);
  return sent;
}

guint
udplite_messages_receive (gint fd, SocketMessage * messages, guint n,
    GError ** error)
{
  SocketErrors errors;
  guint came = socket_messages_receive (fd, messages, n, &errors);

  if (errors.own)
    socket_set_error (error, errors.own, "Could not receive");
  return came;
}

void
udplite_message_from_output (SocketMessage * message, struct iovec *vectors,
    const UdpliteOutput * output, guint8 * header)
{
  guint i, n = 0;

  if (header) {
    vectors[n].iov_base = header;
    vectors[n++].iov_len = UDPLITE_HEADER_SIZE;
  }
  for (i = 0; i < output->n_vectors; i++) {
    vectors[n].iov_base = (gpointer) output->vectors[i].data;
    vectors[n++].iov_len = output->vectors[i].size;
  }
  memset (message, 0, sizeof (*message));
  message->msg_hdr.msg_name = (gpointer) output->address;
  message->msg_hdr.msg_namelen = output->address_size;
  message->msg_hdr.msg_iov = vectors;
  message->msg_hdr.msg_iovlen = n;
}

void
udplite_message_from_input (SocketMessage * message, struct iovec *vector,
    UdpliteInput * input)
{
  vector->iov_base = input->data;
  vector->iov_len = input->capacity;
  memset (message, 0, sizeof (*message));
  message->msg_hdr.msg_name = &input->address;
  message->msg_hdr.msg_namelen = sizeof (input->address);
  message->msg_hdr.msg_iov = vector;
  message->msg_hdr.msg_iovlen = 1;
}

gboolean
udplite_message_is_truncated (const SocketMessage * message)
{
  return (message->msg_hdr.msg_flags & MSG_TRUNC) != 0;
}

gsize
udplite_output_get_size (const UdpliteOutput * output)
{
  gsize size = UDPLITE_HEADER_SIZE;
  guint i;

  for (i = 0; i < output->n_vectors; i++)
    size += output->vectors[i].size;
  return size;
}

guint
udplite_output_get_coverage (const UdpliteOutput * output)
{
  if (output->coverage > G_MAXUINT16)
    return 0;
  return udplite_get_wire_coverage (UDPLITE_HEADER_SIZE + output->coverage,
      udplite_output_get_size (output));
}

guint16
udplite_address_get_port (const struct sockaddr *address)
{
  if (address->sa_family == AF_INET6)
    return g_ntohs (((const struct sockaddr_in6 *) address)->sin6_port);
  if (address->sa_family == AF_INET)
    return g_ntohs (((const struct sockaddr_in *) address)->sin_port);
  return 0;
}

void
udplite_address_set_port (struct sockaddr_storage *address, guint16 port)
{
  if (address->ss_family == AF_INET6)
    ((struct sockaddr_in6 *) address)->sin6_port = g_htons (port);
  else
    ((struct sockaddr_in *) address)->sin_port = g_htons (port);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of rawsocket.h with socket filters of Linux. */

#include "rawsocket.h"

#include <errno.h>

#include <sys/socket.h>

#ifdef __linux__
#include <linux/filter.h>
#endif

#include "socketmessages.h"

#ifdef SO_ATTACH_FILTER

static gboolean
attach_filter (gint fd, struct sock_filter *code, guint n, GError ** error)
{
  struct sock_fprog program = { n, code };

  if (setsockopt (fd, SOL_SOCKET, SO_ATTACH_FILTER, &program,
          sizeof (program)) == 0)
    return TRUE;
  return socket_set_error (error, errno, "could not attach a packet filter");
}

/* Installs a socket filter that accepts only packets for the destination port
 * `port`. On an IPv4 socket, the kernel passes packets with the IP header to
 * the filter. On an IPv6 socket, the packets begin with the transport header.
 * Each of the two cases therefore has a filter of its own. */
gboolean
raw_socket_filter_port (gint fd, gboolean ipv6, guint16 port, GError ** error)
{
  struct sock_filter with_header[] = {
    BPF_STMT (BPF_LDX | BPF_B | BPF_MSH, 0),
    BPF_STMT (BPF_LD | BPF_H | BPF_IND, RAW_SOCKET_DESTINATION_OFFSET),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, port, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, G_MAXUINT32),
    BPF_STMT (BPF_RET | BPF_K, 0),
  };
  struct sock_filter without_header[] = {
    BPF_STMT (BPF_LD | BPF_H | BPF_ABS, RAW_SOCKET_DESTINATION_OFFSET),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, port, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, G_MAXUINT32),
    BPF_STMT (BPF_RET | BPF_K, 0),
  };

  if (ipv6)
    return attach_filter (fd, without_header, G_N_ELEMENTS (without_header),
        error);
  return attach_filter (fd, with_header, G_N_ELEMENTS (with_header), error);
}

gboolean
raw_socket_filter_everything (gint fd, GError ** error)
{
  struct sock_filter nothing[] = { BPF_STMT (BPF_RET | BPF_K, 0) };

  return attach_filter (fd, nothing, G_N_ELEMENTS (nothing), error);
}

gboolean
raw_socket_discard_everything (gint fd, GError ** error)
{
  guint8 byte;

  if (!raw_socket_filter_everything (fd, error))
    return FALSE;
  while (recv (fd, &byte, sizeof (byte), MSG_DONTWAIT) >= 0);
  return TRUE;
}

gboolean
raw_socket_accept_everything (gint fd, GError ** error)
{
  gint ignored = 0;

  if (setsockopt (fd, SOL_SOCKET, SO_DETACH_FILTER, &ignored,
          sizeof (ignored)) == 0)
    return TRUE;
  return socket_set_error (error, errno, "could not detach the packet filter");
}

#else

gboolean
raw_socket_accept_everything (gint fd, GError ** error)
{
  return TRUE;
}

gboolean
raw_socket_filter_port (gint fd, gboolean ipv6, guint16 port, GError ** error)
{
  return TRUE;
}

gboolean
raw_socket_filter_everything (gint fd, GError ** error)
{
  return TRUE;
}

gboolean
raw_socket_discard_everything (gint fd, GError ** error)
{
  return TRUE;
}

#endif

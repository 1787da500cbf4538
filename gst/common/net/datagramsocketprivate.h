/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declarations shared by datagramsocket.c, which opens sockets, and
 * datagramsocketmessages.c, which sends and receives packets. */

#pragma once

#include <netinet/in.h>

#include "datagramsocket.h"
#include "socketclock.h"

#pragma GCC visibility push(hidden)

#define IPV4_HEADER_SIZE 20     /* RFC 791, without options */

/* A socket address in the format of the socket system calls. The port of an
 * IPv4 address (sin_port) and the port of an IPv6 address (sin6_port) are at
 * the same offset. */
typedef union
{
  struct sockaddr any;
  struct sockaddr_in ipv4;
  struct sockaddr_in6 ipv6;
} DatagramNative;

struct _DatagramSocket
{
  GSocket *socket;
  gint fd;                      /* file descriptor of `socket` */
  gint family;                  /* AF_INET or AF_INET6 */
  gboolean is_raw, is_connected;
  gboolean has_details, keeps_header;   /* set from DatagramSocketOptions */
  /* TRUE means that datagram_socket_free does not close `socket` */
  gboolean stays_open;
  /* description of a connected socket for error messages, with both endpoints;
   * NULL if the socket is not connected */
  gchar *description;
  /* addresses of both endpoints if the socket is connected, otherwise only the
   * address of the local endpoint */
  DatagramPath path;
  /* Raw sockets: destination port of the packets to receive; 0 means any */
  guint16 raw_port;
  guint multicast_interface;    /* 0: the routing table decides */
  gboolean has_gro;             /* the kernel merges received packets */

  /* Maximum size of each packet in a message of several packets (UDP_SEGMENT).
   * A larger packet is sent by itself. If the field is 0, every packet is sent
   * by itself. Only the sending thread uses this field. */
  gsize max_segment;
  /* TRUE if packets are sent without a UDP checksum. The kernel then refuses
   * UDP_SEGMENT. Only the sending thread uses this field. */
  gboolean no_checksum;
  /* The errno with which the system refused to send several packets as one
   * message (GSO). The value is 0 if no such message was refused. It becomes 0
   * again when datagram_socket_check_gso has reported the refusal. */
  gint gso_error;
  gboolean has_told_gso_error;

  /* The following two fields are errno values of ICMP errors of a connected
   * socket; 0 if there is none. */
  gint returned;                /* error to be reported */
  /* ICMP error that was reported last; 0 if a packet was received afterwards */
  gint reported;

  SocketClock clock;
};

/* Returns AF_INET or AF_INET6. */
gint datagram_path_get_family (const DatagramPath * path);
/* Stores the remote endpoint in `native` and returns the size of the address.
 */
socklen_t datagram_native_from_path (DatagramNative * native,
    const DatagramPath * path);
void datagram_path_set_native (DatagramPath * path,
    const DatagramNative * native);
/* Returns whether the address is link-local (RFC 4291 section 2.5.6). */
gboolean datagram_is_link_local (const guint8 address[16], gsize size);

#pragma GCC visibility pop

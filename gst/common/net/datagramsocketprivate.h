/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declarations shared by datagramsocket.c, which opens sockets, and
 * datagramsocketmessages.c, which sends and receives packets. */

#pragma once

#include "datagramaddress.h"
#include "datagramsocket.h"
#include "socketclock.h"

#pragma GCC visibility push(hidden)

#define IPV4_HEADER_SIZE 20     /* RFC 791, without options */

struct _DatagramSocket
{
  GSocket *socket;
  gint fd;                      /* file descriptor of `socket` */
  gint family;                  /* AF_INET or AF_INET6 */
  gboolean is_raw, is_connected;
  gboolean has_details, keeps_header;   /* set from DatagramSocketOptions */
  /* TRUE if datagram_socket_free must not close `socket`, because the socket
   * belongs to the application */
  gboolean stays_open;
  /* Text with both endpoints of a connected socket, for error messages. NULL if
   * the socket is not connected. */
  gchar *description;
  /* endpoints of the socket: the local and the remote one if the socket is
   * connected, otherwise only the local one */
  DatagramPath path;
  /* Destination port of the packets that a raw socket receives; 0 = packets for
   * all ports. Used for raw sockets only. */
  guint16 raw_port;
  guint multicast_interface;    /* 0: the routing table decides */
  gboolean has_gro;             /* the kernel merges received packets */

  /* Maximum size in bytes of a packet that may be sent together with other
   * packets as one message (GSO, UDP_SEGMENT). A larger packet is sent by
   * itself. If this field is 0, every packet is sent by itself. Only the
   * sending thread uses this field. */
  gsize max_segment;
  /* TRUE if packets are sent without a UDP checksum. The kernel then refuses to
   * send several packets as one message (UDP_SEGMENT). Only the sending thread
   * uses this field. */
  gboolean no_checksum;
  /* errno of the system's refusal to send several packets as one message (GSO).
   * 0 if there was no refusal, or if datagram_socket_check_gso has already
   * reported it. */
  gint gso_error;
  gboolean has_told_gso_error;

  /* ICMP errors of a connected socket, as errno values; 0 means no error. An
   * error is first stored in `returned`. The next call of
   * datagram_socket_receive reports it, and moves it to `reported`. */
  gint returned;                /* error to be reported */
  /* ICMP error that was reported last; 0 if a packet was received after the
   * report. The same error is not reported again, unless it is EMSGSIZE. */
  gint reported;

  SocketClock clock;
};

/* Returns whether the address is link-local (RFC 4291 section 2.5.6). */
gboolean datagram_is_link_local (const guint8 address[16], gsize size);

#pragma GCC visibility pop

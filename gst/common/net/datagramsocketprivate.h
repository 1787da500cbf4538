/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What opening a datagram socket and its packets share. */

#pragma once

#include <netinet/in.h>

#include "datagramsocket.h"
#include "socketclock.h"

#pragma GCC visibility push(hidden)

#define IPV4_HEADER_SIZE 20     /* RFC 791, without options */

/* An address as the system calls take it. The port is in the same place for
 * both families. */
typedef union
{
  struct sockaddr any;
  struct sockaddr_in ipv4;
  struct sockaddr_in6 ipv6;
} DatagramNative;

struct _DatagramSocket
{
  GSocket *socket;
  gint fd;                      /* of the GSocket */
  gint family;                  /* AF_INET or AF_INET6 */
  gboolean is_raw, is_connected;
  gboolean has_details, keeps_header;   /* as DatagramSocketOptions say */
  gboolean stays_open;          /* the GSocket, in the end */
  gchar *description;           /* of both ends, if connected, for errors */
  DatagramPath path;            /* both ends, or the local one */
  guint16 raw_port;             /* raw: destination of what it receives; 0:
                                 * any */
  guint multicast_interface;    /* 0: as the routes say */

  /* errno that ICMP brought back to a connected socket. 0: none */
  gint returned;                /* to be reported */
  gint reported;                /* since the last packet was received */

  SocketClock clock;
};

/* AF_INET or AF_INET6 */
gint datagram_path_get_family (const DatagramPath * path);
/* The remote end. Returns its size. */
socklen_t datagram_native_from_path (DatagramNative * native,
    const DatagramPath * path);
void datagram_path_set_native (DatagramPath * path,
    const DatagramNative * native);
/* RFC 4291 section 2.5.6 */
gboolean datagram_is_link_local (const guint8 address[16], gsize size);

#pragma GCC visibility pop

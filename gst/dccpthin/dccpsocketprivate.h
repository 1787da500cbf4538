/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What opening a socket and its packets share. */

#ifndef __DCCP_SOCKET_PRIVATE_H__
#define __DCCP_SOCKET_PRIVATE_H__

#include <netinet/in.h>

#include "dccpsocket.h"
#include "socketclock.h"

G_BEGIN_DECLS

/* As the kernel writes addresses */
typedef union
{
  struct sockaddr any;
  struct sockaddr_in ipv4;
  struct sockaddr_in6 ipv6;
  struct sockaddr_storage room;
} DccpNativeAddress;

struct _DccpSocket
{
  GSocket *socket;
  gint fd;                      /* the socket's */
  gint family;                  /* AF_INET or AF_INET6 */
  gboolean is_raw, is_client;
  gchar *description;           /* of its ends, for errors */
  guint16 udp_port;             /* our own, host byte order; 0: raw */
  guint16 dccp_port;            /* raw: the one that is received; 0: any */
  DccpPath path;                /* a client's */
  gint returned;                /* errno that ICMP brought back to a client, to be
                                 * told; 0: none */
  SocketClock clock;
};

/* Room for `native` of a path's remote side */
socklen_t dccp_native_set_remote (DccpNativeAddress * native,
    const DccpPath * path, gint family);
void dccp_path_set_remote (DccpPath * path, const DccpNativeAddress * native,
    gboolean is_raw);

G_END_DECLS

#endif /* __DCCP_SOCKET_PRIVATE_H__ */

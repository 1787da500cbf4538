/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What opening a socket and its packets share. */

#ifndef __MMTP_SOCKET_PRIVATE_H__
#define __MMTP_SOCKET_PRIVATE_H__

#include <netinet/in.h>

#include "mmtpsocket.h"
#include "socketclock.h"

G_BEGIN_DECLS

struct _MmtpSocket
{
  GSocket *socket;
  gint fd;                      /* the socket's */
  gint family;                  /* AF_INET or AF_INET6 */
  gboolean is_connected;
  gchar *description;           /* of a channel: its ends, for errors */

  /* What ICMP said of packets before, to be told once: errno, 0: nothing. After
   * that not again until something has come. */
  gint refused;
  gboolean refused_told;

  SocketClock clock;
};

/* What is behind an MmtpAddress. Both sides are as the system writes addresses,
 * zeros behind IPv4; so it compares byte by byte. What says the host is first. */
typedef struct
{
  guint8 remote[16];
  guint32 remote_scope;         /* interface of a link-local address, or 0 */
  guint16 family;               /* AF_INET or AF_INET6 */
  guint16 port;                 /* network byte order */
  guint8 local[16];             /* zeros: not known */
  guint32 local_scope;
} MmtpEndpoints;

void mmtp_address_set_endpoints (MmtpAddress * address,
    const MmtpEndpoints * endpoints);
void mmtp_address_get_endpoints (const MmtpAddress * address,
    MmtpEndpoints * endpoints);


G_END_DECLS

#endif /* __MMTP_SOCKET_PRIVATE_H__ */

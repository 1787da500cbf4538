/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The receivers of a UDP-Lite sink: who was added how many times, under which
 * name, and what was sent to each. No sockets; not thread safe.
 */

#pragma once

#include "datagramsocket.h"

typedef struct
{
  gchar *host;                  /* as it was added */
  guint16 port;
  guint times;                  /* that it was added, at least 1 */
  guint64 id;                   /* of this one, never again of another */
  gboolean is_joined;           /* to the multicast group that it is */
  gboolean is_refused;          /* joining it was: the log has said so */
  DatagramPath path;            /* to it; address_size: 0: not known yet */
  guint64 packets_sent, bytes_sent;
  guint64 errors;               /* packets that the system refused */
  guint64 added_at, removed_at; /* ns since 1970; 0: not yet */
} UdpliteClient;

typedef struct _UdpliteClients UdpliteClients;

UdpliteClients *udplite_clients_new (void);
void udplite_clients_free (UdpliteClients * self);

guint udplite_clients_get_number (const UdpliteClients * self);
UdpliteClient *udplite_clients_get (const UdpliteClients * self, guint i);
/* NULL: there is none */
UdpliteClient *udplite_clients_find (const UdpliteClients * self,
    const gchar * host, guint16 port);
UdpliteClient *udplite_clients_find_id (const UdpliteClients * self,
    guint64 id);

/* One more time, perhaps the first. `now`: ns since 1970 */
UdpliteClient *udplite_clients_add (UdpliteClients * self, const gchar * host,
    guint16 port, guint64 now);
/* One time less: FALSE, it was not there. The last time it goes, and its figures
 * stay for a while. */
gboolean udplite_clients_remove (UdpliteClients * self, const gchar * host,
    guint16 port, guint64 now);
void udplite_clients_clear (UdpliteClients * self, guint64 now);
/* One that is gone; NULL: nothing is known of it any more. */
const UdpliteClient *udplite_clients_find_removed (const UdpliteClients * self,
    const gchar * host, guint16 port);

void udplite_client_set_address (UdpliteClient * client,
    GInetAddress * address);
/* If somebody had to be asked for it */
void udplite_client_forget_address (UdpliteClient * client);

/* "host:port,[v6]:port"; free it */
gchar *udplite_clients_to_string (const UdpliteClients * self);
/* Splits "host:port", "[host]:port" or "host" (default_port). FALSE: it is none
 * of these. */
gboolean udplite_clients_parse (const gchar * text, guint16 default_port,
    gchar ** host, guint16 * port);

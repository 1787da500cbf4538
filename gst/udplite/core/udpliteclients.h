/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of the receivers of a UDP-Lite sink. For each receiver, the list
 * stores the name of the receiver, how many times it was added, and how much
 * was sent to it. The code uses no sockets and is not thread safe.
 */

#pragma once

#include "datagramaddress.h"

typedef struct
{
  /* host name or IP address with which the receiver was added */
  gchar *host;
  guint16 port;
  /* Number of times that this receiver was added, minus the number of times
   * that it was removed. The same receiver can be added several times. The
   * value is at least 1 while the receiver is in the list. */
  guint times;
  /* unique number of this receiver; no other receiver ever gets this number */
  guint64 id;
  /* TRUE if `path` leads to a multicast group, and this process has joined the
   * group because of this receiver */
  gboolean is_joined;
  /* TRUE if this process could not join the multicast group of the receiver.
   * The failure has been logged already. */
  gboolean is_refused;
  /* Network path to the receiver. Its field address_size is 0 as long as the
   * address of the receiver is not known. */
  DatagramPath path;
  guint64 packets_sent, bytes_sent;
  guint64 errors;               /* packets that the system refused */
  guint64 added_at, removed_at; /* ns since 1970; 0: not yet */
} UdpliteClient;

typedef struct _UdpliteClients UdpliteClients;

UdpliteClients *udplite_clients_new (void);
void udplite_clients_free (UdpliteClients * self);

guint udplite_clients_get_number (const UdpliteClients * self);
UdpliteClient *udplite_clients_get (const UdpliteClients * self, guint i);
/* udplite_clients_find () and udplite_clients_find_id () search the list for a
 * receiver. They return NULL if the receiver is not in the list. */
UdpliteClient *udplite_clients_find (const UdpliteClients * self,
    const gchar * host, guint16 port);
UdpliteClient *udplite_clients_find_id (const UdpliteClients * self,
    guint64 id);

/* Adds the receiver `host`:`port` to the list. If the list already contains
 * this receiver, only its field `times` is incremented. Returns the receiver.
 * `now` is in ns since 1970. */
UdpliteClient *udplite_clients_add (UdpliteClients * self, const gchar * host,
    guint16 port, guint64 now);
/* Decrements the field `times` of the receiver `host`:`port`. If `times`
 * becomes 0, the receiver is removed from the list, but its statistics are kept
 * for a while. Returns FALSE if the receiver is not in the list. */
gboolean udplite_clients_remove (UdpliteClients * self, const gchar * host,
    guint16 port, guint64 now);
/* Returns the former receiver `host`:`port`, which was removed from the list.
 * Returns NULL if its statistics are not kept any more. */
const UdpliteClient *udplite_clients_find_removed (const UdpliteClients * self,
    const gchar * host, guint16 port);

void udplite_client_set_address (UdpliteClient * client,
    GInetAddress * address);
/* Forgets the address of a receiver if the address was resolved from a name, so
 * that the name is resolved again. An address that was given as an IP address
 * is kept. */
void udplite_client_forget_address (UdpliteClient * client);

/* Returns the list as text, in the form "host:port,[v6]:port", where v6 is an
 * IPv6 address. A receiver that was added several times occurs several times.
 * The caller frees the text. */
gchar *udplite_clients_to_string (const UdpliteClients * self);
/* Splits a text of the form "host:port", "[host]:port" or "host". If the text
 * contains no port, `port` is set to `default_port`. Returns FALSE if the text
 * has none of these forms. */
gboolean udplite_clients_parse (const gchar * text, guint16 default_port,
    gchar ** host, guint16 * port);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of udpliteclients.h: the list of the receivers of a UDP-Lite
 * sink. */

#include "udpliteclients.h"

#include <string.h>

/* Maximum number of removed receivers whose statistics are kept. */
#define MAX_REMOVED 64

struct _UdpliteClients
{
  /* the receivers, as UdpliteClient, in the order in which they were added */
  GPtrArray *clients;
  /* Removed receivers, as UdpliteClient, because their statistics are kept. The
   * head of the queue is the receiver that was removed last. */
  GQueue removed;
  guint64 next_id;
};

static void
client_free (gpointer data)
{
  UdpliteClient *client = data;

  g_free (client->host);
  g_free (client);
}

UdpliteClients *
udplite_clients_new (void)
{
  UdpliteClients *self = g_new0 (UdpliteClients, 1);

  self->clients = g_ptr_array_new ();
  g_queue_init (&self->removed);
  return self;
}

void
udplite_clients_free (UdpliteClients * self)
{
  g_ptr_array_set_free_func (self->clients, client_free);
  g_ptr_array_unref (self->clients);
  g_queue_clear_full (&self->removed, client_free);
  g_free (self);
}

guint
udplite_clients_get_number (const UdpliteClients * self)
{
  return self->clients->len;
}

UdpliteClient *
udplite_clients_get (const UdpliteClients * self, guint i)
{
  return g_ptr_array_index (self->clients, i);
}

static gboolean
is_client (const UdpliteClient * client, const gchar * host, guint16 port)
{
  return client->port == port && g_str_equal (client->host, host);
}

static gint
find_index (const UdpliteClients * self, const gchar * host, guint16 port)
{
  guint i;

  for (i = 0; i < self->clients->len; i++) {
    if (is_client (udplite_clients_get (self, i), host, port))
      return i;
  }
  return -1;
}

UdpliteClient *
udplite_clients_find (const UdpliteClients * self, const gchar * host,
    guint16 port)
{
  gint i = find_index (self, host, port);

  return i < 0 ? NULL : udplite_clients_get (self, i);
}

UdpliteClient *
udplite_clients_find_id (const UdpliteClients * self, guint64 id)
{
  guint i;

  for (i = 0; i < self->clients->len; i++) {
    if (udplite_clients_get (self, i)->id == id)
      return udplite_clients_get (self, i);
  }
  return NULL;
}

/* Sets the address of the receiver. Takes ownership of `address`. */
static void
take_address (UdpliteClient * client, GSocketAddress * address)
{
  memset (&client->path, 0, sizeof (client->path));
  datagram_path_set_remote (&client->path, address);
  g_object_unref (address);
}

/* If the receiver's host name is an IP address, sets its address at once,
 * because no name has to be resolved. A link-local address may contain the name
 * of its interface, for example fe80::1%eth0 (RFC 4007). */
static void
take_literal (UdpliteClient * client)
{
  GSocketAddress *address = g_inet_socket_address_new_from_string
      (client->host, client->port);

  if (address)
    take_address (client, address);
}

UdpliteClient *
udplite_clients_add (UdpliteClients * self, const gchar * host, guint16 port,
    guint64 now)
{
  UdpliteClient *client = udplite_clients_find (self, host, port);

  if (client) {
    client->times++;
    return client;
  }
  client = g_new0 (UdpliteClient, 1);
  client->host = g_strdup (host);
  client->port = port;
  client->times = 1;
  client->id = ++self->next_id;
  client->added_at = now;
  take_literal (client);
  g_ptr_array_add (self->clients, client);
  return client;
}

static void
retire (UdpliteClients * self, UdpliteClient * client, guint64 now)
{
  client->removed_at = now;
  g_queue_push_head (&self->removed, client);
  if (self->removed.length > MAX_REMOVED)
    client_free (g_queue_pop_tail (&self->removed));
}

gboolean
udplite_clients_remove (UdpliteClients * self, const gchar * host,
    guint16 port, guint64 now)
{
  gint i = find_index (self, host, port);

  if (i < 0)
    return FALSE;
  if (--udplite_clients_get (self, i)->times > 0)
    return TRUE;
  retire (self, g_ptr_array_remove_index (self->clients, i), now);
  return TRUE;
}

const UdpliteClient *
udplite_clients_find_removed (const UdpliteClients * self, const gchar * host,
    guint16 port)
{
  const GList *walk;

  for (walk = self->removed.head; walk; walk = walk->next) {
    if (is_client (walk->data, host, port))
      return walk->data;
  }
  return NULL;
}

void
udplite_client_set_address (UdpliteClient * client, GInetAddress * address)
{
  take_address (client, g_inet_socket_address_new (address, client->port));
}

void
udplite_client_forget_address (UdpliteClient * client)
{
  client->path.address_size = 0;
  take_literal (client);
}

gchar *
udplite_clients_to_string (const UdpliteClients * self)
{
  GString *text = g_string_new (NULL);
  guint i, j;

  for (i = 0; i < self->clients->len; i++) {
    const UdpliteClient *client = udplite_clients_get (self, i);
    gboolean v6 = strchr (client->host, ':') != NULL;

    for (j = 0; j < client->times; j++)
      g_string_append_printf (text, v6 ? "%s[%s]:%u" : "%s%s:%u",
          text->len > 0 ? "," : "", client->host, client->port);
  }
  return g_string_free (text, FALSE);
}

static gboolean
parse_port (const gchar * text, guint16 * port)
{
  guint64 value;

  if (!g_ascii_string_to_unsigned (text, 10, 0, G_MAXUINT16, &value, NULL))
    return FALSE;
  *port = value;
  return TRUE;
}

gboolean
udplite_clients_parse (const gchar * text, guint16 default_port, gchar ** host,
    guint16 * port)
{
  const gchar *end, *colon;

  *port = default_port;
  if (*text == '[') {
    end = strchr (++text, ']');
    if (!end || (end[1] != '\0' && end[1] != ':'))
      return FALSE;
    colon = end[1] == ':' ? end + 1 : NULL;
  } else {
    colon = strrchr (text, ':');
    /* A text with several colons is an IPv6 address without brackets. */
    if (colon && strchr (text, ':') != colon) {
      if (!g_hostname_is_ip_address (text))
        return FALSE;
      colon = NULL;
    }
    end = colon ? colon : text + strlen (text);
  }
  if (end == text || (colon && !parse_port (colon + 1, port)))
    return FALSE;
  *host = g_strndup (text, end - text);
  return TRUE;
}

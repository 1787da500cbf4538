/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the list of receivers of udplitesink against its description in
 * udpliteclients.h. */

#include <gst/check/gstcheck.h>

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>

#include "udpliteclients.h"

GST_START_TEST (counts_how_often_one_was_added)
{
  UdpliteClients *clients = udplite_clients_new ();
  UdpliteClient *client = udplite_clients_add (clients, "a", 1, 5);
  guint64 id = client->id;

  fail_unless (udplite_clients_add (clients, "a", 1, 6) == client);
  fail_unless (udplite_clients_add (clients, "a", 2, 6) != client);
  fail_unless_equals_int (client->times, 2);
  fail_unless_equals_uint64 (client->added_at, 5);
  fail_unless (udplite_clients_find_id (clients, id) == client);

  fail_unless (udplite_clients_remove (clients, "a", 1, 7));
  fail_unless (udplite_clients_find (clients, "a", 1) == client);
  fail_unless (udplite_clients_remove (clients, "a", 1, 8));
  fail_unless (udplite_clients_find (clients, "a", 1) == NULL);
  fail_if (udplite_clients_remove (clients, "a", 1, 9));
  fail_unless_equals_uint64 (udplite_clients_find_removed (clients, "a",
          1)->removed_at, 8);
  fail_unless (udplite_clients_find_id (clients, id) == NULL);
  udplite_clients_free (clients);
}

GST_END_TEST;

GST_START_TEST (keeps_the_order_and_new_ids)
{
  UdpliteClients *clients = udplite_clients_new ();
  guint64 last = 0;
  gchar *text;
  guint i;

  udplite_clients_add (clients, "one", 1, 0);
  udplite_clients_add (clients, "2001:db8::1", 2, 0);
  udplite_clients_add (clients, "three", 3, 0);
  udplite_clients_remove (clients, "one", 1, 0);
  udplite_clients_add (clients, "one", 1, 0);
  udplite_clients_add (clients, "one", 1, 0);
  text = udplite_clients_to_string (clients);
  fail_unless_equals_string (text, "[2001:db8::1]:2,three:3,one:1,one:1");
  g_free (text);
  for (i = 0; i < udplite_clients_get_number (clients); i++) {
    fail_unless (udplite_clients_get (clients, i)->id > last);
    last = udplite_clients_get (clients, i)->id;
  }
  udplite_clients_remove (clients, "one", 1, 1);
  udplite_clients_remove (clients, "one", 1, 1);
  udplite_clients_remove (clients, "2001:db8::1", 2, 1);
  udplite_clients_remove (clients, "three", 3, 1);
  fail_unless_equals_int (udplite_clients_get_number (clients), 0);
  udplite_clients_free (clients);
}

GST_END_TEST;

/* The list of clients remembers removed receivers, but only a limited number of
 * them. After 1000 receivers were removed, it must have forgotten the first of
 * them, but must still remember the last.
 */
GST_START_TEST (forgets_who_is_long_gone)
{
  UdpliteClients *clients = udplite_clients_new ();
  guint i;

  for (i = 1; i <= 1000; i++) {
    udplite_clients_add (clients, "a", i, 0);
    udplite_clients_remove (clients, "a", i, 1);
  }
  fail_unless (udplite_clients_find_removed (clients, "a", 1) == NULL);
  fail_unless (udplite_clients_find_removed (clients, "a", 1000) != NULL);
  udplite_clients_free (clients);
}

GST_END_TEST;

GST_START_TEST (an_address_needs_no_asking)
{
  UdpliteClients *clients = udplite_clients_new ();
  UdpliteClient *client = udplite_clients_add (clients, "192.0.2.7", 5004, 0);
  static const guint8 v4[4] = { 192, 0, 2, 7 };

  fail_unless_equals_int (client->path.address_size, 4);
  fail_unless_equals_int (client->path.remote_port, 5004);
  fail_unless (memcmp (client->path.remote, v4, sizeof (v4)) == 0);

  client = udplite_clients_add (clients, "2001:db8::7", 5004, 0);
  fail_unless_equals_int (client->path.address_size, 16);
  fail_unless_equals_int (client->path.remote[0], 0x20);
  fail_unless_equals_int (client->path.remote[15], 7);

  client = udplite_clients_add (clients, "fe80::7%lo", 5004, 0);
  fail_unless_equals_int (client->path.scope, if_nametoindex ("lo"));

  client = udplite_clients_add (clients, "example.org", 5004, 0);
  fail_unless_equals_int (client->path.address_size, 0);
  udplite_clients_free (clients);
}

GST_END_TEST;

static const struct
{
  const gchar *text, *host;     /* NULL: it is none */
  guint16 port;
} texts[] = {
  {"a:1", "a", 1},
  {"a", "a", 99},
  {"192.0.2.1:5004", "192.0.2.1", 5004},
  {"[2001:db8::1]:7", "2001:db8::1", 7},
  {"[2001:db8::1]", "2001:db8::1", 99},
  {"2001:db8::1", "2001:db8::1", 99},
  {"a:65535", "a", 65535},
  {"a:65536", NULL, 0},
  {"a:0", "a", 0},
  {"a:b:c", NULL, 0},
  {"fe80::1%lo", "fe80::1%lo", 99},
  {"[fe80::1%lo]:7", "fe80::1%lo", 7},
  {"a:", NULL, 0},
  {"a:x", NULL, 0},
  {"a:1x", NULL, 0},
  {":1", NULL, 0},
  {"", NULL, 0},
  {"[", NULL, 0},
  {"[]", NULL, 0},
  {"[::1", NULL, 0},
  {"[::1]x", NULL, 0},
  {"[::1]:", NULL, 0},
};

GST_START_TEST (reads_hosts_and_ports)
{
  gchar *host = NULL;
  guint16 port;
  gboolean is_one = udplite_clients_parse (texts[__i__].text, 99, &host,
      &port);

  fail_unless_equals_int (is_one, texts[__i__].host != NULL);
  if (!is_one)
    return;
  fail_unless_equals_string (host, texts[__i__].host);
  fail_unless_equals_int (port, texts[__i__].port);
  g_free (host);
}

GST_END_TEST;

static Suite *
udpliteclients_suite (void)
{
  Suite *suite = suite_create ("udpliteclients");
  TCase *tcase = tcase_create ("clients");

  tcase_add_test (tcase, counts_how_often_one_was_added);
  tcase_add_test (tcase, keeps_the_order_and_new_ids);
  tcase_add_test (tcase, forgets_who_is_long_gone);
  tcase_add_test (tcase, an_address_needs_no_asking);
  tcase_add_loop_test (tcase, reads_hosts_and_ports, 0, G_N_ELEMENTS (texts));
  suite_add_tcase (suite, tcase);
  return suite;
}

GST_CHECK_MAIN (udpliteclients);

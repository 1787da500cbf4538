/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of two types. A DatagramPath has the addresses and ports of both ends
 * of a connection. The tests check when two paths are equal, and how a path is
 * written as text. A DatagramPart is a part of a packet. The tests check how a
 * packet is composed of such parts.
 */

#include <gst/check/gstcheck.h>

#include "datagramaddress.h"

GST_START_TEST (every_field_makes_another_path)
{
  DatagramPath a = { {192, 0, 2, 2}, 0, 4, 6511, {192, 0, 2, 1}, 7000 };
  DatagramPath b = a;

  fail_unless (datagram_path_equal (&a, &b));
  b.local[3]++;
  fail_if (datagram_path_equal (&a, &b));
  b = a;
  b.remote[0]++;
  fail_if (datagram_path_equal (&a, &b));
  b = a;
  b.local_port++;
  fail_if (datagram_path_equal (&a, &b));
  b = a;
  b.remote_port++;
  fail_if (datagram_path_equal (&a, &b));
  b = a;
  b.scope++;
  fail_if (datagram_path_equal (&a, &b));
  b = a;
  b.address_size = 16;
  fail_if (datagram_path_equal (&a, &b));
}

GST_END_TEST;

GST_START_TEST (path_is_written_as_people_write_it)
{
  static const struct
  {
    DatagramPath path;
    const gchar *text;
  } paths[] = {
    {{{192, 0, 2, 1}, 0, 4, 0}, "192.0.2.1"},
    {{{192, 0, 2, 1}, 0, 4, 5004}, "192.0.2.1:5004"},
    {{{0x20, 1, 0xd, 0xb8,[15] = 1}, 0, 16, 0}, "2001:db8::1"},
    {{{0x20, 1, 0xd, 0xb8,[15] = 1}, 0, 16, 80}, "[2001:db8::1]:80"},
    {{{[10] = 0xff, 0xff, 192, 0, 2, 1}, 0, 16, 80}, "192.0.2.1:80"},
    {{{0xfe, 0x80,[15] = 1}, 1, 16, 80}, "[fe80::1%lo]:80"},
  };
  gchar *text;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (paths); i++) {
    text = datagram_path_to_string (&paths[i].path);
    fail_unless_equals_string (text, paths[i].text);
    g_free (text);
  }
}

GST_END_TEST;

GST_START_TEST (path_has_the_remote_end_of_an_address)
{
  static const struct
  {
    const gchar *host;
    guint8 size, first, last;
    guint32 scope;
  } hosts[] = {
    {"192.0.2.1", 4, 192, 1, 0},
    {"2001:db8::7", 16, 0x20, 7, 0},
    {"fe80::9%lo", 16, 0xfe, 9, 1},
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (hosts); i++) {
    GSocketAddress *there =
        g_inet_socket_address_new_from_string (hosts[i].host, 5004);
    DatagramPath path = {.address_size = 0 };
    GSocketAddress *back;

    datagram_path_set_remote (&path, there);
    fail_unless_equals_int (path.address_size, hosts[i].size);
    fail_unless_equals_int (path.remote[0], hosts[i].first);
    fail_unless_equals_int (path.remote[hosts[i].size - 1], hosts[i].last);
    fail_unless_equals_int (path.scope, hosts[i].scope);
    fail_unless_equals_int (path.remote_port, 5004);
    back = datagram_path_get_remote (&path);
    fail_unless_equals_int (g_inet_socket_address_get_port
        (G_INET_SOCKET_ADDRESS (back)), 5004);
    fail_unless (g_inet_address_equal (g_inet_socket_address_get_address
            (G_INET_SOCKET_ADDRESS (back)), g_inet_socket_address_get_address
            (G_INET_SOCKET_ADDRESS (there))));
    g_object_unref (there);
    g_object_unref (back);
  }
}

GST_END_TEST;

GST_START_TEST (parts_of_a_packet_follow_each_other)
{
  const DatagramPart parts[] = { {"cd", 2}, {NULL, 0}, {"efg", 3} };
  guint8 first[] = { 'a', 'b' }, bytes[8] = { 0 };
  Datagram datagram;

  datagram_init (&datagram, first, sizeof (first));
  fail_unless_equals_int (datagram_get_size (&datagram), 2);
  datagram.parts = parts;
  datagram.n_parts = G_N_ELEMENTS (parts);
  fail_unless_equals_int (datagram_get_size (&datagram), 7);
  datagram_copy_bytes (&datagram, bytes);
  fail_unless_equals_string ((gchar *) bytes, "abcdefg");
}

GST_END_TEST;

static Suite *
datagrampath_suite (void)
{
  Suite *s = suite_create ("datagrampath");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, every_field_makes_another_path);
  tcase_add_test (tc, path_is_written_as_people_write_it);
  tcase_add_test (tc, path_has_the_remote_end_of_an_address);
  tcase_add_test (tc, parts_of_a_packet_follow_each_other);
  return s;
}

GST_CHECK_MAIN (datagrampath);

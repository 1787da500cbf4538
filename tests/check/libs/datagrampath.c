/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which paths are the same, and how they are written. */

#include <gst/check/gstcheck.h>

#include "datagrampath.h"

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

static Suite *
datagrampath_suite (void)
{
  Suite *s = suite_create ("datagrampath");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, every_field_makes_another_path);
  tcase_add_test (tc, path_is_written_as_people_write_it);
  return s;
}

GST_CHECK_MAIN (datagrampath);

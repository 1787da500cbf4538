/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of AddressList (addresslist.h), a list of IP addresses and prefixes
 * that is read from a text. The tests check which addresses a list contains,
 * and which texts are refused.
 */

#include <gst/check/gstcheck.h>

#include "addresslist.h"

static gboolean
contains (const gchar * text, const gchar * address)
{
  GError *error = NULL;
  AddressList *list = address_list_new (text, &error);
  GInetAddress *inet = g_inet_address_new_from_string (address);
  gboolean result;

  g_assert_no_error (error);
  fail_unless (inet != NULL);
  result = address_list_contains (list, g_inet_address_to_bytes (inet),
      g_inet_address_get_native_size (inet));
  g_object_unref (inet);
  address_list_free (list);
  return result;
}

static const struct
{
  const gchar *list, *inside, *outside;
} lists[] = {
  {"192.0.2.7", "192.0.2.7", "192.0.2.6"},
  {"192.0.2.0/24", "192.0.2.255", "192.0.3.0"},
  {"192.0.2.128/25", "192.0.2.128", "192.0.2.127"},
  {"10.0.0.0/9", "10.127.255.255", "10.128.0.0"},
  {"192.0.2.7,198.51.100.0/24", "198.51.100.1", "203.0.113.1"},
  {" 192.0.2.7 , 2001:db8::/32 ", "2001:db8:ffff::1", "2001:db9::1"},
  {"2001:db8::1", "2001:db8::1", "2001:db8::2"},
  {"2001:db8:0:8000::/49", "2001:db8:0:8001::", "2001:db8:0:7fff::"},
  {"0.0.0.0/0", "203.0.113.1", "2001:db8::1"},
  {"::/0", "2001:db8::1", "203.0.113.1"},
  /* An IPv4-mapped IPv6 address such as ::ffff:192.0.2.9 stands for the IPv4
   * address in it. It must therefore match an IPv4 entry, and an IPv4 address
   * must match an IPv4-mapped entry. */
  {"192.0.2.0/24", "::ffff:192.0.2.9", "::ffff:192.0.3.9"},
  {"::ffff:192.0.2.0/120", "192.0.2.9", "192.0.3.9"},
  /* The IPv6 address 2001:db8:: begins with the same four bytes as the IPv4
   * address 32.1.13.184. It must nevertheless not match an IPv4 entry with this
   * address. */
  {"32.1.13.184", "32.1.13.184", "2001:db8::"},
};

GST_START_TEST (addresses_and_prefixes_match)
{
  fail_unless (contains (lists[__i__].list, lists[__i__].inside));
  fail_if (contains (lists[__i__].list, lists[__i__].outside));
}

GST_END_TEST;

static const gchar *const wrong[] = { "", " ", ",", "192.0.2.7,", "localhost",
  "192.0.2", "192.0.2.0/33", "192.0.2.7/24", "2001:db8::/129", "192.0.2.7 /",
  "192.0.2.7;198.51.100.1", "192.0.2.1-192.0.2.9", "192.0.2.7:5004", "*",
  "192.0.2.0/-1", "192.0.2.0/24x"
};

GST_START_TEST (wrong_text_is_an_error)
{
  GError *error = NULL;

  fail_unless (address_list_new (wrong[__i__], &error) == NULL);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT);
  g_error_free (error);
}

GST_END_TEST;

static Suite *
addresslist_suite (void)
{
  Suite *suite = suite_create ("addresslist");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, addresses_and_prefixes_match, 0,
      G_N_ELEMENTS (lists));
  tcase_add_loop_test (tcase, wrong_text_is_an_error, 0, G_N_ELEMENTS (wrong));
  return suite;
}

GST_CHECK_MAIN (addresslist);

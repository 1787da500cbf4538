/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the parser of the property `channels` of mmtpsink, which lists the
 * paths to the receiver (mmtppathlist.h). The tests cover each valid form of a
 * value and each error. They also check the text of each error, because users
 * see only this text.
 */

#include <gst/check/gstcheck.h>

#include <string.h>

#include "mmtppathlist.h"

/* --- helpers -------------------------------------------------------------- */

static gchar *
describe_spec (const MmtpPathSpec * spec)
{
  return g_strdup_printf ("%s: %s %s %u -> %s %u, rate %" G_GUINT64_FORMAT
      " delay %" G_GUINT64_FORMAT " mtu %u", spec->name,
      spec->interface ? spec->interface : "-",
      spec->local_address ? spec->local_address : "-", spec->local_port,
      spec->host, spec->port, spec->rate, spec->delay, spec->mtu);
}

static gchar *
describe (const MmtpPathList * channels)
{
  GString *text = g_string_new (channels->is_auto ? "auto" : NULL);
  gchar *spec;
  guint i;

  for (i = 0; i < channels->specs->len; i++) {
    spec = describe_spec (g_ptr_array_index (channels->specs, i));
    g_string_append_printf (text, "%s%s", i > 0 ? "; " : "", spec);
    g_free (spec);
  }
  return g_string_free (text, FALSE);
}

/* Parses `text`, a list of channels as in the property `channels`. A channel
 * without a remote address gets the host "tv" and the port 5004. The result is
 * then described as text, which must equal `described`. */
static void
assert_parsed (const gchar * text, const gchar * described)
{
  GError *error = NULL;
  MmtpPathList *channels = mmtp_path_list_parse (text, "tv", 5004, &error);
  gchar *found;

  g_assert_no_error (error);
  found = describe (channels);
  fail_unless_equals_string (found, described);
  g_free (found);
  mmtp_path_list_free (channels);
}

static void
assert_error (MmtpPathList * channels, GError ** error, gint code,
    const gchar * message)
{
  fail_unless (channels == NULL);
  g_assert_error (*error, MMTP_PATH_LIST_ERROR, code);
  fail_unless_equals_string ((*error)->message, message);
  g_clear_error (error);
}

static void
assert_refused (const gchar * text, const gchar * message)
{
  GError *error = NULL;

  assert_error (mmtp_path_list_parse (text, "tv", 5004, &error), &error,
      MMTP_PATH_LIST_ERROR_SYNTAX, message);
  fail_unless (mmtp_path_list_parse (text, "tv", 5004, NULL) == NULL);
}

static void
assert_bonding_refused (const gchar * text, const gchar * message)
{
  GError *error = NULL;

  assert_error (mmtp_path_list_parse_bonding (text, &error), &error,
      MMTP_PATH_LIST_ERROR_SYNTAX, message);
}

/* --- forms ---------------------------------------------------------------- */

GST_START_TEST (empty_is_one_channel_as_routing_says)
{
  const gchar *one = "default: - - 0 -> tv 5004, rate 0 delay 0 mtu 0";

  assert_parsed (NULL, one);
  assert_parsed ("", one);
  assert_parsed (" \t", one);
}

GST_END_TEST;

GST_START_TEST (auto_is_no_list)
{
  assert_parsed ("auto", "auto");
  assert_parsed (" auto ", "auto");
}

GST_END_TEST;

GST_START_TEST (local_is_an_interface_or_an_address)
{
  assert_parsed ("wlan0, usb0",
      "wlan0: wlan0 - 0 -> tv 5004, rate 0 delay 0 mtu 0; "
      "usb0: usb0 - 0 -> tv 5004, rate 0 delay 0 mtu 0");
  assert_parsed ("eth0.100:7000",
      "eth0.100:7000: eth0.100 - 7000 -> tv 5004, rate 0 delay 0 mtu 0");
  assert_parsed ("enx0123456789ab",
      "enx0123456789ab: enx0123456789ab - 0 -> tv 5004, rate 0 delay 0 mtu 0");
  assert_parsed ("192.0.2.7",
      "192.0.2.7: - 192.0.2.7 0 -> tv 5004, rate 0 delay 0 mtu 0");
  assert_parsed ("192.0.2.7:7000",
      "192.0.2.7:7000: - 192.0.2.7 7000 -> tv 5004, rate 0 delay 0 mtu 0");
  assert_parsed ("192.0.2.7:0",
      "192.0.2.7:0: - 192.0.2.7 0 -> tv 5004, rate 0 delay 0 mtu 0");
}

GST_END_TEST;

GST_START_TEST (ipv6_has_brackets_where_it_has_a_port)
{
  assert_parsed ("2001:db8::7",
      "2001:db8::7: - 2001:db8::7 0 -> tv 5004, rate 0 delay 0 mtu 0");
  assert_parsed ("[2001:db8::7]",
      "[2001:db8::7]: - 2001:db8::7 0 -> tv 5004, rate 0 delay 0 mtu 0");
  assert_parsed ("[2001:db8::7]:7",
      "[2001:db8::7]:7: - 2001:db8::7 7 -> tv 5004, rate 0 delay 0 mtu 0");
  assert_parsed ("[::]:65535->2001:db8::1",
      "[::]:65535->2001:db8::1: - :: 65535 -> 2001:db8::1 5004, "
      "rate 0 delay 0 mtu 0");
  assert_parsed ("->[2001:db8::1]:5006",
      "->[2001:db8::1]:5006: - - 0 -> 2001:db8::1 5006, rate 0 delay 0 mtu 0");
  assert_parsed ("fe80::7%wlan0->[fe80::1%wlan0]:5006",
      "fe80::7%wlan0->[fe80::1%wlan0]:5006: - fe80::7%wlan0 0 -> "
      "fe80::1%wlan0 5006, rate 0 delay 0 mtu 0");
  assert_parsed ("::ffff:192.0.2.1",
      "::ffff:192.0.2.1: - ::ffff:192.0.2.1 0 "
      "-> tv 5004, rate 0 delay 0 mtu 0");
}

GST_END_TEST;

GST_START_TEST (remote_is_another_receiver_or_port)
{
  assert_parsed ("wlan0->relay.example.net",
      "wlan0->relay.example.net: wlan0 - 0 -> relay.example.net 5004, "
      "rate 0 delay 0 mtu 0");
  assert_parsed ("192.0.2.7, 198.51.100.9 -> 203.0.113.1:5006 ?rate=2000000",
      "192.0.2.7: - 192.0.2.7 0 -> tv 5004, rate 0 delay 0 mtu 0; "
      "198.51.100.9 -> 203.0.113.1:5006: - 198.51.100.9 0 -> 203.0.113.1 5006, "
      "rate 2000000 delay 0 mtu 0");
  assert_parsed ("->localhost:1",
      "->localhost:1: - - 0 -> localhost 1, rate 0 delay 0 mtu 0");
}

GST_END_TEST;

GST_START_TEST (options_say_what_is_known)
{
  assert_parsed ("lan0?rate=368000&delay=137&mtu=1500&name=field",
      "field: lan0 - 0 -> tv 5004, rate 368000 delay 137000000 mtu 1500");
  assert_parsed ("lan0 ? name = a=b & delay = 60000 ",
      "a=b: lan0 - 0 -> tv 5004, rate 0 delay 60000000000 mtu 0");
  assert_parsed ("?rate=34359738360&mtu=176",
      "default: - - 0 -> tv 5004, rate 34359738360 delay 0 mtu 176");
  assert_parsed ("lan0?rate=0&delay=0&mtu=65535",
      "lan0: lan0 - 0 -> tv 5004, rate 0 delay 0 mtu 65535");
}

GST_END_TEST;

GST_START_TEST (two_channels_of_one_way_have_names)
{
  assert_parsed ("lan0?name=a, lan0?name=b",
      "a: lan0 - 0 -> tv 5004, rate 0 delay 0 mtu 0; "
      "b: lan0 - 0 -> tv 5004, rate 0 delay 0 mtu 0");
}

GST_END_TEST;

GST_START_TEST (interface_that_was_found_is_a_channel)
{
  MmtpPathSpec *spec = mmtp_path_spec_new_interface ("usb0", "tv", 9);
  gchar *found = describe_spec (spec);

  fail_unless_equals_string (found,
      "usb0: usb0 - 0 -> tv 9, rate 0 delay 0 mtu 0");
  g_free (found);
  mmtp_path_spec_free (spec);
}

GST_END_TEST;

GST_START_TEST (bonding_addresses_of_ristsink)
{
  GError *error = NULL;
  MmtpPathList *channels = mmtp_path_list_parse_bonding
      ("10.0.0.2:5004, tv.example.org:5006/wlan0 ,2001:db8::1:5008,"
      "[2001:db8::2]:5010 / usb0", &error);
  gchar *found;

  g_assert_no_error (error);
  found = describe (channels);
  fail_unless_equals_string (found,
      "10.0.0.2:5004: - - 0 -> 10.0.0.2 5004, rate 0 delay 0 mtu 0; "
      "tv.example.org:5006/wlan0: wlan0 - 0 -> tv.example.org 5006, "
      "rate 0 delay 0 mtu 0; "
      "2001:db8::1:5008: - - 0 -> 2001:db8::1 5008, rate 0 delay 0 mtu 0; "
      "[2001:db8::2]:5010 / usb0: usb0 - 0 -> 2001:db8::2 5010, "
      "rate 0 delay 0 mtu 0");
  g_free (found);
  mmtp_path_list_free (channels);
}

GST_END_TEST;

/* The value of the property bonding-addresses, which mmtpsink shares with
 * ristsink, is converted into a value of the property channels. Both values
 * must describe the same paths, with the same names. */
GST_START_TEST (bonding_addresses_are_channels)
{
  const gchar *text = "10.0.0.2:5004,tv.example.org:5006/wlan0,"
      "[2001:db8::2]:5010/usb0";
  GError *error = NULL;
  gchar *converted = mmtp_path_list_convert_bonding (text, &error);
  MmtpPathList *bonds, *channels;
  gchar *expected, *found;

  g_assert_no_error (error);
  fail_unless_equals_string (converted,
      "->10.0.0.2:5004?name=10.0.0.2:5004, "
      "wlan0->tv.example.org:5006?name=tv.example.org:5006/wlan0, "
      "usb0->[2001:db8::2]:5010?name=[2001:db8::2]:5010/usb0");
  bonds = mmtp_path_list_parse_bonding (text, &error);
  g_assert_no_error (error);
  channels = mmtp_path_list_parse (converted, "other", 1, &error);
  g_assert_no_error (error);
  expected = describe (bonds);
  found = describe (channels);
  fail_unless_equals_string (found, expected);
  g_free (expected);
  g_free (found);
  g_free (converted);
  mmtp_path_list_free (bonds);
  mmtp_path_list_free (channels);
  fail_unless (mmtp_path_list_convert_bonding ("tv", NULL) == NULL);
}

GST_END_TEST;

/* --- errors --------------------------------------------------------------- */

GST_START_TEST (empty_channel_is_an_error)
{
  assert_refused ("wlan0,,usb0",
      "a channel of \"wlan0,,usb0\" is empty: remove a comma");
  assert_refused ("wlan0, ",
      "a channel of \"wlan0,\" is empty: remove a comma");
  assert_refused (",", "a channel of \",\" is empty: remove a comma");
  assert_bonding_refused ("tv:5004,",
      "a channel of \"tv:5004,\" is empty: remove a comma");
}

GST_END_TEST;

GST_START_TEST (auto_beside_others_is_an_error)
{
  const gchar *format = "\"auto\" stands for all interfaces and can't be "
      "part of \"%s\" or of a list";
  static const gchar *const texts[][2] = {
    {"auto, wlan0", "auto"}, {"wlan0,auto", "auto"}, {"auto->tv", "auto"},
    {"auto?rate=1", "auto"}, {"auto:5000", "auto:5000"},
  };
  gchar *message;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (texts); i++) {
    message = g_strdup_printf (format, texts[i][1]);
    assert_refused (texts[i][0], message);
    g_free (message);
  }
}

GST_END_TEST;

GST_START_TEST (invalid_local_side_is_an_error)
{
  static const gchar *const bad[] = {
    "enx0123456789abc", "tv.example.org.uk", "300.1.2.3", "192.0.2", "wlan0/24",
    "wlan 0", "192.0.2.7%eth0"
  };
  gchar *message;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (bad); i++) {
    message = g_strdup_printf ("\"%s\" is neither an IP address nor the name "
        "of an interface (1 to 15 bytes). Write the receiver after ->, as in "
        "wlan0->host:5004", bad[i]);
    assert_refused (bad[i], message);
    g_free (message);
  }
  assert_refused (":5000", "\"\" is neither an IP address nor the name of an "
      "interface (1 to 15 bytes). Write the receiver after ->, as in "
      "wlan0->host:5004");
}

GST_END_TEST;

GST_START_TEST (invalid_ipv6_address_is_an_error)
{
  assert_refused ("2001:db8::7:70000", "\"2001:db8::7:70000\" in "
      "\"2001:db8::7:70000\" is not an IPv6 address: write an IPv6 address "
      "with a port as [2001:db8::1]:5004");
  assert_refused ("[192.0.2.7]:5000", "\"192.0.2.7\" in "
      "\"[192.0.2.7]:5000\" is not an IPv6 address: write an IPv6 address "
      "with a port as [2001:db8::1]:5004");
  assert_refused ("->mmtp://tv:5004", "\"mmtp://tv:5004\" in "
      "\"mmtp://tv:5004\" is not an IPv6 address: write an IPv6 address "
      "with a port as [2001:db8::1]:5004");
  assert_refused ("fe80::1%", "\"fe80::1%\" in \"fe80::1%\" is not an IPv6 "
      "address: write an IPv6 address with a port as [2001:db8::1]:5004");
  assert_refused ("[2001:db8::7", "the brackets of \"[2001:db8::7\" do not "
      "match: write an IPv6 address with a port as [2001:db8::1]:5004");
  assert_refused ("->[2001:db8::7]5000", "the brackets of "
      "\"[2001:db8::7]5000\" do not match: write an IPv6 address with a "
      "port as [2001:db8::1]:5004");
}

GST_END_TEST;

GST_START_TEST (invalid_port_is_an_error)
{
  assert_refused ("192.0.2.7:65536", "\"65536\" in \"192.0.2.7:65536\" is not "
      "a port: set a number from 0 to 65535");
  assert_refused ("wlan0:", "\"\" in \"wlan0:\" is not a port: set a number "
      "from 0 to 65535");
  assert_refused ("->tv:0", "\"0\" in \"tv:0\" is not a port: set a number "
      "from 1 to 65535");
  assert_refused ("->[::1]:+5", "\"+5\" in \"[::1]:+5\" is not a port: set a "
      "number from 1 to 65535");
  assert_refused ("->tv:rtp", "\"rtp\" in \"tv:rtp\" is not a port: set a "
      "number from 1 to 65535");
}

GST_END_TEST;

GST_START_TEST (invalid_receiver_is_an_error)
{
  assert_refused ("wlan0->", "the receiver \"\" has no host: write host or "
      "host:port");
  assert_refused ("wlan0->:5006",
      "the receiver \":5006\" has no host: write host or host:port");
  assert_refused ("->300.1.2.3",
      "\"300.1.2.3\" is neither the name of a host nor an address");
  assert_refused ("->me@tv",
      "\"me@tv\" is neither the name of a host nor an address");
  assert_refused ("wlan0->tv->tv2",
      "\"tv->tv2\" is neither the name of a host nor an address");
}

GST_END_TEST;

GST_START_TEST (invalid_option_is_an_error)
{
  assert_refused ("wlan0?", "no option follows a ?: write an option, such as "
      "?rate=2000000");
  assert_refused ("wlan0?rate",
      "the option \"rate\" is not of the form name=value, such as "
      "rate=2000000");
  assert_refused ("wlan0?rate=1&",
      "the option \"\" is not of the form name=value, such as rate=2000000");
  assert_refused ("wlan0?rat=1",
      "\"rat\" is not an option of a channel: the options are rate, delay, mtu "
      "and name");
  assert_refused ("wlan0?Rate=1",
      "\"Rate\" is not an option of a channel: the options are rate, delay, "
      "mtu and name");
  assert_refused ("wlan0?rate=1&delay=2&rate=3",
      "a channel has the option rate twice");
  assert_refused ("wlan0?name=", "the name of a channel is empty: set a name, "
      "such as name=field");
}

GST_END_TEST;

GST_START_TEST (invalid_number_is_an_error)
{
  assert_refused ("wlan0?rate=2M", "\"rate=2M\" is not valid: set a number "
      "from 0 to 34359738360 (bits per second)");
  assert_refused ("wlan0?rate=34359738361", "\"rate=34359738361\" is not "
      "valid: set a number from 0 to 34359738360 (bits per second)");
  assert_refused ("wlan0?delay=-1",
      "\"delay=-1\" is not valid: set a number from 0 to 60000 (ms)");
  assert_refused ("wlan0?delay=60001",
      "\"delay=60001\" is not valid: set a number from 0 to 60000 (ms)");
  assert_refused ("wlan0?mtu=175",
      "\"mtu=175\" is not valid: set a number from 176 to 65535 (bytes)");
  assert_refused ("wlan0?mtu=65536",
      "\"mtu=65536\" is not valid: set a number from 176 to 65535 (bytes)");
  assert_refused ("wlan0?mtu=",
      "\"mtu=\" is not valid: set a number from 176 to 65535 (bytes)");
}

GST_END_TEST;

GST_START_TEST (same_name_twice_is_an_error)
{
  const gchar *format = "the channel \"%s\" is in the list twice. If two "
      "channels are meant, give them different names with ?name=";
  GError *error = NULL;
  gchar *message = g_strdup_printf (format, "wlan0");

  assert_error (mmtp_path_list_parse ("wlan0,usb0,wlan0?rate=5", "tv", 1,
          &error), &error, MMTP_PATH_LIST_ERROR_TWICE, message);
  assert_error (mmtp_path_list_parse ("usb0?name=wlan0,wlan0", "tv", 1,
          &error), &error, MMTP_PATH_LIST_ERROR_TWICE, message);
  g_free (message);
  message = g_strdup_printf (format, "tv:5004");
  assert_error (mmtp_path_list_parse_bonding ("tv:5004,tv:5004", &error),
      &error, MMTP_PATH_LIST_ERROR_TWICE, message);
  g_free (message);
}

GST_END_TEST;

/* The identifier of a channel has one byte (docs/wire-mmtp.md section 1), so
 * there can be at most 256 channels. */
GST_START_TEST (more_than_256_are_an_error)
{
  GString *text = g_string_new ("c0");
  MmtpPathList *channels;
  GError *error = NULL;
  guint i;

  for (i = 1; i < 256; i++)
    g_string_append_printf (text, ",c%u", i);
  channels = mmtp_path_list_parse (text->str, "tv", 1, &error);
  g_assert_no_error (error);
  fail_unless_equals_int (channels->specs->len, 256);
  mmtp_path_list_free (channels);

  g_string_append (text, ",c256");
  assert_error (mmtp_path_list_parse (text->str, "tv", 1, &error), &error,
      MMTP_PATH_LIST_ERROR_TOO_MANY, "there are more than 256 channels: "
      "shorten the list");
  g_string_free (text, TRUE);
}

GST_END_TEST;

GST_START_TEST (invalid_bonding_address_is_an_error)
{
  assert_bonding_refused ("",
      "there are no bonding addresses: write host:port, separated by commas");
  assert_bonding_refused ("tv",
      "\"tv\" has no port: write each bonding address as host:port");
  assert_bonding_refused ("tv:",
      "\"tv:\" has no port: write each bonding address as host:port");
  assert_bonding_refused ("[2001:db8::1]",
      "\"[2001:db8::1]\" has no port: write each bonding address as host:port");
  assert_bonding_refused ("tv:5004/", "\"\" in \"tv:5004/\" is not the "
      "name of an interface, which has 1 to 15 bytes");
  assert_bonding_refused (":5004",
      "the receiver \":5004\" has no host: write host or host:port");
  assert_bonding_refused ("a:b:5004",
      "\"a:b\" is neither the name of a host nor an address");
  assert_bonding_refused ("tv:0",
      "\"0\" in \"tv:0\" is not a port: set a number from 1 to 65535");
}

GST_END_TEST;

static Suite *
mmtppathlist_suite (void)
{
  Suite *suite = suite_create ("mmtppathlist");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, empty_is_one_channel_as_routing_says);
  tcase_add_test (tcase, auto_is_no_list);
  tcase_add_test (tcase, local_is_an_interface_or_an_address);
  tcase_add_test (tcase, ipv6_has_brackets_where_it_has_a_port);
  tcase_add_test (tcase, remote_is_another_receiver_or_port);
  tcase_add_test (tcase, options_say_what_is_known);
  tcase_add_test (tcase, two_channels_of_one_way_have_names);
  tcase_add_test (tcase, interface_that_was_found_is_a_channel);
  tcase_add_test (tcase, bonding_addresses_of_ristsink);
  tcase_add_test (tcase, bonding_addresses_are_channels);
  tcase_add_test (tcase, empty_channel_is_an_error);
  tcase_add_test (tcase, auto_beside_others_is_an_error);
  tcase_add_test (tcase, invalid_local_side_is_an_error);
  tcase_add_test (tcase, invalid_ipv6_address_is_an_error);
  tcase_add_test (tcase, invalid_port_is_an_error);
  tcase_add_test (tcase, invalid_receiver_is_an_error);
  tcase_add_test (tcase, invalid_option_is_an_error);
  tcase_add_test (tcase, invalid_number_is_an_error);
  tcase_add_test (tcase, same_name_twice_is_an_error);
  tcase_add_test (tcase, more_than_256_are_an_error);
  tcase_add_test (tcase, invalid_bonding_address_is_an_error);
  return suite;
}

GST_CHECK_MAIN (mmtppathlist);

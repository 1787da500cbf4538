/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of mmtpinterfaces.h, which detects the network interfaces of the host.
 * Each test runs in a network namespace of its own, in which it adds, changes
 * and removes devices. If the system does not permit such a namespace, the test
 * is reported as skipped.
 */

#define _GNU_SOURCE             /* unshare */

#include <gst/check/gstcheck.h>

#include <poll.h>
#include <stdio.h>

#include "mmtpinterfaces.h"
#include "networknamespace.h"

#define REMOTE "203.0.113.1"

/* Maximum time to wait for a notification from the kernel. The kernel needs
 * some time until a new IPv6 address can be used. */
#define TIMEOUT 30000           /* ms */

/* --- helpers -------------------------------------------------------------- */

static MmtpInterfaces *
interfaces_new (const gchar * remote)
{
  GSocketAddress *address = g_inet_socket_address_new_from_string (remote,
      5004);
  GError *error = NULL;
  MmtpInterfaces *interfaces = mmtp_interfaces_new (address, &error);

  g_assert_no_error (error);
  g_object_unref (address);
  return interfaces;
}

/* "wlan0 1500, usb0 1280" */
static gchar *
describe (MmtpInterfaces * interfaces)
{
  const GPtrArray *found = mmtp_interfaces_get (interfaces);
  GString *text = g_string_new (NULL);
  const MmtpInterface *interface;
  guint i;

  for (i = 0; i < found->len; i++) {
    interface = g_ptr_array_index (found, i);
    g_string_append_printf (text, "%s%s %u", i > 0 ? ", " : "",
        interface->name, interface->mtu);
  }
  return g_string_free (text, FALSE);
}

static void
assert_found (MmtpInterfaces * interfaces, const gchar * expected)
{
  gchar *text = describe (interfaces);

  fail_unless_equals_string (text, expected);
  g_free (text);
}

static gboolean
is_readable (MmtpInterfaces * interfaces, gint timeout)
{
  struct pollfd wait = {.fd = mmtp_interfaces_get_fd (interfaces),
    .events = POLLIN
  };

  return poll (&wait, 1, timeout) == 1;
}

/* Waits for notifications of the kernel and updates the list `interfaces` until
 * it equals `expected`. Each update must report whether it has changed the
 * list. */
static void
expect (MmtpInterfaces * interfaces, const gchar * expected)
{
  gboolean reached = FALSE, changed;
  gchar *before = describe (interfaces), *after;

  while (!reached) {
    fail_unless (is_readable (interfaces, TIMEOUT), "\"%s\", not \"%s\"",
        before, expected);
    changed = mmtp_interfaces_update (interfaces);
    after = describe (interfaces);
    fail_unless_equals_int (changed, strcmp (before, after) != 0);
    reached = strcmp (after, expected) == 0;
    g_free (before);
    before = after;
  }
  g_free (before);
}

/* Checks that the kernel has notified the program of a change, and that this
 * change does not alter the list of interfaces. */
static void
expect_same (MmtpInterfaces * interfaces)
{
  fail_unless (is_readable (interfaces, TIMEOUT));
  fail_if (mmtp_interfaces_update (interfaces));
}

/* Makes routes to the receiver over both devices, wlan0 and usb0. The route
 * over wlan0 has the lower metric, so the kernel prefers it. */
static void
make_routes (void)
{
  netns_must ("ip link set wlan0 up");
  netns_must ("ip address add 192.0.2.7/24 dev wlan0");
  netns_must ("ip route add default via 192.0.2.1 dev wlan0 metric 100");
  netns_must ("ip link set usb0 up");
  netns_must ("ip address add 198.51.100.9/24 dev usb0");
  netns_must ("ip route add default via 198.51.100.1 dev usb0 metric 200");
}

/* --- tests ---------------------------------------------------------------- */

GST_START_TEST (interface_has_to_be_up_with_address_and_route)
{
  const gchar *test = "interface_has_to_be_up_with_address_and_route";
  MmtpInterfaces *interfaces;

  if (!netns_make (test))
    return;
  interfaces = interfaces_new (REMOTE);
  assert_found (interfaces, "");
  fail_if (mmtp_interfaces_update (interfaces));

  netns_must ("ip link set wlan0 up");
  expect_same (interfaces);
  netns_must ("ip address add 192.0.2.7/24 dev wlan0");
  expect_same (interfaces);
  netns_must ("ip route add default via 192.0.2.1 dev wlan0");
  expect (interfaces, "wlan0 1500");
  mmtp_interfaces_free (interfaces);

  interfaces = interfaces_new (REMOTE);
  assert_found (interfaces, "wlan0 1500");
  mmtp_interfaces_free (interfaces);
}

GST_END_TEST;

GST_START_TEST (interfaces_come_and_go)
{
  MmtpInterfaces *interfaces;

  if (!netns_make ("interfaces_come_and_go"))
    return;
  interfaces = interfaces_new (REMOTE);
  make_routes ();
  expect (interfaces, "wlan0 1500, usb0 1280");
  netns_must ("ip link set usb0 down");
  expect (interfaces, "wlan0 1500");
  /* The device usb0 is up again and has its address, but it has no route to the
   * receiver. It must not be listed before it has this route. */
  netns_must ("ip link set usb0 up");
  expect_same (interfaces);
  netns_must ("ip route add default via 198.51.100.1 dev usb0 metric 200");
  expect (interfaces, "wlan0 1500, usb0 1280");
  /* The other end of wlan0 goes down, so wlan0 has no carrier. It is up but not
   * running, and must not be listed. */
  netns_must ("ip link set wlan0x down");
  expect (interfaces, "usb0 1280");
  netns_must ("ip link set wlan0x up");
  expect (interfaces, "wlan0 1500, usb0 1280");
  netns_must ("ip address delete 192.0.2.7/24 dev wlan0");
  expect (interfaces, "usb0 1280");
  netns_must ("ip link delete usb0");
  expect (interfaces, "");
  mmtp_interfaces_free (interfaces);
}

GST_END_TEST;

GST_START_TEST (mtu_and_name_are_followed)
{
  MmtpInterfaces *interfaces;

  if (!netns_make ("mtu_and_name_are_followed"))
    return;
  make_routes ();
  interfaces = interfaces_new (REMOTE);
  netns_must ("ip link set wlan0 mtu 1400");
  expect (interfaces, "wlan0 1400, usb0 1280");
  netns_must ("ip link set usb0 down");
  netns_must ("ip link set usb0 name modem");
  netns_must ("ip link set modem up");
  netns_must ("ip route add default via 198.51.100.1 dev modem metric 200");
  expect (interfaces, "wlan0 1400, modem 1280");
  mmtp_interfaces_free (interfaces);
}

GST_END_TEST;

/* Each run of the test adds one of these routes. If `leads` is TRUE, the route
 * leads over the device usb0 to the receiver, so usb0 must be listed
 * afterwards. Otherwise usb0 must not be listed. */
GST_START_TEST (any_table_counts_and_only_what_leads_there)
{
  static const struct
  {
    const gchar *route;
    gboolean leads;
  } routes[] = {
    {"default via 198.51.100.1 dev usb0", TRUE},
    {"default via 198.51.100.1 dev usb0 table 102", TRUE},
    {"203.0.113.0/24 via 198.51.100.1 dev usb0 table 4711", TRUE},
    {"203.0.113.1/32 via 198.51.100.1 dev usb0", TRUE},
    {"128.0.0.0/1 via 198.51.100.1 dev usb0", TRUE},
    {"203.0.112.0/23 via 198.51.100.1 dev usb0", TRUE},
    {"203.0.113.0/31 via 198.51.100.1 dev usb0", TRUE},
    {"203.0.113.1 nexthop via 198.51.100.1 dev usb0 nexthop via 192.0.2.1 dev "
          "wlan0", TRUE},
    {"0.0.0.0/1 via 198.51.100.1 dev usb0", FALSE},
    {"203.0.113.2/31 via 198.51.100.1 dev usb0", FALSE},
    {"203.0.112.0/24 via 198.51.100.1 dev usb0 table 102", FALSE},
    {"203.0.113.2 via 198.51.100.1 dev usb0", FALSE},
    {"unreachable 203.0.113.1", FALSE},
  };
  const gchar *route = routes[__i__].route;
  MmtpInterfaces *interfaces;
  gchar *command;

  if (!netns_make ("any_table_counts_and_only_what_leads_there"))
    return;
  make_routes ();
  netns_must ("ip route delete default via 198.51.100.1 dev usb0");
  interfaces = interfaces_new (REMOTE);
  assert_found (interfaces, "wlan0 1500");
  command = g_strconcat ("ip route add ", route, NULL);
  netns_must (command);
  if (routes[__i__].leads)
    expect (interfaces, "wlan0 1500, usb0 1280");
  else
    expect_same (interfaces);
  g_free (command);
  mmtp_interfaces_free (interfaces);
}

GST_END_TEST;

GST_START_TEST (ipv6_needs_an_address_that_is_ready)
{
  MmtpInterfaces *interfaces;

  if (!netns_make ("ipv6_needs_an_address_that_is_ready"))
    return;
  make_routes ();
  interfaces = interfaces_new ("2001:db8:9::1");
  assert_found (interfaces, "");
  netns_must ("ip -6 route add default via fe80::1 dev wlan0");
  netns_must ("ip -6 route add default via fe80::1 dev usb0 table 102");
  /* The receiver is not on a link of this host, so a packet with a link-local
   * source address cannot reach it. Each interface must be listed only after it
   * has a global address. */
  netns_must ("ip address add 2001:db8:1::7/64 dev wlan0");
  expect (interfaces, "wlan0 1500");
  netns_must ("ip address add 2001:db8:2::9/64 dev usb0 nodad");
  expect (interfaces, "wlan0 1500, usb0 1280");
  mmtp_interfaces_free (interfaces);
}

GST_END_TEST;

GST_START_TEST (link_local_receiver_is_on_its_link)
{
  MmtpInterfaces *interfaces;

  if (!netns_make ("link_local_receiver_is_on_its_link"))
    return;
  netns_must ("ip link set wlan0 up");
  netns_must ("ip link set usb0 up");
  netns_must ("ip address add fe80::7/64 dev wlan0 nodad");
  netns_must ("ip address add fe80::9/64 dev usb0 nodad");
  interfaces = interfaces_new ("fe80::1%wlan0");
  assert_found (interfaces, "wlan0 1500");
  mmtp_interfaces_free (interfaces);
}

GST_END_TEST;

/* Packets from the host to itself use the loopback interface, whichever other
 * routes exist. Only the loopback interface must be listed. */
GST_START_TEST (to_ourselves_leads_loopback)
{
  static const gchar *const remotes[] = { "127.0.0.1", "192.0.2.7", "::1" };
  MmtpInterfaces *interfaces;

  if (!netns_make ("to_ourselves_leads_loopback"))
    return;
  make_routes ();
  interfaces = interfaces_new (remotes[__i__]);
  assert_found (interfaces, "lo 65536");
  mmtp_interfaces_free (interfaces);
}

GST_END_TEST;

static void
run_batch (const gchar * commands)
{
  gchar *path = NULL, *command;
  gint fd = g_file_open_tmp (NULL, &path, NULL);

  fail_unless (fd >= 0);
  fail_unless (g_file_set_contents (path, commands, -1, NULL));
  command = g_strconcat ("ip -batch ", path, NULL);
  netns_must (command);
  remove (path);
  close (fd);
  g_free (command);
  g_free (path);
}

/* The kernel sends more netlink notifications than the socket can hold, and
 * reports that some were lost. The list of interfaces must nevertheless be
 * correct: the program must read the complete list again. */
GST_START_TEST (storm_of_changes_loses_nothing)
{
  GString *batch = g_string_new (NULL);
  MmtpInterfaces *interfaces;
  guint i;

  if (netns_make ("storm_of_changes_loses_nothing")) {
    make_routes ();
    interfaces = interfaces_new (REMOTE);
    for (i = 0; i < 5000; i++)
      g_string_append_printf (batch, "route add 10.%u.%u.0/24 dev wlan0\n",
          i / 250, i % 250);
    g_string_append (batch, "link set usb0 down\n");
    run_batch (batch->str);
    fail_unless (is_readable (interfaces, TIMEOUT));
    fail_unless (mmtp_interfaces_update (interfaces));
    assert_found (interfaces, "wlan0 1500");
    mmtp_interfaces_free (interfaces);
  }
  g_string_free (batch, TRUE);
}

GST_END_TEST;

static Suite *
mmtpinterfaces_suite (void)
{
  Suite *suite = suite_create ("mmtpinterfaces");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, interface_has_to_be_up_with_address_and_route);
  tcase_add_test (tcase, interfaces_come_and_go);
  tcase_add_test (tcase, mtu_and_name_are_followed);
  tcase_add_loop_test (tcase, any_table_counts_and_only_what_leads_there, 0,
      13);
  tcase_add_test (tcase, ipv6_needs_an_address_that_is_ready);
  tcase_add_test (tcase, link_local_receiver_is_on_its_link);
  tcase_add_loop_test (tcase, to_ourselves_leads_loopback, 0, 3);
  tcase_add_test (tcase, storm_of_changes_loses_nothing);
  return suite;
}

GST_CHECK_MAIN (mmtpinterfaces);

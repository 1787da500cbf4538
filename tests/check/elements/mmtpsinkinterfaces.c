/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests how mmtpsink reacts when a network interface goes down or has a small
 * MTU. The tests run in a network namespace of their own. If the process may
 * not create a namespace, they report that they are skipped.
 */

#define _GNU_SOURCE             /* unshare */

#include "mmtploopback.h"
#include "networknamespace.h"

static gpointer
push_one (gpointer data)
{
  return GINT_TO_POINTER (gst_harness_push (data,
          loopback_make_buffer (0, 1000)));
}

static guint
count_channels (LoopbackEnd * sink)
{
  GstStructure *stats;
  guint n;

  g_object_get (sink->element, "stats", &stats, NULL);
  n = gst_value_array_get_size (gst_structure_get_value (stats, "channels"));
  gst_structure_free (stats);
  return n;
}

/* The ways to select wlan0. */
static const struct
{
  const gchar *host, *channels, *bonding_addresses;
} ways[] = {
  {"192.0.2.9", "auto", NULL},
  {"192.0.2.9", "wlan0", NULL},
  {"192.0.2.9", "", NULL},
  {"localhost", "wlan0->192.0.2.9:5004", NULL},
  {"localhost", "192.0.2.1->192.0.2.9", NULL},
  {"localhost", "auto", "192.0.2.9:5004"},
};

/* When its only interface goes down, mmtpsink must post an error immediately,
 * even if no interface has gone down before. It must do this no matter how the
 * interface was selected: by its name, by an address, or automatically. */
GST_START_TEST (an_interface_that_goes_down_is_seen_at_once)
{
  GThread *thread;
  gchar *text;
  LoopbackEnd sink;

  if (!netns_make ("an_interface_that_goes_down_is_seen_at_once"))
    return;
  netns_must ("ip address add 192.0.2.1/24 dev wlan0");
  netns_must ("ip link set wlan0 up");
  mmtp_loopback_sink_init (&sink, "host", ways[__i__].host, "channels",
      ways[__i__].channels,
      "bonding-addresses", ways[__i__].bonding_addresses, "auto-reconnect",
      FALSE, "peer-timeout", 10000, NULL);
  gst_harness_set_src_caps_str (sink.harness, CAPS);
  thread = g_thread_new ("push", push_one, sink.harness);
  while (count_channels (&sink) == 0)
    g_usleep (1000);

  netns_must ("ip link set wlan0x down");
  text = loopback_pop_error (&sink);
  fail_unless (strstr (text, "its interface went down"), "%s", text);
  g_free (text);
  fail_unless_equals_int (GPOINTER_TO_INT (g_thread_join (thread)),
      GST_FLOW_ERROR);
  loopback_end_clear (&sink);
}

GST_END_TEST;

GST_START_TEST (an_mtu_that_is_too_small_is_told)
{
  GThread *thread;
  gchar *text;
  LoopbackEnd sink;

  if (!netns_make ("an_mtu_that_is_too_small_is_told"))
    return;
  netns_must ("ip address add 192.0.2.1/24 dev wlan0");
  netns_must ("ip link set wlan0 mtu 155");
  netns_must ("ip link set wlan0 up");
  mmtp_loopback_sink_init (&sink, "host", "192.0.2.9", "channels", "wlan0",
      "auto-reconnect", FALSE, "peer-timeout", 10000, NULL);
  gst_harness_set_src_caps_str (sink.harness, CAPS);
  thread = g_thread_new ("push", push_one, sink.harness);
  text = loopback_pop_error (&sink);
  fail_unless (strstr (text, "156 bytes") != NULL, "%s", text);
  g_free (text);
  fail_unless_equals_int (GPOINTER_TO_INT (g_thread_join (thread)),
      GST_FLOW_ERROR);
  loopback_end_clear (&sink);
}

GST_END_TEST;

static Suite *
mmtpsinkinterfaces_suite (void)
{
  Suite *suite = suite_create ("mmtpsinkinterfaces");
  TCase *tcase = tcase_create ("general");

  tcase_set_timeout (tcase, 60);
  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, an_interface_that_goes_down_is_seen_at_once, 0,
      G_N_ELEMENTS (ways));
  tcase_add_test (tcase, an_mtu_that_is_too_small_is_told);
  return suite;
}

GST_CHECK_MAIN (mmtpsinkinterfaces);

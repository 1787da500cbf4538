/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests how the network elements deal with URIs. The elements share one
 * implementation. The tests check which keys a URI may set, and how other keys
 * are refused.
 */

#include <gst/check/gstcheck.h>

#include <string.h>

#define SECRET "00112233445566778899aabbccddeeff"

#define SINK_KEYS "wait-for-connection, auto-reconnect, blocking, " \
    "max-live-wait, peer-timeout, drain-timeout"
#define DCCP_KEYS "host, udp-port, bind-port, encapsulation, service-code, " \
    "sequence-window, mtu, equation, ttl, qos-dscp"
#define RTP_KEYS "media, encoding-name, payload, clock-rate"

/* The keys that a URI may set on each element. Each key is the name of a
 * property. All other properties must be refused as keys. */
static const struct
{
  const gchar *factory, *scheme, *allowed;
} elements[] = {
#ifdef HAVE_MMTP
  {"mmtpsink", "mmtp", SINK_KEYS ", host, port, channels, latency, "
        "initial-delay, keepalive-interval, mtu, bitrate, framerate, "
        "retransmit, padding-bitrate, scheduler, bind-address, bind-port, gso, "
        "ttl, qos-dscp"},
  {"mmtpsrc", "mmtp", "timeout, caps, address, port, interface, latency, "
        "peer-timeout, max-latency, max-lateness, eos-at-end, " RTP_KEYS},
#endif
#ifdef HAVE_UDPLITE
  {"udplitesink", "udplite", SINK_KEYS ", host, port, coverage-mode, "
        "checksum-coverage, backend, bind-address, bind-port, ttl, ttl-mc, "
        "loop, auto-multicast, multicast-iface, qos-dscp, gso"},
  {"udplitesrc", "udplite", "caps, timeout, address, port, multicast-iface, "
        "multicast-source, auto-multicast, loop, skip-first-bytes, "
        "retrieve-sender-address, backend, min-coverage, " RTP_KEYS},
#endif
#ifdef HAVE_DCCPTHIN
  {"dccpthinsink", "dccpthin", SINK_KEYS ", " DCCP_KEYS ", bind-address, port, "
        "mode, checksum-coverage, gso, request-key-units"},
  {"dccpthinsrc", "dccpthin", "caps, timeout, " DCCP_KEYS ", address, port, "
        "mode, min-checksum-coverage, eos-at-end, peer-timeout, " RTP_KEYS},
#endif
};

static GstElement *
make_element (guint i)
{
  return gst_element_factory_make (elements[i].factory, NULL);
}

/* Checks that `element` refuses a URI with the key `key`. The error message
 * must contain the reason, this key, and a list of the permitted keys. */
static void
expect_refusal (GstElement * element, guint i, const gchar * key,
    const gchar * reason)
{
  gchar *uri = g_strdup_printf ("%s://192.0.2.7:7777?%s=" SECRET,
      elements[i].scheme, key);
  gchar *expected = g_strdup_printf ("The URI has the key \"%s\", %s. %s takes "
      "these keys from a URI: %s", key, reason, elements[i].factory,
      elements[i].allowed);
  GError *error = NULL;

  fail_if (gst_uri_handler_set_uri (GST_URI_HANDLER (element), uri, &error),
      "%s", uri);
  g_assert_error (error, GST_URI_ERROR, GST_URI_ERROR_BAD_URI);
  fail_unless_equals_string (error->message, expected);
  fail_if (strstr (error->message, SECRET), "%s", error->message);
  g_error_free (error);
  g_free (expected);
  g_free (uri);
}

static gboolean
is_listed (const gchar * list, const gchar * name)
{
  gchar **names = g_strsplit (list, ", ", -1);
  gboolean is = g_strv_contains ((const gchar * const *) names, name);

  g_strfreev (names);
  return is;
}

GST_START_TEST (property_outside_allowed_list_is_refused)
{
  GstElement *element = make_element (__i__);
  GParamSpec **pspecs;
  guint i, n, n_refused = 0;
  gchar *before, *after;

  g_object_get (element, "uri", &before, NULL);
  pspecs = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);
  for (i = 0; i < n; i++) {
    if (is_listed (elements[__i__].allowed, pspecs[i]->name)
        || pspecs[i]->flags & G_PARAM_DEPRECATED)
      continue;
    expect_refusal (element, __i__, pspecs[i]->name,
        "a property that only the application may set");
    n_refused++;
  }
  g_free (pspecs);
  /* Each element has at least five properties that a URI must not set: name,
   * parent, uri, stats-update-interval, and either buffer-size or max-bytes.
   * The test must therefore have checked at least five refusals. */
  fail_unless (n_refused >= 5);
  /* A refused URI must not have changed any part of the element's URI, not even
   * the host. */
  g_object_get (element, "uri", &after, NULL);
  fail_unless_equals_string (after, before);
  g_free (before);
  g_free (after);
  gst_object_unref (element);
}

GST_END_TEST;

GST_START_TEST (an_unknown_key_is_refused)
{
  GstElement *element = make_element (__i__);

  expect_refusal (element, __i__, "no-such-key", "which is not known");
  gst_object_unref (element);
}

GST_END_TEST;

/* A URI may come from somebody who is not trusted, so it must not set any
 * property in the list `never`. The test fails if one of these properties is
 * added to the list `allowed`. */
GST_START_TEST (no_uri_sets_secrets_or_limits)
{
  static const gchar *const never[] = { "key", "max-bytes", "max-packets",
    "buffer-size", "allowed-senders", "socket", "close-socket", "clients",
    "stats-update-interval", "stats-interval", "name", "uri"
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (never); i++)
    fail_if (is_listed (elements[__i__].allowed, never[i]), "%s", never[i]);
}

GST_END_TEST;

GST_START_TEST (the_handler_knows_its_type_and_scheme)
{
  GstElement *element = make_element (__i__);
  GstURIHandler *handler = GST_URI_HANDLER (element);
  const gchar *const *protocols = gst_uri_handler_get_protocols (handler);

  fail_unless_equals_int (gst_uri_handler_get_uri_type (handler),
      g_str_has_suffix (elements[__i__].factory, "src") ? GST_URI_SRC :
      GST_URI_SINK);
  fail_unless_equals_string (protocols[0], elements[__i__].scheme);
  fail_unless (protocols[1] == NULL);
  gst_object_unref (element);
}

GST_END_TEST;

static void
expect_error_of_start (GstElement * element, const gchar * key)
{
  GstBus *bus = gst_bus_new ();
  GError *error = NULL;
  GstMessage *message;

  gst_element_set_bus (element, bus);
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
      GST_STATE_CHANGE_FAILURE);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_parse_error (message, &error, NULL);
  g_assert_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS);
  fail_unless (strstr (error->message, key) != NULL, "%s", error->message);
  fail_if (strstr (error->message, SECRET), "%s", error->message);
  g_error_free (error);
  gst_message_unref (message);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
}

/* If a URI is set by the property `uri`, the element cannot refuse it at once,
 * because setting a property cannot fail. It must refuse to start instead. If
 * it started with its previous URI, it would use a host that the user does not
 * expect. */
GST_START_TEST (an_element_with_a_refused_uri_does_not_start)
{
  GstElement *element = make_element (__i__);
  const gchar *scheme = elements[__i__].scheme;
  gchar *bad = g_strdup_printf ("%s://127.0.0.1:7777?max-bytes=" SECRET,
      scheme);
  /* With port 0, a source listens on any free port, so the test does not depend
   * on a certain port. */
  gchar *good = g_strdup_printf (g_str_has_suffix (elements[__i__].factory,
          "src") ? "%s://127.0.0.1?port=0" : "%s://127.0.0.1:7777", scheme);

  g_object_set (element, "uri", bad, NULL);
  expect_error_of_start (element, "\"max-bytes\"");
  /* It stays refused. */
  expect_error_of_start (element, "\"max-bytes\"");
  g_object_set (element, "uri", good, NULL);
  fail_if (gst_element_set_state (element, GST_STATE_PAUSED) ==
      GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (element, GST_STATE_NULL);
  g_free (bad);
  g_free (good);
  gst_object_unref (element);
}

GST_END_TEST;

static Suite *
networkuri_suite (void)
{
  Suite *suite = suite_create ("networkuri");
  TCase *tcase = tcase_create ("general");
  const gint n = G_N_ELEMENTS (elements);

  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, property_outside_allowed_list_is_refused, 0, n);
  tcase_add_loop_test (tcase, an_unknown_key_is_refused, 0, n);
  tcase_add_loop_test (tcase, no_uri_sets_secrets_or_limits, 0, n);
  tcase_add_loop_test (tcase, the_handler_knows_its_type_and_scheme, 0, n);
  tcase_add_loop_test (tcase, an_element_with_a_refused_uri_does_not_start, 0,
      n);
  return suite;
}

GST_CHECK_MAIN (networkuri);

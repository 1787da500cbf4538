/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* If a source cannot open its socket, it must post exactly one error message.
 */

#include <gst/check/gstcheck.h>
#include <string.h>

/* The source must post an error of its own. If it posted none, GstBaseSrc would
 * post a useless one, which says "some element failed to post a proper error
 * message". */
GST_START_TEST (a_source_that_cannot_start_posts_one_error)
{
  static const gchar *const sources[] = {
    "mmtpsrc", "dcctpthinsrc", "udplitesrc"
  };
  GstElement *source = gst_element_factory_make (sources[__i__], NULL);
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  GError *error;

  /* RFC 5737: no host has this address. */
  g_object_set (source, "address", "192.0.2.1", NULL);
  gst_element_set_bus (source, bus);
  fail_unless_equals_int (gst_element_set_state (source, GST_STATE_PAUSED),
      GST_STATE_CHANGE_FAILURE);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (strstr (error->message, "192.0.2.1"), "%s", error->message);
  g_error_free (error);
  gst_message_unref (message);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR) == NULL);
  gst_element_set_bus (source, NULL);
  gst_element_set_state (source, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (source);
}

GST_END_TEST;

static Suite *
wronginput_suite (void)
{
  Suite *s = suite_create ("wronginput");
  TCase *tc = tcase_create ("errors");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, a_source_that_cannot_start_posts_one_error, 0, 3);
  return s;
}

GST_CHECK_MAIN (wronginput);

/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "mmtploopback.h"

void
mmtp_loopback_make_key (gchar key[KEY_DIGITS + 1])
{
  guint i;

  for (i = 0; i < KEY_DIGITS; i += 8)
    g_snprintf (key + i, 9, "%08x", g_random_int ());
}

/* Returns a NULL-terminated list of texts that an MMTP element must refuse as
 * an encryption key. Some of these texts are fixed. The others are made from
 * the valid key `valid`, by making it shorter or longer. */
static gchar **
make_weak_keys (const gchar * valid)
{
  const gchar *texts[] = {
    "", " ", "swordfish", "correct horse battery staple and more",
    "0x", NULL
  };
  GPtrArray *keys = g_ptr_array_new ();
  guint i;

  for (i = 0; texts[i]; i++)
    g_ptr_array_add (keys, g_strdup (texts[i]));
  g_ptr_array_add (keys, g_strndup (valid, 30));
  g_ptr_array_add (keys, g_strndup (valid, 31));
  g_ptr_array_add (keys, g_strndup (valid, 33));
  g_ptr_array_add (keys, g_strconcat (valid, "g0", NULL));
  g_ptr_array_add (keys, g_strconcat (valid, "\n", NULL));
  g_ptr_array_add (keys, g_strconcat (" ", valid, NULL));
  g_ptr_array_add (keys, g_strconcat ("0x", valid, NULL));
  g_ptr_array_add (keys, NULL);
  return (gchar **) g_ptr_array_free (keys, FALSE);
}

/* Checks that an element with the key `key` does not start, because this key is
 * invalid or too weak. The error must say what a key is and how to make one. */
static void
check_weak_key (const gchar * factory, const gchar * key)
{
  GstElement *element = gst_element_factory_make (factory, NULL);
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  GError *error;

  gst_element_set_bus (element, bus);
  g_object_set (element, "key", key, NULL);
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_READY),
      GST_STATE_CHANGE_FAILURE);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (g_error_matches (error, GST_RESOURCE_ERROR,
          GST_RESOURCE_ERROR_SETTINGS));
  fail_unless (strstr (error->message, "openssl rand -hex 32") != NULL, "%s",
      error->message);
  fail_unless (strstr (error->message, "128 random bits") != NULL);
  fail_if (strlen (key) > 2 && strstr (error->message, key) != NULL);
  g_error_free (error);
  gst_message_unref (message);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
}

void
mmtp_loopback_check_weak_keys (const gchar * factory)
{
  gchar key[KEY_DIGITS + 1], **weak;
  guint i;

  mmtp_loopback_make_key (key);
  weak = make_weak_keys (key);
  for (i = 0; weak[i]; i++)
    check_weak_key (factory, weak[i]);
  g_strfreev (weak);
}

void
mmtp_loopback_check_strong_keys (const gchar * factory)
{
  GstElement *element = gst_element_factory_make (factory, NULL);
  gchar key[KEY_DIGITS + 1], *texts[4] = { NULL, };
  guint i;

  mmtp_loopback_make_key (key);
  texts[1] = g_strdup (key);
  texts[2] = g_strndup (key, 32);
  texts[3] = g_ascii_strup (key, -1);
  for (i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_object_set (element, "key", texts[i], NULL);
    fail_unless_equals_int (gst_element_set_state (element, GST_STATE_READY),
        GST_STATE_CHANGE_SUCCESS);
    gst_element_set_state (element, GST_STATE_NULL);
    g_free (texts[i]);
  }
  gst_object_unref (element);
}

void
mmtp_loopback_src_init (LoopbackEnd * end, const gchar * first_property, ...)
{
  va_list values;

  va_start (values, first_property);
  loopback_src_init (end, "mmtpsrc", first_property, values);
  va_end (values);
  g_object_set (end->element, "port", 0, NULL);
}

void
mmtp_loopback_sink_init (LoopbackEnd * end, const gchar * first_property, ...)
{
  va_list values;

  va_start (values, first_property);
  loopback_sink_init (end, "mmtpsink", first_property, values);
  va_end (values);
}

void
mmtp_loopback_fixture_init_src (LoopbackFixture * fixture,
    const gchar * address)
{
  mmtp_loopback_src_init (&fixture->src, "address", address, NULL);
  gst_harness_play (fixture->src.harness);
}

void
mmtp_loopback_fixture_init_sink (LoopbackFixture * fixture, const gchar * host,
    const gchar * channels)
{
  mmtp_loopback_sink_init (&fixture->sink, "host", host, "port",
      loopback_port_of (&fixture->src), "channels", channels, NULL);
  gst_harness_set_src_caps_str (fixture->sink.harness, CAPS);
}

void
mmtp_loopback_fixture_init (LoopbackFixture * fixture, const gchar * channels)
{
  mmtp_loopback_fixture_init_src (fixture, "127.0.0.1");
  mmtp_loopback_fixture_init_sink (fixture, "127.0.0.1", channels);
}

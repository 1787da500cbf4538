/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of deprecated names of properties and of deprecated names of their
 * values.
 * - If a property is set by its old name, the property with the new name must
 *   be set. If the two names have different units, the value must be converted.
 * - If a property is set by its new name and read by its old name, the result
 *   must be the same value in the unit of the old name.
 */

#include <gst/check/gstcheck.h>

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define NETWORK_SINK(factory) \
  {factory, "timeout", "3000000000", "peer-timeout", "3000"}, \
  {factory, "timeout", "1", "peer-timeout", "1"}, \
  {factory, "timeout", "0", "peer-timeout", "0"}, \
  {factory, "eos-timeout", "1500000000", "drain-timeout", "1500"}
#define STATS(factory) \
  {factory, "stats-interval", "2000000000", "stats-update-interval", "2000"}

/* *INDENT-OFF* */
static const struct
{
  const gchar *factory, *old_name, *old_value, *new_name, *new_value;
} names[] = {
#ifdef HAVE_MMTP
  NETWORK_SINK ("mmtpsink"),
  STATS ("mmtpsink"),
  STATS ("mmtpsrc"),
  {"mmtpsink", "bonding-addresses", "192.0.2.1:7", "channels",
      "->192.0.2.1:7?name=192.0.2.1:7"},
#endif
#ifdef HAVE_IFD
  NETWORK_SINK ("ifdsink"),
  STATS ("ifdsink"),
  STATS ("ifdqueue"),
#endif
#ifdef HAVE_UDPLITE
  NETWORK_SINK ("udplitesink"),
  STATS ("udplitesink"),
  STATS ("udplitesrc"),
  {"udplitesrc", "multicast-group", "239.1.2.3", "address", "239.1.2.3"},
#endif
#ifdef HAVE_DCCPTHIN
  NETWORK_SINK ("dccpthinsink"),
  NETWORK_SINK ("dcctpthinsink"),
  STATS ("dccpthinsink"),
  STATS ("dcctpthinsink"),
  STATS ("dccpthinsrc"),
  STATS ("dcctpthinsrc"),
  {"dccpthinsrc", "connect-timeout", "250000000", "peer-timeout", "250"},
  {"dcctpthinsrc", "connect-timeout", "250000000", "peer-timeout", "250"},
  /* names of values */
  {"dccpthinsink", "mode", "connect", "mode", "caller"},
  {"dccpthinsink", "mode", "listen", "mode", "listener"},
  {"dccpthinsrc", "mode", "connect", "mode", "caller"},
  {"dccpthinsrc", "mode", "listen", "mode", "listener"},
#endif
#ifdef HAVE_MPEGSTAT
  STATS ("mpegstat"),
#endif
#ifdef HAVE_BITRATEADAPT
  STATS ("bitrateadapt"),
#endif
#ifdef HAVE_WIRELESSLINK
  STATS ("wirelesslink"),
  {"wirelesslink", "delay", "40000000", "delay-ms", "40"},
  {"wirelesslink", "delay", "500000", "delay-ms", "0.5"},
  {"wirelesslink", "delay-down", "7000000", "delay-down-ms", "7"},
  {"wirelesslink", "jitter", "5000000", "jitter-ms", "5"},
  {"wirelesslink", "reorder-delay", "3000000", "reorder-delay-ms", "3"},
  {"wirelesslink", "queue-time", "300000000", "queue-time-ms", "300"},
#endif
};
/* *INDENT-ON* */

static gchar *
get_text (GstElement * element, const gchar * name)
{
  GParamSpec *pspec =
      g_object_class_find_property (G_OBJECT_GET_CLASS (element), name);
  GValue value = G_VALUE_INIT;
  gchar *text;

  fail_unless (pspec != NULL, "%s", name);
  g_value_init (&value, pspec->value_type);
  g_object_get_property (G_OBJECT (element), name, &value);
  text = G_VALUE_HOLDS_STRING (&value) ? g_value_dup_string (&value) :
      gst_value_serialize (&value);
  g_value_unset (&value);
  return text;
}

static void
expect (GstElement * element, const gchar * name, const gchar * expected)
{
  gchar *text = get_text (element, name);

  fail_unless_equals_string (text, expected);
  g_free (text);
}

GST_START_TEST (an_old_name_sets_what_the_new_one_has)
{
  gchar *line = g_strdup_printf ("%s %s=%s", names[__i__].factory,
      names[__i__].old_name, names[__i__].old_value);
  GError *error = NULL;
  GstElement *element = gst_parse_launch (line, &error);

  g_assert_no_error (error);
  expect (element, names[__i__].new_name, names[__i__].new_value);
  gst_object_unref (element);
  g_free (line);
}

GST_END_TEST;

GST_START_TEST (an_old_name_reads_what_the_new_one_set)
{
  GstElement *element = gst_element_factory_make (names[__i__].factory, NULL);

  gst_util_set_object_arg (G_OBJECT (element), names[__i__].new_name,
      names[__i__].new_value);
  expect (element, names[__i__].new_name, names[__i__].new_value);
  if (g_str_has_suffix (names[__i__].old_value, "000000"))
    expect (element, names[__i__].old_name, names[__i__].old_value);
  gst_object_unref (element);
}

GST_END_TEST;

/* One day in ms. This is the maximum of each property that has a duration in
 * ms. If a user sets such a property in ns by mistake, the value is usually
 * larger than a day, so GLib refuses it. */
#define DAY 86400000

GST_START_TEST (milliseconds_are_at_most_a_day)
{
  GstElement *element = gst_element_factory_make (names[__i__].factory, NULL);
  GParamSpec **specs;
  guint i, n;

  specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);
  for (i = 0; i < n; i++) {
    if (!strstr (g_param_spec_get_blurb (specs[i]), "(ms"))
      continue;
    if (G_IS_PARAM_SPEC_UINT (specs[i]))
      fail_unless (G_PARAM_SPEC_UINT (specs[i])->maximum <= DAY, "%s",
          specs[i]->name);
    else
      fail_unless (G_PARAM_SPEC_DOUBLE (specs[i])->maximum <= DAY, "%s",
          specs[i]->name);
  }
  g_free (specs);
  gst_object_unref (element);
}

GST_END_TEST;

#ifdef HAVE_MMTP
GST_START_TEST (ns_under_a_new_name_are_refused)
{
  static const struct
  {
    const gchar *name;
    guint value;
    gboolean is_refused;
  } cases[] = {
    {"drain-timeout", 2000, FALSE},
    {"drain-timeout", DAY, FALSE},
    {"drain-timeout", DAY + 1, TRUE},
    {"drain-timeout", 2000000000, TRUE},
    /* When GStreamer's parser reads the number 5000000000, it truncates the
     * number to 32 bits. This cast does the same. */
    {"peer-timeout", (guint) G_GUINT64_CONSTANT (5000000000), TRUE},
  };
  GstElement *sink = gst_element_factory_make ("mmtpsink", NULL);
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (sink),
        cases[i].name);
    GValue value = G_VALUE_INIT;

    g_value_init (&value, G_TYPE_UINT);
    g_value_set_uint (&value, cases[i].value);
    fail_unless_equals_int (g_param_value_validate (pspec, &value),
        cases[i].is_refused);
    g_value_unset (&value);
  }
  gst_object_unref (sink);
}

GST_END_TEST;
#endif

/* --- warnings ------------------------------------------------------------- */

/* Sets a property of a new element twice, and returns what GStreamer logs
 * meanwhile. To read the log, the function redirects the standard error to a
 * file. gst_debug_add_log_function () would leak memory, because GStreamer
 * never frees its list of log functions. */
static gchar *
set_twice_and_read_log (const gchar * factory, const gchar * name,
    const gchar * value)
{
  GstElement *element = gst_element_factory_make (factory, "old");
  GstDebugLevel before = gst_debug_get_default_threshold ();
  gint file, standard_error = dup (STDERR_FILENO);
  gchar *path, *text;

  file = g_file_open_tmp ("oldnames-XXXXXX.log", &path, NULL);
  fail_unless (file >= 0 && standard_error >= 0);
  fail_unless (dup2 (file, STDERR_FILENO) >= 0);
  gst_debug_set_default_threshold (GST_LEVEL_WARNING);
  gst_util_set_object_arg (G_OBJECT (element), name, value);
  gst_util_set_object_arg (G_OBJECT (element), name, value);
  gst_debug_set_default_threshold (before);
  dup2 (standard_error, STDERR_FILENO);
  close (standard_error);
  close (file);
  fail_unless (g_file_get_contents (path, &text, NULL, NULL));
  g_unlink (path);
  g_free (path);
  gst_object_unref (element);
  return text;
}

/* Returns the log category of the element that `factory` makes. The names that
 * begin with "dcctp" are aliases of dccpthinsink and dccpthinsrc, and use the
 * categories of these elements. */
static const gchar *
get_category (const gchar * factory)
{
  if (g_str_has_prefix (factory, "dcctp"))
    return strstr (factory, "sink") ? "dccpthinsink" : "dccpthinsrc";
  return factory;
}

static gchar *
get_expected_warning (guint i)
{
  const gchar *old_name = names[i].old_name, *new_name = names[i].new_name;

  if (g_str_equal (old_name, new_name))
    return g_strdup_printf ("The value %s of the property %s is deprecated: "
        "use %s=%s\n", names[i].old_value, old_name, new_name,
        names[i].new_value);
  if (g_ascii_isdigit (*names[i].old_value) && !strchr (names[i].old_value,
          '.'))
    return g_strdup_printf ("The property %s is deprecated: use %s, which is "
        "in ms (%s is in ns)\n", old_name, new_name, old_name);
  return g_strdup_printf ("The property %s is deprecated: use %s\n", old_name,
      new_name);
}

/* A property is set twice by its old name. Only one warning must be logged. It
 * must be one line, in the log category of the element. */
GST_START_TEST (an_old_name_is_logged_once)
{
  const gchar *category = get_category (names[__i__].factory);
  gchar *text = set_twice_and_read_log (names[__i__].factory,
      names[__i__].old_name, names[__i__].old_value);
  gchar *expected = get_expected_warning (__i__);
  gchar **parts = g_strsplit (text, expected, 2), **words;

  fail_unless_equals_int (g_strv_length (parts), 2);
  fail_if (strstr (parts[0], "deprecated") || strstr (parts[1], "deprecated"),
      "%s", text);
  words = g_strsplit (parts[0], " ", -1);
  fail_unless (g_strv_contains ((const gchar * const *) words, category),
      "not in category %s: %s", category, text);
  g_strfreev (words);
  g_strfreev (parts);
  g_free (expected);
  g_free (text);
}

GST_END_TEST;

static gboolean
is_listed (const gchar * factory, const gchar * name)
{
  guint i;

  for (i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (names[i].factory, factory)
        && g_str_equal (names[i].old_name, name))
      return TRUE;
  return FALSE;
}

/* Each deprecated property of an element must have a row in the table `names`,
 * because only the properties in this table are tested. */
GST_START_TEST (every_deprecated_property_is_tested)
{
  const gchar *factory = names[__i__].factory;
  GstElement *element = gst_element_factory_make (factory, NULL);
  GParamSpec **specs;
  guint i, n;

  specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);
  for (i = 0; i < n; i++) {
    /* Properties that the base classes of GStreamer have deprecated are not
     * part of this project, so they are left out. */
    if (!(specs[i]->flags & G_PARAM_DEPRECATED)
        || g_str_has_prefix (g_type_name (specs[i]->owner_type), "GstBase"))
      continue;
    fail_unless (is_listed (factory, specs[i]->name), "%s of %s",
        specs[i]->name, factory);
    fail_unless (g_str_has_prefix (g_param_spec_get_blurb (specs[i]),
            "Deprecated: use "), "%s of %s", specs[i]->name, factory);
  }
  g_free (specs);
  gst_object_unref (element);
}

GST_END_TEST;

#ifdef HAVE_DCCPTHIN
GST_START_TEST (a_uri_may_have_old_names)
{
  static const gchar *const uris[] = {
    "dccpthin://192.0.2.7:7777?mode=listen&timeout=5000000000",
    "dccpthin://192.0.2.7:7777?mode=listener&peer-timeout=5000",
  };
  GstElement *sink = gst_element_factory_make ("dccpthinsink", NULL);

  fail_unless (gst_uri_handler_set_uri (GST_URI_HANDLER (sink), uris[__i__],
          NULL));
  expect (sink, "mode", "listener");
  expect (sink, "peer-timeout", "5000");
  expect (sink, "bind-address", "192.0.2.7");
  expect (sink, "host", "localhost");
  gst_object_unref (sink);
}

GST_END_TEST;
#endif

static Suite *
oldnames_suite (void)
{
  Suite *suite = suite_create ("oldnames");
  TCase *tcase = tcase_create ("general");
  const gint n = G_N_ELEMENTS (names);

  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, an_old_name_sets_what_the_new_one_has, 0, n);
  tcase_add_loop_test (tcase, an_old_name_reads_what_the_new_one_set, 0, n);
  tcase_add_loop_test (tcase, every_deprecated_property_is_tested, 0, n);
  tcase_add_loop_test (tcase, milliseconds_are_at_most_a_day, 0, n);
#ifdef HAVE_MMTP
  tcase_add_test (tcase, ns_under_a_new_name_are_refused);
#endif
  tcase_add_loop_test (tcase, an_old_name_is_logged_once, 0, n);
#ifdef HAVE_DCCPTHIN
  tcase_add_loop_test (tcase, a_uri_may_have_old_names, 0, 2);
#endif
  return suite;
}

GST_CHECK_MAIN (oldnames);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the functions that install GObject properties from tables. The class
 * of this test has two tables of properties. Together, the two tables have a
 * row for each kind of property. */

#include <gst/check/gstcheck.h>

#include "gstwirelessproperties.h"

typedef struct
{
  gchar *text, *host;
  gboolean flag;
  gint number;
  guint count;
  guint64 size;
  gint format;
  gint fraction[2];
  GObject *object;
  guint64 duration;             /* ns */
} Settings;

typedef struct
{
  GstObject parent;

  GMutex lock;
  Settings settings;
  guint measured;               /* read only */
  /* Half of the value of the property `doubled`. The test has this property
   * because it needs a property with set and get functions of its own, which
   * convert the value. */
  gint doubled;
  guint n_changes;
} Thing;

typedef GstObjectClass ThingClass;

static GType thing_get_type (void);
G_DEFINE_TYPE (Thing, thing, GST_TYPE_OBJECT);

/* Called when a property has changed. self->lock is held when this function is
 * called. */
static void
note_change (gpointer object)
{
  Thing *self = object;

  fail_if (g_mutex_trylock (&self->lock));
  self->n_changes++;
}

/* The next two functions set and get the property `doubled`. They are called
 * without self->lock. */
static void
set_doubled (gpointer object, const GValue * value, GParamSpec * pspec)
{
  Thing *self = object;

  fail_unless_equals_string (pspec->name, "doubled");
  g_mutex_lock (&self->lock);
  self->doubled = g_value_get_int (value) / 2;
  g_mutex_unlock (&self->lock);
}

static void
get_doubled (gpointer object, GValue * value, GParamSpec * pspec)
{
  Thing *self = object;

  g_mutex_lock (&self->lock);
  g_value_set_int (value, self->doubled * 2);
  g_mutex_unlock (&self->lock);
}

#define PROPERTY_STRUCT Settings
static const GstWirelessProperty of_settings[] = {
  PROPERTY_STRING ("text", "Text", "A text", PROPERTY_READY, text, NULL),
  PROPERTY_STRING ("host", "Host", "A text that is always there",
      PROPERTY_READY | PROPERTY_URI | PROPERTY_NOT_NULL, host, "localhost"),
  PROPERTY_BOOLEAN ("flag", "Flag", "A boolean", PROPERTY_PLAYING, flag, TRUE),
  PROPERTY_INT ("number", "Number", "A number", PROPERTY_PLAYING, number, -5,
      5, -3,
      .changed = note_change),
  PROPERTY_UINT ("count", "Count", "A number without a sign", PROPERTY_PLAYING,
      count, 1, G_MAXUINT, 7),
  PROPERTY_UINT64 ("size", "Size", "A large number", PROPERTY_PLAYING, size, 0,
      G_MAXUINT64, G_GUINT64_CONSTANT (1) << 40),
  PROPERTY_ENUM ("format", "Format", "An enumeration", PROPERTY_PLAYING,
      format, gst_format_get_type, GST_FORMAT_TIME),
  PROPERTY_FRACTION ("fraction", "Fraction", "A fraction", PROPERTY_PLAYING,
      fraction),
  PROPERTY_OBJECT ("object", "Object", "An object", PROPERTY_PLAYING, object,
      gst_object_get_type),
  PROPERTY_MILLISECONDS ("duration", "Duration", "A duration (ms)",
      PROPERTY_PLAYING, duration, 0, 100000, 250),
  PROPERTY_DEPRECATED_NANOSECONDS ("old-duration", "Old duration", "duration",
      PROPERTY_PLAYING, duration, G_MAXINT64, 250 * GST_MSECOND),
};

#undef PROPERTY_STRUCT
#define PROPERTY_STRUCT Thing
static const GstWirelessProperty of_thing[] = {
  PROPERTY_UINT ("measured", "Measured", "Read only", PROPERTY_READABLE,
      measured, 0, 100, 0),
  PROPERTY_COMPUTED ("doubled", "Doubled", "Computed", PROPERTY_PLAYING,
      G_TYPE_INT,
      .minimum = -10,
      .maximum = 10,
      .set = set_doubled,
      .get = get_doubled),
};

static void
thing_finalize (GObject * object)
{
  Thing *self = (Thing *) object;

  gst_wireless_properties_clear (self, thing_get_type ());
  fail_unless (self->settings.text == NULL);
  fail_unless (self->settings.host == NULL);
  fail_unless (self->settings.object == NULL);
  g_mutex_clear (&self->lock);
  G_OBJECT_CLASS (thing_parent_class)->finalize (object);
}

static void
thing_class_init (ThingClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->finalize = thing_finalize;
  gst_wireless_properties_install (object_class, of_settings,
      G_N_ELEMENTS (of_settings), G_STRUCT_OFFSET (Thing, settings),
      G_STRUCT_OFFSET (Thing, lock));
  gst_wireless_properties_install (object_class, of_thing,
      G_N_ELEMENTS (of_thing), 0, G_STRUCT_OFFSET (Thing, lock));
}

static void
thing_init (Thing * self)
{
  g_mutex_init (&self->lock);
  gst_wireless_properties_init (self, thing_get_type ());
}

static Thing *
thing_new (void)
{
  return (Thing *) gst_object_ref_sink (g_object_new (thing_get_type (), NULL));
}

static GParamSpec *
find (Thing * thing, const gchar * name)
{
  return g_object_class_find_property (G_OBJECT_GET_CLASS (thing), name);
}

GST_START_TEST (members_begin_with_the_defaults)
{
  static const gchar *const names[] = { "text", "host", "flag", "number",
    "count", "size", "format", "fraction", "object", "duration", "old-duration",
    "measured", "doubled"
  };
  Thing *thing = thing_new ();
  guint i;

  for (i = 0; i < G_N_ELEMENTS (names); i++) {
    GParamSpec *pspec = find (thing, names[i]);
    GValue value = G_VALUE_INIT;

    g_value_init (&value, pspec->value_type);
    g_object_get_property (G_OBJECT (thing), names[i], &value);
    fail_unless (g_param_value_defaults (pspec, &value), "%s", names[i]);
    g_value_unset (&value);
  }
  fail_unless_equals_string (thing->settings.host, "localhost");
  fail_unless_equals_int (thing->settings.number, -3);
  fail_unless_equals_uint64 (thing->settings.size,
      G_GUINT64_CONSTANT (1) << 40);
  fail_unless_equals_int (thing->settings.format, GST_FORMAT_TIME);
  fail_unless_equals_int (thing->n_changes, 0);
  gst_object_unref (thing);
}

GST_END_TEST;

GST_START_TEST (property_value_is_stored_and_read_back)
{
  Thing *thing = thing_new ();
  GstObject *object = GST_OBJECT (thing_new ()), *found_object;
  gchar *text, *host;
  gboolean flag;
  gint number, n, d, doubled;
  guint count, measured;
  guint64 size;
  GstFormat format;

  thing->measured = 42;
  g_object_set (thing, "text", "a", "host", "b", "flag", FALSE, "number", 5,
      "count", G_MAXUINT, "size", G_MAXUINT64, "format", GST_FORMAT_BYTES,
      "fraction", 30000, 1001, "object", object, "doubled", 8, NULL);
  fail_unless_equals_int (thing->settings.number, 5);
  fail_unless_equals_int (thing->doubled, 4);
  g_object_get (thing, "text", &text, "host", &host, "flag", &flag, "number",
      &number, "count", &count, "size", &size, "format", &format, "fraction",
      &n, &d, "object", &found_object, "doubled", &doubled, "measured",
      &measured, NULL);
  fail_unless_equals_string (text, "a");
  fail_unless_equals_string (host, "b");
  fail_unless_equals_int (flag, FALSE);
  fail_unless_equals_int (number, 5);
  fail_unless_equals_uint64 (count, G_MAXUINT);
  fail_unless_equals_uint64 (size, G_MAXUINT64);
  fail_unless_equals_int (format, GST_FORMAT_BYTES);
  fail_unless_equals_int (n, 30000);
  fail_unless_equals_int (d, 1001);
  fail_unless (found_object == object);
  fail_unless_equals_int (doubled, 8);
  fail_unless_equals_int (measured, 42);
  fail_unless_equals_int (thing->n_changes, 1);
  g_free (text);
  g_free (host);
  gst_object_unref (found_object);
  gst_object_unref (object);
  gst_object_unref (thing);
}

GST_END_TEST;

/* The test sets a duration by an old property in ns or by a new property in ms.
 * The duration is stored in ns. Both properties must then return this duration,
 * which the new property rounds up to whole ms. */
GST_START_TEST (a_duration_has_a_new_name_in_ms_and_an_old_one_in_ns)
{
  static const struct
  {
    guint64 nanoseconds;
    guint milliseconds;
  } durations[] = {
    {0, 0}, {1, 1}, {GST_MSECOND, 1}, {GST_MSECOND + 1, 2},
    {7 * GST_SECOND, 7000}, {G_MAXINT64, G_MAXUINT},
  };
  Thing *thing = thing_new ();
  guint64 nanoseconds;
  guint milliseconds, i;

  for (i = 0; i < G_N_ELEMENTS (durations); i++) {
    g_object_set (thing, "old-duration", durations[i].nanoseconds, NULL);
    fail_unless_equals_uint64 (thing->settings.duration,
        durations[i].nanoseconds);
    g_object_get (thing, "duration", &milliseconds, "old-duration",
        &nanoseconds, NULL);
    fail_unless_equals_int (milliseconds, durations[i].milliseconds);
    fail_unless_equals_uint64 (nanoseconds, durations[i].nanoseconds);
  }
  g_object_set (thing, "duration", 40, NULL);
  fail_unless_equals_uint64 (thing->settings.duration, 40 * GST_MSECOND);
  g_object_get (thing, "old-duration", &nanoseconds, NULL);
  fail_unless_equals_uint64 (nanoseconds, 40 * GST_MSECOND);
  fail_unless (find (thing, "old-duration")->flags & G_PARAM_DEPRECATED);
  fail_unless_equals_string (g_param_spec_get_blurb (find (thing,
              "old-duration")),
      "Deprecated: use duration, which is in ms; this " "one is in ns");
  gst_object_unref (thing);
}

GST_END_TEST;

/* --- a subclass with its own texts ---------------------------------------- */

typedef Thing Special;
typedef ThingClass SpecialClass;

static GType special_get_type (void);
G_DEFINE_TYPE (Special, special, thing_get_type ());

static void
special_class_init (SpecialClass * klass)
{
  gst_wireless_properties_reword (G_OBJECT_CLASS (klass), "duration",
      "A special duration (ms)");
}

static void
special_init (Special * self)
{
}

GST_START_TEST (a_subclass_may_have_another_text)
{
  Thing *thing = thing_new ();
  Thing *special = (Thing *) gst_object_ref_sink
      (g_object_new (special_get_type (), NULL));
  GParamSpec **specs;
  guint n_thing, n_special, milliseconds;

  fail_unless_equals_string (g_param_spec_get_blurb (find (thing, "duration")),
      "A duration (ms)");
  fail_unless_equals_string (g_param_spec_get_blurb (find (special,
              "duration")), "A special duration (ms)");
  g_object_set (special, "duration", 3, NULL);
  fail_unless_equals_uint64 (special->settings.duration, 3 * GST_MSECOND);
  g_object_get (special, "duration", &milliseconds, NULL);
  fail_unless_equals_int (milliseconds, 3);
  /* The subclass has its own text for the property `duration`, but must not
   * install a second property of this name. Both classes must therefore have
   * the same number of properties. */
  specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (thing), &n_thing);
  g_free (specs);
  specs =
      g_object_class_list_properties (G_OBJECT_GET_CLASS (special), &n_special);
  g_free (specs);
  fail_unless_equals_int (n_special, n_thing);
  gst_object_unref (special);
  gst_object_unref (thing);
}

GST_END_TEST;

GST_START_TEST (null_is_the_default_where_a_text_has_to_be_there)
{
  Thing *thing = thing_new ();

  g_object_set (thing, "text", "a", "host", "b", NULL);
  g_object_set (thing, "text", NULL, "host", NULL, NULL);
  fail_unless (thing->settings.text == NULL);
  fail_unless_equals_string (thing->settings.host, "localhost");
  gst_object_unref (thing);
}

GST_END_TEST;

GST_START_TEST (rows_say_when_and_by_whom)
{
  Thing *thing = thing_new ();
  GParamSpec *host = find (thing, "host"), *count = find (thing, "count");

  fail_unless (host->flags & GST_PARAM_MUTABLE_READY);
  fail_if (host->flags & (PROPERTY_URI | PROPERTY_NOT_NULL));
  fail_unless (count->flags & GST_PARAM_MUTABLE_PLAYING);
  fail_if (find (thing, "measured")->flags & G_PARAM_WRITABLE);
  fail_unless (gst_wireless_properties_find (host) == &of_settings[1]);
  fail_unless (gst_wireless_properties_find (host)->flags & PROPERTY_URI);
  fail_if (gst_wireless_properties_find (count)->flags & PROPERTY_URI);
  fail_unless (gst_wireless_properties_find (find (thing, "doubled")) ==
      &of_thing[1]);
  /* The property `name` was installed by GstObject and not from a table of
   * properties, so gst_wireless_properties_find () must not find it. */
  fail_unless (gst_wireless_properties_find (find (thing, "name")) == NULL);
  gst_object_unref (thing);
}

GST_END_TEST;

static Suite *
properties_suite (void)
{
  Suite *suite = suite_create ("properties");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, members_begin_with_the_defaults);
  tcase_add_test (tcase, property_value_is_stored_and_read_back);
  tcase_add_test (tcase, null_is_the_default_where_a_text_has_to_be_there);
  tcase_add_test (tcase, a_duration_has_a_new_name_in_ms_and_an_old_one_in_ns);
  tcase_add_test (tcase, a_subclass_may_have_another_text);
  tcase_add_test (tcase, rows_say_when_and_by_whom);
  return suite;
}

GST_CHECK_MAIN (properties);

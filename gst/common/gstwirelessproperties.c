/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of gstwirelessproperties.h. Each element lists its properties
 * in a table. */

#include "gstwirelessproperties.h"

typedef struct _Table Table;

struct _Table
{
  const GstWirelessProperty *properties;
  guint n_properties;
  guint first_id;
  gssize settings, lock;        /* offsets in the instance */
  /* next table of the same class; NULL for the last table */
  Table *next;
};

/* A class has a list of tables of properties. The GType of the class stores the
 * first table of this list, and the GParamSpec of a property stores the table
 * that contains the property. Both use the key that this function returns.
 */
static GQuark
table_quark (void)
{
  return g_quark_from_static_string ("gst-wireless-properties");
}

/* Key under which the GType of a class stores the number of property IDs that
 * take_ids() has reserved for this class. Property IDs start with 1, so this
 * number is also the last reserved ID. */
static GQuark
number_quark (void)
{
  return g_quark_from_static_string ("gst-wireless-number-of-properties");
}

/* Reserves `n` consecutive property IDs of the class and returns the first one.
 */
static guint
take_ids (GType type, guint n)
{
  const guint number =
      GPOINTER_TO_UINT (g_type_get_qdata (type, number_quark ()));

  g_type_set_qdata (type, number_quark (), GUINT_TO_POINTER (number + n));
  return number + 1;
}

static GType
get_type (const GstWirelessProperty * property)
{
  return property->get_type ? property->get_type () : property->type;
}

/* --- a member and a value ------------------------------------------------- */

void
gst_wireless_member_set (gpointer member, const GValue * value)
{
  switch (G_TYPE_FUNDAMENTAL (G_VALUE_TYPE (value))) {
    case G_TYPE_STRING:
      g_free (*(gchar **) member);
      *(gchar **) member = g_value_dup_string (value);
      break;
    case G_TYPE_BOOLEAN:
      *(gboolean *) member = g_value_get_boolean (value);
      break;
    case G_TYPE_INT:
      *(gint *) member = g_value_get_int (value);
      break;
    case G_TYPE_ENUM:
      *(gint *) member = g_value_get_enum (value);
      break;
    case G_TYPE_UINT:
      *(guint *) member = g_value_get_uint (value);
      break;
    case G_TYPE_UINT64:
      *(guint64 *) member = g_value_get_uint64 (value);
      break;
    case G_TYPE_DOUBLE:
      *(gdouble *) member = g_value_get_double (value);
      break;
    case G_TYPE_OBJECT:
      g_set_object ((GObject **) member, g_value_get_object (value));
      break;
    default:
      g_assert (GST_VALUE_HOLDS_FRACTION (value));
      ((gint *) member)[0] = gst_value_get_fraction_numerator (value);
      ((gint *) member)[1] = gst_value_get_fraction_denominator (value);
  }
}

void
gst_wireless_member_get (gconstpointer member, GValue * value)
{
  switch (G_TYPE_FUNDAMENTAL (G_VALUE_TYPE (value))) {
    case G_TYPE_STRING:
      g_value_set_string (value, *(gchar * const *) member);
      break;
    case G_TYPE_BOOLEAN:
      g_value_set_boolean (value, *(const gboolean *) member);
      break;
    case G_TYPE_INT:
      g_value_set_int (value, *(const gint *) member);
      break;
    case G_TYPE_ENUM:
      g_value_set_enum (value, *(const gint *) member);
      break;
    case G_TYPE_UINT:
      g_value_set_uint (value, *(const guint *) member);
      break;
    case G_TYPE_UINT64:
      g_value_set_uint64 (value, *(const guint64 *) member);
      break;
    case G_TYPE_DOUBLE:
      g_value_set_double (value, *(const gdouble *) member);
      break;
    case G_TYPE_OBJECT:
      g_value_set_object (value, *(GObject * const *) member);
      break;
    default:
      g_assert (GST_VALUE_HOLDS_FRACTION (value));
      gst_value_set_fraction (value, ((const gint *) member)[0],
          ((const gint *) member)[1]);
  }
}

/* --- durations: properties in ms, members of the struct in ns ------------- */

static void
set_in_unit (const GstWirelessProperty * property, guint64 * member,
    const GValue * value)
{
  *member = g_value_get_uint (value) * property->unit;
}

/* Converts a duration from ns, the unit of the struct member, to the unit of
 * its property, such as ms. The result is rounded up, so that a short duration
 * does not become 0. The value 0 of a property often means that there is no
 * limit. */
static void
get_in_unit (const GstWirelessProperty * property, const guint64 * member,
    GValue * value)
{
  const guint64 n_units = *member / property->unit
      + (*member % property->unit != 0);

  g_value_set_uint (value, MIN (n_units, G_MAXUINT));
}

static void
init_member (const GstWirelessProperty * property, gpointer member)
{
  switch (G_TYPE_FUNDAMENTAL (get_type (property))) {
    case G_TYPE_STRING:
      g_free (*(gchar **) member);
      *(gchar **) member = g_strdup (property->initial_text);
      break;
    case G_TYPE_BOOLEAN:
    case G_TYPE_INT:
    case G_TYPE_ENUM:
      *(gint *) member = property->initial;
      break;
    case G_TYPE_UINT:
      if (property->unit)
        *(guint64 *) member = property->initial * property->unit;
      else
        *(guint *) member = property->initial;
      break;
    case G_TYPE_UINT64:
      *(guint64 *) member = property->initial;
      break;
    case G_TYPE_DOUBLE:
      *(gdouble *) member = property->double_initial;
      break;
    case G_TYPE_OBJECT:
      break;
    default:
      ((gint *) member)[1] = 1;
  }
}

/* --- set_property and get_property ---------------------------------------- */

static GMutex *
get_lock (const Table * table, gpointer object)
{
  return G_STRUCT_MEMBER_P (object, table->lock);
}

static gpointer
get_place (const Table * table, const GstWirelessProperty * property,
    gpointer object)
{
  return G_STRUCT_MEMBER_P (object,
      table->settings + (gssize) property->offset);
}

/* Key under which the GType of a class stores the log category for warnings
 * about deprecated properties */
static GQuark
category_quark (void)
{
  return g_quark_from_static_string ("gst-wireless-category");
}

/* Key of a flag that is stored in an object with g_object_set_qdata (). If the
 * flag is set, the object logs no warnings about deprecated properties. */
static GQuark
silence_quark (void)
{
  return g_quark_from_static_string ("gst-wireless-silence");
}

void
gst_wireless_properties_set_category (GObjectClass * klass,
    GstDebugCategory * category)
{
  g_type_set_qdata (G_OBJECT_CLASS_TYPE (klass), category_quark (), category);
}

static GstDebugCategory *
get_category (gpointer object)
{
  GType type;
  GstDebugCategory *category = NULL;

  for (type = G_OBJECT_TYPE (object); type && !category;
      type = g_type_parent (type))
    category = g_type_get_qdata (type, category_quark ());
  return category ? category : GST_CAT_DEFAULT;
}

void
gst_wireless_properties_silence (gpointer object)
{
  g_object_set_qdata (object, silence_quark (), GINT_TO_POINTER (TRUE));
}

/* Returns TRUE if `object` has to log a warning about `what`, the name or value
 * of a deprecated property. This is the case only at the first use of `what`,
 * and only if the warnings of `object` are not disabled. */
static gboolean
is_first_use (gpointer object, const gchar * what)
{
  gchar *key = g_strconcat ("gst-wireless-warned-of-", what, NULL);
  gboolean is_first = !g_object_get_qdata (object, silence_quark ())
      && !g_object_get_data (object, key);

  g_object_set_data (object, key, GINT_TO_POINTER (TRUE));
  g_free (key);
  return is_first;
}

static void
warn_of_deprecation (GObject * object, const GstWirelessProperty * property)
{
  const gchar *name = property->name;

  if (!is_first_use (object, name))
    return;
  /* All deprecated properties of type guint64 are durations in ns, and the
   * properties that replace them are in ms. The warning therefore mentions the
   * unit. */
  if (property->type == G_TYPE_UINT64)
    GST_CAT_WARNING_OBJECT (get_category (object), object, "The property %s is "
        "deprecated: use %s, which is in ms (%s is in ns)", name,
        property->instead, name);
  else
    GST_CAT_WARNING_OBJECT (get_category (object), object,
        "The property %s is deprecated: use %s", name, property->instead);
}

void
gst_wireless_properties_warn_of_value (gpointer object, const gchar * name,
    const gchar * value, const gchar * instead)
{
  gchar *what = g_strconcat (name, "=", value, NULL);

  if (is_first_use (object, what))
    GST_CAT_WARNING_OBJECT (get_category (object), object,
        "The value %s of the property %s is deprecated: use %s=%s", value, name,
        name, instead);
  g_free (what);
}

static void
set_property (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  const Table *table = g_param_spec_get_qdata (pspec, table_quark ());
  const GstWirelessProperty *property =
      &table->properties[id - table->first_id];

  if (property->instead)
    warn_of_deprecation (object, property);
  if (property->set) {
    property->set (object, value, pspec);
    return;
  }
  g_mutex_lock (get_lock (table, object));
  if (property->unit)
    set_in_unit (property, get_place (table, property, object), value);
  else
    gst_wireless_member_set (get_place (table, property, object), value);
  if (G_VALUE_HOLDS_STRING (value) && !g_value_get_string (value)
      && property->flags & PROPERTY_NOT_NULL)
    init_member (property, get_place (table, property, object));
  if (property->changed)
    property->changed (object);
  g_mutex_unlock (get_lock (table, object));
}

static void
get_property (GObject * object, guint id, GValue * value, GParamSpec * pspec)
{
  const Table *table = g_param_spec_get_qdata (pspec, table_quark ());
  const GstWirelessProperty *property =
      &table->properties[id - table->first_id];

  if (property->get) {
    property->get (object, value, pspec);
    return;
  }
  if (property->create_stats) {
    g_value_take_boxed (value, property->create_stats (GST_ELEMENT (object)));
    return;
  }
  g_mutex_lock (get_lock (table, object));
  if (property->unit)
    get_in_unit (property, get_place (table, property, object), value);
  else
    gst_wireless_member_get (get_place (table, property, object), value);
  g_mutex_unlock (get_lock (table, object));
}

/* --- the class ------------------------------------------------------------ */

static GParamSpec *
create_spec (const GstWirelessProperty * property)
{
  const gchar *name = property->name;
  const gchar *nick = property->nick;
  const gchar *blurb = property->blurb;
  const GParamFlags flags =
      property->flags & ~(guint) (PROPERTY_URI | PROPERTY_NOT_NULL);
  const GType type = get_type (property);

  switch (G_TYPE_FUNDAMENTAL (type)) {
    case G_TYPE_STRING:
      return g_param_spec_string (name, nick, blurb, property->initial_text,
          flags);
    case G_TYPE_BOOLEAN:
      return g_param_spec_boolean (name, nick, blurb, property->initial, flags);
    case G_TYPE_INT:
      return g_param_spec_int (name, nick, blurb, property->minimum,
          property->maximum, property->initial, flags);
    case G_TYPE_ENUM:
      return g_param_spec_enum (name, nick, blurb, type, property->initial,
          flags);
    case G_TYPE_UINT:
      return g_param_spec_uint (name, nick, blurb, property->minimum,
          property->maximum, property->initial, flags);
    case G_TYPE_UINT64:
      return g_param_spec_uint64 (name, nick, blurb, property->minimum,
          property->maximum, property->initial, flags);
    case G_TYPE_DOUBLE:
      return g_param_spec_double (name, nick, blurb, property->double_minimum,
          property->double_maximum, property->double_initial, flags);
    case G_TYPE_OBJECT:
      return g_param_spec_object (name, nick, blurb, type, flags);
    case G_TYPE_BOXED:
      return g_param_spec_boxed (name, nick, blurb, type, flags);
    default:
      g_assert (type == GST_TYPE_FRACTION);
      return gst_param_spec_fraction (name, nick, blurb, 0, 1, G_MAXINT, 1, 0,
          1, flags);
  }
}

void
gst_wireless_properties_install (GObjectClass * klass,
    const GstWirelessProperty * properties, guint n_properties,
    gssize settings, gssize lock)
{
  const GType type = G_OBJECT_CLASS_TYPE (klass);
  Table *table = g_new0 (Table, 1);
  GParamSpec *spec;
  guint i;

  table->properties = properties;
  table->n_properties = n_properties;
  table->settings = settings;
  table->lock = lock;
  table->next = g_type_get_qdata (type, table_quark ());
  table->first_id = take_ids (type, n_properties);
  g_type_set_qdata (type, table_quark (), table);

  klass->set_property = set_property;
  klass->get_property = get_property;
  for (i = 0; i < n_properties; i++) {
    spec = create_spec (&properties[i]);
    g_param_spec_set_qdata (spec, table_quark (), table);
    g_object_class_install_property (klass, table->first_id + i, spec);
  }
}

void
gst_wireless_properties_reword (GObjectClass * klass, const gchar * name,
    const gchar * blurb)
{
  GParamSpec *spec = g_object_class_find_property (klass, name);
  const Table *parent = g_param_spec_get_qdata (spec, table_quark ());
  GstWirelessProperty *row = g_new (GstWirelessProperty, 1);
  Table *table = g_new0 (Table, 1);

  /* The new property replaces the property of the same name in the parent
   * class, only to change its description. The property of the parent class and
   * the new property have the same struct member. The parent class already
   * initializes and frees this member, so this class must not do so again. For
   * this reason, the table of the new property is not added to the list of
   * tables of this class. */
  *row = *gst_wireless_properties_find (spec);
  row->blurb = blurb;
  *table = *parent;
  table->properties = row;
  table->n_properties = 1;
  table->next = NULL;
  table->first_id = take_ids (G_OBJECT_CLASS_TYPE (klass), 1);
  klass->set_property = set_property;
  klass->get_property = get_property;
  spec = create_spec (row);
  g_param_spec_set_qdata (spec, table_quark (), table);
  g_object_class_install_property (klass, table->first_id, spec);
}

GType
gst_wireless_register_enum (gsize * type, const gchar * name,
    const GEnumValue * values)
{
  if (g_once_init_enter (type)) {
    GType new_type = g_enum_register_static (name, values);

    gst_type_mark_as_plugin_api (new_type, 0);
    g_once_init_leave (type, new_type);
  }
  return *type;
}

const GstWirelessProperty *
gst_wireless_properties_find (GParamSpec * pspec)
{
  const Table *table = g_param_spec_get_qdata (pspec, table_quark ());
  guint i;

  for (i = 0; table && i < table->n_properties; i++) {
    if (g_str_equal (table->properties[i].name, pspec->name))
      return &table->properties[i];
  }
  return NULL;
}

/* --- an object ------------------------------------------------------------ */

static void
clear_member (const GstWirelessProperty * property, gpointer member)
{
  GType type = G_TYPE_FUNDAMENTAL (get_type (property));

  if (type == G_TYPE_STRING)
    g_clear_pointer ((gchar **) member, g_free);
  else if (type == G_TYPE_OBJECT)
    g_clear_object ((GObject **) member);
}

static void
for_each_member (gpointer object, GType type,
    void (*func) (const GstWirelessProperty * property, gpointer member))
{
  const Table *table = g_type_get_qdata (type, table_quark ());
  guint i;

  for (; table; table = table->next) {
    for (i = 0; i < table->n_properties; i++) {
      const GstWirelessProperty *property = &table->properties[i];

      if (property->flags & G_PARAM_WRITABLE
          && !(property->set && property->get))
        func (property, get_place (table, property, object));
    }
  }
}

void
gst_wireless_properties_init (gpointer object, GType type)
{
  for_each_member (object, type, init_member);
}

void
gst_wireless_properties_clear (gpointer object, GType type)
{
  for_each_member (object, type, clear_member);
}

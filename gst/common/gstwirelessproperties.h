/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Properties of an element as a table. Each row describes one property: its
 * name, type, range and default, and the struct member that stores its value.
 * The row also says in which states the property may be changed, and whether a
 * URI may set it. The functions below install the properties, set and get their
 * values, set the defaults, and free the strings.
 *
 *   #define PROPERTY_STRUCT GstFooSettings
 *   static const GstWirelessProperty properties[] = {
 *     PROPERTY_INT ("port", "Port", "UDP port of the receiver",
 *         PROPERTY_READY | PROPERTY_URI, port, 1, 65535, 5004),
 *     PROPERTY_UINT ("latency", "Latency", "Maximum delay (ms)",
 *         PROPERTY_PLAYING, latency, 1, 60000, 1000, .changed = set_delays),
 *   };
 *
 *   in class_init    gst_wireless_properties_install
 *   in init          gst_wireless_properties_init
 *   in finalize      gst_wireless_properties_clear */

#pragma once

#include <gst/gst.h>

/* --- flags: access to a property, and the states in which it may change --- */

#define PROPERTY_READABLE (G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)
#define PROPERTY_READY (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS \
    | GST_PARAM_MUTABLE_READY)
#define PROPERTY_PLAYING (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS \
    | GST_PARAM_MUTABLE_PLAYING)
/* Flags of a secret property, such as a key: it can be set but not read. */
#define PROPERTY_SECRET (G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS \
    | GST_PARAM_MUTABLE_READY)
/* PROPERTY_URI and PROPERTY_NOT_NULL are private to this project and are not
 * passed to GObject. With PROPERTY_URI, a URI may set the property. As a URI
 * may come from an untrusted source, this flag is for properties that describe
 * the stream and the path to the peer. It must not be used for secrets, limits
 * of memory, allowed senders, or objects. */
#define PROPERTY_URI (1 << 24)
/* PROPERTY_NOT_NULL: if the property is set to NULL, it gets its default value
 * instead. */
#define PROPERTY_NOT_NULL (1 << 25)

/* --- the table ------------------------------------------------------------ */

typedef struct
{
  const gchar *name, *nick, *blurb;
  /* GParamFlags, PROPERTY_URI and PROPERTY_NOT_NULL */
  guint flags;
  /* type of the property; 0 if the function `get_type` returns the type */
  GType type;
    /* Pointer to a function that returns the type of the property. The pointer
     * is set if the type is an enumeration, a fraction, a boxed type or an
     * object. For other types, the pointer is NULL. */
    GType (*get_type) (void);
  /* Offset in bytes, from the start of the struct, of the member that stores
   * the value of the property. */
  gsize offset;
  gint64 minimum, initial;
  guint64 maximum;
  gdouble double_minimum, double_maximum, double_initial;
  const gchar *initial_text;
  /* Number of ns in one unit of the property, for example 1000000 if the
   * property is in ms. It is set only if the struct member stores a time in ns
   * and the property has a larger unit; otherwise it is 0. The macro
   * PROPERTY_MILLISECONDS sets it. */
  guint64 unit;

  /* The following fields may be NULL. */
  /* Function that is called when the property is set. If it is not NULL, the
   * value is not stored in the struct member. The caller does not hold the lock
   * that protects the members. A property with both `set` and `get` needs no
   * member. */
  void (*set) (gpointer object, const GValue * value, GParamSpec * pspec);
  void (*get) (gpointer object, GValue * value, GParamSpec * pspec);
  /* Function that returns the value of a property with statistics, which is a
   * GstStructure. It is called in place of `get`. */
  GstStructure *(*create_stats) (GstElement * element);
  /* Function that is called after a new value of the property was stored in the
   * struct member. The caller holds the lock that protects the members. */
  void (*changed) (gpointer object);
  /* Name of the property that replaces this one, if this one is deprecated. */
  const gchar *instead;
} GstWirelessProperty;

/* Offset of `member` in the struct PROPERTY_STRUCT, in bytes. To detect
 * mistakes, the build fails if the size of the member is not the size of
 * `type`. */
#define PROPERTY_MEMBER(member, type) \
    (G_STRUCT_OFFSET (PROPERTY_STRUCT, member) + 0 * sizeof (gchar[ \
            sizeof (((PROPERTY_STRUCT *) 0)->member) == sizeof (type) ? 1 : -1]))

#define PROPERTY_STRING(name, nick, blurb, flags, member, initial, ...) \
    { name, nick, blurb, flags, G_TYPE_STRING, NULL, \
      PROPERTY_MEMBER (member, gchar *), .initial_text = initial, __VA_ARGS__ }
#define PROPERTY_BOOLEAN(name, nick, blurb, flags, member, initial, ...) \
    { name, nick, blurb, flags, G_TYPE_BOOLEAN, NULL, \
      PROPERTY_MEMBER (member, gboolean), 0, initial, 1, __VA_ARGS__ }
#define PROPERTY_INT(name, nick, blurb, flags, member, min, max, initial, ...) \
    { name, nick, blurb, flags, G_TYPE_INT, NULL, \
      PROPERTY_MEMBER (member, gint), min, initial, max, __VA_ARGS__ }
#define PROPERTY_UINT(name, nick, blurb, flags, member, min, max, initial, ...) \
    { name, nick, blurb, flags, G_TYPE_UINT, NULL, \
      PROPERTY_MEMBER (member, guint), min, initial, max, __VA_ARGS__ }
#define PROPERTY_UINT64(name, nick, blurb, flags, member, min, max, initial, \
        ...) \
    { name, nick, blurb, flags, G_TYPE_UINT64, NULL, \
      PROPERTY_MEMBER (member, guint64), min, initial, max, __VA_ARGS__ }
#define PROPERTY_DOUBLE(name, nick, blurb, flags, member, min, max, initial, \
        ...) \
    { name, nick, blurb, flags, G_TYPE_DOUBLE, NULL, \
      PROPERTY_MEMBER (member, gdouble), .double_minimum = min, \
      .double_maximum = max, .double_initial = initial, __VA_ARGS__ }
#define PROPERTY_ENUM(name, nick, blurb, flags, member, get_type, initial, ...) \
    { name, nick, blurb, flags, 0, get_type, \
      PROPERTY_MEMBER (member, gint), 0, initial, __VA_ARGS__ }
#define PROPERTY_OBJECT(name, nick, blurb, flags, member, get_type, ...) \
    { name, nick, blurb, flags, 0, get_type, \
      PROPERTY_MEMBER (member, gpointer), __VA_ARGS__ }
/* Table entry of a property that is a fraction. The struct member is an array
 * of two gint: numerator and denominator. The default is 0/1, and the value
 * cannot be negative. */
#define PROPERTY_FRACTION(name, nick, blurb, flags, member, ...) \
    { name, nick, blurb, flags, 0, gst_fraction_get_type, \
      PROPERTY_MEMBER (member, gint[2]), 0, 0, G_MAXINT, __VA_ARGS__ }
/* Maximum value that a property in ms may have: one day. Some properties in ms
 * replace an older property with another name, which is in ns. A user may
 * therefore set the new property to a number of ns by mistake. Such a number is
 * usually larger than this maximum, and GLib refuses it with a message. */
#define PROPERTY_MAX_MILLISECONDS 86400000
/* Table entry of a property that is a duration in ms, as in rtpjitterbuffer and
 * srtsink. The struct member that stores the duration is a guint64 in ns;
 * reading and writing the property converts it. docs/properties.md explains
 * which units the properties have. */
#define PROPERTY_MILLISECONDS(name, nick, blurb, flags, member, min, max, \
        initial, ...) \
    { name, nick, blurb, flags, G_TYPE_UINT, NULL, \
      PROPERTY_MEMBER (member, guint64), min, initial, max, \
      .unit = GST_MSECOND, __VA_ARGS__ }
/* Table entry of a deprecated property for a duration in ns. The new property
 * `new_name` is in ms. Both properties use the same struct member, so a value
 * that was set through one property can be read through the other property. */
#define PROPERTY_DEPRECATED_NANOSECONDS(name, nick, new_name, flags, member, \
        max, initial, ...) \
    { name, nick, "Deprecated: use " new_name ", which is in ms; this one is in " \
      "ns", (flags) | G_PARAM_DEPRECATED, G_TYPE_UINT64, NULL, \
      PROPERTY_MEMBER (member, guint64), 0, initial, max, \
      .instead = new_name, __VA_ARGS__ }
/* Table entry of a property whose value is not stored in a struct member, but
 * is set and read by functions. The remaining arguments of the macro set the
 * fields `set` and `get` of the entry. */
#define PROPERTY_COMPUTED(name, nick, blurb, flags, type, ...) \
    { name, nick, blurb, flags, type, __VA_ARGS__ }
#define PROPERTY_STATS(blurb, create) \
    { "stats", "Statistics", blurb, PROPERTY_READABLE, 0, \
      gst_structure_get_type, .create_stats = create }

/* Installs the properties of a table in a class, and sets set_property and
 * get_property of the class. The table must never be freed. The values of the
 * properties are stored in members of one struct in the instance. If a class
 * stores them in several structs, it calls this function once for each struct.
 *
 * - `settings` is the offset of the struct that contains the members.
 * - `lock` is the offset of the GMutex that protects the members.
 *
 * Both offsets are in bytes from the start of the instance. */
void gst_wireless_properties_install (GObjectClass * klass,
    const GstWirelessProperty * properties, guint n_properties,
    gssize settings, gssize lock);
#define GST_WIRELESS_OBJECT_LOCK G_STRUCT_OFFSET (GstObject, lock)

/* Each property stores its value in a member of the element's struct. The
 * following two functions are called with the type of a class. They apply to
 * the properties that this class itself has installed, and not to those of its
 * parent classes.
 * gst_wireless_properties_init sets the members to the defaults of the
 * properties, and gst_wireless_properties_clear frees the values. */
void gst_wireless_properties_init (gpointer object, GType type);
void gst_wireless_properties_clear (gpointer object, GType type);

/* Changes the blurb (the description) of a property that this class inherits
 * from a parent class. Use this function if the blurb of the parent class would
 * be wrong in this class. Nothing changes in the parent class.
 *
 * To do so, the function installs the property again in this class. In the
 * property list, the property then comes before those that the class installs
 * later. */
void gst_wireless_properties_reword (GObjectClass * klass, const gchar * name,
    const gchar * blurb);

/* Defines the get_type function of an enumeration. Each argument after `name`
 * describes one value: {value, "What the value does", "nick"}. The macro may be
 * preceded by `static`. */
#define GST_WIRELESS_DEFINE_ENUM(prefix, name, ...) \
GType \
prefix##_get_type (void) \
{ \
  static const GEnumValue values[] = { __VA_ARGS__, {0, NULL, NULL} }; \
  static gsize type = 0; \
\
  return gst_wireless_register_enum (&type, name, values); \
}
GType gst_wireless_register_enum (gsize * type, const gchar * name,
    const GEnumValue * values);

/* Sets the log category in which elements of this class and of its subclasses
 * log warnings about deprecated properties. Called in class_init. */
void gst_wireless_properties_set_category (GObjectClass * klass,
    GstDebugCategory * category);
/* Disables the warnings about deprecated properties in `object`, which is an
 * element inside another element. The outer element has the same properties and
 * logs these warnings itself. */
void gst_wireless_properties_silence (gpointer object);
/* Logs a warning that the value `value` of the property `name` is deprecated
 * and that `instead` should be used. The warning is logged once for each object
 * and each value. */
void gst_wireless_properties_warn_of_value (gpointer object,
    const gchar * name, const gchar * value, const gchar * instead);

/* gst_wireless_member_set stores `value` in a struct member, and
 * gst_wireless_member_get reads a struct member into `value`. The member must
 * have the type of `value`. If `value` is a fraction, the member must be an
 * array of two gint. gst_wireless_member_set copies a string, and it takes a
 * reference to an object. The struct owns the copy or the reference. */
void gst_wireless_member_set (gpointer member, const GValue * value);
void gst_wireless_member_get (gconstpointer member, GValue * value);

/* Returns the table row of a property; NULL if the property is not in any
 * table. */
const GstWirelessProperty *gst_wireless_properties_find (GParamSpec * pspec);

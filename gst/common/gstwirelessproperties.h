/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of an element as one table: name, type, range, default, when each
 * may be changed, whether a URI may set it, and which member of a struct has its
 * value. The functions below install them, set and get them, set the defaults, and
 * free the strings.
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
 *   in finalize      gst_wireless_properties_clear
 */

#pragma once

#include <gst/gst.h>

/* --- when a property may be changed, and by whom -------------------------- */

#define PROPERTY_READABLE (G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)
#define PROPERTY_READY (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS \
    | GST_PARAM_MUTABLE_READY)
#define PROPERTY_PLAYING (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS \
    | GST_PARAM_MUTABLE_PLAYING)
/* A secret cannot be read. */
#define PROPERTY_SECRET (G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS \
    | GST_PARAM_MUTABLE_READY)
/* The next two are ours; GObject does not see them. PROPERTY_URI: a URI may set it.
 * A URI comes from anywhere: it sets what describes the stream and the way to the
 * peer, but no secret, no limit of memory or of senders, and no object. */
#define PROPERTY_URI (1 << 24)
/* NULL means the default. */
#define PROPERTY_NOT_NULL (1 << 25)

/* --- the table ------------------------------------------------------------ */

typedef struct
{
  const gchar *name, *nick, *blurb;
  guint flags;                  /* GParamFlags and those above */
  GType type;                   /* 0: get_type */
    GType (*get_type) (void);   /* of enumerations, boxed types, objects */
  gsize offset;                 /* of the member, in bytes */
  gint64 minimum, initial;
  guint64 maximum;
  gdouble double_minimum, double_maximum, double_initial;
  const gchar *initial_text;
  /* The member counts in ns, and the property in this unit, ns; 0: both have the
   * same unit. Of rows of PROPERTY_MILLISECONDS. */
  guint64 unit;

  /* The rest may be NULL. */
  /* Instead of the member; without lock. Where both are there the property needs
   * no member. */
  void (*set) (gpointer object, const GValue * value, GParamSpec * pspec);
  void (*get) (gpointer object, GValue * value, GParamSpec * pspec);
  /* Of a readable GstStructure, instead of `get` */
  GstStructure *(*create_stats) (GstElement * element);
  /* The member has another value; with lock. */
  void (*changed) (gpointer object);
  /* Of a deprecated property: the one to use instead */
  const gchar *instead;
} GstWirelessProperty;

/* The build fails where the member has not the size of the type. */
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
/* Two gint, numerator and denominator; 0/1 at first, and never negative */
#define PROPERTY_FRACTION(name, nick, blurb, flags, member, ...) \
    { name, nick, blurb, flags, 0, gst_fraction_get_type, \
      PROPERTY_MEMBER (member, gint[2]), 0, 0, G_MAXINT, __VA_ARGS__ }
/* A duration in ms, as rtpjitterbuffer and srtsink have it; the member is a guint64
 * in ns. docs/properties.md has the rule on units. */
#define PROPERTY_MILLISECONDS(name, nick, blurb, flags, member, min, max, \
        initial, ...) \
    { name, nick, blurb, flags, G_TYPE_UINT, NULL, \
      PROPERTY_MEMBER (member, guint64), min, initial, max, \
      .unit = GST_MSECOND, __VA_ARGS__ }
/* The name that a duration had when it was in ns. It has the same member, so that
 * each of the two reads what the other one sets. */
#define PROPERTY_DEPRECATED_NANOSECONDS(name, nick, new_name, flags, member, \
        max, initial, ...) \
    { name, nick, "Deprecated: use " new_name ", which is in ms; this one is in " \
      "ns", (flags) | G_PARAM_DEPRECATED, G_TYPE_UINT64, NULL, \
      PROPERTY_MEMBER (member, guint64), 0, initial, max, \
      .instead = new_name, __VA_ARGS__ }
/* Without a member: the rest of the row says what it is. */
#define PROPERTY_COMPUTED(name, nick, blurb, flags, type, ...) \
    { name, nick, blurb, flags, type, __VA_ARGS__ }
#define PROPERTY_STATS(blurb, create) \
    { "stats", "Statistics", blurb, PROPERTY_READABLE, 0, \
      gst_structure_get_type, .create_stats = create }

/* Takes over set_property and get_property of the class. `settings`, `lock`: offsets
 * in the instance, of the struct with the members and of the GMutex that protects
 * them. May be called several times, for several structs. The table stays in use. */
void gst_wireless_properties_install (GObjectClass * klass,
    const GstWirelessProperty * properties, guint n_properties,
    gssize settings, gssize lock);
#define GST_WIRELESS_OBJECT_LOCK G_STRUCT_OFFSET (GstObject, lock)

/* All members that the tables of this class have, not of its parents */
void gst_wireless_properties_init (gpointer object, GType type);
void gst_wireless_properties_clear (gpointer object, GType type);

/* Gives a property of a parent class a text of its own in this class, where the
 * parent's is not true. All else stays the parent's. It is listed before the
 * properties of tables that are installed later. */
void gst_wireless_properties_reword (GObjectClass * klass, const gchar * name,
    const gchar * blurb);

/* The type of an enumeration, of which each row is {value, "What it does", "nick"}.
 * `static` may stand before it. */
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

/* A member of the type of the value, or two gint for a fraction; strings and objects
 * are the member's own. */
void gst_wireless_member_set (gpointer member, const GValue * value);
void gst_wireless_member_get (gconstpointer member, GValue * value);

/* NULL: it is in no table. */
const GstWirelessProperty *gst_wireless_properties_find (GParamSpec * pspec);

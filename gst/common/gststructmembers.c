/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Members of a struct as properties and as statistics; see the header. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gststructmembers.h"

/* --- properties ----------------------------------------------------------- */

void
gst_struct_set_member (gpointer structure, gsize offset, const GValue * value)
{
  gpointer member = G_STRUCT_MEMBER_P (structure, offset);

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
    default:
      g_assert_not_reached ();
  }
}

void
gst_struct_get_member (gconstpointer structure, gsize offset, GValue * value)
{
  gconstpointer member = G_STRUCT_MEMBER_P (structure, offset);

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
    default:
      g_assert_not_reached ();
  }
}

/* --- statistics ----------------------------------------------------------- */

void
gst_wireless_stats_fill (GstStructure * structure,
    const GstWirelessStatsField * fields, guint n_fields, gconstpointer stats)
{
  guint i;

  for (i = 0; i < n_fields; i++) {
    const GstWirelessStatsField *field = &fields[i];
    gconstpointer member = G_STRUCT_MEMBER_P (stats, field->offset);

    if (field->type == G_TYPE_INT64)
      gst_structure_set (structure, field->name, G_TYPE_INT64,
          *(const gint64 *) member, NULL);
    else
      gst_structure_set (structure, field->name, G_TYPE_UINT64,
          *(const guint64 *) member, NULL);
  }
}

void
gst_wireless_stats_add (const GstWirelessStatsField * fields, guint n_fields,
    gpointer sum, gconstpointer more)
{
  guint i;

  for (i = 0; i < n_fields; i++)
    G_STRUCT_MEMBER (guint64, sum, fields[i].offset) +=
        G_STRUCT_MEMBER (guint64, more, fields[i].offset);
}

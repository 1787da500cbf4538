/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of gstwirelessstats.h: copies counters from a C struct into a
 * GstStructure with statistics. */

#include "gstwirelessstats.h"

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

void
gst_wireless_stats_set (GstStructure * structure, const gchar * prefix,
    const gchar * name, guint64 count)
{
  gchar *field = g_strconcat (prefix, name, NULL);

  gst_structure_set (structure, field, G_TYPE_UINT64, count, NULL);
  g_free (field);
}

void
gst_wireless_post (gpointer element, GstStructure * structure)
{
  gst_element_post_message (element,
      gst_message_new_element (element, structure));
}

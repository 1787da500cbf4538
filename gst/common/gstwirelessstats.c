/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Members of a struct as statistics; see the header. */

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

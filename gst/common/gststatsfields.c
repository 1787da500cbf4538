/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From a table and a struct to a GstStructure; see the header. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gststatsfields.h"

void
gst_structure_set_stats (GstStructure * structure,
    const GstStatsField * fields, guint n_fields, gconstpointer stats)
{
  guint i;

  for (i = 0; i < n_fields; i++) {
    const GstStatsField *field = &fields[i];
    gconstpointer member = G_STRUCT_MEMBER_P (stats, field->offset);

    if (field->type == G_TYPE_INT64)
      gst_structure_set (structure, field->name, G_TYPE_INT64,
          *(const gint64 *) member, NULL);
    else
      gst_structure_set (structure, field->name, G_TYPE_UINT64,
          *(const guint64 *) member, NULL);
  }
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Members of a struct as statistics. A table of the element names the members.
 */

#pragma once

#include <gst/gst.h>

typedef struct
{
  const gchar *name;
  GType type;                   /* G_TYPE_UINT64 or G_TYPE_INT64 */
  gsize offset;                 /* of the member, in bytes */
} GstWirelessStatsField;

void gst_wireless_stats_fill (GstStructure * structure,
    const GstWirelessStatsField * fields, guint n_fields, gconstpointer stats);
/* To the members of `sum`, which are guint64, those of `more` */
void gst_wireless_stats_add (const GstWirelessStatsField * fields,
    guint n_fields, gpointer sum, gconstpointer more);

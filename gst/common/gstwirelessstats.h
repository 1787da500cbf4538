/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Members of a struct as statistics, which a table of the element names, and the
 * messages with them.
 */

#pragma once

#include <gst/gst.h>

typedef struct
{
  const gchar *name;
  GType type;                   /* G_TYPE_UINT64 or G_TYPE_INT64 */
  gsize offset;                 /* of the member, in bytes */
} GstWirelessStatsField;

/* Rows of a table; STATS_STRUCT is the struct. */
#define STATS_FIELD(name, type, member) \
    { name, type, G_STRUCT_OFFSET (STATS_STRUCT, member) }
#define STATS_COUNTER(name, member) STATS_FIELD (name, G_TYPE_UINT64, member)

void gst_wireless_stats_fill (GstStructure * structure,
    const GstWirelessStatsField * fields, guint n_fields, gconstpointer stats);
/* One counter, named `prefix` and `name` together */
void gst_wireless_stats_set (GstStructure * structure,
    const gchar * prefix, const gchar * name, guint64 count);
/* To the members of `sum`, which are guint64, those of `more` */
void gst_wireless_stats_add (const GstWirelessStatsField * fields,
    guint n_fields, gpointer sum, gconstpointer more);

/* Posts an element message. Takes the structure */
void gst_wireless_post (gpointer element, GstStructure * structure);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes members of a struct into a GstStructure of statistics, and posts the
 * GstStructure as a message. A table says which member is written to which
 * field. */

#pragma once

#include <gst/gst.h>

typedef struct
{
  const gchar *name;
  GType type;                   /* G_TYPE_UINT64 or G_TYPE_INT64 */
  /* offset of the member in the struct, in bytes */
  gsize offset;
} GstWirelessStatsField;

/* Initializers for an array of GstWirelessStatsField. Before using them, define
 * STATS_STRUCT as the type of the struct that contains `member`. */
#define STATS_FIELD(name, type, member) \
    { name, type, G_STRUCT_OFFSET (STATS_STRUCT, member) }
#define STATS_COUNTER(name, member) STATS_FIELD (name, G_TYPE_UINT64, member)

void gst_wireless_stats_fill (GstStructure * structure,
    const GstWirelessStatsField * fields, guint n_fields, gconstpointer stats);
/* Adds a statistics field to `structure`: a guint64 with the value `count`. The
 * name of the field is `prefix` followed by `name`. */
void gst_wireless_stats_set (GstStructure * structure,
    const gchar * prefix, const gchar * name, guint64 count);
/* Adds each member of the struct `more` to the same member of the struct `sum`.
 * `fields` lists the members; all of them are guint64.
 */
void gst_wireless_stats_add (const GstWirelessStatsField * fields,
    guint n_fields, gpointer sum, gconstpointer more);

/* Posts `structure` as an element message and takes ownership of it. */
void gst_wireless_post (gpointer element, GstStructure * structure);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies counters from the members of a struct into a GstStructure with
 * statistics, and posts the GstStructure as a message. A table says which
 * member is copied to which field of the GstStructure. */

#pragma once

#include <gst/gst.h>

typedef struct
{
  const gchar *name;
  GType type;                   /* G_TYPE_UINT64 or G_TYPE_INT64 */
  /* offset in bytes of the counter in the C struct that contains it */
  gsize offset;
} GstWirelessStatsField;

/* Macros that make one element of an array of GstWirelessStatsField. The
 * argument `member` is a member of a struct. Before the macros are used,
 * STATS_STRUCT has to be defined as the type of this struct. */
#define STATS_FIELD(name, type, member) \
    { name, type, G_STRUCT_OFFSET (STATS_STRUCT, member) }
#define STATS_COUNTER(name, member) STATS_FIELD (name, G_TYPE_UINT64, member)

void gst_wireless_stats_fill (GstStructure * structure,
    const GstWirelessStatsField * fields, guint n_fields, gconstpointer stats);
/* Adds a statistics field to `structure`: a guint64 with the value `count`. The
 * name of the field is `prefix` followed by `name`. */
void gst_wireless_stats_set (GstStructure * structure,
    const gchar * prefix, const gchar * name, guint64 count);
/* Adds the counters of the struct `more` to the same counters of the struct
 * `sum`. `fields` lists the counters to add; all of them are guint64. */
void gst_wireless_stats_add (const GstWirelessStatsField * fields,
    guint n_fields, gpointer sum, gconstpointer more);

/* Posts `structure` as an element message and takes ownership of it. */
void gst_wireless_post (gpointer element, GstStructure * structure);

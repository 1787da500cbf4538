/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A table of statistics: which member of a struct has which name in the
 * GstStructure that an element gives out.
 */

#ifndef __GST_STATS_FIELDS_H__
#define __GST_STATS_FIELDS_H__

#include <gst/gst.h>

#include "gstwirelessprelude.h"

G_BEGIN_DECLS

typedef struct
{
  const gchar *name;
  GType type;                   /* G_TYPE_UINT64 or G_TYPE_INT64 */
  gsize offset;                 /* of the member, in bytes */
} GstStatsField;

GST_WIRELESS_API
void gst_structure_set_stats (GstStructure * structure,
    const GstStatsField * fields, guint n_fields, gconstpointer stats);
/* To the members of `sum`, which are guint64, those of `more` */
GST_WIRELESS_API
void gst_stats_fields_add (const GstStatsField * fields, guint n_fields,
    gpointer sum, gconstpointer more);

G_END_DECLS

#endif /* __GST_STATS_FIELDS_H__ */

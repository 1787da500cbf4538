/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Members of a struct as properties and as statistics. One table of the element
 * says which member has which name, so that no switch lists them.
 */

#ifndef __GST_STRUCT_MEMBERS_H__
#define __GST_STRUCT_MEMBERS_H__

#include <gst/gst.h>

#include "gstwirelessprelude.h"

G_BEGIN_DECLS

/* --- properties ----------------------------------------------------------- */

/* gchar * (its own), gboolean, gint (int and enum), guint, guint64; `offset`:
 * bytes */
GST_WIRELESS_API
void gst_struct_set_member (gpointer structure, gsize offset,
    const GValue * value);
GST_WIRELESS_API
void gst_struct_get_member (gconstpointer structure, gsize offset,
    GValue * value);

/* --- statistics ----------------------------------------------------------- */

typedef struct
{
  const gchar *name;
  GType type;                   /* G_TYPE_UINT64 or G_TYPE_INT64 */
  gsize offset;                 /* of the member, in bytes */
} GstWirelessStatsField;

GST_WIRELESS_API
void gst_wireless_stats_fill (GstStructure * structure,
    const GstWirelessStatsField * fields, guint n_fields, gconstpointer stats);
/* To the members of `sum`, which are guint64, those of `more` */
GST_WIRELESS_API
void gst_wireless_stats_add (const GstWirelessStatsField * fields,
    guint n_fields, gpointer sum, gconstpointer more);

G_END_DECLS

#endif /* __GST_STRUCT_MEMBERS_H__ */

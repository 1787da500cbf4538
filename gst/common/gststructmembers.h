/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Properties that are members of a struct: which is where stands in one table
 * of the element, and its type is the property's.
 */

#ifndef __GST_STRUCT_MEMBERS_H__
#define __GST_STRUCT_MEMBERS_H__

#include <gst/gst.h>

#include "gstwirelessprelude.h"

G_BEGIN_DECLS

/* gchar * (its own), gboolean, gint (int and enum), guint, guint64; `offset`:
 * bytes */
GST_WIRELESS_API
void gst_struct_set_member (gpointer structure, gsize offset,
    const GValue * value);
GST_WIRELESS_API
void gst_struct_get_member (gconstpointer structure, gsize offset,
    GValue * value);

G_END_DECLS

#endif /* __GST_STRUCT_MEMBERS_H__ */

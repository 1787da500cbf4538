/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The trace callback of cores and of the driver, for an element: what there is for
 * each packet at LOG, the rest at DEBUG.
 */

#pragma once

#include <gst/gst.h>

void gst_wireless_trace (GstDebugCategory * category, gpointer element,
    gboolean is_packet, const gchar * format, va_list args)
    G_GNUC_PRINTF (4, 0);

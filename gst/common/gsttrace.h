/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes the trace lines of a protocol core, and of the driver that does the
 * core's I/O (net/driver.h), to the log of an element. Lines about single
 * packets have the level LOG, all others DEBUG. */

#pragma once

#include <gst/gst.h>

void gst_wireless_trace (GstDebugCategory * category, gpointer element,
    gboolean is_packet, const gchar * format, va_list args)
    G_GNUC_PRINTF (4, 0);

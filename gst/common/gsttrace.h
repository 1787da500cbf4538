/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A core is a protocol implementation that does not depend on GStreamer;
 * net/driver.h does its I/O. An element uses a core. This function writes the
 * trace lines of the core to the GStreamer log of this element. Lines with
 * `is_packet` (driververbs.h) have the level LOG, all others DEBUG. */

#pragma once

#include <gst/gst.h>

void gst_wireless_trace (GstDebugCategory * category, gpointer element,
    gboolean is_packet, const gchar * format, va_list args)
    G_GNUC_PRINTF (4, 0);

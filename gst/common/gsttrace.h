/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes the trace lines of a protocol implementation that does not use
 * GStreamer to the log of the element that uses it. Such an implementation is
 * called a core; net/driver.h does its I/O. Lines about single packets have the
 * level LOG, all others DEBUG. */

#pragma once

#include <gst/gst.h>

void gst_wireless_trace (GstDebugCategory * category, gpointer element,
    gboolean is_packet, const gchar * format, va_list args)
    G_GNUC_PRINTF (4, 0);

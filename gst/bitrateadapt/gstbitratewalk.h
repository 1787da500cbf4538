/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Visits the elements upstream or downstream of a pad, through bins, tees and
 * muxers, each once. The pipeline may change meanwhile. */

#pragma once

#include <gst/gst.h>

/* TRUE: what lies behind this element is not visited. The element may be a bin
 * whose pad leads on to an element in it. */
typedef gboolean (*GstBitrateVisit) (GstElement * element, gpointer data);

/* From a sink pad upstream, from a source pad downstream */
void gst_bitrate_walk (GstPad * pad, GstBitrateVisit visit, gpointer data);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Visits the elements upstream or downstream of a pad, through bins, tees and
 * muxers. Each element is visited only once. The pipeline may change during the
 * walk. */

#pragma once

#include <gst/gst.h>

/* Function that is called for each element. If it returns TRUE, the walk does
 * not continue beyond `element`. `element` may be a bin. If the function
 * returns FALSE for a bin, the walk visits the elements in the bin next. */
typedef gboolean (*GstBitrateVisit) (GstElement * element, gpointer data);

/* If `pad` is a sink pad, visits the elements upstream of the pad. If `pad` is
 * a source pad, visits the elements downstream of the pad. */
void gst_bitrate_walk (GstPad * pad, GstBitrateVisit visit, gpointer data);

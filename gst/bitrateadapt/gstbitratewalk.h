/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Visits the elements upstream or downstream of a pad, through bins, tees and
 * muxers. Each element is visited only once. The pipeline may change during the
 * walk. */

#pragma once

#include <gst/gst.h>

/* Function of the caller that is called for each element. It returns TRUE if
 * the walk shall not visit the elements beyond `element`. `element` may be a
 * bin, which the walk enters after this call. */
typedef gboolean (*GstBitrateVisit) (GstElement * element, gpointer data);

/* Visits the elements upstream of `pad` if `pad` is a sink pad, and the
 * elements downstream of it if it is a source pad. */
void gst_bitrate_walk (GstPad * pad, GstBitrateVisit visit, gpointer data);

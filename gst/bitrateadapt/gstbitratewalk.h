/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Visits the elements upstream or downstream of a pad, through bins, tees and
 * muxers. Each element is visited only once. The pipeline may change during the
 * walk. */

#pragma once

#include <gst/gst.h>

/* Called for each element. Returns TRUE if the elements beyond `element` are
 * not to be visited. `element` may be a bin that the walk enters afterwards. */
typedef gboolean (*GstBitrateVisit) (GstElement * element, gpointer data);

/* Visits the elements upstream of `pad` if it is a sink pad, and downstream of
 * it if it is a source pad. */
void gst_bitrate_walk (GstPad * pad, GstBitrateVisit visit, gpointer data);

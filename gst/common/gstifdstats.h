/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The counters of the choice of frames (ifd.h) in the statistics of an element:
 * the same names wherever frames are chosen.
 */

#ifndef __GST_IFD_STATS_H__
#define __GST_IFD_STATS_H__

#include <gst/gst.h>

#include "ifd.h"

G_BEGIN_DECLS

/* All but the lateness */
GST_WIRELESS_API
void gst_structure_set_ifd_stats (GstStructure * structure,
    const IfdStats * stats);

G_END_DECLS

#endif /* __GST_IFD_STATS_H__ */

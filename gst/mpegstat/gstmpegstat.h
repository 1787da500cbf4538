/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element mpegstat; what it does and why is in gstmpegstat.c. */

#pragma once

#include <gst/gst.h>

#define GST_TYPE_MPEG_STAT (gst_mpeg_stat_get_type ())
G_DECLARE_FINAL_TYPE (GstMpegStat, gst_mpeg_stat, GST, MPEG_STAT, GstElement)

GST_ELEMENT_REGISTER_DECLARE (mpegstat)

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Encoders, and how their rate is changed while they run. */

#pragma once

#include <gst/gst.h>

typedef struct
{
  const gchar *factory;
  const gchar *property;
  guint bits_per_unit;          /* of the property, for each second */
  const gchar *control;         /* the property is a GstStructure, and this is the
                                 * field in it; NULL: the property is a number */
  const gchar *fixed_because;   /* the rate cannot be changed; NULL: it can */
} GstBitrateEncoder;

typedef enum
{
  GST_BITRATE_FOUND,
  GST_BITRATE_NONE,             /* no video encoder */
  GST_BITRATE_SEVERAL,          /* more than one */
  GST_BITRATE_FIXED             /* one, whose rate cannot be changed */
} GstBitrateSearch;

/* The encoder upstream of the pad, or the element of that name in the same
 * pipeline. `element` is to be released unless the result is NONE, and is the
 * first one of SEVERAL. `reason`: of FIXED, to be freed */
GstBitrateSearch gst_bitrate_encoder_find (GstPad * sinkpad,
    const gchar * name, GstElement ** element,
    const GstBitrateEncoder ** encoder, gchar ** reason);
/* "x264enc, x265enc, ..." */
gchar *gst_bitrate_encoder_list (void);

/* bit/s */
guint64 gst_bitrate_encoder_get (GstElement * element,
    const GstBitrateEncoder * encoder);
/* FALSE: the element did not take it */
gboolean gst_bitrate_encoder_set (GstElement * element,
    const GstBitrateEncoder * encoder, guint64 bitrate);

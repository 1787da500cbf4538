/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Table of the supported video encoders, and functions that find an encoder in
 * the pipeline and change its bitrate while it runs. */

#pragma once

#include <gst/gst.h>

typedef struct
{
  const gchar *factory;
  const gchar *property;
  /* unit of the property in bit/s, for example 1000 for kbit/s */
  guint bits_per_unit;
  /* Name of the field that contains the bitrate, if the property is a
   * GstStructure with several settings. NULL if the property itself is the
   * bitrate. */
  const gchar *control;
  /* Reason why the bitrate cannot be changed while the encoder runs. NULL means
   * that the bitrate can be changed. */
  const gchar *fixed_because;
} GstBitrateEncoder;

typedef enum
{
  GST_BITRATE_FOUND,
  GST_BITRATE_NONE,             /* no video encoder was found */
  GST_BITRATE_SEVERAL,          /* more than one video encoder was found */
  /* One video encoder was found, but its bitrate cannot be changed. */
  GST_BITRATE_FIXED
} GstBitrateSearch;

/* Finds the encoder upstream of `sinkpad`, or the element `name` in the same
 * pipeline if `name` is not NULL. Sets the following results:
 *
 * - `element`: the encoder (transfer full). If there are several encoders, this
 *   is the first one. NULL if there is none.
 * - `encoder`: the entry of this encoder in the table of the supported
 *   encoders.
 * - `reason`: if the function returns GST_BITRATE_FIXED, a text that says why
 *   the bitrate of the encoder cannot be changed; otherwise NULL. The caller
 *   frees the text. */
GstBitrateSearch gst_bitrate_encoder_find (GstPad * sinkpad,
    const gchar * name, GstElement ** element,
    const GstBitrateEncoder ** encoder, gchar ** reason);
/* Returns the names of the encoders whose bitrate can be changed, as "x264enc,
 * x265enc, ...". The caller frees the text. */
gchar *gst_bitrate_encoder_list (void);

/* Returns the bitrate that `element` is set to, in bit/s. */
guint64 gst_bitrate_encoder_get (GstElement * element,
    const GstBitrateEncoder * encoder);
/* Returns the bitrate in bit/s that the application has chosen for the encoder
 * `element`: its bitrate before the changes by gst_bitrate_encoder_set (). If
 * the application has changed the bitrate after the last of these changes, the
 * result is the bitrate that the application has set. */
guint64 gst_bitrate_encoder_get_initial (GstElement * element,
    const GstBitrateEncoder * encoder);
/* Sets the bitrate of `element`, in bit/s. Returns FALSE if the element did not
 * accept this bitrate; its property then still differs from the requested
 * value. */
gboolean gst_bitrate_encoder_set (GstElement * element,
    const GstBitrateEncoder * encoder, guint64 bitrate);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Errors that tell the user what to do: which stream was put into an element
 * that takes video frames, and which elements it needs.
 */

#pragma once

#include <gst/gst.h>

typedef enum
{
  GST_WRONG_INPUT_UNKNOWN,
  GST_WRONG_INPUT_TRANSPORT_STREAM,
  GST_WRONG_INPUT_PROGRAM_STREAM,
  GST_WRONG_INPUT_MP4,
  GST_WRONG_INPUT_MATROSKA,
  GST_WRONG_INPUT_AVI,
  GST_WRONG_INPUT_MPEG_AUDIO,
  GST_WRONG_INPUT_H264,
  GST_WRONG_INPUT_H265
} GstWrongInput;

/* Bytes from the stream's start on that suffice to recognize it */
#define GST_WRONG_INPUT_HEAD 192

GstWrongInput gst_wrong_input_find (const guint8 * head, gsize size);
/* A file format whose bytes are never a video elementary stream, even where
 * whole frames of one are found in it */
gboolean gst_wrong_input_is_container (GstWrongInput input);
/* What to tell of it, a whole sentence, in an error of `element`, which has a
 * sink pad. NULL: nothing is known. */
gchar *gst_wrong_input_advise (GstWrongInput input, GstElement * element);
/* The element that the user knows: the bin, such as ifdsink, of which this
 * element is a part, or the element itself. Transfer full. */
GstElement *gst_wrong_input_get_element (GstElement * owner);

/* GstBaseSrc posts a general error when start () fails, even behind the one that
 * says why. Sources whose start () always says why drop it by this. */
void gst_wrong_input_drop_start_error (GstElementClass * klass);

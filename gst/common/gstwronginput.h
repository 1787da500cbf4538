/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Recognizes streams of a wrong type, such as containers, for elements that
 * accept only a video elementary stream. Makes error messages for such streams.
 * A message names the type of the stream, and the element that has to convert
 * it. */

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

/* Number of bytes that are needed from the start of a stream to recognize the
 * type of the stream */
#define GST_WRONG_INPUT_HEAD 192

GstWrongInput gst_wrong_input_find (const guint8 * head, gsize size);
/* Returns whether `input` is a container format. Bytes of a container are never
 * a video elementary stream, even if they contain whole frames. */
gboolean gst_wrong_input_is_container (GstWrongInput input);
/* Returns a sentence for an error message (transfer full). The sentence says
 * that the stream that `element` has got is of the wrong type `input`, and
 * tells the user what to do. Returns NULL if the type of the stream is unknown.
 * `element` must have a sink pad. */
gchar *gst_wrong_input_advise (GstWrongInput input, GstElement * element);
/* Returns the element that an error message should name (transfer full). This
 * is the element that the user has put into the pipeline: either `owner`, or
 * the bin that contains `owner`, such as ifdsink. */
GstElement *gst_wrong_input_get_element (GstElement * owner);

/* Suppresses the general error that GstBaseSrc posts when start () of a source
 * fails. GstBaseSrc posts it even if the source has already posted a more
 * specific error. Sources whose start () always posts an error itself call this
 * function in class_init. */
void gst_wrong_input_drop_start_error (GstElementClass * klass);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads a file in pull mode for an element whose input is a stream of bytes. In
 * push mode, a file source sends buffers of only 4096 bytes. Handling each of
 * these small buffers costs more CPU time than processing the video in it. In
 * pull mode, the reader therefore reads larger blocks.
 *
 * The reader passes the data to the chain function of the sink pad, and events
 * to the event function of the sink pad. The element therefore processes the
 * input in the same way in both modes. In pull mode, the streaming thread is
 * the task of the sink pad. */

#pragma once

#include <gst/gst.h>

/* Enables pull mode on `sinkpad`. The element then reads in pull mode if the
 * peer is a seekable source. Otherwise upstream pushes buffers. The event
 * function of `srcpad` is replaced by a function that performs seeks in bytes
 * and passes all other events to the replaced function. Call this function
 * once, after the other functions of both pads were set. */
void gst_pull_reader_enable (GstPad * sinkpad, GstPad * srcpad);

/* Returns whether the element reads its input in pull mode. */
static inline gboolean
gst_pull_reader_is_reading (GstPad * sinkpad)
{
  return GST_PAD_MODE (sinkpad) == GST_PAD_MODE_PULL;
}

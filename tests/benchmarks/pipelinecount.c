/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs a pipeline under callgrind and counts its instructions from the state
 * READY to EOS. The count therefore does not include the start and the end of
 * GStreamer.
 *
 *   valgrind --tool=callgrind --instr-atstart=no pipelinecount PIPELINE
 *
 * The pipeline must contain an element with the name `in`. The buffers that
 * leave its source pad are the input of the elements that are measured. The
 * program prints the number of these buffers before EOS.
 */

#include <gst/gst.h>
#include <valgrind/callgrind.h>

#include <stdlib.h>

static GstPadProbeReturn
count (GstPad * pad, GstPadProbeInfo * info, gpointer buffers)
{
  g_atomic_int_inc ((gint *) buffers);
  return GST_PAD_PROBE_OK;
}

static void
fail (GstMessage * message)
{
  GError *error = NULL;

  gst_message_parse_error (message, &error, NULL);
  g_printerr ("pipelinecount: %s\n", error->message);
  exit (1);
}

static void
wait_for_eos (GstBus * bus)
{
  GstMessage *message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
      GST_MESSAGE_EOS | GST_MESSAGE_ERROR);

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    fail (message);
  gst_message_unref (message);
}

int
main (int argc, char **argv)
{
  GstElement *pipeline, *in;
  GError *error = NULL;
  gint buffers = 0;
  GstPad *pad;
  GstBus *bus;

  gst_init (&argc, &argv);
  if (argc != 2) {
    g_printerr ("Usage: pipelinecount PIPELINE\n");
    return 2;
  }
  pipeline = gst_parse_launch (argv[1], &error);
  if (error) {
    g_printerr ("pipelinecount: %s\n", error->message);
    return 1;
  }
  in = gst_bin_get_by_name (GST_BIN (pipeline), "in");
  pad = gst_element_get_static_pad (in, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count, &buffers, NULL);
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_READY);
  CALLGRIND_START_INSTRUMENTATION;
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  wait_for_eos (bus);
  CALLGRIND_STOP_INSTRUMENTATION;
  g_print ("%d\n", g_atomic_int_get (&buffers));
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pad);
  gst_object_unref (in);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  return 0;
}

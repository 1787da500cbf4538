/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests that each installed encoder can change its bitrate while it runs. The
 * element bitrateadapt requests a higher bitrate from the encoder, and the
 * frames of the encoder must then become larger. Nothing runs in real time:
 * the source waits until bitrateadapt has set the bitrate of the encoder.
 */

#include <gst/check/gstcheck.h>

#include <string.h>

#define LOW 300000
#define HIGH 1500000
/* The source produces END frames in total. After CHANGE frames, the requested
 * bitrate rises from LOW to HIGH. The test compares the sizes of two groups of
 * COMPARED frames: the last frames before the change, and the last frames of
 * the stream. */
#define CHANGE 75
#define END 175
#define COMPARED 50
/* The element bitrateadapt requests five times the old bitrate. An encoder
 * needs some frames to reach the new bitrate. The test therefore requires only
 * that the frames become MIN_RATIO times as large. */
#define MIN_RATIO 2

static const struct
{
  const gchar *factory, *settings, *property;
  guint bits_per_unit;
} encoders[] = {
  {"x264enc", "tune=zerolatency vbv-buf-capacity=200", "bitrate", 1000},
  {"x265enc", "tune=zerolatency speed-preset=ultrafast", "bitrate", 1000},
  {"openh264enc", "rate-control=bitrate", "bitrate", 1},
  {"vp8enc", "deadline=1 cpu-used=8 end-usage=cbr", "target-bitrate", 1},
  {"vp9enc", "deadline=1 cpu-used=8 end-usage=cbr", "target-bitrate", 1},
  {"av1enc", "cpu-used=8 usage-profile=realtime end-usage=cbr "
        "min-quantizer=2 max-quantizer=63", "target-bitrate", 1000},
};

typedef struct
{
  GstElement *adapt, *encoder;
  guint index;                  /* of `encoders` */
  guint n_in;
  /* Array of guint: the sizes of all encoded frames so far, in bytes. */
  GArray *sizes;
} Run;

static guint
get_rate (const Run * run)
{
  GValue value = G_VALUE_INIT, rate = G_VALUE_INIT;
  guint result;

  g_object_get_property (G_OBJECT (run->encoder),
      encoders[run->index].property, &value);
  g_value_init (&rate, G_TYPE_UINT);
  fail_unless (g_value_transform (&value, &rate));
  result = g_value_get_uint (&rate) * encoders[run->index].bits_per_unit;
  g_value_unset (&rate);
  g_value_unset (&value);
  return result;
}

static void
wait_for_rate (const Run * run, guint rate)
{
  gint64 deadline = g_get_monotonic_time () + 20 * G_TIME_SPAN_SECOND;

  while (get_rate (run) != rate) {
    fail_unless (g_get_monotonic_time () < deadline, "%s makes %u bit/s",
        encoders[run->index].factory, get_rate (run));
    g_usleep (1000);
  }
}

static GstPadProbeReturn
note_input (GstPad * pad, GstPadProbeInfo * info, gpointer data)
{
  Run *run = data;

  if (run->n_in == 0)
    wait_for_rate (run, LOW);
  if (run->n_in++ == CHANGE) {
    g_object_set (run->adapt, "max-bitrate", HIGH, "min-bitrate", HIGH, NULL);
    wait_for_rate (run, HIGH);
  }
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
note_output (GstPad * pad, GstPadProbeInfo * info, gpointer data)
{
  guint size = gst_buffer_get_size (GST_PAD_PROBE_INFO_BUFFER (info));

  g_array_append_val (((Run *) data)->sizes, size);
  return GST_PAD_PROBE_OK;
}

static void
add_probe (GstElement * element, const gchar * name, GstPadProbeCallback probe,
    Run * run)
{
  GstPad *pad = gst_element_get_static_pad (element, name);

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, probe, run, NULL);
  gst_object_unref (pad);
}

/* Returns the total size in bytes of the last frames before the frame with the
 * index `end`. The number of these frames is COMPARED. */
static guint64
add_sizes (const GArray * sizes, guint end)
{
  guint64 sum = 0;
  guint i;

  for (i = end - COMPARED; i < end; i++)
    sum += g_array_index (sizes, guint, i);
  return sum;
}

static gboolean
is_installed (const gchar * name)
{
  GstElementFactory *factory = gst_element_factory_find (name);

  if (factory)
    gst_object_unref (factory);
  return factory != NULL;
}

static void
play (GstElement * pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 100 * GST_SECOND,
      GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
  gst_message_unref (message);
  gst_object_unref (bus);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

GST_START_TEST (encoder_follows_while_it_runs)
{
  Run run = { NULL };
  GstElement *pipeline;
  GError *error = NULL;
  gchar *text;

  run.index = __i__;
  if (!is_installed (encoders[__i__].factory)) {
    g_print ("%s is not installed\n", encoders[__i__].factory);
    return;
  }
  text = g_strdup_printf ("videotestsrc num-buffers=%u pattern=zone-plate "
      "kx2=20 ky2=20 kt=1 ! "
      "video/x-raw,format=I420,width=320,height=240,framerate=25/1 ! "
      "%s name=encoder %s ! bitrateadapt name=adapt min-bitrate=%u "
      "max-bitrate=%u ! fakesink sync=false", END, encoders[__i__].factory,
      encoders[__i__].settings, LOW, LOW);
  pipeline = gst_parse_launch (text, &error);
  g_assert_no_error (error);
  g_free (text);
  run.sizes = g_array_new (FALSE, FALSE, sizeof (guint));
  run.adapt = gst_bin_get_by_name (GST_BIN (pipeline), "adapt");
  run.encoder = gst_bin_get_by_name (GST_BIN (pipeline), "encoder");
  add_probe (run.encoder, "sink", note_input, &run);
  add_probe (run.encoder, "src", note_output, &run);
  play (pipeline);
  fail_unless (run.sizes->len >= CHANGE + COMPARED, "%u frames",
      run.sizes->len);
  g_print ("%s: %.2f Mbit/s, then %.2f\n", encoders[__i__].factory,
      add_sizes (run.sizes, CHANGE) * 8 * 25e-6 / COMPARED,
      add_sizes (run.sizes, run.sizes->len) * 8 * 25e-6 / COMPARED);
  fail_unless (add_sizes (run.sizes, run.sizes->len) >=
      MIN_RATIO * add_sizes (run.sizes, CHANGE));
  gst_object_unref (run.adapt);
  gst_object_unref (run.encoder);
  gst_object_unref (pipeline);
  g_array_unref (run.sizes);
}

GST_END_TEST;

static Suite *
bitrate_encoders_suite (void)
{
  Suite *s = suite_create ("bitrateencoders");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, encoder_follows_while_it_runs, 0,
      G_N_ELEMENTS (encoders));
  return s;
}

GST_CHECK_MAIN (bitrate_encoders);

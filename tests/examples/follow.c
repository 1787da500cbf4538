// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Sends live video whose bitrate follows the network. mmtpsink and
// dccpthinsink estimate the bitrate that the path carries
// (notify::estimated-bitrate), and the encoder is asked for nine tenths of the
// estimate. Every 200 ms the program prints a line of CSV with the estimate,
// the bitrate that was asked for, and the bitrate that the encoder made.
//
//   follow mmtpsink host=tv.example.org port=5004 blocking=false
//   follow dccpthinsink host=tv.example.org port=5004 blocking=false
//
// blocking=false, because live video must not wait for a congested network.
// pipelines/rateplot draws a picture of the output.

#include <gst/gst.h>

#include <glib-unix.h>

#define INTERVAL 200            // ms between two lines
#define MIN_BITRATE 100000      // bit/s; with less, the video is not worth watching
#define SHARE 0.9               // the video's share of the estimate; the rest is for
                                // headers, and for frames above the average
                                // size

// An encoder and its property for the bitrate, with the unit of that property.
// The program uses the first one that is installed. All of them can change
// their bitrate while they play; avenc_* and mpeg2enc cannot.
typedef struct
{
  const gchar *factory;
  const gchar *property;
  guint bits_per_unit;
  const gchar *settings;
  const gchar *payloader;
} Encoder;

static const Encoder ENCODERS[] = {
  {"x264enc", "bitrate", 1000,
        "tune=zerolatency speed-preset=veryfast vbv-buf-capacity=200 key-int-max=50",
      "rtph264pay mtu=1300 config-interval=-1"},
  {"openh264enc", "bitrate", 1,
        "rate-control=bitrate usage-type=camera gop-size=50",
      "rtph264pay mtu=1300 config-interval=-1"},
  {"vp8enc", "target-bitrate", 1,
        "deadline=1 cpu-used=8 end-usage=cbr buffer-size=200 buffer-initial-size=100 "
        "buffer-optimal-size=150 keyframe-max-dist=50",
      "rtpvp8pay mtu=1300"},
};

typedef struct
{
  GMainLoop *loop;
  GstElement *pipeline;
  GstElement *element;          // the encoder
  GstElement *sink;
  const Encoder *encoder;
  guint max_bitrate;            // bit/s
  gint estimated;               // bit/s, which the encoder follows; atomic
  gint bytes;                   // encoded since the last line; atomic
  gint64 begin, last;           // us
  gboolean failed;
} Sender;

// ------------------------------------------------------------------ following

static void
ask_encoder (Sender * sender, guint bitrate)
{
  g_object_set (sender->element, sender->encoder->property,
      (gint) (bitrate / sender->encoder->bits_per_unit), NULL);
}

// Any thread of the sink may call this function. The encoder's property may be
// set from any thread.
static void
follow (GstElement * sink, GParamSpec * property, gpointer data)
{
  Sender *sender = data;
  guint estimated;

  g_object_get (sink, "estimated-bitrate", &estimated, NULL);
  // The log shows the estimate on which the bitrate of the encoder is based.
  // The sink's current estimate may have changed since then.
  g_atomic_int_set (&sender->estimated, (gint) MIN (estimated, G_MAXINT));
  if (estimated > 0)            // 0 if the sink has no estimate yet
    ask_encoder (sender, CLAMP (SHARE * estimated, MIN_BITRATE,
            sender->max_bitrate));
}

// -------------------------------------------------------------------- the log

static GstPadProbeReturn
count_bytes (GstPad * pad, GstPadProbeInfo * info, gpointer data)
{
  Sender *sender = data;

  g_atomic_int_add (&sender->bytes,
      gst_buffer_get_size (GST_PAD_PROBE_INFO_BUFFER (info)));
  return GST_PAD_PROBE_OK;
}

static gboolean
print_line (gpointer data)
{
  Sender *sender = data;
  gint64 now = g_get_monotonic_time ();
  gdouble seconds = (now - sender->last) / 1e6;
  gint bytes = g_atomic_int_and ((guint *) & sender->bytes, 0);
  guint estimated = g_atomic_int_get (&sender->estimated), asked;

  g_object_get (sender->element, sender->encoder->property, &asked, NULL);
  g_print ("%.2f,%u,%u,%.0f\n", (now - sender->begin) / 1e6, estimated,
      asked * sender->encoder->bits_per_unit, 8 * bytes / seconds);
  sender->last = now;
  return G_SOURCE_CONTINUE;
}

// --------------------------------------------------------------- the pipeline

static const Encoder *
choose_encoder (const gchar * wanted)
{
  guint i;

  for (i = 0; i < G_N_ELEMENTS (ENCODERS); i++) {
    GstElementFactory *factory;

    if (wanted && g_strcmp0 (wanted, ENCODERS[i].factory) != 0)
      continue;
    factory = gst_element_factory_find (ENCODERS[i].factory);
    if (factory) {
      gst_object_unref (factory);
      return &ENCODERS[i];
    }
  }
  return NULL;
}

// The whole picture moves, so that the encoder can use any bitrate.
static gboolean
make_pipeline (Sender * sender, const gchar * sink, GError ** error)
{
  const Encoder *encoder = sender->encoder;
  gchar *description = g_strdup_printf ("videotestsrc is-live=true "
      "pattern=zone-plate kx2=20 ky2=20 kt=3 "
      "! video/x-raw,width=640,height=480,framerate=25/1 "
      "! videoconvert ! %s name=encoder %s ! %s "
      "! %s name=sink", encoder->factory, encoder->settings,
      encoder->payloader, sink);
  GstPad *pad;

  sender->pipeline = gst_parse_launch (description, error);
  g_free (description);
  if (*error)                   // even if a part of the pipeline was made
    return FALSE;

  sender->element = gst_bin_get_by_name (GST_BIN (sender->pipeline), "encoder");
  sender->sink = gst_bin_get_by_name (GST_BIN (sender->pipeline), "sink");
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (sender->sink),
          "estimated-bitrate") == NULL) {
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_FAILED,
        "%s does not say what the network carries, because it has no property "
        "estimated-bitrate. Use mmtpsink or dccpthinsink.", sink);
    return FALSE;
  }
  pad = gst_element_get_static_pad (sender->element, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count_bytes, sender, NULL);
  gst_object_unref (pad);
  return TRUE;
}

// ----------------------------------------------------------------- the program

static gboolean
was_connected (GstElement * sink)
{
  GstStructure *stats;
  guint64 connections = 0;

  g_object_get (sink, "stats", &stats, NULL);
  gst_structure_get_uint64 (stats, "connections", &connections);
  gst_structure_free (stats);
  return connections > 0;
}

static void
tell (GstMessage * message, GError * error)
{
  g_printerr ("%s: %s\n", GST_OBJECT_NAME (message->src), error->message);
  g_error_free (error);
}

static void
fail (Sender * sender)
{
  sender->failed = TRUE;
  g_main_loop_quit (sender->loop);
}

// The sinks warn if they cannot reach the receiver, and keep trying. A receiver
// that was connected before may come back, so the program goes on. Otherwise
// the address is probably wrong, so the program ends.
static gboolean
take_message (GstBus * bus, GstMessage * message, gpointer data)
{
  Sender *sender = data;
  GError *error;

  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_ERROR:
      gst_message_parse_error (message, &error, NULL);
      tell (message, error);
      fail (sender);
      break;
    case GST_MESSAGE_WARNING:
      gst_message_parse_warning (message, &error, NULL);
      tell (message, error);
      if (message->src == GST_OBJECT (sender->sink)
          && !was_connected (sender->sink))
        fail (sender);
      break;
    case GST_MESSAGE_EOS:
      g_main_loop_quit (sender->loop);
      break;
    default:
      break;
  }
  return G_SOURCE_CONTINUE;
}

// Ends the stream with EOS, of which the sink tells the receiver. A second
// Ctrl-C ends the program at once.
static gboolean
end_stream (gpointer data)
{
  Sender *sender = data;

  gst_element_send_event (sender->pipeline, gst_event_new_eos ());
  return G_SOURCE_REMOVE;
}

static void
run (Sender * sender)
{
  GstBus *bus = gst_element_get_bus (sender->pipeline);

  sender->loop = g_main_loop_new (NULL, FALSE);
  gst_bus_add_watch (bus, take_message, sender);
  g_unix_signal_add (SIGINT, end_stream, sender);
  g_unix_signal_add (SIGTERM, end_stream, sender);
  g_timeout_add (INTERVAL, print_line, sender);
  g_signal_connect (sender->sink, "notify::estimated-bitrate",
      G_CALLBACK (follow), sender);

  g_print ("# %s\nseconds,estimated,asked,made\n", sender->encoder->factory);
  sender->begin = sender->last = g_get_monotonic_time ();
  gst_element_set_state (sender->pipeline, GST_STATE_PLAYING);
  g_main_loop_run (sender->loop);
  gst_element_set_state (sender->pipeline, GST_STATE_NULL);

  gst_bus_remove_watch (bus);
  gst_object_unref (bus);
  g_main_loop_unref (sender->loop);
}

int
main (int argc, char *argv[])
{
  Sender sender = { NULL };
  gchar *wanted = NULL, *sink;
  gint bitrate = 1000, max_bitrate = 6000;
  GOptionEntry options[] = {
    {"encoder", 0, 0, G_OPTION_ARG_STRING, &wanted,
          "x264enc, openh264enc or vp8enc (the first one that is installed)",
        "NAME"},
    {"bitrate", 0, 0, G_OPTION_ARG_INT, &bitrate,
        "Bitrate until the sink has an estimate (1000)", "KBIT/S"},
    {"max-bitrate", 0, 0, G_OPTION_ARG_INT, &max_bitrate,
        "Maximum bitrate of the encoder (6000)", "KBIT/S"},
    {NULL},
  };
  GOptionContext *context = g_option_context_new ("SINK [PROPERTY=VALUE...]");
  GError *error = NULL;

  g_option_context_add_main_entries (context, options, NULL);
  g_option_context_add_group (context, gst_init_get_option_group ());
  if (!g_option_context_parse (context, &argc, &argv, &error)) {
    g_printerr ("%s\n", error->message);
    return 2;
  }
  g_option_context_free (context);
  if (argc < 2 || bitrate <= 0 || max_bitrate <= 0) {
    g_printerr ("Usage: %s [OPTION...] SINK [PROPERTY=VALUE...]\n", argv[0]);
    return 2;
  }

  sender.max_bitrate = MIN (max_bitrate, 1000000) * 1000;
  sender.encoder = choose_encoder (wanted);
  if (sender.encoder == NULL) {
    if (wanted)
      g_printerr ("The encoder %s is not installed, or it cannot change its "
          "bitrate while it plays.\n", wanted);
    else
      g_printerr ("None of the encoders x264enc, openh264enc and vp8enc is "
          "installed. Install gst-plugins-ugly, -bad or -good.\n");
    return 1;
  }
  sink = g_strjoinv (" ", argv + 1);
  if (!make_pipeline (&sender, sink, &error)) {
    g_printerr ("%s\n", error->message);
    return 1;
  }
  ask_encoder (&sender, MIN (bitrate, 1000000) * 1000);
  run (&sender);

  g_free (sink);
  g_free (wanted);
  gst_object_unref (sender.element);
  gst_object_unref (sender.sink);
  gst_object_unref (sender.pipeline);
  return sender.failed;
}

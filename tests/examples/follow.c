// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Sends live video whose bitrate follows the network. The element bitrateadapt
// sets the bitrate of the encoder to nine tenths of the bitrate that mmtpsink or
// dccpthinsink estimates. This program adds what an application adds: it chooses
// an encoder that is installed, shows the statistics of bitrateadapt, and decides
// which messages end the program. Every 200 ms it prints a line of CSV with the
// estimate, the bitrate that the encoder was set to, and the bitrate that the
// encoder made in the last second.
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

// An encoder with its settings. The program uses the first one that is
// installed. docs/bitrateadapt.md lists the encoders that bitrateadapt can set.
typedef struct
{
  const gchar *factory;
  const gchar *settings;
  const gchar *payloader;
} Encoder;

static const Encoder ENCODERS[] = {
  {"x264enc",
        "tune=zerolatency speed-preset=veryfast vbv-buf-capacity=200 key-int-max=50",
      "rtph264pay mtu=1300 config-interval=-1"},
  {"openh264enc",
        "rate-control=bitrate usage-type=camera gop-size=50",
      "rtph264pay mtu=1300 config-interval=-1"},
  {"vp8enc",
        "deadline=1 cpu-used=8 end-usage=cbr buffer-size=200 buffer-initial-size=100 "
        "buffer-optimal-size=150 keyframe-max-dist=50",
      "rtpvp8pay mtu=1300"},
};

typedef struct
{
  GMainLoop *loop;
  GstElement *pipeline;
  GstElement *sink;
  const Encoder *encoder;
  guint bitrate, max_bitrate;   // bit/s
  gint64 begin;                 // us
  gboolean failed;
} Sender;

// -------------------------------------------------------------------- the log

// bitrateadapt posts its statistics as an element message.
static void
print_line (Sender * sender, const GstStructure * stats)
{
  guint64 estimated = 0, asked = 0, made = 0;

  if (!gst_structure_has_name (stats, "application/x-bitrateadapt-stats"))
    return;
  gst_structure_get_uint64 (stats, "estimated-bitrate", &estimated);
  gst_structure_get_uint64 (stats, "target-bitrate", &asked);
  gst_structure_get_uint64 (stats, "encoder-bitrate", &made);
  g_print ("%.2f,%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT ",%"
      G_GUINT64_FORMAT "\n", (g_get_monotonic_time () - sender->begin) / 1e6,
      estimated, asked, made);
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
      "! videoconvert ! %s %s ! bitrateadapt start-bitrate=%u min-bitrate=%u "
      "max-bitrate=%u stats-update-interval=%d ! %s ! %s name=sink",
      encoder->factory, encoder->settings, sender->bitrate,
      MIN (MIN_BITRATE, sender->max_bitrate), sender->max_bitrate, INTERVAL,
      encoder->payloader, sink);

  sender->pipeline = gst_parse_launch (description, error);
  g_free (description);
  if (*error)                   // even if a part of the pipeline was made
    return FALSE;

  sender->sink = gst_bin_get_by_name (GST_BIN (sender->pipeline), "sink");
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (sender->sink),
          "estimated-bitrate") == NULL) {
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_FAILED,
        "%s does not say what the network carries, because it has no property "
        "estimated-bitrate. Use mmtpsink or dccpthinsink.", sink);
    return FALSE;
  }
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
    case GST_MESSAGE_ELEMENT:
      print_line (sender, gst_message_get_structure (message));
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

  g_print ("# %s\nseconds,estimated,asked,made\n", sender->encoder->factory);
  sender->begin = g_get_monotonic_time ();
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

  sender.bitrate = MIN (bitrate, 1000000) * 1000;
  sender.max_bitrate = MIN (max_bitrate, 1000000) * 1000;
  sender.encoder = choose_encoder (wanted);
  if (sender.encoder == NULL) {
    if (wanted)
      g_printerr ("The encoder %s is not installed, or this program has no "
          "settings for it.\n", wanted);
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
  run (&sender);

  g_free (sink);
  g_free (wanted);
  gst_object_unref (sender.sink);
  gst_object_unref (sender.pipeline);
  return sender.failed;
}

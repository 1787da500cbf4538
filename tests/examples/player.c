// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Plays a URI and prints the statistics of its source every second. It is a
// minimal program with a receiver of this project: playbin3 does the rest, as
// for any URI.
//
//   player udplite://0.0.0.0:5004?media=video&encoding-name=MPV&payload=32&clock-rate=90000
//   player mmtp://0.0.0.0:5004

#include <gst/gst.h>

#include <glib-unix.h>

typedef struct
{
  GMainLoop *loop;
  GstElement *playbin;
  GstElement *screen;           // the video sink
  GstElement *source;           // the element with "stats"; NULL at first
  gint frames;                  // frames shown; atomic, counted in the sink's thread
  guint seconds;
  gboolean failed;
} Player;

// Fields of the source's structure "stats" that interest a user, in the order
// of their display. A source need not have all of them. The pages of the
// elements describe all fields.
static const gchar *const FIELDS[] = {
  "packets", "buffers", "bytes", "missing", "lost", "late", "recovered",
  "partly-covered", "bad-checksum", "dropped", "dropped-full", "loss-events",
};

// ------------------------------------------------------------ the statistics

static void
append_field (GString * line, const GstStructure * stats, const gchar * name)
{
  guint64 count;

  if (gst_structure_get_uint64 (stats, name, &count))
    g_string_append_printf (line, "  %s %" G_GUINT64_FORMAT, name, count);
}

// Returns NULL if the source has no statistics. (transfer full)
static GstStructure *
get_stats (GstElement * source)
{
  GstStructure *stats = NULL;
  GParamSpec *property;

  if (source == NULL)
    return NULL;
  property = g_object_class_find_property (G_OBJECT_GET_CLASS (source),
      "stats");
  if (property && property->value_type == GST_TYPE_STRUCTURE)
    g_object_get (source, "stats", &stats, NULL);
  return stats;
}

static void
show (Player * player)
{
  GString *line = g_string_new (NULL);
  GstStructure *stats = get_stats (player->source);
  guint i;

  g_string_append_printf (line, "%4u s  frames %d", player->seconds,
      g_atomic_int_get (&player->frames));
  for (i = 0; stats && i < G_N_ELEMENTS (FIELDS); i++)
    append_field (line, stats, FIELDS[i]);
  g_print ("%s\n", line->str);

  g_clear_pointer (&stats, gst_structure_free);
  g_string_free (line, TRUE);
}

static gboolean
show_each_second (gpointer data)
{
  Player *player = data;

  player->seconds++;
  show (player);
  return G_SOURCE_CONTINUE;
}

static GstPadProbeReturn
count_frame (GstPad * pad, GstPadProbeInfo * info, gpointer data)
{
  Player *player = data;

  g_atomic_int_inc (&player->frames);
  return GST_PAD_PROBE_OK;
}

// ------------------------------------------------------- messages of playbin3

// Is called for each source. playbin3 makes a new one if the URI changes.
static void
source_is_there (GstElement * playbin, GstElement * source, gpointer data)
{
  Player *player = data;

  gst_object_replace ((GstObject **) & player->source, GST_OBJECT (source));
}

// Returns whether the error means that the user has closed the window. There is
// no better sign of it.
static gboolean
is_closed_window (Player * player, GstObject * sink, const GError * error)
{
  return g_error_matches (error, GST_RESOURCE_ERROR,
      GST_RESOURCE_ERROR_NOT_FOUND) && !GST_IS_BIN (sink)
      && gst_object_has_as_ancestor (sink, GST_OBJECT (player->screen));
}

static void
take_error (Player * player, GstMessage * message)
{
  GError *error;
  gchar *details;

  gst_message_parse_error (message, &error, &details);
  if (!is_closed_window (player, message->src, error)) {
    g_printerr ("%s: %s\n", GST_OBJECT_NAME (message->src), error->message);
    if (details)
      g_printerr ("%s\n", details);
    player->failed = TRUE;
  }
  g_error_free (error);
  g_free (details);
}

// Prints a message of the source, for example that a sender connected or left.
// The page of each source lists its messages.
static void
tell_element (Player * player, GstMessage * message)
{
  gchar *text;

  if (GST_MESSAGE_SRC (message) != GST_OBJECT (player->source))
    return;
  text = gst_structure_to_string (gst_message_get_structure (message));
  g_print ("        %s\n", text);
  g_free (text);
}

static gboolean
take_message (GstBus * bus, GstMessage * message, gpointer data)
{
  Player *player = data;

  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_ERROR:
      take_error (player, message);
      g_main_loop_quit (player->loop);
      break;
    case GST_MESSAGE_EOS:
      g_main_loop_quit (player->loop);
      break;
    case GST_MESSAGE_LATENCY:
      // An MMTP sender has asked for a longer latency, or needs a shorter one.
      gst_bin_recalculate_latency (GST_BIN (player->playbin));
      break;
    case GST_MESSAGE_ELEMENT:
      tell_element (player, message);
      break;
    default:
      break;
  }
  return G_SOURCE_CONTINUE;
}

static gboolean
quit (gpointer data)
{
  Player *player = data;

  g_main_loop_quit (player->loop);
  return G_SOURCE_CONTINUE;
}

// ---------------------------------------------------------------- the pipeline

static GstElement *
make_sink (const gchar * real, gboolean headless)
{
  GstElement *sink = gst_element_factory_make (headless ? "fakesink" : real,
      NULL);

  if (headless && sink)
    g_object_set (sink, "sync", TRUE, NULL);
  return sink;
}

static gboolean
make_pipeline (Player * player, const gchar * uri, gboolean headless)
{
  GstElement *video = make_sink ("autovideosink", headless);
  GstElement *audio = make_sink ("autoaudiosink", headless);
  GstPad *pad;

  player->playbin = gst_element_factory_make ("playbin3", NULL);
  if (player->playbin == NULL || video == NULL || audio == NULL)
    return FALSE;
  gst_object_ref_sink (player->playbin);
  player->screen = video;

  g_object_set (player->playbin, "uri", uri, "video-sink", video,
      "audio-sink", audio, NULL);
  g_signal_connect (player->playbin, "source-setup",
      G_CALLBACK (source_is_there), player);

  pad = gst_element_get_static_pad (video, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count_frame, player, NULL);
  gst_object_unref (pad);
  return TRUE;
}

static void
play (Player * player)
{
  GstBus *bus = gst_element_get_bus (player->playbin);

  player->loop = g_main_loop_new (NULL, FALSE);
  gst_bus_add_watch (bus, take_message, player);
  g_unix_signal_add (SIGINT, quit, player);
  g_unix_signal_add (SIGTERM, quit, player);
  g_timeout_add_seconds (1, show_each_second, player);

  gst_element_set_state (player->playbin, GST_STATE_PLAYING);
  g_main_loop_run (player->loop);
  // In the state NULL the counters start at zero again.
  show (player);
  gst_element_set_state (player->playbin, GST_STATE_NULL);

  gst_bus_remove_watch (bus);
  gst_object_unref (bus);
  g_main_loop_unref (player->loop);
}

int
main (int argc, char *argv[])
{
  Player player = { NULL };
  gboolean headless = FALSE;
  GOptionEntry options[] = {
    {"headless", 0, 0, G_OPTION_ARG_NONE, &headless,
        "Print the statistics without showing video or playing sound", NULL},
    {NULL},
  };
  GOptionContext *context = g_option_context_new ("URI");
  GError *error = NULL;

  g_option_context_add_main_entries (context, options, NULL);
  g_option_context_add_group (context, gst_init_get_option_group ());
  if (!g_option_context_parse (context, &argc, &argv, &error)) {
    g_printerr ("%s\n", error->message);
    return 2;
  }
  g_option_context_free (context);
  if (argc != 2) {
    g_printerr ("Usage: %s [--headless] URI\n", argv[0]);
    return 2;
  }

  if (!make_pipeline (&player, argv[1], headless)) {
    g_printerr ("Could not make playbin3, autovideosink or autoaudiosink. "
        "Install gst-plugins-base and gst-plugins-good.\n");
    return 1;
  }
  play (&player);
  gst_object_unref (player.playbin);
  gst_clear_object (&player.source);
  return player.failed;
}

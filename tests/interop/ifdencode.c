/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs a pipeline with an encoder of VP8 or VP9 that makes temporal layers,
 * and prints the frame counters of the element ifdqueue:
 *
 *   ifdencode LAYERS PIPELINE
 *
 * LAYERS is 1, 2 or 3. The pipeline has an ifdqueue that is named "ifd" and,
 * for more than one layer, an encoder that is named "encoder". The layers of
 * the encoder are set by properties with arrays of numbers. gst-launch-1.0
 * cannot set such properties, so this program sets them. It writes one line
 * with the numbers of input frames, sent frames, dropped frames and malformed
 * frames.
 */

#include <stdio.h>
#include <stdlib.h>

#include <gst/gst.h>

#define MAX_PERIOD 4
#define BITRATE 100000          /* bit/s, of all layers */

/* Flags of a VP8 or VP9 encoder for the frames of each layer. The base layer
 * predicts only from the last frame. The middle layer updates only the golden
 * frame. The highest layer updates no reference frame, so no other frame
 * depends on it. */
#define BASE "no-ref-golden+no-ref-alt+no-upd-golden+no-upd-alt"
#define MIDDLE "no-ref-golden+no-ref-alt+no-upd-last+no-upd-alt+no-upd-entropy"
#define HIGHEST "no-ref-alt+no-upd-last+no-upd-golden+no-upd-alt+no-upd-entropy"

typedef struct
{
  guint n_layers, period;
  gint layers[MAX_PERIOD];
  /* Values for the encoder property temporal-scalability-rate-decimator, one
   * for each layer. */
  gint decimators[MAX_PERIOD];
  /* Flags for the encoder, one for each frame of the pattern. The pattern
   * repeats after `period` frames. */
  const gchar *flags;
  const gchar *syncs;
} Pattern;

static const Pattern patterns[] = {
  {2, 2, {0, 1}, {2, 1}, "< " BASE ", " HIGHEST " >", "< false, false >"},
  {3, 4, {0, 2, 1, 2}, {4, 2, 1},
      "< " BASE ", " HIGHEST ", " MIDDLE ", " HIGHEST " >",
      "< false, false, true, false >"},
};

G_GNUC_BEGIN_IGNORE_DEPRECATIONS;

/* Sets the property `name` of the encoder to the first `n` integers in
 * `values`. The property has the type GValueArray. GLib has deprecated this
 * type, but the encoder still requires it. */
static void
set_array (GstElement * encoder, const gchar * name, const gint * values,
    guint n)
{
  GValueArray *array = g_value_array_new (n);
  GValue value = G_VALUE_INIT;
  guint i;

  g_value_init (&value, G_TYPE_INT);
  for (i = 0; i < n; i++) {
    g_value_set_int (&value, values[i]);
    g_value_array_append (array, &value);
  }
  g_object_set (encoder, name, array, NULL);
  g_value_array_free (array);
}

G_GNUC_END_IGNORE_DEPRECATIONS;

static void
set_layers (GstElement * encoder, const Pattern * pattern)
{
  gint bitrates[MAX_PERIOD];
  guint i;

  /* For each layer, the encoder expects the sum of the bitrates of this layer
   * and of all lower layers. */
  for (i = 0; i < pattern->n_layers; i++)
    bitrates[i] = BITRATE * (i + 2) / (pattern->n_layers + 1);
  g_object_set (encoder, "target-bitrate", BITRATE,
      "temporal-scalability-number-layers", pattern->n_layers,
      "temporal-scalability-periodicity", pattern->period, NULL);
  set_array (encoder, "temporal-scalability-layer-id", pattern->layers,
      pattern->period);
  set_array (encoder, "temporal-scalability-rate-decimator",
      pattern->decimators, pattern->n_layers);
  set_array (encoder, "temporal-scalability-target-bitrate", bitrates,
      pattern->n_layers);
  gst_util_set_object_arg (G_OBJECT (encoder),
      "temporal-scalability-layer-flags", pattern->flags);
  gst_util_set_object_arg (G_OBJECT (encoder),
      "temporal-scalability-layer-sync-flags", pattern->syncs);
}

static gboolean
run (GstElement * pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  gboolean is_complete;
  GstMessage *message;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
      GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  is_complete = GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS;
  if (!is_complete)
    gst_printerrln ("%" GST_PTR_FORMAT, message);
  gst_message_unref (message);
  gst_object_unref (bus);
  return is_complete;
}

static void
show_stats (GstElement * ifd)
{
  static const gchar *const names[] = { "frames-in", "sent", "dropped",
    "malformed-frame"
  };
  GstStructure *stats;
  guint64 value;
  guint i;

  g_object_get (ifd, "stats", &stats, NULL);
  for (i = 0; i < G_N_ELEMENTS (names); i++) {
    if (!gst_structure_get_uint64 (stats, names[i], &value))
      exit (2);
    printf ("%" G_GUINT64_FORMAT "%c", value,
        i + 1 < G_N_ELEMENTS (names) ? ' ' : '\n');
  }
  gst_structure_free (stats);
}

int
main (int argc, char **argv)
{
  GstElement *pipeline, *encoder, *ifd;
  gboolean is_complete;
  GError *error = NULL;
  guint n_layers, i;

  gst_init (&argc, &argv);
  if (argc != 3)
    return 2;
  n_layers = atoi (argv[1]);
  pipeline = gst_parse_launch (argv[2], &error);
  if (!pipeline || error)
    g_error ("%s", error->message);
  for (i = 0; i < G_N_ELEMENTS (patterns); i++) {
    if (patterns[i].n_layers != n_layers)
      continue;
    encoder = gst_bin_get_by_name (GST_BIN (pipeline), "encoder");
    set_layers (encoder, &patterns[i]);
    gst_object_unref (encoder);
  }
  is_complete = run (pipeline);
  ifd = gst_bin_get_by_name (GST_BIN (pipeline), "ifd");
  show_stats (ifd);
  gst_object_unref (ifd);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  return is_complete ? 0 : 1;
}

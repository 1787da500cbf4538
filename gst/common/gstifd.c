/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of gstifd.h, which connects the IFD algorithm (I-Frame Delay)
 * with GStreamer: fields for the statistics, the GType of the property that
 * selects the algorithm, and functions that read caps. */

#include "gstifd.h"

#include "gstwirelessproperties.h"
#include "gstwirelessstats.h"

/* --- statistics ----------------------------------------------------------- */

static void
put_by_type (GstStructure * structure, const gchar * name,
    const guint64 * counts)
{
  gst_wireless_stats_set (structure, name, "", counts[IFD_FRAME_I] +
      counts[IFD_FRAME_P] + counts[IFD_FRAME_B]);
  gst_wireless_stats_set (structure, name, "-i", counts[IFD_FRAME_I]);
  gst_wireless_stats_set (structure, name, "-p", counts[IFD_FRAME_P]);
  gst_wireless_stats_set (structure, name, "-b", counts[IFD_FRAME_B]);
}

static void
put_drops (GstStructure * structure, const IfdStats * stats)
{
  guint64 by_type[IFD_FRAME_LAST] = { 0, }, by_reason[IFD_DROP_LAST] = { 0, };
  guint type, reason;

  for (type = 0; type < IFD_FRAME_LAST; type++) {
    for (reason = 0; reason < IFD_DROP_LAST; reason++) {
      by_type[type] += stats->dropped[type][reason];
      by_reason[reason] += stats->dropped[type][reason];
    }
  }
  put_by_type (structure, "dropped", by_type);
  put_by_type (structure, "bytes-dropped", stats->dropped_bytes);
  for (reason = 0; reason < IFD_DROP_LAST; reason++)
    gst_wireless_stats_set (structure, "dropped-",
        ifd_drop_reason_get_name (reason), by_reason[reason]);
}

#define STATS_STRUCT IfdStats

static const GstWirelessStatsField counters[] = {
  STATS_COUNTER ("flushed", flushed),
  STATS_COUNTER ("gops", gops),
  STATS_COUNTER ("gops-disturbed", gops_disturbed),
  STATS_COUNTER ("gops-misordered", gops_misordered),
  STATS_COUNTER ("time-blocked", time_blocked),
  STATS_COUNTER ("waiting", waiting),
  STATS_COUNTER ("bytes-waiting", waiting_bytes),
};

void
gst_wireless_stats_fill_ifd (GstStructure * structure, const IfdStats * stats)
{
  put_by_type (structure, "frames-in", stats->in);
  put_by_type (structure, "bytes-in", stats->in_bytes);
  put_by_type (structure, "sent", stats->sent);
  put_by_type (structure, "bytes-sent", stats->sent_bytes);
  put_drops (structure, stats);
  gst_wireless_stats_fill (structure, counters, G_N_ELEMENTS (counters), stats);
}

/* --- algorithms ----------------------------------------------------------- */

/* *INDENT-OFF* */
GST_WIRELESS_DEFINE_ENUM (gst_ifd_algorithm, "GstIfdAlgorithm",
    {IFD_ALGORITHM_PAPER, "Figure 1.1 of R. Ouwens, Quality of video streaming "
          "over wireless networks (2006): an I-frame replaces any waiting "
          "frame, a P-frame replaces a waiting B-frame", "paper"},
    {IFD_ALGORITHM_PAPER_GOP, "Figures 1.2 and 1.3 of Ouwens (2006): like "
          "paper, and frames that refer to a dropped frame are dropped, too",
        "paper-gop"},
    {IFD_ALGORITHM_GOP,
        "Like paper-gop, but without the errors of the paper, and with several "
          "waiting frames to choose from",
        "gop"})
/* *INDENT-ON* */

/* --- caps of H.264 and H.265 ---------------------------------------------- */

gboolean
gst_h26x_caps_get_codec (const GstCaps * caps, IfdCodec * codec)
{
  const GstStructure *structure = gst_caps_get_structure (caps, 0);

  if (gst_structure_has_name (structure, "video/x-h264"))
    *codec = IFD_CODEC_H264;
  else if (gst_structure_has_name (structure, "video/x-h265"))
    *codec = IFD_CODEC_H265;
  else
    return FALSE;
  return TRUE;
}

gboolean
gst_h26x_caps_set_codec_data (const GstCaps * caps, IfdClassifier * classifier)
{
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  const gchar *format = gst_structure_get_string (structure, "stream-format");
  const GValue *value = gst_structure_get_value (structure, "codec_data");
  gboolean is_set = FALSE;
  GstBuffer *data;
  GstMapInfo map;

  if (g_str_equal (format, "byte-stream"))
    return ifd_classifier_set_codec_data (classifier, NULL, 0);
  data = value && GST_VALUE_HOLDS_BUFFER (value) ?
      gst_value_get_buffer (value) : NULL;
  if (data && gst_buffer_map (data, &map, GST_MAP_READ)) {
    is_set = ifd_classifier_set_codec_data (classifier, map.data, map.size);
    gst_buffer_unmap (data, &map);
  }
  return is_set;
}

/* --- caps of VP8, VP9 and AV1 --------------------------------------------- */

#define VP8_META "GstVP8Meta"

gboolean
gst_slot_caps_get_codec (const GstCaps * caps, SlotCodec * codec)
{
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  GstCaps *known = gst_caps_from_string (GST_SLOT_CAPS);
  const gboolean is_known = gst_caps_is_subset (caps, known);

  gst_caps_unref (known);
  if (!is_known)
    return FALSE;
  if (gst_structure_has_name (structure, "video/x-vp8"))
    *codec = SLOT_CODEC_VP8;
  else if (gst_structure_has_name (structure, "video/x-vp9"))
    *codec = SLOT_CODEC_VP9;
  else
    *codec = g_str_equal (gst_structure_get_string (structure, "alignment"),
        "tu") ? SLOT_CODEC_AV1 : SLOT_CODEC_AV1_FRAME;
  return TRUE;
}

void
gst_slot_caps_set_codec_data (const GstCaps * caps, SlotReader * reader)
{
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  const GValue *value = gst_structure_get_value (structure, "codec_data");
  GstBuffer *data;
  GstMapInfo map;

  if (!value || !GST_VALUE_HOLDS_BUFFER (value))
    return;
  data = gst_value_get_buffer (value);
  if (!data || !gst_buffer_map (data, &map, GST_MAP_READ))
    return;
  slot_reader_set_codec_data (reader, map.data, map.size);
  gst_buffer_unmap (data, &map);
}

gboolean
gst_wireless_get_vp8_layer (GstBuffer * buffer, SlotLayer * layer)
{
  gboolean is_layered = FALSE;
  GstStructure *structure;
  GstCustomMeta *meta;
  guint number;

  /* VP8_META is a custom meta of GStreamer's VP8 elements. Until one of them is
   * used, this meta is not registered, so no buffer can have it. */
  if (!gst_meta_get_info (VP8_META))
    return FALSE;
  meta = gst_buffer_get_custom_meta (buffer, VP8_META);
  if (!meta)
    return FALSE;
  structure = gst_custom_meta_get_structure (meta);
  layer->is_sync = FALSE;
  if (!gst_structure_get_boolean (structure, "use-temporal-scaling",
          &is_layered) || !is_layered
      || !gst_structure_get_uint (structure, "layer-id", &number)
      || number >= SLOT_MAX_LAYERS)
    return FALSE;
  layer->layer = number;
  gst_structure_get_boolean (structure, "layer-sync", &layer->is_sync);
  return TRUE;
}

void
gst_slot_use_to_frame (const SlotUse * use, IfdFrame * frame)
{
  frame->type = use->is_key ? IFD_FRAME_I : use->is_reference ? IFD_FRAME_P :
      IFD_FRAME_B;
  frame->flags = IFD_FRAME_SLOTS | (use->is_key ? IFD_FRAME_CLOSED : 0);
  frame->uses = use->uses;
  frame->updates = use->updates;
  frame->layer = use->layer;
  frame->depth = 0;
  frame->order = frame->order_range = 0;
}

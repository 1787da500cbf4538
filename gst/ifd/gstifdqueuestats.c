/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Statistics of ifdqueue, and the messages about statistics and dropped frames.
 */

#include "gstifdqueueprivate.h"

#include <string.h>

#include "gstifd.h"
#include "gstwirelessstats.h"

#define STATS_NAME "application/x-ifdqueue-stats"
#define DROP_NAME "application/x-ifdqueue-drop"

/* --- statistics, from any thread ----------------------------------------- */

typedef struct
{
  IfdStats ifd;
  GstIfdQueueInputStats input;
  guint64 sequence_headers_repeated;
} Snapshot;

#define STATS_STRUCT Snapshot

static const GstWirelessStatsField stats_fields[] = {
  STATS_FIELD ("lateness-median", G_TYPE_INT64, ifd.lateness_median),
  STATS_FIELD ("lateness-p99", G_TYPE_INT64, ifd.lateness_p99),
  STATS_FIELD ("lateness-max", G_TYPE_INT64, ifd.lateness_max),
  STATS_COUNTER ("sequence-headers-repeated", sequence_headers_repeated),
  STATS_COUNTER ("junk-bytes", input.framer.junk_bytes),
  STATS_COUNTER ("too-big", input.framer.too_big),
  STATS_COUNTER ("truncated", input.framer.truncated),
  STATS_COUNTER ("bad-headers", input.framer.bad_headers),
  STATS_COUNTER ("before-sequence", input.framer.before_sequence),
  STATS_COUNTER ("foreign-codes", input.framer.foreign_codes),
  STATS_COUNTER ("incomplete", input.framer.incomplete),
  STATS_COUNTER ("malformed-no-start-code",
      input.malformed[IFD_MALFORMED_NO_START_CODE]),
  STATS_COUNTER ("malformed-length", input.malformed[IFD_MALFORMED_LENGTH]),
  STATS_COUNTER ("malformed-header", input.malformed[IFD_MALFORMED_HEADER]),
  STATS_COUNTER ("malformed-sei", input.malformed[IFD_MALFORMED_SEI]),
  STATS_COUNTER ("malformed-sps", input.malformed[IFD_MALFORMED_SPS]),
  STATS_COUNTER ("malformed-frame", input.malformed_frames),
};

static void
take_snapshot (GstIfdQueue * self, Snapshot * snapshot)
{
  memset (snapshot, 0, sizeof (*snapshot));
  g_mutex_lock (&self->lock);
  ifd_line_get_stats (self->line, &snapshot->ifd);
  snapshot->input = self->input_stats;
  snapshot->sequence_headers_repeated = self->sequence_headers_repeated;
  g_mutex_unlock (&self->lock);
}

GstStructure *
gst_ifd_queue_create_stats (GstElement * element)
{
  GstIfdQueue *self = GST_IFD_QUEUE (element);
  GstStructure *stats = gst_structure_new_empty (STATS_NAME);
  Snapshot snapshot;

  take_snapshot (self, &snapshot);
  gst_wireless_stats_fill_ifd (stats, &snapshot.ifd);
  gst_wireless_stats_fill (stats, stats_fields, G_N_ELEMENTS (stats_fields),
      &snapshot);
  return stats;
}

/* --- messages ------------------------------------------------------------ */

void
gst_ifd_queue_post_stats (GstIfdQueue * self)
{
  gst_wireless_post (self, gst_ifd_queue_create_stats (GST_ELEMENT (self)));
}

GstMessage *
gst_ifd_queue_new_drop_message (GstIfdQueue * self, const IfdLineDrop * drop)
{
  const IfdFrame *frame = &drop->event.frame;
  gchar type[2] = { ifd_frame_type_char (frame->type), '\0' };

  return gst_message_new_element (GST_OBJECT_CAST (self),
      gst_structure_new (DROP_NAME,
          "type", G_TYPE_STRING, type,
          "reason", G_TYPE_STRING,
          ifd_drop_reason_get_name (drop->event.reason),
          "number", G_TYPE_UINT64, frame->number,
          "cause", G_TYPE_UINT64, drop->event.cause,
          "size", G_TYPE_UINT, frame->size,
          "pts", GST_TYPE_CLOCK_TIME, GST_BUFFER_PTS (drop->item.object),
          "dts", GST_TYPE_CLOCK_TIME, GST_BUFFER_DTS (drop->item.object),
          NULL));
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What ifdqueue tells: its statistics and the messages with them and with what
 * it drops.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstifdqueueprivate.h"

#include <string.h>

#include "gststatsfields.h"

#define STATS_NAME "application/x-ifdqueue-stats"
#define DROP_NAME "application/x-ifdqueue-drop"

/* --- statistics, from any thread ----------------------------------------- */

typedef struct
{
  IfdStats ifd;
  GstIfdQueueInputStats input;
  guint64 sequence_headers_repeated;
  /* sums */
  guint64 in, in_bytes, sent, sent_bytes, dropped, dropped_bytes;
  guint64 dropped_by_type[IFD_FRAME_LAST], dropped_by_reason[IFD_DROP_LAST];
  guint64 waiting;
} Snapshot;

#define FIELD(name, type, member) \
    { name, type, G_STRUCT_OFFSET (Snapshot, member) }
#define COUNTER(name, member) FIELD (name, G_TYPE_UINT64, member)
#define BY_TYPE(name, member) \
    COUNTER (name "-i", member[IFD_FRAME_I]), \
    COUNTER (name "-p", member[IFD_FRAME_P]), \
    COUNTER (name "-b", member[IFD_FRAME_B])

static const GstStatsField stats_fields[] = {
  COUNTER ("frames-in", in),
  BY_TYPE ("frames-in", ifd.in),
  COUNTER ("bytes-in", in_bytes),
  BY_TYPE ("bytes-in", ifd.in_bytes),
  COUNTER ("sent", sent),
  BY_TYPE ("sent", ifd.sent),
  COUNTER ("bytes-sent", sent_bytes),
  BY_TYPE ("bytes-sent", ifd.sent_bytes),
  COUNTER ("dropped", dropped),
  BY_TYPE ("dropped", dropped_by_type),
  COUNTER ("bytes-dropped", dropped_bytes),
  BY_TYPE ("bytes-dropped", ifd.dropped_bytes),
  COUNTER ("dropped-no-room", dropped_by_reason[IFD_DROP_NO_ROOM]),
  COUNTER ("dropped-overwritten", dropped_by_reason[IFD_DROP_OVERWRITTEN]),
  COUNTER ("dropped-disturbed", dropped_by_reason[IFD_DROP_DISTURBED]),
  COUNTER ("dropped-leading", dropped_by_reason[IFD_DROP_LEADING]),
  COUNTER ("dropped-incomplete", dropped_by_reason[IFD_DROP_INCOMPLETE]),
  COUNTER ("dropped-no-i-frame", dropped_by_reason[IFD_DROP_NO_I]),
  COUNTER ("flushed", ifd.flushed),
  COUNTER ("gops", ifd.gops),
  COUNTER ("gops-disturbed", ifd.gops_disturbed),
  FIELD ("lateness-median", G_TYPE_INT64, ifd.lateness_median),
  FIELD ("lateness-p99", G_TYPE_INT64, ifd.lateness_p99),
  FIELD ("lateness-max", G_TYPE_INT64, ifd.lateness_max),
  COUNTER ("time-blocked", ifd.time_blocked),
  COUNTER ("waiting", waiting),
  COUNTER ("bytes-waiting", ifd.waiting_bytes),
  COUNTER ("sequence-headers-repeated", sequence_headers_repeated),
  COUNTER ("junk-bytes", input.framer.junk_bytes),
  COUNTER ("too-big", input.framer.too_big),
  COUNTER ("truncated", input.framer.truncated),
  COUNTER ("bad-headers", input.framer.bad_headers),
  COUNTER ("before-sequence", input.framer.before_sequence),
  COUNTER ("foreign-codes", input.framer.foreign_codes),
  COUNTER ("incomplete", input.framer.incomplete),
  COUNTER ("malformed-no-start-code",
      input.malformed[IFD_MALFORMED_NO_START_CODE]),
  COUNTER ("malformed-length", input.malformed[IFD_MALFORMED_LENGTH]),
  COUNTER ("malformed-header", input.malformed[IFD_MALFORMED_HEADER]),
  COUNTER ("malformed-sei", input.malformed[IFD_MALFORMED_SEI]),
  COUNTER ("malformed-sps", input.malformed[IFD_MALFORMED_SPS]),
};

#undef FIELD
#undef COUNTER
#undef BY_TYPE

static void
sum_drops (Snapshot * snapshot, IfdFrameType type)
{
  IfdDropReason reason;

  for (reason = 0; reason < IFD_DROP_LAST; reason++) {
    guint64 dropped = snapshot->ifd.dropped[type][reason];

    snapshot->dropped_by_reason[reason] += dropped;
    snapshot->dropped_by_type[type] += dropped;
    snapshot->dropped += dropped;
  }
}

static void
sum_up (Snapshot * snapshot)
{
  const IfdStats *ifd = &snapshot->ifd;
  IfdFrameType type;

  for (type = 0; type < IFD_FRAME_LAST; type++) {
    snapshot->in += ifd->in[type];
    snapshot->in_bytes += ifd->in_bytes[type];
    snapshot->sent += ifd->sent[type];
    snapshot->sent_bytes += ifd->sent_bytes[type];
    snapshot->dropped_bytes += ifd->dropped_bytes[type];
    sum_drops (snapshot, type);
  }
  snapshot->waiting = ifd->waiting;
}

static void
take_snapshot (GstIfdQueue * self, Snapshot * snapshot)
{
  memset (snapshot, 0, sizeof (*snapshot));
  g_mutex_lock (&self->lock);
  ifd_line_get_stats (self->line, &snapshot->ifd);
  snapshot->input = self->input_stats;
  snapshot->sequence_headers_repeated = self->sequence_headers_repeated;
  g_mutex_unlock (&self->lock);
  sum_up (snapshot);
}

GstStructure *
gst_ifd_queue_create_stats (GstIfdQueue * self)
{
  GstStructure *stats = gst_structure_new_empty (STATS_NAME);
  Snapshot snapshot;

  take_snapshot (self, &snapshot);
  gst_structure_set_stats (stats, stats_fields, G_N_ELEMENTS (stats_fields),
      &snapshot);
  return stats;
}

/* --- messages ------------------------------------------------------------ */

void
gst_ifd_queue_post_stats (GstIfdQueue * self)
{
  gst_element_post_message (GST_ELEMENT_CAST (self),
      gst_message_new_element (GST_OBJECT_CAST (self),
          gst_ifd_queue_create_stats (self)));
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
          "pts", GST_TYPE_CLOCK_TIME, GST_BUFFER_PTS (drop->buffer),
          "dts", GST_TYPE_CLOCK_TIME, GST_BUFFER_DTS (drop->buffer), NULL));
}

/* --- the timer ----------------------------------------------------------- */

static GstStructure *
create_stats (GstElement * element)
{
  return gst_ifd_queue_create_stats (GST_IFD_QUEUE (element));
}

void
gst_ifd_queue_start_timer (GstIfdQueue * self)
{
  GstClockTime interval;

  g_mutex_lock (&self->lock);
  interval = self->stats_interval;
  g_mutex_unlock (&self->lock);
  gst_stats_timer_start (&self->stats_timer, GST_ELEMENT_CAST (self), interval,
      create_stats);
}

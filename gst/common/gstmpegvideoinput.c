/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of gstmpegvideoinput.h: the MPEG video input of an element. */

#include "gstmpegvideoinput.h"

#include <string.h>

#include "gstframeinfometa.h"
#include "gstwronginput.h"

GST_DEBUG_CATEGORY_STATIC (gst_mpeg_video_input_debug);
#define GST_CAT_DEFAULT gst_mpeg_video_input_debug

/* If the input contains no frame in this number of bytes, it is not MPEG video.
 */
#define MAX_BYTES_WITHOUT_FRAME (16 * 1024 * 1024)

/* Size limit in bytes of the pieces in which the input is passed to the framer,
 * which cuts it into frames. All frames of a piece are in the queue at the same
 * time. Malicious input may contain a frame in every dozen bytes, and the
 * buffer of such a small frame needs a hundred times as much memory as the
 * frame itself. Small pieces therefore limit the memory. */
#define MAX_PIECE (16 * 1024)

/* System start codes (B9 to FF) belong to an MPEG system stream, which is a
 * container. Damaged video may contain up to MAX_FOREIGN_CODES of them by
 * chance. If the input has more, and also at least as many system start codes
 * as frames, the input is regarded as a system stream. */
#define MAX_FOREIGN_CODES 8

/* Only the streaming thread of the owner accesses the fields. The exception is
 * max_frame_size: any thread may set it, so it is accessed atomically. */
struct _GstMpegVideoInput
{
  GstElement *owner;
  MpegVideoFramer *framer;
  MpegVideoTimeline *timeline;
  GQueue frames;                /* queue of GstMpegVideoInputFrame */

  gint max_frame_size;          /* bytes */
  gint framer_max_frame_size;
  GstCaps *caps;                /* caps from upstream; NULL if none were set */
  gboolean parsed;
  /* TRUE if the timestamps of the buffers are ignored, because the format of
   * upstream's segment is not GST_FORMAT_TIME */
  gboolean no_times;

  /* The buffer that is being processed; NULL if there is none. The bytes before
   * pending_offset were already passed to the framer, which joins bytes into
   * frames. The bytes from pending_offset on are passed in later calls. */
  GstBuffer *pending;
  gsize pending_offset;
  /* TRUE if the end of the stream was reached, but the caller has not pulled
   * all frames yet. The framer, which forms the frames, was drained at the end
   * of the stream. The timeline, which detects losses, must be drained after
   * the last frame was pulled. */
  gboolean drained;
  /* TRUE if the next frame gets the flag DISCONT, because it does not continue
   * the previous frame */
  gboolean discont;
  /* TRUE if the next frame gets the flag RESYNC, because a new stream begins */
  gboolean resync;
  /* TRUE if some bytes of the next frame arrived in a buffer with the flag
   * CORRUPTED
   */
  gboolean corrupted;
  guint64 bytes_without_frame;
  guint8 head[GST_WRONG_INPUT_HEAD];    /* first bytes of the stream */
  gsize head_size;
  gboolean failed;
  MpegVideoFramerStats stats;   /* counters of earlier framers */
  gboolean warned_too_big;
};

static void
init_debug (void)
{
  static gsize done = 0;

  if (g_once_init_enter (&done)) {
    GST_DEBUG_CATEGORY_INIT (gst_mpeg_video_input_debug, "mpegvideoinput", 0,
        "MPEG video input of an element");
    g_once_init_leave (&done, 1);
  }
}

GstMpegVideoInput *
gst_mpeg_video_input_new (GstElement * owner)
{
  GstMpegVideoInput *input = g_new0 (GstMpegVideoInput, 1);

  init_debug ();
  input->owner = owner;
  input->max_frame_size = MPEG_VIDEO_DEFAULT_MAX_FRAME_SIZE;
  input->timeline = mpeg_video_timeline_new ();
  input->discont = TRUE;
  g_queue_init (&input->frames);
  return input;
}

static void
queued_frame_free (gpointer data)
{
  gst_mpeg_video_input_frame_clear (data);
  g_free (data);
}

/* Frees the framer. Its counters are added to `input->stats`, so that the
 * totals do not decrease. */
static void
input_drop_framer (GstMpegVideoInput * input)
{
  if (!input->framer)
    return;
  gst_mpeg_video_input_get_stats (input, &input->stats);
  g_clear_pointer (&input->framer, mpeg_video_framer_free);
}

void
gst_mpeg_video_input_free (GstMpegVideoInput * input)
{
  gst_mpeg_video_input_reset (input);
  mpeg_video_timeline_free (input->timeline);
  gst_clear_caps (&input->caps);
  g_free (input);
}

void
gst_mpeg_video_input_reset (GstMpegVideoInput * input)
{
  g_queue_clear_full (&input->frames, queued_frame_free);
  g_queue_init (&input->frames);
  gst_clear_buffer (&input->pending);
  input_drop_framer (input);
  mpeg_video_timeline_reset (input->timeline);
  input->discont = TRUE;
  input->resync = FALSE;
  input->corrupted = FALSE;
  input->failed = FALSE;
  input->warned_too_big = FALSE;
  input->drained = FALSE;
  input->bytes_without_frame = 0;
  input->head_size = 0;
}

void
gst_mpeg_video_input_set_max_frame_size (GstMpegVideoInput * input, guint bytes)
{
  g_atomic_int_set (&input->max_frame_size, bytes);
}

void
gst_mpeg_video_input_set_caps (GstMpegVideoInput * input, GstCaps * caps)
{
  GstStructure *structure = gst_caps_get_structure (caps, 0);
  gboolean parsed = FALSE;

  gst_structure_get_boolean (structure, "parsed", &parsed);
  gst_caps_replace (&input->caps, caps);
  if (parsed == input->parsed)
    return;
  input->parsed = parsed;
  /* The input was parsed before and is not parsed now, or the other way round.
   * The framer, which joins bytes into frames, may still hold bytes from before
   * this change. They must not become part of the first frame after the change,
   * so the framer is discarded. The next buffer creates a new framer. */
  input_drop_framer (input);
}

static MpegVideoFramer *
input_get_framer (GstMpegVideoInput * input)
{
  MpegVideoFramerConfig config = { 0 };

  if (!input->framer) {
    input->framer_max_frame_size = g_atomic_int_get (&input->max_frame_size);
    config.max_frame_size = input->framer_max_frame_size;
    config.need_sequence = !input->parsed;
    input->framer = mpeg_video_framer_new (&config);
  }
  return input->framer;
}

static void
input_set_flags (GstMpegVideoInput * input, GstBuffer * buffer,
    MpegVideoPictureType type)
{
  GST_BUFFER_FLAG_UNSET (buffer, GST_BUFFER_FLAG_DELTA_UNIT |
      GST_BUFFER_FLAG_DROPPABLE | GST_BUFFER_FLAG_DISCONT |
      GST_BUFFER_FLAG_RESYNC | GST_BUFFER_FLAG_CORRUPTED);
  if (type == MPEG_VIDEO_PICTURE_P || type == MPEG_VIDEO_PICTURE_B)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT);
  if (type == MPEG_VIDEO_PICTURE_B)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DROPPABLE);
  if (input->discont)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  if (input->resync)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_RESYNC);
  if (input->corrupted)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_CORRUPTED);
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_MARKER);
  input->discont = input->resync = input->corrupted = FALSE;
}

/* Appends a frame to input->frames, the queue of frames that the caller has not
 * pulled yet. Takes ownership of `buffer` and of the list of start codes in
 * `frame`. */
static void
input_add_frame (GstMpegVideoInput * input, GstBuffer * buffer,
    MpegVideoFrame * frame)
{
  const MpegVideoPicture *header = &frame->pictures[0].header;
  GstMpegVideoInputFrame *queued = g_new0 (GstMpegVideoInputFrame, 1);
  GstFrameInfoMeta *info;

  buffer = gst_buffer_make_writable (buffer);
  input_set_flags (input, buffer, header->type);
  info = gst_buffer_get_frame_info_meta (buffer);
  if (!info) {
    gst_buffer_add_frame_info_meta (buffer, header->type,
        header->temporal_reference, GST_FRAME_INFO_COVERAGE_ALL);
  } else {
    info->picture_type = header->type;
    info->temporal_reference = header->temporal_reference;
  }
  queued->buffer = buffer;
  queued->frame = *frame;
  queued->frame.data = NULL;
  g_queue_push_tail (&input->frames, queued);
  input->bytes_without_frame = 0;
}

static void
input_collect (GstMpegVideoInput * input)
{
  MpegVideoFrame frame;

  while (mpeg_video_framer_poll_output (input->framer, &frame)) {
    GstBuffer *buffer = gst_buffer_new_wrapped (frame.data, frame.size);

    input_add_frame (input, buffer, &frame);
  }
}

static gboolean
input_fail (GstMpegVideoInput * input)
{
  MpegVideoFramerStats stats;
  GstElement *element;
  gchar *advice;

  if (input->failed)
    return FALSE;
  input->failed = TRUE;
  /* No frame is output after the error. Otherwise a sink could complete its
   * change to PAUSED with such a frame, although the stream has failed. */
  g_queue_clear_full (&input->frames, queued_frame_free);
  gst_mpeg_video_input_get_stats (input, &stats);
  element = gst_wrong_input_get_element (input->owner);
  advice = gst_wrong_input_advise (gst_wrong_input_find (input->head,
          input->head_size), element);
  if (!advice)
    advice = g_strdup_printf ("No MPEG-1 or MPEG-2 video frame in %"
        G_GUINT64_FORMAT " bytes: %s takes a video elementary stream. If the "
        "video is in a container, put its demuxer upstream, such as "
        "mpegpsdemux; for another codec, put its parser upstream.",
        input->bytes_without_frame, GST_OBJECT_NAME (element));
  GST_ELEMENT_ERROR (element, STREAM, WRONG_TYPE, ("%s", advice),
      ("no frame in %" G_GUINT64_FORMAT " bytes, %" G_GUINT64_FORMAT
          " system start codes, %" G_GUINT64_FORMAT " pictures before a "
          "sequence header, %" G_GUINT64_FORMAT " damaged headers",
          input->bytes_without_frame, stats.foreign_codes,
          stats.before_sequence, stats.bad_headers));
  g_free (advice);
  gst_object_unref (element);
  return FALSE;
}

/* Posts a warning about the first frame that was too large. Further such frames
 * are only counted. */
static void
input_warn_too_big (GstMpegVideoInput * input)
{
  if (!input->warned_too_big)
    GST_ELEMENT_WARNING (input->owner, STREAM, DECODE,
        ("A frame is larger than max-frame-size, %d bytes, and was dropped. "
            "Raise max-frame-size if the stream is not damaged.",
            input->framer_max_frame_size),
        ("The element continues at the next header. Further such frames are "
            "only counted."));
  input->warned_too_big = TRUE;
}

static gboolean
input_check (GstMpegVideoInput * input)
{
  MpegVideoFramerStats stats;

  mpeg_video_framer_get_stats (input->framer, &stats);
  if (stats.too_big > 0)
    input_warn_too_big (input);
  /* If the input is parsed, another element has already checked that it is MPEG
   * video. Unusual bytes are then regarded as damage by the network, and not as
   * a sign of another format. */
  if (input->parsed)
    return TRUE;
  if (gst_wrong_input_is_container (gst_wrong_input_find (input->head,
              input->head_size))
      || input->bytes_without_frame > MAX_BYTES_WITHOUT_FRAME
      || (stats.foreign_codes > MAX_FOREIGN_CODES
          && stats.foreign_codes >= stats.frames))
    return input_fail (input);
  return TRUE;
}

/* Called when all bytes of the buffer `pending` have been passed to the framer.
 * Releases the buffer. The end of the buffer is also the end of a frame if the
 * input is parsed or if the buffer has the flag MARKER; this frame is then
 * completed. */
static void
input_end_buffer (GstMpegVideoInput * input)
{
  if (input->parsed || GST_BUFFER_FLAG_IS_SET (input->pending,
          GST_BUFFER_FLAG_MARKER)) {
    mpeg_video_framer_drain (input->framer);
    input_collect (input);
  }
  /* A parsed buffer holds whole frames. If it is damaged, the frames of the
   * next buffer are therefore not affected. */
  if (input->parsed)
    input->corrupted = FALSE;
  gst_clear_buffer (&input->pending);
}

/* Passes the next piece of the buffer `pending` to the framer, which cuts the
 * bytes into frames. `pts` and `dts` are the timestamps of the buffer; they are
 * passed on with its first piece only. */
static void
input_feed (GstMpegVideoInput * input, GstClockTime pts, GstClockTime dts)
{
  gsize offset = input->pending_offset;
  GstMapInfo map;
  gsize size;

  if (!gst_buffer_map (input->pending, &map, GST_MAP_READ)) {
    GST_WARNING_OBJECT (input->owner, "cannot map %" GST_PTR_FORMAT,
        input->pending);
    gst_clear_buffer (&input->pending);
    return;
  }
  size = MIN (map.size - offset, MAX_PIECE);
  if (offset == 0)
    mpeg_video_framer_input (input->framer, map.data, size, pts, dts);
  else
    mpeg_video_framer_input_more (input->framer, map.data + offset, size);
  input->pending_offset += size;
  offset = map.size;
  gst_buffer_unmap (input->pending, &map);
  input_collect (input);
  if (input->pending_offset == offset)
    input_end_buffer (input);
  if (!input_check (input))
    gst_clear_buffer (&input->pending);
}

/* Handles the usual buffer of parsed input: a buffer that holds exactly one
 * frame. Adds such a buffer to the queue `frames` without copying it, takes
 * ownership of it and returns TRUE. Returns FALSE if the input is not parsed,
 * or if `buffer` does not hold exactly one frame. */
static gboolean
input_push_whole (GstMpegVideoInput * input, GstBuffer * buffer,
    GstClockTime pts, GstClockTime dts)
{
  MpegVideoFrame frame;
  gboolean whole;
  GstMapInfo map;

  if (!input->parsed || !gst_buffer_map (buffer, &map, GST_MAP_READ))
    return FALSE;
  whole = mpeg_video_framer_input_frame (input->framer, map.data, map.size,
      pts, dts, &frame);
  gst_buffer_unmap (buffer, &map);
  if (whole)
    input_add_frame (input, buffer, &frame);
  return whole;
}

gboolean
gst_mpeg_video_input_push (GstMpegVideoInput * input, GstBuffer * buffer)
{
  MpegVideoFramer *framer = input_get_framer (input);
  GstClockTime pts = input->no_times ? GST_CLOCK_TIME_NONE :
      GST_BUFFER_PTS (buffer);
  GstClockTime dts = input->no_times ? GST_CLOCK_TIME_NONE :
      GST_BUFFER_DTS (buffer);

  gst_clear_buffer (&input->pending);
  if (input->failed) {
    gst_buffer_unref (buffer);
    return FALSE;
  }
  if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DISCONT)) {
    mpeg_video_framer_discont (framer);
    input->discont = TRUE;
  }
  if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_RESYNC))
    input->resync = TRUE;
  if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_CORRUPTED))
    input->corrupted = TRUE;
  input->bytes_without_frame += gst_buffer_get_size (buffer);
  if (input->head_size < sizeof (input->head))
    input->head_size += gst_buffer_extract (buffer, 0,
        input->head + input->head_size,
        sizeof (input->head) - input->head_size);

  if (input_push_whole (input, buffer, pts, dts))
    return TRUE;
  input->pending = buffer;
  input->pending_offset = 0;
  input_feed (input, pts, dts);
  return !input->failed;
}

gboolean
gst_mpeg_video_input_drain (GstMpegVideoInput * input)
{
  MpegVideoFramerStats stats;

  if (input->failed)
    return FALSE;
  if (input->framer) {
    mpeg_video_framer_drain (input->framer);
    input_collect (input);
    mpeg_video_framer_get_stats (input->framer, &stats);
    if (!input->parsed && stats.frames == 0 && input->bytes_without_frame > 0)
      return input_fail (input);
  }
  input->drained = TRUE;
  return TRUE;
}

/* Passes the frame to the timeline, which computes the timestamps of the frame
 * and detects frames that were lost before it. This is done only when the
 * caller pulls the frame. The caller can therefore report these losses after
 * the previous frame and before this one. */
static void
input_place_frame (GstMpegVideoInput * input, GstMpegVideoInputFrame * frame)
{
  const MpegVideoPicture *header = &frame->frame.pictures[0].header;
  const MpegVideoPosition *position = &frame->position;
  GstBuffer *buffer = frame->buffer;

  if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DISCONT))
    frame->frame.flags |= MPEG_VIDEO_FRAME_DISCONT;
  if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_RESYNC))
    frame->frame.flags |= MPEG_VIDEO_FRAME_RESYNC;
  mpeg_video_timeline_input (input->timeline, &frame->frame,
      gst_buffer_get_frame_info_meta (buffer)->media_time, &frame->position);
  GST_BUFFER_PTS (buffer) = position->pts;
  GST_BUFFER_DTS (buffer) = position->dts;
  GST_BUFFER_DURATION (buffer) = position->duration;
  GST_LOG_OBJECT (input->owner, "%c-frame, temporal reference %u, %"
      G_GSIZE_FORMAT " bytes, PTS %" GST_TIME_FORMAT ", DTS %" GST_TIME_FORMAT,
      mpeg_video_picture_type_char (header->type), header->temporal_reference,
      frame->frame.size, GST_TIME_ARGS (position->pts),
      GST_TIME_ARGS (position->dts));
}

gboolean
gst_mpeg_video_input_pull (GstMpegVideoInput * input,
    GstMpegVideoInputFrame * frame)
{
  GstMpegVideoInputFrame *queued;

  while (g_queue_is_empty (&input->frames) && input->pending)
    input_feed (input, GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE);
  queued = g_queue_pop_head (&input->frames);
  if (!queued) {
    if (input->drained)
      mpeg_video_timeline_drain (input->timeline);
    input->drained = FALSE;
    return FALSE;
  }
  *frame = *queued;
  g_free (queued);
  input_place_frame (input, frame);
  return TRUE;
}

void
gst_mpeg_video_input_frame_clear (GstMpegVideoInputFrame * frame)
{
  gst_clear_buffer (&frame->buffer);
  mpeg_video_frame_clear (&frame->frame);
}

gboolean
gst_mpeg_video_input_pull_loss (GstMpegVideoInput * input, MpegVideoLoss * loss)
{
  return mpeg_video_timeline_poll_loss (input->timeline, loss);
}

void
gst_mpeg_video_input_get_stats (GstMpegVideoInput * input,
    MpegVideoFramerStats * stats)
{
  MpegVideoFramerStats now = { 0 };

  if (input->framer)
    mpeg_video_framer_get_stats (input->framer, &now);
  stats->frames = input->stats.frames + now.frames;
  stats->incomplete = input->stats.incomplete + now.incomplete;
  stats->junk_bytes = input->stats.junk_bytes + now.junk_bytes;
  stats->too_big = input->stats.too_big + now.too_big;
  stats->truncated = input->stats.truncated + now.truncated;
  stats->bad_headers = input->stats.bad_headers + now.bad_headers;
  stats->before_sequence = input->stats.before_sequence + now.before_sequence;
  stats->foreign_codes = input->stats.foreign_codes + now.foreign_codes;
}

GstCaps *
gst_mpeg_video_input_make_caps (GstMpegVideoInput * input,
    const MpegVideoSequence * sequence)
{
  GstCaps *caps = input->caps ? gst_caps_copy (input->caps) :
      gst_caps_new_empty_simple ("video/mpeg");

  gst_caps_set_simple (caps, "systemstream", G_TYPE_BOOLEAN, FALSE,
      "parsed", G_TYPE_BOOLEAN, TRUE, NULL);
  if (sequence->width == 0) {
    GstStructure *structure = gst_caps_get_structure (caps, 0);

    /* If there is no sequence header, the MPEG version is taken from upstream's
     * caps. If these caps have no version, MPEG-2 is assumed, because it is
     * more common than MPEG-1. */
    if (!gst_structure_has_field (structure, "mpegversion"))
      gst_caps_set_simple (caps, "mpegversion", G_TYPE_INT, 2, NULL);
    return caps;
  }
  gst_caps_set_simple (caps,
      "mpegversion", G_TYPE_INT, sequence->mpeg2 ? 2 : 1,
      "width", G_TYPE_INT, (gint) sequence->width,
      "height", G_TYPE_INT, (gint) sequence->height, NULL);
  if (sequence->fps_n > 0)
    gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION,
        (gint) sequence->fps_n, (gint) sequence->fps_d, NULL);
  return caps;
}

GstEvent *
gst_mpeg_video_input_convert_segment (GstMpegVideoInput * input,
    GstEvent * event)
{
  const GstSegment *segment;
  GstSegment time;
  GstEvent *converted;

  gst_event_parse_segment (event, &segment);
  input->no_times = segment->format != GST_FORMAT_TIME;
  if (!input->no_times)
    return event;
  gst_segment_init (&time, GST_FORMAT_TIME);
  converted = gst_event_new_segment (&time);
  gst_event_set_seqnum (converted, gst_event_get_seqnum (event));
  gst_event_unref (event);
  return converted;
}

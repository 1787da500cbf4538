/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implements the element rfc2250depay: its pads, its properties and the
 * handling of buffers. The unpacker (rfc2250unpacker.h) implements the payload
 * format. */

/**
 * SECTION:element-rfc2250depay
 * @title: rfc2250depay
 * @see_also: rfc2250pay, rtpjitterbuffer, rtpmpvdepay
 *
 * Extracts MPEG-1 and MPEG-2 video from RTP packets (RFC 2250 section 3), frame
 * by frame. The payload of each packet begins with a video-specific header.
 * These headers, in the packets that arrived, show what a lost packet
 * contained. By default, only complete frames are pushed. With
 * #GstRfc2250Depay:on-loss=conceal, all complete slices are pushed.
 *
 * The element detects whether the stream is MPEG-1 or MPEG-2. It supports the
 * MPEG-2 header extension with all its optional parts. It also supports senders
 * whose video-specific headers are all zero (`rtpmpvpay`).
 *
 * Each frame gets the timestamp of its first packet. Add `rtpjitterbuffer`
 * upstream to get presentation times. Without `rtpjitterbuffer`, the element
 * still corrects a small reordering of packets
 * (#GstRfc2250Depay:reorder-window).
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 udpsrc port=5004 caps="application/x-rtp, media=video, clock-rate=90000, encoding-name=MPV, payload=32" ! rtpjitterbuffer ! rfc2250depay ! mpegvideoparse ! avdec_mpeg2video ! videoconvert ! autovideosink
 * ]| Receives and displays a stream.
 * |[
 * gst-launch-1.0 filesrc location=clip.m2v ! rfc2250pay ! udpsink host=127.0.0.1 port=5004
 * ]| Sends a file as a stream that the first example can receive.
 *
 * Since: 0.1
 */

#include <gst/rtp/gstrtpbasedepayload.h>
#include <gst/rtp/gstrtpbuffer.h>

#include "gstframeinfometa.h"
#include "gstmpegvideoinput.h"
#include "gstwirelessproperties.h"
#include "rfc2250unpacker.h"
#include "rtpreorder.h"

#define GST_TYPE_RFC2250_DEPAY (gst_rfc2250_depay_get_type ())
G_DECLARE_FINAL_TYPE (GstRfc2250Depay, gst_rfc2250_depay, GST, RFC2250_DEPAY,
    GstRTPBaseDepayload);
GST_ELEMENT_REGISTER_DECLARE (rfc2250depay);

GST_DEBUG_CATEGORY_STATIC (gst_rfc2250_depay_debug);
#define GST_CAT_DEFAULT gst_rfc2250_depay_debug

#define CLOCK_RATE 90000
/* Maximum number of keep-alive packets whose sequence numbers are remembered. A
 * keep-alive packet is an RTP packet without a payload. It has a sequence
 * number, but contains no video, so this number is missing in the video. The
 * element remembers the number, so that it does not count the packet as lost. A
 * small maximum suffices, because keep-alive packets are seconds apart.
 */
#define MAX_FILLERS 16

/* Counters of lost, duplicate, late and refused packets, and of changes of the
 * source. The array `frames` contains the number of pushed frames of each
 * picture type. */
typedef struct
{
  guint64 lost;
  guint64 duplicates;
  guint64 late;
  guint64 strays;
  guint64 invalid_rtp;
  guint64 wrong_payload_type;
  guint64 no_payload;
  guint64 ssrc_changes;
  guint64 frames[MPEG_VIDEO_PICTURE_LAST];
} DepayStats;

struct _GstRfc2250Depay
{
  GstRTPBaseDepayload parent;

  /* protected by the object lock */
  Rfc2250OnLoss on_loss;
  guint reorder_window;         /* in packets */
  guint max_frame_size;         /* in bytes */
  DepayStats stats;
  /* copy of the counters of the unpacker (rfc2250unpacker.h), which other
   * threads can read */
  Rfc2250UnpackerStats unpacker_stats;

  /* streaming thread only */
  GstPadChainFunction base_chain;
  RtpReorder *reorder;
  Rfc2250Unpacker *unpacker;
  GstMpegVideoInput *input;
  gint payload_type;            /* from the caps; -1: any */
  gboolean have_seqnum;
  guint16 next_seqnum;
  /* sequence numbers of the last MAX_FILLERS packets that had no payload */
  guint16 fillers[MAX_FILLERS];
  guint n_fillers;              /* number of valid elements */
  guint64 n_empty;
  /* Number of packets without a payload that the reorder buffer has counted as
   * lost. These packets arrived, but were not passed to the reorder buffer. The
   * number is therefore subtracted from its count of lost packets. */
  guint64 fillers_used;
  gboolean have_ssrc;
  guint32 ssrc;
  /* extended RTP timestamp of the last packet; all bits set if there is none
   * yet */
  guint64 rtptime;
  /* TRUE if the next frame is the first frame of a new source (with another
   * SSRC); its buffer then gets the flag RESYNC */
  gboolean resync;
  /* Parameters of an MPEG sequence header: the ones from which the present caps
   * of the src pad were made. */
  MpegVideoSequence sequence;
  gboolean have_caps;
  gboolean have_rtp_caps;
  /* TRUE if an error about the type of the input was posted, which is done only
   * once */
  gboolean refused_input;
  gboolean warned_too_big;
};

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK,
    GST_PAD_ALWAYS,
    GST_STATIC_CAPS ("application/x-rtp, "
        "media = (string) \"video\", "
        "clock-rate = (int) 90000, encoding-name = (string) \"MPV\"; "
        "application/x-rtp, "
        "media = (string) \"video\", "
        "payload = (int) " GST_RTP_PAYLOAD_MPV_STRING ", "
        "clock-rate = (int) 90000"));

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC,
    GST_PAD_ALWAYS,
    GST_STATIC_CAPS (GST_MPEG_VIDEO_INPUT_CAPS ", parsed = (boolean) true"));

#define gst_rfc2250_depay_parent_class parent_class
G_DEFINE_TYPE (GstRfc2250Depay, gst_rfc2250_depay, GST_TYPE_RTP_BASE_DEPAYLOAD);
GST_ELEMENT_REGISTER_DEFINE (rfc2250depay, "rfc2250depay",
    GST_RANK_SECONDARY + 1, GST_TYPE_RFC2250_DEPAY);

#define GST_TYPE_RFC2250_ON_LOSS (gst_rfc2250_on_loss_get_type ())
/* *INDENT-OFF* */
static GST_WIRELESS_DEFINE_ENUM (gst_rfc2250_on_loss, "GstRfc2250OnLoss",
    {RFC2250_ON_LOSS_DROP_FRAME, "Only frames that lost nothing are pushed",
        "drop-frame"},
    {RFC2250_ON_LOSS_CONCEAL,
        "Slices that arrived whole are pushed; lost picture headers are "
        "rebuilt where the packets contain enough", "conceal"},
    {RFC2250_ON_LOSS_PASS, "Everything that arrived is pushed as it is",
        "pass"})
/* *INDENT-ON* */

static GstStructure *
gst_rfc2250_depay_create_stats (GstElement * element)
{
  GstRfc2250Depay *depay = GST_RFC2250_DEPAY (element);
  DepayStats d;
  Rfc2250UnpackerStats u;

  GST_OBJECT_LOCK (depay);
  d = depay->stats;
  u = depay->unpacker_stats;
  GST_OBJECT_UNLOCK (depay);

  return gst_structure_new ("application/x-rfc2250-depay-stats",
      "packets", G_TYPE_UINT64, u.packets,
      "legacy-packets", G_TYPE_UINT64, u.legacy_packets,
      "lost", G_TYPE_UINT64, d.lost,
      "duplicates", G_TYPE_UINT64, d.duplicates,
      "late", G_TYPE_UINT64, d.late,
      "strays", G_TYPE_UINT64, d.strays,
      "ssrc-changes", G_TYPE_UINT64, d.ssrc_changes,
      "invalid-rtp", G_TYPE_UINT64, d.invalid_rtp,
      "wrong-payload-type", G_TYPE_UINT64, d.wrong_payload_type,
      "no-payload", G_TYPE_UINT64, d.no_payload,
      "bad-short", G_TYPE_UINT64, u.bad_short,
      "bad-mbz", G_TYPE_UINT64, u.bad_mbz,
      "bad-extension", G_TYPE_UINT64, u.bad_extension,
      "empty", G_TYPE_UINT64, u.empty,
      "frames", G_TYPE_UINT64, u.frames,
      "frames-i", G_TYPE_UINT64, d.frames[MPEG_VIDEO_PICTURE_I],
      "frames-p", G_TYPE_UINT64, d.frames[MPEG_VIDEO_PICTURE_P],
      "frames-b", G_TYPE_UINT64, d.frames[MPEG_VIDEO_PICTURE_B],
      "frames-d", G_TYPE_UINT64, d.frames[MPEG_VIDEO_PICTURE_D],
      "frames-damaged", G_TYPE_UINT64, u.frames_damaged,
      "frames-dropped", G_TYPE_UINT64, u.frames_dropped,
      "too-big", G_TYPE_UINT64, u.too_big,
      "pictures-rebuilt", G_TYPE_UINT64, u.pictures_rebuilt,
      "gops-rebuilt", G_TYPE_UINT64, u.gops_rebuilt,
      "slices-dropped", G_TYPE_UINT64, u.slices_dropped, NULL);
}

static void
gst_rfc2250_depay_configure (GstRfc2250Depay * depay)
{
  rfc2250_unpacker_set_config (depay->unpacker, depay->on_loss,
      depay->max_frame_size);
  rtp_reorder_set_window (depay->reorder, depay->reorder_window);
  gst_mpeg_video_input_set_max_frame_size (depay->input, depay->max_frame_size);
}

#define PROPERTY_STRUCT GstRfc2250Depay
static const GstWirelessProperty properties[] = {
  /**
   * GstRfc2250Depay:on-loss:
   *
   * Treatment of a frame that lacks a part:
   *
   * - `drop-frame`: The frame is not pushed.
   * - `conceal`: The complete slices of the frame are pushed with the flag
   *   %GST_BUFFER_FLAG_CORRUPTED. A lost picture header is restored from the
   *   video-specific header of a packet, as RFC 2250 appendix 1 allows. If the
   *   video is MPEG-1, the sender only has to fill in this header. If the video
   *   is MPEG-2, the sender must also use the header extension for MPEG-2 or
   *   the bits AN and N (properties `mpeg2-extension` and `new-picture-bits` of
   *   rfc2250pay).
   * - `pass`: All data of the frame that arrived are pushed. They get the flag
   *   %GST_BUFFER_FLAG_CORRUPTED, as with `conceal`.
   *
   * Since: 0.1
   */
  PROPERTY_ENUM ("on-loss", "On loss",
      "What to do with a frame of which a packet is missing",
      PROPERTY_READY, on_loss, gst_rfc2250_on_loss_get_type,
      RFC2250_ON_LOSS_DROP_FRAME),

  /**
   * GstRfc2250Depay:reorder-window:
   *
   * Maximum number of packets that wait for a missing packet. The missing
   * packet may still arrive, because other packets may have overtaken it. If no
   * packet is missing, no packet waits. With the value 0, packets never wait,
   * and each gap counts as a loss at once.
   *
   * An upstream `rtpjitterbuffer` also waits for missing packets. When it stops
   * waiting for a packet, it sets the flag DISCONT on the packet after the gap.
   * This element then does not wait for the missing packet either.
   *
   * Since: 0.1
   */
  /* The default of reorder-window is 3 packets. This is the amount of
   * reordering that the loss detection of TCP and TFRC tolerates as well (RFC
   * 5681 section 3.2, RFC 5348 section 5.1). */
  PROPERTY_UINT ("reorder-window", "Reorder window",
      "Maximum number of packets that wait for a missing packet, which may "
      "have been reordered (packets, 0 = do not wait)",
      PROPERTY_READY, reorder_window, 0, RTP_REORDER_MAX_WINDOW, 3),

  /**
   * GstRfc2250Depay:max-frame-size:
   *
   * Maximum size of a coded frame in bytes. A larger frame is dropped and
   * counted. A warning is posted for the first such frame only.
   *
   * Since: 0.1
   */
  PROPERTY_UINT ("max-frame-size", "Maximum frame size",
      "Maximum size of a coded frame (bytes); a larger frame is dropped",
      PROPERTY_READY, max_frame_size, 1024, G_MAXINT,
      MPEG_VIDEO_DEFAULT_MAX_FRAME_SIZE),

  /**
   * GstRfc2250Depay:mpeg-stats:
   *
   * Counters since the element was created. All are #guint64 and never
   * decrease. (The property `stats` belongs to the base class.)
   *
   * - `packets`: accepted packets
   * - `legacy-packets`: accepted packets whose video-specific header is all
   *   zero, because their sender does not fill it in
   * - `lost`, `duplicates`, `late`: lost, duplicate and late packets, which are
   *   recognized by their sequence numbers
   * - `ssrc-changes`: number of times that another source (with another SSRC)
   *   became the current source
   * - `strays`: dropped packets of another source than the current one, or with
   *   a sequence number far from the expected one. Another source becomes the
   *   current source if it has sent two consecutive packets, and the current
   *   source has been silent for a second
   * - refused packets, by reason:
   *   - `invalid-rtp`: not RTP
   *   - `wrong-payload-type`: a payload type other than that of the caps
   *   - `no-payload`: a keep-alive packet
   *   - `bad-short`: shorter than the header requires
   *   - `bad-mbz`: reserved bits set
   *   - `bad-extension`: a forbidden value in the MPEG-2 extension
   *   - `empty`: no video data after the header
   * - `frames`: complete frames that were pushed
   * - `frames-damaged`: incomplete frames that were pushed
   * - `frames-dropped`: frames that were not pushed
   * - `too-big`: dropped frames that exceeded max-frame-size
   * - `frames-i`, `-p`, `-b`, `-d`: all pushed frames, by type
   * - `pictures-rebuilt`, `gops-rebuilt`: lost picture headers and lost GOP
   *   headers that `on-loss=conceal` restored
   * - `slices-dropped`: incomplete slices that `on-loss=conceal` dropped
   *
   * Since: 0.1
   */
  PROPERTY_COMPUTED ("mpeg-stats", "MPEG statistics",
      "Number of packets and frames, and number of refused packets and frames "
      "by reason, since the element started", PROPERTY_READABLE, 0,
      gst_structure_get_type,
      .create_stats = gst_rfc2250_depay_create_stats),
};

/* --- counters ----------------------------------------------------------- */

/* Posts a warning about the first frame that exceeds max-frame-size. Later
 * frames that are too large are only counted. */
static void
gst_rfc2250_depay_warn_too_big (GstRfc2250Depay * depay)
{
  if (depay->warned_too_big || depay->unpacker_stats.too_big == 0)
    return;
  depay->warned_too_big = TRUE;
  GST_ELEMENT_WARNING (depay, STREAM, DECODE,
      ("A frame is larger than max-frame-size, %u bytes, and was dropped. "
          "Raise max-frame-size if the stream is not damaged.",
          depay->max_frame_size), ("Further such frames are only counted."));
}

/* Copies the counters to fields that other threads can read. This function is
 * called once for each frame and for each refused packet. */
static void
gst_rfc2250_depay_publish_stats (GstRfc2250Depay * depay)
{
  GST_OBJECT_LOCK (depay);
  depay->stats.lost = rtp_reorder_get_lost (depay->reorder)
      - depay->fillers_used;
  depay->stats.strays = rtp_reorder_get_strays (depay->reorder);
  rfc2250_unpacker_get_stats (depay->unpacker, &depay->unpacker_stats);
  GST_OBJECT_UNLOCK (depay);
  gst_rfc2250_depay_warn_too_big (depay);
}

/* --- frames downstream -------------------------------------------------- */

static gboolean
sequence_changes_caps (const MpegVideoSequence * a, const MpegVideoSequence * b)
{
  return a->width != b->width || a->height != b->height
      || a->mpeg2 != b->mpeg2 || a->fps_n != b->fps_n || a->fps_d != b->fps_d;
}

static void
gst_rfc2250_depay_update_caps (GstRfc2250Depay * depay,
    const MpegVideoFrame * frame)
{
  MpegVideoSequence sequence = frame->sequence;
  GstCaps *caps;

  /* The sequence header shows whether the stream is MPEG-1 or MPEG-2. If no
   * sequence header has been received yet, the picture is examined instead. A
   * picture coding extension shows that the stream is MPEG-2, because only
   * MPEG-2 has this extension. Without it, the stream is taken for MPEG-1. */
  if (frame->flags & MPEG_VIDEO_FRAME_NO_SEQUENCE)
    sequence.mpeg2 = frame->pictures[0].header.has_extension;
  if (depay->have_caps && !sequence_changes_caps (&sequence, &depay->sequence))
    return;
  depay->sequence = sequence;
  depay->have_caps = TRUE;
  caps = gst_mpeg_video_input_make_caps (depay->input, &sequence);
  gst_caps_set_simple (caps, "mpegversion", G_TYPE_INT,
      sequence.mpeg2 ? 2 : 1, NULL);
  gst_pad_set_caps (GST_RTP_BASE_DEPAYLOAD_SRCPAD (depay), caps);
  gst_caps_unref (caps);
}

/* Pushes data that are not a whole frame: a sequence end code or, with
 * on-loss=pass, a frame whose beginning is missing. */
static GstFlowReturn
gst_rfc2250_depay_push_part (GstRfc2250Depay * depay, GstBuffer * buffer)
{
  MpegVideoFrame unknown = { 0 };

  if (!depay->have_caps) {
    unknown.flags = MPEG_VIDEO_FRAME_NO_SEQUENCE;
    unknown.pictures[0].header.has_extension = TRUE;
    gst_rfc2250_depay_update_caps (depay, &unknown);
    depay->have_caps = FALSE;
  }
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT);
  return gst_rtp_base_depayload_push (GST_RTP_BASE_DEPAYLOAD (depay), buffer);
}

static GstFlowReturn
gst_rfc2250_depay_push_frame (GstRfc2250Depay * depay,
    Rfc2250UnpackedFrame * unpacked)
{
  GstBuffer *buffer = gst_buffer_new_wrapped (unpacked->data, unpacked->size);
  GstMpegVideoInputFrame frame;
  GstFrameInfoMeta *info;
  GstFlowReturn flow = GST_FLOW_OK;
  GstBuffer *out;
  MpegVideoLoss loss;

  GST_BUFFER_PTS (buffer) = unpacked->pts;
  if (unpacked->damaged)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_CORRUPTED);
  if (unpacked->end_code || unpacked->headless)
    return gst_rfc2250_depay_push_part (depay, buffer);
  info = gst_buffer_add_frame_info_meta (buffer, 0, 0,
      GST_FRAME_INFO_COVERAGE_ALL);
  info->media_time = gst_util_uint64_scale_int (unpacked->rtptime, GST_SECOND,
      CLOCK_RATE);
  if (depay->resync) {
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_RESYNC);
    depay->resync = FALSE;
  }
  gst_mpeg_video_input_push (depay->input, buffer);

  while (flow == GST_FLOW_OK
      && gst_mpeg_video_input_pull (depay->input, &frame)) {
    gst_rfc2250_depay_update_caps (depay, &frame.frame);
    GST_OBJECT_LOCK (depay);
    depay->stats.frames[frame.frame.pictures[0].header.type]++;
    GST_OBJECT_UNLOCK (depay);
    out = g_steal_pointer (&frame.buffer);
    gst_mpeg_video_input_frame_clear (&frame);
    flow = gst_rtp_base_depayload_push (GST_RTP_BASE_DEPAYLOAD (depay), out);
  }
  while (gst_mpeg_video_input_pull_loss (depay->input, &loss))
    GST_DEBUG_OBJECT (depay, "lost %u frames of type %c, from display number %"
        G_GINT64_FORMAT " on", loss.frames,
        mpeg_video_picture_type_char (loss.type), loss.display_number);
  return flow;
}

static GstFlowReturn
gst_rfc2250_depay_push_frames (GstRfc2250Depay * depay)
{
  GstFlowReturn flow = GST_FLOW_OK;
  Rfc2250UnpackedFrame frame;

  while (rfc2250_unpacker_poll_output (depay->unpacker, &frame)) {
    gst_rfc2250_depay_publish_stats (depay);
    if (flow == GST_FLOW_OK)
      flow = gst_rfc2250_depay_push_frame (depay, &frame);
    else
      g_free (frame.data);
  }
  return flow;
}

/* --- packets from upstream ---------------------------------------------- */

static void
gst_rfc2250_depay_count (GstRfc2250Depay * depay, guint64 * counter)
{
  GST_OBJECT_LOCK (depay);
  (*counter)++;
  GST_OBJECT_UNLOCK (depay);
}

static gboolean
gst_rfc2250_depay_was_filler (GstRfc2250Depay * depay, guint16 seqnum)
{
  guint i;

  for (i = 0; i < depay->n_fillers; i++) {
    if (depay->fillers[i] == seqnum)
      return TRUE;
  }
  return FALSE;
}

/* Returns whether packets are missing between the last packet and this packet.
 * A keep-alive packet has no payload (RFC 6263 section 4.1) and does not count
 * as missing, although it was not passed on. */
static gboolean
gst_rfc2250_depay_check_gap (GstRfc2250Depay * depay, guint32 ssrc,
    guint16 seqnum)
{
  gboolean gap;

  while (depay->have_seqnum && seqnum != depay->next_seqnum
      && gst_rfc2250_depay_was_filler (depay, depay->next_seqnum)) {
    depay->next_seqnum++;
    depay->fillers_used++;
  }
  gap = depay->have_seqnum && seqnum != depay->next_seqnum;

  depay->have_seqnum = TRUE;
  depay->next_seqnum = seqnum + 1;
  if (depay->have_ssrc && ssrc != depay->ssrc) {
    gst_rfc2250_depay_count (depay, &depay->stats.ssrc_changes);
    depay->rtptime = -1;
    depay->resync = TRUE;
    gap = TRUE;
  }
  depay->ssrc = ssrc;
  depay->have_ssrc = TRUE;
  return gap;
}

static GstBuffer *
gst_rfc2250_depay_process (GstRTPBaseDepayload * base, GstRTPBuffer * rtp)
{
  GstRfc2250Depay *depay = GST_RFC2250_DEPAY (base);
  Rfc2250Payload payload;

  payload.gap = gst_rfc2250_depay_check_gap (depay,
      gst_rtp_buffer_get_ssrc (rtp), gst_rtp_buffer_get_seq (rtp));
  payload.data = gst_rtp_buffer_get_payload (rtp);
  payload.size = gst_rtp_buffer_get_payload_len (rtp);
  payload.marker = gst_rtp_buffer_get_marker (rtp);
  payload.rtptime = gst_rtp_buffer_ext_timestamp (&depay->rtptime,
      gst_rtp_buffer_get_timestamp (rtp));
  payload.pts = GST_BUFFER_PTS (rtp->buffer);
  rfc2250_unpacker_input (depay->unpacker, &payload);
  gst_rfc2250_depay_push_frames (depay);
  return NULL;
}

static void
gst_rfc2250_depay_add_filler (GstRfc2250Depay * depay, guint16 seqnum)
{
  depay->fillers[depay->n_empty++ % MAX_FILLERS] = seqnum;
  depay->n_fillers = MIN (depay->n_fillers + 1, MAX_FILLERS);
}

/* Checks a packet before it is passed to the reorder buffer. Without this
 * check, a forged packet could take the sequence number of a genuine packet.
 * The genuine packet would then be discarded as a duplicate. */
static gboolean
gst_rfc2250_depay_check_payload (GstRfc2250Depay * depay, guint payload_type,
    guint32 ssrc, guint16 seqnum, const guint8 * payload, gsize size)
{
  if (depay->payload_type >= 0 && payload_type != depay->payload_type) {
    gst_rfc2250_depay_count (depay, &depay->stats.wrong_payload_type);
    return FALSE;
  }
  if (size == 0) {
    gst_rfc2250_depay_count (depay, &depay->stats.no_payload);
    if (depay->have_ssrc && ssrc == depay->ssrc)
      gst_rfc2250_depay_add_filler (depay, seqnum);
    return FALSE;
  }
  return rfc2250_unpacker_check (depay->unpacker, payload, size);
}

/* Checks a packet with any RTP header. */
static gboolean
gst_rfc2250_depay_check_rtp (GstRfc2250Depay * depay, GstBuffer * buffer,
    guint32 * ssrc, guint16 * seqnum)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  gboolean good;

  if (!gst_rtp_buffer_map (buffer, GST_MAP_READ, &rtp)) {
    gst_rfc2250_depay_count (depay, &depay->stats.invalid_rtp);
    return FALSE;
  }
  *ssrc = gst_rtp_buffer_get_ssrc (&rtp);
  *seqnum = gst_rtp_buffer_get_seq (&rtp);
  good = gst_rfc2250_depay_check_payload (depay,
      gst_rtp_buffer_get_payload_type (&rtp), *ssrc, *seqnum,
      gst_rtp_buffer_get_payload (&rtp), gst_rtp_buffer_get_payload_len (&rtp));
  gst_rtp_buffer_unmap (&rtp);
  return good;
}

/* Nearly all packets have the minimum RTP header and the minimum video-specific
 * header. For these packets, it is sufficient to check a copy of the first
 * bytes. The check then does not map the buffer into memory. The base class
 * maps the buffer later, so the buffer is mapped once instead of twice. */
static gboolean
gst_rfc2250_depay_check_packet (GstRfc2250Depay * depay, GstBuffer * buffer,
    guint32 * ssrc, guint16 * seqnum)
{
  guint8 head[12 + RFC2250_HEADER_SIZE];

  /* This function checks whether the packet is valid. For most packets, it
   * checks a copy of the first bytes. This is sufficient only if the RTP header
   * has version 2, no padding, no extension and no contributing sources, and if
   * the packet has no MPEG-2 header extension (T = 0). The buffer of any other
   * packet is mapped, and the whole packet is checked. */
  if (gst_buffer_extract (buffer, 0, head, sizeof (head)) < sizeof (head)
      || head[0] != GST_RTP_VERSION << 6 || head[12] & 0x04)
    return gst_rfc2250_depay_check_rtp (depay, buffer, ssrc, seqnum);
  *seqnum = GST_READ_UINT16_BE (head + 2);
  *ssrc = GST_READ_UINT32_BE (head + 8);
  return gst_rfc2250_depay_check_payload (depay, head[1] & 0x7f, *ssrc,
      *seqnum, head + 12, RFC2250_HEADER_SIZE);
}

static GstFlowReturn
gst_rfc2250_depay_release (GstRfc2250Depay * depay, GstPad * pad)
{
  GstFlowReturn flow = GST_FLOW_OK;
  GstBuffer *buffer;

  while ((buffer = rtp_reorder_poll_output (depay->reorder))) {
    if (flow == GST_FLOW_OK)
      flow = depay->base_chain (pad, GST_OBJECT (depay), buffer);
    else
      gst_buffer_unref (buffer);
  }
  return flow;
}

static GstFlowReturn
gst_rfc2250_depay_refuse (GstRfc2250Depay * depay, GstBuffer * buffer,
    guint64 * counter)
{
  if (counter)
    gst_rfc2250_depay_count (depay, counter);
  gst_buffer_unref (buffer);
  gst_rfc2250_depay_publish_stats (depay);
  return GST_FLOW_OK;
}

/* `seqnum` is the sequence number of a packet before which packets are missing.
 * Returns TRUE if all missing packets are known to be keep-alive packets
 * without a payload. The element then need not wait for them. */
static gboolean
gst_rfc2250_depay_only_fillers_missing (GstRfc2250Depay * depay, guint16 seqnum)
{
  guint16 missing = depay->next_seqnum;

  if (!depay->have_seqnum || depay->n_fillers == 0)
    return FALSE;
  while (missing != seqnum && gst_rfc2250_depay_was_filler (depay, missing))
    missing++;
  return missing == seqnum;
}

/* Posts an error that says that the input is not RTP. The base class posts no
 * error in this case. */
static void
gst_rfc2250_depay_refuse_input (GstRfc2250Depay * depay, const gchar * why)
{
  if (depay->refused_input)
    return;
  depay->refused_input = TRUE;
  GST_ELEMENT_ERROR (depay, STREAM, WRONG_TYPE,
      ("%s takes RTP packets, but its input is %s. Set the caps of the element "
          "that receives the packets, such as udpsrc caps=\"application/x-rtp, "
          "media=video, clock-rate=90000, encoding-name=MPV, payload=32\". "
          "Video that is not in RTP needs no depayloader.",
          GST_OBJECT_NAME (depay), why), (NULL));
}

/* Handles each packet before it reaches the chain function of the base class
 * (GstRTPBaseDepayload). The base class drops each late packet, so the order of
 * the packets must be restored first. Packets that do not belong to the stream
 * are refused here. Refused, late and duplicate packets are counted. */
static GstFlowReturn
gst_rfc2250_depay_chain (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  GstRfc2250Depay *depay = GST_RFC2250_DEPAY (parent);
  guint32 ssrc;
  guint16 seqnum;
  gboolean final_gap;

  if (!depay->have_rtp_caps) {
    gst_rfc2250_depay_refuse_input (depay, "a stream without caps");
    gst_buffer_unref (buffer);
    return GST_FLOW_NOT_NEGOTIATED;
  }
  if (!gst_rfc2250_depay_check_packet (depay, buffer, &ssrc, &seqnum))
    return gst_rfc2250_depay_refuse (depay, buffer, NULL);

  final_gap = GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DISCONT)
      || gst_rfc2250_depay_only_fillers_missing (depay, seqnum);
  switch (rtp_reorder_input (depay->reorder, ssrc, seqnum,
          GST_BUFFER_DTS_OR_PTS (buffer), final_gap, buffer)) {
    case RTP_REORDER_NEXT:
      return depay->base_chain (pad, parent, buffer);
    case RTP_REORDER_DUPLICATE:
      return gst_rfc2250_depay_refuse (depay, buffer, &depay->stats.duplicates);
    case RTP_REORDER_LATE:
      return gst_rfc2250_depay_refuse (depay, buffer, &depay->stats.late);
    case RTP_REORDER_TAKEN:
    default:
      return gst_rfc2250_depay_release (depay, pad);
  }
}

static GstFlowReturn
gst_rfc2250_depay_chain_list (GstPad * pad, GstObject * parent,
    GstBufferList * list)
{
  GstFlowReturn flow = GST_FLOW_OK;
  guint i, len = gst_buffer_list_length (list);

  for (i = 0; i < len && flow == GST_FLOW_OK; i++)
    flow = gst_rfc2250_depay_chain (pad, parent,
        gst_buffer_ref (gst_buffer_list_get (list, i)));
  gst_buffer_list_unref (list);
  return flow;
}

/* --- the element -------------------------------------------------------- */

static void
gst_rfc2250_depay_reset (GstRfc2250Depay * depay)
{
  rtp_reorder_reset (depay->reorder);
  rfc2250_unpacker_reset (depay->unpacker);
  gst_mpeg_video_input_reset (depay->input);
  depay->have_seqnum = depay->have_ssrc = FALSE;
  depay->n_fillers = 0;
  depay->rtptime = -1;
  depay->resync = FALSE;
}

static void
gst_rfc2250_depay_drain (GstRfc2250Depay * depay)
{
  rtp_reorder_drain (depay->reorder);
  gst_rfc2250_depay_release (depay, GST_RTP_BASE_DEPAYLOAD_SINKPAD (depay));
  rfc2250_unpacker_drain (depay->unpacker);
  gst_rfc2250_depay_push_frames (depay);
  gst_rfc2250_depay_publish_stats (depay);
}

static gboolean
gst_rfc2250_depay_handle_event (GstRTPBaseDepayload * base, GstEvent * event)
{
  GstRfc2250Depay *depay = GST_RFC2250_DEPAY (base);
  const GstSegment *segment;

  if (GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT) {
    gst_event_parse_segment (event, &segment);
    /* The base class refuses a segment whose format is not time, but posts no
     * error. The error is therefore posted here. */
    if (segment->format != GST_FORMAT_TIME)
      gst_rfc2250_depay_refuse_input (depay, "a stream of bytes");
  }
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    gst_rfc2250_depay_drain (depay);
  else if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    gst_rfc2250_depay_reset (depay);
  return GST_RTP_BASE_DEPAYLOAD_CLASS (parent_class)->handle_event (base,
      event);
}

static gboolean
gst_rfc2250_depay_set_caps (GstRTPBaseDepayload * base, GstCaps * caps)
{
  GstRfc2250Depay *depay = GST_RFC2250_DEPAY (base);

  base->clock_rate = CLOCK_RATE;
  depay->have_rtp_caps = TRUE;
  if (!gst_structure_get_int (gst_caps_get_structure (caps, 0), "payload",
          &depay->payload_type))
    depay->payload_type = -1;
  return TRUE;
}

static GstStateChangeReturn
gst_rfc2250_depay_change_state (GstElement * element, GstStateChange transition)
{
  GstRfc2250Depay *depay = GST_RFC2250_DEPAY (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    GST_OBJECT_LOCK (depay);
    gst_rfc2250_depay_configure (depay);
    GST_OBJECT_UNLOCK (depay);
  }
  ret = GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    gst_rfc2250_depay_reset (depay);
    depay->have_caps = FALSE;
    depay->have_rtp_caps = FALSE;
    depay->refused_input = FALSE;
  }
  return ret;
}

static void
gst_rfc2250_depay_finalize (GObject * object)
{
  GstRfc2250Depay *depay = GST_RFC2250_DEPAY (object);

  rtp_reorder_free (depay->reorder);
  rfc2250_unpacker_free (depay->unpacker);
  gst_mpeg_video_input_free (depay->input);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_rfc2250_depay_class_init (GstRfc2250DepayClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstRTPBaseDepayloadClass *depayload_class =
      GST_RTP_BASE_DEPAYLOAD_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_rfc2250_depay_debug, "rfc2250depay", 0,
      "RTP depayloader for MPEG-1/2 video (RFC 2250)");

  object_class->finalize = gst_rfc2250_depay_finalize;

  gst_wireless_properties_install (object_class, properties,
      G_N_ELEMENTS (properties), 0, GST_WIRELESS_OBJECT_LOCK);

  element_class->change_state = gst_rfc2250_depay_change_state;
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "RTP MPEG-1/2 video depayloader (RFC 2250)",
      "Codec/Depayloader/Network/RTP",
      "Extracts MPEG-1/2 video from RTP, frame by frame, and detects losses",
      "The gst-plugins-wireless authors");

  depayload_class->set_caps = gst_rfc2250_depay_set_caps;
  depayload_class->process_rtp_packet = gst_rfc2250_depay_process;
  depayload_class->handle_event = gst_rfc2250_depay_handle_event;

  gst_type_mark_as_plugin_api (GST_TYPE_RFC2250_ON_LOSS, 0);
}

static void
gst_rfc2250_depay_init (GstRfc2250Depay * depay)
{
  GstPad *pad = GST_RTP_BASE_DEPAYLOAD_SINKPAD (depay);
  GstCaps *parsed;

  gst_wireless_properties_init (depay, GST_TYPE_RFC2250_DEPAY);
  depay->reorder = rtp_reorder_new ((GDestroyNotify) gst_buffer_unref);
  depay->unpacker = rfc2250_unpacker_new ();
  depay->input = gst_mpeg_video_input_new (GST_ELEMENT (depay));
  depay->payload_type = -1;
  depay->rtptime = -1;
  parsed = gst_static_pad_template_get_caps (&src_template);
  parsed = gst_caps_make_writable (parsed);
  gst_structure_remove_field (gst_caps_get_structure (parsed, 0),
      "mpegversion");
  gst_mpeg_video_input_set_caps (depay->input, parsed);
  gst_caps_unref (parsed);

  depay->base_chain = GST_PAD_CHAINFUNC (pad);
  gst_pad_set_chain_function (pad, gst_rfc2250_depay_chain);
  gst_pad_set_chain_list_function (pad, gst_rfc2250_depay_chain_list);
}

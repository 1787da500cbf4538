/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implements the element rfc2250pay: its pads, its properties and the handling
 * of buffers. The packer (rfc2250packer.h) implements the payload format. */

/**
 * SECTION:element-rfc2250pay
 * @title: rfc2250pay
 * @see_also: rfc2250depay, mpegstat, rtpmpvpay
 *
 * Payloads MPEG-1 and MPEG-2 video elementary streams into RTP packets
 * according to RFC 2250 section 3. Unlike `rtpmpvpay`, the element fills in the
 * video-specific header of each packet. This header contains the picture type
 * and the temporal reference, and says where slices begin and end. From the
 * headers of the packets that arrive, a receiver knows what a lost packet
 * contained.
 *
 * Sequence, GOP and picture headers are only at the beginning of a payload. A
 * slice is split only if it does not fit into a packet. No packet contains two
 * pictures. If the input is an unparsed stream, which has no timestamps, the
 * element computes the timestamps of the packets.
 *
 * The element accepts parsed frames without additional latency. For an
 * elementary stream, `mpegvideoparse` produces the parsed frames. For a
 * transport stream, `tsdemux ! mpegvideoparse` produces them. The element also
 * accepts unparsed bytes from a file. If it is directly downstream of a file
 * source, it reads the file itself (pull mode).
 *
 * The video-specific header takes 4 bytes per packet, which is 0.3 % at an MTU
 * of 1400. With #GstRfc2250Pay:mpeg2-extension it takes 8 bytes.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=clip.m2v ! rfc2250pay ! udpsink host=127.0.0.1 port=5004
 * ]| Sends a file in real time.
 * |[
 * gst-launch-1.0 udpsrc port=5004 caps="application/x-rtp, media=video, clock-rate=90000, encoding-name=MPV, payload=32" ! rtpjitterbuffer ! rfc2250depay ! mpegvideoparse ! avdec_mpeg2video ! videoconvert ! autovideosink
 * ]| Receives the stream and displays it.
 *
 * Since: 0.1
 */

#include <gst/rtp/gstrtpbasepayload.h>
#include <gst/rtp/gstrtpbuffer.h>
#include <string.h>

#include "gstblockallocator.h"
#include "gstframeinfometa.h"
#include "gstmpegvideoinput.h"
#include "gstpullreader.h"
#include "gstwirelessproperties.h"
#include "rfc2250packer.h"
#include "rtpheader.h"

#define GST_TYPE_RFC2250_PAY (gst_rfc2250_pay_get_type ())
G_DECLARE_FINAL_TYPE (GstRfc2250Pay, gst_rfc2250_pay, GST, RFC2250_PAY,
    GstRTPBasePayload);
GST_ELEMENT_REGISTER_DECLARE (rfc2250pay);

GST_DEBUG_CATEGORY_STATIC (gst_rfc2250_pay_debug);
#define GST_CAT_DEFAULT gst_rfc2250_pay_debug

/* RFC 3551 table 5 */
#define STATIC_PAYLOAD_TYPE GST_RTP_PAYLOAD_MPV

struct _GstRfc2250Pay
{
  GstRTPBasePayload parent;

  /* protected by the object lock */
  Rfc2250PackerConfig config;
  guint max_frame_size;         /* in bytes */
  /* copy of the counters of the packer (rfc2250packer.h), which other threads
   * can read */
  Rfc2250PackerStats packer_stats;
  MpegVideoFramerStats framer_stats;

  /* streaming thread only */
  GstPadQueryFunction base_src_query;   /* set once, in init */
  GstMpegVideoInput *input;
  Rfc2250Packer *packer;
  GstAllocator *allocator;      /* for the packets */
  gboolean have_caps;
  /* TRUE if the caps say that the input is parsed, which means that each buffer
   * contains one frame. The field is read and written atomically, because the
   * thread of a latency query also reads it. */
  gboolean parsed;
  /* Duration in ns of the longest frame so far. The object lock protects this
   * field, because the thread that answers a latency query also reads it. */
  GstClockTime frame_duration;
};

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK,
    GST_PAD_ALWAYS,
    GST_STATIC_CAPS (GST_MPEG_VIDEO_INPUT_CAPS));

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC,
    GST_PAD_ALWAYS,
    GST_STATIC_CAPS ("application/x-rtp, "
        "media = (string) \"video\", "
        "payload = (int) " GST_RTP_PAYLOAD_MPV_STRING ", "
        "clock-rate = (int) 90000, encoding-name = (string) \"MPV\"; "
        "application/x-rtp, "
        "media = (string) \"video\", "
        "payload = (int) " GST_RTP_PAYLOAD_DYNAMIC_STRING ", "
        "clock-rate = (int) 90000, encoding-name = (string) \"MPV\""));

#define gst_rfc2250_pay_parent_class parent_class
G_DEFINE_TYPE (GstRfc2250Pay, gst_rfc2250_pay, GST_TYPE_RTP_BASE_PAYLOAD);
GST_ELEMENT_REGISTER_DEFINE (rfc2250pay, "rfc2250pay", GST_RANK_NONE,
    GST_TYPE_RFC2250_PAY);

#define GST_TYPE_RFC2250_AGGREGATE_MODE \
    (gst_rfc2250_aggregate_mode_get_type ())
/* *INDENT-OFF* */
static GST_WIRELESS_DEFINE_ENUM (gst_rfc2250_aggregate_mode,
    "GstRfc2250AggregateMode",
    {RFC2250_AGGREGATE_NONE, "At most one slice in a packet", "none"},
    {RFC2250_AGGREGATE_SLICES, "As many whole slices in a packet as fit",
        "slices"},
    {RFC2250_AGGREGATE_FILL, "Like slices, but a slice that is larger than a "
          "packet may begin in a packet after whole slices if this saves a "
          "packet", "fill"})
/* *INDENT-ON* */

static GstStructure *
gst_rfc2250_pay_create_stats (GstElement * element)
{
  GstRfc2250Pay *pay = GST_RFC2250_PAY (element);
  Rfc2250PackerStats p;
  MpegVideoFramerStats f;

  GST_OBJECT_LOCK (pay);
  p = pay->packer_stats;
  f = pay->framer_stats;
  GST_OBJECT_UNLOCK (pay);

  return gst_structure_new ("application/x-rfc2250-pay-stats",
      "frames", G_TYPE_UINT64, p.frames,
      "pictures-i", G_TYPE_UINT64, p.pictures[MPEG_VIDEO_PICTURE_I],
      "pictures-p", G_TYPE_UINT64, p.pictures[MPEG_VIDEO_PICTURE_P],
      "pictures-b", G_TYPE_UINT64, p.pictures[MPEG_VIDEO_PICTURE_B],
      "pictures-d", G_TYPE_UINT64, p.pictures[MPEG_VIDEO_PICTURE_D],
      "packets", G_TYPE_UINT64, p.packets,
      "payload-bytes", G_TYPE_UINT64, p.payload_bytes,
      "slices", G_TYPE_UINT64, p.slices,
      "split-slices", G_TYPE_UINT64, p.split_slices,
      "header-packets", G_TYPE_UINT64, p.header_packets,
      "sequence-headers-injected", G_TYPE_UINT64, p.injected,
      "sequence-headers-not-injected", G_TYPE_UINT64, p.not_injected,
      "incomplete-frames", G_TYPE_UINT64, f.incomplete,
      "junk-bytes", G_TYPE_UINT64, f.junk_bytes,
      "too-big", G_TYPE_UINT64, f.too_big,
      "truncated", G_TYPE_UINT64, f.truncated,
      "bad-headers", G_TYPE_UINT64, f.bad_headers,
      "before-sequence", G_TYPE_UINT64, f.before_sequence,
      "foreign-codes", G_TYPE_UINT64, f.foreign_codes, NULL);
}

/* The caller holds OBJECT_LOCK. */
static void
change_max_frame_size (gpointer object)
{
  GstRfc2250Pay *pay = GST_RFC2250_PAY (object);

  gst_mpeg_video_input_set_max_frame_size (pay->input, pay->max_frame_size);
}

#define PROPERTY_STRUCT GstRfc2250Pay
static const GstWirelessProperty properties[] = {
  /**
   * GstRfc2250Pay:aggregate-mode:
   *
   * How slices are distributed over packets:
   *
   * - `slices`: A packet contains as many whole slices as fit. Every receiver
   *   supports this mode.
   * - `none`: A packet contains at most one slice. The loss of a packet then
   *   destroys the least data, but the number of packets is the largest.
   * - `fill`: A packet may also end with the beginning of a large slice. The
   *   number of packets is then the smallest. This saves airtime on a radio
   *   link: 802.11b needs about 0.85 ms for each packet, regardless of its
   *   size.
   *
   * Since: 0.1
   */
  PROPERTY_ENUM ("aggregate-mode", "Aggregate mode",
      "How slices share packets", PROPERTY_PLAYING, config.aggregate_mode,
      gst_rfc2250_aggregate_mode_get_type, RFC2250_AGGREGATE_SLICES),

  /**
   * GstRfc2250Pay:mpeg2-extension:
   *
   * Send the MPEG-2 header extension (T = 1, RFC 2250 section 3.4.1) in each
   * packet of an MPEG-2 stream. If the packet with a picture header is lost, a
   * receiver can then restore this header from any other packet of the picture.
   * The extension takes 4 bytes per packet. It is longer if the video uses
   * composite display or further extensions. live555, VLC and mediamtx do not
   * support the extension.
   *
   * Since: 0.1
   */
  PROPERTY_BOOLEAN ("mpeg2-extension", "MPEG-2 extension",
      "Whether the MPEG-2 video-specific header extension (T bit) is sent, "
      "which live555, VLC and mediamtx do not understand", PROPERTY_PLAYING,
      config.mpeg2_extension, FALSE),

  /**
   * GstRfc2250Pay:new-picture-bits:
   *
   * Whether the packets of an MPEG-2 stream use the bits AN and N of RFC 2250.
   * AN is set in each packet and means that N is valid. N is set in the packets
   * of a picture whose header differs from the header of the previous picture
   * of the same type. If a picture header is lost and N is not set, the
   * receiver may use the header of that previous picture instead. mediamtx
   * rejects each packet in which AN or N is set.
   *
   * Since: 0.1
   */
  PROPERTY_BOOLEAN ("new-picture-bits", "New picture bits",
      "Whether packets of MPEG-2 tell by the AN and N bits of RFC 2250 that "
      "a picture header has changed; mediamtx refuses such packets",
      PROPERTY_PLAYING, config.new_picture_bits, FALSE),

  /**
   * GstRfc2250Pay:config-interval:
   *
   * Interval in seconds at which the last sequence header and its extensions
   * are repeated. The header is inserted before the next I-frame that has no
   * sequence header of its own. If a stream has a sequence header only at its
   * beginning, a receiver that joins late cannot decode the stream without such
   * a repetition. While the stream uses quantizer matrices of a
   * quant_matrix_extension, the header is not repeated, because it would reset
   * these matrices.
   *
   * Since: 0.1
   */
  PROPERTY_INT ("config-interval", "Config interval",
      "Interval between repeated sequence headers (seconds, 0 = never, -1 = "
      "with every I-frame)", PROPERTY_PLAYING, config.config_interval, -1, 3600,
      0),

  /**
   * GstRfc2250Pay:max-frame-size:
   *
   * Maximum size of a coded frame in bytes. A larger frame is dropped and a
   * warning is posted. The next frame begins at the next sequence, GOP or
   * picture header in the stream.
   *
   * Since: 0.1
   */
  PROPERTY_UINT ("max-frame-size", "Maximum frame size",
      "Maximum size of a coded frame (bytes); a larger frame is dropped",
      PROPERTY_READY, max_frame_size, 1024, G_MAXINT,
      MPEG_VIDEO_DEFAULT_MAX_FRAME_SIZE,
      .changed = change_max_frame_size),

  /**
   * GstRfc2250Pay:mpeg-stats:
   *
   * Counters since the element was created. All are #guint64 and never
   * decrease. (The property `stats` belongs to the base class.)
   *
   * - `frames`: frames that were sent
   * - `pictures-i`, `-p`, `-b`, `-d`: pictures that were sent, by type; each of
   *   the two field pictures of a frame counts as a picture
   * - `packets`: RTP packets that were sent
   * - `payload-bytes`: bytes of these packets without the RTP header
   * - `slices`: slices that were sent
   * - `split-slices`: slices that begin in one packet and end in another
   * - `header-packets`: packets without slice data
   * - `sequence-headers-injected`: sequence headers that config-interval
   *   inserted
   * - `sequence-headers-not-injected`: sequence headers that config-interval
   *   did not insert, because they would have reset the quantizer matrices of a
   *   quant_matrix_extension
   * - `incomplete-frames`: frames that were sent although slices are missing in
   *   the input
   * - input that was not sent:
   *   - `junk-bytes`: bytes that belong to no frame
   *   - `too-big`: frames that exceeded max-frame-size
   *   - `truncated`: frames that a discontinuity cut off
   *   - `bad-headers`: invalid headers
   *   - `before-sequence`: pictures before the first sequence header
   *   - `foreign-codes`: start codes that do not occur in a video elementary
   *     stream
   *
   * Since: 0.1
   */
  PROPERTY_COMPUTED ("mpeg-stats", "MPEG statistics",
      "Number of frames, pictures, packets and slices since the element "
      "started", PROPERTY_READABLE,
      0, gst_structure_get_type,
      .create_stats = gst_rfc2250_pay_create_stats),
};

static gboolean
gst_rfc2250_pay_set_caps (GstRTPBasePayload * payload, GstCaps * caps)
{
  GstRfc2250Pay *pay = GST_RFC2250_PAY (payload);
  gboolean parsed = FALSE;

  gst_structure_get_boolean (gst_caps_get_structure (caps, 0), "parsed",
      &parsed);
  g_atomic_int_set (&pay->parsed, parsed);
  pay->have_caps = TRUE;
  gst_mpeg_video_input_set_caps (pay->input, caps);
  gst_rtp_base_payload_set_options (payload, "video",
      payload->pt != STATIC_PAYLOAD_TYPE, "MPV", 90000);
  return gst_rtp_base_payload_set_outcaps (payload, NULL);
}

/* Returns the maximum payload size in bytes. If the MTU is too small, posts an
 * error and returns 0. */
static gsize
gst_rfc2250_pay_max_payload (GstRfc2250Pay * pay,
    const Rfc2250PackerConfig * config)
{
  guint mtu = GST_RTP_BASE_PAYLOAD_MTU (pay);
  gsize needed = RTP_HEADER_SIZE + rfc2250_packer_min_payload (config);

  if (mtu >= needed)
    return mtu - RTP_HEADER_SIZE;
  GST_ELEMENT_ERROR (pay, LIBRARY, SETTINGS,
      ("The property mtu, %u bytes, is too small for MPEG video: set it to at "
          "least %" G_GSIZE_FORMAT " bytes.", mtu, needed),
      ("RFC 2250 section 3.1: the largest header, %d bytes, must fit into "
          "one payload", MPEG_VIDEO_MAX_HEADER_SIZE));
  return 0;
}

/* --- packets -------------------------------------------------------------- */

/* Writes the payload of a packet to `dest`. It consists of the video-specific
 * header, a sequence header if packet->inject is TRUE, and a part of the frame.
 * `data` are the mapped bytes of the frame. */
static void
gst_rfc2250_pay_write_payload (GstRfc2250Pay * pay, guint8 * dest,
    const Rfc2250Packet * packet, const guint8 * data)
{
  gconstpointer sequence;
  gsize size;

  memcpy (dest, packet->header, packet->header_size);
  dest += packet->header_size;
  if (packet->inject) {
    sequence = g_bytes_get_data (rfc2250_packer_get_sequence (pay->packer),
        &size);
    memcpy (dest, sequence, size);
    dest += size;
  }
  memcpy (dest, data + packet->offset, packet->size);
}

static gsize
gst_rfc2250_pay_get_payload_size (GstRfc2250Pay * pay,
    const Rfc2250Packet * packet)
{
  gsize size = packet->header_size + packet->size;

  if (packet->inject)
    size += g_bytes_get_size (rfc2250_packer_get_sequence (pay->packer));
  return size;
}

/* Creates a packet that consists of a single GstMemory, and copies the payload
 * to it. The base class later sets all fields of the RTP header except version
 * and marker.
 *
 * gst_rtp_base_payload_allocate_output_buffer () would allocate and map memory
 * three times. If the packet shared a GstMemory with the frame, the payload
 * would not have to be copied. However, the packet would need a second
 * GstMemory for the headers, and handling two GstMemory takes more time than
 * copying a payload. */
static GstBuffer *
gst_rfc2250_pay_make_bytes (GstRfc2250Pay * pay, const Rfc2250Packet * packet,
    const guint8 * data)
{
  gsize size = RTP_HEADER_SIZE + gst_rfc2250_pay_get_payload_size (pay, packet);
  guint8 *dest;
  GstBuffer *buffer =
      gst_block_allocator_new_buffer (pay->allocator, size, &dest);

  memset (dest, 0, RTP_HEADER_SIZE);
  dest[0] = GST_RTP_VERSION << 6;
  dest[1] = packet->marker ? 0x80 : 0;
  gst_rfc2250_pay_write_payload (pay, dest + RTP_HEADER_SIZE, packet, data);
  return buffer;
}

/* Creates an RTP packet with the payload that `packet` describes. The base
 * class allocates the buffer and adds its list of contributing sources (CSRC)
 * to the RTP header. Used if the base class is configured to send such a list.
 */
static GstBuffer *
gst_rfc2250_pay_make_bytes_with_sources (GstRfc2250Pay * pay,
    const Rfc2250Packet * packet, const guint8 * data)
{
  GstBuffer *buffer =
      gst_rtp_base_payload_allocate_output_buffer (GST_RTP_BASE_PAYLOAD (pay),
      gst_rfc2250_pay_get_payload_size (pay, packet), 0, 0);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

  gst_rtp_buffer_map (buffer, GST_MAP_WRITE, &rtp);
  gst_rfc2250_pay_write_payload (pay, gst_rtp_buffer_get_payload (&rtp), packet,
      data);
  gst_rtp_buffer_set_marker (&rtp, packet->marker);
  gst_rtp_buffer_unmap (&rtp);
  return buffer;
}

/* Returns a buffer with the RTP packet that `packet` describes. `frame` is the
 * buffer of the frame, and `data` are its bytes. */
static GstBuffer *
gst_rfc2250_pay_make_packet (GstRfc2250Pay * pay, GstBuffer * frame,
    const guint8 * data, const Rfc2250Packet * packet)
{
  GstBuffer *buffer;

  if (gst_rtp_base_payload_is_source_info_enabled (GST_RTP_BASE_PAYLOAD (pay)))
    buffer = gst_rfc2250_pay_make_bytes_with_sources (pay, packet, data);
  else
    buffer = gst_rfc2250_pay_make_bytes (pay, packet, data);

  GST_BUFFER_PTS (buffer) = GST_BUFFER_PTS (frame);
  GST_BUFFER_DTS (buffer) = GST_BUFFER_DTS (frame);
  GST_BUFFER_DURATION (buffer) = GST_BUFFER_DURATION (frame);
  if (packet->type != MPEG_VIDEO_PICTURE_I
      && packet->type != MPEG_VIDEO_PICTURE_D)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT);
  if (packet->type == MPEG_VIDEO_PICTURE_B)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DROPPABLE);
  if (packet->marker)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_MARKER);
  gst_buffer_add_frame_info_meta (buffer, packet->type,
      packet->temporal_reference, packet->coverage);
  return buffer;
}

static void
gst_rfc2250_pay_publish_stats (GstRfc2250Pay * pay, GstClockTime duration)
{
  gboolean new_latency = FALSE;

  GST_OBJECT_LOCK (pay);
  rfc2250_packer_get_stats (pay->packer, &pay->packer_stats);
  gst_mpeg_video_input_get_stats (pay->input, &pay->framer_stats);
  /* The latency is computed from the maximum frame duration, because a frame
   * with repeated fields lasts longer than other frames. */
  if (GST_CLOCK_TIME_IS_VALID (duration) && duration > pay->frame_duration) {
    pay->frame_duration = duration;
    new_latency = !g_atomic_int_get (&pay->parsed);
  }
  GST_OBJECT_UNLOCK (pay);
  if (new_latency)
    gst_element_post_message (GST_ELEMENT (pay),
        gst_message_new_latency (GST_OBJECT (pay)));
}

static GstFlowReturn
gst_rfc2250_pay_send_frame (GstRfc2250Pay * pay,
    GstMpegVideoInputFrame * input_frame)
{
  GstRTPBasePayload *payload = GST_RTP_BASE_PAYLOAD (pay);
  GstBuffer *frame = input_frame->buffer;
  Rfc2250PackerConfig config;
  Rfc2250Packet packet;
  GstBufferList *list;
  GstMapInfo map;
  gsize max_payload;

  GST_OBJECT_LOCK (pay);
  config = pay->config;
  GST_OBJECT_UNLOCK (pay);
  max_payload = gst_rfc2250_pay_max_payload (pay, &config);
  if (max_payload == 0)
    return GST_FLOW_ERROR;
  if (!gst_buffer_map (frame, &map, GST_MAP_READ)) {
    GST_ELEMENT_ERROR (pay, RESOURCE, READ,
        ("Could not read a frame of %" G_GSIZE_FORMAT " bytes: its memory "
            "cannot be mapped. Use an upstream element that allocates system "
            "memory.", gst_buffer_get_size (frame)), (NULL));
    return GST_FLOW_ERROR;
  }

  rfc2250_packer_set_config (pay->packer, &config);
  rfc2250_packer_input (pay->packer, &input_frame->frame, map.data,
      gst_segment_to_running_time (&payload->segment, GST_FORMAT_TIME,
          GST_BUFFER_DTS_OR_PTS (frame)), max_payload);
  list = gst_buffer_list_new_sized (map.size / max_payload + 2);
  while (rfc2250_packer_poll_output (pay->packer, &packet))
    gst_buffer_list_add (list,
        gst_rfc2250_pay_make_packet (pay, frame, map.data, &packet));
  gst_buffer_unmap (frame, &map);
  gst_rfc2250_pay_publish_stats (pay, GST_BUFFER_DURATION (frame));

  if (GST_BUFFER_FLAG_IS_SET (frame, GST_BUFFER_FLAG_DISCONT))
    GST_BUFFER_FLAG_SET (gst_buffer_list_get_writable (list, 0),
        GST_BUFFER_FLAG_DISCONT);
  return gst_rtp_base_payload_push_list (payload, list);
}

/* Sends all frames that are complete in pay->input, which divides the stream
 * into frames. */
static GstFlowReturn
gst_rfc2250_pay_send_frames (GstRfc2250Pay * pay)
{
  GstFlowReturn flow = GST_FLOW_OK;
  GstMpegVideoInputFrame frame;
  MpegVideoLoss loss;

  while (flow == GST_FLOW_OK && gst_mpeg_video_input_pull (pay->input, &frame)) {
    flow = gst_rfc2250_pay_send_frame (pay, &frame);
    gst_mpeg_video_input_frame_clear (&frame);
  }
  while (gst_mpeg_video_input_pull_loss (pay->input, &loss))
    GST_DEBUG_OBJECT (pay, "upstream lost %u frames of type %c", loss.frames,
        mpeg_video_picture_type_char (loss.type));
  return flow;
}

static GstFlowReturn
gst_rfc2250_pay_handle_buffer (GstRTPBasePayload * payload, GstBuffer * buffer)
{
  GstRfc2250Pay *pay = GST_RFC2250_PAY (payload);

  if (!gst_mpeg_video_input_push (pay->input, buffer))
    return GST_FLOW_ERROR;
  return gst_rfc2250_pay_send_frames (pay);
}

static void
gst_rfc2250_pay_reset (GstRfc2250Pay * pay)
{
  gst_mpeg_video_input_reset (pay->input);
  rfc2250_packer_reset (pay->packer);
}

/* A file source sends no caps, and its SEGMENT event has the format bytes. If
 * no caps have arrived, this function therefore passes caps for MPEG-2 video to
 * the base class. It returns a SEGMENT event with the format time. */
static GstEvent *
gst_rfc2250_pay_fix_segment (GstRfc2250Pay * pay, GstEvent * event)
{
  GstCaps *caps;

  if (!pay->have_caps) {
    caps = gst_caps_new_simple ("video/mpeg", "mpegversion", G_TYPE_INT, 2,
        "systemstream", G_TYPE_BOOLEAN, FALSE, NULL);
    GST_RTP_BASE_PAYLOAD_CLASS (parent_class)->sink_event
        (GST_RTP_BASE_PAYLOAD (pay), gst_event_new_caps (caps));
    gst_caps_unref (caps);
  }
  return gst_mpeg_video_input_convert_segment (pay->input, event);
}

static gboolean
gst_rfc2250_pay_sink_event (GstRTPBasePayload * payload, GstEvent * event)
{
  GstRfc2250Pay *pay = GST_RFC2250_PAY (payload);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_SEGMENT:
      event = gst_rfc2250_pay_fix_segment (pay, event);
      break;
    case GST_EVENT_EOS:
      gst_mpeg_video_input_drain (pay->input);
      gst_rfc2250_pay_send_frames (pay);
      break;
    case GST_EVENT_FLUSH_STOP:
      gst_rfc2250_pay_reset (pay);
      break;
    default:
      break;
  }
  return GST_RTP_BASE_PAYLOAD_CLASS (parent_class)->sink_event (payload, event);
}

/* Adds the latency of this element to the result of a latency query. This
 * function is called only if the stream is unparsed. A buffer of an unparsed
 * stream need not end where a frame ends, so the end of a frame is known only
 * when the next frame begins. The latency of the element is therefore one frame
 * duration. */
static void
gst_rfc2250_pay_add_latency (GstRfc2250Pay * pay, GstQuery * query)
{
  GstClockTime min, max, frame;
  gboolean live;

  GST_OBJECT_LOCK (pay);
  frame = pay->frame_duration;
  GST_OBJECT_UNLOCK (pay);
  gst_query_parse_latency (query, &live, &min, &max);
  if (!live)
    return;
  min += frame;
  if (GST_CLOCK_TIME_IS_VALID (max))
    max += frame;
  gst_query_set_latency (query, live, min, max);
}

static gboolean
gst_rfc2250_pay_src_query (GstPad * pad, GstObject * parent, GstQuery * query)
{
  GstRfc2250Pay *pay = GST_RFC2250_PAY (parent);

  if (!pay->base_src_query (pad, parent, query))
    return FALSE;
  if (GST_QUERY_TYPE (query) == GST_QUERY_LATENCY
      && !g_atomic_int_get (&pay->parsed))
    gst_rfc2250_pay_add_latency (pay, query);
  return TRUE;
}

static GstStateChangeReturn
gst_rfc2250_pay_change_state (GstElement * element, GstStateChange transition)
{
  GstRfc2250Pay *pay = GST_RFC2250_PAY (element);
  Rfc2250PackerConfig config;
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    GST_OBJECT_LOCK (pay);
    config = pay->config;
    GST_OBJECT_UNLOCK (pay);
    if (gst_rfc2250_pay_max_payload (pay, &config) == 0)
      return GST_STATE_CHANGE_FAILURE;
  }
  ret = GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    gst_rfc2250_pay_reset (pay);
    pay->have_caps = FALSE;
  }
  return ret;
}

static void
gst_rfc2250_pay_finalize (GObject * object)
{
  GstRfc2250Pay *pay = GST_RFC2250_PAY (object);

  gst_mpeg_video_input_free (pay->input);
  rfc2250_packer_free (pay->packer);
  gst_object_unref (pay->allocator);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_rfc2250_pay_class_init (GstRfc2250PayClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstRTPBasePayloadClass *payload_class = GST_RTP_BASE_PAYLOAD_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_rfc2250_pay_debug, "rfc2250pay", 0,
      "RTP payloader for MPEG-1/2 video (RFC 2250)");

  object_class->finalize = gst_rfc2250_pay_finalize;

  gst_wireless_properties_install (object_class, properties,
      G_N_ELEMENTS (properties), 0, GST_WIRELESS_OBJECT_LOCK);

  element_class->change_state = gst_rfc2250_pay_change_state;
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "RTP MPEG-1/2 video payloader (RFC 2250)", "Codec/Payloader/Network/RTP",
      "Payloads MPEG-1/2 video elementary streams for RTP, with the video headers "
      "of RFC 2250 filled in, which rtpmpvpay leaves empty",
      "The gst-plugins-wireless authors");

  payload_class->set_caps = gst_rfc2250_pay_set_caps;
  payload_class->handle_buffer = gst_rfc2250_pay_handle_buffer;
  payload_class->sink_event = gst_rfc2250_pay_sink_event;

  gst_type_mark_as_plugin_api (GST_TYPE_RFC2250_AGGREGATE_MODE, 0);
}

static void
gst_rfc2250_pay_init (GstRfc2250Pay * pay)
{
  GstPad *pad = GST_RTP_BASE_PAYLOAD_SRCPAD (pay);

  pay->base_src_query = GST_PAD_QUERYFUNC (pad);
  gst_pad_set_query_function (pad, gst_rfc2250_pay_src_query);
  gst_pull_reader_enable (GST_RTP_BASE_PAYLOAD_SINKPAD (pay), pad);
  GST_RTP_BASE_PAYLOAD (pay)->pt = STATIC_PAYLOAD_TYPE;
  gst_wireless_properties_init (pay, GST_TYPE_RFC2250_PAY);
  pay->input = gst_mpeg_video_input_new (GST_ELEMENT (pay));
  pay->packer = rfc2250_packer_new ();
  pay->allocator = gst_block_allocator_new (G_MAXINT);
}

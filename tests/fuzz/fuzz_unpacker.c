/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes the unpacker of RFC 2250 together with the packer. These conditions
 * must hold:
 * - Whatever the packets are, the output of the unpacker is not much larger
 *   than its input, and its counters are correct.
 * - If no packet is lost, a stream from the packer is restored bit by bit.
 * - If packets are lost and the unpacker is set to drop damaged frames, only
 *   frames without losses are output.
 *
 * Input: CONTROL_SIZE bytes of flags and settings. With FLAG_ROUND_TRIP, an
 * elementary stream follows. Without this flag, packets follow. Each packet
 * consists of a byte of flags, a 16-bit length, and a payload.
 */

#include "fuzz.h"
#include "rfc2250packer.h"
#include "rfc2250unpacker.h"

#define CONTROL_SIZE 8

/* First byte */
#define FLAG_ROUND_TRIP (1 << 0)
#define ON_LOSS(flags) ((flags) >> 1 & 3)
#define AGGREGATE(flags) ((flags) >> 3 & 3)
#define FLAG_EXTENSION (1 << 5)
#define FLAG_NEW_PICTURE (1 << 6)
#define FLAG_SMALL_FRAMES (1 << 7)

/* Flags of a packet. */
#define PACKET_MARKER (1 << 0)
#define PACKET_GAP (1 << 1)
#define PACKET_NEXT_TIME (1 << 2)
#define PACKET_FAR_TIME (1 << 3)
#define PACKET_NO_TIMES (1 << 4)
#define PACKET_SPECIAL(flags) ((flags) >> 5)
enum
{
  SPECIAL_DRAIN = 1,
  SPECIAL_RESET,
  SPECIAL_CHECK,
  SPECIAL_DROP_FRAME,
  SPECIAL_CONCEAL,
  SPECIAL_PASS,
};

#define FRAME_TICKS 3600
/* Maximum size in bytes of the headers that the unpacker rebuilds for a frame.
 * A frame may have two fields. For each field, the unpacker may rebuild the GOP
 * header, the picture header, the picture coding extension and further
 * extensions. */
#define MAX_REBUILT (2 * (8 + 9 + 11 + RFC2250_MAX_EXTENSIONS_SIZE))

typedef struct
{
  guint flags;
  Rfc2250OnLoss on_loss;
  Rfc2250PackerConfig packer;
  gsize max_frame_size;
  gsize max_payload;
  /* Bit mask of the packets that are lost, out of all packets of the stream. If
   * bit i is set, the packets with the indices i, i + 32, i + 64 and so on are
   * lost. */
  guint32 lost;
} Job;

static void
read_job (Job * job, FuzzInput * input)
{
  guint size, interval;

  memset (job, 0, sizeof (*job));
  job->flags = fuzz_take_u8 (input);
  size = fuzz_take_u16 (input);
  interval = fuzz_take_u8 (input);
  job->lost = fuzz_take_u32 (input);

  job->on_loss = ON_LOSS (job->flags) % 3;
  job->packer.aggregate_mode = AGGREGATE (job->flags) % 3;
  job->packer.mpeg2_extension = (job->flags & FLAG_EXTENSION) != 0;
  job->packer.new_picture_bits = (job->flags & FLAG_NEW_PICTURE) != 0;
  job->packer.config_interval = (gint8) interval < 0 ? -1 : (gint) interval;
  job->max_payload = rfc2250_packer_min_payload (&job->packer) + size % 2048;
  job->max_frame_size = job->flags & FLAG_SMALL_FRAMES ? 16 + size % 4096 :
      MPEG_VIDEO_DEFAULT_MAX_FRAME_SIZE;
}

/* --- output of the unpacker ---------------------------------------------- */

typedef struct
{
  Rfc2250Unpacker *unpacker;
  gsize input, output;          /* bytes of video */
  guint64 whole, damaged;       /* frames */
  gboolean saw_marker;
  /* TRUE if the unpacker must not output any damaged frame. This is the case if
   * the unpacker drops damaged frames (on-loss=drop-frame) during the whole
   * run. It is also the case if no packet is lost. */
  gboolean only_whole;
  /* Frames that the unpacker has output: an array of Rfc2250UnpackedFrame. NULL
   * in a run with arbitrary packets, in which the frames are not compared. */
  GPtrArray *frames;
} Receiver;

static void
unpacked_free (gpointer data)
{
  g_free (((Rfc2250UnpackedFrame *) data)->data);
  g_free (data);
}

static void
check_stats (const Receiver * receiver)
{
  Rfc2250UnpackerStats stats;

  rfc2250_unpacker_get_stats (receiver->unpacker, &stats);
  fuzz_check (stats.frames == receiver->whole);
  fuzz_check (stats.frames_damaged == receiver->damaged);
  fuzz_check (receiver->output <= receiver->input
      + stats.pictures_rebuilt * MAX_REBUILT);
}

static void
collect (Receiver * receiver, gsize max_frame_size)
{
  Rfc2250UnpackedFrame frame;

  while (rfc2250_unpacker_poll_output (receiver->unpacker, &frame)) {
    fuzz_check (frame.data != NULL && frame.size > 0);
    fuzz_check (frame.end_code || frame.size <= max_frame_size + MAX_REBUILT);
    fuzz_check (!frame.damaged || !receiver->only_whole);
    receiver->output += frame.size;
    if (frame.damaged)
      receiver->damaged++;
    else if (!frame.end_code)
      receiver->whole++;
    if (receiver->frames)
      g_ptr_array_add (receiver->frames, g_memdup2 (&frame, sizeof (frame)));
    else
      g_free (frame.data);
  }
  check_stats (receiver);
}

/* --- arbitrary packets --------------------------------------------------- */

static void
do_special (Receiver * receiver, const Job * job, guint special)
{
  switch (special) {
    case SPECIAL_DRAIN:
      rfc2250_unpacker_drain (receiver->unpacker);
      break;
    case SPECIAL_RESET:
      rfc2250_unpacker_reset (receiver->unpacker);
      break;
    case SPECIAL_DROP_FRAME:
      rfc2250_unpacker_set_config (receiver->unpacker,
          RFC2250_ON_LOSS_DROP_FRAME, job->max_frame_size);
      break;
    case SPECIAL_CONCEAL:
      rfc2250_unpacker_set_config (receiver->unpacker,
          RFC2250_ON_LOSS_CONCEAL, job->max_frame_size);
      receiver->only_whole = FALSE;
      break;
    case SPECIAL_PASS:
      rfc2250_unpacker_set_config (receiver->unpacker, RFC2250_ON_LOSS_PASS,
          job->max_frame_size);
      receiver->only_whole = FALSE;
      break;
    default:
      break;
  }
}

/* rfc2250_unpacker_check () decides whether a single packet is valid. The
 * function must increase a counter of refused packets if the packet is invalid.
 * It must not count a valid packet. */
static void
check_refusal (Receiver * receiver, const guint8 * data, gsize size)
{
  Rfc2250UnpackerStats before, after;
  gboolean good;

  rfc2250_unpacker_get_stats (receiver->unpacker, &before);
  good = rfc2250_unpacker_check (receiver->unpacker, data, size);
  rfc2250_unpacker_get_stats (receiver->unpacker, &after);
  fuzz_check (after.bad_short + after.bad_mbz + after.bad_extension
      == before.bad_short + before.bad_mbz + before.bad_extension
      + (good ? 0 : 1));
  fuzz_check (after.packets == before.packets);
}

static void
input_packet (Receiver * receiver, FuzzInput * input, guint flags,
    guint64 * rtptime, guint index)
{
  Rfc2250Payload payload = { 0 };
  gsize size = fuzz_take_u16 (input);
  guint8 *data;

  size = MIN (size, input->size);
  data = fuzz_take_copy (input, size);
  if (flags & PACKET_NEXT_TIME)
    *rtptime += FRAME_TICKS;
  if (flags & PACKET_FAR_TIME)
    *rtptime = *rtptime * 3 - G_MAXUINT32;
  payload.data = data;
  payload.size = size;
  payload.marker = (flags & PACKET_MARKER) != 0;
  payload.gap = (flags & PACKET_GAP) != 0;
  payload.rtptime = *rtptime;
  payload.pts = flags & PACKET_NO_TIMES ? MPEG_VIDEO_TIME_NONE :
      index * G_GUINT64_CONSTANT (1000000);
  if (PACKET_SPECIAL (flags) == SPECIAL_CHECK)
    check_refusal (receiver, data, size);
  receiver->input += size;
  rfc2250_unpacker_input (receiver->unpacker, &payload);
  g_free (data);
}

static void
check_packets (const Job * job, FuzzInput * input)
{
  Receiver receiver = { rfc2250_unpacker_new (), };
  guint64 rtptime = 0;
  guint i, flags;

  rfc2250_unpacker_set_config (receiver.unpacker, job->on_loss,
      job->max_frame_size);
  receiver.only_whole = job->on_loss == RFC2250_ON_LOSS_DROP_FRAME;
  for (i = 0; input->size > 0; i++) {
    flags = fuzz_take_u8 (input);
    do_special (&receiver, job, PACKET_SPECIAL (flags));
    collect (&receiver, job->max_frame_size);
    input_packet (&receiver, input, flags, &rtptime, i);
    collect (&receiver, job->max_frame_size);
  }
  rfc2250_unpacker_drain (receiver.unpacker);
  collect (&receiver, job->max_frame_size);
  rfc2250_unpacker_free (receiver.unpacker);
}

/* --- packer and unpacker -------------------------------------------------- */

/* A frame that was sent. */
typedef struct
{
  GByteArray *bytes;            /* Expected output of the unpacker */
  /* The size of the sequence end code, which is sent in a packet of its own. */
  gsize end_code_size;
  gboolean has_slices;
  gboolean lone_field;
  guint n_packets;
  /* Number of packets of the frame that were lost. The packet with the sequence
   * end code is not counted, because the frame is complete without it. */
  guint n_lost;
  /* TRUE if the headers of one picture of the frame are divided between
   * packets. */
  gboolean headers_spread;
  guint markers;
} Sent;

static void
sent_free (gpointer data)
{
  g_byte_array_unref (((Sent *) data)->bytes);
  g_free (data);
}

static MpegVideoFrame *
next_frame (MpegVideoFramer * framer)
{
  MpegVideoFrame frame;

  if (!mpeg_video_framer_poll_output (framer, &frame))
    return NULL;
  return g_memdup2 (&frame, sizeof (frame));
}

static void
check_packet_header (const Rfc2250Packet * packet, const guint8 * payload,
    gsize size)
{
  Rfc2250Header header;
  const guint8 *video, *code;
  gsize header_size;
  gboolean has_sequence = FALSE;

  fuzz_check (rfc2250_header_parse (&header, payload, size, &header_size)
      == RFC2250_HEADER_OK);
  fuzz_check (header_size == packet->header_size);
  fuzz_check (header.p == packet->type);
  fuzz_check (header.tr == packet->temporal_reference);
  fuzz_check (size > header_size);
  fuzz_check (packet->coverage >= header_size && packet->coverage <= size);

  video = payload + header_size;
  for (code = video; (code = mpeg_video_find_start_code (code,
              payload + size)); code += 4) {
    if (code[3] == MPEG_VIDEO_CODE_SEQUENCE)
      has_sequence = TRUE;
    /* In a packet, all headers precede the slices, because a packet with a
     * picture header contains no slices of another picture. No sequence header
     * can follow the first slice, so the search for a sequence header ends
     * there. */
    if (MPEG_VIDEO_CODE_IS_SLICE (code[3]))
      break;
  }
  if (has_sequence)
    fuzz_check (header.s);
  for (; code && (code = mpeg_video_find_start_code (code,
              payload + size)); code += 4)
    fuzz_check (MPEG_VIDEO_CODE_IS_SLICE (code[3]));
}

static void
receive (Receiver * receiver, const Job * job, const Rfc2250Packet * packet,
    guint8 * payload, gsize size, guint64 rtptime, gboolean gap)
{
  Rfc2250Payload input = { 0 };

  input.data = payload;
  input.size = size;
  input.marker = packet->marker;
  input.gap = gap;
  input.rtptime = rtptime;
  input.pts = MPEG_VIDEO_TIME_NONE;
  receiver->input += size;
  receiver->saw_marker = receiver->saw_marker || packet->marker;
  rfc2250_unpacker_input (receiver->unpacker, &input);
  collect (receiver, job->max_frame_size);
}

/* Returns the payload of a packet: the RFC 2250 header, the sequence header if
 * the packer injects one, and the video data. The returned memory has exactly
 * the size of the payload, so that AddressSanitizer finds any access beyond
 * it. */
static guint8 *
build_payload (Rfc2250Packer * packer, const Rfc2250Packet * packet,
    const guint8 * data, gsize * size)
{
  GByteArray *payload = g_byte_array_new ();
  gconstpointer sequence;
  gsize sequence_size;
  guint8 *exact;

  g_byte_array_append (payload, packet->header, packet->header_size);
  if (packet->inject) {
    sequence = g_bytes_get_data (rfc2250_packer_get_sequence (packer),
        &sequence_size);
    g_byte_array_append (payload, sequence, sequence_size);
  }
  if (packet->size > 0)
    g_byte_array_append (payload, data + packet->offset, packet->size);
  *size = payload->len;
  exact = g_memdup2 (payload->data, payload->len);
  g_byte_array_unref (payload);
  return exact;
}

/* Returns the offset of the first byte after the picture header and its picture
 * coding extension (if there is one). */
static gsize
picture_headers_end (const MpegVideoFrame * frame, guint picture)
{
  const MpegVideoFramePicture *p = &frame->pictures[picture];
  guint i, last = p->picture_unit;

  for (i = p->picture_unit + 1; i < p->first_slice; i++) {
    gsize start = frame->units[i].offset;
    gsize end = mpeg_video_frame_unit_end (frame, i);

    if (mpeg_video_parse_extension_id (frame->data + start, end - start)
        == MPEG_VIDEO_EXTENSION_PICTURE_CODING)
      last = i;
  }
  return mpeg_video_frame_unit_end (frame, last);
}

/* Returns whether the headers of a picture begin in this packet and end in a
 * later packet. The headers include those that precede the picture header, such
 * as a sequence header. */
static gboolean
spreads_headers (const MpegVideoFrame * frame, const Rfc2250Packet * packet)
{
  gsize end = packet->offset + packet->size;
  guint i;

  for (i = 0; i < frame->n_pictures; i++) {
    guint first = frame->pictures[i].first_unit;

    if (frame->units[first].offset >= packet->offset
        && frame->units[first].offset < end
        && end < picture_headers_end (frame, i))
      return TRUE;
  }
  return FALSE;
}

/* Sends one frame. `packet_number` points to the number of packets that were
 * sent in the stream so far. `gap` points to a flag that is TRUE if the
 * previous packet was lost. The function updates both variables, so the caller
 * must pass the same variables for all frames of a stream. */
static Sent *
send_frame (const Job * job, Rfc2250Packer * packer, Receiver * receiver,
    const MpegVideoFrame * frame, guint64 rtptime, guint * packet_number,
    gboolean * gap)
{
  Sent *sent = g_new0 (Sent, 1);
  Rfc2250Packet packet;
  gsize offset = 0, size;
  gboolean end_code;
  guint8 *payload;

  sent->bytes = g_byte_array_new ();
  sent->has_slices = frame->n_slices > 0;
  sent->lone_field = frame->n_pictures == 1
      && frame->pictures[0].header.structure != MPEG_VIDEO_STRUCTURE_FRAME;
  rfc2250_packer_set_config (packer, &job->packer);
  rfc2250_packer_input (packer, frame, frame->data,
      rtptime * 1000000 / FRAME_TICKS * 40, job->max_payload);
  while (rfc2250_packer_poll_output (packer, &packet)) {
    payload = build_payload (packer, &packet, frame->data, &size);
    fuzz_check (size <= job->max_payload);
    fuzz_check (packet.offset == offset && packet.size + packet.inject > 0);
    check_packet_header (&packet, payload, size);
    offset += packet.size;
    sent->markers += packet.marker;
    end_code = frame->has_sequence_end && !packet.marker
        && packet.offset >= frame->units[frame->n_units - 1].offset;
    if (end_code)
      sent->end_code_size += packet.size;
    sent->headers_spread = sent->headers_spread
        || spreads_headers (frame, &packet);
    g_byte_array_append (sent->bytes, payload + packet.header_size,
        size - packet.header_size);
    sent->n_packets++;

    if (job->lost >> (*packet_number)++ % 32 & 1) {
      sent->n_lost += !end_code;
      *gap = TRUE;
    } else {
      receive (receiver, job, &packet, payload, size, rtptime, *gap);
      *gap = FALSE;
    }
    g_free (payload);
  }
  fuzz_check (offset == frame->size);
  fuzz_check (sent->markers >= 1);
  fuzz_check (sent->markers == 1 || !sent->has_slices);
  return sent;
}

/* The unpacker outputs the sequence end code as a frame of its own, after the
 * frame to which it belongs. This function joins the two, so that they can be
 * compared with the sent frame. */
static void
join_end_codes (GPtrArray * frames)
{
  Rfc2250UnpackedFrame *before, *frame;
  guint i;

  for (i = 0; i < frames->len; i++) {
    frame = g_ptr_array_index (frames, i);
    before = i > 0 ? g_ptr_array_index (frames, i - 1) : NULL;
    if (!frame->end_code)
      continue;
    if (before && before->rtptime == frame->rtptime) {
      before->data = g_realloc (before->data, before->size + frame->size);
      memcpy (before->data + before->size, frame->data, frame->size);
      before->size += frame->size;
    }
    g_ptr_array_remove_index (frames, i--);
  }
}

/* Skips the received frames that have the timestamp `rtptime`, beginning with
 * the index `next`. Returns the index of the first frame that has another
 * timestamp.
 *
 * The function is called for frames that consist of two fields, if the headers
 * of the second field are divided between packets. The unpacker cannot
 * recognise the second field of such a frame in two cases: after a gap in the
 * stream, and before it has received the first packet with a marker bit. In
 * these cases, the received frame may differ from the sent frame. The test
 * therefore skips the received frame instead of comparing the two. */
static guint
skip_frame (const GPtrArray * frames, guint next, guint64 rtptime)
{
  const Rfc2250UnpackedFrame *frame;

  for (; next < frames->len; next++) {
    frame = g_ptr_array_index (frames, next);
    if (frame->rtptime != rtptime)
      break;
  }
  return next;
}

/* Returns whether the received frame equals the sent frame. If packets of the
 * stream were lost, the end code and the stuffing after it may be missing in
 * the received frame. */
static gboolean
is_frame (const Sent * sent, const Rfc2250UnpackedFrame * frame,
    gboolean lossless)
{
  gsize size = sent->bytes->len;
  gsize min = size - sent->end_code_size;

  if (frame->size > size || frame->size < (lossless ? size : min))
    return FALSE;
  return memcmp (sent->bytes->data, frame->data, lossless ? size : min) == 0;
}

/* Compares the received frames with the sent frames. Frame i has the timestamp
 * i * FRAME_TICKS. A frame without losses must be output, and a frame with
 * losses must not be output. */
static void
check_received (const GPtrArray * sent_frames, const Receiver * receiver,
    gboolean lossless)
{
  const GPtrArray *frames = receiver->frames;
  guint next = 0, i, index;

  for (i = 0; i < sent_frames->len; i++) {
    const Sent *sent = g_ptr_array_index (sent_frames, i);
    const Rfc2250UnpackedFrame *frame = NULL;

    if (sent->headers_spread && (i == 0 || !lossless)) {
      next = skip_frame (frames, next, (guint64) i * FRAME_TICKS);
      continue;
    }
    if (next < frames->len) {
      frame = g_ptr_array_index (frames, next);
      index = frame->rtptime / FRAME_TICKS;
      fuzz_check (index >= i && index < sent_frames->len);
      if (index > i)
        frame = NULL;
      else
        next++;
    }
    if (sent->n_lost > 0) {
      /* A frame with losses must not be output. The test makes an exception if
       * the receiver has got no marker in the whole stream, because the
       * unpacker cannot know without a marker where a frame ends. */
      fuzz_check (!frame || !receiver->saw_marker);
    } else if (frame) {
      fuzz_check (is_frame (sent, frame, lossless));
    } else if (lossless) {
      /* No packet was lost, but the frame was not output. This is allowed only
       * for the last frame of the stream, and only if this frame has no slices.
       * Without slices, the unpacker does not treat the packet with the marker
       * as the end of the frame. */
      fuzz_check (!sent->has_slices && i + 1 == sent_frames->len);
    } else {
      /* After a gap, the unpacker cannot know whether the frame has only one
       * field or whether its other field was lost. It therefore drops a frame
       * that has only one field. */
      fuzz_check (!sent->has_slices || sent->lone_field);
    }
  }
  fuzz_check (next == frames->len);
}

static void
check_round_trip (const Job * job, FuzzInput * input)
{
  MpegVideoFramerConfig config = { job->max_frame_size, FALSE };
  MpegVideoFramer *framer = mpeg_video_framer_new (&config);
  Rfc2250Packer *packer = rfc2250_packer_new ();
  Receiver receiver = { rfc2250_unpacker_new (), };
  GPtrArray *sent = g_ptr_array_new_with_free_func (sent_free);
  MpegVideoFrame *frame;
  guint packet_number = 0;
  gboolean gap = FALSE;

  /* The packer may inject a sequence header into a frame, so the received frame
   * can be larger than the sent frame. The unpacker therefore gets a higher
   * limit for the frame size than the framer. */
  rfc2250_unpacker_set_config (receiver.unpacker, job->on_loss,
      job->max_frame_size + MPEG_VIDEO_MAX_HEADER_SIZE);
  receiver.only_whole = job->on_loss == RFC2250_ON_LOSS_DROP_FRAME
      || job->lost == 0;
  receiver.frames = g_ptr_array_new_with_free_func (unpacked_free);

  mpeg_video_framer_input (framer, input->data, input->size,
      MPEG_VIDEO_TIME_NONE, MPEG_VIDEO_TIME_NONE);
  mpeg_video_framer_drain (framer);
  while ((frame = next_frame (framer))) {
    g_ptr_array_add (sent, send_frame (job, packer, &receiver, frame,
            (guint64) sent->len * FRAME_TICKS, &packet_number, &gap));
    g_free (frame->data);
    mpeg_video_frame_clear (frame);
    g_free (frame);
  }
  if (job->lost == 0 && sent->len > 0
      && !((Sent *) g_ptr_array_index (sent, sent->len - 1))->has_slices)
    receiver.only_whole = job->on_loss == RFC2250_ON_LOSS_DROP_FRAME;
  rfc2250_unpacker_drain (receiver.unpacker);
  collect (&receiver, job->max_frame_size);
  join_end_codes (receiver.frames);
  if (job->lost == 0 || job->on_loss == RFC2250_ON_LOSS_DROP_FRAME)
    check_received (sent, &receiver, job->lost == 0);

  g_ptr_array_unref (receiver.frames);
  g_ptr_array_unref (sent);
  rfc2250_unpacker_free (receiver.unpacker);
  rfc2250_packer_free (packer);
  mpeg_video_framer_free (framer);
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  FuzzInput input = { data, size };
  Job job;

  if (size < CONTROL_SIZE)
    return 0;
  read_job (&job, &input);
  if (job.flags & FLAG_ROUND_TRIP)
    check_round_trip (&job, &input);
  else
    check_packets (&job, &input);
  return 0;
}

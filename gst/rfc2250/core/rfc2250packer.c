/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of rfc2250packer.h: splits frames into RTP payloads. */

#include "rfc2250packer.h"

#include <string.h>

/* Minimum size in bytes of the first part of a split slice, if this part shares
 * a packet with headers or other slices. A smaller part would be useless,
 * because it would not even contain the whole header of the first macroblock.
 */
#define MIN_FRAGMENT 8

struct _Rfc2250Packer
{
  Rfc2250PackerConfig config;
  Rfc2250PackerStats stats;

  /* state for config_interval */
  /* Sequence header of the stream, with its extensions; NULL if none was
   * received */
  GBytes *sequence;
  /* TRUE if a quant_matrix_extension was received after the last sequence
   * header. A repetition of the sequence header would reset the matrices that
   * this extension has set. */
  gboolean own_matrices;
  /* running time in ns of the frame with which a sequence header was last sent
   */
  guint64 sequence_time;

  /* The last picture header of each picture type. The fields temporal_reference
   * and vbv_delay are set to 0, because they may differ from picture to
   * picture. If any other field of the header changes, the bit N of RFC 2250 is
   * set in the packets of the picture. */
  MpegVideoPicture last[MPEG_VIDEO_PICTURE_LAST];
  gboolean have_last[MPEG_VIDEO_PICTURE_LAST];

  /* State of the current frame */
  const MpegVideoFrame *frame;  /* NULL if there is none */
  const guint8 *data;
  gsize max_payload;
  gboolean inject;
  /* Index of the current picture in the frame; 1 for the second of two field
   * pictures, otherwise 0 */
  guint picture;
  /* Index of the current unit in the frame. A unit is a header or a slice. The
   * current unit is the one that is being sent, or that is sent next. */
  guint unit;
  /* offset of the next byte to send, in bytes from the beginning of the frame
   */
  gsize offset;
  /* Video-specific header (RFC 2250) of the packets of the current picture. Its
   * bits S, B and E are set anew for each packet. The other fields are the same
   * in all packets of the picture. */
  Rfc2250Header header;
  guint8 extensions[RFC2250_MAX_EXTENSIONS_SIZE];
};

gsize
rfc2250_packer_min_payload (const Rfc2250PackerConfig * config)
{
  return RFC2250_HEADER_SIZE + MPEG_VIDEO_MAX_HEADER_SIZE
      + (config->mpeg2_extension ?
      RFC2250_EXTENSION_SIZE + RFC2250_COMPOSITE_SIZE : 0);
}

Rfc2250Packer *
rfc2250_packer_new (void)
{
  Rfc2250Packer *packer = g_new0 (Rfc2250Packer, 1);

  packer->config.aggregate_mode = RFC2250_AGGREGATE_SLICES;
  return packer;
}

void
rfc2250_packer_reset (Rfc2250Packer * packer)
{
  packer->frame = NULL;
  g_clear_pointer (&packer->sequence, g_bytes_unref);
  packer->own_matrices = FALSE;
  memset (packer->have_last, 0, sizeof (packer->have_last));
}

void
rfc2250_packer_free (Rfc2250Packer * packer)
{
  rfc2250_packer_reset (packer);
  g_free (packer);
}

void
rfc2250_packer_set_config (Rfc2250Packer * packer,
    const Rfc2250PackerConfig * config)
{
  packer->config = *config;
}

/* --- the sequence header ------------------------------------------------ */

/* Stores the sequence header of the frame and its extensions, but no user data.
 */
static void
save_sequence (Rfc2250Packer * packer, guint64 now)
{
  const MpegVideoFrame *frame = packer->frame;
  guint first, end;
  gsize start, size;

  for (first = 0; frame->units[first].code != MPEG_VIDEO_CODE_SEQUENCE;
      first++);
  for (end = first + 1; end < frame->n_units; end++) {
    if (frame->units[end].code != MPEG_VIDEO_CODE_EXTENSION)
      break;
  }
  start = frame->units[first].offset;
  size = mpeg_video_frame_unit_end (frame, end - 1) - start;
  g_clear_pointer (&packer->sequence, g_bytes_unref);
  packer->own_matrices = FALSE;
  packer->sequence_time = now;
  /* MPEG_VIDEO_MAX_HEADER_SIZE is the maximum size of a valid header. A larger
   * header is invalid, and it would not fit into a payload. It is not stored.
   */
  if (size <= MPEG_VIDEO_MAX_HEADER_SIZE)
    packer->sequence = g_bytes_new (packer->data + start, size);
}

/* Returns whether to insert the stored sequence header before this frame. A
 * sequence header may be repeated before an I-frame (ISO/IEC 13818-2, 6.1.1.6).
 * The repeated header resets the quantization matrices to those of the last
 * sequence header. If the stream has set other matrices since then, they would
 * be lost, so no header is inserted. */
static gboolean
wants_injection (Rfc2250Packer * packer, guint64 now)
{
  const MpegVideoFrame *frame = packer->frame;
  gint interval = packer->config.config_interval;

  if (interval == 0 || !packer->sequence || frame->has_sequence
      || frame->pictures[0].header.type != MPEG_VIDEO_PICTURE_I)
    return FALSE;
  if (interval > 0 && now < packer->sequence_time
      + (guint64) interval * G_GUINT64_CONSTANT (1000000000))
    return FALSE;
  if (packer->own_matrices) {
    packer->stats.not_injected++;
    return FALSE;
  }
  packer->stats.injected++;
  packer->sequence_time = now;
  return TRUE;
}

static gboolean
unit_is_quant_matrix (const Rfc2250Packer * packer, guint unit)
{
  gsize start = packer->frame->units[unit].offset;

  return mpeg_video_parse_extension_id (packer->data + start,
      mpeg_video_frame_unit_end (packer->frame, unit) - start)
      == MPEG_VIDEO_EXTENSION_QUANT_MATRIX;
}

static void
note_matrices (Rfc2250Packer * packer)
{
  const MpegVideoFrame *frame = packer->frame;
  guint p, i;

  for (p = 0; p < frame->n_pictures; p++) {
    for (i = frame->pictures[p].picture_unit;
        i < frame->pictures[p].first_slice; i++) {
      if (unit_is_quant_matrix (packer, i))
        packer->own_matrices = TRUE;
    }
  }
}

/* --- the video-specific header ------------------------------------------ */

/* Collects those MPEG-2 extensions that follow the picture coding extension of
 * a picture in the video, such as the quant matrix extension. The header
 * extension of a packet may contain the collected extensions (RFC 2250 section
 * 3.4.1, bit E), with their start codes, but without stuffing. They are
 * optional. If they would leave too little space for the video, all of them are
 * omitted. Returns their total size in bytes. */
static gsize
collect_extensions (Rfc2250Packer * packer,
    const MpegVideoFramePicture * picture)
{
  const MpegVideoFrame *frame = packer->frame;
  gsize total = 0, start, size;
  guint i;

  for (i = picture->picture_unit + 1; i < picture->first_slice; i++) {
    start = frame->units[i].offset;
    size = mpeg_video_frame_unit_end (frame, i) - start;
    switch (mpeg_video_parse_extension_id (packer->data + start, size)) {
      case MPEG_VIDEO_EXTENSION_QUANT_MATRIX:
      case MPEG_VIDEO_EXTENSION_COPYRIGHT:
      case MPEG_VIDEO_EXTENSION_PICTURE_DISPLAY:
      case MPEG_VIDEO_EXTENSION_SPATIAL_SCALABLE:
      case MPEG_VIDEO_EXTENSION_TEMPORAL_SCALABLE:
        break;
      default:
        continue;
    }
    if (total + size > sizeof (packer->extensions) - 1
        || total + size + 1 + 3 + rfc2250_packer_min_payload (&packer->config)
        > packer->max_payload)
      return 0;
    memcpy (packer->extensions + total, packer->data + start, size);
    total += size;
  }
  return total;
}

/* Returns whether the picture header differs from the last header of the same
 * picture type, and stores it for the next comparison. Two fields are not
 * compared: the temporal reference, because each packet contains it, and
 * vbv_delay, because it changes with time. */
static gboolean
header_is_new (Rfc2250Packer * packer, const MpegVideoPicture * picture)
{
  MpegVideoPicture now;
  gboolean same;

  memcpy (&now, picture, sizeof (now));
  now.temporal_reference = 0;
  now.vbv_delay = 0;
  same = packer->have_last[now.type]
      && memcmp (&now, &packer->last[now.type], sizeof (now)) == 0;
  packer->last[now.type] = now;
  packer->have_last[now.type] = TRUE;
  return !same;
}

static void
begin_picture (Rfc2250Packer * packer)
{
  const MpegVideoFramePicture *picture =
      &packer->frame->pictures[packer->picture];
  Rfc2250Header *header = &packer->header;

  memset (header, 0, sizeof (*header));
  rfc2250_header_set_picture (header, &picture->header);
  if (picture->header.has_extension && packer->config.new_picture_bits) {
    header->an = TRUE;
    header->n = header_is_new (packer, &picture->header);
  }
  if (picture->header.has_extension && packer->config.mpeg2_extension) {
    header->t = TRUE;
    header->extension = picture->header;
    header->extensions = packer->extensions;
    header->extensions_size = collect_extensions (packer, picture);
  }
  packer->stats.pictures[picture->header.type]++;
}

/* --- packets ------------------------------------------------------------ */

static gsize
unit_end (const Rfc2250Packer * packer, guint unit)
{
  return mpeg_video_frame_unit_end (packer->frame, unit);
}

static gboolean
unit_is_slice (const Rfc2250Packer * packer, guint unit)
{
  return MPEG_VIDEO_CODE_IS_SLICE (packer->frame->units[unit].code);
}

/* Returns whether the beginning of the current unit (a header or a slice) is in
 * an earlier packet. */
static gboolean
in_mid_unit (const Rfc2250Packer * packer)
{
  return packer->offset > packer->frame->units[packer->unit].offset;
}

/* Adds bytes of the frame to the packet, from the current offset up to the
 * offset `end`. A unit is a header or a slice of the frame. After this call,
 * the current unit is the first unit that ends after `end`. */
static void
take (Rfc2250Packer * packer, Rfc2250Packet * packet, gsize end)
{
  packet->size += end - packer->offset;
  packer->offset = end;
  while (packer->unit < packer->frame->n_units
      && unit_end (packer, packer->unit) <= end)
    packer->unit++;
}

/* Adds as many whole headers as fit. A header that is larger than a payload is
 * split. Only a header with user data can be so large. The last part of a split
 * header is sent alone, so that the following header or slice starts at the
 * beginning of a payload. Returns the remaining space of the packet in bytes.
 */
static gsize
take_headers (Rfc2250Packer * packer, Rfc2250Packet * packet,
    const MpegVideoFramePicture * picture, gsize room)
{
  const MpegVideoUnit *units = packer->frame->units;
  gsize size;

  if (in_mid_unit (packer)) {
    size = unit_end (packer, packer->unit) - packer->offset;
    take (packer, packet, packer->offset + MIN (size, room));
    return 0;
  }
  while (packer->unit < picture->first_slice) {
    size = unit_end (packer, packer->unit) - packer->offset;
    if (size > room && (packet->size > 0 || packet->inject))
      return 0;
    if (units[packer->unit].code == MPEG_VIDEO_CODE_SEQUENCE)
      packer->header.s = TRUE;
    size = MIN (size, room);
    take (packer, packet, packer->offset + size);
    room -= size;
    if (room == 0)
      return 0;
  }
  return room;
}

/* A slice of `size` bytes can be sent in two ways: either its first `room`
 * bytes fill the current packet, or the slice begins in a new packet. Each new
 * packet has room for `capacity` bytes. Returns whether the first way needs
 * fewer packets. If the slice fits into one new packet, or if `room` is less
 * than MIN_FRAGMENT, the result is FALSE.
 */
static gboolean
fill_saves_packet (gsize size, gsize room, gsize capacity)
{
  return size > capacity && room >= MIN_FRAGMENT
      && (size - room + capacity - 1) / capacity
      < (size + capacity - 1) / capacity;
}

/* Adds as many whole slices as the aggregate mode allows. A slice is split in
 * two cases only: it does not fit into a payload, or a split saves a packet. */
static void
take_slices (Rfc2250Packer * packer, Rfc2250Packet * packet,
    const MpegVideoFramePicture * picture, gsize room, gsize capacity)
{
  Rfc2250Header *header = &packer->header;
  guint taken = 0;
  gsize size;

  while (packer->unit < picture->end_unit
      && unit_is_slice (packer, packer->unit)) {
    if (taken == 1 && packer->config.aggregate_mode == RFC2250_AGGREGATE_NONE)
      break;
    size = unit_end (packer, packer->unit) - packer->offset;
    if (size <= room) {
      take (packer, packet, packer->offset + size);
      header->e = TRUE;
    } else if (taken == 0 ? room >= MIN_FRAGMENT || packet->size == 0 :
        packer->config.aggregate_mode == RFC2250_AGGREGATE_FILL
        && fill_saves_packet (size, room, capacity)) {
      take (packer, packet, packer->offset + room);
      header->e = FALSE;
      packer->stats.split_slices++;
      size = room;
    } else {
      break;
    }
    room -= size;
    header->b = TRUE;
    packer->stats.slices++;
    taken++;
    if (!header->e)
      break;
  }
}

/* Fills the packet with the rest of a slice whose beginning is in an earlier
 * packet. If the end of the slice is in this packet, no other slice is added.
 */
static void
take_rest_of_slice (Rfc2250Packer * packer, Rfc2250Packet * packet, gsize room)
{
  gsize size = unit_end (packer, packer->unit) - packer->offset;

  packer->header.e = size <= room;
  take (packer, packet, packer->offset + MIN (size, room));
}

static void
fill_packet (Rfc2250Packer * packer, Rfc2250Packet * packet,
    const MpegVideoFramePicture * picture)
{
  Rfc2250Header *header = &packer->header;
  gsize capacity = packer->max_payload - rfc2250_header_get_size (header);
  gsize room = capacity;

  if (packer->unit < picture->first_slice) {
    if (packer->inject) {
      packet->inject = TRUE;
      packer->inject = FALSE;
      header->s = TRUE;
      room -= g_bytes_get_size (packer->sequence);
    }
    packet->coverage = capacity - room;
    room = take_headers (packer, packet, picture, room);
    packet->coverage += packet->size;
    if (packer->unit == picture->first_slice)
      take_slices (packer, packet, picture, room, capacity);
    if (!header->b)
      packer->stats.header_packets++;
  } else if (!unit_is_slice (packer, packer->unit)) {
    /* This packet contains only the sequence end code. The E bit (end of slice)
     * must not be set in a packet that ends with a sequence end code. If the
     * last slice of the frame were in the same packet, some receivers would
     * discard this slice, because the E bit is not set. The last slice is
     * therefore in the previous packet, which has the RTP marker bit. */
    take (packer, packet, packer->offset + MIN (room,
            unit_end (packer, packer->unit) - packer->offset));
    packer->stats.header_packets++;
  } else if (in_mid_unit (packer)) {
    take_rest_of_slice (packer, packet, room);
  } else {
    take_slices (packer, packet, picture, room, capacity);
  }
}

/* A sequence end code ends the video and does not belong to any picture.
 * Returns whether the next byte to send belongs to a sequence end code, or to
 * the zero bytes that follow the code. */
static gboolean
at_end_code (const Rfc2250Packer * packer,
    const MpegVideoFramePicture * picture)
{
  const MpegVideoFrame *frame = packer->frame;

  return packer->unit == frame->n_units - 1
      && packer->unit >= picture->first_slice
      && frame->units[packer->unit].code == MPEG_VIDEO_CODE_SEQUENCE_END;
}

void
rfc2250_packer_input (Rfc2250Packer * packer, const MpegVideoFrame * frame,
    const guint8 * data, guint64 now, gsize max_payload)
{
  g_return_if_fail (max_payload >=
      rfc2250_packer_min_payload (&packer->config));

  packer->frame = frame;
  packer->data = data;
  packer->max_payload = max_payload;
  packer->picture = packer->unit = 0;
  packer->offset = 0;
  packer->inject = wants_injection (packer, now);
  if (frame->has_sequence)
    save_sequence (packer, now);
  note_matrices (packer);
  packer->stats.frames++;
  begin_picture (packer);
}

gboolean
rfc2250_packer_poll_output (Rfc2250Packer * packer, Rfc2250Packet * packet)
{
  const MpegVideoFrame *frame = packer->frame;
  const MpegVideoFramePicture *picture;
  Rfc2250Header *header = &packer->header;
  gboolean end_code;

  if (!frame)
    return FALSE;
  picture = &frame->pictures[packer->picture];
  end_code = at_end_code (packer, picture);

  packet->inject = FALSE;
  packet->offset = packer->offset;
  packet->size = packet->coverage = 0;
  packet->type = picture->header.type;
  packet->temporal_reference = picture->header.temporal_reference;
  header->s = header->b = header->e = FALSE;
  fill_packet (packer, packet, picture);
  packet->header_size = rfc2250_header_write (header, packet->header);
  packet->coverage += packet->header_size;
  packet->marker = !end_code && (packer->unit == frame->n_units
      || at_end_code (packer, picture));

  packer->stats.packets++;
  packer->stats.payload_bytes += packet->header_size + packet->size
      + (packet->inject ? g_bytes_get_size (packer->sequence) : 0);
  if (packer->unit == frame->n_units) {
    packer->frame = NULL;
  } else if (packer->unit == picture->end_unit) {
    packer->picture++;
    begin_picture (packer);
  }
  return TRUE;
}

GBytes *
rfc2250_packer_get_sequence (Rfc2250Packer * packer)
{
  return packer->sequence;
}

void
rfc2250_packer_get_stats (const Rfc2250Packer * packer,
    Rfc2250PackerStats * stats)
{
  *stats = packer->stats;
}

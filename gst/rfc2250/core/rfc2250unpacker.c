/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of rfc2250unpacker.h: restores frames from RTP payloads. */

#include "rfc2250unpacker.h"

#include <string.h>

#define START_CODE_SIZE 4
/* Upper limit in bytes for the total size of the headers that are restored for
 * one frame: a GOP header, a picture header and a picture coding extension */
#define MAX_REBUILT_SIZE (8 + 9 + 11 + RFC2250_MAX_EXTENSIONS_SIZE)
#define INITIAL_CHUNK_SIZE (64 * 1024)

struct _Rfc2250Unpacker
{
  Rfc2250OnLoss on_loss;
  gsize max_frame_size;
  Rfc2250UnpackerStats stats;
  GQueue output;                /* elements are Rfc2250UnpackedFrame */

  /* The following fields store what the unpacker has found out about the stream
   * from its packets. */
  gboolean seen_marker;
  /* TRUE if the previous payload was refused. The next payload is then handled
   * as if a packet were missing before it, because the refused one may have
   * carried video data. */
  gboolean refused;
  gboolean have_sequence;
  MpegVideoSequence sequence;
  /* TRUE if a GOP header preceded the last I-frame. If the headers of a later
   * I-frame are lost and restored, a GOP header is then restored, too. */
  gboolean gop_with_i;
  gboolean last_gop_closed;
  /* The header of the last picture of each type, including its picture coding
   * extension. If a packet has AN = 1 and N = 0, the picture to which it
   * belongs has the same extension as the previous picture of the same type
   * (RFC 2250 appendix 1).
   */
  MpegVideoPicture last[MPEG_VIDEO_PICTURE_LAST];
  gboolean last_valid[MPEG_VIDEO_PICTURE_LAST];
  /* temporal reference of the picture to which the last received packet belongs
   */
  guint last_reference;
  guint last_type;

  /* State of the current frame */
  gboolean in_frame;
  /* TRUE if a sequence end code has been output since the last frame, and no
   * other data have arrived after it */
  gboolean end_code_sent;
  /* TRUE if packets were missing directly before the first received packet of
   * this frame */
  gboolean gap_before;
  /* temporal reference of the frame, from its first received packet */
  guint reference;
  /* TRUE if a part of the frame is known to be missing */
  gboolean missing;
  /* TRUE if the frame must not be output. Either its picture header is missing
   * and cannot be restored, or the frame is larger than max_frame_size. */
  gboolean unusable;
  gboolean have_slice;
  /* TRUE while data are skipped: from a gap until the next slice begins */
  gboolean skipping;
  /* TRUE if the end of the last received slice of the frame has not arrived yet
   */
  gboolean slice_open;
  gsize open_slice;             /* offset of this slice */
  /* Header of the first picture of the current frame. Its field `type` is
   * UNKNOWN until a picture header is received or restored. Until then, the
   * other fields of the header are not valid. */
  MpegVideoPicture picture;
  gboolean second_field;
  guint64 rtptime, pts;
  guint8 *chunk;
  gsize len, chunk_size;

  /* The following fields are used only if the sender sets all bits of the
   * video-specific header to zero. */
  MpegVideoFramer *framer;
  /* TRUE from a gap until a payload begins with a sequence, GOP or picture
   * header. The payloads before that are discarded. */
  gboolean legacy_missing;
  gboolean legacy_marker;       /* marker of the last payload */
};

Rfc2250Unpacker *
rfc2250_unpacker_new (void)
{
  Rfc2250Unpacker *unpacker = g_new0 (Rfc2250Unpacker, 1);

  unpacker->max_frame_size = MPEG_VIDEO_DEFAULT_MAX_FRAME_SIZE;
  g_queue_init (&unpacker->output);
  return unpacker;
}

static void
queued_frame_free (gpointer data)
{
  g_free (((Rfc2250UnpackedFrame *) data)->data);
  g_free (data);
}

static void
unpacker_end_frame (Rfc2250Unpacker * unpacker)
{
  unpacker->in_frame = FALSE;
  unpacker->len = 0;
}

void
rfc2250_unpacker_reset (Rfc2250Unpacker * unpacker)
{
  g_queue_clear_full (&unpacker->output, queued_frame_free);
  g_queue_init (&unpacker->output);
  g_clear_pointer (&unpacker->framer, mpeg_video_framer_free);
  unpacker_end_frame (unpacker);
  unpacker->legacy_missing = FALSE;
  unpacker->have_sequence = FALSE;
  unpacker->gop_with_i = FALSE;
  unpacker->seen_marker = FALSE;
  unpacker->refused = FALSE;
  unpacker->end_code_sent = FALSE;
  memset (unpacker->last_valid, 0, sizeof (unpacker->last_valid));
}

void
rfc2250_unpacker_free (Rfc2250Unpacker * unpacker)
{
  rfc2250_unpacker_reset (unpacker);
  g_free (unpacker->chunk);
  g_free (unpacker);
}

void
rfc2250_unpacker_set_config (Rfc2250Unpacker * unpacker,
    Rfc2250OnLoss on_loss, gsize max_frame_size)
{
  unpacker->on_loss = on_loss;
  unpacker->max_frame_size = max_frame_size;
}

static void
unpacker_append (Rfc2250Unpacker * unpacker, const guint8 * data, gsize size)
{
  gsize needed = unpacker->len + size;

  if (needed > unpacker->chunk_size) {
    unpacker->chunk_size = MAX (unpacker->chunk_size * 2, INITIAL_CHUNK_SIZE);
    unpacker->chunk_size = MAX (unpacker->chunk_size, needed);
    unpacker->chunk = g_realloc (unpacker->chunk, unpacker->chunk_size);
  }
  memcpy (unpacker->chunk + unpacker->len, data, size);
  unpacker->len = needed;
}

/* --- start codes in payloads -------------------------------------------- */

/* Returns the value of the start code at the beginning of the payload. Returns
 * -1 if the payload does not begin with a start code. */
static gint
first_code (const guint8 * data, gsize size)
{
  if (size < START_CODE_SIZE || data[0] != 0 || data[1] != 0 || data[2] != 1)
    return -1;
  return data[3];
}

static gboolean
begins_with_header (const guint8 * data, gsize size)
{
  gint code = first_code (data, size);

  return code == MPEG_VIDEO_CODE_SEQUENCE || code == MPEG_VIDEO_CODE_GOP
      || code == MPEG_VIDEO_CODE_PICTURE;
}

/* Returns a pointer to the first start code of a slice between `data` and
 * `end`, or NULL if there is none. */
static const guint8 *
find_slice (const guint8 * data, const guint8 * end)
{
  while ((data = mpeg_video_find_start_code (data, end))) {
    if (MPEG_VIDEO_CODE_IS_SLICE (data[3]))
      return data;
    data += START_CODE_SIZE;
  }
  return NULL;
}

/* Returns a pointer to the last start code of a slice between `data` and `end`,
 * or NULL if there is none. */
static const guint8 *
find_last_slice (const guint8 * data, const guint8 * end)
{
  const guint8 *slice = NULL, *next = data;

  while ((next = find_slice (next, end))) {
    slice = next;
    next += START_CODE_SIZE;
  }
  return slice;
}

/* --- headers ------------------------------------------------------------ */

static void
note_sequence_unit (Rfc2250Unpacker * unpacker, const guint8 * data, gsize size)
{
  if (mpeg_video_parse_sequence (&unpacker->sequence, data, size))
    unpacker->have_sequence = TRUE;
}

static void
note_extension (Rfc2250Unpacker * unpacker, MpegVideoPicture * picture,
    const guint8 * data, gsize size)
{
  switch (mpeg_video_parse_extension_id (data, size)) {
    case MPEG_VIDEO_EXTENSION_SEQUENCE:
      if (unpacker->have_sequence && !unpacker->sequence.mpeg2)
        mpeg_video_parse_sequence_extension (&unpacker->sequence, data, size);
      break;
    case MPEG_VIDEO_EXTENSION_PICTURE_CODING:
      if (picture->type != MPEG_VIDEO_PICTURE_UNKNOWN
          && !picture->has_extension)
        mpeg_video_parse_picture_extension (picture, data, size);
      break;
    default:
      break;
  }
}

/* Parses the headers at the beginning of a payload. Stores the sequence header,
 * and fills in `picture` from the picture header and its extension. */
static void
note_headers (Rfc2250Unpacker * unpacker, const guint8 * data, gsize size,
    MpegVideoPicture * picture)
{
  const guint8 *end = data + size, *unit = data, *next;
  MpegVideoGop gop = { 0 };
  gboolean have_gop = FALSE;

  memset (picture, 0, sizeof (*picture));
  while (unit && !MPEG_VIDEO_CODE_IS_SLICE (unit[3])) {
    next = mpeg_video_find_start_code (unit + START_CODE_SIZE, end);
    size = (next ? next : end) - unit;
    switch (unit[3]) {
      case MPEG_VIDEO_CODE_SEQUENCE:
        note_sequence_unit (unpacker, unit, size);
        break;
      case MPEG_VIDEO_CODE_GOP:
        have_gop = mpeg_video_parse_gop (&gop, unit, size);
        break;
      case MPEG_VIDEO_CODE_PICTURE:
        mpeg_video_parse_picture (picture, unit, size);
        break;
      case MPEG_VIDEO_CODE_EXTENSION:
        note_extension (unpacker, picture, unit, size);
        break;
      default:
        break;
    }
    unit = next;
  }
  if (have_gop)
    unpacker->last_gop_closed = gop.closed;
  if (picture->type == MPEG_VIDEO_PICTURE_I)
    unpacker->gop_with_i = have_gop;
}

/* Stores the header of the current picture. If the header of a later picture of
 * the same type is lost, the stored header may replace it (RFC 2250 appendix
 * 1). Only MPEG-2 needs this.
 *
 * The header is taken from the video or, if T = 1, from the header extension of
 * the packet. If the packet contains neither, no new header can be stored. A
 * header that was stored earlier then stays valid only if the packet says that
 * the header has not changed (AN = 1 and N = 0). */
static void
note_n_bit (Rfc2250Unpacker * unpacker, const Rfc2250Header * header,
    const MpegVideoPicture * picture)
{
  if (header->p == 0 || header->p >= MPEG_VIDEO_PICTURE_LAST)
    return;
  if (picture->has_extension || header->t) {
    unpacker->last[header->p] =
        picture->has_extension ? *picture : header->extension;
    unpacker->last_valid[header->p] = TRUE;
  } else if (!header->an || header->n) {
    unpacker->last_valid[header->p] = FALSE;
  }
}

/* --- restoring a picture header (appendix 1) ------------------------------ */

typedef struct
{
  guint8 *data;
  gsize bits;
} BitWriter;

static void
write_bits (BitWriter * writer, guint n, guint32 value)
{
  while (n-- > 0) {
    guint8 *byte = &writer->data[writer->bits / 8];
    guint8 mask = 0x80 >> writer->bits % 8;

    *byte = value >> n & 1 ? *byte | mask : *byte & ~mask;
    writer->bits++;
  }
}

static void
align_bits (BitWriter * writer)
{
  while (writer->bits % 8 != 0)
    write_bits (writer, 1, 0);
}

/* Writes a GOP header that replaces a lost one. Its time code is 0, its flag
 * closed_gop has the value `closed`, and its flag broken_link is set. */
static void
write_gop (BitWriter * writer, gboolean closed)
{
  write_bits (writer, 32, 0x100 | MPEG_VIDEO_CODE_GOP);
  write_bits (writer, 12, 0);
  write_bits (writer, 1, 1);
  write_bits (writer, 12, 0);
  write_bits (writer, 1, closed);
  write_bits (writer, 1, 1);
  align_bits (writer);
}

static void
write_picture (BitWriter * writer, const Rfc2250Header * header)
{
  write_bits (writer, 32, 0x100 | MPEG_VIDEO_CODE_PICTURE);
  write_bits (writer, 10, header->tr);
  write_bits (writer, 3, header->p);
  write_bits (writer, 16, 0xffff);      /* vbv_delay: unknown */
  if (header->p == MPEG_VIDEO_PICTURE_P || header->p == MPEG_VIDEO_PICTURE_B) {
    write_bits (writer, 1, header->ffv);
    write_bits (writer, 3, header->ffc);
  }
  if (header->p == MPEG_VIDEO_PICTURE_B) {
    write_bits (writer, 1, header->fbv);
    write_bits (writer, 3, header->bfc);
  }
  write_bits (writer, 1, 0);    /* extra_bit_picture */
  align_bits (writer);
}

static void
write_picture_extension (BitWriter * writer, const MpegVideoPicture * x)
{
  write_bits (writer, 32, 0x100 | MPEG_VIDEO_CODE_EXTENSION);
  write_bits (writer, 4, MPEG_VIDEO_EXTENSION_PICTURE_CODING);
  write_bits (writer, 4, x->f_code[0][0]);
  write_bits (writer, 4, x->f_code[0][1]);
  write_bits (writer, 4, x->f_code[1][0]);
  write_bits (writer, 4, x->f_code[1][1]);
  write_bits (writer, 2, x->intra_dc_precision);
  write_bits (writer, 2, x->structure);
  write_bits (writer, 1, x->top_field_first);
  write_bits (writer, 1, x->frame_pred_frame_dct);
  write_bits (writer, 1, x->concealment_motion_vectors);
  write_bits (writer, 1, x->q_scale_type);
  write_bits (writer, 1, x->intra_vlc_format);
  write_bits (writer, 1, x->alternate_scan);
  write_bits (writer, 1, x->repeat_first_field);
  write_bits (writer, 1, x->chroma_420_type);
  write_bits (writer, 1, x->progressive_frame);
  write_bits (writer, 1, x->composite_display);
  if (x->composite_display)
    write_bits (writer, 20, x->composite_display_bits);
  align_bits (writer);
}

/* Begins the frame with a picture header that is restored from the
 * video-specific header of a packet. For MPEG-2, a picture coding extension is
 * needed as well. It comes from the header extension of the packet (T = 1). If
 * there is no header extension, the stored extension of the last picture of the
 * same type is used. This is allowed only if the packet says that the extension
 * has not changed (AN = 1 and N = 0). For an I-frame, a GOP header is restored
 * as well, if the last I-frame had one. Returns FALSE if no header can be
 * restored. */
static gboolean
rebuild_headers (Rfc2250Unpacker * unpacker, const Rfc2250Header * header)
{
  guint8 rebuilt[MAX_REBUILT_SIZE];
  BitWriter writer = { rebuilt, 0 };
  const MpegVideoPicture *extension = NULL;

  if (!unpacker->have_sequence || header->p == MPEG_VIDEO_PICTURE_UNKNOWN
      || header->p >= MPEG_VIDEO_PICTURE_LAST)
    return FALSE;
  if (unpacker->sequence.mpeg2) {
    if (header->t)
      extension = &header->extension;
    else if (header->an && !header->n && unpacker->last_valid[header->p])
      extension = &unpacker->last[header->p];
    else
      return FALSE;
  }

  if (header->p == MPEG_VIDEO_PICTURE_I && unpacker->gop_with_i) {
    write_gop (&writer, unpacker->last_gop_closed);
    unpacker->stats.gops_rebuilt++;
  }
  write_picture (&writer, header);
  if (extension)
    write_picture_extension (&writer, extension);
  unpacker_append (unpacker, rebuilt, writer.bits / 8);
  if (header->t && first_code (header->extensions,
          header->extensions_size) == MPEG_VIDEO_CODE_EXTENSION)
    unpacker_append (unpacker, header->extensions, header->extensions_size);
  unpacker->picture.type = header->p;
  unpacker->picture.temporal_reference = header->tr;
  unpacker->picture.structure = extension ? extension->structure :
      MPEG_VIDEO_STRUCTURE_FRAME;
  unpacker->stats.pictures_rebuilt++;
  return TRUE;
}

/* --- frames ------------------------------------------------------------- */

static void
unpacker_send (Rfc2250Unpacker * unpacker, guint8 * data, gsize size,
    gboolean damaged)
{
  Rfc2250UnpackedFrame *frame = g_new0 (Rfc2250UnpackedFrame, 1);

  frame->data = data;
  frame->size = size;
  frame->damaged = damaged;
  frame->headless = !begins_with_header (data, size);
  frame->rtptime = unpacker->rtptime;
  frame->pts = unpacker->pts;
  g_queue_push_tail (&unpacker->output, frame);
  if (damaged)
    unpacker->stats.frames_damaged++;
  else
    unpacker->stats.frames++;
}

/* Outputs a sequence end code that arrived after the last packet of a frame.
 * The frame was already complete, because its last packet had the RTP marker.
 */
static void
unpacker_send_end_code (Rfc2250Unpacker * unpacker,
    const Rfc2250Payload * payload, const guint8 * data, gsize size)
{
  Rfc2250UnpackedFrame *frame = g_new0 (Rfc2250UnpackedFrame, 1);

  frame->data = g_memdup2 (data, size);
  frame->size = size;
  frame->end_code = TRUE;
  unpacker->end_code_sent = TRUE;
  unpacker->rtptime = payload->rtptime;
  frame->rtptime = payload->rtptime;
  frame->pts = payload->pts;
  g_queue_push_tail (&unpacker->output, frame);
}

/* Returns whether the payload contains a sequence end code, or the rest of the
 * zero bytes that follow a sequence end code. */
static gboolean
is_end_code (const Rfc2250Unpacker * unpacker, const Rfc2250Payload * payload,
    gint code)
{
  if (unpacker->in_frame)
    return FALSE;
  return code == MPEG_VIDEO_CODE_SEQUENCE_END || (code < 0 && !payload->gap
      && unpacker->end_code_sent && payload->rtptime == unpacker->rtptime);
}

/* With RFC2250_ON_LOSS_CONCEAL, discards the last slice of the frame if the end
 * of this slice was not received. */
static void
drop_open_slice (Rfc2250Unpacker * unpacker)
{
  if (!unpacker->slice_open || unpacker->on_loss != RFC2250_ON_LOSS_CONCEAL)
    return;
  unpacker->len = unpacker->open_slice;
  unpacker->slice_open = FALSE;
  unpacker->stats.slices_dropped++;
}

/* Returns the frame that was assembled in the chunk, which is a block of
 * memory. If the frame fills less than half of the chunk, the frame is copied,
 * and the chunk is used again for the next frame. Otherwise the whole chunk is
 * returned, including the unused bytes at its end. The chunk is not shrunk to
 * the size of the frame. After the frame has been freed, malloc can therefore
 * use its memory for a new chunk. */
static guint8 *
unpacker_take_chunk (Rfc2250Unpacker * unpacker)
{
  if (unpacker->len < unpacker->chunk_size / 2)
    return g_memdup2 (unpacker->chunk, unpacker->len);
  unpacker->chunk_size = 0;
  return g_steal_pointer (&unpacker->chunk);
}

/* Returns whether the frame consists of a single field and follows a gap. In
 * this case, at least a part of the other field was lost in the gap. Without a
 * gap, a single field is normal: some senders set the RTP marker, which ends a
 * frame, after each field. Each field is then processed as a frame. */
static gboolean
lacks_field (const Rfc2250Unpacker * unpacker)
{
  return unpacker->gap_before && !unpacker->second_field
      && unpacker->picture.type != MPEG_VIDEO_PICTURE_UNKNOWN
      && unpacker->picture.structure != MPEG_VIDEO_STRUCTURE_FRAME;
}

static void
unpacker_finish_frame (Rfc2250Unpacker * unpacker)
{
  gboolean wanted = unpacker->len > 0 && !unpacker->unusable;

  if (!unpacker->in_frame)
    return;
  unpacker->missing = unpacker->missing || lacks_field (unpacker);
  if (unpacker->missing) {
    drop_open_slice (unpacker);
    if (unpacker->on_loss == RFC2250_ON_LOSS_DROP_FRAME)
      wanted = FALSE;
    if (unpacker->on_loss == RFC2250_ON_LOSS_CONCEAL && !unpacker->have_slice)
      wanted = FALSE;
  }
  if (wanted) {
    unpacker_send (unpacker, unpacker_take_chunk (unpacker), unpacker->len,
        unpacker->missing);
  } else {
    unpacker->stats.frames_dropped++;
  }
  unpacker_end_frame (unpacker);
}

static void
unpacker_begin_frame (Rfc2250Unpacker * unpacker,
    const Rfc2250Payload * payload, const Rfc2250Header * header)
{
  unpacker->in_frame = TRUE;
  unpacker->gap_before = payload->gap;
  unpacker->reference = header->tr;
  unpacker->missing = unpacker->unusable = FALSE;
  unpacker->have_slice = unpacker->slice_open = FALSE;
  unpacker->skipping = FALSE;
  unpacker->second_field = FALSE;
  unpacker->picture.type = MPEG_VIDEO_PICTURE_UNKNOWN;
  unpacker->rtptime = payload->rtptime;
  unpacker->pts = payload->pts;
  unpacker->len = 0;
}

/* Returns whether a payload that begins with the picture header `picture` is
 * the second field of the current frame. The packet with the picture header of
 * the first field may have been lost, so the function also works without that
 * header. */
static gboolean
opens_second_field (const Rfc2250Unpacker * unpacker,
    const Rfc2250Header * header, const MpegVideoPicture * picture)
{
  if (unpacker->second_field || header->tr != unpacker->reference
      || picture->type == MPEG_VIDEO_PICTURE_UNKNOWN
      || picture->structure == MPEG_VIDEO_STRUCTURE_FRAME)
    return FALSE;
  return unpacker->picture.type == MPEG_VIDEO_PICTURE_UNKNOWN
      || (unpacker->picture.structure ^ picture->structure)
      == MPEG_VIDEO_STRUCTURE_FRAME;
}

/* Returns whether the payload belongs to a frame other than the current frame,
 * so that a new frame begins with this payload. */
static gboolean
opens_frame (const Rfc2250Unpacker * unpacker, const Rfc2250Payload * payload,
    const Rfc2250Header * header, const MpegVideoPicture * picture, gint code)
{
  if (!unpacker->in_frame || payload->rtptime != unpacker->rtptime)
    return TRUE;
  /* Some senders give all packets the same timestamp. Only the RTP marker then
   * separates the frames. If the marker was lost, a sequence, GOP or picture
   * header shows that a new frame begins. There are two exceptions:
   * - If the current frame has no slice yet, the header belongs to this frame.
   *   The headers of one frame may be spread over several packets.
   * - If the sender sets markers and no packet is missing, no marker was lost.
   *   The header then belongs to the current frame. */
  if (!unpacker->have_slice || (unpacker->seen_marker && !payload->gap))
    return FALSE;
  return code == MPEG_VIDEO_CODE_SEQUENCE || code == MPEG_VIDEO_CODE_GOP
      || (code == MPEG_VIDEO_CODE_PICTURE
      && !opens_second_field (unpacker, header, picture));
}

/* Notes that the beginning of the current frame is missing. With
 * RFC2250_ON_LOSS_CONCEAL, restores the headers of the frame. If they cannot be
 * restored, marks the frame as unusable. */
static void
unpacker_lost_head (Rfc2250Unpacker * unpacker, const Rfc2250Header * header)
{
  unpacker->missing = TRUE;
  if (unpacker->on_loss != RFC2250_ON_LOSS_CONCEAL)
    return;
  if (!rebuild_headers (unpacker, header))
    unpacker->unusable = TRUE;
}

/* `header` is the video-specific header of a packet that follows a gap. Returns
 * TRUE if this packet belongs to the second field of the frame, but the picture
 * header of the second field was lost in the gap. */
static gboolean
lost_second_head (const Rfc2250Unpacker * unpacker,
    const Rfc2250Header * header)
{
  return header->t && !unpacker->second_field
      && unpacker->picture.structure != MPEG_VIDEO_STRUCTURE_FRAME
      && unpacker->picture.type != MPEG_VIDEO_PICTURE_UNKNOWN
      && (unpacker->picture.structure ^ header->extension.structure)
      == MPEG_VIDEO_STRUCTURE_FRAME;
}

/* Called after a gap. With RFC2250_ON_LOSS_CONCEAL, finds the first slice that
 * begins in the payload, and removes the bytes before this slice. The removed
 * bytes belong to an earlier slice, which began in a lost packet. A payload
 * that begins with a sequence, GOP or picture header is not changed. Returns
 * FALSE if no slice begins in the payload. */
static gboolean
skip_to_slice (Rfc2250Unpacker * unpacker, const guint8 ** data, gsize * size)
{
  const guint8 *slice;

  if (unpacker->on_loss != RFC2250_ON_LOSS_CONCEAL
      || begins_with_header (*data, *size))
    return TRUE;
  slice = find_slice (*data, *data + *size);
  if (slice != *data && !unpacker->skipping)
    unpacker->stats.slices_dropped++;
  if (!slice)
    return FALSE;
  *size -= slice - *data;
  *data = slice;
  return TRUE;
}

static void
unpacker_add (Rfc2250Unpacker * unpacker, const Rfc2250Header * header,
    const guint8 * data, gsize size)
{
  const guint8 *slice;

  if (unpacker->len + size > unpacker->max_frame_size) {
    if (!unpacker->unusable)
      unpacker->stats.too_big++;
    unpacker->unusable = TRUE;
    unpacker->len = 0;
  }
  if (unpacker->unusable)
    return;
  if (header->b)
    unpacker->have_slice = TRUE;
  if (unpacker->on_loss == RFC2250_ON_LOSS_CONCEAL) {
    /* The bit E of the video-specific header means that the payload ends where
     * a slice ends. If E is not set, the last slice of this payload continues
     * in the next payload. If this slice begins in this payload, its offset is
     * stored, so that the slice can be removed if its end is lost. */
    if (header->e) {
      unpacker->slice_open = FALSE;
    } else if ((slice = find_last_slice (data, data + size))) {
      unpacker->open_slice = unpacker->len + (slice - data);
      unpacker->slice_open = TRUE;
    }
  }
  unpacker_append (unpacker, data, size);
}

/* Notes that packets in the middle of the current frame are missing. With
 * RFC2250_ON_LOSS_CONCEAL, drops the slice that is incomplete because of the
 * missing packets. If the missing packets contained the picture header of the
 * second field, restores this header. */
static void
unpacker_lost_middle (Rfc2250Unpacker * unpacker,
    const Rfc2250Header * header, gboolean has_header)
{
  unpacker->missing = TRUE;
  drop_open_slice (unpacker);
  if (!has_header && lost_second_head (unpacker, header)
      && unpacker->on_loss == RFC2250_ON_LOSS_CONCEAL
      && rebuild_headers (unpacker, header))
    unpacker->second_field = TRUE;
}

/* Processes a packet of a sender that fills in the video-specific header of RFC
 * 2250. */
static void
unpacker_take (Rfc2250Unpacker * unpacker, const Rfc2250Payload * payload,
    const Rfc2250Header * header, const guint8 * data, gsize size)
{
  MpegVideoPicture picture = { 0 };
  gint code = first_code (data, size);
  gboolean has_header = begins_with_header (data, size);
  gboolean rest_lost = FALSE;

  if (is_end_code (unpacker, payload, code)) {
    unpacker_send_end_code (unpacker, payload, data, size);
    return;
  }
  unpacker->end_code_sent = FALSE;
  if (has_header)
    note_headers (unpacker, data, size, &picture);
  else if (code == MPEG_VIDEO_CODE_EXTENSION && !unpacker->have_slice)
    note_extension (unpacker, &unpacker->picture, data, size);
  if (opens_frame (unpacker, payload, header, &picture, code)) {
    /* Packets are missing before this packet, and this packet begins a new
     * frame. The end of the current frame is therefore among the missing
     * packets. */
    if (payload->gap)
      unpacker->missing = TRUE;
    unpacker_finish_frame (unpacker);
    unpacker_begin_frame (unpacker, payload, header);
    if (!has_header)
      unpacker_lost_head (unpacker, header);
    rest_lost = !has_header;
  } else if (payload->gap) {
    unpacker_lost_middle (unpacker, header, has_header);
    rest_lost = TRUE;
  }

  if (code == MPEG_VIDEO_CODE_PICTURE && unpacker->have_slice
      && opens_second_field (unpacker, header, &picture))
    unpacker->second_field = TRUE;
  if (has_header && unpacker->picture.type == MPEG_VIDEO_PICTURE_UNKNOWN)
    unpacker->picture = picture;
  if (has_header || header->p != unpacker->last_type
      || header->tr != unpacker->last_reference)
    note_n_bit (unpacker, header, &picture);
  unpacker->last_type = header->p;
  unpacker->last_reference = header->tr;

  if (rest_lost || unpacker->skipping)
    unpacker->skipping = !skip_to_slice (unpacker, &data, &size);
  if (!unpacker->skipping)
    unpacker_add (unpacker, header, data, size);
  /* live555 sets the marker in the very first packet of a stream, although this
   * packet contains only headers. Such a packet does not end the frame. */
  if (payload->marker && (unpacker->have_slice || unpacker->missing))
    unpacker_finish_frame (unpacker);
}

/* --- senders that set the video-specific header to zero ------------------- */

static void
legacy_collect (Rfc2250Unpacker * unpacker)
{
  MpegVideoFrame frame;
  gboolean damaged;

  while (mpeg_video_framer_poll_output (unpacker->framer, &frame)) {
    damaged = (frame.flags & MPEG_VIDEO_FRAME_INCOMPLETE) != 0;
    unpacker->rtptime = frame.pts;
    /* The framer does not change the PTS and the DTS that are passed to it. The
     * unpacker therefore uses these two fields to carry other values through
     * the framer: the field PTS carries the RTP timestamp, and the field DTS
     * carries the PTS. */
    unpacker->pts = frame.dts;
    if (damaged && unpacker->on_loss == RFC2250_ON_LOSS_DROP_FRAME) {
      unpacker->stats.frames_dropped++;
      g_free (frame.data);
    } else {
      unpacker_send (unpacker, frame.data, frame.size, damaged);
    }
    mpeg_video_frame_clear (&frame);
  }
}

/* Processes a packet whose video-specific header is all zero. Only the start
 * codes in the payload show where frames begin, and one payload may contain a
 * dozen frames. After a gap, it is not known to which frame the next bytes
 * belong. Payloads are therefore discarded until a payload begins with a
 * sequence, GOP or picture header, unless damaged data are to be passed on
 * (RFC2250_ON_LOSS_PASS). */
static void
unpacker_take_legacy (Rfc2250Unpacker * unpacker,
    const Rfc2250Payload * payload, const guint8 * data, gsize size)
{
  MpegVideoFramerConfig config = { unpacker->max_frame_size, FALSE };

  if (!unpacker->framer)
    unpacker->framer = mpeg_video_framer_new (&config);
  if (payload->gap) {
    /* If the last packet before the gap had the RTP marker, the current frame
     * is complete. Otherwise the end of the frame is missing. */
    if (unpacker->legacy_marker || unpacker->on_loss == RFC2250_ON_LOSS_PASS)
      mpeg_video_framer_drain (unpacker->framer);
    else
      mpeg_video_framer_discont (unpacker->framer);
    legacy_collect (unpacker);
    unpacker->legacy_missing = TRUE;
  }
  unpacker->legacy_marker = payload->marker;
  if (unpacker->legacy_missing && !begins_with_header (data, size)
      && unpacker->on_loss != RFC2250_ON_LOSS_PASS)
    return;
  unpacker->legacy_missing = FALSE;
  mpeg_video_framer_input (unpacker->framer, data, size, payload->rtptime,
      payload->pts);
  legacy_collect (unpacker);
}

/* --- public functions ----------------------------------------------------- */

static gboolean
unpacker_refuse (Rfc2250Unpacker * unpacker, Rfc2250HeaderResult result)
{
  switch (result) {
    case RFC2250_HEADER_OK:
      return FALSE;
    case RFC2250_HEADER_SHORT:
      unpacker->stats.bad_short++;
      break;
    case RFC2250_HEADER_BAD_MBZ:
      unpacker->stats.bad_mbz++;
      break;
    case RFC2250_HEADER_BAD_EXTENSION:
      unpacker->stats.bad_extension++;
      break;
  }
  return TRUE;
}

gboolean
rfc2250_unpacker_check (Rfc2250Unpacker * unpacker, const guint8 * data,
    gsize size)
{
  Rfc2250Header header;
  gsize header_size;

  return !unpacker_refuse (unpacker, rfc2250_header_parse (&header, data, size,
          &header_size));
}

void
rfc2250_unpacker_input (Rfc2250Unpacker * unpacker,
    const Rfc2250Payload * input)
{
  Rfc2250Payload copy = *input;
  const Rfc2250Payload *payload = &copy;
  Rfc2250Header header;
  gsize header_size;

  unpacker->stats.packets++;
  /* A refused packet may have carried video data of the stream. The next packet
   * is therefore handled as if a packet were missing before it. */
  copy.gap = copy.gap || unpacker->refused;
  unpacker->refused = unpacker_refuse (unpacker,
      rfc2250_header_parse (&header, payload->data, payload->size,
          &header_size));
  if (unpacker->refused)
    return;
  if (payload->size == header_size) {
    unpacker->stats.empty++;
    unpacker->refused = payload->gap;
    return;
  }

  /* Some senders do not fill in the video-specific header. Such an empty header
   * is recognized by its fields T, P (picture type), B, E and S, which are all
   * zero. In a header that is filled in, at least P is not zero, because RFC
   * 2250 forbids the value 0 of P. In addition, B and E of a header that is
   * filled in are rarely both 0: only if the packet is from the middle of a
   * large slice. */
  if (!header.t && header.p == 0 && !header.b && !header.e && !header.s) {
    unpacker->stats.legacy_packets++;
    unpacker_take_legacy (unpacker, payload, payload->data + header_size,
        payload->size - header_size);
    return;
  }
  if (payload->marker)
    unpacker->seen_marker = TRUE;
  unpacker_take (unpacker, payload, &header, payload->data + header_size,
      payload->size - header_size);
}

void
rfc2250_unpacker_drain (Rfc2250Unpacker * unpacker)
{
  if (unpacker->framer) {
    mpeg_video_framer_drain (unpacker->framer);
    legacy_collect (unpacker);
  }
  /* The stream has ended, but no packet with the RTP marker has ended the
   * current frame. Some senders set the marker in the last packet of each
   * frame. If the sender of this stream has set the marker in any packet, it is
   * one of these senders. At least the last packet of the current frame is then
   * missing.
   */
  if (unpacker->seen_marker)
    unpacker->missing = TRUE;
  unpacker_finish_frame (unpacker);
}

gboolean
rfc2250_unpacker_poll_output (Rfc2250Unpacker * unpacker,
    Rfc2250UnpackedFrame * frame)
{
  Rfc2250UnpackedFrame *queued = g_queue_pop_head (&unpacker->output);

  if (!queued)
    return FALSE;
  *frame = *queued;
  g_free (queued);
  return TRUE;
}

void
rfc2250_unpacker_get_stats (const Rfc2250Unpacker * unpacker,
    Rfc2250UnpackerStats * stats)
{
  *stats = unpacker->stats;
}

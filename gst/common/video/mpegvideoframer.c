/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mpegvideoframer.h: splits an MPEG video elementary stream
 * into frames. */

#include "mpegvideoframer.h"

#include <string.h>

/* Maximum height, in lines, of pictures whose slice headers have no field
 * slice_vertical_position_extension (13818-2 6.2.4) */
#define MAX_HEIGHT_WITHOUT_EXTENSION 2800

/* A start code of four bytes may begin at the end of one input and end in the
 * next input. MAX_STRADDLE is the maximum number of bytes of this start code
 * that are in the first of these two inputs. */
#define MAX_STRADDLE 3

/* Number of bytes from the beginning of a start code to the position at which
 * the search for the next start code continues. A start code has four bytes, so
 * this position is the last byte of the start code. This byte must be searched,
 * too: in a damaged stream, it may also be the first byte of the next start
 * code. The framer thus finds the same start codes, no matter how the stream is
 * divided into inputs. */
#define NEXT_CODE 3

#define INITIAL_CHUNK_SIZE (64 * 1024)
#define INITIAL_UNITS 64

struct _MpegVideoFramer
{
  MpegVideoFramerConfig config;
  MpegVideoFramerStats stats;

  MpegVideoSequence sequence;
  gboolean have_sequence;

  /* `chunk` contains the bytes of the current frame, beginning with the first
   * start code of the frame. While the framer searches for this start code,
   * `chunk` contains only the last MAX_STRADDLE bytes of the input, because a
   * start code may begin in these bytes and end in the next input.
   *
   * The framer reads the bytes of the current frame through the pointer `base`,
   * which is normally equal to `chunk`. During mpeg_video_framer_input_frame
   * (), `base` points to the data of the caller instead, so that the data need
   * not be copied. */
  guint8 *chunk;
  gsize chunk_size;
  const guint8 *base;
  gsize len;
  gboolean borrowed;
  /* TRUE if the input of mpeg_video_framer_input_frame () has turned out not to
   * be exactly one frame. That function then returns FALSE, and its caller has
   * to use mpeg_video_framer_input (), which copies the data. */
  gboolean split;

  /* State of the current frame */
  gboolean hunting;
  /* TRUE if the current frame has a picture start code or a slice */
  gboolean have_body;
  /* TRUE if the last start code of the current frame is that of a slice */
  gboolean in_slices;
  /* TRUE if the last start code of the current frame is a sequence end code */
  gboolean ended;
  MpegVideoFrame frame;
  MpegVideoUnit *units;         /* array of n_units elements */
  guint n_units, units_size;

  /* TRUE if there is a candidate, which is a picture header that was received
   * after the first field of a frame. The candidate may belong to the second
   * field of this frame, or start a new frame. The picture coding extension
   * that follows the candidate shows which of the two is true. */
  gboolean have_candidate;
  guint candidate_unit;
  gboolean candidate_parsed;
  MpegVideoPicture candidate;
  guint64 candidate_pts, candidate_dts;

  /* Timestamps in ns that came with the last input. The next picture that
   * starts in the input gets these timestamps. */
  guint64 pts, dts;

  GQueue output;                /* elements are MpegVideoFrame */
};

static void framer_code (MpegVideoFramer * framer, gsize offset, guint code);

MpegVideoFramer *
mpeg_video_framer_new (const MpegVideoFramerConfig * config)
{
  MpegVideoFramer *framer = g_new0 (MpegVideoFramer, 1);

  framer->config = *config;
  if (framer->config.max_frame_size == 0)
    framer->config.max_frame_size = MPEG_VIDEO_DEFAULT_MAX_FRAME_SIZE;
  g_queue_init (&framer->output);
  mpeg_video_framer_reset (framer);
  return framer;
}

static void
queued_frame_free (gpointer data)
{
  MpegVideoFrame *frame = data;

  g_free (frame->data);
  mpeg_video_frame_clear (frame);
  g_free (frame);
}

void
mpeg_video_framer_free (MpegVideoFramer * framer)
{
  g_queue_clear_full (&framer->output, queued_frame_free);
  g_free (framer->units);
  g_free (framer->chunk);
  g_free (framer);
}

/* Discards the current frame and starts to search for the first start code of a
 * frame. */
static void
framer_clear_frame (MpegVideoFramer * framer)
{
  memset (&framer->frame, 0, sizeof (framer->frame));
  framer->frame.pts = framer->frame.dts = MPEG_VIDEO_TIME_NONE;
  framer->n_units = 0;
  framer->have_candidate = FALSE;
  framer->have_body = FALSE;
  framer->in_slices = FALSE;
  framer->ended = FALSE;
  framer->hunting = TRUE;
}

void
mpeg_video_framer_reset (MpegVideoFramer * framer)
{
  g_queue_clear_full (&framer->output, queued_frame_free);
  g_queue_init (&framer->output);
  g_clear_pointer (&framer->chunk, g_free);
  framer->chunk_size = framer->len = 0;
  framer->base = NULL;
  framer->have_sequence = FALSE;
  memset (&framer->sequence, 0, sizeof (framer->sequence));
  framer->pts = framer->dts = MPEG_VIDEO_TIME_NONE;
  framer_clear_frame (framer);
}

/* Makes space for `size` more bytes in `chunk`. */
static void
framer_reserve (MpegVideoFramer * framer, gsize size)
{
  gsize needed = framer->len + size;

  if (needed > framer->chunk_size) {
    framer->chunk_size = MAX (framer->chunk_size * 2, INITIAL_CHUNK_SIZE);
    framer->chunk_size = MAX (framer->chunk_size, needed);
    framer->chunk = g_realloc (framer->chunk, framer->chunk_size);
  }
  framer->base = framer->chunk;
}

/* Called while the framer searches for the first start code of a frame. Appends
 * `data` to the chunk, and then keeps only the last bytes of the chunk, which
 * may be the beginning of a start code. */
static void
framer_append_junk (MpegVideoFramer * framer, const guint8 * data, gsize size)
{
  gsize keep = MIN (size, MAX_STRADDLE);
  gsize old = MIN (framer->len, MAX_STRADDLE - keep);

  framer->stats.junk_bytes += framer->len - old + size - keep;
  if (size == 0)
    return;
  framer_reserve (framer, keep);
  memmove (framer->chunk, framer->chunk + framer->len - old, old);
  memcpy (framer->chunk + old, data + size - keep, keep);
  framer->len = old + keep;
}

static void
framer_give_up (MpegVideoFramer * framer, guint64 * reason)
{
  (*reason)++;
  framer->stats.junk_bytes += framer->len;
  framer->len = 0;
  framer_clear_frame (framer);
}

static void
framer_append (MpegVideoFramer * framer, const guint8 * data, gsize size)
{
  if (!framer->hunting && framer->len + size > framer->config.max_frame_size)
    framer_give_up (framer, &framer->stats.too_big);

  if (framer->hunting) {
    framer_append_junk (framer, data, size);
    return;
  }
  framer_reserve (framer, size);
  memcpy (framer->chunk + framer->len, data, size);
  framer->len += size;
}

/* Discards the bytes before the start code at `offset`. */
static void
framer_skip_to (MpegVideoFramer * framer, gsize offset)
{
  framer->stats.junk_bytes += offset;
  if (offset == 0)
    return;
  if (framer->borrowed) {
    framer->split = TRUE;
    return;
  }
  framer->len -= offset;
  memmove (framer->chunk, framer->chunk + offset, framer->len);
}

/* Returns FALSE if a slice of the picture is known to be missing, otherwise
 * TRUE. In MPEG-2, the slices of a picture cover all macroblock rows without a
 * gap, because all profiles require the restricted slice structure of 13818-2
 * 6.1.2.2. In MPEG-1 (11172-2), a slice may cover several rows, but only its
 * first row is known. In MPEG-1, missing slices after the first slice are
 * therefore not detected. */
static gboolean
picture_is_complete (const MpegVideoFramer * framer,
    const MpegVideoFramePicture * picture)
{
  const MpegVideoSequence *sequence = &framer->sequence;
  guint rows, row, last = 0, i;

  if (picture->first_slice == picture->end_unit)
    return FALSE;
  if (!framer->have_sequence)
    return TRUE;

  for (i = picture->first_slice; i < picture->end_unit; i++) {
    const MpegVideoUnit *unit = &framer->units[i];

    if (!MPEG_VIDEO_CODE_IS_SLICE (unit->code))
      continue;
    row = unit->code;
    if (sequence->height > MAX_HEIGHT_WITHOUT_EXTENSION
        && unit->offset + 4 < framer->len)
      row += (framer->base[unit->offset + 4] >> 5) << 7;
    if (last == 0 ? row != 1 : row < last)
      return FALSE;
    if (sequence->mpeg2 && row > last + 1)
      return FALSE;
    last = row;
  }
  rows = mpeg_video_macroblock_rows (sequence, picture->header.structure);
  return !sequence->mpeg2 || last == rows;
}

static gboolean
frame_is_complete (const MpegVideoFramer * framer, const MpegVideoFrame * frame)
{
  guint i;

  for (i = 0; i < frame->n_pictures; i++) {
    if (!picture_is_complete (framer, &frame->pictures[i]))
      return FALSE;
  }
  return frame->n_pictures == 2
      || frame->pictures[0].header.structure == MPEG_VIDEO_STRUCTURE_FRAME;
}

/* Called when it is known that the current frame consists of the first
 * `n_units` units and has `size` bytes. Sets the remaining fields of this
 * frame. */
static void
framer_finish_frame (MpegVideoFramer * framer, guint n_units, gsize size)
{
  MpegVideoFrame *frame = &framer->frame;
  guint i;

  for (i = 0; i < frame->n_pictures; i++) {
    MpegVideoFramePicture *picture = &frame->pictures[i];

    picture->end_unit = i + 1 < frame->n_pictures ?
        frame->pictures[i + 1].first_unit : n_units;
    if (picture->first_slice == 0)
      picture->first_slice = picture->end_unit;
  }
  frame->size = size;
  frame->sequence = framer->sequence;
  frame->has_sequence_end = framer->ended;
  if (!framer->have_sequence)
    frame->flags |= MPEG_VIDEO_FRAME_NO_SEQUENCE;
  framer->stats.frames++;
  if (!frame_is_complete (framer, frame)) {
    frame->flags |= MPEG_VIDEO_FRAME_INCOMPLETE;
    framer->stats.incomplete++;
  }
  frame->units = g_memdup2 (framer->units, n_units * sizeof (MpegVideoUnit));
  frame->n_units = n_units;
}

/* Removes the first `size` bytes from the chunk and returns a copy of these
 * bytes. The memory of the chunk is kept, so that it need not be allocated
 * again for the next frame. */
static guint8 *
framer_cut_chunk (MpegVideoFramer * framer, gsize size)
{
  guint8 *cut = g_memdup2 (framer->chunk, size);

  framer->len -= size;
  memmove (framer->chunk, framer->chunk + size, framer->len);
  return cut;
}

/* Outputs the first `size` bytes of the chunk as a frame. They contain
 * `n_units` units. A unit is a start code with the data after it. */
static void
framer_emit (MpegVideoFramer * framer, guint n_units, gsize size)
{
  if (framer->frame.n_pictures == 0) {
    /* The bytes contain slices or headers, but no valid picture header. They
     * cannot be decoded without it, so they are discarded. */
    framer->stats.bad_headers++;
    framer_skip_to (framer, size);
    framer_clear_frame (framer);
    return;
  }

  framer_finish_frame (framer, n_units, size);
  framer->frame.data = framer_cut_chunk (framer, size);
  g_queue_push_tail (&framer->output,
      g_memdup2 (&framer->frame, sizeof (framer->frame)));
  framer_clear_frame (framer);
}

/* Called if the candidate starts a new frame. The candidate is a picture header
 * that was received after the first field of a frame. This frame is now
 * complete, and the function outputs it. Then the function processes the
 * candidate and all start codes after the candidate a second time, now as the
 * beginning of the new frame. */
static void
framer_cut_at_candidate (MpegVideoFramer * framer)
{
  guint i, first = framer->candidate_unit;
  guint n = framer->n_units - first;
  gsize start = framer->units[first].offset;
  MpegVideoUnit *again;

  framer->have_candidate = FALSE;
  if (framer->borrowed) {
    framer->split = TRUE;
    return;
  }
  again = g_memdup2 (&framer->units[first], n * sizeof (MpegVideoUnit));
  framer->n_units = first;
  framer_emit (framer, first, start);
  for (i = 0; i < n; i++) {
    if (i == 0) {
      framer->pts = framer->candidate_pts;
      framer->dts = framer->candidate_dts;
    }
    framer_code (framer, again[i].offset - start, again[i].code);
  }
  g_free (again);
}

/* Returns whether the candidate belongs to the second field of the current
 * frame (13818-2 6.1.1.4.1). The candidate is a picture header that was
 * received after the first field. A second field has the opposite parity and
 * the same temporal reference as the first field. It has the same type as the
 * first field, or the type P if the first field has the type I. */
static gboolean
candidate_is_second_field (const MpegVideoFramer * framer)
{
  const MpegVideoPicture *first = &framer->frame.pictures[0].header;
  const MpegVideoPicture *second = &framer->candidate;

  return second->has_extension
      && (first->structure ^ second->structure) == MPEG_VIDEO_STRUCTURE_FRAME
      && first->temporal_reference == second->temporal_reference
      && (first->type == second->type
      || (first->type == MPEG_VIDEO_PICTURE_I
          && second->type == MPEG_VIDEO_PICTURE_P));
}

static void
framer_settle_candidate (MpegVideoFramer * framer)
{
  MpegVideoFramePicture *picture;

  if (!framer->have_candidate)
    return;
  if (!framer->candidate_parsed || !candidate_is_second_field (framer)) {
    framer_cut_at_candidate (framer);
    return;
  }
  picture = &framer->frame.pictures[framer->frame.n_pictures++];
  memset (picture, 0, sizeof (*picture));
  picture->header = framer->candidate;
  picture->first_unit = picture->picture_unit = framer->candidate_unit;
  framer->have_candidate = FALSE;
}

static void
framer_picture_header (MpegVideoFramer * framer, guint unit,
    const guint8 * data, gsize size)
{
  MpegVideoPicture header;
  MpegVideoFramePicture *picture;

  if (!mpeg_video_parse_picture (&header, data, size)) {
    framer->stats.bad_headers++;
    return;
  }
  if (framer->have_candidate) {
    framer->candidate = header;
    framer->candidate_parsed = TRUE;
    return;
  }
  if (framer->frame.n_pictures > 0)
    return;
  picture = &framer->frame.pictures[framer->frame.n_pictures++];
  memset (picture, 0, sizeof (*picture));
  picture->header = header;
  picture->picture_unit = unit;
}

static void
framer_extension (MpegVideoFramer * framer, const guint8 * data, gsize size)
{
  MpegVideoFrame *frame = &framer->frame;
  gboolean good = TRUE;

  switch (mpeg_video_parse_extension_id (data, size)) {
    case MPEG_VIDEO_EXTENSION_SEQUENCE:
      if (frame->has_sequence && !frame->has_gop && !framer->have_body
          && !framer->sequence.mpeg2)
        good = mpeg_video_parse_sequence_extension (&framer->sequence, data,
            size);
      break;
    case MPEG_VIDEO_EXTENSION_PICTURE_CODING:
      /* A picture has only one picture coding extension (13818-2 6.2.2.2), so a
       * second one is ignored. */
      if (framer->have_candidate)
        good = framer->candidate.has_extension
            || mpeg_video_parse_picture_extension (&framer->candidate, data,
            size);
      else if (frame->n_pictures == 1 && frame->pictures[0].first_slice == 0
          && !frame->pictures[0].header.has_extension)
        good = mpeg_video_parse_picture_extension (&frame->pictures[0].header,
            data, size);
      break;
    default:
      break;
  }
  if (!good)
    framer->stats.bad_headers++;
}

/* Called when it is known that the last unit ends at the offset `end`. A unit
 * is a start code with the data after it. If the unit is a header, parses it.
 */
static void
framer_end_unit (MpegVideoFramer * framer, gsize end)
{
  const MpegVideoUnit *unit;
  const guint8 *data;
  gsize size;

  if (framer->n_units == 0)
    return;
  unit = &framer->units[framer->n_units - 1];
  data = framer->base + unit->offset;
  size = end - unit->offset;

  switch (unit->code) {
    case MPEG_VIDEO_CODE_SEQUENCE:
      if (mpeg_video_parse_sequence (&framer->sequence, data, size)) {
        framer->have_sequence = TRUE;
        framer->frame.has_sequence = TRUE;
      } else {
        framer->stats.bad_headers++;
      }
      break;
    case MPEG_VIDEO_CODE_GOP:
      if (mpeg_video_parse_gop (&framer->frame.gop, data, size))
        framer->frame.has_gop = TRUE;
      else
        framer->stats.bad_headers++;
      break;
    case MPEG_VIDEO_CODE_PICTURE:
      framer_picture_header (framer, framer->n_units - 1, data, size);
      break;
    case MPEG_VIDEO_CODE_EXTENSION:
      framer_extension (framer, data, size);
      break;
    default:
      break;
  }
}

/* Returns whether a frame may begin with the start code `code`. */
static gboolean
framer_can_begin (const MpegVideoFramer * framer, guint code)
{
  if (code == MPEG_VIDEO_CODE_SEQUENCE)
    return TRUE;
  return (code == MPEG_VIDEO_CODE_GOP || code == MPEG_VIDEO_CODE_PICTURE)
      && (framer->have_sequence || !framer->config.need_sequence);
}

/* Returns whether the start code `code` ends the current frame. */
static gboolean
framer_closes_frame (MpegVideoFramer * framer, guint code)
{
  const MpegVideoFrame *frame = &framer->frame;

  /* If a header follows a sequence end code, the sequence end code ends the
   * frame. If another start code follows, the sequence end code is assumed to
   * be the result of damage inside a slice, and the picture continues.
   */
  if (framer->ended)
    return code == MPEG_VIDEO_CODE_SEQUENCE || code == MPEG_VIDEO_CODE_GOP
        || code == MPEG_VIDEO_CODE_PICTURE;
  if (!framer->have_body)
    return FALSE;
  if (code == MPEG_VIDEO_CODE_SEQUENCE || code == MPEG_VIDEO_CODE_GOP)
    return TRUE;
  if (code != MPEG_VIDEO_CODE_PICTURE)
    return FALSE;
  if (frame->n_pictures == 0)
    return TRUE;
  /* After the first field of a frame, a picture start code does not end the
   * frame yet, because it may start the second field of the same frame. */
  return frame->n_pictures == 2 || frame->pictures[0].first_slice == 0
      || frame->pictures[0].header.structure == MPEG_VIDEO_STRUCTURE_FRAME;
}

static void
framer_picture_code (MpegVideoFramer * framer)
{
  MpegVideoFrame *frame = &framer->frame;

  if (frame->n_pictures == 1) {
    framer->have_candidate = TRUE;
    framer->candidate_parsed = FALSE;
    framer->candidate.has_extension = FALSE;
    framer->candidate_unit = framer->n_units;
    framer->candidate_pts = framer->pts;
    framer->candidate_dts = framer->dts;
  } else if (frame->pts == MPEG_VIDEO_TIME_NONE
      && frame->dts == MPEG_VIDEO_TIME_NONE) {
    frame->pts = framer->pts;
    frame->dts = framer->dts;
  }
  framer->pts = framer->dts = MPEG_VIDEO_TIME_NONE;
}

static void
framer_slice_code (MpegVideoFramer * framer)
{
  MpegVideoFrame *frame = &framer->frame;
  MpegVideoFramePicture *picture;

  if (frame->n_pictures == 0)
    return;
  picture = &frame->pictures[frame->n_pictures - 1];
  if (picture->first_slice == 0)
    picture->first_slice = framer->n_units;
  frame->n_slices++;
  framer->in_slices = TRUE;
}

static inline void
framer_add_unit (MpegVideoFramer * framer, gsize offset, guint code)
{
  const MpegVideoUnit unit = { offset, code };

  if (framer->n_units == framer->units_size) {
    framer->units_size = MAX (framer->units_size * 2, INITIAL_UNITS);
    framer->units = g_renew (MpegVideoUnit, framer->units, framer->units_size);
  }
  framer->units[framer->n_units++] = unit;
}

/* Handles the most frequent case: a slice follows another slice. If the start
 * code at `offset` begins such a slice, processes the start code completely and
 * returns TRUE. Otherwise, returns FALSE and changes nothing. */
static inline gboolean
framer_next_slice (MpegVideoFramer * framer, gsize offset, guint code)
{
  if (!framer->in_slices || !MPEG_VIDEO_CODE_IS_SLICE (code))
    return FALSE;
  framer->frame.n_slices++;
  framer_add_unit (framer, offset, code);
  return TRUE;
}

/* Processes the start code at `offset`. A unit is a start code with the data
 * after it, so this start code ends the previous unit. */
static void
framer_code (MpegVideoFramer * framer, gsize offset, guint code)
{
  gsize cut;

  if (framer_next_slice (framer, offset, code))
    return;
  framer->in_slices = FALSE;
  framer_end_unit (framer, offset);
  if (framer->have_candidate && code != MPEG_VIDEO_CODE_EXTENSION
      && code != MPEG_VIDEO_CODE_USER_DATA) {
    cut = framer->len;
    framer_settle_candidate (framer);
    /* The chunk contains the received bytes, and `offset` is the position of
     * the present start code in the chunk. If framer_settle_candidate () has
     * output a frame, it has removed the bytes of this frame from the chunk,
     * and has moved the remaining bytes to the start of the chunk. The present
     * start code has moved as well, so `offset` is reduced by the number of
     * removed bytes.
     *
     * framer_settle_candidate () has also processed the start codes of the
     * remaining bytes again, which has made a new list of units. The last unit
     * of this list ends where the present start code begins. */
    if (cut > framer->len) {
      offset -= cut - framer->len;
      framer_end_unit (framer, offset);
    }
  }
  if (framer->split)
    return;

  if (!framer->hunting && framer_closes_frame (framer, code)) {
    if (framer->borrowed) {
      framer->split = TRUE;
      return;
    }
    framer_emit (framer, framer->n_units, offset);
    offset = 0;
  }

  if (code > MPEG_VIDEO_CODE_GOP)
    framer->stats.foreign_codes++;
  if (framer->hunting) {
    if (!framer_can_begin (framer, code)) {
      if (code == MPEG_VIDEO_CODE_PICTURE)
        framer->stats.before_sequence++;
      return;
    }
    framer_skip_to (framer, offset);
    framer->hunting = FALSE;
    offset = 0;
  }

  if (code <= MPEG_VIDEO_CODE_SLICE_MAX)
    framer->have_body = TRUE;
  if (code == MPEG_VIDEO_CODE_PICTURE)
    framer_picture_code (framer);
  else if (MPEG_VIDEO_CODE_IS_SLICE (code))
    framer_slice_code (framer);
  framer->ended = code == MPEG_VIDEO_CODE_SEQUENCE_END;
  framer_add_unit (framer, offset, code);
}

/* Finds a start code that begins in the bytes of the previous input and ends in
 * `data`. */
static void
framer_scan_straddle (MpegVideoFramer * framer, const guint8 * data, gsize size)
{
  guint8 window[2 * MAX_STRADDLE];
  gsize tail = MIN (framer->len, MAX_STRADDLE);
  gsize head = MIN (size, MAX_STRADDLE);
  const guint8 *code;

  if (tail == 0)
    return;
  memcpy (window, framer->base + framer->len - tail, tail);
  memcpy (window + tail, data, head);
  code = mpeg_video_find_start_code (window, window + tail + head);
  if (code && code < window + tail)
    framer_code (framer, framer->len - tail + (code - window), code[3]);
}

static void
framer_scan (MpegVideoFramer * framer, const guint8 * data, gsize size)
{
  const guint8 *end = data + size;
  const guint8 *code;

  for (code = mpeg_video_find_start_code (data, end); code;
      code = mpeg_video_find_start_code (code + NEXT_CODE, end)) {
    /* Consecutive slices are appended to the chunk in one step, because this is
     * faster than to append each slice separately. This step is made when a
     * start code of another kind follows, or at the end of the input. After a
     * start code of a slice that follows another slice, nothing is appended. */
    if (framer_next_slice (framer, framer->len + (code - data), code[3]))
      continue;
    framer_append (framer, data, code - data);
    framer_code (framer, framer->len, code[3]);
    data = code;
  }
  framer_append (framer, data, end - data);
}

void
mpeg_video_framer_input (MpegVideoFramer * framer, const guint8 * data,
    gsize size, guint64 pts, guint64 dts)
{
  /* A picture start code may begin in the previous input and end in this input.
   * Its picture gets the timestamps of the previous input. Such a start code is
   * therefore processed before the new timestamps are stored. */
  framer_scan_straddle (framer, data, size);
  framer->pts = pts;
  framer->dts = dts;
  framer_scan (framer, data, size);
}

void
mpeg_video_framer_input_more (MpegVideoFramer * framer, const guint8 * data,
    gsize size)
{
  framer_scan_straddle (framer, data, size);
  framer_scan (framer, data, size);
}

static gboolean
framer_index_borrowed (MpegVideoFramer * framer)
{
  const guint8 *end = framer->base + framer->len;
  const guint8 *code;

  code = mpeg_video_find_start_code (framer->base, end);
  if (code != framer->base)
    return FALSE;
  for (; code; code = mpeg_video_find_start_code (code + NEXT_CODE, end)) {
    if (framer_next_slice (framer, code - framer->base, code[3]))
      continue;
    framer_code (framer, code - framer->base, code[3]);
    if (framer->split || framer->hunting)
      return FALSE;
  }
  framer_end_unit (framer, framer->len);
  framer_settle_candidate (framer);
  return !framer->split && framer->frame.n_pictures > 0;
}

gboolean
mpeg_video_framer_input_frame (MpegVideoFramer * framer, const guint8 * data,
    gsize size, guint64 pts, guint64 dts, MpegVideoFrame * frame)
{
  MpegVideoFramerStats stats = framer->stats;
  MpegVideoSequence sequence = framer->sequence;
  gboolean have_sequence = framer->have_sequence;
  gboolean whole;

  if (framer->len > 0 || size > framer->config.max_frame_size)
    return FALSE;

  framer->pts = pts;
  framer->dts = dts;
  framer->base = data;
  framer->len = size;
  framer->borrowed = TRUE;
  framer->split = FALSE;
  whole = framer_index_borrowed (framer);
  if (whole) {
    framer_finish_frame (framer, framer->n_units, size);
    *frame = framer->frame;
    frame->data = (guint8 *) data;
  } else {
    framer->stats = stats;
    framer->sequence = sequence;
    framer->have_sequence = have_sequence;
  }
  framer->borrowed = FALSE;
  framer->split = FALSE;
  framer->base = framer->chunk;
  framer->len = 0;
  framer_clear_frame (framer);
  return whole;
}

void
mpeg_video_framer_drain (MpegVideoFramer * framer)
{
  gsize before = framer->len;

  if (framer->hunting)
    return;
  framer_end_unit (framer, framer->len);
  framer_settle_candidate (framer);
  if (before > framer->len)
    framer_end_unit (framer, framer->len);
  if (framer->frame.n_pictures > 0)
    framer_emit (framer, framer->n_units, framer->len);
}

void
mpeg_video_framer_discont (MpegVideoFramer * framer)
{
  if (framer->hunting) {
    framer->stats.junk_bytes += framer->len;
    framer->len = 0;
  } else {
    framer_give_up (framer, &framer->stats.truncated);
  }
  framer->pts = framer->dts = MPEG_VIDEO_TIME_NONE;
}

gboolean
mpeg_video_framer_poll_output (MpegVideoFramer * framer, MpegVideoFrame * frame)
{
  MpegVideoFrame *queued = g_queue_pop_head (&framer->output);

  if (!queued)
    return FALSE;
  *frame = *queued;
  g_free (queued);
  return TRUE;
}

void
mpeg_video_framer_get_stats (const MpegVideoFramer * framer,
    MpegVideoFramerStats * stats)
{
  *stats = framer->stats;
}

void
mpeg_video_frame_clear (MpegVideoFrame * frame)
{
  g_clear_pointer (&frame->units, g_free);
  frame->n_units = 0;
}

gsize
mpeg_video_frame_picture_end (const MpegVideoFrame * frame)
{
  return frame->has_sequence_end ? frame->units[frame->n_units - 1].offset :
      frame->size;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtpgop.h: determines which pictures of a stream refer to
 * which other pictures. */

#include "mmtpgop.h"

#include "mmtppacket.h"

/* Interval in ns between two key frames that is assumed at the beginning of a
 * stream. The interval is measured when the second key frame is put into the
 * queue. */
#define USUAL_INTERVAL (1000 * G_GUINT64_CONSTANT (1000000))
/* Upper limit in ns for the measured interval between two key frames. Without
 * this limit, the interval could be very long, because some encoders make key
 * frames only on request. */
#define MAX_INTERVAL (10 * USUAL_INTERVAL)
/* Minimum interval in ns between two key frames. If two buffers with key frames
 * follow each other within a shorter time, they are parts of one key frame, for
 * example its two fields. */
#define MIN_INTERVAL (USUAL_INTERVAL / 16)
/* Maximum number of key-frame intervals for which the sender waits for a key
 * frame after a reference picture was dropped. If no key frame arrives in this
 * time, the encoder probably makes no key frames on request. The sender then
 * sends pictures although their reference is missing. A decoder may be able to
 * show them, for example if the encoder uses intra refresh. */
#define MAX_INTERVALS 2
/* Number of frames between two key frames that is assumed at the beginning of a
 * stream. It is a usual length of a group of pictures in MPEG-2. */
#define USUAL_LENGTH 12
/* If a reference picture is dropped, all later pictures of its group become
 * useless. The sender computes how many pictures such a drop costs. It counts
 * only COUNTED_SHARE (half) of the later pictures, because some of them would
 * perhaps be dropped anyway. The value was tuned with the arena, a simulation
 * of network links (tests/benchmarks/mmtparena.c). */
#define COUNTED_SHARE 0.5
/* Number of pictures that count as lost if a reference picture of a layer above
 * the base layer is lost. The number is small, because only few pictures refer
 * to a picture of a higher layer. */
#define LAYER_WEIGHT 2

gboolean
mmtp_rank_is_reference (MmtpRank rank)
{
  return rank >= MMTP_RANK_LAYER && rank <= MMTP_RANK_KEY;
}

PictureKind
mmtp_picture_get_kind (const MmtpPicture * picture, guint8 flags)
{
  if (picture->kind == PICTURE_KIND_PART)
    return PICTURE_KIND_REFERENCE;
  if (picture->kind != PICTURE_KIND_UNKNOWN)
    return picture->kind;
  if (!(flags & MMTP_FLAG_DELTA))
    return PICTURE_KIND_KEY;
  return flags & MMTP_FLAG_DROPPABLE ? PICTURE_KIND_DROPPABLE :
      PICTURE_KIND_REFERENCE;
}

void
mmtp_gop_init (MmtpGop * gop)
{
  const MmtpGop none = { 1 };

  *gop = none;
  gop->key_frame = G_MAXUINT64;
}

static void
begin (MmtpGop * gop, guint64 frame, guint64 due)
{
  const gboolean is_first = gop->key_frame == G_MAXUINT64;
  const guint64 since = due - MIN (due, gop->key_due);
  const gboolean is_part = !is_first && since < MIN_INTERVAL;

  if (!is_first && !is_part) {
    gop->interval = MIN (since, MAX_INTERVAL);
    gop->length = frame - gop->key_frame;
  }
  gop->number++;
  gop->key_frame = frame;
  gop->key_due = due;
  gop->is_last_given_up = gop->is_given_up ||
      (is_part && gop->is_last_given_up);
  gop->is_given_up = gop->is_lost = gop->is_base_wrong = FALSE;
}

/* After the sender has dropped a reference picture, it drops later pictures and
 * waits for a key frame. Returns whether the sender must stop waiting. `due` is
 * the due time of the current picture. `given_up_due` is the due time of the
 * dropped picture. The wait ends in two cases:
 *
 * - `due` is later than `given_up_due`, and the difference is more than
 *   MAX_INTERVALS key-frame intervals. The sender has then waited too long.
 * - `due` is earlier than `given_up_due`, and the difference is more than one
 *   key-frame interval. The current picture then belongs to a new stream. In
 *   one stream, due times decrease only a little, namely at B-frames. */
static gboolean
is_overdue (const MmtpGop * gop, guint64 due)
{
  const guint64 interval = gop->interval ? gop->interval : USUAL_INTERVAL;

  return due + interval < gop->given_up_due ||
      due > gop->given_up_due + MAX_INTERVALS * interval;
}

void
mmtp_gop_put (MmtpGop * gop, PictureKind kind, guint64 frame, guint64 due)
{
  if (kind == PICTURE_KIND_KEY && frame != gop->key_frame) {
    begin (gop, frame, due);
  } else if (gop->is_given_up && is_overdue (gop, due)) {
    gop->is_given_up = FALSE;
    gop->is_lost = TRUE;
  } else if (gop->is_base_wrong && is_overdue (gop, due)) {
    gop->is_base_wrong = FALSE;
    gop->is_lost = TRUE;
    gop->wrong = 0;
  }
}

MmtpRank
mmtp_gop_get_rank (const MmtpGop * gop, PictureKind kind, guint8 flags)
{
  if (kind != PICTURE_KIND_KEY && gop->is_lost)
    return MMTP_RANK_BROKEN;
  if (flags & MMTP_FLAG_HEADER)
    return MMTP_RANK_KEY;
  if (kind == PICTURE_KIND_DROPPABLE || (flags & MMTP_FLAG_DROPPABLE))
    return MMTP_RANK_DROPPABLE;
  return kind == PICTURE_KIND_KEY ? MMTP_RANK_KEY : MMTP_RANK_DELTA;
}

gdouble
mmtp_gop_get_weight (const MmtpGop * gop, MmtpRank rank, guint64 frame)
{
  const gdouble length = gop->length ? gop->length : USUAL_LENGTH;
  const gdouble place = gop->key_frame == G_MAXUINT64 ? 0 :
      frame - gop->key_frame;

  if (rank == MMTP_RANK_LAYER)
    return LAYER_WEIGHT;
  if (rank != MMTP_RANK_DELTA && rank != MMTP_RANK_KEY)
    return 1;
  return 1 + COUNTED_SHARE * MAX (length - place, 0);
}

gboolean
mmtp_gop_needs_dropped (const MmtpGop * gop, const MmtpPicture * picture)
{
  /* The function returns whether the picture of the buffer refers to a dropped
   * picture. With PICTURE_KIND_PART, the buffer contains only a part of a
   * picture, such as parameter sets. The part may belong to the next key frame,
   * which refers to no other picture, so the function returns FALSE. */
  return !picture->is_independent && picture->kind != PICTURE_KIND_PART &&
      (gop->is_given_up || (picture->is_leading && gop->is_last_given_up) ||
      (picture->has_slots && (picture->uses & gop->wrong)));
}

void
mmtp_gop_note_sent (MmtpGop * gop, const MmtpPicture * picture)
{
  if (!picture->has_slots)
    return;
  gop->wrong &= ~picture->updates;
  if (picture->layer == 0 && picture->updates)
    gop->is_base_wrong = FALSE;
}

void
mmtp_gop_note_dropped (MmtpGop * gop, const MmtpPicture * picture, guint64 due)
{
  if (!picture->has_slots || picture->updates == 0)
    return;
  gop->wrong |= picture->updates;
  if (picture->layer > 0)
    return;
  if (!gop->is_base_wrong)
    gop->given_up_due = due;
  gop->is_base_wrong = TRUE;
}

void
mmtp_gop_give_up (MmtpGop * gop, guint64 group, guint64 due)
{
  if (group + 1 == gop->number)
    gop->is_last_given_up = TRUE;
  if (group != gop->number)
    return;
  if (!gop->is_given_up)
    gop->given_up_due = due;
  gop->is_given_up = TRUE;
}

void
mmtp_gop_lose (MmtpGop * gop, guint64 group)
{
  if (group == gop->number)
    gop->is_lost = TRUE;
}

void
mmtp_picture_set_info (MmtpPicture * picture, const PictureInfo * info)
{
  picture->kind = info->kind;
  picture->is_leading = info->is_leading;
  picture->layer = info->layer;
  picture->has_slots = info->has_slots;
  picture->uses = info->uses;
  picture->updates = info->updates;
}

gboolean
mmtp_picture_needs (const MmtpPicture * picture, guint64 group, guint64 missing)
{
  return !picture->is_independent && missing != 0 && (group == missing ||
      (picture->is_leading && group == missing + 1));
}

guint64
mmtp_picture_get_needing_group (const MmtpPicture * picture, guint64 group)
{
  return picture->is_leading ? group - 1 : group;
}

gboolean
mmtp_picture_follow_slots (const MmtpPicture * picture, guint32 * wrong)
{
  const gboolean is_broken = picture->has_slots && (picture->uses & *wrong);

  if (is_broken)
    *wrong |= picture->updates;
  else if (picture->has_slots)
    *wrong &= ~picture->updates;
  return is_broken;
}

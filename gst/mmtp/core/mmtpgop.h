/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Determines which pictures of a stream refer to which other pictures. A key
 * frame begins a group of pictures. Each later picture of the group refers to
 * the key frame and to all reference pictures in between. If a reference
 * picture is dropped, the rest of its group is therefore useless.
 *
 * The leading pictures of the next group are then useless as well. Leading
 * pictures follow a key frame in the stream, but they are shown before it. They
 * refer to this key frame and to pictures of the previous group, as in an open
 * GOP (ISO/IEC 13818-2, 6.1.1.7, and the leading pictures of ITU-T H.265,
 * 3.72).
 *
 * Times are in ns. */

#pragma once

#include "pictureinfo.h"

/* Properties of the picture that a buffer belongs to. If nothing is known about
 * the picture, all fields are 0. The flags of the buffer (MmtpFlags) then
 * describe the picture. */
typedef struct
{
  /* Kind of the picture. If the kind is unknown, the flags MMTP_FLAG_DELTA and
   * MMTP_FLAG_DROPPABLE of the buffer decide.
   *
   * PICTURE_KIND_PART means that the buffer holds only a part of a picture, and
   * that this part does not show the kind of the picture. Parameter sets are an
   * example. The other buffers of the frame hold the rest of the picture. Until
   * another buffer shows the kind, the picture counts as a reference picture.
   */
  PictureKind kind;
  /* TRUE if the picture is a leading picture: it follows a key frame in the
   * stream, but it also refers to pictures before this key frame. */
  gboolean is_leading;
  /* TRUE if the buffer can be used even if earlier buffers were dropped, for
   * example because it contains sound. */
  gboolean is_independent;
  guint layer;                  /* 0 is the base layer */
  /* TRUE if the fields `uses` and `updates` are valid. A slot is a place where
   * a decoder stores a reference picture. The two fields are bit masks of the
   * slots that the picture uses and updates. */
  gboolean has_slots;
  guint32 uses, updates;
  /* TRUE if the buffer is a piece of an MPEG transport stream. MmtpTsCutter
   * cuts the stream into pieces, so that whole pictures can be dropped. The
   * first piece of each picture has MMTP_FLAG_HEADER. */
  gboolean is_piece;
  /* TRUE if the buffer is a piece of an MPEG transport stream that contains no
   * video. It may contain sound, for example. Such a piece may be in the middle
   * of a picture. It is sent even if this picture is dropped, and it is sent
   * before all waiting pictures. No other buffer refers to it. */
  gboolean is_data;
} MmtpPicture;

/* Rank of a buffer: how important the buffer is. If buffers have to be dropped
 * to make room, those with the lowest rank are dropped first. Buffers with
 * MMTP_RANK_DATA are never dropped for this reason. */
typedef enum
{
  MMTP_RANK_BROKEN,             /* refers to a lost picture */
  MMTP_RANK_DROPPABLE,
  /* a reference picture of a layer above the base layer, in a stream with
   * several layers */
  MMTP_RANK_LAYER,
  MMTP_RANK_DELTA,
  MMTP_RANK_KEY,
  /* data of an MPEG transport stream that are not video, for example sound */
  MMTP_RANK_DATA,
  MMTP_N_RANKS
} MmtpRank;

/* Returns whether a picture of this rank is a reference picture, which means
 * that other pictures may refer to it. */
gboolean mmtp_rank_is_reference (MmtpRank rank);
/* Returns the kind of the picture that a buffer belongs to. If `picture` does
 * not contain the kind, it is determined from `flags`, the MmtpFlags of the
 * buffer. */
PictureKind mmtp_picture_get_kind (const MmtpPicture * picture, guint8 flags);

/* State of the current group of pictures. A group begins with a key frame. The
 * groups of a stream are numbered, and 0 is never used as a number. */
typedef struct
{
  guint64 number;
  /* number of the key frame that began the group */
  guint64 key_frame;
  /* due time in ns of the key frame that began the group */
  guint64 key_due;
  /* Time in ns between the last two key frames; 0 if unknown. */
  guint64 interval;
  /* Number of frames between the last two key frames; 0 if unknown. */
  guint64 length;
  /* TRUE if a reference picture of the group is missing at the receiver, but
   * the sender still sends later pictures of the group. There are two cases:
   * - The picture was lost.
   * - The sender dropped the picture, waited for a key frame, and has stopped
   *   waiting. */
  gboolean is_lost;
  /* TRUE if the sender dropped a reference picture of the group. It then drops
   * all later pictures of the group. */
  gboolean is_given_up;
  /* TRUE if the sender dropped a reference picture of the previous group.
   * Leading pictures of the current group may need this picture. */
  gboolean is_last_given_up;
  /* due time in ns of the first reference picture that the sender dropped in
   * this group */
  guint64 given_up_due;
  /* Bit mask of the slots whose content is wrong at the receiver, because a
   * picture that updates the slot was dropped. A slot is a place where a
   * decoder stores a reference picture. */
  guint32 wrong;
  /* TRUE if the sender has dropped a picture of the base layer that updates a
   * slot. A slot is a place where a decoder stores a reference picture. While
   * this field is TRUE, given_up_due is the due time of the first such picture.
   * The field becomes FALSE in three cases:
   * - Another picture of the base layer that updates a slot is sent.
   * - A key frame is put into the queue.
   * - The sender has waited too long for a key frame.
   * The field is used only for streams in which each picture says which slots
   * it uses and updates. */
  gboolean is_base_wrong;
} MmtpGop;

void mmtp_gop_init (MmtpGop * gop);
/* Call this function for each buffer that is put into the queue. A key frame
 * begins a new group. `kind` is the kind of the picture in the buffer, and
 * `due` is the due time of the buffer. `frame` is the number of its frame; all
 * buffers of a frame have the same number. */
void mmtp_gop_put (MmtpGop * gop, PictureKind kind, guint64 frame, guint64 due);
/* Returns the rank of the latest buffer that was passed to mmtp_gop_put().
 * Buffers with the lowest rank are dropped first. `kind` is the kind of the
 * picture in the buffer, and `flags` are the flags of the buffer. */
MmtpRank mmtp_gop_get_rank (const MmtpGop * gop, PictureKind kind,
    guint8 flags);
/* Returns how many pictures are expected to be lost if the latest buffer that
 * was passed to mmtp_gop_put() is not sent. The number includes the picture of
 * this buffer and pictures that refer to it. `rank` is the rank of the buffer:
 * buffers with the lowest rank are dropped first. `frame` is the frame number
 * of the buffer. */
gdouble mmtp_gop_get_weight (const MmtpGop * gop, MmtpRank rank, guint64 frame);
/* Returns whether the latest buffer that was passed to mmtp_gop_put() refers to
 * a dropped picture. If it does, it need not be sent, because no decoder could
 * use it. `picture` describes the picture of this buffer. */
gboolean mmtp_gop_needs_dropped (const MmtpGop * gop,
    const MmtpPicture * picture);
/* mmtp_gop_note_sent() records that a buffer was sent, and
 * mmtp_gop_note_dropped() records that a buffer was dropped. Call one of these
 * two functions for each buffer, after mmtp_gop_put(). `picture` describes the
 * picture of the buffer, and `due` is its due time. A slot is a place where a
 * decoder stores a reference picture. If the picture says which slots it
 * updates, the functions record whether the receiver has the correct picture in
 * these slots. */
void mmtp_gop_note_sent (MmtpGop * gop, const MmtpPicture * picture);
void mmtp_gop_note_dropped (MmtpGop * gop, const MmtpPicture * picture,
    guint64 due);
/* mmtp_gop_give_up() records that the sender dropped a reference picture of
 * `group`. `due` is the due time of this picture. Pictures that refer to it are
 * then not sent.
 *
 * mmtp_gop_lose() records that a reference picture of `group` was lost. Later
 * pictures of the group are then still sent, but with the lowest rank. */
void mmtp_gop_give_up (MmtpGop * gop, guint64 group, guint64 due);
void mmtp_gop_lose (MmtpGop * gop, guint64 group);

/* Copies the fields of `info` into the fields of `picture` that have the same
 * names. A parser of the video stream has filled in `info`. The other fields of
 * `picture` stay as they are. */
void mmtp_picture_set_info (MmtpPicture * picture, const PictureInfo * info);
/* Returns whether `picture` is useless because an earlier picture of the stream
 * is missing. `group` is the number of the group of pictures that contains
 * `picture`.
 *
 * A missing reference picture makes the rest of one group useless. `missing` is
 * the number of this group. The caller has got this number by calling
 * mmtp_picture_get_needing_group() for the missing picture. If no picture is
 * missing, `missing` is 0. */
gboolean mmtp_picture_needs (const MmtpPicture * picture, guint64 group,
    guint64 missing);
/* Returns the number of the group of pictures whose rest becomes useless if
 * `picture` is missing. `group` is the number of the group that contains
 * `picture`, and usually the function returns `group`.
 *
 * Leading pictures are an exception. They also refer to the previous group, and
 * only other leading pictures refer to them. They therefore count as part of
 * the previous group, and the function returns the number of that group. */
guint64 mmtp_picture_get_needing_group (const MmtpPicture * picture,
    guint64 group);
/* Determines whether a missing picture damages `picture`, and updates `wrong`.
 * A slot is a place where a decoder stores a reference picture. `wrong` is a
 * bit mask of the slots whose content is wrong because a picture is missing.
 * Call this function for each picture that follows the missing picture.
 *
 * If `picture` uses a slot in `wrong`, it cannot be decoded correctly. In this
 * case, the slots that it updates are added to `wrong`, and the function
 * returns TRUE. Otherwise, the slots that it updates are removed from `wrong`,
 * and the function returns FALSE. If the picture does not name its slots,
 * `wrong` does not change, and the function returns FALSE. */
gboolean mmtp_picture_follow_slots (const MmtpPicture * picture,
    guint32 * wrong);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Determines which pictures of a stream refer to which other pictures. A key
 * frame begins a group of pictures. Each later picture of the group refers to
 * the key frame and to all reference pictures in between. If a reference
 * picture is dropped, the rest of its group is therefore useless.
 *
 * The leading pictures of the next group are useless as well. They follow the
 * key frame of the next group in the stream, but they are shown before it. They
 * refer to pictures of both groups, as in an open GOP (ISO/IEC 13818-2,
 * 6.1.1.7, and the leading pictures of ITU-T H.265, 3.72).
 *
 * Times are in ns.
 */

#pragma once

#include "pictureinfo.h"

/* Properties of the picture that a buffer belongs to. If all fields are 0, they
 * are unknown, and the flags of the buffer describe the picture. */
typedef struct
{
  /* Kind of the picture. If the kind is unknown, MMTP_FLAG_DELTA and
   * MMTP_FLAG_DROPPABLE of the buffer decide.
   *
   * PICTURE_KIND_PART means that the buffer holds only a part of a picture, for
   * example parameter sets. The other buffers of the frame hold the rest of the
   * picture. Until another buffer shows the kind of the picture, the part
   * counts as a reference picture. */
  PictureKind kind;
  /* TRUE if the picture is a leading picture, which also refers to the previous
   * group of pictures */
  gboolean is_leading;
  /* TRUE if the buffer can be used even if earlier pictures were dropped, for
   * example because it contains sound.
   */
  gboolean is_independent;
  guint layer;                  /* 0 is the base layer */
  /* TRUE if the picture names the slots (stored reference pictures) that it
   * needs, see PictureInfo */
  gboolean has_slots;
  guint32 uses, updates;
  /* TRUE if the buffer contains a part of a transport stream. MmtpTsCutter
   * cuts the transport stream into such parts, so that whole pictures can be
   * dropped. The first part of each picture has MMTP_FLAG_HEADER. */
  gboolean is_piece;
  /* TRUE if the buffer is a piece of a transport stream that contains no video,
   * for example sound. It is sent even if the picture around it is dropped, and
   * it is sent before all waiting pictures. No other buffer refers to it. */
  gboolean is_data;
} MmtpPicture;

/* Ranks of the buffers. Buffers of the first rank are dropped first, and those
 * of MMTP_RANK_DATA are never dropped to make room. */
typedef enum
{
  MMTP_RANK_BROKEN,             /* refers to a lost picture */
  MMTP_RANK_DROPPABLE,
  /* a reference picture of a layer above the base layer */
  MMTP_RANK_LAYER,
  MMTP_RANK_DELTA,
  MMTP_RANK_KEY,
  MMTP_RANK_DATA,               /* transport stream data other than video */
  MMTP_N_RANKS
} MmtpRank;

/* Returns whether a picture of this rank is a reference picture, to which other
 * pictures may refer. */
gboolean mmtp_rank_is_reference (MmtpRank rank);
/* Returns the kind of the picture that a buffer with these `flags` belongs to.
 * The flags are defined in mmtppacket.h. */
PictureKind mmtp_picture_get_kind (const MmtpPicture * picture, guint8 flags);

/* State of the current group of pictures, which begins with a key frame. Groups
 * are numbered, and a number is never 0. */
typedef struct
{
  guint64 number;
  guint64 key_frame;            /* number of the frame that began the group */
  /* due time in ns of the key frame that began the group */
  guint64 key_due;
  /* Time in ns between the last two key frames; 0 if unknown. */
  guint64 interval;
  /* Number of frames between the last two key frames; 0 if unknown. */
  guint64 length;
  /* TRUE if a reference picture of the group is missing at the receiver, and
   * the sender sends later pictures nevertheless. This is the case if the
   * picture was lost, or if the sender dropped it and has stopped waiting for a
   * key frame. */
  gboolean is_lost;
  /* TRUE if the sender dropped a reference picture of the group */
  gboolean is_given_up;
  /* TRUE if the sender dropped a reference picture of the previous group */
  gboolean is_last_given_up;
  /* due time in ns of the first reference picture that the sender dropped in
   * this group */
  guint64 given_up_due;
  /* One bit per slot. A slot is a stored reference picture. The bit is set if
   * the slot is wrong at a receiver, because a picture that updates the slot
   * was dropped. */
  guint32 wrong;
  /* Used only for pictures with slots (stored reference pictures). The field
   * becomes TRUE when a picture of the base layer is dropped. given_up_due is
   * then the due time of the first dropped picture. The field becomes FALSE in
   * three cases: another picture of the base layer is sent, a key frame is put
   * into the queue, or the sender stops waiting for a key frame. */
  gboolean is_base_wrong;
} MmtpGop;

void mmtp_gop_init (MmtpGop * gop);
/* Call this function for each buffer that is put into the queue. A key frame
 * begins a new group. `frame` is the number of the frame; all buffers of a
 * frame have the same number. */
void mmtp_gop_put (MmtpGop * gop, PictureKind kind, guint64 frame, guint64 due);
/* Returns the rank of the latest buffer that was passed to mmtp_gop_put(). The
 * rank decides which buffers are dropped first. `kind` is the kind of the
 * buffer's picture, and `flags` are the flags of the buffer. */
MmtpRank mmtp_gop_get_rank (const MmtpGop * gop, PictureKind kind,
    guint8 flags);
/* Returns how many pictures are expected to be lost if the latest buffer that
 * was passed to mmtp_gop_put() is not sent: the picture to which the buffer
 * belongs, and pictures that refer to this picture. `rank` and `frame` are the
 * rank and the frame number of the buffer. */
gdouble mmtp_gop_get_weight (const MmtpGop * gop, MmtpRank rank, guint64 frame);
/* Returns whether the latest buffer that was passed to mmtp_gop_put() refers to
 * a dropped picture. `picture` describes the picture of this buffer. No decoder
 * could use a buffer that refers to a dropped picture. */
gboolean mmtp_gop_needs_dropped (const MmtpGop * gop,
    const MmtpPicture * picture);
/* Call one of these two functions for the latest buffer that was passed to
 * mmtp_gop_put(): mmtp_gop_note_sent() if the buffer is sent, and
 * mmtp_gop_note_dropped() if it is dropped. If the picture of the buffer has
 * slots (stored reference pictures), the functions note whether these slots are
 * correct at the receiver. */
void mmtp_gop_note_sent (MmtpGop * gop, const MmtpPicture * picture);
void mmtp_gop_note_dropped (MmtpGop * gop, const MmtpPicture * picture,
    guint64 due);
/* Both functions record that a reference picture of `group` is missing at the
 * receiver. mmtp_gop_give_up() is for a picture that the sender dropped; `due`
 * is its due time. No picture that refers to it is then sent. mmtp_gop_lose()
 * is for a lost picture. Later pictures of the group are then still sent, but
 * with the lowest rank. */
void mmtp_gop_give_up (MmtpGop * gop, guint64 group, guint64 due);
void mmtp_gop_lose (MmtpGop * gop, guint64 group);

/* Sets the fields of `picture` that `info` contains. A parser of the video
 * stream has filled in `info`. The other fields of `picture` stay as they are.
 */
void mmtp_picture_set_info (MmtpPicture * picture, const PictureInfo * info);
/* Returns whether `picture`, which belongs to the group of pictures `group`,
 * needs a certain missing reference picture. `missing` is the group of the
 * missing picture, which precedes `picture` in the stream. If `missing` is 0,
 * no picture is missing. */
gboolean mmtp_picture_needs (const MmtpPicture * picture, guint64 group,
    guint64 missing);
/* If `picture` is missing, the rest of a group of pictures becomes useless.
 * Returns the number of this group. Usually it is `group`, the group of
 * `picture`.
 *
 * Leading pictures are an exception. Only other leading pictures refer to a
 * leading picture, and all leading pictures also refer to the previous group.
 * Leading pictures therefore count as part of the previous group, and its
 * number is returned. */
guint64 mmtp_picture_get_needing_group (const MmtpPicture * picture,
    guint64 group);
/* A slot is a stored reference picture. `wrong` is the set of slots whose
 * content is wrong because a picture is missing. If `picture` refers to one of
 * these slots, `picture` is wrong, and the function returns TRUE. The slots
 * that a wrong picture updates are added to `wrong`. The slots that a correct
 * picture updates are removed from `wrong`. If the picture does not name its
 * slots, the function returns FALSE, and `wrong` stays as it is. */
gboolean mmtp_picture_follow_slots (const MmtpPicture * picture,
    guint32 * wrong);

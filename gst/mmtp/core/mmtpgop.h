/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which pictures of a stream need which others. A key frame begins a group of
 * pictures, and what follows refers to it and to all references behind it. So
 * when a reference is given up, the rest of its group is of no use, nor are the
 * leading pictures of the next group: those that follow its key frame in the
 * stream, are shown before it and refer to both groups, as in an open GOP
 * (ISO/IEC 13818-2, 6.1.1.7, and the leading pictures of ITU-T H.265, 3.72).
 *
 * Times are ns.
 */

#pragma once

#include "pictureinfo.h"

/* What is known of the picture that a buffer belongs to; zeros: what the flags
 * say */
typedef struct
{
  PictureKind kind;             /* unknown: as MMTP_FLAG_DELTA and _DROPPABLE
                                 * say. A part belongs to the same picture as
                                 * the rest of its frame, and counts as a
                                 * reference until that is known. */
  gboolean is_leading;          /* it also needs the group before */
  gboolean is_independent;      /* it may be of use without what was given up
                                 * before it, as in a stream that also carries
                                 * sound */
} MmtpPicture;

/* What is given up first comes first. */
typedef enum
{
  MMTP_RANK_BROKEN,             /* refers to a picture that was lost */
  MMTP_RANK_DROPPABLE,
  MMTP_RANK_DELTA,
  MMTP_RANK_KEY,
  MMTP_N_RANKS
} MmtpRank;

/* The picture's kind by a buffer's flags, those of mmtppacket.h */
PictureKind mmtp_picture_get_kind (const MmtpPicture * picture, guint8 flags);

/* The group that is being put, whose number is never 0 */
typedef struct
{
  guint64 number;
  guint64 key_frame;            /* frame that began it */
  guint64 key_due;              /* when that one was due */
  guint64 interval;             /* between the last two key frames; 0:
                                 * unknown */
  gboolean is_lost;             /* a reference of it was lost */
  gboolean is_given_up;         /* a reference of it was given up */
  gboolean is_last_given_up;    /* a reference of the group before was */
  guint64 given_up_due;         /* when the first of it that was given up was
                                 * due */
} MmtpGop;

void mmtp_gop_init (MmtpGop * gop);
/* A buffer of a frame is put: it may begin a group. `frame`: number of the
 * frame, which its buffers share */
void mmtp_gop_put (MmtpGop * gop, PictureKind kind, guint64 frame, guint64 due);
/* The rank of a buffer that was just put */
MmtpRank mmtp_gop_get_rank (const MmtpGop * gop, PictureKind kind,
    guint8 flags);
/* Whether the buffer that was just put needs what was given up */
gboolean mmtp_gop_is_vain (const MmtpGop * gop, const MmtpPicture * picture);
/* A reference of that group was given up, or was lost. */
void mmtp_gop_give_up (MmtpGop * gop, guint64 group, guint64 due);
void mmtp_gop_lose (MmtpGop * gop, guint64 group);

/* Whether a picture of `group` that follows it in the stream needs a reference
 * of `missing` */
gboolean mmtp_picture_needs (const MmtpPicture * picture, guint64 group,
    guint64 missing);

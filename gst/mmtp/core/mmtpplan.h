/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Chooses which waiting frames are sent if the paths cannot deliver all of them
 * in time. The result is called a plan.
 *
 * A plan sends the frames in the order of the stream. When a frame would be
 * late, the plan leaves out either this frame or an earlier one. All waiting
 * frames that refer to the omitted frame are left out, too. The plan prefers to
 * leave out a frame that saves many bytes per lost picture.
 *
 * This is a greedy form of rate-distortion optimized streaming (Chou and Miao,
 * IEEE Transactions on Multimedia 8(2), 2006). The distortion is the number of
 * lost pictures.
 *
 * A frame that is left out is not dropped. It stays in the send queue, and a
 * later plan may send it, for example because the paths have become faster.
 */

#pragma once

#include "mmtpsendpacket.h"

/* Maximum number of frames in a plan. A stream of 60 frames per second has
 * about this number of frames in half a second. If more frames wait, the later
 * ones are left to the next plan. */
#define MMTP_PLAN_FRAMES 32

/* A frame in a plan. At least one packet of the frame waits to be sent. Packets
 * of the frame that were sent already are not considered. */
typedef struct
{
  guint64 frame;                /* number of the frame */
  /* Stream number (sequence number in the stream) of the frame's first waiting
   * packet. Packets that were sent already do not count. */
  guint64 first;
  /* `deadline` is the time in ns by which the frame has to arrive. `margin` is
   * a safety margin in ns: if possible, the frame should arrive this long
   * before `deadline`. */
  guint64 deadline, margin;
  /* number of bytes that have to be sent for this frame: the bytes of its
   * waiting packets, including all headers */
  guint64 work;
  /* A frame has to be complete at a certain time, here called the limit.
   * `capacity` is the number of bytes that all paths together can deliver from
   * now until the limit. `safe_capacity` is the number of bytes that all paths
   * together can deliver until `margin` ns before the limit. `margin` is the
   * safety margin.
   *
   * Usually, the limit is the deadline of the frame. The limit is earlier if
   * the frame has a weight above 1, packets were lost recently, and
   * `is_retransmission` is FALSE. If packets of the frame are lost, they can
   * then be sent again before the deadline. */
  guint64 capacity, safe_capacity;
  MmtpRank rank;
  MmtpPicture picture;
  /* number of the group of pictures to which the frame belongs; a group begins
   * with a key frame */
  guint64 group;
  /* Expected number of pictures that are lost if this frame is not sent: its
   * own picture and the pictures that refer to it. */
  gdouble weight;
  /* TRUE if the first waiting packet of this frame has been sent before. The
   * packet waits again because it was lost or is in flight on a stalled path.
   */
  gboolean is_retransmission;
  /* TRUE if the frame is to be sent, FALSE if the plan leaves it out */
  gboolean is_kept;
} MmtpPlanFrame;

typedef struct
{
  /* the frames of the plan, in the order of the stream */
  MmtpPlanFrame frames[MMTP_PLAN_FRAMES];
  guint n;                      /* number of frames */
} MmtpPlan;

/* Decides for each frame in `plan` whether the frame is sent, and stores the
 * decision in the field `is_kept` of the frame. The caller must fill in all
 * other fields of the frames before the call. */
void mmtp_plan_make (MmtpPlan * plan);
/* Returns whether the frame `i` refers to the earlier frame `reference`, either
 * directly or through other frames. Both arguments are indices in plan->frames.
 */
gboolean mmtp_plan_needs (const MmtpPlan * plan, guint i, guint reference);

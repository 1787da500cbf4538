/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Chooses which waiting frames are sent if the paths cannot deliver all of them
 * in time.
 *
 * The plan sends frames in their order in the stream. If a frame would be late,
 * the plan chooses this frame or an earlier frame. It leaves out the chosen
 * frame and all waiting frames that refer to the chosen frame. The plan chooses
 * the frame that frees the most bytes for each picture that is lost with it.
 * This is a greedy form of rate-distortion optimized streaming (Chou and Miao,
 * IEEE Transactions on Multimedia 8(2), 2006), with the number of lost pictures
 * as the distortion.
 *
 * Leaving out a frame drops nothing. The frame waits, and a later plan may send
 * it, for example because the paths have become faster.
 */

#pragma once

#include "mmtpsendpacket.h"

/* Maximum number of frames in a plan. A stream of 60 frames per second has
 * about this number of frames in half a second. Later frames are left to the
 * next plan. */
#define MMTP_PLAN_FRAMES 32

/* A frame with at least one packet that waits to be sent. The plan ignores all
 * other packets of the frame. */
typedef struct
{
  guint64 frame;                /* number of the frame */
  /* stream number of the first waiting packet of the frame */
  guint64 first;
  /* Time in ns by which the frame has to arrive. If possible, it arrives
   * `margin` ns before this time. */
  guint64 deadline, margin;
  /* number of bytes of the waiting packets of the frame, including all headers
   */
  guint64 work;
  /* `capacity` is the number of bytes that the paths can deliver before
   * `deadline`. `safe_capacity` is the number of bytes that they can deliver
   * before `deadline` minus `margin`. */
  guint64 capacity, safe_capacity;
  MmtpRank rank;
  MmtpPicture picture;
  /* number of the group of pictures to which the frame belongs */
  guint64 group;
  /* Expected number of pictures that are lost if this frame is not sent: its
   * own picture and the pictures that refer to it. */
  gdouble weight;
  /* TRUE if the frame is to be sent, FALSE if the plan leaves it out */
  gboolean is_kept;
} MmtpPlanFrame;

typedef struct
{
  /* the frames, in their order in the stream */
  MmtpPlanFrame frames[MMTP_PLAN_FRAMES];
  guint n;                      /* number of frames */
} MmtpPlan;

/* Makes the plan: decides for each of its frames whether the frame is sent, and
 * sets `is_kept`. The caller has filled in all other fields. */
void mmtp_plan_make (MmtpPlan * plan);
/* Returns whether the frame with the index `i` refers to the earlier frame with
 * the index `reference`, directly or through other frames. */
gboolean mmtp_plan_needs (const MmtpPlan * plan, guint i, guint reference);

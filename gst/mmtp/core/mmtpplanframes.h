/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fills a plan (mmtpplan.h) with the frames that have waiting packets. */

#pragma once

#include "mmtpplan.h"
#include "mmtpsendwindow.h"
#include "mmtpwaiting.h"

/* the state of the send queue */
typedef struct
{
  const MmtpSendWindow *window;
  const MmtpWaiting *waiting;
  guint64 delay;                /* initial delay (D0), in ns */
  /* A packet that arrives at most this much after its deadline is still useful;
   * in ns. */
  guint64 max_lateness;
  /* number of the frame of which a packet was last sent for the first time;
   * G_MAXUINT64 if there is none */
  guint64 sent_frame;
} MmtpPlanSource;

/* Fills `plan` with frames. Independent frames whose deadlines are before
 * `earliest` are skipped, unless a part of them was sent. If only such frames
 * wait, none is skipped. */
void mmtp_plan_fill (MmtpPlan * plan, const MmtpPlanSource * source,
    guint64 earliest);
/* Returns the first waiting packet of `frame`, which then begins with this
 * packet; NULL if there is none. */
MmtpPacket *mmtp_plan_frame_find_packet (MmtpPlanFrame * frame,
    const MmtpSendWindow * window);

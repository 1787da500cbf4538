/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtpplanframes.h: fills a plan with the waiting frames. */

#include "mmtpplanframes.h"

/* A plan chooses which of the waiting frames are sent if the paths are too slow
 * for all of them. If one packet of a frame is late, the frame is useless, and
 * so are all frames that refer to it. Because the delays of the paths are only
 * estimates, a plan tries to deliver each frame some time before its deadline.
 * This margin is a part of the initial delay (D0, the latency of the session).
 * It is D0 divided by REFERENCE_MARGIN for reference pictures, and D0 divided
 * by DROPPABLE_MARGIN for other pictures. Both divisors were tuned with
 * simulated links (tests/benchmarks/mmtparena.c). */
#define REFERENCE_MARGIN 12
#define DROPPABLE_MARGIN 24
/* A plan skips independent frames whose deadlines are too early. It looks at
 * MAX_SKIPPED of them at most. After that, it goes on with the first frame
 * whose deadline is late enough. This bounds the work that a long queue causes.
 */
#define MAX_SKIPPED 256

/* Returns the lowest stream number of all packets that wait. */
static guint64
get_first_number (const MmtpPlanSource * source)
{
  guint64 number = source->window->next;
  guint i;

  for (i = 0; i < MMTP_N_RANKS; i++) {
    const MmtpPacket *first = mmtp_waiting_get_first (source->waiting, i);

    if (first)
      number = MIN (number, first->number);
  }
  return number;
}

static void
begin_plan_frame (const MmtpPlanSource * source, MmtpPlanFrame * frame,
    const MmtpPacket * packet)
{
  frame->frame = packet->unit->frame;
  frame->first = packet->number;
  frame->deadline = packet->due + source->delay + source->max_lateness;
  frame->margin = source->delay / (mmtp_rank_is_reference (packet->unit->rank) ?
      REFERENCE_MARGIN : DROPPABLE_MARGIN);
  frame->work = 0;
  frame->rank = packet->unit->rank;
  frame->picture = packet->unit->picture;
  frame->group = packet->unit->group;
  frame->weight = packet->unit->weight;
  frame->is_retransmission = packet->was_sent;
}

/* Adds the properties of a unit (a buffer) to the frame to which it belongs. If
 * the units of a frame have different ranks, the frame has the highest of these
 * ranks. */
static void
add_unit (MmtpPlanFrame * frame, const MmtpUnit * unit)
{
  frame->rank = MAX (frame->rank, unit->rank);
  frame->weight = MAX (frame->weight, unit->weight);
  frame->picture.uses |= unit->picture.uses;
  frame->picture.updates |= unit->picture.updates;
}

/* Returns whether a frame waits that refers to another frame. */
static gboolean
has_waiting_references (const MmtpPlanSource * source)
{
  MmtpRank rank;

  for (rank = MMTP_RANK_BROKEN; rank < MMTP_RANK_KEY; rank++)
    if (mmtp_waiting_get_first (source->waiting, rank))
      return TRUE;
  return FALSE;
}

/* Returns whether a part of the frame of `packet` was sent already. The window
 * may have forgotten this part, so the frame that was sent last always counts
 * as begun. */
static gboolean
is_begun (const MmtpPlanSource * source, const MmtpPacket * packet)
{
  const guint64 frame = packet->unit->frame;
  guint64 number;

  if (frame == source->sent_frame)
    return TRUE;
  number = mmtp_send_window_get_frame_start (source->window, packet->unit);
  while (number < source->window->next) {
    const MmtpUnit *part = mmtp_send_window_get (source->window, number)->unit;

    if (part->frame != frame)
      break;
    if (part->n_sent > 0 && !part->picture.is_data)
      return TRUE;
    number = part->first + part->n_packets;
  }
  return FALSE;
}

/* Returns the stream number of the first key frame with a deadline of at least
 * `earliest`. If there is none, returns the number that the next new packet
 * will get. */
static guint64
get_number_of_deadline (const MmtpPlanSource * source, guint64 earliest)
{
  const MmtpPacket *packet =
      mmtp_waiting_find (source->waiting, MMTP_RANK_KEY, earliest,
      source->delay);

  return packet ? packet->number : source->window->next;
}

/* Adds the frames that have waiting packets to `plan`. Skips a frame if its
 * deadline is before `earliest` and no part of it was sent. */
static void
add_waiting_frames (const MmtpPlanSource * source, MmtpPlan * plan,
    guint64 earliest)
{
  guint64 number = get_first_number (source), skipped = G_MAXUINT64;
  MmtpPlanFrame *frame = NULL;
  guint n_skipped = 0;

  plan->n = 0;
  for (; number < source->window->next; number++) {
    const MmtpPacket *packet = mmtp_send_window_get (source->window, number);
    const MmtpUnit *unit = packet->unit;

    if (packet->state != MMTP_PACKET_WAITING || unit->picture.is_data ||
        unit->rank == MMTP_RANK_BROKEN || unit->frame == skipped)
      continue;
    if (!frame || frame->frame != unit->frame) {
      if (packet->due + source->delay < earliest && !is_begun (source, packet)) {
        skipped = unit->frame;
        if (++n_skipped == MAX_SKIPPED)
          number = MAX (number, get_number_of_deadline (source, earliest) - 1);
        continue;
      }
      if (plan->n == MMTP_PLAN_FRAMES)
        return;
      frame = &plan->frames[plan->n++];
      begin_plan_frame (source, frame, packet);
    }
    frame->work += mmtp_send_packet_get_work (packet->size);
    add_unit (frame, unit);
  }
}

void
mmtp_plan_fill (MmtpPlan * plan, const MmtpPlanSource * source,
    guint64 earliest)
{
  if (has_waiting_references (source))
    earliest = 0;
  add_waiting_frames (source, plan, earliest);
  if (plan->n == 0 && earliest > 0)
    add_waiting_frames (source, plan, 0);
}

MmtpPacket *
mmtp_plan_frame_find_packet (MmtpPlanFrame * frame,
    const MmtpSendWindow * window)
{
  MmtpPacket *packet;

  frame->first = MAX (frame->first, window->floor);
  while ((packet = mmtp_send_window_get (window, frame->first)) &&
      packet->unit->frame == frame->frame) {
    if (packet->state == MMTP_PACKET_WAITING && !packet->unit->picture.is_data
        && packet->unit->rank != MMTP_RANK_BROKEN)
      return packet;
    frame->first++;
  }
  return NULL;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The non-transparent data service of GSM with the Radio Link Protocol (RLP) of
 * 3GPP TS 24.022 (GSM 04.22). Retransmissions turn errors into delay (Singh
 * 2.3.2).
 *
 *   queue -> serial line -> frames -> radio blocks -> frames in order -> out
 *
 * In both directions, block number k begins at k * block_time. As long as data
 * in one of the directions have not been delivered and acknowledged, both ends
 * send a frame in each radio block. While the RLP link is being reset, only the
 * frames of the reset are sent. At all other times, both ends are silent. A
 * frame in a block with errors is lost, whatever it carries. Each frame carries
 * the acknowledgement number N(R) (5.2.3.3). If a frame is lost, the next frame
 * therefore repeats the acknowledgement.
 *
 * Three things are simpler than in the standard:
 *
 * - Sequence numbers are not reduced modulo 62, so an old frame is never taken
 *   for a new one.
 * - The RLP link is reset by SABM and UA. Only one end sends SABM: the case
 *   that both ends send SABM at the same time is left out.
 * - The time for setting up the RLP link is part of the time for setting up the
 *   dial-up call.
 *
 * This model derives all random events from the seed. A recorded pattern
 * contains the seed and the fates of the packets. The model uses the seed and
 * ignores the fates.
 */

#include "linkmodel.h"

#include <string.h>

#include "linkradioblocks.h"
#include "linkserial.h"

/* In the standard of RLP (3GPP TS 24.022), sequence numbers are modulo 62
 * (5.2.3.1). There are therefore slots for 62 frames. */
#define N_SLOTS 62

/* Flow control stops the serial line when this number of bytes from the line
 * are waiting to be put into RLP frames. The standard does not define a value.
 * With 512 bytes, the wait is a few tenths of a second, and all these bytes fit
 * into one RLP window. */
#define BUFFER 512

/* State of a frame in the receiver's window, as in annex A of 3GPP TS 24.022 */
typedef enum
{
  RECEIVE_IDLE,                 /* no later frame has arrived */
  /* This frame is missing, but a later frame has arrived. A SREJ (selective
   * reject), which asks for this frame, must be sent. */
  RECEIVE_MISSING,
  /* This frame is missing, and a SREJ (selective reject), which asks for it,
   * was sent. If the frame does not arrive, the SREJ is sent again at the time
   * `deadline`. */
  RECEIVE_REJECTED,
  /* this frame has arrived, but at least one earlier frame is missing */
  RECEIVE_DONE
} ReceiveState;

typedef struct
{
  guint64 begin, end;           /* byte range in the stream */
  /* sender */
  guint transmissions;
  gboolean resend;
  /* receiver */
  ReceiveState state;
  /* number of SREJs (selective rejects) sent for the frame */
  guint rejections;
  /* time in ns at which the SREJ (selective reject), which asks for the frame,
   * is sent again if the frame has not arrived */
  guint64 deadline;
} Slot;

/* A packet with its framing. In each direction of the link, all packets form
 * one byte stream. The packet occupies the bytes of this stream from the
 * position `begin` to the position `end`. */
typedef struct
{
  LinkItem *item;
  guint64 begin, end;
} Segment;

typedef enum
{
  FRAME_SUPERVISION,            /* S, or I+S if it has data */
  FRAME_SABM,
  FRAME_UA
} FrameType;

typedef struct
{
  FrameType type;
  guint64 arrival;              /* ns */
  gboolean has_data;
  guint64 ns;                   /* N(S) */
  gboolean rejects;             /* SREJ instead of RR */
  guint64 nr;                   /* N(R) */
  gboolean poll, final;
} Frame;

/* One direction of the link: the sender at one end and the receiver at the
 * other. */
typedef struct
{
  LinkSerial line;
  /* Queue of Segment: the packets that have a place in the byte stream of this
   * direction and have not been delivered yet, the oldest first. */
  GQueue segments;
  /* Numbers of bytes of the byte stream: `clocked` bytes have crossed the
   * serial line, `framed` bytes were put into frames, and `delivered` bytes
   * were delivered. */
  guint64 clocked, framed, delivered;
  Slot slots[N_SLOTS];          /* by number modulo N_SLOTS */
  /* sender */
  /* `va` is the number of the oldest unacknowledged frame, and `vs` is the
   * number of the next new frame. */
  guint64 va, vs;
  /* time in ns at which the retransmission timer T1 expires; LINK_NEVER = the
   * timer is stopped */
  guint64 t1;
  /* `polling` is TRUE from the expiry of the timer T1 until the peer has
   * answered with the F (final) bit. `poll_due` is TRUE if a poll, a request
   * for the state of the peer, has to be sent. */
  gboolean polling, poll_due;
  guint polls;
  /* receiver */
  guint64 vr;                   /* next expected, V(R) */
  gboolean final_due;           /* a poll has to be answered */
  GQueue air;                   /* frames in flight in this direction */
} Direction;

typedef struct
{
  Link *link;
  LinkBlocksConfig config;
  LinkRadioBlocks radio;
  Direction directions[2];
  guint64 next_tick;            /* number of the next block */
  gint gave_up;                 /* direction that has reached N2, or -1 */
  /* reset of the link */
  gboolean establishing;
  guint initiator;              /* direction in which SABM is sent */
  /* TRUE if the SABM, the request to reset the link, has arrived, and the
   * answer UA is being sent */
  gboolean answered;
} Rlp;

static Slot *
get_slot (Direction * direction, guint64 number)
{
  return &direction->slots[number % N_SLOTS];
}

static void
give_up (Rlp * rlp, const Direction * direction)
{
  if (rlp->gave_up < 0)
    rlp->gave_up = direction - rlp->directions;
}

/* Functions that move packets from the serial line into the byte stream of RLP
 */

static void
take_packet (Direction * direction)
{
  Segment *last = g_queue_peek_tail (&direction->segments);
  Segment *segment;

  if (!link_serial_start (&direction->line))
    return;
  segment = g_slice_new (Segment);
  segment->item = direction->line.item;
  segment->begin = last ? last->end : direction->clocked;
  segment->end = segment->begin + direction->line.bytes;
  g_queue_push_tail (&direction->segments, segment);
}

static void
clock_line (Rlp * rlp, Direction * direction)
{
  Segment *last = g_queue_peek_tail (&direction->segments);

  if (!direction->line.item)
    return;
  direction->clocked = last->begin + link_serial_get_passed (&direction->line);
  if (link_serial_next (&direction->line) > rlp->link->now)
    return;
  link_serial_take (&direction->line);
  take_packet (direction);
}

static void
control_flow (Direction * direction)
{
  link_serial_set_stopped (&direction->line,
      direction->clocked - direction->framed >= BUFFER);
  if (!direction->line.item)
    take_packet (direction);
}

/* Sender */

/* Called for each transmission of the frame `slot`. For each packet that has
 * bytes in this frame, updates the airtime and the number of attempts. */
static void
count_transmission (Rlp * rlp, Direction * direction, const Slot * slot)
{
  GList *link;

  for (link = direction->segments.head; link; link = link->next) {
    Segment *segment = link->data;
    LinkPacket *packet = &segment->item->p;

    if (segment->begin >= slot->end)
      break;
    if (segment->end <= slot->begin)
      continue;
    packet->attempts = MAX (packet->attempts, slot->transmissions);
    packet->airtime += rlp->config.block_time;
  }
}

static gboolean
find_resend (Direction * direction, guint64 * number)
{
  for (*number = direction->va; *number < direction->vs; (*number)++) {
    if (get_slot (direction, *number)->resend)
      return TRUE;
  }
  return FALSE;
}

static gboolean
make_frame (Rlp * rlp, Direction * direction, guint64 * number)
{
  Slot *slot = get_slot (direction, direction->vs);
  guint64 bytes = MIN (direction->clocked - direction->framed,
      rlp->config.block_payload);

  if (bytes == 0 || direction->vs - direction->va >= rlp->config.rlp_window)
    return FALSE;
  slot->begin = direction->framed;
  slot->end = slot->begin + bytes;
  slot->transmissions = 0;
  direction->framed = slot->end;
  *number = direction->vs++;
  return TRUE;
}

static void
start_t1 (Rlp * rlp, Direction * direction)
{
  direction->t1 = rlp->link->now + rlp->config.rlp_t1;
}

static void
send_data (Rlp * rlp, Direction * direction, Frame * frame)
{
  Slot *slot;

  if (!find_resend (direction, &frame->ns)
      && !make_frame (rlp, direction, &frame->ns))
    return;
  slot = get_slot (direction, frame->ns);
  /* N2 limits the number of retransmissions of a frame (3GPP TS 24.022, section
   * 5.5). */
  if (slot->transmissions > rlp->config.rlp_n2) {
    give_up (rlp, direction);
    return;
  }
  slot->resend = FALSE;
  slot->transmissions++;
  frame->has_data = TRUE;
  if (direction->t1 == LINK_NEVER)
    start_t1 (rlp, direction);
  count_transmission (rlp, direction, slot);
}

/* Checks whether the timer T1 has expired (checkpoint recovery; 3GPP TS 24.022,
 * section 5.3). If no acknowledgement arrives within T1, the peer is polled for
 * its state. No new data is sent before the peer answers. */
static void
check_t1 (Rlp * rlp, Direction * direction)
{
  if (rlp->link->now < direction->t1)
    return;
  if (!direction->polling)
    direction->polls = 0;
  direction->polling = TRUE;
  if (direction->polls > rlp->config.rlp_n2)
    give_up (rlp, direction);
  else
    direction->poll_due = TRUE;
}

static void
send_poll (Rlp * rlp, Direction * direction, Frame * frame)
{
  direction->poll_due = FALSE;
  direction->polls++;
  start_t1 (rlp, direction);
  frame->poll = TRUE;
}

static void
receive_acknowledgement (Rlp * rlp, Direction * direction, guint64 nr)
{
  if (nr <= direction->va)
    return;
  direction->va = nr;
  if (direction->va == direction->vs) {
    direction->polling = direction->poll_due = FALSE;
    direction->t1 = LINK_NEVER;
  } else if (!direction->polling) {
    start_t1 (rlp, direction);
  }
}

/* Called when the peer has answered a poll. The answer contains N(R), the
 * number of the first frame that the peer still expects. Schedules the
 * retransmission of all frames from number N(R) on, in order. */
static void
receive_final (Rlp * rlp, Direction * direction)
{
  guint64 number;

  if (!direction->polling)
    return;
  direction->polling = direction->poll_due = FALSE;
  start_t1 (rlp, direction);
  for (number = direction->va; number < direction->vs; number++)
    get_slot (direction, number)->resend = TRUE;
}

/* Processes a SREJ (selective reject), which asks for the retransmission of
 * frame `nr`. The SREJ also shows that the peer is already recovering the loss,
 * so the timer T1 is restarted. */
static void
receive_rejection (Rlp * rlp, Direction * direction, guint64 nr)
{
  if (nr < direction->va || nr >= direction->vs)
    return;
  get_slot (direction, nr)->resend = TRUE;
  if (!direction->polling)
    start_t1 (rlp, direction);
}

/* Receiver */

static void
deliver (Rlp * rlp, Direction * direction)
{
  guint64 departure = rlp->link->now +
      rlp->config.delay[direction - rlp->directions];
  Segment *segment;

  while ((segment = g_queue_peek_head (&direction->segments))
      && segment->end <= direction->delivered) {
    link_deliver (rlp->link, segment->item, departure);
    g_slice_free (Segment, g_queue_pop_head (&direction->segments));
  }
}

static void
deliver_in_order (Rlp * rlp, Direction * direction)
{
  Slot *slot;

  while ((slot = get_slot (direction, direction->vr))->state == RECEIVE_DONE) {
    direction->delivered = slot->end;
    slot->state = RECEIVE_IDLE;
    slot->rejections = 0;
    direction->vr++;
  }
  deliver (rlp, direction);
}

/* Processes the data of the frame with the number `ns`. All frames with lower
 * numbers that have not arrived are marked as missing (3GPP TS 24.022, section
 * 5.2.3.8). This is also correct if the frame is a retransmission, because the
 * sender has sent all frames with lower numbers before it. */
static void
receive_data (Rlp * rlp, Direction * direction, guint64 ns)
{
  guint64 number;

  if (ns < direction->vr)
    return;
  for (number = direction->vr; number < ns; number++) {
    Slot *slot = get_slot (direction, number);

    if (slot->state == RECEIVE_IDLE)
      slot->state = RECEIVE_MISSING;
  }
  get_slot (direction, ns)->state = RECEIVE_DONE;
  deliver_in_order (rlp, direction);
}

static gboolean
find_missing (Rlp * rlp, Direction * direction, guint64 * number)
{
  guint64 end = direction->vr + rlp->config.rlp_window;

  for (*number = direction->vr; *number < end; (*number)++) {
    Slot *slot = get_slot (direction, *number);

    if (slot->state == RECEIVE_MISSING || (slot->state == RECEIVE_REJECTED
            && rlp->link->now >= slot->deadline))
      return TRUE;
  }
  return FALSE;
}

/* Sends a SREJ (selective reject), which asks the peer for the first missing
 * frame. Each SREJ has a timer of its own (Singh 2.3.2). In this model, the
 * timer of a SREJ runs for T1, the same time as the retransmission timer of the
 * peer. If the timer of the SREJ expires, the SREJ is repeated, but at most N2
 * times. N2 is also the maximum number of retransmissions. After N2
 * repetitions, the frame is retransmitted only when the retransmission timer of
 * the peer expires. */
static void
send_rejection (Rlp * rlp, Direction * direction, Frame * frame)
{
  guint64 number;
  Slot *slot;

  if (!find_missing (rlp, direction, &number))
    return;
  slot = get_slot (direction, number);
  slot->state = RECEIVE_REJECTED;
  slot->rejections++;
  slot->deadline = slot->rejections > rlp->config.rlp_n2 ? LINK_NEVER :
      rlp->link->now + rlp->config.rlp_t1;
  frame->rejects = TRUE;
  frame->nr = number;
}

/* Answers a poll, with which the peer asks how many frames have arrived. The
 * answer contains N(R), the number of the first frame that is still expected.
 * When the peer receives the answer, it retransmits all frames from number N(R)
 * on. Therefore no SREJ (selective reject), which would ask for one frame, is
 * needed for these frames. */
static void
send_final (Direction * direction, Frame * frame)
{
  guint i;

  for (i = 0; i < N_SLOTS; i++) {
    Slot *slot = &direction->slots[i];

    slot->rejections = 0;
    if (slot->state != RECEIVE_DONE)
      slot->state = RECEIVE_IDLE;
  }
  direction->final_due = FALSE;
  frame->final = TRUE;
}

/* Frames */

/* Fills in `frame` for one of the two ends. This end sends in direction `ahead`
 * and receives in direction `back`.
 *
 * A frame can contain only one of these: the answer to a poll, a poll, or a
 * SREJ (selective reject). The answer and the poll both need the P/F
 * (poll/final) bit, and a frame has only one such bit (5.2.1.2). A frame also
 * has only one field N(R). A SREJ needs it for the number of the missing frame,
 * whereas the answer and the poll need it for the acknowledgement. */
static void
fill_frame (Rlp * rlp, Direction * ahead, Direction * back, Frame * frame)
{
  frame->nr = back->vr;
  check_t1 (rlp, ahead);
  if (back->final_due)
    send_final (back, frame);
  else if (ahead->poll_due)
    send_poll (rlp, ahead, frame);
  else
    send_rejection (rlp, back, frame);
  if (!ahead->polling)
    send_data (rlp, ahead, frame);
}

/* Makes `frame` a SABM or a UA. SABM asks the peer to reset the link, and UA is
 * the answer. Both are repeated in each block until they have been received
 * (5.2.2.1, 5.2.2.2). If they were repeated only when the timer T1 expires,
 * periodic errors could hit every copy. Returns FALSE if there is nothing to
 * send. */
static gboolean
fill_establishment (Rlp * rlp, guint number, Frame * frame)
{
  frame->type = number == rlp->initiator ? FRAME_SABM : FRAME_UA;
  return frame->type == FRAME_SABM || rlp->answered;
}

static void
send_frame (Rlp * rlp, guint number)
{
  Direction *ahead = &rlp->directions[number];
  Frame frame;

  memset (&frame, 0, sizeof (frame));
  if (!rlp->establishing)
    fill_frame (rlp, ahead, &rlp->directions[!number], &frame);
  else if (!fill_establishment (rlp, number, &frame))
    return;
  if (link_radio_blocks_send (&rlp->radio, number, rlp->next_tick))
    return;
  frame.arrival = rlp->link->now + rlp->config.block_time +
      rlp->config.radio_delay;
  g_queue_push_tail (&ahead->air, g_slice_dup (Frame, &frame));
}

static void
receive_establishment (Rlp * rlp, const Frame * frame)
{
  if (frame->type == FRAME_SABM)
    rlp->answered = TRUE;
  else
    rlp->establishing = FALSE;
}

static void
receive_frame (Rlp * rlp, guint number, const Frame * frame)
{
  Direction *ahead = &rlp->directions[number];
  Direction *back = &rlp->directions[!number];

  if (frame->type != FRAME_SUPERVISION) {
    receive_establishment (rlp, frame);
    return;
  }
  if (frame->rejects)
    receive_rejection (rlp, back, frame->nr);
  else
    receive_acknowledgement (rlp, back, frame->nr);
  if (frame->final)
    receive_final (rlp, back);
  if (frame->poll)
    ahead->final_due = TRUE;
  if (frame->has_data)
    receive_data (rlp, ahead, frame->ns);
}

static void
receive_frames (Rlp * rlp, guint number)
{
  GQueue *air = &rlp->directions[number].air;
  Frame *frame;

  while ((frame = g_queue_peek_head (air))
      && frame->arrival <= rlp->link->now) {
    receive_frame (rlp, number, g_queue_pop_head (air));
    g_slice_free (Frame, frame);
  }
}

static void
drop_frames (Direction * direction)
{
  Frame *frame;

  while ((frame = g_queue_pop_head (&direction->air)))
    g_slice_free (Frame, frame);
}

/* Reset of the link */

static void
lose_segment (Rlp * rlp, Direction * direction, LinkFate fate)
{
  Segment *segment = g_queue_pop_head (&direction->segments);

  if (direction->line.item == segment->item)
    link_serial_take (&direction->line);
  direction->clocked = MAX (direction->clocked, segment->end);
  direction->framed = MAX (direction->framed, segment->end);
  link_lose (rlp->link, segment->item, fate);
  g_slice_free (Segment, segment);
}

static void
forget_frames (Direction * direction)
{
  drop_frames (direction);
  memset (direction->slots, 0, sizeof (direction->slots));
  direction->va = direction->vs = direction->vr = 0;
  direction->polling = direction->poll_due = direction->final_due = FALSE;
  direction->t1 = LINK_NEVER;
  direction->delivered = direction->framed;
}

/* Removes the frames that have not arrived. Each packet that has bytes in one
 * of these frames counts as lost. A frame may contain bytes of several packets.
 * The last of these packets may still be on the serial line; it is lost as
 * well. */
static void
lose_frames (Rlp * rlp, Direction * direction)
{
  guint64 framed = direction->framed;
  Segment *segment;

  while (direction->delivered < framed
      && (segment = g_queue_peek_head (&direction->segments))
      && segment->begin < framed)
    lose_segment (rlp, direction, LINK_FATE_RESET);
  forget_frames (direction);
}

static void
reset (Rlp * rlp, guint initiator)
{
  guint i;

  rlp->link->stats.resets++;
  for (i = 0; i < 2; i++)
    lose_frames (rlp, &rlp->directions[i]);
  for (i = 0; i < 2; i++)
    control_flow (&rlp->directions[i]);
  rlp->establishing = TRUE;
  rlp->initiator = initiator;
  rlp->answered = FALSE;
}

/* Called if a frame or a poll was retransmitted N2 times, which is the maximum,
 * without success. Depending on the configuration, ends the dial-up call or
 * resets the link. Without dial-up the link is always reset. */
static void
end_recovery (Rlp * rlp)
{
  guint initiator = rlp->gave_up;

  rlp->gave_up = -1;
  if (rlp->config.rlp_after_n2 == LINK_AFTER_N2_DISCONNECT
      && rlp->link->dial_up)
    link_disconnect (rlp->link);
  else
    reset (rlp, initiator);
}

/* Time */

static gboolean
is_at_rest (const Rlp * rlp)
{
  guint i;

  for (i = 0; i < 2; i++) {
    const Direction *direction = &rlp->directions[i];

    if (direction->segments.length || direction->va != direction->vs)
      return FALSE;
  }
  return !rlp->establishing;
}

static guint64
get_tick_time (const Rlp * rlp)
{
  return is_at_rest (rlp) ? LINK_NEVER :
      rlp->next_tick * rlp->config.block_time;
}

/* Starts the periodic ticks again after a time in which nothing had to be sent.
 * A tick is the beginning of a radio block, when both ends may send a frame.
 * The first tick is at the beginning of the next radio block. */
static void
wake (Rlp * rlp)
{
  rlp->next_tick = MAX (rlp->next_tick,
      link_radio_blocks_at (&rlp->radio, rlp->link->now));
}

static void
tick (Rlp * rlp)
{
  guint i;

  for (i = 0; i < 2; i++)
    send_frame (rlp, i);
  rlp->next_tick++;
  for (i = 0; i < 2; i++)
    control_flow (&rlp->directions[i]);
}

/* The class */

static void
link_rlp_destroy (gpointer model, GDestroyNotify user_free)
{
  Rlp *rlp = model;
  guint i;

  for (i = 0; i < 2; i++) {
    Direction *direction = &rlp->directions[i];
    Segment *segment;

    while ((segment = g_queue_pop_head (&direction->segments))) {
      link_item_free (segment->item, user_free);
      g_slice_free (Segment, segment);
    }
    drop_frames (direction);
  }
  link_radio_blocks_clear (&rlp->radio);
  g_free (rlp);
}

static void
init_direction (Direction * direction, Link * link, guint number)
{
  link_serial_init (&direction->line, link, number);
  direction->t1 = LINK_NEVER;
}

static gpointer
link_rlp_create (Link * link, GError ** error)
{
  Rlp *rlp = g_new0 (Rlp, 1);
  guint i;

  rlp->link = link;
  rlp->config = link->config.blocks;
  rlp->gave_up = -1;
  for (i = 0; i < 2; i++)
    init_direction (&rlp->directions[i], link, i);
  if (!link_radio_blocks_init (&rlp->radio, link, error)) {
    link_rlp_destroy (rlp, NULL);
    return NULL;
  }
  return rlp;
}

static void
link_rlp_arrived (gpointer model, guint station)
{
  Rlp *rlp = model;

  /* RLP sends frames in both directions, even if only one direction has
   * packets. The quality is therefore reported for both directions. */
  link_radio_blocks_use (&rlp->radio, 0);
  link_radio_blocks_use (&rlp->radio, 1);
  if (is_at_rest (rlp))
    wake (rlp);
  take_packet (&rlp->directions[link_direction (station)]);
}

static guint64
link_rlp_next (gpointer model)
{
  Rlp *rlp = model;
  guint64 next = MIN (rlp->radio.change, get_tick_time (rlp));
  guint i;

  for (i = 0; i < 2; i++) {
    Direction *direction = &rlp->directions[i];
    Frame *frame = g_queue_peek_head (&direction->air);

    next = MIN (next, link_serial_next (&direction->line));
    if (frame)
      next = MIN (next, frame->arrival);
  }
  return next;
}

static void
link_rlp_advance (gpointer model)
{
  Rlp *rlp = model;
  guint i;

  link_radio_blocks_tell (&rlp->radio);
  for (i = 0; i < 2; i++)
    clock_line (rlp, &rlp->directions[i]);
  for (i = 0; i < 2; i++)
    receive_frames (rlp, i);
  if (get_tick_time (rlp) <= rlp->link->now)
    tick (rlp);
  if (rlp->gave_up >= 0)
    end_recovery (rlp);
  if (is_at_rest (rlp)) {
    drop_frames (&rlp->directions[0]);
    drop_frames (&rlp->directions[1]);
  }
}

static void
hang_up (Rlp * rlp, Direction * direction)
{
  while (direction->segments.head)
    lose_segment (rlp, direction, LINK_FATE_CALL);
  forget_frames (direction);
  link_serial_set_stopped (&direction->line, FALSE);
}

static void
link_rlp_call_changed (gpointer model, gboolean connected)
{
  Rlp *rlp = model;
  guint i;

  if (connected)
    wake (rlp);
  else
    rlp->establishing = FALSE;
  for (i = 0; i < 2; i++) {
    if (connected)
      take_packet (&rlp->directions[i]);
    else
      hang_up (rlp, &rlp->directions[i]);
  }
}

static gdouble
link_rlp_quality (gpointer model, guint station)
{
  Rlp *rlp = model;

  return link_radio_blocks_quality (&rlp->radio, link_direction (station));
}

const LinkModelClass link_rlp_class = {
  link_rlp_create,
  link_rlp_destroy,
  link_rlp_arrived,
  link_rlp_next,
  link_rlp_advance,
  link_rlp_call_changed,
  link_rlp_quality
};

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtpsendqueue.h: the packets that wait to be sent, and the
 * packets in flight. */

#include "mmtpsendqueue.h"

#include "mmtpplanframes.h"
#include "mmtpsendwindow.h"
#include "mmtpstreamrate.h"
#include "mmtpwaiting.h"

/* Maximum number of packets that are marked as received after one REPORT. A
 * REPORT (docs/wire-mmtp.md) says which packets the receiver has got. If the
 * rate is high and no REPORT has arrived for a long time, the next REPORT may
 * acknowledge more packets than this maximum. The packets beyond the maximum
 * are marked when the following REPORTs arrive. */
#define MAX_SETTLED 4096

struct _MmtpSendQueue
{
  guint64 max_bytes;
  guint64 delay;                /* initial delay (D0), in ns */
  /* Maximum lateness in ns. A packet that arrives at most this much after its
   * deadline is still useful. */
  guint64 max_lateness;
  MmtpDiscardFunc discarded;
  gpointer user_data;

  /* --- packets */
  MmtpSendWindow window;
  /* According to the REPORTs of the receiver, it no longer needs the packets
   * with stream numbers below this number. */
  guint64 reported_next;

  MmtpWaiting waiting;
  GQueue speculative;           /* MmtpPackets */

  /* --- frames and pictures */
  /* frame number of the last buffer that was put into the queue */
  guint64 frame;
  guint64 frame_due;
  /* TRUE if the next buffer begins a new frame, for example because the last
   * buffer had MMTP_FLAG_MARKER. The field has no effect on pieces of a
   * transport stream. */
  gboolean frame_ended;
  /* Number of the last dropped frame. Further buffers of this frame are dropped
   * as well. */
  guint64 given_up_frame;
  /* number of the frame of which a packet was last sent for the first time;
   * G_MAXUINT64 if there is none */
  guint64 sent_frame;
  /* TRUE if a frame since the last flush referred to another frame */
  gboolean has_references;
  MmtpGop gop;                  /* current group of pictures */

  MmtpStreamRate rate;
  MmtpSendQueueStats stats;
};

/* --- packets and buffers -------------------------------------------------- */

MmtpSendQueue *
mmtp_send_queue_new (guint64 max_bytes, MmtpDiscardFunc discarded,
    gpointer user_data)
{
  MmtpSendQueue *queue = g_new0 (MmtpSendQueue, 1);

  queue->max_bytes = max_bytes;
  queue->discarded = discarded;
  queue->user_data = user_data;
  queue->given_up_frame = queue->sent_frame = G_MAXUINT64;
  mmtp_gop_init (&queue->gop);
  mmtp_send_window_init (&queue->window);
  return queue;
}

void
mmtp_send_queue_free (MmtpSendQueue * queue)
{
  mmtp_send_queue_flush (queue);
  mmtp_waiting_clear (&queue->waiting);
  mmtp_send_window_clear (&queue->window);
  g_free (queue);
}

void
mmtp_send_queue_get_stats (const MmtpSendQueue * queue,
    MmtpSendQueueStats * stats)
{
  *stats = queue->stats;
}

void
mmtp_send_queue_set_delay (MmtpSendQueue * queue, guint64 delay)
{
  queue->delay = delay;
}

guint64
mmtp_send_queue_get_delay (const MmtpSendQueue * queue)
{
  return queue->delay;
}

void
mmtp_send_queue_set_max_lateness (MmtpSendQueue * queue, guint64 max_lateness)
{
  queue->max_lateness = max_lateness;
}

guint64
mmtp_send_queue_get_deadline (const MmtpSendQueue * queue,
    const MmtpPacket * packet)
{
  return packet->due + queue->delay;
}

guint64
mmtp_send_queue_get_last_time (const MmtpSendQueue * queue,
    const MmtpPacket * packet)
{
  return mmtp_send_queue_get_deadline (queue, packet) + queue->max_lateness;
}

MmtpPacket *
mmtp_send_queue_get_packet (const MmtpSendQueue * queue, guint64 number)
{
  return mmtp_send_window_get (&queue->window, number);
}

/* --- the queues ----------------------------------------------------------- */

gboolean
mmtp_send_queue_is_empty (const MmtpSendQueue * queue)
{
  return mmtp_waiting_is_empty (&queue->waiting);
}

guint64
mmtp_send_queue_get_bytes (const MmtpSendQueue * queue)
{
  return mmtp_waiting_get_bytes (&queue->waiting);
}

guint64
mmtp_send_queue_get_work (const MmtpSendQueue * queue)
{
  return mmtp_waiting_get_work (&queue->waiting, 0);
}

guint64
mmtp_send_queue_get_next_number (const MmtpSendQueue * queue)
{
  return queue->window.next;
}

guint64
mmtp_send_queue_get_floor (const MmtpSendQueue * queue)
{
  return queue->window.floor;
}

guint64
mmtp_send_queue_get_bit_rate (const MmtpSendQueue * queue)
{
  return queue->rate.rate;
}

MmtpPacket *
mmtp_send_queue_get_head (const MmtpSendQueue * queue)
{
  return mmtp_waiting_get_head (&queue->waiting);
}

MmtpPacket *
mmtp_send_queue_get_tail (const MmtpSendQueue * queue)
{
  return mmtp_waiting_get_tail (&queue->waiting);
}

static MmtpPacketList *
get_list (MmtpSendQueue * queue, const MmtpPacket * packet)
{
  return mmtp_waiting_get_list (&queue->waiting, packet);
}

/* --- dropping buffers ----------------------------------------------------- */

/* A speculative packet is a lost packet that may be retransmitted although it
 * might arrive after its deadline. Removes `packet` from the list of
 * speculative packets, and sets its state to `state`. The state is
 * MMTP_PACKET_IN_FLIGHT if the packet was retransmitted, and MMTP_PACKET_DONE
 * if it will not be sent any more. */
static void
leave_speculative (MmtpSendQueue * queue, MmtpPacket * packet,
    MmtpPacketState state)
{
  g_queue_remove (&queue->speculative, packet);
  packet->state = state;
}

/* Reports to the owner of the queue that `unit` (a buffer) was dropped.
 * `is_undecodable` is TRUE if the unit is dropped only because another unit was
 * dropped. The report also says whether a new key frame would help. After the
 * end of the session, no key frame helps. */
static void
tell_discarded (MmtpSendQueue * queue, const MmtpUnit * unit,
    MmtpDiscard reason, gboolean is_undecodable)
{
  queue->discarded (queue->user_data, unit, reason,
      reason != MMTP_DISCARD_CONNECTION && !unit->picture.is_leading &&
      (is_undecodable || mmtp_rank_is_reference (unit->rank)));
}

static void
count_discarded (MmtpSendQueue * queue, MmtpRank rank, MmtpDiscard reason)
{
  queue->stats.discarded[reason]++;
  if (rank == MMTP_RANK_KEY)
    queue->stats.discarded_keys++;
  else if (rank == MMTP_RANK_DROPPABLE)
    queue->stats.discarded_droppable++;
}

static void
give_up_unit (MmtpSendQueue * queue, MmtpUnit * unit, MmtpDiscard reason)
{
  guint64 number, end = unit->first + unit->n_packets;

  mmtp_waiting_mark_begun (&queue->waiting, unit);
  if (!unit->given_up)
    count_discarded (queue, unit->rank, reason);
  unit->given_up = TRUE;
  number = MAX (unit->first, queue->window.floor);
  for (; number < end; number++) {
    MmtpPacket *packet = mmtp_send_queue_get_packet (queue, number);

    if (packet->state == MMTP_PACKET_WAITING)
      mmtp_packet_list_remove (get_list (queue, packet), packet,
          MMTP_PACKET_DONE);
    else if (packet->state == MMTP_PACKET_SPECULATIVE)
      leave_speculative (queue, packet, MMTP_PACKET_DONE);
    packet->state = MMTP_PACKET_DONE;
  }
  tell_discarded (queue, unit, reason, reason == MMTP_DISCARD_BROKEN);
}

static void
set_rank (MmtpSendQueue * queue, MmtpPacket * packet, MmtpRank rank)
{
  MmtpUnit *unit = packet->unit;
  guint64 number, end = unit->first + unit->n_packets;
  gboolean is_unbegun = unit->link.data != NULL;

  mmtp_waiting_mark_begun (&queue->waiting, unit);
  number = MAX (unit->first, queue->window.floor);
  for (; number < end; number++) {
    MmtpPacket *part = mmtp_send_queue_get_packet (queue, number);

    if (part->state == MMTP_PACKET_WAITING)
      mmtp_packet_list_remove (get_list (queue, part), part,
          MMTP_PACKET_SET_ASIDE);
  }
  unit->rank = rank;
  number = MAX (unit->first, queue->window.floor);
  for (; number < end; number++) {
    MmtpPacket *part = mmtp_send_queue_get_packet (queue, number);

    if (part->state == MMTP_PACKET_SET_ASIDE)
      mmtp_packet_list_insert (get_list (queue, part), part);
  }
  if (is_unbegun)
    mmtp_waiting_mark_unbegun (&queue->waiting, unit);
}

static gboolean
is_above_base (const MmtpUnit * unit)
{
  return unit->picture.has_slots && unit->picture.layer > 0;
}

/* Called when the picture of `unit` is lost. Gives the lowest rank to all
 * waiting pictures that refer to it, directly or indirectly. They are then sent
 * only when no other packet waits, because a decoder cannot decode them
 * correctly without the lost picture.
 *
 * If the lost picture belongs to the base layer, all pictures up to the next
 * key frame refer to it. If it belongs to a higher layer, only some of these
 * pictures refer to it. */
static void
note_broken (MmtpSendQueue * queue, const MmtpUnit * unit)
{
  guint64 frame = unit->frame;
  guint64 number = MAX (unit->first + unit->n_packets, queue->window.floor);
  guint32 wrong = unit->picture.updates;

  if (!mmtp_rank_is_reference (unit->rank) || unit->picture.is_leading)
    return;
  while (number < queue->window.next) {
    MmtpPacket *packet = mmtp_send_queue_get_packet (queue, number);
    MmtpUnit *next = packet->unit;

    number = next->first + next->n_packets;
    if (next->frame == frame || next->picture.is_data)
      continue;
    if (next->rank == MMTP_RANK_KEY)
      return;
    if (is_above_base (unit)
        && !mmtp_picture_follow_slots (&next->picture, &wrong))
      continue;
    if (next->rank != MMTP_RANK_BROKEN && !next->given_up)
      set_rank (queue, packet, MMTP_RANK_BROKEN);
  }
  if (!is_above_base (unit))
    mmtp_gop_lose (&queue->gop, unit->group);
}

/* Drops a unit (a buffer) and the other units of its frame, because an
 * incomplete frame is useless. */
static void
give_up_frame (MmtpSendQueue * queue, MmtpUnit * unit, MmtpDiscard reason)
{
  guint64 frame = unit->frame;
  guint64 number = mmtp_send_window_get_frame_start (&queue->window, unit);

  if (frame == queue->frame)
    queue->given_up_frame = frame;
  while (number < queue->window.next) {
    MmtpPacket *packet = mmtp_send_queue_get_packet (queue, number);
    MmtpUnit *part = packet->unit;

    if (part->frame != frame)
      break;
    number = part->first + part->n_packets;
    if (!part->given_up && !part->picture.is_data &&
        (part == unit || part->n_sent < part->n_packets))
      give_up_unit (queue, part, reason);
  }
}

/* `reference` is a dropped reference picture. Drops the frames that refer to
 * it, except frames that have been sent completely. */
static void
give_up_dependents (MmtpSendQueue * queue, const MmtpUnit * reference)
{
  const guint64 frame = reference->frame;
  const guint64 group = mmtp_picture_get_needing_group (&reference->picture,
      reference->group);
  guint64 number = reference->first + reference->n_packets;

  number = MAX (number, queue->window.floor);
  while (number < queue->window.next) {
    MmtpUnit *unit = mmtp_send_queue_get_packet (queue, number)->unit;

    number = unit->first + unit->n_packets;
    if (unit->group > group + 1)
      break;
    if (unit->frame != frame && !unit->given_up &&
        unit->n_sent < unit->n_packets &&
        mmtp_picture_needs (&unit->picture, unit->group, group))
      give_up_frame (queue, unit, MMTP_DISCARD_BROKEN);
  }
}

/* `reference` is a dropped reference picture. Drops the frames that refer to
 * it. This function is for streams in which each picture names its slots. A
 * slot is a place where a decoder stores a reference picture. The header of a
 * picture says which slots the picture uses, and which slots it updates. For
 * all other streams, use give_up_dependents(). */
static void
give_up_by_slots (MmtpSendQueue * queue, const MmtpUnit * reference)
{
  guint64 number = reference->first + reference->n_packets;
  MmtpPicture remaining = reference->picture;
  guint32 wrong = reference->picture.updates;

  number = MAX (number, queue->window.floor);
  while (number < queue->window.next) {
    MmtpUnit *unit = mmtp_send_queue_get_packet (queue, number)->unit;
    const MmtpPicture *picture = &unit->picture;

    number = unit->first + unit->n_packets;
    if (unit->frame == reference->frame || !picture->has_slots)
      continue;
    if (unit->given_up)
      wrong |= picture->updates;
    else if (mmtp_picture_follow_slots (picture, &wrong)
        && unit->n_sent < unit->n_packets)
      give_up_frame (queue, unit, MMTP_DISCARD_BROKEN);
  }
  remaining.updates = wrong;
  mmtp_gop_note_dropped (&queue->gop, &remaining, reference->due);
}

/* Drops the frame to which the buffer `unit` belongs, and all frames that refer
 * to this frame. */
static void
give_up (MmtpSendQueue * queue, MmtpUnit * unit, MmtpDiscard reason)
{
  if (mmtp_rank_is_reference (unit->rank)) {
    if (unit->picture.is_independent)
      note_broken (queue, unit);
    if (unit->picture.has_slots) {
      give_up_by_slots (queue, unit);
    } else {
      mmtp_gop_give_up (&queue->gop,
          mmtp_picture_get_needing_group (&unit->picture, unit->group),
          unit->due);
      give_up_dependents (queue, unit);
    }
  }
  give_up_frame (queue, unit, reason);
  mmtp_send_window_raise_floor (&queue->window);
}

/* Drops `data`, a piece of a transport stream that contains no video (for
 * example sound). A transport stream interleaves video with other data, so
 * `data` may lie between two pieces of one picture. The receiver would then
 * remove the picture, because something between its pieces is missing. The
 * function therefore drops this picture, too. */
static void
give_up_data (MmtpSendQueue * queue, MmtpUnit * data, MmtpDiscard reason)
{
  MmtpUnit *picture = mmtp_send_window_find_picture (&queue->window, data);

  give_up_unit (queue, data, reason);
  if (picture && !picture->given_up)
    give_up (queue, picture, reason);
  else
    mmtp_send_window_raise_floor (&queue->window);
}

/* Drops waiting frames until the waiting data have shrunk by `work` bytes, and
 * returns TRUE. The rank of a frame says how important the frame is. A frame
 * may be dropped if it is less important than `rank` and none of its packets
 * was sent. The frames of the least important rank are dropped first. Among
 * frames of the same rank, the frame that was put into the queue last is
 * dropped first, because the fewest other frames refer to it.
 *
 * If all frames that may be dropped have less than `work` bytes together, the
 * function drops nothing and returns FALSE. */
static gboolean
give_up_below (MmtpSendQueue * queue, MmtpRank rank, guint64 work,
    MmtpDiscard reason)
{
  guint64 freed = 0, available = 0;
  guint i;

  for (i = 0; i < rank; i++)
    available += queue->waiting.unbegun_work[i];
  if (available < work)
    return FALSE;
  for (i = 0; i < rank; i++)
    while (freed < work && queue->waiting.unbegun[i].tail) {
      guint64 before = mmtp_send_queue_get_work (queue);

      give_up (queue, queue->waiting.unbegun[i].tail->data, reason);
      freed += before - mmtp_send_queue_get_work (queue);
    }
  return TRUE;
}

/* --- checks before a buffer is put ---------------------------------------- */

gboolean
mmtp_send_queue_fits (const MmtpSendQueue * queue, gsize size)
{
  const guint64 bytes = mmtp_send_queue_get_bytes (queue);

  return bytes == 0 || bytes + size <= queue->max_bytes;
}

static gboolean
make_room (MmtpSendQueue * queue, const MmtpUnit * unit, gsize size)
{
  guint64 bytes = mmtp_send_queue_get_bytes (queue) + size;

  if (mmtp_send_queue_fits (queue, size))
    return TRUE;
  return give_up_below (queue, unit->rank, bytes - queue->max_bytes,
      MMTP_DISCARD_ROOM);
}

/* Returns whether the paths can deliver the buffer `unit` in time. Waiting
 * packets of the same rank and of more important ranks are sent before it, so
 * the paths must be able to deliver these packets as well. `work` is the size
 * of `unit` with all headers. `capacity` is the number of bytes that the paths
 * can deliver in time, or G_MAXUINT64 if it is unknown. */
static gboolean
has_time (const MmtpSendQueue * queue, const MmtpUnit * unit, guint64 work,
    guint64 capacity)
{
  return capacity == G_MAXUINT64 ||
      mmtp_waiting_get_work (&queue->waiting, unit->rank) + work <= capacity;
}

/* --- putting -------------------------------------------------------------- */

/* Determines to which frame the next buffer belongs. The MARKER flag marks the
 * last buffer of a frame. A buffer whose due time differs from that of the
 * previous buffer begins a new frame. A piece of a transport stream is an
 * exception: it begins a new frame only if it has the HEADER flag.
 */
static void
note_frame (MmtpSendQueue * queue, guint64 due, guint8 flags, gboolean is_piece)
{
  if (is_piece) {
    if (flags & MMTP_FLAG_HEADER)
      queue->frame++;
    queue->frame_ended = TRUE;
    return;
  }
  if (queue->frame_ended || due != queue->frame_due)
    queue->frame++;
  queue->frame_due = due;
  queue->frame_ended = (flags & MMTP_FLAG_MARKER) != 0;
}

static void
note_picture (MmtpSendQueue * queue, MmtpUnit * unit, guint8 flags)
{
  const MmtpUnit *last = mmtp_send_window_get_last_part (&queue->window, unit);
  PictureKind kind = mmtp_picture_get_kind (&unit->picture, flags);

  if (last && unit->picture.kind == PICTURE_KIND_PART) {
    unit->picture = last->picture;
    kind = mmtp_picture_get_kind (&last->picture, last->flags);
  }
  mmtp_gop_put (&queue->gop, kind, unit->frame, unit->due);
  /* Some payloaders flag only the first packet of a key frame as part of a key
   * frame. Here, the other packets of the same frame are treated as parts of a
   * key frame, too. */
  if (kind == PICTURE_KIND_REFERENCE && unit->frame == queue->gop.key_frame)
    kind = PICTURE_KIND_KEY;
  unit->group = queue->gop.number;
  /* The flag MMTP_FLAG_HEADER usually marks a key frame, because a key frame
   * begins with headers. But the element h264parse also sets this flag on each
   * access unit that contains an SEI message. Not every such access unit is a
   * key frame. The flag is therefore ignored if the kind of the picture is
   * known. */
  unit->rank = mmtp_gop_get_rank (&queue->gop, kind,
      unit->picture.kind == PICTURE_KIND_UNKNOWN ? flags : 0);
  if (unit->rank == MMTP_RANK_DELTA && is_above_base (unit))
    unit->rank = MMTP_RANK_LAYER;
  queue->has_references |= unit->rank < MMTP_RANK_KEY &&
      unit->picture.kind != PICTURE_KIND_PART;
}

/* Some buffers at the beginning of a frame, such as access unit delimiters, do
 * not show what kind of picture follows them. When `unit`, the buffer with the
 * picture, is put into the queue, the buffers before it get the same rank. The
 * rank says which buffers are dropped first. */
static void
adopt_parts (MmtpSendQueue * queue, const MmtpUnit * unit)
{
  guint64 number = queue->window.next;

  if (unit->picture.kind == PICTURE_KIND_PART)
    return;
  while (number > queue->window.floor) {
    MmtpPacket *packet = mmtp_send_queue_get_packet (queue, number - 1);
    MmtpUnit *part = packet->unit;

    if (part->frame != unit->frame || part->given_up ||
        part->picture.kind != PICTURE_KIND_PART)
      return;
    part->group = unit->group;
    part->picture = unit->picture;
    part->weight = unit->weight;
    if (part->rank != unit->rank)
      set_rank (queue, packet, unit->rank);
    number = MAX (part->first, queue->window.floor);
  }
}

/* Maximum number of bytes of a buffer that fit into its first packet (`first`)
 * and into each further packet (`further`). The first packet may have less
 * room, because it also contains the prelude, an optional header. */
typedef struct
{
  gsize first, further;
} Rooms;

static Rooms
get_rooms (const MmtpPrelude * prelude, const MmtpPutLimits * limits)
{
  const gsize room = limits->message - MMTP_DATA_OVERHEAD - limits->reserve;
  const Rooms rooms = { room - mmtp_prelude_get_size (prelude), room };

  return rooms;
}

static guint
count_packets (gsize size, const Rooms * rooms)
{
  return size <= rooms->first ? 1 :
      1 + (size - rooms->first + rooms->further - 1) / rooms->further;
}

static gsize
get_buffer_size (const MmtpBuffer * buffer)
{
  return buffer->part ? buffer->part_size : g_bytes_get_size (buffer->data);
}

/* Creates the MmtpUnit of `buffer`, which holds the buffer and its packets. The
 * unit has memory for `n_packets` packets, into which it is split later. */
static MmtpUnit *
new_unit (MmtpSendQueue * queue, guint64 now, const MmtpBuffer * buffer,
    guint8 caps_version, guint n_packets)
{
  MmtpUnit *unit = mmtp_send_window_alloc (&queue->window, n_packets);

  unit->data = g_bytes_ref (buffer->data);
  unit->bytes = buffer->part ? buffer->part :
      g_bytes_get_data (buffer->data, NULL);
  unit->size = get_buffer_size (buffer);
  unit->due = buffer->due == G_MAXUINT64 ? now : buffer->due;
  unit->pts = buffer->pts;
  unit->flags = buffer->flags & MMTP_FLAGS_OF_BUFFER;
  unit->caps_version = caps_version;
  unit->prelude = buffer->prelude;
  unit->picture = buffer->picture;
  note_frame (queue, unit->due, unit->flags, unit->picture.is_piece);
  unit->frame = queue->frame;
  if (unit->picture.is_data) {
    unit->group = queue->gop.number;
    unit->rank = MMTP_RANK_DATA;
  } else {
    note_picture (queue, unit, buffer->flags);
    unit->weight = mmtp_gop_get_weight (&queue->gop, unit->rank, unit->frame);
    adopt_parts (queue, unit);
  }
  unit->first = queue->window.next;
  return unit;
}

static guint64
estimate_work (gsize size, const MmtpPutLimits * limits)
{
  gsize room = limits->message - MMTP_DATA_OVERHEAD;

  return size + (size / room + 1) * mmtp_send_packet_get_work (0);
}

static void
note_refused (MmtpSendQueue * queue, const MmtpUnit * unit)
{
  if (unit->picture.is_independent)
    mmtp_gop_lose (&queue->gop, unit->group);
  if (!unit->picture.has_slots)
    mmtp_gop_give_up (&queue->gop,
        mmtp_picture_get_needing_group (&unit->picture, unit->group),
        unit->due);
}

static void
give_up_begun (MmtpSendQueue * queue, MmtpUnit * unit, gboolean is_undecodable)
{
  if (!is_undecodable) {
    give_up (queue, unit, MMTP_DISCARD_LATE);
    return;
  }
  give_up_frame (queue, unit, MMTP_DISCARD_BROKEN);
  mmtp_send_window_raise_floor (&queue->window);
}

/* Drops `unit`, a buffer that the queue does not accept. If it is part of a
 * picture, earlier buffers of this picture may already be in the queue. They
 * are dropped as well, because an incomplete picture is useless. */
static void
refuse (MmtpSendQueue * queue, MmtpUnit * unit, MmtpDiscard reason)
{
  const gboolean is_undecodable =
      mmtp_gop_needs_dropped (&queue->gop, &unit->picture);
  MmtpUnit *last = mmtp_send_window_get_last_part (&queue->window, unit);

  if (unit->picture.is_data) {
    tell_discarded (queue, unit, reason, FALSE);
    mmtp_send_window_free_unit (&queue->window, unit);
    return;
  }
  if (last && queue->given_up_frame != unit->frame)
    give_up_begun (queue, last, is_undecodable);
  else if (!is_undecodable && queue->given_up_frame != unit->frame &&
      mmtp_rank_is_reference (unit->rank))
    note_refused (queue, unit);
  queue->given_up_frame = unit->frame;
  mmtp_gop_note_dropped (&queue->gop, &unit->picture, unit->due);
  tell_discarded (queue, unit, reason, is_undecodable);
  mmtp_send_window_free_unit (&queue->window, unit);
}

/* Returns whether the queue accepts the buffer `unit`. If it does not, sets
 * `reason` to the reason for dropping the buffer. */
static gboolean
admit (MmtpSendQueue * queue, const MmtpUnit * unit, gsize size,
    const MmtpPutLimits * limits, MmtpDiscard * reason)
{
  const gboolean is_undecodable =
      mmtp_gop_needs_dropped (&queue->gop, &unit->picture);

  *reason = is_undecodable ? MMTP_DISCARD_BROKEN : MMTP_DISCARD_LATE;
  if (is_undecodable || (unit->frame == queue->given_up_frame &&
          !unit->picture.is_data))
    return FALSE;
  *reason = MMTP_DISCARD_ROOM;
  if (!make_room (queue, unit, size))
    return FALSE;
  *reason = MMTP_DISCARD_LATE;
  return unit->picture.is_data || has_time (queue, unit,
      estimate_work (size, limits), limits->capacity);
}

gboolean
mmtp_send_queue_put (MmtpSendQueue * queue, guint64 now,
    const MmtpBuffer * buffer, const MmtpPutLimits * limits)
{
  const Rooms rooms = get_rooms (&buffer->prelude, limits);
  const gsize size = get_buffer_size (buffer);
  MmtpUnit *unit = new_unit (queue, now, buffer, limits->caps_version,
      count_packets (size, &rooms));
  MmtpDiscard reason;
  guint i;

  queue->stats.buffers++;
  queue->stats.bytes += size;
  mmtp_stream_rate_add (&queue->rate, unit->due, unit->size);
  if (!admit (queue, unit, size, limits, &reason)) {
    count_discarded (queue, unit->rank, reason);
    refuse (queue, unit, reason);
    return FALSE;
  }
  mmtp_gop_note_sent (&queue->gop, &unit->picture);
  mmtp_send_window_add (&queue->window, unit, rooms.first, rooms.further);
  for (i = 0; i < unit->n_packets; i++)
    mmtp_packet_list_insert (get_list (queue, &unit->packets[i]),
        &unit->packets[i]);
  mmtp_waiting_mark_unbegun (&queue->waiting, unit);
  queue->stats.packets += unit->n_packets;
  return TRUE;
}

void
mmtp_send_queue_refuse (MmtpSendQueue * queue, guint64 now,
    const MmtpBuffer * buffer, MmtpDiscard reason)
{
  MmtpUnit *unit = new_unit (queue, now, buffer, 0, 0);

  queue->stats.buffers++;
  queue->stats.bytes += unit->size;
  count_discarded (queue, unit->rank, reason);
  tell_discarded (queue, unit, reason, FALSE);
  mmtp_send_window_free_unit (&queue->window, unit);
}

/* --- retransmissions ------------------------------------------------------ */

static gboolean
is_too_late (const MmtpSendQueue * queue, const MmtpPacket * packet,
    guint64 arrival)
{
  return arrival > mmtp_send_queue_get_deadline (queue, packet);
}

gboolean
mmtp_send_queue_requeue (MmtpSendQueue * queue, MmtpPacket * packet,
    guint64 arrival)
{
  if (packet->state != MMTP_PACKET_IN_FLIGHT || packet->unit->given_up ||
      is_too_late (queue, packet, arrival))
    return FALSE;
  mmtp_packet_list_insert (get_list (queue, packet), packet);
  return TRUE;
}

void
mmtp_send_queue_withdraw (MmtpSendQueue * queue, MmtpPacket * packet)
{
  mmtp_packet_list_remove (get_list (queue, packet), packet,
      MMTP_PACKET_IN_FLIGHT);
}

void
mmtp_send_queue_note_lost (MmtpSendQueue * queue, MmtpPacket * packet)
{
  const MmtpUnit *unit = packet->unit;

  if (packet->state == MMTP_PACKET_SPECULATIVE)
    leave_speculative (queue, packet, MMTP_PACKET_DONE);
  packet->state = MMTP_PACKET_DONE;
  if (unit->picture.is_data)
    unit = mmtp_send_window_find_picture (&queue->window, unit);
  if (unit)
    note_broken (queue, unit);
}

void
mmtp_send_queue_set_speculative (MmtpSendQueue * queue, MmtpPacket * packet)
{
  packet->state = MMTP_PACKET_SPECULATIVE;
  g_queue_push_tail (&queue->speculative, packet);
}

const GQueue *
mmtp_send_queue_get_speculative (const MmtpSendQueue * queue)
{
  return &queue->speculative;
}

/* The receiver has reported that it no longer needs the packets with stream
 * numbers below a limit. `low` contains the low 32 bits of this limit. The
 * function marks these packets, so that they will not be sent any more. It
 * begins at `reported_next`, where the previous call stopped. Each packet is
 * therefore visited only once in a session. */
void
mmtp_send_queue_settle (MmtpSendQueue * queue, guint32 low)
{
  guint64 number = mmtp_unwrap (low, 32, queue->reported_next);
  const guint64 first = MAX (queue->reported_next, queue->window.floor);
  guint64 i;

  number = MIN (MIN (number, queue->window.next), first + MAX_SETTLED);
  for (i = first; i < number; i++) {
    MmtpPacket *packet = mmtp_send_queue_get_packet (queue, i);

    queue->stats.report_steps++;
    if (packet->state == MMTP_PACKET_WAITING && packet->was_sent)
      mmtp_packet_list_remove (get_list (queue, packet), packet,
          MMTP_PACKET_DONE);
    else if (packet->state == MMTP_PACKET_SPECULATIVE)
      leave_speculative (queue, packet, MMTP_PACKET_DONE);
    else if (packet->state == MMTP_PACKET_IN_FLIGHT)
      packet->state = MMTP_PACKET_DONE;
  }
  queue->reported_next = MAX (queue->reported_next, number);
  mmtp_send_window_raise_floor (&queue->window);
}

/* --- late packets --------------------------------------------------------- */

void
mmtp_send_queue_expire (MmtpSendQueue * queue, guint64 arrival)
{
  MmtpPacket *head;
  guint i;

  for (i = 0; i < MMTP_N_RANKS; i++)
    while ((head = mmtp_waiting_get_first (&queue->waiting, i))
        && arrival > mmtp_send_queue_get_last_time (queue, head)) {
      if (head->unit->picture.is_data)
        give_up_data (queue, head->unit, MMTP_DISCARD_LATE);
      else
        give_up (queue, head->unit, MMTP_DISCARD_LATE);
    }
}

/* Sent packets are kept until their deadline, because they may have to be
 * retransmitted. If the kept packets together exceed max_bytes, the oldest
 * packets are removed earlier. */
void
mmtp_send_queue_forget_late (MmtpSendQueue * queue, guint64 now)
{
  while (queue->window.floor < queue->window.next) {
    MmtpPacket *packet =
        mmtp_send_queue_get_packet (queue, queue->window.floor);

    if (packet->state == MMTP_PACKET_WAITING ||
        packet->state == MMTP_PACKET_SPECULATIVE)
      return;
    if (packet->state == MMTP_PACKET_IN_FLIGHT &&
        !is_too_late (queue, packet, now) &&
        queue->window.bytes - mmtp_send_queue_get_bytes (queue) <=
        queue->max_bytes)
      return;
    packet->state = MMTP_PACKET_DONE;
    mmtp_send_window_raise_floor (&queue->window);
  }
}

/* --- choosing the next packet --------------------------------------------- */

/* Returns the waiting packet with the earliest deadline among the packets of
 * the rank `rank` that would be in time if they arrived at `arrival`. In time
 * means not after the deadline. The maximum lateness, which would allow a
 * packet to miss its deadline by some time, is not used here. Returns NULL if
 * there is no such packet. */
static MmtpPacket *
find_in_time (const MmtpSendQueue * queue, MmtpRank rank, guint64 arrival)
{
  return mmtp_waiting_find (&queue->waiting, rank, arrival, queue->delay);
}

/* Among the waiting packets of the rank `rank` that would be late if they
 * arrived at `arrival`, returns the one with the latest deadline. Returns NULL
 * if there is none. */
static MmtpPacket *
find_last_late (const MmtpSendQueue * queue, MmtpRank rank, guint64 arrival)
{
  const MmtpPacketList *list = &queue->waiting.ranks[rank];
  const MmtpPacket *in_time = find_in_time (queue, rank, arrival);

  return in_time ? mmtp_packet_list_get_previous (list, in_time) :
      mmtp_packet_list_get_last (list);
}

guint64
mmtp_send_queue_get_late_group (const MmtpSendQueue * queue, guint64 arrival)
{
  guint64 late = 0;
  MmtpRank rank;

  for (rank = MMTP_RANK_DELTA; rank <= MMTP_RANK_KEY; rank++) {
    const MmtpPacket *packet = find_last_late (queue, rank, arrival);

    if (packet && !packet->unit->picture.is_independent)
      late = MAX (late,
          mmtp_picture_get_needing_group (&packet->unit->picture,
              packet->unit->group));
  }
  return late;
}

MmtpPacket *
mmtp_send_queue_find (const MmtpSendQueue * queue, MmtpRank rank,
    guint64 arrival, guint64 late)
{
  MmtpPacket *packet = find_in_time (queue, rank, arrival);

  while (packet && mmtp_picture_needs (&packet->unit->picture,
          packet->unit->group, late))
    packet = mmtp_waiting_get_next (&queue->waiting, packet);
  return packet;
}

gboolean
mmtp_send_queue_has_references (const MmtpSendQueue * queue)
{
  return queue->has_references;
}

void
mmtp_send_queue_fill_plan (const MmtpSendQueue * queue, MmtpPlan * plan,
    guint64 earliest)
{
  const MmtpPlanSource source = { &queue->window, &queue->waiting, queue->delay,
    queue->max_lateness, queue->sent_frame
  };

  mmtp_plan_fill (plan, &source, earliest);
}

MmtpPacket *
mmtp_send_queue_find_planned (const MmtpSendQueue * queue,
    MmtpPlanFrame * frame)
{
  return mmtp_plan_frame_find_packet (frame, &queue->window);
}

/* --- after sending -------------------------------------------------------- */

gboolean
mmtp_send_queue_note_sent (MmtpSendQueue * queue, MmtpPacket * packet,
    guint path, guint64 number)
{
  MmtpUnit *unit = packet->unit;

  if (packet->state == MMTP_PACKET_SPECULATIVE)
    leave_speculative (queue, packet, MMTP_PACKET_IN_FLIGHT);
  else
    mmtp_packet_list_remove (get_list (queue, packet), packet,
        MMTP_PACKET_IN_FLIGHT);
  packet->path = path;
  packet->path_number = number;
  if (packet->was_sent)
    return FALSE;
  packet->was_sent = TRUE;
  mmtp_waiting_mark_begun (&queue->waiting, unit);
  if (!unit->picture.is_data)
    queue->sent_frame = unit->frame;
  if (++unit->n_sent == unit->n_packets)
    queue->stats.sent_buffers++;
  return TRUE;
}

/* --- removing all packets: at the end of a session, or for a flush -------- */

void
mmtp_send_queue_give_up_all (MmtpSendQueue * queue, MmtpDiscard reason)
{
  guint64 number = queue->window.floor;

  while (number < queue->window.next) {
    const MmtpPacket *packet = mmtp_send_queue_get_packet (queue, number);
    MmtpUnit *unit = packet->unit;

    if (packet->state == MMTP_PACKET_WAITING) {
      give_up_unit (queue, unit, reason);
      number = unit->first + unit->n_packets;
    } else {
      number++;
    }
  }
  mmtp_send_window_raise_floor (&queue->window);
}

void
mmtp_send_queue_flush (MmtpSendQueue * queue)
{
  MmtpPacket *packet;
  guint64 number;

  while ((packet = mmtp_send_queue_get_head (queue))) {
    mmtp_waiting_mark_begun (&queue->waiting, packet->unit);
    packet->unit->given_up = TRUE;
    mmtp_packet_list_remove (get_list (queue, packet), packet,
        MMTP_PACKET_DONE);
  }
  g_queue_clear (&queue->speculative);
  for (number = queue->window.floor; number < queue->window.next; number++)
    mmtp_send_queue_get_packet (queue, number)->state = MMTP_PACKET_DONE;
  mmtp_send_window_raise_floor (&queue->window);
  mmtp_stream_rate_restart (&queue->rate);
  /* All packets have been removed from the queue. The next buffer therefore
   * begins a new frame, even if the previous frame was not complete. */
  queue->given_up_frame = G_MAXUINT64;
  queue->frame_ended = TRUE;
  queue->has_references = FALSE;
  mmtp_gop_init (&queue->gop);
}

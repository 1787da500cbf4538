/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The one queue that all paths serve [4.4 of the paper]: buffers become
 * packets, in order of their deadlines. What cannot be in time is given up
 * here, with the rest of its frame, and what is less important waits while
 * something more important might be late because of it. mmtpsenderdata.c sends
 * them. */

#include "mmtppolicy.h"

/* Packets, a power of two; it grows when it is full. */
#define LEAST_WINDOW 64
/* Bytes of each packet besides its payload: docs/wire-mmtp.md, IPv4 and UDP */
#define PACKET_WORK (MMTP_DATA_OVERHEAD + 28)
/* Keep-alives and what is sent again take their part of the rate, and nobody
 * who puts a buffer waits for them. */
#define PUT_PERCENT 95
/* A caller that can wait keeps somewhat more free: what was admitted must be in
 * time also when the delay grows a little. */
#define ROOM_PERCENT 85
/* What is put is refused where so much more than the paths seem to carry would
 * wait: an estimate that is too low must not cost frames, and what is late in
 * the end is given up when that is known. */
#define LENIENT_PERCENT 400
/* Percent of D0 that a frame has to spare as long as it goes before more
 * important ones: enough for a key frame, which is several times as large. */
#define DROPPABLE_SLACK 70
#define DELTA_SLACK 30
/* Part of what the paths bring until then that they may need */
#define DEFER_PERCENT 60
/* Three reports: a packet that is stuck on a path that has stalled goes
 * elsewhere so long before it would be too late there. */
#define RESCUE_TIME (150 * MMTP_MILLISECOND)
/* It looks for such packets no more often, however many reports come. */
#define RESCUE_PERIOD (10 * MMTP_MILLISECOND)
/* A caller that waits for room goes on when a quarter of it is free. */
#define ROOM_AGAIN 4
/* The put rate is measured over so much of the stream. */
#define MEASURED_SPAN (2 * MMTP_SECOND)

/* --- packets and buffers ------------------------------------------------- */

static gint
compare_packets (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const MmtpPacket *first = a, *second = b;

  if (first->due != second->due)
    return first->due < second->due ? -1 : 1;
  if (first->number != second->number)
    return first->number < second->number ? -1 : 1;
  return 0;
}

static void
free_unit (MmtpUnit * unit)
{
  g_bytes_unref (unit->data);
  g_free (unit);
}

/* What it costs on a path */
static guint64
get_work (const MmtpPacket * packet)
{
  return packet->size + PACKET_WORK;
}

gsize
mmtp_sender_get_message_size (const MmtpPacket * packet)
{
  const MmtpUnit *unit = packet->unit;
  gsize size = packet->size + MMTP_DATA_OVERHEAD;

  if (unit->prelude.mask && packet->number == unit->first)
    size += mmtp_prelude_get_size (&unit->prelude);
  return size;
}

void
mmtp_sender_init_queue (MmtpSender * sender)
{
  guint i;

  for (i = 0; i < MMTP_N_RANKS; i++)
    sender->queues[i] = g_sequence_new (NULL);
  sender->given_up_frame = sender->begun_frame = G_MAXUINT64;
  mmtp_gop_init (&sender->gop);
  sender->window_size = LEAST_WINDOW;
  sender->window = g_new (MmtpPacket *, sender->window_size);
}

MmtpPacket *
mmtp_sender_get_packet (MmtpSender * sender, guint64 number)
{
  if (number < sender->floor || number >= sender->next_number)
    return NULL;
  return sender->window[number & (sender->window_size - 1)];
}

static void
grow_window (MmtpSender * sender)
{
  guint size = sender->window_size * 2;
  MmtpPacket **window = g_new (MmtpPacket *, size);
  guint64 number;

  for (number = sender->floor; number < sender->next_number; number++)
    window[number & (size - 1)] = mmtp_sender_get_packet (sender, number);
  g_free (sender->window);
  sender->window = window;
  sender->window_size = size;
}

static MmtpPacket *
add_packet (MmtpSender * sender, MmtpUnit * unit, gsize offset, gsize size)
{
  MmtpPacket *packet = g_slice_new0 (MmtpPacket);

  if (sender->next_number - sender->floor == sender->window_size)
    grow_window (sender);
  packet->unit = unit;
  packet->number = sender->next_number++;
  packet->due = unit->due;
  packet->offset = offset;
  packet->size = size;
  packet->state = MMTP_PACKET_DONE;
  sender->window[packet->number & (sender->window_size - 1)] = packet;
  sender->kept_bytes += size;
  unit->n_packets++;
  unit->n_kept++;
  return packet;
}

/* Below the floor nothing will be sent. */
static void
raise_floor (MmtpSender * sender)
{
  while (sender->floor < sender->next_number) {
    MmtpPacket *packet = mmtp_sender_get_packet (sender, sender->floor);

    if (packet->state != MMTP_PACKET_DONE)
      return;
    sender->kept_bytes -= packet->size;
    if (--packet->unit->n_kept == 0)
      free_unit (packet->unit);
    g_slice_free (MmtpPacket, packet);
    sender->floor++;
  }
}

/* --- the queues ---------------------------------------------------------- */

static MmtpPacket *
get_first (const MmtpSender * sender, MmtpRank rank)
{
  GSequenceIter *iter = g_sequence_get_begin_iter (sender->queues[rank]);

  return g_sequence_iter_is_end (iter) ? NULL : g_sequence_get (iter);
}

static MmtpPacket *
get_last (const MmtpSender * sender, MmtpRank rank)
{
  if (g_sequence_is_empty (sender->queues[rank]))
    return NULL;
  return g_sequence_get (g_sequence_iter_prev (g_sequence_get_end_iter
          (sender->queues[rank])));
}

gboolean
mmtp_sender_is_queue_empty (const MmtpSender * sender)
{
  return sender->queued_work == 0;
}

MmtpPacket *
mmtp_sender_get_head (const MmtpSender * sender)
{
  MmtpPacket *head = NULL;
  guint i;

  for (i = 0; i < MMTP_N_RANKS; i++) {
    MmtpPacket *packet = get_first (sender, i);

    if (packet && (!head || compare_packets (packet, head, NULL) < 0))
      head = packet;
  }
  return head;
}

MmtpPacket *
mmtp_sender_get_tail (const MmtpSender * sender)
{
  MmtpPacket *tail = NULL;
  guint i;

  for (i = 0; i < MMTP_N_RANKS; i++) {
    MmtpPacket *packet = get_last (sender, i);

    if (packet && (!tail || compare_packets (packet, tail, NULL) > 0))
      tail = packet;
  }
  return tail;
}

static void
enqueue (MmtpSender * sender, MmtpPacket * packet)
{
  MmtpRank rank = packet->unit->rank;
  MmtpPacket *tail = get_last (sender, rank);

  if (!tail || compare_packets (tail, packet, NULL) < 0)
    packet->place = g_sequence_append (sender->queues[rank], packet);
  else
    packet->place = g_sequence_insert_sorted (sender->queues[rank], packet,
        compare_packets, NULL);
  packet->state = MMTP_PACKET_WAITING;
  sender->queued_bytes += packet->size;
  sender->queued_work += get_work (packet);
  sender->queue_work[rank] += get_work (packet);
}

static void
dequeue (MmtpSender * sender, MmtpPacket * packet, MmtpPacketState state)
{
  g_sequence_remove (packet->place);
  packet->place = NULL;
  packet->state = state;
  sender->queued_bytes -= packet->size;
  sender->queued_work -= get_work (packet);
  sender->queue_work[packet->unit->rank] -= get_work (packet);
}

static guint64
get_unit_work (const MmtpUnit * unit)
{
  return g_bytes_get_size (unit->data) + unit->n_packets *
      (guint64) PACKET_WORK;
}

static void
mark_unbegun (MmtpSender * sender, MmtpUnit * unit)
{
  unit->link.data = unit;
  g_queue_push_tail_link (&sender->unbegun[unit->rank], &unit->link);
  sender->unbegun_work[unit->rank] += get_unit_work (unit);
}

static void
mark_begun (MmtpSender * sender, MmtpUnit * unit)
{
  if (!unit->link.data)
    return;
  unit->link.data = NULL;
  g_queue_unlink (&sender->unbegun[unit->rank], &unit->link);
  sender->unbegun_work[unit->rank] -= get_unit_work (unit);
}

/* --- giving up ----------------------------------------------------------- */

static gboolean
is_reference (const MmtpUnit * unit)
{
  return unit->rank == MMTP_RANK_DELTA || unit->rank == MMTP_RANK_KEY;
}

/* The group of pictures that is of no use without it: of a leading picture only
 * other leading pictures need it, as they need the group before. */
static guint64
get_needing_group (const MmtpUnit * unit)
{
  return unit->picture.is_leading ? unit->group - 1 : unit->group;
}

/* `is_vain`: it is given up because of another one */
static void
tell_discarded (MmtpSender * sender, const MmtpUnit * unit, guint32 size,
    gboolean is_vain)
{
  MmtpSenderEvent event = { MMTP_EVENT_DISCARDED };

  event.flags = unit->flags;
  event.is_needed = !unit->picture.is_leading &&
      (is_vain || is_reference (unit));
  event.size = size;
  mmtp_sender_tell (sender, &event);
}

static void
count_discarded (MmtpSender * sender, MmtpRank rank, guint64 * counter)
{
  (*counter)++;
  if (rank == MMTP_RANK_KEY)
    sender->stats.discarded_keys++;
  else if (rank == MMTP_RANK_DROPPABLE)
    sender->stats.discarded_droppable++;
}

static void
give_up_unit (MmtpSender * sender, MmtpUnit * unit, guint64 * counter)
{
  guint64 number, end = unit->first + unit->n_packets;

  mark_begun (sender, unit);
  if (!unit->given_up)
    count_discarded (sender, unit->rank, counter);
  unit->given_up = TRUE;
  for (number = MAX (unit->first, sender->floor); number < end; number++) {
    MmtpPacket *packet = mmtp_sender_get_packet (sender, number);

    if (packet->state == MMTP_PACKET_WAITING)
      dequeue (sender, packet, MMTP_PACKET_DONE);
    else if (packet->state == MMTP_PACKET_CHANCY)
      mmtp_sender_leave_chancy (sender, packet, MMTP_PACKET_DONE);
    packet->state = MMTP_PACKET_DONE;
  }
  tell_discarded (sender, unit, g_bytes_get_size (unit->data),
      counter == &sender->stats.discarded_broken);
}

/* Number of the first packet of the frame that is still kept */
static guint64
get_frame_start (const MmtpSender * sender, const MmtpUnit * unit)
{
  guint64 first = MAX (unit->first, sender->floor);

  while (first > sender->floor) {
    const MmtpPacket *packet = mmtp_sender_get_packet ((MmtpSender *) sender,
        first - 1);

    if (packet->unit->frame != unit->frame)
      break;
    first = MAX (packet->unit->first, sender->floor);
  }
  return first;
}

static void
set_rank (MmtpSender * sender, MmtpPacket * packet, MmtpRank rank)
{
  MmtpUnit *unit = packet->unit;
  guint64 number, end = unit->first + unit->n_packets;
  gboolean is_unbegun = unit->link.data != NULL;

  mark_begun (sender, unit);
  for (number = MAX (unit->first, sender->floor); number < end; number++) {
    MmtpPacket *part = mmtp_sender_get_packet (sender, number);

    if (part->state == MMTP_PACKET_WAITING)
      dequeue (sender, part, MMTP_PACKET_SET_ASIDE);
  }
  unit->rank = rank;
  for (number = MAX (unit->first, sender->floor); number < end; number++) {
    MmtpPacket *part = mmtp_sender_get_packet (sender, number);

    if (part->state == MMTP_PACKET_SET_ASIDE)
      enqueue (sender, part);
  }
  if (is_unbegun)
    mark_unbegun (sender, unit);
}

/* All pictures up to the next key frame refer to this one, directly or not.
 * They are sent when nothing else waits, and no sooner. */
void
mmtp_sender_note_broken (MmtpSender * sender, const MmtpUnit * unit)
{
  guint64 frame = unit->frame;
  guint64 number = MAX (unit->first + unit->n_packets, sender->floor);

  if (!is_reference (unit) || unit->picture.is_leading)
    return;
  while (number < sender->next_number) {
    MmtpPacket *packet = mmtp_sender_get_packet (sender, number);
    MmtpUnit *next = packet->unit;

    number = next->first + next->n_packets;
    if (next->frame == frame)
      continue;
    if (next->rank == MMTP_RANK_KEY)
      return;
    if (next->rank != MMTP_RANK_BROKEN && !next->given_up)
      set_rank (sender, packet, MMTP_RANK_BROKEN);
  }
  mmtp_gop_lose (&sender->gop, unit->group);
}

/* With the rest of its frame: a part of it is of no use. */
static void
give_up_frame (MmtpSender * sender, MmtpUnit * unit, guint64 * counter)
{
  guint64 frame = unit->frame;
  guint64 number = get_frame_start (sender, unit);

  if (frame == sender->frame)
    sender->given_up_frame = frame;
  while (number < sender->next_number) {
    MmtpPacket *packet = mmtp_sender_get_packet (sender, number);
    MmtpUnit *part = packet->unit;

    if (part->frame != frame)
      break;
    number = part->first + part->n_packets;
    if (!part->given_up && (part == unit || part->n_sent < part->n_packets))
      give_up_unit (sender, part, counter);
  }
}

/* What needs a reference that is given up: what has gone has gone, and of the
 * rest nothing is sent. */
static void
give_up_dependents (MmtpSender * sender, const MmtpUnit * reference)
{
  guint64 frame = reference->frame, group = get_needing_group (reference);
  guint64 number = reference->first + reference->n_packets;

  for (number = MAX (number, sender->floor); number < sender->next_number;) {
    MmtpUnit *unit = mmtp_sender_get_packet (sender, number)->unit;

    number = unit->first + unit->n_packets;
    if (unit->group > group + 1)
      break;
    if (unit->frame != frame && !unit->given_up &&
        unit->n_sent < unit->n_packets &&
        mmtp_picture_needs (&unit->picture, unit->group, group))
      give_up_frame (sender, unit, &sender->stats.discarded_broken);
  }
}

/* A frame, and what needs it */
static void
give_up (MmtpSender * sender, MmtpUnit * unit, guint64 * counter)
{
  if (is_reference (unit)) {
    if (unit->picture.is_independent)
      mmtp_sender_note_broken (sender, unit);
    mmtp_gop_give_up (&sender->gop, get_needing_group (unit), unit->due);
    give_up_dependents (sender, unit);
  }
  give_up_frame (sender, unit, counter);
  raise_floor (sender);
}

/* Of what has not begun the least important, but less than `rank`; of these the
 * last put, of which the others depend least. FALSE: not enough. */
static gboolean
give_up_below (MmtpSender * sender, MmtpRank rank, guint64 work,
    guint64 * counter)
{
  guint64 freed = 0, available = 0;
  guint i;

  for (i = 0; i < rank; i++)
    available += sender->unbegun_work[i];
  if (available < work)
    return FALSE;
  for (i = 0; i < rank; i++)
    while (freed < work && sender->unbegun[i].tail) {
      guint64 before = sender->queued_work;

      give_up (sender, sender->unbegun[i].tail->data, counter);
      freed += before - sender->queued_work;
    }
  return TRUE;
}

/* --- what fits ----------------------------------------------------------- */

/* Bytes, with all that goes before them, that all paths together bring before a
 * deadline, behind what is in flight */
static guint64
get_capacity (const MmtpSender * sender, guint64 deadline, gboolean at_best,
    guint percent)
{
  guint64 sum = 0;
  guint i;

  for (i = 0; i < sender->n_paths; i++) {
    const MmtpPath *path = sender->paths[i];
    guint64 rate, delay;

    if (!mmtp_path_is_usable (sender->paths[i]))
      continue;
    rate = at_best ? mmtp_path_get_peak_rate (path) :
        mmtp_path_get_rate (path);
    delay = at_best ? mmtp_path_get_best_delay (path, sender->now) :
        mmtp_path_get_safe_delay (path, sender->now);
    if (deadline < sender->now + delay)
      continue;
    sum += (deadline - sender->now - delay) / 1000 *
        (rate / 8) / 1000000 * percent / 100 +
        path->longest + path->overhead;
  }
  return sum;
}

/* A path carries what it is given until there is evidence against it: while one
 * has room and was never asked for all that it can do, everything fits. */
static gboolean
is_measurable (const MmtpSender * sender)
{
  gboolean any = FALSE;
  guint i;

  for (i = 0; i < sender->n_paths; i++) {
    const MmtpPath *path = sender->paths[i];

    if (!mmtp_path_is_usable (sender->paths[i]))
      continue;
    any = TRUE;
    if (path->limits.is_app_limited)
      return FALSE;
  }
  return sender->ready && any;
}

/* Estimates are uncertain, configured rates are not. */
static guint
get_put_percent (const MmtpSender * sender)
{
  guint i;

  for (i = 0; i < sender->n_paths; i++)
    if (mmtp_path_is_usable (sender->paths[i]) &&
        !sender->paths[i]->configured_rate)
      return LENIENT_PERCENT;
  return PUT_PERCENT;
}

static gboolean
make_time (MmtpSender * sender, const MmtpUnit * unit, guint64 work)
{
  guint64 capacity, queued = 0;
  guint i;

  if (!is_measurable (sender))
    return TRUE;
  capacity = get_capacity (sender, unit->due + sender->initial_delay, TRUE,
      get_put_percent (sender));
  for (i = unit->rank; i < MMTP_N_RANKS; i++)
    queued += sender->queue_work[i];
  return queued + work <= capacity;
}

gboolean
mmtp_sender_fits (const MmtpSender * sender, gsize size)
{
  return sender->queued_bytes == 0
      || sender->queued_bytes + size <= sender->config.max_bytes;
}

static gboolean
make_room (MmtpSender * sender, const MmtpUnit * unit, gsize size)
{
  guint64 bytes = sender->queued_bytes + size;

  if (mmtp_sender_fits (sender, size))
    return TRUE;
  return give_up_below (sender, unit->rank, bytes - sender->config.max_bytes,
      &sender->stats.discarded_room);
}

/* --- putting ------------------------------------------------------------- */

/* Buffers up to a marker, or with the same due time, are one frame. */
static void
note_frame (MmtpSender * sender, guint64 due, guint8 flags)
{
  if (sender->frame_ended || due != sender->frame_due)
    sender->frame++;
  sender->frame_due = due;
  sender->frame_ended = (flags & MMTP_FLAG_MARKER) != 0;
}

/* The last unit, where it belongs to the same frame; NULL */
static const MmtpUnit *
get_last_part (MmtpSender * sender, const MmtpUnit * unit)
{
  const MmtpPacket *last = mmtp_sender_get_packet (sender,
      sender->next_number - 1);

  return last && last->unit->frame == unit->frame ? last->unit : NULL;
}

static void
note_picture (MmtpSender * sender, MmtpUnit * unit, guint8 flags)
{
  const MmtpUnit *last = get_last_part (sender, unit);
  PictureKind kind = mmtp_picture_get_kind (&unit->picture, flags);

  if (last && unit->picture.kind == PICTURE_KIND_PART) {
    unit->picture = last->picture;
    kind = mmtp_picture_get_kind (&last->picture, last->flags);
  }
  mmtp_gop_put (&sender->gop, kind, unit->frame, unit->due);
  /* Some payloaders mark the first packet of a key frame alone. */
  if (kind == PICTURE_KIND_REFERENCE && unit->frame == sender->gop.key_frame)
    kind = PICTURE_KIND_KEY;
  unit->group = sender->gop.number;
  /* h264parse marks each access unit with an SEI as a header. */
  unit->rank = mmtp_gop_get_rank (&sender->gop, kind,
      unit->picture.kind == PICTURE_KIND_UNKNOWN ? flags : 0);
}

/* Every path's longest message has room for payload behind all headers. */
G_STATIC_ASSERT (MMTP_MIN_LONGEST > MMTP_DATA_OVERHEAD + MMTP_REPAIR_RESERVE +
    MMTP_MAX_PRELUDE);

static guint
get_least_longest (const MmtpSender * sender)
{
  guint least = G_MAXUINT16;
  guint i;

  for (i = 0; i < sender->n_paths; i++)
    if (sender->paths[i]->state != MMTP_PATH_GONE)
      least = MIN (least, sender->paths[i]->longest);
  return MIN (least, MMTP_MAX_MESSAGE);
}

/* The parts before it are of the same picture, such as access unit delimiters,
 * which do not tell what follows them. */
static void
adopt_parts (MmtpSender * sender, const MmtpUnit * unit)
{
  guint64 number = sender->next_number;

  if (unit->picture.kind == PICTURE_KIND_PART)
    return;
  while (number > sender->floor) {
    MmtpPacket *packet = mmtp_sender_get_packet (sender, number - 1);
    MmtpUnit *part = packet->unit;

    if (part->frame != unit->frame || part->given_up ||
        part->picture.kind != PICTURE_KIND_PART)
      return;
    part->group = unit->group;
    part->picture = unit->picture;
    if (part->rank != unit->rank)
      set_rank (sender, packet, unit->rank);
    number = MAX (part->first, sender->floor);
  }
}

static MmtpUnit *
new_unit (MmtpSender * sender, const MmtpBuffer * buffer)
{
  MmtpUnit *unit = g_new0 (MmtpUnit, 1);

  unit->data = g_bytes_ref (buffer->data);
  unit->due = buffer->due == G_MAXUINT64 ? sender->now : buffer->due;
  unit->flags = buffer->flags & MMTP_FLAGS_OF_BUFFER;
  unit->caps_version = sender->caps ? sender->caps_version : 0;
  unit->prelude = buffer->prelude;
  unit->picture = buffer->picture;
  note_frame (sender, unit->due, unit->flags);
  unit->frame = sender->frame;
  note_picture (sender, unit, buffer->flags);
  adopt_parts (sender, unit);
  unit->first = sender->next_number;
  return unit;
}

static void
fragment (MmtpSender * sender, MmtpUnit * unit)
{
  gsize left = g_bytes_get_size (unit->data), offset = 0;
  gsize room = get_least_longest (sender) - MMTP_DATA_OVERHEAD -
      mmtp_sender_get_repair_reserve (sender);
  gsize first = room - (unit->prelude.mask ?
      mmtp_prelude_get_size (&unit->prelude) : 0);

  do {
    gsize size = MIN (left, offset ? room : first);

    enqueue (sender, add_packet (sender, unit, offset, size));
    offset += size;
    left -= size;
  } while (left);
  mark_unbegun (sender, unit);
}

static void
measure_put (MmtpSender * sender, const MmtpUnit * unit)
{
  guint64 span;

  if (unit->due < sender->measured_since ||
      unit->due > sender->measured_since + 2 * MEASURED_SPAN) {
    sender->measured_since = unit->due;
    sender->measured_bits = 0;
  }
  span = unit->due - sender->measured_since;
  if (span >= MEASURED_SPAN) {
    sender->measured_rate = sender->measured_bits * 1000 /
        (span / MMTP_MILLISECOND);
    sender->measured_since = unit->due;
    sender->measured_bits = 0;
  }
  sender->measured_bits += g_bytes_get_size (unit->data) * 8;
}

static guint64
estimate_work (const MmtpSender * sender, gsize size)
{
  gsize room = get_least_longest (sender) - MMTP_DATA_OVERHEAD;

  return size + (size / room + 1) * (guint64) PACKET_WORK;
}

/* How long a packet takes on a slow path depends on its size: as long as none
 * was sent there, it is that of the stream's. */
static void
note_size (MmtpSender * sender)
{
  const MmtpPacket *packet = mmtp_sender_get_packet (sender,
      sender->next_number - 1);
  guint i;

  for (i = 0; packet && i < sender->n_paths; i++) {
    MmtpPath *path = sender->paths[i];

    if (path->stats.data_packets == 0)
      path->data_size = mmtp_sender_get_message_size (packet);
    path->large_size = MAX (path->large_size,
        mmtp_sender_get_message_size (packet));
  }
}

static void
note_refused (MmtpSender * sender, const MmtpUnit * unit)
{
  if (unit->picture.is_independent)
    mmtp_gop_lose (&sender->gop, unit->group);
  mmtp_gop_give_up (&sender->gop, get_needing_group (unit), unit->due);
}

static void
give_up_begun (MmtpSender * sender, MmtpUnit * unit, gboolean is_vain)
{
  if (!is_vain) {
    give_up (sender, unit, &sender->stats.discarded_buffers);
    return;
  }
  give_up_frame (sender, unit, &sender->stats.discarded_broken);
  raise_floor (sender);
}

/* What of the frame was taken before goes, too. */
static void
refuse (MmtpSender * sender, MmtpUnit * unit, gsize size)
{
  const gboolean is_vain = mmtp_gop_is_vain (&sender->gop, &unit->picture);
  const MmtpPacket *last = mmtp_sender_get_packet (sender,
      sender->next_number - 1);

  if (last && last->unit->frame == unit->frame &&
      sender->given_up_frame != unit->frame)
    give_up_begun (sender, last->unit, is_vain);
  else if (!is_vain && sender->given_up_frame != unit->frame &&
      is_reference (unit))
    note_refused (sender, unit);
  sender->given_up_frame = unit->frame;
  tell_discarded (sender, unit, size, is_vain);
  free_unit (unit);
}

gboolean
mmtp_sender_put (MmtpSender * sender, guint64 now, const MmtpBuffer * buffer)
{
  gsize size = g_bytes_get_size (buffer->data);
  MmtpUnit *unit;
  gboolean fits, is_vain;

  mmtp_sender_advance (sender, now);
  if (sender->phase == MMTP_PHASE_OVER)
    return FALSE;
  unit = new_unit (sender, buffer);
  sender->stats.buffers++;
  sender->stats.bytes += size;
  measure_put (sender, unit);
  fits = unit->frame != sender->given_up_frame;
  is_vain = mmtp_gop_is_vain (&sender->gop, &unit->picture);
  if (!fits)
    count_discarded (sender, unit->rank, is_vain ?
        &sender->stats.discarded_broken : &sender->stats.discarded_buffers);
  else if (!(fits = !is_vain))
    count_discarded (sender, unit->rank, &sender->stats.discarded_broken);
  else if (!(fits = make_room (sender, unit, size)))
    count_discarded (sender, unit->rank, &sender->stats.discarded_room);
  else if (!(fits = make_time (sender, unit, estimate_work (sender, size))))
    count_discarded (sender, unit->rank, &sender->stats.discarded_buffers);
  if (!fits) {
    refuse (sender, unit, size);
    return FALSE;
  }
  fragment (sender, unit);
  note_size (sender);
  sender->stats.packets += unit->n_packets;
  return TRUE;
}

gboolean
mmtp_sender_has_room (MmtpSender * sender, guint64 now)
{
  guint64 room = sender->config.max_bytes, used = sender->queued_bytes;
  guint64 capacity;

  mmtp_sender_advance (sender, now);
  if (sender->ready && mmtp_policy_get_least_delay (sender) != MMTP_NEVER) {
    capacity = get_capacity (sender, sender->now + sender->initial_delay,
        FALSE, ROOM_PERCENT);
    if (capacity < room) {
      room = capacity;
      used = sender->queued_work;
    }
  }
  if (sender->full)
    sender->full = used > room - room / ROOM_AGAIN;
  else
    sender->full = used >= room - room / ROOM_AGAIN / 2;
  return !sender->full;
}

void
mmtp_sender_check_room (MmtpSender * sender)
{
  if (sender->full && mmtp_sender_has_room (sender, sender->now))
    mmtp_sender_tell_simply (sender, MMTP_EVENT_ROOM);
}

gboolean
mmtp_sender_has_spare_rate (const MmtpSender * sender, gsize size, guint part)
{
  const MmtpPacket *tail = mmtp_sender_get_tail (sender);

  return !tail || (sender->queued_work + size + PACKET_WORK) * part <=
      get_capacity (sender, tail->due + sender->initial_delay, FALSE,
      PUT_PERCENT);
}

/* --- again --------------------------------------------------------------- */

static gboolean
is_too_late (const MmtpSender * sender, const MmtpPacket * packet,
    guint64 least)
{
  return sender->now + least > packet->due + sender->initial_delay;
}

/* What a packet that is sent again takes at least. While no path is usable it
 * is 0: one may come back in time. */
static guint64
get_delay_again (const MmtpSender * sender)
{
  guint64 least = mmtp_policy_get_least_delay (sender);

  return least == MMTP_NEVER ? 0 : least;
}

static gboolean
requeue (MmtpSender * sender, MmtpPacket * packet, guint64 delay)
{
  if (packet->state != MMTP_PACKET_UNDER_WAY || packet->unit->given_up ||
      is_too_late (sender, packet, delay))
    return FALSE;
  enqueue (sender, packet);
  return TRUE;
}

gboolean
mmtp_sender_requeue (MmtpSender * sender, MmtpPacket * packet)
{
  return requeue (sender, packet, get_delay_again (sender));
}

/* What was sent as this message is under way there, was not sent again
 * elsewhere, and is due at `due` at the latest: it waits again. */
static void
requeue_sent (MmtpSender * sender, MmtpPath * path, guint64 number,
    guint64 due, guint64 delay)
{
  const MmtpSent *sent = mmtp_path_get_sent (path, number);
  MmtpPacket *packet = mmtp_sender_get_packet (sender, sent->stream_number);

  path->stats.report_steps++;
  if (packet && packet->path == path->id &&
      packet->path_number == number && packet->due <= due &&
      requeue (sender, packet, delay))
    path->stats.requeued++;
}

static void
requeue_due (MmtpSender * sender, MmtpPath * path, guint64 due)
{
  guint64 delay = get_delay_again (sender), number;

  for (number = mmtp_path_get_oldest (path); number < path->next;
      number++)
    requeue_sent (sender, path, number, due, delay);
}

/* Of messages in the order in which they were sent the missing ones come
 * first. */
static void
requeue_missing (MmtpSender * sender, MmtpPath * path, guint64 due)
{
  guint64 number = mmtp_path_get_oldest (path);
  guint64 delay = get_delay_again (sender);
  const MmtpSent *sent;

  while ((sent = mmtp_path_get_sent (path, number)) &&
      mmtp_path_is_missing (path, sent, sender->now))
    requeue_sent (sender, path, number++, due, delay);
}

void
mmtp_sender_requeue_path (MmtpSender * sender, MmtpPath * path)
{
  requeue_due (sender, path, G_MAXUINT64);
}

/* From a path that has stalled all goes that will soon be too late. What is
 * only missing goes while nothing else waits: in a moment it may have come. */
void
mmtp_sender_rescue (MmtpSender * sender, MmtpPath * path)
{
  guint64 delay, arrival;

  if (sender->now < path->rescue_at || (!path->is_stalled &&
          (!mmtp_sender_is_queue_empty (sender) ||
              !mmtp_path_is_in_doubt (path, sender->now))))
    return;
  path->rescue_at = sender->now + RESCUE_PERIOD;
  delay = mmtp_policy_get_delay_elsewhere (sender, path);
  if (delay == MMTP_NEVER)
    return;
  arrival = sender->now + delay + RESCUE_TIME;
  if (arrival < sender->initial_delay)
    return;
  if (path->is_stalled)
    requeue_due (sender, path, arrival - sender->initial_delay);
  else
    requeue_missing (sender, path, arrival - sender->initial_delay);
}

/* Packets that one REPORT settles. Where more have come, which takes a long
 * silence at a high rate, later REPORTs settle the rest. */
#define MAX_SETTLED 4096

/* `reported_next` only grows, so each packet is visited once in a session. */
void
mmtp_sender_settle (MmtpSender * sender, guint64 number)
{
  const guint64 first = MAX (sender->reported_next, sender->floor);
  guint64 i;

  number = MIN (MIN (number, sender->next_number), first + MAX_SETTLED);
  for (i = first; i < number; i++) {
    MmtpPacket *packet = mmtp_sender_get_packet (sender, i);

    sender->stats.report_steps++;
    if (packet->state == MMTP_PACKET_WAITING && packet->was_sent)
      dequeue (sender, packet, MMTP_PACKET_DONE);
    else if (packet->state == MMTP_PACKET_CHANCY)
      mmtp_sender_leave_chancy (sender, packet, MMTP_PACKET_DONE);
    else if (packet->state == MMTP_PACKET_UNDER_WAY)
      packet->state = MMTP_PACKET_DONE;
  }
  sender->reported_next = MAX (sender->reported_next, number);
  raise_floor (sender);
}

/* --- too late ------------------------------------------------------------ */

/* What was sent is kept until its deadline, or until there is too much of
 * it. */
static void
forget_late (MmtpSender * sender)
{
  while (sender->floor < sender->next_number) {
    MmtpPacket *packet = mmtp_sender_get_packet (sender, sender->floor);

    if (packet->state == MMTP_PACKET_WAITING ||
        packet->state == MMTP_PACKET_CHANCY)
      return;
    if (packet->state == MMTP_PACKET_UNDER_WAY &&
        !is_too_late (sender, packet, 0) &&
        sender->kept_bytes - sender->queued_bytes <= sender->config.max_bytes)
      return;
    packet->state = MMTP_PACKET_DONE;
    raise_floor (sender);
  }
}

void
mmtp_sender_expire (MmtpSender * sender)
{
  guint64 least = mmtp_policy_get_best_delay (sender);
  MmtpPacket *head;
  guint i;

  for (i = 0; i < MMTP_N_RANKS; i++)
    while ((head = get_first (sender, i)) && is_too_late (sender, head, least))
      give_up (sender, head->unit, &sender->stats.discarded_buffers);
  mmtp_sender_expire_chancy (sender);
  forget_late (sender);
}

/* --- for what sends ------------------------------------------------------ */

/* The most urgent one of a rank that is still in time after `delay` */
static GSequenceIter *
find_in_time (const MmtpSender * sender, MmtpRank rank, guint64 delay)
{
  MmtpPacket *packet = get_first (sender, rank);
  guint64 deadline = sender->now + delay;
  MmtpPacket wanted = { NULL };

  if (!packet || deadline <= packet->due + sender->initial_delay)
    return g_sequence_get_begin_iter (sender->queues[rank]);
  wanted.due = deadline - sender->initial_delay;
  return g_sequence_search (sender->queues[rank], &wanted, compare_packets,
      NULL);
}

/* The newest group of pictures of which a reference waits that the quickest
 * path brings too late, unless its delay falls; 0: none. What follows it in
 * this group waits with it, because it is of no use alone. */
static guint64
get_late_group (const MmtpSender * sender)
{
  guint64 least = mmtp_policy_get_least_delay (sender), late = 0;
  MmtpRank rank;

  if (least == MMTP_NEVER)
    return 0;
  for (rank = MMTP_RANK_DELTA; rank <= MMTP_RANK_KEY; rank++) {
    GSequenceIter *iter = find_in_time (sender, rank, least);
    const MmtpPacket *packet;

    if (g_sequence_iter_is_begin (iter))
      continue;
    packet = g_sequence_get (g_sequence_iter_prev (iter));
    if (!packet->unit->picture.is_independent)
      late = MAX (late, get_needing_group (packet->unit));
  }
  return late;
}

/* The first one that does not need the late group. */
static GSequenceIter *
skip_group (GSequenceIter * iter, guint64 late)
{
  for (; !g_sequence_iter_is_end (iter); iter = g_sequence_iter_next (iter)) {
    const MmtpPacket *packet = g_sequence_get (iter);

    if (!mmtp_picture_needs (&packet->unit->picture, packet->unit->group, late))
      break;
  }
  return iter;
}

/* The same, unless it needs the late group */
static MmtpPacket *
find_in_rank (const MmtpSender * sender, MmtpRank rank, guint64 delay,
    guint64 late)
{
  GSequenceIter *iter = skip_group (find_in_time (sender, rank, delay), late);

  return g_sequence_iter_is_end (iter) ? NULL : g_sequence_get (iter);
}

/* Bytes of the frame that still have to be sent, from this packet on */
static guint64
get_frame_work (const MmtpSender * sender, const MmtpPacket * packet)
{
  guint64 frame = packet->unit->frame, number = packet->number, work = 0;

  while (packet && packet->unit->frame == frame) {
    if (packet->state == MMTP_PACKET_WAITING)
      work += get_work (packet);
    packet = mmtp_sender_get_packet ((MmtpSender *) sender, ++number);
  }
  return work;
}

/* Whether the most urgent frame of each rank that is more important would still
 * be in time behind this frame, at the rate at which paths deliver now */
static gboolean
leaves_time (const MmtpSender * sender, const MmtpPacket * packet)
{
  guint64 own = get_frame_work (sender, packet);
  MmtpRank rank;

  for (rank = packet->unit->rank + 1; rank < MMTP_N_RANKS; rank++) {
    const MmtpPacket *first = get_first (sender, rank);

    if (first && own + get_frame_work (sender, first) > get_capacity (sender,
            first->due + sender->initial_delay, FALSE, DEFER_PERCENT))
      return FALSE;
  }
  return TRUE;
}

/* Whether all of the frame would be there in time, at the rate at which paths
 * deliver now, or at best */
static gboolean
can_finish (const MmtpSender * sender, const MmtpPacket * packet,
    gboolean at_best)
{
  return get_frame_work (sender, packet) <= get_capacity (sender,
      packet->due + sender->initial_delay, at_best, 100);
}

/* Of those that nothing depends on the smallest one that can be in time: where
 * not all can be sent, that is how most are. */
static MmtpPacket *
find_smallest (const MmtpSender * sender, MmtpRank rank, guint64 delay,
    guint64 late)
{
  MmtpPacket *best = NULL;
  MmtpPacket *packet = find_in_rank (sender, rank, delay, late);
  GSequenceIter *iter = packet ? packet->place : NULL;
  guint64 least = G_MAXUINT64, frame = G_MAXUINT64;

  for (; iter && !g_sequence_iter_is_end (iter);
      iter = g_sequence_iter_next (iter)) {
    guint64 work;

    packet = g_sequence_get (iter);
    if (packet->unit->frame == frame ||
        mmtp_picture_needs (&packet->unit->picture, packet->unit->group, late))
      continue;
    frame = packet->unit->frame;
    if (frame == sender->begun_frame)
      return packet;
    work = get_frame_work (sender, packet);
    if (work < least && can_finish (sender, packet, FALSE)) {
      least = work;
      best = packet;
    }
  }
  return best;
}

/* Whether it goes before what is more important: only as long as it would
 * arrive long before its deadline. With less to spare the paths are
 * overloaded, or have just had a gap, and it goes when nothing more important
 * waits. A frame that has begun is finished. */
static gboolean
has_slack (const MmtpSender * sender, const MmtpPacket * packet, guint64 delay)
{
  static const guint percent[MMTP_N_RANKS] = { 100, DROPPABLE_SLACK,
    DELTA_SLACK, 0
  };
  guint64 slack = sender->initial_delay / 100 * percent[packet->unit->rank];

  if (packet->unit->frame == sender->begun_frame &&
      packet->unit->rank != MMTP_RANK_BROKEN)
    return TRUE;
  return sender->now + delay + slack <= packet->due + sender->initial_delay &&
      leaves_time (sender, packet);
}

MmtpPacket *
mmtp_sender_find_packet (const MmtpSender * sender, guint64 delay)
{
  const guint64 late = get_late_group (sender);
  MmtpPacket *found[MMTP_N_RANKS], *best;
  MmtpRank lowest = 0;
  guint i;

  for (i = 0; i < MMTP_N_RANKS; i++)
    found[i] = find_in_rank (sender, i, delay, late);
  for (;;) {
    best = NULL;
    for (i = lowest; i < MMTP_N_RANKS; i++)
      if (found[i] && (!best || compare_packets (found[i], best, NULL) < 0))
        best = found[i];
    if (!best || best->unit->rank == MMTP_RANK_KEY ||
        has_slack (sender, best, delay))
      return best;
    lowest = best->unit->rank + 1;
    for (i = lowest; i < MMTP_N_RANKS && !found[i]; i++);
    if (i < MMTP_N_RANKS)
      continue;
    if (best->unit->rank != MMTP_RANK_DROPPABLE || !is_measurable (sender))
      return best;
    return find_smallest (sender, MMTP_RANK_DROPPABLE, delay, late);
  }
}

void
mmtp_sender_note_sent (MmtpSender * sender, MmtpPath * path,
    MmtpPacket * packet)
{
  MmtpUnit *unit = packet->unit;

  if (packet->state == MMTP_PACKET_CHANCY)
    mmtp_sender_leave_chancy (sender, packet, MMTP_PACKET_UNDER_WAY);
  else
    dequeue (sender, packet, MMTP_PACKET_UNDER_WAY);
  sender->begun_frame = unit->frame;
  packet->path = path->id;
  packet->path_number = path->next - 1;
  if (packet->was_sent) {
    sender->stats.retransmitted++;
    path->stats.retransmitted++;
    return;
  }
  packet->was_sent = TRUE;
  mark_begun (sender, unit);
  if (++unit->n_sent == unit->n_packets)
    sender->stats.sent_buffers++;
}

/* --- flush, end ---------------------------------------------------------- */

void
mmtp_sender_flush (MmtpSender * sender, guint64 now)
{
  MmtpPacket *packet;
  guint64 number;
  guint i;

  mmtp_sender_advance (sender, now);
  while ((packet = mmtp_sender_get_head (sender))) {
    mark_begun (sender, packet->unit);
    packet->unit->given_up = TRUE;
    dequeue (sender, packet, MMTP_PACKET_DONE);
  }
  g_queue_clear (&sender->chancy);
  for (number = sender->floor; number < sender->next_number; number++)
    mmtp_sender_get_packet (sender, number)->state = MMTP_PACKET_DONE;
  raise_floor (sender);
  for (i = 0; i < sender->n_paths; i++)
    mmtp_block_restart (&sender->paths[i]->block);
  sender->measured_bits = 0;
  sender->measured_since = 0;
  /* The next buffer is a frame of its own, whatever became of the last one. */
  sender->given_up_frame = sender->begun_frame = G_MAXUINT64;
  sender->frame_ended = TRUE;
  mmtp_gop_init (&sender->gop);
  mmtp_sender_check_room (sender);
}

void
mmtp_sender_clear_queue (MmtpSender * sender)
{
  guint i;

  mmtp_sender_flush (sender, sender->now);
  for (i = 0; i < MMTP_N_RANKS; i++)
    g_sequence_free (sender->queues[i]);
  g_free (sender->window);
}

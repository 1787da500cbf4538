/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The one queue that all channels serve [4.4 of the paper]: buffers become
 * packets, in order of their deadlines; what can't be in time is given up here,
 * the least important first. mmtpsenderdata.c sends them. */

#include "mmtpsenderprivate.h"

/* Packets, a power of two; it grows when it is full. */
#define LEAST_WINDOW 64
/* Bytes of each packet besides its payload: docs/wire-mmtp.md, IPv4 and UDP */
#define PACKET_WORK (MMTP_DATA_OVERHEAD + 28)
/* Keep-alives, probes and what is sent again take their part of the rate, and
 * nobody who puts a buffer waits for them. */
#define PUT_PERCENT 95
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

/* What it costs on a channel */
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
  sender->queue = g_sequence_new (NULL);
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

/* --- the queue ----------------------------------------------------------- */

MmtpPacket *
mmtp_sender_get_head (const MmtpSender * sender)
{
  if (g_sequence_is_empty (sender->queue))
    return NULL;
  return g_sequence_get (g_sequence_get_begin_iter (sender->queue));
}

MmtpPacket *
mmtp_sender_get_tail (const MmtpSender * sender)
{
  if (g_sequence_is_empty (sender->queue))
    return NULL;
  return g_sequence_get (g_sequence_iter_prev (g_sequence_get_end_iter
          (sender->queue)));
}

static void
enqueue (MmtpSender * sender, MmtpPacket * packet)
{
  MmtpPacket *tail = mmtp_sender_get_tail (sender);

  if (!tail || compare_packets (tail, packet, NULL) < 0)
    packet->place = g_sequence_append (sender->queue, packet);
  else
    packet->place = g_sequence_insert_sorted (sender->queue, packet,
        compare_packets, NULL);
  packet->state = MMTP_PACKET_WAITING;
  sender->queued_bytes += packet->size;
  sender->queued_work += get_work (packet);
}

static void
dequeue (MmtpSender * sender, MmtpPacket * packet, MmtpPacketState state)
{
  g_sequence_remove (packet->place);
  packet->place = NULL;
  packet->state = state;
  sender->queued_bytes -= packet->size;
  sender->queued_work -= get_work (packet);
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

static void
tell_discarded (MmtpSender * sender, guint8 flags, guint32 size)
{
  MmtpSenderEvent event = { MMTP_EVENT_DISCARDED };

  event.flags = flags;
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

/* With the rest of its buffer: a part of it is of no use. */
static void
give_up (MmtpSender * sender, MmtpUnit * unit, guint64 * counter)
{
  guint8 flags = unit->flags;
  guint32 size = g_bytes_get_size (unit->data);
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
  raise_floor (sender);
  tell_discarded (sender, flags, size);
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
      MmtpUnit *unit = sender->unbegun[i].tail->data;

      freed += get_unit_work (unit);
      give_up (sender, unit, counter);
    }
  return TRUE;
}

/* --- what fits ----------------------------------------------------------- */

/* Bytes, with all that goes before them, that all channels together bring
 * before a deadline: each from its next token until so long before that a
 * packet still gets there, which may be the time at which the last one
 * begins */
static guint64
get_capacity (const MmtpSender * sender, guint64 deadline, guint percent)
{
  guint64 sum = 0;
  guint i;

  for (i = 0; i < sender->n_paths; i++) {
    const MmtpChannel *channel = sender->paths[i]->channel;
    guint64 start = MAX (channel->token, sender->now);
    guint64 delay = mmtp_channel_get_safe_delay (channel);

    if (!mmtp_path_is_usable (sender->paths[i]) || deadline < start + delay)
      continue;
    sum += (deadline - start - delay) / 1000 *
        (channel->rate / 8) / 1000000 * percent / 100 + channel->longest +
        channel->overhead;
  }
  return sum;
}

guint64
mmtp_sender_get_least_delay (const MmtpSender * sender)
{
  guint64 least = MMTP_NEVER;
  guint i;

  for (i = 0; i < sender->n_paths; i++)
    if (mmtp_path_is_usable (sender->paths[i]))
      least = MIN (least, sender->paths[i]->channel->high_delay);
  return least;
}

/* Until the session is ready nobody knows what fits. While no channel delivers,
 * one may come back in time. */
static gboolean
is_measurable (const MmtpSender * sender)
{
  return sender->ready && mmtp_sender_get_least_delay (sender) != MMTP_NEVER;
}

static gboolean
make_time (MmtpSender * sender, const MmtpUnit * unit, guint64 work)
{
  guint64 capacity, deadline = unit->due + sender->initial_delay;

  if (!is_measurable (sender))
    return TRUE;
  capacity = get_capacity (sender, deadline, PUT_PERCENT);
  if (capacity < work)
    return FALSE;
  if (sender->queued_work + work <= capacity)
    return TRUE;
  return give_up_below (sender, unit->rank,
      sender->queued_work + work - capacity, &sender->stats.discarded_buffers);
}

static gboolean
make_room (MmtpSender * sender, const MmtpUnit * unit, gsize size)
{
  guint64 bytes = sender->queued_bytes + size;

  if (bytes <= sender->config.max_bytes)
    return TRUE;
  return give_up_below (sender, unit->rank, bytes - sender->config.max_bytes,
      &sender->stats.discarded_room);
}

/* --- putting ------------------------------------------------------------- */

static MmtpRank
get_rank (guint8 flags)
{
  if (flags & MMTP_FLAG_HEADER)
    return MMTP_RANK_KEY;
  if (flags & MMTP_FLAG_DROPPABLE)
    return MMTP_RANK_DROPPABLE;
  return flags & MMTP_FLAG_DELTA ? MMTP_RANK_DELTA : MMTP_RANK_KEY;
}

static guint
get_least_longest (const MmtpSender * sender)
{
  guint least = G_MAXUINT16;
  guint i;

  for (i = 0; i < sender->n_paths; i++)
    if (sender->paths[i]->channel->state != MMTP_CHANNEL_GONE)
      least = MIN (least, sender->paths[i]->channel->longest);
  return MIN (least, MMTP_MAX_MESSAGE);
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
  unit->rank = get_rank (buffer->flags);
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

gboolean
mmtp_sender_put (MmtpSender * sender, guint64 now, const MmtpBuffer * buffer)
{
  gsize size = g_bytes_get_size (buffer->data);
  MmtpUnit *unit;
  gboolean fits;

  mmtp_sender_advance (sender, now);
  if (sender->phase == MMTP_PHASE_OVER)
    return FALSE;
  unit = new_unit (sender, buffer);
  sender->stats.buffers++;
  sender->stats.bytes += size;
  measure_put (sender, unit);
  fits = make_room (sender, unit, size);
  if (!fits)
    count_discarded (sender, unit->rank, &sender->stats.discarded_room);
  else if (!(fits = make_time (sender, unit, estimate_work (sender, size))))
    count_discarded (sender, unit->rank, &sender->stats.discarded_buffers);
  if (!fits) {
    tell_discarded (sender, unit->flags, size);
    free_unit (unit);
    return FALSE;
  }
  fragment (sender, unit);
  sender->stats.packets += unit->n_packets;
  return TRUE;
}

gboolean
mmtp_sender_has_room (MmtpSender * sender, guint64 now)
{
  guint64 room = sender->config.max_bytes, used = sender->queued_bytes;
  guint64 capacity;

  mmtp_sender_advance (sender, now);
  if (is_measurable (sender)) {
    capacity = get_capacity (sender, sender->now + sender->initial_delay,
        PUT_PERCENT);
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

gboolean
mmtp_sender_fits (const MmtpSender * sender, gsize size)
{
  guint64 most = sender->config.max_bytes;

  return size > most || sender->queued_bytes + size <= most;
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
      get_capacity (sender, tail->due + sender->initial_delay, PUT_PERCENT);
}

/* --- again --------------------------------------------------------------- */

gboolean
mmtp_sender_requeue (MmtpSender * sender, MmtpPacket * packet)
{
  guint64 least = mmtp_sender_get_least_delay (sender);

  if (packet->state != MMTP_PACKET_UNDER_WAY || packet->unit->given_up)
    return FALSE;
  if (least == MMTP_NEVER)
    least = 0;
  if (sender->now + least > packet->due + sender->initial_delay)
    return FALSE;
  enqueue (sender, packet);
  return TRUE;
}

void
mmtp_sender_requeue_channel (MmtpSender * sender, MmtpPath * path)
{
  MmtpChannel *channel = path->channel;
  guint64 number;

  for (number = MAX (channel->unreported, channel->kept);
      number < channel->next; number++) {
    const MmtpSent *sent = mmtp_channel_get_sent (channel, number);
    MmtpPacket *packet = mmtp_sender_get_packet (sender, sent->stream_number);

    if (packet && packet->channel == channel->id &&
        packet->channel_number == number &&
        mmtp_sender_requeue (sender, packet))
      channel->stats.requeued++;
  }
}

void
mmtp_sender_settle (MmtpSender * sender, guint64 number)
{
  guint64 i;

  number = MIN (number, sender->next_number);
  for (i = MAX (sender->reported_next, sender->floor); i < number; i++) {
    MmtpPacket *packet = mmtp_sender_get_packet (sender, i);

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

static gboolean
is_too_late (const MmtpSender * sender, const MmtpPacket * packet,
    guint64 least)
{
  return sender->now + least > packet->due + sender->initial_delay;
}

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
  guint64 least = mmtp_sender_get_least_delay (sender);
  MmtpPacket *head;

  /* A measure that is not there yet is no reason to give up. */
  if (!sender->ready || least == MMTP_NEVER)
    least = 0;
  while ((head = mmtp_sender_get_head (sender)) &&
      is_too_late (sender, head, least))
    give_up (sender, head->unit, &sender->stats.discarded_buffers);
  mmtp_sender_expire_chancy (sender);
  forget_late (sender);
}

/* In order of deadlines: where what has to be sent until then is more than all
 * channels bring, the least important goes, as late ones as will do. */
void
mmtp_sender_refit (MmtpSender * sender)
{
  GSequenceIter *iter;
  guint64 work = 0;

  if (!is_measurable (sender))
    return;
  iter = g_sequence_get_begin_iter (sender->queue);
  while (!g_sequence_iter_is_end (iter)) {
    MmtpPacket *packet = g_sequence_get (iter);
    guint64 capacity = get_capacity (sender,
        packet->due + sender->initial_delay, 100);

    work += get_work (packet);
    iter = g_sequence_iter_next (iter);
    if (work <= capacity || packet->unit->rank == MMTP_RANK_DROPPABLE)
      continue;
    if (!give_up_below (sender, packet->unit->rank, work - capacity,
            &sender->stats.discarded_buffers))
      return;
    work = 0;
    iter = g_sequence_get_begin_iter (sender->queue);
  }
}

/* --- for what sends ------------------------------------------------------ */

MmtpPacket *
mmtp_sender_find_packet (const MmtpSender * sender, guint64 delay)
{
  MmtpPacket *packet = mmtp_sender_get_head (sender);
  MmtpPacket wanted = { NULL };
  GSequenceIter *iter;
  guint64 deadline = sender->now + delay;

  if (!packet || deadline <= packet->due + sender->initial_delay)
    return packet;
  wanted.due = deadline - sender->initial_delay;
  iter = g_sequence_search (sender->queue, &wanted, compare_packets, NULL);
  return g_sequence_iter_is_end (iter) ? NULL : g_sequence_get (iter);
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
  packet->channel = path->channel->id;
  packet->channel_number = path->channel->next - 1;
  if (packet->was_sent) {
    sender->stats.retransmitted++;
    path->channel->stats.retransmitted++;
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
  mmtp_sender_check_room (sender);
}

void
mmtp_sender_clear_queue (MmtpSender * sender)
{
  mmtp_sender_flush (sender, sender->now);
  g_sequence_free (sender->queue);
  g_free (sender->window);
}

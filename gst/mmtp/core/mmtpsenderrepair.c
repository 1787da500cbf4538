/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the receiver tells to be lost is sent again: surely in time with the
 * rest of the queue, or, where nothing else needs the rate, on the chance that
 * it is. Where a second time would mostly be too late, several packets are sent
 * again in one before a loss is known. "Extra bandwidth on any of the paths
 * may enable the retransmission of select lost messages" (section 1 of the
 * paper). */

#include "mmtpsenderprivate.h"

/* Packets that wait to be sent on the chance */
#define MAX_SPECULATIVE 64
/* Three reports: a packet that is stuck on a path that has stalled goes
 * elsewhere so long before it would be too late there. */
#define RESCUE_TIME (150 * MMTP_MILLISECOND)
/* It looks for such packets no more often, however many reports come. */
#define RESCUE_PERIOD (10 * MMTP_MILLISECOND)
/* A path that has lost nothing for so long needs no repairs in advance. */
#define LOSS_MEMORY (20 * MMTP_SECOND)
/* Where the queue fills more than such a part of what the paths bring in
 * time, nothing is sent on the chance, or in advance. */
#define CHANCE_PART 2
#define ADVANCE_PART 4
/* Packets that are enough for a repair when nothing waits, and otherwise: of 12
 * packets of which one in fifty is lost two are in one of fifty times. */
#define ENOUGH_IDLE 6
#define ENOUGH_BUSY 12

/* --- on the chance ------------------------------------------------------- */

static gboolean
has_chance (const MmtpSender * sender, const MmtpPacket * packet)
{
  guint64 arrival;

  return mmtp_paths_find_quickest (&sender->paths,
      mmtp_send_packet_get_message_size (packet), &arrival) &&
      arrival <= mmtp_send_queue_get_deadline (sender->queue, packet);
}

void
mmtp_sender_expire_speculative (MmtpSender * sender)
{
  GList *walk, *next;

  for (walk = mmtp_send_queue_get_speculative (sender->queue)->head; walk;
      walk = next) {
    next = walk->next;
    if (has_chance (sender, walk->data))
      continue;
    sender->stats.unrepaired++;
    mmtp_send_queue_drop_speculative (sender->queue, walk->data);
  }
}

MmtpPacket *
mmtp_sender_get_speculative (const MmtpSender * sender, MmtpPath ** path)
{
  const GList *head = mmtp_send_queue_get_speculative (sender->queue)->head;
  MmtpPacket *packet = head ? head->data : NULL;
  guint64 arrival;

  *path = packet ? mmtp_paths_find_quickest (&sender->paths,
      mmtp_send_packet_get_message_size (packet), &arrival) : NULL;
  return *path ? packet : NULL;
}

/* --- from one path to another --------------------------------------------- */

/* When a packet that is sent again arrives at the earliest. While no path is
 * usable that is now: one may come back in time. */
static guint64
get_next_arrival (const MmtpSender * sender)
{
  guint64 delay = mmtp_paths_get_min_delay (&sender->paths);

  return sender->paths.now + (delay == MMTP_NEVER ? 0 : delay);
}

/* What was sent as this message is under way there, was not sent again
 * elsewhere, and is due at `due` at the latest: it waits again. */
static void
requeue_sent (MmtpSender * sender, MmtpPath * path, guint64 number,
    guint64 due, guint64 arrival)
{
  const MmtpSent *sent = mmtp_path_get_sent (path, number);
  MmtpPacket *packet = mmtp_send_queue_get_packet (sender->queue,
      sent->stream_number);

  path->stats.report_steps++;
  if (packet && packet->path == path->id &&
      packet->path_number == number && packet->due <= due &&
      mmtp_send_queue_requeue (sender->queue, packet, arrival))
    path->stats.requeued++;
}

static void
requeue_due (MmtpSender * sender, MmtpPath * path, guint64 due)
{
  guint64 arrival = get_next_arrival (sender), number;

  for (number = mmtp_path_get_oldest (path); number < path->next;
      number++)
    requeue_sent (sender, path, number, due, arrival);
}

/* Of messages in the order in which they were sent the missing ones come
 * first. */
static void
requeue_missing (MmtpSender * sender, MmtpPath * path, guint64 due)
{
  guint64 number = mmtp_path_get_oldest (path);
  guint64 arrival = get_next_arrival (sender);
  const MmtpSent *sent;

  while ((sent = mmtp_path_get_sent (path, number)) &&
      mmtp_path_is_missing (path, sent, sender->paths.now))
    requeue_sent (sender, path, number++, due, arrival);
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

  if (sender->paths.now < path->rescue_at || (!path->is_stalled &&
          (!mmtp_send_queue_is_empty (sender->queue) ||
              !mmtp_path_is_in_doubt (path, sender->paths.now))))
    return;
  path->rescue_at = sender->paths.now + RESCUE_PERIOD;
  delay = mmtp_paths_get_delay_elsewhere (&sender->paths, path);
  if (delay == MMTP_NEVER)
    return;
  arrival = sender->paths.now + delay + RESCUE_TIME;
  if (arrival < mmtp_send_queue_get_delay (sender->queue))
    return;
  if (path->is_stalled)
    requeue_due (sender, path, arrival -
        mmtp_send_queue_get_delay (sender->queue));
  else
    requeue_missing (sender, path, arrival -
        mmtp_send_queue_get_delay (sender->queue));
}

/* --- losses -------------------------------------------------------------- */

static gboolean
requeue_lost (MmtpSender * sender, MmtpPacket * packet)
{
  if (packet->state != MMTP_PACKET_IN_FLIGHT || packet->unit->given_up)
    return FALSE;
  if (mmtp_paths_are_sure (&sender->paths,
          mmtp_send_queue_get_deadline (sender->queue, packet)) &&
      mmtp_send_queue_requeue (sender->queue, packet,
          get_next_arrival (sender)))
    return TRUE;
  if (mmtp_send_queue_get_speculative (sender->queue)->length >=
      MAX_SPECULATIVE || !has_chance (sender, packet) ||
      !mmtp_policy_has_spare_rate (&sender->policy, packet->size, CHANCE_PART))
    return FALSE;
  mmtp_send_queue_set_speculative (sender->queue, packet);
  return TRUE;
}

/* Keys first, then what others depend on; what nothing depends on, when there
 * is rate to spare, or will be: stored media is sent long before it is due. */
static gboolean
may_repair (MmtpSender * sender, const MmtpPacket * packet)
{
  if (!sender->config.retransmit)
    return FALSE;
  return packet->unit->rank != MMTP_RANK_DROPPABLE ||
      packet->due > sender->paths.now +
          mmtp_send_queue_get_delay (sender->queue) ||
      mmtp_policy_has_spare_rate (&sender->policy, packet->size, CHANCE_PART);
}

static void
repair (MmtpSender * sender, MmtpPacket * packet)
{
  if (may_repair (sender, packet) && requeue_lost (sender, packet))
    return;
  sender->stats.unrepaired++;
  mmtp_send_queue_note_lost (sender->queue, packet);
}

/* Numbers that are looked up for one REPORT: those of one record full of the
 * longest ranges. The receiver repeats ranges in its later REPORTs. */
#define MAX_REPORT_LOOKUPS (MMTP_MAX_RANGES * 255)

static void
take_loss (MmtpSender * sender, MmtpPath * path, guint16 low)
{
  guint64 number;
  const MmtpSent *sent = mmtp_path_find_sent (path, low, &number);
  MmtpPacket *packet;

  if (!sent)
    return;
  mmtp_path_note_missed (path, number);
  packet = mmtp_send_queue_get_packet (sender->queue, sent->stream_number);
  /* A later sending of it may be under way: that is another number. */
  if (packet && packet->state == MMTP_PACKET_IN_FLIGHT &&
      packet->path == path->id && packet->path_number == number)
    repair (sender, packet);
}

void
mmtp_sender_take_losses (MmtpSender * sender, MmtpPath * path,
    const MmtpRecord * record)
{
  guint i, k;

  for (i = 0; i < record->n_ranges; i++)
    for (k = 0; k < record->ranges[i].count
        && sender->report_lookups < MAX_REPORT_LOOKUPS; k++) {
      sender->report_lookups++;
      sender->stats.loss_lookups++;
      take_loss (sender, path, record->ranges[i].first + k);
    }
}

/* --- in advance ---------------------------------------------------------- */

/* Whether packets are lost there, and what is known to be lost could not surely
 * be sent again in time: until the gap shows, until it is told, and the second
 * way. */
static gboolean
needs_cover (const MmtpSender * sender, const MmtpPath * path)
{

  return sender->config.retransmit && path->loss_time &&
      sender->paths.now < path->loss_time + LOSS_MEMORY &&
      mmtp_path_is_usable (path) && path->high_delay != MMTP_NEVER &&
      2 * path->high_delay +
      mmtp_paths_get_return_time (&sender->paths) >
          mmtp_send_queue_get_delay (sender->queue);
}

gsize
mmtp_sender_get_repair_reserve (const MmtpSender * sender)
{
  guint i;

  for (i = 0; i < sender->paths.n; i++)
    if (needs_cover (sender, sender->paths.all[i]))
      return MMTP_REPAIR_RESERVE;
  return 0;
}

/* Its last packet would come too late. */
static gboolean
is_block_over (const MmtpSender * sender, const MmtpPath * path)
{
  return sender->paths.now +
      mmtp_path_get_safe_delay (path, sender->paths.now) >
      path->block_last_due + mmtp_send_queue_get_delay (sender->queue);
}

void
mmtp_sender_cover (MmtpSender * sender, MmtpPath * path,
    const MmtpPacket * packet, const guint8 * bytes, gsize size)
{
  if (!needs_cover (sender, path)
      || size + MMTP_REPAIR_RESERVE > path->longest)
    return;
  if (path->block.n > 0 && is_block_over (sender, path))
    mmtp_block_restart (&path->block);
  if (!mmtp_block_add (&path->block, packet->number, bytes, size))
    return;
  if (path->block.n == 1)
    path->block_due = packet->due;
  path->block_last_due = packet->due;
}

/* When its first packet has to be repaired, so that it is in time */
static guint64
get_last_chance (const MmtpSender * sender, const MmtpPath * path)
{
  guint64 deadline = path->block_due +
      mmtp_send_queue_get_delay (sender->queue);
  guint64 time = mmtp_path_get_safe_delay (path, sender->paths.now) +
      mmtp_path_get_cost (path, path->data_size);

  return deadline > time ? deadline - time : 0;
}

static guint64
get_repair_time (const MmtpSender * sender, const MmtpPath * path)
{
  gboolean is_idle = mmtp_send_queue_is_empty (sender->queue);

  if (path->block.n == 0 || !needs_cover (sender, path) || path->blocked)
    return MMTP_NEVER;
  if (!is_idle && (path->block.n < ENOUGH_BUSY ||
          !mmtp_policy_has_spare_rate (&sender->policy,
              path->block.content->len,
              ADVANCE_PART)))
    return MMTP_NEVER;
  if (path->block.n >= ENOUGH_IDLE)
    return path->token;
  return MAX (path->token, get_last_chance (sender, path));
}

/* Only what nothing new needs */
gsize
mmtp_sender_write_repair (MmtpSender * sender, MmtpOutput * output)
{
  MmtpMessage message = { MMTP_REPAIR };
  gsize size;
  guint i;

  for (i = 0; i < sender->paths.n; i++) {
    MmtpPath *path = sender->paths.all[i];

    if (sender->paths.now < get_repair_time (sender, path))
      continue;
    mmtp_block_get_repair (&path->block, &message.repair);
    size = mmtp_sender_write (sender, path, &message, output, MMTP_NO_STREAM);
    mmtp_block_restart (&path->block);
    sender->stats.repairs += size > 0;
    return size;
  }
  return 0;
}

guint64
mmtp_sender_get_repair_wakeup (const MmtpSender * sender)
{
  guint64 wakeup = MMTP_NEVER;
  guint i;

  for (i = 0; i < sender->paths.n; i++)
    wakeup = MIN (wakeup, get_repair_time (sender, sender->paths.all[i]));
  return wakeup == MMTP_NEVER ? wakeup : MAX (wakeup, sender->paths.now);
}

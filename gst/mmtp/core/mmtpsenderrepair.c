/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the receiver tells to be lost is sent again: surely in time with the
 * rest of the queue, or, where nothing else needs the rate, on the chance that
 * it is. Where a second time would mostly be too late, several packets are sent
 * again in one before a loss is known. "Extra bandwidth on any of the paths
 * may enable the retransmission of select lost messages" (section 1 of the
 * paper). */

#include "mmtppolicy.h"

/* Packets that wait to be sent on the chance */
#define MOST_CHANCY 64
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

  return mmtp_policy_find_quickest (sender, packet, &arrival) &&
      arrival <= packet->due + sender->initial_delay;
}

void
mmtp_sender_leave_chancy (MmtpSender * sender, MmtpPacket * packet,
    MmtpPacketState state)
{
  g_queue_remove (&sender->chancy, packet);
  packet->state = state;
}

void
mmtp_sender_expire_chancy (MmtpSender * sender)
{
  GList *walk, *next;

  for (walk = sender->chancy.head; walk; walk = next) {
    next = walk->next;
    if (has_chance (sender, walk->data))
      continue;
    sender->stats.unrepaired++;
    mmtp_sender_leave_chancy (sender, walk->data, MMTP_PACKET_DONE);
  }
}

MmtpPacket *
mmtp_sender_get_chancy (const MmtpSender * sender, MmtpPath ** path)
{
  MmtpPacket *packet = sender->chancy.head ? sender->chancy.head->data : NULL;
  guint64 arrival;

  *path = packet ? mmtp_policy_find_quickest (sender, packet, &arrival) : NULL;
  return *path ? packet : NULL;
}

/* --- losses -------------------------------------------------------------- */

static gboolean
requeue_lost (MmtpSender * sender, MmtpPacket * packet)
{
  if (packet->state != MMTP_PACKET_UNDER_WAY || packet->unit->given_up)
    return FALSE;
  if (mmtp_policy_is_sure (sender, packet) && mmtp_sender_requeue (sender, packet))
    return TRUE;
  if (sender->chancy.length >= MOST_CHANCY || !has_chance (sender, packet) ||
      !mmtp_sender_has_spare_rate (sender, packet->size, CHANCE_PART))
    return FALSE;
  packet->state = MMTP_PACKET_CHANCY;
  g_queue_push_tail (&sender->chancy, packet);
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
      packet->due > sender->now + sender->initial_delay ||
      mmtp_sender_has_spare_rate (sender, packet->size, CHANCE_PART);
}

static void
repair (MmtpSender * sender, MmtpPacket * packet)
{
  if (may_repair (sender, packet) && requeue_lost (sender, packet))
    return;
  sender->stats.unrepaired++;
  packet->state = MMTP_PACKET_DONE;
  mmtp_sender_note_broken (sender, packet->unit);
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
  packet = mmtp_sender_get_packet (sender, sent->stream_number);
  /* A later sending of it may be under way: that is another number. */
  if (packet && packet->state == MMTP_PACKET_UNDER_WAY &&
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
      sender->now < path->loss_time + LOSS_MEMORY &&
      mmtp_path_is_usable (path) && path->high_delay != MMTP_NEVER &&
      2 * path->high_delay +
      mmtp_sender_get_return_time (sender) > sender->initial_delay;
}

gsize
mmtp_sender_get_repair_reserve (const MmtpSender * sender)
{
  guint i;

  for (i = 0; i < sender->n_paths; i++)
    if (needs_cover (sender, sender->paths[i]))
      return MMTP_REPAIR_RESERVE;
  return 0;
}

/* Its last packet would come too late. */
static gboolean
is_block_over (const MmtpSender * sender, const MmtpPath * path)
{
  return sender->now + mmtp_path_get_safe_delay (path, sender->now) >
      path->block_last_due + sender->initial_delay;
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
  guint64 deadline = path->block_due + sender->initial_delay;
  guint64 time = mmtp_path_get_safe_delay (path, sender->now) +
      mmtp_path_get_cost (path, path->data_size);

  return deadline > time ? deadline - time : 0;
}

static guint64
get_repair_time (const MmtpSender * sender, const MmtpPath * path)
{
  gboolean is_idle = mmtp_sender_is_queue_empty (sender);

  if (path->block.n == 0 || !needs_cover (sender, path) || path->blocked)
    return MMTP_NEVER;
  if (!is_idle && (path->block.n < ENOUGH_BUSY ||
          !mmtp_sender_has_spare_rate (sender, path->block.content->len,
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

  for (i = 0; i < sender->n_paths; i++) {
    MmtpPath *path = sender->paths[i];

    if (sender->now < get_repair_time (sender, path))
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

  for (i = 0; i < sender->n_paths; i++)
    wakeup = MIN (wakeup, get_repair_time (sender, sender->paths[i]));
  return wakeup == MMTP_NEVER ? wakeup : MAX (wakeup, sender->now);
}

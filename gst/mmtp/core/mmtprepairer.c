/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decides when REPAIR messages (forward error correction) are sent, and which
 * packets they cover. */

#include "mmtprepairer.h"

#include <string.h>

/* A REPAIR is a message from which the receiver can restore one lost packet.
 * After a loss was reported on a path, REPAIRs are sent on this path for
 * LOSS_MEMORY (ns). Each REPAIR covers several packets and is sent in advance,
 * before it is known whether one of these packets is lost. */
#define LOSS_MEMORY (20 * G_GUINT64_CONSTANT (1000000000))
/* A REPAIR is sent before it is known whether one of the packets that it covers
 * is lost. While packets wait in the queue, a REPAIR is usually sent only if
 * the paths have rate to spare. Let C be the number of bytes that the paths can
 * deliver before the last packet in the queue is too late. The paths have rate
 * to spare if the REPAIR and all packets in the queue together have at most C /
 * ADVANCE_PART bytes. */
#define ADVANCE_PART 4
/* Number of packets that a REPAIR should cover: ENOUGH_IDLE if the send queue
 * is empty, and ENOUGH_BUSY otherwise. From a REPAIR, the receiver can restore
 * only one lost packet. A REPAIR is useless if two or more of the packets that
 * it covers are lost. The probability of this is about 2 % if the REPAIR covers
 * 12 packets (ENOUGH_BUSY) and the loss rate is 1/50. */
#define ENOUGH_IDLE 6
#define ENOUGH_BUSY 12

void
mmtp_repairer_init (MmtpRepairer * self, const MmtpPaths * paths,
    const MmtpSendQueue * queue, const MmtpPolicy * policy, gboolean is_enabled)
{
  memset (self, 0, sizeof (*self));
  self->paths = paths;
  self->queue = queue;
  self->policy = policy;
  self->is_enabled = is_enabled;
}

void
mmtp_repairer_clear (MmtpRepairer * self)
{
  guint i;

  for (i = 0; i < self->paths->n; i++)
    mmtp_block_clear (&self->covers[i].block);
}

void
mmtp_repairer_note_loss (MmtpRepairer * self, const MmtpPath * path)
{
  self->covers[path->id].loss_time = self->paths->now;
}

/* Returns whether REPAIRs may be needed on the path: they are enabled, packets
 * were lost on the path recently, and the path is usable. */
static gboolean
is_lossy (const MmtpRepairer * self, const MmtpPath * path)
{
  const MmtpCover *cover = &self->covers[path->id];

  return self->is_enabled && cover->loss_time &&
      self->paths->now < cover->loss_time + LOSS_MEMORY &&
      mmtp_path_is_usable (path) && path->high_delay != MMTP_NEVER;
}

/* Returns whether a retransmission of `packet` may arrive too late. The packet
 * is being sent on `path` for the first time. If it is lost, the time until a
 * retransmission arrives is the sum of three delays:
 * - the delay until the receiver detects the gap,
 * - the delay of the receiver's report,
 * - the delay of the retransmission. */
static gboolean
is_retransmission_late (const MmtpRepairer * self, const MmtpPath * path,
    const MmtpPacket * packet)
{
  return self->paths->now + 2 * path->high_delay +
      mmtp_paths_get_return_time (self->paths) >
      packet->due + mmtp_send_queue_get_delay (self->queue);
}

/* Returns whether the paths have rate to spare for a REPAIR of `size` bytes. If
 * so, the REPAIR does not make any waiting packet late. */
static gboolean
has_spare_rate (const MmtpRepairer * self, gsize size)
{
  return mmtp_policy_has_spare_rate (self->policy, size, ADVANCE_PART);
}

/* Returns whether a REPAIR may be sent on the path even if the REPAIR delays
 * other frames. Two conditions must hold: the stream has reference frames, and
 * the packets on the path are lost at random, not because a queue in the
 * network overflows. When a queue overflows, additional packets would cause
 * further losses. */
static gboolean
may_replace_frames (const MmtpRepairer * self, const MmtpPath * path)
{
  return self->has_references && !path->limits.has_queue_losses;
}

static gboolean
is_padded (const MmtpRepairer * self, const MmtpPath * path)
{
  return self->padding && mmtp_padding_is_active (self->padding, path);
}

static gboolean
needs_cover (const MmtpRepairer * self, const MmtpPath * path,
    const MmtpPacket * packet)
{
  if (is_padded (self, path))
    return TRUE;
  return is_lossy (self, path) && is_retransmission_late (self, path, packet)
      && (packet->unit->rank >= MMTP_RANK_DELTA
      || has_spare_rate (self, packet->size));
}

gsize
mmtp_repairer_get_reserve (const MmtpRepairer * self)
{
  guint i;

  if (self->padding && self->padding->max_rate > 0)
    return MMTP_REPAIR_RESERVE;
  for (i = 0; i < self->paths->n; i++)
    if (is_lossy (self, self->paths->all[i]))
      return MMTP_REPAIR_RESERVE;
  return 0;
}

/* Returns whether a REPAIR that is sent now would be too late for all packets
 * that it covers: it would arrive after the deadline of the last of them. */
static gboolean
is_block_over (const MmtpRepairer * self, const MmtpPath * path)
{
  return self->paths->now +
      mmtp_path_get_safe_delay (path, self->paths->now) >
      self->covers[path->id].last_due + mmtp_send_queue_get_delay (self->queue);
}

void
mmtp_repairer_cover (MmtpRepairer * self, const MmtpPath * path,
    const MmtpPacket * packet, const guint8 * bytes, gsize size)
{
  MmtpCover *cover = &self->covers[path->id];

  self->has_references |= packet->unit->rank == MMTP_RANK_DELTA;
  if (!needs_cover (self, path, packet)
      || size + MMTP_REPAIR_RESERVE > path->max_size)
    return;
  if (cover->block.n > 0 && is_block_over (self, path))
    mmtp_block_restart (&cover->block);
  if (!mmtp_block_add (&cover->block, packet->number, bytes, size))
    return;
  if (cover->block.n == 1)
    cover->due = packet->due;
  cover->last_due = packet->due;
}

/* Returns the latest time in ns at which the next REPAIR of the path should be
 * sent. If it is sent later, it arrives after the deadline of the first packet
 * that it covers. */
static guint64
get_last_chance (const MmtpRepairer * self, const MmtpPath * path)
{
  const MmtpCover *cover = &self->covers[path->id];
  guint64 deadline = cover->due + mmtp_send_queue_get_delay (self->queue);
  guint64 time = mmtp_path_get_safe_delay (path, self->paths->now) +
      mmtp_path_get_cost (path, path->data_size);

  return deadline > time ? deadline - time : 0;
}

static guint64
get_repair_time (const MmtpRepairer * self, const MmtpPath * path)
{
  const MmtpCover *cover = &self->covers[path->id];
  gboolean is_idle = mmtp_send_queue_is_empty (self->queue);

  if (cover->block.n == 0 || !is_lossy (self, path) || path->blocked)
    return MMTP_NEVER;
  if (!is_idle && (cover->block.n < ENOUGH_BUSY ||
          !(may_replace_frames (self, path) ||
              has_spare_rate (self, cover->block.content->len))))
    return MMTP_NEVER;
  if (cover->block.n >= ENOUGH_IDLE)
    return path->token;
  return MAX (path->token, get_last_chance (self, path));
}

MmtpPath *
mmtp_repairer_poll (const MmtpRepairer * self, MmtpRepair * repair)
{
  guint i;

  for (i = 0; i < self->paths->n; i++) {
    MmtpPath *path = self->paths->all[i];

    if (self->paths->now < get_repair_time (self, path))
      continue;
    mmtp_block_get_repair (&self->covers[path->id].block, repair);
    return path;
  }
  return NULL;
}

gboolean
mmtp_repairer_fill_padding (const MmtpRepairer * self, const MmtpPath * path,
    MmtpRepair * repair)
{
  const MmtpBlock *block = &self->covers[path->id].block;

  if (block->n == 0)
    return FALSE;
  mmtp_block_get_repair (block, repair);
  return TRUE;
}

void
mmtp_repairer_restart (MmtpRepairer * self, const MmtpPath * path)
{
  mmtp_block_restart (&self->covers[path->id].block);
}

void
mmtp_repairer_flush (MmtpRepairer * self)
{
  guint i;

  for (i = 0; i < self->paths->n; i++)
    mmtp_block_restart (&self->covers[i].block);
}

guint64
mmtp_repairer_next_wakeup (const MmtpRepairer * self)
{
  guint64 wakeup = MMTP_NEVER;
  guint i;

  for (i = 0; i < self->paths->n; i++)
    wakeup = MIN (wakeup, get_repair_time (self, self->paths->all[i]));
  return wakeup == MMTP_NEVER ? wakeup : MAX (wakeup, self->paths->now);
}

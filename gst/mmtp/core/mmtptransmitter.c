/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtptransmitter.h, the last step before a message of the
 * sender is sent. This file numbers the message, appends its trailer (a MAC or
 * a token), and counts the message as sent. */

#include "mmtptransmitter.h"

#include <string.h>

void
mmtp_transmitter_init (MmtpTransmitter * self, const MmtpPaths * paths,
    MmtpSendQueue * queue, MmtpPolicy * policy,
    const MmtpRetransmission * retransmission, MmtpRepairer * repairer,
    MmtpPadding * padding)
{
  memset (self, 0, sizeof (*self));
  self->paths = paths;
  self->queue = queue;
  self->policy = policy;
  self->retransmission = retransmission;
  self->repairer = repairer;
  self->padding = padding;
}

static void
fill_data (MmtpData * data, const MmtpPacket * packet)
{
  const MmtpUnit *unit = packet->unit;

  data->stream_number = packet->number & 0xffffff;
  data->due = unit->due / 1000;
  data->flags = unit->flags;
  data->prelude.mask = 0;
  if (packet->number == unit->first) {
    data->flags |= MMTP_FLAG_FIRST;
    if (unit->prelude.mask)
      data->flags |= MMTP_FLAG_PRELUDE;
    data->prelude = unit->prelude;
  }
  if (packet->number == unit->first + unit->n_packets - 1)
    data->flags |= MMTP_FLAG_LAST;
  data->caps_version = unit->caps_version;
  data->payload = unit->bytes + packet->offset;
  data->payload_size = packet->size;
}

gsize
mmtp_transmitter_write (MmtpTransmitter * self, MmtpPath * path,
    MmtpMessage * message, MmtpOutput * output, guint64 stream_number)
{
  gsize size;

  message->channel = path->id;
  message->number = path->sent.next & 0xffff;
  message->sent = mmtp_to_ticks (self->paths->now);
  message->trailer = 0;
  size = mmtp_packet_write (message, output->bytes, output->room);
  if (size == 0)
    return 0;
  mmtp_direction_seal (&self->out, path->sent.next, output->bytes, size);
  mmtp_path_sent (path, self->paths->now, size, stream_number,
      message->type == MMTP_DATA || message->type == MMTP_PROBE);
  output->path = path->id;
  return size;
}

/* Records how much time was left until the deadline when a packet was sent.
 * `delay` is the safe delay of the path (the expected delay plus a margin),
 * computed before the packet was sent. */
static void
note_slack (MmtpTransmitter * self, MmtpPath * path, const MmtpPacket * packet,
    guint64 delay)
{
  guint64 deadline = mmtp_send_queue_get_deadline (self->queue, packet);

  mmtp_path_note_slack (path, deadline - MIN (deadline, self->paths->now),
      delay);
}

/* A speculative retransmission sends a lost packet again, although it might
 * arrive late. Returns the packet that may be retransmitted in this way now,
 * and sets `path` to the path on which it has to be sent. Returns NULL if there
 * is no such packet. */
static MmtpPacket *
find_speculative (MmtpTransmitter * self, MmtpPath ** path)
{
  MmtpPacket *packet =
      mmtp_retransmission_get_speculative (self->retransmission, path);

  if (!packet || (*path)->token > self->paths->now ||
      !mmtp_policy_has_room (self->policy, *path))
    return NULL;
  return packet;
}

/* A REPAIR message contains the XOR of several packets, from which the receiver
 * can compute a lost packet. If a REPAIR is due, writes it and returns its
 * size. If none is due, returns 0. Usually, a REPAIR becomes due only if the
 * paths can carry it in addition to the new packets. */
gsize
mmtp_transmitter_write_repair (MmtpTransmitter * self, MmtpOutput * output)
{
  MmtpMessage message;
  MmtpPath *path = mmtp_repairer_poll (self->repairer, &message.repair);
  gsize size;

  if (!path)
    return 0;
  message.type = MMTP_REPAIR;
  size = mmtp_transmitter_write (self, path, &message, output, MMTP_NO_STREAM);
  mmtp_repairer_restart (self->repairer, path);
  self->repairs += size > 0;
  return size;
}

gsize
mmtp_transmitter_write_padding (MmtpTransmitter * self, MmtpOutput * output)
{
  MmtpMessage message;
  MmtpPath *path = mmtp_padding_poll (self->padding);
  gsize size;

  if (!path)
    return 0;
  message.type = MMTP_REPAIR;
  if (!mmtp_repairer_fill_padding (self->repairer, path, &message.repair)) {
    message.type = MMTP_PROBE;
    message.probe.size = path->max_size;
  }
  size = mmtp_transmitter_write (self, path, &message, output, MMTP_NO_STREAM);
  if (size == 0)
    return 0;
  if (message.type == MMTP_REPAIR)
    mmtp_repairer_restart (self->repairer, path);
  mmtp_padding_note_sent (self->padding, path, size);
  return size;
}

static void
note_idle (MmtpTransmitter * self)
{
  guint i;

  for (i = 0; i < self->paths->n; i++)
    if (mmtp_policy_has_room (self->policy, self->paths->all[i]))
      mmtp_path_note_idle (self->paths->all[i]);
}

/* Lets the policy choose which of the waiting packets is sent now, and on which
 * path. Returns the packet and sets `path`. Returns NULL if no packet can be
 * sent now. */
static MmtpPacket *
find_waiting (MmtpTransmitter * self, MmtpPath ** path)
{
  if (!mmtp_send_queue_is_empty (self->queue))
    return mmtp_policy_choose (self->policy, path);
  note_idle (self);
  return NULL;
}

/* Writes the next message of the stream, and returns its size; 0 if nothing can
 * be sent now. The message is one of the following, in this order: a
 * speculative retransmission (a lost packet that is sent again although it
 * might arrive late), a REPAIR that is due, or the next waiting packet. The
 * speculative retransmission comes first, because waiting makes it later still.
 */
gsize
mmtp_transmitter_write_data (MmtpTransmitter * self, MmtpOutput * output)
{
  MmtpMessage message;
  MmtpPacket *packet;
  MmtpPath *path;
  guint64 delay;
  gsize size;

  self->policy->tried = self->paths->now;
  if (!self->paths->is_ready)
    return 0;
  packet = find_speculative (self, &path);
  if (!packet) {
    size = mmtp_transmitter_write_repair (self, output);
    if (size > 0)
      return size;
    packet = find_waiting (self, &path);
  }
  if (!packet)
    return 0;
  delay = mmtp_path_get_safe_delay (path, self->paths->now);
  message.type = MMTP_DATA;
  fill_data (&message.data, packet);
  size = mmtp_transmitter_write (self, path, &message, output, packet->number);
  if (size == 0)
    return 0;
  note_slack (self, path, packet, delay);
  if (!packet->was_sent)
    mmtp_repairer_cover (self->repairer, path, packet, output->bytes, size);
  if (!mmtp_send_queue_note_sent (self->queue, packet, path->id,
          path->sent.next - 1)) {
    self->retransmitted++;
    path->stats.retransmitted++;
  }
  return size;
}

static guint64
get_speculative_wakeup (const MmtpTransmitter * self)
{
  MmtpPath *path;

  if (!mmtp_retransmission_get_speculative (self->retransmission, &path) ||
      !mmtp_policy_has_room (self->policy, path))
    return MMTP_NEVER;
  return MAX (path->token, self->paths->now);
}

guint64
mmtp_transmitter_next_wakeup (const MmtpTransmitter * self)
{
  const MmtpPacket *head = mmtp_send_queue_get_head (self->queue);
  guint64 best, wakeup;

  if (!head)
    return MIN (MIN (get_speculative_wakeup (self),
            mmtp_repairer_next_wakeup (self->repairer)),
        mmtp_padding_next_wakeup (self->padding));
  best = mmtp_paths_get_best_delay (self->paths);
  wakeup = mmtp_send_queue_get_last_time (self->queue, head) + 1;
  wakeup = wakeup > best ? wakeup - best : 0;
  wakeup = MIN (wakeup, mmtp_policy_next_wakeup (self->policy));
  wakeup = MIN (wakeup, MIN (get_speculative_wakeup (self),
          mmtp_repairer_next_wakeup (self->repairer)));
  return MAX (wakeup, self->paths->now);
}

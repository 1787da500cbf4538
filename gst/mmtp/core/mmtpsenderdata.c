/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tokens become DATA messages [4.4 of the paper], and when there is a token next.
 * Which path takes which packet is mmtppolicy.c's; what waits, and what is given
 * up, is mmtpsendqueue.c's. */

#include "mmtpsenderprivate.h"

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
  data->payload = (const guint8 *) g_bytes_get_data (unit->data, NULL) +
      packet->offset;
  data->payload_size = packet->size;
}

static gsize
send_packet (MmtpSender * sender, MmtpPath * path, MmtpPacket * packet,
    MmtpOutput * output)
{
  guint64 delay = mmtp_path_get_safe_delay (path, sender->paths.now);
  guint64 deadline = mmtp_send_queue_get_deadline (sender->queue, packet);
  MmtpMessage message;
  gsize size;

  message.type = MMTP_DATA;
  fill_data (&message.data, packet);
  size = mmtp_sender_write (sender, path, &message, output, packet->number);
  if (size == 0)
    return 0;
  mmtp_path_note_slack (path, deadline - MIN (deadline, sender->paths.now),
      delay);
  if (!packet->was_sent)
    mmtp_repairer_cover (&sender->repairer, path, packet, output->bytes, size);
  if (!mmtp_send_queue_note_sent (sender->queue, packet, path->id,
          path->next - 1)) {
    sender->stats.retransmitted++;
    path->stats.retransmitted++;
  }
  return size;
}

/* A lost packet that has to hurry goes first. */
static gsize
write_speculative (MmtpSender * sender, MmtpOutput * output)
{
  MmtpPath *path;
  MmtpPacket *packet =
      mmtp_retransmission_get_speculative (&sender->retransmission, &path);

  if (!packet || path->token > sender->paths.now ||
      !mmtp_policy_has_room (&sender->policy, path))
    return 0;
  return send_packet (sender, path, packet, output);
}

/* Only what nothing new needs */
gsize
mmtp_sender_write_repair (MmtpSender * sender, MmtpOutput * output)
{
  MmtpMessage message = { MMTP_REPAIR };
  MmtpPath *path = mmtp_repairer_poll (&sender->repairer, &message.repair);
  gsize size;

  if (!path)
    return 0;
  size = mmtp_sender_write (sender, path, &message, output, MMTP_NO_STREAM);
  mmtp_repairer_restart (&sender->repairer, path);
  sender->stats.repairs += size > 0;
  return size;
}

static void
note_idle (MmtpSender * sender)
{
  guint i;

  for (i = 0; i < sender->paths.n; i++)
    if (mmtp_policy_has_room (&sender->policy, sender->paths.all[i]))
      mmtp_path_note_idle (sender->paths.all[i]);
}

gsize
mmtp_sender_write_data (MmtpSender * sender, MmtpOutput * output)
{
  MmtpPath *path;
  MmtpPacket *packet;
  gsize size;

  sender->policy.tried = sender->paths.now;
  if (!sender->paths.is_ready)
    return 0;
  if ((size = write_speculative (sender, output)) ||
      (size = mmtp_sender_write_repair (sender, output)))
    return size;
  if (mmtp_send_queue_is_empty (sender->queue)) {
    note_idle (sender);
    return 0;
  }
  packet = mmtp_policy_choose (&sender->policy, &path);
  return packet ? send_packet (sender, path, packet, output) : 0;
}

static guint64
get_speculative_wakeup (const MmtpSender * sender)
{
  MmtpPath *path;

  if (!mmtp_retransmission_get_speculative (&sender->retransmission, &path) ||
      !mmtp_policy_has_room (&sender->policy, path))
    return MMTP_NEVER;
  return MAX (path->token, sender->paths.now);
}

guint64
mmtp_sender_get_data_wakeup (const MmtpSender * sender)
{
  const MmtpPacket *head = mmtp_send_queue_get_head (sender->queue);
  guint64 best = mmtp_paths_get_best_delay (&sender->paths), wakeup;

  if (!head)
    return MIN (get_speculative_wakeup (sender),
        mmtp_repairer_get_wakeup (&sender->repairer));
  wakeup = mmtp_send_queue_get_deadline (sender->queue, head) + 1;
  wakeup = wakeup > best ? wakeup - best : 0;
  wakeup = MIN (wakeup, mmtp_policy_get_wakeup (&sender->policy));
  wakeup = MIN (wakeup, MIN (get_speculative_wakeup (sender),
          mmtp_repairer_get_wakeup (&sender->repairer)));
  return MAX (wakeup, sender->paths.now);
}

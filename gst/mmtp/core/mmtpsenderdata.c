/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tokens become DATA messages [4.4 of the paper], and when there is a token next.
 * Which path takes which packet is mmtppolicy.c's; what waits, and what is given
 * up, is mmtpsenderqueue.c's. */

#include "mmtppolicy.h"

static gsize
write_packet (MmtpSender * sender, MmtpPath * path, MmtpPacket * packet,
    MmtpOutput * output)
{
  MmtpUnit *unit = packet->unit;
  MmtpMessage message;
  MmtpData *data = &message.data;

  message.type = MMTP_DATA;
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
  return mmtp_sender_write (sender, path, &message, output, packet->number);
}

static gsize
send_packet (MmtpSender * sender, MmtpPath * path, MmtpPacket * packet,
    MmtpOutput * output)
{
  guint64 delay = mmtp_path_get_safe_delay (path, sender->now);
  guint64 deadline = packet->due + sender->initial_delay;
  gsize size = write_packet (sender, path, packet, output);

  if (size == 0)
    return 0;
  mmtp_path_note_slack (path, deadline - MIN (deadline,
          sender->now), delay);
  if (!packet->was_sent)
    mmtp_sender_cover (sender, path, packet, output->bytes, size);
  mmtp_sender_note_sent (sender, path, packet);
  return size;
}

/* A lost packet that has to hurry goes first. */
static gsize
write_chancy (MmtpSender * sender, MmtpOutput * output)
{
  MmtpPath *path;
  MmtpPacket *packet = mmtp_sender_get_chancy (sender, &path);

  if (!packet || path->token > sender->now ||
      !mmtp_policy_has_room (sender, path))
    return 0;
  return send_packet (sender, path, packet, output);
}

static void
note_idle (MmtpSender * sender)
{
  guint i;

  for (i = 0; i < sender->n_paths; i++)
    if (mmtp_policy_has_room (sender, sender->paths[i]))
      mmtp_path_note_idle (sender->paths[i]);
}

gsize
mmtp_sender_write_data (MmtpSender * sender, MmtpOutput * output)
{
  MmtpPath *path;
  MmtpPacket *packet;
  gsize size;

  sender->data_tried = sender->now;
  if (!sender->ready)
    return 0;
  if ((size = write_chancy (sender, output)) ||
      (size = mmtp_sender_write_repair (sender, output)))
    return size;
  if (mmtp_sender_is_queue_empty (sender)) {
    note_idle (sender);
    return 0;
  }
  packet = mmtp_policy_choose (sender, &path);
  return packet ? send_packet (sender, path, packet, output) : 0;
}

static guint64
get_chancy_wakeup (const MmtpSender * sender)
{
  MmtpPath *path;

  if (!mmtp_sender_get_chancy (sender, &path) ||
      !mmtp_policy_has_room (sender, path))
    return MMTP_NEVER;
  return MAX (path->token, sender->now);
}

guint64
mmtp_sender_get_data_wakeup (const MmtpSender * sender)
{
  const MmtpPacket *head = mmtp_sender_get_head (sender);
  guint64 best = mmtp_policy_get_best_delay (sender), wakeup;

  if (!head)
    return MIN (get_chancy_wakeup (sender),
        mmtp_sender_get_repair_wakeup (sender));
  wakeup = head->due + sender->initial_delay + 1;
  wakeup = wakeup > best ? wakeup - best : 0;
  wakeup = MIN (wakeup, mmtp_policy_get_wakeup (sender));
  wakeup = MIN (wakeup, MIN (get_chancy_wakeup (sender),
          mmtp_sender_get_repair_wakeup (sender)));
  return MAX (wakeup, sender->now);
}

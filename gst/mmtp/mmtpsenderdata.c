/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tokens become DATA messages [4.4 of the paper]: which channel takes which
 * packet of the queue, when one is the second of a pair [4.5.2], and when there
 * is a token next. What waits, and what is given up, is mmtpsenderqueue.c's. */

#include "mmtpsenderprivate.h"

static gboolean
may_carry (const MmtpPath * path)
{
  return mmtp_path_is_usable (path) && !path->channel->blocked;
}

static guint
fill_candidates (const MmtpSender * sender, MmtpCandidate * candidates)
{
  guint i;

  for (i = 0; i < sender->n_paths; i++) {
    const MmtpChannel *channel = sender->paths[i]->channel;

    candidates[i].channel = i;
    candidates[i].may_carry = may_carry (sender->paths[i]);
    candidates[i].token = channel->token;
    candidates[i].delay = mmtp_channel_get_safe_delay (channel);
  }
  return sender->n_paths;
}

/* The most urgent packet that can be there in time when it takes so long,
 * unless the channel's messages are too short for it */
static MmtpPacket *
find_packet (MmtpSender * sender, const MmtpChannel * channel, guint64 delay)
{
  MmtpPacket *packet = mmtp_sender_find_packet (sender, delay);

  if (packet && mmtp_sender_get_message_size (packet) > channel->longest)
    return NULL;
  return packet;
}

static gsize
write_packet (MmtpSender * sender, MmtpPath * path, MmtpPacket * packet,
    gboolean is_pair, MmtpOutput * output)
{
  MmtpUnit *unit = packet->unit;
  MmtpMessage message;
  MmtpData *data = &message.data;

  message.type = MMTP_DATA;
  data->stream_number = packet->number & 0xffffff;
  data->due = unit->due / 1000;
  data->flags = unit->flags | (is_pair ? MMTP_FLAG_PAIR : 0);
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
    gboolean is_pair, MmtpOutput * output)
{
  gsize size = write_packet (sender, path, packet, is_pair, output);

  if (size == 0)
    return 0;
  if (!packet->was_sent)
    mmtp_sender_cover (sender, path, packet, output->bytes, size);
  mmtp_sender_note_sent (sender, path, packet);
  return size;
}

/* [4.5.2] "A probe packet is sent back to back with a normal packet": a packet
 * with payload where one can follow in time, otherwise an empty one. */
gsize
mmtp_sender_write_pair (MmtpSender * sender, MmtpOutput * output)
{
  MmtpPath *path;
  MmtpChannel *channel;
  MmtpPacket *packet;

  if (sender->pair_channel == MMTP_NO_CHANNEL)
    return 0;
  path = sender->paths[sender->pair_channel];
  channel = path->channel;
  sender->pair_channel = MMTP_NO_CHANNEL;
  if (!may_carry (path) || channel->next != sender->pair_number)
    return 0;
  packet = find_packet (sender, channel,
      mmtp_channel_get_safe_delay (channel) +
      mmtp_channel_get_cost (channel, channel->data_size));
  mmtp_channel_pair_sent (channel, sender->now);
  if (packet)
    return send_packet (sender, path, packet, TRUE, output);
  if (g_sequence_is_empty (sender->queue))
    return mmtp_sender_write_second_probe (sender, path, output);
  return 0;
}

/* A lost packet that has to hurry goes first. */
static gsize
write_chancy (MmtpSender * sender, MmtpOutput * output)
{
  MmtpPath *path;
  MmtpPacket *packet = mmtp_sender_get_chancy (sender, &path);

  if (!packet || path->channel->token > sender->now)
    return 0;
  return send_packet (sender, path, packet, FALSE, output);
}

/* The most urgent packet for the channel of longest delay that can bring the
 * last of all: section 4.4 for the one at the head, and the others do not wait
 * for it. The other schedulers know only the head. */
gsize
mmtp_sender_write_data (MmtpSender * sender, MmtpOutput * output)
{
  MmtpCandidate candidates[MMTP_MAX_CHANNELS];
  guint n, chosen;
  MmtpPath *path;
  MmtpPacket *packet;
  gsize size;

  if (!sender->ready)
    return 0;
  if ((size = write_chancy (sender, output)) ||
      (size = mmtp_sender_write_repair (sender, output)) ||
      g_sequence_is_empty (sender->queue))
    return size;
  n = fill_candidates (sender, candidates);
  for (;;) {
    chosen = mmtp_scheduler_choose (sender->config.scheduler, candidates, n,
        sender->now, mmtp_sender_get_tail (sender)->due + sender->initial_delay,
        &sender->turn);
    if (chosen == MMTP_NO_CHANNEL)
      return 0;
    path = sender->paths[chosen];
    packet = find_packet (sender, path->channel,
        sender->config.scheduler == MMTP_SCHEDULER_MMTP ?
        candidates[chosen].delay : 0);
    if (packet)
      break;
    candidates[chosen].may_carry = FALSE;
  }
  size = send_packet (sender, path, packet, FALSE, output);
  if (size && mmtp_channel_wants_pair (path->channel, sender->now)) {
    sender->pair_channel = chosen;
    sender->pair_number = path->channel->next;
  }
  return size;
}

static guint64
get_chancy_wakeup (const MmtpSender * sender)
{
  MmtpPath *path;

  if (!mmtp_sender_get_chancy (sender, &path))
    return MMTP_NEVER;
  return MAX (path->channel->token, sender->now);
}

guint64
mmtp_sender_get_data_wakeup (const MmtpSender * sender)
{
  const MmtpPacket *head = mmtp_sender_get_head (sender);
  guint64 least = mmtp_sender_get_least_delay (sender), wakeup;
  guint i;

  if (sender->pair_channel != MMTP_NO_CHANNEL)
    return sender->now;
  if (!head)
    return MIN (get_chancy_wakeup (sender),
        mmtp_sender_get_repair_wakeup (sender));
  if (!sender->ready || least == MMTP_NEVER)
    least = 0;
  wakeup = head->due + sender->initial_delay + 1;
  wakeup = wakeup > least ? wakeup - least : 0;
  for (i = 0; sender->ready && i < sender->n_paths; i++) {
    const MmtpChannel *channel = sender->paths[i]->channel;

    if (may_carry (sender->paths[i]) && channel->token > sender->now)
      wakeup = MIN (wakeup, channel->token);
  }
  wakeup = MIN (wakeup, MIN (get_chancy_wakeup (sender),
          mmtp_sender_get_repair_wakeup (sender)));
  return MAX (wakeup, sender->now);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tokens become DATA messages [4.4 of the paper]: which channel takes which
 * packet of the queue, as far as the window of the path allows, and when there
 * is a token next. What waits, and what is given up, is mmtpsenderqueue.c's. */

#include "mmtpsenderprivate.h"

static gboolean
may_carry (const MmtpPath * path)
{
  return mmtp_path_is_usable (path) && !path->channel->blocked;
}

/* Which paths may use their reserve, beyond their window: those that take over
 * from a path that has stalled, and those whose reports are missing, perhaps
 * because the return path has a gap. A path that reports as usual is as full as
 * its window says. */
typedef enum
{
  TRUST_NOBODY,                 /* some path has room by its window alone */
  TRUST_OVERDUE,                /* no path has stalled: those whose report is
                                 * overdue */
  TRUST_DELIVERING,             /* some have stalled, others deliver: these. What
                                 * waits is sooner there than behind a stall */
  TRUST_ALL                     /* all have stalled: those whose report is
                                 * overdue */
} Trust;

static gboolean
is_trusted (const MmtpSender * sender, const MmtpPath * path, Trust trust)
{
  if (trust == TRUST_NOBODY || trust == TRUST_DELIVERING)
    return trust == TRUST_DELIVERING;
  return sender->now >= mmtp_channel_get_overdue (path->channel);
}

static gboolean
has_room (const MmtpSender * sender, const MmtpPath * path, Trust trust)
{
  if (!may_carry (path) || (path->channel->is_stalled && trust < TRUST_ALL))
    return FALSE;
  return mmtp_channel_has_window (path->channel, path->channel->data_size,
      is_trusted (sender, path, trust));
}

static Trust
get_trust (const MmtpSender * sender)
{
  gboolean delivers = FALSE, stalls = FALSE;
  guint i;

  for (i = 0; i < sender->n_paths; i++) {
    if (has_room (sender, sender->paths[i], TRUST_NOBODY))
      return TRUST_NOBODY;
    if (!may_carry (sender->paths[i]))
      continue;
    if (sender->paths[i]->channel->is_stalled)
      stalls = TRUE;
    else
      delivers = TRUE;
  }
  if (!delivers)
    return TRUST_ALL;
  return stalls ? TRUST_DELIVERING : TRUST_OVERDUE;
}

gboolean
mmtp_sender_has_choice (const MmtpSender * sender)
{
  guint n = 0, i;

  for (i = 0; i < sender->n_paths; i++)
    n += may_carry (sender->paths[i]);
  return n > 1;
}

/* How much is known of a path. While there is a better known one, nobody trusts
 * it with the only copy of a packet. */
typedef enum
{
  KNOWN_JOINED,
  KNOWN_CONFIRMED,              /* the receiver has reported it */
  KNOWN_MEASURED                /* and how long a packet takes */
} Known;

static Known
get_known (const MmtpPath * path)
{
  if (!path->confirmed && !path->channel->configured_rate)
    return KNOWN_JOINED;
  return mmtp_channel_is_measured (path->channel) ? KNOWN_MEASURED :
      KNOWN_CONFIRMED;
}

static Known
get_best_known (const MmtpSender * sender)
{
  Known best = KNOWN_JOINED;
  guint i;

  for (i = 0; i < sender->n_paths; i++)
    if (may_carry (sender->paths[i]))
      best = MAX (best, get_known (sender->paths[i]));
  return best;
}

/* Whether one of the paths could carry more than it is asked for, right now */
static gboolean
has_spare_path (const MmtpSender * sender)
{
  guint i;

  for (i = 0; i < sender->n_paths; i++)
    if (sender->paths[i]->channel->limits.is_app_limited &&
        has_room (sender, sender->paths[i], TRUST_NOBODY))
      return TRUE;
  return FALSE;
}

static guint
fill_candidates (const MmtpSender * sender, Trust trust,
    Known known, MmtpCandidate * candidates)
{
  gboolean has_choice = mmtp_sender_has_choice (sender);
  gboolean is_spare = has_spare_path (sender);
  guint i;

  for (i = 0; i < sender->n_paths; i++) {
    const MmtpChannel *channel = sender->paths[i]->channel;

    candidates[i].channel = i;
    candidates[i].may_carry = has_room (sender, sender->paths[i], trust) &&
        get_known (sender->paths[i]) >= known;
    candidates[i].token = channel->token;
    candidates[i].delay = has_choice ?
        mmtp_channel_get_cautious_delay (channel, sender->now,
        is_spare) :
        mmtp_channel_get_safe_delay (channel, sender->now);
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
  guint64 delay = mmtp_channel_get_safe_delay (path->channel, sender->now);
  guint64 deadline = packet->due + sender->initial_delay;
  gsize size = write_packet (sender, path, packet, output);

  if (size == 0)
    return 0;
  mmtp_channel_note_slack (path->channel, deadline - MIN (deadline,
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

  if (!packet || path->channel->token > sender->now ||
      !has_room (sender, path, TRUST_NOBODY))
    return 0;
  return send_packet (sender, path, packet, output);
}

/* The most urgent packet for the channel of longest delay that can bring the
 * last of all: section 4.4 for the one at the head, and the others do not wait
 * for it. The other schedulers know only the head. */
static MmtpPacket *
choose (MmtpSender * sender, MmtpCandidate * candidates, guint n,
    MmtpPath ** path)
{
  guint64 last = mmtp_sender_get_tail (sender)->due + sender->initial_delay;
  MmtpPacket *packet;
  guint chosen;

  for (;;) {
    chosen = mmtp_scheduler_choose (sender->config.scheduler, candidates, n,
        sender->now, last, &sender->turn);
    if (chosen == MMTP_NO_CHANNEL)
      return NULL;
    *path = sender->paths[chosen];
    packet = find_packet (sender, (*path)->channel,
        sender->config.scheduler == MMTP_SCHEDULER_MMTP ?
        candidates[chosen].delay : 0);
    if (packet)
      return packet;
    candidates[chosen].may_carry = FALSE;
  }
}

static void
note_idle (MmtpSender * sender)
{
  guint i;

  for (i = 0; i < sender->n_paths; i++)
    if (has_room (sender, sender->paths[i], TRUST_NOBODY))
      mmtp_channel_note_idle (sender->paths[i]->channel);
}

gsize
mmtp_sender_write_data (MmtpSender * sender, MmtpOutput * output)
{
  MmtpCandidate candidates[MMTP_MAX_CHANNELS];
  MmtpPath *path;
  MmtpPacket *packet;
  Known known;
  Trust trust;
  gsize size;
  guint n;

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
  trust = get_trust (sender);
  known = get_best_known (sender);
  n = fill_candidates (sender, trust, known, candidates);
  packet = choose (sender, candidates, n, &path);
  if (!packet && known > KNOWN_JOINED) {
    n = fill_candidates (sender, trust, KNOWN_JOINED, candidates);
    packet = choose (sender, candidates, n, &path);
  }
  return packet ? send_packet (sender, path, packet, output) : 0;
}

static guint64
get_chancy_wakeup (const MmtpSender * sender)
{
  MmtpPath *path;

  if (!mmtp_sender_get_chancy (sender, &path) ||
      !has_room (sender, path, TRUST_NOBODY))
    return MMTP_NEVER;
  return MAX (path->channel->token, sender->now);
}

guint64
mmtp_sender_get_data_wakeup (const MmtpSender * sender)
{
  const MmtpPacket *head = mmtp_sender_get_head (sender);
  Trust trust = get_trust (sender);
  guint64 best = mmtp_sender_get_best_delay (sender), wakeup;
  guint i;

  if (!head)
    return MIN (get_chancy_wakeup (sender),
        mmtp_sender_get_repair_wakeup (sender));
  wakeup = head->due + sender->initial_delay + 1;
  wakeup = wakeup > best ? wakeup - best : 0;
  for (i = 0; sender->ready && i < sender->n_paths; i++) {
    const MmtpChannel *channel = sender->paths[i]->channel;

    if (trust > TRUST_NOBODY && may_carry (sender->paths[i]) &&
        mmtp_channel_get_overdue (channel) > sender->now)
      wakeup = MIN (wakeup, mmtp_channel_get_overdue (channel));
    /* The caller may have advanced the clock beyond a token without polling
     * for output since. */
    if (has_room (sender, sender->paths[i], trust) &&
        channel->token > sender->data_tried)
      wakeup = MIN (wakeup, channel->token);
  }
  wakeup = MIN (wakeup, MIN (get_chancy_wakeup (sender),
          mmtp_sender_get_repair_wakeup (sender)));
  return MAX (wakeup, sender->now);
}

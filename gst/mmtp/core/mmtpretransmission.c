/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decides which lost packets are retransmitted, and which packets are sent
 * again on another path because their path has stalled or has become slower. */

#include "mmtpretransmission.h"

#include <string.h>

#define MILLISECOND G_GUINT64_CONSTANT (1000000)
/* Maximum number of lost packets that wait for a speculative retransmission. A
 * retransmission is speculative if it might arrive late. */
#define MAX_SPECULATIVE 64
/* If a path has stalled, its packets in flight can be sent again on another
 * path. The sender delays this, because the stall may end and the packets may
 * still arrive. For each packet, there is a latest time at which it can be sent
 * on the other path and still arrive in time. The packet is sent again
 * RESCUE_TIME (in ns) before this latest time. RESCUE_TIME is long enough for
 * three REPORTs of the receiver. */
#define RESCUE_TIME (150 * MILLISECOND)
/* When a path has stalled or has become slower, the sender searches it for
 * packets in flight that have to be sent again on another path. RESCUE_PERIOD
 * is the minimum time in ns between two searches of the same path for the same
 * reason. If several reports arrive in this time, they cause no further search.
 */
#define RESCUE_PERIOD (10 * MILLISECOND)
/* A retransmission that might arrive late is made only if at least one of two
 * conditions is met:
 * - Several pictures need the lost packet. The weight of a buffer is the
 *   expected number of pictures that are lost without this buffer. The buffer
 *   to which the lost packet belongs must have at least the weight
 *   CHANCE_WEIGHT.
 * - The paths have rate to spare. Let C be the number of bytes that the paths
 *   can deliver from now on, until it is too late for the last packet in the
 *   queue. Let Q be the number of bytes of the lost packet and of all packets
 *   in the queue. Q must be at most C / CHANCE_PART. */
#define CHANCE_WEIGHT 2
#define CHANCE_PART 2
/* Maximum number of lost messages that are looked up for one REPORT. A REPORT
 * contains a record for each path, with ranges of channel numbers of lost
 * messages. The sender looks up each of these numbers in its log of sent
 * messages. The maximum is sufficient for one record that has the maximum
 * number of ranges, each with the maximum length. Further channel numbers are
 * ignored, because the receiver repeats them in later REPORTs. */
#define MAX_REPORT_LOOKUPS (MMTP_MAX_RANGES * 255)

void
mmtp_retransmission_init (MmtpRetransmission * self, const MmtpPaths * paths,
    MmtpSendQueue * queue, const MmtpPolicy * policy, gboolean is_enabled)
{
  memset (self, 0, sizeof (*self));
  self->paths = paths;
  self->queue = queue;
  self->policy = policy;
  self->is_enabled = is_enabled;
}

void
mmtp_retransmission_begin_report (MmtpRetransmission * self)
{
  self->report_lookups = 0;
}

/* --- speculative retransmissions ------------------------------------------ */

static gboolean
has_chance (const MmtpRetransmission * self, const MmtpPacket * packet)
{
  guint64 arrival;

  return mmtp_paths_find_quickest (self->paths,
      mmtp_send_packet_get_message_size (packet), &arrival) &&
      arrival <= mmtp_send_queue_get_deadline (self->queue, packet);
}

/* Called for a lost packet that will not be sent again. */
static void
give_up (MmtpRetransmission * self, MmtpPacket * packet)
{
  self->unrepaired++;
  mmtp_send_queue_note_lost (self->queue, packet);
}

void
mmtp_retransmission_expire (MmtpRetransmission * self)
{
  GList *walk, *next;

  for (walk = mmtp_send_queue_get_speculative (self->queue)->head; walk;
      walk = next) {
    next = walk->next;
    if (has_chance (self, walk->data))
      continue;
    give_up (self, walk->data);
  }
}

MmtpPacket *
mmtp_retransmission_get_speculative (const MmtpRetransmission * self,
    MmtpPath ** path)
{
  const GList *head = mmtp_send_queue_get_speculative (self->queue)->head;
  MmtpPacket *packet = head ? head->data : NULL;
  guint64 arrival;

  *path = packet ? mmtp_paths_find_quickest (self->paths,
      mmtp_send_packet_get_message_size (packet), &arrival) : NULL;
  return *path ? packet : NULL;
}

/* --- moving packets to another path --------------------------------------- */

/* Assumes that a packet is retransmitted now on the path that is best for this.
 * Returns a time by which the packet almost certainly arrives. If no path is
 * usable, returns the current time. The packet is then not given up as too
 * late, because a path may become usable again. */
static guint64
get_next_arrival (const MmtpRetransmission * self)
{
  guint64 delay = mmtp_paths_get_min_delay (self->paths);

  return self->paths->now + (delay == MMTP_NEVER ? 0 : delay);
}

/* Returns the packet in the message `number` on `path`. Returns NULL if the
 * message contained no packet, or if the packet was sent again later in another
 * message. */
static MmtpPacket *
get_sent_packet (const MmtpRetransmission * self, const MmtpPath * path,
    guint64 number)
{
  const MmtpSent *sent = mmtp_sent_log_get (&path->sent, number);
  MmtpPacket *packet = mmtp_send_queue_get_packet (self->queue,
      sent->stream_number);

  return packet && packet->path == path->id && packet->path_number == number ?
      packet : NULL;
}

/* Puts a packet back into the send queue: the packet that was sent in the
 * message `number` on `path`. The packet is put back only under three
 * conditions:
 * - The packet has not been sent again in another message.
 * - The packet is due at `due` or earlier.
 * - The packet would be in time if it arrived at `arrival`. */
static void
requeue_sent (MmtpRetransmission * self, MmtpPath * path, guint64 number,
    guint64 due, guint64 arrival)
{
  MmtpPacket *packet = get_sent_packet (self, path, number);

  path->stats.report_steps++;
  if (!packet || packet->due > due ||
      !mmtp_send_queue_requeue (self->queue, packet, arrival))
    return;
  self->requeued_end[path->id] = MAX (self->requeued_end[path->id], number + 1);
  path->stats.requeued++;
}

static void
requeue_due (MmtpRetransmission * self, MmtpPath * path, guint64 due)
{
  guint64 arrival = get_next_arrival (self), number;

  for (number = mmtp_sent_log_get_oldest (&path->sent);
      number < path->sent.next; number++)
    requeue_sent (self, path, number, due, arrival);
}

/* Puts packets that seem lost on `path` back into the send queue, if their due
 * time is `due` or earlier.
 *
 * For this, the function examines the messages that were sent on `path`, in the
 * order in which they were sent. A message is missing in two cases. First, the
 * reports say that it has not arrived although it should have. Second, no
 * report has said anything about the message, although a report about it should
 * have arrived by now. The packet in a missing message is put back if its due
 * time permits. The search ends at the first message that is not missing,
 * because the later messages are not missing either. */
static void
requeue_missing (MmtpRetransmission * self, MmtpPath * path, guint64 due)
{
  guint64 number = mmtp_sent_log_get_oldest (&path->sent);
  guint64 arrival = get_next_arrival (self);
  const MmtpSent *sent;

  while ((sent = mmtp_sent_log_get (&path->sent, number)) &&
      mmtp_path_is_missing (path, sent, self->paths->now))
    requeue_sent (self, path, number++, due, arrival);
}

/* Returns whether packets in flight on `path` are sent again if they have become
 * late. They are not sent again in three cases:
 * - No frame of the stream refers to another frame. A retransmission then saves
 *   only one frame, and in an overload it takes the place of another frame.
 * - The rate of the path is configured. The expected delay of such a path
 *   contains a large margin.
 * - The scheduler ignores delays, so it sends packets although they will be
 *   late. */
static gboolean
may_requeue_late (const MmtpRetransmission * self, const MmtpPath * path)
{
  return mmtp_send_queue_has_references (self->queue) &&
      !path->configured_rate && self->policy->scheduler->knows_delays;
}

/* Puts packets that have become late on `path` back into the send queue, so that
 * they are sent again on another path, which must be faster than this one.
 *
 * A packet in flight has become late if it would miss its deadline with the
 * delay of the newest message that was reported. When the packet was sent, this
 * delay was not known yet, and the path was expected to deliver the packet in
 * time. The report often arrives early enough to send the packet again. */
static void
requeue_late (MmtpRetransmission * self, MmtpPath * path)
{
  const guint64 now = self->paths->now;
  guint64 delay, elsewhere, number;
  const MmtpSent *sent;

  if (path->measured_time <= self->searched[path->id] ||
      now < self->searched[path->id] + RESCUE_PERIOD ||
      !may_requeue_late (self, path))
    return;
  self->searched[path->id] = now;
  delay = mmtp_path_get_latest_delay (path);
  elsewhere = mmtp_paths_get_delay_elsewhere (self->paths, path);
  if (elsewhere == MMTP_NEVER || delay < elsewhere)
    return;
  number = mmtp_sent_log_get_oldest (&path->sent);
  while ((sent = mmtp_sent_log_get (&path->sent, number)) &&
      sent->time < path->measured_time) {
    if (sent->time_left < delay)
      requeue_sent (self, path, number, G_MAXUINT64, now + elsewhere);
    number++;
  }
}

void
mmtp_retransmission_requeue_path (MmtpRetransmission * self, MmtpPath * path)
{
  requeue_due (self, path, G_MAXUINT64);
}

/* Puts packets that are in flight on `path` back into the send queue, so that
 * they are sent again on another path. These are packets that have become late,
 * and urgent packets. A packet is urgent if it would soon be too late to send it
 * on another path.
 *
 * If the path has stalled, all its urgent packets are put back.
 *
 * If the path only seems to have stalled, its packets may still arrive. A
 * retransmission of such a packet would then be useless, so it must not delay
 * other packets. Urgent packets are therefore put back only while the send
 * queue is empty, and only if their messages are overdue. */
void
mmtp_retransmission_rescue (MmtpRetransmission * self, MmtpPath * path)
{
  guint64 delay, arrival;

  requeue_late (self, path);
  if (self->paths->now < self->rescue_at[path->id] || (!path->is_stalled &&
          (!mmtp_send_queue_is_empty (self->queue) ||
              !mmtp_path_is_in_doubt (path, self->paths->now))))
    return;
  self->rescue_at[path->id] = self->paths->now + RESCUE_PERIOD;
  delay = mmtp_paths_get_delay_elsewhere (self->paths, path);
  if (delay == MMTP_NEVER)
    return;
  arrival = self->paths->now + delay + RESCUE_TIME;
  if (arrival < mmtp_send_queue_get_delay (self->queue))
    return;
  if (path->is_stalled)
    requeue_due (self, path, arrival - mmtp_send_queue_get_delay (self->queue));
  else
    requeue_missing (self, path, arrival -
        mmtp_send_queue_get_delay (self->queue));
}

/* --- losses --------------------------------------------------------------- */

/* Returns whether a retransmission of the lost packet is made although it might
 * arrive late. See CHANCE_WEIGHT. */
static gboolean
may_speculate (const MmtpRetransmission * self, const MmtpPacket * packet)
{
  if (mmtp_send_queue_get_speculative (self->queue)->length >=
      MAX_SPECULATIVE || !has_chance (self, packet))
    return FALSE;
  return packet->unit->weight >= CHANCE_WEIGHT ||
      mmtp_policy_has_spare_rate (self->policy, packet->size, CHANCE_PART);
}

static gboolean
requeue_lost (MmtpRetransmission * self, MmtpPacket * packet)
{
  if (packet->state != MMTP_PACKET_IN_FLIGHT || packet->unit->given_up)
    return FALSE;
  if (mmtp_paths_are_sure (self->paths,
          mmtp_send_queue_get_deadline (self->queue, packet)) &&
      mmtp_send_queue_requeue (self->queue, packet, get_next_arrival (self)))
    return TRUE;
  if (!may_speculate (self, packet))
    return FALSE;
  mmtp_send_queue_set_speculative (self->queue, packet);
  return TRUE;
}

static void
repair (MmtpRetransmission * self, MmtpPacket * packet)
{
  if (self->is_enabled && requeue_lost (self, packet))
    return;
  give_up (self, packet);
}

static void
take_loss (MmtpRetransmission * self, MmtpPath * path, guint16 low)
{
  guint64 number;
  const MmtpSent *sent = mmtp_sent_log_find (&path->sent, low, &number);
  MmtpPacket *packet;

  if (!sent)
    return;
  mmtp_path_note_missed (path, number);
  /* A message on this path was lost. The packet in this message may already
   * have been retransmitted in another message. In this case, the packet is not
   * put back into the queue, because the retransmission may still arrive. */
  packet = get_sent_packet (self, path, number);
  if (packet && packet->state == MMTP_PACKET_IN_FLIGHT)
    repair (self, packet);
}

void
mmtp_retransmission_take_losses (MmtpRetransmission * self, MmtpPath * path,
    const MmtpRecord * record)
{
  guint i, k;

  for (i = 0; i < record->n_ranges; i++)
    for (k = 0; k < record->ranges[i].count
        && self->report_lookups < MAX_REPORT_LOOKUPS; k++) {
      self->report_lookups++;
      self->loss_lookups++;
      take_loss (self, path, record->ranges[i].first + k);
    }
}

/* --- arrivals ------------------------------------------------------------- */

/* Takes the packet of the message `number` out of the send queue if it waits
 * there to be sent again, although the message has arrived. */
static void
take_arrival (MmtpRetransmission * self, MmtpPath * path, guint64 number)
{
  const MmtpSent *sent = mmtp_sent_log_get (&path->sent, number);
  MmtpPacket *packet;

  path->stats.report_steps++;
  if (sent->is_missed)
    return;
  packet = get_sent_packet (self, path, number);
  if (packet && packet->state == MMTP_PACKET_WAITING)
    mmtp_send_queue_withdraw (self->queue, packet);
}

void
mmtp_retransmission_take_arrivals (MmtpRetransmission * self, MmtpPath * path,
    guint64 first)
{
  const guint64 end = MIN (self->requeued_end[path->id], path->sent.unreported);
  guint64 number;

  for (number = MAX (first, path->sent.kept); number < end; number++)
    take_arrival (self, path, number);
}

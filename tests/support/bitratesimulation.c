/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bitratesimulation.h"

#include <string.h>

#include "linkload.h"
#include "mmtpentropy.h"
#include "seededdraw.h"

#define MS LINK_MS
#define SECOND LINK_SECOND

#define MAX_PAYLOAD 1472
#define IP_UDP 28
#define PACKET_SIZE 1300
/* Time in ns from the capture of a frame until the encoder has output the last
 * byte of this frame. */
#define ENCODING_TIME (15 * MS)
/* Time in ns between two calls of the rule that chooses the encoder's bitrate.
 * The element bitrateadapt uses the same time. */
#define CONTROL_PERIOD (20 * MS)
#define LOG_PERIOD (100 * MS)

typedef struct
{
  ArenaDirection direction;
  gsize size;
  guint8 bytes[];
} Message;

/* --- set-up and clean-up -------------------------------------------------- */

static void
open_link (BitrateSimulation * simulation, const ArenaPath * path, guint run,
    guint n_runs, guint64 duration)
{
  guint i;

  arena_links_open (&simulation->links, path, 0, run, n_runs, duration);
  for (i = 0; i < ARENA_N_DIRECTIONS; i++)
    simulation->flows[i] =
        link_add_flow (simulation->links.links[i],
        simulation->links.station[i]);
}

static void
open_session (BitrateSimulation * simulation)
{
  MmtpPathConfig path = { "a", MAX_PAYLOAD, IP_UDP };
  MmtpReceiverConfig receiver;
  MmtpSenderConfig sender;
  guint8 entropy[MMTP_ENTROPY_SIZE];

  mmtp_sender_config_init (&sender);
  sender.max_delay = sender.initial_delay = simulation->latency;
  sender.frame_period = BITRATE_FRAME_PERIOD / 1000;
  mmtp_entropy_make (2 * simulation->seed, entropy);
  simulation->sender = mmtp_sender_new (&sender, entropy);
  mmtp_receiver_config_init (&receiver);
  mmtp_entropy_make (2 * simulation->seed + 1, entropy);
  simulation->receiver = mmtp_receiver_new (&receiver, entropy);
  mmtp_sender_add_path (simulation->sender, BITRATE_CLOCK_OFFSET, &path);
}

BitrateSimulation *
bitrate_simulation_new (const ArenaPath * path, guint run, guint n_runs,
    guint64 seed, guint64 bitrate, guint64 latency, guint64 duration)
{
  static const BitrateConfig config = { {300000, 6000000, 0.1, 0}, 10 };
  BitrateSimulation *simulation = g_new0 (BitrateSimulation, 1);

  simulation->seed = seed;
  simulation->latency = latency;
  simulation->entered = g_array_new (FALSE, FALSE, 2 * sizeof (guint64));
  open_link (simulation, path, run, n_runs, duration);
  open_session (simulation);
  simulation->control =
      bitrate_control_new (&config, &bitrate_estimate_rule, bitrate);
  simulation->encoder.bitrate = bitrate;
  simulation->encoder.needed_bitrate = G_MAXUINT64;
  simulation->next_frame = BITRATE_NEVER;
  return simulation;
}

void
bitrate_simulation_free (BitrateSimulation * simulation)
{
  bitrate_control_free (simulation->control);
  mmtp_sender_free (simulation->sender);
  mmtp_receiver_free (simulation->receiver);
  arena_links_close (&simulation->links, g_free);
  g_array_unref (simulation->entered);
  g_free (simulation);
}

/* --- the encoder ---------------------------------------------------------- */

#define KEY_FRAME_SIZE 3        /* of the mean */
#define VARIATION 0.3
#define REPAY 5                 /* frames */

static guint
get_frame_size (BitrateSimulation * simulation, gboolean is_key)
{
  BitrateEncoder *encoder = &simulation->encoder;
  gdouble mean = MIN (encoder->bitrate, encoder->needed_bitrate) / 8.0 *
      BITRATE_FRAME_PERIOD / SECOND, size;
  gdouble draw = seeded_draw (simulation->seed, 1, 0, simulation->n_frames, 0) /
      (gdouble) G_MAXUINT64;

  size = is_key ? KEY_FRAME_SIZE * mean :
      mean * (1 + VARIATION * (2 * draw - 1));
  size = MAX (size - (is_key ? 0 : encoder->debt / REPAY), mean / 4);
  encoder->debt += size - mean;
  return size;
}

static void
put_packet (BitrateSimulation * simulation, guint packet, guint size,
    gboolean is_last)
{
  const BitrateFrame *frame = &simulation->frames[simulation->n_frames];
  guint8 *bytes = g_malloc0 (size);
  MmtpBuffer buffer = { NULL };

  memcpy (bytes, &simulation->n_frames, sizeof simulation->n_frames);
  buffer.data = g_bytes_new_take (bytes, size);
  buffer.due = frame->captured + BITRATE_CLOCK_OFFSET;
  buffer.flags = (frame->is_key ? 0 : MMTP_FLAG_DELTA) |
      (is_last ? MMTP_FLAG_MARKER : 0);
  mmtp_sender_put (simulation->sender, simulation->now + BITRATE_CLOCK_OFFSET,
      &buffer);
  g_bytes_unref (buffer.data);
}

static void
put_frame (BitrateSimulation * simulation)
{
  BitrateFrame *frame = &simulation->frames[simulation->n_frames];
  guint size, i;

  frame->captured = simulation->now - ENCODING_TIME;
  frame->is_key = simulation->n_frames == 0 || simulation->encoder.is_key_due;
  frame->shown = BITRATE_NEVER;
  simulation->encoder.is_key_due = FALSE;
  size = get_frame_size (simulation, frame->is_key);
  frame->size = size;
  frame->n_packets = (size + PACKET_SIZE - 1) / PACKET_SIZE;
  for (i = 0; i < frame->n_packets; i++)
    put_packet (simulation, i, MAX (MIN (size - i * PACKET_SIZE, PACKET_SIZE),
            16), i + 1 == frame->n_packets);
  simulation->n_frames++;
  g_assert_cmpuint (simulation->n_frames, <, BITRATE_MAX_FRAMES);
}

/* --- the model of bitrateadapt -------------------------------------------- */

/* Returns the number of packets that were lost or arrived too late so far. The
 * receiver will never pass these packets to its application. */
static guint64
count_lost (const MmtpSenderStats * stats, const MmtpSenderPathStats * path)
{
  return stats->unrepaired + path->late;
}

static void
fill_report (BitrateSimulation * simulation, const MmtpSenderStats * stats,
    const MmtpSenderPathStats * path, BitrateReport * report)
{
  report->now = simulation->now;
  report->estimate = stats->estimated_rate;
  report->is_lower_bound = stats->is_app_limited;
  report->queued_bytes = stats->queued_bytes;
  report->put_bytes = stats->bytes;
  report->is_blocked = FALSE;
  report->in_flight = path->in_flight;
  report->network_queue = path->queue_delay;
  report->padding = stats->padding_bytes;
  report->dropped = stats->discarded_buffers;
  report->queued_packets = report->round_trip = report->send_rate =
      BITRATE_UNKNOWN;
  report->loss = -1;
}

static void
run_control (BitrateSimulation * simulation)
{
  BitrateEncoder *encoder = &simulation->encoder;
  MmtpSenderPathStats path = { NULL };
  MmtpSenderStats stats;
  BitrateReport report;

  mmtp_sender_get_stats (simulation->sender, &stats);
  mmtp_sender_get_path_stats (simulation->sender, 0, &path);
  fill_report (simulation, &stats, &path, &report);
  if (!encoder->is_fixed) {
    bitrate_control_input (simulation->control, &report);
    bitrate_control_poll (simulation->control, simulation->now,
        &encoder->bitrate);
  }
  bitrate_key_frames_input (&simulation->key_frames, &report,
      simulation->latency, encoder->bitrate);
  if (count_lost (&stats, &path) > simulation->lost)
    bitrate_key_frames_note_loss (&simulation->key_frames,
        BITRATE_LOSS_NETWORK);
  if (bitrate_key_frames_poll (&simulation->key_frames, simulation->now))
    encoder->is_key_due = TRUE;
  simulation->lost = count_lost (&stats, &path);
}

guint64
bitrate_simulation_get_entered (const BitrateSimulation * simulation,
    guint64 from, guint64 to)
{
  const guint64 *entries = (const guint64 *) simulation->entered->data;
  guint64 sum = 0;
  guint i;

  for (i = 0; i < simulation->entered->len; i++)
    if (entries[2 * i] >= from && entries[2 * i] < to)
      sum += entries[2 * i + 1];
  return sum;
}

static void
print_log (BitrateSimulation * simulation)
{
  MmtpSenderStats stats;

  mmtp_sender_get_stats (simulation->sender, &stats);
  g_print ("%6.2f s  estimate %s%4.2f  encoder %4.2f  enters %4.2f  queued %6"
      G_GUINT64_FORMAT "  discarded %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT
      "\n", simulation->now / 1e9,
      stats.is_app_limited ? ">" : " ", stats.estimated_rate / 1e6,
      simulation->encoder.bitrate / 1e6,
      bitrate_simulation_get_entered (simulation, simulation->now - LOG_PERIOD,
          simulation->now) * 8e3 / LOG_PERIOD, stats.queued_bytes,
      stats.discarded_buffers, stats.discarded_broken);
}

/* --- the simulation loop -------------------------------------------------- */

static void
carry (BitrateSimulation * simulation, ArenaDirection direction, gsize size)
{
  Message *message = g_malloc (sizeof *message + size);
  guint64 entry[2] = { simulation->now, size + IP_UDP };

  message->direction = direction;
  message->size = size;
  memcpy (message->bytes, simulation->scratch, size);
  if (direction == ARENA_FORWARD)
    g_array_append_val (simulation->entered, entry);
  link_input (simulation->links.links[direction], simulation->now,
      simulation->flows[direction], size + IP_UDP, message);
}

static void
take_message (BitrateSimulation * simulation, const Message * message)
{
  MmtpAddress address = { 2, {0, 1} };

  if (message->direction == ARENA_BACK)
    mmtp_sender_input (simulation->sender,
        simulation->now + BITRATE_CLOCK_OFFSET, 0, message->bytes,
        message->size);
  else
    mmtp_receiver_input (simulation->receiver, simulation->now, &address,
        message->bytes, message->size);
}

static void
run_link (BitrateSimulation * simulation, Link * link)
{
  LinkPacket packet;
  LinkEvent event;

  link_timeout (link, simulation->now);
  while (link_poll_output (link, &packet)) {
    if (packet.fate == LINK_FATE_DELIVERED)
      take_message (simulation, packet.user);
    g_free (packet.user);
  }
  while (link_poll_event (link, &event)) {
    if (event.type == LINK_EVENT_FATE && event.packet.fate > LINK_FATE_DAMAGED)
      g_free (event.packet.user);
  }
}

static void
take_sender_event (BitrateSimulation * simulation,
    const MmtpSenderEvent * event)
{
  if (event->type == MMTP_EVENT_READY && !simulation->is_ready) {
    simulation->is_ready = TRUE;
    simulation->next_frame = simulation->now + BITRATE_FRAME_PERIOD;
  }
  if (event->type == MMTP_EVENT_DISCARDED && event->is_needed)
    bitrate_key_frames_note_loss (&simulation->key_frames,
        event->flags & MMTP_FLAG_DELTA ? BITRATE_LOSS_DROPPED :
        BITRATE_LOSS_KEY_FRAME);
}

static void
take_buffer (BitrateSimulation * simulation, DatagramSlice * data)
{
  guint number;

  memcpy (&number, data->bytes, sizeof number);
  if (++simulation->frames[number].n_arrived ==
      simulation->frames[number].n_packets)
    simulation->frames[number].shown = simulation->now;
  datagram_slice_clear (data);
}

static void
drain (BitrateSimulation * simulation)
{
  MmtpReceiverEvent received;
  MmtpSenderEvent event;
  MmtpAddress address;
  guint path;
  gsize size;

  while ((size =
          mmtp_sender_poll_output (simulation->sender,
              simulation->now + BITRATE_CLOCK_OFFSET, &path,
              simulation->scratch, sizeof simulation->scratch)))
    carry (simulation, ARENA_FORWARD, size);
  while (mmtp_sender_poll_event (simulation->sender, &event))
    take_sender_event (simulation, &event);
  while ((size =
          mmtp_receiver_poll_output (simulation->receiver, simulation->now,
              &address, simulation->scratch, sizeof simulation->scratch)))
    carry (simulation, ARENA_BACK, size);
  while (mmtp_receiver_poll_event (simulation->receiver, &received)) {
    if (received.type == MMTP_EVENT_BUFFER)
      take_buffer (simulation, &received.data);
    if (received.type == MMTP_EVENT_CAPS)
      g_free (received.caps);
  }
}

static guint64
get_next_time (const BitrateSimulation * simulation)
{
  guint64 next = MIN (simulation->next_frame, simulation->next_control);
  guint i;

  for (i = 0; i < ARENA_N_DIRECTIONS; i++)
    next = MIN (next, link_next_wakeup (simulation->links.links[i]));
  next =
      MIN (next,
      mmtp_sender_next_wakeup (simulation->sender) - BITRATE_CLOCK_OFFSET);
  return MIN (next, mmtp_receiver_next_wakeup (simulation->receiver));
}

void
bitrate_simulation_run (BitrateSimulation * simulation, guint64 until)
{
  gboolean is_logged = g_getenv ("BITRATE_STEPS_LOG") != NULL;

  while (simulation->now < until) {
    run_link (simulation, simulation->links.links[ARENA_FORWARD]);
    run_link (simulation, simulation->links.links[ARENA_BACK]);
    mmtp_sender_timeout (simulation->sender,
        simulation->now + BITRATE_CLOCK_OFFSET);
    mmtp_receiver_timeout (simulation->receiver, simulation->now);
    if (simulation->now >= simulation->next_control) {
      run_control (simulation);
      simulation->next_control = simulation->now + CONTROL_PERIOD;
    }
    if (simulation->now >= simulation->next_frame) {
      put_frame (simulation);
      simulation->next_frame += BITRATE_FRAME_PERIOD;
    }
    drain (simulation);
    if (is_logged && simulation->now >= simulation->next_log) {
      print_log (simulation);
      simulation->next_log = simulation->now + LOG_PERIOD;
    }
    simulation->now =
        MAX (simulation->now, MIN (get_next_time (simulation), until));
  }
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs an encoder that follows the estimate of MMTP over a link whose rate
 * changes, in virtual time. The simulation consists of a model of an encoder,
 * the rule of bitrateadapt, the sender and receiver cores of MMTP, and the link
 * model of wirelesslink. The same test over real sockets is
 * tests/integration/test_bitrate_steps.py.
 *
 * With BITRATE_STEPS_LOG=1 the test prints the state every 100 ms.
 */

#include <gst/check/gstcheck.h>

#include <string.h>

#include "arenapaths.h"
#include "bitratecontrol.h"
#include "bitratekeyframes.h"
#include "mmtpreceiver.h"
#include "mmtpsender.h"
#include "seededdraw.h"

#define MS LINK_MS
#define SECOND LINK_SECOND
#define NEVER G_MAXUINT64

/* The difference between the clocks of the sender and the receiver */
#define CLOCK_OFFSET (500 * SECOND)
#define MAX_PAYLOAD 1472
#define IP_UDP 28
#define FRAME_PERIOD (40 * MS)
#define PACKET_SIZE 1300
/* The time from the capture of a frame until the encoder has output its last
 * byte */
#define ENCODING_TIME (15 * MS)
/* The following values are the same as in bitrateadapt and mmtpsink. */
#define CONTROL_PERIOD (20 * MS)
#define LATENCY (400 * MS)
#define LOG_PERIOD (100 * MS)
#define MAX_FRAMES 2000

typedef struct
{
  guint64 captured;             /* ns */
  gboolean is_key;
  guint n_packets, n_arrived;
  /* ns: time at which the receiver released the last packet; NEVER if it did
   * not */
  guint64 shown;
} Frame;

/* A model of an encoder with a VBV buffer. Frame sizes vary, key frames are
 * larger than others, and the encoder makes up for a frame that was too large
 * by making the next frames smaller. */
typedef struct
{
  guint64 bitrate;
  /* The bitrate in bit/s that the pictures need, even if the encoder could use
   * more. */
  guint64 needed_bitrate;
  gdouble debt;                 /* bytes */
  gboolean is_key_due;
} Encoder;

typedef struct
{
  guint64 now, seed;
  ArenaLinks links;
  guint flows[ARENA_N_DIRECTIONS];
  MmtpSender *sender;
  MmtpReceiver *receiver;
  gboolean is_ready;
  Encoder encoder;
  BitrateControl *control;
  Frame frames[MAX_FRAMES];
  guint n_frames;
  guint64 next_frame, next_control, next_log;
  BitrateKeyFrames key_frames;
  guint64 unrepaired;
  GArray *entered;              /* guint64 pairs: time, bytes */
  guint64 logged_bytes;
  guint8 scratch[MMTP_MAX_MESSAGE];
} Simulation;

typedef struct
{
  ArenaDirection direction;
  gsize size;
  guint8 bytes[];
} Message;

/* --- set-up and clean-up -------------------------------------------------- */

static void
make_entropy (guint64 seed, guint8 entropy[MMTP_ENTROPY_SIZE])
{
  guint i;

  for (i = 0; i < MMTP_ENTROPY_SIZE; i++)
    entropy[i] = seeded_draw (seed, G_MAXUINT32, 0, i, 0);
}

static void
open_link (Simulation * simulation, const ArenaTrace * trace, guint queue,
    guint64 duration)
{
  ArenaPath path;
  guint i;

  arena_path_init (&path, 20000000, 20 * MS);
  path.config[ARENA_FORWARD].queue.packets = queue;
  path.config[ARENA_FORWARD].seed = simulation->seed;
  path.trace[ARENA_FORWARD] = trace;
  arena_links_open (&simulation->links, &path, 0, 1, duration);
  for (i = 0; i < ARENA_N_DIRECTIONS; i++)
    simulation->flows[i] =
        link_add_flow (simulation->links.links[i],
        simulation->links.station[i]);
}

static void
open_session (Simulation * simulation)
{
  MmtpPathConfig path = { "a", MAX_PAYLOAD, IP_UDP };
  MmtpReceiverConfig receiver;
  MmtpSenderConfig sender;
  guint8 entropy[MMTP_ENTROPY_SIZE];

  mmtp_sender_config_init (&sender);
  sender.max_delay = sender.initial_delay = LATENCY;
  sender.frame_period = FRAME_PERIOD / 1000;
  make_entropy (2 * simulation->seed, entropy);
  simulation->sender = mmtp_sender_new (&sender, entropy);
  mmtp_receiver_config_init (&receiver);
  make_entropy (2 * simulation->seed + 1, entropy);
  simulation->receiver = mmtp_receiver_new (&receiver, entropy);
  mmtp_sender_add_path (simulation->sender, CLOCK_OFFSET, &path);
}

static Simulation *
simulation_new (const ArenaTrace * trace, guint queue, guint64 seed,
    guint64 duration)
{
  static const BitrateConfig config = { {300000, 6000000, 0.1, 0}, 10 };
  Simulation *simulation = g_new0 (Simulation, 1);

  simulation->seed = seed;
  simulation->entered = g_array_new (FALSE, FALSE, 2 * sizeof (guint64));
  open_link (simulation, trace, queue, duration);
  open_session (simulation);
  simulation->control =
      bitrate_control_new (&config, &bitrate_estimate_rule, 2000000);
  simulation->encoder.bitrate = 2000000;
  simulation->encoder.needed_bitrate = G_MAXUINT64;
  simulation->next_frame = NEVER;
  return simulation;
}

static void
simulation_free (Simulation * simulation)
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
get_frame_size (Simulation * simulation, gboolean is_key)
{
  Encoder *encoder = &simulation->encoder;
  gdouble mean = MIN (encoder->bitrate, encoder->needed_bitrate) / 8.0 *
      FRAME_PERIOD / SECOND, size;
  gdouble draw = seeded_draw (simulation->seed, 1, 0, simulation->n_frames, 0) /
      (gdouble) G_MAXUINT64;

  size = is_key ? KEY_FRAME_SIZE * mean :
      mean * (1 + VARIATION * (2 * draw - 1));
  size = MAX (size - (is_key ? 0 : encoder->debt / REPAY), mean / 4);
  encoder->debt += size - mean;
  return size;
}

static void
put_packet (Simulation * simulation, guint packet, guint size, gboolean is_last)
{
  const Frame *frame = &simulation->frames[simulation->n_frames];
  guint8 *bytes = g_malloc0 (size);
  MmtpBuffer buffer = { NULL };

  memcpy (bytes, &simulation->n_frames, sizeof simulation->n_frames);
  buffer.data = g_bytes_new_take (bytes, size);
  buffer.due = frame->captured + CLOCK_OFFSET;
  buffer.flags = (frame->is_key ? 0 : MMTP_FLAG_DELTA) |
      (is_last ? MMTP_FLAG_MARKER : 0);
  mmtp_sender_put (simulation->sender, simulation->now + CLOCK_OFFSET, &buffer);
  g_bytes_unref (buffer.data);
}

static void
put_frame (Simulation * simulation)
{
  Frame *frame = &simulation->frames[simulation->n_frames];
  guint size, i;

  frame->captured = simulation->now - ENCODING_TIME;
  frame->is_key = simulation->n_frames == 0 || simulation->encoder.is_key_due;
  frame->shown = NEVER;
  simulation->encoder.is_key_due = FALSE;
  size = get_frame_size (simulation, frame->is_key);
  frame->n_packets = (size + PACKET_SIZE - 1) / PACKET_SIZE;
  for (i = 0; i < frame->n_packets; i++)
    put_packet (simulation, i, MAX (MIN (size - i * PACKET_SIZE, PACKET_SIZE),
            16), i + 1 == frame->n_packets);
  simulation->n_frames++;
  g_assert_cmpuint (simulation->n_frames, <, MAX_FRAMES);
}

/* --- the model of bitrateadapt -------------------------------------------- */

static void
run_control (Simulation * simulation)
{
  BitrateReport report = { simulation->now };
  MmtpSenderPathStats path = { NULL };
  MmtpSenderStats stats;

  mmtp_sender_get_stats (simulation->sender, &stats);
  mmtp_sender_get_path_stats (simulation->sender, 0, &path);
  report.in_flight = path.in_flight;
  report.estimate = stats.estimated_rate;
  report.is_lower_bound = stats.is_app_limited;
  report.queued_bytes = stats.queued_bytes;
  report.queued_packets = report.round_trip = report.send_rate =
      BITRATE_UNKNOWN;
  report.loss = -1;
  bitrate_control_input (simulation->control, &report);
  bitrate_control_poll (simulation->control, simulation->now,
      &simulation->encoder.bitrate);
  bitrate_key_frames_input (&simulation->key_frames, &report, LATENCY,
      simulation->encoder.bitrate);
  if (stats.unrepaired > simulation->unrepaired)
    bitrate_key_frames_note_loss (&simulation->key_frames, FALSE);
  if (bitrate_key_frames_poll (&simulation->key_frames, simulation->now))
    simulation->encoder.is_key_due = TRUE;
  simulation->unrepaired = stats.unrepaired;
}

static guint64
get_entered (const Simulation * simulation, guint64 from, guint64 to)
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
print_log (Simulation * simulation)
{
  MmtpSenderStats stats;

  mmtp_sender_get_stats (simulation->sender, &stats);
  g_print ("%6.2f s  estimate %s%4.2f  encoder %4.2f  enters %4.2f  queued %6"
      G_GUINT64_FORMAT "  discarded %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT
      "\n", simulation->now / 1e9,
      stats.is_app_limited ? ">" : " ", stats.estimated_rate / 1e6,
      simulation->encoder.bitrate / 1e6, get_entered (simulation,
          simulation->now - LOG_PERIOD, simulation->now) * 8e3 / LOG_PERIOD,
      stats.queued_bytes, stats.discarded_buffers, stats.discarded_broken);
}

/* --- the simulation loop -------------------------------------------------- */

static void
carry (Simulation * simulation, ArenaDirection direction, gsize size)
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
take_message (Simulation * simulation, const Message * message)
{
  MmtpAddress address = { 2, {0, 1} };

  if (message->direction == ARENA_BACK)
    mmtp_sender_input (simulation->sender, simulation->now + CLOCK_OFFSET, 0,
        message->bytes, message->size);
  else
    mmtp_receiver_input (simulation->receiver, simulation->now, &address,
        message->bytes, message->size);
}

static void
run_link (Simulation * simulation, Link * link)
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
take_sender_event (Simulation * simulation, const MmtpSenderEvent * event)
{
  if (event->type == MMTP_EVENT_READY && !simulation->is_ready) {
    simulation->is_ready = TRUE;
    simulation->next_frame = simulation->now + FRAME_PERIOD;
  }
  if (event->type == MMTP_EVENT_DISCARDED && event->is_needed)
    bitrate_key_frames_note_loss (&simulation->key_frames,
        !(event->flags & MMTP_FLAG_DELTA));
}

static void
take_buffer (Simulation * simulation, DatagramSlice * data)
{
  guint number;

  memcpy (&number, data->bytes, sizeof number);
  if (++simulation->frames[number].n_arrived ==
      simulation->frames[number].n_packets)
    simulation->frames[number].shown = simulation->now;
  datagram_slice_clear (data);
}

static void
drain (Simulation * simulation)
{
  MmtpReceiverEvent received;
  MmtpSenderEvent event;
  MmtpAddress address;
  guint path;
  gsize size;

  while ((size =
          mmtp_sender_poll_output (simulation->sender,
              simulation->now + CLOCK_OFFSET, &path, simulation->scratch,
              sizeof simulation->scratch)))
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
get_next_time (const Simulation * simulation)
{
  guint64 next = MIN (simulation->next_frame, simulation->next_control);
  guint i;

  for (i = 0; i < ARENA_N_DIRECTIONS; i++)
    next = MIN (next, link_next_wakeup (simulation->links.links[i]));
  next =
      MIN (next, mmtp_sender_next_wakeup (simulation->sender) - CLOCK_OFFSET);
  return MIN (next, mmtp_receiver_next_wakeup (simulation->receiver));
}

static void
simulation_run (Simulation * simulation, guint64 until)
{
  gboolean is_logged = g_getenv ("BITRATE_STEPS_LOG") != NULL;

  while (simulation->now < until) {
    run_link (simulation, simulation->links.links[ARENA_FORWARD]);
    run_link (simulation, simulation->links.links[ARENA_BACK]);
    mmtp_sender_timeout (simulation->sender, simulation->now + CLOCK_OFFSET);
    mmtp_receiver_timeout (simulation->receiver, simulation->now);
    if (simulation->now >= simulation->next_control) {
      run_control (simulation);
      simulation->next_control = simulation->now + CONTROL_PERIOD;
    }
    if (simulation->now >= simulation->next_frame) {
      put_frame (simulation);
      simulation->next_frame += FRAME_PERIOD;
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

/* --- results -------------------------------------------------------------- */

/* Returns the maximum rate over any 200 ms between `from` and `to`, in bit/s.
 */
static gdouble
get_max_entered (const Simulation * simulation, guint64 from, guint64 to)
{
  gdouble maximum = 0;
  guint64 time;

  for (time = from; time + 200 * MS <= to; time += 20 * MS)
    maximum =
        MAX (maximum, get_entered (simulation, time, time + 200 * MS) * 40.0);
  return maximum;
}

typedef struct
{
  /* The number of frames that were late or lost, or that refer to a late or
   * lost frame. */
  guint dropped;
  guint64 max_delay;            /* maximum delay in ns of the shown frames */
} Shown;

/* Returns how many of the frames that were captured from `from` until before
 * `to` were dropped, and the maximum delay of the others. */
static Shown
get_shown (const Simulation * simulation, guint64 from, guint64 to)
{
  gboolean is_decodable = FALSE;
  Shown result = { 0, 0 };
  guint i;

  for (i = 0; i < simulation->n_frames; i++) {
    const Frame *frame = &simulation->frames[i];

    is_decodable = (is_decodable || frame->is_key) && frame->shown != NEVER;
    if (frame->captured < from || frame->captured >= to)
      continue;
    result.dropped += !is_decodable;
    if (is_decodable)
      result.max_delay = MAX (result.max_delay, frame->shown - frame->captured);
  }
  return result;
}

/* --- steps ---------------------------------------------------------------- */

#define STEP_DOWN (20 * SECOND)
#define STEP_UP (30 * SECOND)
#define END (40 * SECOND)
#define N_SEEDS 9

typedef struct
{
  /* maximum rate in bit/s from 0.4 s to 1.4 s after the step down */
  gdouble entered;
  Shown shown;
  /* time in s from the step up until the encoder uses 3.2 Mbit/s */
  gdouble seconds;
} StepResult;

static gdouble
get_rise_time (const Simulation * simulation)
{
  guint64 time;

  for (time = STEP_UP; time < END - SECOND; time += 100 * MS)
    if (get_entered (simulation, time, time + SECOND) * 8 >= 3200000)
      break;
  return (time + SECOND - STEP_UP) / 1e9;
}

static void
run_steps (guint queue, guint64 seed, StepResult * result)
{
  ArenaTrace *trace = arena_trace_new ("steps");
  Simulation *simulation;

  arena_trace_add_rate (trace, 0, STEP_DOWN / MS, 4000000);
  arena_trace_add_rate (trace, STEP_DOWN / MS, STEP_UP / MS, 1500000);
  arena_trace_add_rate (trace, STEP_UP / MS, END / MS, 4000000);
  simulation = simulation_new (trace, queue, seed, END + SECOND);
  simulation_run (simulation, END);
  result->entered = get_max_entered (simulation, STEP_DOWN + 400 * MS,
      STEP_DOWN + 1400 * MS);
  result->shown = get_shown (simulation, SECOND, END - SECOND);
  result->seconds = get_rise_time (simulation);
  simulation_free (simulation);
  arena_trace_free (trace);
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  return *(const guint *) a - *(const guint *) b;
}

static guint
check_steps (guint queue, guint64 seed)
{
  StepResult result;

  run_steps (queue, seed, &result);
  g_print ("queue %4u, seed %" G_GUINT64_FORMAT ": %.2f Mbit/s 0.4 s after the "
      "step down, %u frames dropped, %" G_GUINT64_FORMAT " ms at most, first "
      "Mbit/s after %.1f s\n", queue, seed, result.entered / 1e6,
      result.shown.dropped, result.shown.max_delay / MS, result.seconds);
  fail_unless (result.entered < 1500000);
  fail_unless (result.shown.max_delay <= LATENCY);
  fail_unless (result.shown.dropped <= 12);
  fail_unless (result.seconds <= 5);
  return result.shown.dropped;
}

/* The round trip is 40 ms, and the queue of the link holds 0.4 s of data at the
 * lower rate. */
GST_START_TEST (encoder_follows_a_step_down_and_up)
{
  guint dropped[N_SEEDS], i;

  for (i = 0; i < N_SEEDS; i++)
    dropped[i] = check_steps (50, i + 1);
  qsort (dropped, N_SEEDS, sizeof (guint), compare);
  fail_unless (dropped[N_SEEDS / 2] <= 8);
}

GST_END_TEST;

GST_START_TEST (long_queue_of_the_link_is_not_filled)
{
  check_steps (1000, 1);
}

GST_END_TEST;

/* --- padding -------------------------------------------------------------- */

/* Time at which a static picture is replaced by a moving one. */
#define SCENE (20 * SECOND)
#define SCENE_END (30 * SECOND)
#define STATIC_RATE 500000

typedef struct
{
  /* the estimated rate just before the new scene, in bit/s */
  guint64 estimate;
  /* rate that enters the network in the first second of the new scene, in
   * Mbit/s */
  gdouble entered;
  Shown before, after;
  gdouble padding;              /* mean before the new scene, in bit/s */
} SceneResult;

static void
run_scene (guint64 padding, guint64 seed, SceneResult * result)
{
  ArenaTrace *trace = arena_trace_new ("scene");
  Simulation *simulation;
  MmtpSenderStats stats;

  arena_trace_add_rate (trace, 0, SCENE_END / MS, 4000000);
  simulation = simulation_new (trace, 50, seed, SCENE_END + SECOND);
  mmtp_sender_set_padding (simulation->sender, CLOCK_OFFSET, padding);
  simulation->encoder.needed_bitrate = STATIC_RATE;
  simulation_run (simulation, SCENE);
  mmtp_sender_get_stats (simulation->sender, &stats);
  result->estimate = stats.estimated_rate;
  result->padding = stats.padding_bytes * 8e9 / SCENE;
  simulation->encoder.needed_bitrate = G_MAXUINT64;
  simulation_run (simulation, SCENE_END);
  result->before = get_shown (simulation, SECOND, SCENE);
  result->after = get_shown (simulation, SCENE, SCENE_END - SECOND);
  result->entered = get_entered (simulation, SCENE, SCENE + SECOND) * 8e-6;
  simulation_free (simulation);
  arena_trace_free (trace);
}

static void
print_scene (guint64 rate, const SceneResult * result)
{
  g_print ("padding of at most %.1f Mbit/s: %.2f Mbit/s sent, estimate %.2f "
      "Mbit/s, %.2f Mbit/s in the first second of the scene; largest delay of a "
      "frame: %" G_GUINT64_FORMAT " ms before the scene, %" G_GUINT64_FORMAT
      " ms after it\n",
      rate / 1e6, result->padding / 1e6, result->estimate / 1e6,
      result->entered, result->before.max_delay / MS,
      result->after.max_delay / MS);
}

/* The link carries 4 Mbit/s, of which the static picture needs 0.5 Mbit/s. The
 * bounds leave some room around the figures in docs/bitrateadapt.md. */
GST_START_TEST (padding_shows_what_the_path_carries)
{
  static const guint64 rates[] = { 500000, 1000000, 2000000 };
  SceneResult without, with;
  guint i;

  run_scene (0, __i__ + 1, &without);
  print_scene (0, &without);
  fail_unless (without.padding == 0);
  fail_unless (without.estimate < 1500000);
  for (i = 0; i < G_N_ELEMENTS (rates); i++) {
    run_scene (rates[i], __i__ + 1, &with);
    print_scene (rates[i], &with);
    fail_unless (with.padding > 0 && with.padding <= rates[i]);
    fail_unless (with.estimate > 3600000 && with.estimate < 4400000);
    fail_unless (with.entered > 1.15 * without.entered);
    fail_unless (with.before.dropped == 0 && with.after.dropped == 0);
    fail_unless (with.before.max_delay < without.before.max_delay + 60 * MS);
    fail_unless (with.after.max_delay <= LATENCY);
  }
}

GST_END_TEST;

static Suite *
bitrate_steps_suite (void)
{
  Suite *s = suite_create ("bitratesteps");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, encoder_follows_a_step_down_and_up);
  tcase_add_test (tc, long_queue_of_the_link_is_not_filled);
  tcase_add_loop_test (tc, padding_shows_what_the_path_carries, 0, N_SEEDS);
  return s;
}

GST_CHECK_MAIN (bitrate_steps);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The main loop of the simulation of an MMTP session. It advances virtual time
 * to the next event, handles the event, and then collects all messages of both
 * endpoints. mmtpsimulationjudge.c checks these messages and what the receiver
 * outputs. */

#include "mmtpsimulation.h"

#include <string.h>

#include "mmtpsimulationprivate.h"

/* Time on the sender's clock when the simulation begins. There are two
 * values, and each of them tests that a number in the messages wraps around.
 * A message contains only the lowest 24 bits of its sending time. With
 * SENDER_CLOCK_EVEN (for even seeds), these bits wrap around soon after the
 * beginning. A message contains only the lowest 32 bits of a due time
 * (docs/wire-mmtp.md section 1). With SENDER_CLOCK_ODD (for odd seeds),
 * these bits wrap around soon after the beginning. */
#define SENDER_CLOCK_EVEN (160 * VIRTUAL_LINK_SECOND)
#define SENDER_CLOCK_ODD (4290 * VIRTUAL_LINK_SECOND)
/* Maximum number of calls of endpoints at the same virtual time. If there are
 * more calls, an endpoint is considered to be in an endless loop. */
#define MAX_CALLS_AT_ONCE 100000

typedef enum
{
  PACKET_MMTP,
  PACKET_TCP
} PacketKind;

typedef struct
{
  PacketKind kind;
  guint8 generation;            /* Number of the address. */
  Tcp *tcp;
  guint number;                 /* TCP's */
  gsize size;                   /* Size of `bytes`. */
  guint8 bytes[];
} Packet;

/* --- life cycle ----------------------------------------------------------- */

void
mmtp_simulation_config_init (MmtpSimulationConfig * config,
    const MmtpSimulationEnds * ends)
{
  memset (config, 0, sizeof *config);
  config->ends = ends;
  mmtp_sender_config_init (&config->sender);
  mmtp_receiver_config_init (&config->receiver);
  config->max_size = 1472;      /* Ethernet's 1500 less IP and UDP */
  config->clock_offset = 7777 * VIRTUAL_LINK_SECOND;
  config->timeout = 30 * VIRTUAL_LINK_SECOND;
}

MmtpSimulationPathConfig *
mmtp_simulation_config_add_path (MmtpSimulationConfig * config,
    const VirtualLinkPath * forward, const VirtualLinkPath * back)
{
  MmtpSimulationPathConfig *path = &config->paths[config->n_paths++];

  g_assert_cmpuint (config->n_paths, <=, MMTP_SIMULATION_MAX_PATHS);
  path->link.path[VIRTUAL_LINK_FORWARD] = *forward;
  path->link.path[VIRTUAL_LINK_BACK] = *back;
  return path;
}

void
mmtp_simulation_config_set_source (MmtpSimulationConfig * config, guint n,
    guint64 period, guint32 size)
{
  config->source.n = n;
  config->source.period = period;
  config->source.size = size;
}

void
mmtp_simulation_config_add_action (MmtpSimulationConfig * config, guint64 time,
    MmtpSimulationActionType type, guint path)
{
  MmtpSimulationAction *action = &config->actions[config->n_actions++];

  g_assert_cmpuint (config->n_actions, <=, MMTP_SIMULATION_MAX_ACTIONS);
  action->time = time;
  action->type = type;
  action->path = path;
}

static void
send_tcp (Tcp * tcp, gboolean is_ack, guint32 size, guint number)
{
  MmtpSimulationFlow *flow = tcp->network;
  Packet *packet = g_new0 (Packet, 1);

  packet->kind = PACKET_TCP;
  packet->tcp = tcp;
  packet->number = number;
  virtual_link_input (flow->simulation->paths[flow->path].link,
      flow->simulation->now, is_ack ? VIRTUAL_LINK_BACK : VIRTUAL_LINK_FORWARD,
      size, packet);
}

static void
add_tcp_flows (MmtpSimulation * simulation, guint path)
{
  /* The TCP transfer has 1 << 20 segments, which is more than TCP can send in
   * any run, so that TCP always has data. A segment has 1448 bytes, as on
   * Ethernet with TCP timestamps. */
  static const TcpConfig tcp_config = { 1 << 20, 1448, 52, 4000, 2 };
  guint i;

  for (i = 0; i < simulation->config.paths[path].n_tcp; i++) {
    MmtpSimulationFlow *flow = g_new0 (MmtpSimulationFlow, 1);

    flow->simulation = simulation;
    flow->path = path;
    tcp_init (&flow->tcp, &tcp_config, send_tcp, flow);
    g_ptr_array_add (simulation->flows, flow);
  }
}

MmtpSimulation *
mmtp_simulation_new (const MmtpSimulationConfig * config)
{
  MmtpSimulation *simulation = g_new0 (MmtpSimulation, 1);
  guint i;

  simulation->config = *config;
  simulation->ends = config->ends;
  simulation->sender =
      simulation->ends->sender_new (&config->sender, config->seed);
  simulation->receiver =
      simulation->ends->receiver_new (&config->receiver, config->seed + 1);
  simulation->sender_clock =
      config->seed % 2 ? SENDER_CLOCK_ODD : SENDER_CLOCK_EVEN;
  simulation->flows = g_ptr_array_new ();
  simulation->frames = g_new0 (MmtpSimulationFrame, config->source.n);
  simulation->scratch = g_malloc0 (MMTP_MAX_MESSAGE);
  mmtp_simulation_judge_init (simulation);
  for (i = 0; i < config->n_paths; i++) {
    simulation->paths[i].link = virtual_link_new (&config->paths[i].link,
        config->seed, i, g_free);
    simulation->paths[i].is_up = !config->paths[i].is_later;
    add_tcp_flows (simulation, i);
  }
  return simulation;
}

void
mmtp_simulation_free (MmtpSimulation * simulation)
{
  guint i;

  for (i = 0; i < simulation->config.n_paths; i++)
    virtual_link_free (simulation->paths[i].link);
  for (i = 0; i < simulation->flows->len; i++) {
    MmtpSimulationFlow *flow = simulation->flows->pdata[i];

    tcp_clear (&flow->tcp);
    g_free (flow);
  }
  g_ptr_array_unref (simulation->flows);
  simulation->ends->sender_free (simulation->sender);
  simulation->ends->receiver_free (simulation->receiver);
  mmtp_simulation_judge_clear (simulation);
  g_free (simulation->frames);
  g_free (simulation->scratch);
  g_free (simulation);
}

/* --- clocks --------------------------------------------------------------- */

guint64
mmtp_simulation_to_sender (const MmtpSimulation * simulation, guint64 now)
{
  return now + simulation->sender_clock;
}

guint64
mmtp_simulation_to_receiver (const MmtpSimulation * simulation, guint64 now)
{
  gint64 skew = simulation->config.clock_skew;

  return now + simulation->config.clock_offset +
      skew * (gint64) now / 1000000000;
}

static guint64
from_sender (const MmtpSimulation * simulation, guint64 time)
{
  if (time == MMTP_SIMULATION_NEVER)
    return time;
  return time > simulation->sender_clock ? time - simulation->sender_clock : 0;
}

/* Converts a time of the receiver's clock to virtual time: returns the first
 * virtual time at which the receiver's clock shows `time`. */
static guint64
from_receiver (const MmtpSimulation * simulation, guint64 time)
{
  guint64 instant = simulation->now;
  guint i;

  if (time == MMTP_SIMULATION_NEVER)
    return time;
  for (i = 0; i < 4; i++)
    instant += time - mmtp_simulation_to_receiver (simulation, instant);
  while (mmtp_simulation_to_receiver (simulation, instant) < time)
    instant++;
  return instant;
}

/* --- events --------------------------------------------------------------- */

static void
add_path (MmtpSimulation * simulation, guint path)
{
  const MmtpSimulationPathConfig *c = &simulation->config.paths[path];
  gchar *name = g_strdup_printf ("path%u", path);
  MmtpPathConfig config =
      { name, simulation->config.max_size, MMTP_SIMULATION_OVERHEAD,
    c->known_rate, c->known_delay
  };
  gint number = simulation->ends->add_path (simulation->sender,
      mmtp_simulation_to_sender (simulation, simulation->now), &config);

  if (number != path)
    mmtp_simulation_error (simulation, "path %u got number %d", path, number);
  simulation->paths[path].is_up = TRUE;
  simulation->paths[path].generation++;
  g_free (name);
}

static void
run_action (MmtpSimulation * simulation, const MmtpSimulationAction * action)
{
  if (action->type == MMTP_SIMULATION_ADD) {
    add_path (simulation, action->path);
    return;
  }
  simulation->ends->remove_path (simulation->sender,
      mmtp_simulation_to_sender (simulation, simulation->now), action->path,
      MMTP_LEAVE_INTERFACE);
  simulation->paths[action->path].is_up = FALSE;
}

/* Delivers a message of the sender, `packet`, to the receiver. The message came
 * over path number `path`. Its source address is the one that this path had
 * when the message was sent, even if the address has changed since then. */
static void
deliver_to_receiver (MmtpSimulation * simulation, guint path,
    const Packet * packet)
{
  MmtpAddress address = { 2, {path, packet->generation} };

  mmtp_simulation_judge_packet (simulation, path, packet->bytes, packet->size);
  simulation->ends->receiver_input (simulation->receiver,
      mmtp_simulation_to_receiver (simulation, simulation->now), &address,
      packet->bytes, packet->size);
}

static void
deliver (MmtpSimulation * simulation, guint path,
    VirtualLinkDirection direction, Packet * packet)
{
  MmtpSimulationEnd *end = &simulation->paths[path];

  if (packet->kind == PACKET_TCP) {
    packet->tcp->now = simulation->now;
    if (direction == VIRTUAL_LINK_FORWARD) {
      mmtp_simulation_judge_tcp (simulation, path, packet->tcp);
      tcp_receive_data (packet->tcp, packet->number);
    } else {
      tcp_receive_ack (packet->tcp, packet->number);
    }
  } else if (direction == VIRTUAL_LINK_FORWARD) {
    deliver_to_receiver (simulation, path, packet);
  } else if (end->is_up && packet->generation == end->generation) {
    simulation->ends->sender_input (simulation->sender,
        mmtp_simulation_to_sender (simulation, simulation->now), path,
        packet->bytes, packet->size);
  }
  g_free (packet);
}

static void
run_links (MmtpSimulation * simulation)
{
  VirtualLinkDirection direction;
  Packet *packet;
  guint i;

  for (i = 0; i < simulation->config.n_paths; i++) {
    while ((packet =
            virtual_link_output (simulation->paths[i].link, simulation->now,
                &direction)))
      deliver (simulation, i, direction, packet);
  }
}

static guint64
get_flow_start (const MmtpSimulation * simulation,
    const MmtpSimulationFlow * flow)
{
  guint64 from = simulation->config.paths[flow->path].tcp_from;

  if (!from)
    return 0;
  return simulation->origin ==
      MMTP_SIMULATION_NEVER ? simulation->origin : simulation->origin + from;
}

static void
run_flows (MmtpSimulation * simulation)
{
  guint i;

  for (i = 0; i < simulation->flows->len; i++) {
    MmtpSimulationFlow *flow = simulation->flows->pdata[i];

    flow->tcp.now = simulation->now;
    if (!flow->has_begun
        && get_flow_start (simulation, flow) <= simulation->now) {
      flow->has_begun = TRUE;
      tcp_send_more (&flow->tcp);
    }
    if (tcp_next_wakeup (&flow->tcp) <= simulation->now)
      tcp_timeout (&flow->tcp);
  }
}

/* Returns the size in bytes of frame `number` of the source, and sets the flags
 * of this frame. If the source is a video, an I-frame is five times as large as
 * a B-frame, and a P-frame is three times as large. */
static guint32
get_frame_size (const MmtpSimulationSource * source, guint number,
    guint8 * flags)
{
  guint place = number % 12;
  guint weight = place == 0 ? 5 : place % 3 == 0 ? 3 : 1;

  *flags = 0;
  if (!source->video)
    return source->size;
  if (place != 0)
    *flags |= MMTP_FLAG_DELTA;
  if (weight == 1)
    *flags |= MMTP_FLAG_DROPPABLE;
  *flags |= MMTP_FLAG_MARKER;
  return MAX (source->size * weight * 12 / 22, 4);
}

/* Makes the content of a frame, by which the receiving side can identify the
 * frame. The first four bytes are the number of the frame. All other bytes have
 * the value of the lowest byte of this number. */
static GBytes *
make_frame (guint number, guint32 size)
{
  guint8 *bytes = g_malloc (size);

  memset (bytes, number, size);
  bytes[0] = number >> 24;
  bytes[1] = number >> 16;
  bytes[2] = number >> 8;
  return g_bytes_new_take (bytes, size);
}

static void
put_frame (MmtpSimulation * simulation)
{
  const MmtpSimulationSource *source = &simulation->config.source;
  guint number = simulation->n_put++;
  MmtpSimulationFrame *frame = &simulation->frames[number];
  MmtpBuffer buffer = { 0, };

  frame->due = simulation->origin + number * source->period;
  frame->size = get_frame_size (source, number, &frame->flags);
  buffer.data = make_frame (number, frame->size);
  buffer.due = mmtp_simulation_to_sender (simulation, frame->due);
  buffer.flags = frame->flags;
  frame->refused = !simulation->ends->put (simulation->sender,
      mmtp_simulation_to_sender (simulation, simulation->now), &buffer);
  simulation->result.refused += frame->refused;
  g_bytes_unref (buffer.data);
  if (simulation->n_put < source->n)
    return;
  simulation->last_put = simulation->now;
  simulation->ends->end (simulation->sender,
      mmtp_simulation_to_sender (simulation, simulation->now));
}

static guint64
get_next_frame (const MmtpSimulation * simulation)
{
  if (simulation->origin == MMTP_SIMULATION_NEVER)
    return simulation->config.timeout;
  if (simulation->n_put == simulation->config.source.n
      || simulation->config.source.stored)
    return MMTP_SIMULATION_NEVER;
  return simulation->origin +
      simulation->n_put * simulation->config.source.period;
}

static void
begin (MmtpSimulation * simulation)
{
  guint i;

  simulation->origin = simulation->result.origin = simulation->now;
  for (i = 0; i < simulation->config.n_paths; i++)
    virtual_link_set_origin (simulation->paths[i].link, simulation->origin);
}

static void
run_source (MmtpSimulation * simulation)
{
  if (simulation->origin == MMTP_SIMULATION_NEVER) {
    if (simulation->result.ready
        || simulation->now >= simulation->config.timeout)
      begin (simulation);
    else
      return;
  }
  while (get_next_frame (simulation) <= simulation->now)
    put_frame (simulation);
  while (simulation->config.source.stored
      && simulation->n_put < simulation->config.source.n
      && simulation->ends->has_room (simulation->sender,
          mmtp_simulation_to_sender (simulation, simulation->now)))
    put_frame (simulation);
}

static guint64
get_next_action (const MmtpSimulation * simulation)
{
  if (simulation->origin == MMTP_SIMULATION_NEVER
      || simulation->n_acted == simulation->config.n_actions)
    return MMTP_SIMULATION_NEVER;
  return simulation->origin +
      simulation->config.actions[simulation->n_acted].time;
}

static void
run_timeouts (MmtpSimulation * simulation)
{
  if (from_sender (simulation,
          simulation->ends->sender_next_wakeup (simulation->sender))
      <= simulation->now)
    simulation->ends->sender_timeout (simulation->sender,
        mmtp_simulation_to_sender (simulation, simulation->now));
  if (from_receiver (simulation,
          simulation->ends->receiver_next_wakeup (simulation->receiver))
      <= simulation->now)
    simulation->ends->receiver_timeout (simulation->receiver,
        mmtp_simulation_to_receiver (simulation, simulation->now));
}

/* --- output of the endpoints ---------------------------------------------- */

static void
send_packet (MmtpSimulation * simulation, guint path,
    VirtualLinkDirection direction, guint8 generation, gsize size)
{
  Packet *packet = g_malloc (sizeof *packet + size);

  memset (packet, 0, sizeof *packet);
  packet->kind = PACKET_MMTP;
  packet->generation = generation;
  packet->size = size;
  memcpy (packet->bytes, simulation->scratch, size);
  virtual_link_input (simulation->paths[path].link, simulation->now,
      direction, size + MMTP_SIMULATION_OVERHEAD, packet);
}

static gboolean
drain_sender (MmtpSimulation * simulation)
{
  guint64 now = mmtp_simulation_to_sender (simulation, simulation->now);
  MmtpSenderEvent event;
  gboolean any = FALSE;
  guint path;
  gsize size;

  while ((size =
          simulation->ends->sender_poll_output (simulation->sender, now,
              &path, simulation->scratch, MMTP_MAX_MESSAGE))) {
    any = TRUE;
    if (path >= simulation->config.n_paths
        || size > simulation->config.max_size) {
      mmtp_simulation_error (simulation,
          "%" G_GSIZE_FORMAT " bytes on path %u", size, path);
      continue;
    }
    mmtp_simulation_judge_sent (simulation, VIRTUAL_LINK_FORWARD, path,
        simulation->scratch, size);
    if (simulation->paths[path].is_up)
      send_packet (simulation, path, VIRTUAL_LINK_FORWARD,
          simulation->paths[path].generation, size);
  }
  while (simulation->ends->sender_poll_event (simulation->sender, &event)) {
    any = TRUE;
    mmtp_simulation_judge_sender_event (simulation, &event);
  }
  return any;
}

static gboolean
drain_receiver (MmtpSimulation * simulation)
{
  guint64 now = mmtp_simulation_to_receiver (simulation, simulation->now);
  MmtpReceiverEvent event;
  MmtpAddress address;
  gboolean any = FALSE;
  gsize size;

  while ((size =
          simulation->ends->receiver_poll_output (simulation->receiver, now,
              &address, simulation->scratch, MMTP_MAX_MESSAGE))) {
    any = TRUE;
    if (address.size != 2 || address.bytes[0] >= simulation->config.n_paths) {
      mmtp_simulation_error (simulation, "a message to an unknown address");
      continue;
    }
    mmtp_simulation_judge_sent (simulation, VIRTUAL_LINK_BACK, address.bytes[0],
        simulation->scratch, size);
    send_packet (simulation, address.bytes[0], VIRTUAL_LINK_BACK,
        address.bytes[1], size);
  }
  while (simulation->ends->receiver_poll_event (simulation->receiver, &event)) {
    any = TRUE;
    mmtp_simulation_judge_receiver_event (simulation, &event);
  }
  return any;
}

/* --- the loop ------------------------------------------------------------- */

static guint64
get_next_time (MmtpSimulation * simulation)
{
  guint64 next =
      MIN (get_next_frame (simulation), get_next_action (simulation));
  guint i;

  for (i = 0; i < simulation->config.n_paths; i++)
    next = MIN (next, virtual_link_next (simulation->paths[i].link));
  for (i = 0; i < simulation->flows->len; i++) {
    MmtpSimulationFlow *flow = simulation->flows->pdata[i];

    next = MIN (next, flow->has_begun ? tcp_next_wakeup (&flow->tcp)
        : get_flow_start (simulation, flow));
  }
  next = MIN (next, from_sender (simulation,
          simulation->ends->sender_next_wakeup (simulation->sender)));
  return MIN (next, from_receiver (simulation,
          simulation->ends->receiver_next_wakeup (simulation->receiver)));
}

/* Returns whether the simulation is finished. Normally it ends when the last
 * frame was sent, and both endpoints have reported the end of the stream. If
 * they do not report it, the simulation ends 10 s after the deadline of the
 * last frame. `next` is the time of the next event of the simulation. */
static gboolean
is_over (const MmtpSimulation * simulation, guint64 next)
{
  if (simulation->n_put < simulation->config.source.n)
    return next == MMTP_SIMULATION_NEVER;
  if (simulation->has_ended
      && simulation->result.ended_at != MMTP_SIMULATION_NEVER)
    return TRUE;
  return next > MAX (simulation->last_put,
      simulation->frames[simulation->n_put - 1].due)
      + simulation->result.initial_delay + 10 * VIRTUAL_LINK_SECOND;
}

static void
run_instant (MmtpSimulation * simulation)
{
  while (get_next_action (simulation) <= simulation->now)
    run_action (simulation, &simulation->config.actions[simulation->n_acted++]);
  run_links (simulation);
  run_flows (simulation);
  run_timeouts (simulation);
  run_source (simulation);
  while (drain_sender (simulation))
    run_source (simulation);
  drain_receiver (simulation);
  mmtp_simulation_judge_memory (simulation);
}

static void
run_watch (MmtpSimulation * simulation)
{
  if (!simulation->config.watch_period
      || simulation->now < simulation->next_watch)
    return;
  simulation->next_watch += simulation->config.watch_period;
  simulation->config.watch (simulation, simulation->config.watch_data);
}

void
mmtp_simulation_run (MmtpSimulation * simulation)
{
  guint calls = 0;
  guint64 next;
  guint i;

  for (i = 0; i < simulation->config.n_paths; i++) {
    if (simulation->paths[i].is_up)
      add_path (simulation, i);
  }
  run_instant (simulation);
  while (!is_over (simulation, next = get_next_time (simulation))) {
    calls = next > simulation->now ? 0 : calls + 1;
    if (calls > MAX_CALLS_AT_ONCE) {
      mmtp_simulation_error (simulation,
          "an end wants to be called for ever at %.6f s",
          simulation->now / 1e9);
      break;
    }
    simulation->now = MAX (simulation->now, next);
    run_instant (simulation);
    run_watch (simulation);
  }
  mmtp_simulation_judge_end (simulation);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The loop of the simulation: whatever comes next in virtual time happens, and
 * then both ends say all that they have to say. Judging is mmtpsimulationjudge.c.
 */

#include "mmtpsimulation.h"

#include <string.h>

#include "mmtpsimulationprivate.h"

/* The sender's clock at time 0: the 24 bits of the times of sending, or the 32
 * of the due times, are about to wrap. docs/wire-mmtp.md section 1 */
#define SENDER_CLOCK_EVEN (160 * VIRTUAL_LINK_SECOND)
#define SENDER_CLOCK_ODD (4290 * VIRTUAL_LINK_SECOND)
/* Calls in one instant, after which an end is said to turn in a circle */
#define MAX_CALLS_AT_ONCE 100000

typedef enum
{
  PACKET_MMTP,
  PACKET_TCP
} PacketKind;

typedef struct
{
  PacketKind kind;
  guint8 generation;            /* of the address */
  Tcp *tcp;
  guint number;                 /* TCP's */
  gsize size;                   /* of bytes */
  guint8 bytes[];
} Packet;

/* --- life ----------------------------------------------------------------- */

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

MmtpSimulationChannelConfig *
mmtp_simulation_config_add_channel (MmtpSimulationConfig * config,
    const VirtualLinkPath * forward, const VirtualLinkPath * back)
{
  MmtpSimulationChannelConfig *channel =
      &config->channels[config->n_channels++];

  g_assert_cmpuint (config->n_channels, <=, MMTP_SIMULATION_MAX_CHANNELS);
  channel->link.path[VIRTUAL_LINK_FORWARD] = *forward;
  channel->link.path[VIRTUAL_LINK_BACK] = *back;
  return channel;
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
    MmtpSimulationActionType type, guint channel)
{
  MmtpSimulationAction *action = &config->actions[config->n_actions++];

  g_assert_cmpuint (config->n_actions, <=, MMTP_SIMULATION_MAX_ACTIONS);
  action->time = time;
  action->type = type;
  action->channel = channel;
}

static void
send_tcp (Tcp * tcp, gboolean is_ack, guint32 size, guint number)
{
  MmtpSimulationFlow *flow = tcp->network;
  Packet *packet = g_new0 (Packet, 1);

  packet->kind = PACKET_TCP;
  packet->tcp = tcp;
  packet->number = number;
  virtual_link_input (flow->sim->channels[flow->channel].link,
      flow->sim->now, is_ack ? VIRTUAL_LINK_BACK : VIRTUAL_LINK_FORWARD, size,
      packet);
}

static void
add_tcp_flows (MmtpSimulation * sim, guint channel)
{
  /* more than any run needs; of Ethernet's size with time stamps */
  static const TcpConfig tcp_config = { 1 << 20, 1448, 52, 4000, 2 };
  guint i;

  for (i = 0; i < sim->config.channels[channel].n_tcp; i++) {
    MmtpSimulationFlow *flow = g_new0 (MmtpSimulationFlow, 1);

    flow->sim = sim;
    flow->channel = channel;
    tcp_init (&flow->tcp, &tcp_config, send_tcp, flow);
    g_ptr_array_add (sim->flows, flow);
  }
}

MmtpSimulation *
mmtp_simulation_new (const MmtpSimulationConfig * config)
{
  MmtpSimulation *sim = g_new0 (MmtpSimulation, 1);
  guint i;

  sim->config = *config;
  sim->ends = config->ends;
  sim->sender = sim->ends->sender_new (&config->sender, config->seed);
  sim->receiver = sim->ends->receiver_new (&config->receiver, config->seed + 1);
  sim->sender_clock = config->seed % 2 ? SENDER_CLOCK_ODD : SENDER_CLOCK_EVEN;
  sim->flows = g_ptr_array_new ();
  sim->frames = g_new0 (MmtpSimulationFrame, config->source.n);
  sim->scratch = g_malloc0 (MMTP_MAX_MESSAGE);
  mmtp_simulation_judge_init (sim);
  for (i = 0; i < config->n_channels; i++) {
    sim->channels[i].link = virtual_link_new (&config->channels[i].link,
        config->seed, i, g_free);
    sim->channels[i].is_up = !config->channels[i].is_later;
    add_tcp_flows (sim, i);
  }
  return sim;
}

void
mmtp_simulation_free (MmtpSimulation * sim)
{
  guint i;

  for (i = 0; i < sim->config.n_channels; i++)
    virtual_link_free (sim->channels[i].link);
  for (i = 0; i < sim->flows->len; i++) {
    MmtpSimulationFlow *flow = sim->flows->pdata[i];

    tcp_clear (&flow->tcp);
    g_free (flow);
  }
  g_ptr_array_unref (sim->flows);
  sim->ends->sender_free (sim->sender);
  sim->ends->receiver_free (sim->receiver);
  mmtp_simulation_judge_clear (sim);
  g_free (sim->frames);
  g_free (sim->scratch);
  g_free (sim);
}

/* --- clocks --------------------------------------------------------------- */

guint64
mmtp_simulation_to_sender (const MmtpSimulation * sim, guint64 now)
{
  return now + sim->sender_clock;
}

guint64
mmtp_simulation_to_receiver (const MmtpSimulation * sim, guint64 now)
{
  gint64 skew = sim->config.clock_skew;

  return now + sim->config.clock_offset + skew * (gint64) now / 1000000000;
}

static guint64
from_sender (const MmtpSimulation * sim, guint64 time)
{
  if (time == MMTP_SIMULATION_NEVER)
    return time;
  return time > sim->sender_clock ? time - sim->sender_clock : 0;
}

/* The first instant at which the receiver's clock shows the time */
static guint64
from_receiver (const MmtpSimulation * sim, guint64 time)
{
  guint64 instant = sim->now;
  guint i;

  if (time == MMTP_SIMULATION_NEVER)
    return time;
  for (i = 0; i < 4; i++)
    instant += time - mmtp_simulation_to_receiver (sim, instant);
  while (mmtp_simulation_to_receiver (sim, instant) < time)
    instant++;
  return instant;
}

/* --- what happens --------------------------------------------------------- */

static void
add_channel (MmtpSimulation * sim, guint channel)
{
  const MmtpSimulationChannelConfig *c = &sim->config.channels[channel];
  gchar *name = g_strdup_printf ("channel%u", channel);
  MmtpPathConfig config =
      { name, sim->config.max_size, MMTP_SIMULATION_OVERHEAD,
    c->known_rate, c->known_delay
  };
  gint number = sim->ends->add_channel (sim->sender,
      mmtp_simulation_to_sender (sim, sim->now), &config);

  if (number != channel)
    mmtp_simulation_error (sim, "channel %u got number %d", channel, number);
  sim->channels[channel].is_up = TRUE;
  sim->channels[channel].generation++;
  g_free (name);
}

static void
run_action (MmtpSimulation * sim, const MmtpSimulationAction * action)
{
  if (action->type == MMTP_SIMULATION_ADD) {
    add_channel (sim, action->channel);
    return;
  }
  sim->ends->remove_path (sim->sender, mmtp_simulation_to_sender (sim,
          sim->now), action->channel, MMTP_LEAVE_INTERFACE);
  sim->channels[action->channel].is_up = FALSE;
}

/* A message of ours, as the receiver's address of the channel has it */
static void
deliver_to_receiver (MmtpSimulation * sim, guint channel, const Packet * packet)
{
  MmtpAddress address = { 2, {channel, packet->generation} };

  mmtp_simulation_judge_packet (sim, channel, packet->bytes, packet->size);
  sim->ends->receiver_input (sim->receiver,
      mmtp_simulation_to_receiver (sim, sim->now), &address, packet->bytes,
      packet->size);
}

static void
deliver (MmtpSimulation * sim, guint channel, VirtualLinkDirection direction,
    Packet * packet)
{
  MmtpSimulationEnd *end = &sim->channels[channel];

  if (packet->kind == PACKET_TCP) {
    packet->tcp->now = sim->now;
    if (direction == VIRTUAL_LINK_FORWARD) {
      mmtp_simulation_judge_tcp (sim, channel, packet->tcp);
      tcp_receive_data (packet->tcp, packet->number);
    } else {
      tcp_receive_ack (packet->tcp, packet->number);
    }
  } else if (direction == VIRTUAL_LINK_FORWARD) {
    deliver_to_receiver (sim, channel, packet);
  } else if (end->is_up && packet->generation == end->generation) {
    sim->ends->sender_input (sim->sender, mmtp_simulation_to_sender (sim,
            sim->now), channel, packet->bytes, packet->size);
  }
  g_free (packet);
}

static void
run_links (MmtpSimulation * sim)
{
  VirtualLinkDirection direction;
  Packet *packet;
  guint i;

  for (i = 0; i < sim->config.n_channels; i++) {
    while ((packet = virtual_link_output (sim->channels[i].link, sim->now,
                &direction)))
      deliver (sim, i, direction, packet);
  }
}

static guint64
get_flow_start (const MmtpSimulation * sim, const MmtpSimulationFlow * flow)
{
  guint64 from = sim->config.channels[flow->channel].tcp_from;

  if (!from)
    return 0;
  return sim->origin ==
      MMTP_SIMULATION_NEVER ? sim->origin : sim->origin + from;
}

static void
run_flows (MmtpSimulation * sim)
{
  guint i;

  for (i = 0; i < sim->flows->len; i++) {
    MmtpSimulationFlow *flow = sim->flows->pdata[i];

    flow->tcp.now = sim->now;
    if (!flow->has_begun && get_flow_start (sim, flow) <= sim->now) {
      flow->has_begun = TRUE;
      tcp_send_more (&flow->tcp);
    }
    if (tcp_next_wakeup (&flow->tcp) <= sim->now)
      tcp_timeout (&flow->tcp);
  }
}

/* I-frames are five times, P-frames three times a B-frame */
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

/* The frame's number, and behind it its lowest byte */
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
put_frame (MmtpSimulation * sim)
{
  const MmtpSimulationSource *source = &sim->config.source;
  guint number = sim->n_put++;
  MmtpSimulationFrame *frame = &sim->frames[number];
  MmtpBuffer buffer = { 0, };

  frame->due = sim->origin + number * source->period;
  frame->size = get_frame_size (source, number, &frame->flags);
  buffer.data = make_frame (number, frame->size);
  buffer.due = mmtp_simulation_to_sender (sim, frame->due);
  buffer.flags = frame->flags;
  frame->refused = !sim->ends->put (sim->sender,
      mmtp_simulation_to_sender (sim, sim->now), &buffer);
  sim->result.refused += frame->refused;
  g_bytes_unref (buffer.data);
  if (sim->n_put < source->n)
    return;
  sim->last_put = sim->now;
  sim->ends->end (sim->sender, mmtp_simulation_to_sender (sim, sim->now));
}

static guint64
get_next_frame (const MmtpSimulation * sim)
{
  if (sim->origin == MMTP_SIMULATION_NEVER)
    return sim->config.timeout;
  if (sim->n_put == sim->config.source.n || sim->config.source.stored)
    return MMTP_SIMULATION_NEVER;
  return sim->origin + sim->n_put * sim->config.source.period;
}

static void
begin (MmtpSimulation * sim)
{
  guint i;

  sim->origin = sim->result.origin = sim->now;
  for (i = 0; i < sim->config.n_channels; i++)
    virtual_link_set_origin (sim->channels[i].link, sim->origin);
}

static void
run_source (MmtpSimulation * sim)
{
  if (sim->origin == MMTP_SIMULATION_NEVER) {
    if (sim->result.ready || sim->now >= sim->config.timeout)
      begin (sim);
    else
      return;
  }
  while (get_next_frame (sim) <= sim->now)
    put_frame (sim);
  while (sim->config.source.stored && sim->n_put < sim->config.source.n
      && sim->ends->has_room (sim->sender, mmtp_simulation_to_sender (sim,
              sim->now)))
    put_frame (sim);
}

static guint64
get_next_action (const MmtpSimulation * sim)
{
  if (sim->origin == MMTP_SIMULATION_NEVER
      || sim->n_acted == sim->config.n_actions)
    return MMTP_SIMULATION_NEVER;
  return sim->origin + sim->config.actions[sim->n_acted].time;
}

static void
run_timeouts (MmtpSimulation * sim)
{
  if (from_sender (sim, sim->ends->sender_next_wakeup (sim->sender))
      <= sim->now)
    sim->ends->sender_timeout (sim->sender, mmtp_simulation_to_sender (sim,
            sim->now));
  if (from_receiver (sim, sim->ends->receiver_next_wakeup (sim->receiver))
      <= sim->now)
    sim->ends->receiver_timeout (sim->receiver,
        mmtp_simulation_to_receiver (sim, sim->now));
}

/* --- what the ends say ---------------------------------------------------- */

static void
send_packet (MmtpSimulation * sim, guint channel,
    VirtualLinkDirection direction, guint8 generation, gsize size)
{
  Packet *packet = g_malloc (sizeof *packet + size);

  memset (packet, 0, sizeof *packet);
  packet->kind = PACKET_MMTP;
  packet->generation = generation;
  packet->size = size;
  memcpy (packet->bytes, sim->scratch, size);
  virtual_link_input (sim->channels[channel].link, sim->now, direction,
      size + MMTP_SIMULATION_OVERHEAD, packet);
}

static gboolean
drain_sender (MmtpSimulation * sim)
{
  guint64 now = mmtp_simulation_to_sender (sim, sim->now);
  MmtpSenderEvent event;
  gboolean any = FALSE;
  guint channel;
  gsize size;

  while ((size = sim->ends->sender_poll_output (sim->sender, now, &channel,
              sim->scratch, MMTP_MAX_MESSAGE))) {
    any = TRUE;
    if (channel >= sim->config.n_channels || size > sim->config.max_size) {
      mmtp_simulation_error (sim, "%" G_GSIZE_FORMAT " bytes on channel %u",
          size, channel);
      continue;
    }
    mmtp_simulation_judge_sent (sim, VIRTUAL_LINK_FORWARD, channel,
        sim->scratch, size);
    if (sim->channels[channel].is_up)
      send_packet (sim, channel, VIRTUAL_LINK_FORWARD,
          sim->channels[channel].generation, size);
  }
  while (sim->ends->sender_poll_event (sim->sender, &event)) {
    any = TRUE;
    mmtp_simulation_judge_sender_event (sim, &event);
  }
  return any;
}

static gboolean
drain_receiver (MmtpSimulation * sim)
{
  guint64 now = mmtp_simulation_to_receiver (sim, sim->now);
  MmtpReceiverEvent event;
  MmtpAddress address;
  gboolean any = FALSE;
  gsize size;

  while ((size = sim->ends->receiver_poll_output (sim->receiver, now,
              &address, sim->scratch, MMTP_MAX_MESSAGE))) {
    any = TRUE;
    if (address.size != 2 || address.bytes[0] >= sim->config.n_channels) {
      mmtp_simulation_error (sim, "a message to an unknown address");
      continue;
    }
    mmtp_simulation_judge_sent (sim, VIRTUAL_LINK_BACK, address.bytes[0],
        sim->scratch, size);
    send_packet (sim, address.bytes[0], VIRTUAL_LINK_BACK, address.bytes[1],
        size);
  }
  while (sim->ends->receiver_poll_event (sim->receiver, &event)) {
    any = TRUE;
    mmtp_simulation_judge_receiver_event (sim, &event);
  }
  return any;
}

/* --- the loop ------------------------------------------------------------- */

static guint64
get_next_time (MmtpSimulation * sim)
{
  guint64 next = MIN (get_next_frame (sim), get_next_action (sim));
  guint i;

  for (i = 0; i < sim->config.n_channels; i++)
    next = MIN (next, virtual_link_next (sim->channels[i].link));
  for (i = 0; i < sim->flows->len; i++) {
    MmtpSimulationFlow *flow = sim->flows->pdata[i];

    next = MIN (next, flow->has_begun ? tcp_next_wakeup (&flow->tcp)
        : get_flow_start (sim, flow));
  }
  next = MIN (next, from_sender (sim,
          sim->ends->sender_next_wakeup (sim->sender)));
  return MIN (next, from_receiver (sim,
          sim->ends->receiver_next_wakeup (sim->receiver)));
}

/* The stream has ended at both ends, or will never */
static gboolean
is_over (const MmtpSimulation * sim, guint64 next)
{
  if (sim->n_put < sim->config.source.n)
    return next == MMTP_SIMULATION_NEVER;
  if (sim->has_ended && sim->result.ended_at != MMTP_SIMULATION_NEVER)
    return TRUE;
  return next > MAX (sim->last_put, sim->frames[sim->n_put - 1].due)
      + sim->result.initial_delay + 10 * VIRTUAL_LINK_SECOND;
}

static void
run_instant (MmtpSimulation * sim)
{
  while (get_next_action (sim) <= sim->now)
    run_action (sim, &sim->config.actions[sim->n_acted++]);
  run_links (sim);
  run_flows (sim);
  run_timeouts (sim);
  run_source (sim);
  while (drain_sender (sim))
    run_source (sim);
  drain_receiver (sim);
  mmtp_simulation_judge_memory (sim);
}

static void
run_watch (MmtpSimulation * sim)
{
  if (!sim->config.watch_period || sim->now < sim->next_watch)
    return;
  sim->next_watch += sim->config.watch_period;
  sim->config.watch (sim, sim->config.watch_data);
}

void
mmtp_simulation_run (MmtpSimulation * sim)
{
  guint calls = 0;
  guint64 next;
  guint i;

  for (i = 0; i < sim->config.n_channels; i++) {
    if (sim->channels[i].is_up)
      add_channel (sim, i);
  }
  run_instant (sim);
  while (!is_over (sim, next = get_next_time (sim))) {
    calls = next > sim->now ? 0 : calls + 1;
    if (calls > MAX_CALLS_AT_ONCE) {
      mmtp_simulation_error (sim,
          "an end wants to be called for ever at %.6f s", sim->now / 1e9);
      break;
    }
    sim->now = MAX (sim->now, next);
    run_instant (sim);
    run_watch (sim);
  }
  mmtp_simulation_judge_end (sim);
}

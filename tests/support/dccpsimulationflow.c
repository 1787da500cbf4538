/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One flow of the simulation of DCCP and TCP. A DCCP flow has two endpoints and
 * an application at each of them. A TCP flow uses the model in tcpmodel.h. */

#include "dccpsimulationprivate.h"

#include <string.h>

#include "dccpendpointprivate.h"
#include "seededdraw.h"

#define NEVER G_MAXUINT64
#define PORT 5001
/* Maximum number of packets of a live encoder that wait until the congestion
 * control allows their transmission. If so many packets wait, each new packet
 * is dropped. */
#define MEDIA_WAITING 8
#define CONSTANT_WAITING 2
/* The range of the encoder's bitrate: it begins with 150 kbit/s, the minimum,
 * and may rise to 1.5 Mbit/s (RFC 8867 section 4.3). The constants are in bytes
 * per second. */
#define MEDIA_MIN (150000 / 8.0)
#define MEDIA_MAX (1500000 / 8.0)
#define TCP_HEADER 52           /* IPv4, TCP with timestamps */

/* Purpose of a random number. */
enum
{
  DRAW_LENGTH,
  DRAW_PAUSE
};

VirtualLinkDirection
flow_get_direction (const Flow * flow)
{
  return flow->config->is_reverse ? VIRTUAL_LINK_BACK : VIRTUAL_LINK_FORWARD;
}

static guint64
get_time (const Flow * flow)
{
  return flow->simulation->now - DCCP_SIMULATION_START;
}

/* --- TCP ------------------------------------------------------------------ */

static void
send_tcp (Tcp * tcp, gboolean is_ack, guint32 size, guint number)
{
  Flow *flow = tcp->network;
  Packet *packet = g_new0 (Packet, 1);

  packet->direction = flow_get_direction (flow) ^ is_ack;
  packet->wire_size = size;
  packet->is_ack = is_ack;
  packet->number = number;
  packet->transfer = flow->transfer;
  if (is_ack)
    flow->result->feedbacks++;
  else
    flow->result->packets_sent++;
  simulation_send (flow, packet);
}

static guint64
draw (const Flow * flow, guint purpose)
{
  return seeded_draw (flow->simulation->config->seed, 100 + flow->number,
      purpose, flow->transfer, 0);
}

static guint
get_segments (const Flow * flow)
{
  const VirtualLinkPath *path =
      &flow->simulation->config->link.path[flow_get_direction (flow)];
  guint64 seconds =
      flow->simulation->config->duration / VIRTUAL_LINK_SECOND + 1;

  if (flow->config->is_short)
    return (30000 + seeded_draw_below (draw (flow, DRAW_LENGTH), 20000))
        / flow->config->size;
  return 4 * path->rate * seconds / flow->config->size;
}

static void
begin_transfer (Flow * flow)
{
  TcpConfig config = { 0 };

  if (flow->has_begun)
    tcp_clear (&flow->tcp);
  flow->has_begun = TRUE;
  memset (&flow->tcp, 0, sizeof (flow->tcp));
  config.mss = flow->config->size;
  config.header = TCP_HEADER;
  config.ack_every = 2;
  config.receive_window = G_MAXINT / 2;
  config.segments = get_segments (flow);
  tcp_init (&flow->tcp, &config, send_tcp, flow);
  flow->tcp.now = flow->simulation->now;
  flow->next_transfer = NEVER;
  flow->transfer++;
  tcp_send_more (&flow->tcp);
}

static void
receive_tcp (Flow * flow, const Packet * packet)
{
  if (packet->transfer != flow->transfer)
    return;
  flow->tcp.now = flow->simulation->now;
  if (!packet->is_ack) {
    flow->result->packets_arrived++;
    if (!flow->tcp.have[packet->number])
      flow->bin.arrived += flow->config->size;
    tcp_receive_data (&flow->tcp, packet->number);
    return;
  }
  tcp_receive_ack (&flow->tcp, packet->number);
  if (flow->tcp.una == flow->tcp.config.segments
      && flow->next_transfer == NEVER)
    flow->next_transfer = flow->simulation->now
        + seeded_draw_exponential (draw (flow, DRAW_PAUSE),
        10 * VIRTUAL_LINK_SECOND);
}

static gboolean
run_tcp (Flow * flow)
{
  if (flow->next_transfer <= flow->simulation->now) {
    begin_transfer (flow);
    return TRUE;
  }
  if (!flow->has_begun || tcp_next_wakeup (&flow->tcp) > flow->simulation->now)
    return FALSE;
  flow->tcp.now = flow->simulation->now;
  tcp_timeout (&flow->tcp);
  return TRUE;
}

static guint64
next_tcp (const Flow * flow)
{
  if (!flow->has_begun)
    return flow->next_transfer;
  return MIN (flow->next_transfer, tcp_next_wakeup (&flow->tcp));
}

/* --- DCCP: endpoints ------------------------------------------------------ */

static DatagramPath
get_path (const Flow * flow, gboolean of_client)
{
  DatagramPath path = { {10, 0, 0, 2}, 0, 4, 6511, {10, 0, 0, 1}, 7000 };
  DatagramPath other = { {10, 0, 0, 1}, 0, 4, 7000, {10, 0, 0, 2}, 6511 };

  path.local[2] = path.remote[2] = flow->number;
  other.local[2] = other.remote[2] = flow->number;
  return of_client ? path : other;
}

static DccpEndpoint *
create_endpoint (const Flow * flow, gboolean is_listener)
{
  guint8 entropy[DCCP_ENTROPY_SIZE];
  DccpEndpointConfig config;

  dccp_endpoint_config_init (&config);
  config.is_listener = is_listener;
  config.local_port = is_listener ? PORT : 0;
  config.remote_port = is_listener ? 0 : PORT;
  config.service_code = DCCP_SERVICE_RTPV;
  config.equation = flow->config->equation;
  config.reduce_oscillation = !flow->config->no_oscillation_reduction;
  config.granularity = 0;
  memset (entropy, flow->simulation->config->seed * 32 + flow->number * 2
      + is_listener, sizeof (entropy));
  return dccp_endpoint_new (&config, entropy);
}

static void
send_dccp (Flow * flow, gboolean to_client, const guint8 * header,
    gsize header_size, gsize payload_size)
{
  Packet *packet = g_malloc0 (sizeof (Packet) + header_size + payload_size);

  packet->direction = flow_get_direction (flow) ^ to_client;
  packet->to_client = to_client;
  packet->size = header_size + payload_size;
  packet->wire_size = packet->size + DCCP_SIMULATION_OVERHEAD;
  memcpy (packet->bytes, header, header_size);
  if (payload_size) {
    flow->n_data++;
    if (flow->config->drop_each && flow->n_data % flow->config->drop_each == 0) {
      g_free (packet);
      return;
    }
  }
  simulation_send (flow, packet);
}

static gboolean
send_control (Flow * flow, gboolean of_client)
{
  DccpEndpoint *endpoint = of_client ? flow->client : flow->server;
  guint8 bytes[DCCP_MAX_CONTROL];
  DatagramPath path;
  gboolean any = FALSE;
  gsize size;

  while ((size =
          dccp_endpoint_poll_control (endpoint, flow->simulation->now, &path,
              bytes))) {
    if (!of_client)
      flow->result->feedbacks++;
    send_dccp (flow, !of_client, bytes, size, 0);
    any = TRUE;
  }
  return any;
}

static gboolean
run_endpoint (Flow * flow, gboolean of_client)
{
  DccpEndpoint *endpoint = of_client ? flow->client : flow->server;
  DccpEvent event;
  gboolean any = FALSE;

  if (dccp_endpoint_next_wakeup (endpoint) <= flow->simulation->now) {
    dccp_endpoint_timeout (endpoint, flow->simulation->now);
    any = TRUE;
  }
  while (dccp_endpoint_poll_event (endpoint, &event)) {
    if (of_client && event.type == DCCP_EVENT_CONNECTED)
      flow->is_open = TRUE;
    if (event.type == DCCP_EVENT_RESET || event.type == DCCP_EVENT_ABORTED
        || event.type == DCCP_EVENT_TIMED_OUT)
      flow->result->is_reset = TRUE;
    any = TRUE;
  }
  return send_control (flow, of_client) || any;
}

/* --- DCCP: receiving ------------------------------------------------------ */

static void
drain (Flow * flow)
{
  guint64 now = flow->simulation->now;

  flow->buffered = MAX (0, flow->buffered
      - flow->config->receive_rate * ((now - flow->drained_at) / 1e9));
  flow->drained_at = now;
}

static void
take_data (Flow * flow, const DccpData * data)
{
  const DccpSimulationFlow *config = flow->config;

  if (!config->receive_rate)
    return;
  drain (flow);
  if (flow->buffered + data->size > config->receive_buffer) {
    flow->bin.dropped += data->size;
    if (config->says_slow)
      dccp_endpoint_dropped (flow->server, flow->simulation->now,
          data->sequence, 2);
  } else {
    flow->buffered += data->size;
  }
  if (config->says_slow) {
    gboolean is_slow = flow->buffered > config->receive_buffer / 2;

    if (is_slow != flow->is_slow)
      dccp_endpoint_set_slow (flow->server, flow->simulation->now, is_slow);
    flow->is_slow = is_slow;
  }
}

static void
receive_dccp (Flow * flow, const Packet * packet)
{
  DatagramPath path = get_path (flow, packet->to_client);
  guint64 delay = flow->simulation->now - packet->sent;
  guint64 feedbacks;
  DccpStats stats;
  DccpData data;

  if (!packet->to_client) {
    if (dccp_endpoint_take (flow->server, flow->simulation->now, &path,
            packet->bytes, packet->size, &data)) {
      flow->result->packets_arrived++;
      flow->bin.arrived += data.size;
      flow->bin.worst_delay = MAX (flow->bin.worst_delay, delay);
      g_array_append_val (flow->result->delays, delay);
      take_data (flow, &data);
    }
    return;
  }
  dccp_endpoint_get_stats (flow->client, &stats);
  feedbacks = stats.feedback_received;
  dccp_endpoint_take (flow->client, flow->simulation->now, &path, packet->bytes,
      packet->size, &data);
  dccp_endpoint_get_stats (flow->client, &stats);
  if (stats.feedback_received > feedbacks) {
    guint64 estimate = stats.round_trip / 2;

    g_array_append_val (flow->result->estimates, estimate);
  }
}

/* --- DCCP: sending -------------------------------------------------------- */

static gboolean
is_paused (const Flow * flow)
{
  guint64 time = get_time (flow);

  return time >= flow->config->pause_from && time < flow->config->pause_to;
}

static guint64
get_period (const Flow * flow)
{
  if (flow->config->traffic == DCCP_SIMULATION_CONSTANT)
    return flow->config->period;
  return flow->config->size * 1e9 / flow->encoder_rate;
}

/* If it is time for a new packet, the application generates it. The packet then
 * waits for its transmission, or is dropped if too many packets wait already.
 * In a pause of the application, no packet is generated. Returns TRUE if it was
 * time for a new packet. */
static gboolean
make_packet (Flow * flow)
{
  guint max = flow->config->traffic == DCCP_SIMULATION_MEDIA ? MEDIA_WAITING
      : CONSTANT_WAITING;

  if (flow->config->traffic == DCCP_SIMULATION_GREEDY
      || flow->next_packet > flow->simulation->now)
    return FALSE;
  flow->next_packet += get_period (flow);
  if (is_paused (flow))
    return TRUE;
  if (flow->waiting < max)
    flow->waiting++;
  else
    flow->result->not_sent++;
  return TRUE;
}

static gboolean
send_packet (Flow * flow)
{
  guint8 header[DCCP_MAX_HEADER], payload[2048] = { 0 };
  gboolean is_greedy = flow->config->traffic == DCCP_SIMULATION_GREEDY;
  gsize size;

  g_assert_cmpuint (flow->config->size, <=, sizeof (payload));
  if ((!is_greedy && !flow->waiting)
      || dccp_endpoint_next_send (flow->client,
          flow->simulation->now) > flow->simulation->now)
    return FALSE;
  size = dccp_endpoint_send (flow->client, flow->simulation->now, payload,
      flow->config->size, is_greedy || flow->waiting > 1, header);
  g_assert_cmpuint (size, >, 0);
  if (!is_greedy)
    flow->waiting--;
  flow->result->packets_sent++;
  flow->bin.sent += flow->config->size;
  send_dccp (flow, FALSE, header, size, flow->config->size);
  return TRUE;
}

static gboolean
begin_or_end (Flow * flow)
{
  guint64 time = get_time (flow);

  if (!flow->has_begun) {
    DatagramPath path = get_path (flow, TRUE);

    flow->has_begun = TRUE;
    dccp_endpoint_connect (flow->client, flow->simulation->now, &path);
    return TRUE;
  }
  if (flow->config->to && time >= flow->config->to && !flow->has_ended) {
    flow->has_ended = TRUE;
    flow->is_open = FALSE;
    dccp_endpoint_close (flow->client, flow->simulation->now);
    return TRUE;
  }
  return FALSE;
}

static gboolean
run_dccp (Flow * flow)
{
  gboolean any = begin_or_end (flow);

  any |= run_endpoint (flow, TRUE);
  any |= run_endpoint (flow, FALSE);
  if (flow->is_open) {
    any |= make_packet (flow);
    any |= send_packet (flow);
  }
  return any;
}

/* --- all kinds of flows --------------------------------------------------- */

void
flow_init (Flow * flow, Simulation * simulation, guint number,
    DccpSimulationFlowResult * result)
{
  flow->simulation = simulation;
  flow->number = number;
  flow->config = &simulation->config->flows[number];
  flow->result = result;
  result->delays = g_array_new (FALSE, FALSE, sizeof (guint64));
  result->estimates = g_array_new (FALSE, FALSE, sizeof (guint64));
  result->bins =
      g_new0 (DccpSimulationBin,
      simulation->config->duration / DCCP_SIMULATION_BIN + 2);
  g_queue_init (&flow->held[0]);
  g_queue_init (&flow->held[1]);
  flow->encoder_rate = MEDIA_MIN;
  flow->next_packet = DCCP_SIMULATION_START + flow->config->from;
  if (flow->config->traffic == DCCP_SIMULATION_TCP) {
    flow->next_transfer = DCCP_SIMULATION_START + flow->config->from;
  } else {
    flow->client = create_endpoint (flow, FALSE);
    flow->server = create_endpoint (flow, TRUE);
  }
}

void
flow_clear (Flow * flow)
{
  if (flow->config->traffic == DCCP_SIMULATION_TCP) {
    if (flow->has_begun)
      tcp_clear (&flow->tcp);
  } else {
    dccp_endpoint_get_stats (flow->client, &flow->result->sender);
    dccp_endpoint_get_stats (flow->server, &flow->result->receiver);
    dccp_endpoint_free (flow->client);
    dccp_endpoint_free (flow->server);
  }
}

void
flow_receive (Flow * flow, const Packet * packet)
{
  if (flow->config->traffic == DCCP_SIMULATION_TCP)
    receive_tcp (flow, packet);
  else
    receive_dccp (flow, packet);
}

gboolean
flow_run (Flow * flow)
{
  if (get_time (flow) < flow->config->from)
    return FALSE;
  if (flow->config->traffic == DCCP_SIMULATION_TCP)
    return run_tcp (flow);
  return run_dccp (flow);
}

guint64
flow_next (Flow * flow)
{
  guint64 next;

  if (flow->config->traffic == DCCP_SIMULATION_TCP)
    return next_tcp (flow);
  if (!flow->has_begun)
    return DCCP_SIMULATION_START + flow->config->from;
  next = MIN (dccp_endpoint_next_wakeup (flow->client),
      dccp_endpoint_next_wakeup (flow->server));
  if (flow->config->to && !flow->has_ended)
    next = MIN (next, DCCP_SIMULATION_START + flow->config->to);
  if (!flow->is_open)
    return next;
  if (flow->config->traffic != DCCP_SIMULATION_GREEDY)
    next = MIN (next, flow->next_packet);
  if (flow->config->traffic == DCCP_SIMULATION_GREEDY || flow->waiting)
    next =
        MIN (next, dccp_endpoint_next_send (flow->client,
            flow->simulation->now));
  return next;
}

/* Sets the bitrate of the simulated encoder to the rate that the congestion
 * control allows the sender. The encoder cannot go below MEDIA_MIN or above
 * MEDIA_MAX. */
static void
follow_rate (Flow * flow)
{
  gdouble rate = flow->bin.rate;

  if (flow->config->traffic == DCCP_SIMULATION_MEDIA && flow->is_open)
    flow->encoder_rate = CLAMP (rate, MEDIA_MIN, MEDIA_MAX);
}

void
flow_end_bin (Flow * flow)
{
  if (flow->config->traffic != DCCP_SIMULATION_TCP) {
    DccpStats stats;

    dccp_endpoint_get_stats (flow->client, &stats);
    flow->bin.rate = stats.rate / 8.0;
    flow->bin.loss_event_rate = stats.loss_event_rate;
    flow->bin.reported = stats.reported_rate / 8.0;
    flow->bin.round_trip = stats.round_trip;
  }
  follow_rate (flow);
  flow->result->bins[flow->result->n_bins++] = flow->bin;
  memset (&flow->bin, 0, sizeof (flow->bin));
}

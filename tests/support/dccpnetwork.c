/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The wire between two endpoints. */

#include "dccpnetwork.h"

#include <string.h>

#define MAX_AT_ONCE 2000        /* calls without that time goes on */

typedef struct
{
  guint64 time;
  DccpEnd to;
  gsize size;
  guint8 bytes[];
} Flight;

/* --- what must hold ---------------------------------------------------------- */

/* Those that count are guint64 and stand one behind the other from `connections`
 * to `option_errors`; the others are looked at one by one. */
static void
check_counters (DccpNetwork * wire, DccpEnd end)
{
  DccpStats stats;
  const guint64 *before = &wire->stats[end].connections;
  const guint64 *after = &stats.connections;

  dccp_endpoint_get_stats (wire->ends[end], &stats);
  for (; after <= &stats.option_errors; before++, after++)
    g_assert_cmpuint (*after, >=, *before);
#define NOT_BACK(name) g_assert_cmpuint (stats.name, >=, wire->stats[end].name)
  NOT_BACK (feedback_received);
  NOT_BACK (no_feedback);
  NOT_BACK (slow_receiver_received);
  NOT_BACK (dropped_received);
  NOT_BACK (lost);
  NOT_BACK (loss_events);
  NOT_BACK (reordered);
  NOT_BACK (duplicates);
  NOT_BACK (feedback_sent);
  NOT_BACK (slow_receiver_sent);
  NOT_BACK (dropped_sent);
#undef NOT_BACK
  wire->stats[end] = stats;
}

/* A Sync may also ask whether anybody is there; a Reset that ends a connection is no
 * answer. */
static gboolean
is_answer (const DccpPacket * packet)
{
  if (packet->type == DCCP_SYNC)
    return TRUE;
  return packet->type == DCCP_RESET
      && (packet->reset_code == DCCP_RESET_NO_CONNECTION
      || packet->reset_code == DCCP_RESET_PACKET_ERROR
      || packet->reset_code == DCCP_RESET_BAD_SERVICE_CODE
      || packet->reset_code == DCCP_RESET_TOO_BUSY);
}

/* Resets to other ends of connections that were, in the last second */
static guint
count_last_resets (DccpNetwork * wire, DccpEnd from)
{
  const DccpLimiter *limiter = &wire->ends[from]->common.last_resets;
  guint i, n = 0;

  for (i = 0; i < MIN (limiter->n, DCCP_ANSWERS_PER_SECOND); i++)
    n += limiter->times[i] + SECOND > wire->now;
  return n;
}

static void
check_answers (DccpNetwork * wire, DccpEnd from, const DccpPacket * packet)
{
  guint i, n = 0;

  if (!is_answer (packet))
    return;
  for (i = wire->log->len; i > 0; i--) {
    const DccpNetworkEntry *entry =
        &g_array_index (wire->log, DccpNetworkEntry, i - 1);

    if (entry->time + SECOND <= wire->now)
      break;
    n += entry->from == from && entry->packet.type == packet->type
        && is_answer (&entry->packet);
  }
  g_assert_cmpuint (n, <=, DCCP_ANSWERS_PER_SECOND +
      (packet->type == DCCP_SYNC ? 2 : count_last_resets (wire, from)));
}

static void
note_rate (DccpNetwork * wire, DccpEnd end)
{
  DccpConnection *connection = wire->ends[end]->connection;
  DccpCcidSenderState state;

  if (!connection || !connection->halves.sender)
    return;
  dccp_half_connections_get_sender (&connection->halves, &state);
  wire->highest[end] = MAX (wire->highest[end],
      MAX (state.rate, state.instant_rate));
}

/* No more than a round trip's is saved up (RFC 5348 section 4.6), and a packet goes
 * half of the timer's granularity early at most; 1 % are for rounding. A window
 * allows bursts instead. */
static void
check_rate (DccpNetwork * wire, DccpEnd end, gsize size)
{
  DccpConnection *connection = dccp_network_get (wire, end);
  gdouble seconds = (wire->now - wire->credit_time[end]) / 1e9;
  gdouble *credit = &wire->credit[end];
  DccpCcidSenderState state;

  if (wire->is_by_window)
    return;
  dccp_half_connections_get_sender (&connection->halves, &state);
  *credit += wire->highest[end] * 1.01 * seconds;
  *credit = MIN (*credit, wire->highest[end] * state.round_trip / 1e9 +
      2 * size);
  *credit -= size;
  wire->credit_time[end] = wire->now;
  wire->highest[end] = MAX (state.rate, state.instant_rate);
  g_assert_cmpfloat (*credit, >=, -2. * size);
}

/* --- packets ------------------------------------------------------------------ */

/* What is sent at the same time stays in order. */
static gint
compare (gconstpointer a, gconstpointer b, gpointer unused)
{
  const Flight *x = a, *y = b;

  return x->time <= y->time ? -1 : 1;
}

static void
fly (DccpNetwork * wire, DccpEnd to, const guint8 * bytes, gsize size)
{
  Flight *flight = g_malloc (sizeof (Flight) + size);

  flight->time = wire->now + wire->delay + wire->extra_delay[OTHER (to)];
  flight->to = to;
  flight->size = size;
  memcpy (flight->bytes, bytes, size);
  g_queue_insert_sorted (&wire->flights, flight, compare, NULL);
}

static gboolean
is_lost (DccpNetwork * wire, DccpEnd from, const DccpPacket * packet,
    guint8 * bytes, gsize size)
{
  if (wire->lose_all[from] > 0) {
    wire->lose_all[from]--;
    return TRUE;
  }
  if (wire->lose[from][packet->type] > 0) {
    wire->lose[from][packet->type]--;
    return TRUE;
  }
  return wire->filter && !wire->filter (wire, from, packet, bytes, size);
}

/* A packet to somebody else is logged, and goes nowhere. */
static void
send_packet (DccpNetwork * wire, DccpEnd from, const DatagramPath * path,
    guint8 * bytes, gsize size)
{
  DccpNetworkEntry entry = { wire->now, from };

  g_assert_cmpint (dccp_packet_parse (&entry.packet, path, bytes, size), ==,
      DCCP_ACCEPTED);
  entry.size = size;
  entry.lost = is_lost (wire, from, &entry.packet, bytes, size)
      || !datagram_path_equal (path, &wire->paths[from]);
  entry.packet.options = entry.packet.payload = NULL;
  g_array_append_val (wire->log, entry);
  check_answers (wire, from, &entry.packet);
  if (!entry.lost)
    fly (wire, OTHER (from), bytes, size);
}

static void
poll_events (DccpNetwork * wire, DccpEnd end)
{
  DccpEvent event;

  while (dccp_endpoint_poll_event (wire->ends[end], &event))
    g_array_append_val (wire->events[end], event);
}

static void
poll_outputs (DccpNetwork * wire, DccpEnd end)
{
  guint8 bytes[DCCP_MAX_CONTROL];
  DatagramPath path;
  gsize size;
  guint n = 0;

  while ((size = dccp_endpoint_poll_control (wire->ends[end], wire->now, &path,
              bytes)) > 0) {
    g_assert_cmpuint (n++, <, MAX_AT_ONCE);
    send_packet (wire, end, &path, bytes, size);
  }
}

void
dccp_network_flush (DccpNetwork * wire, DccpEnd end)
{
  poll_outputs (wire, end);
  poll_events (wire, end);
  check_counters (wire, end);
  note_rate (wire, end);
}

static void
keep_data (DccpNetwork * wire, DccpEnd end, const DccpData * data)
{
  guint32 number = 0;

  if (data->size >= sizeof (number))
    memcpy (&number, data->payload, sizeof (number));
  g_array_append_val (wire->received[end], number);
  wire->last[end] = *data;
  wire->last[end].payload = NULL;
}

/* In memory of just that size */
void
dccp_network_inject_from (DccpNetwork * wire, DccpEnd to,
    const DatagramPath * path, const guint8 * bytes, gsize size)
{
  guint8 *copy = g_memdup2 (bytes, size);
  DccpData data;

  if (dccp_endpoint_take (wire->ends[to], wire->now, path, copy, size, &data))
    keep_data (wire, to, &data);
  g_free (copy);
  dccp_network_flush (wire, to);
}

void
dccp_network_inject (DccpNetwork * wire, DccpEnd to, const guint8 * bytes,
    gsize size)
{
  dccp_network_inject_from (wire, to, &wire->paths[to], bytes, size);
}

void
dccp_network_forge (DccpNetwork * wire, DccpEnd to, const DccpPacket * packet)
{
  DccpConnection *connection = dccp_network_get (wire, to);
  guint8 bytes[DCCP_MAX_HEADER + DCCP_WIRE_MAX_PAYLOAD];
  DatagramPath path = wire->paths[to];
  DccpPacket forged = *packet;
  gsize size;

  if (connection && forged.source == 0) {
    forged.source = connection->remote_port;
    forged.destination = connection->local_port;
  }
  forged.extended = TRUE;
  /* its own checksum is over addresses the other way round */
  memcpy (path.local, wire->paths[to].remote, sizeof (path.local));
  memcpy (path.remote, wire->paths[to].local, sizeof (path.remote));
  size = dccp_packet_write (&forged, &path, bytes);
  g_assert_cmpuint (size, >, 0);
  if (forged.payload_size > 0)
    memcpy (bytes + size, forged.payload, forged.payload_size);
  dccp_network_inject (wire, to, bytes, size + forged.payload_size);
}

DccpPacket
dccp_network_next (DccpNetwork * wire, DccpEnd to, DccpType type)
{
  DccpConnection *connection = dccp_network_get (wire, to);
  DccpPacket packet = {
    .type = type,
    .sequence = dccp_sequence_add (connection->gsr, 1),
    .acknowledgement = connection->gss,
    .service_code = DCCP_SERVICE_RTPV,
  };

  return packet;
}

/* --- data ------------------------------------------------------------------------ */

static void
put_data (DccpNetwork * wire, DccpEnd end)
{
  while (wire->sending[end] && wire->put_at[end] <= wire->now) {
    wire->n_put[end]++;
    wire->put_at[end] += wire->periods[end];
  }
}

static void
send_data (DccpNetwork * wire, DccpEnd end)
{
  guint8 bytes[DCCP_MAX_HEADER + DCCP_WIRE_MAX_PAYLOAD] = { 0 };
  const gsize size = wire->sizes[end];
  guint8 payload[DCCP_WIRE_MAX_PAYLOAD] = { 0 };
  gsize header;

  g_assert_cmpuint (size, <=, DCCP_WIRE_MAX_PAYLOAD);
  while (wire->n_sent[end] < wire->n_put[end]
      && dccp_endpoint_next_send (wire->ends[end], wire->now) <= wire->now) {
    memcpy (payload, &wire->n_sent[end], sizeof (guint32));
    header = dccp_endpoint_send (wire->ends[end], wire->now, payload, size,
        wire->n_sent[end] + 1 < wire->n_put[end], bytes);
    g_assert_cmpuint (header, >, 0);
    check_rate (wire, end, size);
    memcpy (bytes + header, payload, size);
    wire->n_sent[end]++;
    send_packet (wire, end, &wire->paths[end], bytes, header + size);
  }
  dccp_network_flush (wire, end);
}

/* --- time -------------------------------------------------------------------------- */

static guint64
get_next (DccpNetwork * wire, DccpEnd end)
{
  guint64 next = dccp_endpoint_next_wakeup (wire->ends[end]);

  if (wire->sending[end])
    next = MIN (next, wire->put_at[end]);
  if (wire->n_sent[end] < wire->n_put[end])
    next = MIN (next, dccp_endpoint_next_send (wire->ends[end], wire->now));
  return next;
}

static void
wake (DccpNetwork * wire, DccpEnd end)
{
  put_data (wire, end);
  if (dccp_endpoint_next_wakeup (wire->ends[end]) <= wire->now)
    dccp_endpoint_timeout (wire->ends[end], wire->now);
  dccp_network_flush (wire, end);
  send_data (wire, end);
}

static void
arrive (DccpNetwork * wire)
{
  Flight *flight = g_queue_pop_head (&wire->flights);

  dccp_network_inject (wire, flight->to, flight->bytes, flight->size);
  g_free (flight);
}

void
dccp_network_run (DccpNetwork * wire, guint64 duration)
{
  const guint64 end = wire->now + duration;
  guint at_once = 0;

  for (;;) {
    Flight *flight = g_queue_peek_head (&wire->flights);
    guint64 next = MIN (get_next (wire, CLIENT), get_next (wire, SERVER));

    if (flight)
      next = MIN (next, flight->time);
    if (next > end)
      break;
    at_once = next > wire->now ? 0 : at_once + 1;
    g_assert_cmpuint (at_once, <, MAX_AT_ONCE);
    wire->now = MAX (wire->now, next);
    if (flight && flight->time <= wire->now)
      arrive (wire);
    wake (wire, CLIENT);
    wake (wire, SERVER);
  }
  wire->now = end;
}

/* --- begin and end -------------------------------------------------------------- */

/* Most tests hold what CCID 3 does, whatever else is registered before it. */
static const DccpCcid *const only_ccid_3[] = { &dccp_ccid_3, NULL };

void
dccp_network_init (DccpNetwork * wire)
{
  DccpEnd end;

  memset (wire, 0, sizeof (*wire));
  wire->delay = 50 * MS;
  wire->now = SECOND;
  wire->log = g_array_new (FALSE, FALSE, sizeof (DccpNetworkEntry));
  g_queue_init (&wire->flights);
  for (end = CLIENT; end < N_ENDS; end++) {
    DatagramPath *path = &wire->paths[end];

    dccp_endpoint_config_init (&wire->configs[end]);
    wire->configs[end].ccids = only_ccid_3;
    path->address_size = 4;
    memcpy (path->local, end == CLIENT ? "\x0a\0\0\1" : "\x0a\0\0\2", 4);
    memcpy (path->remote, end == CLIENT ? "\x0a\0\0\2" : "\x0a\0\0\1", 4);
    path->local_port = end == CLIENT ? 40000 : 6511;
    path->remote_port = end == CLIENT ? 6511 : 40000;
    wire->events[end] = g_array_new (FALSE, FALSE, sizeof (DccpEvent));
    wire->received[end] = g_array_new (FALSE, FALSE, sizeof (guint32));
    wire->periods[end] = 10 * MS;
    wire->sizes[end] = 100;
  }
  wire->configs[CLIENT].remote_port = DCCP_WIRE_PORT;
  wire->configs[SERVER].local_port = DCCP_WIRE_PORT;
  wire->configs[SERVER].is_listener = TRUE;
}

void
dccp_network_begin (DccpNetwork * wire)
{
  DccpEnd end;

  for (end = CLIENT; end < N_ENDS; end++) {
    guint8 entropy[DCCP_ENTROPY_SIZE] = { 'e', end };

    wire->ends[end] = dccp_endpoint_new (&wire->configs[end], entropy);
    wire->put_at[end] = wire->now;
  }
}

void
dccp_network_clear (DccpNetwork * wire)
{
  DccpEnd end;

  for (end = CLIENT; end < N_ENDS; end++) {
    dccp_endpoint_free (wire->ends[end]);
    g_array_unref (wire->events[end]);
    g_array_unref (wire->received[end]);
  }
  g_array_unref (wire->log);
  g_queue_clear_full (&wire->flights, g_free);
}

void
dccp_network_connect (DccpNetwork * wire)
{
  dccp_endpoint_connect (wire->ends[CLIENT], wire->now, &wire->paths[CLIENT]);
  dccp_network_flush (wire, CLIENT);
}

void
dccp_network_open (DccpNetwork * wire)
{
  dccp_network_connect (wire);
  dccp_network_run (wire, SECOND / 2);
  g_assert_cmpint (dccp_network_get_state (wire, CLIENT), ==, DCCP_STATE_OPEN);
  g_assert_cmpint (dccp_network_get_state (wire, SERVER), ==, DCCP_STATE_OPEN);
}

void
dccp_network_set_iss (DccpNetwork * wire, DccpEnd end, guint64 iss)
{
  DccpEndpoint *endpoint = wire->ends[end];

  if (end == CLIENT) {
    endpoint->next_iss = iss;
    return;
  }
  g_assert_cmpuint (wire->configs[CLIENT].local_port, !=, 0);
  endpoint->next_iss = 0;
  endpoint->next_iss = (iss - dccp_endpoint_make_iss (endpoint,
          &wire->paths[SERVER], wire->configs[CLIENT].local_port))
      & DCCP_SEQUENCE_MASK;
}

void
dccp_network_close (DccpNetwork * wire, DccpEnd end)
{
  dccp_endpoint_close (wire->ends[end], wire->now);
  dccp_network_flush (wire, end);
}

/* --- what was seen ------------------------------------------------------------- */

DccpConnection *
dccp_network_get (DccpNetwork * wire, DccpEnd end)
{
  DccpEndpoint *endpoint = wire->ends[end];

  if (endpoint->connection)
    return endpoint->connection;
  return endpoint->n_candidates > 0 ? endpoint->candidates[0] : NULL;
}

DccpState
dccp_network_get_state (DccpNetwork * wire, DccpEnd end)
{
  return dccp_endpoint_get_state (wire->ends[end]);
}

guint
dccp_network_count (DccpNetwork * wire, DccpEnd from, DccpType type)
{
  guint i, n = 0;

  for (i = 0; i < wire->log->len; i++) {
    const DccpNetworkEntry *entry =
        &g_array_index (wire->log, DccpNetworkEntry, i);

    n += entry->from == from && entry->packet.type == type;
  }
  return n;
}

const DccpNetworkEntry *
dccp_network_find (DccpNetwork * wire, DccpEnd from, DccpType type, gint n)
{
  guint i;

  if (n < 0)
    n += dccp_network_count (wire, from, type);
  for (i = 0; i < wire->log->len; i++) {
    const DccpNetworkEntry *entry =
        &g_array_index (wire->log, DccpNetworkEntry, i);

    if (entry->from == from && entry->packet.type == type && n-- == 0)
      return entry;
  }
  return NULL;
}

guint
dccp_network_count_events (DccpNetwork * wire, DccpEnd end, DccpEventType type)
{
  guint i, n = 0;

  for (i = 0; i < wire->events[end]->len; i++)
    n += g_array_index (wire->events[end], DccpEvent, i).type == type;
  return n;
}

const DccpEvent *
dccp_network_find_event (DccpNetwork * wire, DccpEnd end, DccpEventType type)
{
  guint i;

  for (i = 0; i < wire->events[end]->len; i++) {
    const DccpEvent *event = &g_array_index (wire->events[end], DccpEvent, i);

    if (event->type == type)
      return event;
  }
  return NULL;
}

const DccpStats *
dccp_network_get_stats (DccpNetwork * wire, DccpEnd end)
{
  dccp_endpoint_get_stats (wire->ends[end], &wire->stats[end]);
  return &wire->stats[end];
}

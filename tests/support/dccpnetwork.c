/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A simulated network between a DCCP client and a DCCP listener in virtual
 * time. It also checks conditions that must always hold, for example that no
 * endpoint sends too fast. dccpnetwork.h describes the functions. */

#include "dccpnetwork.h"

#include <string.h>

#define MAX_AT_ONCE 2000        /* Calls at one time */

typedef struct
{
  guint64 time;
  DccpEnd to;
  gsize size;
  guint8 bytes[];
} Flight;

/* --- conditions that must hold -------------------------------------------- */

/* Checks that no counter has decreased. The fields of DccpStats from
 * `connections` to `option_errors` are all guint64 counters, so a loop can
 * check them one after the other. The counters among the other fields are
 * checked by name. */
static void
check_counters (DccpNetwork * network, DccpEnd end)
{
  DccpStats stats;
  const guint64 *before = &network->stats[end].connections;
  const guint64 *after = &stats.connections;

  dccp_endpoint_get_stats (network->ends[end], &stats);
  for (; after <= &stats.option_errors; before++, after++)
    g_assert_cmpuint (*after, >=, *before);
#define NOT_BACK(name) \
    g_assert_cmpuint (stats.name, >=, network->stats[end].name)
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
  network->stats[end] = stats;
}

/* Returns whether the packet is an answer that DCCP must rate-limit, so that
 * forged packets cannot cause a flood of answers. Every Sync is rate-limited,
 * even a Sync that only checks whether the peer is still there. A Reset is
 * rate-limited if it only answers a packet, for example because the packet
 * belongs to no connection. A Reset that ends a connection is not rate-limited.
 */
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

/* Returns how many Resets the endpoint `from` sent in the last second because a
 * packet arrived for a connection that was already closed. */
static guint
count_last_resets (DccpNetwork * network, DccpEnd from)
{
  const DccpLimiter *limiter = &network->ends[from]->common.last_resets;
  guint i, n = 0;

  for (i = 0; i < MIN (limiter->n, DCCP_ANSWERS_PER_SECOND); i++)
    n += limiter->times[i] + SECOND > network->now;
  return n;
}

static void
check_answers (DccpNetwork * network, DccpEnd from, const DccpPacket * packet)
{
  guint i, n = 0;

  if (!is_answer (packet))
    return;
  for (i = network->log->len; i > 0; i--) {
    const DccpNetworkEntry *entry =
        &g_array_index (network->log, DccpNetworkEntry, i - 1);

    if (entry->time + SECOND <= network->now)
      break;
    n += entry->from == from && entry->packet.type == packet->type
        && is_answer (&entry->packet);
  }
  g_assert_cmpuint (n, <=, DCCP_ANSWERS_PER_SECOND +
      (packet->type == DCCP_SYNC ? 2 : count_last_resets (network, from)));
}

static void
note_rate (DccpNetwork * network, DccpEnd end)
{
  DccpConnection *connection = network->ends[end]->connection;
  DccpCcidSenderState state;

  if (!connection || !connection->halves.sender)
    return;
  dccp_half_connections_get_sender (&connection->halves, &state);
  network->highest[end] = MAX (network->highest[end],
      MAX (state.rate, state.instant_rate));
}

/* Checks that an endpoint does not send data faster than its congestion control
 * allows. The check permits three exceptions, in which a sender may be faster
 * for a short time:
 * - After a pause, the sender may also send the data that it could have sent
 *   during the pause, but at most the data of one round trip (RFC 5348 section
 *   4.6).
 * - The granularity of timers allows the sender to send a packet early, by half
 *   of the granularity.
 * - 1 % is allowed for rounding.
 *
 * A CCID that uses a congestion window may send bursts, so it is not checked.
 */
static void
check_rate (DccpNetwork * network, DccpEnd end, gsize size)
{
  DccpConnection *connection = dccp_network_get (network, end);
  gdouble seconds = (network->now - network->credit_time[end]) / 1e9;
  gdouble *credit = &network->credit[end];
  DccpCcidSenderState state;

  if (network->is_by_window)
    return;
  dccp_half_connections_get_sender (&connection->halves, &state);
  *credit += network->highest[end] * 1.01 * seconds;
  *credit = MIN (*credit, network->highest[end] * state.round_trip / 1e9 +
      2 * size);
  *credit -= size;
  network->credit_time[end] = network->now;
  network->highest[end] = MAX (state.rate, state.instant_rate);
  g_assert_cmpfloat (*credit, >=, -2. * size);
}

/* --- packets -------------------------------------------------------------- */

/* Compares two packets in flight, so that they are sorted by arrival time. If
 * the arrival times are equal, the packets stay in the order in which they were
 * sent. */
static gint
compare (gconstpointer a, gconstpointer b, gpointer unused)
{
  const Flight *x = a, *y = b;

  return x->time <= y->time ? -1 : 1;
}

static void
fly (DccpNetwork * network, DccpEnd to, const guint8 * bytes, gsize size)
{
  Flight *flight = g_malloc (sizeof (Flight) + size);

  flight->time =
      network->now + network->delay + network->extra_delay[OTHER (to)];
  flight->to = to;
  flight->size = size;
  memcpy (flight->bytes, bytes, size);
  g_queue_insert_sorted (&network->flights, flight, compare, NULL);
}

static gboolean
is_lost (DccpNetwork * network, DccpEnd from, const DccpPacket * packet,
    guint8 * bytes, gsize size)
{
  if (network->lose_all[from] > 0) {
    network->lose_all[from]--;
    return TRUE;
  }
  if (network->lose[from][packet->type] > 0) {
    network->lose[from][packet->type]--;
    return TRUE;
  }
  return network->filter
      && !network->filter (network, from, packet, bytes, size);
}

/* Logs a packet that the endpoint `from` sends, and delivers it to the other
 * endpoint after the delay of the network. In two cases, the packet counts as
 * lost, so it is logged but not delivered: a test wants it to be lost, or
 * `path` does not lead to the other endpoint. */
static void
send_packet (DccpNetwork * network, DccpEnd from, const DatagramPath * path,
    guint8 * bytes, gsize size)
{
  DccpNetworkEntry entry = { network->now, from };

  g_assert_cmpint (dccp_packet_parse (&entry.packet, path, bytes, size), ==,
      DCCP_ACCEPTED);
  entry.size = size;
  entry.lost = is_lost (network, from, &entry.packet, bytes, size)
      || !datagram_path_equal (path, &network->paths[from]);
  entry.packet.options = entry.packet.payload = NULL;
  g_array_append_val (network->log, entry);
  check_answers (network, from, &entry.packet);
  if (!entry.lost)
    fly (network, OTHER (from), bytes, size);
}

static void
poll_events (DccpNetwork * network, DccpEnd end)
{
  DccpEvent event;

  while (dccp_endpoint_poll_event (network->ends[end], &event))
    g_array_append_val (network->events[end], event);
}

static void
poll_outputs (DccpNetwork * network, DccpEnd end)
{
  guint8 bytes[DCCP_MAX_CONTROL];
  DatagramPath path;
  gsize size;
  guint n = 0;

  while ((size =
          dccp_endpoint_poll_control (network->ends[end], network->now, &path,
              bytes)) > 0) {
    g_assert_cmpuint (n++, <, MAX_AT_ONCE);
    send_packet (network, end, &path, bytes, size);
  }
}

void
dccp_network_flush (DccpNetwork * network, DccpEnd end)
{
  poll_outputs (network, end);
  poll_events (network, end);
  check_counters (network, end);
  note_rate (network, end);
}

static void
keep_data (DccpNetwork * network, DccpEnd end, const DccpData * data)
{
  guint32 number = 0;

  if (data->size >= sizeof (number))
    memcpy (&number, data->payload, sizeof (number));
  g_array_append_val (network->received[end], number);
  network->last[end] = *data;
  network->last[end].payload = NULL;
}

/* Delivers a packet to the endpoint `to`, as if it came over `path`. The
 * endpoint gets a copy with exactly `size` bytes, so that a memory checker such
 * as AddressSanitizer notices any access beyond them. */
void
dccp_network_inject_from (DccpNetwork * network, DccpEnd to,
    const DatagramPath * path, const guint8 * bytes, gsize size)
{
  guint8 *copy = g_memdup2 (bytes, size);
  DccpData data;

  if (dccp_endpoint_take (network->ends[to], network->now, path, copy, size,
          &data))
    keep_data (network, to, &data);
  g_free (copy);
  dccp_network_flush (network, to);
}

void
dccp_network_inject (DccpNetwork * network, DccpEnd to, const guint8 * bytes,
    gsize size)
{
  dccp_network_inject_from (network, to, &network->paths[to], bytes, size);
}

void
dccp_network_inject_packet (DccpNetwork * network, DccpEnd to,
    const DccpPacket * packet)
{
  DccpConnection *connection = dccp_network_get (network, to);
  guint8 bytes[DCCP_MAX_HEADER + DCCP_NETWORK_MAX_PAYLOAD];
  DatagramPath path = network->paths[to];
  DccpPacket forged = *packet;
  gsize size;

  if (connection && forged.source == 0) {
    forged.source = connection->remote_port;
    forged.destination = connection->local_port;
  }
  forged.extended = TRUE;
  /* The checksum of a DCCP packet covers the source address and the destination
   * address. The forged packet pretends to come from the peer of the endpoint
   * `to`. The source is therefore the remote address of `to`, and the
   * destination is its local address. */
  memcpy (path.local, network->paths[to].remote, sizeof (path.local));
  memcpy (path.remote, network->paths[to].local, sizeof (path.remote));
  size = dccp_packet_write (&forged, &path, bytes);
  g_assert_cmpuint (size, >, 0);
  if (forged.payload_size > 0)
    memcpy (bytes + size, forged.payload, forged.payload_size);
  dccp_network_inject (network, to, bytes, size + forged.payload_size);
}

DccpPacket
dccp_network_next (DccpNetwork * network, DccpEnd to, DccpType type)
{
  DccpConnection *connection = dccp_network_get (network, to);
  DccpPacket packet = {
    .type = type,
    .sequence = dccp_sequence_add (connection->numbers.gsr, 1),
    .acknowledgement = connection->numbers.gss,
    .service_code = DCCP_SERVICE_RTPV,
  };

  return packet;
}

/* --- data ----------------------------------------------------------------- */

static void
put_data (DccpNetwork * network, DccpEnd end)
{
  while (network->sending[end] && network->put_at[end] <= network->now) {
    network->n_put[end]++;
    network->put_at[end] += network->periods[end];
  }
}

static void
send_data (DccpNetwork * network, DccpEnd end)
{
  guint8 bytes[DCCP_MAX_HEADER + DCCP_NETWORK_MAX_PAYLOAD] = { 0 };
  const gsize size = network->sizes[end];
  guint8 payload[DCCP_NETWORK_MAX_PAYLOAD] = { 0 };
  gsize header;

  g_assert_cmpuint (size, <=, DCCP_NETWORK_MAX_PAYLOAD);
  while (network->n_sent[end] < network->n_put[end]
      && dccp_endpoint_next_send (network->ends[end],
          network->now) <= network->now) {
    memcpy (payload, &network->n_sent[end], sizeof (guint32));
    header =
        dccp_endpoint_send (network->ends[end], network->now, payload, size,
        network->n_sent[end] + 1 < network->n_put[end], bytes);
    g_assert_cmpuint (header, >, 0);
    check_rate (network, end, size);
    memcpy (bytes + header, payload, size);
    network->n_sent[end]++;
    send_packet (network, end, &network->paths[end], bytes, header + size);
  }
  dccp_network_flush (network, end);
}

/* --- time ----------------------------------------------------------------- */

static guint64
get_next (DccpNetwork * network, DccpEnd end)
{
  guint64 next = dccp_endpoint_next_wakeup (network->ends[end]);

  if (network->sending[end])
    next = MIN (next, network->put_at[end]);
  if (network->n_sent[end] < network->n_put[end])
    next =
        MIN (next, dccp_endpoint_next_send (network->ends[end], network->now));
  return next;
}

static void
wake (DccpNetwork * network, DccpEnd end)
{
  put_data (network, end);
  if (dccp_endpoint_next_wakeup (network->ends[end]) <= network->now)
    dccp_endpoint_timeout (network->ends[end], network->now);
  dccp_network_flush (network, end);
  send_data (network, end);
}

static void
arrive (DccpNetwork * network)
{
  Flight *flight = g_queue_pop_head (&network->flights);

  dccp_network_inject (network, flight->to, flight->bytes, flight->size);
  g_free (flight);
}

void
dccp_network_run (DccpNetwork * network, guint64 duration)
{
  const guint64 end = network->now + duration;
  guint at_once = 0;

  for (;;) {
    Flight *flight = g_queue_peek_head (&network->flights);
    guint64 next = MIN (get_next (network, CLIENT), get_next (network, SERVER));

    if (flight)
      next = MIN (next, flight->time);
    if (next > end)
      break;
    at_once = next > network->now ? 0 : at_once + 1;
    g_assert_cmpuint (at_once, <, MAX_AT_ONCE);
    network->now = MAX (network->now, next);
    if (flight && flight->time <= network->now)
      arrive (network);
    wake (network, CLIENT);
    wake (network, SERVER);
  }
  network->now = end;
}

/* --- life cycle ----------------------------------------------------------- */

/* The congestion controls (CCIDs) that an endpoint supports in most tests: only
 * CCID 3. */
static const DccpCcid *const only_ccid_3[] = { &dccp_ccid_3, NULL };

void
dccp_network_init (DccpNetwork * network)
{
  DccpEnd end;

  memset (network, 0, sizeof (*network));
  network->delay = 50 * MS;
  network->now = SECOND;
  network->log = g_array_new (FALSE, FALSE, sizeof (DccpNetworkEntry));
  g_queue_init (&network->flights);
  for (end = CLIENT; end < N_ENDS; end++) {
    DatagramPath *path = &network->paths[end];

    dccp_endpoint_config_init (&network->configs[end]);
    network->configs[end].ccids = only_ccid_3;
    path->address_size = 4;
    memcpy (path->local, end == CLIENT ? "\x0a\0\0\1" : "\x0a\0\0\2", 4);
    memcpy (path->remote, end == CLIENT ? "\x0a\0\0\2" : "\x0a\0\0\1", 4);
    path->local_port = end == CLIENT ? 40000 : 6511;
    path->remote_port = end == CLIENT ? 6511 : 40000;
    network->events[end] = g_array_new (FALSE, FALSE, sizeof (DccpEvent));
    network->received[end] = g_array_new (FALSE, FALSE, sizeof (guint32));
    network->periods[end] = 10 * MS;
    network->sizes[end] = 100;
  }
  network->configs[CLIENT].remote_port = DCCP_NETWORK_PORT;
  network->configs[SERVER].local_port = DCCP_NETWORK_PORT;
  network->configs[SERVER].is_listener = TRUE;
}

void
dccp_network_begin (DccpNetwork * network)
{
  DccpEnd end;

  for (end = CLIENT; end < N_ENDS; end++) {
    guint8 entropy[DCCP_ENTROPY_SIZE] = { 'e', end };

    network->ends[end] = dccp_endpoint_new (&network->configs[end], entropy);
    network->put_at[end] = network->now;
  }
}

void
dccp_network_clear (DccpNetwork * network)
{
  DccpEnd end;

  for (end = CLIENT; end < N_ENDS; end++) {
    dccp_endpoint_free (network->ends[end]);
    g_array_unref (network->events[end]);
    g_array_unref (network->received[end]);
  }
  g_array_unref (network->log);
  g_queue_clear_full (&network->flights, g_free);
}

void
dccp_network_connect (DccpNetwork * network)
{
  dccp_endpoint_connect (network->ends[CLIENT], network->now,
      &network->paths[CLIENT]);
  dccp_network_flush (network, CLIENT);
}

void
dccp_network_open (DccpNetwork * network)
{
  dccp_network_connect (network);
  dccp_network_run (network, SECOND / 2);
  g_assert_cmpint (dccp_network_get_state (network, CLIENT), ==,
      DCCP_STATE_OPEN);
  g_assert_cmpint (dccp_network_get_state (network, SERVER), ==,
      DCCP_STATE_OPEN);
}

void
dccp_network_set_iss (DccpNetwork * network, DccpEnd end, guint64 iss)
{
  DccpEndpoint *endpoint = network->ends[end];

  if (end == CLIENT) {
    endpoint->secrets.next_iss = iss;
    return;
  }
  g_assert_cmpuint (network->configs[CLIENT].local_port, !=, 0);
  endpoint->secrets.next_iss = 0;
  endpoint->secrets.next_iss = (iss - dccp_secrets_make_iss
      (&endpoint->secrets, endpoint->common.stats.connections,
          &network->paths[SERVER], endpoint->common.config.local_port,
          network->configs[CLIENT].local_port)) & DCCP_SEQUENCE_MASK;
}

void
dccp_network_close (DccpNetwork * network, DccpEnd end)
{
  dccp_endpoint_close (network->ends[end], network->now);
  dccp_network_flush (network, end);
}

/* --- inspection ----------------------------------------------------------- */

DccpConnection *
dccp_network_get (DccpNetwork * network, DccpEnd end)
{
  DccpEndpoint *endpoint = network->ends[end];

  if (endpoint->connection)
    return endpoint->connection;
  return endpoint->listener && endpoint->listener->n_candidates > 0 ?
      endpoint->listener->candidates[0] : NULL;
}

DccpState
dccp_network_get_state (DccpNetwork * network, DccpEnd end)
{
  return dccp_endpoint_get_state (network->ends[end]);
}

guint
dccp_network_count (DccpNetwork * network, DccpEnd from, DccpType type)
{
  guint i, n = 0;

  for (i = 0; i < network->log->len; i++) {
    const DccpNetworkEntry *entry =
        &g_array_index (network->log, DccpNetworkEntry, i);

    n += entry->from == from && entry->packet.type == type;
  }
  return n;
}

const DccpNetworkEntry *
dccp_network_find (DccpNetwork * network, DccpEnd from, DccpType type, gint n)
{
  guint i;

  if (n < 0)
    n += dccp_network_count (network, from, type);
  for (i = 0; i < network->log->len; i++) {
    const DccpNetworkEntry *entry =
        &g_array_index (network->log, DccpNetworkEntry, i);

    if (entry->from == from && entry->packet.type == type && n-- == 0)
      return entry;
  }
  return NULL;
}

guint
dccp_network_count_events (DccpNetwork * network, DccpEnd end,
    DccpEventType type)
{
  guint i, n = 0;

  for (i = 0; i < network->events[end]->len; i++)
    n += g_array_index (network->events[end], DccpEvent, i).type == type;
  return n;
}

const DccpEvent *
dccp_network_find_event (DccpNetwork * network, DccpEnd end, DccpEventType type)
{
  guint i;

  for (i = 0; i < network->events[end]->len; i++) {
    const DccpEvent *event =
        &g_array_index (network->events[end], DccpEvent, i);

    if (event->type == type)
      return event;
  }
  return NULL;
}

const DccpStats *
dccp_network_get_stats (DccpNetwork * network, DccpEnd end)
{
  dccp_endpoint_get_stats (network->ends[end], &network->stats[end]);
  return &network->stats[end];
}

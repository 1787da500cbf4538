/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Attacks on a DCCP connection by an off-path attacker (RFC 4340 section 18).
 * This attacker knows the addresses and ports of the connection, but must guess
 * its sequence numbers. A connection under attack must deliver the same data at
 * the same rate as without the attack. The number of answers that the attacker
 * can cause is limited. No answer is larger than the packet that caused it.
 */

#include <gst/check/gstcheck.h>

#include <string.h>

#include "dccppacketbuilder.h"
#include "dccpnetwork.h"

#define DURATION (10 * SECOND)

typedef struct _Attack Attack;

struct _Attack
{
  /* The function that sends the attacker's packets. It is called each
   * millisecond; NULL if there is no attacker. */
  void (*attack) (Attack * self);
  guint32 state;                /* state of the random numbers */
  guint n;                      /* packets of the attacker */
  /* Number of Syncs and Resets that the endpoints sent immediately as answers
   * to packets of the attacker */
  guint answers;
};

static DccpNetwork network;

static guint64
draw (Attack * self)
{
  return dccp_builder_draw (&self->state);
}

/* Delivers `packet` to endpoint `to`, as a packet of the attacker. If the
 * endpoint sends a Sync or a Reset at once, this is an answer. The answer must
 * not be larger than `packet`. A Reset must not be answered with a Reset. */
static void
inject (Attack * self, DccpEnd to, const DccpPacket * packet)
{
  /* The options of a packet are padded to a multiple of four bytes. */
  const gsize size = packet->payload_size + (packet->options_size + 3) / 4 * 4
      + dccp_type_get_header_size (packet->type, TRUE);
  guint i = network.log->len;

  dccp_network_inject_packet (&network, to, packet);
  self->n++;
  for (; i < network.log->len; i++) {
    const DccpNetworkEntry *answer =
        &g_array_index (network.log, DccpNetworkEntry, i);

    if (answer->packet.type != DCCP_RESET && answer->packet.type != DCCP_SYNC)
      continue;
    self->answers++;
    fail_unless (answer->size <= size);
    fail_if (answer->packet.type == DCCP_RESET && packet->type == DCCP_RESET);
  }
}

static void
run (Attack * self)
{
  const guint64 end = network.now + DURATION;

  self->state = 1;
  dccp_network_connect (&network);
  network.sending[CLIENT] = TRUE;
  while (network.now < end) {
    dccp_network_run (&network, MS);
    if (self->attack)
      self->attack (self);
  }
  network.sending[CLIENT] = FALSE;
  dccp_network_run (&network, SECOND);
}

typedef struct
{
  guint sent, received;
  guint64 rate, feedback, connections;
} Outcome;

static void
judge (Outcome * outcome)
{
  const DccpStats *stats = dccp_network_get_stats (&network, CLIENT);

  outcome->sent = network.n_sent[CLIENT];
  outcome->received = network.received[SERVER]->len;
  outcome->rate = stats->rate;
  outcome->feedback = stats->feedback_received;
  assert_equals_float (stats->loss_event_rate, 0);
  stats = dccp_network_get_stats (&network, SERVER);
  assert_equals_uint64 (stats->loss_events, 0);
  outcome->connections = stats->connections;
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_OPEN);
  assert_equals_int (dccp_network_get_state (&network, SERVER),
      DCCP_STATE_OPEN);
}

static void
assert_unmoved (void (*attack) (Attack * self))
{
  Attack nobody = { NULL }, somebody = { attack };
  Outcome without, with;
  guint i;

  dccp_network_init (&network);
  dccp_network_begin (&network);
  run (&nobody);
  judge (&without);
  dccp_network_clear (&network);
  dccp_network_init (&network);
  dccp_network_begin (&network);
  run (&somebody);
  judge (&with);
  fail_unless (somebody.n > 5000);
  assert_equals_int (with.sent, without.sent);
  assert_equals_int (with.received, without.received);
  assert_equals_int (with.received, with.sent);
  for (i = 0; i < with.received; i++)
    assert_equals_int (g_array_index (network.received[SERVER], guint32, i), i);
  assert_equals_uint64 (with.connections, 1);
  /* A forged packet may make an endpoint send a Sync as an answer. The next
   * feedback packet of this endpoint may then be delayed by one packet
   * interval, the time between two consecutive data packets. The time at which
   * feedback is due depends on the time of the last feedback, so the delay
   * shifts all later feedback packets, too. The number of feedback packets in
   * the run with the attack may therefore differ slightly from the number in
   * the run without the attack. */
  fail_unless (ABS ((gint64) (with.feedback - without.feedback)) <= 5);
  fail_unless (ABS ((gdouble) with.rate - (gdouble) without.rate) <=
      0.02 * without.rate, "%" G_GUINT64_FORMAT " instead of %"
      G_GUINT64_FORMAT, with.rate, without.rate);
  /* Each of the two endpoints sends at most eight Syncs and eight Resets per
   * second. The run lasts ten seconds. It may begin and end in the middle of a
   * second, so the limit for eleven seconds applies. */
  fail_unless (somebody.answers <= 2 * 2 * 8 * 11, "%u answers",
      somebody.answers);
  dccp_network_clear (&network);
}

/* --- guessed numbers ------------------------------------------------------ */

static DccpPacket
draw_packet (Attack * self)
{
  return dccp_build_packet (&self->state);
}

static void
guess (Attack * self)
{
  DccpEnd end;

  for (end = CLIENT; end < N_ENDS; end++) {
    DccpPacket packet = draw_packet (self);

    /* The client is attacked all the time, also during the handshake. The
     * server is attacked only while the connection is open. */
    if (end == CLIENT
        || dccp_network_get_state (&network, end) == DCCP_STATE_OPEN)
      inject (self, end, &packet);
  }
}

GST_START_TEST (random_numbers_change_nothing)
{
  assert_unmoved (guess);
}

GST_END_TEST;

/* --- near misses ---------------------------------------------------------- */

/* Sends one forged packet. Either its sequence number or its acknowledgement
 * number is just outside the window of valid numbers. The other number is
 * valid. */
static void
miss (Attack * self)
{
  DccpEnd end = draw (self) % N_ENDS;
  DccpConnection *connection = dccp_network_get (&network, end);
  DccpPacket packet;

  if (!connection || connection->state != DCCP_STATE_OPEN)
    return;
  packet = draw_packet (self);
  packet.sequence = dccp_sequence_add (connection->numbers.gsr, 1);
  packet.acknowledgement = connection->numbers.gss;
  if (!dccp_type_has_acknowledgement (packet.type) || draw (self) % 2)
    packet.sequence = dccp_sequence_add (connection->numbers.gsr,
        draw (self) % 2 ? 7501 : -2500);
  else
    packet.acknowledgement = dccp_sequence_add (draw (self) % 2 ?
        connection->numbers.gss : connection->numbers.iss,
        draw (self) % 2 ? 10001 : -10001);
  inject (self, end, &packet);
}

GST_START_TEST (near_misses_change_nothing)
{
  assert_unmoved (miss);
}

GST_END_TEST;

/* --- a Request without an answer ------------------------------------------ */

/* Returns an acknowledgement number for a forged packet: a sequence number that
 * the client has never sent. It is the number before the client's first one,
 * the number after its last one, or a random number. */
static guint64
draw_unsent (Attack * self)
{
  const DccpConnection *client = dccp_network_get (&network, CLIENT);

  switch (draw (self) % 4) {
    case 0:
      return dccp_sequence_add (client->numbers.iss, -1);
    case 1:
      return dccp_sequence_add (client->numbers.gss, 1);
    default:
      return draw (self);
  }
}

static void
begin_unanswered (void)
{
  dccp_network_init (&network);
  dccp_network_begin (&network);
  network.lose_all[SERVER] = G_MAXINT;
  dccp_network_connect (&network);
}

/* The client has sent a Request and waits for the Response. The attacker sends
 * 10,000 forged packets in one second, and half of them are Resets. The client
 * must stay in the state REQUEST. When the server's packets arrive again, the
 * client must connect. */
GST_START_TEST (off_path_attacker_cannot_end_a_request)
{
  Attack self = {.state = 1 };
  guint i;

  begin_unanswered ();
  for (i = 0; i < 10000; i++) {
    DccpPacket packet = draw_packet (&self);

    if (i % 2)
      packet.type = DCCP_RESET;
    packet.acknowledgement = draw_unsent (&self);
    dccp_network_run (&network, SECOND / 10000);
    inject (&self, CLIENT, &packet);
  }
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_REQUEST);
  assert_equals_int (network.events[CLIENT]->len, 0);
  network.lose_all[SERVER] = 0;
  dccp_network_run (&network, 5 * SECOND);
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_OPEN);
  dccp_network_clear (&network);
}

GST_END_TEST;

/* An on-path attacker sees the sequence numbers, so a forged Reset with the
 * right number ends the connection. RFC 4340 has no authentication (section
 * 18), so the endpoints cannot prevent this. docs/dccp-thin.md says so, too. */
GST_START_TEST (on_path_attacker_can_end_a_request)
{
  DccpPacket reset = {.type = DCCP_RESET,.sequence = 1,
    .reset_code = DCCP_RESET_CONNECTION_REFUSED
  };

  begin_unanswered ();
  reset.acknowledgement = dccp_network_get (&network, CLIENT)->numbers.gss;
  dccp_network_inject_packet (&network, CLIENT, &reset);
  assert_equals_int (dccp_network_count_events (&network, CLIENT,
          DCCP_EVENT_RESET), 1);
  dccp_network_clear (&network);
}

GST_END_TEST;

/* --- unknown hosts -------------------------------------------------------- */

static void
come_from_elsewhere (Attack * self)
{
  guint8 bytes[DCCP_MAX_HEADER + 64] = { 0 };
  DccpPacket packet = draw_packet (self);
  DatagramPath path = network.paths[SERVER];
  const guint before = network.log->len;
  gsize size;

  if (dccp_network_get_state (&network, SERVER) != DCCP_STATE_OPEN)
    return;
  path.remote[2] = draw (self);
  path.remote_port = draw (self);
  packet.source = draw (self);
  packet.destination = draw (self) % 4 ? DCCP_NETWORK_PORT : draw (self);
  if (draw (self) % 2)
    packet.type = DCCP_REQUEST;
  size = dccp_packet_write (&packet, &path, bytes) + packet.payload_size;
  dccp_network_inject_from (&network, SERVER, &path, bytes, size);
  self->n++;
  self->answers += network.log->len - before;
  if (network.log->len > before)
    fail_unless (size >= g_array_index (network.log, DccpNetworkEntry,
            before).size || packet.type == DCCP_REQUEST);
}

GST_START_TEST (unknown_hosts_change_nothing)
{
  assert_unmoved (come_from_elsewhere);
}

GST_END_TEST;

/* Sends a forged Request to the server, with the client's address and port,
 * while the client is connected. */
static void
ask_again (Attack * self)
{
  DccpPacket packet = draw_packet (self);

  packet.type = DCCP_REQUEST;
  if (dccp_network_get_state (&network, SERVER) == DCCP_STATE_OPEN)
    inject (self, SERVER, &packet);
}

GST_START_TEST (requests_in_its_name_change_nothing)
{
  assert_unmoved (ask_again);
}

GST_END_TEST;

/* --- floods --------------------------------------------------------------- */

/* No client is connected. A listener receives forged Requests from two
 * networks. It must not keep more than DCCP_MAX_CANDIDATES half-open
 * connections. The number of its Responses must not exceed the sum of these
 * numbers:
 * - for each network, a burst of 100 Responses, and then 100 per second;
 * - 16 per second for all half-open connections together. */
GST_START_TEST (flood_of_requests_has_bounded_answers)
{
  Attack self = {.state = 1 };
  guint i, responses;
  const guint n_networks = 2;

  dccp_network_init (&network);
  dccp_network_begin (&network);
  for (i = 0; i < 20000; i++) {
    guint8 bytes[DCCP_MAX_HEADER];
    DatagramPath path = network.paths[SERVER];
    DccpPacket packet = {
      .type = DCCP_REQUEST,.extended = TRUE,.source = draw (&self),
      .destination = DCCP_NETWORK_PORT,.sequence = draw (&self),
      .service_code = DCCP_SERVICE_RTPV
    };

    path.remote[1] = 100 + i % n_networks;
    dccp_network_inject_from (&network, SERVER, &path, bytes,
        dccp_packet_write (&packet, &path, bytes));
    fail_unless (network.ends[SERVER]->listener->n_candidates <=
        DCCP_MAX_CANDIDATES);
    dccp_network_run (&network, MS / 2);
  }
  responses = dccp_network_count (&network, SERVER, DCCP_RESPONSE);
  fail_unless (responses <= 11 * (DCCP_MAX_CANDIDATES + n_networks * 100),
      "%u", responses);
  assert_equals_int (network.log->len, responses);
  /* After the attack, a client must be able to connect. */
  dccp_network_run (&network, 2 * SECOND);
  dccp_network_open (&network);
  dccp_network_clear (&network);
}

GST_END_TEST;

/* An attacker sends 10,000 forged Requests per second to a listener that has
 * never had a connection. At the same time, 200 clients try to connect. While a
 * client has no Response, it repeats its Request at the intervals of RFC 4340
 * section 8.1.1. Each client must receive a Response. */
#define FLOOD_RATE 10           /* each ms */
/* Time in ms for which the attack goes on after the last client has begun to
 * connect */
#define FLOOD_TIME 5000
#define N_CLIENTS 200

typedef struct
{
  DccpEndpoint *endpoint;
  /* Addresses and ports of the client and of the listener, as two paths. In
   * `path`, the local address is that of the client. In `back`, the local
   * address is that of the listener. */
  DatagramPath path, back;
} Client;

typedef struct
{
  Attack attack;
  DccpEndpoint *listener;
  guint64 now;
  Client clients[N_CLIENTS];
  /* Index of the only client whose Acks reach the listener; N_CLIENTS if there
   * is no such client */
  guint allowed;
  guint answers;
  gsize bytes;                  /* of the answers */
} Flood;

static void
set_address (DatagramPath * path, guint32 local, guint32 remote)
{
  local = GUINT32_TO_BE (local);
  remote = GUINT32_TO_BE (remote);
  memset (path, 0, sizeof (*path));
  path->address_size = 4;
  memcpy (path->local, &local, 4);
  memcpy (path->remote, &remote, 4);
  path->local_port = path->remote_port = 6511;
}

#define LISTENER 0x0a000001

static void
flood_init (Flood * self)
{
  DccpEndpointConfig config;
  guint8 entropy[DCCP_ENTROPY_SIZE] = { 1 };
  guint i;

  memset (self, 0, sizeof (*self));
  self->attack.state = 1;
  self->now = SECOND;
  self->allowed = N_CLIENTS;
  dccp_endpoint_config_init (&config);
  config.is_listener = TRUE;
  config.local_port = DCCP_NETWORK_PORT;
  self->listener = dccp_endpoint_new (&config, entropy);
  config.is_listener = FALSE;
  config.local_port = 0;
  config.remote_port = DCCP_NETWORK_PORT;
  for (i = 0; i < N_CLIENTS; i++) {
    const guint32 address = 0x64400007 + (i << 8);

    entropy[1] = i;
    self->clients[i].endpoint = dccp_endpoint_new (&config, entropy);
    set_address (&self->clients[i].path, address, LISTENER);
    set_address (&self->clients[i].back, LISTENER, address);
  }
}

static void
flood_clear (Flood * self)
{
  guint i;

  for (i = 0; i < N_CLIENTS; i++)
    dccp_endpoint_free (self->clients[i].endpoint);
  dccp_endpoint_free (self->listener);
}

static void
inject_requests (Flood * self, gboolean from_one_prefix)
{
  guint8 bytes[DCCP_MAX_HEADER];
  DatagramPath path;
  DccpData data;
  guint i;

  for (i = 0; i < FLOOD_RATE; i++) {
    const guint32 drawn = draw (&self->attack);
    DccpPacket packet = {
      .type = DCCP_REQUEST,.extended = TRUE,.source = drawn >> 8,
      .destination = DCCP_NETWORK_PORT,.sequence = draw (&self->attack),
      .service_code = DCCP_SERVICE_RTPV
    };

    set_address (&path, LISTENER,
        from_one_prefix ? 0xcb007100 | (drawn & 0xff) : drawn);
    dccp_endpoint_take (self->listener, self->now, &path, bytes,
        dccp_packet_write (&packet, &path, bytes), &data);
  }
}

/* Runs the client with index `i`, and passes its packets to the listener. In
 * this test, each client must get an answer from the listener. However, the
 * first Ack that arrives at the listener opens a connection, and then the
 * listener no longer answers the other clients. The test therefore discards the
 * Acks that clients send after a Response. Only the Acks of the client
 * `allowed` reach the listener. */
static void
run_client (Flood * self, guint i)
{
  Client *client = &self->clients[i];
  guint8 bytes[DCCP_MAX_CONTROL];
  DatagramPath path;
  DccpData data;
  gsize size;

  dccp_endpoint_timeout (client->endpoint, self->now);
  while ((size = dccp_endpoint_poll_control (client->endpoint, self->now, &path,
              bytes)) > 0)
    if (i == self->allowed
        || dccp_endpoint_get_state (client->endpoint) == DCCP_STATE_REQUEST)
      dccp_endpoint_take (self->listener, self->now, &client->back, bytes,
          size, &data);
}

static void
take_answers (Flood * self)
{
  guint8 bytes[DCCP_MAX_CONTROL];
  DatagramPath path;
  DccpData data;
  gsize size;
  guint i;

  while ((size = dccp_endpoint_poll_control (self->listener, self->now, &path,
              bytes)) > 0) {
    self->answers++;
    self->bytes += size;
    for (i = 0; i < N_CLIENTS; i++)
      if (datagram_path_equal (&self->clients[i].back, &path))
        dccp_endpoint_take (self->clients[i].endpoint, self->now,
            &self->clients[i].path, bytes, size, &data);
  }
}

static void
run_flood (Flood * self, guint ms, gboolean from_one_prefix)
{
  guint i;

  for (; ms > 0; ms--) {
    self->now += MS;
    inject_requests (self, from_one_prefix);
    dccp_endpoint_timeout (self->listener, self->now);
    take_answers (self);
    for (i = 0; i < N_CLIENTS; i++)
      run_client (self, i);
    take_answers (self);
    fail_unless (self->listener->listener->n_candidates <= DCCP_MAX_CANDIDATES);
  }
}

GST_START_TEST (flood_of_requests_keeps_no_client_out)
{
  guint i, without = 0;
  DccpEndpoint *last;
  Flood flood;

  flood_init (&flood);
  run_flood (&flood, 1000, __i__);
  for (i = 0; i < N_CLIENTS; i++) {
    dccp_endpoint_connect (flood.clients[i].endpoint, flood.now,
        &flood.clients[i].path);
    run_flood (&flood, 10, __i__);
  }
  run_flood (&flood, FLOOD_TIME, __i__);
  for (i = 0; i < N_CLIENTS; i++)
    without += dccp_endpoint_get_state (flood.clients[i].endpoint) !=
        DCCP_STATE_PARTOPEN;
  fail_unless (without == 0, "%u of %u clients have no Response", without,
      N_CLIENTS);
  /* From now on, the Acks of the last client reach the listener. Its next Ack
   * must open the connection. */
  flood.allowed = N_CLIENTS - 1;
  run_flood (&flood, 2000, __i__);
  assert_equals_int (dccp_endpoint_get_state (flood.listener), DCCP_STATE_OPEN);
  last = flood.clients[flood.allowed].endpoint;
  assert_equals_int (dccp_endpoint_get_state (last), DCCP_STATE_OPEN);
  flood_clear (&flood);
}

GST_END_TEST;

/* A listener receives 1000 forged Requests per second, all with the same
 * addresses and ports, and with ascending sequence numbers. The listener must
 * keep only one half-open connection, and must send at most eight Responses per
 * second. */
GST_START_TEST (flood_of_a_half_open_flow_has_few_answers)
{
  guint i;

  dccp_network_init (&network);
  dccp_network_begin (&network);
  for (i = 0; i < 10000; i++) {
    DccpPacket packet = {
      .type = DCCP_REQUEST,.source = 1,.destination = DCCP_NETWORK_PORT,
      .sequence = i,.service_code = DCCP_SERVICE_RTPV
    };

    dccp_network_inject_packet (&network, SERVER, &packet);
    dccp_network_run (&network, MS);
  }
  assert_equals_int (network.ends[SERVER]->listener->n_candidates, 1);
  fail_unless (dccp_network_count (&network, SERVER, DCCP_RESPONSE) <= 11 * 8);
  fail_unless (dccp_network_get_stats (&network,
          SERVER)->answers_suppressed > 9000);
  dccp_network_clear (&network);
}

GST_END_TEST;

/* The listener receives invalid Requests of two kinds:
 * - The Requests with odd numbers have a Mandatory option before an option that
 *   demands CCID 2. The listener must answer the first eight of them with a
 *   Reset.
 * - The Requests with even numbers have only two Mandatory options. They are
 *   shorter than a Reset, so the listener must not answer them.
 */
GST_START_TEST (flood_of_requests_that_cannot_be_has_few_answers)
{
  guint i;

  dccp_network_init (&network);
  dccp_network_begin (&network);
  for (i = 0; i <= 100; i++) {
    DccpPacket packet = {
      .type = DCCP_REQUEST,.source = i + 1,.destination = DCCP_NETWORK_PORT,
      .sequence = i,.service_code = DCCP_SERVICE_RTPV,
      .options = (const guint8 *) (i % 2 ? "\1\40\4\1\2" : "\1\1"),
      .options_size = i % 2 ? 5 : 2
    };

    dccp_network_inject_packet (&network, SERVER, &packet);
    if (i % 2 == 0)
      assert_equals_int (dccp_network_count (&network, SERVER, DCCP_RESET),
          i / 2 < 8 ? i / 2 : 8);
  }
  assert_equals_int (dccp_network_get_state (&network, SERVER),
      DCCP_STATE_LISTEN);
  assert_equals_int (network.log->len, 8);
  assert_equals_uint64 (dccp_network_get_stats (&network,
          SERVER)->refused[DCCP_REFUSED_OPTION], 101);
  dccp_network_clear (&network);
}

GST_END_TEST;

GST_START_TEST (resets_are_never_answered_by_resets)
{
  Attack self = {.state = 1 };
  guint i;

  dccp_network_init (&network);
  dccp_network_begin (&network);
  for (i = 0; i < 1000; i++) {
    DccpPacket packet = draw_packet (&self);

    packet.type = DCCP_RESET;
    packet.source = 1;
    packet.destination = i % 2 ? DCCP_NETWORK_PORT : 2;
    dccp_network_inject_packet (&network, i % 3 ? SERVER : CLIENT, &packet);
  }
  assert_equals_int (network.log->len, 0);
  assert_equals_uint64 (dccp_network_get_stats (&network,
          SERVER)->refused[DCCP_REFUSED_FLOW], 666);
  dccp_network_clear (&network);
}

GST_END_TEST;

static Suite *
dccpattack_suite (void)
{
  Suite *suite = suite_create ("dccpattack");
  TCase *unmoved = tcase_create ("unmoved");
  TCase *floods = tcase_create ("floods");

  suite_add_tcase (suite, unmoved);
  tcase_add_test (unmoved, random_numbers_change_nothing);
  tcase_add_test (unmoved, near_misses_change_nothing);
  tcase_add_test (unmoved, off_path_attacker_cannot_end_a_request);
  tcase_add_test (unmoved, on_path_attacker_can_end_a_request);
  tcase_add_test (unmoved, unknown_hosts_change_nothing);
  tcase_add_test (unmoved, requests_in_its_name_change_nothing);
  suite_add_tcase (suite, floods);
  tcase_add_test (floods, flood_of_requests_has_bounded_answers);
  tcase_add_loop_test (floods, flood_of_requests_keeps_no_client_out, 0, 2);
  tcase_add_test (floods, flood_of_a_half_open_flow_has_few_answers);
  tcase_add_test (floods, flood_of_requests_that_cannot_be_has_few_answers);
  tcase_add_test (floods, resets_are_never_answered_by_resets);
  return suite;
}

GST_CHECK_MAIN (dccpattack);

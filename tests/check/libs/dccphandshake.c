/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the handshake that opens a DCCP connection (RFC 4340 section 8.1).
 * In some tests, packets of the handshake are lost, duplicated or late. In
 * others, an endpoint refuses the connection, or the peer negotiates as Linux
 * does.
 */

#include <gst/check/gstcheck.h>

#include <string.h>

#include "ccid3options.h"
#include "dccpnetwork.h"

static DccpNetwork network;

static void
setup (void)
{
  dccp_network_init (&network);
}

static void
teardown (void)
{
  dccp_network_clear (&network);
}

static void
assert_open (void)
{
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_OPEN);
  assert_equals_int (dccp_network_get_state (&network, SERVER),
      DCCP_STATE_OPEN);
  assert_equals_int (dccp_network_count_events (&network, CLIENT,
          DCCP_EVENT_CONNECTED), 1);
  assert_equals_int (dccp_network_count_events (&network, SERVER,
          DCCP_EVENT_CONNECTED), 1);
}

/* Returns the time in ns from the first Request until `from` has sent its n-th
 * packet of the type `type`. The first packet of a type has the number 0. */
static guint64
get_time (DccpEnd from, DccpType type, guint n)
{
  const DccpNetworkEntry *entry = dccp_network_find (&network, from, type, n);

  fail_unless (entry != NULL);
  return entry->time - g_array_index (network.log, DccpNetworkEntry, 0).time;
}

GST_START_TEST (three_packets_open_a_connection)
{
  const DccpNetworkEntry *request, *response, *ack;

  dccp_network_begin (&network);
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_CLOSED);
  assert_equals_int (dccp_network_get_state (&network, SERVER),
      DCCP_STATE_LISTEN);
  dccp_network_connect (&network);
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_REQUEST);
  dccp_network_run (&network, 60 * MS);
  assert_equals_int (dccp_network_get_state (&network, SERVER),
      DCCP_STATE_RESPOND);
  assert_equals_int (network.events[SERVER]->len, 0);
  dccp_network_run (&network, 50 * MS);
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_PARTOPEN);
  dccp_network_run (&network, 200 * MS);
  assert_open ();
  request = dccp_network_find (&network, CLIENT, DCCP_REQUEST, 0);
  response = dccp_network_find (&network, SERVER, DCCP_RESPONSE, 0);
  ack = dccp_network_find (&network, CLIENT, DCCP_ACK, 0);
  assert_equals_int (request->packet.service_code, DCCP_SERVICE_RTPV);
  assert_equals_uint64 (response->packet.acknowledgement,
      request->packet.sequence);
  assert_equals_int (response->packet.service_code, DCCP_SERVICE_RTPV);
  assert_equals_uint64 (ack->packet.acknowledgement, response->packet.sequence);
  assert_equals_uint64 (ack->packet.sequence,
      dccp_sequence_add (request->packet.sequence, 1));
  assert_equals_int (dccp_network_count (&network, CLIENT, DCCP_REQUEST), 1);
  assert_equals_int (dccp_network_count (&network, SERVER, DCCP_RESPONSE), 1);
}

GST_END_TEST;

GST_START_TEST (handshake_measures_the_round_trip)
{
  dccp_network_begin (&network);
  dccp_network_open (&network);
  assert_equals_uint64 (dccp_network_get_stats (&network, CLIENT)->round_trip,
      100 * MS);
  assert_equals_uint64 (dccp_network_get_stats (&network, SERVER)->round_trip,
      100 * MS);
}

GST_END_TEST;

GST_START_TEST (handshake_agrees_on_windows)
{
  DccpConnection *connection;
  DccpEnd end;

  network.configs[CLIENT].sequence_window = 20000;
  dccp_network_begin (&network);
  dccp_network_open (&network);
  for (end = CLIENT; end < N_ENDS; end++) {
    connection = dccp_network_get (&network, end);
    assert_equals_uint64 (dccp_features_get (connection->features,
            DCCP_FEATURE_SEQUENCE_WINDOW, end == CLIENT), 20000);
    assert_equals_uint64 (dccp_features_get (connection->features,
            DCCP_FEATURE_SEQUENCE_WINDOW, end == SERVER), 10000);
    fail_unless (dccp_features_are_settled (connection->features));
  }
}

GST_END_TEST;

/* All Requests but the last are lost. The interval between two Requests must be
 * 1 s at first, and then double up to 64 s (section 8.1.1). */
GST_START_TEST (request_is_sent_again)
{
  static const guint seconds[] = { 0, 1, 3, 7, 15, 31, 63, 127, 191 };
  guint i;

  network.lose[CLIENT][DCCP_REQUEST] = G_N_ELEMENTS (seconds) - 1;
  dccp_network_begin (&network);
  dccp_network_connect (&network);
  dccp_network_run (&network, 200 * SECOND);
  for (i = 0; i < G_N_ELEMENTS (seconds); i++)
    assert_equals_uint64 (get_time (CLIENT, DCCP_REQUEST, i),
        seconds[i] * SECOND);
  assert_equals_int (dccp_network_count (&network, CLIENT, DCCP_REQUEST), i);
  assert_open ();
  assert_equals_uint64 (dccp_network_get_stats (&network, CLIENT)->round_trip,
      100 * MS);
}

GST_END_TEST;

GST_START_TEST (client_gives_up_after_eight_minutes)
{
  const DccpNetworkEntry *reset;

  network.lose_all[CLIENT] = G_MAXUINT;
  dccp_network_begin (&network);
  dccp_network_connect (&network);
  dccp_network_run (&network, 479 * SECOND);
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_REQUEST);
  dccp_network_run (&network, 2 * SECOND);
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_CLOSED);
  assert_equals_int (dccp_network_count_events (&network, CLIENT,
          DCCP_EVENT_TIMED_OUT), 1);
  assert_equals_int (network.events[CLIENT]->len, 1);
  assert_equals_uint64 (get_time (CLIENT, DCCP_RESET, 0), 480 * SECOND);
  reset = dccp_network_find (&network, CLIENT, DCCP_RESET, 0);
  assert_equals_int (reset->packet.reset_code, DCCP_RESET_ABORTED);
}

GST_END_TEST;

GST_START_TEST (connect_timeout_may_be_shorter)
{
  network.configs[CLIENT].connect_timeout = 2 * SECOND;
  network.lose_all[CLIENT] = G_MAXUINT;
  dccp_network_begin (&network);
  dccp_network_connect (&network);
  dccp_network_run (&network, 3 * SECOND);
  assert_equals_int (dccp_network_count_events (&network, CLIENT,
          DCCP_EVENT_TIMED_OUT), 1);
  assert_equals_uint64 (get_time (CLIENT, DCCP_RESET, 0), 2 * SECOND);
}

GST_END_TEST;

GST_START_TEST (response_is_sent_for_each_request)
{
  network.lose[SERVER][DCCP_RESPONSE] = 2;
  dccp_network_begin (&network);
  dccp_network_connect (&network);
  dccp_network_run (&network, 5 * SECOND);
  assert_equals_int (dccp_network_count (&network, SERVER, DCCP_RESPONSE), 3);
  assert_open ();
  assert_equals_uint64 (dccp_network_get_stats (&network, CLIENT)->round_trip,
      100 * MS);
}

GST_END_TEST;

GST_START_TEST (client_acknowledges_until_it_hears)
{
  network.lose[CLIENT][DCCP_ACK] = 3;
  dccp_network_begin (&network);
  dccp_network_connect (&network);
  dccp_network_run (&network, 5 * SECOND);
  /* The first three Acks are lost. The client must send its Ack as soon as the
   * Response arrives, and again 200, 600 and 1400 ms later. */
  assert_equals_uint64 (get_time (CLIENT, DCCP_ACK, 0), 100 * MS);
  assert_equals_uint64 (get_time (CLIENT, DCCP_ACK, 1), 300 * MS);
  assert_equals_uint64 (get_time (CLIENT, DCCP_ACK, 2), 700 * MS);
  assert_equals_uint64 (get_time (CLIENT, DCCP_ACK, 3), 1500 * MS);
  assert_open ();
}

GST_END_TEST;

/* PARTOPEN is the state of a client that has acknowledged the Response and has
 * got no answer yet. The server's first two answers are lost. The client must
 * repeat its Ack until an answer arrives. */
GST_START_TEST (server_helps_client_out_of_partopen)
{
  network.lose[SERVER][DCCP_ACK] = 2;
  dccp_network_begin (&network);
  dccp_network_connect (&network);
  dccp_network_run (&network, SECOND / 4);
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_PARTOPEN);
  assert_equals_int (dccp_network_get_state (&network, SERVER),
      DCCP_STATE_OPEN);
  dccp_network_run (&network, 3 * SECOND);
  assert_open ();
  assert_equals_int (dccp_network_count (&network, SERVER, DCCP_SYNC), 0);
}

GST_END_TEST;

/* All Acks of the client are lost for 4 s, so the server does not know whether
 * its Response has arrived. A real client can cause this situation, too: a
 * Linux client without data to send acknowledges the Response only once, and
 * this Ack may be lost. The server must send a Sync after 4 s, and the answer
 * of the client must open the connection. */
GST_START_TEST (server_asks_a_client_that_says_nothing)
{
  network.lose[CLIENT][DCCP_ACK] = G_MAXUINT;
  network.sending[SERVER] = TRUE;
  dccp_network_begin (&network);
  dccp_network_connect (&network);
  dccp_network_run (&network, 4 * SECOND);
  assert_equals_int (dccp_network_get_state (&network, SERVER),
      DCCP_STATE_RESPOND);
  network.lose[CLIENT][DCCP_ACK] = 0;
  dccp_network_run (&network, SECOND);
  assert_equals_int (dccp_network_count (&network, SERVER, DCCP_SYNC), 1);
  assert_equals_uint64 (get_time (SERVER, DCCP_SYNC, 0), 4 * SECOND + 50 * MS);
  assert_open ();
  fail_unless (network.received[CLIENT]->len > 0);
}

GST_END_TEST;

GST_START_TEST (server_asks_at_growing_intervals)
{
  guint i;

  dccp_network_begin (&network);
  dccp_network_connect (&network);
  dccp_network_run (&network, 60 * MS);
  network.lose_all[CLIENT] = G_MAXUINT;
  dccp_network_run (&network, 65 * SECOND);
  assert_equals_int (dccp_network_count (&network, SERVER, DCCP_SYNC), 4);
  for (i = 0; i < 4; i++)
    assert_equals_uint64 (get_time (SERVER, DCCP_SYNC, i),
        (4 * ((2 << i) - 1)) * SECOND + 50 * MS);
}

GST_END_TEST;

/* The first six Responses are lost. A client that has got no Response does not
 * know the connection, so it would answer a Sync with a Reset. The server must
 * therefore send no Sync, only a Response to each Request. */
GST_START_TEST (server_asks_no_client_that_had_no_response)
{
  network.lose[SERVER][DCCP_RESPONSE] = 6;
  dccp_network_begin (&network);
  dccp_network_connect (&network);
  dccp_network_run (&network, 64 * SECOND);
  assert_equals_int (dccp_network_count (&network, SERVER, DCCP_RESPONSE), 7);
  assert_equals_int (dccp_network_count (&network, SERVER, DCCP_SYNC), 0);
  assert_open ();
}

GST_END_TEST;

/* The first three Requests and the first Response are lost. The client
 * therefore waits for a long time before it sends the next Request. Meanwhile,
 * the server sends a Sync. The client has got no Response yet, so it answers
 * the Sync with a Reset (section 8.5, step 4). This Reset must not end the
 * attempt to connect: the next Request must open the connection. */
GST_START_TEST (client_that_asks_later_than_the_server_connects)
{
  network.lose[CLIENT][DCCP_REQUEST] = 3;
  network.lose[SERVER][DCCP_RESPONSE] = 1;
  dccp_network_begin (&network);
  dccp_network_connect (&network);
  dccp_network_run (&network, 14 * SECOND);
  assert_equals_int (dccp_network_count (&network, SERVER, DCCP_SYNC), 1);
  assert_equals_int (dccp_network_count (&network, CLIENT, DCCP_RESET), 1);
  assert_equals_int (dccp_network_get_state (&network, SERVER),
      DCCP_STATE_RESPOND);
  dccp_network_run (&network, 2 * SECOND);
  assert_equals_int (dccp_network_count (&network, SERVER, DCCP_RESPONSE), 2);
  assert_open ();
}

GST_END_TEST;

/* The client's first Ack is lost. The client is then in the state PARTOPEN, in
 * which each packet with data must also acknowledge the Response (RFC 4340
 * section 8.1.5). The data packets must therefore open the connection. */
GST_START_TEST (data_in_partopen_completes_the_handshake)
{
  network.lose[CLIENT][DCCP_ACK] = 1;
  network.sending[CLIENT] = TRUE;
  dccp_network_begin (&network);
  dccp_network_connect (&network);
  dccp_network_run (&network, SECOND);
  assert_open ();
  assert_equals_uint64 (get_time (CLIENT, DCCP_DATA_ACK, 0), 100 * MS);
  fail_unless (dccp_network_count (&network, CLIENT, DCCP_DATA) > 0);
  fail_unless (get_time (CLIENT, DCCP_DATA, 0) >= 200 * MS);
  assert_equals_int (g_array_index (network.received[SERVER], guint32, 0), 0);
  assert_equals_int (dccp_network_count (&network, SERVER, DCCP_SYNC), 0);
}

GST_END_TEST;

typedef struct
{
  guint packets, confirms;
  gsize max_size;
} DataAcks;

static gboolean
is_confirm_of_window (const DccpOption * option)
{
  return option->type == DCCP_OPTION_CONFIRM_R && option->size > 0
      && option->value[0] == DCCP_FEATURE_SEQUENCE_WINDOW;
}

static gboolean
count_confirms (DccpNetwork * self, DccpEnd from, const DccpPacket * packet,
    guint8 * bytes, gsize size)
{
  DataAcks *seen = self->user_data;
  DccpOptionReader reader;
  DccpOption option;

  if (packet->type != DCCP_DATA_ACK)
    return TRUE;
  seen->packets++;
  seen->max_size = MAX (seen->max_size, size);
  dccp_option_reader_init (&reader, packet);
  while (dccp_option_reader_next (&reader, &option))
    seen->confirms += is_confirm_of_window (&option);
  return TRUE;
}

/* The client confirms the server's feature values by Confirm options, but its
 * first Ack with the Confirms is lost. A Linux server resets the connection if
 * a packet without Confirms arrives before the Confirms. The client must
 * therefore add the Confirms to each packet with enough room until it hears
 * from the server. */
GST_START_TEST (confirms_go_until_the_server_is_heard)
{
  const gsize sizes[] = { 100, 0 };     /* 0: all that fits */
  DataAcks seen = { 0 };

  network.user_data = &seen;
  network.filter = count_confirms;
  network.lose[CLIENT][DCCP_ACK] = 1;
  network.sending[CLIENT] = TRUE;
  dccp_network_begin (&network);
  network.sizes[CLIENT] = sizes[__i__] ? sizes[__i__] :
      dccp_endpoint_get_max_payload (network.ends[CLIENT]);
  dccp_network_connect (&network);
  dccp_network_run (&network, SECOND);
  assert_open ();
  fail_unless (seen.packets > 0);
  if (sizes[__i__] > 0)
    assert_equals_int (seen.confirms, seen.packets);
  fail_unless (seen.max_size <= 1500 - 20 - 8);
  fail_unless (dccp_network_count (&network, CLIENT, DCCP_DATA) > 0);
}

GST_END_TEST;

/* Filter of the network that delays the Acks of the client by 30 ms. Data
 * packets that the client sends after an Ack then arrive before it. */
static gboolean
hold_acks (DccpNetwork * self, DccpEnd from, const DccpPacket * packet,
    guint8 * bytes, gsize size)
{
  self->extra_delay[from] = from == CLIENT && packet->type == DCCP_ACK ?
      30 * MS : 0;
  return TRUE;
}

GST_START_TEST (data_may_overtake_the_handshake)
{
  network.filter = hold_acks;
  network.sending[CLIENT] = TRUE;
  dccp_network_begin (&network);
  dccp_network_connect (&network);
  dccp_network_run (&network, SECOND);
  network.sending[CLIENT] = FALSE;
  dccp_network_run (&network, SECOND);
  assert_open ();
  assert_equals_int (network.received[SERVER]->len, network.n_sent[CLIENT]);
  assert_equals_uint64 (dccp_network_get_stats (&network, SERVER)->lost, 0);
  assert_equals_int (dccp_network_count (&network, SERVER, DCCP_SYNC), 0);
}

GST_END_TEST;

/* Filter that duplicates a packet: it injects a copy and returns TRUE, so that
 * the network also delivers the original. */
static gboolean
double_it (DccpNetwork * self, DccpEnd from, const DccpPacket * packet,
    guint8 * bytes, gsize size)
{
  guint8 *copy = g_memdup2 (bytes, size);

  self->filter = NULL;
  dccp_network_inject (self, OTHER (from), copy, size);
  self->filter = double_it;
  g_free (copy);
  return TRUE;
}

GST_START_TEST (doubled_handshake_is_one_connection)
{
  network.filter = double_it;
  dccp_network_begin (&network);
  dccp_network_connect (&network);
  dccp_network_run (&network, 2 * SECOND);
  assert_open ();
  assert_equals_int (dccp_network_get_stats (&network, SERVER)->connections, 1);
}

GST_END_TEST;

/* --- refused connections -------------------------------------------------- */

static void
assert_reset (guint8 code)
{
  const DccpEvent *event;

  event = dccp_network_find_event (&network, CLIENT, DCCP_EVENT_RESET);
  fail_unless (event != NULL);
  assert_equals_int (event->reset_code, code);
  assert_equals_int (dccp_network_count_events (&network, CLIENT,
          DCCP_EVENT_CONNECTED), 0);
}

GST_START_TEST (another_service_is_refused)
{
  network.configs[CLIENT].service_code = DCCP_SERVICE_CODE ('R', 'T', 'P', 'A');
  dccp_network_begin (&network);
  dccp_network_connect (&network);
  dccp_network_run (&network, SECOND);
  assert_reset (DCCP_RESET_BAD_SERVICE_CODE);
  assert_equals_int (dccp_network_get_state (&network, SERVER),
      DCCP_STATE_LISTEN);
  assert_equals_int (network.events[SERVER]->len, 0);
}

GST_END_TEST;

GST_START_TEST (another_port_is_refused)
{
  network.configs[CLIENT].remote_port = 5002;
  dccp_network_begin (&network);
  dccp_network_connect (&network);
  dccp_network_run (&network, SECOND);
  assert_reset (DCCP_RESET_NO_CONNECTION);
}

GST_END_TEST;

/* A client in addition to the one that the simulated network has */
typedef struct
{
  DccpEndpoint *endpoint;
  DatagramPath path, back;
} Client;

static void
client_init (Client * client, guint8 number)
{
  const guint8 entropy[DCCP_ENTROPY_SIZE] = { 'c', number };

  client->endpoint = dccp_endpoint_new (&network.configs[CLIENT], entropy);
  client->path = network.paths[CLIENT];
  client->path.local[3] = number;
  client->back = network.paths[SERVER];
  client->back.remote[3] = number;
  dccp_endpoint_connect (client->endpoint, network.now, &client->path);
}

static void
client_sends (Client * client)
{
  guint8 bytes[DCCP_MAX_CONTROL];
  DatagramPath path;
  gsize size;

  while ((size =
          dccp_endpoint_poll_control (client->endpoint, network.now, &path,
              bytes)) > 0)
    dccp_network_inject_from (&network, SERVER, &client->back, bytes, size);
}

GST_START_TEST (second_client_is_refused)
{
  const DccpEvent *event;
  Client second;

  dccp_network_begin (&network);
  dccp_network_open (&network);
  client_init (&second, 9);
  client_sends (&second);
  event = dccp_network_find_event (&network, SERVER, DCCP_EVENT_REFUSED);
  fail_unless (event != NULL);
  fail_unless (datagram_path_equal (&event->path, &second.back));
  assert_equals_int (dccp_network_find (&network, SERVER, DCCP_RESET,
          0)->packet.reset_code, DCCP_RESET_TOO_BUSY);
  assert_equals_int (dccp_network_get_stats (&network,
          SERVER)->connections_refused, 1);
  assert_open ();
  dccp_endpoint_free (second.endpoint);
}

GST_END_TEST;

/* A half-open connection is one whose client has sent a Request, but has not
 * acknowledged the Response. Twenty clients leave their connections half-open.
 * Another client must nevertheless be able to connect. */
GST_START_TEST (half_open_connections_are_in_nobodys_way)
{
  Client others[20];
  guint i;

  dccp_network_begin (&network);
  for (i = 0; i < G_N_ELEMENTS (others); i++) {
    client_init (&others[i], 100 + i);
    /* The server limits how often it answers the clients of one IP network.
     * Each client therefore gets an address in a different network. */
    others[i].back.remote[0] = i;
    client_sends (&others[i]);
  }
  /* The server stores DCCP_MAX_CANDIDATES half-open connections. It answers the
   * other clients with an Init Cookie and stores nothing about them. */
  assert_equals_int (dccp_network_count (&network, SERVER, DCCP_RESPONSE),
      G_N_ELEMENTS (others));
  assert_equals_int (network.ends[SERVER]->listener->n_candidates,
      DCCP_MAX_CANDIDATES);
  dccp_network_run (&network, 2 * SECOND);
  dccp_network_connect (&network);
  dccp_network_run (&network, SECOND);
  assert_open ();
  /* When the new client is connected, the server refuses the half-open
   * connections by Resets. It must send only DCCP_ANSWERS_PER_SECOND of them.
   */
  assert_equals_int (dccp_network_count (&network, SERVER, DCCP_RESET),
      DCCP_ANSWERS_PER_SECOND);
  assert_equals_int (dccp_network_find (&network, SERVER, DCCP_RESET,
          0)->packet.reset_code, DCCP_RESET_TOO_BUSY);
  for (i = 0; i < G_N_ELEMENTS (others); i++)
    dccp_endpoint_free (others[i].endpoint);
}

GST_END_TEST;

/* --- Init Cookies (section 8.1.4) ----------------------------------------- */

/* Creates as many half-open connections as the server allows for one IP
 * network. Further clients of this network then get an Init Cookie. */
static void
fill_candidates (void)
{
  guint i;

  for (i = 0; i < DCCP_MAX_CANDIDATES_OF_PREFIX; i++) {
    Client other;

    client_init (&other, 100 + i);
    client_sends (&other);
    dccp_endpoint_free (other.endpoint);
  }
  assert_equals_int (network.ends[SERVER]->listener->n_candidates,
      DCCP_MAX_CANDIDATES_OF_PREFIX);
}

typedef struct
{
  guint in_responses, in_acks;  /* packets with a cookie */
  /* Number of the cookie byte that is changed in each Ack with a cookie. The
   * first byte has the number 1; 0 means that no byte is changed. */
  gsize spoil;
  /* additional delay in ns of Acks that contain a cookie */
  guint64 delay;
} Cookies;

static gboolean
watch_cookies (DccpNetwork * self, DccpEnd from, const DccpPacket * packet,
    guint8 * bytes, gsize size)
{
  Cookies *seen = self->user_data;
  DccpOptionReader reader;
  DccpOption option;

  self->extra_delay[from] = 0;
  dccp_option_reader_init (&reader, packet);
  while (dccp_option_reader_next (&reader, &option)) {
    if (option.type != DCCP_OPTION_INIT_COOKIE)
      continue;
    seen->in_responses += packet->type == DCCP_RESPONSE;
    if (packet->type != DCCP_ACK)
      continue;
    seen->in_acks++;
    self->extra_delay[from] = seen->delay;
    if (seen->spoil > 0)
      ((guint8 *) option.value)[(seen->spoil - 1) % option.size] ^= 1;
  }
  return TRUE;
}

static void
begin_with_cookies (Cookies * seen)
{
  network.filter = watch_cookies;
  network.user_data = seen;
  dccp_network_begin (&network);
  fill_candidates ();
  dccp_network_connect (&network);
}

GST_START_TEST (cookie_opens_a_connection)
{
  Cookies seen = { 0 };

  network.configs[CLIENT].sequence_window = 20000;
  network.sending[CLIENT] = TRUE;
  begin_with_cookies (&seen);
  dccp_network_run (&network, 60 * MS);
  assert_equals_int (network.ends[SERVER]->listener->n_candidates,
      DCCP_MAX_CANDIDATES_OF_PREFIX);
  dccp_network_run (&network, 2 * SECOND);
  assert_open ();
  assert_equals_int (seen.in_responses, 1);
  assert_equals_int (seen.in_acks, 1);
  /* The server has not stored the Request of this client. It has restored the
   * contents of the Request from the cookie. The connection must have the same
   * values as if the server had stored the Request.
   */
  assert_equals_uint64 (dccp_network_get_stats (&network, SERVER)->round_trip,
      100 * MS);
  assert_equals_uint64 (dccp_features_get (dccp_network_get (&network,
              SERVER)->features, DCCP_FEATURE_SEQUENCE_WINDOW, FALSE), 20000);
  assert_equals_int (dccp_network_get_stats (&network,
          SERVER)->received[DCCP_REQUEST], DCCP_MAX_CANDIDATES_OF_PREFIX + 1);
  fail_unless (network.received[SERVER]->len > 100);
  assert_equals_int (g_array_index (network.received[SERVER], guint32, 0), 0);
  assert_equals_int (dccp_network_count (&network, SERVER, DCCP_SYNC), 0);
}

GST_END_TEST;

/* The first two Acks are lost. The client must repeat the cookie in each Ack
 * until it receives a packet of the server, so that the connection opens. */
GST_START_TEST (cookie_may_be_lost)
{
  Cookies seen = { 0 };

  network.lose[CLIENT][DCCP_ACK] = 2;
  begin_with_cookies (&seen);
  dccp_network_run (&network, 2 * SECOND);
  assert_open ();
  fail_unless (seen.in_acks >= 1);
}

GST_END_TEST;

/* The server has its maximum number of half-open connections, so it answers the
 * first Request with an Init Cookie. The round trip is so long that the client
 * repeats its Request before the answer arrives. By then, the server may
 * replace an old half-open connection, so it answers the repeated Request
 * without a cookie. The client thus receives two different Responses. The
 * connection must open nevertheless. */
GST_START_TEST (responses_with_and_without_cookie_agree)
{
  Cookies seen = { 0 };

  network.delay = 800 * MS;
  begin_with_cookies (&seen);
  dccp_network_run (&network, 8 * SECOND);
  assert_open ();
  assert_equals_int (seen.in_responses, 1);
  assert_equals_int (dccp_network_count (&network, SERVER, DCCP_RESPONSE),
      DCCP_MAX_CANDIDATES_OF_PREFIX + 2);
}

GST_END_TEST;

static void
assert_not_open (void)
{
  assert_equals_int (dccp_network_get_stats (&network, SERVER)->connections, 0);
  assert_equals_int (dccp_network_count_events (&network, CLIENT,
          DCCP_EVENT_RESET), 1);
}

/* A cookie consists of a time, a sequence number, options and a MAC (message
 * authentication code). The test is repeated, and changes another byte of the
 * cookie each time. The server must refuse the cookie every time. */
GST_START_TEST (spoiled_cookie_is_refused)
{
  Cookies seen = {.spoil = __i__ };

  begin_with_cookies (&seen);
  dccp_network_run (&network, SECOND);
  assert_not_open ();
}

GST_END_TEST;

GST_START_TEST (old_cookie_is_refused)
{
  Cookies seen = {.delay = 16 * SECOND };

  network.configs[CLIENT].idle_timeout = 0;
  begin_with_cookies (&seen);
  dccp_network_run (&network, 17 * SECOND);
  assert_not_open ();
}

GST_END_TEST;

GST_START_TEST (half_open_connection_ends_after_eight_minutes)
{
  Client other;

  dccp_network_begin (&network);
  client_init (&other, 100);
  client_sends (&other);
  dccp_network_run (&network, 479 * SECOND);
  assert_equals_int (dccp_network_get_state (&network, SERVER),
      DCCP_STATE_RESPOND);
  dccp_network_run (&network, 2 * SECOND);
  assert_equals_int (dccp_network_get_state (&network, SERVER),
      DCCP_STATE_LISTEN);
  assert_equals_int (network.events[SERVER]->len, 0);
  dccp_endpoint_free (other.endpoint);
}

GST_END_TEST;

GST_START_TEST (icmp_ends_only_a_request)
{
  dccp_network_begin (&network);
  dccp_network_open (&network);
  dccp_endpoint_unreachable (network.ends[CLIENT], network.now, 0);
  dccp_network_run (&network, SECOND);
  assert_open ();
  dccp_endpoint_abort (network.ends[CLIENT], network.now);
  dccp_network_connect (&network);
  dccp_endpoint_unreachable (network.ends[CLIENT], network.now, 0);
  dccp_network_flush (&network, CLIENT);
  assert_equals_int (dccp_network_count_events (&network, CLIENT,
          DCCP_EVENT_UNREACHABLE), 1);
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_CLOSED);
}

GST_END_TEST;

/* --- peers of other implementations --------------------------------------- */

/* The Request of the client has no options. The Response of the server has
 * Change options, which announce the feature values that the server wants. The
 * first Ack of the client does not confirm these values. As long as the client
 * has not confirmed them, the server must not report the connection to the
 * application. */
GST_START_TEST (server_asks_a_client_without_options)
{
  DccpPacket request = {
    .source = 40001,.destination = DCCP_NETWORK_PORT,.type = DCCP_REQUEST,
    .sequence = 1000,.service_code = DCCP_SERVICE_RTPV
  };
  DccpPacket ack;

  dccp_network_begin (&network);
  dccp_network_inject_packet (&network, SERVER, &request);
  assert_equals_int (dccp_network_count (&network, SERVER, DCCP_RESPONSE), 1);
  ack = dccp_network_next (&network, SERVER, DCCP_ACK);
  dccp_network_inject_packet (&network, SERVER, &ack);
  assert_equals_int (dccp_network_get_state (&network, SERVER),
      DCCP_STATE_OPEN);
  assert_equals_int (dccp_network_count_events (&network, SERVER,
          DCCP_EVENT_CONNECTED), 0);
  fail_unless (dccp_endpoint_next_send (network.ends[SERVER],
          network.now) == DCCP_NEVER);
  ack = dccp_network_next (&network, SERVER, DCCP_ACK);
  /* This Ack confirms CCID 3 in both directions. It has a Confirm R and a
   * Confirm L of the feature CCID. Each of them has the value 3 and a
   * preference list that contains only 3. */
  ack.options = (const guint8 *) "\43\5\1\3\3\41\5\1\3\3";
  ack.options_size = 10;
  dccp_network_inject_packet (&network, SERVER, &ack);
  assert_equals_int (dccp_network_count_events (&network, SERVER,
          DCCP_EVENT_CONNECTED), 1);
}

GST_END_TEST;

/* The test uses the options of a Request that was recorded from Linux 6.1. In
 * the options of the feature CCID, the numbers 3, 2 and 248 are a preference
 * list. The Request has these options:
 * - Timestamp
 * - Change L (CCID; 3, 2, 248)
 * - Change R (CCID; 3, 2, 248)
 * - Mandatory Change L (Allow Short Seqnos, 0)
 *
 * The server must accept a Request with these options. The other fields of the
 * Request are not those of the recording. The service code, for example, is the
 * one that the server of this test expects.
 */
GST_START_TEST (request_of_linux_is_answered)
{
  static const guint8 options[] = { 41, 6, 0x60, 0x87, 0x4b, 0x26,
    32, 6, 1, 3, 2, 248, 34, 6, 1, 3, 2, 248, 1, 32, 4, 2, 0
  };
  DccpPacket request = {
    .source = 40001,.destination = DCCP_NETWORK_PORT,.type = DCCP_REQUEST,
    .sequence = 1000,.service_code = DCCP_SERVICE_RTPV,
    .options = options,.options_size = sizeof (options)
  };
  DccpPacket ack;

  dccp_network_begin (&network);
  dccp_network_inject_packet (&network, SERVER, &request);
  assert_equals_int (dccp_network_count (&network, SERVER, DCCP_RESPONSE), 1);
  assert_equals_int (dccp_network_count (&network, SERVER, DCCP_RESET), 0);
  ack = dccp_network_next (&network, SERVER, DCCP_ACK);
  dccp_network_inject_packet (&network, SERVER, &ack);
  assert_equals_int (dccp_network_count_events (&network, SERVER,
          DCCP_EVENT_CONNECTED), 1);
}

GST_END_TEST;

static guint8 captured[2000];
static gsize captured_size;

static gboolean
capture (DccpNetwork * self, DccpEnd from, const DccpPacket * packet,
    guint8 * bytes, gsize size)
{
  if (from == CLIENT) {
    memcpy (captured, bytes, size);
    captured_size = size;
  }
  return FALSE;
}

static gboolean
confirms (guint8 type, DccpFeature feature)
{
  DccpOptionReader reader;
  DccpOption option;
  DccpPacket packet;

  assert_equals_int (dccp_packet_parse (&packet, &network.paths[CLIENT],
          captured, captured_size), DCCP_ACCEPTED);
  dccp_option_reader_init (&reader, &packet);
  while (dccp_option_reader_next (&reader, &option))
    if (option.type == type && option.size > 1 && option.value[0] == feature)
      return TRUE;
  return FALSE;
}

/* `options` are those of a recorded Response of Linux 6.1 to a Request of this
 * project. Linux expects a Confirm for each Change in the Response. Without the
 * Confirms, it resets the connection when the first data arrive. The client
 * must therefore send all of them. `feedback` is a congestion report of Linux,
 * which has neither Loss Intervals nor Elapsed Time. The client must accept
 * such reports. */
GST_START_TEST (response_of_linux_is_confirmed)
{
  static const guint8 options[] = { 0, 0, 0, 41, 6, 0, 0x49, 0xe6, 0x40,
    33, 5, 1, 3, 3, 35, 5, 1, 3, 3, 33, 5, 2, 0, 0, 35, 5, 2, 0, 0,
    32, 9, 3, 0, 0, 0, 0, 0x27, 0x10, 1, 32, 4, 4, 1, 35, 5, 4, 1, 1,
    32, 5, 5, 0, 0, 34, 4, 6, 0, 32, 4, 6, 0, 34, 4, 6, 0, 34, 4, 7, 1,
    1, 34, 4, 7, 1, 34, 4, 192, 1, 1, 32, 4, 192, 1
  };
  static const guint8 feedback[] = { 192, 6, 255, 255, 255, 255,
    194, 6, 0, 0, 0x40, 0
  };
  DccpPacket packet;
  guint i;

  network.filter = capture;
  dccp_network_begin (&network);
  dccp_network_connect (&network);
  network.now += 100 * MS;
  packet = dccp_network_next (&network, CLIENT, DCCP_RESPONSE);
  packet.sequence = 12345678;
  packet.options = options;
  packet.options_size = sizeof (options);
  dccp_network_inject_packet (&network, CLIENT, &packet);
  assert_equals_int (dccp_network_count_events (&network, CLIENT,
          DCCP_EVENT_CONNECTED), 1);
  assert_equals_int (dccp_network_count (&network, CLIENT, DCCP_ACK), 1);
  fail_unless (confirms (DCCP_OPTION_CONFIRM_R, DCCP_FEATURE_SEQUENCE_WINDOW));
  fail_unless (confirms (DCCP_OPTION_CONFIRM_R, DCCP_FEATURE_ECN_INCAPABLE));
  fail_unless (confirms (DCCP_OPTION_CONFIRM_R, DCCP_FEATURE_ACK_RATIO));
  fail_unless (confirms (DCCP_OPTION_CONFIRM_R, DCCP_FEATURE_SEND_ACK_VECTOR));
  fail_unless (confirms (DCCP_OPTION_CONFIRM_L, DCCP_FEATURE_SEND_ACK_VECTOR));
  fail_unless (confirms (DCCP_OPTION_CONFIRM_L, DCCP_FEATURE_SEND_NDP_COUNT));
  fail_unless (confirms (DCCP_OPTION_CONFIRM_L,
          CCID3_FEATURE_SEND_LOSS_EVENT_RATE));
  network.sending[CLIENT] = TRUE;
  network.put_at[CLIENT] = network.now;
  for (i = 0; i < 5; i++) {
    dccp_network_run (&network, 100 * MS);
    packet = dccp_network_next (&network, CLIENT, DCCP_ACK);
    packet.options = feedback;
    packet.options_size = sizeof (feedback);
    dccp_network_inject_packet (&network, CLIENT, &packet);
  }
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_OPEN);
  assert_equals_uint64 (dccp_network_get_stats (&network,
          CLIENT)->reported_rate, 0x4000 * 8);
  assert_equals_uint64 (dccp_network_get_stats (&network,
          CLIENT)->option_errors, 0);
  fail_unless (dccp_network_count (&network, CLIENT, DCCP_DATA) > 20);
}

GST_END_TEST;

/* The Request demands CCID 2 by a Mandatory option. The server supports only
 * CCID 3, so it must answer with a Reset. */
GST_START_TEST (peer_with_another_ccid_is_reset)
{
  DccpPacket request = {
    .source = 40001,.destination = DCCP_NETWORK_PORT,.type = DCCP_REQUEST,
    .sequence = 1000,.service_code = DCCP_SERVICE_RTPV,
    .options = (const guint8 *) "\1\40\4\1\2",.options_size = 5
  };

  dccp_network_begin (&network);
  dccp_network_inject_packet (&network, SERVER, &request);
  assert_equals_int (dccp_network_count (&network, SERVER, DCCP_RESPONSE), 0);
  assert_equals_int (dccp_network_count (&network, SERVER, DCCP_RESET), 1);
  assert_equals_int (dccp_network_get_state (&network, SERVER),
      DCCP_STATE_LISTEN);
}

GST_END_TEST;

static Suite *
dccphandshake_suite (void)
{
  Suite *suite = suite_create ("dccphandshake");
  TCase *open = tcase_create ("open");
  TCase *refused = tcase_create ("refused");
  TCase *peers = tcase_create ("peers");

  suite_add_tcase (suite, open);
  tcase_add_checked_fixture (open, setup, teardown);
  tcase_add_test (open, three_packets_open_a_connection);
  tcase_add_test (open, handshake_measures_the_round_trip);
  tcase_add_test (open, handshake_agrees_on_windows);
  tcase_add_test (open, request_is_sent_again);
  tcase_add_test (open, client_gives_up_after_eight_minutes);
  tcase_add_test (open, connect_timeout_may_be_shorter);
  tcase_add_test (open, response_is_sent_for_each_request);
  tcase_add_test (open, client_acknowledges_until_it_hears);
  tcase_add_test (open, server_helps_client_out_of_partopen);
  tcase_add_test (open, server_asks_a_client_that_says_nothing);
  tcase_add_test (open, server_asks_at_growing_intervals);
  tcase_add_test (open, server_asks_no_client_that_had_no_response);
  tcase_add_test (open, client_that_asks_later_than_the_server_connects);
  tcase_add_test (open, data_in_partopen_completes_the_handshake);
  tcase_add_loop_test (open, confirms_go_until_the_server_is_heard, 0, 2);
  tcase_add_test (open, data_may_overtake_the_handshake);
  tcase_add_test (open, doubled_handshake_is_one_connection);
  suite_add_tcase (suite, refused);
  tcase_add_checked_fixture (refused, setup, teardown);
  tcase_add_test (refused, another_service_is_refused);
  tcase_add_test (refused, another_port_is_refused);
  tcase_add_test (refused, second_client_is_refused);
  tcase_add_test (refused, half_open_connections_are_in_nobodys_way);
  tcase_add_test (refused, cookie_opens_a_connection);
  tcase_add_test (refused, cookie_may_be_lost);
  tcase_add_test (refused, responses_with_and_without_cookie_agree);
  tcase_add_loop_test (refused, spoiled_cookie_is_refused, 1, 40);
  tcase_add_test (refused, old_cookie_is_refused);
  tcase_add_test (refused, half_open_connection_ends_after_eight_minutes);
  tcase_add_test (refused, icmp_ends_only_a_request);
  suite_add_tcase (suite, peers);
  tcase_add_checked_fixture (peers, setup, teardown);
  tcase_add_test (peers, server_asks_a_client_without_options);
  tcase_add_test (peers, request_of_linux_is_answered);
  tcase_add_test (peers, response_of_linux_is_confirmed);
  tcase_add_test (peers, peer_with_another_ccid_is_reset);
  return suite;
}

GST_CHECK_MAIN (dccphandshake);

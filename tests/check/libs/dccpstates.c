/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Delivers a packet of each type to an endpoint in each state of DCCP. Checks
 * the answer and the new state against RFC 4340 section 8.5. The sequence
 * numbers and acknowledgement numbers of all packets are valid. */

#include <gst/check/gstcheck.h>

#include "dccpnetwork.h"

#define NONE DCCP_LAST_TYPE
#define CLIENT_PORT 50000

typedef struct
{
  DccpType type;                /* type of the packet that the test delivers */
  /* type of the first packet that the endpoint sends as an answer; NONE if it
   * must send no answer */
  DccpType answer;
  /* code of the Reset that the endpoint sends; used if `answer` is DCCP_RESET
   */
  guint8 code;
  DccpState after;
} Expected;

static DccpNetwork network;

static void
setup (void)
{
  dccp_network_init (&network);
  network.configs[CLIENT].local_port = CLIENT_PORT;
}

static void
teardown (void)
{
  dccp_network_clear (&network);
}

/* Makes the network lose all further packets in both directions. */
static void
cut (void)
{
  network.lose_all[CLIENT] = network.lose_all[SERVER] = G_MAXUINT;
}

static void
reach_closed (void)
{
  dccp_network_begin (&network);
}

static void
reach_request (void)
{
  dccp_network_begin (&network);
  dccp_network_connect (&network);
}

static void
reach_respond (void)
{
  reach_request ();
  network.lose_all[SERVER] = 1;
  dccp_network_run (&network, 60 * MS);
}

static void
reach_partopen (void)
{
  reach_request ();
  network.lose[CLIENT][DCCP_ACK] = 1;
  dccp_network_run (&network, 110 * MS);
}

static void
reach_open (void)
{
  dccp_network_begin (&network);
  dccp_network_open (&network);
}

static void
reach_closing (void)
{
  reach_open ();
  cut ();
  dccp_network_close (&network, CLIENT);
}

static void
reach_close_req (void)
{
  reach_open ();
  cut ();
  dccp_network_close (&network, SERVER);
}

static void
reach_time_wait (void)
{
  reach_open ();
  dccp_network_close (&network, CLIENT);
  dccp_network_run (&network, SECOND);
}

/* Returns a valid packet of the type `type` that can be delivered to `end`. An
 * endpoint does not send some answers if they are longer than the packet that
 * they answer. The packet therefore has 12 bytes of options, which make it long
 * enough. */
static DccpPacket
make_packet (DccpEnd end, DccpType type)
{
  DccpPacket packet = {.type = type,.sequence = 1000,.acknowledgement = 2000,
    .service_code = DCCP_SERVICE_RTPV
  };

  if (dccp_network_get (&network, end))
    packet = dccp_network_next (&network, end, type);
  packet.source = end == CLIENT ? DCCP_NETWORK_PORT : CLIENT_PORT;
  packet.destination = end == CLIENT ? CLIENT_PORT : DCCP_NETWORK_PORT;
  packet.options = (const guint8 *) "\0\0\0\0\0\0\0\0\0\0\0";
  packet.options_size = 12;
  return packet;
}

static void
check (void (*reach) (void), DccpEnd end, const Expected * expected)
{
  const DccpNetworkEntry *answer;
  DccpPacket packet;
  guint before;

  setup ();
  reach ();
  cut ();
  packet = make_packet (end, expected->type);
  before = network.log->len;
  dccp_network_inject_packet (&network, end, &packet);
  if (expected->answer == NONE) {
    fail_unless (network.log->len == before, "%s: answered",
        dccp_type_get_name (expected->type));
  } else {
    fail_unless (network.log->len > before, "%s: not answered",
        dccp_type_get_name (expected->type));
    answer = &g_array_index (network.log, DccpNetworkEntry, before);
    fail_unless (answer->packet.type == expected->answer, "%s: %s, not %s",
        dccp_type_get_name (expected->type),
        dccp_type_get_name (answer->packet.type),
        dccp_type_get_name (expected->answer));
    if (expected->answer == DCCP_RESET)
      assert_equals_int (answer->packet.reset_code, expected->code);
    if (expected->code == DCCP_RESET_PACKET_ERROR)
      assert_equals_int (answer->packet.reset_data[0], expected->type);
    if (expected->answer != DCCP_CLOSE)
      assert_equals_uint64 (answer->packet.acknowledgement, packet.sequence);
  }
  fail_unless (dccp_network_get_state (&network, end) == expected->after,
      "%s: %s, not %s", dccp_type_get_name (expected->type),
      dccp_state_get_name (dccp_network_get_state (&network, end)),
      dccp_state_get_name (expected->after));
  dccp_network_run (&network, 0);
  teardown ();
}

static void
check_all (void (*reach) (void), DccpEnd end, const Expected * expected,
    guint n)
{
  guint i;

  assert_equals_int (n, DCCP_LAST_TYPE);
  for (i = 0; i < n; i++)
    check (reach, end, &expected[i]);
}

#define CHECK(reach, end, expected) \
  check_all (reach, end, expected, G_N_ELEMENTS (expected))

static void
check_no_connection (void (*reach) (void), DccpEnd end, DccpState state)
{
  guint type;

  for (type = 0; type < DCCP_LAST_TYPE; type++) {
    const Expected expected = { type,
      type == DCCP_RESET || type == DCCP_LISTEN ? NONE : DCCP_RESET,
      DCCP_RESET_NO_CONNECTION, state
    };

    if (state != DCCP_STATE_LISTEN || type != DCCP_REQUEST)
      check (reach, end, &expected);
  }
}

GST_START_TEST (closed)
{
  check_no_connection (reach_closed, CLIENT, DCCP_STATE_CLOSED);
}

GST_END_TEST;

GST_START_TEST (time_wait)
{
  check_no_connection (reach_time_wait, CLIENT, DCCP_STATE_TIME_WAIT);
}

GST_END_TEST;

GST_START_TEST (listening)
{
  const Expected request = { DCCP_REQUEST, DCCP_RESPONSE, 0,
    DCCP_STATE_RESPOND
  };

  check_no_connection (reach_closed, SERVER, DCCP_STATE_LISTEN);
  check (reach_closed, SERVER, &request);
}

GST_END_TEST;

#define ERROR DCCP_RESET, DCCP_RESET_PACKET_ERROR

GST_START_TEST (request)
{
  static const Expected expected[] = {
    {DCCP_REQUEST, ERROR, DCCP_STATE_REQUEST},
    {DCCP_RESPONSE, DCCP_ACK, 0, DCCP_STATE_PARTOPEN},
    {DCCP_DATA, ERROR, DCCP_STATE_REQUEST},
    {DCCP_ACK, ERROR, DCCP_STATE_REQUEST},
    {DCCP_DATA_ACK, ERROR, DCCP_STATE_REQUEST},
    {DCCP_CLOSE_REQ, ERROR, DCCP_STATE_REQUEST},
    {DCCP_CLOSE, ERROR, DCCP_STATE_REQUEST},
    {DCCP_RESET, NONE, 0, DCCP_STATE_TIME_WAIT},
    {DCCP_SYNC, ERROR, DCCP_STATE_REQUEST},
    {DCCP_SYNC_ACK, ERROR, DCCP_STATE_REQUEST},
    {DCCP_LISTEN, NONE, 0, DCCP_STATE_REQUEST},
  };

  CHECK (reach_request, CLIENT, expected);
}

GST_END_TEST;

#define CLOSED DCCP_RESET, DCCP_RESET_CLOSED

GST_START_TEST (respond)
{
  static const Expected expected[] = {
    {DCCP_REQUEST, DCCP_RESPONSE, 0, DCCP_STATE_RESPOND},
    {DCCP_RESPONSE, DCCP_SYNC, 0, DCCP_STATE_RESPOND},
    {DCCP_DATA, DCCP_SYNC, 0, DCCP_STATE_RESPOND},
    {DCCP_ACK, DCCP_ACK, 0, DCCP_STATE_OPEN},
    {DCCP_DATA_ACK, DCCP_ACK, 0, DCCP_STATE_OPEN},
    {DCCP_CLOSE_REQ, DCCP_SYNC, 0, DCCP_STATE_RESPOND},
    {DCCP_CLOSE, CLOSED, DCCP_STATE_LISTEN},
    {DCCP_RESET, NONE, 0, DCCP_STATE_LISTEN},
    {DCCP_SYNC, DCCP_SYNC_ACK, 0, DCCP_STATE_OPEN},
    {DCCP_SYNC_ACK, NONE, 0, DCCP_STATE_OPEN},
    {DCCP_LISTEN, NONE, 0, DCCP_STATE_RESPOND},
  };

  CHECK (reach_respond, SERVER, expected);
}

GST_END_TEST;

GST_START_TEST (partopen)
{
  static const Expected expected[] = {
    {DCCP_REQUEST, DCCP_SYNC, 0, DCCP_STATE_PARTOPEN},
    {DCCP_RESPONSE, DCCP_ACK, 0, DCCP_STATE_PARTOPEN},
    {DCCP_DATA, DCCP_ACK, 0, DCCP_STATE_OPEN},
    {DCCP_ACK, NONE, 0, DCCP_STATE_OPEN},
    {DCCP_DATA_ACK, DCCP_ACK, 0, DCCP_STATE_OPEN},
    {DCCP_CLOSE_REQ, DCCP_CLOSE, 0, DCCP_STATE_CLOSING},
    {DCCP_CLOSE, CLOSED, DCCP_STATE_CLOSED},
    {DCCP_RESET, NONE, 0, DCCP_STATE_TIME_WAIT},
    {DCCP_SYNC, DCCP_SYNC_ACK, 0, DCCP_STATE_PARTOPEN},
    {DCCP_SYNC_ACK, NONE, 0, DCCP_STATE_OPEN},
    {DCCP_LISTEN, NONE, 0, DCCP_STATE_PARTOPEN},
  };

  CHECK (reach_partopen, CLIENT, expected);
}

GST_END_TEST;

GST_START_TEST (open_client)
{
  static const Expected expected[] = {
    {DCCP_REQUEST, DCCP_SYNC, 0, DCCP_STATE_OPEN},
    {DCCP_RESPONSE, DCCP_SYNC, 0, DCCP_STATE_OPEN},
    {DCCP_DATA, DCCP_ACK, 0, DCCP_STATE_OPEN},
    {DCCP_ACK, NONE, 0, DCCP_STATE_OPEN},
    {DCCP_DATA_ACK, DCCP_ACK, 0, DCCP_STATE_OPEN},
    {DCCP_CLOSE_REQ, DCCP_CLOSE, 0, DCCP_STATE_CLOSING},
    {DCCP_CLOSE, CLOSED, DCCP_STATE_CLOSED},
    {DCCP_RESET, NONE, 0, DCCP_STATE_TIME_WAIT},
    {DCCP_SYNC, DCCP_SYNC_ACK, 0, DCCP_STATE_OPEN},
    {DCCP_SYNC_ACK, NONE, 0, DCCP_STATE_OPEN},
    {DCCP_LISTEN, NONE, 0, DCCP_STATE_OPEN},
  };

  CHECK (reach_open, CLIENT, expected);
}

GST_END_TEST;

GST_START_TEST (open_server)
{
  static const Expected expected[] = {
    {DCCP_REQUEST, DCCP_SYNC, 0, DCCP_STATE_OPEN},
    {DCCP_RESPONSE, DCCP_SYNC, 0, DCCP_STATE_OPEN},
    {DCCP_DATA, DCCP_ACK, 0, DCCP_STATE_OPEN},
    {DCCP_ACK, NONE, 0, DCCP_STATE_OPEN},
    {DCCP_DATA_ACK, DCCP_ACK, 0, DCCP_STATE_OPEN},
    {DCCP_CLOSE_REQ, DCCP_SYNC, 0, DCCP_STATE_OPEN},
    {DCCP_CLOSE, CLOSED, DCCP_STATE_LISTEN},
    {DCCP_RESET, NONE, 0, DCCP_STATE_LISTEN},
    {DCCP_SYNC, DCCP_SYNC_ACK, 0, DCCP_STATE_OPEN},
    {DCCP_SYNC_ACK, NONE, 0, DCCP_STATE_OPEN},
    {DCCP_LISTEN, NONE, 0, DCCP_STATE_OPEN},
  };

  CHECK (reach_open, SERVER, expected);
}

GST_END_TEST;

GST_START_TEST (close_req)
{
  static const Expected expected[] = {
    {DCCP_REQUEST, DCCP_SYNC, 0, DCCP_STATE_CLOSE_REQ},
    {DCCP_RESPONSE, DCCP_SYNC, 0, DCCP_STATE_CLOSE_REQ},
    {DCCP_DATA, NONE, 0, DCCP_STATE_CLOSE_REQ},
    {DCCP_ACK, NONE, 0, DCCP_STATE_CLOSE_REQ},
    {DCCP_DATA_ACK, NONE, 0, DCCP_STATE_CLOSE_REQ},
    {DCCP_CLOSE_REQ, DCCP_SYNC, 0, DCCP_STATE_CLOSE_REQ},
    {DCCP_CLOSE, CLOSED, DCCP_STATE_LISTEN},
    {DCCP_RESET, NONE, 0, DCCP_STATE_LISTEN},
    {DCCP_SYNC, DCCP_SYNC_ACK, 0, DCCP_STATE_CLOSE_REQ},
    {DCCP_SYNC_ACK, NONE, 0, DCCP_STATE_CLOSE_REQ},
    {DCCP_LISTEN, NONE, 0, DCCP_STATE_CLOSE_REQ},
  };

  CHECK (reach_close_req, SERVER, expected);
}

GST_END_TEST;

GST_START_TEST (closing)
{
  static const Expected expected[] = {
    {DCCP_REQUEST, DCCP_SYNC, 0, DCCP_STATE_CLOSING},
    {DCCP_RESPONSE, DCCP_SYNC, 0, DCCP_STATE_CLOSING},
    {DCCP_DATA, NONE, 0, DCCP_STATE_CLOSING},
    {DCCP_ACK, NONE, 0, DCCP_STATE_CLOSING},
    {DCCP_DATA_ACK, NONE, 0, DCCP_STATE_CLOSING},
    {DCCP_CLOSE_REQ, NONE, 0, DCCP_STATE_CLOSING},
    {DCCP_CLOSE, CLOSED, DCCP_STATE_CLOSED},
    {DCCP_RESET, NONE, 0, DCCP_STATE_TIME_WAIT},
    {DCCP_SYNC, DCCP_SYNC_ACK, 0, DCCP_STATE_CLOSING},
    {DCCP_SYNC_ACK, NONE, 0, DCCP_STATE_CLOSING},
    {DCCP_LISTEN, NONE, 0, DCCP_STATE_CLOSING},
  };

  CHECK (reach_closing, CLIENT, expected);
}

GST_END_TEST;

static Suite *
dccpstates_suite (void)
{
  Suite *suite = suite_create ("dccpstates");
  TCase *general = tcase_create ("general");

  suite_add_tcase (suite, general);
  tcase_add_test (general, closed);
  tcase_add_test (general, time_wait);
  tcase_add_test (general, listening);
  tcase_add_test (general, request);
  tcase_add_test (general, respond);
  tcase_add_test (general, partopen);
  tcase_add_test (general, open_client);
  tcase_add_test (general, open_server);
  tcase_add_test (general, close_req);
  tcase_add_test (general, closing);
  return suite;
}

GST_CHECK_MAIN (dccpstates);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the small modules that are parts of a DCCP endpoint. The expected
 * values were computed by hand, or with the module hmac of Python. */

#include <gst/check/gstcheck.h>

#include <string.h>

#include "dccpconnectioninput.h"
#include "dccpended.h"
#include "dccplistener.h"
#include "dccpresponses.h"
#include "dccpsecrets.h"

#define PORT 5001
#define REMOTE_PORT 6001
#define START (1000 * DCCP_SECOND)
#define TIME_WAIT (240 * DCCP_SECOND)
#define WINDOW 100
#define GSS 2000
#define GSR 6000

static void
init_path (DatagramPath * path)
{
  memset (path, 0, sizeof (*path));
  path->address_size = 4;
  path->local[0] = path->remote[0] = 10;
  path->local[3] = 1;
  path->remote[3] = 2;
}

/* --- secrets -------------------------------------------------------------- */

static const guint8 entropy[DCCP_ENTROPY_SIZE] = { 7 };

/* Returns the first eight bytes of `mac` as the number that they have in the
 * memory of this machine. */
static guint64
get_number (const guint8 mac[8])
{
  guint64 number;

  memcpy (&number, mac, sizeof (number));
  return number;
}

GST_START_TEST (random_numbers_are_macs_of_a_counter)
{
  static const guint8 macs[][8] = {
    {0x0e, 0xd0, 0xd3, 0xb7, 0x58, 0xc8, 0x57, 0xcb},
    {0xc9, 0xea, 0x32, 0xdd, 0xe6, 0xbc, 0x8f, 0xe7},
    {0x2d, 0xd8, 0x3c, 0xde, 0xb5, 0x15, 0xd2, 0x86},
  };
  DccpSecrets secrets;

  dccp_secrets_init (&secrets, entropy);
  fail_unless_equals_uint64 (dccp_secrets_draw (&secrets),
      get_number (macs[1]));
  fail_unless_equals_uint64 (dccp_secrets_take_iss (&secrets),
      get_number (macs[0]) & DCCP_SEQUENCE_MASK);
  fail_unless_equals_uint64 (dccp_secrets_take_iss (&secrets),
      get_number (macs[2]) & DCCP_SEQUENCE_MASK);
}

GST_END_TEST;

GST_START_TEST (secret_depends_on_its_purpose)
{
  static const guint8 limiter[] = {
    0xbe, 0x6f, 0xfc, 0x59, 0xfc, 0xb0, 0x40, 0x7a,
    0x58, 0x98, 0x5e, 0xed, 0x67, 0x5c, 0xec, 0xc0,
    0x7b, 0xac, 0x00, 0x06, 0x5d, 0xdc, 0x44, 0xde,
    0x4e, 0x9f, 0x1a, 0xdb, 0x77, 0x65, 0xc1, 0x9e
  };
  guint8 secret[DCCP_SECRET_SIZE];
  DccpSecrets secrets;

  dccp_secrets_init (&secrets, entropy);
  dccp_secrets_make (&secrets, "limiter", secret);
  fail_unless (memcmp (secret, limiter, sizeof (limiter)) == 0);
  dccp_secrets_draw (&secrets);
  dccp_secrets_make (&secrets, "limiter", secret);
  fail_unless (memcmp (secret, limiter, sizeof (limiter)) == 0);
  dccp_secrets_make (&secrets, "other", secret);
  fail_if (memcmp (secret, limiter, sizeof (limiter)) == 0);
}

GST_END_TEST;

GST_START_TEST (first_number_of_a_listener_depends_on_the_client)
{
  DccpSecrets secrets;
  DatagramPath path;
  guint64 iss;

  init_path (&path);
  dccp_secrets_init (&secrets, entropy);
  iss = dccp_secrets_make_iss (&secrets, 3, &path, PORT, REMOTE_PORT);
  fail_unless (iss <= DCCP_SEQUENCE_MASK);
  fail_unless_equals_uint64 (dccp_secrets_make_iss (&secrets, 3, &path, PORT,
          REMOTE_PORT), iss);
  fail_if (dccp_secrets_make_iss (&secrets, 4, &path, PORT,
          REMOTE_PORT) == iss);
  fail_if (dccp_secrets_make_iss (&secrets, 3, &path, PORT,
          REMOTE_PORT + 1) == iss);
  secrets.next_iss = dccp_sequence_add (secrets.next_iss, 5);
  fail_unless_equals_uint64 (dccp_secrets_make_iss (&secrets, 3, &path, PORT,
          REMOTE_PORT), dccp_sequence_add (iss, 5));
  path.remote[3]++;
  fail_if (dccp_secrets_make_iss (&secrets, 3, &path, PORT, REMOTE_PORT) ==
      dccp_sequence_add (iss, 5));
}

GST_END_TEST;

/* --- connections that have ended ------------------------------------------ */

/* Adds a connection with the port `port` of the peer. */
static void
add_ended (DccpEnded * ended, guint64 now, guint16 port, DccpState state)
{
  DccpConnection connection = {.local_port = PORT,.remote_port = port,
    .state = state,.numbers.gss = GSS,.numbers.gsr = GSR
  };

  init_path (&connection.path);
  dccp_ended_add (ended, now, &connection, TIME_WAIT);
}

static gboolean
is_in_time_wait (const DccpEnded * ended, guint64 now, guint16 port)
{
  const DccpPacket packet = {.source = port,.destination = PORT };
  DatagramPath path;

  init_path (&path);
  return dccp_ended_is_in_time_wait (ended, now, &path, &packet);
}

GST_START_TEST (time_wait_ends)
{
  DccpEnded ended = { 0 };

  fail_if (dccp_ended_is_last_in_time_wait (&ended, 0));
  add_ended (&ended, START, 1, DCCP_STATE_TIME_WAIT);
  fail_unless (is_in_time_wait (&ended, START + TIME_WAIT - 1, 1));
  fail_if (is_in_time_wait (&ended, START + TIME_WAIT, 1));
  fail_if (is_in_time_wait (&ended, START, 2));
  fail_unless (dccp_ended_is_last_in_time_wait (&ended, START + TIME_WAIT - 1));
  fail_if (dccp_ended_is_last_in_time_wait (&ended, START + TIME_WAIT));
  /* The latest connection of a peer counts. */
  add_ended (&ended, START + 1, 1, DCCP_STATE_CLOSED);
  fail_if (is_in_time_wait (&ended, START + 1, 1));
  fail_if (dccp_ended_is_last_in_time_wait (&ended, START + 1));
}

GST_END_TEST;

GST_START_TEST (oldest_ended_connection_is_replaced)
{
  DccpEnded ended = { 0 };
  guint16 port;

  for (port = 1; port <= DCCP_MAX_ENDED; port++)
    add_ended (&ended, START, port, DCCP_STATE_TIME_WAIT);
  fail_unless (is_in_time_wait (&ended, START, 1));
  add_ended (&ended, START, port, DCCP_STATE_TIME_WAIT);
  fail_if (is_in_time_wait (&ended, START, 1));
  fail_unless (is_in_time_wait (&ended, START, 2));
  fail_unless (is_in_time_wait (&ended, START, port));
}

GST_END_TEST;

static gboolean
is_from_peer (const DccpEnded * ended, DccpType type, guint64 sequence,
    guint64 acknowledgement)
{
  const DccpPacket packet = {.type = type,.source = REMOTE_PORT,
    .destination = PORT,.sequence = sequence,.acknowledgement = acknowledgement
  };
  DatagramPath path;

  init_path (&path);
  return dccp_ended_is_from_peer (ended, START, &path, &packet, WINDOW);
}

GST_START_TEST (peer_of_an_ended_connection_knows_its_numbers)
{
  DccpEnded ended = { 0 };

  fail_if (is_from_peer (&ended, DCCP_CLOSE, GSR, GSS));
  add_ended (&ended, START, REMOTE_PORT, DCCP_STATE_CLOSED);
  fail_unless (is_from_peer (&ended, DCCP_CLOSE, GSR, GSS));
  fail_unless (is_from_peer (&ended, DCCP_CLOSE, GSR + WINDOW, GSS));
  fail_unless (is_from_peer (&ended, DCCP_CLOSE, GSR, GSS - WINDOW));
  fail_if (is_from_peer (&ended, DCCP_CLOSE, GSR - 1, GSS));
  fail_if (is_from_peer (&ended, DCCP_CLOSE, GSR + WINDOW + 1, GSS));
  fail_if (is_from_peer (&ended, DCCP_CLOSE, GSR, GSS + 1));
  fail_if (is_from_peer (&ended, DCCP_CLOSE, GSR, GSS - WINDOW - 1));
  /* A packet of this type has no acknowledgement number. */
  fail_if (is_from_peer (&ended, DCCP_DATA, GSR, GSS));
}

GST_END_TEST;

/* --- the listener --------------------------------------------------------- */

#define SERVICE_CODE 7

typedef struct
{
  DccpCommon common;
  DccpSecrets secrets;
  DccpListener *listener;
  DccpEnded ended;
} Fixture;

static void
fixture_init (Fixture * self)
{
  DccpEndpointConfig *config = &self->common.config;

  memset (self, 0, sizeof (*self));
  config->is_listener = TRUE;
  config->local_port = PORT;
  config->service_code = SERVICE_CODE;
  config->sequence_window = WINDOW;
  config->mtu = 1500;
  config->time_wait = TIME_WAIT;
  config->ccids = dccp_ccids;
  dccp_secrets_init (&self->secrets, entropy);
  self->listener = dccp_listener_new (&self->common, &self->secrets);
}

/* Passes a Request of the client with the port `port` to the listener. */
static void
add_request (Fixture * self, guint64 now, guint16 port, gboolean is_contested)
{
  const DccpPacket request = {.type = DCCP_REQUEST,.extended = TRUE,
    .source = port,.destination = PORT,.sequence = GSR,
    .service_code = SERVICE_CODE
  };
  DatagramPath path;

  init_path (&path);
  dccp_listener_add_request (self->listener, now, &path, &request, 32,
      is_contested);
}

/* Gets the next packet that the listener sends. Its options point into
 * `bytes`. */
static gboolean
poll (Fixture * self, guint64 now, DccpPacket * packet,
    guint8 bytes[DCCP_MAX_CONTROL])
{
  DatagramPath path;
  const gsize size = dccp_listener_poll_output (self->listener, now, &path,
      bytes);

  if (size == 0)
    return FALSE;
  assert_equals_int (dccp_packet_parse (packet, &path, bytes, size),
      DCCP_ACCEPTED);
  return TRUE;
}

static DccpConnection *
find_candidate (Fixture * self, guint16 port)
{
  const DccpPacket packet = {.source = port,.destination = PORT };
  DatagramPath path;

  init_path (&path);
  return dccp_listener_find (self->listener, &path, &packet);
}

GST_START_TEST (request_makes_a_candidate)
{
  guint8 bytes[DCCP_MAX_CONTROL];
  DatagramPath path;
  DccpPacket packet;
  Fixture self;

  init_path (&path);
  fixture_init (&self);
  assert_equals_uint64 (dccp_listener_next_wakeup (self.listener), DCCP_NEVER);
  add_request (&self, START, REMOTE_PORT, FALSE);
  fail_unless (find_candidate (&self, REMOTE_PORT) ==
      self.listener->candidates[0]);
  fail_if (find_candidate (&self, REMOTE_PORT + 1));
  fail_unless (poll (&self, START, &packet, bytes));
  assert_equals_int (packet.type, DCCP_RESPONSE);
  assert_equals_int (packet.destination, REMOTE_PORT);
  assert_equals_uint64 (packet.sequence, dccp_secrets_make_iss (&self.secrets,
          0, &path, PORT, REMOTE_PORT));
  assert_equals_uint64 (packet.acknowledgement, GSR);
  fail_if (poll (&self, START, &packet, bytes));
  fail_if (dccp_listener_take_connection (self.listener, START, &self.ended));
  assert_equals_int (self.listener->n_candidates, 1);
  dccp_listener_free (self.listener);
}

GST_END_TEST;

GST_START_TEST (candidates_of_a_network_are_limited)
{
  guint16 port;
  Fixture self;

  fixture_init (&self);
  for (port = 1; port <= DCCP_MAX_CANDIDATES_OF_PREFIX + 1; port++)
    add_request (&self, START, port, FALSE);
  assert_equals_int (self.listener->n_candidates,
      DCCP_MAX_CANDIDATES_OF_PREFIX);
  fail_unless (find_candidate (&self, 1) != NULL);
  assert_equals_int (self.listener->responses.n, 1);
  /* The first client has had one second to answer. */
  add_request (&self, START + DCCP_SECOND, port, FALSE);
  assert_equals_int (self.listener->n_candidates,
      DCCP_MAX_CANDIDATES_OF_PREFIX);
  fail_if (find_candidate (&self, 1));
  fail_unless (find_candidate (&self, port) ==
      self.listener->candidates[DCCP_MAX_CANDIDATES_OF_PREFIX - 1]);
  assert_equals_int (self.listener->responses.n, 1);
  dccp_listener_free (self.listener);
}

GST_END_TEST;

GST_START_TEST (cookie_restores_a_candidate)
{
  DccpPacket response, ack = {.type = DCCP_ACK,.extended = TRUE,
    .source = REMOTE_PORT,.destination = PORT,.sequence = GSR + 1
  };
  guint8 bytes[DCCP_MAX_CONTROL];
  DccpConnection *contested, *restored;
  DatagramPath path;
  Fixture self;

  init_path (&path);
  fixture_init (&self);
  add_request (&self, START, REMOTE_PORT, FALSE);
  contested = find_candidate (&self, REMOTE_PORT);
  add_request (&self, START, REMOTE_PORT, TRUE);
  fail_unless (poll (&self, START, &response, bytes));
  ack.options = response.options;
  ack.options_size = response.options_size;
  ack.acknowledgement = response.sequence;
  ack.source++;
  fail_if (dccp_listener_restore (self.listener, START, &path, &ack,
          contested));
  ack.source--;
  restored = dccp_listener_restore (self.listener, START, &path, &ack,
      contested);
  fail_unless (restored != NULL);
  fail_unless (find_candidate (&self, REMOTE_PORT) == restored);
  assert_equals_int (self.listener->n_candidates, 1);
  assert_equals_uint64 (restored->numbers.isr, GSR);
  assert_equals_uint64 (restored->numbers.gss, response.sequence);
  /* Only the two Requests that arrived are counted. */
  assert_equals_uint64 (self.common.stats.received[DCCP_REQUEST], 2);
  dccp_listener_free (self.listener);
}

GST_END_TEST;

/* Adds three candidates, and passes the Ack of the second one to it. */
GST_START_TEST (candidate_with_a_complete_handshake_is_taken)
{
  DccpPacket ack = {.type = DCCP_ACK,.extended = TRUE,.source = 2,
    .destination = PORT,.sequence = GSR + 1
  };
  guint8 bytes[DCCP_MAX_CONTROL];
  DccpConnection *candidate;
  DccpPacket packet;
  guint16 port;
  Fixture self;
  DccpData data;

  fixture_init (&self);
  for (port = 1; port <= 3; port++)
    add_request (&self, START, port, FALSE);
  while (poll (&self, START, &packet, bytes));
  candidate = find_candidate (&self, 2);
  ack.acknowledgement = candidate->numbers.gss;
  dccp_connection_input (candidate, START, &ack, 24, &data);
  fail_unless (dccp_listener_take_connection (self.listener, START,
          &self.ended) == candidate);
  assert_equals_int (candidate->state, DCCP_STATE_OPEN);
  assert_equals_int (self.listener->n_candidates, 0);
  /* The other clients are refused by Resets. */
  assert_equals_int (self.common.answers.n, 2);
  assert_equals_int (self.ended.n, 0);
  dccp_connection_free (candidate);
  dccp_listener_free (self.listener);
}

GST_END_TEST;

/* --- responses ------------------------------------------------------------ */

static DccpResponses responses;

/* Adds a Response of one byte, the remainder of `number` divided by 256. */
static gboolean
push_response (guint number)
{
  const guint8 byte = number;
  DatagramPath path;

  init_path (&path);
  path.remote_port = number;
  return dccp_responses_push (&responses, &path, &byte, 1);
}

static void
assert_response_is (guint number)
{
  guint8 bytes[DCCP_MAX_HEADER];
  DatagramPath path;

  fail_unless_equals_uint64 (dccp_responses_pop (&responses, &path, bytes), 1);
  assert_equals_int (path.remote_port, number);
  assert_equals_int (bytes[0], (guint8) number);
}

GST_START_TEST (responses_leave_in_order_and_do_not_replace_each_other)
{
  guint i;

  memset (&responses, 0, sizeof (responses));
  for (i = 0; i < DCCP_MAX_RESPONSES; i++)
    fail_unless (push_response (i));
  fail_if (push_response (i));
  assert_response_is (0);
  assert_response_is (1);
  /* The places of the two Responses that have left can be used again. */
  fail_unless (push_response (300));
  fail_unless (push_response (301));
  fail_if (push_response (302));
  for (i = 2; i < DCCP_MAX_RESPONSES; i++)
    assert_response_is (i);
  assert_response_is (300);
  assert_response_is (301);
}

GST_END_TEST;

GST_START_TEST (response_has_at_most_384_bytes)
{
  guint8 sent[DCCP_MAX_RESPONSE + 1] = { 1, 2, 3 };
  guint8 bytes[DCCP_MAX_HEADER];
  DatagramPath path;

  memset (&responses, 0, sizeof (responses));
  init_path (&path);
  fail_if (dccp_responses_push (&responses, &path, sent, sizeof (sent)));
  sent[DCCP_MAX_RESPONSE - 1] = 4;
  fail_unless (dccp_responses_push (&responses, &path, sent,
          DCCP_MAX_RESPONSE));
  fail_unless_equals_uint64 (dccp_responses_pop (&responses, &path, bytes),
      DCCP_MAX_RESPONSE);
  assert_equals_int (memcmp (bytes, sent, DCCP_MAX_RESPONSE), 0);
  fail_unless_equals_uint64 (dccp_responses_pop (&responses, &path, bytes), 0);
}

GST_END_TEST;

static Suite *
dccpendpointparts_suite (void)
{
  Suite *s = suite_create ("dccpendpointparts");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, random_numbers_are_macs_of_a_counter);
  tcase_add_test (tc, secret_depends_on_its_purpose);
  tcase_add_test (tc, first_number_of_a_listener_depends_on_the_client);
  tcase_add_test (tc, time_wait_ends);
  tcase_add_test (tc, oldest_ended_connection_is_replaced);
  tcase_add_test (tc, peer_of_an_ended_connection_knows_its_numbers);
  tcase_add_test (tc, request_makes_a_candidate);
  tcase_add_test (tc, candidates_of_a_network_are_limited);
  tcase_add_test (tc, cookie_restores_a_candidate);
  tcase_add_test (tc, candidate_with_a_complete_handshake_is_taken);
  tcase_add_test (tc, responses_leave_in_order_and_do_not_replace_each_other);
  tcase_add_test (tc, response_has_at_most_384_bytes);
  return s;
}

GST_CHECK_MAIN (dccpendpointparts);

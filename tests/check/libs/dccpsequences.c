/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the sequence numbers of DCCP (RFC 4340 section 7). They check which
 * numbers are valid, and how numbers wrap around. They also check how Sync
 * packets make two endpoints agree on the numbers again after many packets were
 * lost.
 */

#include <gst/check/gstcheck.h>

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
open_network (void)
{
  dccp_network_begin (&network);
  dccp_network_open (&network);
}

static guint
count_syncs (DccpEnd end)
{
  return dccp_network_count (&network, end, DCCP_SYNC);
}

/* Delivers a packet of the type `type` to the endpoint `to`, and returns
 * whether this endpoint regards the packet as valid. `sequence` is relative to
 * GSR, the greatest sequence number that `to` has received. `acknowledgement`
 * is relative to GSS, the greatest sequence number that `to` has sent. The
 * packet has a payload, so that it is long enough to be answered with a Sync.
 */
static gboolean
is_valid (DccpEnd to, DccpType type, gint64 sequence, gint64 acknowledgement)
{
  DccpPacket packet = dccp_network_next (&network, to, type);
  const guint64 before = dccp_network_get_stats (&network, to)->received[type];

  packet.sequence = dccp_sequence_add (packet.sequence, sequence - 1);
  packet.acknowledgement = dccp_sequence_add (packet.acknowledgement,
      acknowledgement);
  packet.payload = (const guint8 *) "0123456789ab";
  packet.payload_size = 12;
  dccp_network_inject_packet (&network, to, &packet);
  return dccp_network_get_stats (&network, to)->received[type] > before;
}

/* Checks that the client regards a packet as valid if `expected` is TRUE, and
 * as invalid otherwise. The sequence number of the packet is `sequence` plus
 * the greatest sequence number that the client has received. The
 * acknowledgement number of the packet is `acknowledgement` plus the greatest
 * sequence number that the client has sent. Each call uses a new connection,
 * because a valid packet would change the windows of valid numbers. */
static void
assert_valid (DccpType type, gint64 sequence, gint64 acknowledgement,
    gboolean expected)
{
  setup ();
  open_network ();
  network.sending[CLIENT] = network.sending[SERVER] = TRUE;
  dccp_network_run (&network, 60 * SECOND);
  network.sending[CLIENT] = network.sending[SERVER] = FALSE;
  fail_unless (is_valid (CLIENT, type, sequence, acknowledgement) == expected,
      "%s with %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT,
      dccp_type_get_name (type), sequence, acknowledgement);
  assert_equals_int (count_syncs (CLIENT), !expected && type != DCCP_SYNC
      && type != DCCP_SYNC_ACK);
  teardown ();
}

/* The test uses these abbreviations of RFC 4340:
 * - GSR: greatest sequence number received
 * - GSS: greatest sequence number sent
 * - SWL, SWH: lowest and highest valid sequence number
 * - AWL: lowest valid acknowledgement number
 *
 * With a sequence window of 10000 (section 7.5.1), SWL is GSR - 2499, SWH is
 * GSR + 7500, and AWL is GSS - 9999.
 *
 * The test expects that the acknowledgement number GSS - 5000 is valid. This
 * number is above AWL. It also belongs to a packet that was sent, because each
 * endpoint has sent more than 6000 packets. */
GST_START_TEST (windows_are_those_of_the_standard)
{
  assert_valid (DCCP_DATA, 7500, 0, TRUE);
  assert_valid (DCCP_DATA, 7501, 0, FALSE);
  assert_valid (DCCP_DATA, -2499, 0, TRUE);
  assert_valid (DCCP_DATA, -2500, 0, FALSE);
  assert_valid (DCCP_ACK, 7500, 0, TRUE);
  assert_valid (DCCP_ACK, 7501, 0, FALSE);
  assert_valid (DCCP_ACK, 1, -5000, TRUE);
  assert_valid (DCCP_ACK, 1, 1, FALSE);
  assert_valid (DCCP_DATA_ACK, 1, 1, FALSE);
  /* A number before ISS is not valid. */
  assert_valid (DCCP_ACK, 1, -9000, FALSE);
  /* A packet that ends a connection (Reset, Close or CloseReq) is valid only if
   * it is newer than all packets that were received before. */
  assert_valid (DCCP_RESET, 1, 0, TRUE);
  assert_valid (DCCP_RESET, 7500, 0, TRUE);
  assert_valid (DCCP_RESET, 7501, 0, FALSE);
  assert_valid (DCCP_RESET, 0, 0, FALSE);
  assert_valid (DCCP_RESET, 1, 1, FALSE);
  assert_valid (DCCP_RESET, 1, -1000, FALSE);
  assert_valid (DCCP_CLOSE, 0, 0, FALSE);
  assert_valid (DCCP_CLOSE, 1, -1000, FALSE);
  assert_valid (DCCP_CLOSE_REQ, 0, 0, FALSE);
  /* RFC 4340 section 7.5.3 allows a Sync whose sequence number is outside the
   * window if no valid packet has arrived for some time. In this test valid
   * packets arrive all the time, so such a Sync must be invalid.
   */
  assert_valid (DCCP_SYNC, 7500, 0, TRUE);
  assert_valid (DCCP_SYNC, 7501, 0, FALSE);
  assert_valid (DCCP_SYNC, 1, 1, FALSE);
  assert_valid (DCCP_SYNC_ACK, 1, -5000, TRUE);
  assert_valid (DCCP_SYNC_ACK, 7501, 0, FALSE);
}

GST_END_TEST;

GST_START_TEST (sync_may_jump_when_nothing_came_for_a_while)
{
  DccpConnection *connection;

  open_network ();
  connection = dccp_network_get (&network, CLIENT);
  dccp_network_run (&network, SECOND);
  fail_unless (is_valid (CLIENT, DCCP_SYNC, 1000000, 0));
  assert_equals_int (dccp_network_count (&network, CLIENT, DCCP_SYNC_ACK), 1);
  assert_equals_uint64 (dccp_network_find (&network, CLIENT, DCCP_SYNC_ACK,
          0)->packet.acknowledgement, connection->numbers.gsr);
  /* but not back */
  fail_if (is_valid (CLIENT, DCCP_SYNC, -100000, 0));
}

GST_END_TEST;

GST_START_TEST (sync_acknowledges_what_was_refused)
{
  const DccpNetworkEntry *sync;
  guint64 gsr;

  open_network ();
  gsr = dccp_network_get (&network, CLIENT)->numbers.gsr;
  fail_if (is_valid (CLIENT, DCCP_DATA, 8000, 0));
  sync = dccp_network_find (&network, CLIENT, DCCP_SYNC, 0);
  assert_equals_uint64 (sync->packet.acknowledgement,
      dccp_sequence_add (gsr, 8000));
  /* The Reset is outside the window. The Sync that answers it must not
   * acknowledge the number of the Reset. It must acknowledge GSR, the greatest
   * sequence number received (RFC 4340 section 8.5, step 6). */
  fail_if (is_valid (CLIENT, DCCP_RESET, 8000, 0));
  sync = dccp_network_find (&network, CLIENT, DCCP_SYNC, 1);
  assert_equals_uint64 (sync->packet.acknowledgement, gsr);
  dccp_network_run (&network, SECOND);
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_OPEN);
  assert_equals_int (dccp_network_get_state (&network, SERVER),
      DCCP_STATE_OPEN);
}

GST_END_TEST;

GST_START_TEST (syncs_are_limited)
{
  guint i;

  open_network ();
  for (i = 0; i < 1000; i++) {
    is_valid (CLIENT, DCCP_ACK, 100000 + i, 0);
    network.now += 2 * MS;
  }
  assert_equals_int (count_syncs (CLIENT), 16);
  assert_equals_uint64 (dccp_network_get_stats (&network,
          CLIENT)->answers_suppressed, 984);
  assert_equals_uint64 (dccp_network_get_stats (&network,
          CLIENT)->refused[DCCP_REFUSED_SEQUENCE], 1000);
}

GST_END_TEST;

/* A Sync must not be longer than the packet that it answers. Otherwise an
 * attacker could use the endpoint to amplify traffic. The packet in this test
 * is shorter than a Sync, so it must get no answer. */
GST_START_TEST (short_packets_have_no_answer)
{
  DccpPacket packet;

  open_network ();
  packet = dccp_network_next (&network, CLIENT, DCCP_DATA);
  packet.sequence = dccp_sequence_add (packet.sequence, 100000);
  dccp_network_inject_packet (&network, CLIENT, &packet);
  assert_equals_int (count_syncs (CLIENT), 0);
  assert_equals_uint64 (dccp_network_get_stats (&network,
          CLIENT)->answers_suppressed, 1);
}

GST_END_TEST;

/* For most packets that arrive, a client checks that their acknowledgement
 * number is at least AWL. AWL is the lower limit of a window that moves with
 * the numbers of the sent packets. For a Reset, the limit is GAR instead of AWL
 * (RFC 4340 section 7.5.3). GAR is the greatest acknowledgement number that the
 * client has received so far.
 *
 * In this test, the peer is cut off and acknowledges nothing, so AWL becomes
 * greater than GAR. A Reset that acknowledges GAR must nevertheless be valid.
 */
GST_START_TEST (old_acknowledgement_may_end_a_connection)
{
  DccpPacket reset;
  guint64 gar;

  network.configs[CLIENT].sequence_window = 32;
  open_network ();
  network.lose_all[SERVER] = G_MAXUINT;
  network.sending[CLIENT] = TRUE;
  dccp_network_run (&network, 2 * SECOND);
  reset = dccp_network_next (&network, CLIENT, DCCP_RESET);
  gar = dccp_network_get (&network, CLIENT)->numbers.gar;
  fail_unless (dccp_sequence_difference (reset.acknowledgement, gar) >= 32);
  reset.acknowledgement = gar;
  dccp_network_inject_packet (&network, CLIENT, &reset);
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_TIME_WAIT);
}

GST_END_TEST;

/* An Ack with short sequence numbers (24 bits) that belongs to no connection
 * must be answered with a Reset. The upper 24 bits of the acknowledgement
 * number in this Reset must be 0 (RFC 4340 section 8.3.1).
 */
GST_START_TEST (reset_of_short_numbers_has_no_upper_bits)
{
  guint8 bytes[28] =
      { DCCP_NETWORK_PORT >> 8, DCCP_NETWORK_PORT & 255, 0, 9, 7, 0,
    0, 0, DCCP_ACK << 1, 0, 0, 7, 0, 0xff, 0xff, 0xff
  };
  const DccpNetworkEntry *reset;

  dccp_network_begin (&network);
  dccp_network_inject (&network, CLIENT, bytes, sizeof (bytes));
  reset = dccp_network_find (&network, CLIENT, DCCP_RESET, 0);
  fail_unless (reset != NULL);
  assert_equals_uint64 (reset->packet.sequence, 0);
  assert_equals_uint64 (reset->packet.acknowledgement, 7);
}

GST_END_TEST;

/* A packet of the type Listen must get no answer (RFC 5596 section 2.2.3). In
 * particular it must not cause a Sync, although its sequence number is always 0
 * (section 2.2.1). */
GST_START_TEST (listen_has_no_answer)
{
  DccpPacket packet = {.type = DCCP_LISTEN,.service_code = DCCP_SERVICE_RTPV,
    .payload = (const guint8 *) "0123456789ab",.payload_size = 12
  };

  open_network ();
  dccp_network_inject_packet (&network, CLIENT, &packet);
  assert_equals_int (count_syncs (CLIENT), 0);
  assert_equals_uint64 (dccp_network_get_stats (&network,
          CLIENT)->refused[DCCP_REFUSED_STATE], 1);
}

GST_END_TEST;

GST_START_TEST (short_numbers_are_dropped_silently)
{
  guint8 bytes[] =
      { DCCP_NETWORK_PORT >> 8, DCCP_NETWORK_PORT & 255, 0, 0, 3, 0, 0,
    0, DCCP_DATA << 1, 0, 0, 0, 'd', 'a', 't', 'a', 'd', 'a', 't', 'a', 'd',
    'a', 't', 'a'
  };
  guint64 next;
  guint16 port;

  open_network ();
  port = dccp_network_get (&network, CLIENT)->local_port;
  next = dccp_network_get (&network, CLIENT)->numbers.gsr + 1;
  bytes[2] = port >> 8;
  bytes[3] = port;
  bytes[9] = next >> 16;
  bytes[10] = next >> 8;
  bytes[11] = next;
  dccp_network_inject (&network, CLIENT, bytes, sizeof (bytes));
  assert_equals_uint64 (dccp_network_get_stats (&network,
          CLIENT)->refused[DCCP_REFUSED_SHORT_SEQUENCE], 1);
  assert_equals_int (count_syncs (CLIENT), 0);
  assert_equals_int (network.received[CLIENT]->len, 0);
}

GST_END_TEST;

/* A Response arrives before the client has sent its Request. A valid Response
 * acknowledges the sequence number of the Request. The client must therefore
 * refuse this Response. */
GST_START_TEST (unsolicited_response_is_ignored)
{
  DccpPacket packet = {.type = DCCP_RESPONSE,.acknowledgement = 12345 };

  dccp_network_begin (&network);
  dccp_endpoint_connect (network.ends[CLIENT], network.now,
      &network.paths[CLIENT]);
  dccp_network_inject_packet (&network, CLIENT, &packet);
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_REQUEST);
  assert_equals_uint64 (dccp_network_get_stats (&network,
          CLIENT)->refused[DCCP_REFUSED_ACKNOWLEDGEMENT], 1);
}

GST_END_TEST;

/* --- invalid numbers ------------------------------------------------------ */

/* More packets in a row are lost than the sequence window allows. The next
 * packet is therefore invalid, and the server sends a Sync. The client answers
 * with a SyncAck, whose sequence number is outside the window, too. The server
 * must accept it when no valid packet has arrived for three round trips. After
 * that, packets must be delivered again. */
GST_START_TEST (ends_find_each_other_after_a_long_burst)
{
  guint missing;

  network.configs[CLIENT].sequence_window = 500;
  network.periods[CLIENT] = MS;
  open_network ();
  network.sending[CLIENT] = TRUE;
  dccp_network_run (&network, 3 * SECOND);
  network.lose_all[CLIENT] = 500;
  dccp_network_run (&network, SECOND);
  assert_equals_int (network.lose_all[CLIENT], 0);
  dccp_network_run (&network, 10 * SECOND);
  network.sending[CLIENT] = FALSE;
  dccp_network_run (&network, 5 * SECOND);
  fail_unless (count_syncs (SERVER) > 0);
  fail_unless (dccp_network_count (&network, CLIENT, DCCP_SYNC_ACK) > 0);
  missing = network.n_sent[CLIENT] - network.received[SERVER]->len;
  fail_unless (missing >= 500 && missing < 900, "%u missing", missing);
  assert_equals_int (g_array_index (network.received[SERVER], guint32,
          network.received[SERVER]->len - 1), network.n_sent[CLIENT] - 1);
}

GST_END_TEST;

GST_START_TEST (burst_within_the_window_needs_no_sync)
{
  network.periods[CLIENT] = MS;
  open_network ();
  network.sending[CLIENT] = TRUE;
  dccp_network_run (&network, 3 * SECOND);
  network.lose_all[CLIENT] = 500;
  dccp_network_run (&network, 10 * SECOND);
  assert_equals_int (network.lose_all[CLIENT], 0);
  assert_equals_int (count_syncs (SERVER), 0);
  assert_equals_int (count_syncs (CLIENT), 0);
  assert_equals_int (dccp_network_get_state (&network, SERVER),
      DCCP_STATE_OPEN);
}

GST_END_TEST;

/* --- wrap-around at 2^48 -------------------------------------------------- */

GST_START_TEST (numbers_begin_anew)
{
  DccpEnd end;

  network.configs[CLIENT].local_port = 50000;
  dccp_network_begin (&network);
  for (end = CLIENT; end < N_ENDS; end++)
    dccp_network_set_iss (&network, end, DCCP_SEQUENCE_MASK - 300);
  dccp_network_open (&network);
  network.sending[CLIENT] = network.sending[SERVER] = TRUE;
  dccp_network_run (&network, 10 * SECOND);
  network.sending[CLIENT] = network.sending[SERVER] = FALSE;
  dccp_network_run (&network, SECOND);
  for (end = CLIENT; end < N_ENDS; end++) {
    fail_unless (dccp_network_get (&network, end)->numbers.gsr < 2000);
    assert_equals_int (network.received[end]->len, network.n_sent[OTHER (end)]);
    assert_equals_int (count_syncs (end), 0);
    assert_equals_uint64 (dccp_network_get_stats (&network, end)->lost, 0);
  }
  dccp_network_close (&network, CLIENT);
  dccp_network_run (&network, SECOND);
  assert_equals_int (dccp_network_get_state (&network, SERVER),
      DCCP_STATE_LISTEN);
}

GST_END_TEST;

/* The handshake is repeated with four different initial sequence numbers: 0 and
 * the three highest numbers. From the highest numbers, the sequence numbers
 * wrap around during the handshake. The connection must open each time. */
GST_START_TEST (handshake_over_the_edge)
{
  guint i;

  for (i = 0; i < 4; i++) {
    setup ();
    network.configs[CLIENT].local_port = 50000;
    dccp_network_begin (&network);
    network.lose[CLIENT][DCCP_REQUEST] = i / 2;
    dccp_network_set_iss (&network, CLIENT, dccp_sequence_add (0, -(gint64) i));
    dccp_network_set_iss (&network, SERVER, dccp_sequence_add (0, -(gint64) i));
    dccp_network_connect (&network);
    dccp_network_run (&network, 5 * SECOND);
    assert_equals_int (dccp_network_get_state (&network, CLIENT),
        DCCP_STATE_OPEN);
    assert_equals_int (dccp_network_get_state (&network, SERVER),
        DCCP_STATE_OPEN);
    dccp_network_close (&network, SERVER);
    dccp_network_run (&network, SECOND);
    assert_equals_int (dccp_network_count_events (&network, SERVER,
            DCCP_EVENT_CLOSED), 1);
    teardown ();
  }
}

GST_END_TEST;

GST_START_TEST (first_numbers_are_drawn)
{
  guint64 first = 0;
  guint i;

  for (i = 0; i < 2; i++) {
    guint8 entropy[DCCP_ENTROPY_SIZE] = { i };
    DccpEndpoint *endpoint =
        dccp_endpoint_new (&network.configs[CLIENT], entropy);

    fail_if (endpoint->secrets.next_iss == first);
    first = endpoint->secrets.next_iss;
    dccp_endpoint_connect (endpoint, 0, &network.paths[CLIENT]);
    fail_if (endpoint->secrets.next_iss == first);
    dccp_endpoint_free (endpoint);
  }
  dccp_network_begin (&network);
}

GST_END_TEST;

/* --- arithmetic on 48 bits ------------------------------------------------ */

GST_START_TEST (numbers_turn_round)
{
  fail_unless_equals_uint64 (dccp_sequence_add (DCCP_SEQUENCE_MASK, 1), 0);
  fail_unless_equals_uint64 (dccp_sequence_add (0, -1), DCCP_SEQUENCE_MASK);
  fail_unless_equals_int64 (dccp_sequence_difference (2, DCCP_SEQUENCE_MASK),
      3);
  fail_unless_equals_int64 (dccp_sequence_difference (DCCP_SEQUENCE_MASK, 2),
      -3);
  fail_unless (dccp_sequence_is_between (1, DCCP_SEQUENCE_MASK, 2));
  fail_if (dccp_sequence_is_between (3, DCCP_SEQUENCE_MASK, 2));
  fail_if (dccp_sequence_is_between (DCCP_SEQUENCE_MASK - 1,
          DCCP_SEQUENCE_MASK, 2));
}

GST_END_TEST;

GST_START_TEST (short_numbers_are_taken_as_the_nearest)
{
  fail_unless_equals_uint64 (dccp_sequence_extend (5, 3), 5);
  fail_unless_equals_uint64 (dccp_sequence_extend (0xffffff, 0x1000001),
      0xffffff);
  fail_unless_equals_uint64 (dccp_sequence_extend (1, 0x1ffffff), 0x2000001);
  fail_unless_equals_uint64 (dccp_sequence_extend (2, DCCP_SEQUENCE_MASK), 2);
  fail_unless_equals_uint64 (dccp_sequence_extend (0xffffff, 0),
      DCCP_SEQUENCE_MASK);
}

GST_END_TEST;

static Suite *
dccpsequences_suite (void)
{
  Suite *suite = suite_create ("dccpsequences");
  TCase *arithmetic = tcase_create ("arithmetic");
  TCase *windows = tcase_create ("windows");
  TCase *found = tcase_create ("lost and found");
  TCase *edge = tcase_create ("edge");

  suite_add_tcase (suite, arithmetic);
  tcase_add_test (arithmetic, numbers_turn_round);
  tcase_add_test (arithmetic, short_numbers_are_taken_as_the_nearest);
  suite_add_tcase (suite, windows);
  tcase_add_test (windows, windows_are_those_of_the_standard);
  tcase_add_test (edge, handshake_over_the_edge);
  suite_add_tcase (suite, found);
  tcase_add_checked_fixture (found, setup, teardown);
  tcase_add_test (found, sync_may_jump_when_nothing_came_for_a_while);
  tcase_add_test (found, sync_acknowledges_what_was_refused);
  tcase_add_test (found, syncs_are_limited);
  tcase_add_test (found, short_packets_have_no_answer);
  tcase_add_test (found, listen_has_no_answer);
  tcase_add_test (found, old_acknowledgement_may_end_a_connection);
  tcase_add_test (found, reset_of_short_numbers_has_no_upper_bits);
  tcase_add_test (found, short_numbers_are_dropped_silently);
  tcase_add_test (found, unsolicited_response_is_ignored);
  tcase_add_test (found, ends_find_each_other_after_a_long_burst);
  tcase_add_test (found, burst_within_the_window_needs_no_sync);
  tcase_add_test (found, numbers_begin_anew);
  tcase_add_test (found, first_numbers_are_drawn);
  suite_add_tcase (suite, edge);
  return suite;
}

GST_CHECK_MAIN (dccpsequences);

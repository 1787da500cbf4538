/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests how a DCCP connection ends (RFC 4340 section 8.3):
 * - One endpoint or both send a Close.
 * - A closing packet is lost.
 * - An endpoint sends a Reset.
 * - The peer does not answer.
 *
 * Other tests send packets to a connection that has already ended, and check
 * the answers.
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

static void
assert_closed (void)
{
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_TIME_WAIT);
  assert_equals_int (dccp_network_get_state (&network, SERVER),
      DCCP_STATE_LISTEN);
  assert_equals_int (dccp_network_count_events (&network, CLIENT,
          DCCP_EVENT_CLOSED), 1);
  assert_equals_int (dccp_network_count_events (&network, SERVER,
          DCCP_EVENT_CLOSED), 1);
}

static guint8
get_reset_code (DccpEnd from, gint n)
{
  const DccpNetworkEntry *entry =
      dccp_network_find (&network, from, DCCP_RESET, n);

  fail_unless (entry != NULL);
  return entry->packet.reset_code;
}

GST_START_TEST (client_closes)
{
  open_network ();
  dccp_network_close (&network, CLIENT);
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_CLOSING);
  dccp_network_run (&network, SECOND);
  assert_closed ();
  assert_equals_int (dccp_network_count (&network, CLIENT, DCCP_CLOSE), 1);
  assert_equals_int (dccp_network_count (&network, SERVER, DCCP_RESET), 1);
  assert_equals_int (get_reset_code (SERVER, 0), DCCP_RESET_CLOSED);
}

GST_END_TEST;

/* The server receives a forged Close in which one value is wrong: the source
 * address, the UDP source port, the DCCP source port, the sequence number or
 * the acknowledgement number. __i__ selects this value. The server must ignore
 * the Close. */
GST_START_TEST (close_counts_only_from_the_peer_with_valid_numbers)
{
  DatagramPath path;
  DccpPacket close;
  guint8 bytes[DCCP_MAX_HEADER];

  open_network ();
  path = network.paths[SERVER];
  close = dccp_network_next (&network, SERVER, DCCP_CLOSE);
  close.extended = TRUE;
  close.source = dccp_network_get (&network, SERVER)->remote_port;
  close.destination = DCCP_NETWORK_PORT;
  switch (__i__) {
    case 0:
      path.remote[3] ^= 1;
      break;
    case 1:
      path.remote_port ^= 1;
      break;
    case 2:
      close.source ^= 1;
      break;
    case 3:                    /* an old number */
      close.sequence = dccp_sequence_add (close.sequence, -1);
      break;
      /* This sequence number lies beyond the window of valid numbers. The
       * window has 10000 numbers. 7500 of them come after GSR, the greatest
       * sequence number that the server has received. */
    case 4:
      close.sequence = dccp_sequence_add (close.sequence, 7500);
      break;
    case 5:                    /* never sent */
      close.acknowledgement = dccp_sequence_add (close.acknowledgement, 1);
      break;
    default:                   /* acknowledged long ago */
      close.acknowledgement = dccp_sequence_add (dccp_network_get (&network,
              SERVER)->numbers.gar, -1);
      break;
  }
  dccp_network_inject_from (&network, SERVER, &path, bytes,
      dccp_packet_write (&close, &path, bytes));
  dccp_network_run (&network, SECOND);
  assert_equals_int (dccp_network_get_state (&network, SERVER),
      DCCP_STATE_OPEN);
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_OPEN);
  assert_equals_int (dccp_network_count_events (&network, SERVER,
          DCCP_EVENT_CLOSED), 0);
}

GST_END_TEST;

/* The server closes the connection with a CloseReq, which asks the client to
 * send a Close. As the sender of the Close, the client must enter the state
 * TIMEWAIT. The server must return to LISTEN at once. */
GST_START_TEST (server_asks_the_client_to_close)
{
  open_network ();
  dccp_network_close (&network, SERVER);
  assert_equals_int (dccp_network_get_state (&network, SERVER),
      DCCP_STATE_CLOSE_REQ);
  dccp_network_run (&network, 60 * MS);
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_CLOSING);
  dccp_network_run (&network, SECOND);
  assert_closed ();
  assert_equals_int (dccp_network_count (&network, SERVER, DCCP_CLOSE_REQ), 1);
  assert_equals_int (dccp_network_count (&network, CLIENT, DCCP_CLOSE), 1);
}

GST_END_TEST;

GST_START_TEST (both_close_at_once)
{
  open_network ();
  dccp_network_close (&network, SERVER);
  dccp_network_close (&network, CLIENT);
  dccp_network_run (&network, SECOND);
  assert_closed ();
}

GST_END_TEST;

/* Checks when endpoint `from` has sent its first `n` packets of the type
 * `type`. The packet must be repeated after two round trips (200 ms). After
 * that, each interval must be twice as long as the one before it, up to 64 s.
 */
static void
assert_backoff (DccpEnd from, DccpType type, guint n)
{
  guint64 wait = 200 * MS;
  guint i;

  for (i = 1; i < n; i++) {
    assert_equals_uint64 (dccp_network_find (&network, from, type, i)->time -
        dccp_network_find (&network, from, type, i - 1)->time, wait);
    wait = MIN (2 * wait, 64 * SECOND);
  }
}

GST_START_TEST (close_is_sent_again)
{
  network.configs[CLIENT].idle_timeout = 0;
  network.configs[SERVER].idle_timeout = 0;
  open_network ();
  network.lose[CLIENT][DCCP_CLOSE] = 11;
  dccp_network_close (&network, CLIENT);
  dccp_network_run (&network, 300 * SECOND);
  assert_closed ();
  assert_equals_int (dccp_network_count (&network, CLIENT, DCCP_CLOSE), 12);
  assert_backoff (CLIENT, DCCP_CLOSE, 12);
}

GST_END_TEST;

GST_START_TEST (close_req_is_sent_again)
{
  open_network ();
  network.lose[SERVER][DCCP_CLOSE_REQ] = 4;
  dccp_network_close (&network, SERVER);
  dccp_network_run (&network, 9 * SECOND);
  assert_closed ();
  assert_equals_int (dccp_network_count (&network, SERVER, DCCP_CLOSE_REQ), 5);
  assert_backoff (SERVER, DCCP_CLOSE_REQ, 5);
}

GST_END_TEST;

/* An endpoint repeats a Close or CloseReq that gets no answer, usually after
 * two round trips. Here the round trip is only 2 ms, and a busy host may need
 * longer than two round trips to answer. If the packet is repeated before the
 * answer arrives, the host may receive the repeated packet when the connection
 * has already ended. It then answers with a Reset that says that there is no
 * connection. The first repetition must therefore wait for at least 200 ms. */
GST_START_TEST (a_near_peer_has_time_to_answer)
{
  network.delay = MS;
  open_network ();
  network.lose[__i__][__i__ == CLIENT ? DCCP_CLOSE : DCCP_CLOSE_REQ] = 4;
  dccp_network_close (&network, __i__);
  dccp_network_run (&network, 9 * SECOND);
  assert_closed ();
  assert_backoff (__i__, __i__ == CLIENT ? DCCP_CLOSE : DCCP_CLOSE_REQ, 5);
}

GST_END_TEST;

/* The server answers the client's Close with a Reset and forgets the
 * connection, but the Reset is lost. The client then repeats its Close. The
 * server must answer this second Close with a Reset that has the code "No
 * Connection". */
GST_START_TEST (lost_reset_is_made_up_for)
{
  open_network ();
  network.lose[SERVER][DCCP_RESET] = 1;
  dccp_network_close (&network, CLIENT);
  dccp_network_run (&network, 5 * SECOND);
  assert_closed ();
  assert_equals_int (get_reset_code (SERVER, 1), DCCP_RESET_NO_CONNECTION);
}

GST_END_TEST;

/* The server's Reset is lost, so the client repeats its Close. At the same
 * time, 1000 Acks per second arrive that belong to no connection. The server
 * limits the number of its answers to unknown senders, and the Acks use up this
 * limit. The client was connected before, so its Close must nevertheless be
 * answered. */
GST_START_TEST (lost_reset_is_made_up_for_in_a_flood)
{
  guint i;

  open_network ();
  network.lose[SERVER][DCCP_RESET] = 1;
  dccp_network_close (&network, CLIENT);
  dccp_network_run (&network, 60 * MS);
  for (i = 0; i < 2000; i++) {
    guint8 bytes[DCCP_MAX_HEADER + 8] = { 0 };
    DatagramPath path = network.paths[SERVER];
    DccpPacket ack = {.type = DCCP_ACK,.extended = TRUE,.source = i,
      .destination = DCCP_NETWORK_PORT,.sequence = i,.acknowledgement = i
    };

    path.remote[0] = 100;
    dccp_network_inject_from (&network, SERVER, &path, bytes,
        dccp_packet_write (&ack, &path, bytes) + 8);
    dccp_network_run (&network, MS);
  }
  assert_equals_int (dccp_network_count_events (&network, CLIENT,
          DCCP_EVENT_CLOSED), 1);
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_TIME_WAIT);
  /* The test has lasted less than three seconds. In this time, the server may
   * send at most two Resets to the client, and at most eight Resets per second
   * to unknown senders. */
  fail_unless (dccp_network_count (&network, SERVER, DCCP_RESET) <= 2 + 3 * 8);
}

GST_END_TEST;

/* A Close without options, as Linux sends it, is shorter than a Reset. A server
 * never sends an unknown sender a packet that is longer than the sender's own
 * packet, so such a Close gets no answer. If the sender of the Close was
 * connected before, the server must answer each Close. */
GST_START_TEST (short_close_is_answered_again)
{
  DccpPacket packet;

  open_network ();
  packet = dccp_network_next (&network, SERVER, DCCP_CLOSE);
  packet.source = dccp_network_get (&network, SERVER)->remote_port;
  packet.destination = DCCP_NETWORK_PORT;
  network.lose_all[SERVER] = G_MAXUINT;
  dccp_network_inject_packet (&network, SERVER, &packet);
  assert_equals_int (get_reset_code (SERVER, 0), DCCP_RESET_CLOSED);
  dccp_network_inject_packet (&network, SERVER, &packet);
  assert_equals_int (get_reset_code (SERVER, 1), DCCP_RESET_NO_CONNECTION);
  packet.source ^= 1;
  dccp_network_inject_packet (&network, SERVER, &packet);
  assert_equals_int (dccp_network_count (&network, SERVER, DCCP_RESET), 2);
  assert_equals_int (dccp_network_get_state (&network, SERVER),
      DCCP_STATE_LISTEN);
}

GST_END_TEST;

GST_START_TEST (close_is_given_up_after_the_idle_timeout)
{
  open_network ();
  network.lose_all[CLIENT] = network.lose_all[SERVER] = G_MAXUINT;
  dccp_network_close (&network, CLIENT);
  dccp_network_run (&network, 11 * SECOND);
  assert_equals_int (dccp_network_count_events (&network, CLIENT,
          DCCP_EVENT_TIMED_OUT), 1);
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_CLOSED);
  assert_equals_int (dccp_network_count_events (&network, SERVER,
          DCCP_EVENT_TIMED_OUT), 1);
  assert_equals_int (dccp_network_get_state (&network, SERVER),
      DCCP_STATE_LISTEN);
}

GST_END_TEST;

GST_START_TEST (data_sent_before_the_close_comes)
{
  open_network ();
  network.sending[CLIENT] = TRUE;
  dccp_network_run (&network, SECOND);
  network.sending[CLIENT] = FALSE;
  network.n_put[CLIENT] = network.n_sent[CLIENT];
  dccp_network_close (&network, CLIENT);
  fail_unless (dccp_endpoint_next_send (network.ends[CLIENT], network.now) ==
      DCCP_NEVER);
  dccp_network_run (&network, SECOND);
  assert_equals_int (network.received[SERVER]->len, network.n_sent[CLIENT]);
  assert_closed ();
}

GST_END_TEST;

GST_START_TEST (closing_before_it_is_open_cleans_up)
{
  dccp_network_begin (&network);
  dccp_network_connect (&network);
  dccp_network_run (&network, 60 * MS);
  dccp_network_close (&network, CLIENT);
  assert_equals_int (get_reset_code (CLIENT, 0), DCCP_RESET_ABORTED);
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_CLOSED);
  dccp_network_run (&network, 5 * SECOND);
  assert_equals_int (dccp_network_get_state (&network, SERVER),
      DCCP_STATE_LISTEN);
  assert_equals_int (network.events[SERVER]->len, 0);
}

GST_END_TEST;

GST_START_TEST (close_without_a_connection_is_closed)
{
  dccp_network_begin (&network);
  dccp_network_close (&network, CLIENT);
  assert_equals_int (dccp_network_count_events (&network, CLIENT,
          DCCP_EVENT_CLOSED), 1);
  dccp_network_run (&network, SECOND);
  assert_equals_int (network.log->len, 0);
}

GST_END_TEST;

GST_START_TEST (abort_resets)
{
  open_network ();
  dccp_endpoint_abort (network.ends[SERVER], network.now);
  dccp_network_flush (&network, SERVER);
  dccp_network_run (&network, SECOND);
  assert_equals_int (dccp_network_find_event (&network, CLIENT,
          DCCP_EVENT_RESET)->reset_code, DCCP_RESET_ABORTED);
  assert_equals_int (dccp_network_count_events (&network, SERVER,
          DCCP_EVENT_ABORTED), 1);
  assert_equals_int (dccp_network_count (&network, CLIENT, DCCP_RESET), 0);
}

GST_END_TEST;

/* --- after the connection ------------------------------------------------- */

GST_START_TEST (connection_in_timewait_is_no_connection)
{
  DccpPacket packet;

  open_network ();
  packet = dccp_network_next (&network, CLIENT, DCCP_SYNC);
  packet.options = (const guint8 *) "\0\0\0";
  packet.options_size = 4;
  packet.source = DCCP_NETWORK_PORT;
  packet.destination = dccp_network_get (&network, CLIENT)->local_port;
  dccp_network_close (&network, CLIENT);
  dccp_network_run (&network, SECOND);
  assert_closed ();
  dccp_network_inject_packet (&network, CLIENT, &packet);
  assert_equals_int (get_reset_code (CLIENT, 0), DCCP_RESET_NO_CONNECTION);
  assert_equals_uint64 (dccp_network_find (&network, CLIENT, DCCP_RESET,
          0)->packet.sequence, dccp_sequence_add (packet.acknowledgement, 1));
  assert_equals_uint64 (dccp_network_find (&network, CLIENT, DCCP_RESET,
          0)->packet.acknowledgement, packet.sequence);
  packet.type = DCCP_RESET;
  dccp_network_inject_packet (&network, CLIENT, &packet);
  assert_equals_int (dccp_network_count (&network, CLIENT, DCCP_RESET), 1);
  dccp_network_run (&network, 240 * SECOND);
  dccp_network_connect (&network);
  dccp_network_run (&network, SECOND);
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_OPEN);
}

GST_END_TEST;

GST_START_TEST (client_connects_again_at_once)
{
  open_network ();
  dccp_network_close (&network, CLIENT);
  dccp_network_run (&network, SECOND);
  assert_closed ();
  dccp_network_connect (&network);
  dccp_network_run (&network, SECOND);
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_OPEN);
  assert_equals_int (dccp_network_get_state (&network, SERVER),
      DCCP_STATE_OPEN);
  assert_equals_int (dccp_network_get_stats (&network, SERVER)->connections, 2);
  fail_if (dccp_network_find (&network, CLIENT, DCCP_REQUEST,
          0)->packet.source == dccp_network_find (&network, CLIENT,
          DCCP_REQUEST, 1)->packet.source);
}

GST_END_TEST;

/* The client aborts the connection with a Reset, so the server remembers the
 * client's ports for the time of TIMEWAIT. During this time, the server must
 * refuse a connection from these ports. Afterwards, it must accept one. */
GST_START_TEST (ports_in_timewait_are_refused)
{
  network.configs[CLIENT].local_port = 50000;
  open_network ();
  dccp_endpoint_abort (network.ends[CLIENT], network.now);
  dccp_network_flush (&network, CLIENT);
  dccp_network_run (&network, SECOND);
  assert_equals_int (dccp_network_get_state (&network, SERVER),
      DCCP_STATE_LISTEN);
  dccp_network_connect (&network);
  dccp_network_run (&network, SECOND);
  assert_equals_int (get_reset_code (SERVER, 0), DCCP_RESET_NO_CONNECTION);
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_TIME_WAIT);
  dccp_network_run (&network, 240 * SECOND);
  dccp_network_connect (&network);
  dccp_network_run (&network, SECOND);
  assert_equals_int (dccp_network_get_state (&network, SERVER),
      DCCP_STATE_OPEN);
}

GST_END_TEST;

/* The client has lost its state and connects again from the same ports. For the
 * server, the old connection is still open, and the sequence numbers of the new
 * Request are not valid in it. The following packets must end the old
 * connection:
 * - The server answers the Request with a Sync.
 * - The client answers the Sync with a Reset, whose number is not valid either.
 * - The server answers the Reset with a second Sync. This Sync acknowledges
 *   GSR, the greatest sequence number that the server has received.
 * - The client answers the second Sync with a Reset. Its number is GSR + 1,
 *   which is valid.
 */
GST_START_TEST (client_that_was_restarted_gets_in)
{
  const guint8 entropy[DCCP_ENTROPY_SIZE] = { 'n' };

  network.configs[CLIENT].local_port = 50000;
  network.configs[SERVER].time_wait = 0;
  open_network ();
  dccp_endpoint_free (network.ends[CLIENT]);
  network.ends[CLIENT] = dccp_endpoint_new (&network.configs[CLIENT], entropy);
  memset (&network.stats[CLIENT], 0, sizeof (network.stats[CLIENT]));
  dccp_network_connect (&network);
  dccp_network_run (&network, 5 * SECOND);
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_OPEN);
  assert_equals_int (dccp_network_get_state (&network, SERVER),
      DCCP_STATE_OPEN);
  assert_equals_int (dccp_network_find_event (&network, SERVER,
          DCCP_EVENT_RESET)->reset_code, DCCP_RESET_PACKET_ERROR);
}

GST_END_TEST;

/* --- a silent peer -------------------------------------------------------- */

GST_START_TEST (idle_connection_is_kept_by_syncs)
{
  open_network ();
  dccp_network_run (&network, 100 * SECOND);
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_OPEN);
  assert_equals_int (dccp_network_get_state (&network, SERVER),
      DCCP_STATE_OPEN);
  fail_unless (dccp_network_count (&network, CLIENT,
          DCCP_SYNC) + dccp_network_count (&network, SERVER, DCCP_SYNC) >= 19);
  fail_unless (dccp_network_count (&network, CLIENT,
          DCCP_SYNC) + dccp_network_count (&network, SERVER, DCCP_SYNC) <= 42);
}

GST_END_TEST;

GST_START_TEST (receiver_notices_that_its_sender_is_gone)
{
  open_network ();
  network.sending[CLIENT] = TRUE;
  dccp_network_run (&network, SECOND);
  network.sending[CLIENT] = FALSE;
  network.lose_all[CLIENT] = G_MAXUINT;
  dccp_network_run (&network, 9 * SECOND);
  assert_equals_int (dccp_network_get_state (&network, SERVER),
      DCCP_STATE_OPEN);
  dccp_network_run (&network, 2 * SECOND);
  assert_equals_int (dccp_network_get_state (&network, SERVER),
      DCCP_STATE_LISTEN);
  assert_equals_int (dccp_network_count_events (&network, SERVER,
          DCCP_EVENT_TIMED_OUT), 1);
  assert_equals_int (get_reset_code (SERVER, 0), DCCP_RESET_ABORTED);
}

GST_END_TEST;

GST_START_TEST (sender_notices_that_nobody_answers)
{
  open_network ();
  network.sending[CLIENT] = TRUE;
  dccp_network_run (&network, SECOND);
  network.lose_all[SERVER] = G_MAXUINT;
  dccp_network_run (&network, 11 * SECOND);
  assert_equals_int (dccp_network_count_events (&network, CLIENT,
          DCCP_EVENT_TIMED_OUT), 1);
}

GST_END_TEST;

GST_START_TEST (without_idle_timeout_nobody_asks)
{
  network.configs[CLIENT].idle_timeout = network.configs[SERVER].idle_timeout =
      0;
  open_network ();
  dccp_network_run (&network, 3600 * SECOND);
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_OPEN);
  assert_equals_int (dccp_network_count (&network, CLIENT, DCCP_SYNC), 0);
  assert_equals_int (dccp_network_count (&network, SERVER, DCCP_SYNC), 0);
}

GST_END_TEST;

static Suite *
dccpclose_suite (void)
{
  Suite *suite = suite_create ("dccpclose");
  TCase *order = tcase_create ("in order");
  TCase *after = tcase_create ("after");
  TCase *idle = tcase_create ("idle");

  suite_add_tcase (suite, order);
  tcase_add_checked_fixture (order, setup, teardown);
  tcase_add_test (order, client_closes);
  tcase_add_loop_test (order,
      close_counts_only_from_the_peer_with_valid_numbers, 0, 7);
  tcase_add_test (order, server_asks_the_client_to_close);
  tcase_add_test (order, both_close_at_once);
  tcase_add_test (order, close_is_sent_again);
  tcase_add_test (order, close_req_is_sent_again);
  tcase_add_loop_test (order, a_near_peer_has_time_to_answer, CLIENT, N_ENDS);
  tcase_add_test (order, lost_reset_is_made_up_for);
  tcase_add_test (order, lost_reset_is_made_up_for_in_a_flood);
  tcase_add_test (order, short_close_is_answered_again);
  tcase_add_test (order, close_is_given_up_after_the_idle_timeout);
  tcase_add_test (order, data_sent_before_the_close_comes);
  tcase_add_test (order, closing_before_it_is_open_cleans_up);
  tcase_add_test (order, close_without_a_connection_is_closed);
  tcase_add_test (order, abort_resets);
  suite_add_tcase (suite, after);
  tcase_add_checked_fixture (after, setup, teardown);
  tcase_add_test (after, connection_in_timewait_is_no_connection);
  tcase_add_test (after, client_connects_again_at_once);
  tcase_add_test (after, ports_in_timewait_are_refused);
  tcase_add_test (after, client_that_was_restarted_gets_in);
  suite_add_tcase (suite, idle);
  tcase_add_checked_fixture (idle, setup, teardown);
  tcase_add_test (idle, idle_connection_is_kept_by_syncs);
  tcase_add_test (idle, receiver_notices_that_its_sender_is_gone);
  tcase_add_test (idle, sender_notices_that_nobody_answers);
  tcase_add_test (idle, without_idle_timeout_nobody_asks);
  return suite;
}

GST_CHECK_MAIN (dccpclose);

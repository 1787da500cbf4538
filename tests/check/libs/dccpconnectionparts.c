/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the small modules that are parts of a DCCP connection: its numbers,
 * its timers, the packets that wait to be sent, the record of received packets,
 * the reports of dropped packets, and the round-trip time of the handshake. The
 * expected values were computed by hand. */

#include <gst/check/gstcheck.h>

#include "dccpdropreports.h"
#include "dccphandshaketimes.h"
#include "dccpnumbers.h"
#include "dccppending.h"
#include "dccpreceived.h"
#include "dccptimers.h"

#define MS DCCP_MILLISECOND
#define SECOND DCCP_SECOND
#define START (1000 * SECOND)
#define ISS 1000
#define ISR 5000

/* --- numbers -------------------------------------------------------------- */

/* Prepares the numbers of a connection that has sent and received one packet.
 * Both Sequence Windows have the default size of 100 packets. */
static DccpFeatures *
open_numbers (DccpNumbers * numbers)
{
  const DccpFeaturesConfig config = {.sequence_window = 100,
    .initial_sequence = ISS
  };
  DccpFeatures *features = dccp_features_new (&config);

  dccp_numbers_init (numbers, features, ISS);
  dccp_numbers_add_sent (numbers, ISS);
  dccp_numbers_set_initial_received (numbers, ISR);
  fail_unless (dccp_numbers_add_received (numbers, START, ISR));
  return features;
}

static gboolean
is_sequence_valid (const DccpNumbers * numbers, DccpType type, guint64 sequence)
{
  const DccpPacket packet = {.type = type,.sequence = sequence };

  return dccp_numbers_is_sequence_valid (numbers, &packet);
}

static gboolean
is_acknowledgement_valid (const DccpNumbers * numbers, guint64 number)
{
  const DccpPacket packet = {.type = DCCP_ACK,.acknowledgement = number };

  return dccp_numbers_is_acknowledgement_valid (numbers, &packet);
}

GST_START_TEST (a_quarter_of_the_window_is_below_gsr)
{
  DccpNumbers numbers = { 0 };
  DccpFeatures *features = open_numbers (&numbers);

  /* The window never extends below the first number of the peer. */
  fail_if (is_sequence_valid (&numbers, DCCP_DATA, ISR - 1));
  fail_unless (is_sequence_valid (&numbers, DCCP_DATA, ISR));
  fail_unless (is_sequence_valid (&numbers, DCCP_DATA, ISR + 75));
  fail_if (is_sequence_valid (&numbers, DCCP_DATA, ISR + 76));
  fail_unless (dccp_numbers_add_received (&numbers, START, ISR + 60));
  fail_if (dccp_numbers_add_received (&numbers, START + MS, ISR + 50));
  fail_unless_equals_uint64 (numbers.gsr, ISR + 60);
  fail_unless_equals_uint64 (numbers.gsr_time, START);
  fail_if (is_sequence_valid (&numbers, DCCP_DATA, ISR + 35));
  fail_unless (is_sequence_valid (&numbers, DCCP_DATA, ISR + 36));
  /* A packet that ends the connection must be the latest one. */
  fail_if (is_sequence_valid (&numbers, DCCP_RESET, ISR + 60));
  fail_unless (is_sequence_valid (&numbers, DCCP_RESET, ISR + 61));
  dccp_features_free (features);
}

GST_END_TEST;

GST_START_TEST (only_sent_numbers_can_be_acknowledged)
{
  DccpNumbers numbers = { 0 };
  DccpFeatures *features = open_numbers (&numbers);

  fail_if (is_acknowledgement_valid (&numbers, ISS - 1));
  fail_unless (is_acknowledgement_valid (&numbers, ISS));
  fail_if (is_acknowledgement_valid (&numbers, ISS + 1));
  dccp_numbers_add_sent (&numbers, ISS + 200);
  fail_if (is_acknowledgement_valid (&numbers, ISS + 100));
  fail_unless (is_acknowledgement_valid (&numbers, ISS + 101));
  fail_unless_equals_uint64 (dccp_numbers_get_next (&numbers), ISS + 201);
  dccp_features_free (features);
}

GST_END_TEST;

GST_START_TEST (sync_may_be_above_the_window_of_an_idle_connection)
{
  DccpPacket sync = {.type = DCCP_SYNC,.sequence = ISR + 5000,
    .acknowledgement = ISS
  };
  DccpNumbers numbers = { 0 };
  DccpFeatures *features = open_numbers (&numbers);

  fail_if (dccp_numbers_is_sync_valid (&numbers, &sync, TRUE));
  fail_unless (dccp_numbers_is_sync_valid (&numbers, &sync, FALSE));
  sync.sequence = ISR - 1;
  fail_if (dccp_numbers_is_sync_valid (&numbers, &sync, FALSE));
  dccp_features_free (features);
}

GST_END_TEST;

/* --- timers --------------------------------------------------------------- */

GST_START_TEST (retransmission_interval_doubles_up_to_64_seconds)
{
  DccpTimers timers = { 0 };
  guint i;

  dccp_timers_init (&timers, START);
  fail_unless (timers.retransmit_at == DCCP_NEVER);
  dccp_timers_start (&timers, START, SECOND);
  fail_unless_equals_uint64 (timers.retransmit_at, START + SECOND);
  dccp_timers_back_off (&timers, START + SECOND);
  fail_unless_equals_uint64 (timers.retransmit_at, START + 3 * SECOND);
  for (i = 0; i < 10; i++)
    dccp_timers_back_off (&timers, START);
  fail_unless_equals_uint64 (timers.retransmit_at, START + 64 * SECOND);
  dccp_timers_stop (&timers);
  fail_unless (timers.retransmit_at == DCCP_NEVER);
}

GST_END_TEST;

GST_START_TEST (interval_can_be_set_before_the_timer_runs)
{
  DccpTimers timers = { 0 };

  dccp_timers_init (&timers, START);
  dccp_timers_set_backoff (&timers, 2 * SECOND);
  fail_unless (timers.retransmit_at == DCCP_NEVER);
  dccp_timers_back_off (&timers, START);
  fail_unless_equals_uint64 (timers.retransmit_at, START + 4 * SECOND);
}

GST_END_TEST;

GST_START_TEST (deadline_depends_on_the_state)
{
  const DccpEndpointConfig config = {.connect_timeout = 100 * SECOND,
    .idle_timeout = 10 * SECOND
  };
  const DccpEndpointConfig endless = { 0 };
  DccpTimers timers = { 0 };

  dccp_timers_init (&timers, START);
  dccp_timers_heard (&timers, START + SECOND);
  fail_unless_equals_uint64 (dccp_timers_get_deadline (&timers, &config,
          DCCP_STATE_REQUEST, FALSE), START + 100 * SECOND);
  fail_unless_equals_uint64 (dccp_timers_get_deadline (&timers, &config,
          DCCP_STATE_RESPOND, FALSE), START + 4 * DCCP_MSL);
  fail_unless_equals_uint64 (dccp_timers_get_deadline (&timers, &config,
          DCCP_STATE_OPEN, TRUE), START + 11 * SECOND);
  fail_unless_equals_uint64 (dccp_timers_get_deadline (&timers, &config,
          DCCP_STATE_CLOSING, TRUE), START + 10 * SECOND);
  /* Without an idle timeout, only the handshake and the closing must end. */
  fail_unless (dccp_timers_get_deadline (&timers, &endless,
          DCCP_STATE_OPEN, TRUE) == DCCP_NEVER);
  fail_unless_equals_uint64 (dccp_timers_get_deadline (&timers, &endless,
          DCCP_STATE_OPEN, FALSE), START + 4 * DCCP_MSL);
  fail_unless_equals_uint64 (dccp_timers_get_deadline (&timers, &endless,
          DCCP_STATE_CLOSING, TRUE), START + 4 * DCCP_MSL);
}

GST_END_TEST;

GST_START_TEST (idle_connection_is_probed)
{
  const guint64 idle = 8 * SECOND;
  DccpTimers timers = { 0 };

  dccp_timers_init (&timers, START);
  fail_unless_equals_uint64 (dccp_timers_get_probe_time (&timers, idle),
      START + 4 * SECOND);
  dccp_timers_probed (&timers, START + 4 * SECOND, idle);
  fail_unless_equals_uint64 (dccp_timers_get_probe_time (&timers, idle),
      START + 5 * SECOND);
  dccp_timers_heard (&timers, START + 5 * SECOND);
  fail_unless_equals_uint64 (dccp_timers_get_probe_time (&timers, idle),
      START + 9 * SECOND);
  fail_unless (dccp_timers_get_probe_time (&timers, 0) == DCCP_NEVER);
}

GST_END_TEST;

/* --- packets -------------------------------------------------------------- */

GST_START_TEST (waiting_packets_have_an_order)
{
  DccpPending pending = { 0 };
  DccpType type;

  fail_if (dccp_pending_take (&pending, &type));
  dccp_pending_add (&pending, DCCP_CLOSE);
  dccp_pending_add_sync_ack (&pending, 7);
  dccp_pending_add_sync (&pending, 8, 24);
  dccp_pending_add_sync (&pending, 9, 28);
  dccp_pending_add (&pending, DCCP_REQUEST);
  dccp_pending_remove (&pending, DCCP_REQUEST);
  fail_unless (dccp_pending_take (&pending, &type));
  fail_unless_equals_int (type, DCCP_SYNC);
  fail_unless_equals_uint64 (pending.sync_number, 9);
  fail_unless_equals_uint64 (pending.sync_room, 28);
  fail_unless (dccp_pending_take (&pending, &type));
  fail_unless_equals_int (type, DCCP_SYNC_ACK);
  fail_unless_equals_uint64 (pending.sync_ack_number, 7);
  fail_unless (dccp_pending_take (&pending, &type));
  fail_unless_equals_int (type, DCCP_CLOSE);
  fail_if (dccp_pending_take (&pending, &type));
}

GST_END_TEST;

GST_START_TEST (packets_without_data_are_no_gap)
{
  DccpReceived received = { 0 };

  dccp_received_begin (&received, ISR);
  fail_unless (dccp_received_add (&received, ISR + 1));
  fail_if (dccp_received_add (&received, ISR + 1));
  fail_if (dccp_received_deliver (&received, ISR + 1, 0));
  /* Number 2 is missing. */
  fail_unless (dccp_received_add (&received, ISR + 3));
  fail_unless (dccp_received_deliver (&received, ISR + 3, 0));
  /* Numbers 4 and 5 are missing, but had no data. */
  fail_unless (dccp_received_add (&received, ISR + 6));
  fail_if (dccp_received_deliver (&received, ISR + 6, 2));
  /* Number 2 arrives late. Its data do not follow those of number 6. */
  fail_unless (dccp_received_add (&received, ISR + 2));
  fail_unless (dccp_received_deliver (&received, ISR + 2, 0));
  fail_unless_equals_uint64 (received.delivered, ISR + 6);
}

GST_END_TEST;

GST_START_TEST (dropped_packet_is_counted_once)
{
  /* Number 3 was not dropped, and numbers 2 and 1 were. */
  const guint8 blocks[] = { 0x00, 0x80 | DCCP_DROP_RECEIVE_BUFFER << 4 | 1 };
  const DccpOption option = {.type = DCCP_OPTION_DATA_DROPPED,
    .value = blocks,.size = sizeof (blocks)
  };
  DccpDropReport dropped[DCCP_DROP_NONE] = { {0}
  };
  DccpDropReport again[DCCP_DROP_NONE] = { {0}
  };
  DccpDropReports reports = { {0}
  };

  /* Number 1 had no data. */
  dccp_drop_reports_add_sent (&reports, ISS + 2);
  dccp_drop_reports_add_sent (&reports, ISS + 3);
  fail_unless_equals_int (dccp_drop_reports_read (&reports, &option, ISS + 3,
          dropped), 3);
  fail_unless_equals_int (dropped[DCCP_DROP_RECEIVE_BUFFER].n, 1);
  fail_unless_equals_uint64 (dropped[DCCP_DROP_RECEIVE_BUFFER].first, ISS + 2);
  fail_unless_equals_uint64 (dropped[DCCP_DROP_RECEIVE_BUFFER].last, ISS + 2);
  fail_unless_equals_int (dccp_drop_reports_read (&reports, &option, ISS + 3,
          again), 3);
  fail_unless_equals_int (again[DCCP_DROP_RECEIVE_BUFFER].n, 0);
}

GST_END_TEST;

GST_START_TEST (handshake_measures_the_acknowledged_packet)
{
  DccpHandshakeTimes times = { {0}
  };
  guint64 round_trip = 0;

  dccp_handshake_times_add_request (&times, START, ISS);
  dccp_handshake_times_add_request (&times, START + SECOND, ISS + 1);
  fail_unless_equals_uint64 (dccp_handshake_times_measure_request (&times,
          START + 1100 * MS, ISS), 1100 * MS);
  fail_unless_equals_uint64 (dccp_handshake_times_measure_request (&times,
          START + 1100 * MS, ISS + 1), 100 * MS);
  dccp_handshake_times_add_response (&times, START, ISS);
  dccp_handshake_times_add_response (&times, START + SECOND, ISS + 1);
  fail_if (dccp_handshake_times_measure_response (&times, START + 1100 * MS,
          ISS, 0, &round_trip));
  fail_unless (dccp_handshake_times_measure_response (&times,
          START + 1100 * MS, ISS + 1, 30 * MS, &round_trip));
  fail_unless_equals_uint64 (round_trip, 70 * MS);
  /* A time that the peer reports cannot make the result negative. */
  fail_unless (dccp_handshake_times_measure_response (&times,
          START + 1100 * MS, ISS + 1, 300 * MS, &round_trip));
  fail_unless_equals_uint64 (round_trip, 0);
}

GST_END_TEST;

static Suite *
dccpconnectionparts_suite (void)
{
  Suite *s = suite_create ("dccpconnectionparts");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, a_quarter_of_the_window_is_below_gsr);
  tcase_add_test (tc, only_sent_numbers_can_be_acknowledged);
  tcase_add_test (tc, sync_may_be_above_the_window_of_an_idle_connection);
  tcase_add_test (tc, retransmission_interval_doubles_up_to_64_seconds);
  tcase_add_test (tc, interval_can_be_set_before_the_timer_runs);
  tcase_add_test (tc, deadline_depends_on_the_state);
  tcase_add_test (tc, idle_connection_is_probed);
  tcase_add_test (tc, waiting_packets_have_an_order);
  tcase_add_test (tc, packets_without_data_are_no_gap);
  tcase_add_test (tc, dropped_packet_is_counted_once);
  tcase_add_test (tc, handshake_measures_the_acknowledged_packet);
  return s;
}

GST_CHECK_MAIN (dccpconnectionparts);

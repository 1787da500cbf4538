/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests DCCP connections with a congestion control that only this file defines.
 * The endpoints must negotiate this congestion control. It must decide when
 * data are sent, and must receive its own options. If the peer supports only
 * CCID 3, the connection must use CCID 3. Time is virtual. docs/architecture.md
 * refers to this file as an example.
 */

#include <gst/check/gstcheck.h>

#include <string.h>

#include "dccpccid.h"
#include "dccpnetwork.h"
#include "dccpsequence.h"

/* --- the congestion control ----------------------------------------------- */

/* A simple congestion control, as an example. The sender waits for a certain
 * interval between two packets. After every eighth packet, the receiver reports
 * the total number of missing packets. If the report contains a new loss, the
 * sender makes the interval longer by a half. Otherwise it makes the interval
 * shorter by an eighth. These parameters do not come from a publication, and
 * nobody should use this congestion control in a real network. */

#define CCID_INTERVAL 248       /* RFC 4340 section 10, table 5 */
/* Option in which the receiver reports the total number of missing packets, as
 * a number of 4 bytes. Options of this type belong to the congestion control
 * (RFC 4340 section 10.3). */
#define OPTION_MISSED 192
#define OPTION_MISSED_SIZE 4

#define MILLISECOND G_GUINT64_CONSTANT (1000000)        /* ns */
#define FIRST_INTERVAL (20 * MILLISECOND)
#define MIN_INTERVAL (10 * MILLISECOND)
#define MAX_INTERVAL (1000 * MILLISECOND)
#define PACKETS_PER_REPORT 8
#define MAX_REPORT_DELAY (100 * MILLISECOND)
/* Number of packets whose send times are stored. The round trip is computed
 * from the send time of the acknowledged packet. */
#define SENT_KEPT 256

typedef struct
{
  guint64 interval, next;       /* ns */
  guint32 segment_size;
  guint64 sent_times[SENT_KEPT];
  guint64 round_trip;           /* ns */
  guint32 missed;
  guint64 feedbacks, loss_events;
} Sender;

/* In DccpCcidHeard */
typedef struct
{
  gboolean has_missed;
  guint32 missed;
} Heard;

static gpointer
sender_create (const DccpCcidConfig * config)
{
  Sender *sender = g_new0 (Sender, 1);

  sender->interval = FIRST_INTERVAL;
  sender->segment_size = config->segment_size ? config->segment_size :
      config->max_segment;
  return sender;
}

static guint64
sender_next_send (gpointer self, guint64 now)
{
  Sender *sender = self;

  return MAX (sender->next, now);
}

static guint8
sender_sent (gpointer self, guint64 now, guint64 sequence, guint32 size,
    gboolean more)
{
  Sender *sender = self;

  sender->sent_times[sequence % SENT_KEPT] = now;
  sender->next = now + sender->interval;
  return 0;
}

static void
sender_sent_other (gpointer self, guint64 now, guint64 sequence)
{
  Sender *sender = self;

  sender->sent_times[sequence % SENT_KEPT] = now;
}

static gboolean
sender_read_option (DccpCcidHeard * space, const DccpOption * option)
{
  Heard *heard = (Heard *) space;

  if (option->type != OPTION_MISSED || option->size != OPTION_MISSED_SIZE)
    return FALSE;
  heard->has_missed = TRUE;
  heard->missed = wire_read (option->value, option->size);
  return TRUE;
}

static gboolean
sender_feedback (gpointer self, guint64 now, const DccpCcidAck * ack,
    DccpCcidNews * news)
{
  Sender *sender = self;
  const Heard *heard = (const Heard *) ack->heard;
  const guint64 sent = sender->sent_times[ack->acknowledged % SENT_KEPT];

  if (!heard->has_missed)
    return FALSE;
  sender->feedbacks++;
  if (sent > 0)
    sender->round_trip = now - sent - (ack->has_elapsed ? ack->elapsed : 0);
  if (heard->missed > sender->missed) {
    news->n_losses = 1;
    news->losses[0].last = ack->acknowledged;
    news->losses[0].first = dccp_sequence_add (ack->acknowledged,
        1 - (gint64) (heard->missed - sender->missed));
    sender->loss_events++;
    sender->missed = heard->missed;
    sender->interval = MIN (sender->interval * 3 / 2, MAX_INTERVAL);
  } else {
    sender->interval = MAX (sender->interval * 7 / 8, MIN_INTERVAL);
  }
  return TRUE;
}

static void
sender_get_state (gpointer self, DccpCcidSenderState * state)
{
  Sender *sender = self;

  state->rate = state->instant_rate =
      sender->segment_size * 1000. * MILLISECOND / sender->interval;
  state->round_trip = sender->round_trip;
  state->feedbacks = sender->feedbacks;
  state->loss_events = sender->loss_events;
}

typedef struct
{
  guint64 greatest;             /* sequence number */
  guint64 missed;
  guint unreported;             /* packets */
  guint64 report_at;            /* ns */
} Receiver;

static gpointer
receiver_create (const DccpCcidConfig * config)
{
  Receiver *receiver = g_new0 (Receiver, 1);

  receiver->greatest = config->sequence;
  return receiver;
}

static void
receiver_input (gpointer self, guint64 now, const DccpCcidPacket * packet)
{
  Receiver *receiver = self;
  const gint64 ahead = dccp_sequence_difference (packet->sequence,
      receiver->greatest);

  if (ahead <= 0)
    return;
  receiver->missed += ahead - 1;
  receiver->greatest = packet->sequence;
  if (packet->is_data && receiver->unreported++ == 0)
    receiver->report_at = now + MAX_REPORT_DELAY;
}

static guint64
receiver_next_wakeup (gpointer self)
{
  Receiver *receiver = self;

  return receiver->unreported > 0 ? receiver->report_at : G_MAXUINT64;
}

static gboolean
receiver_wants_feedback (gpointer self, guint64 now)
{
  Receiver *receiver = self;

  return receiver->unreported >= PACKETS_PER_REPORT
      || receiver_next_wakeup (self) <= now;
}

static void
receiver_write_feedback (gpointer self, const DccpCcidContext * context,
    DccpOptionWriter * writer)
{
  Receiver *receiver = self;

  receiver->unreported = 0;
  dccp_option_write_number (writer, OPTION_MISSED, receiver->missed,
      OPTION_MISSED_SIZE);
}

static void
receiver_get_state (gpointer self, DccpCcidReceiverState * state)
{
  Receiver *receiver = self;

  state->lost = receiver->missed;
}

static const DccpCcid ccid_interval = {
  .number = CCID_INTERVAL,
  .name = "Interval",
  .sender = {
        .create = sender_create,
        .free = g_free,
        .next_send = sender_next_send,
        .sent = sender_sent,
        .sent_other = sender_sent_other,
        .read_option = sender_read_option,
        .feedback = sender_feedback,
        .get_state = sender_get_state,
      },
  .receiver = {
        .create = receiver_create,
        .free = g_free,
        .input = receiver_input,
        .wants_feedback = receiver_wants_feedback,
        .next_wakeup = receiver_next_wakeup,
        .write_feedback = receiver_write_feedback,
        .get_state = receiver_get_state,
      },
};

/* --- connections with this congestion control ----------------------------- */

static const DccpCcid *const only_interval[] = { &ccid_interval, NULL };
static const DccpCcid *const only_ccid_3[] = { &dccp_ccid_3, NULL };
static const DccpCcid *const interval_first[] =
    { &ccid_interval, &dccp_ccid_3, NULL };
static const DccpCcid *const interval_last[] =
    { &dccp_ccid_3, &ccid_interval, NULL };

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
begin (const DccpCcid * const *client, const DccpCcid * const *server)
{
  network.configs[CLIENT].ccids = client;
  network.configs[SERVER].ccids = server;
  network.configs[CLIENT].segment_size = network.configs[SERVER].segment_size =
      network.sizes[CLIENT];
  dccp_network_begin (&network);
}

static void
assert_ccid (guint number)
{
  DccpEnd end;

  for (end = CLIENT; end < N_ENDS; end++) {
    DccpConnection *connection = dccp_network_get (&network, end);

    fail_unless (dccp_features_are_settled (connection->features));
    assert_equals_int (connection->halves.sender_ccid->number, number);
    assert_equals_int (connection->halves.receiver_ccid->number, number);
    assert_equals_int (dccp_features_get (connection->features,
            DCCP_FEATURE_CCID, TRUE), number);
    assert_equals_int (dccp_features_get (connection->features,
            DCCP_FEATURE_CCID, FALSE), number);
    assert_equals_int (dccp_network_count_events (&network, end,
            DCCP_EVENT_CONNECTED), 1);
    assert_equals_uint64 (dccp_network_get_stats (&network, end)->option_errors,
        0);
  }
}

static void
send_for (guint64 duration)
{
  network.sending[CLIENT] = TRUE;
  network.put_at[CLIENT] = network.now;
  network.periods[CLIENT] = MS;
  dccp_network_run (&network, duration);
}

GST_START_TEST (data_goes_by_another_congestion_control)
{
  const DccpStats *stats;

  begin (only_interval, only_interval);
  dccp_network_open (&network);
  assert_ccid (CCID_INTERVAL);
  assert_equals_uint64 (dccp_network_get_stats (&network, CLIENT)->rate,
      100 * 8 * SECOND / FIRST_INTERVAL);
  send_for (10 * SECOND);
  stats = dccp_network_get_stats (&network, CLIENT);
  assert_equals_uint64 (stats->rate, 100 * 8 * SECOND / MIN_INTERVAL);
  assert_equals_uint64 (stats->round_trip, 100 * MS);
  assert_equals_uint64 (stats->loss_events_received, 0);
  fail_unless (stats->feedback_received >= 9.5 * SECOND / MIN_INTERVAL
      / PACKETS_PER_REPORT);
  /* The congestion control of this test keeps an interval between two packets.
   * Without losses, the interval soon becomes MIN_INTERVAL, and it must never
   * be shorter. The number of packets in ten seconds is therefore limited. */
  fail_unless (network.n_sent[CLIENT] <= 10 * SECOND / MIN_INTERVAL);
  fail_unless (network.n_sent[CLIENT] >= 9 * SECOND / MIN_INTERVAL);
  network.sending[CLIENT] = FALSE;
  network.n_put[CLIENT] = network.n_sent[CLIENT];
  dccp_network_run (&network, SECOND);
  assert_equals_int (network.received[SERVER]->len, network.n_sent[CLIENT]);
  assert_equals_uint64 (dccp_network_get_stats (&network,
          SERVER)->feedback_sent, dccp_network_get_stats (&network,
          CLIENT)->feedback_received);
  fail_unless (dccp_network_count_events (&network, CLIENT,
          DCCP_EVENT_RATE) > 1);
  assert_ccid (CCID_INTERVAL);
}

GST_END_TEST;

GST_START_TEST (losses_slow_it_down_and_are_told)
{
  const DccpEvent *event;
  guint64 greatest;

  begin (only_interval, only_interval);
  dccp_network_open (&network);
  send_for (5 * SECOND);
  greatest = dccp_network_get (&network, CLIENT)->numbers.gss;
  network.lose[CLIENT][DCCP_DATA] = 3;
  dccp_network_run (&network, SECOND / 4);
  assert_equals_uint64 (dccp_network_get_stats (&network, SERVER)->lost, 3);
  assert_equals_uint64 (dccp_network_get_stats (&network,
          CLIENT)->loss_events_received, 1);
  assert_equals_int (dccp_network_count_events (&network, CLIENT,
          DCCP_EVENT_LOST), 1);
  event = dccp_network_find_event (&network, CLIENT, DCCP_EVENT_LOST);
  assert_equals_int (event->lost, 3);
  fail_unless (dccp_sequence_difference (event->sequence, greatest) > 0);
  fail_unless (dccp_network_get_stats (&network, CLIENT)->rate <
      100 * 8 * SECOND / MIN_INTERVAL);
}

GST_END_TEST;

/* The client and the server prefer different congestion controls. The
 * connection must use the one that the server prefers, because in negotiations
 * of the CCID the first entry of the server's list is chosen (RFC 4340 section
 * 6.3.1). */
GST_START_TEST (the_first_of_the_server_is_taken)
{
  begin (interval_last, interval_first);
  dccp_network_open (&network);
  assert_ccid (CCID_INTERVAL);
  send_for (SECOND);
  fail_unless (network.received[SERVER]->len > 10);
}

GST_END_TEST;

GST_START_TEST (a_peer_with_ccid_3_alone_gets_that)
{
  begin (interval_first, only_ccid_3);
  dccp_network_open (&network);
  assert_ccid (3);
  send_for (SECOND);
  fail_unless (network.received[SERVER]->len > 10);
  fail_unless (dccp_network_get_stats (&network,
          CLIENT)->feedback_received > 0);
}

GST_END_TEST;

GST_START_TEST (without_a_common_one_there_is_no_connection)
{
  begin (only_interval, only_ccid_3);
  dccp_network_connect (&network);
  dccp_network_run (&network, SECOND);
  assert_equals_int (dccp_network_count_events (&network, CLIENT,
          DCCP_EVENT_CONNECTED), 0);
  assert_equals_int (dccp_network_count_events (&network, CLIENT,
          DCCP_EVENT_RESET), 1);
  assert_equals_int (dccp_network_count (&network, SERVER, DCCP_RESET), 1);
}

GST_END_TEST;

/* Overwrites the options of each Response with Padding. The client then gets
 * none of the server's options in the handshake. */
static gboolean
empty_response (DccpNetwork * self, DccpEnd from, const DccpPacket * packet,
    guint8 * bytes, gsize size)
{
  if (packet->type == DCCP_RESPONSE)
    memset (bytes + size - packet->options_size, 0, packet->options_size);
  return TRUE;
}

/* The filter removes the options of the Response, so the client does not know
 * the server's choice of a CCID. It starts with the CCID that it prefers
 * itself. Later the server's Confirm arrives, which contains CCID 3. The client
 * must then change to CCID 3. */
GST_START_TEST (one_that_is_agreed_on_late_takes_over)
{
  network.filter = empty_response;
  begin (interval_first, interval_last);
  dccp_network_connect (&network);
  dccp_network_run (&network, 100 * MS);
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_PARTOPEN);
  assert_equals_int (dccp_network_get (&network,
          CLIENT)->halves.sender_ccid->number, CCID_INTERVAL);
  assert_equals_int (dccp_network_count_events (&network, CLIENT,
          DCCP_EVENT_CONNECTED), 0);
  dccp_network_run (&network, 2 * SECOND);
  assert_ccid (3);
  send_for (SECOND);
  fail_unless (network.received[SERVER]->len > 10);
  fail_unless (dccp_network_get_stats (&network,
          CLIENT)->feedback_received > 0);
}

GST_END_TEST;

/* A connection uses CCID 3. Then a packet arrives by which the server asks the
 * client to send with CCID 248, the congestion control of this test. The packet
 * has these options:
 * - Loss Event Rate and Receive Rate of CCID 3;
 * - Change R (CCID, 248);
 * - Mandatory, followed by option 192 with the value 3.
 *
 * Option 192 has two meanings. In CCID 3, option 192 is Loss Event Rate. In
 * CCID 248, option 192 is the number of missing packets. The client must read
 * all options of this packet as options of CCID 3, even those after the Change.
 * After this packet, the client must send with CCID 248. Nobody has asked the
 * server to change its own CCID, so the server continues to send reports of
 * CCID 3.
 */
GST_START_TEST (one_that_is_agreed_on_later_takes_over)
{
  DccpConnection *connection;
  DccpPacket packet;
  guint n;

  begin (interval_last, interval_last);
  dccp_network_open (&network);
  assert_ccid (3);
  send_for (2 * SECOND);
  connection = dccp_network_get (&network, CLIENT);
  packet = dccp_network_next (&network, CLIENT, DCCP_ACK);
  packet.options = (const guint8 *) "\300\6\0\0\0\144" "\302\6\0\0\20\0"
      "\42\4\1\370" "\1\300\6\0\0\0\3";
  packet.options_size = 23;
  dccp_network_inject_packet (&network, CLIENT, &packet);
  assert_equals_int (connection->halves.sender_ccid->number, CCID_INTERVAL);
  assert_equals_int (connection->halves.receiver_ccid->number, 3);
  assert_equals_uint64 (dccp_network_get_stats (&network, CLIENT)->rate,
      100 * 8 * SECOND / FIRST_INTERVAL);
  assert_equals_uint64 (dccp_network_get_stats (&network,
          CLIENT)->option_errors, 0);
  n = network.n_sent[CLIENT];
  dccp_network_run (&network, SECOND);
  fail_unless (network.n_sent[CLIENT] > n);
  fail_unless (network.n_sent[CLIENT] <= n + SECOND / MIN_INTERVAL);
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_OPEN);
}

GST_END_TEST;

/* An endpoint that supports only CCID 248 must send exactly these options:
 * - Change R (CCID, 248) and Change L (CCID, 248), each with Mandatory;
 * - Change L (Sequence Window, 100), without Mandatory;
 * - Change L (ECN Incapable, 1), with Mandatory.
 *
 * It must not negotiate the features of CCID 3, such as Send Loss Event Rate
 * (feature 192). If the peer sends a Change of this feature, the endpoint must
 * answer with an empty Confirm (RFC 4340 section 6.6.7).
 */
static const guint8 changes[] = "\1\42\4\1\370" "\1\40\4\1\370"
    "\40\11\3\0\0\0\0\0\144" "\1\40\4\4\1";
static const guint8 change_192[] = { 192, 1 };
static const guint8 confirm_192[] = { DCCP_OPTION_CONFIRM_L, 3, 192 };

GST_START_TEST (only_its_own_features_are_negotiated)
{
  const DccpFeaturesConfig config = { FALSE, 100, 0, 0, 1, only_interval };
  const DccpOption option = { DCCP_OPTION_CHANGE_R, FALSE, change_192, 2 };
  const DccpPacket packet = {.type = DCCP_RESPONSE,.sequence = 1 };
  DccpFeatures *features = dccp_features_new (&config);
  DccpOptionWriter writer;

  dccp_option_writer_init (&writer);
  dccp_features_write (features, 0, 1, &writer);
  assert_equals_int (writer.size, sizeof (changes) - 1);
  fail_unless (memcmp (writer.bytes, changes, writer.size) == 0);
  assert_equals_int (dccp_features_input (features, &option, &packet), 0);
  dccp_option_writer_init (&writer);
  dccp_features_write (features, 0, 2, &writer);
  assert_equals_int (writer.size, sizeof (confirm_192));
  fail_unless (memcmp (writer.bytes, confirm_192, writer.size) == 0);
  dccp_features_free (features);
}

GST_END_TEST;

/* --- every registered congestion control ---------------------------------- */

static const DccpCcid *only_registered[2];

static void
open_registered (gint number)
{
  only_registered[0] = dccp_ccids[number];
  network.is_by_window = TRUE;
  begin (only_registered, only_registered);
  dccp_network_open (&network);
  assert_ccid (only_registered[0]->number);
}

GST_START_TEST (registered_one_carries_data_and_tells_losses)
{
  const DccpStats *stats;

  open_registered (__i__);
  send_for (10 * SECOND);
  stats = dccp_network_get_stats (&network, CLIENT);
  fail_unless (stats->rate > 0);
  fail_unless (stats->round_trip >= 100 * MS);
  fail_unless (stats->round_trip < 200 * MS);
  fail_unless (stats->feedback_received > 10);
  fail_unless (network.received[SERVER]->len > 100);
  network.lose[CLIENT][DCCP_DATA] = 3;
  dccp_network_run (&network, 2 * SECOND);
  assert_equals_uint64 (dccp_network_get_stats (&network, SERVER)->lost, 3);
  assert_equals_int (dccp_network_count_events (&network, CLIENT,
          DCCP_EVENT_LOST), 1);
  assert_equals_int (dccp_network_find_event (&network, CLIENT,
          DCCP_EVENT_LOST)->lost, 3);
}

GST_END_TEST;

/* For three seconds, the network loses all packets. The sender then gets no
 * acknowledgements, so a timer of the congestion control must let it send
 * again. */
GST_START_TEST (registered_one_goes_on_after_an_outage)
{
  guint n;

  open_registered (__i__);
  send_for (5 * SECOND);
  network.lose_all[CLIENT] = network.lose_all[SERVER] = G_MAXUINT;
  dccp_network_run (&network, 3 * SECOND);
  network.lose_all[CLIENT] = network.lose_all[SERVER] = 0;
  n = network.received[SERVER]->len;
  dccp_network_run (&network, 10 * SECOND);
  fail_unless (network.received[SERVER]->len > n + 20);
}

GST_END_TEST;

static guint
count_registered (void)
{
  guint n = 0;

  while (dccp_ccids[n])
    n++;
  return n;
}

static Suite *
dccpccid_suite (void)
{
  Suite *suite = suite_create ("dccpccid");
  TCase *tc = tcase_create ("connections");
  TCase *registered = tcase_create ("registered");
  TCase *features = tcase_create ("features");

  suite_add_tcase (suite, tc);
  tcase_add_checked_fixture (tc, setup, teardown);
  tcase_add_test (tc, data_goes_by_another_congestion_control);
  tcase_add_test (tc, losses_slow_it_down_and_are_told);
  tcase_add_test (tc, the_first_of_the_server_is_taken);
  tcase_add_test (tc, a_peer_with_ccid_3_alone_gets_that);
  tcase_add_test (tc, without_a_common_one_there_is_no_connection);
  tcase_add_test (tc, one_that_is_agreed_on_late_takes_over);
  tcase_add_test (tc, one_that_is_agreed_on_later_takes_over);
  suite_add_tcase (suite, registered);
  tcase_add_checked_fixture (registered, setup, teardown);
  tcase_add_loop_test (registered,
      registered_one_carries_data_and_tells_losses, 0, count_registered ());
  tcase_add_loop_test (registered, registered_one_goes_on_after_an_outage, 0,
      count_registered ());
  suite_add_tcase (suite, features);
  tcase_add_test (features, only_its_own_features_are_negotiated);
  return suite;
}

GST_CHECK_MAIN (dccpccid);

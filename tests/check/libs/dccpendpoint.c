/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests an open DCCP connection through the calls that an application makes.
 * The tests cover data in both directions, DCCP options, and events. The events
 * tell the application about losses and other changes of the connection. */

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
open_network (void)
{
  dccp_network_begin (&network);
  dccp_network_open (&network);
}

/* From now on the network loses all packets in both directions. */
static void
cut (void)
{
  network.lose_all[CLIENT] = network.lose_all[SERVER] = G_MAXUINT;
}

/* Changes the connection from DCCP in UDP to DCCP over IP (protocol 33). The
 * endpoints verify the DCCP checksum only over IP, because it is 0 in UDP. */
static void
use_raw (void)
{
  DccpEnd end;

  for (end = CLIENT; end < N_ENDS; end++)
    network.paths[end].local_port = network.paths[end].remote_port = 0;
}

static void
stream (DccpEnd end, guint64 duration)
{
  network.sending[end] = TRUE;
  dccp_network_run (&network, duration);
  network.sending[end] = FALSE;
  dccp_network_run (&network, SECOND);
}

static void
assert_all_came (DccpEnd from)
{
  GArray *received = network.received[OTHER (from)];
  guint i;

  assert_equals_int (received->len, network.n_sent[from]);
  for (i = 0; i < received->len; i++)
    assert_equals_int (g_array_index (received, guint32, i), i);
}

/* --- data ----------------------------------------------------------------- */

GST_START_TEST (data_comes_as_it_was_sent)
{
  const DccpStats *stats;

  open_network ();
  stream (CLIENT, 10 * SECOND);
  assert_all_came (CLIENT);
  fail_unless (network.n_sent[CLIENT] >= 1000);
  stats = dccp_network_get_stats (&network, SERVER);
  assert_equals_uint64 (stats->bytes_received, 100 * network.n_sent[CLIENT]);
  assert_equals_uint64 (stats->lost, 0);
  /* The test has lasted ten seconds, and the round trip is 100 ms. The receiver
   * must send feedback about once per round trip. */
  fail_unless (stats->feedback_sent >= 80 && stats->feedback_sent <= 110,
      "%" G_GUINT64_FORMAT " reports", stats->feedback_sent);
  stats = dccp_network_get_stats (&network, CLIENT);
  assert_equals_uint64 (stats->bytes_sent, 100 * network.n_sent[CLIENT]);
  fail_unless (stats->feedback_received >= 80);
  fail_unless (stats->round_trip >= 99 * MS && stats->round_trip <= 101 * MS);
  assert_equals_int (dccp_network_count (&network, SERVER, DCCP_SYNC), 0);
}

GST_END_TEST;

GST_START_TEST (server_may_send_too)
{
  open_network ();
  stream (SERVER, 3 * SECOND);
  assert_all_came (SERVER);
  fail_unless (dccp_network_get_stats (&network,
          SERVER)->feedback_received >= 20);
}

GST_END_TEST;

GST_START_TEST (both_may_send_at_once)
{
  open_network ();
  network.sending[SERVER] = TRUE;
  stream (CLIENT, 5 * SECOND);
  network.sending[SERVER] = FALSE;
  dccp_network_run (&network, SECOND);
  assert_all_came (CLIENT);
  assert_all_came (SERVER);
}

GST_END_TEST;

GST_START_TEST (ipv6_and_raw_work_too)
{
  DccpEnd end;

  use_raw ();
  for (end = CLIENT; end < N_ENDS; end++)
    network.paths[end].address_size = 16;
  open_network ();
  stream (CLIENT, SECOND);
  assert_all_came (CLIENT);
}

GST_END_TEST;

GST_START_TEST (data_goes_as_its_rate_allows)
{
  guint64 next;
  guint8 header[DCCP_MAX_HEADER], payload[100] = { 0 };
  guint n = 0;

  open_network ();
  cut ();
  while ((next = dccp_endpoint_next_send (network.ends[CLIENT], network.now)) <=
      network.now) {
    fail_unless (dccp_endpoint_send (network.ends[CLIENT], network.now, payload,
            100, TRUE, header) > 0);
    fail_unless (n++ < 1000);
  }
  assert_equals_int (dccp_endpoint_send (network.ends[CLIENT], network.now,
          payload, 100, TRUE, header), 0);
  fail_unless (next < network.now + SECOND);
  assert_equals_int (dccp_endpoint_send (network.ends[CLIENT], next, payload,
          dccp_endpoint_get_max_payload (network.ends[CLIENT]) + 1, TRUE,
          header), 0);
  fail_unless (dccp_endpoint_send (network.ends[CLIENT], next, payload, 100,
          TRUE, header) > 0);
}

GST_END_TEST;

/* Returns the sequence number in a DCCP header. It is in the bytes 10 to 15 of
 * the header (RFC 4340 section 5.1). */
static guint64
get_sequence (const guint8 * header)
{
  guint64 sequence = 0;
  guint i;

  for (i = 10; i < 16; i++)
    sequence = sequence << 8 | header[i];
  return sequence;
}

/* Delivers a packet of the client to the server. The server then has an event
 * with the payload. This payload must not be a copy: it must point into the
 * packet. */
static void
deliver (const Datagram * datagram, const guint8 * payload, guint64 sequence)
{
  guint8 bytes[DCCP_MAX_HEADER + 100];
  Datagram received;
  DccpEvent event;
  guint n = 0;

  assert_equals_int (datagram_get_size (datagram), datagram->size + 100);
  assert_equals_int (datagram->n_parts, 1);
  fail_unless (datagram->parts[0].data == payload);
  fail_unless_equals_uint64 (get_sequence (datagram->bytes), sequence);
  fail_unless (datagram_path_equal (&datagram->path, &network.paths[CLIENT]));
  datagram_copy_bytes (datagram, bytes);
  datagram_init (&received, bytes, datagram_get_size (datagram));
  received.path = network.paths[SERVER];
  dccp_endpoint_input (network.ends[SERVER], network.now, &received);
  while (dccp_endpoint_poll_event (network.ends[SERVER], &event)) {
    if (event.type != DCCP_EVENT_DATA)
      continue;
    n++;
    fail_unless (event.data.payload == bytes + datagram->size);
    assert_equals_int (event.data.size, 100);
    fail_unless_equals_uint64 (event.data.sequence, sequence);
    fail_unless_equals_uint64 (event.time, network.now);
  }
  assert_equals_int (n, 1);
}

GST_START_TEST (data_is_put_polled_and_told)
{
  guint8 header[DCCP_MAX_CONTROL];
  guint8 payloads[DCCP_MAX_PUT + 1][100] = { "" };
  guint64 sequences[DCCP_MAX_PUT + 1];
  Datagram datagram;
  guint round, i, n;

  open_network ();
  cut ();
  for (round = 0; round < 3; round++) {
    n = 0;
    network.now =
        MAX (network.now, dccp_endpoint_next_send (network.ends[CLIENT],
            network.now));
    while (n < DCCP_MAX_PUT
        && dccp_endpoint_next_send (network.ends[CLIENT],
            network.now) <= network.now) {
      fail_unless (dccp_endpoint_put (network.ends[CLIENT], network.now,
              payloads[n], 100, TRUE, &sequences[n]));
      n++;
    }
    fail_unless (n > 0);
    for (i = 0; i < n; i++) {
      datagram_init (&datagram, header, 0);
      fail_unless (dccp_endpoint_poll_output (network.ends[CLIENT], network.now,
              &datagram));
      deliver (&datagram, payloads[i], sequences[i]);
    }
    /* The client has now sent all data. If it sends further packets, they must
     * carry no data. */
    datagram_init (&datagram, header, 0);
    while (dccp_endpoint_poll_output (network.ends[CLIENT], network.now,
            &datagram))
      assert_equals_int (datagram.n_parts, 0);
    network.now += SECOND / 10;
  }
}

GST_END_TEST;

static gboolean
lose_every_tenth (DccpNetwork * self, DccpEnd from, const DccpPacket * packet,
    guint8 * bytes, gsize size)
{
  return packet->type != DCCP_DATA || packet->sequence % 10 != 0;
}

GST_START_TEST (losses_slow_the_sender_and_are_told)
{
  const DccpStats *stats;
  guint lost;

  network.filter = lose_every_tenth;
  open_network ();
  stream (CLIENT, 60 * SECOND);
  stats = dccp_network_get_stats (&network, CLIENT);
  fail_unless (stats->loss_event_rate > 0.09 && stats->loss_event_rate < 0.11,
      "p is %g", stats->loss_event_rate);
  stats = dccp_network_get_stats (&network, SERVER);
  fail_unless (stats->their_loss_event_rate > 0.09);
  /* The server counts a packet as lost as soon as three later packets have
   * arrived. If the last lost packet was sent just before the end of the test,
   * fewer than three packets arrive after it. This loss is then not counted. */
  lost = network.n_sent[CLIENT] - network.received[SERVER]->len;
  fail_unless (stats->lost == lost || stats->lost + 1 == lost);
  fail_unless (dccp_network_count_events (&network, CLIENT,
          DCCP_EVENT_RATE) > 3);
}

GST_END_TEST;

/* Delivers a data packet to the server. The packet's sequence number is the
 * next expected number plus `ahead`. Returns whether the server delivers the
 * data of the packet. */
static gboolean
arrives (gint64 ahead)
{
  DccpPacket packet = dccp_network_next (&network, SERVER, DCCP_DATA);
  const guint before = network.received[SERVER]->len;

  packet.sequence = dccp_sequence_add (packet.sequence, ahead);
  packet.payload = (const guint8 *) "data";
  packet.payload_size = 4;
  dccp_network_inject_packet (&network, SERVER, &packet);
  return network.received[SERVER]->len > before;
}

GST_START_TEST (gaps_are_marked_and_doubles_go)
{
  DccpPacket packet;

  open_network ();
  cut ();
  fail_unless (arrives (0));
  fail_if (network.last[SERVER].discont);
  fail_if (arrives (-1));
  fail_unless (arrives (0));
  fail_if (network.last[SERVER].discont);
  fail_unless (arrives (2));
  fail_unless (network.last[SERVER].discont);
  fail_unless (arrives (0));
  fail_if (network.last[SERVER].discont);
  /* A packet that arrives late must be delivered. A duplicate of this packet
   * must be dropped. */
  fail_unless (arrives (-3));
  fail_if (arrives (-3));
  /* An Ack arrives between two data packets. It must not count as a missing
   * data packet, so the second data packet must not be marked as discontinuous.
   */
  packet = dccp_network_next (&network, SERVER, DCCP_ACK);
  dccp_network_inject_packet (&network, SERVER, &packet);
  fail_unless (arrives (0));
  fail_if (network.last[SERVER].discont);
  /* Two packets are lost before the next data packet. This data packet has the
   * option NDP Count with the value 2, which says that the two packets before
   * it had no data. No data are missing, so the data packet must not be marked
   * as discontinuous. */
  packet = dccp_network_next (&network, SERVER, DCCP_DATA);
  packet.sequence = dccp_sequence_add (packet.sequence, 2);
  packet.options = (const guint8 *) "\45\3\2";
  packet.options_size = 3;
  dccp_network_inject_packet (&network, SERVER, &packet);
  fail_if (network.last[SERVER].discont);
}

GST_END_TEST;

/* --- events for the application ------------------------------------------- */

GST_START_TEST (slow_receiver_is_told_until_it_is_not)
{
  const DccpEvent *event;
  guint64 rate;

  open_network ();
  network.sending[CLIENT] = TRUE;
  dccp_network_run (&network, 2 * SECOND);
  dccp_endpoint_set_slow (network.ends[SERVER], network.now, TRUE);
  dccp_network_run (&network, SECOND);
  event = dccp_network_find_event (&network, CLIENT, DCCP_EVENT_SLOW_RECEIVER);
  fail_unless (event && event->slow);
  rate = dccp_network_get_stats (&network, CLIENT)->rate;
  dccp_network_run (&network, SECOND);
  fail_unless (dccp_network_get_stats (&network, CLIENT)->rate <= rate);
  assert_equals_int (dccp_network_count_events (&network, CLIENT,
          DCCP_EVENT_SLOW_RECEIVER), 1);
  fail_unless (dccp_network_get_stats (&network,
          SERVER)->slow_receiver_sent >= 15);
  fail_unless (dccp_network_get_stats (&network,
          CLIENT)->slow_receiver_received >= 15);
  dccp_endpoint_set_slow (network.ends[SERVER], network.now, FALSE);
  dccp_network_run (&network, SECOND);
  assert_equals_int (dccp_network_count_events (&network, CLIENT,
          DCCP_EVENT_SLOW_RECEIVER), 2);
}

GST_END_TEST;

/* The receiver is slow and says so with the option Slow Receiver. Then the
 * sender stops sending, and the receiver stops being slow. The receiver usually
 * reports this with the next feedback, but without data there is no feedback.
 * Therefore the receiver must send one additional Ack, which reports the
 * change. */
GST_START_TEST (idle_sender_hears_that_the_receiver_is_slow_no_more)
{
  const DccpEvent *event;
  guint64 acks;

  open_network ();
  network.sending[CLIENT] = TRUE;
  dccp_network_run (&network, 2 * SECOND);
  dccp_endpoint_set_slow (network.ends[SERVER], network.now, TRUE);
  dccp_network_run (&network, SECOND);
  network.sending[CLIENT] = FALSE;
  dccp_network_run (&network, SECOND);
  acks = dccp_network_get_stats (&network, SERVER)->sent[DCCP_ACK];
  dccp_endpoint_set_slow (network.ends[SERVER], network.now, FALSE);
  dccp_network_run (&network, SECOND);
  assert_equals_int (dccp_network_count_events (&network, CLIENT,
          DCCP_EVENT_SLOW_RECEIVER), 2);
  event = &g_array_index (network.events[CLIENT], DccpEvent,
      network.events[CLIENT]->len - 1);
  while (event->type != DCCP_EVENT_SLOW_RECEIVER)
    event--;
  fail_if (event->slow);
  assert_equals_uint64 (dccp_network_get_stats (&network,
          SERVER)->sent[DCCP_ACK], acks + 1);
  /* The receiver becomes slow, and stops being slow before it has informed the
   * peer. It must then not report that it was slow. */
  dccp_endpoint_set_slow (network.ends[SERVER], network.now, TRUE);
  dccp_endpoint_set_slow (network.ends[SERVER], network.now, FALSE);
  dccp_network_run (&network, SECOND);
  assert_equals_uint64 (dccp_network_get_stats (&network,
          SERVER)->sent[DCCP_ACK], acks + 1);
}

GST_END_TEST;

GST_START_TEST (slow_receiver_state_applies_to_next_sender)
{
  dccp_network_begin (&network);
  dccp_endpoint_set_slow (network.ends[SERVER], network.now, TRUE);
  dccp_network_open (&network);
  stream (CLIENT, SECOND);
  assert_equals_int (dccp_network_count_events (&network, CLIENT,
          DCCP_EVENT_SLOW_RECEIVER), 1);
}

GST_END_TEST;

static guint
count_told (DccpDropCode code)
{
  guint i, n = 0;

  for (i = 0; i < network.events[CLIENT]->len; i++) {
    const DccpEvent *event =
        &g_array_index (network.events[CLIENT], DccpEvent, i);

    if (event->type == DCCP_EVENT_DROPPED && event->drop_code == code)
      n += event->dropped;
  }
  return n;
}

/* The server reports to the client that it has dropped some packets. It reports
 * each dropped packet several times, and some of these reports are lost. The
 * client must report each dropped packet to its application exactly once. */
GST_START_TEST (dropped_packets_are_told_once)
{
  guint64 n;
  guint i;

  open_network ();
  network.sending[CLIENT] = TRUE;
  for (i = 0; i < 50; i++) {
    dccp_network_run (&network, 20 * MS);
    if (network.received[SERVER]->len == 0)
      continue;
    dccp_endpoint_dropped (network.ends[SERVER], network.now,
        network.last[SERVER].sequence, i % 2 ? DCCP_DROP_RECEIVE_BUFFER :
        DCCP_DROP_CORRUPT);
    if (i % 20 == 0)
      network.lose[SERVER][DCCP_ACK] = 1;
  }
  dccp_network_run (&network, 2 * SECOND);
  /* Every 20 ms, the test called dccp_endpoint_dropped () to say that the
   * server had dropped a packet. Each call named the last packet that the
   * server had received. When the client slowed down, no new packet arrived
   * between some of the calls, so these calls named the same packet again. The
   * server counts the same packet only once. Therefore `dropped_sent` is less
   * than the number of calls. */
  n = dccp_network_get_stats (&network, SERVER)->dropped_sent;
  fail_unless (n >= 30);
  assert_equals_uint64 (count_told (DCCP_DROP_RECEIVE_BUFFER) +
      count_told (DCCP_DROP_CORRUPT), n);
  fail_unless (count_told (DCCP_DROP_CORRUPT) >= n / 3);
  fail_unless (count_told (DCCP_DROP_RECEIVE_BUFFER) >= n / 3);
  assert_equals_uint64 (dccp_network_get_stats (&network,
          CLIENT)->dropped_received, n);
}

GST_END_TEST;

GST_START_TEST (drop_report_is_limited_to_sent_packets)
{
  DccpPacket packet;

  open_network ();
  stream (CLIENT, SECOND);
  cut ();
  packet = dccp_network_next (&network, CLIENT, DCCP_ACK);
  /* The client receives a Data Dropped option with 48 blocks. Each block says
   * that 16 packets were dropped with Drop Code 2 (receive buffer). The option
   * names 48 * 16 = 768 packets, which is more than the client has sent. The
   * client must report to the application that each sent packet was dropped,
   * and must not report any other packet. */
  packet.options = (const guint8 *) "\50\62"
      "\257\257\257\257\257\257\257\257\257\257\257\257\257\257\257\257"
      "\257\257\257\257\257\257\257\257\257\257\257\257\257\257\257\257"
      "\257\257\257\257\257\257\257\257\257\257\257\257\257\257\257\257";
  packet.options_size = 50;
  dccp_network_inject_packet (&network, CLIENT, &packet);
  assert_equals_int (count_told (DCCP_DROP_RECEIVE_BUFFER),
      network.n_sent[CLIENT]);
}

GST_END_TEST;

/* --- options -------------------------------------------------------------- */

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

/* Looks for an option of the type `type` in the last packet that the client has
 * sent. Returns FALSE if there is none. */
static gboolean
find_option (guint8 type, DccpOption * option)
{
  DccpOptionReader reader;
  DccpPacket packet;

  assert_equals_int (dccp_packet_parse (&packet, &network.paths[CLIENT],
          captured, captured_size), DCCP_ACCEPTED);
  dccp_option_reader_init (&reader, &packet);
  while (dccp_option_reader_next (&reader, option))
    if (option->type == type)
      return TRUE;
  return FALSE;
}

static void
hear_options (DccpType type, const gchar * options, gsize size)
{
  DccpPacket packet = dccp_network_next (&network, CLIENT, type);

  network.filter = capture;
  packet.options = (const guint8 *) options;
  packet.options_size = size;
  dccp_network_inject_packet (&network, CLIENT, &packet);
}

GST_START_TEST (timestamp_is_echoed)
{
  DccpOption option;
  guint64 elapsed;
  guint32 stamp;

  open_network ();
  hear_options (DCCP_ACK, "\51\6\1\2\3\4", 6);
  network.now += 7 * MS;
  network.sending[CLIENT] = TRUE;
  network.put_at[CLIENT] = network.now;
  dccp_network_run (&network, MS);
  fail_unless (find_option (DCCP_OPTION_TIMESTAMP_ECHO, &option));
  fail_unless (dccp_option_read_timestamp_echo (&option, &stamp, &elapsed));
  assert_equals_int (stamp, 0x01020304);
  assert_equals_uint64 (elapsed, 7 * MS);
  dccp_network_run (&network, 50 * MS);
  fail_if (find_option (DCCP_OPTION_TIMESTAMP_ECHO, &option));
}

GST_END_TEST;

/* The client receives an Ack with the options Change R (Send NDP Count, 1) and
 * Change R (Send RTT Estimate, 1). With these options, the server asks for two
 * other options: NDP Count and RTT Estimate. The next packet of the client must
 * contain both of them. */
GST_START_TEST (requested_options_are_sent)
{
  DccpOption option;
  guint64 number;

  open_network ();
  hear_options (DCCP_ACK, "\42\4\7\1\42\4\200\1", 8);
  network.sending[CLIENT] = TRUE;
  network.put_at[CLIENT] = network.now;
  dccp_network_run (&network, 0);
  /* The NDP Count of a packet is the number of packets without data that were
   * sent immediately before this packet (RFC 4340, section 7.7). Here it must
   * equal the number of Acks that the client has sent. The Request does not
   * count, because a Request may carry data. */
  fail_unless (find_option (DCCP_OPTION_NDP_COUNT, &option));
  fail_unless (dccp_option_read_number (&option, &number));
  assert_equals_uint64 (number, dccp_network_count (&network, CLIENT,
          DCCP_ACK));
  fail_unless (find_option (CCID3_OPTION_RTT_ESTIMATE, &option));
  fail_unless (ccid3_option_read_rtt_estimate (&option, &number));
  assert_equals_uint64 (number, 100 * MS);
  dccp_network_run (&network, 50 * MS);
  fail_if (find_option (DCCP_OPTION_NDP_COUNT, &option));
}

GST_END_TEST;

/* Two packets arrive at the client: first a Sync, then a Data packet whose
 * sequence number is invalid. The client must answer the Sync with a SyncAck,
 * and the Data packet with a Sync. Both answers must contain the round-trip
 * time in an RTT Estimate option. */
GST_START_TEST (syncs_say_the_round_trip)
{
  DccpPacket packet;
  DccpOption option;
  guint64 number;

  open_network ();
  hear_options (DCCP_SYNC, "", 0);
  fail_unless (find_option (CCID3_OPTION_RTT_ESTIMATE, &option));
  fail_unless (ccid3_option_read_rtt_estimate (&option, &number));
  assert_equals_uint64 (number, 100 * MS);
  packet = dccp_network_next (&network, CLIENT, DCCP_DATA);
  packet.sequence = dccp_sequence_add (packet.sequence, 100000);
  packet.payload = captured;
  packet.payload_size = 100;
  dccp_network_inject_packet (&network, CLIENT, &packet);
  assert_equals_int (dccp_network_count (&network, CLIENT, DCCP_SYNC), 1);
  fail_unless (find_option (CCID3_OPTION_RTT_ESTIMATE, &option));
}

GST_END_TEST;

GST_START_TEST (data_of_the_handshake_is_dropped_and_told)
{
  DccpOption option;
  DccpDropCode code;
  DccpPacket packet;
  guint offset = 0, run;

  dccp_network_begin (&network);
  dccp_network_connect (&network);
  network.filter = capture;
  packet = dccp_network_next (&network, CLIENT, DCCP_RESPONSE);
  packet.payload = (const guint8 *) "data";
  packet.payload_size = 4;
  dccp_network_inject_packet (&network, CLIENT, &packet);
  assert_equals_int (network.received[CLIENT]->len, 0);
  fail_unless (find_option (DCCP_OPTION_DATA_DROPPED, &option));
  fail_unless (dccp_option_next_drop_block (&option, &offset, &code, &run));
  assert_equals_int (code, DCCP_DROP_PROTOCOL);
  assert_equals_int (run, 1);
}

GST_END_TEST;

static void
assert_reset (guint8 code, guint8 data_1, guint8 data_2, guint8 data_3)
{
  const DccpNetworkEntry *reset =
      dccp_network_find (&network, CLIENT, DCCP_RESET, 0);
  const DccpEvent *event = dccp_network_find_event (&network, CLIENT,
      DCCP_EVENT_ABORTED);

  fail_unless (reset && event);
  assert_equals_int (reset->packet.reset_code, code);
  assert_equals_int (reset->packet.reset_data[0], data_1);
  assert_equals_int (reset->packet.reset_data[1], data_2);
  assert_equals_int (reset->packet.reset_data[2], data_3);
  assert_equals_int (event->reset_code, code);
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_CLOSED);
}

/* RFC 4340 section 11.7: a packet may have several Data Dropped options. The
 * first option describes the latest packets, and each further option describes
 * the packets before them. In this test, each of two options reports one
 * dropped packet, so the client must count two dropped packets. */
GST_START_TEST (second_data_dropped_goes_on)
{
  open_network ();
  network.sending[CLIENT] = TRUE;
  network.put_at[CLIENT] = network.now;
  dccp_network_run (&network, SECOND);
  network.sending[CLIENT] = FALSE;
  hear_options (DCCP_ACK, "\50\3\240\50\3\240", 6);
  assert_equals_int (count_told (DCCP_DROP_RECEIVE_BUFFER), 2);
}

GST_END_TEST;

/* RFC 4342 section 8.6.1: a packet may have several Loss Intervals options,
 * which form one list. The packet in this test has Receive Rate, Elapsed Time
 * and three Loss Intervals options with these intervals:
 * - first option: 6 packets (an interval that has not ended yet) and 10
 *   packets;
 * - second option: 90 packets;
 * - third option: 1 packet. This option is not valid because it has a Skip
 *   Length.
 *
 * The client must compute the loss event rate from the mean of 10 and 90
 * packets, the two valid intervals that have ended.
 */
GST_START_TEST (second_loss_intervals_go_on)
{
  open_network ();
  network.sending[CLIENT] = TRUE;
  network.put_at[CLIENT] = network.now;
  dccp_network_run (&network, SECOND);
  hear_options (DCCP_ACK, "\302\6\0\0\20\0" "\53\4\0\0"
      "\301\25\0" "\0\0\5\0\0\1\0\0\6" "\0\0\11\0\0\1\0\0\12"
      "\301\14\0" "\0\0\131\0\0\1\0\0\132"
      "\301\14\1" "\0\0\0\0\0\1\0\0\1", 55);
  assert_equals_float (dccp_network_get_stats (&network,
          CLIENT)->loss_event_rate, 0.02);
  assert_equals_uint64 (dccp_network_get_stats (&network,
          CLIENT)->option_errors, 1);
}

GST_END_TEST;

/* An RTT Estimate option with four bytes of data is invalid (RFC 6323 section
 * 3.3). The client must reset the connection. */
GST_START_TEST (wrong_round_trip_is_reset)
{
  open_network ();
  hear_options (DCCP_DATA, "\200\6\1\2\3\4", 6);
  assert_reset (DCCP_RESET_OPTION_ERROR, CCID3_OPTION_RTT_ESTIMATE, 6, 1);
}

GST_END_TEST;

GST_START_TEST (mandatory_options_are_known_or_reset)
{
  open_network ();
  /* 60 is reserved */
  hear_options (DCCP_ACK, "\1\74\4\11\12", 5);
  assert_reset (DCCP_RESET_MANDATORY_ERROR, 60, 9, 10);
}

GST_END_TEST;

/* RFC 4340 section 5.8.2: Mandatory precedes an option whose length is invalid,
 * so the client must send a Reset with the code "Mandatory Error". Such a Reset
 * usually contains the type of the option and the first bytes of its data. Here
 * the client cannot read the data, so the Reset must contain only the type. */
GST_START_TEST (mandatory_before_broken_is_reset)
{
  open_network ();
  hear_options (DCCP_ACK, "\1\50\77\0", 4);
  assert_reset (DCCP_RESET_MANDATORY_ERROR, DCCP_OPTION_DATA_DROPPED, 0, 0);
}

GST_END_TEST;

GST_START_TEST (mandatory_before_nothing_is_reset)
{
  open_network ();
  hear_options (DCCP_ACK, "\53\4\0\0\1", 5);
  /* The last option of this packet is Mandatory. After it there is only
   * Padding, up to a multiple of four bytes. Mandatory demands that the
   * receiver understand the option after it. Every receiver understands
   * Padding, so the connection must stay open. */
  fail_unless (dccp_network_get_state (&network, CLIENT) == DCCP_STATE_OPEN);
  hear_options (DCCP_ACK, "\53\4\0\1\0\1\1\1", 8);
  assert_reset (DCCP_RESET_OPTION_ERROR, DCCP_OPTION_MANDATORY, 0, 0);
}

GST_END_TEST;

GST_START_TEST (mandatory_last_is_reset)
{
  open_network ();
  hear_options (DCCP_ACK, "\53\4\0\0\0\0\0\1", 8);
  assert_reset (DCCP_RESET_OPTION_ERROR, DCCP_OPTION_MANDATORY, 0, 0);
}

GST_END_TEST;

/* Four options: Init Cookie, two Ack Vectors (one of each type) and Data
 * Checksum. An endpoint of this project does not use them, so it must ignore
 * them. */
static const gchar unused_options[] = "\44\3\1\46\3\0\47\3\0\54\6\0\0\0\0\0";

GST_START_TEST (options_of_no_use_are_no_errors)
{
  open_network ();
  hear_options (DCCP_ACK, unused_options, 16);
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_OPEN);
  assert_equals_uint64 (dccp_network_get_stats (&network,
          CLIENT)->option_errors, 0);
  hear_options (DCCP_ACK, "\1\44\3\1", 4);
  assert_reset (DCCP_RESET_MANDATORY_ERROR, DCCP_OPTION_INIT_COOKIE, 1, 0);
}

GST_END_TEST;

GST_START_TEST (unknown_and_broken_options_are_ignored)
{
  open_network ();
  /* The packet has three invalid options: a reserved option, a Receive Rate of
   * 3 bytes, and an option that is longer than the packet. The client must
   * ignore them, and must count each as an error. */
  hear_options (DCCP_ACK, "\74\4\11\12\302\5\1\2\3\302\77", 11);
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_OPEN);
  assert_equals_uint64 (dccp_network_get_stats (&network,
          CLIENT)->option_errors, 3);
}

GST_END_TEST;

/* --- coverage and length -------------------------------------------------- */

static gboolean
spoil_last_byte (DccpNetwork * self, DccpEnd from, const DccpPacket * packet,
    guint8 * bytes, gsize size)
{
  if (packet->payload_size > 0)
    bytes[size - 1] ^= 1;
  return TRUE;
}

GST_START_TEST (damage_behind_the_coverage_is_delivered)
{
  use_raw ();
  network.configs[CLIENT].coverage = 3;
  network.configs[SERVER].min_coverage = 2;
  open_network ();
  network.filter = spoil_last_byte;
  stream (CLIENT, SECOND);
  assert_all_came (CLIENT);
  assert_equals_int (network.last[SERVER].coverage, 3);
}

GST_END_TEST;

GST_START_TEST (coverage_is_whole_unless_the_other_end_agrees)
{
  use_raw ();
  network.configs[CLIENT].coverage = 3;
  open_network ();
  network.filter = spoil_last_byte;
  stream (CLIENT, 100 * MS);
  assert_equals_int (network.received[SERVER]->len, 0);
  fail_unless (dccp_network_get_stats (&network,
          SERVER)->refused[DCCP_REFUSED_CHECKSUM] > 0);
  assert_equals_int (dccp_network_find (&network, CLIENT, DCCP_DATA,
          0)->packet.coverage, 0);
}

GST_END_TEST;

/* A packet arrives whose checksum covers fewer bytes than the receiver demands.
 * The receiver must drop the data of the packet and report this to the sender.
 * It must still evaluate the header of the packet (RFC 4340, section 9.2.1). */
GST_START_TEST (less_coverage_than_allowed_is_dropped_and_told)
{
  DccpPacket packet;

  use_raw ();
  open_network ();
  network.sending[CLIENT] = TRUE;
  dccp_network_run (&network, 500 * MS);
  network.sending[CLIENT] = FALSE;
  packet = dccp_network_next (&network, SERVER, DCCP_DATA);
  packet.coverage = 1;
  packet.payload = (const guint8 *) "data";
  packet.payload_size = 4;
  dccp_network_inject_packet (&network, SERVER, &packet);
  assert_equals_uint64 (dccp_network_get_stats (&network,
          SERVER)->refused[DCCP_REFUSED_COVERAGE], 1);
  assert_equals_uint64 (dccp_network_get_stats (&network, SERVER)->dropped_sent,
      1);
  assert_equals_uint64 (dccp_network_get (&network, SERVER)->numbers.gsr,
      packet.sequence);
}

GST_END_TEST;

GST_START_TEST (payload_fits_the_path)
{
  guint max;

  open_network ();
  /* The maximum payload is 1500 bytes, which is the MTU, minus all headers: 20
   * bytes of IP, 8 bytes of UDP, 24 bytes of DataAck, and 24 bytes of DCCP
   * options. */
  max = dccp_endpoint_get_max_payload (network.ends[CLIENT]);
  assert_equals_int (max, 1500 - 20 - 8 - 24 - 24);
  network.sizes[CLIENT] = 1316;
  stream (CLIENT, SECOND);
  assert_all_came (CLIENT);
  dccp_endpoint_unreachable (network.ends[CLIENT], network.now, 1000);
  assert_equals_int (dccp_endpoint_get_max_payload (network.ends[CLIENT]),
      max - 500);
  /* The MTU in an ICMP message may lower the maximum payload, but must never
   * raise it. The endpoint treats an MTU of less than 552 bytes as 552 bytes,
   * because a smaller MTU is not plausible. */
  dccp_endpoint_unreachable (network.ends[CLIENT], network.now, 1400);
  assert_equals_int (dccp_endpoint_get_max_payload (network.ends[CLIENT]),
      max - 500);
  dccp_endpoint_unreachable (network.ends[CLIENT], network.now, 1);
  assert_equals_int (dccp_endpoint_get_max_payload (network.ends[CLIENT]),
      max - 1500 + 552);
}

GST_END_TEST;

static Suite *
dccpendpoint_suite (void)
{
  Suite *suite = suite_create ("dccpendpoint");
  TCase *data = tcase_create ("data");
  TCase *told = tcase_create ("told");
  TCase *options = tcase_create ("options");
  TCase *coverage = tcase_create ("coverage");

  suite_add_tcase (suite, data);
  tcase_add_checked_fixture (data, setup, teardown);
  tcase_add_test (data, data_comes_as_it_was_sent);
  tcase_add_test (data, server_may_send_too);
  tcase_add_test (data, both_may_send_at_once);
  tcase_add_test (data, ipv6_and_raw_work_too);
  tcase_add_test (data, data_goes_as_its_rate_allows);
  tcase_add_test (data, data_is_put_polled_and_told);
  tcase_add_test (data, losses_slow_the_sender_and_are_told);
  tcase_add_test (data, gaps_are_marked_and_doubles_go);
  suite_add_tcase (suite, told);
  tcase_add_checked_fixture (told, setup, teardown);
  tcase_add_test (told, slow_receiver_is_told_until_it_is_not);
  tcase_add_test (told, idle_sender_hears_that_the_receiver_is_slow_no_more);
  tcase_add_test (told, slow_receiver_state_applies_to_next_sender);
  tcase_add_test (told, dropped_packets_are_told_once);
  tcase_add_test (told, drop_report_is_limited_to_sent_packets);
  suite_add_tcase (suite, options);
  tcase_add_checked_fixture (options, setup, teardown);
  tcase_add_test (options, timestamp_is_echoed);
  tcase_add_test (options, requested_options_are_sent);
  tcase_add_test (options, syncs_say_the_round_trip);
  tcase_add_test (options, wrong_round_trip_is_reset);
  tcase_add_test (options, data_of_the_handshake_is_dropped_and_told);
  tcase_add_test (options, second_data_dropped_goes_on);
  tcase_add_test (options, second_loss_intervals_go_on);
  tcase_add_test (options, mandatory_options_are_known_or_reset);
  tcase_add_test (options, mandatory_before_broken_is_reset);
  tcase_add_test (options, mandatory_before_nothing_is_reset);
  tcase_add_test (options, mandatory_last_is_reset);
  tcase_add_test (options, options_of_no_use_are_no_errors);
  tcase_add_test (options, unknown_and_broken_options_are_ignored);
  suite_add_tcase (suite, coverage);
  tcase_add_checked_fixture (coverage, setup, teardown);
  tcase_add_test (coverage, damage_behind_the_coverage_is_delivered);
  tcase_add_test (coverage, coverage_is_whole_unless_the_other_end_agrees);
  tcase_add_test (coverage, less_coverage_than_allowed_is_dropped_and_told);
  tcase_add_test (coverage, payload_fits_the_path);
  return suite;
}

GST_CHECK_MAIN (dccpendpoint);

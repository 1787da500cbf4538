/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests what the sender of a DCCP connection learns about lost packets. There
 * is no simulated network: each test itself delivers packets from one endpoint
 * to the other and advances the clock.
 */

#include <gst/check/gstcheck.h>

#include <string.h>

#include "dccpendpointprivate.h"

#define MILLISECOND G_GUINT64_CONSTANT (1000000)
#define DELAY (20 * MILLISECOND)        /* one way */
#define SIZE 100

typedef struct
{
  DccpEndpoint *sender, *receiver;
  DatagramPath there, back;
  guint64 now;
} Fixture;

static DccpEndpoint *
endpoint_new (gboolean is_listener)
{
  static const guint8 entropy[DCCP_ENTROPY_SIZE] = { 1 };
  static const DccpCcid *const only_ccid_3[] = { &dccp_ccid_3, NULL };
  DccpEndpointConfig config;

  dccp_endpoint_config_init (&config);
  config.ccids = only_ccid_3;
  config.is_listener = is_listener;
  config.local_port = is_listener ? 5004 : 40000;
  config.remote_port = 5004;
  return dccp_endpoint_new (&config, entropy);
}

/* Delivers all control packets (packets without data) that the endpoint `from`
 * has to send to the endpoint `to`. `path` has the addresses from the view of
 * `to`.
 */
static void
hand_over (Fixture * fixture, DccpEndpoint * from, DccpEndpoint * to,
    const DatagramPath * path)
{
  guint8 bytes[DCCP_MAX_CONTROL];
  DatagramPath ignored;
  DccpData data;
  gsize size;

  while ((size =
          dccp_endpoint_poll_control (from, fixture->now, &ignored, bytes)))
    dccp_endpoint_take (to, fixture->now, path, bytes, size, &data);
}

/* Advances the time by the one-way delay and delivers the control packets of
 * the sender. Then advances the time again and delivers those of the receiver.
 */
static void
exchange (Fixture * fixture)
{
  fixture->now += DELAY;
  dccp_endpoint_timeout (fixture->sender, fixture->now);
  hand_over (fixture, fixture->sender, fixture->receiver, &fixture->back);
  fixture->now += DELAY;
  dccp_endpoint_timeout (fixture->receiver, fixture->now);
  hand_over (fixture, fixture->receiver, fixture->sender, &fixture->there);
}

static gboolean
poll_event (Fixture * fixture, DccpEventType type, DccpEvent * event)
{
  while (dccp_endpoint_poll_event (fixture->sender, event)) {
    if (event->type == type)
      return TRUE;
  }
  return FALSE;
}

static void
fixture_init (Fixture * fixture)
{
  DccpEvent event;
  guint i;

  memset (fixture, 0, sizeof (*fixture));
  fixture->there.address_size = fixture->back.address_size = 4;
  fixture->there.local[3] = fixture->back.remote[3] = 1;
  fixture->there.remote[3] = fixture->back.local[3] = 2;
  fixture->there.local_port = fixture->back.remote_port = 40000;
  fixture->there.remote_port = fixture->back.local_port = 5004;
  fixture->now = 1000 * MILLISECOND;
  fixture->sender = endpoint_new (FALSE);
  fixture->receiver = endpoint_new (TRUE);
  dccp_endpoint_connect (fixture->sender, fixture->now, &fixture->there);
  for (i = 0; i < 10 && !poll_event (fixture, DCCP_EVENT_CONNECTED, &event);
      i++)
    exchange (fixture);
  fail_unless (i < 10);
}

static void
fixture_clear (Fixture * fixture)
{
  dccp_endpoint_free (fixture->sender);
  dccp_endpoint_free (fixture->receiver);
}

/* Returns the sequence number in a DCCP header with long sequence numbers. It
 * has 48 bits and is in the last 6 of the first 16 bytes (RFC 4340 section
 * 5.1).
 */
static guint64
get_sequence (const guint8 * header)
{
  guint64 sequence = 0;
  guint i;

  for (i = 10; i < 16; i++)
    sequence = sequence << 8 | header[i];
  return sequence;
}

/* Waits until the sender may send a data packet, and sends it. If `lost` is
 * TRUE, the packet does not arrive. Returns its sequence number. */
static guint64
send_one (Fixture * fixture, gboolean lost)
{
  guint8 packet[DCCP_MAX_HEADER + SIZE], payload[SIZE] = { 0 };
  DccpData data;
  gsize size;

  while (dccp_endpoint_next_send (fixture->sender, fixture->now) > fixture->now)
    exchange (fixture);
  size = dccp_endpoint_send (fixture->sender, fixture->now, payload, SIZE, TRUE,
      packet);
  fail_unless (size > 0);
  memcpy (packet + size, payload, SIZE);
  if (!lost)
    dccp_endpoint_take (fixture->receiver, fixture->now + DELAY, &fixture->back,
        packet, size + SIZE, &data);
  return get_sequence (packet);
}

static void
send_many (Fixture * fixture, guint n)
{
  guint i;

  for (i = 0; i < n; i++) {
    send_one (fixture, FALSE);
    exchange (fixture);
  }
}

/* Checks the statistics of the sender: the number of loss events, which may
 * consist of several lost packets, and the number of lost packets. */
static void
assert_losses (Fixture * fixture, guint64 events, guint64 packets)
{
  DccpStats stats;

  dccp_endpoint_get_stats (fixture->sender, &stats);
  fail_unless_equals_uint64 (stats.loss_events_received, events);
  fail_unless_equals_uint64 (stats.packets_lost, packets);
}

GST_START_TEST (lost_packet_is_told_once)
{
  guint64 lost;
  DccpEvent event;
  Fixture fixture;
  guint i;

  fixture_init (&fixture);
  send_many (&fixture, 20);
  fail_if (poll_event (&fixture, DCCP_EVENT_LOST, &event));
  for (i = 1; i <= 3; i++) {
    lost = send_one (&fixture, TRUE);
    send_many (&fixture, 20);
    fail_unless (poll_event (&fixture, DCCP_EVENT_LOST, &event));
    fail_unless_equals_uint64 (event.sequence, lost);
    fail_unless_equals_int (event.lost, 1);
    fail_if (poll_event (&fixture, DCCP_EVENT_LOST, &event));
    assert_losses (&fixture, i, i);
  }
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (packets_lost_together_are_one_event)
{
  guint64 from, to;
  DccpEvent event;
  Fixture fixture;

  fixture_init (&fixture);
  send_many (&fixture, 200);
  from = send_one (&fixture, TRUE);
  fixture.now =
      MAX (fixture.now, dccp_endpoint_next_send (fixture.sender, fixture.now));
  to = send_one (&fixture, TRUE);
  send_many (&fixture, 20);
  fail_unless (poll_event (&fixture, DCCP_EVENT_LOST, &event));
  fail_unless_equals_uint64 (event.sequence, from);
  fail_unless_equals_uint64 (event.sequence + event.lost - 1, to);
  assert_losses (&fixture, 1, to - from + 1);
  fixture_clear (&fixture);
}

GST_END_TEST;

/* Three packets are lost, and the sender learns this from one report. The
 * losses are at least a round trip apart, so each of them must be reported as a
 * loss event of its own, in order.
 */
GST_START_TEST (several_events_are_told_in_their_order)
{
  guint64 lost[3];
  DccpEvent event;
  Fixture fixture;
  guint i;

  fixture_init (&fixture);
  send_many (&fixture, 20);
  for (i = 0; i < 3; i++) {
    lost[i] = send_one (&fixture, TRUE);
    fixture.now += 3 * DELAY;
  }
  send_many (&fixture, 20);
  for (i = 0; i < 3; i++) {
    fail_unless (poll_event (&fixture, DCCP_EVENT_LOST, &event));
    fail_unless_equals_uint64 (event.sequence, lost[i]);
    fail_unless_equals_int (event.lost, 1);
  }
  assert_losses (&fixture, 3, 3);
  fixture_clear (&fixture);
}

GST_END_TEST;

static Suite *
dccplost_suite (void)
{
  Suite *suite = suite_create ("dccplost");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, lost_packet_is_told_once);
  tcase_add_test (tcase, packets_lost_together_are_one_event);
  tcase_add_test (tcase, several_events_are_told_in_their_order);
  return suite;
}

GST_CHECK_MAIN (dccplost);

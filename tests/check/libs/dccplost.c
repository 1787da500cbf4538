/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a sender hears of its losses: two endpoints, packets by hand, the clock
 * turned by hand.
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
} Pair;

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

/* Control packets of one to the other */
static void
hand_over (Pair * pair, DccpEndpoint * from, DccpEndpoint * to,
    const DatagramPath * path)
{
  guint8 bytes[DCCP_MAX_CONTROL];
  DatagramPath ignored;
  DccpData data;
  gsize size;

  while ((size = dccp_endpoint_poll_control (from, pair->now, &ignored, bytes)))
    dccp_endpoint_take (to, pair->now, path, bytes, size, &data);
}

/* A packet takes its time each way. */
static void
exchange (Pair * pair)
{
  pair->now += DELAY;
  dccp_endpoint_timeout (pair->sender, pair->now);
  hand_over (pair, pair->sender, pair->receiver, &pair->back);
  pair->now += DELAY;
  dccp_endpoint_timeout (pair->receiver, pair->now);
  hand_over (pair, pair->receiver, pair->sender, &pair->there);
}

static gboolean
poll_event (Pair * pair, DccpEventType type, DccpEvent * event)
{
  while (dccp_endpoint_poll_event (pair->sender, event)) {
    if (event->type == type)
      return TRUE;
  }
  return FALSE;
}

static void
pair_init (Pair * pair)
{
  DccpEvent event;
  guint i;

  memset (pair, 0, sizeof (*pair));
  pair->there.address_size = pair->back.address_size = 4;
  pair->there.local[3] = pair->back.remote[3] = 1;
  pair->there.remote[3] = pair->back.local[3] = 2;
  pair->there.local_port = pair->back.remote_port = 40000;
  pair->there.remote_port = pair->back.local_port = 5004;
  pair->now = 1000 * MILLISECOND;
  pair->sender = endpoint_new (FALSE);
  pair->receiver = endpoint_new (TRUE);
  dccp_endpoint_connect (pair->sender, pair->now, &pair->there);
  for (i = 0; i < 10 && !poll_event (pair, DCCP_EVENT_CONNECTED, &event); i++)
    exchange (pair);
  fail_unless (i < 10);
}

static void
pair_clear (Pair * pair)
{
  dccp_endpoint_free (pair->sender);
  dccp_endpoint_free (pair->receiver);
}

/* RFC 4340 section 5.1: 48 bits behind the reserved byte */
static guint64
get_sequence (const guint8 * header)
{
  guint64 sequence = 0;
  guint i;

  for (i = 10; i < 16; i++)
    sequence = sequence << 8 | header[i];
  return sequence;
}

/* The next data packet, when it may go; answers its number */
static guint64
send_one (Pair * pair, gboolean lost)
{
  guint8 packet[DCCP_MAX_HEADER + SIZE], payload[SIZE] = { 0 };
  DccpData data;
  gsize size;

  while (dccp_endpoint_next_send (pair->sender, pair->now) > pair->now)
    exchange (pair);
  size = dccp_endpoint_send (pair->sender, pair->now, payload, SIZE, TRUE,
      packet);
  fail_unless (size > 0);
  memcpy (packet + size, payload, SIZE);
  if (!lost)
    dccp_endpoint_take (pair->receiver, pair->now + DELAY, &pair->back, packet,
        size + SIZE, &data);
  return get_sequence (packet);
}

static void
send_many (Pair * pair, guint n)
{
  guint i;

  for (i = 0; i < n; i++) {
    send_one (pair, FALSE);
    exchange (pair);
  }
}

static guint64
get_loss_events (Pair * pair)
{
  DccpStats stats;

  dccp_endpoint_get_stats (pair->sender, &stats);
  return stats.loss_events_received;
}

GST_START_TEST (lost_packet_is_told_once)
{
  guint64 lost;
  DccpEvent event;
  Pair pair;
  guint i;

  pair_init (&pair);
  send_many (&pair, 20);
  fail_if (poll_event (&pair, DCCP_EVENT_LOST, &event));
  for (i = 1; i <= 3; i++) {
    lost = send_one (&pair, TRUE);
    send_many (&pair, 20);
    fail_unless (poll_event (&pair, DCCP_EVENT_LOST, &event));
    fail_unless_equals_uint64 (event.sequence, lost);
    fail_unless_equals_int (event.lost, 1);
    fail_if (poll_event (&pair, DCCP_EVENT_LOST, &event));
    fail_unless_equals_uint64 (get_loss_events (&pair), i);
  }
  pair_clear (&pair);
}

GST_END_TEST;

GST_START_TEST (packets_lost_together_are_one_event)
{
  guint64 from, to;
  DccpEvent event;
  Pair pair;

  pair_init (&pair);
  send_many (&pair, 200);
  from = send_one (&pair, TRUE);
  pair.now = MAX (pair.now, dccp_endpoint_next_send (pair.sender, pair.now));
  to = send_one (&pair, TRUE);
  send_many (&pair, 20);
  fail_unless (poll_event (&pair, DCCP_EVENT_LOST, &event));
  fail_unless_equals_uint64 (event.sequence, from);
  fail_unless_equals_uint64 (event.sequence + event.lost - 1, to);
  fail_unless_equals_uint64 (get_loss_events (&pair), 1);
  pair_clear (&pair);
}

GST_END_TEST;

/* A round trip apart, which one report tells of */
GST_START_TEST (several_events_are_told_in_their_order)
{
  guint64 lost[3];
  DccpEvent event;
  Pair pair;
  guint i;

  pair_init (&pair);
  send_many (&pair, 20);
  for (i = 0; i < 3; i++) {
    lost[i] = send_one (&pair, TRUE);
    pair.now += 3 * DELAY;
  }
  send_many (&pair, 20);
  for (i = 0; i < 3; i++) {
    fail_unless (poll_event (&pair, DCCP_EVENT_LOST, &event));
    fail_unless_equals_uint64 (event.sequence, lost[i]);
    fail_unless_equals_int (event.lost, 1);
  }
  fail_unless_equals_uint64 (get_loss_events (&pair), 3);
  pair_clear (&pair);
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

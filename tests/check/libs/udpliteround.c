/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of UdpliteRound, which sends a batch of packets to each of several
 * receivers. Each receiver must get each packet as often as the receiver was
 * added, and in order. The result must not depend on how much room the sockets
 * have, or on whether other receivers are added or removed meanwhile. Three
 * nested loops compute the expected packets.
 */

#include <gst/check/gstcheck.h>

#include <string.h>

#include "udpliteround.h"

#define N 5                     /* packets of a round */

static UdpliteClients *clients;
static UdpliteRound round_;
/* Log of the packets that were sent. "b2" is packet 2 to receiver b. An 'x'
 * after it means that the packet could not be sent. */
static GString *sent;

static void
set_up (void)
{
  clients = udplite_clients_new ();
  udplite_clients_add (clients, "a", 1, 0);
  udplite_clients_add (clients, "b", 1, 0);
  udplite_clients_add (clients, "b", 1, 0);
  udplite_clients_add (clients, "c", 1, 0);
  udplite_round_clear (&round_);
  sent = g_string_new (NULL);
}

static void
tear_down (void)
{
  udplite_clients_free (clients);
  g_string_free (sent, TRUE);
}

static void
note (const UdpliteClient * client, guint packet)
{
  g_string_append_printf (sent, "%s%u", client->host, packet);
}

/* Sends the packets of the batch that were not sent yet. The batch has `n`
 * packets for each receiver. The socket is full after `room` packets. Sending
 * to the receivers in `failing` fails, and packets to them take no room.
 * Returns TRUE if the batch is complete, and FALSE if the socket was full. */
static gboolean
go_on (gboolean has_duplicates, guint n, guint room, const gchar * failing)
{
  UdpliteTurn turn;
  guint i, taken;

  while (udplite_round_next (&round_, clients, has_duplicates, n, &turn)) {
    fail_unless (turn.n > 0 && turn.first + turn.n <= n);
    if (strstr (failing, turn.client->host)) {
      udplite_round_note_sent (&round_, 0);
      udplite_round_skip (&round_);
      continue;
    }
    taken = MIN (turn.n, room);
    for (i = 0; i < taken; i++)
      note (turn.client, turn.first + i);
    udplite_round_note_sent (&round_, taken);
    room -= taken;
    if (taken < turn.n)
      return FALSE;
  }
  return TRUE;
}

static gchar *
expect (gboolean has_duplicates, const gchar * failing)
{
  GString *expected = g_string_new (NULL);
  guint i, time, packet;

  for (i = 0; i < udplite_clients_get_number (clients); i++) {
    const UdpliteClient *client = udplite_clients_get (clients, i);

    for (time = 0; time < (has_duplicates ? client->times : 1); time++)
      for (packet = 0; packet < N; packet++)
        if (!strstr (failing, client->host))
          g_string_append_printf (expected, "%s%u", client->host, packet);
  }
  return g_string_free (expected, FALSE);
}

/* The test sends a batch of packets to several receivers. Sending to the
 * receivers in `failing` fails; each other receiver must get each packet. The
 * socket becomes full again and again. Each call of go_on () sends as many
 * packets as the socket has room for.
 *
 * The test is repeated with several values of `__i__`, beginning with 1. In the
 * first call of go_on (), the socket has room for `__i__ - 1` packets. (If
 * `__i__` is 1, the socket has no room at first.) In each later call, the
 * socket has room for `__i__` packets. */
GST_START_TEST (each_gets_each_packet_whatever_the_room)
{
  const gchar *const failing[] = { "", "a", "b", "c", "ab", "abc" };
  guint f, duplicates, calls;
  gchar *expected;

  for (f = 0; f < G_N_ELEMENTS (failing); f++) {
    for (duplicates = 0; duplicates < 2; duplicates++) {
      set_up ();
      for (calls = 0; !go_on (duplicates, N, calls == 0 ? __i__ - 1 : __i__,
              failing[f]); calls++)
        fail_unless (calls < 100);
      expected = expect (duplicates, failing[f]);
      assert_equals_string (sent->str, expected);
      assert_equals_int (round_.reached[0], f < 5);
      g_free (expected);
      tear_down ();
    }
  }
}

GST_END_TEST;

GST_START_TEST (receiver_that_goes_is_left_out)
{
  set_up ();
  fail_if (go_on (TRUE, N, N + 2, ""));
  assert_equals_string (sent->str, "a0a1a2a3a4b0b1");
  /* Receiver b was added twice, so it gets each packet twice. After it was
   * removed once, it must get each packet once. After it was removed twice, it
   * must get no packet. */
  udplite_clients_remove (clients, "b", 1, 0);
  fail_if (go_on (TRUE, N, 1, ""));
  udplite_clients_remove (clients, "b", 1, 0);
  fail_unless (go_on (TRUE, N, 100, ""));
  assert_equals_string (sent->str, "a0a1a2a3a4b0b1b2c0c1c2c3c4");
  tear_down ();
}

GST_END_TEST;

GST_START_TEST (earlier_receiver_that_goes_changes_nothing)
{
  set_up ();
  fail_if (go_on (FALSE, N, N + 2, ""));
  udplite_clients_remove (clients, "a", 1, 0);
  fail_unless (go_on (FALSE, N, 100, ""));
  assert_equals_string (sent->str, "a0a1a2a3a4b0b1b2b3b4c0c1c2c3c4");
  tear_down ();
}

GST_END_TEST;

GST_START_TEST (receiver_that_comes_is_the_last)
{
  set_up ();
  fail_if (go_on (FALSE, N, 3 * N - 1, ""));
  udplite_clients_add (clients, "d", 1, 0);
  fail_unless (go_on (FALSE, N, 100, ""));
  assert_equals_string (sent->str, "a0a1a2a3a4b0b1b2b3b4c0c1c2c3c4d0d1d2d3d4");
  tear_down ();
}

GST_END_TEST;

GST_START_TEST (packet_that_failed_is_skipped_by_that_receiver_alone)
{
  UdpliteTurn turn;
  guint i;

  set_up ();
  fail_unless (udplite_round_next (&round_, clients, FALSE, 2, &turn));
  udplite_round_skip (&round_);
  fail_unless (udplite_round_next (&round_, clients, FALSE, 2, &turn));
  assert_equals_int (turn.first, 1);
  assert_equals_int (turn.n, 1);
  udplite_round_note_sent (&round_, 1);
  fail_if (round_.reached[0]);
  fail_unless (round_.reached[1]);
  for (i = 0; i < 2; i++) {
    fail_unless (udplite_round_next (&round_, clients, FALSE, 2, &turn));
    assert_equals_int (turn.first, 0);
    assert_equals_int (turn.n, 2);
    udplite_round_note_sent (&round_, 2);
  }
  fail_if (udplite_round_next (&round_, clients, FALSE, 2, &turn));
  fail_unless (round_.reached[0]);
  tear_down ();
}

GST_END_TEST;

GST_START_TEST (without_receivers_there_is_no_round)
{
  UdpliteTurn turn;

  set_up ();
  while (udplite_clients_get_number (clients) > 0) {
    const UdpliteClient *client = udplite_clients_get (clients, 0);

    udplite_clients_remove (clients, client->host, client->port, 0);
  }
  fail_if (udplite_round_next (&round_, clients, TRUE, N, &turn));
  fail_if (udplite_round_goes_once (clients, TRUE));
  udplite_clients_add (clients, "a", 1, 0);
  fail_unless (udplite_round_goes_once (clients, TRUE));
  udplite_clients_add (clients, "a", 1, 0);
  fail_if (udplite_round_goes_once (clients, TRUE));
  fail_unless (udplite_round_goes_once (clients, FALSE));
  udplite_clients_add (clients, "b", 1, 0);
  fail_if (udplite_round_goes_once (clients, FALSE));
  tear_down ();
}

GST_END_TEST;

static Suite *
udplite_round_suite (void)
{
  Suite *s = suite_create ("udpliteround");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, each_gets_each_packet_whatever_the_room, 1,
      3 * N + 2);
  tcase_add_test (tc, receiver_that_goes_is_left_out);
  tcase_add_test (tc, earlier_receiver_that_goes_changes_nothing);
  tcase_add_test (tc, receiver_that_comes_is_the_last);
  tcase_add_test (tc, packet_that_failed_is_skipped_by_that_receiver_alone);
  tcase_add_test (tc, without_receivers_there_is_no_round);
  return s;
}

GST_CHECK_MAIN (udplite_round);

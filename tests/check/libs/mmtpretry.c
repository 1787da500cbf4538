/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks when the element mmtpsink opens a path, closes it and tries to open it
 * again, in virtual time. All times are in ms.
 */

#include <gst/check/gstcheck.h>

#include "mmtpretry.h"

#define MS G_GUINT64_CONSTANT (1000000)
#define NEVER G_MAXUINT64

static MmtpRetry retry;

static void
begin (void)
{
  mmtp_retry_init (&retry);
}

static MmtpRetryAction
act (guint64 now, guint n_addresses)
{
  return mmtp_retry_get_action (&retry, now * MS, n_addresses);
}

#define assert_action(now, n_addresses, action) \
    assert_equals_int (act (now, n_addresses), MMTP_RETRY_##action)
#define assert_wakeup(n_addresses, expected) \
    fail_unless_equals_uint64 (mmtp_retry_next_wakeup (&retry, n_addresses), \
        (expected) == NEVER ? NEVER : (expected) * MS)

static void
open_at (guint64 now, guint n_addresses)
{
  assert_action (now, n_addresses, OPEN);
  mmtp_retry_note_open (&retry, now * MS);
}

/* Simulates what the element mmtpsink does when it gets the action
 * NEXT_ADDRESS: it closes the path and opens it with the next address. */
static void
reopen_at (guint64 now)
{
  mmtp_retry_note_closed (&retry);
  mmtp_retry_note_open (&retry, now * MS);
}

GST_START_TEST (it_is_opened_at_once_and_stays)
{
  begin ();
  assert_wakeup (1, 0);
  open_at (0, 1);
  mmtp_retry_note_sent (&retry, 0);
  assert_action (0, 1, NOTHING);
  assert_action (100000, 1, NOTHING);
  assert_wakeup (1, NEVER);
}

GST_END_TEST;

GST_START_TEST (pauses_grow_to_five_seconds)
{
  const guint64 pauses[] = { 500, 1000, 2000, 4000, 5000, 5000 };
  guint64 now = 7;
  guint i;

  begin ();
  for (i = 0; i < G_N_ELEMENTS (pauses); i++) {
    assert_action (now, 1, OPEN);
    mmtp_retry_note_failure (&retry, now * MS);
    assert_wakeup (1, now + pauses[i]);
    assert_action (now + pauses[i] - 1, 1, NOTHING);
    now += pauses[i];
  }
}

GST_END_TEST;

GST_START_TEST (interface_that_comes_back_ends_the_pause)
{
  begin ();
  assert_equals_int (mmtp_retry_note_interface (&retry, TRUE),
      MMTP_RETRY_NOTHING);
  open_at (0, 1);
  assert_equals_int (mmtp_retry_note_interface (&retry, FALSE),
      MMTP_RETRY_CLOSE);
  mmtp_retry_note_closed (&retry);
  mmtp_retry_note_failure (&retry, 0);
  mmtp_retry_note_failure (&retry, 0);
  assert_action (10, 1, NOTHING);
  assert_equals_int (mmtp_retry_note_interface (&retry, FALSE),
      MMTP_RETRY_NOTHING);
  assert_action (10, 1, NOTHING);
  assert_equals_int (mmtp_retry_note_interface (&retry, TRUE),
      MMTP_RETRY_NOTHING);
  assert_action (11, 1, OPEN);
  /* The interface of the path was removed and exists again. The pause between
   * two attempts, which doubles with each failure, must therefore begin with
   * its minimum again. If the next attempt to open the path fails, the pause
   * after it must be only 500 ms. */
  mmtp_retry_note_failure (&retry, 11 * MS);
  assert_wakeup (1, 511);
}

GST_END_TEST;

GST_START_TEST (path_that_has_gone_is_closed)
{
  begin ();
  open_at (0, 1);
  mmtp_retry_note_gone (&retry, FALSE);
  assert_wakeup (1, 0);
  assert_action (3, 1, CLOSE);
  mmtp_retry_note_closed (&retry);
  mmtp_retry_note_failure (&retry, 3 * MS);
  assert_action (502, 1, NOTHING);
  open_at (503, 1);
  assert_action (504, 1, NOTHING);
}

GST_END_TEST;

GST_START_TEST (path_for_shorter_packets_is_opened_again_at_once)
{
  begin ();
  open_at (0, 1);
  mmtp_retry_note_gone (&retry, TRUE);
  assert_action (3, 1, REOPEN);
  reopen_at (3);
  assert_action (3, 1, NOTHING);
}

GST_END_TEST;

GST_START_TEST (refusing_address_is_left_at_once)
{
  begin ();
  open_at (0, 2);
  mmtp_retry_note_sent (&retry, 1 * MS);
  mmtp_retry_note_refused (&retry);
  assert_action (2, 2, NEXT_ADDRESS);
  assert_equals_int (retry.address, 1);
  reopen_at (2);
  mmtp_retry_note_sent (&retry, 2 * MS);
  mmtp_retry_note_refused (&retry);
  /* The sender was refused at both addresses of the list. It must not try the
   * first address again at once. It must wait until 1 s has passed since its
   * first message to the second address. */
  assert_action (3, 2, NOTHING);
  assert_wakeup (2, 1002);
  assert_action (1002, 2, NEXT_ADDRESS);
  assert_equals_int (retry.address, 0);
}

GST_END_TEST;

GST_START_TEST (timeout_doubles_with_each_round)
{
  const guint64 timeout[] = { 1000, 1000, 2000, 2000, 4000, 4000, 8000, 8000,
    8000
  };
  guint64 now = 0;
  guint i;

  begin ();
  open_at (now, 2);
  for (i = 0; i < G_N_ELEMENTS (timeout); i++) {
    assert_equals_int (retry.address, i % 2);
    mmtp_retry_note_sent (&retry, (now + 5) * MS);
    mmtp_retry_note_sent (&retry, (now + 900) * MS);
    now += 5 + timeout[i];
    assert_wakeup (2, now);
    assert_action (now - 1, 2, NOTHING);
    assert_action (now, 2, NEXT_ADDRESS);
    reopen_at (now);
  }
}

GST_END_TEST;

GST_START_TEST (address_that_answers_is_kept)
{
  begin ();
  open_at (0, 3);
  mmtp_retry_note_sent (&retry, 0);
  mmtp_retry_note_heard (&retry, 999 * MS);
  assert_wakeup (3, NEVER);
  mmtp_retry_note_refused (&retry);
  assert_action (100000, 3, NOTHING);
}

GST_END_TEST;

GST_START_TEST (refusal_in_a_session_needs_silence)
{
  begin ();
  open_at (0, 1);
  fail_if (mmtp_retry_is_refused (&retry, 0, FALSE));
  mmtp_retry_note_heard (&retry, 100 * MS);
  mmtp_retry_note_refused (&retry);
  fail_unless (mmtp_retry_is_refused (&retry, 100 * MS, FALSE));
  fail_if (mmtp_retry_is_refused (&retry, 1099 * MS, TRUE));
  fail_unless (mmtp_retry_is_refused (&retry, 1100 * MS, TRUE));
  mmtp_retry_note_heard (&retry, 1200 * MS);
  fail_if (mmtp_retry_is_refused (&retry, 5000 * MS, TRUE));
}

GST_END_TEST;

static Suite *
mmtp_retry_suite (void)
{
  Suite *s = suite_create ("mmtpretry");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, it_is_opened_at_once_and_stays);
  tcase_add_test (tc, pauses_grow_to_five_seconds);
  tcase_add_test (tc, interface_that_comes_back_ends_the_pause);
  tcase_add_test (tc, path_that_has_gone_is_closed);
  tcase_add_test (tc, path_for_shorter_packets_is_opened_again_at_once);
  tcase_add_test (tc, refusing_address_is_left_at_once);
  tcase_add_test (tc, timeout_doubles_with_each_round);
  tcase_add_test (tc, address_that_answers_is_kept);
  tcase_add_test (tc, refusal_in_a_session_needs_silence);
  return s;
}

GST_CHECK_MAIN (mmtp_retry);

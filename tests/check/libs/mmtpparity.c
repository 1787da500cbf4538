/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the message REPAIR, which docs/wire-mmtp.md describes. A REPAIR
 * contains the parity (the exclusive or) of a group of messages. If one message
 * of the group is missing, the receiver computes it from the REPAIR and the
 * other messages. */

#include <gst/check/gstcheck.h>

#include "mmtpparity.h"

#define N 6

typedef struct
{
  guint8 bytes[N][100];
  gsize sizes[N];
  MmtpBlock block;
  MmtpRepair repair;
  MmtpStore *store;
} Fixture;

/* Makes N messages of different lengths and the REPAIR that covers all of them.
 * The last message is the shortest. Every second message has the flag
 * MMTP_FLAG_DELTA. */
static void
fixture_init (Fixture * fixture, guint64 first)
{
  MmtpMessage message = { MMTP_DATA };
  guint8 payload[50];
  guint i;

  memset (fixture, 0, sizeof (*fixture));
  fixture->store = mmtp_store_new ();
  for (i = 0; i < N; i++) {
    memset (payload, 17 * i + 3, sizeof (payload));
    message.channel = 3;
    message.number = 1000 + i;
    message.sent = 77 * i;
    message.trailer = G_GUINT64_CONSTANT (0x0102030405060708) * i;
    message.data.stream_number = (first + i) & 0xffffff;
    message.data.due = 40000 * i;
    message.data.flags = MMTP_FLAG_LAST | (i % 2 ? MMTP_FLAG_DELTA : 0);
    message.data.caps_version = i;
    message.data.payload = payload;
    message.data.payload_size = 40 - 8 * i;
    fixture->sizes[i] = mmtp_packet_write (&message, fixture->bytes[i],
        sizeof (fixture->bytes[i]));
    fail_unless (fixture->sizes[i] > 0);
    fail_unless (mmtp_block_add (&fixture->block, first + i, fixture->bytes[i],
            fixture->sizes[i]));
  }
  mmtp_block_get_repair (&fixture->block, &fixture->repair);
  fail_unless_equals_int (fixture->repair.mask, (1 << N) - 1);
  fail_unless_equals_int (fixture->repair.first, first & 0xffffff);
  fail_unless_equals_int (fixture->repair.content_size, fixture->sizes[0] - 18);
}

static void
fixture_clear (Fixture * fixture)
{
  mmtp_block_clear (&fixture->block);
  mmtp_store_free (fixture->store);
}

static void
come (Fixture * fixture, guint64 first, guint i)
{
  mmtp_store_add (fixture->store, (first + i) & 0xffffff, fixture->bytes[i],
      fixture->sizes[i]);
}

static void
check_none (Fixture * fixture)
{
  const guint8 *bytes;
  gsize size;

  fail_if (mmtp_store_poll (fixture->store, &bytes, &size));
}

/* Checks that the message that was computed from the REPAIR equals the message
 * that was sent. Some fields of the computed message are 0, because a REPAIR
 * does not contain them. */
static void
check_out (Fixture * fixture, guint i)
{
  const guint8 *bytes;
  guint8 expected[100];
  gsize size;

  fail_unless (mmtp_store_poll (fixture->store, &bytes, &size));
  fail_unless_equals_int (size, fixture->sizes[i]);
  memcpy (expected, fixture->bytes[i], size);
  memset (expected + 1, 0, 6);
  memset (expected + size - 8, 0, 8);
  fail_unless (memcmp (bytes, expected, size) == 0);
}

/* A test runs once for each of these stream numbers. The number is that of the
 * first of the six packets of the run. A message contains only the low 24 bits
 * of a stream number. These bits wrap to 0 at each multiple of 2^24. In the
 * first run, they do not wrap. In the second run, they wrap between two of the
 * six packets. In the third run, they wrap directly after the last packet. */
static const guint64 firsts[] = { 0, 0xfffffd, 0x1fffffa };

GST_START_TEST (any_one_that_is_missing_comes_out)
{
  guint64 first = firsts[__i__];
  guint missing, i;

  for (missing = 0; missing < N; missing++) {
    Fixture fixture;

    fixture_init (&fixture, first);
    for (i = 0; i < N; i++)
      if (i != missing)
        come (&fixture, first, i);
    check_none (&fixture);
    mmtp_store_add_repair (fixture.store, &fixture.repair);
    check_out (&fixture, missing);
    check_none (&fixture);
    fixture_clear (&fixture);
  }
}

GST_END_TEST;

GST_START_TEST (two_losses_are_recovered_after_one_arrival)
{
  Fixture fixture;
  guint i;

  fixture_init (&fixture, 100);
  for (i = 2; i < N; i++)
    come (&fixture, 100, i);
  mmtp_store_add_repair (fixture.store, &fixture.repair);
  check_none (&fixture);
  come (&fixture, 100, 0);
  check_out (&fixture, 1);
  check_none (&fixture);
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (where_all_have_come_nothing_comes_out)
{
  Fixture fixture;
  guint i;

  fixture_init (&fixture, 100);
  for (i = 0; i < N; i++)
    come (&fixture, 100, i);
  mmtp_store_add_repair (fixture.store, &fixture.repair);
  check_none (&fixture);
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (inconsistent_parity_is_dropped)
{
  Fixture fixture;
  guint i;

  fixture_init (&fixture, 100);
  for (i = 1; i < N; i++)
    come (&fixture, 100, i);
  /* The REPAIR contains the combined lengths of its messages. Here they are
   * changed, so that the missing message would be longer than every other
   * message of the group. Such a REPAIR is invalid, and no message may be
   * computed from it. */
  fixture.repair.sizes ^= 0x1000;
  mmtp_store_add_repair (fixture.store, &fixture.repair);
  check_none (&fixture);
  /* The REPAIR contains the lengths of its messages, combined by an exclusive
   * or. They give the length of the missing message. Now they are changed so
   * that this length is below the minimum. No message may be computed from this
   * REPAIR. */
  fixture.repair.sizes ^= 0x1000 ^ (fixture.sizes[0] - 18) ^ 5;
  mmtp_store_add_repair (fixture.store, &fixture.repair);
  check_none (&fixture);
  /* Now the content of the REPAIR is shorter than one of the other messages of
   * its group. Such a REPAIR is invalid, and no message may be computed from
   * it. */
  fixture.repair.sizes ^= (fixture.sizes[0] - 18) ^ 5;
  fixture.repair.content_size = 3;
  mmtp_store_add_repair (fixture.store, &fixture.repair);
  check_none (&fixture);
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (expired_messages_are_not_used_for_recovery)
{
  Fixture fixture;
  guint i;

  fixture_init (&fixture, 0);
  for (i = 1; i < N; i++)
    come (&fixture, 0, i);
  for (i = 0; i < 64; i++)
    mmtp_store_add (fixture.store, 64 + i, fixture.bytes[0], fixture.sizes[0]);
  mmtp_store_add_repair (fixture.store, &fixture.repair);
  check_none (&fixture);
  fixture_clear (&fixture);
}

GST_END_TEST;

GST_START_TEST (a_block_spans_32_numbers)
{
  Fixture fixture;

  fixture_init (&fixture, 100);
  fail_if (mmtp_block_add (&fixture.block, 99, fixture.bytes[0],
          fixture.sizes[0]));
  fail_if (mmtp_block_add (&fixture.block, 132, fixture.bytes[0],
          fixture.sizes[0]));
  fail_unless (mmtp_block_add (&fixture.block, 131, fixture.bytes[0],
          fixture.sizes[0]));
  fail_unless_equals_int (fixture.block.n, N + 1);
  mmtp_block_restart (&fixture.block);
  fail_unless (mmtp_block_add (&fixture.block, 132, fixture.bytes[0],
          fixture.sizes[0]));
  mmtp_block_get_repair (&fixture.block, &fixture.repair);
  fail_unless_equals_int (fixture.repair.mask, 1);
  fail_unless_equals_int (fixture.repair.sizes, fixture.sizes[0] - 18);
  fixture_clear (&fixture);
}

GST_END_TEST;

static Suite *
mmtpparity_suite (void)
{
  Suite *s = suite_create ("mmtpparity");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, any_one_that_is_missing_comes_out, 0,
      G_N_ELEMENTS (firsts));
  tcase_add_test (tc, two_losses_are_recovered_after_one_arrival);
  tcase_add_test (tc, where_all_have_come_nothing_comes_out);
  tcase_add_test (tc, inconsistent_parity_is_dropped);
  tcase_add_test (tc, expired_messages_are_not_used_for_recovery);
  tcase_add_test (tc, a_block_spans_32_numbers);
  return s;
}

GST_CHECK_MAIN (mmtpparity);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* REPAIR of docs/wire-mmtp.md: of some messages and all of them combined, the
 * one that is missing. */

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
} Rig;

/* Of lengths that differ, the last one the shortest; every other is the second
 * of a pair */
static void
rig_init (Rig * rig, guint64 first)
{
  MmtpMessage message = { MMTP_DATA };
  guint8 payload[50];
  guint i;

  memset (rig, 0, sizeof (*rig));
  rig->store = mmtp_store_new ();
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
    rig->sizes[i] = mmtp_packet_write (&message, rig->bytes[i],
        sizeof (rig->bytes[i]));
    fail_unless (rig->sizes[i] > 0);
    fail_unless (mmtp_block_add (&rig->block, first + i, rig->bytes[i],
            rig->sizes[i]));
  }
  mmtp_block_get_repair (&rig->block, &rig->repair);
  fail_unless_equals_int (rig->repair.mask, (1 << N) - 1);
  fail_unless_equals_int (rig->repair.first, first & 0xffffff);
  fail_unless_equals_int (rig->repair.content_size, rig->sizes[0] - 18);
}

static void
rig_clear (Rig * rig)
{
  mmtp_block_clear (&rig->block);
  mmtp_store_free (rig->store);
}

static void
come (Rig * rig, guint64 first, guint i)
{
  mmtp_store_add (rig->store, (first + i) & 0xffffff, rig->bytes[i],
      rig->sizes[i]);
}

static void
check_none (Rig * rig)
{
  const guint8 *bytes;
  gsize size;

  fail_if (mmtp_store_poll (rig->store, &bytes, &size));
}

/* As it was sent, but for what is another message's */
static void
check_out (Rig * rig, guint i)
{
  const guint8 *bytes;
  guint8 expected[100];
  gsize size;

  fail_unless (mmtp_store_poll (rig->store, &bytes, &size));
  fail_unless_equals_int (size, rig->sizes[i]);
  memcpy (expected, rig->bytes[i], size);
  memset (expected + 1, 0, 6);
  memset (expected + size - 8, 0, 8);
  fail_unless (memcmp (bytes, expected, size) == 0);
}

/* Also where the 24 bits of stream numbers begin again */
static const guint64 firsts[] = { 0, 0xfffffd, 0x1fffffa };

GST_START_TEST (any_one_that_is_missing_comes_out)
{
  guint64 first = firsts[__i__];
  guint missing, i;

  for (missing = 0; missing < N; missing++) {
    Rig rig;

    rig_init (&rig, first);
    for (i = 0; i < N; i++)
      if (i != missing)
        come (&rig, first, i);
    check_none (&rig);
    mmtp_store_add_repair (rig.store, &rig.repair);
    check_out (&rig, missing);
    check_none (&rig);
    rig_clear (&rig);
  }
}

GST_END_TEST;

GST_START_TEST (of_two_one_has_to_come)
{
  Rig rig;
  guint i;

  rig_init (&rig, 100);
  for (i = 2; i < N; i++)
    come (&rig, 100, i);
  mmtp_store_add_repair (rig.store, &rig.repair);
  check_none (&rig);
  come (&rig, 100, 0);
  check_out (&rig, 1);
  check_none (&rig);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (where_all_have_come_nothing_comes_out)
{
  Rig rig;
  guint i;

  rig_init (&rig, 100);
  for (i = 0; i < N; i++)
    come (&rig, 100, i);
  mmtp_store_add_repair (rig.store, &rig.repair);
  check_none (&rig);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (what_does_not_belong_together_is_dropped)
{
  Rig rig;
  guint i;

  rig_init (&rig, 100);
  for (i = 1; i < N; i++)
    come (&rig, 100, i);
  /* longer than all of them */
  rig.repair.sizes ^= 0x1000;
  mmtp_store_add_repair (rig.store, &rig.repair);
  check_none (&rig);
  /* shorter than any message */
  rig.repair.sizes ^= 0x1000 ^ (rig.sizes[0] - 18) ^ 5;
  mmtp_store_add_repair (rig.store, &rig.repair);
  check_none (&rig);
  /* one that came is longer than all combined */
  rig.repair.sizes ^= (rig.sizes[0] - 18) ^ 5;
  rig.repair.content_size = 3;
  mmtp_store_add_repair (rig.store, &rig.repair);
  check_none (&rig);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (what_is_long_ago_is_forgotten)
{
  Rig rig;
  guint i;

  rig_init (&rig, 0);
  for (i = 1; i < N; i++)
    come (&rig, 0, i);
  for (i = 0; i < 64; i++)
    mmtp_store_add (rig.store, 64 + i, rig.bytes[0], rig.sizes[0]);
  mmtp_store_add_repair (rig.store, &rig.repair);
  check_none (&rig);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (a_block_spans_32_numbers)
{
  Rig rig;

  rig_init (&rig, 100);
  fail_if (mmtp_block_add (&rig.block, 99, rig.bytes[0], rig.sizes[0]));
  fail_if (mmtp_block_add (&rig.block, 132, rig.bytes[0], rig.sizes[0]));
  fail_unless (mmtp_block_add (&rig.block, 131, rig.bytes[0], rig.sizes[0]));
  fail_unless_equals_int (rig.block.n, N + 1);
  mmtp_block_restart (&rig.block);
  fail_unless (mmtp_block_add (&rig.block, 132, rig.bytes[0], rig.sizes[0]));
  mmtp_block_get_repair (&rig.block, &rig.repair);
  fail_unless_equals_int (rig.repair.mask, 1);
  fail_unless_equals_int (rig.repair.sizes, rig.sizes[0] - 18);
  rig_clear (&rig);
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
  tcase_add_test (tc, of_two_one_has_to_come);
  tcase_add_test (tc, where_all_have_come_nothing_comes_out);
  tcase_add_test (tc, what_does_not_belong_together_is_dropped);
  tcase_add_test (tc, what_is_long_ago_is_forgotten);
  tcase_add_test (tc, a_block_spans_32_numbers);
  return s;
}

GST_CHECK_MAIN (mmtpparity);

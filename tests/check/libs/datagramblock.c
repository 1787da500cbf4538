/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the memory in which packets are received (datagramblock.h). It
 * consists of blocks, which belong to a pool and are divided into slices. A
 * slice must keep its bytes. A pool must limit the number of its blocks, and
 * must use them again.
 */

#include <gst/check/gstcheck.h>

#include <string.h>

#include "datagramblock.h"

#define SIZE 1000
#define BLOCKS 4

GST_START_TEST (slices_keep_their_block_until_the_last_is_freed)
{
  DatagramPool *pool = datagram_pool_new (SIZE, BLOCKS);
  DatagramBlock *block = datagram_pool_take (pool);
  DatagramSlice slices[10];
  guint i;

  for (i = 0; i < 10; i++) {
    memset (block->bytes + 100 * i, i, 100);
    datagram_block_slice (block, block->bytes + 100 * i, 100, &slices[i]);
  }
  datagram_block_release (block);
  for (i = 0; i < 10; i++) {
    assert_equals_int (datagram_pool_get_used (pool), 1);
    assert_equals_int (slices[i].size, 100);
    assert_equals_int (slices[i].bytes[0], i);
    assert_equals_int (slices[i].bytes[99], i);
    datagram_slice_clear (&slices[i]);
    fail_unless (slices[i].bytes == NULL && slices[i].size == 0);
  }
  assert_equals_int (datagram_pool_get_used (pool), 0);
  datagram_pool_free (pool);
}

GST_END_TEST;

GST_START_TEST (block_without_slices_is_free_at_once)
{
  DatagramPool *pool = datagram_pool_new (SIZE, BLOCKS);
  DatagramBlock *block = datagram_pool_take (pool);

  datagram_block_release (block);
  assert_equals_int (datagram_pool_get_used (pool), 0);
  fail_unless (datagram_pool_take (pool) == block);
  datagram_block_release (block);
  datagram_pool_free (pool);
}

GST_END_TEST;

GST_START_TEST (pool_has_a_maximum)
{
  DatagramPool *pool = datagram_pool_new (SIZE, BLOCKS);
  DatagramBlock *blocks[BLOCKS];
  DatagramSlice slice;
  guint i;

  for (i = 0; i < BLOCKS; i++) {
    blocks[i] = datagram_pool_take (pool);
    fail_unless (blocks[i] != NULL);
  }
  fail_unless (datagram_pool_take (pool) == NULL);
  datagram_block_slice (blocks[0], blocks[0]->bytes, 1, &slice);
  datagram_block_release (blocks[0]);
  fail_unless (datagram_pool_take (pool) == NULL);
  datagram_slice_clear (&slice);
  blocks[0] = datagram_pool_take (pool);
  fail_unless (blocks[0] != NULL);
  for (i = 0; i < BLOCKS; i++)
    datagram_block_release (blocks[i]);
  datagram_pool_free (pool);
}

GST_END_TEST;

GST_START_TEST (slices_outlive_their_pool)
{
  DatagramPool *pool = datagram_pool_new (SIZE, BLOCKS);
  DatagramBlock *block = datagram_pool_take (pool);
  DatagramSlice slices[2];

  memset (block->bytes, 7, SIZE);
  datagram_block_slice (block, block->bytes, 10, &slices[0]);
  datagram_block_slice (block, block->bytes + 10, 10, &slices[1]);
  datagram_block_release (block);
  datagram_pool_free (pool);
  datagram_slice_clear (&slices[0]);
  assert_equals_int (slices[1].bytes[9], 7);
  datagram_slice_clear (&slices[1]);
}

GST_END_TEST;

GST_START_TEST (without_a_block_the_bytes_are_copied)
{
  guint8 bytes[3] = { 1, 2, 3 };
  DatagramSlice slice;

  datagram_block_slice (NULL, bytes, sizeof (bytes), &slice);
  memset (bytes, 0, sizeof (bytes));
  assert_equals_int (slice.size, 3);
  assert_equals_int (slice.bytes[2], 3);
  datagram_slice_clear (&slice);
}

GST_END_TEST;

#define SLICES 100000

static gpointer
clear_slices (gpointer queue)
{
  DatagramSlice *slice;
  guint i;

  for (i = 0; i < SLICES; i++) {
    slice = g_async_queue_pop (queue);
    assert_equals_int (slice->bytes[0], slice->size % 256);
    datagram_slice_clear (slice);
    g_free (slice);
  }
  return NULL;
}

/* One thread takes blocks from the pool and divides them into slices. Another
 * thread checks and frees the slices at the same time. Each slice must contain
 * the correct byte. At the end, no block must be in use. */
GST_START_TEST (another_thread_frees_slices)
{
  DatagramPool *pool = datagram_pool_new (SIZE, BLOCKS);
  GAsyncQueue *queue = g_async_queue_new ();
  GThread *thread = g_thread_new ("clear", clear_slices, queue);
  DatagramBlock *block = NULL;
  DatagramSlice *slice;
  guint8 copied;
  guint i;

  for (i = 0; i < SLICES; i++) {
    if (i % 50 == 0) {
      g_clear_pointer (&block, datagram_block_release);
      block = datagram_pool_take (pool);
    }
    slice = g_new (DatagramSlice, 1);
    copied = i % SIZE % 256;
    if (block)
      block->bytes[i % 50] = copied;
    datagram_block_slice (block, block ? block->bytes + i % 50 : &copied, 1,
        slice);
    slice->size = i % SIZE;
    g_async_queue_push (queue, slice);
  }
  g_clear_pointer (&block, datagram_block_release);
  g_thread_join (thread);
  assert_equals_int (datagram_pool_get_used (pool), 0);
  datagram_pool_free (pool);
  g_async_queue_unref (queue);
}

GST_END_TEST;

static Suite *
datagram_block_suite (void)
{
  Suite *s = suite_create ("datagramblock");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, slices_keep_their_block_until_the_last_is_freed);
  tcase_add_test (tc, block_without_slices_is_free_at_once);
  tcase_add_test (tc, pool_has_a_maximum);
  tcase_add_test (tc, slices_outlive_their_pool);
  tcase_add_test (tc, without_a_block_the_bytes_are_copied);
  tcase_add_test (tc, another_thread_frees_slices);
  return s;
}

GST_CHECK_MAIN (datagram_block);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GstBlockAllocator puts several buffers into one block of memory. A block is
 * freed only with its last buffer. The tests check how much memory the blocks
 * occupy if only a few of their buffers are still in use.
 */

#include <malloc.h>
#include <string.h>

#include <gst/check/gstcheck.h>

#include "gstblockallocator.h"

#define SIZE 1000
#define KEPT 500
#define BLOCK_SIZE (64 * 1024)
#define MAX_BLOCKS 8
/* Maximum number of bytes that a buffer may occupy in addition to its data */
#define OVERHEAD 1000

static gsize
get_used_memory (void)
{
  const struct mallinfo2 info = mallinfo2 ();

  return info.uordblks + info.hblkhd;
}

static GstBuffer *
make_buffer (GstAllocator * allocator, guint8 value)
{
  guint8 *data;
  GstBuffer *buffer = gst_block_allocator_new_buffer (allocator, SIZE, &data);

  memset (data, value, SIZE);
  return buffer;
}

/* Makes `n` buffers one after the other. Frees all of them but the last one,
 * which it returns. */
static GstBuffer *
keep_one_of (GstAllocator * allocator, guint n, guint8 value)
{
  while (--n > 0)
    gst_buffer_unref (make_buffer (allocator, 0));
  return make_buffer (allocator, value);
}

static void
check_buffer (GstBuffer * buffer, guint8 value)
{
  GstMapInfo map;
  guint i;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  fail_unless_equals_int (map.size, SIZE);
  for (i = 0; i < SIZE; i++)
    fail_unless_equals_int (map.data[i], value);
  gst_buffer_unmap (buffer, &map);
}

GST_START_TEST (kept_memories_keep_a_limited_number_of_blocks)
{
  GstAllocator *allocator = gst_block_allocator_new (MAX_BLOCKS);
  const gsize before = get_used_memory ();
  GstBuffer *kept[KEPT];
  guint i, round;

  /* Each iteration frees all its buffers at the end. The same limit of memory
   * must therefore hold in the second iteration as in the first one. */
  for (round = 0; round < 2; round++) {
    for (i = 0; i < KEPT; i++)
      kept[i] = keep_one_of (allocator, 100, i);
    fail_unless (get_used_memory () - before <=
        MAX_BLOCKS * BLOCK_SIZE + KEPT * (SIZE + OVERHEAD));
    for (i = 0; i < KEPT; i++)
      check_buffer (kept[i], i);
    for (i = 0; i < KEPT; i++)
      gst_buffer_unref (kept[i]);
  }
  gst_object_unref (allocator);
}

GST_END_TEST;

/* The allocator may have only one block with several memories (a shared block).
 * When this block is full, each further memory must get a block of its own.
 * After all memories were freed, new memories must share a block again. */
GST_START_TEST (blocks_are_shared_again_after_the_limit_was_reached)
{
  GstAllocator *allocator = gst_block_allocator_new (1);
  GstBuffer *first = make_buffer (allocator, 1), *alone[100], *shared[20];
  guint8 *data, *last = NULL;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (alone); i++)
    alone[i] = make_buffer (allocator, 2);
  gst_buffer_unref (first);
  for (i = 0; i < G_N_ELEMENTS (alone); i++)
    gst_buffer_unref (alone[i]);
  for (i = 0; i < G_N_ELEMENTS (shared); i++) {
    shared[i] = gst_block_allocator_new_buffer (allocator, SIZE, &data);
    if (last)
      fail_unless (data > last && data < last + 2 * SIZE);
    last = data;
  }
  for (i = 0; i < G_N_ELEMENTS (shared); i++)
    gst_buffer_unref (shared[i]);
  gst_object_unref (allocator);
}

GST_END_TEST;

GST_START_TEST (memories_outlive_their_allocator)
{
  GstAllocator *allocator = gst_block_allocator_new (2);
  GstBuffer *buffers[200];
  guint i;

  for (i = 0; i < G_N_ELEMENTS (buffers); i++)
    buffers[i] = make_buffer (allocator, i);
  gst_object_unref (allocator);
  for (i = 0; i < G_N_ELEMENTS (buffers); i++) {
    check_buffer (buffers[i], i);
    gst_buffer_unref (buffers[i]);
  }
}

GST_END_TEST;

static Suite *
blockallocator_suite (void)
{
  Suite *suite = suite_create ("blockallocator");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, kept_memories_keep_a_limited_number_of_blocks);
  tcase_add_test (tcase, blocks_are_shared_again_after_the_limit_was_reached);
  tcase_add_test (tcase, memories_outlive_their_allocator);
  return suite;
}

GST_CHECK_MAIN (blockallocator);

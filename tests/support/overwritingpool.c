/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "overwritingpool.h"

GstBufferPool *
pooled_new (gsize size)
{
  GstBufferPool *pool = gst_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);

  gst_buffer_pool_config_set_params (config, NULL, size, 1, 0);
  fail_unless (gst_buffer_pool_set_config (pool, config));
  fail_unless (gst_buffer_pool_set_active (pool, TRUE));
  return pool;
}

void
pooled_free (GstBufferPool * pool)
{
  gst_buffer_pool_set_active (pool, FALSE);
  gst_object_unref (pool);
}

GstBuffer *
pooled_copy (GstBufferPool * pool, GstBuffer * from)
{
  GstBuffer *buffer = NULL;
  GstMapInfo map;

  fail_unless_equals_int (gst_buffer_pool_acquire_buffer (pool, &buffer, NULL),
      GST_FLOW_OK);
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  fail_unless (gst_buffer_get_size (from) <= map.size);
  gst_buffer_extract (from, 0, map.data, map.size);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_set_size (buffer, gst_buffer_get_size (from));
  gst_buffer_copy_into (buffer, from, GST_BUFFER_COPY_TIMESTAMPS
      | GST_BUFFER_COPY_FLAGS, 0, -1);
  return buffer;
}

void
pooled_overwrite (GstBufferPool * pool)
{
  GstBuffer *buffer = NULL;

  fail_unless_equals_int (gst_buffer_pool_acquire_buffer (pool, &buffer, NULL),
      GST_FLOW_OK);
  gst_buffer_memset (buffer, 0, 0xff, -1);
  gst_buffer_unref (buffer);
}

void
pooled_push (GstHarness * h, GstBufferPool * pool, GstBuffer * from)
{
  fail_unless_equals_int (gst_harness_push (h, pooled_copy (pool, from)),
      GST_FLOW_OK);
  pooled_overwrite (pool);
}

static void
pooled_check_equal (GstBuffer * buffer, GstBuffer * expected)
{
  GstMapInfo map;

  fail_unless (buffer != NULL && expected != NULL);
  fail_unless (gst_buffer_map (expected, &map, GST_MAP_READ));
  fail_unless_equals_int (gst_buffer_get_size (buffer), map.size);
  fail_unless_equals_int (gst_buffer_memcmp (buffer, 0, map.data, map.size), 0);
  gst_buffer_unmap (expected, &map);
}

/* Sends EOS and waits until it comes out of the element. The element has then
 * output all buffers. The wait is necessary, because some elements push in a
 * thread of their own. */
static void
pooled_wait_for_eos (GstHarness * h)
{
  GstEventType type = GST_EVENT_UNKNOWN;
  GstEvent *event;

  gst_harness_push_event (h, gst_event_new_eos ());
  while (type != GST_EVENT_EOS) {
    event = gst_harness_pull_event (h);
    fail_unless (event != NULL);
    type = GST_EVENT_TYPE (event);
    gst_event_unref (event);
  }
}

void
pooled_compare (GstHarness * own, GstHarness * pooled, GPtrArray * buffers)
{
  GstBufferPool *pool;
  GstBuffer *expected;
  gsize size = 0;
  guint i, n = 0;

  for (i = 0; i < buffers->len; i++)
    size = MAX (size, gst_buffer_get_size (buffers->pdata[i]));
  pool = pooled_new (size);
  for (i = 0; i < buffers->len; i++) {
    gst_harness_push (own, gst_buffer_ref (buffers->pdata[i]));
    pooled_push (pooled, pool, buffers->pdata[i]);
  }
  pooled_wait_for_eos (own);
  pooled_wait_for_eos (pooled);
  while ((expected = gst_harness_try_pull (own))) {
    GstBuffer *buffer = gst_harness_try_pull (pooled);

    pooled_check_equal (buffer, expected);
    gst_buffer_unref (buffer);
    gst_buffer_unref (expected);
    n++;
  }
  fail_unless (n > 0);
  fail_unless (gst_harness_try_pull (pooled) == NULL);
  pooled_free (pool);
  gst_harness_teardown (own);
  gst_harness_teardown (pooled);
}

void
pooled_compare_launch (const gchar * launch, const gchar * caps,
    GPtrArray * buffers)
{
  GstHarness *own = gst_harness_new_parse (launch);
  GstHarness *pooled = gst_harness_new_parse (launch);

  gst_harness_set_src_caps_str (own, caps);
  gst_harness_set_src_caps_str (pooled, caps);
  pooled_compare (own, pooled, buffers);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A buffer pool that overwrites each buffer as soon as the buffer returns to
 * the pool. An element that keeps data beyond the chain call must prevent this:
 * it keeps the buffer, locks the memory, or copies the data.
 */

#ifndef __OVERWRITINGPOOL_H__
#define __OVERWRITINGPOOL_H__

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#include <string.h>

/* Returns a pool of one buffer. The pool allocates further buffers only while
 * this buffer is in use, so a test never waits for the pool. */
GstBufferPool *pooled_new (gsize size);
void pooled_free (GstBufferPool * pool);
/* Returns a buffer of the pool with the data, timestamps and flags of `from`.
 */
GstBuffer *pooled_copy (GstBufferPool * pool, GstBuffer * from);
/* Takes the next buffer from the pool, sets all its bytes to 0xff, and returns
 * it to the pool. */
void pooled_overwrite (GstBufferPool * pool);
/* Pushes a buffer of the pool with the data of `from`. If the element has then
 * returned this buffer to the pool, the buffer is overwritten. */
void pooled_push (GstHarness * h, GstBufferPool * pool, GstBuffer * from);
/* Checks that no data was overwritten: the output for buffers of the pool must
 * equal the output for ordinary buffers. All buffers are pushed before the
 * outputs are compared. The two harnesses have the same element, and their caps
 * are already set. */
void pooled_compare (GstHarness * own, GstHarness * pooled,
    GPtrArray * buffers);
/* Makes two harnesses, each with the element that the launch line `launch`
 * describes, and then does the same check as pooled_compare (). The element
 * must have a sink pad and a source pad. */
void pooled_compare_launch (const gchar * launch, const gchar * caps,
    GPtrArray * buffers);

#endif /* __OVERWRITINGPOOL_H__ */

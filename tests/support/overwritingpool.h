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
/* Copies `from` to a buffer of the pool, and pushes the copy. If the element
 * does not keep the pushed buffer, the buffer is overwritten afterwards. */
void pooled_push (GstHarness * h, GstBufferPool * pool, GstBuffer * from);
/* Checks that an element does not use overwritten data. Pushes `buffers` to the
 * harness `own`, and copies of them to the harness `pooled`. The copies are in
 * buffers of an overwriting pool. After all buffers were pushed, the outputs of
 * the two harnesses must be equal. The caller creates both harnesses with the
 * same kind of element, and sets their caps. */
void pooled_compare (GstHarness * own, GstHarness * pooled,
    GPtrArray * buffers);
/* Does the same as pooled_compare (), but creates the two harnesses itself,
 * from the launch line `launch` with the caps `caps`. The launch line describes
 * an element with a sink pad and a source pad. */
void pooled_compare_launch (const gchar * launch, const gchar * caps,
    GPtrArray * buffers);

#endif /* __OVERWRITINGPOOL_H__ */

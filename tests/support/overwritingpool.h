/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A buffer pool for tests, which overwrites each buffer as soon as it is
 * returned to the pool. It reveals elements that use data after they have
 * returned the buffer. A correct element that needs the data beyond the chain
 * call keeps the buffer, locks its memory, or copies the data. */

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
/* Takes a buffer out of the pool, sets all its bytes to 0xff, and returns it to
 * the pool. */
void pooled_overwrite (GstBufferPool * pool);
/* Copies `from` to a buffer of the pool, and pushes the copy. If the element
 * returns the buffer to the pool at once, the function then overwrites this
 * buffer. */
void pooled_push (GstHarness * h, GstBufferPool * pool, GstBuffer * from);
/* Checks that an element does not use data that were overwritten. The harnesses
 * `own` and `pooled` must contain the same kind of element with the same caps.
 * The function pushes `buffers` to `own`. It pushes copies of these buffers to
 * `pooled`. The copies are from a buffer pool. When the element returns a copy
 * to this pool, the data of the copy are overwritten. If the element still used
 * these data, its output would be wrong. The outputs of the two harnesses must
 * therefore be equal. */
void pooled_compare (GstHarness * own, GstHarness * pooled,
    GPtrArray * buffers);
/* Checks that an element does not use data that were overwritten. `launch` is a
 * launch line that describes the element, which must have a sink pad and a
 * source pad. `caps` are its input caps. The function creates two harnesses
 * with such an element and calls pooled_compare (). One element gets `buffers`.
 * The other gets copies, which are overwritten as soon as the element releases
 * them. The outputs must be equal. */
void pooled_compare_launch (const gchar * launch, const gchar * caps,
    GPtrArray * buffers);

#endif /* __OVERWRITINGPOOL_H__ */

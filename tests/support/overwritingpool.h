/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Buffers of a pool that overwrites each buffer as soon as it comes back. An
 * element that keeps data beyond the chain call must keep the pool from doing
 * that: it holds the buffer, holds the memory's lock, or copies the data.
 */

#ifndef __OVERWRITINGPOOL_H__
#define __OVERWRITINGPOOL_H__

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#include <string.h>

/* A pool of one buffer, which allocates further ones only while that one is in
 * use: so a test never waits for the pool. */
GstBufferPool *pooled_new (gsize size);
void pooled_free (GstBufferPool * pool);
/* A buffer of the pool with the bytes, times and flags of this one */
GstBuffer *pooled_copy (GstBufferPool * pool, GstBuffer * from);
/* What the pool gives out next is written full of ones. */
void pooled_overwrite (GstBufferPool * pool);
/* Pushes a copy of the pool and overwrites it if it came back. */
void pooled_push (GstHarness * h, GstBufferPool * pool, GstBuffer * from);
/* Nothing was overwritten: what comes out for buffers of the pool is what comes
 * out for buffers of their own. Pushes all before it looks. Takes two harnesses
 * of the same element, which have their caps */
void pooled_compare (GstHarness * own, GstHarness * pooled,
    GPtrArray * buffers);
/* The same of an element that has both pads */
void pooled_compare_launch (const gchar * launch, const gchar * caps,
    GPtrArray * buffers);

#endif /* __OVERWRITINGPOOL_H__ */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An allocator for many small memories that are freed at about the same time,
 * such as the packets of a frame. A memory and its GstMemory struct are
 * allocated together from a large block. A block is freed when all its memories
 * were freed.
 */

#pragma once

#include <gst/gst.h>

#define GST_TYPE_BLOCK_ALLOCATOR (gst_block_allocator_get_type ())
G_DECLARE_FINAL_TYPE (GstBlockAllocator, gst_block_allocator, GST,
    BLOCK_ALLOCATOR, GstAllocator);

/* Returns a new allocator (transfer full). Only one thread at a time may
 * allocate memory. Any thread may free it.
 *
 * A block of 64 KiB is shared by several memories. As long as one of them is in
 * use, the whole block stays allocated, even if the memory is small. The number
 * of shared blocks is therefore limited to `max_blocks`; G_MAXINT means that
 * there is no limit. While this many blocks are in use, each new memory gets a
 * block for itself, which is as large as the memory. */
GstAllocator *gst_block_allocator_new (guint max_blocks);

/* Returns a new buffer with a single memory of `size` bytes, and stores the
 * address of these bytes in `data`. The caller may write to this address
 * without mapping the memory, as long as it is the only owner of the buffer. */
GstBuffer *gst_block_allocator_new_buffer (GstAllocator * allocator, gsize size,
    guint8 ** data);

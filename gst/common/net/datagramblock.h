/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory of received packets, which is passed on without a copy. A block holds
 * the bytes of one or several packets. A slice is the part of a block that is
 * the payload of one packet, and it keeps the block in memory.
 *
 * Received packets are written to the blocks of a pool. Each of these blocks is
 * as large as the largest datagram. A slice may be much smaller than the block
 * that it keeps in memory. Therefore a pool has a maximum number of blocks.
 * While all of them are in use, each further packet is copied into a new block
 * of the packet's size. The memory in use is therefore at most the memory of
 * all blocks of the pool plus the size of the copied packets that are still in
 * use.
 */

#pragma once

#include <glib.h>

typedef struct _DatagramBlock DatagramBlock;
typedef struct _DatagramPool DatagramPool;

/* The owner of a block has created the block or taken it from the pool. Only
 * the owner may use the fields. Any thread may use slices of the block. */
struct _DatagramBlock
{
  gint references;              /* atomic */
  /* Number of slices that the owner of the block has made. Only used for blocks
   * of a pool. */
  gint n_slices;
  DatagramPool *pool;           /* NULL if the block belongs to no pool */
  guint8 bytes[];
};

typedef struct
{
  DatagramBlock *block;         /* NULL if there are no bytes */
  const guint8 *bytes;
  gsize size;
} DatagramSlice;

/* --- pools, for any thread ------------------------------------------------ */

/* Makes a pool of at most `max_blocks` blocks of `size` bytes. */
DatagramPool *datagram_pool_new (gsize size, guint max_blocks);
/* Frees the pool. A block that slices still use is freed later, together with
 * the last slice that uses it. */
void datagram_pool_free (DatagramPool * pool);
/* Takes an unused block from the pool and returns it. The caller becomes the
 * owner of the block. Returns NULL if all blocks of the pool are in use. */
DatagramBlock *datagram_pool_take (DatagramPool * pool);
/* Returns how many blocks of the pool are in use. */
guint datagram_pool_get_used (DatagramPool * pool);

/* --- blocks, for their owner ---------------------------------------------- */

/* Makes a slice of the `size` bytes at `bytes`. If `block` is not NULL, the
 * block must belong to a pool and contain the bytes. The caller remains the
 * owner of the block. If `block` is NULL, the slice gets a copy of the bytes.
 */
void datagram_block_slice (DatagramBlock * block, const guint8 * bytes,
    gsize size, DatagramSlice * slice);
/* The owner of a block of a pool calls this function when it no longer uses the
 * block. The block returns to the pool when it has no slices any more. */
void datagram_block_release (DatagramBlock * block);

/* Returns a block of `size` bytes that belongs to no pool. The caller passes it
 * on with datagram_block_steal, or frees it with datagram_block_unref. */
DatagramBlock *datagram_block_new (gsize size);
/* Changes the size of a block that belongs to no pool. Returns the new address
 * of the block. */
DatagramBlock *datagram_block_resize (DatagramBlock * block, gsize size);
/* Makes a slice of a block that belongs to no pool. The slice becomes the owner
 * of the block. */
void datagram_block_steal (DatagramBlock * block, const guint8 * bytes,
    gsize size, DatagramSlice * slice);

/* --- slices, for any thread ----------------------------------------------- */

/* Releases the memory of the slice. Afterwards the slice is empty. */
void datagram_slice_clear (DatagramSlice * slice);
/* Releases the reference that a slice holds on its block. Code that has copied
 * the fields of a slice calls this function instead of datagram_slice_clear.
 * `block` may be NULL. */
void datagram_block_unref (DatagramBlock * block);

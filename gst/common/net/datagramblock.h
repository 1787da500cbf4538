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

/* The owner of a block is the code that has created the block or taken it from
 * the pool. Only the owner may access the fields of this struct. Slices, which
 * refer to parts of the block, may be used by any thread. */
struct _DatagramBlock
{
  gint references;              /* atomic */
  /* Number of slices that the owner has made of this block so far. Only used
   * for blocks of a pool. */
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

/* Makes a pool, which is a stock of at most `max_blocks` memory blocks of
 * `size` bytes each. */
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

/* Makes a slice, which is a reference to the `size` bytes at `bytes`. If
 * `block` is not NULL, the block must belong to a pool and contain these bytes;
 * the caller remains the owner of the block. If `block` is NULL, the slice gets
 * a copy of the bytes.
 */
void datagram_block_slice (DatagramBlock * block, const guint8 * bytes,
    gsize size, DatagramSlice * slice);
/* Called by the owner of a block that comes from a pool, when the owner no
 * longer uses the block. Slices of the block may still exist. The block returns
 * to the pool as soon as the last of them is released. */
void datagram_block_release (DatagramBlock * block);

/* Returns a block of `size` bytes that belongs to no pool. The caller passes it
 * on with datagram_block_steal, or frees it with datagram_block_unref. */
DatagramBlock *datagram_block_new (gsize size);
/* Changes the size of a block that belongs to no pool. The block may move; its
 * new address is returned. */
DatagramBlock *datagram_block_resize (DatagramBlock * block, gsize size);
/* Makes a slice of the `size` bytes at `bytes`, which are in a block that
 * belongs to no pool. The slice takes over the ownership of the block. */
void datagram_block_steal (DatagramBlock * block, const guint8 * bytes,
    gsize size, DatagramSlice * slice);

/* --- slices, for any thread ----------------------------------------------- */

/* Releases the reference that the slice holds on its block, and makes the slice
 * empty. */
void datagram_slice_clear (DatagramSlice * slice);
/* A slice holds a reference on its block. Releases this reference. The function
 * is for code that has copied the fields of a slice and no longer has the slice
 * itself; otherwise use datagram_slice_clear. `block` may be NULL. */
void datagram_block_unref (DatagramBlock * block);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory for received packets, which are passed on without a copy. A block
 * contains the bytes of one or several packets. A slice is a reference to the
 * payload of one packet in a block. The block is not freed while a slice refers
 * to it.
 *
 * Received packets are written to the blocks of a pool. Each of these blocks is
 * as large as the largest datagram, and a slice of a few bytes keeps the whole
 * block in use. Therefore a pool has a maximum number of blocks. While all of
 * them are in use, each further packet is copied into a new block of the
 * packet's size. The memory in use is therefore limited to two parts: all
 * blocks of the pool, and the copied packets that are still in use. */

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
  /* Number of slices of this block that the owner has made so far. Only used if
   * the block comes from a pool. */
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
/* Frees the pool. If slices still use a block, this block is freed later, when
 * its last slice is released. */
void datagram_pool_free (DatagramPool * pool);
/* Takes an unused block from the pool and returns it. The caller becomes the
 * owner of the block. Returns NULL if all blocks of the pool are in use. */
DatagramBlock *datagram_pool_take (DatagramPool * pool);
/* Returns how many blocks of the pool are in use. */
guint datagram_pool_get_used (DatagramPool * pool);

/* --- blocks, for their owner ---------------------------------------------- */

/* Makes a slice, which is a reference to the `size` bytes at `bytes`. There are
 * two cases:
 *
 * - `block` is not NULL. It must come from a pool and contain these bytes. The
 *   caller remains the owner of the block.
 * - `block` is NULL. The bytes are copied, and the slice refers to the copy. */
void datagram_block_slice (DatagramBlock * block, const guint8 * bytes,
    gsize size, DatagramSlice * slice);
/* Gives the block back to its pool. The owner of the block calls this function
 * when it no longer uses the block. If slices still refer to the block, the
 * block returns to the pool as soon as the last of them is released. */
void datagram_block_release (DatagramBlock * block);

/* Returns a new block of `size` bytes that belongs to no pool. The caller
 * either turns it into a slice with datagram_block_steal, or frees it with
 * datagram_block_unref. */
DatagramBlock *datagram_block_new (gsize size);
/* Changes the size of a block that belongs to no pool. The block may move; its
 * new address is returned. */
DatagramBlock *datagram_block_resize (DatagramBlock * block, gsize size);
/* Makes a slice, which is a reference to the `size` bytes at `bytes`. `block`
 * must contain these bytes and must belong to no pool. The slice becomes the
 * owner of the block. */
void datagram_block_steal (DatagramBlock * block, const guint8 * bytes,
    gsize size, DatagramSlice * slice);

/* --- slices, for any thread ----------------------------------------------- */

/* Releases the reference that the slice holds on its block, and makes the slice
 * empty. */
void datagram_slice_clear (DatagramSlice * slice);
/* Releases a reference that a slice held on `block`. Use this function only in
 * code that has copied the fields of the slice and no longer has the slice
 * itself. Otherwise use datagram_slice_clear. `block` may be NULL. */
void datagram_block_unref (DatagramBlock * block);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of datagramblock.h: memory blocks for received packets, pools
 * of such blocks, and slices, which are references to parts of blocks. */

#include "datagramblock.h"

#include <string.h>

/* Initial value of the reference count of a block that is taken from a pool. It
 * is so large because the owner of the block holds this many references in
 * advance. When the owner makes a slice, it gives one of its references to the
 * slice and only increments n_slices. The reference count does not change, so
 * no atomic operation is needed. When the owner no longer uses the block, it
 * gives up all its remaining references at once. OWN_REFERENCES must be larger
 * than the number of slices that fit into a block. */
#define OWN_REFERENCES (1 << 24)

struct _DatagramPool
{
  gsize size;                   /* of each block, in bytes */
  guint max_blocks;
  GMutex lock;

  /* protected by lock */
  /* Free blocks of the pool. The block that was returned last is taken first,
   * because its bytes are most likely still in the CPU cache. */
  GPtrArray *unused;
  guint n_used;
  gboolean is_closed;           /* datagram_pool_free was called. */
};

/* --- pools ---------------------------------------------------------------- */

DatagramPool *
datagram_pool_new (gsize size, guint max_blocks)
{
  DatagramPool *pool = g_new0 (DatagramPool, 1);

  pool->size = size;
  pool->max_blocks = max_blocks;
  g_mutex_init (&pool->lock);
  pool->unused = g_ptr_array_new_full (max_blocks, g_free);
  return pool;
}

static void
destroy (DatagramPool * pool)
{
  g_mutex_clear (&pool->lock);
  g_ptr_array_unref (pool->unused);
  g_free (pool);
}

void
datagram_pool_free (DatagramPool * pool)
{
  gboolean is_last;

  g_mutex_lock (&pool->lock);
  pool->is_closed = TRUE;
  g_ptr_array_set_size (pool->unused, 0);
  is_last = pool->n_used == 0;
  g_mutex_unlock (&pool->lock);
  if (is_last)
    destroy (pool);
}

DatagramBlock *
datagram_pool_take (DatagramPool * pool)
{
  DatagramBlock *block = NULL;
  gboolean is_full;

  g_mutex_lock (&pool->lock);
  is_full = pool->n_used == pool->max_blocks;
  pool->n_used += is_full ? 0 : 1;
  if (!is_full && pool->unused->len > 0)
    block = g_ptr_array_steal_index (pool->unused, pool->unused->len - 1);
  g_mutex_unlock (&pool->lock);
  if (is_full)
    return NULL;
  if (!block)
    block = g_malloc (sizeof (*block) + pool->size);
  block->references = OWN_REFERENCES;
  block->n_slices = 0;
  block->pool = pool;
  return block;
}

static void
give_back (DatagramPool * pool, DatagramBlock * block)
{
  gboolean is_closed, is_last;

  g_mutex_lock (&pool->lock);
  is_closed = pool->is_closed;
  pool->n_used--;
  is_last = pool->n_used == 0;
  if (!is_closed)
    g_ptr_array_add (pool->unused, block);
  g_mutex_unlock (&pool->lock);
  if (!is_closed)
    return;
  g_free (block);
  if (is_last)
    destroy (pool);
}

guint
datagram_pool_get_used (DatagramPool * pool)
{
  guint n_used;

  g_mutex_lock (&pool->lock);
  n_used = pool->n_used;
  g_mutex_unlock (&pool->lock);
  return n_used;
}

/* --- blocks --------------------------------------------------------------- */

static void
drop_references (DatagramBlock * block, gint n)
{
  if (g_atomic_int_add (&block->references, -n) != n)
    return;
  if (block->pool)
    give_back (block->pool, block);
  else
    g_free (block);
}

void
datagram_block_release (DatagramBlock * block)
{
  drop_references (block, OWN_REFERENCES - block->n_slices);
}

DatagramBlock *
datagram_block_new (gsize size)
{
  DatagramBlock *block = g_malloc (sizeof (*block) + size);

  block->references = 1;
  block->n_slices = 0;
  block->pool = NULL;
  return block;
}

DatagramBlock *
datagram_block_resize (DatagramBlock * block, gsize size)
{
  return g_realloc (block, sizeof (*block) + size);
}

void
datagram_block_steal (DatagramBlock * block, const guint8 * bytes, gsize size,
    DatagramSlice * slice)
{
  slice->block = block;
  slice->bytes = bytes;
  slice->size = size;
}

static void
copy (const guint8 * bytes, gsize size, DatagramSlice * slice)
{
  DatagramBlock *block = datagram_block_new (size);

  if (size > 0)
    memcpy (block->bytes, bytes, size);
  datagram_block_steal (block, block->bytes, size, slice);
}

void
datagram_block_slice (DatagramBlock * block, const guint8 * bytes, gsize size,
    DatagramSlice * slice)
{
  if (!block) {
    copy (bytes, size, slice);
    return;
  }
  slice->block = block;
  slice->bytes = bytes;
  slice->size = size;
  block->n_slices++;
}

void
datagram_block_unref (DatagramBlock * block)
{
  if (block)
    drop_references (block, 1);
}

/* --- slices --------------------------------------------------------------- */

void
datagram_slice_clear (DatagramSlice * slice)
{
  datagram_block_unref (slice->block);
  memset (slice, 0, sizeof (*slice));
}

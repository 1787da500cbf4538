/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of gstblockallocator.h: an allocator whose memories are parts
 * of large blocks. */

#include "gstblockallocator.h"

#include <string.h>

/* Size of a block in bytes; 40 Ethernet packets fit into it. When a block of
 * this size is freed, malloc keeps its memory for the next block. */
#define BLOCK_SIZE (64 * 1024)
/* Alignment in bytes that is sufficient for GstMemory and for the data of each
 * memory */
#define ALIGNMENT 16
/* Initial value of the reference count of a new block. All of these references
 * belong to the allocator at first. It passes one of them to each memory that
 * it creates in the block. Passing a reference needs no atomic operation,
 * because the count does not change. OWN_REFERENCES must be larger than the
 * number of memories that fit into a block. */
#define OWN_REFERENCES (1 << 24)

typedef struct
{
  gint references;              /* atomic */
  guint taken;                  /* number of memories */
  gsize used, size;             /* in bytes */
  /* FALSE if the block was made for a single memory */
  gboolean is_shared;
} Block;

typedef struct
{
  GstMemory memory;
  Block *block;                 /* NULL for a share, which has a parent */
  guint8 *data;
} BlockMemory;

struct _GstBlockAllocator
{
  GstAllocator parent;

  Block *block;                 /* NULL if there is none */
  gint max_blocks;
  /* Number of blocks that are shared by several memories and have not been
   * freed yet. Blocks for a single memory are not counted. Accessed atomically.
   */
  gint n_blocks;
};

#define ROUND_UP(size) (((size) + ALIGNMENT - 1) & ~(gsize) (ALIGNMENT - 1))

G_DEFINE_TYPE (GstBlockAllocator, gst_block_allocator, GST_TYPE_ALLOCATOR);

/* --- blocks --------------------------------------------------------------- */

static Block *
block_new (gsize size)
{
  Block *block = g_malloc (size);

  block->references = OWN_REFERENCES;
  block->taken = 0;
  block->used = ROUND_UP (sizeof (Block));
  block->size = size;
  return block;
}

/* Subtracts `references` from the reference count of `block`, and frees the
 * block if the count becomes 0. Any thread may call this function. */
static void
allocator_release_block (GstBlockAllocator * self, Block * block,
    gint references)
{
  if (g_atomic_int_add (&block->references, -references) != references)
    return;
  if (block->is_shared)
    g_atomic_int_add (&self->n_blocks, -1);
  g_free (block);
}

/* Stops using the current block for new memories. A new block starts with
 * OWN_REFERENCES references, which belong to the allocator. Each memory in the
 * block has got one of them. The remaining references are released here. */
static void
allocator_retire_block (GstBlockAllocator * self)
{
  Block *block = g_steal_pointer (&self->block);

  if (block)
    allocator_release_block (self, block, OWN_REFERENCES - block->taken);
}

/* Returns a block that has room for a GstMemory of `needed` bytes. If the
 * current block has no room, a new block is made. Usually a new block is large
 * and has room for several memories. There may be at most `max_blocks` of these
 * large blocks. When this number is reached, the new block has room for this
 * one memory only. */
static Block *
allocator_get_block (GstBlockAllocator * self, gsize needed)
{
  gsize size = ROUND_UP (sizeof (Block)) + needed;
  gboolean is_shared;

  if (self->block && self->block->size - self->block->used >= needed)
    return self->block;
  allocator_retire_block (self);
  is_shared = size < BLOCK_SIZE
      && g_atomic_int_get (&self->n_blocks) < self->max_blocks;
  if (is_shared)
    g_atomic_int_add (&self->n_blocks, 1);
  self->block = block_new (is_shared ? BLOCK_SIZE : size);
  self->block->is_shared = is_shared;
  return self->block;
}

/* --- memories ------------------------------------------------------------- */

static GstMemory *
gst_block_allocator_alloc (GstAllocator * allocator, gsize size,
    GstAllocationParams * params)
{
  const gsize offset = params->prefix;
  const gsize maxsize = offset + size + params->padding;
  const gsize slack = params->align > ALIGNMENT - 1 ? params->align : 0;
  const gsize needed = ROUND_UP (sizeof (BlockMemory))
      + ROUND_UP (maxsize + slack);
  Block *block = allocator_get_block (GST_BLOCK_ALLOCATOR (allocator), needed);
  BlockMemory *memory = (BlockMemory *) ((guint8 *) block + block->used);

  memory->block = block;
  memory->data = (guint8 *) memory + ROUND_UP (sizeof (BlockMemory));
  memory->data += -(gsize) memory->data & slack;
  gst_memory_init (&memory->memory, params->flags, allocator, NULL, maxsize,
      MAX (params->align, ALIGNMENT - 1), offset, size);
  if (params->flags & GST_MEMORY_FLAG_ZERO_PREFIXED)
    memset (memory->data, 0, offset);
  if (params->flags & GST_MEMORY_FLAG_ZERO_PADDED)
    memset (memory->data + offset + size, 0, params->padding);
  block->used += needed;
  block->taken++;
  return &memory->memory;
}

static void
gst_block_allocator_free (GstAllocator * allocator, GstMemory * memory)
{
  BlockMemory *own = (BlockMemory *) memory;

  if (own->block)
    allocator_release_block (GST_BLOCK_ALLOCATOR (allocator), own->block, 1);
  else
    g_free (own);
}

static gpointer
block_memory_map (GstMemory * memory, gsize maxsize, GstMapFlags flags)
{
  return ((BlockMemory *) memory)->data;
}

static void
block_memory_unmap (GstMemory * memory)
{
}

static GstMemory *
block_memory_share (GstMemory * memory, gssize offset, gssize size)
{
  GstMemory *parent = memory->parent ? memory->parent : memory;
  BlockMemory *share = g_new (BlockMemory, 1);

  share->block = NULL;
  share->data = ((BlockMemory *) memory)->data;
  gst_memory_init (&share->memory, GST_MINI_OBJECT_FLAGS (parent)
      | GST_MINI_OBJECT_FLAG_LOCK_READONLY, memory->allocator, parent,
      memory->maxsize, memory->align, memory->offset + offset,
      size < 0 ? memory->size - offset : (gsize) size);
  return &share->memory;
}

/* --- the allocator -------------------------------------------------------- */

static void
gst_block_allocator_finalize (GObject * object)
{
  allocator_retire_block (GST_BLOCK_ALLOCATOR (object));
  G_OBJECT_CLASS (gst_block_allocator_parent_class)->finalize (object);
}

static void
gst_block_allocator_class_init (GstBlockAllocatorClass * klass)
{
  GstAllocatorClass *allocator_class = GST_ALLOCATOR_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = gst_block_allocator_finalize;
  allocator_class->alloc = gst_block_allocator_alloc;
  allocator_class->free = gst_block_allocator_free;
}

static void
gst_block_allocator_init (GstBlockAllocator * self)
{
  GstAllocator *allocator = GST_ALLOCATOR_CAST (self);

  allocator->mem_type = "WirelessBlockMemory";
  allocator->mem_map = block_memory_map;
  allocator->mem_unmap = block_memory_unmap;
  allocator->mem_share = block_memory_share;
}

GstAllocator *
gst_block_allocator_new (guint max_blocks)
{
  GstBlockAllocator *self = g_object_new (GST_TYPE_BLOCK_ALLOCATOR, NULL);

  self->max_blocks = max_blocks;
  return gst_object_ref_sink (self);
}

GstBuffer *
gst_block_allocator_new_buffer (GstAllocator * allocator, gsize size,
    guint8 ** data)
{
  GstBuffer *buffer = gst_buffer_new_allocate (allocator, size, NULL);

  *data = ((BlockMemory *) gst_buffer_peek_memory (buffer, 0))->data;
  return buffer;
}

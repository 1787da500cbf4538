/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* REPAIR messages: the XOR of several DATA messages. */

#include "mmtpparity.h"

#include <string.h>

/* Number of bits in the mask of a REPAIR. Each bit stands for one DATA message.
 */
#define SPAN 32
#define NUMBER_MASK 0xffffff    /* Stream numbers have 24 bits. */
/* Number of DATA messages that the store keeps. A REPAIR covers at most SPAN
 * messages, and the store keeps twice this number. */
#define KEPT (2 * SPAN)
/* The store keeps a REPAIR if more than one of its DATA messages is missing.
 * When all but one of these messages have arrived, the REPAIR can restore the
 * last one. WAITING is the maximum number of REPAIRs that are kept. A new
 * REPAIR replaces the oldest REPAIR. */
#define WAITING 4

static void
combine (guint8 * sum, const guint8 * content, gsize size)
{
  gsize i;

  for (i = 0; i < size; i++)
    sum[i] ^= content[i];
}

/* --- at the sender -------------------------------------------------------- */

void
mmtp_block_restart (MmtpBlock * block)
{
  block->n = 0;
  block->mask = 0;
  block->sizes = 0;
  if (block->content)
    g_byte_array_set_size (block->content, 0);
}

void
mmtp_block_clear (MmtpBlock * block)
{
  if (block->content)
    g_byte_array_unref (block->content);
  memset (block, 0, sizeof (*block));
}

static void
make_length (GByteArray * content, gsize size)
{
  gsize old = content->len;

  if (size <= old)
    return;
  g_byte_array_set_size (content, size);
  memset (content->data + old, 0, size - old);
}

gboolean
mmtp_block_add (MmtpBlock * block, guint64 number, const guint8 * message,
    gsize size)
{
  gsize content = size - MMTP_CONTENT_OFFSET - MMTP_TRAILER_SIZE;

  if (block->n == 0)
    block->first = number;
  if (number < block->first || number - block->first >= SPAN)
    return FALSE;
  if (!block->content)
    block->content = g_byte_array_new ();
  make_length (block->content, content);
  combine (block->content->data, message + MMTP_CONTENT_OFFSET, content);
  block->mask |= (guint32) 1 << (number - block->first);
  block->sizes ^= content;
  block->n++;
  return TRUE;
}

void
mmtp_block_get_repair (const MmtpBlock * block, MmtpRepair * repair)
{
  repair->first = block->first & NUMBER_MASK;
  repair->mask = block->mask;
  repair->sizes = block->sizes;
  repair->content = block->content->data;
  repair->content_size = block->content->len;
}

/* --- at the receiver ------------------------------------------------------ */

typedef struct
{
  gboolean any;
  guint32 number;
  GByteArray *content;
} Kept;

typedef struct
{
  gboolean waits;
  guint32 first, mask;
  guint16 sizes;
  GByteArray *content;
} Waiting;

struct _MmtpStore
{
  Kept kept[KEPT];
  Waiting waiting[WAITING];
  /* index in `waiting` at which the next REPAIR is stored */
  guint next;
  /* the message that mmtp_store_poll () has computed and returned last */
  GByteArray *message;
};

MmtpStore *
mmtp_store_new (void)
{
  MmtpStore *store = g_new0 (MmtpStore, 1);
  guint i;

  for (i = 0; i < KEPT; i++)
    store->kept[i].content = g_byte_array_new ();
  for (i = 0; i < WAITING; i++)
    store->waiting[i].content = g_byte_array_new ();
  store->message = g_byte_array_new ();
  return store;
}

void
mmtp_store_free (MmtpStore * store)
{
  guint i;

  for (i = 0; i < KEPT; i++)
    g_byte_array_unref (store->kept[i].content);
  for (i = 0; i < WAITING; i++)
    g_byte_array_unref (store->waiting[i].content);
  g_byte_array_unref (store->message);
  g_free (store);
}

static Kept *
get_slot (MmtpStore * store, guint32 number)
{
  return &store->kept[number % KEPT];
}

static const Kept *
find (MmtpStore * store, guint32 number)
{
  const Kept *kept = get_slot (store, number & NUMBER_MASK);

  return kept->any && kept->number == (number & NUMBER_MASK) ? kept : NULL;
}

static void
set_content (GByteArray * array, const guint8 * content, gsize size)
{
  if (array->len != size)
    g_byte_array_set_size (array, size);
  if (size > 0)
    memcpy (array->data, content, size);
}

void
mmtp_store_add (MmtpStore * store, guint32 stream_number,
    const guint8 * message, gsize size)
{
  Kept *kept = get_slot (store, stream_number);

  kept->any = TRUE;
  kept->number = stream_number;
  set_content (kept->content, message + MMTP_CONTENT_OFFSET,
      size - MMTP_CONTENT_OFFSET - MMTP_TRAILER_SIZE);
}

void
mmtp_store_add_repair (MmtpStore * store, const MmtpRepair * repair)
{
  Waiting *waiting = &store->waiting[store->next];

  store->next = (store->next + 1) % WAITING;
  waiting->waits = TRUE;
  waiting->first = repair->first;
  waiting->mask = repair->mask;
  waiting->sizes = repair->sizes;
  set_content (waiting->content, repair->content, repair->content_size);
}

/* Returns TRUE if the REPAIR `waiting` can be used, because exactly one of the
 * DATA messages that it protects is missing. Sets `missing` to the stream
 * number of this message. */
static gboolean
find_missing (MmtpStore * store, Waiting * waiting, guint32 * missing)
{
  guint i, n = 0;

  for (i = 0; i < SPAN; i++) {
    if (!(waiting->mask >> i & 1) || find (store, waiting->first + i))
      continue;
    *missing = (waiting->first + i) & NUMBER_MASK;
    n++;
  }
  if (n == 0)
    waiting->waits = FALSE;
  return n == 1;
}

/* Computes the message with the stream number `missing` from the REPAIR
 * `waiting` and the stored messages. Returns FALSE if the sizes of the REPAIR
 * and the stored messages show that they do not belong together. */
static gboolean
take_out (MmtpStore * store, Waiting * waiting, guint32 missing)
{
  GByteArray *content = waiting->content;
  gsize size = waiting->sizes;
  guint i;

  waiting->waits = FALSE;
  for (i = 0; i < SPAN; i++) {
    const Kept *kept = find (store, waiting->first + i);

    if (!(waiting->mask >> i & 1) || !kept)
      continue;
    if (kept->content->len > content->len)
      return FALSE;
    combine (content->data, kept->content->data, kept->content->len);
    size ^= kept->content->len;
  }
  if (size < MMTP_MIN_CONTENT || size > content->len)
    return FALSE;
  g_byte_array_set_size (store->message, MMTP_CONTENT_OFFSET + size +
      MMTP_TRAILER_SIZE);
  memset (store->message->data, 0, store->message->len);
  store->message->data[0] = MMTP_VERSION << 5 | MMTP_DATA;
  store->message->data[MMTP_HEADER_SIZE] = missing >> 16;
  store->message->data[MMTP_HEADER_SIZE + 1] = missing >> 8;
  store->message->data[MMTP_HEADER_SIZE + 2] = missing;
  memcpy (store->message->data + MMTP_CONTENT_OFFSET, content->data, size);
  return TRUE;
}

gboolean
mmtp_store_poll (MmtpStore * store, const guint8 ** message, gsize * size)
{
  guint32 missing = 0;
  guint i;

  for (i = 0; i < WAITING; i++) {
    Waiting *waiting = &store->waiting[i];

    if (!waiting->waits || !find_missing (store, waiting, &missing) ||
        !take_out (store, waiting, missing))
      continue;
    *message = store->message->data;
    *size = store->message->len;
    mmtp_store_add (store, missing, *message, *size);
    return TRUE;
  }
  return FALSE;
}

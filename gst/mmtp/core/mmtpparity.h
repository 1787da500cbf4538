/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Several DATA messages in one, REPAIR of docs/wire-mmtp.md: whoever has all of
 * them but one has that one, too. A block is what the sender gathers; the store
 * is what the receiver keeps to take the others out again.
 */

#pragma once

#include "mmtppacket.h"

/* What a DATA message has before its content, and its content has at least */
#define MMTP_CONTENT_OFFSET 10
#define MMTP_MIN_CONTENT 6

typedef struct
{
  guint n;                      /* messages */
  guint64 first;                /* stream number */
  guint32 mask;                 /* bit i: first + i is in it */
  guint16 sizes;                /* of the contents, all combined */
  GByteArray *content;          /* NULL: never used */
} MmtpBlock;

/* All of it, for the next one */
void mmtp_block_restart (MmtpBlock * block);
void mmtp_block_clear (MmtpBlock * block);
/* FALSE: the number is too far from the first, or below it */
gboolean mmtp_block_add (MmtpBlock * block, guint64 number,
    const guint8 * message, gsize size);
void mmtp_block_get_repair (const MmtpBlock * block, MmtpRepair * repair);

typedef struct _MmtpStore MmtpStore;

MmtpStore *mmtp_store_new (void);
void mmtp_store_free (MmtpStore * store);
/* A DATA message that came */
void mmtp_store_add (MmtpStore * store, guint32 stream_number,
    const guint8 * message, gsize size);
void mmtp_store_add_repair (MmtpStore * store, const MmtpRepair * repair);
/* A message that was missing, but for channel, channel number, time of sending
 * and trailer, which are 0. FALSE: none can be had. The bytes are good until
 * the next call. */
gboolean mmtp_store_poll (MmtpStore * store, const guint8 ** message,
    gsize * size);

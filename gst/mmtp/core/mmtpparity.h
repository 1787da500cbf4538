/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* REPAIR messages (docs/wire-mmtp.md). A REPAIR contains the XOR of several
 * DATA messages. If the receiver has all of these messages except one, it can
 * compute the missing message from the REPAIR. An MmtpBlock collects the
 * messages at the sender. An MmtpStore keeps messages and repairs at the
 * receiver and computes the missing messages.
 */

#pragma once

#include "mmtppacket.h"

/* The content of a DATA message begins at the byte MMTP_CONTENT_OFFSET of the
 * message. It has at least MMTP_MIN_CONTENT bytes. */
#define MMTP_CONTENT_OFFSET 10
#define MMTP_MIN_CONTENT 6

typedef struct
{
  guint n;                      /* number of messages */
  guint64 first;                /* stream number of the first message */
  /* Bit i is set if the block contains the message whose stream number is
   * `first` + i. */
  guint32 mask;
  /* XOR of the sizes in bytes of the contents of all messages in the block */
  guint16 sizes;
  /* XOR of the contents of all messages in the block; NULL if the block was
   * never used */
  GByteArray *content;
} MmtpBlock;

/* Empties the block. The next message that is added becomes the first message
 * of the next repair packet. */
void mmtp_block_restart (MmtpBlock * block);
void mmtp_block_clear (MmtpBlock * block);
/* Adds a DATA message with the stream number `number` to the block. Returns
 * FALSE if `number` is below that of the first message in the block, or too far
 * above it. */
gboolean mmtp_block_add (MmtpBlock * block, guint64 number,
    const guint8 * message, gsize size);
void mmtp_block_get_repair (const MmtpBlock * block, MmtpRepair * repair);

typedef struct _MmtpStore MmtpStore;

MmtpStore *mmtp_store_new (void);
void mmtp_store_free (MmtpStore * store);
/* Stores a DATA message that has arrived. */
void mmtp_store_add (MmtpStore * store, guint32 stream_number,
    const guint8 * message, gsize size);
void mmtp_store_add_repair (MmtpStore * store, const MmtpRepair * repair);
/* If a missing message can be computed now, sets `message` and `size` to it and
 * returns TRUE. Otherwise returns FALSE. The bytes of the message stay valid
 * until the next call. A REPAIR does not protect some fields, and they are 0 in
 * the message:
 * - channel
 * - channel number
 * - sending time
 * - trailer */
gboolean mmtp_store_poll (MmtpStore * store, const guint8 ** message,
    gsize * size);

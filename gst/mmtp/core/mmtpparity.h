/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* REPAIR messages (docs/wire-mmtp.md, section 3). A REPAIR contains the XOR of
 * several DATA messages. If the receiver has all of these DATA messages except
 * one, it can compute the missing one from the REPAIR. At the sender, an
 * MmtpBlock collects the DATA messages for a REPAIR. At the receiver, an
 * MmtpStore keeps DATA messages and REPAIRs, and computes missing DATA
 * messages. */

#pragma once

#include "mmtppacket.h"

/* The content of a DATA message is the part that a REPAIR protects. It begins
 * at the byte MMTP_CONTENT_OFFSET of the message, has at least MMTP_MIN_CONTENT
 * bytes, and ends before the trailer. */
#define MMTP_CONTENT_OFFSET 10
#define MMTP_MIN_CONTENT 6

typedef struct
{
  guint n;                      /* number of messages */
  /* stream number of the first message in the block */
  guint64 first;
  /* Bit i is set if the block contains the message whose stream number is
   * `first` + i. */
  guint32 mask;
  /* XOR of the content sizes of all messages in the block, in bytes. The
   * content is the part of a message that a REPAIR protects. */
  guint16 sizes;
  /* XOR of the contents of all messages in the block. The content is the part
   * of a message that a REPAIR protects. NULL if the block was never used. */
  GByteArray *content;
} MmtpBlock;

/* Empties the block, so that it can be used for the next REPAIR. The next
 * message that is added then becomes the first message in the block. */
void mmtp_block_restart (MmtpBlock * block);
void mmtp_block_clear (MmtpBlock * block);
/* Adds a DATA message with the stream number `number` to the block. Returns
 * FALSE if the block cannot contain this message. Let n be the stream number of
 * the first message in the block. Then the block can contain messages with the
 * stream numbers n to n + 31. */
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
/* Computes a missing DATA message, if this is possible now. A REPAIR contains
 * the XOR of several DATA messages, so one missing message can be computed from
 * the REPAIR and all the others. Sets `message` and `size` to the computed
 * message and returns TRUE, or returns FALSE if no message can be computed. The
 * bytes of the message stay valid until the next call. A REPAIR protects only a
 * part of a message. The following fields are not protected, so they are 0 in
 * the computed message:
 * - channel
 * - channel number
 * - sending time
 * - trailer */
gboolean mmtp_store_poll (MmtpStore * store, const guint8 ** message,
    gsize * size);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The options of a DCCP packet (RFC 4340 section 5.8): a reader that returns
 * them one by one, and functions that read and write the values of the options
 * that every connection has. This code does not depend on a connection.
 */

#pragma once

#include "dccpccid.h"
#include "dccpoption.h"
#include "dccppacket.h"

typedef enum
{
  DCCP_OPTION_PADDING = 0,
  DCCP_OPTION_MANDATORY = 1,
  DCCP_OPTION_SLOW_RECEIVER = 2,
  DCCP_OPTION_CHANGE_L = 32,
  DCCP_OPTION_CONFIRM_L = 33,
  DCCP_OPTION_CHANGE_R = 34,
  DCCP_OPTION_CONFIRM_R = 35,
  DCCP_OPTION_INIT_COOKIE = 36,
  DCCP_OPTION_NDP_COUNT = 37,
  DCCP_OPTION_ACK_VECTOR_0 = 38,
  DCCP_OPTION_ACK_VECTOR_1 = 39,
  DCCP_OPTION_DATA_DROPPED = 40,
  DCCP_OPTION_TIMESTAMP = 41,
  DCCP_OPTION_TIMESTAMP_ECHO = 42,
  DCCP_OPTION_ELAPSED_TIME = 43,
  DCCP_OPTION_DATA_CHECKSUM = 44,
  /* Options with this type or a greater one belong to a congestion control
   * (RFC 4340 section 10.3). In each half-connection, the sender of data sends
   * the types 128 to 191, and the receiver of data sends the types 192 to 255.
   */
  DCCP_FIRST_CCID_OPTION = 128,
  DCCP_FIRST_CCID_RECEIVER_OPTION = 192
} DccpOptionType;

typedef struct
{
  const guint8 *bytes;
  gsize size;
  /* TRUE if the reader has found an option with an invalid length */
  gboolean broken;
  /* List of congestion controls; the last entry is NULL. Each of them may have
   * a table that says which packets may carry its options. */
  const DccpCcid *const *ccids;
  /*< private >*/
  gsize offset;
  DccpType packet_type;
} DccpOptionReader;

/* Prepares `reader` for reading the options of `packet`. The field `ccids` of
 * `reader` is set to dccp_ccids, the list of all congestion controls. The
 * caller may then set this field to another list. */
void dccp_option_reader_init (DccpOptionReader * reader,
    const DccpPacket * packet);
/* Returns the next option of the packet. Options that a packet of this type
 * must not carry are skipped, and so is Padding. A Mandatory option is not
 * returned itself: the field `mandatory` of the next option is TRUE instead.
 *
 * Returns FALSE after the last option. If an option has an invalid length,
 * `broken` is set, and this option and all options after it are ignored (RFC
 * 4340 section 5.8). There is one exception: if a Mandatory option precedes the
 * invalid option, the invalid option is returned without a value.
 *
 * A Mandatory option must not be the last option, and must not precede another
 * Mandatory option (RFC 4340 section 5.8.2). In both cases
 * DCCP_OPTION_MANDATORY is returned, which the caller treats as an error. A
 * Mandatory option before Padding is ignored. */
gboolean dccp_option_reader_next (DccpOptionReader * reader,
    DccpOption * option);

/* Returns whether the option negotiates a feature: Change L, Confirm L, Change R
 * or Confirm R (RFC 4340 section 6). */
gboolean dccp_option_is_negotiation (const DccpOption * option);
/* The following functions read the value of an option. They return FALSE if the
 * value has a wrong size. They convert elapsed times from units of 10 us, which
 * the packets contain, to ns. */
gboolean dccp_option_read_number (const DccpOption * option, guint64 * number);
gboolean dccp_option_read_timestamp (const DccpOption * option,
    guint32 * stamp);
gboolean dccp_option_read_timestamp_echo (const DccpOption * option,
    guint32 * stamp, guint64 * elapsed);
gboolean dccp_option_read_elapsed_time (const DccpOption * option,
    guint64 * elapsed);
typedef enum                    /* RFC 4340 section 11.7, table 7 */
{
  DCCP_DROP_PROTOCOL = 0,
  DCCP_DROP_NOT_LISTENING = 1,
  DCCP_DROP_RECEIVE_BUFFER = 2,
  DCCP_DROP_CORRUPT = 3,
  DCCP_DROP_DELIVERED_CORRUPT = 7,
  /* The packets were not dropped. This value is not a Drop Code of RFC 4340. It
   * is only a result of dccp_option_next_drop_block (). */
  DCCP_DROP_NONE = 8
} DccpDropCode;

/* Reads the next block of a Data Dropped option. A block describes `run`
 * consecutive packets, and `code` says whether and why they were dropped. The
 * first block begins at the acknowledgement number, and each further block
 * continues with lower sequence numbers. The caller must set `offset` to 0
 * before the first call. Returns FALSE after the last block. */
gboolean dccp_option_next_drop_block (const DccpOption * option,
    guint * offset, DccpDropCode * code, guint * run);

/* Writes the option Elapsed Time with as few bytes as possible. `elapsed` is
 * the time in ns. If it exceeds the maximum of the option, this maximum is
 * written instead. */
gboolean dccp_option_write_elapsed_time (DccpOptionWriter * writer,
    guint64 elapsed);
gboolean dccp_option_write_timestamp_echo (DccpOptionWriter * writer,
    guint32 stamp, guint64 elapsed);
/* Writes a Data Dropped option. `blocks` contains the value of the option in
 * the format of RFC 4340 section 11.7, and `n` is its size in bytes. */
gboolean dccp_option_write_data_dropped (DccpOptionWriter * writer,
    const guint8 * blocks, gsize n);

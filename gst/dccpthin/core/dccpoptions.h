/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The options of a DCCP packet (RFC 4340 section 5.8), read one by one, and the
 * values of those that every connection has. Knows no connection.
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
  /* section 10.3: those of a congestion control, from its sender of data to the
   * receiver, and from there back */
  DCCP_FIRST_CCID_OPTION = 128,
  DCCP_FIRST_CCID_RECEIVER_OPTION = 192
} DccpOptionType;

typedef struct
{
  const guint8 *bytes;
  gsize size;
  gboolean broken;              /* a length is nonsensical */
  const DccpCcid *const *ccids; /* whose options may come */
  /*< private >*/
  gsize offset;
  DccpType packet_type;
} DccpOptionReader;

/* With dccp_ccids, which the caller may change */
void dccp_option_reader_init (DccpOptionReader * reader,
    const DccpPacket * packet);
/* The next one, neither Padding nor Mandatory, that a packet of this type may
 * carry. FALSE: that was all; what stands behind a nonsensical length is
 * ignored (section 5.8), `broken` says so; one with a Mandatory before it comes,
 * without a value. A Mandatory before nothing, or before another one, comes as
 * DCCP_OPTION_MANDATORY (5.8.2: an error); before Padding it means nothing. */
gboolean dccp_option_reader_next (DccpOptionReader * reader,
    DccpOption * option);

/* Values; FALSE: its size is wrong. Times are ns, on the wire 10 us. */
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
  DCCP_DROP_NONE = 8            /* of a block: these packets were not dropped */
} DccpDropCode;

/* The next block of a Data Dropped: its packets go from the acknowledgement
 * number downwards. `offset` begins with 0. FALSE: that was all. */
gboolean dccp_option_next_drop_block (const DccpOption * option,
    guint * offset, DccpDropCode * code, guint * run);

/* In as many bytes as the time needs; more than it can hold is its most */
gboolean dccp_option_write_elapsed_time (DccpOptionWriter * writer,
    guint64 elapsed);
gboolean dccp_option_write_timestamp (DccpOptionWriter * writer, guint64 now);
gboolean dccp_option_write_timestamp_echo (DccpOptionWriter * writer,
    guint32 stamp, guint64 elapsed);
/* `blocks`: as they go on the wire */
gboolean dccp_option_write_data_dropped (DccpOptionWriter * writer,
    const guint8 * blocks, gsize n);

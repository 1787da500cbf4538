/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the options of the packets that arrive on a DCCP connection (RFC 4340
 * section 5.8). Only dccpconnectioninput.c includes this header.
 */

#pragma once

#include "dccpconnection.h"

/* The options of a received packet. All fields must be 0 before the options are
 * read. */
typedef struct
{
  guint64 ndp;                  /* value of NDP Count; 0 if there is none */
  DccpCcidAck ack;
  DccpHalfHeard own;            /* options of the congestion control */
  /* A received packet may have several Data Dropped options, which describe
   * packets that we have sent. Each further option describes the packets that
   * follow those of the previous option. This field is the number of packets
   * that are described by the options that have been read so far. */
  guint drop_offset;
} DccpHeard;

/* Processes all options of the received packet `packet`. Returns FALSE if the
 * connection was reset because of one of them. */
gboolean dccp_connection_read_options (DccpConnection * connection,
    const DccpPacket * packet, DccpHeard * heard);

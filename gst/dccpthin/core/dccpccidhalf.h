/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Types that the operations of a congestion control (dccpccid.h) use. There are
 * operations for two half-connections: for the one in which we send data, and
 * for the one in which we receive data. Times are in ns. */

#pragma once

#include "dccpoption.h"

/* Configuration of a half-connection. A half-connection begins when the
 * connection opens. It begins again if the peers agree on another congestion
 * control later. */
typedef struct
{
  /* If we send the data, this is a sequence number that we used before the
   * half-connection began. All packets that are reported to the operations
   * `sent` and `sent_other` have greater sequence numbers. If we receive the
   * data, the first packet that is reported to the operation `input` has this
   * sequence number plus one. */
  guint64 sequence;
  guint32 max_segment;          /* maximum payload size of a packet in bytes */
  /* packet size s of RFC 5348 in bytes; 0 means that the mean size of the sent
   * packets is used */
  guint32 segment_size;
  guint64 granularity;          /* resolution of the caller's timer in ns */
  gint equation;                /* CCID 3: a TfrcEquation */
  gboolean reduce_oscillation;  /* CCID 3: RFC 5348 section 4.5 */
} DccpCcidConfig;

/* State of the connection, for the operations that read or write options */
typedef struct
{
  guint64 now;
  /* round-trip time in ns that was measured in the handshake; 0 if unknown */
  guint64 round_trip;
  /* Bit mask of the features that are switched on. Bit i stands for entry i of
   * the array DccpCcid.features. */
  guint features;
} DccpCcidContext;

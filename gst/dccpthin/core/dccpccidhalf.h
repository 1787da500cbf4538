/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Types that the operations of both half-connections use: of the one in which
 * we send data, and of the one in which we receive data (dccpccid.h). Times are
 * in ns.
 */

#pragma once

#include "dccpoption.h"

/* Configuration of a half-connection. A half-connection begins when the
 * connection opens, and it begins again when the peers have agreed on another
 * congestion control. */
typedef struct
{
  /* Sequence number at which the half-connection begins. In the half-connection
   * in which we send data, it is lower than the sequence number of each packet
   * that `sent` and `sent_other` report. In the half-connection in which we
   * receive data, it is one less than the sequence number of the first packet
   * that `input` reports. */
  guint64 sequence;
  guint32 max_segment;          /* maximum payload size of a packet in bytes */
  /* packet size s of RFC 5348 in bytes; 0 = mean size of the sent packets */
  guint32 segment_size;
  guint64 granularity;          /* resolution of the caller's timer in ns */
  gint equation;                /* CCID 3: a TfrcEquation */
  gboolean reduce_oscillation;  /* CCID 3: RFC 5348 section 4.5 */
} DccpCcidConfig;

/* State of the connection. It is passed to the operations that read or write
 * options. */
typedef struct
{
  guint64 now;
  /* round-trip time that the handshake measured; 0 = unknown */
  guint64 round_trip;
  /* Bit i is set if entry i of the congestion control's array `features` is
   * a feature that is switched on. */
  guint features;
} DccpCcidContext;

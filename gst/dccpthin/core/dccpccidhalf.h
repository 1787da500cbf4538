/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What both half-connections of a congestion control are told (dccpccid.h).
 * Times are ns.
 */

#pragma once

#include "dccpoption.h"

/* What a half-connection begins with: when the connection opens, or when both
 * ends agree on another congestion control. */
typedef struct
{
  guint64 sequence;             /* sender: a number that was sent before the
                                 * packets that `sent` and `sent_other` tell;
                                 * receiver: the one before the first packet
                                 * that `input` tells */
  guint32 max_segment;          /* bytes of payload that fit in a packet */
  guint32 segment_size;         /* bytes to calculate with; 0: the mean of the
                                 * packets that are sent */
  guint64 granularity;          /* ns, of the caller's timer */
  gint equation;                /* CCID 3: a TfrcEquation */
  gboolean reduce_oscillation;  /* CCID 3: RFC 5348 section 4.5 */
} DccpCcidConfig;

/* What the connection knows while options are read or written */
typedef struct
{
  guint64 now;
  guint64 round_trip;           /* of the handshake; 0: unknown */
  guint features;               /* bit i: features[i] of the table is on */
} DccpCcidContext;

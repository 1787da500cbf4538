/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What an endpoint of DCCP shares with its connections: the configuration, the
 * counters, the events for the application, and the trace.
 */

#pragma once

#include "dccpanswers.h"
#include "dccpevents.h"
#include "dccptypes.h"
#include "driververbs.h"

typedef struct
{
  DccpEndpointConfig config;
  DccpStats stats;              /* of connections that are gone, and of this one
                                 * but for what its half-connections count */
  gboolean is_slow;             /* the application, on either side of the data */
  DccpLimiter syncs, resets;
  DccpLimiter last_resets;      /* to other ends of connections that were */
  DccpAnswers answers;
  DccpEvents events;
  DriverTrace trace;            /* or NULL */
  gpointer trace_owner;
} DccpCommon;

/* One line for the log about a decision */
void dccp_common_trace (const DccpCommon * common, const gchar * format, ...)
    G_GNUC_PRINTF (2, 3);
/* Counts a packet that is not used, and traces why */
void dccp_common_refuse (DccpCommon * common, DccpRefusal refusal);

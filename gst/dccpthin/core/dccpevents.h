/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What an endpoint has to tell its application, until it is polled: a ring, so
 * that nothing is allocated while packets come.
 */

#pragma once

#include "dccptypes.h"

#define DCCP_MAX_EVENTS 64      /* more than one call makes */

typedef struct
{
  DccpEvent events[DCCP_MAX_EVENTS];
  guint first, n;
} DccpEvents;

/* The oldest goes when there is no room; of two rates that wait only the later
 * one counts. */
void dccp_events_push (DccpEvents * events, const DccpEvent * event);
gboolean dccp_events_pop (DccpEvents * events, DccpEvent * event);

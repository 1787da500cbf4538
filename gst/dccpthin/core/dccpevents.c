/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ring of events. */

#include "dccpevents.h"

static DccpEvent *
get (DccpEvents * events, guint n)
{
  return &events->events[(events->first + n) % DCCP_MAX_EVENTS];
}

void
dccp_events_push (DccpEvents * events, const DccpEvent * event)
{
  if (events->n > 0 && event->type == DCCP_EVENT_RATE
      && get (events, events->n - 1)->type == DCCP_EVENT_RATE)
    events->n--;
  if (events->n == DCCP_MAX_EVENTS) {
    events->first = (events->first + 1) % DCCP_MAX_EVENTS;
    events->n--;
  }
  *get (events, events->n++) = *event;
}

gboolean
dccp_events_pop (DccpEvents * events, DccpEvent * event)
{
  if (events->n == 0)
    return FALSE;
  *event = *get (events, 0);
  events->first = (events->first + 1) % DCCP_MAX_EVENTS;
  events->n--;
  return TRUE;
}

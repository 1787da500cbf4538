/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See dccpverbs.h. */

#include "dccpverbs.h"

#include "dccpendpoint.h"

static void
input (gpointer core, guint64 now, guint path, const Datagram * datagram)
{
  dccp_endpoint_input (core, now, &datagram->path, datagram->bytes,
      datagram->size);
}

static void
timeout (gpointer core, guint64 now)
{
  dccp_endpoint_timeout (core, now);
}

static gboolean
poll_output (gpointer core, guint64 now, guint * path, Datagram * datagram,
    gsize room)
{
  g_return_val_if_fail (room >= DCCP_LONGEST_CONTROL, FALSE);
  *path = 0;
  return dccp_endpoint_poll_output (core, now, datagram);
}

static gboolean
poll_event (gpointer core, gpointer event)
{
  return dccp_endpoint_poll_event (core, event);
}

static guint64
next_wakeup (gpointer core)
{
  return dccp_endpoint_next_wakeup (core);
}

const DriverVerbs dccp_endpoint_verbs = {
  .event_size = sizeof (DccpEvent),
  .input = input,
  .timeout = timeout,
  .poll_output = poll_output,
  .poll_event = poll_event,
  .next_wakeup = next_wakeup,
};

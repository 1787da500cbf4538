/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What an endpoint shares with its connections; see the header. */

#include "dccpcommon.h"

static const gchar *const state_names[] = {
  "closed", "listen", "request", "respond", "partopen", "open", "close-req",
  "closing", "time-wait"
};

const gchar *
dccp_state_get_name (DccpState state)
{
  return state_names[state];
}

void
dccp_common_trace (const DccpCommon * common, const gchar * format, ...)
{
  va_list args;

  if (!common->trace)
    return;
  va_start (args, format);
  common->trace (common->trace_owner, FALSE, format, args);
  va_end (args);
}

void
dccp_common_refuse (DccpCommon * common, DccpRefusal refusal)
{
  common->stats.refused[refusal]++;
  dccp_common_trace (common, "discarded a packet: %s",
      dccp_refusal_get_name (refusal));
}

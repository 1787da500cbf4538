/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of dccpresponses.h: a ring of Responses. */

#include "dccpresponses.h"

#include <string.h>

gboolean
dccp_responses_push (DccpResponses * responses, const DatagramPath * path,
    const guint8 * bytes, gsize size)
{
  const guint i = (responses->first + responses->n) % DCCP_MAX_RESPONSES;

  if (responses->n == DCCP_MAX_RESPONSES || size > DCCP_MAX_RESPONSE)
    return FALSE;
  responses->responses[i].path = *path;
  responses->responses[i].size = size;
  memcpy (responses->responses[i].bytes, bytes, size);
  responses->n++;
  return TRUE;
}

gsize
dccp_responses_pop (DccpResponses * responses, DatagramPath * path,
    guint8 bytes[DCCP_MAX_HEADER])
{
  const guint i = responses->first;

  if (responses->n == 0)
    return 0;
  *path = responses->responses[i].path;
  memcpy (bytes, responses->responses[i].bytes, responses->responses[i].size);
  responses->first = (i + 1) % DCCP_MAX_RESPONSES;
  responses->n--;
  return responses->responses[i].size;
}

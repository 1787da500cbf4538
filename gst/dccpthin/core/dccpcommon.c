/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of dccpcommon.h: functions for a DCCP endpoint and its
 * connections. */

#include "dccpcommon.h"

#include <string.h>

#define SECOND G_GUINT64_CONSTANT (1000000000)
#define SHORT_SEQUENCE_MASK 0xffffff

/* --- answers -------------------------------------------------------------- */

gboolean
dccp_limiter_take (DccpLimiter * limiter, guint64 now)
{
  guint64 *oldest = &limiter->times[limiter->n % DCCP_ANSWERS_PER_SECOND];

  if (limiter->n >= DCCP_ANSWERS_PER_SECOND && now - *oldest < SECOND)
    return FALSE;
  *oldest = now;
  limiter->n++;
  return TRUE;
}

void
dccp_answers_push (DccpAnswers * answers, const DatagramPath * path,
    const DccpPacket * reset)
{
  guint8 bytes[DCCP_MAX_HEADER];
  guint i;

  if (answers->n == DCCP_MAX_ANSWERS) {
    answers->first = (answers->first + 1) % DCCP_MAX_ANSWERS;
    answers->n--;
  }
  i = (answers->first + answers->n++) % DCCP_MAX_ANSWERS;
  dccp_packet_write (reset, path, bytes);
  memcpy (answers->answers[i].bytes, bytes, DCCP_RESET_SIZE);
  answers->answers[i].path = *path;
}

gsize
dccp_answers_pop (DccpAnswers * answers, DatagramPath * path,
    guint8 bytes[DCCP_MAX_HEADER])
{
  guint i = answers->first;

  if (answers->n == 0)
    return 0;
  *path = answers->answers[i].path;
  memcpy (bytes, answers->answers[i].bytes, DCCP_RESET_SIZE);
  answers->first = (i + 1) % DCCP_MAX_ANSWERS;
  answers->n--;
  return DCCP_RESET_SIZE;
}

/* RFC 4340 section 8.3.1 */
void
dccp_answers_make_reset (DccpPacket * reset, const DccpPacket * packet,
    guint8 code)
{
  memset (reset, 0, sizeof (*reset));
  reset->source = packet->destination;
  reset->destination = packet->source;
  reset->type = DCCP_RESET;
  reset->extended = TRUE;
  reset->reset_code = code;
  if (code == DCCP_RESET_PACKET_ERROR)
    reset->reset_data[0] = packet->type;
  if (dccp_type_has_acknowledgement (packet->type))
    reset->sequence = dccp_sequence_add (packet->acknowledgement, 1);
  reset->acknowledgement = packet->sequence;
  if (!packet->extended)
    reset->sequence &= SHORT_SEQUENCE_MASK;
}

/* --- events --------------------------------------------------------------- */

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

/* --- the endpoint --------------------------------------------------------- */

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
#ifndef WITHOUT_TRACE
  va_list args;

  if (!common->trace)
    return;
  va_start (args, format);
  common->trace (common->trace_owner, FALSE, format, args);
  va_end (args);
#endif
}

void
dccp_common_refuse (DccpCommon * common, DccpRefusal refusal)
{
  common->stats.refused[refusal]++;
  dccp_common_trace (common, "discarded a packet: %s",
      dccp_refusal_get_name (refusal));
}

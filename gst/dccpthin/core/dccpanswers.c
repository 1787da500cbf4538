/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Answers that wait, and their limit. */

#include "dccpanswers.h"

#include <string.h>

#define SECOND G_GUINT64_CONSTANT (1000000000)
#define SHORT_SEQUENCE_MASK 0xffffff

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

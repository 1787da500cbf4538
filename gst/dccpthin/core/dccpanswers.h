/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Resets that wait to be sent and belong to no connection, or to one that has
 * ended with them; and how many answers of a kind may go in a second (RFC 4340
 * section 7.5.4).
 */

#pragma once

#include "dccppacket.h"

#define DCCP_ANSWERS_PER_SECOND 8
#define DCCP_RESET_SIZE 28      /* bytes, without options */
#define DCCP_SYNC_SIZE 24       /* the same */

typedef struct
{
  guint64 times[DCCP_ANSWERS_PER_SECOND];       /* ns, of the last ones */
  guint64 n;
} DccpLimiter;

/* TRUE: one may go, and is counted. */
gboolean dccp_limiter_take (DccpLimiter * limiter, guint64 now);

#define DCCP_MAX_ANSWERS (2 * DCCP_ANSWERS_PER_SECOND)

typedef struct
{
  struct
  {
    DatagramPath path;
    guint8 bytes[DCCP_RESET_SIZE];
  } answers[DCCP_MAX_ANSWERS];
  guint first, n;
} DccpAnswers;

/* A Reset, without options; the oldest goes when there is no room. */
void dccp_answers_push (DccpAnswers * answers, const DatagramPath * path,
    const DccpPacket * reset);
/* Its bytes; 0: none waits */
gsize dccp_answers_pop (DccpAnswers * answers, DatagramPath * path,
    guint8 bytes[DCCP_MAX_HEADER]);

/* What answers a packet of no connection (RFC 4340 section 8.3.1): its numbers
 * are those that came. */
void dccp_answers_make_reset (DccpPacket * reset, const DccpPacket * packet,
    guint8 code);

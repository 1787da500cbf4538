/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declarations that a DCCP endpoint shares with its connections: the
 * configuration, the counters, the queues of Resets and events, and the trace.
 */

#pragma once

#include "dccppacket.h"
#include "dccptypes.h"
#include "driververbs.h"

/* --- answers -------------------------------------------------------------- */

/* DccpAnswers is a queue of Resets that wait to be sent. Such a Reset either
 * answers a packet that belongs to no connection, or ends a connection.
 *
 * DccpLimiter limits how many answers of one kind are sent per second (RFC 4340
 * section 7.5.4). There is one limiter for each kind of answer, such as Resets
 * and Syncs.
 */
#define DCCP_ANSWERS_PER_SECOND 8
#define DCCP_RESET_SIZE 28      /* size of a Reset in bytes, without options */
#define DCCP_SYNC_SIZE 24       /* size of a Sync in bytes, without options */

typedef struct
{
  /* send times of the last DCCP_ANSWERS_PER_SECOND answers, in ns */
  guint64 times[DCCP_ANSWERS_PER_SECOND];
  guint64 n;
} DccpLimiter;

/* Returns whether the limit permits one more answer now. If so, counts this
 * answer. */
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

/* Queues a Reset without options. If the queue is full, the oldest Reset is
 * discarded. */
void dccp_answers_push (DccpAnswers * answers, const DatagramPath * path,
    const DccpPacket * reset);
/* Removes the oldest Reset from the queue. Writes it to `bytes`, and sets
 * `path` to the path on which it has to be sent. Returns its size in bytes; 0 =
 * the queue is empty. */
gsize dccp_answers_pop (DccpAnswers * answers, DatagramPath * path,
    guint8 bytes[DCCP_MAX_HEADER]);

/* Makes the Reset that answers a packet without a connection (RFC 4340 section
 * 8.3.1). The sequence and acknowledgement numbers of the Reset are derived
 * from those of the packet. */
void dccp_answers_make_reset (DccpPacket * reset, const DccpPacket * packet,
    guint8 code);

/* --- events --------------------------------------------------------------- */

/* A queue of events for the application. It is a ring of fixed size, so that an
 * arriving packet never allocates memory.
 */
#define DCCP_MAX_EVENTS 64      /* A single call produces fewer events. */

typedef struct
{
  DccpEvent events[DCCP_MAX_EVENTS];
  guint first, n;
} DccpEvents;

/* Queues an event. If the queue is full, the oldest event is discarded. If the
 * latest event of the queue is a change of the rate, a new change of the rate
 * replaces it. */
void dccp_events_push (DccpEvents * events, const DccpEvent * event);
gboolean dccp_events_pop (DccpEvents * events, DccpEvent * event);

/* --- the endpoint --------------------------------------------------------- */

typedef struct
{
  DccpEndpointConfig config;
  /* Sums of the counters of all connections, including the current connection.
   * A half-connection has counters of its own. They are added to these sums
   * when the half-connection ends. */
  DccpStats stats;
  /* TRUE if the local application is too slow for the data that it receives. */
  gboolean is_slow;
  DccpLimiter syncs, resets;
  /* limiter for the Resets that are sent to peers of earlier connections */
  DccpLimiter last_resets;
  DccpAnswers answers;
  DccpEvents events;
  DriverTrace trace;            /* or NULL */
  gpointer trace_owner;
} DccpCommon;

/* Writes one line about a decision to the log. */
void dccp_common_trace (const DccpCommon * common, const gchar * format, ...)
    G_GNUC_PRINTF (2, 3);
/* Counts a discarded packet, and logs why it is discarded. */
void dccp_common_refuse (DccpCommon * common, DccpRefusal refusal);

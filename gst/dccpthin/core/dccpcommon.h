/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Data and functions that a DCCP endpoint and its connections share: the
 * configuration, the counters, the queues of Resets and events, and the log. */

#pragma once

#include "dccppacket.h"
#include "dccptypes.h"
#include "driververbs.h"

/* --- answers -------------------------------------------------------------- */

/* DccpAnswers is a queue of Resets that wait to be sent. A Reset either answers
 * a packet that belongs to no connection, or it ends a connection.
 *
 * DccpLimiter limits how many answers of one kind are sent per second (RFC 4340
 * section 7.5.4), because an attacker could provoke any number of them. There
 * is one limiter for each kind of answer, such as Resets and Syncs. */
#define DCCP_ANSWERS_PER_SECOND 8
#define DCCP_RESET_SIZE 28      /* size of a Reset in bytes, without options */
#define DCCP_SYNC_SIZE 24       /* size of a Sync in bytes, without options */

typedef struct
{
  /* times in ns at which the last DCCP_ANSWERS_PER_SECOND answers were sent (a
   * ring buffer) */
  guint64 times[DCCP_ANSWERS_PER_SECOND];
  guint64 n;
} DccpLimiter;

/* Returns TRUE if one more answer may be sent now. The caller must then send
 * this answer, because it is already counted. */
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
/* Removes the oldest Reset from the queue. Writes it to `bytes`, and stores the
 * path on which it must be sent in `path`. Returns the size of the Reset in
 * bytes, or 0 if the queue is empty. */
gsize dccp_answers_pop (DccpAnswers * answers, DatagramPath * path,
    guint8 bytes[DCCP_MAX_HEADER]);

/* Makes a Reset that answers `packet`, a packet for which there is no
 * connection (RFC 4340 section 8.3.1). The sequence number and the
 * acknowledgement number of the Reset are derived from those of `packet`. */
void dccp_answers_make_reset (DccpPacket * reset, const DccpPacket * packet,
    guint8 code);

/* --- events --------------------------------------------------------------- */

/* A queue of events for the application. It is a ring buffer of fixed size, so
 * that no memory is allocated when a packet arrives. */
#define DCCP_MAX_EVENTS 64      /* A single call produces fewer events. */

typedef struct
{
  DccpEvent events[DCCP_MAX_EVENTS];
  guint first, n;
} DccpEvents;

/* Queues an event. If the latest event in the queue and the new event are both
 * changes of the rate, the new event replaces the latest one. If the queue is
 * full, the oldest event is discarded. */
void dccp_events_push (DccpEvents * events, const DccpEvent * event);
gboolean dccp_events_pop (DccpEvents * events, DccpEvent * event);

/* --- the endpoint --------------------------------------------------------- */

typedef struct
{
  DccpEndpointConfig config;
  /* Sums of the counters of all connections, including the current connection.
   * There is one exception. Each connection has two half-connections with
   * counters of their own. These counters are added to the sums only when the
   * half-connections end, so the sums do not include the half-connections of
   * the current connection. */
  DccpStats stats;
  /* TRUE if the local application reads the received data too slowly. The peer
   * is then told so with the option Slow Receiver. */
  gboolean is_slow;
  DccpLimiter syncs, resets;
  /* limiter for Resets that are sent to peers of ended connections */
  DccpLimiter last_resets;
  DccpAnswers answers;
  DccpEvents events;
  DriverTrace trace;            /* or NULL */
  gpointer trace_owner;
} DccpCommon;

/* Writes one line to the log, for example about a change of the state. */
void dccp_common_trace (const DccpCommon * common, const gchar * format, ...)
    G_GNUC_PRINTF (2, 3);
/* Counts a packet as discarded, and writes the reason to the log. */
void dccp_common_refuse (DccpCommon * common, DccpRefusal refusal);

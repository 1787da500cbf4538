/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What an endpoint of DCCP shares with its connections: the configuration, the
 * counters, what waits to be sent or told, and the trace.
 */

#pragma once

#include "dccppacket.h"
#include "dccptypes.h"
#include "driververbs.h"

/* --- answers -------------------------------------------------------------- */

/* Resets that wait to be sent and belong to no connection, or to one that has
 * ended with them; and how many answers of a kind may go in a second (RFC 4340
 * section 7.5.4).
 */
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

/* --- events --------------------------------------------------------------- */

/* What an endpoint has to tell its application, until it is polled: a ring, so
 * that nothing is allocated while packets come.
 */
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

/* --- the endpoint --------------------------------------------------------- */

typedef struct
{
  DccpEndpointConfig config;
  DccpStats stats;              /* of connections that are gone, and of this one
                                 * but for what its half-connections count */
  gboolean is_slow;             /* the application, on either side of the data */
  DccpLimiter syncs, resets;
  DccpLimiter last_resets;      /* to other ends of connections that were */
  DccpAnswers answers;
  DccpEvents events;
  DriverTrace trace;            /* or NULL */
  gpointer trace_owner;
} DccpCommon;

/* One line for the log about a decision */
void dccp_common_trace (const DccpCommon * common, const gchar * format, ...)
    G_GNUC_PRINTF (2, 3);
/* Counts a packet that is not used, and traces why */
void dccp_common_refuse (DccpCommon * common, DccpRefusal refusal);

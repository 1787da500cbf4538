/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The usual delay of a path. On some paths the delay fluctuates even without a
 * queue. The base delay is the minimum of the measured delays. The usual delay
 * is what the path adds to the base delay although it has no queue. It must not
 * count as queueing delay. This module belongs to the default congestion
 * control (mmtpdeliverycontrol.c). Times are in ns, sizes in bytes, rates in
 * bytes per ns.
 *
 * The usual delay is learned in two ways:
 *
 * - While the application sends less than the path carries, the path has no
 *   queue. The usual delay then follows the measured delays.
 * - If the application always sends as much as it may, such a time never comes.
 *   The delivery rate then shows whether there was a queue. A path with a queue
 *   delivers as much as it can. If its capacity has not changed and it later
 *   delivers much more, it had no queue before. The delivery rate of BBR depends
 *   on the same fact (Cardwell et al., "BBR: Congestion-Based Congestion
 *   Control", ACM Queue 14(5), 2016).
 */

#pragma once

#include "mmtpratecontrol.h"

/* A delay or a round trip in ns, learned in the two ways. The value is the
 * greater of the two. */
typedef struct
{
  gdouble value;
  gdouble idle;                 /* while the application sent little */
  /* Minimum of a round that had no queue, which was recognized by a growing
   * rate. It falls when the minimum of a later round is lower. */
  gdouble grown;
  /* Minimum of the present round and of the round before; G_MAXDOUBLE if there
   * was no value. */
  gdouble min, last_min;
} MmtpUsualTime;

typedef struct
{
  MmtpUsualTime queue;          /* usual delay, measured from the base delay */
  MmtpUsualTime round_trip;     /* round trip without a queue; 0 if unknown */

  /* The present round. It began at the time `began` on the sender's clock.
   * `arrival` and `delivered` are the values of the report at the beginning.
   * `n_messages` is the number of messages that have arrived in it. The first
   * round has not begun if `began` is 0. */
  gdouble began, arrival, delivered;
  guint n_messages, last_messages;
  /* TRUE if losses limited the window in the round */
  gboolean is_limited, was_limited;
  /* Highest delivery rate of all earlier rounds. It decays slowly. 0 before the
   * first round has ended. */
  gdouble highest_rate;
} MmtpUsualDelay;

/* Properties of the path and of its present round, on which the usual delay
 * depends. */
typedef struct
{
  gdouble base_round_trip;      /* minimum round trip in ns */
  /* The usual delay is never more than this limit, in ns. */
  gdouble max;
  gdouble round;                /* duration of a round in ns */
  /* The delivery rate of the present round must exceed `growth` times the
   * highest recent rate. Otherwise nothing is learned from the round before. If
   * `growth` is 0, nothing is learned in this way. */
  gdouble growth;
  /* TRUE if losses limit the window. Another flow may then share the queue, and
   * the rate grows when that flow sends less. Nothing is learned from such a
   * round. */
  gboolean is_limited;
} MmtpUsualDelayRound;

/* Processes a report about newly arrived messages. */
void mmtp_usual_delay_add (MmtpUsualDelay * usual,
    const MmtpRateSample * sample, const MmtpUsualDelayRound * round);

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
 *   queue. The mean of the measured delays is then the usual delay.
 * - If the application always sends as much as it may, such a time never comes.
 *   The delivery rate then shows whether there was a queue. A path with a queue
 *   delivers as much as it can. If the path later delivers much more, it had no
 *   queue before. The delivery rate of BBR depends on the same fact (Cardwell
 *   et al., "BBR: Congestion-Based Congestion Control", ACM Queue 14(5), 2016).
 */

#pragma once

#include "mmtpratecontrol.h"

typedef struct
{
  /* Usual delay in ns, which is measured from the base delay: the greater of
   * the next two fields. */
  gdouble queue;
  /* mean delay while the application had nothing more to send */
  gdouble idle_queue;
  /* Minimum delay of a round without a queue, which was recognized by a growing
   * rate. It falls when the delay of a later round was shorter. */
  gdouble grown_queue;
  /* Mean round trip in ns while the path has no queue; 0 if unknown. */
  gdouble round_trip;

  /* The present round. It began at the time `began` on the sender's clock.
   * `arrival` and `delivered` are the values of the report at the beginning.
   * `min_queue` and `min_round_trip` are the minima in the round. The first
   * round has not begun if `began` is 0. */
  gdouble began, arrival, delivered, min_queue, min_round_trip;
  guint n_messages;             /* messages that have arrived in it */
  /* The minima of the round before and its number of messages. A minimum is
   * G_MAXDOUBLE if there was no value. */
  gdouble last_queue, last_round_trip;
  guint last_messages;
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
   * highest rate of all earlier rounds. Otherwise nothing is learned from the
   * round before. If `growth` is 0, nothing is learned in this way. */
  gdouble growth;
} MmtpUsualDelayRound;

/* Processes a report about newly arrived messages. */
void mmtp_usual_delay_add (MmtpUsualDelay * usual,
    const MmtpRateSample * sample, const MmtpUsualDelayRound * round);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Estimates the rate of a path from a packet train. A packet train is a number
 * of messages that were sent faster than the path can deliver them. The
 * bottleneck of the path then delivers them directly one after another, so
 * their size divided by the time between their arrivals is the rate of the
 * bottleneck (Dovrolis, Ramanathan and Moore, "What do packet dispersion
 * techniques measure?", INFOCOM 2001).
 */

#pragma once

#include <glib.h>

/* The messages that a report covers and that no earlier report covered. */
typedef struct
{
  guint n_arrived;              /* number of messages that have arrived */
  /* Total size in bytes of the messages that have arrived, with their IP and
   * UDP headers. The first message is not included. */
  guint64 bytes;
  /* time from the sending of the first message to the sending of the newest
   * one, in ns */
  guint64 sent_time;
  /* One-way delay of the newest message minus the minimum one-way delay of all
   * messages, in ns.
   *
   * In a packet train, the first message has the minimum delay, because it does
   * not wait for other messages. Let R be the time between the arrivals of the
   * first and the newest message. Let D be the time between the sending of the
   * first and the sending of the newest message; D is the field `sent_time`. In
   * a packet train, `spread` equals R - D. */
  gint64 spread;
} MmtpTrain;

/* Returns the rate of the path in bit/s. Returns 0 if the messages are no
 * packet train, or are too few for an estimate.
 *
 * The estimate is too low if jitter has delayed the newest message. It is too
 * high if the path delivers packets in batches. */
guint64 mmtp_train_get_rate (const MmtpTrain * train);

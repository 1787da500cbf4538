/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decides when the queue of a path is drained, which means that the sender lets
 * it become empty. If the queue of a path never empties, the base delay cannot
 * be measured, and after some time the queueing delay is mistaken for a part of
 * the base delay.
 *
 * If a path has been busy for a long time, the sender therefore reduces the
 * congestion window to half of the bytes that fill the path. It then waits for
 * a report about a message that was sent after the bytes in flight had fallen
 * to this window. This report ends draining. BBR does the same in its state
 * ProbeRTT (draft-ietf-ccwg-bbr, section 4.3.4).
 *
 * Times are in ns and sizes in bytes. An MmtpDrain must be filled with zeros
 * before its first use. */

#pragma once

#include "mmtpsentlog.h"

typedef struct
{
  /* Time since which the application has been filling the window without a
   * pause; 0 if it does not fill the window now. */
  guint64 busy_since;
  /* reduced window while the path is being drained; 0 at all other times */
  guint64 window;
  /* time at which draining ends at the latest */
  guint64 end;
  /* Number of the first message that was sent after the bytes in flight had
   * fallen to the reduced window; MMTP_NO_STREAM if there is none yet. */
  guint64 from;
  /* Minimum round-trip time that was measured after the bytes in flight had
   * fallen to the reduced window; G_MAXINT64 if none was measured yet. */
  gint64 min_round_trip;
} MmtpDrain;

/* The state of a path at the arrival of a report about it. */
typedef struct
{
  guint64 now;
  const MmtpSentLog *log;
  /* newest message that the report covers; NULL if it covers none */
  const MmtpSent *newest;
  guint64 rate;                 /* of the path, in bit/s */
  guint packet;                 /* maximum size of a packet */
  /* time from the sending of a message until a report about it arrives, without
   * queueing delays */
  guint64 feedback_time;
  guint64 report_interval;
  /* minimum round-trip time of the last minute */
  guint64 base_round_trip;
} MmtpDrainState;

/* Stops draining without a result. The path counts as idle until the next
 * report. */
void mmtp_drain_clear (MmtpDrain * drain);
void mmtp_drain_add_round_trip (MmtpDrain * drain, guint64 round_trip);
/* Called for each report. Begins or ends draining if it is time to do so.
 * Returns TRUE if the report ends draining and the queue was empty. The delays
 * in the report then are base delays, and so is `min_round_trip`. */
gboolean mmtp_drain_follow (MmtpDrain * drain, const MmtpDrainState * state);

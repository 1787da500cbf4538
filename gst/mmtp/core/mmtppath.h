/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A path of the sender. It contains the messages in flight (mmtpsentlog.h), the
 * delays from the reports, and the limits that the congestion control sets
 * (mmtpratecontrol.h). It also determines whether the path delivers packets
 * [4.6 of the MMTP paper]. This module writes no messages; its caller notes
 * which messages were sent. Sizes are in bytes with IP and UDP headers, rates
 * in bit/s, times in ns.
 */

#pragma once

#include "mmtpbottleneck.h"
#include "mmtpdrain.h"
#include "mmtpfeedbacktime.h"
#include "mmtpfirstrate.h"
#include "mmtpkeys.h"
#include "mmtplargelosses.h"
#include "mmtplateness.h"
#include "mmtppathdelay.h"
#include "mmtppathinfo.h"
#include "mmtpratecontrol.h"
#include "mmtprecent.h"
#include "mmtpsentlog.h"

/* Time constants in ns of two moving averages. MMTP_SHARE_PERIOD is used for
 * the share of the stream that a path carries. MMTP_LOSS_PERIOD is used for the
 * share of messages that are lost. */
#define MMTP_SHARE_PERIOD (1 * G_GUINT64_CONSTANT (1000000000))
#define MMTP_LOSS_PERIOD (10 * G_GUINT64_CONSTANT (1000000000))

typedef struct
{
  guint id;
  gchar *name;
  /* maximum size of a message on this path in bytes, without IP and UDP headers
   */
  guint16 max_size;
  guint16 overhead;             /* IP and UDP headers, in bytes */
  guint64 configured_rate;      /* 0 if no rate is configured */
  MmtpPathState state;
  /* TRUE if the path's socket accepts no data at the moment */
  gboolean blocked;

  /* --- messages -------------------------------------------------------------
   */
  MmtpSentLog sent;
  /* When the application has too little data to fill the path, the measured
   * rate is not the rate that the path can carry. The message number
   * `limited_until` says how long this lasts. As long as a message with a lower
   * number is unreported (no report covers it yet), the application is assumed
   * to limit the rate of the path. */
  guint64 limited_until;

  /* --- limits ---------------------------------------------------------------
   */
  /* rate control of the path; NULL while the path is not open */
  MmtpRateControl *control;
  MmtpRateLimits limits;
  /* earliest time in ns at which pacing allows the next packet to be sent */
  guint64 token;
  /* bytes of all messages that were reported, and IP and UDP headers */
  guint64 delivered;
  MmtpFirstRateCheck first_rate;
  /* TRUE if the rate of the path was unknown when its rate control started, and
   * if neither a PROBE has shown it nor a packet of the stream was sent since.
   */
  gboolean began_unknown;
  /* mean size of a DATA message, without IP and UDP headers */
  guint64 data_size;
  /* mean size of the recent large messages, without IP and UDP headers */
  guint64 large_size;

  MmtpDrain drain;

  /* --- from the reports -----------------------------------------------------
   */
  MmtpPathDelay delays;
  /* Delays of large messages only. A large message is a DATA or PROBE that is
   * at least half as large as a usual DATA message. On a slow path, large
   * messages take longer than short messages. */
  MmtpPathDelay load_delays;
  MmtpBottleneck bottleneck;
  MmtpRecent round_trips;
  /* Round-trip times of the last minute, of which only the minimum is used. The
   * field `round_trips` covers only the last 4 to 20 s. If the path was busy in
   * all this time, each of these round-trip times includes the delay of a
   * queue. A minute is more likely to contain a moment without a queue. */
  MmtpPathDelay long_round_trips;
  /* round-trip time that the last report gave, in ns; 0 if unknown */
  guint64 round_trip;
  /* used only if the session has other usable paths */
  MmtpFeedbackTime feedback;
  /* TRUE if the session has other usable paths, so that reports about this path
   * may arrive on another path. The sender sets it before it starts the path.
   * Later, mmtp_paths_update_delays() sets it. */
  gboolean has_other_paths;
  /* report period that the sender has requested from the receiver, in ns */
  guint64 report_period;
  guint64 report_interval;      /* longest recent time between reports */
  /* Initial delay (D0) in ns: a message should arrive at most this long after
   * its due time. */
  guint64 deadline;
  /* base one-way delay in ns; MMTP_NEVER if unknown */
  guint64 delay;
  /* Upper bound for the delay of nearly all messages, in ns; MMTP_NEVER if
   * unknown. */
  guint64 high_delay;
  /* Arrival time, in ns by the receiver's clock, of the newest message that has
   * arrived according to the reports; 0 if there is none. */
  guint64 arrival;
  /* Sending time, in ns by the sender's clock, of the newest message that has
   * arrived according to the reports; 0 if there is none. */
  guint64 arrival_sent;
  guint64 reported_bytes;
  /* arrival time of the last REPORT about this path; 0 if there was none */
  guint64 report_time;
  /* Time in ns of the last progress. A REPORT is progress if it covers a
   * message of this path that no earlier REPORT has covered. Until such a
   * REPORT arrives, this is the time at which the path started. */
  guint64 progress_time;
  /* time in ns at which the last REPORT that measured the delays of this path
   * arrived; 0 if there was none */
  guint64 measured_time;
  /* Time on the receiver's clock at which the receiver wrote its latest report;
   * 0 if there was none. */
  guint64 reported;
  /* Time in ns by which the oldest unreported message was overdue when the
   * receiver wrote its latest report; 0 if it was not overdue. A message is
   * unreported as long as no report covers it. */
  guint64 gap;
  /* TRUE if the path has stalled: its oldest unreported message is overdue for
   * so long (`gap`) that jitter cannot be the reason. */
  gboolean is_stalled;
  MmtpLateness lateness;
  MmtpLargeLosses large_losses;

  /* --- statistics only, for the user ----------------------------------------
   */
  /* bytes of the stream, over MMTP_SHARE_PERIOD */
  MmtpFading data_bytes;
  /* messages received and lost, over MMTP_LOSS_PERIOD */
  MmtpFading came, missing;

  /* --- session, used by mmtpsender ------------------------------------------
   */
  MmtpReplay replay;
  /* TRUE if the receiver has answered the handshake or a JOIN on this path. */
  gboolean joined;
  /* TRUE if the receiver has reported about this path. */
  gboolean confirmed;

  MmtpSenderPathStats stats;
} MmtpPath;

MmtpPath *mmtp_path_new (guint id, const gchar * name);
void mmtp_path_free (MmtpPath * path);
/* Opens the path for the first time or again. All measurements are reset, but
 * message numbers continue. */
void mmtp_path_open (MmtpPath * path, guint64 now,
    const MmtpPathConfig * config);
/* Starts to use the path for data. Called after the peer has answered the
 * handshake or a JOIN. `klass` is the congestion control for paths without a
 * configured rate. `first` is a first estimate of the path's rate; NULL if
 * there is none. */
void mmtp_path_start (MmtpPath * path, guint64 now,
    const MmtpRateControlClass * klass, const MmtpFirstRate * first);

/* --- sending ------------------------------------------------------------- */

/* Records that a message was sent on the path. The number of the message is
 * `sent.next`, which is then increased. */
void mmtp_path_sent (MmtpPath * path, guint64 now, gsize size,
    guint64 stream_number, gboolean is_load);
/* Stores two values for a DATA message, both in ns: `time_left`, the time until
 * its deadline, and `delay`, its expected delay. Call this function after
 * mmtp_path_sent() for this message. */
void mmtp_path_note_slack (MmtpPath * path, guint64 time_left, guint64 delay);
/* Notes that the application has no more packets to send at present, although
 * the window would allow more bytes in flight. */
void mmtp_path_note_idle (MmtpPath * path);
/* Returns whether `size` more bytes may be in flight. If nothing is in flight,
 * the result is TRUE. Otherwise there is a limit for the bytes in flight. If
 * `is_alone` is FALSE, the limit is the window. If `is_alone` is TRUE, which
 * means that no other path has room, the limit is the window plus the reserve.
 * While the path is drained, the limit is at most the reduced window
 * (mmtpdrain.h), without the reserve.
 *
 * The reserve is the number of bytes that may be in flight beyond the window.
 * It is meant for a gap, a time in which nothing arrives, but this function
 * does not check whether there is a gap.
 *
 * This function does not check the pacing either: the field `token` has the
 * time at which the pacing allows the next packet. */
gboolean mmtp_path_has_window (const MmtpPath * path, gsize size,
    gboolean is_alone);
/* Returns the time in ns after which the next report about this path is
 * overdue. An overdue report may mean that nothing arrives on the path any
 * more. The sender may then use the reserve of the path: the number of bytes
 * that may be in flight beyond the window. */
guint64 mmtp_path_get_overdue (const MmtpPath * path);
/* Returns the one-way delay, in ns, of the newest message in the last report
 * that measured delays; 0 if it is unknown. */
guint64 mmtp_path_get_latest_delay (const MmtpPath * path);
/* Returns whether a message of this path was clearly overdue at the time at
 * which the receiver wrote its latest report. A message is clearly overdue if
 * jitter cannot explain its delay. The result is always FALSE if a rate is
 * configured. */
gboolean mmtp_path_is_overdue (const MmtpPath * path);
/* Returns whether the message `sent` is missing. It is missing in two cases: it
 * should have arrived before the receiver wrote its latest report, or a report
 * that covers the message should have arrived by now. */
gboolean mmtp_path_is_missing (const MmtpPath * path,
    const MmtpSent * sent, guint64 now);
/* Returns whether the oldest unreported message of the path is missing, which
 * may mean that the path has stalled. The message is missing if it should have
 * arrived before the receiver wrote its latest report, or if a report about the
 * message should have arrived by now. */
gboolean mmtp_path_is_in_doubt (const MmtpPath * path, guint64 now);
/* Returns the time in ns that a message of `size` bytes needs at the path's
 * rate; 0 if unknown. */
guint64 mmtp_path_get_cost (const MmtpPath * path, gsize size);
/* mmtp_path_get_rate() returns the current rate of the path in bit/s.
 * mmtp_path_get_peak_rate() returns the highest recent rate of the path. If a
 * rate is not known, an estimate is returned; the result is never 0. */
guint64 mmtp_path_get_rate (const MmtpPath * path);
guint64 mmtp_path_get_peak_rate (const MmtpPath * path);
/* Returns whether the transmission time of a large packet is known. It is known
 * if it was measured, and also if a rate is configured for the path. */
gboolean mmtp_path_is_measured (const MmtpPath * path);
/* Returns the expected one-way delay in ns of a message that is sent now. */
guint64 mmtp_path_get_expected_delay (const MmtpPath * path, guint64 now);
/* Returns the safe delay of the path in ns, which hardly any message exceeds.
 * It is usually the expected delay plus a safety margin. The scheduler uses it.
 */
guint64 mmtp_path_get_safe_delay (const MmtpPath * path, guint64 now);
/* Returns a cautious estimate of the delay in ns. The sender uses it to compare
 * this path with other usable paths. If a rate is configured for the path, the
 * result is the safe delay (mmtp_path_get_safe_delay ()): the expected delay
 * plus a safety margin. If no rate is configured, the result may be longer than
 * the safe delay in four cases:
 * - The last reports show a queueing delay that the messages in flight cannot
 *   explain.
 * - A message is overdue.
 * - Another path has unused capacity (`is_spare` is TRUE), so the sender can be
 *   more cautious.
 * - The rate of the path is unknown because the application sends less than the
 *   path carries, but the transmission times of single packets were measured. A
 *   narrow path that carries few packets is an example.
 *
 * In the last two cases, the function predicts the delay of a packet that is
 * sent after all messages in flight. The result is at least this predicted
 * delay. */
guint64 mmtp_path_get_cautious_delay (const MmtpPath * path,
    guint64 now, gboolean is_spare);
/* Returns the minimum delay of a message in ns. The queueing delay is not
 * included, because a queue may disappear at any moment. If a rate is
 * configured, the function returns the safe delay instead
 * (mmtp_path_get_safe_delay()). */
guint64 mmtp_path_get_best_delay (const MmtpPath * path, guint64 now);
/* Records that a report has declared the message `number` lost. Several reports
 * may do so for the same message; it is counted only once. */
void mmtp_path_note_missed (MmtpPath * path, guint64 number);

/* --- reports -------------------------------------------------------------- */

/* Returns whether the contents of `record` are possible. A record is the part
 * of a report about one path. The record must not report more messages than
 * were sent (docs/wire-mmtp.md, section 7). */
gboolean mmtp_path_is_possible (const MmtpPath * path,
    const MmtpRecord * record);
/* Processes a record, the part of a report about one path. `reported` is the
 * time at which the receiver wrote the report, in ticks of the receiver's
 * clock. Returns TRUE if the record reports messages that no earlier report
 * contained. */
gboolean mmtp_path_report (MmtpPath * path, guint64 now,
    const MmtpRecord * record, guint32 reported);
/* Called for a record (the part of a report about one path) that arrives after
 * a newer record. Only its minimum one-way delay is used. If this delay is
 * lower than the base delay of the path, it becomes the base delay. */
void mmtp_path_note_min_delay (MmtpPath * path, guint64 now,
    const MmtpRecord * record);
/* Records that all messages up to the number `highest` are settled: the sender
 * knows of each whether it has arrived or was lost. */
void mmtp_path_settle (MmtpPath * path, guint64 now, guint64 highest);
void mmtp_path_add_round_trip (MmtpPath * path, guint64 now,
    guint64 round_trip);
/* Updates the fields `delay` and `high_delay` of the path. `offset` is the
 * offset between the clocks of sender and receiver (docs/wire-mmtp.md, section
 * 6). */
void mmtp_path_update_delay (MmtpPath * path, guint64 now, gint64 offset);

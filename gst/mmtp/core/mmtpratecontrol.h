/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Interface of the congestion control algorithms. Each algorithm is a table of
 * operations in a file of its own. An algorithm decides how many bytes may be
 * in flight on one path. It depends on no wire format and no socket. It reads
 * no clock; all times are passed to it. Its inputs are the messages that were
 * sent, the reports of the receiver, and the delays of the messages. A path
 * (mmtppath.c) is the only caller and holds the lock of its element, so an
 * algorithm needs no lock.
 *
 * The path calls the functions in this order:
 *
 *   control = mmtp_rate_control_new (klass, now, &start);
 *   mmtp_rate_control_get_limits (control, &limits);
 *   mmtp_rate_control_sent (control, now, size, in_flight);   for each message
 *   mmtp_rate_control_feedback (control, &sample);            for each report
 *   mmtp_rate_control_get_limits (control, &limits);          after feedback
 *
 * If the first estimate of the rate is made or dropped after the beginning, the
 * path calls mmtp_rate_control_restart (), and then reads the limits again.
 *
 * The path reads the limits once at the beginning, and then only after a
 * report. It uses them until the next report. If the operation `sent` changes
 * the limits, the change therefore takes effect with the next report. There is
 * no timer.
 *
 * A gap is a time in which the path delivers nothing. Missing reports do not
 * prove a gap, because the reports may have been lost on the return path. An
 * algorithm does not know whether the path has a gap: the caller decides this.
 * During a gap, the limit for the bytes in flight is the sum of the limits
 * `window` and `reserve`.
 *
 * Sizes are in bytes with IP and UDP headers, rates in bit/s, times in ns. */

#pragma once

#include <glib.h>

/* The contents of one report of the receiver about a path. The base delay and
 * the base round trip are the minima of a recent period. The caller has
 * computed both, so that all algorithms use the same values. */
typedef struct
{
  guint64 now;                  /* on the sender's clock */
  /* Arrival time of the newest reported message, on the receiver's clock. The
   * zero of this clock is arbitrary, so only differences are meaningful. If
   * nothing arrives, this time stays the same. */
  guint64 arrival;
  /* sending time of the newest reported message, on the sender's clock */
  guint64 sent;
  guint64 delivered;            /* bytes delivered since the beginning */
  /* number of bytes that are newly acknowledged by this report, and that are
   * included in `delivered`; 0 if nothing arrived */
  guint64 acked;
  /* number of messages that are newly acknowledged by this report */
  guint n_acked;
  guint n_lost;                 /* messages newly reported as lost */
  /* Rate of the path in bit/s, estimated from the newly acknowledged messages;
   * 0 if they are no packet train (mmtptrain.h). */
  guint64 train_rate;
  guint64 in_flight;            /* bytes in flight now */
  /* bytes in flight right after the newest reported message was sent */
  guint64 sent_in_flight;
  /* TRUE if the application had nothing more to send when the newest message
   * was sent. In this case `delivered` does not show what the path could carry.
   */
  gboolean is_app_limited;
  /* Round trip of the newest message, without the time that the receiver waited
   * before it sent its report; 0 if unknown. */
  guint64 round_trip;
  /* Time in ns from the sending of a message until the sender knows that the
   * message has arrived, if no queue delays the message; 0 if unknown. Normally
   * this is the minimum round trip of the last 20 s. If the reports about this
   * path arrive on a faster path, the time may be shorter than this minimum. */
  guint64 base_round_trip;
  /* report period that the sender has requested from the receiver, in ns */
  guint64 report_period;
  /* Lowest queueing delay in the latest report, in ns: the minimum one-way
   * delay of its messages, minus the base delay. */
  gint64 queue_delay;
  /* Highest queueing delay in the latest report, in ns: the maximum one-way
   * delay of its messages, minus the base delay. */
  gint64 high_queue_delay;
  /* Time in ns that the path takes to transmit one packet of the maximum size
   * at `peak_rate`, the highest recent rate; 0 if unknown. */
  guint64 packet_time;
  /* Initial delay (D0 in the MMTP paper), in ns: the maximum time from the due
   * time of a message until its arrival. */
  guint64 deadline;
  /* Jitter in ns: the mean difference between the one-way delays of
   * neighbouring messages. It does not measure the queueing delay. */
  gint64 noise;
} MmtpRateSample;

typedef struct
{
  /* maximum bytes in flight (congestion window) */
  guint64 window;
  /* The reserve: the number of bytes that may be in flight beyond the window
   * while the path has a gap. A gap is a time in which nothing arrives on the
   * path. The caller uses the reserve only if the windows of all paths are
   * full. */
  guint64 reserve;
  guint64 pacing_rate;          /* 0 means no pacing */
  /* Number of bytes that may be sent at once after a pause, without pacing. If
   * it is 0, one packet may be sent at once. */
  guint64 burst;
  /* Current delivery rate of the path in bit/s; 0 if unknown. The statistics
   * show it, and it is reported to the application as the bitrate. If a path
   * has a constant rate, `delivery_rate` must be within 10 % of this rate. The
   * test mmtpratecontrol checks this. */
  guint64 delivery_rate;
  /* Highest recent delivery rate of the path. It is used to compute the
   * earliest possible arrival time of a message. */
  guint64 peak_rate;
  /* TRUE if the path may be able to carry more than `delivery_rate`, because
   * the application did not use the path fully. An algorithm has to set this
   * field to TRUE if the source sends less than the path carries. */
  gboolean is_app_limited;
  /* TRUE while the algorithm attributes the losses on the path to a queue that
   * overflows. Additional packets may then cause further losses. An algorithm
   * that does not know why packets were lost leaves this field FALSE. */
  gboolean has_queue_losses;
} MmtpRateLimits;

/* Properties of a path that are known when its rate control starts. */
typedef struct
{
  guint packet;                 /* maximum size of a packet in bytes */
  /* minimum round-trip time that was measured, in ns; 0 if unknown */
  guint64 round_trip;
  /* First estimate of the path's rate in bit/s; 0 if unknown. If `is_minimum`
   * is TRUE, the estimate is cautious, and the path may carry much more. If the
   * rate is 0 and `is_minimum` is TRUE, the rate is unknown because the path
   * has much jitter. */
  guint64 rate;
  gboolean is_minimum;
  /* TRUE if another path of the session was already active when this path
   * started. That other path may then already carry the stream. */
  gboolean has_other_paths;
} MmtpRateControlStart;

/* A rate control algorithm. Its state, `control`, is a piece of memory of
 * `size` bytes. The memory is zeroed before `init` is called. It is freed
 * without a call to the algorithm, so the state must not contain pointers to
 * other memory. */
typedef struct
{
  const gchar *name;
  gsize size;                   /* in bytes */
  void (*init) (gpointer control, guint64 now,
      const MmtpRateControlStart * start);
  /* Called after a message of any type was sent. `size` is its size, and
   * `in_flight` is the number of bytes in flight including this message. The
   * operation may be NULL. */
  void (*sent) (gpointer control, guint64 now, guint64 size,
      guint64 in_flight);
  void (*feedback) (gpointer control, const MmtpRateSample * sample);
  /* Fills in `limits`. The caller has set all fields of `limits` to 0. An
   * algorithm has to set `window`. Before the receiver has reported anything,
   * the algorithm may leave the two rates `delivery_rate` and `peak_rate` at 0.
   * The caller then computes a rate from the window and the round trip, and
   * uses this rate in place of both. */
  void (*get_limits) (gconstpointer control, MmtpRateLimits * limits);
} MmtpRateControlClass;

typedef struct _MmtpRateControl MmtpRateControl;

/* The algorithms for paths of unknown rate. The first one is the default, and
 * the list ends with NULL.
 */
extern const MmtpRateControlClass *const mmtp_rate_controls[];
/* Returns the algorithm with this name. If `name` is NULL, returns the default
 * algorithm. Returns NULL if no algorithm has this name. */
const MmtpRateControlClass *mmtp_rate_control_find (const gchar * name);

/* The default algorithm, in mmtpdeliverycontrol.c. */
extern const MmtpRateControlClass mmtp_delivery_control;
/* The algorithm for paths with a configured rate, in mmtptokencontrol.c: the
 * token bucket of the MMTP paper (section 4.4). Its operation `init` gets the
 * configured rate in the field `rate`. */
extern const MmtpRateControlClass mmtp_token_control;

/* Returns the time in ns that a path of `rate` bit/s needs for `bytes` bytes; 0
 * if the rate is 0. */
guint64 mmtp_rate_get_time (guint64 rate, guint64 bytes);

/* Creates the state of an algorithm for one path. */
MmtpRateControl *mmtp_rate_control_new (const MmtpRateControlClass * klass,
    guint64 now, const MmtpRateControlStart * start);
/* Makes the algorithm forget everything, and begins again with `start`. */
void mmtp_rate_control_restart (MmtpRateControl * control, guint64 now,
    const MmtpRateControlStart * start);
void mmtp_rate_control_free (MmtpRateControl * control);
void mmtp_rate_control_sent (MmtpRateControl * control, guint64 now,
    guint64 size, guint64 in_flight);
void mmtp_rate_control_feedback (MmtpRateControl * control,
    const MmtpRateSample * sample);
void mmtp_rate_control_get_limits (const MmtpRateControl * control,
    MmtpRateLimits * limits);

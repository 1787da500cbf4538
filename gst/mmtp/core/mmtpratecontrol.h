/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Congestion control of one path as a table of operations, so that a new
 * algorithm is one file. An algorithm decides how many bytes may be in flight.
 * It knows no wire format and no socket, and no times except those passed to
 * it. It sees what was sent, what the receiver reported, and how long messages
 * took. A path (mmtppath.c) is the only caller and calls under the lock of its
 * element, so an algorithm needs no lock:
 *
 *   control = mmtp_rate_control_new (klass, now, packet, round_trip, rate);
 *   mmtp_rate_control_get_limits (control, &limits);
 *   mmtp_rate_control_sent (control, now, size, in_flight);   for each message
 *   mmtp_rate_control_feedback (control, &sample);            for each report
 *   mmtp_rate_control_get_limits (control, &limits);          after feedback
 *
 * The limits are valid until the next report: a change by `sent` has no effect
 * before. There is no timer. While reports are missing, the caller decides
 * whether the path has a gap, and allows the window and the reserve. Sizes are
 * in bytes with IP and UDP headers, rates in bit/s, times in ns.
 */

#pragma once

#include <glib.h>

/* What one report of the receiver says about a path. The minimum delays are
 * already taken over a sliding time, so that all algorithms use the same base
 * delay. */
typedef struct
{
  guint64 now;                  /* on the sender's clock */
  /* Arrival time of the newest reported message, on the receiver's clock less a
   * constant. It does not advance while nothing arrives. */
  guint64 arrival;
  /* sending time of that message on the sender's clock */
  guint64 sent;
  guint64 delivered;            /* bytes delivered since the beginning */
  /* part of `delivered` that is new in this report; 0 if nothing arrived */
  guint64 acked;
  guint n_acked;                /* messages that are new in this report */
  guint n_lost;                 /* messages newly reported as lost */
  guint64 in_flight;            /* bytes in flight now */
  /* bytes in flight right after the newest reported message was sent */
  guint64 sent_in_flight;
  /* The application had nothing more to send when the newest message was sent,
   * so `delivered` does not show what the path could carry. */
  gboolean is_app_limited;
  /* Round trip of the newest message without the time for which the receiver
   * held its report; 0 if unknown. */
  guint64 round_trip;
  guint64 base_round_trip;      /* minimum of the last 20 s; 0 if unknown */
  /* time between reports that the receiver was asked for */
  guint64 report_period;
  /* Minimum one-way delay since the last report minus the base delay, which is
   * the queueing delay of even the luckiest message. */
  gint64 queue_delay;
  gint64 high_queue_delay;      /* queueing delay of the slowest message */
  /* Transmission time of a packet at the highest recent rate; 0 if unknown. */
  guint64 packet_time;
  /* initial delay (D0): maximum time for a message */
  guint64 deadline;
  /* Mean difference between the one-way delays of neighbouring messages, which
   * is jitter and not a queue. */
  gint64 noise;
} MmtpRateSample;

typedef struct
{
  /* maximum bytes in flight (congestion window) */
  guint64 window;
  /* Additional bytes that may be in flight during a gap, while no other path
   * has room. */
  guint64 reserve;
  guint64 pacing_rate;          /* 0 means no pacing */
  /* Current delivery rate of the path; 0 if unknown. It is the rate in the
   * statistics and the bitrate that is reported to the application. The test
   * mmtpratecontrol demands it within 10 % on a path of constant rate. */
  guint64 delivery_rate;
  /* Highest recent delivery rate, for the earliest time at which a message may
   * arrive. */
  guint64 peak_rate;
  /* delivery_rate may be too low, because the application did not use the path
   * fully. It has to be TRUE for a source that sends less than the path
   * carries. */
  gboolean is_app_limited;
} MmtpRateLimits;

/* An algorithm. `control` is memory of `size` bytes, which is zeroed before
 * `init` and freed without a call, so it must not contain pointers to other
 * memory. */
typedef struct
{
  const gchar *name;
  gsize size;                   /* in bytes */
  /* `packet` is the maximum size of a packet in bytes, `round_trip` that of the
   * handshake (0 if unknown), and `rate` a first estimate of the path's rate (0
   * if unknown). */
  void (*init) (gpointer control, guint64 now, guint packet,
      guint64 round_trip, guint64 rate);
  /* Called when a message of any type was sent; `in_flight` includes the
   * message. May be NULL. */
  void (*sent) (gpointer control, guint64 now, guint64 size,
      guint64 in_flight);
  void (*feedback) (gpointer control, const MmtpRateSample * sample);
  /* Fills in `limits`, which is all zero before. The window is required. While
   * delivery_rate and peak_rate are 0, the caller derives the rate from window
   * and round trip, so they may be 0 until the first reports. */
  void (*get_limits) (gconstpointer control, MmtpRateLimits * limits);
} MmtpRateControlClass;

typedef struct _MmtpRateControl MmtpRateControl;

/* Algorithms for paths of unknown rate, the default first, terminated by NULL.
 */
extern const MmtpRateControlClass *const mmtp_rate_controls[];
/* Finds an algorithm by its name; NULL means the default. Returns NULL if no
 * algorithm has this name. */
const MmtpRateControlClass *mmtp_rate_control_find (const gchar * name);

/* the default, in mmtpdeliverycontrol.c */
extern const MmtpRateControlClass mmtp_delivery_control;
/* The token bucket of the paper [4.4] for paths with a configured rate, in
 * mmtptokencontrol.c. `rate` of `init` is the configured rate. */
extern const MmtpRateControlClass mmtp_token_control;

/* `rate` is a first estimate of the path's rate; 0 if unknown. */
MmtpRateControl *mmtp_rate_control_new (const MmtpRateControlClass * klass,
    guint64 now, guint packet, guint64 round_trip, guint64 rate);
void mmtp_rate_control_free (MmtpRateControl * control);
void mmtp_rate_control_sent (MmtpRateControl * control, guint64 now,
    guint64 size, guint64 in_flight);
void mmtp_rate_control_feedback (MmtpRateControl * control,
    const MmtpRateSample * sample);
void mmtp_rate_control_get_limits (const MmtpRateControl * control,
    MmtpRateLimits * limits);

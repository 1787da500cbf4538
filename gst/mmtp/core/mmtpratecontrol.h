/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Congestion control of one path, as a table of operations: which algorithm
 * decides how many bytes may be in flight is a matter of one file. An
 * algorithm knows no wire format, no socket and no clock but the times that it
 * is told; it sees what was sent, what the receiver reported, and how long
 * messages took. A path (mmtppath.c) is the only caller, under the lock of its
 * element, so an algorithm needs no lock:
 *
 *   control = mmtp_rate_control_new (klass, now, packet, round_trip, rate);
 *   mmtp_rate_control_get_limits (control, &limits);
 *   mmtp_rate_control_sent (control, now, size, in_flight);   for each message
 *   mmtp_rate_control_feedback (control, &sample);            for each report
 *   mmtp_rate_control_get_limits (control, &limits);          after feedback
 *
 * The limits hold until the next report: what `sent` changes of them has no
 * effect before. There is no timer; while reports are missing the caller
 * decides whether the path has a gap, and allows the window and the reserve.
 * All sizes are bytes with IP and UDP headers, all rates bits per second, all
 * times nanoseconds.
 */

#pragma once

#include <glib.h>

/* What one report of the receiver says of a path. The caller has already taken
 * the minimum delays over a sliding time, so that every algorithm works with
 * the same base delay. */
typedef struct
{
  guint64 now;                  /* sender's clock */
  guint64 arrival;              /* receiver's clock less a constant: when the
                                 * newest reported message arrived; it does not
                                 * advance when nothing arrived */
  guint64 sent;                 /* sender's clock: when that message was sent */
  guint64 delivered;            /* bytes that have arrived since the beginning */
  guint64 acked;                /* bytes of these that are new in this report;
                                 * 0: nothing arrived */
  guint n_acked;                /* messages likewise */
  guint n_lost;                 /* messages newly reported as lost */
  guint64 in_flight;            /* bytes sent and not reported, now */
  guint64 sent_in_flight;       /* bytes in flight right after the newest
                                 * reported message had been sent */
  gboolean is_app_limited;      /* the application had nothing more to send
                                 * when the newest message was sent: delivered
                                 * bytes say nothing of what the path carries */
  guint64 round_trip;           /* of the newest message, less the time for
                                 * which the receiver held its report; 0:
                                 * unknown */
  guint64 base_round_trip;      /* minimum of the last 20 s; 0: unknown */
  guint64 report_period;        /* time between reports that the receiver was
                                 * asked for */
  gint64 queue_delay;           /* minimum one-way delay since the last report,
                                 * less the base delay: what even the luckiest
                                 * message had to wait */
  gint64 high_queue_delay;      /* the same of the slowest message */
  guint64 packet_time;          /* that a packet takes at the best rate of late;
                                 * 0: unknown */
  guint64 deadline;             /* D0: how long a message may take in all */
  gint64 noise;                 /* mean deviation of the one-way delay that is
                                 * no queue: differences between neighbours */
} MmtpRateSample;

typedef struct
{
  guint64 window;               /* bytes that may be in flight */
  guint64 reserve;              /* bytes more, while no other path is open: what
                                 * the path is trusted with during a gap */
  guint64 pacing_rate;          /* 0: no pacing */
  guint64 delivery_rate;        /* what the path carries now; 0: unknown */
  guint64 peak_rate;            /* what it has delivered at best of late: with
                                 * that a message may arrive, at the earliest */
  gboolean is_app_limited;      /* delivery_rate is only what was asked of the
                                 * path, which may carry more */
} MmtpRateLimits;

/* An algorithm. `control` is memory of `size` bytes, which is zeroed before `init`
 * and freed without a call, so it may not contain pointers to other memory. */
typedef struct
{
  const gchar *name;
  gsize size;                   /* bytes */
  /* `packet`: bytes of the largest packet; `round_trip`: of the handshake, 0:
   * unknown; `rate`: a first guess of what the path carries, 0: none */
  void (*init) (gpointer control, guint64 now, guint packet,
      guint64 round_trip, guint64 rate);
  /* A message of any kind has been sent; `in_flight` includes it. NULL: nothing
   * to do */
  void (*sent) (gpointer control, guint64 now, guint64 size,
      guint64 in_flight);
  void (*feedback) (gpointer control, const MmtpRateSample * sample);
  /* `limits` is zero before. The window is required; without delivery_rate and
   * peak_rate the caller takes window and round trip for the rate. */
  void (*get_limits) (gconstpointer control, MmtpRateLimits * limits);
} MmtpRateControlClass;

typedef struct _MmtpRateControl MmtpRateControl;

/* The algorithms for paths of unknown rate, the default first, ended by NULL */
extern const MmtpRateControlClass *const mmtp_rate_controls[];
/* By name; NULL: the default. NULL when there is none of this name. */
const MmtpRateControlClass *mmtp_rate_control_find (const gchar * name);

/* mmtpdeliverycontrol.c */
extern const MmtpRateControlClass mmtp_delivery_control;
/* mmtptokencontrol.c: the paper's token bucket [4.4], for a path whose rate is
 * configured; `rate` of init is that rate */
extern const MmtpRateControlClass mmtp_token_control;

/* `rate`: a first guess of what the path carries, 0: none */
MmtpRateControl *mmtp_rate_control_new (const MmtpRateControlClass * klass,
    guint64 now, guint packet, guint64 round_trip, guint64 rate);
void mmtp_rate_control_free (MmtpRateControl * control);
void mmtp_rate_control_sent (MmtpRateControl * control, guint64 now,
    guint64 size, guint64 in_flight);
void mmtp_rate_control_feedback (MmtpRateControl * control,
    const MmtpRateSample * sample);
void mmtp_rate_control_get_limits (const MmtpRateControl * control,
    MmtpRateLimits * limits);

/* Initial window in bytes: what a first guess of the rate delivers until the
 * first report comes. Without a guess it is RFC 6928's ten packets on a path
 * whose round trip is at most 100 ms, proportionally fewer on longer ones, and
 * at least three (RFC 5681, section 3.1): a path that takes long to answer a
 * handshake is more often a slow one than a long one, and ten packets would
 * block it for seconds. */
guint64 mmtp_rate_control_get_initial_window (guint packet,
    guint64 round_trip, guint64 rate);

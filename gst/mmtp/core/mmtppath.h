/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A path as the sender sees it: which messages are in flight (mmtpsentlog.h),
 * what its reports say of its delays, how much its congestion control
 * (mmtpratecontrol.h) lets it carry, and whether it delivers [4.6 of the
 * paper]. It writes no messages: mmtpsender does, and tells it what was sent.
 * Sizes are bytes with IP and UDP, rates bits per second, times ns.
 */

#pragma once

#include "mmtpkeys.h"
#include "mmtppathdelay.h"
#include "mmtppathinfo.h"
#include "mmtpratecontrol.h"
#include "mmtprecent.h"
#include "mmtpsentlog.h"

/* ns, in which what a user is told of as "lately" fades */
#define MMTP_SHARE_PERIOD (1 * G_GUINT64_CONSTANT (1000000000))
#define MMTP_LOSS_PERIOD (10 * G_GUINT64_CONSTANT (1000000000))

typedef struct
{
  guint id;
  gchar *name;
  guint16 max_size;             /* bytes of a message, without IP and UDP */
  guint16 overhead;             /* bytes of IP and UDP */
  guint64 configured_rate;      /* 0: none */
  MmtpPathState state;
  gboolean blocked;             /* by its socket */

  /* --- messages */
  MmtpSentLog sent;
  guint64 limited_until;        /* number below which delivery says nothing of
                                 * what the path carries */

  /* --- what it may carry */
  MmtpRateControl *control;     /* NULL: not open yet */
  MmtpRateLimits limits;
  guint64 token;                /* time of the next one, by the pacing rate */
  guint64 delivered;
  guint64 data_size;            /* usual DATA message, without IP and UDP */
  guint64 large_size;           /* a large one of late */

  /* --- draining, to find the base delay */
  guint64 busy_since;           /* when the application began to send all that
                                 * the window allows; 0: it does not */
  guint64 drain_window;         /* bytes; 0: it is not drained */
  guint64 drain_end;            /* when it ends at the latest */
  guint64 drained_from;         /* number of the first message that was sent
                                 * while it was drained; MMTP_NO_STREAM */
  gint64 drain_min;             /* minimum delay of those */

  /* --- what the receiver says */
  MmtpPathDelay delays;
  MmtpPathDelay load_delays;    /* of messages of a packet's size alone, which
                                 * take longer on a slow path */
  MmtpRecent byte_times;        /* ps that a byte of a large message takes, as
                                 * single messages were transmitted; minimum */
  gint64 byte_times_base;       /* base delay that they were measured from */
  guint64 busy_until;           /* predicted: the bottleneck has transmitted all
                                 * that was sent */
  MmtpRecent round_trips;
  guint64 round_trip;           /* latest; 0: unknown */
  guint64 report_period;        /* asked of the receiver */
  guint64 report_interval;      /* between reports of it, of late the longest */
  guint64 deadline;             /* D0 */
  guint64 delay;                /* one way, base; MMTP_NEVER: unknown */
  guint64 high_delay;           /* nearly all stay below; MMTP_NEVER */
  guint64 arrival;              /* receiver's clock, of the newest message */
  guint64 arrival_sent;         /* our clock, when that one was sent */
  guint64 reported_bytes;
  guint64 report_time;          /* when a record was last taken; 0: never */
  guint64 progress_time;        /* when one last said that more had arrived, or
                                 * when it was started */
  guint64 reported;             /* receiver's clock, when it wrote the latest
                                 * report; 0: never */
  guint64 gap;                  /* ns for which nothing had arrived, by the
                                 * receiver's clock, although something should
                                 * have */
  gboolean is_stalled;          /* the receiver says that nothing arrives
                                 * although something should have */
  gdouble lateness;             /* ns that packets are given more, because many
                                 * were late */
  gdouble late_share;           /* mean part of the packets that were late,
                                 * though little time was left for them */
  guint marginal;               /* reported since: little time was left */
  guint judged, missed;         /* of late: load that was reported on, and how
                                 * much of it was lost */

  /* --- what a user is told; it decides nothing */
  MmtpFading data_bytes;        /* sent, by MMTP_SHARE_PERIOD */
  MmtpFading came, missing;     /* messages reported, by MMTP_LOSS_PERIOD */

  /* --- the conversation on it: mmtpsender */
  MmtpReplay replay;
  gboolean joined;              /* the receiver answers there */
  gboolean confirmed;           /* it has reported the path */

  MmtpSenderPathStats stats;
} MmtpPath;

MmtpPath *mmtp_path_new (guint id, const gchar * name);
void mmtp_path_free (MmtpPath * path);
/* It comes, or comes back: what was measured is forgotten, numbers go on. */
void mmtp_path_open (MmtpPath * path, guint64 now,
    const MmtpPathConfig * config);
/* The handshake or a JOIN was answered: it may carry data. `klass`: the
 * congestion control of paths without a configured rate; `rate`: a first guess
 * of what it carries, 0: none */
void mmtp_path_start (MmtpPath * path, guint64 now,
    const MmtpRateControlClass * klass, guint64 rate);

/* --- sending ------------------------------------------------------------- */

/* After the message with number `next` was sent */
void mmtp_path_sent (MmtpPath * path, guint64 now, gsize size,
    guint64 stream_number, gboolean is_load);
/* Of the message that was just sent, which is DATA: `time_left` until its
 * deadline, and the `delay` that was expected, both ns */
void mmtp_path_note_slack (MmtpPath * path, guint64 time_left, guint64 delay);
/* The application has nothing more to send, and the window has room. */
void mmtp_path_note_idle (MmtpPath * path);
/* Whether so many bytes may go now as far as the window says. `is_alone`: no
 * other path has room. Pacing is `token`'s matter. */
gboolean mmtp_path_has_window (const MmtpPath * path, gsize size,
    gboolean is_alone);
/* When the next report is overdue: it may be a gap, in which the reserve may be
 * used */
guint64 mmtp_path_get_overdue (const MmtpPath * path);
/* Nothing has arrived for longer than jitter explains: perhaps the path has a
 * gap. Where a rate is configured, FALSE */
gboolean mmtp_path_is_overdue (const MmtpPath * path);
/* This message should have arrived before the latest report, too, or a report
 * that is overdue should have told of it. */
gboolean mmtp_path_is_missing (const MmtpPath * path,
    const MmtpSent * sent, guint64 now);
/* The oldest message that no report has told of is. */
gboolean mmtp_path_is_in_doubt (const MmtpPath * path, guint64 now);
/* ns that `size` bytes of a message take at its rate; 0: unknown */
guint64 mmtp_path_get_cost (const MmtpPath * path, gsize size);
/* Rate that the path carries now, and at best, as far as anybody knows: never
 * 0 */
guint64 mmtp_path_get_rate (const MmtpPath * path);
guint64 mmtp_path_get_peak_rate (const MmtpPath * path);
/* Whether it is known how long a packet takes, and not only a short message */
gboolean mmtp_path_is_measured (const MmtpPath * path);
/* ns until a message sent now has arrived; MMTP_NEVER: unknown */
guint64 mmtp_path_get_expected_delay (const MmtpPath * path, guint64 now);
/* The same on the safe side, for the scheduler */
guint64 mmtp_path_get_safe_delay (const MmtpPath * path, guint64 now);
/* The same where there is another path to take: with what the last reports say
 * of the delay, even where nothing in flight explains it. `is_spare`: another
 * path has room, so that this one need not be tried as long as it can bear. */
guint64 mmtp_path_get_cautious_delay (const MmtpPath * path,
    guint64 now, gboolean is_spare);
/* What a message takes at least: a queue that was seen may be gone the next
 * moment. Where a rate was configured it is the safe delay. */
guint64 mmtp_path_get_best_delay (const MmtpPath * path, guint64 now);
/* A message is reported as lost, perhaps once more */
void mmtp_path_note_missed (MmtpPath * path, guint64 number);

/* --- what the receiver says ---------------------------------------------- */

/* Whether no more came than was sent, docs/wire-mmtp.md section 7 */
gboolean mmtp_path_is_possible (const MmtpPath * path,
    const MmtpRecord * record);
/* TRUE: more came than the last report said. `reported`: when the receiver
 * wrote the report, on its clock in ticks */
gboolean mmtp_path_report (MmtpPath * path, guint64 now,
    const MmtpRecord * record, guint32 reported);
/* Everything up to `highest` has arrived or is lost. */
void mmtp_path_settle (MmtpPath * path, guint64 now, guint64 highest);
void mmtp_path_add_round_trip (MmtpPath * path, guint64 now,
    guint64 round_trip);
/* Delays on the scale whose zero is `offset`, docs/wire-mmtp.md section 6 */
void mmtp_path_update_delay (MmtpPath * path, guint64 now, gint64 offset);

/* --- liveness ------------------------------------------------------------ */

/* FALSE: of what is sent nearly nothing comes, as reports say. */
gboolean mmtp_path_delivers (const MmtpPath * path);
/* What was sent from now on is judged anew. */
void mmtp_path_restart_judging (MmtpPath * path);

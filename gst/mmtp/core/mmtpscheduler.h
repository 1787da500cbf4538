/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The schedulers: each is a rule that chooses the path for the next packet. The
 * policy (mmtppolicy.h) is the only caller, with one state for each sender. It
 * calls under the lock of its element, so a scheduler needs no lock.
 *
 * `mmtp` is the rule of the paper [section 4.4]: of the paths that have a token
 * and meet the deadline it takes the one with the maximum delay, so that the
 * fast paths stay free for urgent packets. `arrival` does the same only where
 * the delays leave time to spare. Otherwise it takes the path on which the
 * packet arrives first, or waits for that path. `equal-turns` and
 * `lowest-delay` are for comparison. Times are ns, on the clock of `now`.
 */

#pragma once

#include "mmtppacket.h"

/* Indices into mmtp_schedulers, for the schedulers that the code names. A new
 * scheduler needs no value here. */
typedef enum
{
  MMTP_SCHEDULER_MMTP,
  MMTP_SCHEDULER_EQUAL_TURNS,
  MMTP_SCHEDULER_LOWEST_DELAY,
  MMTP_SCHEDULER_ARRIVAL
} MmtpSchedulerType;

#define MMTP_NO_CANDIDATE G_MAXUINT

/* What is known of a path. Candidate i is the path with id i, and a sender keeps
 * the id of a path until it ends: n grows up to MMTP_MAX_PATHS, and never
 * shrinks. */
typedef struct
{
  gboolean may_carry;           /* state, window and socket allow a packet */
  guint64 token;                /* the pacing allows a packet from this time */
  guint64 delay;                /* until a packet that is sent now has almost
                                 * certainly arrived */
  guint64 backlog;              /* in which this path alone would send all that
                                 * waits; 0 while it has a token */
  gboolean is_doubtful;         /* something that should have arrived is
                                 * missing */
  guint64 rate;                 /* bits per second that the path carries,
                                 * measured or configured; never 0 */
} MmtpCandidate;

typedef struct
{
  const gchar *nick;            /* value of the property `scheduler` */
  const gchar *description;     /* for gst-inspect-1.0 */
  gboolean knows_delays;        /* the path takes the most urgent packet that it
                                 * delivers in time; FALSE: the most urgent of
                                 * all that are not yet late */
  /* Bytes that the scheduler keeps for each sender as `state`. The memory is
   * zeroed at the beginning and freed without a call, so it may not contain
   * pointers to other memory. 0: no state */
  gsize state_size;
  /* Returns the index of a candidate whose `may_carry` is TRUE and whose token
   * is not later than `now`, or MMTP_NO_CANDIDATE to wait. `deadline` is that
   * of the last packet in the queue. The call may be repeated, without the path
   * that was chosen, when no packet fits there; so it may not change the
   * state. */
    guint (*choose) (gconstpointer state, const MmtpCandidate * candidates,
      guint n, guint64 now, guint64 deadline);
  /* A packet of `size` bytes of the stream goes on the chosen path. This is the
   * place to change the state. Retransmissions and repair packets are not
   * counted. NULL: nothing to do */
  void (*sent) (gpointer state, const MmtpCandidate * candidates, guint n,
      guint chosen, gsize size);
} MmtpSchedulerClass;

/* Indexed by MmtpSchedulerType, ended by NULL. It is the list of values of the
 * property. */
extern const MmtpSchedulerClass *const mmtp_schedulers[];

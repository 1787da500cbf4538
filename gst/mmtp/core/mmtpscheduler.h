/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The schedulers. A scheduler is a rule that chooses the path for the next
 * packet. The policy (mmtppolicy.h) is the only caller and keeps one scheduler
 * state for each sender. The policy holds the lock of its element, so a
 * scheduler needs no lock.
 *
 * The scheduler `mmtp` is the rule of the MMTP paper (section 4.4). Among the
 * paths that have a token and meet the deadline, it chooses the path with the
 * maximum delay. The fast paths stay free for urgent packets.
 *
 * The scheduler `arrival` uses the same rule only if the packet would arrive
 * long before its deadline. Otherwise it chooses the path on which the packet
 * arrives first, or waits for that path.
 *
 * The schedulers `equal-turns` and `lowest-delay` are for comparison. All times
 * are in ns on the same clock as the argument `now`.
 */

#pragma once

#include "mmtppacket.h"

/* Indices into mmtp_schedulers, for those schedulers that other code refers to
 * by name. A new scheduler needs no value here. */
typedef enum
{
  MMTP_SCHEDULER_MMTP,
  MMTP_SCHEDULER_EQUAL_TURNS,
  MMTP_SCHEDULER_LOWEST_DELAY,
  MMTP_SCHEDULER_ARRIVAL
} MmtpSchedulerType;

#define MMTP_NO_CANDIDATE G_MAXUINT

/* What the scheduler knows about a path. Candidate i is the path with id i. A
 * path keeps its id until the sender ends, so the number of candidates grows up
 * to MMTP_MAX_PATHS and never decreases. */
typedef struct
{
  /* TRUE if the state, the window and the socket of the path allow a packet. */
  gboolean may_carry;
  /* earliest time at which the pacing allows the next packet */
  guint64 token;
  /* Time after which a packet that is sent now has almost certainly arrived. */
  guint64 delay;
  /* Time that this path alone would need to send all waiting packets. It is
   * computed only if the pacing allows no packet now; otherwise it is 0. */
  guint64 backlog;
  /* TRUE if a message on the path is missing: it should have arrived by now. */
  gboolean is_doubtful;
  /* Rate of the path in bit/s, measured or configured; never 0. */
  guint64 rate;
} MmtpCandidate;

typedef struct
{
  const gchar *nick;            /* value of the property `scheduler` */
  const gchar *description;     /* description for gst-inspect-1.0 */
  /* If TRUE, the chosen path gets the most urgent packet that it delivers in
   * time. If FALSE, it gets the most urgent packet that is not yet late. */
  gboolean knows_delays;
  /* Size of the memory `state` in bytes; 0 if there is no state. Each sender
   * has one state. The memory is zeroed at the beginning. It is freed without a
   * call of the scheduler, so it must not contain pointers to other memory. */
  gsize state_size;
  /* Returns the index of a candidate that can send at the time `now`: its
   * `may_carry` is TRUE, and its `token` is at most `now`. Returns
   * MMTP_NO_CANDIDATE if the packet has to wait. `deadline` is the deadline of
   * the last packet in the queue.
   *
   * If no packet fits the chosen path, the caller calls this function again
   * without that path. Therefore the function must not change the state. */
    guint (*choose) (gconstpointer state, const MmtpCandidate * candidates,
      guint n, guint64 now, guint64 deadline);
  /* Called when a packet of the stream with `size` bytes is sent on the chosen
   * path. This function may change the state. It is not called for
   * retransmissions and REPAIRs. May be NULL. */
  void (*sent) (gpointer state, const MmtpCandidate * candidates, guint n,
      guint chosen, gsize size);
} MmtpSchedulerClass;

/* All schedulers, indexed by MmtpSchedulerType and terminated by NULL. They are
 * the values of the property `scheduler`. */
extern const MmtpSchedulerClass *const mmtp_schedulers[];

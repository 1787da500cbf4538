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

/* Indices into the table mmtp_schedulers. Only the schedulers that other code
 * selects by name have a value here, so a new scheduler needs none. */
typedef enum
{
  MMTP_SCHEDULER_MMTP,
  MMTP_SCHEDULER_EQUAL_TURNS,
  MMTP_SCHEDULER_LOWEST_DELAY,
  MMTP_SCHEDULER_ARRIVAL
} MmtpSchedulerType;

#define MMTP_NO_CANDIDATE G_MAXUINT

/* What the scheduler knows about a path when it chooses the path for the next
 * packet. Candidate i is the path with the id i. A path keeps its id until the
 * sender ends, so the number of candidates never decreases. It is at most
 * MMTP_MAX_PATHS. */
typedef struct
{
  /* TRUE if a packet of the stream may be sent on the path. The path must be in
   * use, its congestion window must have room, and its socket must be writable.
   */
  gboolean may_carry;
  /* earliest time in ns at which the pacing of the path allows the next packet
   */
  guint64 token;
  /* Time in ns within which a packet that is sent now arrives almost certainly.
   */
  guint64 delay;
  /* Time in ns that this path alone would need to send all waiting packets. It
   * is computed only if there are several paths and the pacing of this path
   * allows no packet now. Otherwise it is 0. */
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
  /* Returns the index of the candidate (path) on which the next packet should
   * be sent. Its `may_carry` must be TRUE, and its `token` must be at most
   * `now`, so that it can send immediately. Returns MMTP_NO_CANDIDATE if the
   * packet has to wait. `deadline` is the deadline of the last packet in the
   * queue.
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

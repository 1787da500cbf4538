/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The schedulers. A scheduler is a rule that chooses the path for the next
 * packet. Only the policy (mmtppolicy.h) calls a scheduler. The policy keeps
 * one scheduler state for each sender. The policy is called with the lock of
 * the element held, so a scheduler needs no lock.
 *
 * The scheduler `mmtp` is the rule of the MMTP paper (section 4.4). It
 * considers the paths whose pacing allows a packet now and on which the packet
 * meets its deadline. Among them, it chooses the path with the maximum delay.
 * The fast paths stay free for urgent packets.
 *
 * The scheduler `arrival` uses the same rule only if the packet would arrive
 * long before its deadline, and the quickest path alone cannot easily carry the
 * stream. Otherwise it chooses the path on which the packet arrives first, or
 * waits until this path can send.
 *
 * The schedulers `equal-turns` and `lowest-delay` are for comparison. All times
 * are in ns on the same clock as the argument `now`.
 */

#pragma once

#include "mmtppacket.h"

/* Indices of schedulers in the table mmtp_schedulers. Other code uses these
 * values to refer to a particular scheduler. A new scheduler in the table needs
 * no value here if no other code refers to it. */
typedef enum
{
  MMTP_SCHEDULER_MMTP,
  MMTP_SCHEDULER_EQUAL_TURNS,
  MMTP_SCHEDULER_LOWEST_DELAY,
  MMTP_SCHEDULER_ARRIVAL
} MmtpSchedulerType;

#define MMTP_NO_CANDIDATE G_MAXUINT

/* A candidate is what the scheduler knows about one path when it chooses the
 * path for the next packet. The scheduler gets an array of candidates, in which
 * candidate i is the path with the id i. A path keeps its id until the sender
 * ends. The number of candidates therefore never decreases. Its maximum is
 * MMTP_MAX_PATHS. */
typedef struct
{
  /* TRUE if a packet of the stream may be sent on the path. For this, the path
   * must be in use, its congestion window must have room, and its socket must
   * be writable. */
  gboolean may_carry;
  /* earliest time in ns at which the pacing of the path allows the next packet
   */
  guint64 token;
  /* Estimated time in ns until a packet that is sent now arrives. The estimate
   * includes a safety margin, so that the packet almost certainly arrives
   * within this time. It includes no safety margin if only one path is usable
   * and the rate of this path is not configured. */
  guint64 delay;
  /* Time in ns that this path alone would need to send all packets of the send
   * queue. It is computed only if the sender can choose between several paths
   * and the pacing of this path does not allow a packet now. In all other
   * cases, the field is 0. */
  guint64 backlog;
  /* TRUE if the path may have stalled: a message that was sent on it, or the
   * report about this message, is overdue. Always FALSE if the sender cannot
   * choose between several paths. */
  gboolean is_doubtful;
  /* TRUE if this path alone can easily deliver all waiting packets, and may
   * carry a packet now. If it is also the quickest path, packets need not use a
   * slower path in order to keep the quickest path free for urgent packets.
   * Always FALSE if the sender cannot choose between several paths. */
  gboolean is_sufficient;
  /* TRUE if the rate of the path is configured. The delay then contains a large
   * safety margin. */
  gboolean is_configured;
  /* Rate of the path in bit/s, measured or configured; never 0. */
  guint64 rate;
} MmtpCandidate;

typedef struct
{
  const gchar *nick;            /* value of the property `scheduler` */
  const gchar *description;     /* description for gst-inspect-1.0 */
  /* TRUE if the scheduler takes the delays of the paths into account. The
   * chosen path then sends the most urgent packet that it delivers in time. If
   * FALSE, the chosen path sends the most urgent packet whose deadline has not
   * passed yet. */
  gboolean knows_delays;
  /* Size in bytes of the scheduler's state, the memory that is passed as
   * `state`; 0 if the scheduler needs no state. Each sender has a state of its
   * own. The memory is zeroed when the sender is created. It is freed without a
   * call of the scheduler, so it must not contain pointers to other memory. */
  gsize state_size;
  /* Returns the index of the candidate (path) on which the next packet should
   * be sent. This path must be able to send immediately: its `may_carry` must
   * be TRUE, and its `token` must not be later than `now`. Returns
   * MMTP_NO_CANDIDATE if the packet has to wait. `deadline` is the deadline of
   * the last packet in the queue.
   *
   * The caller may call this function several times before it sends a packet:
   * if no packet fits the chosen path, it sets `may_carry` of this path to
   * FALSE and calls the function again. Therefore the function must not change
   * the state. */
    guint (*choose) (gconstpointer state, const MmtpCandidate * candidates,
      guint n, guint64 now, guint64 deadline);
  /* Called when a packet of the stream is sent on the chosen path. `size` is
   * the size of the packet in bytes. This function may change the state. It is
   * not called for REPAIRs and speculative retransmissions, because the
   * scheduler does not choose their paths. May be NULL. */
  void (*sent) (gpointer state, const MmtpCandidate * candidates, guint n,
      guint chosen, gsize size);
} MmtpSchedulerClass;

/* All schedulers, indexed by MmtpSchedulerType and terminated by NULL. They are
 * the values of the property `scheduler`. */
extern const MmtpSchedulerClass *const mmtp_schedulers[];

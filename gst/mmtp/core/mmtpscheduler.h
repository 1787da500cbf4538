/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which path a packet goes on. The rule of the paper [section 4.4] takes, of the
 * paths that have a token and would bring the packet before its deadline, the
 * one of longest delay, so that the fast ones stay free for what is urgent. It
 * believes in the delays that it is told. The rule by arrival does so only where
 * they leave time to spare; otherwise it takes the path on which the packet
 * comes first, or waits for it. Equal turns and lowest delay first are there to
 * be compared with. A rule is a pure function of what it is told.
 */

#pragma once

#include <glib.h>

/* Those that the code names; there may be more. */
typedef enum
{
  MMTP_SCHEDULER_MMTP,
  MMTP_SCHEDULER_EQUAL_TURNS,
  MMTP_SCHEDULER_LOWEST_DELAY,
  MMTP_SCHEDULER_ARRIVAL
} MmtpSchedulerType;

#define MMTP_NO_CANDIDATE G_MAXUINT

typedef struct
{
  guint path;
  gboolean may_carry;           /* state and socket allow data */
  guint64 token;                /* ns, time from which it has a token */
  guint64 delay;                /* ns, until a packet sent now has surely
                                 * come */
  guint64 backlog;              /* ns, in which it would send all that waits;
                                 * not needed where it has a token */
  gboolean is_doubtful;         /* something that should have arrived there has
                                 * not; the rule by arrival knows it alone */
} MmtpCandidate;

/* A rule, which is one file: docs/architecture.md says how to add one. */
typedef struct
{
  const gchar *nick;            /* the value of the property `scheduler` */
  const gchar *description;     /* what a user is told of it */
  gboolean knows_delays;        /* the path takes the most urgent packet that
                                 * is in time there; FALSE: of all packets */
  /* The candidate for a packet with this deadline at `now`, as an index into
   * `candidates`, or MMTP_NO_CANDIDATE: wait. `turn`: a number that the rule
   * keeps between its calls, 0 at first */
    guint (*choose) (const MmtpCandidate * candidates, guint n, guint64 now,
      guint64 deadline, guint * turn);
} MmtpSchedulerClass;

/* By MmtpSchedulerType, ended by NULL */
extern const MmtpSchedulerClass *const mmtp_schedulers[];

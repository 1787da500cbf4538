/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which channel a packet goes on [4.4 of the paper]: of the channels that have
 * a token and would bring it before its deadline the one of longest delay, so
 * that the fast ones stay free for what is urgent. Equal turns and lowest delay
 * first are there to be compared with. A pure function of what it is told.
 */

#ifndef __MMTP_SCHEDULER_H__
#define __MMTP_SCHEDULER_H__

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  MMTP_SCHEDULER_MMTP,
  MMTP_SCHEDULER_EQUAL_TURNS,
  MMTP_SCHEDULER_LOWEST_DELAY
} MmtpSchedulerType;

typedef struct
{
  guint channel;
  gboolean may_carry;           /* state and socket allow data */
  guint64 token;                /* ns, time from which it has a token */
  guint64 delay;                /* ns, until a packet sent now has surely
                                 * come */
} MmtpCandidate;

#define MMTP_NO_CHANNEL G_MAXUINT

/* The candidate for a packet with this deadline at `now`, as an index into
 * `candidates`, or MMTP_NO_CHANNEL: wait. `turn`: state of equal turns. */
guint mmtp_scheduler_choose (MmtpSchedulerType type,
    const MmtpCandidate * candidates, guint n, guint64 now, guint64 deadline,
    guint * turn);

G_END_DECLS

#endif /* __MMTP_SCHEDULER_H__ */

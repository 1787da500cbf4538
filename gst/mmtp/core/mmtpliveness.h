/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Determines at the receiver whether the sender of the session still responds:
 * - If no valid message arrives during the session timeout, the session counts
 *   as silent.
 * - If the session's sender does not answer QUERYs, another sender from the
 *   same host may take over the session before the session timeout
 *   (docs/wire-mmtp.md, section 4, "Take-over").
 *
 * Times are in ns. */

#pragma once

#include "mmtpreceiveroutput.h"

typedef struct
{
  const MmtpReceiverPaths *paths;
  MmtpReceiverOutput *output;
  guint64 timeout;              /* session timeout */
  guint64 period;               /* keep-alive period */
  guint64 last_valid;           /* arrival time of the last valid message */
  /* Number of QUERYs that the receiver has sent to the session's sender since
   * the last valid message arrived. They are sent because another sender from
   * the same host wants to take over the session. */
  guint n_queries;
  /* times of the first and the last QUERY; valid only if n_queries is not 0 */
  guint64 first_query, last_query;
} MmtpLiveness;

void mmtp_liveness_init (MmtpLiveness * self, const MmtpReceiverPaths * paths,
    MmtpReceiverOutput * output, guint64 timeout);
void mmtp_liveness_begin_session (MmtpLiveness * self, guint64 period);
/* Call this function when a valid message of the session has arrived, which
 * shows that the session's sender is alive. */
void mmtp_liveness_note_message (MmtpLiveness * self);
/* Returns the time at which the session counts as silent if no further valid
 * message arrives. */
guint64 mmtp_liveness_get_end (const MmtpLiveness * self);
/* Returns whether a new sender at `address` may take over the session. The
 * caller has validated `address`. If no valid message of the session has
 * arrived for some time, the function also sends a QUERY to the session's
 * sender, to find out whether this sender is still alive. */
gboolean mmtp_liveness_may_take_over (MmtpLiveness * self,
    const MmtpAddress * address);

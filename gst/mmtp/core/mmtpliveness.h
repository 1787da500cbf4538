/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether the sender of the session still responds. The session is silent after
 * its timeout. Another sender from the same host may take it over earlier, if
 * the session's sender does not answer QUERYs (docs/wire-mmtp.md, "Take-over").
 * Times are in ns.
 */

#pragma once

#include "mmtpreceiveroutput.h"

typedef struct
{
  const MmtpReceiverPaths *paths;
  MmtpReceiverOutput *output;
  guint64 timeout;              /* session timeout */
  guint64 period;               /* keep-alive period */
  guint64 last_valid;           /* arrival time of the last valid message */
  /* Number of QUERYs sent since `last_valid` because another sender from the
   * same host wants a session. */
  guint n_queries;
  guint64 first_query, last_query;      /* times of these QUERYs */
} MmtpLiveness;

void mmtp_liveness_init (MmtpLiveness * self, const MmtpReceiverPaths * paths,
    MmtpReceiverOutput * output, guint64 timeout);
void mmtp_liveness_begin_session (MmtpLiveness * self, guint64 period);
/* A valid message of the session has arrived. */
void mmtp_liveness_note_message (MmtpLiveness * self);
/* Returns when the session becomes silent. */
guint64 mmtp_liveness_get_end (const MmtpLiveness * self);
/* Returns whether a sender at `address`, which is validated, may take over the
 * session. Asks the session's sender if it is in doubt. */
gboolean mmtp_liveness_may_take_over (MmtpLiveness * self,
    const MmtpAddress * address);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How further paths join a session, and one whose address may have changed joins
 * again: docs/wire-mmtp.md section 3, JOIN, CHALLENGE and RESPONSE.
 */

#pragma once

#include "mmtppaths.h"

typedef struct
{
  guint64 nonce;
  guint64 at;                   /* ns, of the next JOIN; MMTP_NEVER: no more */
  guint64 wait;                 /* ns */
  guint64 sent;                 /* ns, the first one: nobody knows which one is
                                 * answered, and a round trip that is too long
                                 * is forgotten for a shorter one */
  gboolean respond;             /* RESPONSE waits to be sent */
  guint64 challenge;
} MmtpJoinState;

typedef struct
{
  const MmtpPaths *paths;
  MmtpEntropy *entropy;
  MmtpJoinState all[MMTP_MAX_PATHS]; /* by the path's id */
} MmtpJoins;

void mmtp_joins_init (MmtpJoins * self, const MmtpPaths * paths,
    MmtpEntropy * entropy);
/* The path has not joined, and asks now. */
void mmtp_joins_begin (MmtpJoins * self, MmtpPath * path);
/* A path that may have joined asks again at that time. */
void mmtp_joins_renew (MmtpJoins * self, const MmtpPath * path, guint64 at);
/* It does not ask any more: it was removed, or the receiver reports it. */
void mmtp_joins_stop (MmtpJoins * self, const MmtpPath * path);
void mmtp_joins_confirm (MmtpJoins * self, MmtpPath * path);
/* TRUE: the message, JOIN or RESPONSE, goes on the path now. */
gboolean mmtp_joins_poll (MmtpJoins * self, const MmtpPath * path,
    MmtpMessage * message);
/* A path that had not joined has joined then. */
MmtpRefusal mmtp_joins_take_challenge (MmtpJoins * self, MmtpPath * path,
    const MmtpChallenge * challenge);
/* ns of the next JOIN; MMTP_NEVER */
guint64 mmtp_joins_get_wakeup (const MmtpJoins * self, const MmtpPath * path);

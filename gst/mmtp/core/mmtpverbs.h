/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How the driver runs MMTP: the sender and the receiver of a session as cores
 * with the interface of all cores.
 */

#ifndef __MMTP_VERBS_H__
#define __MMTP_VERBS_H__

#include "driververbs.h"

G_BEGIN_DECLS

/* A message longer than any that a receiver sends (docs/wire-mmtp.md: a REPORT
 * of 16 records with 16 ranges each has 1575 bytes) */
#define MMTP_MAX_RECEIVER_MESSAGE 2048

/* Of MmtpSender. The paths are its channels. */
extern const DriverVerbs mmtp_sender_verbs;
/* Of MmtpReceiver. All its channels share path 0; their addresses tell them
 * apart. */
extern const DriverVerbs mmtp_receiver_verbs;

G_END_DECLS

#endif /* __MMTP_VERBS_H__ */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pseudorandom bytes for the sender or receiver of an MMTP session. They depend
 * only on a seed, so a simulation gives the same result each time. */

#ifndef __MMTP_ENTROPY_H__
#define __MMTP_ENTROPY_H__

#include "mmtppacket.h"

G_BEGIN_DECLS

/* Fills `entropy` with pseudorandom bytes that depend only on `seed`. */
void mmtp_entropy_make (guint64 seed, guint8 entropy[MMTP_ENTROPY_SIZE]);

G_END_DECLS

#endif /* __MMTP_ENTROPY_H__ */

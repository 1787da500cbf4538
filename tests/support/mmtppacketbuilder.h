/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes MMTP messages that nobody sent: of any type, well-formed, their values
 * near those of the session that was overheard or far from them, as a source of
 * numbers wants it.
 */

#ifndef __MMTPPACKETBUILDER_H__
#define __MMTPPACKETBUILDER_H__

#include "mmtppacket.h"

G_BEGIN_DECLS

typedef guint32 (*MmtpDraw) (gpointer source);

/* What somebody who overhears a session knows of it */
typedef struct
{
  guint64 numbers[2][MMTP_MAX_PATHS];        /* the highest that was sent, by
                                                 * sender and receiver */
  guint32 sent;
  guint32 stream_number;
  guint32 due;
  guint64 challenge;
  guint64 path_nonce;
  guint8 nonce_s[MMTP_NONCE_SIZE];
  guint8 nonce_r[MMTP_NONCE_SIZE];
  guint8 cookie[MMTP_COOKIE_SIZE];
  guint64 tokens[2];            /* of the messages of sender and receiver */
} MmtpOverheard;

/* Learns from a message that was sent. */
void mmtp_overhear (MmtpOverheard * overheard, const guint8 * bytes,
    gsize size, MmtpRole from);
/* A message that may be written, with a trailer of zero; returns its whole
 * channel number. */
guint64 mmtp_build_message (MmtpMessage * message, MmtpType type, MmtpRole from,
    guint8 path, const MmtpOverheard * overheard, MmtpDraw draw,
    gpointer source);

G_END_DECLS

#endif /* __MMTPPACKETBUILDER_H__ */

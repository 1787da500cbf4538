/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds forged MMTP messages of any type. The messages are well-formed. A
 * random source decides whether their values are close to the values of an
 * observed session or far from them.
 */

#ifndef __MMTPPACKETBUILDER_H__
#define __MMTPPACKETBUILDER_H__

#include "mmtppacket.h"

G_BEGIN_DECLS

typedef guint32 (*MmtpDraw) (gpointer source);

/* What an on-path attacker has learned about a session. */
typedef struct
{
  /* The highest channel numbers (sequence numbers of messages) that the
   * attacker has seen. numbers[0][path] is that of the sender on a path, and
   * numbers[1][path] is that of the receiver. */
  guint64 numbers[2][MMTP_MAX_PATHS];
  guint32 sent;
  guint32 stream_number;
  guint32 due;
  guint64 challenge;
  guint64 path_nonce;
  guint8 nonce_s[MMTP_NONCE_SIZE];
  guint8 nonce_r[MMTP_NONCE_SIZE];
  guint8 cookie[MMTP_COOKIE_SIZE];
  /* The tokens of a session without a key. They are the trailers of its
   * messages: the first token of those of the sender, and the second token of
   * those of the receiver. */
  guint64 tokens[2];
} MmtpOverheard;

/* Stores the values of a message in `overheard`, as an on-path attacker could.
 * `from` is the endpoint that sent the message. */
void mmtp_overhear (MmtpOverheard * overheard, const guint8 * bytes,
    gsize size, MmtpRole from);
/* Fills `message` with values that mmtp_packet_write () can write. The trailer,
 * which authenticates the message, is set to 0. Returns the 64-bit channel
 * number (the sequence number of the message). The message itself contains only
 * its low 16 bits. */
guint64 mmtp_build_message (MmtpMessage * message, MmtpType type, MmtpRole from,
    guint8 path, const MmtpOverheard * overheard, MmtpDraw draw,
    gpointer source);

G_END_DECLS

#endif /* __MMTPPACKETBUILDER_H__ */

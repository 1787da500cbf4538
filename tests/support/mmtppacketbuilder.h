/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds forged MMTP messages of any type for tests. The messages are
 * well-formed. Random numbers decide whether their values are close to the
 * values of an observed session or far from them. */

#ifndef __MMTPPACKETBUILDER_H__
#define __MMTPPACKETBUILDER_H__

#include "mmtppacket.h"

G_BEGIN_DECLS

typedef guint32 (*MmtpDraw) (gpointer source);

/* Returns the name of a message type as docs/wire-mmtp.md writes it. */
const gchar *mmtp_type_get_name (MmtpType type);

/* Data about a session that an on-path attacker has learned. */
typedef struct
{
  /* The highest sequence numbers of messages that the attacker has seen. (MMTP
   * calls them channel numbers.) numbers[0][path] is for messages of the sender
   * on a path, and numbers[1][path] is for messages of the receiver. */
  guint64 numbers[2][MMTP_MAX_PATHS];
  guint32 sent;
  guint32 stream_number;
  guint32 due;
  guint64 challenge;
  guint64 path_nonce;
  guint8 nonce_s[MMTP_NONCE_SIZE];
  guint8 nonce_r[MMTP_NONCE_SIZE];
  guint8 cookie[MMTP_COOKIE_SIZE];
  /* Two secrets of a session without an encryption key. Each message ends with
   * a token, which is its trailer: tokens[0] in messages of the sender, and
   * tokens[1] in messages of the receiver. */
  guint64 tokens[2];
} MmtpOverheard;

/* Stores in `overheard` what an on-path attacker learns from a message. `from`
 * is the endpoint that sent the message. */
void mmtp_overhear (MmtpOverheard * overheard, const guint8 * bytes,
    gsize size, MmtpRole from);
/* Fills `message` with values that mmtp_packet_write () can write. The trailer,
 * which authenticates a message, is set to 0.
 *
 * Each message has a channel number, which is its sequence number. The channel
 * number has 64 bits, but the header of a message contains only the lowest 16
 * of these bits. The function returns the channel number with all 64 bits. */
guint64 mmtp_build_message (MmtpMessage * message, MmtpType type, MmtpRole from,
    guint8 path, const MmtpOverheard * overheard, MmtpDraw draw,
    gpointer source);

G_END_DECLS

#endif /* __MMTPPACKETBUILDER_H__ */

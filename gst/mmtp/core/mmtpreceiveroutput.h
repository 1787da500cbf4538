/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Puts the sending time, the number and the trailer (a MAC or a token) into the
 * messages of the receiver, and keeps each message until the caller fetches it.
 * The number of a message counts the messages on its path.
 */

#pragma once

#include "mmtpreceiverpaths.h"

typedef struct
{
  const MmtpReceiverPaths *paths;
  const MmtpKey *key;
  /* Key or token with which messages to the sender are protected. It is set
   * when the session begins. */
  MmtpDirection ours;
  GQueue messages;
} MmtpReceiverOutput;

void mmtp_receiver_output_init (MmtpReceiverOutput * self,
    const MmtpReceiverPaths * paths, const MmtpKey * key);
void mmtp_receiver_output_clear (MmtpReceiverOutput * self);
/* Queues a handshake message. If a key is set, this function adds an HMAC to
 * the trailer of two kinds of messages:
 * - COOKIE
 * - REFUSE whose reason is MMTP_REFUSE_BUSY or MMTP_REFUSE_OVER. Such a REFUSE
 *   is only sent in answer to an OPEN with a valid MAC. */
void mmtp_receiver_output_add_bare (MmtpReceiverOutput * self,
    MmtpMessage * message, const MmtpAddress * address);
/* Fills in the message's number, sending time and trailer (a MAC or a token),
 * and queues the message. Returns its size in bytes, or 0 if it was not queued.
 */
gsize mmtp_receiver_output_add (MmtpReceiverOutput * self,
    MmtpReceiverPath * path, MmtpMessage * message,
    const MmtpAddress * address);
/* Writes the first waiting message that fits into `room` bytes to `bytes`, and
 * sets `address` to its destination. Returns the size of the message in bytes,
 * or 0 if no message waits. */
gsize mmtp_receiver_output_poll (MmtpReceiverOutput * self,
    MmtpAddress * address, guint8 * bytes, gsize room);

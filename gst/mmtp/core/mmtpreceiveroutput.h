/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The queue of the messages that the receiver sends. The functions put the
 * sending time, the number and the trailer (a MAC or a token) into each
 * message. They keep the message until the caller fetches it. The number is the
 * sequence number of the message on its path.
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
/* Queues a message of the handshake. If a key is set, the function writes an
 * HMAC into the trailer of two kinds of messages:
 * - COOKIE
 * - REFUSE with the reason MMTP_REFUSE_BUSY or MMTP_REFUSE_OVER, which is only
 *   sent in answer to an OPEN with a valid MAC */
void mmtp_receiver_output_add_bare (MmtpReceiverOutput * self,
    MmtpMessage * message, const MmtpAddress * address);
/* Fills in the number, the sending time and the trailer (a MAC or a token) of
 * `message`, and queues the message. Returns the size of the message in bytes,
 * or 0 if it could not be written. */
gsize mmtp_receiver_output_add (MmtpReceiverOutput * self,
    MmtpReceiverPath * path, MmtpMessage * message,
    const MmtpAddress * address);
/* Takes the first message from the queue, writes it to `bytes`, and sets
 * `address` to its destination. A message of more than `room` bytes is dropped,
 * and the next one is taken. Returns the size of the message in bytes, or 0 if
 * the queue is empty. */
gsize mmtp_receiver_output_poll (MmtpReceiverOutput * self,
    MmtpAddress * address, guint8 * bytes, gsize room);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The log of the messages that the sender has sent on one path. Each message
 * has a channel number: the messages of a path are numbered in the order in
 * which they are sent. The log finds the entry of a message by this number. The
 * log also counts the bytes in flight: the bytes of the messages about which
 * the receiver has not reported yet. Times are in ns. Sizes are in bytes and
 * include the IP and UDP headers.
 */

#pragma once

#include <glib.h>

/* value of the field `stream_number` of a sent message that contains no packet
 * of the stream */
#define MMTP_NO_STREAM G_MAXUINT64

/* A sent message. The log sets `time`, `size` and `in_flight`; the path sets
 * all other fields. */
typedef struct
{
  /* Stream number (sequence number in the stream) of the packet that the
   * message contains. MMTP_NO_STREAM if the message contains no packet of the
   * stream, for example because it is a control message. */
  guint64 stream_number;
  guint64 time;
  /* number of bytes in flight right after this message was sent, including the
   * message itself */
  guint64 in_flight;
  guint32 size;
  /* TRUE if the message is a large one: a DATA or PROBE message that has at
   * least half of the mean size of a DATA message. Some paths deliver only
   * small messages. Only a large message shows whether a path delivers packets
   * of the stream. */
  gboolean is_load;
  /* TRUE if the message was sent while the application had too little data to
   * fill the path. The delivery of such a message does not show what rate the
   * path can carry. */
  gboolean is_app_limited;
  /* TRUE if the receiver has reported the message as lost */
  gboolean is_missed;
  /* TRUE if the message was expected to arrive in time, but only shortly before
   * its deadline
   */
  gboolean is_marginal;
  /* Time in ns between the sending of the message and its deadline; MMTP_NEVER
   * if the message is no DATA message. */
  guint64 time_left;
  /* Time in ns at which the message is expected to arrive, on the sender's
   * clock; MMTP_NEVER if unknown. */
  guint64 expected;
} MmtpSent;

typedef struct
{
  guint64 next;                 /* number of the next message */
  /* Channel number of the oldest message in flight; `next` if there is none.
   * All messages with a lower number have arrived or are considered lost,
   * according to the reports of the receiver. */
  guint64 unreported;
  guint64 kept;                 /* lowest number in the ring */
  MmtpSent *ring;
  guint ring_size;              /* a power of two, or 0 */
  /* Number of bytes in flight: the total size of the messages about which the
   * receiver has not reported yet. Each of these messages has a channel number
   * that is at least `unreported`. */
  guint64 in_flight;
} MmtpSentLog;

/* Frees the memory of the log. A log must be filled with zeros before its first
 * use. */
void mmtp_sent_log_clear (MmtpSentLog * log);
/* Creates the log entry of a message of `size` bytes that is about to be sent.
 * The channel number of this message is the field `next` of the log. Returns
 * the entry, so that the caller can fill in the other fields. The message
 * counts as in flight immediately, but mmtp_sent_log_get() finds its entry only
 * after mmtp_sent_log_commit() was called. */
MmtpSent *mmtp_sent_log_begin (MmtpSentLog * log, guint64 now, guint32 size);
void mmtp_sent_log_commit (MmtpSentLog * log);
/* Returns the entry of the message that has the channel number `number`.
 * Returns NULL if this message was not sent yet, or if its entry was removed
 * from the log. */
MmtpSent *mmtp_sent_log_get (const MmtpSentLog * log, guint64 number);
/* A report contains only the low 16 bits of the number of a message. Finds the
 * message whose number has the low 16 bits `low`, and sets `number` to the full
 * number. Returns NULL if the log has no entry of this message. */
const MmtpSent *mmtp_sent_log_find (const MmtpSentLog * log, guint16 low,
    guint64 * number);
/* The messages of a path have channel numbers, in the order in which they are
 * sent. Returns the channel number of the oldest message about which the
 * receiver has not reported yet, either as arrived or as lost. */
guint64 mmtp_sent_log_get_oldest (const MmtpSentLog * log);
/* Removes the entries of messages that were sent before `time` and about which
 * the receiver has reported. */
void mmtp_sent_log_forget (MmtpSentLog * log, guint64 time);

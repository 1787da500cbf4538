/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The log of the messages that were sent on a path. Each message is stored
 * under its channel number, which counts the messages of the path. The log also
 * counts the bytes in flight. Times are in ns. Sizes are in bytes and include
 * the IP and UDP headers.
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
  /* Number of the stream packet in the message. MMTP_NO_STREAM if the message
   * has no packet of the stream. */
  guint64 stream_number;
  guint64 time;
  /* bytes in flight right after this message was sent */
  guint64 in_flight;
  guint32 size;
  /* TRUE if the message is a DATA or PROBE that is at least half as large as a
   * usual DATA message */
  gboolean is_load;
  /* TRUE if the stream had no other packet to send after this message */
  gboolean is_app_limited;
  gboolean is_missed;           /* TRUE if the message was reported as lost */
  /* TRUE if the expected arrival time of the message was shortly before its
   * deadline
   */
  gboolean is_marginal;
  /* Time that was left until the deadline when the message was sent; MMTP_NEVER
   * if the message is no DATA message. */
  guint64 time_left;
  /* Time at which the message is expected to arrive, on the sender's clock;
   * MMTP_NEVER if unknown. */
  guint64 expected;
  /* Predicted time at which the last byte of the message leaves the bottleneck
   * of the path. */
  guint64 finish;
} MmtpSent;

typedef struct
{
  guint64 next;                 /* number of the next message */
  /* Messages with a number below `unreported` are no longer in flight: they
   * have arrived or are considered lost, according to the reports of the
   * receiver. */
  guint64 unreported;
  guint64 kept;                 /* lowest number in the ring */
  MmtpSent *ring;
  guint ring_size;              /* a power of two, or 0 */
  /* Number of bytes in flight. A message is in flight if its number is at least
   * `unreported`. */
  guint64 in_flight;
} MmtpSentLog;

/* Frees the memory of the log. Before its first use, a log is all zeros. */
void mmtp_sent_log_clear (MmtpSentLog * log);
/* Creates the entry of a message of `size` bytes. The number of this message is
 * `next`. Returns the entry, so that the caller can fill in the other fields.
 * The message immediately counts as in flight. mmtp_sent_log_get() cannot find
 * the entry until mmtp_sent_log_commit() is called. */
MmtpSent *mmtp_sent_log_begin (MmtpSentLog * log, guint64 now, guint32 size);
void mmtp_sent_log_commit (MmtpSentLog * log);
/* Returns the entry of a message. Returns NULL if the message was not sent yet,
 * or if its entry was removed from the log. */
MmtpSent *mmtp_sent_log_get (const MmtpSentLog * log, guint64 number);
/* Finds a message by the low 16 bits of its number, which a report contains.
 * Sets `number` to the full number. */
const MmtpSent *mmtp_sent_log_find (const MmtpSentLog * log, guint16 low,
    guint64 * number);
/* Returns the number of the oldest message in the log about which the receiver
 * has not reported yet. No report says that this message has arrived or is
 * lost. */
guint64 mmtp_sent_log_get_oldest (const MmtpSentLog * log);
/* Removes the entries of messages that were sent before `time` and about which
 * the receiver has reported. */
void mmtp_sent_log_forget (MmtpSentLog * log, guint64 time);

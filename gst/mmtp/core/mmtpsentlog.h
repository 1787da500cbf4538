/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The messages that were sent on a path, by their number, and which of them are
 * in flight. Times are ns, sizes bytes with IP and UDP.
 */

#pragma once

#include <glib.h>

#define MMTP_NO_STREAM G_MAXUINT64      /* a message that carries no packet */

/* The log sets time, size and in_flight, and the path sets all else. */
typedef struct
{
  guint64 stream_number;        /* or MMTP_NO_STREAM */
  guint64 time;
  guint64 in_flight;            /* right after it was sent */
  guint32 size;
  gboolean is_load;             /* DATA or PROBE, and not short */
  gboolean is_app_limited;      /* nothing more waited when it was sent */
  gboolean is_missed;           /* reported as lost */
  gboolean is_marginal;         /* it was expected shortly before its
                                 * deadline */
  guint64 time_left;            /* to its deadline, when it was sent;
                                 * MMTP_NEVER: no DATA */
  guint64 expected;             /* to arrive, by our clock; MMTP_NEVER */
  guint64 finish;               /* predicted: its last byte leaves the path's
                                 * bottleneck */
} MmtpSent;

typedef struct
{
  guint64 next;                 /* number of the next message */
  guint64 unreported;           /* all below are reported */
  guint64 kept;                 /* oldest that the ring knows */
  MmtpSent *ring;
  guint ring_size;              /* a power of two, or 0 */
  guint64 in_flight;            /* of all from unreported on */
} MmtpSentLog;

/* It is all zero at the beginning; this frees what it has. */
void mmtp_sent_log_clear (MmtpSentLog * log);
/* The message with the number `next`, to be filled in. It is in flight at once,
 * and has its number after the commit. */
MmtpSent *mmtp_sent_log_begin (MmtpSentLog * log, guint64 now, guint32 size);
void mmtp_sent_log_commit (MmtpSentLog * log);
/* NULL: not sent yet, or too long ago */
MmtpSent *mmtp_sent_log_get (const MmtpSentLog * log, guint64 number);
/* The same of a reported number, of which `low` is the low 16 bits */
const MmtpSent *mmtp_sent_log_find (const MmtpSentLog * log, guint16 low,
    guint64 * number);
/* Number of the oldest message that is kept and not reported */
guint64 mmtp_sent_log_get_oldest (const MmtpSentLog * log);
/* Forgets reported messages that were sent before `time`. */
void mmtp_sent_log_forget (MmtpSentLog * log, guint64 time);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When a channel of a sender is opened, given up, and tried again. It knows no
 * sockets: the caller opens and closes, reports what happens, and asks what to do
 * next. Its name may have several addresses at some of which nobody answers.
 *
 *   mmtp_retry_init (&retry);
 *   switch (mmtp_retry_get_action (&retry, now, n_addresses)) ...
 *   wait until mmtp_retry_get_wakeup (&retry, n_addresses)
 *
 * Times are ns on the caller's clock.
 */

#pragma once

#include <glib.h>

typedef enum
{
  MMTP_RETRY_NOTHING,
  MMTP_RETRY_OPEN,              /* it is closed: open it. */
  MMTP_RETRY_REOPEN,            /* its path carries shorter packets now: close
                                 * it and open it again. */
  MMTP_RETRY_NEXT_ADDRESS,      /* the same, since this address does not answer;
                                 * `address` is the next one already. */
  MMTP_RETRY_CLOSE              /* its path has gone: close it, and report that
                                 * as a failure. */
} MmtpRetryAction;

typedef struct
{
  gboolean is_open;
  guint address;                /* which address of its name is tried */
  gboolean is_there;            /* its network interface exists. */

  /* While it is open */
  gboolean has_gone;            /* a packet failed: the path has gone, */
  gboolean is_too_long;         /* or carries shorter packets only. */
  gboolean is_refused;          /* nobody listened when it was asked last. */
  gboolean was_heard;           /* a message arrived. */
  guint64 heard_at;             /* of the last message, or when it was opened */
  guint64 asked_at;             /* of the first message sent; 0: none was sent. */
  guint64 timeout;             /* for an answer, before the next address */

  /* While it is closed */
  guint64 retry_at;
  guint64 pause;                /* before the next attempt */
} MmtpRetry;

void mmtp_retry_init (MmtpRetry * retry);

/* What happened to it */
void mmtp_retry_note_open (MmtpRetry * retry, guint64 now);
void mmtp_retry_note_closed (MmtpRetry * retry);
/* It could not be opened, or has gone. */
void mmtp_retry_note_failure (MmtpRetry * retry, guint64 now);
void mmtp_retry_note_sent (MmtpRetry * retry, guint64 now);
void mmtp_retry_note_heard (MmtpRetry * retry, guint64 now);
void mmtp_retry_note_refused (MmtpRetry * retry);
void mmtp_retry_note_gone (MmtpRetry * retry, gboolean is_too_long);
/* Whether its interface exists. CLOSE: it went down just now */
MmtpRetryAction mmtp_retry_note_interface (MmtpRetry * retry,
    gboolean is_there);

/* What to do now. n_addresses: that its name has, and that it can reach */
MmtpRetryAction mmtp_retry_get_action (MmtpRetry * retry, guint64 now,
    guint n_addresses);
/* When to ask that again; G_MAXUINT64: when something has happened */
guint64 mmtp_retry_get_wakeup (const MmtpRetry * retry, guint n_addresses);
/* FALSE: the address is the last one of its name. */
gboolean mmtp_retry_take_next_address (MmtpRetry * retry, guint n_addresses);
/* Nobody listens there. A refusal is not authenticated, so while a session is
 * ready only one that silence confirms is believed. */
gboolean mmtp_retry_is_refused (const MmtpRetry * retry, guint64 now,
    gboolean is_ready);

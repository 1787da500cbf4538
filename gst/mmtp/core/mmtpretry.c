/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decides when a path of the sender is opened, closed and tried again. */

#include "mmtpretry.h"

#define SECOND G_GUINT64_CONSTANT (1000000000)

/* Minimum and maximum pause in ns between two attempts to open a path. The
 * pause starts at the minimum and is doubled after each attempt that fails. */
#define MIN_PAUSE (SECOND / 2)
#define MAX_PAUSE (5 * SECOND)
/* Time without an answer after which the next address is tried. RFC 8305 uses
 * such a time between connection attempts. The 250 ms of RFC 8305 would be too
 * short here, because only one attempt is made at a time, and slow paths have
 * longer round trips. When all addresses have been tried, the time is doubled,
 * so that it becomes long enough for every address. */
#define MIN_TIMEOUT (1 * SECOND)
#define MAX_TIMEOUT (8 * SECOND)
/* ICMP errors are not authenticated. During a session, an ICMP error therefore
 * counts only if no message has arrived on the path for this time (ns). */
#define SILENCE (1 * SECOND)

void
mmtp_retry_init (MmtpRetry * retry)
{
  *retry = (MmtpRetry) {
  .pause = MIN_PAUSE,.timeout = MIN_TIMEOUT};
}

/* --- events of the path --------------------------------------------------- */

void
mmtp_retry_note_open (MmtpRetry * retry, guint64 now)
{
  retry->is_open = TRUE;
  retry->is_refused = FALSE;
  retry->was_heard = FALSE;
  retry->asked_at = 0;
  retry->heard_at = now;
}

void
mmtp_retry_note_closed (MmtpRetry * retry)
{
  retry->is_open = FALSE;
  retry->has_gone = FALSE;
}

void
mmtp_retry_note_failure (MmtpRetry * retry, guint64 now)
{
  retry->address = 0;
  retry->retry_at = now + retry->pause;
  retry->pause = MIN (2 * retry->pause, MAX_PAUSE);
}

void
mmtp_retry_note_sent (MmtpRetry * retry, guint64 now)
{
  if (retry->asked_at == 0)
    retry->asked_at = now;
}

void
mmtp_retry_note_heard (MmtpRetry * retry, guint64 now)
{
  retry->is_refused = FALSE;
  retry->was_heard = TRUE;
  retry->heard_at = now;
}

void
mmtp_retry_note_refused (MmtpRetry * retry)
{
  retry->is_refused = TRUE;
}

void
mmtp_retry_note_gone (MmtpRetry * retry, gboolean is_too_long)
{
  retry->has_gone = TRUE;
  retry->is_too_long = is_too_long;
}

MmtpRetryAction
mmtp_retry_note_interface (MmtpRetry * retry, gboolean is_there)
{
  const gboolean was_there = retry->is_there;

  retry->is_there = is_there;
  if (was_there && !is_there && retry->is_open)
    return MMTP_RETRY_CLOSE;
  if (!was_there && is_there && !retry->is_open) {
    retry->pause = MIN_PAUSE;
    retry->retry_at = 0;
  }
  return MMTP_RETRY_NOTHING;
}

/* --- what to do next ------------------------------------------------------ */

gboolean
mmtp_retry_take_next_address (MmtpRetry * retry, guint n_addresses)
{
  if (retry->address + 1 >= n_addresses)
    return FALSE;
  retry->address++;
  return TRUE;
}

/* Selects the next address of the host name. After the last address, the first
 * address is used again, and the time to wait for an answer is doubled. */
static void
go_round (MmtpRetry * retry, guint n_addresses)
{
  if (mmtp_retry_take_next_address (retry, n_addresses))
    return;
  retry->address = 0;
  retry->timeout = MIN (2 * retry->timeout, MAX_TIMEOUT);
}

/* Returns the time at which the next address will be tried. Returns G_MAXUINT64
 * if the current address has answered, or if there is no other address. */
static guint64
get_timeout (const MmtpRetry * retry, guint n_addresses)
{
  if (!retry->is_open || retry->was_heard || retry->asked_at == 0
      || (retry->address == 0 && n_addresses < 2))
    return G_MAXUINT64;
  return retry->asked_at + retry->timeout;
}

MmtpRetryAction
mmtp_retry_get_action (MmtpRetry * retry, guint64 now, guint n_addresses)
{
  if (!retry->is_open)
    return retry->retry_at <= now ? MMTP_RETRY_OPEN : MMTP_RETRY_NOTHING;
  if (retry->has_gone)
    return retry->is_too_long ? MMTP_RETRY_REOPEN : MMTP_RETRY_CLOSE;
  if (retry->is_refused && !retry->was_heard
      && mmtp_retry_take_next_address (retry, n_addresses))
    return MMTP_RETRY_NEXT_ADDRESS;
  if (get_timeout (retry, n_addresses) > now)
    return MMTP_RETRY_NOTHING;
  go_round (retry, n_addresses);
  return MMTP_RETRY_NEXT_ADDRESS;
}

guint64
mmtp_retry_next_wakeup (const MmtpRetry * retry, guint n_addresses)
{
  if (!retry->is_open)
    return retry->retry_at;
  if (retry->has_gone)
    return 0;
  return get_timeout (retry, n_addresses);
}

gboolean
mmtp_retry_is_refused (const MmtpRetry * retry, guint64 now, gboolean is_ready)
{
  return retry->is_refused && !(is_ready && now < retry->heard_at + SILENCE);
}

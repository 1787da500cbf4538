/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decides when a path of the sender is opened, closed and tried again. The
 * module has no sockets: the caller opens and closes the socket, reports what
 * happens, and asks what to do next. The host name of a path may have
 * several addresses, and it is possible that some of them never answer.
 *
 *     mmtp_retry_init (&retry);
 *     switch (mmtp_retry_get_action (&retry, now, n_addresses)) ...
 *     wait until mmtp_retry_next_wakeup (&retry, n_addresses)
 *
 * Times are in ns on the caller's clock.
 */

#pragma once

#include <glib.h>

typedef enum
{
  MMTP_RETRY_NOTHING,
  /* The path is closed, and it is time for the next attempt to open it. The
   * caller has to open the path. */
  MMTP_RETRY_OPEN,
  /* The MTU of the route has become smaller. The caller has to close the path
   * and open it again, so that packets get the new maximum size. */
  MMTP_RETRY_REOPEN,
  /* The address to which the path sends does not answer. The caller has to
   * close the path and open it again. The field `address` already contains the
   * index of the next address, which the path then uses. */
  MMTP_RETRY_NEXT_ADDRESS,
  /* The route of the path has disappeared. The caller has to close the path,
   * and to report a failure with mmtp_retry_note_failure(). */
  MMTP_RETRY_CLOSE
} MmtpRetryAction;

typedef struct
{
  gboolean is_open;
  /* index of the address to which the path sends; the receiver's host name may
   * have several addresses */
  guint address;
  gboolean is_there;            /* The path's network interface exists. */

  /* The fields below are valid only while the path is open. */
  /* TRUE if a packet could not be sent because the path's route does not exist
   * any more or has a smaller MTU */
  gboolean has_gone;
  /* TRUE if a packet was too long to be sent, because the path's route now has
   * a smaller MTU. In this case, `has_gone` is TRUE as well. */
  gboolean is_too_long;
  /* TRUE if the last answer was an ICMP error, and not a message. The error
   * says that no receiver listens at the address. */
  gboolean is_refused;
  gboolean was_heard;           /* A message has arrived. */
  /* Time in ns at which the last message of the receiver arrived on the path.
   * If none has arrived since the path was opened, it is the time at which the
   * path was opened. */
  guint64 heard_at;
  /* Time in ns at which the first message was sent on the path after it was
   * opened; 0 if none was sent. */
  guint64 asked_at;
  /* time in ns for which the path waits for an answer before the next address
   * is tried */
  guint64 timeout;

  /* The fields below are valid only while the path is closed. */
  guint64 retry_at;
  guint64 pause;                /* time until the next attempt */
} MmtpRetry;

void mmtp_retry_init (MmtpRetry * retry);

/* The caller reports events of the path with the functions whose names begin
 * with mmtp_retry_note_. */
void mmtp_retry_note_open (MmtpRetry * retry, guint64 now);
void mmtp_retry_note_closed (MmtpRetry * retry);
/* Call this function after the path could not be opened, or after its route has
 * disappeared. */
void mmtp_retry_note_failure (MmtpRetry * retry, guint64 now);
void mmtp_retry_note_sent (MmtpRetry * retry, guint64 now);
void mmtp_retry_note_heard (MmtpRetry * retry, guint64 now);
void mmtp_retry_note_refused (MmtpRetry * retry);
void mmtp_retry_note_gone (MmtpRetry * retry, gboolean is_too_long);
/* Records whether the path's interface exists (`is_there`). If the path is open
 * and the interface has just disappeared, returns MMTP_RETRY_CLOSE, because the
 * caller has to close the path. Otherwise returns MMTP_RETRY_NOTHING. */
MmtpRetryAction mmtp_retry_note_interface (MmtpRetry * retry,
    gboolean is_there);

/* Returns what the caller has to do with the path now. `n_addresses` is the
 * number of addresses of the receiver's host name that the path can reach. */
MmtpRetryAction mmtp_retry_get_action (MmtpRetry * retry, guint64 now,
    guint n_addresses);
/* Returns the time in ns at which mmtp_retry_get_action() has to be called
 * again. Returns G_MAXUINT64 if it need not be called before the next event of
 * the path. */
guint64 mmtp_retry_next_wakeup (const MmtpRetry * retry, guint n_addresses);
/* Selects the next address of the receiver's host name and returns TRUE. If the
 * current address is the last of the `n_addresses` addresses, keeps it and
 * returns FALSE. */
gboolean mmtp_retry_take_next_address (MmtpRetry * retry, guint n_addresses);
/* Returns whether the address refuses packets: the last answer was an ICMP
 * error, which says that no receiver listens there. ICMP errors are not
 * authenticated. During a session (`is_ready` is TRUE), an ICMP error is
 * therefore ignored if a message of the receiver has arrived on the path in the
 * last second. */
gboolean mmtp_retry_is_refused (const MmtpRetry * retry, guint64 now,
    gboolean is_ready);

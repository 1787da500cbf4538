/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decides whether a path delivers packets of the stream.
 *
 * Some paths deliver all small control messages but no large messages. The
 * measurements of such a path look perfect. To find out whether a path
 * delivers, the sender therefore counts only large messages: messages that are
 * at least half as large as a usual packet of the stream.
 *
 * An MmtpLargeLosses must be filled with zeros before its first use. */

#pragma once

#include <glib.h>

typedef struct
{
  /* numbers of large messages that were reported recently, and of the lost
   * messages among them */
  guint judged, lost;
  /* time in ns at which the numbers were halved last, or at which the first
   * report arrived; 0 if there was none */
  guint64 since;
} MmtpLargeLosses;

/* Called for each report, before its messages are counted. Halves the numbers
 * if they have become large, so that older messages count less. */
void mmtp_large_losses_begin_report (MmtpLargeLosses * losses, guint64 now);
/* Forgets all messages. Only those that are reported from now on count. */
void mmtp_large_losses_clear (MmtpLargeLosses * losses);
/* Counts a large message about which the receiver has reported, whether it has
 * arrived or not, and counts a lost one. A lost message is counted in both
 * ways, in any order. */
void mmtp_large_losses_add_judged (MmtpLargeLosses * losses);
void mmtp_large_losses_add_lost (MmtpLargeLosses * losses);
/* Returns FALSE if most of the large messages were lost. */
gboolean mmtp_large_losses_are_few (const MmtpLargeLosses * losses);

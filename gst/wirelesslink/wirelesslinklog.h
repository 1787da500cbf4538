/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What wirelesslink writes: the log of the fates of its packets, for people and
 * awk, and the pattern that replays them. Lines are kept and written in larger
 * pieces, at the latest when a second of link time has passed since.
 */

#pragma once

#include "link.h"

typedef struct _WirelessLinkLog WirelessLinkLog;

/* Files to write, each may be NULL; "-" is standard output. NULL with an error
 * of G_FILE_ERROR that names the file. */
WirelessLinkLog *wireless_link_log_new (const gchar * location,
    const gchar * pattern, guint64 seed, GError ** error);
/* Flushes before. */
void wireless_link_log_free (WirelessLinkLog * log);
/* FALSE with an error where a file can't be written; it ends there. */
gboolean wireless_link_log_event (WirelessLinkLog * log,
    const LinkEvent * event, GError ** error);
gboolean wireless_link_log_flush (WirelessLinkLog * log, GError ** error);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The files that wirelesslink writes: the log with the fate of each packet,
 * readable for people and awk, and the pattern that replays a run. Lines are
 * collected and written together, at the latest after one second of link time.
 */

#pragma once

#include "link.h"

typedef struct _WirelessLinkLog WirelessLinkLog;

/* Opens the files. `location` is the name of the log file, and `pattern` is the
 * name of the pattern file. NULL means no file, and "-" means standard output.
 * If a file cannot be opened, returns NULL. The error then names the file and
 * has the domain G_FILE_ERROR. */
WirelessLinkLog *wireless_link_log_new (const gchar * location,
    const gchar * pattern, guint64 seed, GError ** error);
/* Writes the remaining lines and closes the files. */
void wireless_link_log_free (WirelessLinkLog * log);
/* Adds an event to the log and to the pattern. Returns FALSE with `error` set
 * if a file could not be written; nothing more is written to this file. */
gboolean wireless_link_log_event (WirelessLinkLog * log,
    const LinkEvent * event, GError ** error);
gboolean wireless_link_log_flush (WirelessLinkLog * log, GError ** error);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes two text files for the element wirelesslink. The log file contains the
 * fate of each packet. The pattern file contains the random events of each
 * packet, such as its loss, and a later run can replay these events.
 *
 * New lines are first kept in two buffers, one for each file. When an event
 * arrives, both buffers are written to the files in two cases: 1 s of link time
 * has passed since they were last written, or one of them has reached 32
 * KiB. */

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
/* Adds an event to the log file. If the event is the fate of a packet, also
 * adds it to the pattern file. If a file cannot be written, returns FALSE with
 * `error` set, and writes nothing more to this file. */
gboolean wireless_link_log_event (WirelessLinkLog * log,
    const LinkEvent * event, GError ** error);
gboolean wireless_link_log_flush (WirelessLinkLog * log, GError ** error);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reports checks that cannot run on this system. tests/summary.py counts these
 * reports. */

#ifndef __SKIPPED_H__
#define __SKIPPED_H__

#include <glib.h>

/* Prints that the check `check` is skipped, completely or in part, and why.
 * Only the first call prints. This is sufficient, because each check runs in a
 * process of its own. */
void G_GNUC_PRINTF (2, 3) say_skipped (const gchar * check,
    const gchar * format, ...);

#endif /* __SKIPPED_H__ */

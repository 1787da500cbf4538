/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reports checks that cannot run on this system. tests/summary.py counts these
 * reports. */

#ifndef __SKIPPED_H__
#define __SKIPPED_H__

#include <glib.h>

/* Prints why this check, or a part of it, is skipped. It prints only once in a
 * process, and each check has its own process. */
void G_GNUC_PRINTF (2, 3) say_skipped (const gchar * check,
    const gchar * format, ...);

#endif /* __SKIPPED_H__ */

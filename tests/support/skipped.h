/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks that can't run here: tests/summary.py counts what they say. */

#ifndef __SKIPPED_H__
#define __SKIPPED_H__

#include <glib.h>

/* Says why this check, or part of it, does not run here; the first time, as each
 * check has a process of its own. */
void G_GNUC_PRINTF (2, 3) say_skipped (const gchar * check,
    const gchar * format, ...);

#endif /* __SKIPPED_H__ */

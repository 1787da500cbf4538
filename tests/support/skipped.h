/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks that can't run here: tests/summary.py counts what they say. */

#ifndef __SKIPPED_H__
#define __SKIPPED_H__

#include <glib.h>

/* Says why this check, or part of it, does not run here; the first time, as each
 * check has a process of its own. */
static inline void G_GNUC_PRINTF (2, 3)
say_skipped (const gchar * check, const gchar * format, ...)
{
  static gboolean said = FALSE;
  va_list arguments;
  gchar *reason;

  if (said)
    return;
  said = TRUE;
  va_start (arguments, format);
  reason = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_print ("%s: skipped, %s\n", check, reason);
  g_free (reason);
}

#endif /* __SKIPPED_H__ */

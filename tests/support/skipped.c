/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "skipped.h"

void
G_GNUC_PRINTF (2, 3)
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

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of gsttrace.h: writes the trace lines of a protocol
 * implementation to the log of the element that uses it. */

#include "gsttrace.h"

void
gst_wireless_trace (GstDebugCategory * category, gpointer element,
    gboolean is_packet, const gchar * format, va_list args)
{
  const GstDebugLevel level = is_packet ? GST_LEVEL_LOG : GST_LEVEL_DEBUG;

  if (level <= gst_debug_category_get_threshold (category))
    gst_debug_log_valist (category, level, __FILE__, GST_FUNCTION, __LINE__,
        element, format, args);
}

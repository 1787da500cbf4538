/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Registers the elements udplitesink and udplitesrc. */

#include "config.h"

#include <gst/gst.h>

GST_ELEMENT_REGISTER_DECLARE (udplitesink);
GST_ELEMENT_REGISTER_DECLARE (udplitesrc);

static gboolean
plugin_init (GstPlugin * plugin)
{
  return GST_ELEMENT_REGISTER (udplitesink, plugin)
      && GST_ELEMENT_REGISTER (udplitesrc, plugin);
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, udplite,
    "Delivers the damaged packet, protects the bytes that matter (UDP-Lite)",
    plugin_init, VERSION, GST_LICENSE, GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)

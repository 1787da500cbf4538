/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Registers the element wirelesslink. */

#include "config.h"

#include <gst/gst.h>

GST_ELEMENT_REGISTER_DECLARE (wirelesslink);

static gboolean
plugin_init (GstPlugin * plugin)
{
  return GST_ELEMENT_REGISTER (wirelesslink, plugin);
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, wirelesslink,
    "Emulation of a bad link, or of a radio medium that several stations "
    "share", plugin_init,
    VERSION, GST_LICENSE, GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)

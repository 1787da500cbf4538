/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Registers the elements tunsrc and tunsink. */

#include "config.h"

#include <gst/gst.h>

GST_ELEMENT_REGISTER_DECLARE (tunsink);
GST_ELEMENT_REGISTER_DECLARE (tunsrc);

static gboolean
plugin_init (GstPlugin * plugin)
{
  gboolean registered = FALSE;

  registered |= GST_ELEMENT_REGISTER (tunsrc, plugin);
  registered |= GST_ELEMENT_REGISTER (tunsink, plugin);
  return registered;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, tun,
    "IP packets of a TUN device as buffers", plugin_init,
    VERSION, GST_LICENSE, GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Registers the element bitrateadapt. */

#include "config.h"

#include "gstbitrateadapt.h"

static gboolean
plugin_init (GstPlugin * plugin)
{
  return GST_ELEMENT_REGISTER (bitrateadapt, plugin);
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, bitrateadapt,
    "Encoder bitrate that follows the network", plugin_init,
    VERSION, GST_LICENSE, GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)

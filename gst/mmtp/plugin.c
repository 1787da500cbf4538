/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Registers the elements mmtpsink and mmtpsrc. */

#include "config.h"

#include <gst/gst.h>

GST_ELEMENT_REGISTER_DECLARE (mmtpsink);
GST_ELEMENT_REGISTER_DECLARE (mmtpsrc);

static gboolean
plugin_init (GstPlugin * plugin)
{
  return GST_ELEMENT_REGISTER (mmtpsink, plugin)
      && GST_ELEMENT_REGISTER (mmtpsrc, plugin);
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, mmtp,
    "One stream over several unequal network paths, in time (Multimedia "
    "Multiplexing Transport Protocol)",
    plugin_init, VERSION, GST_LICENSE, GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Registers ifdqueue and ifdsink. */

#include "config.h"

#include "gstifdqueue.h"

GST_ELEMENT_REGISTER_DECLARE (ifdsink);

static gboolean
plugin_init (GstPlugin * plugin)
{
  return GST_ELEMENT_REGISTER (ifdqueue, plugin)
      && GST_ELEMENT_REGISTER (ifdsink, plugin);
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, ifd,
    "Drops B-frames first and I-frames last where a network is too slow "
    "(I-Frame Delay)", plugin_init, VERSION, GST_LICENSE, GST_PACKAGE_NAME,
    GST_PACKAGE_ORIGIN)

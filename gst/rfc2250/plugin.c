/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Registers the RFC 2250 elements. */

#include "config.h"

#include <gst/gst.h>

GST_ELEMENT_REGISTER_DECLARE (rfc2250depay);
GST_ELEMENT_REGISTER_DECLARE (rfc2250pay);

static gboolean
plugin_init (GstPlugin * plugin)
{
  gboolean ret = FALSE;

  ret |= GST_ELEMENT_REGISTER (rfc2250pay, plugin);
  ret |= GST_ELEMENT_REGISTER (rfc2250depay, plugin);
  return ret;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR,
    GST_VERSION_MINOR,
    rfc2250,
    "RTP for MPEG-1/2 video (RFC 2250)",
    plugin_init, VERSION, GST_LICENSE, GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Registers the elements dccpthinsink and dccpthinsrc. Registers each of them a
 * second time, under the names dcctpthinsink and dcctpthinsrc. */

#include "config.h"

#include <gst/gst.h>

GST_ELEMENT_REGISTER_DECLARE (dcctpthinsink);
GST_ELEMENT_REGISTER_DECLARE (dccpthinsink);
GST_ELEMENT_REGISTER_DECLARE (dcctpthinsrc);
GST_ELEMENT_REGISTER_DECLARE (dccpthinsrc);

static gboolean
plugin_init (GstPlugin * plugin)
{
  return GST_ELEMENT_REGISTER (dcctpthinsink, plugin)
      && GST_ELEMENT_REGISTER (dcctpthinsrc, plugin)
      && GST_ELEMENT_REGISTER (dccpthinsink, plugin)
      && GST_ELEMENT_REGISTER (dccpthinsrc, plugin);
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, dccpthin,
    "DCCP with CCID 3-Thin in user space",
    plugin_init, VERSION, GST_LICENSE, GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)

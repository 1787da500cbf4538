/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The algorithms of ifd.h as an enumeration; see the header. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstifdalgorithm.h"

GType
gst_ifd_algorithm_get_type (void)
{
  static const GEnumValue values[] = {
    {IFD_ALGORITHM_PAPER, "As figure 1.1: an I-frame takes the place of any, "
          "a P of a B", "paper"},
    {IFD_ALGORITHM_PAPER_GOP, "As figures 1.2 and 1.3: without what refers to "
          "a lost frame", "paper-gop"},
    {IFD_ALGORITHM_GOP, "The same mended, with several frames to choose from",
        "gop"},
    {0, NULL, NULL}
  };
  static gsize type = 0;

  if (g_once_init_enter (&type)) {
    GType new_type = g_enum_register_static ("GstIfdAlgorithm", values);

    gst_type_mark_as_plugin_api (new_type, 0);
    g_once_init_leave (&type, new_type);
  }
  return type;
}

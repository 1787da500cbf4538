/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element tunsrc; what it does and why is in gsttunsrc.c. */

#pragma once

#include <gst/base/gstpushsrc.h>
#include <gst/gst.h>

#define GST_TYPE_TUN_SRC (gst_tun_src_get_type ())
G_DECLARE_FINAL_TYPE (GstTunSrc, gst_tun_src, GST, TUN_SRC, GstPushSrc)

GST_ELEMENT_REGISTER_DECLARE (tunsrc)

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element tunsrc; what it does and why is in gsttunsrc.c. */

#ifndef __GST_TUN_SRC_H__
#define __GST_TUN_SRC_H__

#include <gst/base/gstpushsrc.h>
#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_TUN_SRC (gst_tun_src_get_type ())
G_DECLARE_FINAL_TYPE (GstTunSrc, gst_tun_src, GST, TUN_SRC, GstPushSrc)

GST_ELEMENT_REGISTER_DECLARE (tunsrc)

G_END_DECLS

#endif /* __GST_TUN_SRC_H__ */

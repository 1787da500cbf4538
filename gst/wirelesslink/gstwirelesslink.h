/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element wirelesslink; what it does and why is in gstwirelesslink.c. */

#pragma once

#include <gst/gst.h>

#define GST_TYPE_WIRELESS_LINK (gst_wireless_link_get_type ())
G_DECLARE_FINAL_TYPE (GstWirelessLink, gst_wireless_link, GST, WIRELESS_LINK,
    GstElement)

GST_ELEMENT_REGISTER_DECLARE (wirelesslink)

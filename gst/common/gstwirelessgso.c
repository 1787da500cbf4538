/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of gstwirelessgso.h */

#include "gstwirelessgso.h"

/* *INDENT-OFF* */
GST_WIRELESS_DEFINE_ENUM (gst_wireless_gso, "GstWirelessGso",
    {GST_WIRELESS_GSO_AUTO, "Packets of the same size are passed to the kernel "
        "as one message if the kernel and the device support this", "auto"},
    {GST_WIRELESS_GSO_OFF, "Each packet is passed to the kernel by itself",
        "off"})
/* *INDENT-ON* */

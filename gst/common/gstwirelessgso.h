/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The property `gso`, which enables generic segmentation offload. It belongs to
 * the sinks that send UDP packets through a DatagramSocket
 * (net/datagramsocket.h). */

#pragma once

#include "gstwirelessproperties.h"

typedef enum
{
  GST_WIRELESS_GSO_AUTO,
  GST_WIRELESS_GSO_OFF
} GstWirelessGso;

GType gst_wireless_gso_get_type (void);

/* An entry of a table of properties (gstwirelessproperties.h) that defines the
 * property `gso`. The value is stored in the struct member `member`, a gint. */
#define PROPERTY_GSO(member) \
  PROPERTY_ENUM ("gso", "GSO", \
      "Whether packets of the same size are passed to the kernel as one " \
      "message (generic segmentation offload), which takes less CPU time", \
      PROPERTY_READY | PROPERTY_URI, member, gst_wireless_gso_get_type, \
      GST_WIRELESS_GSO_AUTO)

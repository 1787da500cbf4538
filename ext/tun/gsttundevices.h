/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The TUN devices that a pipeline has open. A device can be opened once, but a
 * tunsrc reads and a tunsink writes the same one: they share this table, which
 * travels as GstContext.
 */

#pragma once

#include <gst/gst.h>

#include "tundevice.h"

/* Its structure has one field, `devices`, of GST_TYPE_TUN_DEVICES. */
#define GST_TUN_DEVICES_CONTEXT_TYPE "gst.wireless.tun-devices"

#define GST_TYPE_TUN_DEVICES (gst_tun_devices_get_type ())
G_DECLARE_FINAL_TYPE (GstTunDevices, gst_tun_devices, GST, TUN_DEVICES,
    GstObject)

GstContext *gst_tun_devices_new_context (void);

/* The table in a context; NULL if there is none. Unref it. */
GstTunDevices *gst_tun_devices_from_context (GstContext * context);

/* The device of that name in that namespace, configured as wished besides;
 * opened if it is not open yet. `who` stands in messages; only one element
 * reads a device. Any thread. */
TunDevice *gst_tun_devices_acquire (GstTunDevices * devices,
    const gchar * netns, const TunRequest * request, const gchar * who,
    gboolean reads, GError ** error);

/* The last one closes it. */
void gst_tun_devices_release (GstTunDevices * devices, TunDevice * device,
    gboolean read);

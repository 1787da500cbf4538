/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Table of the TUN devices that are open in a pipeline. A device can be opened
 * only once. If a tunsrc reads a device and a tunsink writes to it, both
 * elements must therefore use the same open device. They find it in this table,
 * which the elements of a pipeline share in a GstContext. */

#pragma once

#include <gst/gst.h>

#include "tundevice.h"

/* Type of the GstContext in which elements share the table of open TUN devices.
 * The structure of the context has one field, `devices`, of type
 * GST_TYPE_TUN_DEVICES. */
#define GST_TUN_DEVICES_CONTEXT_TYPE "gst.wireless.tun-devices"

#define GST_TYPE_TUN_DEVICES (gst_tun_devices_get_type ())
G_DECLARE_FINAL_TYPE (GstTunDevices, gst_tun_devices, GST, TUN_DEVICES,
    GstObject)

GstContext *gst_tun_devices_new_context (void);

/* Returns the table of devices in `context` (transfer full). Returns NULL if
 * `context` contains no such table. */
GstTunDevices *gst_tun_devices_from_context (GstContext * context);

/* Returns the device that `request` names in the network namespace `netns`.
 * Opens the device if it is not open yet. Also applies the other settings of
 * `request`, such as the MTU, to the device. Returns NULL with `error` set on
 * failure.
 *
 * `who` is the name of the element for error messages. `reads` is TRUE if the
 * element reads the device; only one element may read it. The caller must
 * release the device with gst_tun_devices_release (). Any thread may call this
 * function. */
TunDevice *gst_tun_devices_acquire (GstTunDevices * devices,
    const gchar * netns, const TunRequest * request, const gchar * who,
    gboolean reads, GError ** error);

/* Releases a device that gst_tun_devices_acquire () has returned. `read` tells
 * whether the element reads the device; it must have the value that was passed
 * as `reads` when the device was acquired. The device is closed when no element
 * uses it any more. */
void gst_tun_devices_release (GstTunDevices * devices, TunDevice * device,
    gboolean read);

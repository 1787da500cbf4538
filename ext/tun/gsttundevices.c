/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Table of the open TUN devices. The header documents the functions. */

#include "gsttundevices.h"

#define FIELD "devices"

struct _GstTunDevices
{
  GstObject parent;

  GMutex lock;                  /* held while a device is opened */
  /* open devices, an array of TunDevice; protected by lock */
  GPtrArray *open;
};

G_DEFINE_TYPE (GstTunDevices, gst_tun_devices, GST_TYPE_OBJECT);

static void
gst_tun_devices_init (GstTunDevices * self)
{
  g_mutex_init (&self->lock);
  self->open = g_ptr_array_new_with_free_func (
      (GDestroyNotify) tun_device_free);
}

static void
gst_tun_devices_finalize (GObject * object)
{
  GstTunDevices *self = GST_TUN_DEVICES (object);

  g_ptr_array_unref (self->open);
  g_mutex_clear (&self->lock);

  G_OBJECT_CLASS (gst_tun_devices_parent_class)->finalize (object);
}

static void
gst_tun_devices_class_init (GstTunDevicesClass * klass)
{
  G_OBJECT_CLASS (klass)->finalize = gst_tun_devices_finalize;
}

GstContext *
gst_tun_devices_new_context (void)
{
  GstContext *context = gst_context_new (GST_TUN_DEVICES_CONTEXT_TYPE, TRUE);
  GstTunDevices *devices = g_object_new (GST_TYPE_TUN_DEVICES, NULL);

  gst_object_ref_sink (devices);
  gst_structure_set (gst_context_writable_structure (context), FIELD,
      GST_TYPE_TUN_DEVICES, devices, NULL);
  gst_object_unref (devices);
  return context;
}

GstTunDevices *
gst_tun_devices_from_context (GstContext * context)
{
  GstTunDevices *devices = NULL;

  gst_structure_get (gst_context_get_structure (context), FIELD,
      GST_TYPE_TUN_DEVICES, &devices, NULL);
  return devices;
}

/* --- functions of the table ----------------------------------------------- */

/* Returns the open device with the name `ifname`, or NULL. `ifname` may also be
 * a pattern with %d, such as "tun%d"; it then finds the device that was opened
 * with the same pattern. The caller holds the lock of the table of open
 * devices. */
static TunDevice *
gst_tun_devices_find (GstTunDevices * self, const TunNetns * netns,
    const gchar * ifname)
{
  guint i;

  for (i = 0; i < self->open->len; i++) {
    TunDevice *device = g_ptr_array_index (self->open, i);

    if (device->netns->device == netns->device
        && device->netns->inode == netns->inode
        && (g_str_equal (device->name, ifname)
            || g_str_equal (device->asked_name, ifname)))
      return device;
  }
  return NULL;
}

/* Returns the device that `request` names in the network namespace
 * `netns_text`. Opens the device if it is not open yet. Returns NULL with
 * `error` set if this fails. The caller holds the lock of the table of devices.
 */
static TunDevice *
gst_tun_devices_find_or_open (GstTunDevices * self, const gchar * netns_text,
    const TunRequest * request, GError ** error)
{
  TunNetns *netns = tun_netns_find (netns_text, error);
  TunDevice *device;

  if (!netns)
    return NULL;
  device = gst_tun_devices_find (self, netns, request->ifname);
  if (device) {
    tun_netns_free (netns);
    return device;
  }
  device = tun_device_open (netns, request, error);
  if (device)
    g_ptr_array_add (self->open, device);
  return device;
}

/* Closes a TUN device if no element uses it any more. The caller holds the lock
 * of the table of open devices. */
static void
gst_tun_devices_close_unused (GstTunDevices * self, TunDevice * device)
{
  if (device->users == 0)
    g_ptr_array_remove_fast (self->open, device);
}

static gboolean
take_reader (TunDevice * device, const gchar * who, GError ** error)
{
  if (device->reader) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_BUSY,
        "%s can't read the TUN device %s: %s reads it already, and each packet "
        "can be read once. Set another ifname.", who, device->name,
        device->reader);
    return FALSE;
  }
  device->reader = g_strdup (who);
  return TRUE;
}

/* Applies the settings of `request` to a TUN device that is already open. `who`
 * is the name of the element that requests these settings. If `reads` is TRUE,
 * this element will also read packets from the device. A device has at most one
 * reader, so the function then records the name of the element as the reader.
 * Returns FALSE with `error` set on failure. The caller must hold the lock of
 * the table of open devices. */
static gboolean
gst_tun_devices_join (TunDevice * device, const TunRequest * request,
    const gchar * who, gboolean reads, GError ** error)
{
  if (reads && !take_reader (device, who, error))
    return FALSE;
  if (tun_device_configure (device, request, who, error))
    return TRUE;
  if (reads)
    g_clear_pointer (&device->reader, g_free);
  return FALSE;
}

TunDevice *
gst_tun_devices_acquire (GstTunDevices * self, const gchar * netns,
    const TunRequest * request, const gchar * who, gboolean reads,
    GError ** error)
{
  TunDevice *device;

  g_mutex_lock (&self->lock);
  device = gst_tun_devices_find_or_open (self, netns, request, error);
  if (device && gst_tun_devices_join (device, request, who, reads, error)) {
    device->users++;
  } else if (device) {
    gst_tun_devices_close_unused (self, device);
    device = NULL;
  }
  g_mutex_unlock (&self->lock);

  return device;
}

void
gst_tun_devices_release (GstTunDevices * self, TunDevice * device,
    gboolean read)
{
  g_mutex_lock (&self->lock);
  if (read)
    g_clear_pointer (&device->reader, g_free);
  device->users--;
  gst_tun_devices_close_unused (self, device);
  g_mutex_unlock (&self->lock);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Properties and device handling that tunsrc and tunsink share. The header
 * documents the functions. */

#include "gsttunport.h"

#include "gstwirelessproperties.h"

#define DEFAULT_IFNAME "wl%d"

/* Range that the kernel allows for the MTU of a TUN device: from the minimum
 * MTU of IPv4 (RFC 791) to the maximum of a 16-bit number */
#define MIN_MTU 68
#define MAX_MTU 65535

/* --- properties ---------------------------------------------------------- */

#define PROPERTY_STRUCT GstTunPort
static const GstWirelessProperty properties[] = {
  PROPERTY_STRING ("netns", "Network namespace",
      "Network namespace of the device: a name from \"ip netns list\", a path "
      "such as /proc/1234/ns/net, or a process ID (unset = the namespace of "
      "this process)", PROPERTY_READY, netns, NULL),
  PROPERTY_STRING ("ifname", "Interface name",
      "Name of the TUN device, at most 15 characters, which is created if it "
      "does not exist; %d in it becomes a free number, and elements with the "
      "same netns and ifname share the device", PROPERTY_READY, ifname,
      DEFAULT_IFNAME),
  PROPERTY_STRING ("address", "Address",
      "Comma separated list of IPv4 and IPv6 addresses, each with a prefix "
      "length, to set on the device, such as 10.0.0.1/24,fd00::1/64 (unset = "
      "none)",
      PROPERTY_READY, address, NULL),
  PROPERTY_UINT ("mtu", "MTU",
      "MTU of the device (bytes, minimum 68, or 1280 for IPv6; 0 = the MTU is "
      "not changed, and a new device has 1500)", PROPERTY_READY, mtu,
      0,
      MAX_MTU, 0),
  PROPERTY_UINT ("txqueuelen", "Transmit queue length",
      "Maximum number of packets that wait in the kernel for tunsrc; further "
      "packets are lost (packets, 0 = the maximum is not changed, and a new "
      "device has 500)",
      PROPERTY_READY, txqueuelen, 0,
      1000000, 0),
  PROPERTY_INT ("fd", "File descriptor",
      "File descriptor of an open and configured TUN device (IFF_TUN, "
      "IFF_NO_PI), to use instead of netns, ifname, address, mtu and "
      "txqueuelen (-1 = none)", PROPERTY_READY, fd, -1,
      G_MAXINT, -1),
  PROPERTY_STRING ("used-ifname", "Used interface name",
      "Name of the open device (NULL = none is open)", PROPERTY_READABLE,
      used_ifname, NULL),
};

void
gst_tun_port_install_properties (GObjectClass * object_class, gssize port)
{
  gst_wireless_properties_install (object_class, properties,
      G_N_ELEMENTS (properties), port, GST_WIRELESS_OBJECT_LOCK);
}

void
gst_tun_port_init (GstTunPort * port, GstElement * element, gboolean reads)
{
  port->element = element;
  port->reads = reads;
  gst_wireless_properties_init (element, G_OBJECT_TYPE (element));
  g_mutex_init (&port->device_lock);
}

void
gst_tun_port_clear (GstTunPort * port)
{
  gst_wireless_properties_clear (port->element, G_OBJECT_TYPE (port->element));
  g_clear_pointer (&port->used_ifname, g_free);
  g_mutex_clear (&port->device_lock);
}

/* --- the table of devices ------------------------------------------------ */

static GstContext *
gst_tun_port_query_peer (GstTunPort * port, GstPad * pad)
{
  GstQuery *query = gst_query_new_context (GST_TUN_DEVICES_CONTEXT_TYPE);
  GstContext *context = NULL;

  if (gst_pad_peer_query (pad, query)) {
    gst_query_parse_context (query, &context);
    if (context)
      gst_element_set_context (port->element, context);
  }
  gst_query_unref (query);
  return gst_element_get_context (port->element, GST_TUN_DEVICES_CONTEXT_TYPE);
}

/* Posts a need-context message, which asks the parent bins for the table of
 * open devices. If a bin has a context with this table, the bin sets this
 * context on the element. This happens before gst_element_post_message()
 * returns. Returns the context, or NULL if no bin has it.
 */
static GstContext *
gst_tun_port_ask_bins (GstTunPort * port)
{
  gst_element_post_message (port->element,
      gst_message_new_need_context (GST_OBJECT_CAST (port->element),
          GST_TUN_DEVICES_CONTEXT_TYPE));
  return gst_element_get_context (port->element, GST_TUN_DEVICES_CONTEXT_TYPE);
}

static GstContext *
gst_tun_port_make_context (GstTunPort * port)
{
  GstContext *context = gst_tun_devices_new_context ();

  gst_element_set_context (port->element, context);
  gst_element_post_message (port->element,
      gst_message_new_have_context (GST_OBJECT_CAST (port->element),
          gst_context_ref (context)));
  return context;
}

static GstTunDevices *
gst_tun_port_find_devices (GstTunPort * port, GstPad * pad)
{
  GstContext *context;
  GstTunDevices *devices;

  context = gst_element_get_context (port->element,
      GST_TUN_DEVICES_CONTEXT_TYPE);
  if (!context)
    context = gst_tun_port_query_peer (port, pad);
  if (!context)
    context = gst_tun_port_ask_bins (port);
  if (!context)
    context = gst_tun_port_make_context (port);

  devices = gst_tun_devices_from_context (context);
  gst_context_unref (context);
  return devices;
}

gboolean
gst_tun_port_answer (GstTunPort * port, GstQuery * query)
{
  const gchar *type;
  GstContext *context;

  if (GST_QUERY_TYPE (query) != GST_QUERY_CONTEXT)
    return FALSE;
  gst_query_parse_context_type (query, &type);
  if (!g_str_equal (type, GST_TUN_DEVICES_CONTEXT_TYPE))
    return FALSE;
  context = gst_element_get_context (port->element, type);
  if (!context)
    return FALSE;
  gst_query_set_context (query, context);
  gst_context_unref (context);
  return TRUE;
}

/* --- the device ---------------------------------------------------------- */

/* Copy of the element's properties. It is made before the device is opened, so
 * that the object lock is not held while the device is being opened. */
typedef struct
{
  gchar *netns, *ifname, *address;
  gint fd;
  TunRequest request;
} Settings;

static void
gst_tun_port_read_settings (GstTunPort * port, Settings * settings)
{
  GST_OBJECT_LOCK (port->element);
  settings->netns = g_strdup (port->netns);
  settings->ifname = g_strdup (port->ifname && *port->ifname ? port->ifname :
      DEFAULT_IFNAME);
  settings->address = g_strdup (port->address);
  settings->fd = port->fd;
  settings->request.mtu = port->mtu;
  settings->request.txqueuelen = port->txqueuelen;
  settings->request.vnet_header = port->gro;
  settings->request.ifname = settings->ifname;
  settings->request.addresses = NULL;
  GST_OBJECT_UNLOCK (port->element);
}

static void
settings_clear (Settings * settings)
{
  g_free (settings->netns);
  g_free (settings->ifname);
  g_free (settings->address);
  g_clear_pointer (&settings->request.addresses, g_array_unref);
}

static gboolean
settings_check (Settings * settings, GError ** error)
{
  GError *reason = NULL;

  if (settings->request.mtu > 0 && settings->request.mtu < MIN_MTU) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "Could not use the mtu of %u bytes: IP needs at least %d bytes. Set a "
        "larger mtu, or 0 to keep the MTU of the device.",
        settings->request.mtu, MIN_MTU);
    return FALSE;
  }
  if (!tun_device_check_name (settings->ifname, error))
    return FALSE;
  settings->request.addresses = tun_address_parse (settings->address, &reason);
  if (!settings->request.addresses) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "Could not use the property address: %s. Set one or more addresses "
        "with prefix lengths, such as 10.0.0.1/24,fd00::1/64.",
        reason->message);
    g_error_free (reason);
    return FALSE;
  }
  return TRUE;
}

static TunDevice *
gst_tun_port_open_shared (GstTunPort * port, GstPad * pad, Settings * settings,
    GError ** error)
{
  GstTunDevices *devices;
  TunDevice *device;

  devices = gst_tun_port_find_devices (port, pad);
  if (!devices) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
        "Could not use the context " GST_TUN_DEVICES_CONTEXT_TYPE " that the "
        "application set: it has no table of devices. Set the context that "
        "another pipeline has posted in a have-context message, or set none.");
    return NULL;
  }
  device = gst_tun_devices_acquire (devices, settings->netns,
      &settings->request, GST_OBJECT_NAME (port->element), port->reads, error);
  if (device)
    port->devices = devices;
  else
    gst_object_unref (devices);
  return device;
}

static void
gst_tun_port_set_used_ifname (GstTunPort * port, const gchar * name)
{
  GST_OBJECT_LOCK (port->element);
  g_free (port->used_ifname);
  port->used_ifname = g_strdup (name);
  GST_OBJECT_UNLOCK (port->element);
  g_object_notify (G_OBJECT (port->element), "used-ifname");
}

static void
gst_tun_port_post_error (GstTunPort * port, const GError * error)
{
  gst_element_message_full (port->element, GST_MESSAGE_ERROR, error->domain,
      error->code, g_strdup (error->message), NULL, __FILE__, GST_FUNCTION,
      __LINE__);
}

static TunDevice *
gst_tun_port_open_device (GstTunPort * port, GstPad * pad, GError ** error)
{
  TunDevice *device = NULL;
  Settings settings;

  gst_tun_port_read_settings (port, &settings);
  if (settings.fd >= 0)
    device = tun_device_open_fd (settings.fd, error);
  else if (settings_check (&settings, error))
    device = gst_tun_port_open_shared (port, pad, &settings, error);
  settings_clear (&settings);
  return device;
}

/* Makes `device` the open device of the element that contains `port`. If
 * `device` is NULL, the element has no open device any more. Returns the device
 * that was open before, or NULL. */
static TunDevice *
gst_tun_port_set_device (GstTunPort * port, TunDevice * device)
{
  TunDevice *before;

  g_mutex_lock (&port->device_lock);
  before = port->device;
  port->device = device;
  g_mutex_unlock (&port->device_lock);

  gst_tun_port_set_used_ifname (port, device ? device->name : NULL);
  return before;
}

gboolean
gst_tun_port_open (GstTunPort * port, GstPad * pad)
{
  GError *error = NULL;
  TunDevice *device = gst_tun_port_open_device (port, pad, &error);

  if (!device) {
    gst_tun_port_post_error (port, error);
    g_error_free (error);
    return FALSE;
  }
  if (device->warning)
    GST_ELEMENT_WARNING (port->element, RESOURCE, NOT_AUTHORIZED,
        ("%s", device->warning), (NULL));
  gst_tun_port_set_device (port, device);
  return TRUE;
}

void
gst_tun_port_close (GstTunPort * port)
{
  TunDevice *device;

  if (!port->device)
    return;
  device = gst_tun_port_set_device (port, NULL);
  if (port->devices)
    gst_tun_devices_release (port->devices, device, port->reads);
  else
    tun_device_free (device);
  gst_clear_object (&port->devices);
}

guint64
gst_tun_port_get_dropped (GstTunPort * port)
{
  guint64 dropped = 0;

  g_mutex_lock (&port->device_lock);
  if (port->device)
    dropped = tun_device_get_dropped (port->device);
  g_mutex_unlock (&port->device_lock);
  return dropped;
}

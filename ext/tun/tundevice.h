/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One open TUN device. The device is created in its network namespace, or
 * attached if it exists already, and then configured. A device that is not
 * persistent disappears when this object is freed or when the process ends.
 *
 * The device is opened with IFF_TUN | IFF_NO_PI and without offloads. Without
 * offloads, the kernel computes the checksums of a packet and splits large
 * packets before a program can read them from the device. It also verifies the
 * checksums of each packet that a program writes to the device.
 *
 * If the element that opens the device requests it, IFF_VNET_HDR is set as
 * well. Each packet then has a header in front, which allows tunsink to write
 * several packets as one.
 */

#pragma once

#include <gst/gst.h>

#include "tunaddress.h"
#include "tunlink.h"
#include "tunnetns.h"

/* Size in bytes of struct virtio_net_hdr, the header in front of each packet */
#define TUN_VNET_HEADER 10

/* Maximum size in bytes of an IP packet that is not a jumbogram */
#define TUN_MAX_PACKET 65575

/* Settings of a TUN device that one element requests. The values 0 and NULL
 * mean that nothing is requested. */
typedef struct
{
  const gchar *ifname;          /* may contain one %d */
  GArray *addresses;            /* array of TunAddress */
  guint mtu, txqueuelen;
  /* TRUE requests that the device is opened with IFF_VNET_HDR. This has no
   * effect if the device is open already. */
  gboolean vnet_header;
} TunRequest;

/* An open TUN device. Its fields are protected by the lock of the table of open
 * devices. The fields `fd`, `vnet_header`, `name` and `asked_name` never
 * change, so they may be used without the lock. The object in the field `link`
 * may also be passed to the functions tun_link_get_*() without the lock. */
typedef struct
{
  gint fd;                      /* opened with O_NONBLOCK */
  /* Size in bytes of the header (struct virtio_net_hdr) in front of each
   * packet: TUN_VNET_HEADER if the device was opened with IFF_VNET_HDR,
   * otherwise 0 */
  gsize vnet_header;
  gchar *name;                  /* name in the kernel */
  gchar *asked_name;            /* requested name; may contain %d */
  /* The network namespace of the device. NULL if it is unknown: the application
   * passed the file descriptor of a device that was already open. */
  TunNetns *netns;
  /* The object that configures the network device. NULL if the application
   * passed the file descriptor of a device that was already open. */
  TunLink *link;
  /* TRUE if the device already existed before this process opened it */
  gboolean existed;
  gchar *warning;               /* text for the user; NULL = none */

  /* MTU and queue length that an element requested for the device; 0 = no
   * request */
  guint mtu, txqueuelen;
  /* names of the elements that requested `mtu` and `txqueuelen`; NULL = none */
  gchar *mtu_of, *txqueuelen_of;
  guint users;
  /* name of the element that reads packets from the device; NULL = no element
   * does */
  gchar *reader;
} TunDevice;

/* Checks the length and the characters of a device name before anything is
 * opened. Returns FALSE with `error` set if the kernel would not accept `name`.
 */
gboolean tun_device_check_name (const gchar * name, GError ** error);

/* Opens the TUN device that `request` describes, in the network namespace
 * `netns`. If the device does not exist, it is created. Takes ownership of
 * `netns`, even on failure. Returns NULL with `error` set on failure. */
TunDevice *tun_device_open (TunNetns * netns, const TunRequest * request,
    GError ** error);

/* Creates a TunDevice from `fd`, the file descriptor of a TUN device that is
 * already open and configured. The TunDevice uses a duplicate of `fd`. Returns
 * NULL with `error` set on failure. */
TunDevice *tun_device_open_fd (gint fd, GError ** error);

/* Applies the settings in `request` to the TUN device and brings it up. `who`
 * is the name of the element that requests the settings. Returns FALSE with
 * `error` set if another element has requested different settings for the
 * device, or if the kernel refuses the settings. */
gboolean tun_device_configure (TunDevice * device, const TunRequest * request,
    const gchar * who, GError ** error);

void tun_device_free (TunDevice * device);

/* Returns the current MTU in bytes; 0 = unknown. Any thread may call this
 * function. */
guint tun_device_get_mtu (TunDevice * device);

/* Returns the number of packets that were dropped because the queue of the
 * device was full, counted since the device was created; 0 = unknown. Any
 * thread may call this function. */
guint64 tun_device_get_dropped (TunDevice * device);

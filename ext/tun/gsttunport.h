/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What tunsrc and tunsink have in common: the properties that say which device,
 * the way to the table of devices, and the hold on one of them.
 */

#pragma once

#include <gst/gst.h>

#include "gsttundevices.h"

#define GST_TUN_CAPS "application/x-ip"

typedef struct
{
  GstElement *element;          /* whose part this is */
  gboolean reads;

  /* protected by the element's OBJECT_LOCK */
  gchar *netns, *ifname, *address;
  guint mtu, txqueuelen;
  gint fd;
  gchar *used_ifname;           /* NULL: no device is open */

  /* change only while no data flows, the second with device_lock */
  GstTunDevices *devices;       /* NULL: the device is in no table */
  TunDevice *device;            /* NULL: not open */
  GMutex device_lock;           /* who asks for statistics holds it */
} GstTunPort;

/* `port`: its offset in the instance */
void gst_tun_port_install_properties (GObjectClass * object_class,
    gssize port);

void gst_tun_port_init (GstTunPort * port, GstElement * element,
    gboolean reads);
void gst_tun_port_clear (GstTunPort * port);

/* Opens the device, or joins those that have it open. FALSE: an error is on the
 * bus. The neighbour of `pad` may know the table. */
gboolean gst_tun_port_open (GstTunPort * port, GstPad * pad);
void gst_tun_port_close (GstTunPort * port);

/* Any thread; 0: not open, or unknown */
guint64 gst_tun_port_get_dropped (GstTunPort * port);

/* Hands the table to a neighbour that asks; FALSE: not that question. */
gboolean gst_tun_port_answer (GstTunPort * port, GstQuery * query);

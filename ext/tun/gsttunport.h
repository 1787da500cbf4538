/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The part that tunsrc and tunsink have in common: the properties that select
 * the device, the lookup of the table of devices, and the reference to the open
 * device.
 */

#pragma once

#include <gst/gst.h>

#include "gsttundevices.h"

#define GST_TUN_CAPS "application/x-ip"

typedef struct
{
  GstElement *element;          /* element that contains this struct */
  gboolean reads;

  /* protected by the element's OBJECT_LOCK */
  gchar *netns, *ifname, *address;
  guint mtu, txqueuelen;
  gint fd;
  gboolean gro;                 /* property of tunsink */
  gchar *used_ifname;           /* name of the open device; NULL = not open */

  /* `devices` and `device` are changed only while no data flows, so the
   * streaming thread reads them without a lock. Other threads may read the
   * statistics of `device` at any time, and hold device_lock while they do so.
   * A thread that changes `device` must therefore hold device_lock too. */

  /* Table of the open TUN devices of the pipeline. NULL if the element is not
   * started, or if the property fd gives the device. */
  GstTunDevices *devices;
  TunDevice *device;            /* NULL = not open */
  /* held by a thread that changes `device` or reads its statistics */
  GMutex device_lock;
} GstTunPort;

/* Installs the properties that tunsrc and tunsink have in common. `port` is the
 * offset in bytes of the field of type GstTunPort in the element's instance
 * struct. */
void gst_tun_port_install_properties (GObjectClass * object_class,
    gssize port);

void gst_tun_port_init (GstTunPort * port, GstElement * element,
    gboolean reads);
void gst_tun_port_clear (GstTunPort * port);

/* Opens the TUN device that the properties of the element name. If another
 * element of the pipeline has opened this device already, both elements share
 * it. The elements of a pipeline therefore share a table of the open devices.
 * This function gets the table from the peer of `pad` or, if the peer has no
 * table, from the parent bins. If there is no table yet, the function creates
 * it. If the device cannot be opened, posts an error and returns FALSE.
 */
gboolean gst_tun_port_open (GstTunPort * port, GstPad * pad);
void gst_tun_port_close (GstTunPort * port);

/* Returns the number of packets that the kernel dropped because the queue of
 * the device was full, or 0 if the device is not open or the number is unknown.
 * Any thread may call this function. */
guint64 gst_tun_port_get_dropped (GstTunPort * port);

/* Answers a context query for the table of devices. Returns FALSE if `query` is
 * any other query, or if the element has no table. */
gboolean gst_tun_port_answer (GstTunPort * port, GstQuery * query);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Configures a network device with rtnetlink, as the commands `ip link` and `ip
 * address` do. Error messages contain the kernel's own explanation. */

#pragma once

#include <gst/gst.h>

#include "tunaddress.h"

typedef struct _TunLink TunLink;

/* Returns an object that gives access to the network device `name` in the
 * network namespace of the calling thread, or NULL with `error` set. Threads in
 * any namespace may use the object afterwards. */
TunLink *tun_link_new (const gchar * name, GError ** error);
void tun_link_free (TunLink * link);

/* The following functions change the network device. On failure they return
 * FALSE with an error of the domain GST_RESOURCE_ERROR. If the kernel has
 * returned EPERM, the code of the error is NOT_AUTHORIZED. */
gboolean tun_link_set_mtu (TunLink * link, guint mtu, GError ** error);
gboolean tun_link_set_txqueuelen (TunLink * link, guint length,
    GError ** error);
gboolean tun_link_add_address (TunLink * link, const TunAddress * address,
    GError ** error);
gboolean tun_link_set_up (TunLink * link, GError ** error);

/* Keeps the kernel from giving the device an IPv6 link-local address. A failure
 * is ignored: a kernel without IPv6 gives no such address anyway. */
void tun_link_no_generated_address (TunLink * link);

/* The following functions return the state of the network device. They return 0
 * if the state is unknown, for example because the device was deleted. */
guint tun_link_get_mtu (TunLink * link);
guint tun_link_get_txqueuelen (TunLink * link);
gboolean tun_link_is_up (TunLink * link);

/* Returns the number of packets that the kernel could not put into the device's
 * queue, because this queue was full, and therefore dropped; 0 = unknown. */
guint64 tun_link_get_dropped (TunLink * link);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A network device as rtnetlink sees it: what `ip link` and `ip address` do,
 * with the kernel's own words where it refuses.
 */

#pragma once

#include <gst/gst.h>

#include "tunaddress.h"

typedef struct _TunLink TunLink;

/* The device of that name in the namespace of the calling thread; later calls
 * may come from any thread. */
TunLink *tun_link_new (const gchar * name, GError ** error);
void tun_link_free (TunLink * link);

/* FALSE with an error of GST_RESOURCE_ERROR; NOT_AUTHORIZED on EPERM */
gboolean tun_link_set_mtu (TunLink * link, guint mtu, GError ** error);
gboolean tun_link_set_txqueuelen (TunLink * link, guint length,
    GError ** error);
gboolean tun_link_add_address (TunLink * link, const TunAddress * address,
    GError ** error);
gboolean tun_link_set_up (TunLink * link, GError ** error);

/* The kernel gives it no IPv6 address by itself. Without IPv6 it does not
 * anyway: no error. */
void tun_link_no_generated_address (TunLink * link);

/* 0: unknown, as of a device that is gone */
guint tun_link_get_mtu (TunLink * link);
guint tun_link_get_txqueuelen (TunLink * link);
gboolean tun_link_is_up (TunLink * link);

/* Packets that the kernel sent into the device and that found no room in its
 * queue; 0: unknown, too */
guint64 tun_link_get_dropped (TunLink * link);

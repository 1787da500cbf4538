/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A network namespace for one test, with TUN and TAP interfaces. No other host
 * is connected to these interfaces. Each test has its own process, and the
 * namespace is removed when this process ends. */

#ifndef __TUNDEVICES_H__
#define __TUNDEVICES_H__

#include <gst/check/gstcheck.h>

#include <net/if.h>
#include <netinet/in.h>

#ifdef __linux__
#include <linux/if_tun.h>
#else
#define IFF_TUN 0
#define IFF_TAP 0
#endif

/* Moves the process of the test to a new network namespace. If this is not
 * permitted, the function reports the test as skipped and returns FALSE. */
gboolean tun_device_enter (const gchar * test);
/* Adds an interface, brings it up, and returns its interface index. An
 * interface of the type IFF_TUN has no link layer, so packets leave it
 * immediately. On an interface of the type IFF_TAP, they first wait until the
 * link-layer address of a neighbour is known. If the system does not permit
 * such an interface, the function reports the test as skipped and returns 0.
 */
guint tun_device_add (const gchar * test, const gchar * name, gint type);
/* Waits until the interface has its IPv6 address, which the kernel assigns in
 * another thread. */
void tun_device_wait_for_address (guint index, const struct sockaddr *group,
    socklen_t size);

#endif /* __TUNDEVICES_H__ */

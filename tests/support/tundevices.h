/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A network of the test's own, with interfaces that lead nowhere. Each test has
 * its process, with which network and interfaces go.
 */

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

/* FALSE, which is said: we may not */
gboolean tun_device_enter (const gchar * test);
/* An interface that is up: IFF_TUN, which any packet leaves at once, or IFF_TAP,
 * where it waits for a neighbour. Its index; 0, which is said: we may not */
guint tun_device_add (const gchar * test, const gchar * name, gint type);
/* The kernel gives a new interface its address of IPv6 in a thread of its own. */
void tun_device_wait_for_address (guint index, const struct sockaddr *group,
    socklen_t size);

#endif /* __TUNDEVICES_H__ */

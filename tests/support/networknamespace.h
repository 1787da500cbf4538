/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A network namespace for one test. It is not visible outside and is removed
 * when the test's process ends.
 */

#ifndef __NETWORKNAMESPACE_H__
#define __NETWORKNAMESPACE_H__

#include <gst/check/gstcheck.h>

/* Moves the process to a new network namespace. Root may do this. Other users
 * may do it as root of a new user namespace, if the system allows this.
 */
gboolean netns_unshare (void);
/* Runs a command such as ip(8) or tc(8). The runtimes of the sanitizers are not
 * loaded, because they would check those programs, too. */
gboolean netns_run (const gchar * command);
void netns_must (const gchar * command);
/* Makes a network with the devices wlan0 (MTU 1500) and usb0 (MTU 1280), which
 * are down. Packets that are sent on them arrive at their other ends, wlan0x
 * and usb0x, which are up and have no host. Returns FALSE if the check has to
 * be skipped. */
gboolean netns_make (const gchar * check);

#endif /* __NETWORKNAMESPACE_H__ */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A network namespace for one test. It is not visible outside and is removed
 * when the test's process ends.
 */

#ifndef __NETWORKNAMESPACE_H__
#define __NETWORKNAMESPACE_H__

#include <gst/check/gstcheck.h>

/* Moves the process to a new network namespace. Root is allowed to do so. If
 * the system permits it, other users can do so as root of a new user namespace.
 */
gboolean netns_unshare (void);
/* Runs a command such as ip(8) or tc(8). LD_PRELOAD may contain the runtime of
 * a sanitizer, and the sanitizer would then check the command, too. The
 * function therefore removes LD_PRELOAD from the environment of the command.
 * Returns TRUE if the command succeeded. */
gboolean netns_run (const gchar * command);
void netns_must (const gchar * command);
/* Makes two pairs of connected network devices: wlan0 with wlan0x, and usb0
 * with usb0x. The MTU is 1500 for wlan0 and 1280 for usb0. wlan0 and usb0 are
 * down. wlan0x and usb0x are up.
 *
 * A packet that is sent on one device of a pair arrives at the other one. There
 * is no host behind wlan0x and usb0x, so nobody answers. If the system does not
 * permit such devices, the function reports the check `check` as skipped and
 * returns FALSE. */
gboolean netns_make (const gchar * check);

#endif /* __NETWORKNAMESPACE_H__ */

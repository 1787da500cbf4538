/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A network of a test's own: nothing of it is seen outside, and it goes with
 * the test's process.
 */

#ifndef __NETWORKNAMESPACE_H__
#define __NETWORKNAMESPACE_H__

#include <gst/check/gstcheck.h>

/* Root may have a namespace; others may be root of one, where that is allowed.
 */
gboolean netns_unshare (void);
/* As ip(8) and tc(8) are typed; without the sanitizers' runtimes, which would
 * judge those programs too */
gboolean netns_run (const gchar * command);
void netns_must (const gchar * command);
/* A network with the devices wlan0 (1500 bytes) and usb0 (1280 bytes), which are
 * down. What goes out comes out of their other ends, wlan0x and usb0x, which are
 * up, and nobody is there. FALSE: the check has to end here. */
gboolean netns_make (const gchar * check);

#endif /* __NETWORKNAMESPACE_H__ */

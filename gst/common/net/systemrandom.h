/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random bytes that nobody can guess: the system's, as GLib's are not made for
 * this.
 */

#ifndef __SYSTEM_RANDOM_H__
#define __SYSTEM_RANDOM_H__

#include <gio/gio.h>

#include "gstwirelessprelude.h"

G_BEGIN_DECLS

GST_WIRELESS_API
gboolean system_random_fill (guint8 * bytes, gsize size, GError ** error);

G_END_DECLS

#endif /* __SYSTEM_RANDOM_H__ */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random bytes that nobody can guess: the system's, as GLib's are not made for
 * this.
 */

#pragma once

#include <gio/gio.h>

gboolean system_random_fill (guint8 * bytes, gsize size, GError ** error);

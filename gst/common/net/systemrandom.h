/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Unpredictable random bytes from the operating system. The random numbers of
 * GLib are predictable, so they are not suitable for secrets.
 */

#pragma once

#include <gio/gio.h>

gboolean system_random_fill (guint8 * bytes, gsize size, GError ** error);

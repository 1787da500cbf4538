/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads numbers in network byte order, in which the most significant byte comes
 * first. */

#pragma once

#include <glib.h>

static inline guint16
read_be16 (const guint8 * bytes)
{
  return bytes[0] << 8 | bytes[1];
}

static inline guint32
read_be32 (const guint8 * bytes)
{
  return (guint32) read_be16 (bytes) << 16 | read_be16 (bytes + 2);
}

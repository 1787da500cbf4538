/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtpaddress.h: addresses of a sender's paths as the
 * receiver sees them. */

#include "mmtpaddress.h"

#include <string.h>

#include "prefixlimiter.h"

G_STATIC_ASSERT (sizeof (DatagramPath) <=
    sizeof (((MmtpAddress *) NULL)->bytes));

gboolean
mmtp_address_is_equal (const MmtpAddress * a, const MmtpAddress * b)
{
  return a->size == b->size && memcmp (a->bytes, b->bytes, a->size) == 0;
}

void
mmtp_address_set_path (MmtpAddress * address, const DatagramPath * path)
{
  memset (address, 0, sizeof (*address));
  address->size = sizeof (*path);
  address->host_size = G_STRUCT_OFFSET (DatagramPath, remote_port);
  address->prefix_size = prefix_limiter_get_prefix_size (path->remote,
      path->address_size);
  memcpy (address->bytes, path, sizeof (*path));
}

void
mmtp_address_get_path (const MmtpAddress * address, DatagramPath * path)
{
  memcpy (path, address->bytes, sizeof (*path));
}

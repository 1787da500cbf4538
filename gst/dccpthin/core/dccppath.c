/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See dccppath.h. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "dccppath.h"

#include <string.h>

gboolean
dccp_path_equal (const DccpPath *a, const DccpPath *b)
{
  return a->address_size == b->address_size
      && a->local_udp == b->local_udp && a->remote_udp == b->remote_udp
      && a->scope == b->scope
      && !memcmp (a->local, b->local, a->address_size)
      && !memcmp (a->remote, b->remote, a->address_size);
}

gboolean
dccp_path_is_encapsulated (const DccpPath *path)
{
  return path->remote_udp != 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See systemrandom.h. */

#include "systemrandom.h"

#include <errno.h>
#include <stdio.h>

#include "socketmessages.h"

gboolean
system_random_fill (guint8 * bytes, gsize size, GError ** error)
{
  FILE *file = fopen ("/dev/urandom", "rbe");
  gboolean filled = file && fread (bytes, 1, size, file) == size;

  if (!filled)
    socket_set_error (error, errno, "no random numbers from /dev/urandom");
  if (file)
    fclose (file);
  return filled;
}

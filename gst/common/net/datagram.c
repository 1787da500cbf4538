/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See datagram.h. */

#include "datagram.h"

#include <string.h>

void
datagram_init (Datagram * datagram, guint8 * bytes, gsize size)
{
  memset (datagram, 0, sizeof (*datagram));
  datagram->bytes = bytes;
  datagram->size = size;
}

gsize
datagram_get_size (const Datagram * datagram)
{
  gsize size = datagram->size;
  guint i;

  for (i = 0; i < datagram->n_parts; i++)
    size += datagram->parts[i].size;
  return size;
}

/* An empty part may have no address. */
static guint8 *
append (guint8 * to, gconstpointer data, gsize size)
{
  if (size > 0)
    memcpy (to, data, size);
  return to + size;
}

void
datagram_copy_bytes (const Datagram * datagram, guint8 * to)
{
  guint i;

  to = append (to, datagram->bytes, datagram->size);
  for (i = 0; i < datagram->n_parts; i++)
    to = append (to, datagram->parts[i].data, datagram->parts[i].size);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of datagram.h: packets, and the two endpoints between which
 * they are sent. */

#include "datagram.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <string.h>

/* --- paths ---------------------------------------------------------------- */

gboolean
datagram_path_equal (const DatagramPath * a, const DatagramPath * b)
{
  return a->address_size == b->address_size
      && a->local_port == b->local_port && a->remote_port == b->remote_port
      && a->scope == b->scope && !memcmp (a->local, b->local, a->address_size)
      && !memcmp (a->remote, b->remote, a->address_size);
}

gboolean
datagram_path_has_ports (const DatagramPath * path)
{
  return path->remote_port != 0;
}

gboolean
datagram_path_is_mapped (const DatagramPath * path)
{
  static const guint8 prefix[12] = {[10] = 0xff,[11] = 0xff };

  return path->address_size == 16
      && memcmp (path->remote, prefix, sizeof (prefix)) == 0;
}

gchar *
datagram_path_to_string (const DatagramPath * path)
{
  gboolean is_mapped = datagram_path_is_mapped (path);
  gboolean is_ipv6 = path->address_size == 16 && !is_mapped;
  gchar host[INET6_ADDRSTRLEN] = "?", interface[IF_NAMESIZE] = "";
  const gchar *separator = "";

  inet_ntop (is_ipv6 ? AF_INET6 : AF_INET, path->remote + (is_mapped ? 12 : 0),
      host, sizeof (host));
  if (is_ipv6 && path->scope > 0 && if_indextoname (path->scope, interface))
    separator = "%";
  if (!datagram_path_has_ports (path))
    return g_strconcat (host, separator, interface, NULL);
  return g_strdup_printf (is_ipv6 ? "[%s%s%s]:%u" : "%s%s%s:%u", host,
      separator, interface, path->remote_port);
}

/* --- packets -------------------------------------------------------------- */

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

/* Appends a part of a datagram to the bytes at `to`. Returns the position after
 * the copied part. The address of an empty part may be NULL. memcpy does not
 * accept NULL, so it is not called for an empty part. */
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

/* --- runs and segments ---------------------------------------------------- */

guint
datagram_get_run (const Datagram * datagrams, guint n, gsize max_segment,
    gboolean is_connected)
{
  const gsize segment = datagram_get_size (&datagrams[0]);
  gsize size = segment, total = 0;
  guint run = 0, parts = 0;

  if (segment == 0 || segment > max_segment)
    return 1;
  /* All packets of a run have the size of its first packet. Only the last
   * packet may be shorter, so a shorter packet ends the run. */
  while (size == segment && run < MIN (n, DATAGRAM_MAX_SEGMENTS)) {
    size = datagram_get_size (&datagrams[run]);
    parts += 1 + datagrams[run].n_parts;
    total += size;
    if (size == 0 || size > segment || total > DATAGRAM_MAX_RUN_SIZE
        || parts > DATAGRAM_MAX_RUN_PARTS || (!is_connected
            && !datagram_path_equal (&datagrams[0].path, &datagrams[run].path)))
      break;
    run++;
  }
  return MAX (1, run);
}

guint
datagram_count_segments (const Datagram * datagram)
{
  const gsize segment_size = MAX (1, datagram->segment_size);

  return MAX (1, (datagram->size + segment_size - 1) / segment_size);
}

void
datagram_get_segment (const Datagram * datagram, guint index,
    Datagram * segment)
{
  const gsize offset = index * datagram->segment_size;

  *segment = *datagram;
  segment->bytes += offset;
  segment->size = MIN (datagram->size - offset, datagram->segment_size);
  segment->segment_size = segment->size;
}

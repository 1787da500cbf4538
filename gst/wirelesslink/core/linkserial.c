/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of linkserial.h: a serial line with a rate in bytes/s. */

#include "linkserial.h"

void
link_serial_init (LinkSerial * line, Link * link, guint direction)
{
  line->link = link;
  line->direction = direction;
  line->rate = link->config.blocks.serial_rate[direction];
}

/* Returns the time in ns that the line needs for `bytes` bytes. `bytes` is
 * never much greater than 2^32, so bytes * LINK_SECOND fits into 64 bits. */
guint64
link_serial_get_time (const LinkSerial * line, guint64 bytes)
{
  return (bytes * LINK_SECOND + line->rate - 1) / line->rate;
}

static LinkItem *
take_oldest (LinkSerial * line)
{
  guint first = line->direction;
  guint last = line->direction == 0 ? 0 : LINK_MAX_STATIONS - 1;
  guint64 oldest = LINK_NEVER;
  guint i, found = first;

  for (i = first; i <= last; i++) {
    LinkItem *item = link_peek (line->link, i);

    if (item && item->p.arrival < oldest) {
      oldest = item->p.arrival;
      found = i;
    }
  }
  return link_take (line->link, found);
}

gboolean
link_serial_start (LinkSerial * line)
{
  const LinkConfig *config = &line->link->config;

  if (line->item || line->stopped || !link_is_connected (line->link))
    return FALSE;
  line->item = take_oldest (line);
  if (!line->item)
    return FALSE;
  line->bytes = (guint64) line->item->p.size + config->overhead +
      config->blocks.overhead;
  line->bytes = MAX (line->bytes, 1);
  line->begin = line->link->now;
  line->end = line->begin + link_serial_get_time (line, line->bytes);
  return TRUE;
}

guint64
link_serial_get_passed (const LinkSerial * line)
{
  guint64 now = line->link->now;

  if (!line->item)
    return 0;
  if (line->stopped)
    return line->passed;
  if (now >= line->end)
    return line->bytes;
  return (now - line->begin) * line->rate / LINK_SECOND;
}

guint64
link_serial_next (const LinkSerial * line)
{
  return line->item && !line->stopped ? line->end : LINK_NEVER;
}

LinkItem *
link_serial_take (LinkSerial * line)
{
  LinkItem *item = line->item;

  line->item = NULL;
  line->passed = 0;
  return item;
}

void
link_serial_set_stopped (LinkSerial * line, gboolean stopped)
{
  if (line->stopped == stopped)
    return;
  if (stopped) {
    line->passed = link_serial_get_passed (line);
  } else if (line->item) {
    line->begin = line->link->now - link_serial_get_time (line, line->passed);
    line->end = line->begin + link_serial_get_time (line, line->bytes);
  }
  line->stopped = stopped;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The serial line between a computer and its phone or modem: takes a packet
 * from the device queue when the one before is through, and passes its bytes
 * and those of its framing (SLIP, PPP) on one by one.
 */

#pragma once

#include "linkmodel.h"

typedef struct
{
  Link *link;
  guint direction;              /* 0: of station 0, 1: of all others */
  guint64 rate;                 /* bytes/s */
  LinkItem *item;               /* on it, or NULL */
  guint64 bytes;                /* of the item with its framing */
  guint64 begin, end;           /* ns, as long as it isn't stopped */
  gboolean stopped;             /* by flow control */
  guint64 passed;               /* bytes that passed before that */
} LinkSerial;

void link_serial_init (LinkSerial * line, Link * link, guint direction);
/* Takes the oldest waiting packet if the line is free, running and connected;
 * FALSE if it took none. */
gboolean link_serial_start (LinkSerial * line);
/* ns that so many bytes take */
guint64 link_serial_get_time (const LinkSerial * line, guint64 bytes);
/* Bytes of the item that arrived behind the line up to now */
guint64 link_serial_get_passed (const LinkSerial * line);
/* When the item is through; LINK_NEVER without one and while stopped */
guint64 link_serial_next (const LinkSerial * line);
/* The item leaves the line, all of it or not. */
LinkItem *link_serial_take (LinkSerial * line);
/* Flow control: no byte passes until it is lifted. */
void link_serial_set_stopped (LinkSerial * line, gboolean stopped);

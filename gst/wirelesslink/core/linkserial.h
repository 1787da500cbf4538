/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The serial line between a computer and its phone or modem. The line takes a
 * packet from the device queue when the previous packet has been transmitted.
 * It transmits the bytes of the packet and of its framing (SLIP or PPP) one
 * after the other.
 */

#pragma once

#include "linkmodel.h"

typedef struct
{
  Link *link;
  /* 0 if the line carries the packets of station 0, 1 if it carries the packets
   * of all other stations */
  guint direction;
  guint64 rate;                 /* bytes/s */
  LinkItem *item;               /* packet on the line, or NULL */
  guint64 bytes;                /* size in bytes of the item with its framing */
  /* Times in ns at which the transmission of the item begins and ends. Valid
   * while the line is not stopped. */
  guint64 begin, end;
  gboolean stopped;             /* stopped by flow control */
  /* number of bytes of the item that were transmitted before the line was
   * stopped
   */
  guint64 passed;
} LinkSerial;

void link_serial_init (LinkSerial * line, Link * link, guint direction);
/* Takes the oldest waiting packet if the line is free, not stopped and
 * connected. Returns FALSE if no packet was taken. */
gboolean link_serial_start (LinkSerial * line);
/* Returns the time in ns that the line needs to transmit `bytes` bytes. */
guint64 link_serial_get_time (const LinkSerial * line, guint64 bytes);
/* Returns the number of bytes of the item that have been transmitted until now.
 */
guint64 link_serial_get_passed (const LinkSerial * line);
/* Returns the time at which the item will be transmitted completely; LINK_NEVER
 * if there is no item or the line is stopped. */
guint64 link_serial_next (const LinkSerial * line);
/* Removes the item from the line and returns it, even if it is not transmitted
 * completely. */
LinkItem *link_serial_take (LinkSerial * line);
/* Stops or continues the line for flow control. */
void link_serial_set_stopped (LinkSerial * line, gboolean stopped);

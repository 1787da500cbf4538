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
  /* 0 if the line carries the packets of station 0; 1 if it carries the packets
   * of all other stations */
  guint direction;
  guint64 rate;                 /* bytes/s */
  LinkItem *item;               /* packet on the line, or NULL */
  /* size in bytes of the packet on the line, with its framing (SLIP or PPP) */
  guint64 bytes;
  /* Times in ns at which the transmission of the packet on the line begins and
   * ends. Valid while the line is not stopped. */
  guint64 begin, end;
  gboolean stopped;             /* stopped by flow control */
  /* When flow control stops the line, a part of the packet on the line has
   * already been transmitted. This is the size of this part in bytes. */
  guint64 passed;
} LinkSerial;

void link_serial_init (LinkSerial * line, Link * link, guint direction);
/* Begins to transmit the oldest waiting packet. Returns FALSE if no packet
 * waits, the line still transmits another packet, the line is stopped, or the
 * link is not connected. */
gboolean link_serial_start (LinkSerial * line);
/* Returns the time in ns that the line needs to transmit `bytes` bytes. */
guint64 link_serial_get_time (const LinkSerial * line, guint64 bytes);
/* Returns how many bytes of the packet on the line have been transmitted so
 * far.
 */
guint64 link_serial_get_passed (const LinkSerial * line);
/* Returns the time at which the transmission of the packet on the line will
 * end. Returns LINK_NEVER if no packet is on the line, or if the line is
 * stopped. */
guint64 link_serial_next (const LinkSerial * line);
/* Removes the packet from the line and returns it, even if it has not been
 * transmitted completely. */
LinkItem *link_serial_take (LinkSerial * line);
/* Flow control: stops the line if `stopped` is TRUE, otherwise resumes it. */
void link_serial_set_stopped (LinkSerial * line, gboolean stopped);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A packet as the caller of the link sees it: its fate, its times, and its
 * damaged bits.
 */

#pragma once

#include <glib.h>

typedef enum
{
  LINK_FATE_DELIVERED,          /* undamaged */
  LINK_FATE_DAMAGED,            /* delivered with damaged bytes */
  LINK_FATE_QUEUE,              /* lost because the device queue had no room */
  /* lost on the radio, because all transmissions of the packet failed */
  LINK_FATE_AIR,
  /* damaged, and dropped by the receiver's frame check, such as a checksum */
  LINK_FATE_CHECK,
  LINK_FATE_RESET,              /* the link layer was reset */
  /* lost because no data call was connected, or because the call ended */
  LINK_FATE_CALL,
  LINK_FATE_RECEIVER,           /* the receiver was too slow */
  /* lost because it is larger than the maximum packet size of the link */
  LINK_FATE_TOO_BIG,
  LINK_FATE_FRAME,              /* dropped together with its frame */
  LINK_FATE_LAST
} LinkFate;

/* Returns the name of a fate, such as "delivered" or "queue". The log and the
 * statistics use this name. */
const gchar *link_fate_get_name (LinkFate fate);

typedef struct
{
  guint32 offset;               /* offset of the damaged byte in the packet */
  /* mask of the bits of this byte that are inverted; never 0 */
  guint8 flip;
} LinkDamage;

typedef struct _LinkPacket LinkPacket;

struct _LinkPacket
{
  gpointer user;                /* the caller's */
  guint flow;
  guint station;
  /* number of the packet in its flow; the first one is 0 */
  guint64 index;
  /* size of the packet in bytes, without the headers that the link adds */
  guint32 size;
  LinkFate fate;
  guint attempts;               /* transmissions */
  /* 1 for the first duplicate of a packet, 2 for the second one, and so on; 0
   * for the packet itself. The duplicates are output before the packet itself.
   */
  guint copy;
  guint64 arrival;              /* ns */
  /* time in ns at which the packet left the link or was lost */
  guint64 departure;
  /* total time in ns for which the medium was occupied by the packet's
   * transmissions */
  guint64 airtime;
  guint64 jitter;               /* random part of the delay in ns */
  /* TRUE = later packets may overtake this packet */
  gboolean overtaken;
  guint copies;                 /* number of its duplicates */
  guint n_damage;
  /* Array of the damaged bytes of the packet. The array belongs to the link,
   * and is valid until a function of the link is called again. */
  LinkDamage *damage;
};

/* Damages the content of a packet as the link did: inverts those bits that the
 * link damaged. `data` is the content of the packet, and `size` is its size in
 * bytes. */
void link_packet_apply_damage (const LinkPacket * packet, guint8 * data,
    gsize size);

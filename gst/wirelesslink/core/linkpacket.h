/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A packet as the caller of the link sees it: what became of it, when, and which
 * of its bits were damaged.
 */

#pragma once

#include <glib.h>

typedef enum
{
  LINK_FATE_DELIVERED,          /* whole */
  LINK_FATE_DAMAGED,            /* delivered, with bytes changed */
  LINK_FATE_QUEUE,              /* no room in the device queue */
  LINK_FATE_AIR,                /* lost on the air, all attempts failed */
  LINK_FATE_CHECK,              /* damaged, and the frame check found it */
  LINK_FATE_RESET,              /* the link layer gave up and began anew */
  LINK_FATE_CALL,               /* the call broke, or there was none */
  LINK_FATE_RECEIVER,           /* the receiver could not keep up */
  LINK_FATE_TOO_BIG,            /* more than this link carries */
  LINK_FATE_FRAME,              /* given up with the frame that it is of */
  LINK_FATE_LAST
} LinkFate;

/* "delivered", "queue", ...: the words of the log and of the statistics */
const gchar *link_fate_get_name (LinkFate fate);

typedef struct
{
  guint32 offset;               /* byte of the packet */
  guint8 flip;                  /* bits to flip in it, never 0 */
} LinkDamage;

typedef struct _LinkPacket LinkPacket;

struct _LinkPacket
{
  gpointer user;                /* the caller's */
  guint flow;
  guint station;
  guint64 index;                /* number in its flow, from 0 */
  guint32 size;                 /* bytes, without link's own headers */
  LinkFate fate;
  guint attempts;               /* transmissions */
  guint copy;                   /* number of a duplicate, which comes out just
                                 * before its original; 0: the original */
  guint64 arrival;              /* ns */
  guint64 departure;            /* ns, or when its fate was sealed */
  guint64 airtime;              /* ns for which it held the medium */
  guint64 jitter;               /* ns of delay that chance added */
  gboolean overtaken;           /* others may leave before it */
  guint copies;                 /* duplicates of it */
  guint n_damage;
  LinkDamage *damage;           /* the link's, until the next call */
};

/* Flips the bits that the link damaged; size as it was put in */
void link_packet_apply_damage (const LinkPacket * packet, guint8 * data,
    gsize size);

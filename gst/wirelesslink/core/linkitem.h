/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A packet inside the link, with what its queues and models note about it.
 * Private to this core.
 */

#pragma once

#include "linkpacket.h"
#include "linkpattern.h"

typedef struct
{
  LinkPacket p;
  GArray *damage;               /* of LinkDamage, in order; NULL: none */
  const LinkPatternEntry *recorded;     /* what happens to it; NULL: chance */
  guint64 order;                /* of entry into the heap of departures */
  /* the queue's own: the frame that it belongs to */
  gboolean video;
  guint64 stream;
  guint32 timestamp;
  /* the model's own, 0 when an item comes into service */
  guint64 begun, finished;      /* ns */
} LinkItem;

LinkItem *link_item_new (guint flow, guint station, guint32 size,
    gpointer user);
/* What is the caller's goes to user_free, which may be NULL, once: copies share
 * it. */
void link_item_free (LinkItem * item, GDestroyNotify user_free);
void link_item_add_damage (LinkItem * item, guint32 offset, guint8 flip);
/* The damage that was recorded and no other, as far as the packet is long */
void link_item_replay_damage (LinkItem * item);

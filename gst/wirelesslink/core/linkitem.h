/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A packet inside the simulated link, with the state that the queues and the
 * link models store for it. This header is private to the core of the link.
 */

#pragma once

#include "linkpacket.h"
#include "linkpattern.h"

typedef struct
{
  LinkPacket p;
  /* array of the damaged bytes (LinkDamage), sorted by their offset in the
   * packet; NULL if the packet is not damaged */
  GArray *damage;
  /* what happened to this packet in a recorded run that is replayed; NULL = no
   * recording, so the fate of the packet is drawn at random */
  const LinkPatternEntry *recorded;
  /* Sequence number of the packet in the heap of packets that wait for their
   * departure. The packet that entered the heap first has the lowest number. */
  guint64 order;
  /* The following three fields say whether the packet belongs to a video frame,
   * and to which one. Only the queue uses them. */
  gboolean video;
  guint64 stream;
  guint32 timestamp;
  /* The time at which the transmission of the packet begins, and the time at
   * which it ends. Only the model uses these fields. Both are 0 when the model
   * begins to process the packet. */
  guint64 begun, finished;      /* ns */
} LinkItem;

LinkItem *link_item_new (guint flow, guint station, guint32 size,
    gpointer user);
/* Frees the item. The caller of the link has passed a pointer `user` with each
 * packet. `user_free` is called for this pointer, except in two cases:
 * `user_free` is NULL, or the item is a duplicate, which shares the pointer of
 * its original. */
void link_item_free (LinkItem * item, GDestroyNotify user_free);
void link_item_add_damage (LinkItem * item, guint32 offset, guint8 flip);
/* Replaces the list of damaged bytes of the packet by the list that was
 * recorded for the same packet in an earlier run. Damaged bytes beyond the end
 * of the packet are ignored. */
void link_item_replay_damage (LinkItem * item);

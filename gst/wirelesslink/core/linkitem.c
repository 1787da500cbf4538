/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of linkitem.h: a packet inside the simulated link. */

#include "linkitem.h"

LinkItem *
link_item_new (guint flow, guint station, guint32 size, gpointer user)
{
  LinkItem *item = g_slice_new0 (LinkItem);

  item->p.flow = flow;
  item->p.station = station;
  item->p.size = size;
  item->p.user = user;
  return item;
}

void
link_item_free (LinkItem * item, GDestroyNotify user_free)
{
  if (user_free && item->p.copy == 0)
    user_free (item->p.user);
  if (item->damage)
    g_array_unref (item->damage);
  g_slice_free (LinkItem, item);
}

void
link_item_add_damage (LinkItem * item, guint32 offset, guint8 flip)
{
  LinkDamage damage = { offset, flip };

  if (!item->damage)
    item->damage = g_array_new (FALSE, FALSE, sizeof (LinkDamage));
  g_array_append_val (item->damage, damage);
}

void
link_item_replay_damage (LinkItem * item)
{
  const LinkPatternEntry *entry = item->recorded;
  guint i;

  g_clear_pointer (&item->damage, g_array_unref);
  for (i = 0; i < entry->n_damage; i++) {
    if (entry->damage[i].offset < item->p.size)
      link_item_add_damage (item, entry->damage[i].offset,
          entry->damage[i].flip);
  }
}

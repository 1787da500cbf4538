/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Follows the links between elements. The header documents the functions. */

#include "gstbitratewalk.h"

typedef struct
{
  GstBitrateVisit visit;
  gpointer data;
  GHashTable *seen;             /* set of the pads that were visited */
} Walk;

static void walk_from (Walk * walk, GstPad * pad);

static void
walk_link (const GValue * value, gpointer data)
{
  walk_from (data, g_value_get_object (value));
}

/* Visits the pads that are linked to `pad` inside its element. If the pipeline
 * changes during this iteration, the iteration starts again. `seen` ensures
 * that no pad is visited twice. */
static void
walk_internal_links (Walk * walk, GstPad * pad)
{
  GstIterator *links = gst_pad_iterate_internal_links (pad);

  if (!links)
    return;
  while (gst_iterator_foreach (links, walk_link, walk) == GST_ITERATOR_RESYNC)
    gst_iterator_resync (links);
  gst_iterator_free (links);
}

/* Calls walk->visit for the element of `pad`. If walk->visit returns FALSE, the
 * walk continues at the pads to which `pad` is linked inside the element. */
static void
walk_element (Walk * walk, GstPad * pad)
{
  GstObject *parent = gst_pad_get_parent (pad);

  if (parent == NULL)
    return;
  if (GST_IS_GHOST_PAD (parent)) {
    /* The parent of `pad` is a ghost pad, so this link leaves a bin. The walk
     * continues at the ghost pad, outside the bin. */
    walk_from (walk, GST_PAD_CAST (parent));
  } else if (GST_IS_ELEMENT (parent)
      && !walk->visit (GST_ELEMENT_CAST (parent), walk->data)) {
    if (GST_IS_GHOST_PAD (pad)) {
      GstPad *target = gst_ghost_pad_get_target (GST_GHOST_PAD_CAST (pad));

      if (target)
        walk_element (walk, target);
      gst_clear_object (&target);
    } else {
      walk_internal_links (walk, pad);
    }
  }
  gst_object_unref (parent);
}

static void
walk_from (Walk * walk, GstPad * pad)
{
  GstPad *peer;

  if (!g_hash_table_add (walk->seen, pad))
    return;
  peer = gst_pad_get_peer (pad);
  if (peer == NULL)
    return;
  walk_element (walk, peer);
  gst_object_unref (peer);
}

void
gst_bitrate_walk (GstPad * pad, GstBitrateVisit visit, gpointer data)
{
  Walk walk = { visit, data, g_hash_table_new (NULL, NULL) };

  walk_from (&walk, pad);
  g_hash_table_unref (walk.seen);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Looks for the sink downstream of ifdqueue, and warns the user if this sink
 * waits for timestamps (sync=true, the default of udpsink, tcpclientsink and
 * srtsink). Such a sink blocks ifdqueue until the time of each frame. ifdqueue
 * would then drop frames although the network has room for all of them. */

#include "gstifdqueueprivate.h"

/* Maximum number of elements that the search for the sink visits. No pipeline
 * has so many elements. The limit only ensures that the search ends. */
#define MAX_ELEMENTS 100

/* Called to follow a link through the boundary of a bin. `pad` is one of the
 * two pads that form a ghost pad. Returns the pad on the other side of the
 * boundary (transfer full), or NULL if there is none. Takes ownership of `pad`.
 */
static GstPad *
cross_bin (GstPad * pad)
{
  GstPad *next;

  if (GST_IS_GHOST_PAD (pad)) {
    /* `pad` is a ghost pad, so the link leads into a bin. The next pad is the
     * target of the ghost pad, which is inside the bin. */
    next = gst_ghost_pad_get_target (GST_GHOST_PAD (pad));
  } else {
    /* `pad` is the internal pad of a ghost pad, so the link leads out of a bin.
     * The next pad is the peer of the ghost pad, which is outside the bin. */
    GstProxyPad *ghost = gst_proxy_pad_get_internal (GST_PROXY_PAD (pad));

    next = ghost ? gst_pad_get_peer (GST_PAD (ghost)) : NULL;
    gst_clear_object (&ghost);
  }
  gst_object_unref (pad);
  return next;
}

GstElement *
gst_ifd_queue_get_peer_element (GstPad * pad)
{
  GstPad *peer = gst_pad_get_peer (pad);
  GstElement *element = NULL;

  while (peer && GST_IS_PROXY_PAD (peer))
    peer = cross_bin (peer);
  if (peer)
    element = gst_pad_get_parent_element (peer);
  gst_clear_object (&peer);
  return element;
}

/* Returns the only src pad of the element. Returns NULL if the element has no
 * src pad, or if it has several. */
static GstPad *
get_only_src_pad (GstElement * element)
{
  GstPad *pad = NULL;

  GST_OBJECT_LOCK (element);
  if (element->numsrcpads == 1)
    pad = gst_object_ref (element->srcpads->data);
  GST_OBJECT_UNLOCK (element);
  return pad;
}

static GstElement *
find_sink (GstIfdQueue * self)
{
  GstPad *srcpad = gst_object_ref (self->srcpad);
  GstElement *element = NULL;
  guint i;

  for (i = 0; i < MAX_ELEMENTS && srcpad; i++) {
    gst_clear_object (&element);
    element = gst_ifd_queue_get_peer_element (srcpad);
    gst_object_unref (srcpad);
    srcpad = NULL;
    if (element && !GST_OBJECT_FLAG_IS_SET (element, GST_ELEMENT_FLAG_SINK))
      srcpad = get_only_src_pad (element);
  }
  gst_clear_object (&srcpad);
  return element;
}

static gboolean
waits_for_timestamps (GstElement * sink)
{
  GParamSpec *sync =
      g_object_class_find_property (G_OBJECT_GET_CLASS (sink), "sync");
  gboolean waits = FALSE;

  if (!GST_OBJECT_FLAG_IS_SET (sink, GST_ELEMENT_FLAG_SINK))
    return FALSE;
  if (sync && sync->value_type == G_TYPE_BOOLEAN
      && (sync->flags & G_PARAM_READABLE))
    g_object_get (sink, "sync", &waits, NULL);
  return waits;
}

void
gst_ifd_queue_look_downstream (GstIfdQueue * self)
{
  GstElement *sink;
  gboolean sync;

  g_mutex_lock (&self->lock);
  sync = self->paces;
  g_mutex_unlock (&self->lock);
  if (!sync)
    return;
  sink = find_sink (self);
  if (sink && waits_for_timestamps (sink))
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
        ("%s waits for timestamps, too: set sync=false on it.",
            GST_OBJECT_NAME (sink)),
        ("%s paces the frames already. A sink that waits blocks it as a full "
            "network does, and frames are dropped.", GST_OBJECT_NAME (self)));
  gst_clear_object (&sink);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Base class of live sources that receive from a network. The base class has
 * the properties uri, caps, timeout, used-socket, allowed-senders, stats and
 * stats-interval, the URI handler, the timer for statistics, the answer to
 * latency queries, and the unlocking of a waiting thread. A subclass handles
 * the network: it opens and closes its socket, in start and stop or in state
 * changes, and creates buffers in create.
 *
 * In class_init, a subclass also describes its URIs (gstnetworkuri.h) and
 * installs its own properties as a table (gstwirelessproperties.h).
 */

#pragma once

#include <gst/gst.h>
#include <gst/base/gstpushsrc.h>
#include <gio/gio.h>

#include "datagramblock.h"
#include "gstnetworksrcqueue.h"

#define GST_TYPE_NETWORK_SRC (gst_network_src_get_type ())
G_DECLARE_DERIVABLE_TYPE (GstNetworkSrc, gst_network_src, GST, NETWORK_SRC,
    GstPushSrc)

struct _GstNetworkSrcClass
{
  GstPushSrcClass parent_class;

  /* name of the element message that is posted when no packet has arrived for
   * the time `timeout` */
  const gchar *timeout_name;
  GstDebugCategory *category;   /* log category; NULL means networksrc */

  /* Returns the fields of the property `stats` (transfer full); the set of
   * fields is always the same. Called from any thread, without OBJECT_LOCK. */
  GstStructure *(*create_stats) (GstNetworkSrc * self);
  /* Returns the latency in ns: the time from the timestamp of a buffer until
   * the buffer is available. Called from any thread. The subclass posts a
   * LATENCY message when the latency changes. If buffers are timestamped on
   * arrival, this function may be NULL, and the latency is 0. */
  GstClockTime (*get_latency) (GstNetworkSrc * self);
  /* Tells the subclass whether the pipeline is paused. Called with FALSE before
   * the change to PLAYING, and with TRUE after the change to PAUSED. Packets
   * that arrive while a live pipeline is paused must not be played later, so
   * the subclass does not keep them. Packets that arrive before the first
   * change to PLAYING are kept. May be NULL if the subclass receives nothing
   * while paused. */
  void (*set_paused) (GstNetworkSrc * self, gboolean paused);
};

/* --- any thread ----------------------------------------------------------- */

/* gst_network_src_set_used_socket () sets the socket that the source uses, and
 * gst_network_src_get_used_socket () returns it. NULL means that there is none.
 * The property used-socket shows this socket. The source holds its own
 * reference.
 *
 * The caller of both functions holds OBJECT_LOCK, so that the socket changes
 * together with the data that a subclass keeps about it. */
void gst_network_src_set_used_socket (GstNetworkSrc * self, GSocket * socket);
GSocket *gst_network_src_get_used_socket (GstNetworkSrc * self);
/* Sets the queue between the network thread and the streaming thread of the
 * source. During a flush, the base class wakes the streaming thread if it
 * waits for the queue, so that create () can return. A subclass calls this
 * function in its init function. */
void gst_network_src_use_queue (GstNetworkSrc * self,
    GstNetworkSrcQueue * queue);
/* Returns whether the property `caps` is set. */
gboolean gst_network_src_has_caps (GstNetworkSrc * self);
/* Returns the cancellable that is cancelled during a flush; it belongs to the
 * source. Use it for every wait in create, except for
 * gst_network_src_wait_for_queue(). */
GCancellable *gst_network_src_get_cancellable (GstNetworkSrc * self);

/* Call this function once for each received packet. `address` is the address of
 * the sender: 4 bytes of IPv4 or 16 bytes of IPv6, in network byte order.
 * Returns whether the packet is accepted. Counts the packet if it is not
 * accepted. May be called between start and stop. The function does not take
 * OBJECT_LOCK. */
gboolean gst_network_src_allows (GstNetworkSrc * self, const guint8 * address,
    gsize size);

/* Returns a buffer with the bytes of `slice`. The buffer takes ownership of the
 * memory of the slice. */
GstBuffer *gst_network_src_new_buffer (DatagramSlice * slice);
/* Calls gst_live_list_submit () of gstlivesource.h for this source. Call this
 * function only in the create function of the source. */
GstFlowReturn gst_network_src_submit (GstNetworkSrc * self,
    GstBuffer ** buffers, guint n, GstBuffer ** out);

/* --- during a state change --------------------------------------------------
 */

/* Returns the local address to listen on (transfer full). `address` is an IP
 * address, possibly with a scope, or a host name, which is resolved. If the
 * resolution fails or is cancelled, returns NULL with an error. */
GSocketAddress *gst_network_src_find_address (GstNetworkSrc * self,
    const gchar * address, guint16 port, GError ** error);

/* --- in create ------------------------------------------------------------ */

/* Returns the timeout in ns; 0 means that there is no timeout. If no buffer
 * arrives for this time, call gst_network_src_post_timeout (). The timeout may
 * change between calls. */
GstClockTime gst_network_src_get_timeout (GstNetworkSrc * self);
void gst_network_src_post_timeout (GstNetworkSrc * self, GstClockTime timeout);
/* Waits until the queue has an item. Each time the timeout passes during this
 * wait, posts the timeout message. Returns FALSE if the source is flushing. The
 * caller holds the lock of the queue. */
gboolean gst_network_src_wait_for_queue (GstNetworkSrc * self,
    GstNetworkSrcQueue * queue);

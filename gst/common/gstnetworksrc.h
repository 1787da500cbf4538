/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Base class of live sources that receive from a network. The base class has
 * the properties uri, caps, timeout, used-socket, allowed-senders, stats and
 * stats-update-interval. It also has the URI handler, posts statistics at
 * intervals, answers latency queries, and ends the waits of threads during a
 * flush.
 *
 * A subclass handles the network. Its method create makes buffers of what it
 * has received. The subclass opens and closes its socket. Some subclasses do
 * this in their methods start and stop, others during state changes.
 *
 * The class_init function of a subclass also describes the URIs of the subclass
 * (gstnetworkuri.h) and installs the subclass's own properties as a table
 * (gstwirelessproperties.h). */

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

  /* Returns the statistics of the subclass as a structure (transfer full). The
   * base class adds a field of its own to this structure, which then becomes
   * the value of the property `stats`. The subclass always sets the same
   * fields. May be called from any thread. The caller does not hold
   * OBJECT_LOCK. */
  GstStructure *(*create_stats) (GstNetworkSrc * self);
  /* Returns the latency in ns: the time from the timestamp of a buffer until
   * the buffer is available. May be called from any thread. The subclass posts
   * a LATENCY message when the latency changes. This function may be NULL if
   * buffers are timestamped on arrival; the latency is then 0. */
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
 * The first function takes OBJECT_LOCK. The caller of the second one holds
 * OBJECT_LOCK as long as it uses the socket. */
void gst_network_src_set_used_socket (GstNetworkSrc * self, GSocket * socket);
GSocket *gst_network_src_get_used_socket (GstNetworkSrc * self);
/* Sets the queue between the network thread and the streaming thread of the
 * source. If the streaming thread waits for an item when a flush begins, the
 * base class wakes it, so that create () can return. A subclass calls this
 * function in its init function. */
void gst_network_src_use_queue (GstNetworkSrc * self,
    GstNetworkSrcQueue * queue);
/* Returns whether the property `caps` is set. */
gboolean gst_network_src_has_caps (GstNetworkSrc * self);
/* Returns the cancellable that the source cancels during a flush, to end the
 * waits in create. It belongs to the source. The subclass uses it for every
 * wait in create except gst_network_src_wait_for_queue (), which ends during a
 * flush without a cancellable. */
GCancellable *gst_network_src_get_cancellable (GstNetworkSrc * self);

/* Returns whether the source accepts packets from a sender, as the property
 * allowed-senders demands. If not, counts the packet in the field `not-allowed`
 * of `stats`, and the caller drops the packet. Call this function once for each
 * received packet. `address` is the address of the sender: 4 bytes of IPv4 or
 * 16 bytes of IPv6, in network byte order. May be called between start and
 * stop. The function does not take OBJECT_LOCK. */
gboolean gst_network_src_allows (GstNetworkSrc * self, const guint8 * address,
    gsize size);

/* Returns a buffer with the bytes of `slice`, which are not copied. The buffer
 * takes ownership of the memory of the slice, and the slice becomes empty. */
GstBuffer *gst_network_src_new_buffer (DatagramSlice * slice);
/* Passes buffers to GstBaseSrc: a single buffer through `out`, several buffers
 * as a list. If the source is flushing, drops the buffers and returns
 * GST_FLOW_FLUSHING. Takes ownership of the buffers. Call this function only in
 * the method create. gst_live_list_submit () in gstlivesource.h does the work.
 */
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

/* Returns the value of the property `timeout` in ns; 0 means that there is no
 * timeout. If no buffer has arrived for this time, the subclass calls
 * gst_network_src_post_timeout (). The value may change between calls. */
GstClockTime gst_network_src_get_timeout (GstNetworkSrc * self);
void gst_network_src_post_timeout (GstNetworkSrc * self, GstClockTime timeout);
/* Waits until the queue has an item. Posts the timeout message each time the
 * property `timeout` has elapsed without an item during this wait. Returns
 * FALSE if the source is flushing. The caller holds the lock of the queue. The
 * function releases the lock while it waits. */
gboolean gst_network_src_wait_for_queue (GstNetworkSrc * self,
    GstNetworkSrcQueue * queue);

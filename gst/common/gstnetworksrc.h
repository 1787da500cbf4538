/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Base class of live sources that receive from a network. It has what they all
 * have: the properties uri, caps, timeout, used-socket, allowed-senders, stats and
 * stats-interval, the URI handler, the statistics' timer, the latency, and what
 * ends a wait. A subclass knows the network: it opens and closes its socket in
 * start and stop or in changes of state, and makes buffers in create.
 *
 * A subclass says in class_init what its URIs are (gstnetworkuri.h), and keeps its
 * other properties in a table (gstwirelessproperties.h), too.
 */

#pragma once

#include <gst/gst.h>
#include <gst/base/gstpushsrc.h>
#include <gio/gio.h>

#define GST_TYPE_NETWORK_SRC (gst_network_src_get_type ())
G_DECLARE_DERIVABLE_TYPE (GstNetworkSrc, gst_network_src, GST, NETWORK_SRC,
    GstPushSrc)

struct _GstNetworkSrcClass
{
  GstPushSrcClass parent_class;

  const gchar *timeout_name;    /* of the message that says that nothing came */
  GstDebugCategory *category;   /* of the log; NULL: networksrc */

  /* What `stats` has, always the same fields; any thread, no OBJECT_LOCK */
  GstStructure *(*create_stats) (GstNetworkSrc * self);
  /* ns from when a buffer is due to when it is here; any thread. NULL: none, as
   * buffers have the time of their arrival. Who changes it posts a LATENCY
   * message. */
  GstClockTime (*get_latency) (GstNetworkSrc * self);
  /* TRUE: nothing waits from here on, as the cancellable says too; FALSE: this
   * is over. Any thread. NULL: the source waits with the cancellable only. */
  void (*set_flushing) (GstNetworkSrc * self, gboolean flushing);
  /* FALSE before PLAYING, TRUE behind it. What comes while a live pipeline is
   * paused is not played later; but before it plays first the stream's beginning
   * is kept. NULL: nothing comes then */
  void (*set_paused) (GstNetworkSrc * self, gboolean paused);
};

/* --- any thread ----------------------------------------------------------- */

/* What is in use, NULL: none; the property tells it. With OBJECT_LOCK, so that
 * it changes together with what a subclass keeps of it; the source's own */
void gst_network_src_set_used_socket (GstNetworkSrc * self, GSocket * socket);
GSocket *gst_network_src_get_used_socket (GstNetworkSrc * self);
/* Whether the property says what caps the stream has */
gboolean gst_network_src_has_caps (GstNetworkSrc * self);
/* Cancelled during a flush, and the source's own: for whatever waits in create. A
 * subclass that waits otherwise too has set_flushing. */
GCancellable *gst_network_src_get_cancellable (GstNetworkSrc * self);

/* Whether packets from this address are wanted: 4 bytes of IPv4 or 16 of IPv6 in
 * network order. One that is not is counted. From start to stop; OBJECT_LOCK is not
 * taken */
gboolean gst_network_src_allows (GstNetworkSrc * self, const guint8 * address,
    gsize size);

/* In create: gst_live_list_submit (gstlivesource.h) for this source */
GstFlowReturn gst_network_src_submit (GstNetworkSrc * self,
    GstBuffer ** buffers, guint n, GstBuffer ** out);

/* --- in a change of state ------------------------------------------------- */

/* Of this host, to listen at: an address, with a scope too, or a name, which is
 * looked up. NULL: error, or cancelled */
GSocketAddress *gst_network_src_find_address (GstNetworkSrc * self,
    const gchar * address, guint16 port, GError ** error);

/* --- in create ------------------------------------------------------------ */

/* ns without a buffer after which timeout is to be told; 0: never. It may be
 * another one each time. */
GstClockTime gst_network_src_get_timeout (GstNetworkSrc * self);
void gst_network_src_tell_timeout (GstNetworkSrc * self, GstClockTime timeout);
/* Waits until a queue that another thread fills has something, or until flushing,
 * and tells timeout meanwhile. All is protected by the lock, with which it is called
 * and returns; `cond` is signalled when one of them changes. */
void gst_network_src_wait_for_queue (GstNetworkSrc * self, GMutex * lock,
    GCond * cond, GQueue * queue, const gboolean * flushing);

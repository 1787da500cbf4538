/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of gstnetworksrc.h: the base class of live network sources. */

#include "gstnetworksrc.h"
#include "gstwronginput.h"

#include <string.h>

#include "addresslist.h"
#include "datagramsocket.h"
#include "gstlivesource.h"
#include "gstnetworkuri.h"
#include "gststatstimer.h"

GST_DEBUG_CATEGORY_STATIC (gst_network_src_debug);
/* Log category that macros such as GST_DEBUG_OBJECT use. Each subclass can have
 * a category of its own. The macros use the category of the class of `self`. */
#define GST_CAT_DEFAULT (get_category (self))

typedef struct
{
  /* protected by OBJECT_LOCK */
  /* Value of the property caps; NULL if the property is not set. Without this
   * property, the source uses the caps that the stream itself contains, or ANY.
   */
  GstCaps *caps;
  GSocket *used_socket;         /* NULL: no socket is open */
  GstClockTime timeout;         /* in ns; 0: no timeout */
  gchar *allowed_senders;       /* NULL: all senders are allowed */

  GCancellable *cancellable;    /* has its own lock */
  GstLiveFlush flush;           /* has its own lock */
  /* Queue between the network thread and the streaming thread of the source;
   * NULL if the source does not use such a queue. The pointer does not change
   * after init. The queue has its own lock. */
  GstNetworkSrcQueue *queue;

  /* The addresses in the property allowed-senders; NULL means that all senders
   * are allowed. The list is created in the state change from READY to PAUSED
   * and does not change at other times. */
  AddressList *allowed;         /* NULL: all senders are allowed */
  /* protects `not_allowed`; a thread that holds this lock takes no other lock
   */
  GMutex lock;
  /* number of dropped packets whose sender is not in `allowed`; protected by
   * `lock` */
  guint64 not_allowed;
} GstNetworkSrcPrivate;

#define gst_network_src_parent_class parent_class
G_DEFINE_ABSTRACT_TYPE_WITH_CODE (GstNetworkSrc, gst_network_src,
    GST_TYPE_PUSH_SRC, G_ADD_PRIVATE (GstNetworkSrc);
    GST_IMPLEMENT_NETWORK_URI;
    GST_DEBUG_CATEGORY_INIT (gst_network_src_debug, "networksrc", 0,
        "Base class of network sources"));

static GstDebugCategory *
get_category (GstNetworkSrc * self)
{
  GstDebugCategory *category = GST_NETWORK_SRC_GET_CLASS (self)->category;

  return category ? category : gst_network_src_debug;
}

static GstNetworkSrcPrivate *
get_private (GstNetworkSrc * self)
{
  return gst_network_src_get_instance_private (self);
}

/* --- statistics ----------------------------------------------------------- */

static GstStructure *
create_stats (GstElement * element)
{
  GstNetworkSrc *self = GST_NETWORK_SRC (element);
  GstNetworkSrcPrivate *priv = get_private (self);
  GstStructure *stats = GST_NETWORK_SRC_GET_CLASS (self)->create_stats (self);
  guint64 not_allowed;

  g_mutex_lock (&priv->lock);
  not_allowed = priv->not_allowed;
  g_mutex_unlock (&priv->lock);
  gst_structure_set (stats, "not-allowed", G_TYPE_UINT64, not_allowed, NULL);
  return stats;
}

/* --- allowed senders ------------------------------------------------------ */

static void
clear_not_allowed (GstNetworkSrcPrivate * priv)
{
  g_mutex_lock (&priv->lock);
  priv->not_allowed = 0;
  g_mutex_unlock (&priv->lock);
}

/* Reads the list of allowed senders from the property. If the list is invalid,
 * posts an error and returns FALSE. */
static gboolean
read_allowed_senders (GstNetworkSrc * self)
{
  GstNetworkSrcPrivate *priv = get_private (self);
  GError *error = NULL;
  gchar *text;

  GST_OBJECT_LOCK (self);
  text = g_strdup (priv->allowed_senders);
  GST_OBJECT_UNLOCK (self);
  g_clear_pointer (&priv->allowed, address_list_free);
  clear_not_allowed (priv);
  if (text)
    priv->allowed = address_list_new (text, &error);
  g_free (text);
  if (!error)
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
      ("Could not use allowed-senders: %s. Separate addresses and prefixes by "
          "commas, or leave the property unset to allow all senders.",
          error->message), (NULL));
  g_error_free (error);
  return FALSE;
}

gboolean
gst_network_src_allows (GstNetworkSrc * self, const guint8 * address,
    gsize size)
{
  GstNetworkSrcPrivate *priv = get_private (self);

  if (!priv->allowed || address_list_contains (priv->allowed, address, size))
    return TRUE;
  GST_DEBUG_OBJECT (self, "dropped a packet: not-allowed: allowed-senders does "
      "not name its sender");
  g_mutex_lock (&priv->lock);
  priv->not_allowed++;
  g_mutex_unlock (&priv->lock);
  return FALSE;
}

/* --- for subclasses ------------------------------------------------------- */

void
gst_network_src_set_used_socket (GstNetworkSrc * self, GSocket * socket)
{
  GST_OBJECT_LOCK (self);
  g_set_object (&get_private (self)->used_socket, socket);
  GST_OBJECT_UNLOCK (self);
}

GSocket *
gst_network_src_get_used_socket (GstNetworkSrc * self)
{
  return get_private (self)->used_socket;
}

gboolean
gst_network_src_has_caps (GstNetworkSrc * self)
{
  gboolean has;

  GST_OBJECT_LOCK (self);
  has = get_private (self)->caps != NULL;
  GST_OBJECT_UNLOCK (self);
  return has;
}

GCancellable *
gst_network_src_get_cancellable (GstNetworkSrc * self)
{
  return get_private (self)->cancellable;
}

GstBuffer *
gst_network_src_new_buffer (DatagramSlice * slice)
{
  const DatagramSlice taken = *slice;

  memset (slice, 0, sizeof (*slice));
  if (taken.size > 0)
    return gst_buffer_new_wrapped_full (0, (gpointer) taken.bytes, taken.size,
        0, taken.size, taken.block, (GDestroyNotify) datagram_block_unref);
  datagram_block_unref (taken.block);
  return gst_buffer_new ();
}

GstFlowReturn
gst_network_src_submit (GstNetworkSrc * self, GstBuffer ** buffers, guint n,
    GstBuffer ** out)
{
  if (n > 1)
    GST_LOG_OBJECT (self, "pushes %u packets", n);
  else
    GST_LOG_OBJECT (self, "pushes %" GST_PTR_FORMAT, buffers[0]);
  return gst_live_list_submit (&get_private (self)->flush, buffers, n, out);
}

GSocketAddress *
gst_network_src_find_address (GstNetworkSrc * self, const gchar * address,
    guint16 port, GError ** error)
{
  GList *found = datagram_resolve (address, port,
      get_private (self)->cancellable, error);
  GSocketAddress *first = found ? g_object_ref (found->data) : NULL;

  g_list_free_full (found, g_object_unref);
  return first;
}

GstClockTime
gst_network_src_get_timeout (GstNetworkSrc * self)
{
  GstClockTime timeout;

  GST_OBJECT_LOCK (self);
  timeout = get_private (self)->timeout;
  GST_OBJECT_UNLOCK (self);
  return timeout;
}

void
gst_network_src_post_timeout (GstNetworkSrc * self, GstClockTime timeout)
{
  GstNetworkSrcClass *klass = GST_NETWORK_SRC_GET_CLASS (self);

  GST_DEBUG_OBJECT (self, "no packet came for %" GST_TIME_FORMAT,
      GST_TIME_ARGS (timeout));
  gst_element_post_message (GST_ELEMENT_CAST (self),
      gst_message_new_element (GST_OBJECT_CAST (self),
          gst_structure_new (klass->timeout_name,
              "timeout", G_TYPE_UINT64, timeout, NULL)));
}

void
gst_network_src_use_queue (GstNetworkSrc * self, GstNetworkSrcQueue * queue)
{
  get_private (self)->queue = queue;
}

/* Waits until the queue has an item, or until a flush begins. The wait ends at
 * the latest `timeout` ns after `since`, which is a monotonic time in us. If
 * `timeout` is 0, there is no such limit. Returns FALSE if the wait has ended
 * because of the timeout. */
static gboolean
wait_until_changed (GstNetworkSrcQueue * queue, gint64 since,
    GstClockTime timeout)
{
  gboolean is_signalled = TRUE;

  queue->is_waiting = TRUE;
  if (timeout == 0)
    g_cond_wait (&queue->cond, queue->lock);
  else
    is_signalled = g_cond_wait_until (&queue->cond, queue->lock,
        since + (gint64) (timeout / GST_USECOND));
  queue->is_waiting = FALSE;
  return is_signalled;
}

static gboolean
is_idle (const GstNetworkSrcQueue * queue)
{
  return !queue->flushing && gst_network_src_queue_get_length (queue) == 0;
}

gboolean
gst_network_src_wait_for_queue (GstNetworkSrc * self,
    GstNetworkSrcQueue * queue)
{
  GstClockTime timeout;
  gint64 since;

  if (!is_idle (queue))
    return !queue->flushing;
  g_mutex_unlock (queue->lock);
  since = g_get_monotonic_time ();
  timeout = gst_network_src_get_timeout (self);
  g_mutex_lock (queue->lock);
  while (is_idle (queue)) {
    if (wait_until_changed (queue, since, timeout))
      continue;
    g_mutex_unlock (queue->lock);
    gst_network_src_post_timeout (self, timeout);
    since = g_get_monotonic_time ();
    timeout = gst_network_src_get_timeout (self);
    g_mutex_lock (queue->lock);
  }
  return !queue->flushing;
}

/* --- properties ----------------------------------------------------------- */

static void
set_caps (gpointer object, const GValue * value, GParamSpec * pspec)
{
  GstNetworkSrc *self = GST_NETWORK_SRC (object);
  GstNetworkSrcPrivate *priv = get_private (self);
  const GstCaps *caps = gst_value_get_caps (value);

  GST_OBJECT_LOCK (self);
  gst_caps_replace (&priv->caps, NULL);
  priv->caps = caps ? gst_caps_copy (caps) : NULL;
  GST_OBJECT_UNLOCK (self);
  gst_pad_mark_reconfigure (GST_BASE_SRC_PAD (self));
}

static void
get_caps (gpointer object, GValue * value, GParamSpec * pspec)
{
  GST_OBJECT_LOCK (object);
  gst_value_set_caps (value, get_private (object)->caps);
  GST_OBJECT_UNLOCK (object);
}

#define PROPERTY_STRUCT GstNetworkSrcPrivate
static const GstWirelessProperty properties[] = {
  PROPERTY_NETWORK_URI
      ("URI scheme://address:port?key=value&..., where each key is a property, "
      "or media, encoding-name, payload or clock-rate of RTP caps; reading "
      "returns scheme://address:port", NULL),
  PROPERTY_COMPUTED ("caps", "Caps",
      "Caps of the stream (unset = any)",
      PROPERTY_PLAYING | PROPERTY_URI, 0, gst_caps_get_type,
      .set = set_caps,
      .get = get_caps),
  PROPERTY_UINT64 ("timeout", "Timeout",
      "Time without a packet after which an element message is posted (ns, "
      "as in udpsrc, 0 = never)", PROPERTY_PLAYING | PROPERTY_URI, timeout, 0,
      G_MAXUINT64, 0),
  PROPERTY_OBJECT ("used-socket", "Used socket",
      "Socket in use (NULL = no socket is open)", PROPERTY_READABLE,
      used_socket,
      g_socket_get_type),

  /**
   * GstNetworkSrc:allowed-senders:
   *
   * If this list is set, packets from all other addresses are dropped without
   * an answer, and counted as `not-allowed` in #GstNetworkSrc:stats. Only the
   * source address is checked. A sender that forges its source address can
   * therefore pretend to be an allowed sender.
   */
  PROPERTY_STRING ("allowed-senders", "Allowed senders",
      "IP addresses and prefixes from which packets are accepted, as a comma "
      "separated list, such as 192.0.2.7,198.51.100.0/24,2001:db8::/32 "
      "(unset = all)", PROPERTY_READY, allowed_senders, NULL),

  /**
   * GstNetworkSrc:stats:
   *
   * Counters of packets that were received, refused and lost. The counters
   * start at 0 when the socket is opened, and never decrease.
   */
  PROPERTY_STATS
      ("Number of received packets, and number of refused and lost packets by "
      "reason, since the socket was opened",
      create_stats),

  /**
   * GstNetworkSrc:stats-update-interval:
   *
   * Interval at which #GstNetworkSrc:stats is posted as an element message
   * while the pipeline plays, measured with the pipeline's clock.
   */
  PROPERTY_STATS_INTERVAL (STATS_INTERVAL_BLURB, G_MAXINT64),
};

/* --- methods of GstBaseSrc --------------------------------------------------
 */

static GstCaps *
gst_network_src_get_caps (GstBaseSrc * src, GstCaps * filter)
{
  GstNetworkSrc *self = GST_NETWORK_SRC (src);
  GstNetworkSrcPrivate *priv = get_private (self);
  GstCaps *caps, *filtered;

  GST_OBJECT_LOCK (self);
  caps = priv->caps ? gst_caps_ref (priv->caps) : gst_caps_new_any ();
  GST_OBJECT_UNLOCK (self);
  if (!filter)
    return caps;
  filtered = gst_caps_intersect_full (filter, caps, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (caps);
  return filtered;
}

static gboolean
gst_network_src_query (GstBaseSrc * src, GstQuery * query)
{
  GstNetworkSrc *self = GST_NETWORK_SRC (src);
  GstNetworkSrcClass *klass = GST_NETWORK_SRC_GET_CLASS (self);

  if (GST_QUERY_TYPE (query) != GST_QUERY_LATENCY || !klass->get_latency)
    return GST_BASE_SRC_CLASS (parent_class)->query (src, query);
  gst_query_set_latency (query, TRUE, klass->get_latency (self),
      GST_CLOCK_TIME_NONE);
  return TRUE;
}

static void
set_flushing (GstBaseSrc * src, gboolean flushing)
{
  GstNetworkSrc *self = GST_NETWORK_SRC (src);
  GCancellable *cancellable = get_private (self)->cancellable;

  if (get_private (self)->queue)
    gst_network_src_queue_set_flushing (get_private (self)->queue, flushing);
  if (flushing)
    g_cancellable_cancel (cancellable);
  else
    g_cancellable_reset (cancellable);
}

static gboolean
gst_network_src_unlock (GstBaseSrc * src)
{
  gst_live_flush_unlock (&get_private (GST_NETWORK_SRC (src))->flush);
  return TRUE;
}

static gboolean
gst_network_src_unlock_stop (GstBaseSrc * src)
{
  gst_live_flush_unlock_stop (&get_private (GST_NETWORK_SRC (src))->flush);
  return TRUE;
}

static GstFlowReturn
gst_network_src_create (GstBaseSrc * src, guint64 offset, guint size,
    GstBuffer ** buffer)
{
  gst_live_flush_begin_create (&get_private (GST_NETWORK_SRC (src))->flush);
  return GST_BASE_SRC_CLASS (parent_class)->create (src, offset, size, buffer);
}

/* --- life cycle -------------------------------------------------------------
 */

static GstStateChangeReturn
gst_network_src_change_state (GstElement * element, GstStateChange transition)
{
  GstNetworkSrc *self = GST_NETWORK_SRC (element);
  GstNetworkSrcClass *klass = GST_NETWORK_SRC_GET_CLASS (self);
  GstStateChangeReturn result;

  GST_DEBUG_OBJECT (self, "%s", gst_state_change_get_name (transition));
  /* A flush cancels the cancellable, and unlock_stop resets it. A start method
   * that resolves a host name needs a cancellable that was reset. In the change
   * to PAUSED, however, GstBaseSrc calls unlock_stop only after start. The
   * cancellable is therefore reset here, before start. */
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    g_cancellable_reset (get_private (self)->cancellable);
    if (!gst_network_uri_check (element) || !read_allowed_senders (self))
      return GST_STATE_CHANGE_FAILURE;
  }
  if (transition == GST_STATE_CHANGE_PLAYING_TO_PAUSED)
    gst_stats_timer_stop (element);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_PLAYING && klass->set_paused)
    klass->set_paused (self, FALSE);
  result = gst_live_flush_change_state (&get_private (self)->flush,
      GST_ELEMENT_CLASS (parent_class), transition);
  if (transition == GST_STATE_CHANGE_PLAYING_TO_PAUSED && klass->set_paused)
    klass->set_paused (self, TRUE);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_PLAYING
      && result != GST_STATE_CHANGE_FAILURE)
    gst_stats_timer_start (element, create_stats);
  return result;
}

static void
gst_network_src_init (GstNetworkSrc * self)
{
  GstNetworkSrcPrivate *priv = get_private (self);
  GstBaseSrc *src = GST_BASE_SRC (self);

  gst_wireless_properties_init (self, GST_TYPE_NETWORK_SRC);
  priv->cancellable = g_cancellable_new ();
  g_mutex_init (&priv->lock);
  gst_live_flush_init (&priv->flush, src, set_flushing);
  gst_base_src_set_live (src, TRUE);
  gst_base_src_set_format (src, GST_FORMAT_TIME);
}

static void
gst_network_src_finalize (GObject * object)
{
  GstNetworkSrcPrivate *priv = get_private (GST_NETWORK_SRC (object));

  gst_caps_replace (&priv->caps, NULL);
  g_clear_object (&priv->used_socket);
  g_object_unref (priv->cancellable);
  g_clear_pointer (&priv->allowed, address_list_free);
  gst_wireless_properties_clear (object, GST_TYPE_NETWORK_SRC);
  g_mutex_clear (&priv->lock);
  gst_live_flush_clear (&priv->flush);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_network_src_class_init (GstNetworkSrcClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstBaseSrcClass *src_class = GST_BASE_SRC_CLASS (klass);

  object_class->finalize = gst_network_src_finalize;
  gst_wrong_input_drop_start_error (GST_ELEMENT_CLASS (klass));
  GST_ELEMENT_CLASS (klass)->change_state = gst_network_src_change_state;
  src_class->get_caps = gst_network_src_get_caps;
  src_class->query = gst_network_src_query;
  src_class->unlock = gst_network_src_unlock;
  src_class->unlock_stop = gst_network_src_unlock_stop;
  src_class->create = gst_network_src_create;
  gst_wireless_properties_install (object_class, properties,
      G_N_ELEMENTS (properties),
      g_type_class_get_instance_private_offset (klass),
      GST_WIRELESS_OBJECT_LOCK);

  gst_type_mark_as_plugin_api (GST_TYPE_NETWORK_SRC, 0);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element side of GstNetworkSink: properties, statistics, changes of state.
 * See the header for what it promises, gstnetworksinkprivate.h for its threads.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstnetworksinkprivate.h"

#include "gststructmembers.h"

GST_DEBUG_CATEGORY (gst_network_sink_debug);

#define DEFAULT_WAIT_FOR_CONNECTION TRUE
#define DEFAULT_AUTO_RECONNECT TRUE
#define DEFAULT_BLOCKING TRUE
#define DEFAULT_TIMEOUT (10 * GST_SECOND)
#define DEFAULT_EOS_TIMEOUT (2 * GST_SECOND)
#define DEFAULT_STATS_INTERVAL 0
/* Times become microseconds in a gint64, added to the present. */
#define LONGEST_TIME (G_MAXINT64 / 2)

enum
{
  PROP_0,
  PROP_WAIT_FOR_CONNECTION,
  PROP_AUTO_RECONNECT,
  PROP_BLOCKING,
  PROP_TIMEOUT,
  PROP_EOS_TIMEOUT,
  PROP_STATS,
  PROP_STATS_INTERVAL,
  PROP_LAST
};

static GParamSpec *properties[PROP_LAST];

#define gst_network_sink_parent_class parent_class
G_DEFINE_ABSTRACT_TYPE_WITH_CODE (GstNetworkSink, gst_network_sink,
    GST_TYPE_BASE_SINK, G_ADD_PRIVATE (GstNetworkSink);
    GST_DEBUG_CATEGORY_INIT (gst_network_sink_debug, "networksink", 0,
        "Base class of network sinks"));

/* --- statistics, from any thread ------------------------------------------ */

static const gchar *const state_names[] = {
  "idle", "connecting", "pausing", "connected", "broken", "failed"
};

#define COUNTER(name, member) \
    { name, G_TYPE_UINT64, G_STRUCT_OFFSET (Counters, member) }

static const GstWirelessStatsField stats_fields[] = {
  COUNTER ("connections", connections),
  COUNTER ("connect-attempts", connect_attempts),
  COUNTER ("packets-sent", packets_sent),
  COUNTER ("bytes-sent", bytes_sent),
  COUNTER ("dropped-not-connected", dropped[DROP_NOT_CONNECTED]),
  COUNTER ("dropped-full", dropped[DROP_FULL]),
  COUNTER ("dropped-rest-of-frame", dropped[DROP_REST_OF_FRAME]),
  COUNTER ("dropped-no-key-frame", dropped[DROP_NO_KEY_FRAME]),
  COUNTER ("dropped-broken", dropped[DROP_BROKEN]),
  COUNTER ("dropped-unsendable", dropped[DROP_UNSENDABLE]),
  COUNTER ("dropped-eos-timeout", dropped[DROP_EOS_TIMEOUT]),
  COUNTER ("bytes-dropped", bytes_dropped),
  COUNTER ("failures-closed", failures[FAILURE_CLOSED]),
  COUNTER ("failures-reset", failures[FAILURE_RESET]),
  COUNTER ("failures-timeout", failures[FAILURE_TIMEOUT]),
  COUNTER ("failures-refused", failures[FAILURE_REFUSED]),
  COUNTER ("failures-unreachable", failures[FAILURE_UNREACHABLE]),
  COUNTER ("failures-not-found", failures[FAILURE_NOT_FOUND]),
  COUNTER ("failures-other", failures[FAILURE_OTHER]),
  COUNTER ("eos-timeouts", eos_timeouts),
  COUNTER ("time-blocked", time_blocked),
  COUNTER ("time-unconnected", time_unconnected),
};

#undef COUNTER

static guint64
time_since (gint64 begin)
{
  return begin ? (g_get_monotonic_time () - begin) * GST_USECOND : 0;
}

GstStructure *
gst_network_sink_create_stats (GstNetworkSink * self)
{
  GstNetworkSinkClass *klass = GST_NETWORK_SINK_GET_CLASS (self);
  GstNetworkSinkPrivate *priv = self->priv;
  GstStructure *stats = gst_structure_new_empty (klass->stats_name ?
      klass->stats_name : "application/x-network-sink-stats");
  ConnectionState state;
  Counters counters;

  LOCK (self);
  state = priv->state;
  counters = priv->counters;
  counters.time_blocked += time_since (priv->blocked_since);
  counters.time_unconnected += time_since (priv->unconnected_since);
  UNLOCK (self);

  gst_structure_set (stats, "state", G_TYPE_STRING, state_names[state], NULL);
  gst_wireless_stats_fill (stats, stats_fields, G_N_ELEMENTS (stats_fields),
      &counters);
  if (klass->fill_stats)
    klass->fill_stats (self, stats);
  return stats;
}

static GstStructure *
create_stats (GstElement * element)
{
  return gst_network_sink_create_stats (GST_NETWORK_SINK (element));
}

/* --- properties ----------------------------------------------------------- */

void
gst_network_sink_pause (GCancellable * cancellable, gint milliseconds)
{
  GPollFD fd;

  if (!g_cancellable_make_pollfd (cancellable, &fd)) {
    g_usleep (milliseconds * 1000);
    return;
  }
  g_poll (&fd, 1, milliseconds);
  g_cancellable_release_fd (cancellable);
}

static void
gst_network_sink_set_property (GObject * object, guint id,
    const GValue * value, GParamSpec * pspec)
{
  GstNetworkSink *self = GST_NETWORK_SINK (object);
  GstNetworkSinkPrivate *priv = self->priv;

  if (id == PROP_STATS_INTERVAL) {
    gst_stats_timer_set_interval (&priv->stats_timer, GST_ELEMENT_CAST (self),
        g_value_get_uint64 (value));
    return;
  }
  LOCK (self);
  switch (id) {
    case PROP_WAIT_FOR_CONNECTION:
      priv->wait_for_connection = g_value_get_boolean (value);
      break;
    case PROP_AUTO_RECONNECT:
      priv->auto_reconnect = g_value_get_boolean (value);
      break;
    case PROP_BLOCKING:
      priv->blocking = g_value_get_boolean (value);
      break;
    case PROP_TIMEOUT:
      priv->timeout = g_value_get_uint64 (value);
      break;
    case PROP_EOS_TIMEOUT:
      priv->eos_timeout = g_value_get_uint64 (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  g_cond_broadcast (&priv->cond);
  UNLOCK (self);
}

static void
gst_network_sink_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstNetworkSink *self = GST_NETWORK_SINK (object);
  GstNetworkSinkPrivate *priv = self->priv;

  if (id == PROP_STATS_INTERVAL) {
    g_value_set_uint64 (value, gst_stats_timer_get_interval (&priv->stats_timer,
            GST_ELEMENT_CAST (self)));
    return;
  }
  if (id == PROP_STATS) {
    g_value_take_boxed (value, gst_network_sink_create_stats (self));
    return;
  }
  LOCK (self);
  switch (id) {
    case PROP_WAIT_FOR_CONNECTION:
      g_value_set_boolean (value, priv->wait_for_connection);
      break;
    case PROP_AUTO_RECONNECT:
      g_value_set_boolean (value, priv->auto_reconnect);
      break;
    case PROP_BLOCKING:
      g_value_set_boolean (value, priv->blocking);
      break;
    case PROP_TIMEOUT:
      g_value_set_uint64 (value, priv->timeout);
      break;
    case PROP_EOS_TIMEOUT:
      g_value_set_uint64 (value, priv->eos_timeout);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  UNLOCK (self);
}

/* --- life ----------------------------------------------------------------- */

static void
leave_paused (GstNetworkSink * self)
{
  gst_network_sink_join_connection (self);
  gst_network_sink_reset_render (self);
}

/* GstBaseSink would start in READY. There the properties still count. */
static GstStateChangeReturn
gst_network_sink_change_state (GstElement * element, GstStateChange transition)
{
  GstNetworkSink *self = GST_NETWORK_SINK (element);
  GstStateChangeReturn done;

  switch (transition) {
    case GST_STATE_CHANGE_READY_TO_PAUSED:
      gst_network_sink_start_connection (self);
      break;
    case GST_STATE_CHANGE_PLAYING_TO_PAUSED:
      gst_stats_timer_stop (&self->priv->stats_timer, element);
      break;
    case GST_STATE_CHANGE_PAUSED_TO_READY:
      gst_network_sink_cancel_connection (self);
      break;
    default:
      break;
  }

  done = GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED
      && done == GST_STATE_CHANGE_FAILURE) {
    gst_network_sink_cancel_connection (self);
    leave_paused (self);
  }
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    leave_paused (self);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_PLAYING
      && done != GST_STATE_CHANGE_FAILURE)
    gst_stats_timer_start (&self->priv->stats_timer, element, create_stats);
  return done;
}

static void
gst_network_sink_init (GstNetworkSink * self)
{
  GstNetworkSinkPrivate *priv = gst_network_sink_get_instance_private (self);

  self->priv = priv;
  g_mutex_init (&priv->lock);
  g_cond_init (&priv->cond);
  priv->connection_cancellable = g_cancellable_new ();
  priv->send_cancellable = g_cancellable_new ();
  priv->wait_for_connection = DEFAULT_WAIT_FOR_CONNECTION;
  priv->auto_reconnect = DEFAULT_AUTO_RECONNECT;
  priv->blocking = DEFAULT_BLOCKING;
  priv->timeout = DEFAULT_TIMEOUT;
  priv->eos_timeout = DEFAULT_EOS_TIMEOUT;
  priv->stats_timer.interval = DEFAULT_STATS_INTERVAL;
  gst_network_sink_reset_render (self);
  /* See gst_network_sink_send_event. */
  GST_OBJECT_FLAG_SET (self, GST_ELEMENT_FLAG_SOURCE);
}

static void
gst_network_sink_finalize (GObject * object)
{
  GstNetworkSinkPrivate *priv = GST_NETWORK_SINK (object)->priv;

  g_clear_error (&priv->error);
  g_object_unref (priv->connection_cancellable);
  g_object_unref (priv->send_cancellable);
  g_mutex_clear (&priv->lock);
  g_cond_clear (&priv->cond);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_network_sink_class_init (GstNetworkSinkClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSinkClass *sink_class = GST_BASE_SINK_CLASS (klass);
  const GParamFlags playing = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
      | GST_PARAM_MUTABLE_PLAYING;

  object_class->set_property = gst_network_sink_set_property;
  object_class->get_property = gst_network_sink_get_property;
  object_class->finalize = gst_network_sink_finalize;
  element_class->change_state = gst_network_sink_change_state;
  element_class->send_event = gst_network_sink_send_event;
  sink_class->render = gst_network_sink_render;
  sink_class->render_list = gst_network_sink_render_list;
  sink_class->wait_event = gst_network_sink_wait_event;
  sink_class->event = gst_network_sink_event;
  sink_class->unlock = gst_network_sink_unlock;
  sink_class->unlock_stop = gst_network_sink_unlock_stop;

  /**
   * GstNetworkSink:wait-for-connection:
   *
   * Wait with the stream until the receiver is there. Otherwise what comes
   * before is dropped, and counted as `dropped-not-connected`.
   */
  properties[PROP_WAIT_FOR_CONNECTION] =
      g_param_spec_boolean ("wait-for-connection", "Wait for connection",
      "Wait with the stream until the receiver is connected; false: drop what "
      "comes before", DEFAULT_WAIT_FOR_CONNECTION, playing);

  /**
   * GstNetworkSink:auto-reconnect:
   *
   * When the receiver can't be reached, or goes: warn and try again, after
   * pauses that grow from 0.1 to 5 s. Otherwise that is an error, which ends the
   * stream. Where packets and ICMP messages can be forged, or the receiver may
   * begin later, a refused attempt is repeated for #GstNetworkSink:timeout before
   * that.
   */
  properties[PROP_AUTO_RECONNECT] = g_param_spec_boolean ("auto-reconnect",
      "Auto reconnect",
      "Connect again when that fails or the receiver goes, and go on with a key "
      "frame; false: that is an error", DEFAULT_AUTO_RECONNECT, playing);

  /**
   * GstNetworkSink:blocking:
   *
   * Wait while the network is full. Otherwise what it doesn't take at once is
   * dropped, and with it the rest of its frame, which is worthless in parts.
   */
  properties[PROP_BLOCKING] = g_param_spec_boolean ("blocking", "Blocking",
      "Wait while the network is full; false: drop what it doesn't take at "
      "once, and the rest of its frame", DEFAULT_BLOCKING, playing);

  /**
   * GstNetworkSink:timeout:
   *
   * A receiver that takes nothing for so long, although there is something to
   * send, or doesn't answer an attempt to connect, counts as gone.
   */
  properties[PROP_TIMEOUT] = g_param_spec_uint64 ("timeout", "Timeout",
      "A receiver that takes nothing for so long while there is something to "
      "send, or doesn't answer, is gone (ns, 0 = never; of a connection: as it "
      "was when that was made)", 0, LONGEST_TIME, DEFAULT_TIMEOUT, playing);

  /**
   * GstNetworkSink:eos-timeout:
   *
   * How long EOS waits at most until the receiver has everything.
   */
  properties[PROP_EOS_TIMEOUT] = g_param_spec_uint64 ("eos-timeout",
      "EOS timeout",
      "How long the end of the stream waits at most until the receiver has "
      "everything (ns)", 0, LONGEST_TIME, DEFAULT_EOS_TIMEOUT, playing);

  /**
   * GstNetworkSink:stats:
   *
   * What was sent, what was dropped and why. Counters begin at 0 when the
   * element goes to PAUSED, and never go back.
   */
  properties[PROP_STATS] = g_param_spec_boxed ("stats", "Statistics",
      "Packets and bytes sent and dropped, connections and failures, time spent "
      "waiting", GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);

  /**
   * GstNetworkSink:stats-interval:
   *
   * Post #GstNetworkSink:stats as element message at this interval of the
   * pipeline's clock.
   */
  properties[PROP_STATS_INTERVAL] = g_param_spec_uint64 ("stats-interval",
      "Statistics interval",
      "Post stats as element message at this interval (ns, 0 = never)", 0,
      LONGEST_TIME, DEFAULT_STATS_INTERVAL, playing);

  g_object_class_install_properties (object_class, PROP_LAST, properties);

  gst_type_mark_as_plugin_api (GST_TYPE_NETWORK_SINK, 0);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The GObject part of GstNetworkSink: properties, statistics and state changes.
 * gstnetworksink.h describes the guarantees of the class, and
 * gstnetworksinkprivate.h describes its threads.
 */

#include "gstnetworksinkprivate.h"

#include "gstnetworkuri.h"
#include "gstwirelessstats.h"

GST_DEBUG_CATEGORY (gst_network_sink_debug);

/* Maximum in ns of the properties that are times. Such a time is converted to
 * microseconds and added to the present time in a gint64. With this maximum,
 * the sum does not overflow. */
#define MAX_TIME (G_MAXINT64 / 2)

#define gst_network_sink_parent_class parent_class
G_DEFINE_ABSTRACT_TYPE_WITH_CODE (GstNetworkSink, gst_network_sink,
    GST_TYPE_BASE_SINK, G_ADD_PRIVATE (GstNetworkSink);
    GST_DEBUG_CATEGORY_INIT (gst_network_sink_debug, "networksink", 0,
        "Base class of network sinks"));

/* --- statistics, from any thread ------------------------------------------ */

#define STATS_STRUCT Counters

static const GstWirelessStatsField stats_fields[] = {
  STATS_COUNTER ("connections", connections),
  STATS_COUNTER ("connect-attempts", connect_attempts),
  STATS_COUNTER ("packets-sent", packets_sent),
  STATS_COUNTER ("bytes-sent", bytes_sent),
  STATS_COUNTER ("dropped-not-connected", dropped[DROP_NOT_CONNECTED]),
  STATS_COUNTER ("dropped-full", dropped[DROP_FULL]),
  STATS_COUNTER ("dropped-rest-of-frame", dropped[DROP_REST_OF_FRAME]),
  STATS_COUNTER ("dropped-no-key-frame", dropped[DROP_NO_KEY_FRAME]),
  STATS_COUNTER ("dropped-broken", dropped[DROP_BROKEN]),
  STATS_COUNTER ("dropped-unsendable", dropped[DROP_UNSENDABLE]),
  STATS_COUNTER ("dropped-eos-timeout", dropped[DROP_EOS_TIMEOUT]),
  STATS_COUNTER ("dropped-references", dropped_references),
  STATS_COUNTER ("bytes-dropped", bytes_dropped),
  STATS_COUNTER ("failures-closed", failures[FAILURE_CLOSED]),
  STATS_COUNTER ("failures-reset", failures[FAILURE_RESET]),
  STATS_COUNTER ("failures-timeout", failures[FAILURE_TIMEOUT]),
  STATS_COUNTER ("failures-refused", failures[FAILURE_REFUSED]),
  STATS_COUNTER ("failures-unreachable", failures[FAILURE_UNREACHABLE]),
  STATS_COUNTER ("failures-not-found", failures[FAILURE_NOT_FOUND]),
  STATS_COUNTER ("failures-other", failures[FAILURE_OTHER]),
  STATS_COUNTER ("eos-timeouts", eos_timeouts),
  STATS_COUNTER ("time-blocked", time_blocked),
  STATS_COUNTER ("time-unconnected", time_unconnected),
};

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

  gst_structure_set (stats, "state", G_TYPE_STRING,
      gst_network_sink_get_state_name (state), NULL);
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

/* Called after a property of the sink has changed; the caller holds the sink's
 * lock. Wakes all threads that wait in the sink, so that they read the
 * properties again. */
static void
wake (gpointer object)
{
  g_cond_broadcast (&GST_NETWORK_SINK (object)->priv->cond);
}

#define PROPERTY_STRUCT GstNetworkSinkPrivate
static const GstWirelessProperty properties[] = {
  /**
   * GstNetworkSink:wait-for-connection:
   *
   * If %TRUE, the stream waits until the receiver is connected. Live input
   * waits for at most #GstNetworkSink:max-live-wait. If %FALSE, buffers that
   * arrive before the receiver is connected are dropped and counted as
   * `dropped-not-connected`.
   */
  PROPERTY_BOOLEAN ("wait-for-connection", "Wait for connection",
      "Whether the stream waits until the receiver is connected (live input at "
      "most for max-live-wait); false drops packets until then",
      PROPERTY_PLAYING | PROPERTY_URI,
      wait_for_connection, TRUE,
      .changed = wake),

  /**
   * GstNetworkSink:auto-reconnect:
   *
   * If %TRUE, and the receiver cannot be reached or the connection is lost, the
   * sink posts a warning and tries to connect again. The pauses between its
   * attempts grow from 0.1 to 5 s. If %FALSE, the sink posts an error, which
   * ends the stream.
   *
   * If auto-reconnect is %FALSE and the receiver refuses an attempt to connect,
   * some transports nevertheless try again, because the refusal may be forged,
   * or the receiver may not listen yet. These transports post the error only
   * after #GstNetworkSink:peer-timeout.
   */
  PROPERTY_BOOLEAN ("auto-reconnect", "Auto reconnect",
      "Whether the sink reconnects after a failure and resumes with a key "
      "frame; false posts an error if the connection is lost or is not made "
      "within peer-timeout",
      PROPERTY_PLAYING | PROPERTY_URI, auto_reconnect, TRUE,
      .changed = wake),

  /**
   * GstNetworkSink:blocking:
   *
   * If %TRUE, the sink waits while the network is full. Live input waits for at
   * most #GstNetworkSink:max-live-wait. If %FALSE, packets that the network
   * does not accept immediately are dropped, together with the rest of their
   * frame, because an incomplete frame is useless.
   */
  PROPERTY_BOOLEAN ("blocking", "Blocking",
      "Whether the stream waits while the network is full (live input at most "
      "for max-live-wait); false drops each packet without room, and the rest "
      "of its frame",
      PROPERTY_PLAYING | PROPERTY_URI, blocking, TRUE,
      .changed = wake),

  /**
   * GstNetworkSink:max-live-wait:
   *
   * Maximum time that live input waits for a connection or for room in the
   * network. If this time has passed, packets are dropped immediately, so that
   * they do not block a camera or the other branches of its pipeline. As soon
   * as the network has room again, packets are no longer dropped.
   *
   * Stored input waits without a limit. The output of ifdqueue also waits
   * without a limit, because ifdqueue drops frames itself.
   */
  PROPERTY_MILLISECONDS ("max-live-wait", "Maximum wait of live input",
      "Maximum time that live input waits for the connection or for room in "
      "the network before packets are dropped (ms, 0 = do not wait); input "
      "that is not live waits without limit",
      PROPERTY_PLAYING | PROPERTY_URI, max_live_wait, 0,
      PROPERTY_MAX_MILLISECONDS, 1000,
      .changed = wake),

  /**
   * GstNetworkSink:peer-timeout:
   *
   * Time after which a receiver counts as gone. It counts as gone if it does
   * not answer an attempt to connect for this time, or if data waits for it and
   * it accepts none for this time.
   */
  PROPERTY_MILLISECONDS ("peer-timeout", "Peer timeout",
      "Time after which a receiver that does not answer, or accepts none of "
      "the waiting data, counts as gone (ms, 0 = never; a change affects the "
      "next connection)", PROPERTY_PLAYING | PROPERTY_URI,
      timeout, 0, PROPERTY_MAX_MILLISECONDS, 10000,
      .changed = wake),
  PROPERTY_DEPRECATED_NANOSECONDS ("timeout", "Timeout", "peer-timeout",
      PROPERTY_PLAYING | PROPERTY_URI, timeout, MAX_TIME, 10 * GST_SECOND,
      .changed = wake),

  /**
   * GstNetworkSink:drain-timeout:
   *
   * Maximum time for which the sink holds back EOS until the receiver has all
   * data.
   */
  PROPERTY_MILLISECONDS ("drain-timeout", "Drain timeout",
      "Maximum time that EOS waits until the receiver has everything (ms)",
      PROPERTY_PLAYING | PROPERTY_URI, eos_timeout, 0,
      PROPERTY_MAX_MILLISECONDS, 2000,
      .changed = wake),
  PROPERTY_DEPRECATED_NANOSECONDS ("eos-timeout", "EOS timeout",
      "drain-timeout", PROPERTY_PLAYING | PROPERTY_URI, eos_timeout, MAX_TIME,
      2 * GST_SECOND,
      .changed = wake),

  /**
   * GstNetworkSink:stats:
   *
   * Counters of packets that were sent and of packets that were dropped, by
   * reason. The counters start at 0 when the element goes to PAUSED, and never
   * decrease.
   */
  PROPERTY_STATS
      ("Statistics since the element started: packets and bytes sent and "
      "dropped, connections, failures, and waiting time in ns",
      create_stats),

  /**
   * GstNetworkSink:stats-update-interval:
   *
   * Interval at which #GstNetworkSink:stats is posted as an element message,
   * measured with the pipeline's clock.
   */
  PROPERTY_STATS_INTERVAL (STATS_INTERVAL_BLURB, MAX_TIME),
};

/* --- life cycle -------------------------------------------------------------
 */

static void
leave_paused (GstNetworkSink * self)
{
  gst_network_sink_join_connection (self);
  gst_network_sink_reset_render (self);
}

/* Starts the connection in the change from READY to PAUSED. The start function
 * of GstBaseSink is not used for this: it is called in the change to READY,
 * which is too early, because properties can still be changed in READY. */
static GstStateChangeReturn
gst_network_sink_change_state (GstElement * element, GstStateChange transition)
{
  GstNetworkSink *self = GST_NETWORK_SINK (element);
  GstStateChangeReturn done;

  GST_DEBUG_OBJECT (self, "%s", gst_state_change_get_name (transition));
  switch (transition) {
    case GST_STATE_CHANGE_READY_TO_PAUSED:
      if (!gst_network_uri_check (element))
        return GST_STATE_CHANGE_FAILURE;
      gst_network_sink_start_connection (self);
      break;
    case GST_STATE_CHANGE_PLAYING_TO_PAUSED:
      gst_stats_timer_stop (element);
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
    gst_stats_timer_start (element, create_stats);
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
  gst_wireless_properties_init (self, GST_TYPE_NETWORK_SINK);
  gst_network_sink_reset_render (self);
  /* Because of GST_ELEMENT_FLAG_SOURCE, the pipeline sends the EOS of the
   * application not only to the sources, but also directly to this sink. The
   * sink needs this second EOS if the thread of a source is blocked in the
   * sink: the source then cannot pass its own EOS on. When the sink receives
   * the EOS directly, it limits the time for which this thread stays blocked.
   */
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
  const gssize private = g_type_class_get_instance_private_offset (klass);

  object_class->finalize = gst_network_sink_finalize;
  element_class->change_state = gst_network_sink_change_state;
  element_class->send_event = gst_network_sink_send_event;
  sink_class->render = gst_network_sink_render;
  sink_class->render_list = gst_network_sink_render_list;
  sink_class->wait_event = gst_network_sink_wait_event;
  sink_class->event = gst_network_sink_event;
  sink_class->unlock = gst_network_sink_unlock;
  sink_class->unlock_stop = gst_network_sink_unlock_stop;

  gst_wireless_properties_install (object_class, properties,
      G_N_ELEMENTS (properties), private,
      private + G_STRUCT_OFFSET (GstNetworkSinkPrivate, lock));
  gst_type_mark_as_plugin_api (GST_TYPE_NETWORK_SINK, 0);
}

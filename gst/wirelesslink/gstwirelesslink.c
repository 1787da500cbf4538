/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-wirelesslink
 * @title: wirelesslink
 * @short_description: A bad link, or a radio medium that several stations share
 *
 * Emulates a bad network between two elements. Each buffer is a packet: it
 * waits in the queue of a network device and is transmitted at the rate of the
 * link. The radio may lose or damage a transmission. If the emulated network
 * retransmits, the packet is then transmitted again. The packet leaves the
 * element with the resulting delay. The property `profile` selects the
 * parameters of a measured network. If two runs have the same seed and the same
 * packets, the link loses and damages the same packets in both runs.
 *
 * Each requested sink pad makes a flow: the packets that enter `sink_0` leave
 * by `src_0`. All flows share one medium. For example, if one flow has the data
 * of a TCP connection and another flow has its acknowledgements, the two flows
 * compete for the airtime. The pad property #GstWirelessLinkPad:station selects
 * the station whose transmitter a flow uses. With a single flow the element is
 * a simple filter. Caps, segments, tags and EOS keep their positions among the
 * packets.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=film.m2v ! mpegstat ! clocksync ! rfc2250pay ! wirelesslink profile=80211b interference=always ! udpsink host=127.0.0.1 port=5004 sync=false
 * ]| Sends video over IEEE 802.11b next to a microwave oven.
 * |[
 * gst-launch-1.0 filesrc location=film.m2v ! mpegstat ! rfc2250pay ! wirelesslink mode=timestamp profile=80211b location=fates.log ! rfc2250depay ! mpegstat silent=false ! fakesink
 * ]| Sends the whole film over the link in about a second, because no element
 * waits. The timestamps of the packets are their arrival times.
 * |[
 * gst-launch-1.0 filesrc location=film.m2v ! mpegstat ! rfc2250pay ! wirelesslink mode=timestamp profile=80211b queue=ifd ! rfc2250depay ! mpegstat silent=false ! fakesink
 * ]| The link is too slow for the film, and its queue drops only B-frames.
 *
 * Since: 0.1
 */

#include "gstwirelesslinkprivate.h"

#include "gstwirelessproperties.h"

#include <stdio.h>

GST_DEBUG_CATEGORY (gst_wireless_link_debug);
#define GST_CAT_DEFAULT gst_wireless_link_debug

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink_%u",
    GST_PAD_SINK, GST_PAD_REQUEST, GST_STATIC_CAPS_ANY);

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src_%u",
    GST_PAD_SRC, GST_PAD_SOMETIMES, GST_STATIC_CAPS_ANY);

#define GST_TYPE_WIRELESS_LINK_MODE (gst_wireless_link_mode_get_type ())
/* *INDENT-OFF* */
static GST_WIRELESS_DEFINE_ENUM (gst_wireless_link_mode, "GstWirelessLinkMode",
    {GST_WIRELESS_LINK_MODE_REALTIME,
        "Each packet is held back until the time at which it leaves the link",
        "realtime"},
    {GST_WIRELESS_LINK_MODE_TIMESTAMP,
          "Packets are not held back: the timestamp becomes the time at which "
          "a packet leaves the link",
        "timestamp"})
/* *INDENT-ON* */

static void gst_wireless_link_child_proxy_init (gpointer iface,
    gpointer iface_data);

#define gst_wireless_link_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstWirelessLink, gst_wireless_link, GST_TYPE_ELEMENT,
    G_IMPLEMENT_INTERFACE (GST_TYPE_CHILD_PROXY,
        gst_wireless_link_child_proxy_init);
    GST_DEBUG_CATEGORY_INIT (gst_wireless_link_debug, "wirelesslink", 0,
        "Emulated link"));
GST_ELEMENT_REGISTER_DEFINE (wirelesslink, "wirelesslink", GST_RANK_NONE,
    GST_TYPE_WIRELESS_LINK);

/* --- pads ----------------------------------------------------------------- */

/* Returns the pad number that the pad name `name` contains, or the first free
 * number if `name` contains none. Returns -1 if the number is in use or too
 * large. The caller holds the lock. */
static gint64
find_number (GstWirelessLink * self, const gchar * name)
{
  guint number;

  if (name && sscanf (name, "sink_%u", &number) == 1) {
    if (number >= GST_WIRELESS_LINK_MAX_PADS || (number < self->flows->len
            && g_ptr_array_index (self->flows, number)))
      return -1;
    return number;
  }
  for (number = 0; number < self->flows->len; number++) {
    if (!g_ptr_array_index (self->flows, number))
      return number;
  }
  return number < GST_WIRELESS_LINK_MAX_PADS ? number : -1;
}

static void
add_flow (GstWirelessLink * self, GstWirelessLinkFlow * flow)
{
  gst_wireless_link_lock (self);
  if (flow->number >= self->flows->len)
    g_ptr_array_set_size (self->flows, flow->number + 1);
  g_ptr_array_index (self->flows, flow->number) = flow;
  gst_wireless_link_announce_flow (self, flow);
  flow->heard_until = flow->time_offset = 0;
  gst_wireless_link_unlock (self);
}

static GstPad *
gst_wireless_link_request_new_pad (GstElement * element, GstPadTemplate *
    template, const gchar * name, const GstCaps * caps)
{
  GstWirelessLink *self = GST_WIRELESS_LINK (element);
  GstElementClass *element_class = GST_ELEMENT_GET_CLASS (element);
  GstWirelessLinkFlow *flow;
  gint64 number;

  /* The state lock of the element is held for two reasons. It prevents two
   * threads from getting the same pad number. It also prevents a change of the
   * state between the activation of the source pad and the activation of the
   * sink pad. */
  GST_STATE_LOCK (element);
  gst_wireless_link_lock (self);
  number = find_number (self, name);
  gst_wireless_link_unlock (self);
  if (number < 0) {
    GST_STATE_UNLOCK (element);
    GST_WARNING_OBJECT (self, "can't create a pad %s", GST_STR_NULL (name));
    return NULL;
  }
  flow = gst_wireless_link_flow_new (self, number, template,
      gst_element_class_get_pad_template (element_class, "src_%u"));
  add_flow (self, flow);
  gst_element_add_pad (element, flow->srcpad);
  gst_element_add_pad (element, flow->sinkpad);
  GST_STATE_UNLOCK (element);

  gst_child_proxy_child_added (GST_CHILD_PROXY (self),
      G_OBJECT (flow->sinkpad), GST_OBJECT_NAME (flow->sinkpad));
  return flow->sinkpad;
}

static void
remove_pad (GstElement * element, GstPad * pad)
{
  gst_pad_set_active (pad, FALSE);
  if (GST_OBJECT_PARENT (pad) == GST_OBJECT_CAST (element))
    gst_element_remove_pad (element, pad);
  gst_object_unref (pad);
}

static void
gst_wireless_link_release_pad (GstElement * element, GstPad * pad)
{
  GstWirelessLink *self = GST_WIRELESS_LINK (element);
  GstWirelessLinkFlow *flow = gst_wireless_link_pad_get_flow (pad);
  GstPad *sinkpad, *srcpad;

  gst_child_proxy_child_removed (GST_CHILD_PROXY (self), G_OBJECT (pad),
      GST_OBJECT_NAME (pad));
  gst_wireless_link_lock (self);
  sinkpad = g_steal_pointer (&flow->sinkpad);
  srcpad = g_steal_pointer (&flow->srcpad);
  g_ptr_array_index (self->flows, flow->number) = NULL;
  gst_wireless_link_unlock (self);

  remove_pad (element, srcpad);
  remove_pad (element, sinkpad);

  gst_wireless_link_lock (self);
  if (self->running_mode == GST_WIRELESS_LINK_MODE_TIMESTAMP)
    gst_wireless_link_merge (self);
  gst_wireless_link_unlock (self);
  gst_wireless_link_flow_unref (flow);
}

/* The interface GstChildProxy gives access to the properties of the pads
 * through the element, as in `wirelesslink sink_0::station=1`. */

static GObject *
gst_wireless_link_get_child_by_index (GstChildProxy * proxy, guint index)
{
  GstElement *element = GST_ELEMENT_CAST (proxy);
  GObject *child;

  GST_OBJECT_LOCK (element);
  child = g_list_nth_data (element->sinkpads, index);
  if (child)
    gst_object_ref (child);
  GST_OBJECT_UNLOCK (element);
  return child;
}

static guint
gst_wireless_link_get_children_count (GstChildProxy * proxy)
{
  GstElement *element = GST_ELEMENT_CAST (proxy);
  guint count;

  GST_OBJECT_LOCK (element);
  count = element->numsinkpads;
  GST_OBJECT_UNLOCK (element);
  return count;
}

static void
gst_wireless_link_child_proxy_init (gpointer iface, gpointer iface_data)
{
  GstChildProxyInterface *proxy = iface;

  proxy->get_child_by_index = gst_wireless_link_get_child_by_index;
  proxy->get_children_count = gst_wireless_link_get_children_count;
}

/* --- state changes -------------------------------------------------------- */

static gboolean
gst_wireless_link_set_clock (GstElement * element, GstClock * clock)
{
  gboolean set = GST_ELEMENT_CLASS (parent_class)->set_clock (element, clock);

  gst_wireless_link_change_clock (GST_WIRELESS_LINK (element));
  return set;
}

/* With mode=realtime the element is live: packets leave the link only in
 * PLAYING. */
static GstStateChangeReturn
get_live_return (GstWirelessLink * self, GstStateChangeReturn result)
{
  if (result == GST_STATE_CHANGE_FAILURE)
    return result;
  return self->running_mode == GST_WIRELESS_LINK_MODE_REALTIME ?
      GST_STATE_CHANGE_NO_PREROLL : result;
}

static GstStateChangeReturn
gst_wireless_link_change_state (GstElement * element, GstStateChange change)
{
  GstWirelessLink *self = GST_WIRELESS_LINK (element);
  GstStateChangeReturn result;

  GST_DEBUG_OBJECT (self, "%s", gst_state_change_get_name (change));
  if (change == GST_STATE_CHANGE_READY_TO_PAUSED
      && !gst_wireless_link_start (self))
    return GST_STATE_CHANGE_FAILURE;
  if (change == GST_STATE_CHANGE_PAUSED_TO_PLAYING) {
    gst_wireless_link_play (self);
    gst_stats_timer_start (element, gst_wireless_link_create_interval_stats);
  }
  if (change == GST_STATE_CHANGE_PLAYING_TO_PAUSED) {
    gst_stats_timer_stop (element);
    gst_wireless_link_pause (self);
  }
  if (change == GST_STATE_CHANGE_PAUSED_TO_READY)
    gst_wireless_link_interrupt (self);

  result = GST_ELEMENT_CLASS (parent_class)->change_state (element, change);

  if (change == GST_STATE_CHANGE_PAUSED_TO_READY
      || (change == GST_STATE_CHANGE_READY_TO_PAUSED
          && result == GST_STATE_CHANGE_FAILURE)) {
    gst_wireless_link_interrupt (self);
    gst_wireless_link_stop (self, gst_wireless_link_create_stats (element));
  }
  if (change == GST_STATE_CHANGE_READY_TO_PAUSED
      || change == GST_STATE_CHANGE_PLAYING_TO_PAUSED)
    return get_live_return (self, result);
  return result;
}

/* --- properties ----------------------------------------------------------- */

/* Called when the property blocking or max-output-packets has changed. Threads
 * that wait for room have to check again whether they may continue. The caller
 * holds the lock of the element. When the caller releases the lock, it does not
 * post queued messages. This function must therefore not queue any messages. */
static void
wake_senders (gpointer object)
{
  gst_wireless_link_wake_senders (object);
}

static void
get_quality (gpointer object, GValue * value, GParamSpec * pspec)
{
  gst_wireless_link_lock (object);
  g_value_set_double (value, gst_wireless_link_get_quality (object, 0));
  gst_wireless_link_unlock (object);
}

#define PROPERTY_STRUCT GstWirelessLink
static const GstWirelessProperty properties[] = {
  /**
   * With `realtime`, a packet arrives at the link when its buffer arrives at
   * the element. The packet leaves when the pipeline's clock reaches the time
   * that the model of the link has computed. The time of the model stands still
   * while the element is not in PLAYING.
   *
   * With `timestamp`, the running time of a buffer is its arrival time, and no
   * thread waits. The delay of a packet is added to the timestamps of its
   * buffer. Flows are merged in the order of their times. The input of a flow
   * must therefore not depend on the output of another flow.
   */
  PROPERTY_ENUM ("mode", "Mode",
      "Whether packets are delayed in real time, or only get later timestamps",
      PROPERTY_READY, mode, gst_wireless_link_mode_get_type,
      GST_WIRELESS_LINK_MODE_REALTIME),

  /**
   * GstWirelessLink:blocking:
   *
   * With `mode=realtime`, this property determines what happens if a packet is
   * pushed while the queue is full. With TRUE, the thread that pushes the
   * packet waits until the queue has room, as with a blocking socket. With
   * FALSE, the packet is lost.
   *
   * With `mode=timestamp`, no thread waits for the queue. If the property is
   * TRUE and the queue is full when a packet arrives, the packet enters the
   * link as soon as the queue has room. Later packets of the same flow do not
   * overtake this packet.
   */
  PROPERTY_BOOLEAN ("blocking", "Blocking",
      "Whether input waits for room in the queue of the link; false drops "
      "packets that find it full", PROPERTY_PLAYING,
      blocking, FALSE,
      .changed = wake_senders),

  /**
   * GstWirelessLink:max-output-packets:
   *
   * Maximum number of packets that have left the link and were not yet pushed
   * downstream. With `mode=realtime` further packets are dropped and counted as
   * `dropped-output`. With `mode=timestamp` the link does not advance until a
   * packet has been pushed.
   */
  PROPERTY_UINT ("max-output-packets", "Maximum output packets",
      "Maximum number of packets that have left the link and wait to be pushed "
      "(packets); mode=realtime drops further packets, mode=timestamp makes "
      "the link wait", PROPERTY_PLAYING,
      max_output_packets, 1, G_MAXINT, 1000,
      .changed = wake_senders),

  /**
   * GstWirelessLink:location:
   *
   * Name of the log file. The log has a line for each of these events, ordered
   * by time: the fate of a packet (whether it was delivered or why it was
   * lost), a change of a channel's quality, and a change in the state of the
   * dial-up call.
   */
  PROPERTY_STRING ("location", "Location",
      "Log file that says what happened to each packet; the file is "
      "overwritten at start ('-' = standard output, unset = no log)",
      PROPERTY_READY, location, NULL),

  /**
   * GstWirelessLink:record-pattern:
   *
   * Name of the file in which the random events of each packet, such as its
   * loss or damage, are recorded. If the property #GstWirelessLink:pattern
   * names this file, a later run repeats these events.
   */
  PROPERTY_STRING ("record-pattern", "Record pattern",
      "File to record the random events of this run in, for the property "
      "pattern; the file is overwritten at start ('-' = standard output, unset "
      "= none)", PROPERTY_READY,
      record_pattern, NULL),

  /**
   * GstWirelessLink:stats-update-interval:
   *
   * Interval at which the statistics, #GstWirelessLink:stats, are posted as an
   * element message. It is measured with the pipeline's clock. Messages are
   * posted only in PLAYING.
   */
  PROPERTY_STATS_INTERVAL (STATS_INTERVAL_OR_END_BLURB, G_MAXINT64),

  /**
   * GstWirelessLink:stats:
   *
   * A #GstStructure named `application/x-wirelesslink-stats`. It has statistics
   * of the whole link, and a field `flow-N` for each flow: a structure with the
   * statistics of the pads `sink_N` and `src_N`.
   */
  PROPERTY_STATS ("Statistics since the element started: number of packets by "
      "fate (delivered, damaged, or reason of loss), airtime in ns, and "
      "lateness in ns",
      gst_wireless_link_create_stats),

  /**
   * GstWirelessLink:channel-quality:
   *
   * The probability that a packet sent now by station 0 arrives undamaged at
   * the first attempt. #GstWirelessLinkPad:channel-quality is this probability
   * for the station of a pad.
   */
  PROPERTY_COMPUTED ("channel-quality", "Channel quality",
      "Probability that a packet of station 0 sent now arrives undamaged at "
      "the first attempt (0 to 1)", PROPERTY_READABLE, G_TYPE_DOUBLE,
      .double_maximum = 1,
      .double_initial = 1,
      .get = get_quality),
};

static void
set_setting (gpointer object, const GValue * value, GParamSpec * pspec)
{
  GstWirelessLink *self = GST_WIRELESS_LINK (object);

  gst_wireless_link_lock (self);
  wireless_link_settings_set (self->settings, pspec->name, value);
  gst_wireless_link_unlock (self);
}

static void
get_setting (gpointer object, GValue * value, GParamSpec * pspec)
{
  GstWirelessLink *self = GST_WIRELESS_LINK (object);

  gst_wireless_link_lock (self);
  wireless_link_settings_get (self->settings, pspec->name, value);
  gst_wireless_link_unlock (self);
}

static void
gst_wireless_link_finalize (GObject * object)
{
  GstWirelessLink *self = GST_WIRELESS_LINK (object);

  g_ptr_array_unref (self->flows);
  g_array_unref (self->dropped_output);
  wireless_link_settings_free (self->settings);
  g_clear_pointer (&self->lateness, statistics_histogram_free);
  gst_clear_structure (&self->last_stats);
  gst_wireless_properties_clear (self, GST_TYPE_WIRELESS_LINK);
  g_cond_clear (&self->scheduler_cond);
  g_mutex_clear (&self->lock);

  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_wireless_link_init (GstWirelessLink * self)
{
  g_mutex_init (&self->lock);
  g_cond_init (&self->scheduler_cond);
  g_queue_init (&self->notices);
  self->settings = wireless_link_settings_new ();
  gst_wireless_properties_init (self, GST_TYPE_WIRELESS_LINK);
  self->flows = g_ptr_array_new ();
  self->dropped_output = g_array_new (FALSE, TRUE, sizeof (guint64));
}

static void
gst_wireless_link_class_init (GstWirelessLinkClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  object_class->finalize = gst_wireless_link_finalize;

  element_class->request_new_pad = gst_wireless_link_request_new_pad;
  element_class->release_pad = gst_wireless_link_release_pad;
  element_class->change_state = gst_wireless_link_change_state;
  element_class->set_clock = gst_wireless_link_set_clock;

  gst_wireless_properties_set_category (object_class, gst_wireless_link_debug);
  gst_wireless_properties_install (object_class, properties,
      G_N_ELEMENTS (properties), 0, G_STRUCT_OFFSET (GstWirelessLink, lock));
  wireless_link_settings_install (object_class, set_setting, get_setting);

  gst_element_class_add_static_pad_template_with_gtype (element_class,
      &sink_template, GST_TYPE_WIRELESS_LINK_PAD);
  gst_element_class_add_static_pad_template_with_gtype (element_class,
      &src_template, GST_TYPE_WIRELESS_LINK_PAD);
  gst_element_class_set_static_metadata (element_class,
      "Emulated wireless link", "Filter/Network",
      "Delays, loses and damages packets as a slow link or a shared radio "
      "medium does", "The gst-plugins-wireless authors");

  gst_type_mark_as_plugin_api (GST_TYPE_WIRELESS_LINK_MODE, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_WIRELESS_LINK_PAD, 0);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-ifdsink
 * @title: ifdsink
 * @short_description: Sends live video over TCP, and drops the frames for which the network is too slow
 *
 * This element is the sender that R. Ouwens describes in "Quality of video
 * streaming over wireless networks" (2006), section 2. It consists of an
 * ifdqueue and a TCP connection. The ifdqueue drops B-frames when the network
 * is too slow. The TCP connection keeps almost no unsent data in the kernel, so
 * that the queue notices immediately when the network is full. The receiver is
 * a pipeline with tcpserversrc. Only whole frames are sent to the receiver, and
 * a decoder in this pipeline can decode all of them.
 *
 * The stream is sent in real time (#GstIfdSink:sync). The start of the pipeline
 * does not wait for the network, because the connection is made in the
 * background. If the connection ends or the receiver cannot be reached, a
 * warning with the reason is posted, and the next connection begins with an
 * I-frame. With #GstIfdSink:auto-reconnect=false, an error is posted instead of
 * the warning.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 tcpserversrc host=127.0.0.1 port=4953 ! mpegstat silent=false ! fakesink
 * ]| Receives a film and prints statistics about it.
 * |[
 * gst-launch-1.0 filesrc location=film.m2v ! ifdsink host=127.0.0.1 port=4953
 * ]| Sends the film. GST_DEBUG=ifdqueue:5,ifdtcpwriter:5 logs why the queue
 * drops each frame, and the state of the connection.
 *
 * Since: 0.1
 */

#include <gst/gst.h>

#include "gstifdqueue.h"
#include "gstifdtcpwriter.h"
#include "gststatstimer.h"

#define GST_TYPE_IFD_SINK (gst_ifd_sink_get_type ())
G_DECLARE_FINAL_TYPE (GstIfdSink, gst_ifd_sink, GST, IFD_SINK, GstBin);
GST_ELEMENT_REGISTER_DECLARE (ifdsink);

GST_DEBUG_CATEGORY_STATIC (gst_ifd_sink_debug);
#define GST_CAT_DEFAULT gst_ifd_sink_debug

#define STATS_NAME "application/x-ifdsink-stats"
#define QUEUE_STATS_NAME "application/x-ifdqueue-stats"
/* Prefix for the fields of the TCP writer in the statistics of ifdsink. */
#define WRITER_PREFIX "network-"

typedef enum
{
  CHILD_QUEUE,
  CHILD_WRITER,
  CHILD_LAST
} Child;

struct _GstIfdSink
{
  GstBin parent;

  /* The elements inside the bin. They are created with the bin, which owns them
   * and never removes them. */
  GstElement *children[CHILD_LAST];
};

/* Properties of ifdsink that are forwarded to an element inside the bin.
 * Setting such a property of ifdsink sets a property of the element `child`.
 * The two properties have the same name. */
static const struct
{
  const gchar *name;
  Child child;
} forwarded[] = {
  {"host", CHILD_WRITER},
  {"port", CHILD_WRITER},
  {"notsent-lowat", CHILD_WRITER},
  {"bind-address", CHILD_WRITER},
  {"bind-port", CHILD_WRITER},
  {"buffer-size", CHILD_WRITER},
  {"ttl", CHILD_WRITER},
  {"qos-dscp", CHILD_WRITER},
  {"peer-timeout", CHILD_WRITER},
  {"timeout", CHILD_WRITER},
  {"wait-for-connection", CHILD_WRITER},
  {"auto-reconnect", CHILD_WRITER},
  {"blocking", CHILD_WRITER},
  {"drain-timeout", CHILD_WRITER},
  {"eos-timeout", CHILD_WRITER},
  {"estimated-bitrate", CHILD_WRITER},
  {"algorithm", CHILD_QUEUE},
  {"max-frames", CHILD_QUEUE},
  {"sync", CHILD_QUEUE},
  {"max-frame-size", CHILD_QUEUE},
  {"post-messages", CHILD_QUEUE},
};

#define gst_ifd_sink_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstIfdSink, gst_ifd_sink, GST_TYPE_BIN,
    GST_DEBUG_CATEGORY_INIT (gst_ifd_sink_debug, "ifdsink", 0,
        "I-Frame Delay sink"));
GST_ELEMENT_REGISTER_DEFINE (ifdsink, "ifdsink", GST_RANK_NONE,
    GST_TYPE_IFD_SINK);

/* --- statistics, from any thread ------------------------------------------ */

static gboolean
add_field (GQuark name, const GValue * value, gpointer stats)
{
  gst_structure_id_set_value (stats, name, value);
  return TRUE;
}

static gboolean
add_prefixed_field (GQuark name, const GValue * value, gpointer stats)
{
  gchar *prefixed = g_strconcat (WRITER_PREFIX, g_quark_to_string (name), NULL);

  gst_structure_set_value (stats, prefixed, value);
  g_free (prefixed);
  return TRUE;
}

static GstStructure *
gst_ifd_sink_create_stats (GstElement * element)
{
  GstIfdSink *self = GST_IFD_SINK (element);
  GstStructure *stats = gst_structure_new_empty (STATS_NAME);
  GstStructure *part;

  g_object_get (self->children[CHILD_QUEUE], "stats", &part, NULL);
  gst_structure_foreach (part, add_field, stats);
  gst_structure_free (part);
  g_object_get (self->children[CHILD_WRITER], "stats", &part, NULL);
  gst_structure_foreach (part, add_prefixed_field, stats);
  gst_structure_free (part);
  return stats;
}

/* Replaces the source of an error or warning with the bin, because the user
 * does not know the elements inside the bin. Takes ownership of `message` and
 * returns a message (transfer full). */
static GstMessage *
adopt_message (GstObject * self, GstMessage * message)
{
  GstMessage *adopted = NULL;
  const GstStructure *details = NULL;
  GstStructure *copy;
  GError *error = NULL;
  gchar *debug = NULL;

  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_ERROR:
      gst_message_parse_error (message, &error, &debug);
      gst_message_parse_error_details (message, &details);
      copy = details ? gst_structure_copy (details) : NULL;
      adopted = gst_message_new_error_with_details (self, error, debug, copy);
      break;
    case GST_MESSAGE_WARNING:
      gst_message_parse_warning (message, &error, &debug);
      gst_message_parse_warning_details (message, &details);
      copy = details ? gst_structure_copy (details) : NULL;
      adopted = gst_message_new_warning_with_details (self, error, debug, copy);
      break;
    default:
      return message;
  }
  GST_DEBUG_OBJECT (self, "The bin posts the %s message of %" GST_PTR_FORMAT
      " as its own: %s", GST_MESSAGE_TYPE_NAME (message),
      GST_MESSAGE_SRC (message), error->message);
  gst_message_set_seqnum (adopted, gst_message_get_seqnum (message));
  g_error_free (error);
  g_free (debug);
  gst_message_unref (message);
  return adopted;
}

/* Posts the statistics of the whole bin before the EOS message. The queue
 * inside the bin also posts statistics at the end of the stream; that message
 * is discarded. */
static void
gst_ifd_sink_handle_message (GstBin * bin, GstMessage * message)
{
  GstElement *self = GST_ELEMENT_CAST (bin);

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ELEMENT
      && gst_message_has_name (message, QUEUE_STATS_NAME)) {
    gst_message_unref (message);
    return;
  }
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS)
    gst_element_post_message (self, gst_message_new_element (GST_OBJECT (bin),
            gst_ifd_sink_create_stats (self)));
  message = adopt_message (GST_OBJECT (bin), message);
  GST_BIN_CLASS (parent_class)->handle_message (bin, message);
}

/* --- properties ----------------------------------------------------------- */

static const GstWirelessProperty properties[] = {
  /**
   * GstIfdSink:stats:
   *
   * A #GstStructure `application/x-ifdsink-stats`. It has the fields of
   * #GstIfdQueue:stats. Further fields, whose names begin with `network-`,
   * describe the connection. The structure is also posted as an element
   * message at the end of the stream.
   */
  PROPERTY_STATS ("Statistics since the element started: frames and bytes "
      "in, sent and dropped, by type and reason, lateness in ns; fields "
      "that begin with network- are those of the connection",
      gst_ifd_sink_create_stats),

  /**
   * GstIfdSink:stats-update-interval:
   *
   * Interval in ms at which #GstIfdSink:stats is posted as an element message.
   * The pipeline's clock measures the interval.
   */
  PROPERTY_STATS_INTERVAL (STATS_INTERVAL_OR_END_BLURB, G_MAXINT64 / 2),
};

static GObject *
find_child (GstIfdSink * self, GParamSpec * pspec)
{
  guint i;

  for (i = 0; !g_str_equal (forwarded[i].name, pspec->name); i++);
  return G_OBJECT (self->children[forwarded[i].child]);
}

static void
set_forwarded (gpointer object, const GValue * value, GParamSpec * pspec)
{
  g_object_set_property (find_child (object, pspec), pspec->name, value);
}

static void
get_forwarded (gpointer object, GValue * value, GParamSpec * pspec)
{
  g_object_get_property (find_child (object, pspec), pspec->name, value);
}

/* Installs the properties that the bin forwards to its children, with the
 * blurbs, ranges and defaults of the children's properties. */
static void
install_forwarded (GObjectClass * object_class)
{
  static GstWirelessProperty rows[G_N_ELEMENTS (forwarded)];
  GObjectClass *classes[CHILD_LAST];
  guint i;

  /* The types of the children are static, so their classes are never freed. The
   * pointers to the classes therefore stay valid after g_type_class_unref ()
   * below. */
  classes[CHILD_QUEUE] = g_type_class_ref (GST_TYPE_IFD_QUEUE);
  classes[CHILD_WRITER] = g_type_class_ref (GST_TYPE_IFD_TCP_WRITER);
  for (i = 0; i < G_N_ELEMENTS (forwarded); i++) {
    rows[i] = *gst_wireless_properties_find (g_object_class_find_property
        (classes[forwarded[i].child], forwarded[i].name));
    rows[i].set = set_forwarded;
    rows[i].get = get_forwarded;
  }
  for (i = 0; i < CHILD_LAST; i++)
    g_type_class_unref (classes[i]);
  gst_wireless_properties_install (object_class, rows, G_N_ELEMENTS (rows), 0,
      GST_WIRELESS_OBJECT_LOCK);
}

/* --- life cycle -------------------------------------------------------------
 */

static GstStateChangeReturn
gst_ifd_sink_change_state (GstElement * element, GstStateChange transition)
{
  GstStateChangeReturn done;

  GST_DEBUG_OBJECT (element, "%s", gst_state_change_get_name (transition));
  if (transition == GST_STATE_CHANGE_PLAYING_TO_PAUSED)
    gst_stats_timer_stop (element);
  done = GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_PLAYING
      && done != GST_STATE_CHANGE_FAILURE)
    gst_stats_timer_start (element, gst_ifd_sink_create_stats);
  return done;
}

static void
notify_estimate (GstElement * writer, GParamSpec * pspec, GstIfdSink * self)
{
  g_object_notify (G_OBJECT (self), "estimated-bitrate");
}

static void
gst_ifd_sink_init (GstIfdSink * self)
{
  GstElement *queue = g_object_new (GST_TYPE_IFD_QUEUE, "name",
      "ifdqueue", NULL);
  GstElement *writer = g_object_new (GST_TYPE_IFD_TCP_WRITER,
      "name", "writer", "sync", FALSE, NULL);
  GstPad *pad = gst_element_get_static_pad (queue, "sink");

  gst_wireless_properties_silence (queue);
  gst_wireless_properties_silence (writer);
  gst_ifd_queue_allow_unqueued (GST_IFD_QUEUE (queue));
  self->children[CHILD_QUEUE] = queue;
  self->children[CHILD_WRITER] = writer;
  g_signal_connect_object (writer, "notify::estimated-bitrate",
      G_CALLBACK (notify_estimate), self, 0);
  gst_bin_add_many (GST_BIN_CAST (self), queue, writer, NULL);
  gst_element_link (queue, writer);
  gst_element_add_pad (GST_ELEMENT_CAST (self), gst_ghost_pad_new_from_template
      ("sink", pad, gst_element_class_get_pad_template
          (GST_ELEMENT_GET_CLASS (self), "sink")));
  gst_object_unref (pad);

  GST_OBJECT_FLAG_SET (self, GST_ELEMENT_FLAG_SINK);
  gst_bin_set_suppressed_flags (GST_BIN_CAST (self),
      GST_ELEMENT_FLAG_SOURCE | GST_ELEMENT_FLAG_SINK);
}

static void
gst_ifd_sink_class_init (GstIfdSinkClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstElementClass *queue_class = g_type_class_ref (GST_TYPE_IFD_QUEUE);
  GstPadTemplate *queue_template =
      gst_element_class_get_pad_template (queue_class, "sink");

  element_class->change_state = gst_ifd_sink_change_state;
  GST_BIN_CLASS (klass)->handle_message = gst_ifd_sink_handle_message;

  gst_wireless_properties_set_category (object_class, gst_ifd_sink_debug);
  install_forwarded (object_class);
  gst_wireless_properties_install (object_class, properties,
      G_N_ELEMENTS (properties), 0, GST_WIRELESS_OBJECT_LOCK);

  gst_element_class_add_pad_template (element_class,
      gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
          gst_pad_template_get_caps (queue_template)));
  gst_element_class_set_static_metadata (element_class,
      "TCP sink that drops B-frames first", "Sink/Network",
      "Sends live video over TCP, and drops B-frames first and I-frames "
      "last when the network is too slow (I-Frame Delay)",
      "The gst-plugins-wireless authors");
  g_type_class_unref (queue_class);
}

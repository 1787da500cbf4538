/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-dcctpthinsink
 * @title: dcctpthinsink
 * @short_description: Sends over DCCP, at a rate that TFRC allows
 *
 * The element has two names, dcctpthinsink and dccpthinsink. Both names create
 * the same kind of element. The examples use dccpthinsink.
 *
 * Sends each buffer as one packet of a DCCP connection with CCID 3 (RFC 4340,
 * RFC 4342). DCCP runs in user space, in the profile that Kohler called Thin
 * and that Erixzon examined (2004). TFRC (RFC 5348) sets the rate: it changes
 * smoothly and is TCP-friendly. Buffers that exceed the rate wait, and so does
 * the pipeline upstream. An ifdqueue upstream then drops the frames that matter
 * least. Lost packets are never retransmitted.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 -e filesrc location=clip.m2v ! ifdqueue ! rfc2250pay ! dccpthinsink host=192.0.2.1 port=5004 sync=false
 * ]| Sends a clip. If the path is too slow, ifdqueue drops frames according to
 * their type.
 * |[
 * gst-launch-1.0 -e filesrc location=clip.m2v ! rfc2250pay ! dccpthinsink mode=listener port=5004
 * ]| Sends to the first receiver that connects.
 *
 * Since: 0.1
 */

#include <string.h>

#include "dccphistory.h"
#include "dccpoptions.h"
#include "gstdccpthinend.h"
#include "gstnetworksink.h"
#include "gstnetworkuri.h"
#include "gstwaker.h"
#include "gstwirelessevents.h"
#include "gstwirelessgso.h"

#define GST_TYPE_DCCP_THIN_SINK (gst_dccp_thin_sink_get_type ())
G_DECLARE_FINAL_TYPE (GstDccpThinSink, gst_dccp_thin_sink, GST,
    DCCP_THIN_SINK, GstNetworkSink);
GST_ELEMENT_REGISTER_DECLARE (dcctpthinsink);
GST_ELEMENT_REGISTER_DECLARE (dccpthinsink);

GST_DEBUG_CATEGORY_STATIC (gst_dccp_thin_sink_debug);
#define GST_CAT_DEFAULT gst_dccp_thin_sink_debug

/* Maximum size of a received packet in bytes. The receiver sends no data, so
 * valid packets are shorter; a longer packet is truncated and then discarded as
 * invalid. */
#define MAX_INPUT_SIZE 2048
/* If blocking=false, the pacing may delay the packets of a frame by up to 90 %
 * of the frame period, but by at most MAX_FRAME_WAIT (in ns). A packet that
 * would have to wait longer is dropped. */
#define MAX_FRAME_WAIT (100 * GST_MSECOND)
/* Minimum time in us between two requests for a key frame. An encoder needs
 * time to react, and each key frame uses up bitrate that is scarce already. */
#define KEY_UNIT_INTERVAL (1 * G_TIME_SPAN_SECOND)
/* Minimum time in us between two notifications of the rate that TFRC allows. It
 * is also the minimum time between two messages about packets that the receiver
 * dropped. An encoder does not need an update in each round trip. */
#define NOTIFY_INTERVAL (200 * G_TIME_SPAN_MILLISECOND)

/* Two threads call the protocol core of the DCCP connection, each with the
 * endpoint's lock held. The streaming thread passes data to the core when the
 * rate allows it. The driver's loop, driver_run (), does everything else: it
 * handles the timers and the packets from the receiver. The loop runs in the
 * connection thread of the base class. At the end of the stream, it runs in the
 * streaming thread instead, until all data are sent. The loop never runs in
 * both threads at once. */
struct _GstDccpThinSink
{
  GstNetworkSink parent;

  /* The DCCP endpoint. Its lock, `end.lock`, also protects the fields of the
   * next section. */
  GstDccpThinEnd end;

  /* --- protected by the lock --- */
  gboolean request_key_units;

  GstWaker room;                /* wakes the virtual function `wait` */
  /* Time in ns until which the streaming thread has to wait before it sends the
   * next packet. G_MAXUINT64 if it has to wait for room in the socket; 0 if it
   * does not wait. The field is set when a packet cannot be sent. The base
   * class then calls the virtual function `wait`. */
  guint64 waits_until;
  /* Size in bytes of a buffer that did not fit into a packet; 0 = none. It is
   * kept until an error about this buffer is posted. */
  gsize too_long;
  /* maximum payload size in bytes at the time at which too_long was set */
  guint max_payload;

  guint estimated_bitrate;      /* bit/s */
  /* TRUE if the application has to be notified of a change of
   * `estimated_bitrate`. */
  gboolean rate_changed;
  /* monotonic time in us of the last notification of the property
   * estimated-bitrate */
  gint64 rate_notified_at;
  /* Counts the packets that the receiver has dropped, for each Drop Code. The
   * counts are set to 0 when an element message reports them. */
  guint dropped[DCCP_DROP_NONE];
  /* monotonic time in us of the last message about dropped packets */
  gint64 dropped_posted_at;
  /* TRUE if a key frame has to be requested from upstream when the lock is
   * released */
  gboolean wants_key_unit;
  /* monotonic time in us at which a key frame was last requested; 0 = never */
  gint64 key_unit_requested_at;
  /* TRUE if a buffer with the flag DELTA_UNIT has arrived. Some streams never
   * set this flag. Only in a stream that sets it, a buffer without the flag
   * belongs to a key frame. */
  gboolean has_delta_units;
  /* Sequence numbers of the packets that carry a part of a key frame */
  DccpHistory key_packets;

  /* --- The following fields are used by the streaming thread only. --- */
  /* TRUE if the next packet had to wait because TFRC did not allow it to be
   * sent yet. The sending rate is then limited by TFRC, and not by the amount
   * of data from upstream. */
  gboolean had_to_wait;
  GstClockTime frame_pts;       /* PTS of the frame that is being sent */
  /* TRUE if nothing more of the current frame will be sent: its last packet was
   * sent, or the rest of the frame is dropped */
  gboolean frame_is_over;
  /* Time in ns (monotonic clock) until which the packets of the current frame
   * may wait for the pacing. A packet that would have to wait longer is
   * dropped. Used only with blocking=false. */
  guint64 frame_until;
  /* Minimum interval in ns between the PTS of two successive frames so far;
   * GST_CLOCK_TIME_NONE = unknown */
  GstClockTime frame_period;
  /* Copies of the properties `blocking` and `processing-deadline`. They are
   * protected by the lock of the base class and by OBJECT_LOCK, which must not
   * be taken while `end.lock` is held. */
  gboolean blocking;
  GstClockTime processing_deadline;     /* in ns */
};

#define LOCK(self) g_mutex_lock (&(self)->end.lock)
#define UNLOCK(self) g_mutex_unlock (&(self)->end.lock)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

#define gst_dccp_thin_sink_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstDccpThinSink, gst_dccp_thin_sink,
    GST_TYPE_NETWORK_SINK, GST_IMPLEMENT_NETWORK_URI;
    GST_DEBUG_CATEGORY_INIT (gst_dccp_thin_sink_debug, "dccpthinsink", 0,
        "DCCP sink"));
GST_ELEMENT_REGISTER_DEFINE (dccpthinsink, "dccpthinsink", GST_RANK_NONE,
    GST_TYPE_DCCP_THIN_SINK);

/* --- second name of the element ------------------------------------------- */

/* The element dccpthinsink has a second name, dcctpthinsink. Each name needs an
 * element factory, and each element factory needs a GType of its own. The GType
 * of the second name is therefore a subclass of the GType of the first name.
 * GStreamer derives the default name of an element, such as dccpthinsink0, from
 * the name of the GType, so elements of the two factories get different default
 * names. */
typedef GstDccpThinSink GstDcctpThinSink;
typedef GstDccpThinSinkClass GstDcctpThinSinkClass;

static GType gst_dcctp_thin_sink_get_type (void);
G_DEFINE_TYPE (GstDcctpThinSink, gst_dcctp_thin_sink, GST_TYPE_DCCP_THIN_SINK);
GST_ELEMENT_REGISTER_DEFINE (dcctpthinsink, "dcctpthinsink", GST_RANK_NONE,
    gst_dcctp_thin_sink_get_type ());

static void
gst_dcctp_thin_sink_init (GstDcctpThinSink * self)
{
}

static void
gst_dcctp_thin_sink_class_init (GstDcctpThinSinkClass * klass)
{
}

/* --- virtual functions of GstNetworkSink: description and statistics ------ */

static void
gst_dccp_thin_sink_notify_bitrate (GstDccpThinSink * self)
{
  g_object_notify (G_OBJECT (self), "estimated-bitrate");
}

static gchar *
gst_dccp_thin_sink_describe (GstNetworkSink * sink)
{
  GstDccpThinSink *self = GST_DCCP_THIN_SINK (sink);
  gchar *text;

  LOCK (self);
  text = gst_dccp_thin_settings_describe (&self->end.settings);
  UNLOCK (self);
  return text;
}

static void
gst_dccp_thin_sink_fill_stats (GstNetworkSink * sink, GstStructure * structure)
{
  GstDccpThinSink *self = GST_DCCP_THIN_SINK (sink);
  DccpStats stats;

  LOCK (self);
  gst_dccp_thin_end_get_stats (&self->end, &stats);
  UNLOCK (self);
  gst_dccp_thin_fill_stats (structure, &stats, TRUE);
}

/* --- events of the protocol core, handled with the lock held -------------- */

static void
take_rate (GstDccpThinSink * self, guint64 rate)
{
  self->estimated_bitrate = MIN (rate, G_MAXUINT);
  self->rate_changed = TRUE;
}

static void
take_connection (GstDccpThinSink * self)
{
  DccpStats stats;

  dccp_history_clear (&self->key_packets);
  dccp_endpoint_get_stats (self->end.endpoint, &stats);
  take_rate (self, stats.rate);
}

static void
take_slow_receiver (GstDccpThinSink * self, gboolean slow)
{
  GST_INFO_OBJECT (self, "the receiver is %s", slow ? "slow" : "fast enough");
  gst_dccp_thin_end_queue_message (&self->end,
      gst_structure_new ("dccp-slow-receiver", "slow", G_TYPE_BOOLEAN, slow,
          NULL));
}

static void
request_key_unit (GstDccpThinSink * self)
{
  gint64 now = g_get_monotonic_time ();

  if (!self->request_key_units || (self->key_unit_requested_at > 0
          && now - self->key_unit_requested_at < KEY_UNIT_INTERVAL))
    return;
  self->key_unit_requested_at = now;
  self->wants_key_unit = TRUE;
}

/* Processes the event that packets were lost. Requests a key frame if one of
 * them was part of a key frame: lost packets are not retransmitted, so the
 * frames that refer to this key frame cannot be decoded. */
static void
take_lost (GstDccpThinSink * self, const DccpEvent * event)
{
  GST_LOG_OBJECT (self, "%u packets lost", event->lost);
  if (dccp_history_count (&self->key_packets, event->sequence, event->lost) > 0)
    request_key_unit (self);
}

static gboolean
has_dropped_key_packet (GstDccpThinSink * self, const DccpEvent * event)
{
  return dccp_endpoint_were_dropped (self->end.endpoint, &self->key_packets,
      event->sequence, event->lost);
}

/* Called when the receiver has reported that it dropped packets. The report
 * contains a Drop Code, which is the receiver's reason (RFC 4340 section
 * 11.7.2). The function requests a new key frame if a part of a key frame was
 * dropped. With Drop Code 1, it requests no key frame, because this code means
 * that the receiving application no longer listens. */
static void
take_dropped (GstDccpThinSink * self, const DccpEvent * event)
{
  GST_INFO_OBJECT (self, "the receiver dropped %u packets, code %u",
      event->dropped, event->drop_code);
  self->dropped[event->drop_code] += event->dropped;
  if (event->drop_code != DCCP_DROP_NOT_LISTENING
      && has_dropped_key_packet (self, event))
    request_key_unit (self);
}

static void
gst_dccp_thin_sink_take_event (gpointer element, const DccpEvent * event)
{
  GstDccpThinSink *self = element;

  switch (event->type) {
    case DCCP_EVENT_CONNECTED:
      take_connection (self);
      break;
    case DCCP_EVENT_RATE:
      take_rate (self, event->rate);
      break;
    case DCCP_EVENT_SLOW_RECEIVER:
      take_slow_receiver (self, event->slow);
      break;
    case DCCP_EVENT_DROPPED:
      take_dropped (self, event);
      break;
    case DCCP_EVENT_LOST:
      take_lost (self, event);
      break;
    default:                   /* handled by the endpoint */
      break;
  }
}

/* --- notifications -------------------------------------------------------- */

/* Wakes the streaming thread, which waits in the virtual function `wait` until
 * the time `waits_until`. Does so only if the socket has room and the next
 * packet may be sent before this time. The caller holds the lock. */
static void
wake_sender (GstDccpThinSink * self)
{
  guint64 now = gst_dccp_thin_now ();

  if (self->waits_until == 0 || !self->end.endpoint
      || driver_is_blocked (&self->end.driver, 0)
      || dccp_endpoint_next_send (self->end.endpoint, now) >= self->waits_until)
    return;
  self->waits_until = 0;
  gst_waker_wake (&self->room);
}

/* The caller holds the lock. */
static gboolean
has_dropped (GstDccpThinSink * self)
{
  guint code;

  for (code = 0; code < DCCP_DROP_NONE; code++)
    if (self->dropped[code] > 0)
      return TRUE;
  return FALSE;
}

static guint64
gst_dccp_thin_sink_next_wakeup (gpointer element)
{
  GstDccpThinSink *self = element;
  guint64 wakeup = G_MAXUINT64;

  if (self->rate_changed)
    wakeup = (guint64) (self->rate_notified_at + NOTIFY_INTERVAL) * GST_USECOND;
  if (has_dropped (self))
    wakeup = MIN (wakeup, (guint64) (self->dropped_posted_at + NOTIFY_INTERVAL)
        * GST_USECOND);
  return wakeup;
}

/* Queues element messages about packets that the receiver dropped: one message
 * for each Drop Code (reason of a drop) that occurred. Does this at most once
 * in NOTIFY_INTERVAL. The caller holds the lock. */
static void
queue_dropped_messages (GstDccpThinSink * self)
{
  gint64 now = g_get_monotonic_time ();
  guint code;

  if (!has_dropped (self) || now < self->dropped_posted_at + NOTIFY_INTERVAL)
    return;
  self->dropped_posted_at = now;
  for (code = 0; code < DCCP_DROP_NONE; code++) {
    if (self->dropped[code] == 0)
      continue;
    gst_dccp_thin_end_queue_message (&self->end,
        gst_structure_new ("dccp-dropped", "packets", G_TYPE_UINT,
            self->dropped[code], "code", G_TYPE_UINT, code, NULL));
    self->dropped[code] = 0;
  }
}

/* The caller holds the lock. */
static gboolean
is_time_to_notify_rate (GstDccpThinSink * self)
{
  gint64 now = g_get_monotonic_time ();

  if (!self->rate_changed || now < self->rate_notified_at + NOTIFY_INTERVAL)
    return FALSE;
  self->rate_changed = FALSE;
  self->rate_notified_at = now;
  gst_dccp_thin_end_queue_message (&self->end, gst_structure_new ("dccp-rate",
          "bitrate", G_TYPE_UINT, self->estimated_bitrate, NULL));
  return TRUE;
}

static void
gst_dccp_thin_sink_unlock_and_post (gpointer element)
{
  GstDccpThinSink *self = element;
  gboolean notify_rate = is_time_to_notify_rate (self);
  gboolean wants_key_unit = self->wants_key_unit;

  queue_dropped_messages (self);
  self->wants_key_unit = FALSE;
  wake_sender (self);
  gst_dccp_thin_end_unlock_and_post (&self->end);
  if (notify_rate)
    gst_dccp_thin_sink_notify_bitrate (self);
  if (wants_key_unit)
    gst_pad_push_event (GST_BASE_SINK_PAD (self),
        gst_wireless_event_new_key_unit_request ());
}

/* --- connecting ----------------------------------------------------------- */

static gboolean
is_connected_or_broken (gpointer data)
{
  GstDccpThinEnd *end = data;

  return end->is_connected || end->broken;
}

static void
begin (GstDccpThinSink * self, GstDccpThinSettings * settings)
{
  LOCK (self);
  gst_dccp_thin_settings_copy (settings, &self->end.settings);
  self->end.is_connected = FALSE;
  self->end.is_closing = FALSE;
  g_clear_error (&self->end.broken);
  UNLOCK (self);
  self->had_to_wait = FALSE;
  self->frame_pts = self->frame_period = GST_CLOCK_TIME_NONE;
  self->frame_is_over = TRUE;
}

/* Waits until the connection is established. Returns FALSE with `error` set if
 * this fails. */
static gboolean
wait_for_connection (GstDccpThinSink * self, GCancellable * cancellable,
    GError ** error)
{
  if (!driver_run (&self->end.driver, is_connected_or_broken, G_MAXINT64,
          cancellable, error))
    return FALSE;
  LOCK (self);
  if (self->end.broken)
    g_propagate_error (error, g_steal_pointer (&self->end.broken));
  UNLOCK (self);
  return !*error;
}

static gboolean
open_end (GstDccpThinSink * self, const GstDccpThinSettings * settings,
    GSocketAddress * remote, gboolean is_last, GCancellable * cancellable,
    GError ** error)
{
  if (gst_dccp_thin_end_open (&self->end, settings, remote, is_last,
          gst_network_sink_get_timeout (GST_NETWORK_SINK (self)), cancellable,
          error))
    return TRUE;
  /* If permission was denied, another attempt would fail too. The error code is
   * therefore replaced by a code that tells the base class not to try again. */
  if (g_error_matches (*error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED))
    (*error)->code = G_IO_ERROR_INVALID_ARGUMENT;
  return FALSE;
}

/* Distinguishes a Reset packet of the peer from an ICMP error; both can mean a
 * refusal. After the error code CONNECTION_REFUSED, the base class tries to
 * connect again, because an ICMP error may be temporary or forged. A Reset is
 * more trustworthy: the protocol core ignores a Reset that does not acknowledge
 * the core's own Request. If the refusal was a Reset, this function therefore
 * changes the error code. */
static void
distinguish_reset_from_icmp (GstDccpThinSink * self, GError * error)
{
  LOCK (self);
  if (!self->end.refusal
      && g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED))
    error->code = G_IO_ERROR_CONNECTION_CLOSED;
  UNLOCK (self);
}

static gboolean
connect_to (GstDccpThinSink * self, const GstDccpThinSettings * settings,
    GSocketAddress * remote, gboolean is_last, GCancellable * cancellable,
    GError ** error)
{
  LOCK (self);
  g_clear_error (&self->end.broken);
  UNLOCK (self);
  if (!open_end (self, settings, remote, is_last, cancellable, error))
    return FALSE;
  if (wait_for_connection (self, cancellable, error))
    return TRUE;
  distinguish_reset_from_icmp (self, *error);
  gst_dccp_thin_end_close (&self->end);
  return FALSE;
}

/* Tries the addresses of the host one after the other until one of them
 * answers. Only the attempt with the last address may last for the whole
 * timeout. */
static gboolean
connect_to_any (GstDccpThinSink * self, const GstDccpThinSettings * settings,
    GCancellable * cancellable, GError ** error)
{
  GList *remotes = gst_dccp_thin_resolve (settings, cancellable, error);
  gboolean done = FALSE;
  GList *walk;

  for (walk = remotes; walk && !done; walk = walk->next) {
    if (g_cancellable_is_cancelled (cancellable) && *error)
      break;
    g_clear_error (error);
    done = connect_to (self, settings, walk->data, !walk->next, cancellable,
        error);
  }
  g_list_free_full (remotes, g_object_unref);
  return done;
}

/* Called during the state change from READY to PAUSED. If mode=listener, begins
 * to listen. If this fails, posts an error and returns FALSE, and the state
 * change fails. */
static gboolean
gst_dccp_thin_sink_listen (GstDccpThinSink * self)
{
  return gst_dccp_thin_end_listen (&self->end,
      gst_network_sink_get_timeout (GST_NETWORK_SINK (self)), NULL,
      GST_RESOURCE_ERROR_OPEN_WRITE);
}

/* Waits until the next receiver connects. All receivers connect to the same
 * listening endpoint, one after the other. The endpoint is opened again only if
 * the end of the stream has closed it. */
static gboolean
listen_for_one (GstDccpThinSink * self, const GstDccpThinSettings * settings,
    GCancellable * cancellable, GError ** error)
{
  gboolean listens;

  LOCK (self);
  listens = self->end.endpoint != NULL;
  UNLOCK (self);
  if (!listens && !open_end (self, settings, NULL, TRUE, cancellable, error))
    return FALSE;
  return wait_for_connection (self, cancellable, error);
}

static gboolean
gst_dccp_thin_sink_connect (GstNetworkSink * sink, GCancellable * cancellable,
    GError ** error)
{
  GstDccpThinSink *self = GST_DCCP_THIN_SINK (sink);
  GstDccpThinSettings settings;
  GError *local_error = NULL;
  gboolean done;

  begin (self, &settings);
  if (settings.mode == GST_DCCP_THIN_MODE_LISTENER)
    done = listen_for_one (self, &settings, cancellable, &local_error);
  else
    done = connect_to_any (self, &settings, cancellable, &local_error);
  gst_dccp_thin_settings_clear (&settings);
  if (local_error)
    g_propagate_error (error, local_error);
  return done;
}

/* --- supervision of the connection ---------------------------------------- */

static void
gst_dccp_thin_sink_watch (GstNetworkSink * sink, GCancellable * cancellable,
    GError ** error)
{
  GstDccpThinSink *self = GST_DCCP_THIN_SINK (sink);

  if (!driver_run (&self->end.driver, gst_dccp_thin_end_is_broken, G_MAXINT64,
          cancellable, error))
    return;
  LOCK (self);
  g_propagate_error (error, g_steal_pointer (&self->end.broken));
  UNLOCK (self);
}

/* --- sending -------------------------------------------------------------- */

/* Called when no packet can be sent now. Prepares the next call of the virtual
 * function `wait`: it will return at the time `time` (in ns), or earlier if the
 * endpoint may send earlier. Returns `result`, after which the base class calls
 * `wait`. The caller holds the lock. */
static GstNetworkSinkResult
wait_until (GstDccpThinSink * self, guint64 time, GstNetworkSinkResult result)
{
  gst_waker_reset (&self->room);
  self->waits_until = time;
  return result;
}

/* The caller holds the lock. */
static void
note_key_packet (GstDccpThinSink * self, GstBuffer * buffer, guint64 sequence)
{
  if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT))
    self->has_delta_units = TRUE;
  else if (self->has_delta_units)
    dccp_history_set (&self->key_packets, sequence);
}

/* Copies the properties that decide how long a packet may wait. The caller does
 * not hold the lock. The processing deadline is used only while the frame
 * period is unknown, so it is not read later. */
static void
copy_properties (GstDccpThinSink * self)
{
  self->blocking = gst_network_sink_get_blocking (GST_NETWORK_SINK (self));
  if (!GST_CLOCK_TIME_IS_VALID (self->frame_period))
    self->processing_deadline =
        gst_base_sink_get_processing_deadline (GST_BASE_SINK (self));
}

/* Called for each buffer. If a new frame begins, determines until when its
 * packets may wait. Upstream delivers all packets of a frame at once, and TFRC
 * spreads them over time. With blocking=false, a packet may wait for at most
 * 9/10 of the time between two frames, so that the next frame is not delayed.
 */
static void
note_frame (GstDccpThinSink * self, GstBuffer * buffer, guint64 now)
{
  const GstClockTime pts = GST_BUFFER_PTS (buffer), last = self->frame_pts;
  GstClockTime max_wait;

  if (pts == last && !self->frame_is_over)
    return;
  if (GST_CLOCK_TIME_IS_VALID (pts) && GST_CLOCK_TIME_IS_VALID (last)
      && pts != last)
    self->frame_period = MIN (self->frame_period, pts > last ? pts - last
        : last - pts);
  max_wait = GST_CLOCK_TIME_IS_VALID (self->frame_period) ?
      MIN (self->frame_period / 10 * 9, MAX_FRAME_WAIT) :
      self->processing_deadline;
  self->frame_pts = pts;
  self->frame_is_over = FALSE;
  self->frame_until = now + max_wait;
}

static gboolean
may_wait (GstDccpThinSink * self, guint64 until)
{
  if (self->blocking || until <= self->frame_until)
    return TRUE;
  /* This packet would have to wait too long. The base class therefore drops it,
   * and also the remaining packets of the frame. */
  self->frame_is_over = TRUE;
  return FALSE;
}

/* Passes one packet to the protocol core. If the core accepted the packet,
 * returns GST_NETWORK_SINK_SENT. The buffer then stays mapped in `map`, and the
 * caller unmaps it after the packet was sent. Any other result says why the
 * packet could not be sent. The caller holds the lock. */
static GstNetworkSinkResult
put_packet (GstDccpThinSink * self, GstBuffer * buffer, GstMapInfo * map,
    gboolean more, guint64 now)
{
  guint64 next = dccp_endpoint_next_send (self->end.endpoint, now);
  guint64 sequence;

  note_frame (self, buffer, now);
  if (next > now) {
    self->had_to_wait = TRUE;
    return wait_until (self, next, may_wait (self, next) ?
        GST_NETWORK_SINK_EARLY : GST_NETWORK_SINK_FULL);
  }
  if (!gst_buffer_map (buffer, map, GST_MAP_READ))
    return GST_NETWORK_SINK_UNSENDABLE;
  if (!dccp_endpoint_put (self->end.endpoint, now, map->data, map->size,
          more || self->had_to_wait, &sequence)) {
    self->too_long = map->size;
    self->max_payload = dccp_endpoint_get_max_payload (self->end.endpoint);
    gst_buffer_unmap (buffer, map);
    return GST_NETWORK_SINK_UNSENDABLE;
  }
  note_key_packet (self, buffer, sequence);
  self->had_to_wait = FALSE;
  self->frame_is_over = GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_MARKER);
  return GST_NETWORK_SINK_SENT;
}

static GstNetworkSinkResult
gst_dccp_thin_sink_send_packets (GstNetworkSink * sink, GstBuffer ** buffers,
    guint n, guint * sent, GError ** error)
{
  GstDccpThinSink *self = GST_DCCP_THIN_SINK (sink);
  GstNetworkSinkResult result = GST_NETWORK_SINK_SENT;
  GstMapInfo maps[DCCP_MAX_PUT];
  guint64 now = gst_dccp_thin_now ();
  guint i, n_put = 0;

  n = MIN (n, DCCP_MAX_PUT);
  copy_properties (self);
  LOCK (self);
  if (driver_is_blocked (&self->end.driver, 0)) {
    result = wait_until (self, G_MAXUINT64, GST_NETWORK_SINK_FULL);
    n = 0;
  }
  while (n_put < n) {
    result = put_packet (self, buffers[n_put], &maps[n_put], n_put + 1 < n,
        now);
    if (result != GST_NETWORK_SINK_SENT)
      break;
    n_put++;
  }
  driver_flush (&self->end.driver);
  driver_wake (&self->end.driver, FALSE);
  gst_dccp_thin_sink_unlock_and_post (self);
  for (i = 0; i < n_put; i++)
    gst_buffer_unmap (buffers[i], &maps[i]);
  *sent = n_put;
  return result;
}

static void
gst_dccp_thin_sink_wait (GstNetworkSink * sink, gint64 timeout,
    GCancellable * cancellable)
{
  GstDccpThinSink *self = GST_DCCP_THIN_SINK (sink);
  GstClockTime wait = timeout < 0 ? GST_CLOCK_TIME_NONE : timeout * GST_USECOND;
  guint64 now = gst_dccp_thin_now ();

  LOCK (self);
  if (self->waits_until < G_MAXUINT64)
    wait = MIN (wait, self->waits_until - MIN (now, self->waits_until));
  UNLOCK (self);
  gst_waker_wait (&self->room, wait, cancellable);
  LOCK (self);
  self->waits_until = 0;
  UNLOCK (self);
}

/* --- end of the connection ------------------------------------------------ */

static void
begin_to_close (GstDccpThinSink * self)
{
  LOCK (self);
  if (!self->end.is_closing)
    dccp_endpoint_close (self->end.endpoint, gst_dccp_thin_now ());
  self->end.is_closing = TRUE;
  UNLOCK (self);
}

/* Returns whether `error` means that the peer has closed the connection or is
 * no longer there. At the end of the stream such an error is ignored, and the
 * whole stream counts as delivered. */
static gboolean
is_peer_gone (const GError * error)
{
  return g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CLOSED)
      || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED);
}

static gboolean
gst_dccp_thin_sink_drain (GstNetworkSink * sink, gint64 deadline,
    GCancellable * cancellable, GError ** error)
{
  GstDccpThinSink *self = GST_DCCP_THIN_SINK (sink);
  GError *local_error = NULL;
  gboolean done;

  begin_to_close (self);
  done = driver_run (&self->end.driver, gst_dccp_thin_end_is_broken, deadline,
      cancellable, &local_error);
  LOCK (self);
  if (done)
    local_error = g_steal_pointer (&self->end.broken);
  UNLOCK (self);
  if (is_peer_gone (local_error)) {
    done = TRUE;
    g_clear_error (&local_error);
  }
  if (g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    g_clear_error (&local_error);
  if (local_error)
    g_propagate_error (error, local_error);
  return done;
}

/* Ends the connection without waiting for an answer of the peer. Sends a Reset
 * if `reset` is TRUE or if a Close was already sent. Otherwise sends a Close.
 * The socket of a listener stays open for the next receiver until the stream
 * ends. */
static void
gst_dccp_thin_sink_disconnect (GstNetworkSink * sink, gboolean reset)
{
  GstDccpThinSink *self = GST_DCCP_THIN_SINK (sink);
  gboolean goes_on;

  LOCK (self);
  goes_on = self->end.settings.mode == GST_DCCP_THIN_MODE_LISTENER
      && !self->end.is_closing;
  if (self->end.endpoint) {
    if (reset || self->end.is_closing)
      dccp_endpoint_abort (self->end.endpoint, gst_dccp_thin_now ());
    else
      dccp_endpoint_close (self->end.endpoint, gst_dccp_thin_now ());
    driver_flush (&self->end.driver);
  }
  gst_dccp_thin_end_take_off (&self->end);
  gst_dccp_thin_sink_unlock_and_post (self);
  if (!goes_on)
    gst_dccp_thin_end_close (&self->end);
}

/* --- buffers that are too long -------------------------------------------- */

static GstFlowReturn
post_too_long_error (GstDccpThinSink * self, gsize size, guint max_payload)
{
  gchar *peer = gst_dccp_thin_sink_describe (GST_NETWORK_SINK (self));

  GST_ELEMENT_ERROR (self, RESOURCE, WRITE,
      ("A buffer of %" G_GSIZE_FORMAT " bytes does not fit into a packet to "
          "%s, which takes %u bytes. Put a payloader upstream whose mtu is %u "
          "or less.", size, peer, max_payload, max_payload),
      ("DCCP does not fragment buffers. The property mtu and the MTU of the "
          "path limit the size of a packet."));
  g_free (peer);
  return GST_FLOW_ERROR;
}

/* Posts an error if a buffer did not fit into a packet. The base class only
 * drops such a buffer and counts it, so the user would not learn about the
 * drop. */
static GstFlowReturn
check_size (GstDccpThinSink * self, GstFlowReturn flow)
{
  gsize size;
  guint max_payload;

  LOCK (self);
  size = self->too_long;
  max_payload = self->max_payload;
  self->too_long = 0;
  UNLOCK (self);
  if (size == 0 || flow != GST_FLOW_OK)
    return flow;
  return post_too_long_error (self, size, max_payload);
}

static GstFlowReturn
gst_dccp_thin_sink_render (GstBaseSink * sink, GstBuffer * buffer)
{
  return check_size (GST_DCCP_THIN_SINK (sink),
      GST_BASE_SINK_CLASS (parent_class)->render (sink, buffer));
}

static GstFlowReturn
gst_dccp_thin_sink_render_list (GstBaseSink * sink, GstBufferList * list)
{
  return check_size (GST_DCCP_THIN_SINK (sink),
      GST_BASE_SINK_CLASS (parent_class)->render_list (sink, list));
}

/* --- properties ----------------------------------------------------------- */

static void
get_port (gpointer object, GValue * value, GParamSpec * pspec)
{
  g_value_set_int (value,
      gst_dccp_thin_end_get_port (&GST_DCCP_THIN_SINK (object)->end));
}

/* The caller holds the lock. */
static void
take_old_mode (gpointer object)
{
  GstDccpThinSettings *settings = &GST_DCCP_THIN_SINK (object)->end.settings;

  settings->mode = gst_dccp_thin_mode_replace (object, settings->mode);
}

#define PROPERTY_STRUCT GstDccpThinSink
static const GstWirelessProperty properties[] = {
  PROPERTY_NETWORK_URI
      ("URI of the form dccpthin://host:port?property=value&..., which sets "
      "host, port and the named properties; reading returns "
      "dccpthin://host:port",
      "dccpthin://localhost:5004"),
  PROPERTY_DCCP_THIN_ADDRESS ("bind-address", "Bind address"),
  PROPERTY_DCCP_THIN_PORT (get_port),
  PROPERTY_DCCP_THIN_MODE (GST_DCCP_THIN_MODE_CALLER, take_old_mode),
  /* The value has 4 bits (RFC 4340 section 9.2.1). */
  PROPERTY_UINT ("checksum-coverage", "Checksum coverage",
      "Checksum coverage with encapsulation=raw, if the peer allows partial "
      "coverage (0 = the whole packet, n = the header and 4 (n - 1) bytes of "
      "payload)",
      PROPERTY_READY | PROPERTY_URI, end.settings.coverage, 0, 15, 0),

  PROPERTY_GSO (end.settings.gso),

  /**
   * GstDccpThinSink:request-key-units:
   *
   * DCCP never retransmits, so frames that refer to a lost I-frame cannot be
   * decoded. If this property is TRUE, a new key frame is requested from the
   * encoder upstream after the loss of a part of a key frame, at most once a
   * second.
   */
  PROPERTY_BOOLEAN ("request-key-units", "Request key units",
      "Whether a key frame is requested upstream when a part of a key frame "
      "was lost or was discarded by the receiver",
      PROPERTY_PLAYING | PROPERTY_URI,
      request_key_units, FALSE),

  /**
   * GstDccpThinSink:estimated-bitrate:
   *
   * The payload bitrate in bit/s that TFRC allows now. An encoder upstream
   * should use this bitrate. The signal notify is emitted when the bitrate has
   * changed by at least 10 %, but at most once in 200 ms.
   */
  PROPERTY_UINT ("estimated-bitrate", "Estimated bitrate",
      "Bitrate of payload that TFRC allows now; a lower bound while the stream "
      "does not fill the network (bit/s, 0 = not yet known)",
      PROPERTY_READABLE, estimated_bitrate, 0, G_MAXUINT, 0),
};

/* --- life cycle ----------------------------------------------------------- */

static void
reset (GstDccpThinSink * self)
{
  LOCK (self);
  gst_dccp_thin_end_reset_stats (&self->end);
  self->estimated_bitrate = 0;
  memset (self->dropped, 0, sizeof (self->dropped));
  self->key_unit_requested_at = 0;
  self->has_delta_units = FALSE;
  UNLOCK (self);
}

static GstStateChangeReturn
gst_dccp_thin_sink_change_state (GstElement * element,
    GstStateChange transition)
{
  GstDccpThinSink *self = GST_DCCP_THIN_SINK (element);
  GstStateChangeReturn done;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    reset (self);
    if (!gst_dccp_thin_sink_listen (self))
      return GST_STATE_CHANGE_FAILURE;
  }
  done = GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY
      || (transition == GST_STATE_CHANGE_READY_TO_PAUSED
          && done == GST_STATE_CHANGE_FAILURE))
    gst_dccp_thin_end_close (&self->end);
  return done;
}

static void
gst_dccp_thin_sink_init (GstDccpThinSink * self)
{
  static const GstDccpThinEndFuncs funcs = {
    .take_event = gst_dccp_thin_sink_take_event,
    .unlock_and_post = gst_dccp_thin_sink_unlock_and_post,
    .next_wakeup = gst_dccp_thin_sink_next_wakeup,
    .max_input_size = MAX_INPUT_SIZE,
    .category = &gst_dccp_thin_sink_debug,
  };

  gst_dccp_thin_end_init (&self->end, &funcs, self);
  gst_wireless_properties_init (self, GST_TYPE_DCCP_THIN_SINK);
  gst_waker_init (&self->room);
}

static void
gst_dccp_thin_sink_finalize (GObject * object)
{
  GstDccpThinSink *self = GST_DCCP_THIN_SINK (object);

  gst_waker_clear (&self->room);
  gst_dccp_thin_end_clear (&self->end);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_dccp_thin_sink_class_init (GstDccpThinSinkClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSinkClass *sink_class = GST_BASE_SINK_CLASS (klass);
  GstNetworkSinkClass *network_class = GST_NETWORK_SINK_CLASS (klass);

  object_class->finalize = gst_dccp_thin_sink_finalize;
  element_class->change_state = gst_dccp_thin_sink_change_state;
  sink_class->render = gst_dccp_thin_sink_render;
  sink_class->render_list = gst_dccp_thin_sink_render_list;
  network_class->refusals_pass = TRUE;
  network_class->category = gst_dccp_thin_sink_debug;
  network_class->stats_name = "application/x-dccpthinsink-stats";
  network_class->describe = gst_dccp_thin_sink_describe;
  network_class->connect = gst_dccp_thin_sink_connect;
  network_class->watch = gst_dccp_thin_sink_watch;
  network_class->disconnect = gst_dccp_thin_sink_disconnect;
  network_class->send_packets = gst_dccp_thin_sink_send_packets;
  network_class->wait = gst_dccp_thin_sink_wait;
  network_class->drain = gst_dccp_thin_sink_drain;
  network_class->fill_stats = gst_dccp_thin_sink_fill_stats;

  gst_dccp_thin_install_properties (object_class,
      G_STRUCT_OFFSET (GstDccpThinSink, end.settings),
      G_STRUCT_OFFSET (GstDccpThinSink, end.lock));
  gst_wireless_properties_set_category (object_class, gst_dccp_thin_sink_debug);
  gst_wireless_properties_install (object_class, properties,
      G_N_ELEMENTS (properties), 0, G_STRUCT_OFFSET (GstDccpThinSink,
          end.lock));
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_set_static_metadata (element_class, "DCCP sink",
      "Sink/Network",
      "Sends over DCCP with TCP-friendly rate control (TFRC, CCID 3-Thin) "
      "(dccpthinsink and dcctpthinsink are two names of the same element)",
      "The gst-plugins-wireless authors");
}

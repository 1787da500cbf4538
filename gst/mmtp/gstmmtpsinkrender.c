/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Passes the buffers of the stream to the protocol core of mmtpsink. For each
 * buffer, this file determines the flags, the due time and the prelude, an
 * optional header (docs/wire-mmtp.md). Due times are times of the core's clock.
 * If the core has no room for a buffer, upstream has to wait.
 */

#include "gstmmtpsinkprivate.h"

#include <string.h>

#include "gstframeinfometa.h"
#include "mmtpcapstext.h"

/* types of pictures (I and B) in the field `picture_type` of GstFrameInfoMeta
 */
#define PICTURE_I 1
#define PICTURE_B 3
/* BLOCK_SIZE is the size in bytes of a block, which holds the copies of several
 * buffers. A buffer of more than MAX_SHARED bytes is copied into memory of its
 * own. A block is freed when all buffers in it have arrived or are late. */
#define BLOCK_SIZE 65536
#define MAX_SHARED 16384

/* --- caps ----------------------------------------------------------------- */

/* Updates the frame rate. The property framerate overrides the frame rate of
 * the caps. Call with `lock` held. */
static void
take_frame_rate (GstMmtpSink * self, const GstStructure * structure)
{
  gint n = self->settings.framerate[0], d = self->settings.framerate[1];
  guint32 rate;

  if (n == 0 && !gst_structure_get_fraction (structure, "framerate", &n, &d))
    n = 0;
  self->frame_period = 0;
  rate = 0;
  if (n > 0 && d > 0) {
    self->frame_period = gst_util_uint64_scale_int (G_USEC_PER_SEC, d, n);
    rate = gst_util_uint64_scale_int (1000, n, d);
  }
  self->tell_rate |= rate != self->frame_rate;
  self->frame_rate = rate;
}

/* Returns whether the receiver would accept the caps field. The receiver
 * accepts only certain plain types of values. The core has a function that
 * checks these types. It is called here, so that there is only one list of the
 * types. */
static gboolean
is_plain (GQuark field, GValue * value, gpointer self)
{
  GstStructure *alone = gst_structure_new_empty ("application/x-caps");
  GstCaps *caps;
  gchar *text;
  gboolean plain;

  gst_structure_id_set_value (alone, field, value);
  caps = gst_caps_new_full (alone, NULL);
  text = gst_caps_to_string (caps);
  plain = mmtp_caps_text_is_plain (text, strlen (text));
  if (!plain)
    GST_DEBUG_OBJECT (self, "not sent to the receiver: caps field %s", text);
  g_free (text);
  gst_caps_unref (caps);
  return plain;
}

/* Returns whether a caps field contains a secret. Caps are not encrypted on the
 * wire, so such fields must be removed. srtpenc puts the key of the stream into
 * its caps, and SDP has keys in attributes (RFC 4567, RFC 4568). */
static gboolean
is_secret (GQuark field)
{
  const gchar *name = g_quark_to_string (field);

  return strstr (name, "srtp-key") || strstr (name, "srtcp-key")
      || strstr (name, "crypto") || strstr (name, "key-mgmt");
}

static gboolean
may_cross (GQuark field, GValue * value, gpointer self)
{
  return !is_secret (field) && is_plain (field, value, self);
}

/* Returns the caps as text. Some fields are left out: secret fields, fields
 * that the receiver would refuse (such as multiview-flags), and fields that
 * mean nothing to another host (such as memory features). */
static gchar *
make_caps_text (GstMmtpSink * self, const GstCaps * caps)
{
  GstStructure *structure =
      gst_structure_copy (gst_caps_get_structure (caps, 0));
  GstCaps *plain = gst_caps_new_full (structure, NULL);
  gchar *text;

  gst_structure_filter_and_map_in_place (structure, may_cross, self);
  text = gst_caps_to_string (plain);
  gst_caps_unref (plain);
  return text;
}

gboolean
gst_mmtp_sink_set_caps (GstBaseSink * sink, GstCaps * caps)
{
  GstMmtpSink *self = GST_MMTP_SINK (sink);

  if (!gst_mmtp_sink_can_cut (caps))
    gst_mmtp_sink_drain_input (self);
  LOCK (self);
  g_free (self->caps);
  self->caps = make_caps_text (self, caps);
  take_frame_rate (self, gst_caps_get_structure (caps, 0));
  gst_mmtp_sink_take_video_caps (self, caps);
  gst_mmtp_sink_take_ts_caps (self, caps);
  if (self->sender
      && !mmtp_sender_set_caps (self->sender, gst_mmtp_now (), self->caps))
    GST_WARNING_OBJECT (self, "the caps are longer than %d bytes and are not "
        "sent: set the property caps of the receiver instead: %s",
        MMTP_MAX_CAPS, self->caps);
  driver_wake (&self->driver, FALSE);
  gst_mmtp_sink_unlock_and_post (self);
  return TRUE;
}

/* --- times ---------------------------------------------------------------- */

/* Conversion of running times to due times, which are times of the core's
 * clock. All buffers that arrive together use the same conversion. */
typedef struct
{
  gboolean is_known;            /* The pipeline has a clock. */
  /* The due time of a buffer is its running time plus this offset, in ns. */
  gint64 offset;
  /* running time in ns when the sink received the buffer or buffer list */
  gint64 now;
} Timing;

/* Converts the timestamp `time` to `running`, the running time in ns. Returns
 * FALSE if `time` is invalid or outside the segment. */
static gboolean
get_running_time (GstMmtpSink * self, GstClockTime time, gint64 * running)
{
  const GstSegment *segment = &GST_BASE_SINK (self)->segment;
  guint64 value;
  gint sign;

  if (!GST_CLOCK_TIME_IS_VALID (time) || segment->format != GST_FORMAT_TIME)
    return FALSE;
  sign = gst_segment_to_running_time_full (segment, GST_FORMAT_TIME, time,
      &value);
  if (sign == 0)
    return FALSE;
  *running = sign > 0 ? (gint64) value : -(gint64) value;
  return TRUE;
}

/* Converts the timestamp of the buffer to the core's clock. Sets `due` to the
 * result in ns, which may be negative. Returns FALSE if the buffer has no
 * usable timestamp; the buffer is then due now. */
static gboolean
get_due_time (GstMmtpSink * self, GstBuffer * buffer, const Timing * timing,
    gint64 * due)
{
  if (!timing->is_known || !get_running_time (self,
          GST_BUFFER_DTS_OR_PTS (buffer), due))
    return FALSE;
  *due += timing->offset;
  return TRUE;
}

static gboolean
is_live (GstMmtpSink * self)
{
  gboolean live = FALSE, upstream_live = FALSE;

  gst_base_sink_query_latency (GST_BASE_SINK (self), &live, &upstream_live,
      NULL, NULL);
  return upstream_live;
}

/* Called for the first buffer of a session. The buffer may be late because the
 * sink has waited for the receiver. Live media keep their due times even if
 * they are late. With stored media, the due times of this buffer and of all
 * later buffers are shifted by the same time, so that this buffer is due
 * now. */
static void
begin_timing (GstMmtpSink * self, GstBuffer * first, Timing * timing)
{
  gint64 due, now = gst_mmtp_now ();

  self->timed_session = self->sessions;
  self->shift = 0;
  self->is_late = FALSE;
  mmtp_stamps_clear (&self->stamps);
  if (get_due_time (self, first, timing, &due) && due < now && !is_live (self))
    self->shift = now - due;
}

static void
get_timing (GstMmtpSink * self, GstBuffer * first, Timing * timing)
{
  gint64 anchor = 0;

  timing->is_known = gst_mmtp_clock_map_get (&self->clock_map,
      GST_ELEMENT_CAST (self), &anchor);
  timing->offset = anchor
      + (gint64) gst_base_sink_get_latency (GST_BASE_SINK (self));
  if (self->timed_session != self->sessions)
    begin_timing (self, first, timing);
  timing->offset += self->shift;
  timing->now = (gint64) gst_mmtp_now () - timing->offset;
}

/* Returns whether a buffer has to wait because it is too early. Stored media
 * can be sent long before they are due, but the receiver would have to store
 * them for that time. A buffer is therefore sent at most `latency` before its
 * due time. Call with `lock` held. */
static gboolean
is_early (GstMmtpSink * self, GstBuffer * buffer, const Timing * timing,
    guint64 now)
{
  gint64 due, lead = self->settings.latency * GST_MSECOND;

  if (!get_due_time (self, buffer, timing, &due)
      || due - lead <= (gint64) now)
    return FALSE;
  self->early_until = due - lead;
  return TRUE;
}

/* The initial delay is the time from the timestamp of a buffer to its deadline
 * at the receiver. Returns the initial delay in ns that the properties
 * `latency` and `initial-delay` ask for. The actual initial delay is longer if
 * the delays of the channels require it. Call with `lock` held. */
static gint64
get_wanted_delay (GstMmtpSink * self)
{
  guint delay = self->settings.latency;

  if (self->settings.initial_delay > 0)
    delay = MIN (delay, self->settings.initial_delay);
  return delay * (gint64) GST_MSECOND;
}

/* Sets the due time of a buffer that is put into the queue. The due time is
 * usually the timestamp of the buffer. However, successive buffers may all have
 * the same timestamp (mmtpstamps.h). If this timestamp were the due time of all
 * of them, the later buffers would be too late at the receiver. Therefore, if
 * the timestamp has not changed for longer than half of the initial delay, the
 * due time is the arrival time of the buffer. Call with `lock` held. */
static gboolean
take_due_time (GstMmtpSink * self, GstBuffer * buffer, const Timing * timing,
    guint64 * due)
{
  gint64 time;

  if (!get_due_time (self, buffer, timing, &time))
    return FALSE;
  time = timing->offset + mmtp_stamps_take (&self->stamps, timing->now,
      time - timing->offset, get_wanted_delay (self) / 2);
  *due = MAX (0, time);
  return TRUE;
}

/* --- one buffer ----------------------------------------------------------- */

/* Converts ns to us. Returns FALSE if the result does not fit into 32 bits. */
static gboolean
get_microseconds (gint64 nanoseconds, gint32 * microseconds)
{
  gint64 value = nanoseconds / (gint64) GST_USECOND;

  *microseconds = value;
  return value == *microseconds;
}

/* Sets the due time of the buffer. The prelude is an optional header that is
 * sent with the buffer (docs/wire-mmtp.md, DATA). This function also sets those
 * flags in the prelude that tell the receiver which times the buffer has. There
 * are four cases:
 * - No flag: The buffer has only a presentation time, which is the due time.
 * - DTS: The buffer has only a decoding time, which is the due time.
 * - PTS: The buffer has both a decoding time and a presentation time. The
 *   decoding time is the due time.
 * - NO_TIME: The buffer has no time. It is due now. */
static void
take_times (GstMmtpSink * self, GstBuffer * buffer, const Timing * timing,
    MmtpBuffer * output)
{
  MmtpPrelude *prelude = &output->prelude;
  gint64 pts, dts;
  gboolean has_pts, has_dts;

  has_pts = get_running_time (self, GST_BUFFER_PTS (buffer), &pts);
  has_dts = get_running_time (self, GST_BUFFER_DTS (buffer), &dts);
  if (!has_pts && !has_dts) {
    prelude->mask |= MMTP_PRELUDE_NO_TIME;
    output->due = MMTP_NEVER;
    return;
  }
  if (!take_due_time (self, buffer, timing, &output->due))
    output->due = MMTP_NEVER;
  if (!has_dts)
    return;
  if (!has_pts)
    prelude->mask |= MMTP_PRELUDE_DTS;
  else if (get_microseconds (pts - dts, &prelude->pts))
    prelude->mask |= MMTP_PRELUDE_PTS;
}

static void
take_duration (GstBuffer * buffer, MmtpPrelude * prelude)
{
  GstClockTime duration = GST_BUFFER_DURATION (buffer);

  if (!GST_CLOCK_TIME_IS_VALID (duration)
      || duration / GST_USECOND > G_MAXUINT32)
    return;
  prelude->mask |= MMTP_PRELUDE_DURATION;
  prelude->duration = duration / GST_USECOND;
}

static guint8
get_flags (GstBuffer * buffer)
{
  GstFrameInfoMeta *info = gst_buffer_get_frame_info_meta (buffer);
  guint picture = info ? info->picture_type : 0;
  guint8 flags = 0;

  if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT)
      || picture > PICTURE_I)
    flags |= MMTP_FLAG_DELTA;
  if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DROPPABLE)
      || picture == PICTURE_B)
    flags |= MMTP_FLAG_DROPPABLE;
  if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_MARKER))
    flags |= MMTP_FLAG_MARKER;
  if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_HEADER))
    flags |= MMTP_FLAG_HEADER;
  return flags;
}

/* Writes the presentation rate of the stream (its frame rate and its bitrate,
 * section 4.2 of the MMTP paper) into the prelude of a buffer. The presentation
 * rate is valid for this buffer and all later buffers. Does nothing if the
 * receiver knows this rate already. Call with `lock` held. */
static void
take_rate (GstMmtpSink * self, MmtpPrelude * prelude)
{
  if (!self->tell_rate)
    return;
  self->tell_rate = FALSE;
  prelude->mask |= MMTP_PRELUDE_RATE;
  prelude->frame_rate = self->frame_rate;
  prelude->bit_rate = self->settings.bitrate;
}

/* Posts a warning that a buffer is too large. The warning is posted only once,
 * because otherwise each further large buffer could cause another warning. Call
 * with `lock` held. */
static void
warn_of_size (GstMmtpSink * self, gsize size)
{
  if (self->has_warned_of_size)
    return;
  self->has_warned_of_size = TRUE;
  gst_mmtp_sink_queue_warning (self, g_error_new (GST_RESOURCE_ERROR,
          GST_RESOURCE_ERROR_SETTINGS, "A buffer of %" G_GSIZE_FORMAT " bytes "
          "is not sent: it is longer than max-bytes, which is %u, and others "
          "wait. Raise max-bytes.", size, self->settings.max_bytes));
}

/* Posts a warning that buffers are late. The warning is posted only once,
 * because otherwise each further late buffer could cause another warning. Call
 * with `lock` held.
 */
static void
warn_of_lateness (GstMmtpSink * self, gint64 lateness)
{
  if (self->has_warned_of_lateness)
    return;
  self->has_warned_of_lateness = TRUE;
  gst_mmtp_sink_queue_warning (self, g_error_new (GST_STREAM_ERROR,
          GST_STREAM_ERROR_FAILED,
          "All buffers come too late, and are not sent: the last one is %"
          G_GINT64_FORMAT " ms late by its timestamp, and latency is %u ms. "
          "Raise latency above this lateness, or correct the timestamps "
          "upstream.", lateness / (gint64) GST_MSECOND,
          self->settings.latency));
}

/* Returns whether the deadline of a buffer had already passed when the sink
 * received the buffer. No channel could deliver such a buffer in time.
 * `lateness` is the time in ns from the due time of the buffer until it was
 * received. Call with `lock` held.
 */
static gboolean
is_late (GstMmtpSink * self, gint64 lateness)
{
  MmtpSenderStats stats;

  if (lateness <= get_wanted_delay (self))
    return FALSE;
  mmtp_sender_get_stats (self->sender, &stats);
  return lateness > (gint64) stats.initial_delay;
}

/* Posts a warning if every buffer was late during a period that is longer than
 * the property `latency`. `due` is the due time of the current buffer. Call
 * with `lock` held. */
static void
note_lateness (GstMmtpSink * self, guint64 due, const Timing * timing)
{
  gint64 lateness = 0;

  if (due != MMTP_NEVER)
    lateness = timing->now + timing->offset - (gint64) due;
  if (!is_late (self, lateness)) {
    self->is_late = FALSE;
    return;
  }
  if (!self->is_late)
    self->late_since = timing->now;
  self->is_late = TRUE;
  if (timing->now - self->late_since
      > self->settings.latency * (gint64) GST_MSECOND)
    warn_of_lateness (self, lateness);
}

/* Fills in `output`, the buffer that will be passed to the core: its times, its
 * flags, and the rate of the stream. The caller fills in the data and the
 * picture. Call with `lock` held. */
static void
describe (GstMmtpSink * self, GstBuffer * buffer, const Timing * timing,
    guint8 flags, MmtpBuffer * output)
{
  output->pts = GST_BUFFER_PTS (buffer);
  output->flags = flags;
  take_times (self, buffer, timing, output);
  take_duration (buffer, &output->prelude);
  if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DISCONT))
    output->prelude.mask |= MMTP_PRELUDE_DISCONT;
  take_rate (self, &output->prelude);
  note_lateness (self, output->due, timing);
  self->has_delta_units |= (flags & MMTP_FLAG_DELTA) != 0;
}

/* Called when the core has refused a packet of `size` bytes. Posts a warning if
 * the packet is larger than the property max-bytes, which limits the size of
 * the send queue. Call with `lock` held. */
static void
check_size (GstMmtpSink * self, gsize size)
{
  if (size > self->settings.max_bytes)
    warn_of_size (self, size);
}

/* The transport stream has been cut into pieces. This function passes the
 * pieces to the core. The receiver detects missing packets by gaps in their
 * stream numbers. If the core refuses a piece, the piece gets no number, so the
 * receiver cannot notice that the piece is missing. The next piece therefore
 * gets the flag DISCONT. Call with `lock` held. */
static void
put_pieces (GstMmtpSink * self, const Timing * timing)
{
  MmtpTsPiece piece;
  GstBuffer *times;

  while (mmtp_ts_cutter_poll (self->ts, &piece)) {
    MmtpBuffer output = { NULL };

    times = gst_buffer_new ();
    GST_BUFFER_PTS (times) = piece.tag;
    if (self->ts_has_gap)
      GST_BUFFER_FLAG_SET (times, GST_BUFFER_FLAG_DISCONT);
    GST_LOG_OBJECT (self, "%" G_GSIZE_FORMAT " bytes of a transport stream: "
        "%s, flags %02x", g_bytes_get_size (piece.data),
        piece.picture.is_data ? "data" : "part of a picture", piece.flags);
    output.data = piece.data;
    output.picture = piece.picture;
    describe (self, times, timing, piece.flags, &output);
    self->ts_has_gap = !mmtp_sender_put (self->sender, gst_mmtp_now (),
        &output);
    if (self->ts_has_gap)
      check_size (self, g_bytes_get_size (piece.data));
    gst_buffer_unref (times);
    g_bytes_unref (piece.data);
  }
}

/* Reserves `size` bytes of memory for the copy of a buffer, and returns a
 * pointer to this memory. Sets `output->data` to the GBytes that contains the
 * memory. Successive small buffers share a block of memory, because one
 * allocation for many buffers takes less time than an allocation for each
 * buffer. Call with `lock` held. */
static guint8 *
take_memory (GstMmtpSink * self, gsize size, MmtpBuffer * output)
{
  GstMmtpSinkBlock *block = &self->block;
  guint8 *memory;

  if (size > MAX_SHARED) {
    memory = g_malloc (size);
    output->data = g_bytes_new_take (memory, size);
    return memory;
  }
  if (!block->bytes || size > block->n_free) {
    g_clear_pointer (&block->bytes, g_bytes_unref);
    block->free = g_malloc (BLOCK_SIZE);
    block->n_free = BLOCK_SIZE;
    block->bytes = g_bytes_new_take (block->free, BLOCK_SIZE);
  }
  memory = block->free;
  block->free += size;
  block->n_free -= size;
  output->data = g_bytes_ref (block->bytes);
  return memory;
}

/* Passes a copy of the data of one buffer to the core. The data may have to
 * wait for a slow channel. Without the copy, the buffer itself would have to
 * wait. If it came from a camera, the camera would miss one of its few buffers
 * during this time. Call with `lock` held. */
static void
put_buffer (GstMmtpSink * self, GstBuffer * buffer, const Timing * timing,
    guint64 now)
{
  const gsize size = gst_buffer_get_size (buffer);
  MmtpBuffer output = { NULL };
  guint8 flags = get_flags (buffer), *copy;

  if (self->ts) {
    const gboolean is_cut = gst_mmtp_sink_cut_ts (self, buffer);

    put_pieces (self, timing);
    if (is_cut)
      return;
    /* In a transport stream, the flags MARKER and HEADER mean that the sink has
     * divided the stream into pictures. This buffer was not divided, so the
     * flags must not be set. */
    flags &= ~(MMTP_FLAG_MARKER | MMTP_FLAG_HEADER);
  }
  describe (self, buffer, timing, flags, &output);
  copy = take_memory (self, size, &output);
  if (size > 0)
    gst_buffer_extract (buffer, 0, copy, size);
  gst_mmtp_sink_take_picture (self, buffer, copy, size, &output.picture);
  output.part = copy;
  output.part_size = size;
  if (!mmtp_sender_put (self->sender, now, &output)) {
    gst_network_sink_refuse_packet (GST_NETWORK_SINK (self), buffer);
    check_size (self, size);
  }
  g_bytes_unref (output.data);
}

void
gst_mmtp_sink_drain_input (GstMmtpSink * self)
{
  Timing timing;
  GstBuffer *buffer;

  if (!self->ts)
    return;
  buffer = gst_buffer_new ();
  get_timing (self, buffer, &timing);
  gst_buffer_unref (buffer);
  LOCK (self);
  mmtp_ts_cutter_drain (self->ts);
  if (self->sender)
    put_pieces (self, &timing);
  gst_mmtp_sink_unlock_and_post (self);
}

/* --- functions for the base class ----------------------------------------- */

/* Makes gst_mmtp_sink_wait() return as soon as the send queue of the core has
 * room for a buffer of `size` bytes. Call with `lock` held. */
static void
want_room (GstMmtpSink * self, gsize size)
{
  gst_waker_reset (&self->room);
  self->wants_room = TRUE;
  self->wanted_bytes = size;
}

GstNetworkSinkResult
gst_mmtp_sink_send_packets (GstNetworkSink * sink, GstBuffer ** buffers,
    guint n, guint * sent, GError ** error)
{
  GstMmtpSink *self = GST_MMTP_SINK (sink);
  GstNetworkSinkResult result = GST_NETWORK_SINK_SENT;
  gboolean blocking = gst_network_sink_get_blocking (sink);
  Timing timing;
  guint64 now;
  gsize size;
  guint i;

  get_timing (self, buffers[0], &timing);
  mmtp_stamps_end_idle (&self->stamps, timing.now);
  self->early_until = 0;
  LOCK (self);
  now = gst_mmtp_now ();
  for (i = 0; i < n; i++) {
    size = gst_buffer_get_size (buffers[i]);
    if (blocking && !gst_mmtp_sink_has_room (self, now, size)) {
      want_room (self, size);
      result = GST_NETWORK_SINK_FULL;
      break;
    }
    if (is_early (self, buffers[i], &timing, now)) {
      result = GST_NETWORK_SINK_EARLY;
      break;
    }
    /* A buffer without a timestamp is due at the time that is passed to
     * put_buffer(). If several buffers had the same due time, the core would
     * consider them parts of one frame. Each buffer therefore gets a time that
     * is 1 ns later than that of the previous buffer: `now + i`. */
    put_buffer (self, buffers[i], &timing, now + i);
  }
  *sent = i;
  if (result == GST_NETWORK_SINK_SENT)
    mmtp_stamps_begin_idle (&self->stamps, timing.now);
  if (result != GST_NETWORK_SINK_SENT
      || !driver_may_postpone (&self->driver, now, n)) {
    driver_flush (&self->driver);
    driver_wake (&self->driver, FALSE);
  }
  gst_mmtp_sink_unlock_and_post (self);
  return result;
}

void
gst_mmtp_sink_wait (GstNetworkSink * sink, gint64 timeout,
    GCancellable * cancellable)
{
  GstMmtpSink *self = GST_MMTP_SINK (sink);
  GstClockTime wait = timeout < 0 ? GST_CLOCK_TIME_NONE : timeout * GST_USECOND;
  guint64 now = gst_mmtp_now ();

  if (self->early_until > 0)
    wait = MIN (wait, self->early_until - MIN (now, self->early_until));
  gst_waker_wait (&self->room, wait, cancellable);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ifdqueue between a thread that pushes and a network that takes as many frames
 * as a test lets it, on a clock that the test turns: what the network got, and
 * in which order, is one line of text.
 *
 * A frame is written as its type and its place in the order of input: "I0 B2";
 * "~" before it stands for DISCONT, "s" behind it for a sequence header, and
 * "(x)" for event or query x.
 */

#ifndef __IFD_RIG_H__
#define __IFD_RIG_H__

#include <gst/check/gstcheck.h>
#include <gst/check/gsttestclock.h>

#include <string.h>

#include "gstwirelessevents.h"
#include "streambuilder.h"

#define MPEG_CAPS "video/mpeg,mpegversion=2,systemstream=false,parsed=true," \
    "framerate=25/1"
#define FRAME_TIME (40 * GST_MSECOND)
/* For what another thread is about to do; nothing is said of how fast. */
#define PATIENCE (60 * G_TIME_SPAN_SECOND)

typedef struct
{
  GstElement *element;
  GstBus *bus;
  GstClock *clock;
  GstPad *up, *down;            /* linked to the element's pads */

  GThread *pusher;
  GAsyncQueue *work;            /* of GstMiniObject */

  GMutex lock;
  GCond changed;
  /* protected by lock */
  GString *log;
  gint room;                    /* frames that the network takes before it
                                 * blocks; -1: any number */
  gboolean flushing;
  GstFlowReturn answer;         /* of the network */
  GstFlowReturn flow;           /* what the pusher got last */
  gboolean last_result;         /* of its last event or query */
  guint pushed;                 /* things that it has pushed */
  gboolean live;                /* upstream */
  guint latency_ms;             /* upstream's; more than 0: it is live */
  guint key_unit_requests;
  guint endings;                /* told past what waits */

  guint n_frames;               /* made so far */
} Rig;

/* --- what is pushed ------------------------------------------------------ */

/* "scI0": with a sequence header, and a GOP header of a closed ("c"), open ("o")
 * or broken ("x") GOP; a type, a temporal reference; "f": as two fields */
static inline GBytes *
make_mpeg (const gchar * word)
{
  MpegPicture picture = { 0 };
  MpegStream stream;
  gchar *end;

  mpeg_stream_init (&stream);
  if (*word == 's') {
    mpeg_sequence (&stream, 32, 32, 3, TRUE, FALSE, FALSE);
    word++;
  }
  if (strchr ("cox", *word)) {
    mpeg_gop_full (&stream, FALSE, 0, 0, 0, 0, *word == 'c', *word == 'x');
    word++;
  }
  picture.type = *word;
  picture.tr = g_ascii_strtoull (word + 1, &end, 10);
  if (*end == 'f') {
    picture.structure = 1;
    picture.rows = 1;
    mpeg_picture (&stream, &picture);
    picture.structure = 2;
    if (picture.type == 'I')
      picture.type = 'P';
  }
  mpeg_picture (&stream, &picture);
  mpeg_align (&stream);
  return g_byte_array_free_to_bytes (g_steal_pointer (&stream.bytes));
}

/* Takes the bytes. At its place in time: the next frame is due 40 ms later. */
static inline GstBuffer *
time_frame (Rig * rig, GBytes * bytes)
{
  gsize size = g_bytes_get_size (bytes);
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);

  gst_buffer_fill (buffer, 0, g_bytes_get_data (bytes, NULL), size);
  g_bytes_unref (bytes);
  GST_BUFFER_DTS (buffer) = rig->n_frames * FRAME_TIME;
  GST_BUFFER_PTS (buffer) = GST_BUFFER_DTS (buffer) + 2 * FRAME_TIME;
  GST_BUFFER_DURATION (buffer) = FRAME_TIME;
  rig->n_frames++;
  return buffer;
}

static inline GstEvent *
make_mark (const gchar * name)
{
  return gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
      gst_structure_new_empty (name));
}

/* --- the pusher ---------------------------------------------------------- */

static gchar end_of_work;

static inline gpointer
run_pusher (gpointer data)
{
  Rig *rig = data;
  gpointer object;

  while ((object = g_async_queue_pop (rig->work)) != &end_of_work) {
    GstFlowReturn flow = GST_FLOW_OK;
    gboolean is_buffer = GST_IS_BUFFER (object), result = FALSE;

    if (is_buffer)
      flow = gst_pad_push (rig->up, object);
    else if (GST_IS_EVENT (object))
      result = gst_pad_push_event (rig->up, object);
    else
      result = gst_pad_peer_query (rig->up, object);
    g_mutex_lock (&rig->lock);
    if (is_buffer)
      rig->flow = flow;
    rig->last_result = result;
    rig->pushed++;
    g_cond_broadcast (&rig->changed);
    g_mutex_unlock (&rig->lock);
  }
  return NULL;
}

/* Takes the object; a query stays the caller's. */
static inline void
push (Rig * rig, gpointer object)
{
  g_async_queue_push (rig->work, object);
}

/* Words of make_mpeg (), "(x)" for an event, "eos" */
static inline void
push_plan (Rig * rig, const gchar * plan)
{
  gchar **words = g_strsplit (plan, " ", -1);
  guint i;

  for (i = 0; words[i]; i++) {
    if (words[i][0] == '(') {
      gchar *name = g_strndup (words[i] + 1, strlen (words[i]) - 2);

      push (rig, make_mark (name));
      g_free (name);
    } else if (g_str_equal (words[i], "eos")) {
      push (rig, gst_event_new_eos ());
    } else {
      push (rig, time_frame (rig, make_mpeg (words[i])));
    }
  }
  g_strfreev (words);
}

/* --- the network --------------------------------------------------------- */

static inline void
log_frame (Rig * rig, GstBuffer * buffer)
{
  gchar type = 'I';
  guint8 code[4] = { 0, };

  gst_buffer_extract (buffer, 0, code, sizeof (code));
  if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DROPPABLE))
    type = 'B';
  else if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT))
    type = 'P';
  g_string_append_printf (rig->log, "%s%s%c%u%s", rig->log->len ? " " : "",
      GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DISCONT) ? "~" : "",
      type, (guint) (GST_BUFFER_DTS (buffer) / FRAME_TIME),
      code[3] == 0xb3 ? "s" : "");
}

static inline GstFlowReturn
take_frame (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  Rig *rig = gst_pad_get_element_private (pad);
  GstFlowReturn answer;

  g_mutex_lock (&rig->lock);
  log_frame (rig, buffer);
  g_cond_broadcast (&rig->changed);
  while (rig->room == 0 && !rig->flushing)
    g_cond_wait (&rig->changed, &rig->lock);
  if (rig->room > 0)
    rig->room--;
  answer = rig->flushing ? GST_FLOW_FLUSHING : rig->answer;
  g_mutex_unlock (&rig->lock);
  gst_buffer_unref (buffer);
  return answer;
}

static inline void
log_name (Rig * rig, const gchar * name)
{
  g_mutex_lock (&rig->lock);
  g_string_append_printf (rig->log, "%s(%s)", rig->log->len ? " " : "", name);
  g_cond_broadcast (&rig->changed);
  g_mutex_unlock (&rig->lock);
}

static inline void
set_flushing (Rig * rig, gboolean flushing)
{
  g_mutex_lock (&rig->lock);
  rig->flushing = flushing;
  g_cond_broadcast (&rig->changed);
  g_mutex_unlock (&rig->lock);
}

static inline void
count_ending (Rig * rig)
{
  g_mutex_lock (&rig->lock);
  rig->endings++;
  g_cond_broadcast (&rig->changed);
  g_mutex_unlock (&rig->lock);
}

static inline gboolean
take_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  Rig *rig = gst_pad_get_element_private (pad);

  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_START)
    set_flushing (rig, TRUE);
  else if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    set_flushing (rig, FALSE);
  else if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    log_name (rig, "eos");
  else if (GST_EVENT_TYPE (event) == GST_EVENT_GAP)
    log_name (rig, "gap");
  else if (gst_wireless_event_is_ending (event))
    count_ending (rig);
  else if (GST_EVENT_TYPE (event) == GST_EVENT_CUSTOM_DOWNSTREAM)
    log_name (rig, gst_structure_get_name (gst_event_get_structure (event)));
  gst_event_unref (event);
  return TRUE;
}

static inline gboolean
take_query (GstPad * pad, GstObject * parent, GstQuery * query)
{
  Rig *rig = gst_pad_get_element_private (pad);

  if (!GST_QUERY_IS_SERIALIZED (query))
    return gst_pad_query_default (pad, parent, query);
  log_name (rig, gst_query_type_get_name (GST_QUERY_TYPE (query)));
  return TRUE;
}

/* --- upstream ------------------------------------------------------------ */

static inline gboolean
answer_upstream (GstPad * pad, GstObject * parent, GstQuery * query)
{
  Rig *rig = gst_pad_get_element_private (pad);
  GstClockTime latency = rig->latency_ms * GST_MSECOND;

  if (GST_QUERY_TYPE (query) != GST_QUERY_LATENCY)
    return gst_pad_query_default (pad, parent, query);
  if (latency)
    gst_query_set_latency (query, TRUE, latency, 5 * latency);
  else
    gst_query_set_latency (query, rig->live, 0, GST_CLOCK_TIME_NONE);
  return TRUE;
}

static inline gboolean
take_upstream_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  Rig *rig = gst_pad_get_element_private (pad);

  if (gst_event_has_name (event, "GstForceKeyUnit")) {
    g_mutex_lock (&rig->lock);
    rig->key_unit_requests++;
    g_mutex_unlock (&rig->lock);
  }
  fail_if (gst_wireless_event_is_restart (event));
  gst_event_unref (event);
  return TRUE;
}

/* --- waiting for the other threads --------------------------------------- */

/* Until the network got just this. */
static inline void
expect_log (Rig * rig, const gchar * expected)
{
  gint64 deadline = g_get_monotonic_time () + PATIENCE;

  g_mutex_lock (&rig->lock);
  while (!g_str_equal (rig->log->str, expected)
      && g_cond_wait_until (&rig->changed, &rig->lock, deadline));
  fail_unless_equals_string (rig->log->str, expected);
  g_mutex_unlock (&rig->lock);
}

/* Until the pusher has done so much, or all. */
static inline void
expect_pushed (Rig * rig, guint pushed)
{
  gint64 deadline = g_get_monotonic_time () + PATIENCE;

  g_mutex_lock (&rig->lock);
  while (rig->pushed < pushed
      && g_cond_wait_until (&rig->changed, &rig->lock, deadline));
  fail_unless_equals_int (rig->pushed, pushed);
  g_mutex_unlock (&rig->lock);
}

static inline void
expect_endings (Rig * rig, guint endings)
{
  gint64 deadline = g_get_monotonic_time () + PATIENCE;

  g_mutex_lock (&rig->lock);
  while (rig->endings < endings
      && g_cond_wait_until (&rig->changed, &rig->lock, deadline));
  fail_unless_equals_int (rig->endings, endings);
  g_mutex_unlock (&rig->lock);
}

/* Until a frame of MPEG video is about to wait: its caps go before it. */
static inline void
expect_caps (Rig * rig)
{
  gint64 deadline = g_get_monotonic_time () + PATIENCE;

  while (!gst_pad_has_current_caps (rig->down)
      && g_get_monotonic_time () < deadline)
    g_usleep (1000);
  fail_unless (gst_pad_has_current_caps (rig->down));
}

static inline guint64
get_stat (Rig * rig, const gchar * name)
{
  GstStructure *stats = NULL;
  guint64 value = 0;
  gint64 lateness;

  g_object_get (rig->element, "stats", &stats, NULL);
  if (gst_structure_get_int64 (stats, name, &lateness))
    value = lateness;
  else
    fail_unless (gst_structure_get_uint64 (stats, name, &value), "no %s", name);
  gst_structure_free (stats);
  return value;
}

#define assert_stat(rig, name, value) \
    fail_unless_equals_uint64 (get_stat (rig, name), value)

static inline void
expect_stat (Rig * rig, const gchar * name, guint64 value)
{
  gint64 deadline = g_get_monotonic_time () + PATIENCE;

  while (get_stat (rig, name) != value && g_get_monotonic_time () < deadline)
    g_usleep (1000);
  assert_stat (rig, name, value);
}

/* Lets the network take so many frames more; -1: any number. */
static inline void
open_network (Rig * rig, gint room)
{
  g_mutex_lock (&rig->lock);
  rig->room = room < 0 || rig->room < 0 ? room : rig->room + room;
  g_cond_broadcast (&rig->changed);
  g_mutex_unlock (&rig->lock);
}

/* Until the streaming thread waits for just this time. */
static inline void
expect_wait (Rig * rig, GstClockTime time)
{
  GstClockID id = NULL;

  gst_test_clock_wait_for_next_pending_id (GST_TEST_CLOCK (rig->clock), &id);
  fail_unless_equals_uint64 (gst_clock_id_get_time (id), time);
  gst_clock_id_unref (id);
}

static inline void
set_time (Rig * rig, GstClockTime time)
{
  gst_test_clock_set_time (GST_TEST_CLOCK (rig->clock), time);
}

/* Lets time go on until so many frames have come in. */
static inline void
run_until (Rig * rig, guint frames)
{
  while (get_stat (rig, "frames-in") < frames) {
    guint64 before = get_stat (rig, "frames-in");

    fail_unless (gst_test_clock_crank (GST_TEST_CLOCK (rig->clock)));
    expect_stat (rig, "frames-in", before + 1);
  }
}

static inline gboolean
adds_up (Rig * rig, guint being_sent)
{
  return get_stat (rig, "frames-in") == get_stat (rig, "sent")
      + get_stat (rig, "dropped") + get_stat (rig, "flushed")
      + get_stat (rig, "waiting") + being_sent;
}

/* Nobody is lost: once the other threads are done with what they do */
static inline void
expect_adds_up (Rig * rig, guint being_sent)
{
  static const gchar *const reasons[] = {
    "no-room", "overwritten", "disturbed", "leading", "incomplete",
    "no-i-frame", "misordered"
  };
  gint64 deadline = g_get_monotonic_time () + PATIENCE;
  guint64 dropped = 0;
  guint i;

  while (!adds_up (rig, being_sent) && g_get_monotonic_time () < deadline)
    g_usleep (1000);
  fail_unless (adds_up (rig, being_sent));
  for (i = 0; i < G_N_ELEMENTS (reasons); i++) {
    gchar *name = g_strconcat ("dropped-", reasons[i], NULL);

    dropped += get_stat (rig, name);
    g_free (name);
  }
  assert_stat (rig, "dropped", dropped);
  assert_stat (rig, "dropped", get_stat (rig, "dropped-i") + get_stat (rig,
          "dropped-p") + get_stat (rig, "dropped-b"));
}

/* --- life ---------------------------------------------------------------- */

static GstStaticPadTemplate rig_src = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate rig_sink = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

/* NULL state; properties may be set. */
static inline void
rig_init (Rig * rig)
{
  memset (rig, 0, sizeof (*rig));
  g_mutex_init (&rig->lock);
  g_cond_init (&rig->changed);
  rig->log = g_string_new (NULL);
  rig->room = -1;
  rig->work = g_async_queue_new ();

  rig->element = gst_check_setup_element ("ifdqueue");
  rig->bus = gst_bus_new ();
  gst_element_set_bus (rig->element, rig->bus);
  rig->clock = gst_test_clock_new ();
  gst_element_set_clock (rig->element, rig->clock);
  rig->up = gst_check_setup_src_pad (rig->element, &rig_src);
  gst_pad_set_element_private (rig->up, rig);
  gst_pad_set_query_function (rig->up, answer_upstream);
  gst_pad_set_event_function (rig->up, take_upstream_event);
  rig->down = gst_check_setup_sink_pad (rig->element, &rig_sink);
  gst_pad_set_element_private (rig->down, rig);
  gst_pad_set_chain_function (rig->down, take_frame);
  gst_pad_set_event_function (rig->down, take_event);
  gst_pad_set_query_function (rig->down, take_query);
  gst_pad_set_active (rig->up, TRUE);
  gst_pad_set_active (rig->down, TRUE);
}

static inline void
set_state (Rig * rig, GstState state, GstStateChangeReturn expected)
{
  fail_unless_equals_int (gst_element_set_state (rig->element, state),
      expected);
}

static inline void
push_headers (Rig * rig, const gchar * caps, GstFormat format)
{
  GstSegment segment;

  push (rig, gst_event_new_stream_start ("stream"));
  if (caps) {
    GstCaps *parsed = gst_caps_from_string (caps);

    push (rig, gst_event_new_caps (parsed));
    gst_caps_unref (parsed);
  }
  gst_segment_init (&segment, format);
  push (rig, gst_event_new_segment (&segment));
}

static inline void
rig_start (Rig * rig, const gchar * caps)
{
  gboolean sync;

  g_object_get (rig->element, "sync", &sync, NULL);
  set_state (rig, GST_STATE_PAUSED, sync ? GST_STATE_CHANGE_NO_PREROLL :
      GST_STATE_CHANGE_SUCCESS);
  set_state (rig, GST_STATE_PLAYING, GST_STATE_CHANGE_SUCCESS);
  rig->pusher = g_thread_new ("pusher", run_pusher, rig);
  push_headers (rig, caps, GST_FORMAT_TIME);
}

/* The common case: parsed MPEG video, playing */
static inline void
rig_setup (Rig * rig)
{
  rig_init (rig);
  rig_start (rig, MPEG_CAPS);
}

/* As of a pipeline: the sink first, then the element, then the source */
static inline void
rig_stop (Rig * rig)
{
  set_flushing (rig, TRUE);
  gst_pad_set_active (rig->down, FALSE);
  gst_element_set_state (rig->element, GST_STATE_READY);
}

static inline void
rig_teardown (Rig * rig)
{
  rig_stop (rig);
  push (rig, &end_of_work);
  g_thread_join (rig->pusher);
  gst_pad_set_active (rig->up, FALSE);
  gst_element_set_state (rig->element, GST_STATE_NULL);
  gst_check_teardown_src_pad (rig->element);
  gst_check_teardown_sink_pad (rig->element);
  gst_element_set_bus (rig->element, NULL);
  gst_object_unref (rig->bus);
  gst_check_teardown_element (rig->element);
  gst_object_unref (rig->clock);
  g_async_queue_unref (rig->work);
  g_string_free (rig->log, TRUE);
  g_mutex_clear (&rig->lock);
  g_cond_clear (&rig->changed);
}

#endif /* __IFD_RIG_H__ */

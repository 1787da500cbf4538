/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of gstpullreader.h: reads a file in pull mode. */

#include "gstpullreader.h"

GST_DEBUG_CATEGORY_STATIC (gst_pull_reader_debug);
#define GST_CAT_DEFAULT gst_pull_reader_debug

/* Number of bytes per read, as in GstBaseParse */
#define READ_SIZE (64 * 1024)

typedef struct
{
  GstPad *sinkpad, *srcpad;     /* their element owns the reader */
  GstPadEventFunction src_event;        /* before gst_pull_reader_enable () */

  /* The following fields are protected by the stream lock of the sink pad. */
  /* The current segment, in the format bytes. The next read begins at
   * `segment.position`. */
  GstSegment segment;
  gboolean have_stream;         /* the STREAM_START event was sent */
  gboolean have_segment;        /* the SEGMENT event was sent */
  gboolean discont;             /* the next buffer follows a gap */
  guint32 seqnum;               /* of the last seek */
} PullReader;

static void
init_debug (void)
{
  static gsize done = 0;

  if (g_once_init_enter (&done)) {
    GST_DEBUG_CATEGORY_INIT (gst_pull_reader_debug, "pullreader", 0,
        "Input in pull mode");
    g_once_init_leave (&done, 1);
  }
}

static void
reader_reset (PullReader * reader)
{
  gst_segment_init (&reader->segment, GST_FORMAT_BYTES);
  reader->have_stream = reader->have_segment = FALSE;
  reader->discont = TRUE;
  reader->seqnum = GST_SEQNUM_INVALID;
}

/* --- the task of the sink pad --------------------------------------------- */

static gboolean
reader_send_event (PullReader * reader, GstEvent * event)
{
  if (reader->seqnum != GST_SEQNUM_INVALID)
    gst_event_set_seqnum (event, reader->seqnum);
  return gst_pad_send_event (reader->sinkpad, event);
}

static void
reader_send_stream_start (PullReader * reader)
{
  GstElement *element = GST_ELEMENT_CAST (GST_PAD_PARENT (reader->sinkpad));
  gchar *id = gst_pad_create_stream_id (reader->srcpad, element, NULL);
  GstEvent *event = gst_event_new_stream_start (id);

  gst_event_set_group_id (event, gst_util_group_id_next ());
  reader_send_event (reader, event);
  reader->have_stream = TRUE;
  g_free (id);
}

/* Sends STREAM_START and SEGMENT to the sink pad, unless this was done already.
 * In push mode, the source sends these events before its data. In pull mode, it
 * does not, so the reader sends them. */
static void
reader_begin (PullReader * reader)
{
  if (!reader->have_stream)
    reader_send_stream_start (reader);
  if (!reader->have_segment)
    reader_send_event (reader, gst_event_new_segment (&reader->segment));
  reader->have_segment = TRUE;
}

static GstFlowReturn
reader_read (PullReader * reader)
{
  GstObject *element = GST_OBJECT_CAST (GST_PAD_PARENT (reader->sinkpad));
  GstSegment *segment = &reader->segment;
  guint64 size = READ_SIZE;
  GstBuffer *buffer = NULL;
  GstFlowReturn flow;

  if (segment->stop != GST_CLOCK_TIME_NONE)
    size = MIN (size, segment->stop - MIN (segment->stop, segment->position));
  if (size == 0)
    return GST_FLOW_EOS;
  flow = gst_pad_pull_range (reader->sinkpad, segment->position, size, &buffer);
  if (flow != GST_FLOW_OK)
    return flow;
  segment->position += gst_buffer_get_size (buffer);
  if (reader->discont) {
    buffer = gst_buffer_make_writable (buffer);
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
    reader->discont = FALSE;
  }
  return GST_PAD_CHAINFUNC (reader->sinkpad) (reader->sinkpad, element, buffer);
}

/* Ends the stream as a source in push mode does: posts an error message if
 * `flow` is an error, and sends EOS unless the pad is flushing. */
static void
reader_end (PullReader * reader, GstFlowReturn flow)
{
  GstElement *element = GST_ELEMENT_CAST (GST_PAD_PARENT (reader->sinkpad));

  GST_DEBUG_OBJECT (reader->sinkpad, "stops reading at byte %" G_GUINT64_FORMAT
      ": %s", reader->segment.position, gst_flow_get_name (flow));
  if (flow == GST_FLOW_NOT_LINKED || flow < GST_FLOW_EOS)
    GST_ELEMENT_FLOW_ERROR (element, flow);
  if (flow != GST_FLOW_FLUSHING)
    reader_send_event (reader, gst_event_new_eos ());
}

static void
gst_pull_reader_loop (gpointer data)
{
  PullReader *reader = data;
  GstFlowReturn flow;

  reader_begin (reader);
  flow = reader_read (reader);
  if (flow == GST_FLOW_OK)
    return;
  gst_pad_pause_task (reader->sinkpad);
  reader_end (reader, flow);
}

/* --- seeks in bytes, from any thread -------------------------------------- */

static void
reader_start_flush (PullReader * reader, guint32 seqnum)
{
  GstEvent *event = gst_event_new_flush_start ();

  gst_event_set_seqnum (event, seqnum);
  /* FLUSH_START is first sent to the sink pad, so that the element gets it, and
   * then pushed upstream. In the opposite order, the sink pad would be flushing
   * when the event is sent to it, and a flushing pad discards all events. */
  gst_pad_send_event (reader->sinkpad, gst_event_ref (event));
  gst_pad_push_event (reader->sinkpad, event);
}

static void
reader_stop_flush (PullReader * reader, guint32 seqnum)
{
  GstEvent *event = gst_event_new_flush_stop (TRUE);

  gst_event_set_seqnum (event, seqnum);
  gst_pad_push_event (reader->sinkpad, gst_event_ref (event));
  gst_pad_send_event (reader->sinkpad, event);
}

/* Changes the current segment as the seek event `event` demands. If this seek
 * is not possible, returns FALSE and changes nothing. */
static gboolean
reader_set_segment (PullReader * reader, GstEvent * event)
{
  GstSegment segment = reader->segment;
  GstSeekType start_type, stop_type;
  GstSeekFlags flags;
  gint64 start, stop, size;
  GstFormat format;
  gdouble rate;

  gst_event_parse_seek (event, &rate, &format, &flags, &start_type, &start,
      &stop_type, &stop);
  if (gst_pad_peer_query_duration (reader->sinkpad, GST_FORMAT_BYTES, &size))
    segment.duration = size;
  if (!gst_segment_do_seek (&segment, rate, format, flags, start_type, start,
          stop_type, stop, NULL))
    return FALSE;
  reader->segment = segment;
  reader->have_segment = FALSE;
  reader->discont = TRUE;
  reader->seqnum = gst_event_get_seqnum (event);
  return TRUE;
}

/* Takes ownership of `event`. */
static gboolean
reader_seek (PullReader * reader, GstEvent * event)
{
  const guint32 seqnum = gst_event_get_seqnum (event);
  GstSeekFlags flags;
  GstFormat format;
  gboolean done;
  gdouble rate;

  gst_event_parse_seek (event, &rate, &format, &flags, NULL, NULL, NULL, NULL);
  if (format != GST_FORMAT_BYTES || rate <= 0
      || (flags & GST_SEEK_FLAG_SEGMENT)) {
    gst_event_unref (event);
    return FALSE;
  }

  if (flags & GST_SEEK_FLAG_FLUSH)
    reader_start_flush (reader, seqnum);
  else
    gst_pad_pause_task (reader->sinkpad);
  /* The task of the sink pad is a thread that runs functions of the element.
   * While the task runs such a function, the task holds the stream lock. The
   * calling thread now waits for this lock and takes it. While the calling
   * thread holds the lock, the task cannot run a function of the element. */
  GST_PAD_STREAM_LOCK (reader->sinkpad);
  if (flags & GST_SEEK_FLAG_FLUSH)
    reader_stop_flush (reader, seqnum);
  done = reader_set_segment (reader, event);
  gst_pad_start_task (reader->sinkpad, gst_pull_reader_loop, reader, NULL);
  GST_PAD_STREAM_UNLOCK (reader->sinkpad);
  gst_event_unref (event);
  return done;
}

static gboolean
gst_pull_reader_src_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  PullReader *reader = pad->eventdata;

  if (GST_EVENT_TYPE (event) == GST_EVENT_SEEK
      && gst_pull_reader_is_reading (reader->sinkpad))
    return reader_seek (reader, event);
  return reader->src_event (pad, parent, event);
}

/* --- activation ----------------------------------------------------------- */

/* Returns whether the peer is a source element, such as filesrc, that supports
 * pull mode and can seek. Only such a peer is read in pull mode.
 *
 * Some other elements, such as demuxers, support pull mode too. However, in
 * pull mode they cannot send the caps, which describe the stream. In push mode
 * they can. Push mode is therefore used with them. */
static gboolean
is_readable_source (GstPad * pad)
{
  GstPad *peer = gst_pad_get_peer (pad);
  GstObject *element = peer ? gst_pad_get_parent (peer) : NULL;
  GstQuery *query = gst_query_new_scheduling ();
  gboolean readable = GST_IS_ELEMENT (element)
      && GST_OBJECT_FLAG_IS_SET (element, GST_ELEMENT_FLAG_SOURCE)
      && gst_pad_query (peer, query)
      && gst_query_has_scheduling_mode_with_flags (query, GST_PAD_MODE_PULL,
      GST_SCHEDULING_FLAG_SEEKABLE);

  gst_query_unref (query);
  gst_clear_object (&element);
  gst_clear_object (&peer);
  return readable;
}

static gboolean
gst_pull_reader_activate (GstPad * pad, GstObject * parent)
{
  return gst_pad_activate_mode (pad, is_readable_source (pad) ?
      GST_PAD_MODE_PULL : GST_PAD_MODE_PUSH, TRUE);
}

static gboolean
gst_pull_reader_activate_mode (GstPad * pad, GstObject * parent,
    GstPadMode mode, gboolean active)
{
  PullReader *reader = pad->activatemodedata;

  if (mode != GST_PAD_MODE_PULL)
    return mode == GST_PAD_MODE_PUSH;
  if (!active)
    return gst_pad_stop_task (pad);
  reader_reset (reader);
  return gst_pad_start_task (pad, gst_pull_reader_loop, reader, NULL);
}

void
gst_pull_reader_enable (GstPad * sinkpad, GstPad * srcpad)
{
  PullReader *reader = g_new0 (PullReader, 1);

  init_debug ();
  reader->sinkpad = sinkpad;
  reader->srcpad = srcpad;
  reader->src_event = GST_PAD_EVENTFUNC (srcpad);
  gst_pad_set_activate_function (sinkpad, gst_pull_reader_activate);
  gst_pad_set_activatemode_function_full (sinkpad,
      gst_pull_reader_activate_mode, reader, g_free);
  gst_pad_set_event_function_full (srcpad, gst_pull_reader_src_event, reader,
      NULL);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declarations that the files of mpegstat share. gstmpegstat.c contains the
 * element and its properties. gstmpegstatstream.c processes the stream.
 * gstmpegstattell.c outputs statistics, messages and logs.
 */

#pragma once

#include <gst/gst.h>

#include "gstmpegvideoinput.h"
#include "gstpullreader.h"
#include "gststatstimer.h"
#include "mpegstatarrivals.h"
#include "mpegstatclock.h"
#include "mpegstatcore.h"
#include "mpegstatlog.h"
#include "mpegstatunits.h"

#define GST_TYPE_MPEG_STAT (gst_mpeg_stat_get_type ())
G_DECLARE_FINAL_TYPE (GstMpegStat, gst_mpeg_stat, GST, MPEG_STAT, GstElement);
GST_ELEMENT_REGISTER_DECLARE (mpegstat);

GST_DEBUG_CATEGORY_EXTERN (gst_mpeg_stat_debug);
#define GST_CAT_DEFAULT gst_mpeg_stat_debug

/* Frame duration at the lowest frame rate, 24000/1001 (13818-2 table 6-4).
 * Until the frame rate is known, this is the maximum time that an unparsed
 * frame waits for the beginning of the next frame. */
#define MAX_FRAME_DURATION (GST_SECOND * 1001 / 24000)

/* Copy of some properties, which is made once per frame. `print` and `post` are
 * TRUE if events about the frame are printed or posted as messages. `discard`
 * is TRUE if the frame is discarded if it is incomplete. */
typedef struct
{
  gboolean print, post, discard;
} Settings;

struct _GstMpegStat
{
  GstElement parent;

  GstPad *sinkpad, *srcpad;

  /* protected by OBJECT_LOCK */
  gboolean silent;
  gchar *location;
  MpegStatLogFormat format;
  guint max_frame_size;
  gboolean discard_incomplete;
  gboolean post_messages;
  MpegStatCore *core;           /* written by the streaming thread */
  MpegVideoFramerStats framer_stats;    /* written by the streaming thread */
  /* written by the streaming thread */
  guint64 malformed[IFD_MALFORMED_LAST];
  guint64 malformed_frames;     /* written by the streaming thread */
  MpegStatClock clock;
  gboolean eos;
  /* Maximum time in ns that a frame waits in this element until its end is
   * known; 0 if the input is parsed */
  GstClockTime frame_wait;

  /* Divides MPEG-1/2 video into frames. Only the streaming thread uses it. It
   * is created and freed while no pad is active.
   */
  GstMpegVideoInput *input;
  /* Determines the types and positions of frames, for all codecs except
   * MPEG-1/2. NULL for MPEG-1/2, which `input` handles. */
  MpegStatUnits *units;
  MpegStatArrivals *arrivals;
  MpegStatTime now;             /* arrival of the current buffer */
  /* value of the field `parsed` in upstream's caps */
  gboolean parsed;
  gboolean have_upstream_caps;
  /* TRUE if a buffer arrived since the start or the last flush */
  gboolean started;
  gboolean have_stream;         /* a STREAM_START event came */
  GstSegment segment;           /* the last segment that was sent downstream */
  /* parameters of the MPEG sequence header from which the caps of the src pad
   * were made */
  MpegVideoSequence sequence;
  gboolean update_caps;
  gboolean have_caps;           /* caps were sent downstream */
  GQueue held_events;           /* events that wait until the caps are known */
  gboolean discont;             /* TRUE if the next frame follows a gap */
  MpegStatLog log;
  GString *line;                /* memory for printed lines */
};

/* --- gstmpegstatstream.c -------------------------------------------------- */
GstFlowReturn gst_mpeg_stat_chain (GstPad * pad, GstObject * parent,
    GstBuffer * buffer);
gboolean gst_mpeg_stat_sink_event (GstPad * pad, GstObject * parent,
    GstEvent * event);
gboolean gst_mpeg_stat_sink_query (GstPad * pad, GstObject * parent,
    GstQuery * query);
gboolean gst_mpeg_stat_src_query (GstPad * pad, GstObject * parent,
    GstQuery * query);

/* --- gstmpegstattell.c ---------------------------------------------------- */
/* Records the arrival of the current buffer and returns its time in ns since
 * the first arrival. */
GstClockTime gst_mpeg_stat_take_arrival (GstMpegStat * self);
/* Called when the element enters or leaves PLAYING. Records the time of this
 * change, because the duration of a pause does not count in arrival times. */
void gst_mpeg_stat_mark_switch (GstMpegStat * self);
/* Returns the value of the property `stats` (transfer full). May be called from
 * any thread. */
GstStructure *gst_mpeg_stat_create_stats (GstElement * element);
/* Returns the statistics for the timer of stats-update-interval; NULL after the
 * end of the stream, because the final statistics were already posted. */
GstStructure *gst_mpeg_stat_create_interval_stats (GstElement * element);
void gst_mpeg_stat_post_stats (GstMpegStat * self);
/* Prints the summary. Only the streaming thread calls this function. */
void gst_mpeg_stat_print_summary (GstMpegStat * self);
/* Opens the log if the element has the name of a log file. If the log cannot be
 * opened, posts an error and returns FALSE. */
gboolean gst_mpeg_stat_open_log (GstMpegStat * self);
/* Returns whether at least one kind of output is enabled for events: printing,
 * posting or logging. */
gboolean gst_mpeg_stat_is_heard (GstMpegStat * self, const Settings * settings);
/* Prints, logs and posts an event, as the settings require. */
void gst_mpeg_stat_tell (GstMpegStat * self, const Settings * settings,
    const MpegStatEvent * event);

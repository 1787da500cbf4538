/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declarations that the source files of the element mpegstat share.
 * gstmpegstat.c contains the element and its properties. gstmpegstatstream.c
 * processes the stream. gstmpegstattell.c outputs statistics, messages and
 * logs.
 */

#pragma once

#include <gst/gst.h>

#include "gstmpegvideoinput.h"
#include "gstoutputfile.h"
#include "gstpullreader.h"
#include "gststatstimer.h"
#include "mpegstatarrivals.h"
#include "mpegstatclock.h"
#include "mpegstatcore.h"
#include "mpegstatunits.h"

#define GST_TYPE_MPEG_STAT (gst_mpeg_stat_get_type ())
G_DECLARE_FINAL_TYPE (GstMpegStat, gst_mpeg_stat, GST, MPEG_STAT, GstElement);
GST_ELEMENT_REGISTER_DECLARE (mpegstat);

GST_DEBUG_CATEGORY_EXTERN (gst_mpeg_stat_debug);
#define GST_CAT_DEFAULT gst_mpeg_stat_debug

/* Frame duration in ns at the lowest frame rate, 24000/1001 (13818-2 table
 * 6-4). An unparsed frame waits until the next frame begins. While the frame
 * rate is unknown, this constant serves as the maximum of this waiting time. */
#define MAX_FRAME_DURATION (GST_SECOND * 1001 / 24000)

typedef enum
{
  /* comma-separated values: a header line, then one line per event */
  MPEGSTAT_LOG_CSV,
  /* one line per event; each line is a JSON object */
  MPEGSTAT_LOG_JSON
} MpegStatLogFormat;

/* Copies of three properties, which are made once for each frame. `print` is
 * TRUE if events are printed. `post` is TRUE if events are posted as messages.
 * `discard` is TRUE if incomplete frames are discarded. */
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
  /* Maximum time in ns for which a frame waits in this element until the end of
   * the frame is known; 0 if the input is parsed */
  GstClockTime frame_wait;

  /* Object that divides MPEG-1/2 video into frames. Only the streaming thread
   * uses it. It is created and freed while no pad is active. */
  GstMpegVideoInput *input;
  /* Object that determines the type of each frame and its position in the
   * stream. NULL for MPEG-1/2, because `input` does this for MPEG-1/2. */
  MpegStatUnits *units;
  MpegStatArrivals *arrivals;
  MpegStatTime now;             /* arrival of the current buffer */
  /* value of the field `parsed` in upstream's caps; TRUE if each buffer
   * contains one frame */
  gboolean parsed;
  gboolean have_upstream_caps;
  /* TRUE if a buffer has arrived since the start of the element or since the
   * last flush */
  gboolean started;
  gboolean have_stream;         /* a STREAM_START event came */
  GstSegment segment;           /* the last segment that was sent downstream */
  /* Parameters of the MPEG sequence header from which the present caps of the
   * src pad were made. */
  MpegVideoSequence sequence;
  gboolean update_caps;
  gboolean have_caps;           /* caps were sent downstream */
  /* events that are held back until the caps are known and have been sent */
  GQueue held_events;
  /* TRUE if the next frame gets the flag DISCONT, because the stream begins or
   * data before this frame are missing */
  gboolean discont;
  /* The log. Each event is written when it occurs. `log_format` is the value of
   * the property `format` when the log was opened. */
  GstOutputFile log;
  MpegStatLogFormat log_format;
  GString *line;                /* memory for formatting lines */
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
/* Records the arrival of the current buffer. Returns the time in ns from the
 * first arrival to this one. */
GstClockTime gst_mpeg_stat_take_arrival (GstMpegStat * self);
/* Called when the element enters or leaves PLAYING. Records the time of this
 * change. Arrival times do not include the duration of a pause, so the time
 * when a pause begins or ends must be known. */
void gst_mpeg_stat_mark_switch (GstMpegStat * self);
/* Returns the value of the property `stats` (transfer full). May be called from
 * any thread. */
GstStructure *gst_mpeg_stat_create_stats (GstElement * element);
/* Called by the timer that posts the statistics at the interval
 * stats-update-interval. Returns the statistics. Returns NULL after the end of
 * the stream, because the final statistics were already posted. */
GstStructure *gst_mpeg_stat_create_interval_stats (GstElement * element);
void gst_mpeg_stat_post_stats (GstMpegStat * self);
/* Prints a summary of the statistics. Only the streaming thread calls this
 * function. */
void gst_mpeg_stat_print_summary (GstMpegStat * self);
/* Opens the log if the property location contains the name of a file. If the
 * file cannot be opened, posts an error and returns FALSE. */
gboolean gst_mpeg_stat_open_log (GstMpegStat * self);
/* Returns whether any output of events is enabled: printing, posting or
 * logging. */
gboolean gst_mpeg_stat_is_heard (GstMpegStat * self, const Settings * settings);
/* Outputs an event. Depending on the settings of the element, the event is
 * printed, written to the log, and posted as a message. */
void gst_mpeg_stat_tell (GstMpegStat * self, const Settings * settings,
    const MpegStatEvent * event);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of mpegstat share: the element with its properties in
 * gstmpegstat.c, the way of the stream through it in gstmpegstatstream.c, what it
 * tells in gstmpegstattell.c.
 */

#pragma once

#include <gst/gst.h>

#include "gstmpegvideoinput.h"
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

/* The lowest frame rate there is, 24000/1001 (13818-2 table 6-4): how long a
 * raw frame may wait for the start of the next one, until the rate is known */
#define MAX_FRAME_DURATION (GST_SECOND * 1001 / 24000)

/* What to do with a frame and its events */
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
  MpegVideoFramerStats framer_stats;    /* same */
  guint64 malformed[IFD_MALFORMED_LAST];        /* same */
  MpegStatClock clock;
  gboolean eos;
  GstClockTime frame_wait;      /* that a frame waits here at most */

  /* streaming thread only; made and freed while no pad is active */
  GstMpegVideoInput *input;
  MpegStatUnits *units;         /* H.264 or H.265; NULL: MPEG-1/2, by input */
  MpegStatArrivals *arrivals;
  MpegStatTime now;             /* of the buffer at hand */
  gboolean parsed;              /* what upstream's caps say */
  gboolean have_upstream_caps;
  gboolean started;             /* a buffer came since start or flush */
  gboolean have_stream;         /* a STREAM_START came */
  GstSegment segment;           /* the latest one, as sent on */
  MpegVideoSequence sequence;   /* of the caps on the src pad */
  gboolean update_caps;
  gboolean have_caps;           /* caps were sent */
  GQueue held_events;           /* wait for the caps */
  gboolean discont;             /* the next frame follows a gap */
  MpegStatLog log;
  GString *line;                /* memory for what is printed */
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
/* When the buffer at hand arrived, ns since the first one */
GstClockTime gst_mpeg_stat_take_arrival (GstMpegStat * self);
/* Playing begins or stops. */
void gst_mpeg_stat_mark_switch (GstMpegStat * self);
/* The property `stats`; from any thread */
GstStructure *gst_mpeg_stat_create_stats (GstElement * element);
/* For the timer of stats-interval; NULL: those of a stream that has ended were
 * posted. */
GstStructure *gst_mpeg_stat_create_interval_stats (GstElement * element);
void gst_mpeg_stat_post_stats (GstMpegStat * self);
void gst_mpeg_stat_print_summary (GstMpegStat * self);
/* FALSE: an error was posted. */
gboolean gst_mpeg_stat_open_log (GstMpegStat * self);
/* Whether anybody wants to be told of events */
gboolean gst_mpeg_stat_is_heard (GstMpegStat * self, const Settings * settings);
/* Prints, logs and posts the event, as far as it is wanted. */
void gst_mpeg_stat_tell (GstMpegStat * self, const Settings * settings,
    const MpegStatEvent * event);

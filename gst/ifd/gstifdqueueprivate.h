/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of ifdqueue share: the element (gstifdqueue.c), the way of
 * what comes in (gstifdqueuesink.c) and of what goes out (gstifdqueuesrc.c),
 * its time (gstifdqueuetime.c), and what it tells (gstifdqueuestats.c).
 */

#pragma once

#include "gstifdqueue.h"
#include "gstifdqueueinput.h"
#include "gststatstimer.h"
#include "ifdqueueline.h"

GST_DEBUG_CATEGORY_EXTERN (gst_ifd_queue_debug);

/* Two threads: upstream's streaming thread frames what comes and waits until
 * each frame is due; the src pad's task pushes. Locks, in this order: the
 * streaming lock of a pad, lock, OBJECT_LOCK. None but the streaming lock is
 * held where something is pushed, posted, queried or freed, or a clock waited
 * for.
 *
 * Where upstream waits for room anyway (sync=false, not live), the thread
 * between costs a switch per frame and gives nothing but a boundary. A bin that
 * needs none is unqueued: the streaming thread, instead of waiting for room,
 * makes it by pushing; the task of the src pad pushes events and queries, the
 * first frame, which may wait for a receiver, and others while no more come.
 * Where a source can be read the streaming thread is the task of the sink pad. */
struct _GstIfdQueue
{
  GstElement parent;

  GstPad *sinkpad, *srcpad;

  GMutex lock;
  GCond changed;                /* something that it protects did */

  /* protected by lock: properties */
  IfdConfig config;
  gboolean sync;
  guint max_frame_size;
  gboolean post_messages;

  /* protected by lock: the line between the threads */
  IfdLine *line;
  GstFlowReturn flow;           /* not OK: nothing is taken or pushed */
  gboolean may_be_unqueued;     /* see above; set before the start */
  gboolean pushing;             /* one of the threads is, the other must not */
  gint64 came_at;               /* us, monotonic: the last frame, unqueued */
  gboolean passed;              /* downstream took a frame since the start */
  gboolean eos;                 /* came, and perhaps waits in the line */
  GstQuery *query_done;         /* its answer is known: */
  gboolean query_result;
  GstQuery *query_running;      /* is being answered downstream */

  /* protected by lock: time */
  gboolean paces;               /* sync, as it was at the start */
  gboolean warned_of_times;     /* that there are none */
  gboolean playing;
  GstClockTime paused_at;       /* running time; while not playing */
  gint64 started_at;            /* us, monotonic; the origin without a clock */
  GstClockID wait_id;           /* streaming thread waits for it; or NULL */
  GstClockTime upstream_latency;        /* how much later than its running time
                                         * a frame is due */
  gboolean upstream_is_live;
  gboolean latency_is_known;    /* since the last start or play */
  GstClockTime frame_duration;
  gboolean raw;                 /* frames wait for the next one's start */

  /* protected by lock: statistics */
  GstIfdQueueInputStats input_stats;    /* copied by the streaming thread */
  guint64 sequence_headers_repeated;

  /* streaming thread of the sink pad only; made and freed while no pad is
   * active */
  GstIfdQueueInput *input;
  GstSegment segment;
  gboolean have_stream;         /* a STREAM_START came */
  gboolean started;             /* a buffer came since start or flush */
  gboolean have_caps;           /* caps were sent on */
  guint64 read_bytes;           /* in pull mode */
  GQueue held_events;           /* wait for the caps */

  /* whoever pushes */
  gboolean looked_downstream;
};

/* gstifdqueuetime.c */

/* Running time of the clock, which stands still in a pause; with the lock */
GstClockTime gst_ifd_queue_now (GstIfdQueue * self);
/* Whether the time of this buffer is waited for: not with sync=false, without a
 * clock or without a timestamp. Waits for PLAYING where it matters; without the
 * lock. */
gboolean gst_ifd_queue_is_paced (GstIfdQueue * self, GstBuffer * buffer);
/* Waits until a paced buffer is due, or the flow is not OK any more. Returns the
 * running time at which it is due. With the lock, which it gives back for a
 * while */
GstClockTime gst_ifd_queue_wait_until_due (GstIfdQueue * self,
    GstBuffer * buffer);
/* Ends the wait; with the lock */
void gst_ifd_queue_unwait (GstIfdQueue * self);
/* Whether the streaming thread makes the room that it waits for; with the lock */
gboolean gst_ifd_queue_is_unqueued (GstIfdQueue * self);
void gst_ifd_queue_set_playing (GstIfdQueue * self, gboolean playing);
gboolean gst_ifd_queue_query_latency (GstIfdQueue * self, GstQuery * query);
/* What may change the latency that is told; posts a message if it does. -1, 0: it
 * stays as it is. */
void gst_ifd_queue_set_config (GstIfdQueue * self, gint algorithm,
    guint max_frames);
void gst_ifd_queue_set_frames (GstIfdQueue * self, GstClockTime duration,
    gboolean raw);

/* gstifdqueuesink.c */

void gst_ifd_queue_init_sink (GstIfdQueue * self);
void gst_ifd_queue_start_sink (GstIfdQueue * self);
void gst_ifd_queue_stop_sink (GstIfdQueue * self);

/* gstifdqueuesrc.c */

void gst_ifd_queue_init_src (GstIfdQueue * self);
/* Ends what waits or pushes, soon; with the lock */
void gst_ifd_queue_set_flow (GstIfdQueue * self, GstFlowReturn flow);
/* Empties the line. Sticky events go to the src pad where keep_sticky is set.
 * With the lock, which it gives back for a while. */
void gst_ifd_queue_flush_line (GstIfdQueue * self, gboolean keep_sticky);
/* Lets the task run, if the pad is active; with the lock */
void gst_ifd_queue_start_task (GstIfdQueue * self);
/* Waits until the line takes one more frame, or makes the room for it. With the
 * lock, which it gives back for a while */
void gst_ifd_queue_wait_for_room (GstIfdQueue * self);
/* Posts and frees the frames that the line gave up, and asks upstream for a key
 * frame where only that helps. Called with the lock, which it gives back. */
void gst_ifd_queue_unlock_and_tell (GstIfdQueue * self);

/* gstifdqueuestats.c */

GstStructure *gst_ifd_queue_create_stats (GstElement * element);
void gst_ifd_queue_post_stats (GstIfdQueue * self);
GstMessage *gst_ifd_queue_new_drop_message (GstIfdQueue * self,
    const IfdLineDrop * drop);

/* gstifdqueuedownstream.c */

/* That of the pad's peer, through the walls of bins; NULL: none */
GstElement *gst_ifd_queue_get_peer_element (GstPad * pad);
/* Warns once of a sink behind us that waits for timestamps. */
void gst_ifd_queue_look_downstream (GstIfdQueue * self);

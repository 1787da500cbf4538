/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declarations that the files of ifdqueue share: the element (gstifdqueue.c),
 * its input (gstifdqueuesink.c) and output (gstifdqueuesrc.c), pacing and
 * latency (gstifdqueuetime.c), statistics and messages (gstifdqueuestats.c),
 * and a check of the elements downstream (gstifdqueuedownstream.c).
 */

#pragma once

#include "gstifdqueue.h"
#include "gstifdqueueinput.h"
#include "gststatstimer.h"
#include "ifdqueueline.h"

GST_DEBUG_CATEGORY_EXTERN (gst_ifd_queue_debug);

/* Two threads use the element:
 *
 * - Upstream's streaming thread splits the input into frames and waits until
 *   each frame is due. If upstream is a source in pull mode, the task of the
 *   sink pad does this.
 * - The task of the src pad pushes the frames.
 *
 * The locks are taken in this order: the streaming lock of a pad, `lock`,
 * OBJECT_LOCK. Only the streaming lock may be held while the element pushes,
 * posts, queries or frees an object, or waits for a clock.
 *
 * The task of the src pad has no benefit if sync=false and the input is not
 * live. Upstream then waits whenever the queue is full, so no frame has to be
 * dropped, and the task only costs a thread switch per frame. The bin that
 * contains the element can therefore allow the unqueued mode with
 * gst_ifd_queue_allow_unqueued (). In this mode, upstream's streaming thread
 * pushes the frames itself: whenever the queue is full, this thread pushes the
 * oldest frame instead of waiting for the task. The task of the src pad then
 * pushes only:
 *
 * - the events and queries;
 * - the first frame, because this push may have to wait for a receiver;
 * - the frames in the queue, if no new frame arrives from upstream. */
struct _GstIfdQueue
{
  GstElement parent;

  GstPad *sinkpad, *srcpad;

  GMutex lock;
  /* condition variable; signalled when a field that `lock` protects changes */
  GCond changed;

  /* properties, protected by lock */
  IfdConfig config;
  gboolean sync;
  guint max_frame_size;
  gboolean post_messages;

  /* The queue of frames. Upstream's streaming thread adds frames, and the task
   * of the src pad takes frames out. Protected by lock. */
  IfdLine *line;
  /* GST_FLOW_OK while frames are accepted and pushed. Otherwise the reason why
   * they are not: the result of the push that failed, GST_FLOW_EOS, or
   * GST_FLOW_FLUSHING. */
  GstFlowReturn flow;
  /* TRUE if the unqueued mode is allowed, in which upstream's streaming thread
   * pushes the frames itself. Set before the element starts. */
  gboolean may_be_unqueued;
  /* TRUE while upstream's streaming thread or the task of the src pad pushes;
   * the other thread must not push during this time */
  gboolean pushing;
  /* Monotonic time in us at which the last frame arrived from upstream. Used
   * only in unqueued mode, in which upstream's streaming thread pushes the
   * frames. */
  gint64 came_at;
  /* TRUE if downstream has accepted a frame since the element started */
  gboolean passed;
  /* TRUE if upstream has sent EOS. The EOS event may still be in the queue. */
  gboolean eos;
  /* `query_done` is the last query that downstream has answered. It is NULL
   * after the thread that sent the query has read the answer. `query_result` is
   * TRUE if downstream was able to answer this query. */
  GstQuery *query_done;
  gboolean query_result;
  GstQuery *query_running;      /* query that downstream is answering */

  /* pacing, protected by lock */
  /* value of `sync` when the element started; TRUE means that frames wait until
   * they are due */
  gboolean paces;
  /* TRUE if a warning about missing timestamps was already posted */
  gboolean warned_of_times;
  gboolean playing;
  /* Running time in ns at which the pipeline was paused. While the pipeline is
   * not playing, the running time does not advance and has this value. */
  GstClockTime paused_at;
  /* Monotonic time in us at which the running time was 0. An element without a
   * clock computes the running time from this value. */
  gint64 started_at;
  /* GstClockID on which the streaming thread waits until a frame is due; NULL
   * if it does not wait for a clock */
  GstClockID wait_id;
  /* Latency of upstream in ns. A frame is due at its running time plus this
   * latency. */
  GstClockTime upstream_latency;
  gboolean upstream_is_live;
  /* TRUE if `upstream_latency` is known. FALSE if upstream's latency has to be
   * queried: after the start, after a change to or from PLAYING, and after a
   * change of the frame duration. */
  gboolean latency_is_known;
  GstClockTime frame_duration;
  /* TRUE if the input is unparsed: a buffer can begin or end inside a frame. A
   * frame is then known to be complete only when the next frame begins. */
  gboolean raw;

  /* The following three fields are used to decide whether a key frame has to be
   * requested from upstream. They are protected by the lock. Times are running
   * times in ns. */
  GstClockTime key_unit_asked_at;       /* last request; NONE if none */
  /* Time at which the last I-frame arrived; GST_CLOCK_TIME_NONE if no I-frame
   * has arrived */
  GstClockTime i_frame_at;
  /* Last measured time between two successive I-frames; 0 if unknown. The time
   * between two I-frames is not measured if a key frame was requested between
   * them. */
  GstClockTime i_frame_interval;

  /* statistics, protected by lock */
  GstIfdQueueInputStats input_stats;    /* copied by the streaming thread */
  guint64 sequence_headers_repeated;

  /* The following fields are used by the streaming thread of the sink pad only.
   * They are created and freed while no pad is active. */
  GstIfdQueueInput *input;
  GstSegment segment;
  gboolean have_stream;         /* TRUE if a STREAM_START event was received */
  /* TRUE if a buffer has arrived since the stream began or was last flushed */
  gboolean started;
  gboolean have_caps;           /* TRUE if caps were sent downstream */
  /* position in bytes of the next read; used only in pull mode */
  guint64 read_bytes;
  /* serialized events that wait until the caps are known, because the CAPS
   * event must be sent before them */
  GQueue held_events;

  /* The following fields are used only by the thread that is pushing at the
   * moment. */
  gboolean looked_downstream;
  /* Number of video packets of a transport stream that were dropped so far. The
   * continuity counters of later packets are reduced by this number. */
  guint ts_removed;
};

/* gstifdqueuetime.c */

/* Returns the current running time in ns. The running time does not advance
 * while the pipeline is paused. The caller holds the lock. */
GstClockTime gst_ifd_queue_now (GstIfdQueue * self);
/* Returns whether the caller has to wait until the buffer of `item` is due, and
 * stores in `time` the timestamp at which the buffer is due. The caller need
 * not wait if the buffer has no timestamp, if there is no clock, or if
 * sync=false. If sync=true, this function itself blocks until the element is in
 * PLAYING. The caller does not hold the lock. */
gboolean gst_ifd_queue_is_paced (GstIfdQueue * self, const IfdLineItem * item,
    GstClockTime * time);
/* Waits until a buffer with the timestamp `time` is due. The wait ends early if
 * `flow` is no longer GST_FLOW_OK. Returns the running time at which the buffer
 * is due. The caller holds the lock, which is released while waiting. */
GstClockTime gst_ifd_queue_wait_until_due (GstIfdQueue * self,
    GstClockTime time);
/* Wakes the threads that wait in gst_ifd_queue_wait_until_due () or on the
 * condition variable `changed`, so that they check again whether to wait. The
 * caller holds the lock. */
void gst_ifd_queue_unwait (GstIfdQueue * self);
/* Returns whether the unqueued mode is active, in which the streaming thread
 * itself pushes the frames. The caller holds the lock. */
gboolean gst_ifd_queue_is_unqueued (GstIfdQueue * self);
void gst_ifd_queue_set_playing (GstIfdQueue * self, gboolean playing);
gboolean gst_ifd_queue_query_latency (GstIfdQueue * self, GstQuery * query);
/* The following two functions set values on which the latency of the element
 * depends. If the latency changes, they post a LATENCY message. In
 * gst_ifd_queue_set_config (), `algorithm` = -1 leaves the algorithm unchanged,
 * and `max_frames` = 0 leaves the maximum number of waiting frames unchanged.
 */
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
/* Sets `flow`. Also wakes the threads that wait, so that they check the new
 * value. The caller holds the lock. */
void gst_ifd_queue_set_flow (GstIfdQueue * self, GstFlowReturn flow);
/* Removes and frees all items of the queue. If `keep_sticky` is TRUE, the
 * sticky events among them are first stored on the src pad, so that they still
 * apply to the data that follow. SEGMENT and EOS are not stored. The caller
 * holds the lock, which is released during the call. */
void gst_ifd_queue_flush_line (GstIfdQueue * self, gboolean keep_sticky);
/* If the src pad is active, sets `flow` to GST_FLOW_OK and starts the task of
 * the pad, which pushes the frames. Otherwise sets `flow` to GST_FLOW_FLUSHING.
 * The caller holds the lock. */
void gst_ifd_queue_start_task (GstIfdQueue * self);
/* Waits until the queue has room for one more frame. If upstream is live, does
 * not wait, because frames are dropped instead. In unqueued mode, the calling
 * thread has to push the frames itself. To make room, it then takes the oldest
 * frame out of the queue and pushes this frame. The caller holds the lock,
 * which is released while the function waits or pushes. */
void gst_ifd_queue_wait_for_room (GstIfdQueue * self);
/* Called after the algorithm may have dropped frames. Releases the lock. Then
 * posts a message about each dropped frame, if the property post-messages is
 * set, and frees the frame. If the stream cannot resume without a key frame,
 * requests a key frame from upstream. */
void gst_ifd_queue_unlock_and_post (GstIfdQueue * self);
/* Forgets the time of the last key frame request, the time of the last I-frame,
 * and the interval between I-frames. Called when the element starts. The caller
 * holds the lock. */
void gst_ifd_queue_reset_key_units (GstIfdQueue * self);
/* Called when an I-frame has arrived. Stores the time of its arrival, and
 * updates the interval between I-frames. The caller holds the lock. */
void gst_ifd_queue_note_i_frame (GstIfdQueue * self);

/* gstifdqueuestats.c */

GstStructure *gst_ifd_queue_create_stats (GstElement * element);
void gst_ifd_queue_post_stats (GstIfdQueue * self);
GstMessage *gst_ifd_queue_new_drop_message (GstIfdQueue * self,
    const IfdLineDrop * drop);

/* gstifdqueuedownstream.c */

/* Returns the element that is linked to the pad, even if ghost pads of bins are
 * between them (transfer full). Returns NULL if there is none. */
GstElement *gst_ifd_queue_get_peer_element (GstPad * pad);
/* Called before the first frame is pushed. Posts a warning if both ifdqueue and
 * the sink downstream delay each buffer until its timestamp (sync=true),
 * because ifdqueue would then drop frames without need. */
void gst_ifd_queue_look_downstream (GstIfdQueue * self);

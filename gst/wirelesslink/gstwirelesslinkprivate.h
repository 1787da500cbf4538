/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Internal header of the element. It declares what the files of the element
 * share: the element and its properties (gstwirelesslink.c), its pads and their
 * tasks (gstwirelesslinkpad.c), the items of one flow (gstwirelesslinkflow.c),
 * the medium that all flows share (gstwirelesslinkmedium.c), the input into the
 * medium (gstwirelesslinkinput.c) and the statistics (gstwirelesslinkstats.c).
 *
 * The core is the model of the link, in the directory core. It does not use
 * GStreamer.
 *
 * One lock protects the link and all items that wait. Some items wait to enter
 * the link. Other items have left the link and wait to be output. While this
 * lock is held, no data are pushed, no message is posted and no property is
 * notified. The order of the locks is fixed: a thread that holds this lock may
 * take an OBJECT_LOCK, but a thread that holds an OBJECT_LOCK must not take
 * this lock. */

#pragma once

#include <gst/gst.h>
#include <gst/base/gstqueuearray.h>

#include "gststatstimer.h"
#include "link.h"
#include "statistics.h"
#include "wirelesslinkclock.h"
#include "wirelesslinklog.h"
#include "wirelesslinksettings.h"
#include "wirelesslinkvideo.h"

#define GST_TYPE_WIRELESS_LINK (gst_wireless_link_get_type ())
G_DECLARE_FINAL_TYPE (GstWirelessLink, gst_wireless_link, GST, WIRELESS_LINK,
    GstElement);
GST_ELEMENT_REGISTER_DECLARE (wirelesslink);

GST_DEBUG_CATEGORY_EXTERN (gst_wireless_link_debug);

/* Upper limit of the pad numbers (exclusive). A flow has the same number as its
 * two pads, so the flow numbers in a recorded pattern file are below this
 * value, too. */
#define GST_WIRELESS_LINK_MAX_PADS 65536

typedef enum
{
  GST_WIRELESS_LINK_MODE_REALTIME,
  GST_WIRELESS_LINK_MODE_TIMESTAMP
} GstWirelessLinkMode;

/* An epoch: the packets that entered the link between two barriers. A barrier
 * is a serialized event or query. */
typedef struct
{
  /* number of packets of this epoch that are still in the link; it is not known
   * yet whether they are delivered or lost */
  guint64 in_flight;
  /* Queue of GstWirelessLinkItem: packets that have left the link, but wait
   * until the barriers before them have been output. A barrier is a serialized
   * event or query. */
  GQueue early;
  /* The barrier: the event or query that follows the packets of this epoch. It
   * leaves the link when the fate of all these packets is known. NULL in the
   * latest epoch, which no barrier has ended yet.
   */
  GstMiniObject *barrier;
  gdouble rate;                 /* rate of the segment */
} GstWirelessLinkEpoch;

/* A buffer that is inside the emulated link. The core of the link (core/link.h)
 * stores a pointer to this struct with the packet. */
typedef struct
{
  GstBuffer *buffer;
  /* The epoch to which the packet belongs. An epoch is the set of packets
   * between two serialized events or queries.
   *
   * This pointer is valid only as long as the generation number of the flow
   * equals the field `generation`. That field contains the generation number
   * that the flow had when the packet entered. A flush of the flow frees the
   * epochs of the flow, and gives the flow a new generation number. */
  GstWirelessLinkEpoch *epoch;
  guint64 generation;
  /* With mode=timestamp: time in ns at which the packet arrived at the link,
   * computed from the timestamp of the packet. The packet may enter the link
   * later, because it may have to wait for room in the queue. */
  gint64 arrival;
  /* TRUE if the buffer arrived as part of a buffer list */
  gboolean in_list;
} GstWirelessLinkPacket;

/* A buffer, event or query that waits in the element, either upstream of the
 * emulated link or downstream of it. */
typedef struct
{
  GstMiniObject *object;        /* buffer, event or query */
  /* Time in ns: the arrival time while the item waits upstream of the link, the
   * departure time while it waits downstream of the link. */
  gint64 time;
  gboolean in_list;
} GstWirelessLinkItem;

/* A flow: the packets that enter by one sink pad and leave by the src pad with
 * the same number. */
typedef struct
{
  gint refs;
  GstWirelessLink *element;
  /* Number of the flow in the core, which is also the number of its two pads.
   * For example, flow 3 has the pads sink_3 and src_3. */
  guint number;
  /* The two pads of the flow. They belong to the element. Each pointer is NULL
   * after the release of its pad. */
  GstPad *sinkpad, *srcpad;

  /* protected by the element's lock */
  guint station;
  GstSegment segment;           /* segment of the input */
  /* video format of the buffers according to their caps, for example MPEG video
   * in RTP */
  WirelessLinkVideo video;
  /* number of buffers that have arrived so far; it is used to give each video
   * frame a number */
  guint32 n_buffers;
  /* Number of the current generation. A flush starts a new generation. Packets
   * of earlier generations that are still in the core (the model of the link)
   * are discarded when they leave it. */
  guint64 generation;
  /* Queue of GstWirelessLinkEpoch, the oldest one first. An epoch is the set of
   * packets between two serialized events or queries. The queue is never empty.
   */
  GQueue epochs;
  /* Queue of GstWirelessLinkItem, used with mode=timestamp: the packets and
   * events of this flow that have not entered the link yet. The items of all
   * flows enter the link in the order of their times. An item therefore waits
   * here until no other flow can still get an item with an earlier time. */
  GstQueueArray *input;
  /* condition variable that is signalled when a packet can be added to `input`,
   * or when the queue of the link has room again */
  GCond input_cond;
  /* With mode=timestamp: link time in ns before which no further packet of this
   * flow will arrive. */
  guint64 heard_until;
  /* With mode=timestamp and blocking=true: TRUE if the next packet of this flow
   * waits because the queue of the link is full */
  gboolean waits;
  guint64 waits_since;          /* ns of link time */
  gboolean eos, eos_sent;
  gboolean timestamped;         /* a packet with a timestamp has arrived */
  gint64 last_arrival;          /* ns; with mode=timestamp only */
  /* With mode=timestamp: the offset in ns that is added to the running time of
   * a packet to get its link time. A flushing seek lets running time begin at 0
   * again. Link time continues, so the offset then becomes greater. */
  guint64 time_offset;
  /* Result of the last push to the src pad; GST_FLOW_FLUSHING while the flow is
   * flushing or is not active */
  GstFlowReturn result;
  /* packets, events and queries that the task of the src pad has to push */
  GstQueueArray *output;
  /* Number of buffers that wait to be pushed downstream, or are being pushed:
   * those that are in `output` or in `batch`, or were just taken from `batch`.
   * This field is accessed atomically. */
  gint n_output;
  gboolean task_waits;
  GCond output_cond;
  /* The serialized query that has entered the flow and has not been answered
   * yet. The thread that sent the query waits for the answer. NULL = no query.
   */
  GstQuery *query;
  /* TRUE while the task of the src pad sends `query` downstream */
  gboolean query_asked;
  gboolean query_answer;
  GCond query_cond;

  /* used by the task only */
  /* Array of GstWirelessLinkItem that the task of the src pad is pushing
   * downstream. The task takes the lock, moves all items of `output` to this
   * array at once, releases the lock, and then pushes them. */
  GstQueueArray *batch;
  /* Array of gint64: for each buffer or buffer list of `batch` that the task
   * has pushed, its lateness in ns. The lateness is the time from when the link
   * should have released the packet until the task pushed it. */
  GArray *lateness;
} GstWirelessLinkFlow;

struct _GstWirelessLink
{
  GstElement parent;

  GMutex lock;

  /* protected by lock: properties */
  WirelessLinkSettings *settings;
  GstWirelessLinkMode mode;
  gboolean blocking;
  guint max_output_packets;
  gchar *location, *record_pattern;

  /* protected by lock */
  /* Array of GstWirelessLinkFlow, indexed by the number of the flow. An entry
   * is NULL if no flow has this number. */
  GPtrArray *flows;
  guint64 next_generation;
  Link *link;                   /* NULL in the states NULL and READY */
  WirelessLinkLog *log;         /* NULL = no log */
  /* value that the property `mode` had when the element started */
  GstWirelessLinkMode running_mode;
  /* TRUE if the queue drops whole video frames (queue=drop-frame or queue=ifd),
   * and therefore needs to know to which frame each packet belongs. Set when
   * the element starts. */
  gboolean knows_frames;
  /* The part of the link's delay that is the same for all packets, in ns:
   * delays[0] for the packets of station 0, delays[1] for the packets of all
   * other stations. Used to answer LATENCY queries. */
  guint64 delays[2];
  /* number of flows that were added to the core, the model of the link */
  guint n_announced;
  /* array of guint64: for each flow, the number of packets that have left the
   * link but were dropped because the queue to the src pad (`output`) was full
   */
  GArray *dropped_output;
  /* Number of packets that the core (the model of the link) holds. */
  guint64 in_flight;
  /* Link time in ns of the latest event of these three types: a packet entered
   * the link, was delivered, or was lost. If there is no such event for a long
   * time, the link is stuck. */
  guint64 last_fate;
  /* With mode=timestamp: link time in ns up to which the link has advanced */
  guint64 link_time;
  gboolean flushing;            /* the element is being stopped */
  WirelessLinkClock clock;      /* runs in PLAYING */
  /* Messages to post and properties to notify. They wait here until the lock is
   * released, because neither may happen while the lock is held. */
  GQueue notices;
  StatisticsHistogram *lateness;
  GstStructure *last_stats;     /* statistics of the previous run */
  /* TRUE if the statistics were posted because all flows have ended; they are
   * then not posted a second time */
  gboolean stats_posted;

  /* State of the scheduler thread, which exists with mode=realtime. Protected
   * by `lock`. */
  GThread *scheduler;
  gboolean scheduler_stops;
  GCond scheduler_cond;
  GstClockID scheduler_id;      /* clock entry that the scheduler waits for */
  /* link time in ns until which the scheduler waits */
  guint64 scheduler_until;
};

/* --- gstwirelesslinkpad.c ------------------------------------------------- */

#define GST_TYPE_WIRELESS_LINK_PAD (gst_wireless_link_pad_get_type ())
G_DECLARE_FINAL_TYPE (GstWirelessLinkPad, gst_wireless_link_pad, GST,
    WIRELESS_LINK_PAD, GstPad)

/* Creates a flow with both pads. The caller adds the pads to the element. */
GstWirelessLinkFlow *gst_wireless_link_flow_new (GstWirelessLink * self,
    guint number, GstPadTemplate * sink, GstPadTemplate * src);
GstWirelessLinkFlow *gst_wireless_link_flow_ref (GstWirelessLinkFlow * flow);
void gst_wireless_link_flow_unref (GstWirelessLinkFlow * flow);
/* Returns the flow of a sink pad or src pad (transfer none). */
GstWirelessLinkFlow *gst_wireless_link_pad_get_flow (GstPad * pad);

/* --- functions of gstwirelesslinkflow.c; the caller holds the lock -------- */

GstWirelessLinkPacket *gst_wireless_link_packet_new (GstWirelessLinkFlow * flow,
    GstBuffer * buffer, gint64 arrival, gboolean in_list);
void gst_wireless_link_packet_free (gpointer packet);

/* Initialises an empty flow. A flow divides its packets into epochs: each
 * serialized event or query ends one epoch and begins the next one. The new
 * flow has one epoch, for the packets before the first such event or query. */
void gst_wireless_link_flow_init (GstWirelessLinkFlow * flow);
/* Frees all packets, events and queries that wait in the flow. */
void gst_wireless_link_flow_free_all (GstWirelessLinkFlow * flow);
/* Discards all packets, events and queries of the flow. Sticky events other
 * than SEGMENT and EOS are stored on the src pad instead. */
void gst_wireless_link_flow_clear (GstWirelessLinkFlow * flow);
/* Wakes all threads that wait in a pad of the flow. */
void gst_wireless_link_flow_wake (GstWirelessLinkFlow * flow);
/* Puts an event or a query into the flow. The event or query leaves the flow
 * after all packets that entered before it, and before all packets that enter
 * later. */
void gst_wireless_link_flow_add_barrier (GstWirelessLinkFlow * flow,
    GstMiniObject * object);
/* Outputs the packet `item`, which has left the link. A serialized event or
 * query must keep its place between the packets, and is called a barrier. The
 * packets of a flow between two barriers are called an epoch. `item` is a
 * packet of `epoch`, or a duplicate of such a packet. If a barrier that
 * precedes `epoch` has not been output yet, the function only stores `item`.
 * The packet is then output after this barrier. */
void gst_wireless_link_flow_deliver (GstWirelessLinkFlow * flow,
    GstWirelessLinkEpoch * epoch, const GstWirelessLinkItem * item);
/* Records that one packet of `epoch` was delivered or lost. Must be called once
 * for each packet of the epoch. An epoch is the set of packets between two
 * serialized events or queries. After the call for the last of these packets,
 * the event or query that follows the epoch can be output. */
void gst_wireless_link_flow_finish (GstWirelessLinkFlow * flow,
    GstWirelessLinkEpoch * epoch);
/* Gives up all packets of this flow that are in the link: they count as lost,
 * even if they leave the link later. */
void gst_wireless_link_flow_give_up (GstWirelessLinkFlow * flow);
gboolean gst_wireless_link_flow_is_full (GstWirelessLinkFlow * flow);
/* Returns TRUE if the flow has no item that is waiting upstream of the link, in
 * the link or downstream of the link. */
gboolean gst_wireless_link_flow_is_empty (GstWirelessLinkFlow * flow);
void gst_wireless_link_item_free (GstWirelessLinkItem * item);

/* --- gstwirelesslinkmedium.c ---------------------------------------------- */

gboolean gst_wireless_link_start (GstWirelessLink * self);
/* Interrupts all waits in the pads and stops the scheduler thread. Call this
 * function before gst_wireless_link_stop (). */
void gst_wireless_link_interrupt (GstWirelessLink * self);
/* Stops the link. The caller passes the final statistics of the link in
 * `last_stats` (transfer full). The element keeps them until the link starts
 * again. */
void gst_wireless_link_stop (GstWirelessLink * self, GstStructure * last_stats);
void gst_wireless_link_play (GstWirelessLink * self);
void gst_wireless_link_pause (GstWirelessLink * self);
void gst_wireless_link_change_clock (GstWirelessLink * self);

static inline void
gst_wireless_link_lock (GstWirelessLink * self)
{
  g_mutex_lock (&self->lock);
}

/* Releases the lock. Then posts the queued messages and notifies the queued
 * properties. */
void gst_wireless_link_unlock (GstWirelessLink * self);

/* The caller of each of the following functions holds the lock of the element.
 */

/* Processes what the link has done. Logs its events, and gives the packets that
 * have left the link to their flows. Wakes the scheduler thread if the next
 * event in the link is earlier than the time until which this thread waits. */
void gst_wireless_link_distribute (GstWirelessLink * self);
/* Wakes the scheduler thread, which then determines again how long it has to
 * wait. */
void gst_wireless_link_wake_scheduler (GstWirelessLink * self);
/* With mode=timestamp: puts waiting packets into the link and advances the time
 * of the link as far as possible.
 *
 * Each packet has a time at which it enters the link. The packets of all flows
 * must enter in the order of these times. For each flow, the element knows a
 * time before which no further packet of the flow enters. The link must not
 * advance beyond the earliest of these times, because a packet that enters at
 * this time may still follow.
 *
 * The function may release the lock while it works. */
void gst_wireless_link_merge (GstWirelessLink * self);
/* Wakes all threads that wait because the link or the input of their flow is
 * full. */
void gst_wireless_link_wake_senders (GstWirelessLink * self);
/* With mode=realtime: waits until `buffer` may enter the link. Returns earlier
 * if the element stops, or if pushing to the src pad of the flow has failed. */
void gst_wireless_link_wait_for_room (GstWirelessLink * self,
    GstWirelessLinkFlow * flow, GstBuffer * buffer);
void gst_wireless_link_flush_log (GstWirelessLink * self);
gdouble gst_wireless_link_get_quality (GstWirelessLink * self, guint station);

/* --- functions of gstwirelesslinkinput.c; the caller holds the lock ------- */

/* Adds `flow` to the core. The core numbers its flows consecutively. Missing
 * flows with lower numbers are therefore added first. */
void gst_wireless_link_announce_flow (GstWirelessLink * self,
    GstWirelessLinkFlow * flow);
/* Called when the packets of the flow are interrupted, for example by EOS or a
 * flush. The queue in the core (the model of the link) may then hold the first
 * packets of a video frame of this flow, and wait for the other packets of the
 * frame. The function tells the core that these other packets do not follow.
 * The core then drops the incomplete frame. The caller must call
 * gst_wireless_link_distribute () afterwards. */
void gst_wireless_link_end_flow (GstWirelessLink * self,
    GstWirelessLinkFlow * flow);
/* Puts a packet into the link at `now`. The caller must call
 * gst_wireless_link_distribute () afterwards. After several packets, one such
 * call is enough. */
void gst_wireless_link_put (GstWirelessLink * self, GstWirelessLinkFlow * flow,
    GstWirelessLinkPacket * packet, guint64 now);
/* Puts an event or a query into the link. The event or query keeps its position
 * among the packets. The caller must call gst_wireless_link_distribute ()
 * afterwards. */
void gst_wireless_link_put_object (GstWirelessLink * self,
    GstWirelessLinkFlow * flow, GstMiniObject * object);
/* Returns whether the buffer may enter the link now. With blocking=true, it may
 * enter only if the queue of the link has room for it. With blocking=false, it
 * may always enter, because a full queue drops it. */
gboolean gst_wireless_link_lets_in (GstWirelessLink * self,
    GstWirelessLinkFlow * flow, GstBuffer * buffer);

/* --- gstwirelesslinkstats.c, called without the lock ---------------------- */

GstStructure *gst_wireless_link_create_stats (GstElement * element);
void gst_wireless_link_post_stats (GstWirelessLink * self);
/* Called by the timer that posts the statistics at the interval of the property
 * stats-update-interval. Flushes the log, and returns the statistics that the
 * timer posts. Returns NULL if the link is not running. */
GstStructure *gst_wireless_link_create_interval_stats (GstElement * element);

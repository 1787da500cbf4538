/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the element know of each other: the element and its
 * properties (gstwirelesslink.c), its pads and their tasks
 * (gstwirelesslinkpad.c), the medium that they share (gstwirelesslinkmedium.c),
 * the way into it (gstwirelesslinkinput.c) and the statistics
 * (gstwirelesslinkstats.c).
 *
 * One lock protects the link and everything that waits before and behind it.
 * Nothing is pushed, posted or notified with it. It is taken before
 * OBJECT_LOCKs and never by who holds one.
 */

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

/* Of a pattern file; the core numbers flows as the pads are numbered. */
#define GST_WIRELESS_LINK_MAX_PADS 65536

typedef enum
{
  GST_WIRELESS_LINK_MODE_REALTIME,
  GST_WIRELESS_LINK_MODE_TIMESTAMP
} GstWirelessLinkMode;

/* What entered between two serialized events or queries */
typedef struct
{
  guint64 in_flight;            /* packets whose fate is open */
  GQueue early;                 /* of GstWirelessLinkItem: came out before the
                                 * barriers of the epochs before */
  GstMiniObject *barrier;       /* goes when all have met their fate; NULL: this
                                 * is the latest epoch */
  gdouble rate;                 /* of the segment */
} GstWirelessLinkEpoch;

/* A packet in the core */
typedef struct
{
  GstBuffer *buffer;
  GstWirelessLinkEpoch *epoch;  /* while generation is its flow's */
  guint64 generation;
  gint64 arrival;               /* ns, mode=timestamp: its own time, which may
                                 * be before the link's */
  gboolean in_list;             /* came in a list */
} GstWirelessLinkPacket;

/* What waits before or behind the link */
typedef struct
{
  GstMiniObject *object;        /* buffer, event or query */
  gint64 time;                  /* ns: before: arrival, behind: departure */
  gboolean in_list;
} GstWirelessLinkItem;

/* A sink pad and its src pad */
typedef struct
{
  gint refs;
  GstWirelessLink *element;
  guint number;                 /* of the pads, and of the flow in the core */
  GstPad *sinkpad, *srcpad;     /* the element owns them; NULL when released */

  /* protected by the element's lock */
  guint station;
  GstSegment segment;           /* of what enters */
  WirelessLinkVideo video;      /* what its buffers are by their caps */
  guint32 n_buffers;            /* that were looked at: numbers of frames */
  guint64 generation;           /* of what is not flushed */
  GQueue epochs;                /* of GstWirelessLinkEpoch, one at least */
  GstQueueArray *input;         /* mode=timestamp: waits for other flows */
  GCond input_cond;             /* there is room in it, in the link */
  guint64 heard_until;          /* ns, mode=timestamp: nothing comes before */
  gboolean waits;               /* mode=timestamp, blocking=true: its next packet
                                 * found no room */
  guint64 waits_since;          /* ns */
  gboolean eos, eos_sent;
  gboolean timestamped;         /* some packet had a timestamp */
  gint64 last_arrival;          /* ns, mode=timestamp */
  guint64 time_offset;          /* ns, mode=timestamp: link time of running
                                 * time 0; moves with flushing seeks */
  GstFlowReturn result;         /* of the src pad */
  GstQueueArray *output;        /* for the task */
  gint n_output;                /* buffers in it and in the hands of the task;
                                 * atomic */
  gboolean task_waits;
  GCond output_cond;
  GstQuery *query;              /* serialized, its answer is awaited */
  gboolean query_asked;         /* the task asks it now */
  gboolean query_answer;
  GCond query_cond;

  /* the task's own */
  GstQueueArray *batch;         /* what it pushes now */
  GArray *lateness;             /* of gint64: of that */
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
  GPtrArray *flows;             /* of GstWirelessLinkFlow by number, or NULL */
  guint64 next_generation;
  Link *link;                   /* NULL in NULL and READY */
  WirelessLinkLog *log;         /* NULL: nothing to write */
  GstWirelessLinkMode running_mode;     /* since start */
  gboolean knows_frames;        /* since start: the queue wants to know what
                                 * packets are of video */
  guint64 delays[2];            /* ns: what is always added, by direction */
  guint n_announced;            /* flows that the core knows */
  GArray *dropped_output;       /* of guint64, by flow: src pad was full */
  guint64 in_flight;            /* packets in the core */
  guint64 last_fate;            /* ns of link time: of a packet's beginning or
                                 * end */
  guint64 link_time;            /* ns, mode=timestamp: that it was told */
  gboolean flushing;            /* is being stopped */
  WirelessLinkClock clock;      /* runs while playing */
  GQueue notices;               /* to post and to notify, without the lock */
  StatisticsHistogram *lateness;
  GstStructure *last_stats;     /* of the run before */
  gboolean stats_posted;        /* at the end of all flows */

  /* protected by lock: the scheduler of mode=realtime */
  GThread *scheduler;
  gboolean scheduler_stops;
  GCond scheduler_cond;
  GstClockID scheduler_id;      /* that it waits for */
  guint64 scheduler_until;      /* ns of link time */
};

/* gstwirelesslinkpad.c */

#define GST_TYPE_WIRELESS_LINK_PAD (gst_wireless_link_pad_get_type ())
G_DECLARE_FINAL_TYPE (GstWirelessLinkPad, gst_wireless_link_pad, GST,
    WIRELESS_LINK_PAD, GstPad)

/* Makes both pads; the caller adds them to the element. */
GstWirelessLinkFlow *gst_wireless_link_flow_new (GstWirelessLink * self,
    guint number, GstPadTemplate * sink, GstPadTemplate * src);
GstWirelessLinkFlow *gst_wireless_link_flow_ref (GstWirelessLinkFlow * flow);
void gst_wireless_link_flow_unref (GstWirelessLinkFlow * flow);
/* of either pad */
GstWirelessLinkFlow *gst_wireless_link_pad_get_flow (GstPad * pad);

/* gstwirelesslinkflow.c, all with the lock */

GstWirelessLinkPacket *gst_wireless_link_packet_new (GstWirelessLinkFlow * flow,
    GstBuffer * buffer, gint64 arrival, gboolean in_list);
void gst_wireless_link_packet_free (gpointer packet);

/* An empty flow, with one epoch */
void gst_wireless_link_flow_init (GstWirelessLinkFlow * flow);
/* For the last time; the rest is the caller's. */
void gst_wireless_link_flow_free_all (GstWirelessLinkFlow * flow);
/* Forgets everything that is before, in, and behind the link. */
void gst_wireless_link_flow_clear (GstWirelessLinkFlow * flow);
/* Whoever waits in one of its pads looks again. */
void gst_wireless_link_flow_wake (GstWirelessLinkFlow * flow);
/* See gst_wireless_link_put_object (). */
void gst_wireless_link_flow_add_barrier (GstWirelessLinkFlow * flow,
    GstMiniObject * object);
/* A buffer came out of the link, or a copy of it. */
void gst_wireless_link_flow_deliver (GstWirelessLinkFlow * flow,
    GstWirelessLinkEpoch * epoch, const GstWirelessLinkItem * item);
/* A packet of this epoch met its fate. */
void gst_wireless_link_flow_finish (GstWirelessLinkFlow * flow,
    GstWirelessLinkEpoch * epoch);
/* Its packets in the link never come out. */
void gst_wireless_link_flow_give_up (GstWirelessLinkFlow * flow);
gboolean gst_wireless_link_flow_is_full (GstWirelessLinkFlow * flow);
/* Nothing is on its way. */
gboolean gst_wireless_link_flow_is_empty (GstWirelessLinkFlow * flow);
void gst_wireless_link_item_free (GstWirelessLinkItem * item);

/* gstwirelesslinkmedium.c */

gboolean gst_wireless_link_start (GstWirelessLink * self);
/* Whoever waits goes home. */
void gst_wireless_link_interrupt (GstWirelessLink * self);
/* Keeps the statistics of the run; takes them */
void gst_wireless_link_stop (GstWirelessLink * self, GstStructure * last_stats);
void gst_wireless_link_play (GstWirelessLink * self);
void gst_wireless_link_pause (GstWirelessLink * self);
void gst_wireless_link_change_clock (GstWirelessLink * self);

static inline void
gst_wireless_link_lock (GstWirelessLink * self)
{
  g_mutex_lock (&self->lock);
}

/* Posts and notifies what became known. */
void gst_wireless_link_unlock (GstWirelessLink * self);

/* the rest with the lock */

/* Hands out what left, and sees to it that the rest will. */
void gst_wireless_link_distribute (GstWirelessLink * self);
/* The scheduler looks again at what is next. */
void gst_wireless_link_wake_scheduler (GstWirelessLink * self);
/* mode=timestamp: as far as what is known of all flows allows. Others may have
 * had the lock meanwhile. */
void gst_wireless_link_merge (GstWirelessLink * self);
/* Whoever waits for room, or for other flows, looks again. */
void gst_wireless_link_wake_senders (GstWirelessLink * self);
/* mode=realtime: until gst_wireless_link_lets_in () */
void gst_wireless_link_wait_for_room (GstWirelessLink * self,
    GstWirelessLinkFlow * flow, GstBuffer * buffer);
void gst_wireless_link_flush_log (GstWirelessLink * self);
gdouble gst_wireless_link_get_quality (GstWirelessLink * self, guint station);

/* gstwirelesslinkinput.c, with the lock */

/* Tells the core of the flows up to this one. */
void gst_wireless_link_announce_flow (GstWirelessLink * self,
    GstWirelessLinkFlow * flow);
/* Nothing more comes of the flow, for now; then one distribute. */
void gst_wireless_link_end_flow (GstWirelessLink * self,
    GstWirelessLinkFlow * flow);
/* A packet enters; any number of puts, then one distribute. */
void gst_wireless_link_put (GstWirelessLink * self, GstWirelessLinkFlow * flow,
    GstWirelessLinkPacket * packet, guint64 now);
/* An event or query enters, and keeps its place among the packets; then
 * distribute. */
void gst_wireless_link_put_object (GstWirelessLink * self,
    GstWirelessLinkFlow * flow, GstMiniObject * object);
/* TRUE: it can enter, or shall be lost. */
gboolean gst_wireless_link_lets_in (GstWirelessLink * self,
    GstWirelessLinkFlow * flow, GstBuffer * buffer);

/* gstwirelesslinkstats.c, without the lock */

GstStructure *gst_wireless_link_create_stats (GstElement * element);
void gst_wireless_link_post_stats (GstWirelessLink * self);
/* For the timer: NULL while no link runs. Writes the log, too */
GstStructure *gst_wireless_link_create_interval_stats (GstElement * element);

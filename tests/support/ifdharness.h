/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ifdqueue between a thread that pushes and a network that takes as many frames
 * as a test lets it, on a clock that the test turns: what the network got, and
 * in which order, is one line of text.
 *
 * A frame is written as its type and its place in the order of input: "I0 B2";
 * "~" before it stands for DISCONT, "s" behind it for a sequence header, and
 * "(x)" for event or query x.
 */

#ifndef __IFDHARNESS_H__
#define __IFDHARNESS_H__

#include <gst/check/gstcheck.h>
#include <gst/check/gsttestclock.h>

#include <string.h>

#include "gstwirelessevents.h"
#include "streambuilder.h"

#define MPEG_CAPS "video/mpeg,mpegversion=2,systemstream=false,parsed=true," \
    "framerate=25/1"
#define FRAME_TIME (40 * GST_MSECOND)
/* For what another thread is about to do; nothing is said of how fast. */
#define TIMEOUT (60 * G_TIME_SPAN_SECOND)

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
} IfdHarness;

/* --- what is pushed ------------------------------------------------------ */

/* "scI0": with a sequence header, and a GOP header of a closed ("c"), open ("o")
 * or broken ("x") GOP; a type, a temporal reference; "f": as two fields */
GBytes *harness_make_mpeg (const gchar * word);
/* Takes the bytes. At its place in time: the next frame is due 40 ms later. */
GstBuffer *harness_time_frame (IfdHarness * harness, GBytes * bytes);
GstEvent *harness_make_mark (const gchar * name);

/* --- the pusher ---------------------------------------------------------- */

gpointer harness_run_pusher (gpointer data);
/* Takes the object; a query stays the caller's. */
void harness_push (IfdHarness * harness, gpointer object);
/* Words of harness_make_mpeg (), "(x)" for an event, "eos" */
void harness_push_plan (IfdHarness * harness, const gchar * plan);

/* --- the network --------------------------------------------------------- */

void harness_set_flushing (IfdHarness * harness, gboolean flushing);

/* --- upstream ------------------------------------------------------------ */

/* --- waiting for the other threads --------------------------------------- */

/* Until the network got just this. */
void harness_expect_log (IfdHarness * harness, const gchar * expected);
/* Until the pusher has done so much, or all. */
void harness_expect_pushed (IfdHarness * harness, guint pushed);
void harness_expect_endings (IfdHarness * harness, guint endings);
/* Until a frame of MPEG video is about to wait: its caps go before it. */
void harness_expect_caps (IfdHarness * harness);
guint64 harness_get_stat (IfdHarness * harness, const gchar * name);

#define assert_stat(harness, name, value) \
    fail_unless_equals_uint64 (harness_get_stat (harness, name), value)

void harness_expect_stat (IfdHarness * harness, const gchar * name,
    guint64 value);
/* Lets the network take so many frames more; -1: any number. */
void harness_open_network (IfdHarness * harness, gint room);
/* Until the streaming thread waits for just this time. */
void harness_expect_wait (IfdHarness * harness, GstClockTime time);
void harness_set_time (IfdHarness * harness, GstClockTime time);
/* Lets time go on until so many frames have come in. */
void harness_run_until (IfdHarness * harness, guint frames);
/* Nobody is lost: once the other threads are done with what they do */
void harness_expect_adds_up (IfdHarness * harness, guint being_sent);

/* --- life ---------------------------------------------------------------- */

/* NULL state; properties may be set. */
void harness_init (IfdHarness * harness);
void harness_set_state (IfdHarness * harness, GstState state,
    GstStateChangeReturn expected);
void harness_push_headers (IfdHarness * harness, const gchar * caps,
    GstFormat format);
void harness_start (IfdHarness * harness, const gchar * caps);
/* The common case: parsed MPEG video, playing */
void harness_setup (IfdHarness * harness);
/* As of a pipeline: the sink first, then the element, then the source */
void harness_stop (IfdHarness * harness);
void harness_teardown (IfdHarness * harness);

#endif /* __IFDHARNESS_H__ */

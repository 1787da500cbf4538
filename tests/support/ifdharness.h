/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A harness for ifdqueue. A thread pushes objects to the element. A fake
 * network downstream of the element accepts as many frames as the test allows.
 * The clock is a test clock that only the test advances.
 *
 * The harness logs the objects that arrive at the network. The log is one line
 * of text, in the order of arrival. A frame is written as its type and its
 * number in the order of input, such as "I0 B2". "~" before a frame means
 * DISCONT. "s" after a frame means a sequence header. "(x)" is the event or
 * query x.
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
/* Maximum time to wait for an action of another thread. It is long, so that no
 * test fails on a slow machine. */
#define TIMEOUT (60 * G_TIME_SPAN_SECOND)

typedef struct
{
  GstElement *element;
  GstBus *bus;
  GstClock *clock;
  /* Pads of the harness: `up` is linked to the sink pad of the element, and
   * `down` to its source pad. */
  GstPad *up, *down;

  GThread *pusher;
  GAsyncQueue *work;            /* of GstMiniObject */

  GMutex lock;
  GCond changed;
  /* protected by lock */
  GString *log;
  /* Number of frames that the network accepts before it blocks. If it is -1,
   * the network never blocks. */
  gint room;
  gboolean flushing;
  GstFlowReturn answer;         /* Flow return of the network. */
  /* Flow return of the last buffer that the pusher thread pushed. */
  GstFlowReturn flow;
  /* Result of the last event or query that the pusher thread pushed. */
  gboolean last_result;
  /* Number of buffers, events and queries that the pusher thread has pushed. */
  guint pushed;
  gboolean live;                /* upstream */
  /* Latency in ms that upstream reports in a latency query. If it is above 0,
   * upstream also reports that it is live. */
  guint latency_ms;
  guint key_unit_requests;
  /* Number of custom events with which the element announced the end of the
   * stream to the network. Unlike EOS, such an event does not wait in the
   * element, so it overtakes the frames that wait.
   */
  guint endings;

  guint n_frames;               /* made so far */
} IfdHarness;

/* --- buffers and events -------------------------------------------------- */

/* Makes a frame from a word such as "scI0". The parts of a word, in this order:
 * - "s" adds a sequence header.
 * - "c", "o" or "x" adds a GOP header. It marks the GOP as closed, open or
 *   broken.
 * - The type of the frame and its temporal reference are required.
 * - "f" at the end codes the frame as two fields.
 */
GBytes *harness_make_mpeg (const gchar * word);
/* Returns a buffer with `bytes` and the next timestamp. The first buffer has
 * the timestamp (DTS) 0, and each further one is 40 ms later. Takes ownership
 * of `bytes`. */
GstBuffer *harness_time_frame (IfdHarness * harness, GBytes * bytes);
GstEvent *harness_make_mark (const gchar * name);

/* --- the pusher ---------------------------------------------------------- */

gpointer harness_run_pusher (gpointer data);
/* Lets the pusher thread push `object`, which must be a buffer, an event or a
 * query. The function takes ownership of a buffer or an event, but not of a
 * query.
 */
void harness_push (IfdHarness * harness, gpointer object);
/* Pushes a buffer or an event for each word of `plan`:
 * - "(x)" stands for an event with the name x.
 * - "eos" stands for the event EOS.
 * - Any other word stands for a frame, which harness_make_mpeg () makes. */
void harness_push_plan (IfdHarness * harness, const gchar * plan);

/* --- the network --------------------------------------------------------- */

void harness_set_flushing (IfdHarness * harness, gboolean flushing);

/* --- upstream ------------------------------------------------------------ */

/* --- waiting for the other threads --------------------------------------- */

/* Waits until the log of the fake network equals the text `expected`. */
void harness_expect_log (IfdHarness * harness, const gchar * expected);
/* Waits until the pusher has pushed `pushed` objects. The test fails if this
 * takes too long. */
void harness_expect_pushed (IfdHarness * harness, guint pushed);
void harness_expect_endings (IfdHarness * harness, guint endings);
/* Waits until the caps of MPEG video have passed ifdqueue. The frame that was
 * pushed after the caps then begins to wait in ifdqueue. */
void harness_expect_caps (IfdHarness * harness);
guint64 harness_get_stat (IfdHarness * harness, const gchar * name);

#define assert_stat(harness, name, value) \
    fail_unless_equals_uint64 (harness_get_stat (harness, name), value)

void harness_expect_stat (IfdHarness * harness, const gchar * name,
    guint64 value);
/* Lets the fake network accept `room` more frames. -1 lets it accept any
 * number. */
void harness_open_network (IfdHarness * harness, gint room);
/* Waits until the streaming thread waits for the clock. Checks that it waits
 * for the clock time `time`. */
void harness_expect_wait (IfdHarness * harness, GstClockTime time);
void harness_set_time (IfdHarness * harness, GstClockTime time);
/* Advances the clock until `frames` frames have entered the element. */
void harness_run_until (IfdHarness * harness, guint frames);
/* Checks the counters of ifdqueue. Each frame that has entered the element must
 * be counted once: as sent, dropped, flushed or waiting. Only a frame that is
 * being sent at the moment is in none of these counters. `being_sent` is the
 * number of such frames. Call this function when the other threads have
 * finished. */
void harness_expect_adds_up (IfdHarness * harness, guint being_sent);

/* --- life cycle ---------------------------------------------------------- */

/* Makes the harness. The element is in the NULL state afterwards, so a test may
 * still set its properties. */
void harness_init (IfdHarness * harness);
void harness_set_state (IfdHarness * harness, GstState state,
    GstStateChangeReturn expected);
void harness_push_headers (IfdHarness * harness, const gchar * caps,
    GstFormat format);
void harness_start (IfdHarness * harness, const gchar * caps);
/* Makes a harness in the state that most tests need: the element is PLAYING and
 * has got the caps of parsed MPEG video. */
void harness_setup (IfdHarness * harness);
/* Stops the elements in the order that a pipeline uses: sink, element, source.
 */
void harness_stop (IfdHarness * harness);
void harness_teardown (IfdHarness * harness);

#endif /* __IFDHARNESS_H__ */

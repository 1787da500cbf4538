/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A harness for the element ifdqueue. A thread, the pusher, pushes buffers,
 * events and queries to the element. A fake network downstream of the element
 * accepts as many frames as the test allows. The clock is a test clock that
 * only the test advances.
 *
 * The harness logs what arrives at the network, in one line of text. A frame is
 * logged as its type and its number in the order of input, such as "I0 B2". The
 * log uses these signs:
 * - "~" before a frame: the buffer has the flag DISCONT.
 * - "s" after a frame: the frame begins with a sequence header.
 * - "(x)": an event or query with the name x. */

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
/* Maximum time in us for which a test waits for an action of another thread. It
 * is long, so that no test fails on a slow machine. */
#define TIMEOUT (60 * G_TIME_SPAN_SECOND)

typedef struct
{
  GstElement *element;
  GstBus *bus;
  GstClock *clock;
  /* Pads of the harness. The pad `up` is upstream of the element and pushes to
   * its sink pad. The pad `down` is downstream of the element and is linked to
   * its source pad. */
  GstPad *up, *down;

  GThread *pusher;
  GAsyncQueue *work;            /* of GstMiniObject */

  GMutex lock;
  GCond changed;
  /* protected by lock */
  GString *log;
  /* Number of frames that the fake network still accepts before it blocks. If
   * it is -1, the network never blocks. */
  gint room;
  gboolean flushing;
  GstFlowReturn answer;         /* Flow return of the network. */
  /* Return value (flow return) of the pusher thread's last push of a buffer. */
  GstFlowReturn flow;
  /* Return value of the pusher thread's last push of an event or a query. */
  gboolean last_result;
  /* Number of buffers, events and queries that the pusher thread has pushed. */
  guint pushed;
  gboolean live;                /* upstream */
  /* Latency in ms with which the harness answers a latency query of the
   * element. If it is above 0, the harness also answers that the stream is
   * live. */
  guint latency_ms;
  guint key_unit_requests;
  /* Number of custom events of ifdqueue that announce the end of the stream to
   * the network. Unlike EOS, such an event does not wait in ifdqueue. It
   * therefore arrives before the frames that still wait. */
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
/* Queues `object`, which must be a buffer, an event or a query. The pusher
 * thread then pushes `object` to the element. The function takes ownership of a
 * buffer or an event, but not of a query. */
void harness_push (IfdHarness * harness, gpointer object);
/* Pushes a buffer or an event for each word of `plan`. The words are separated
 * by blanks:
 * - "(x)" stands for a custom event with the name x.
 * - "eos" stands for the event EOS.
 * - Any other word stands for a frame, which harness_make_mpeg () makes from
 *   it. */
void harness_push_plan (IfdHarness * harness, const gchar * plan);

/* --- the network --------------------------------------------------------- */

void harness_set_flushing (IfdHarness * harness, gboolean flushing);

/* --- upstream ------------------------------------------------------------ */

/* --- waiting for the other threads --------------------------------------- */

/* Waits until the log of the fake network equals the text `expected`. */
void harness_expect_log (IfdHarness * harness, const gchar * expected);
/* Waits until the pusher thread has pushed `pushed` objects. Buffers, events
 * and queries are counted together. The test fails if this takes too long. */
void harness_expect_pushed (IfdHarness * harness, guint pushed);
void harness_expect_endings (IfdHarness * harness, guint endings);
/* Waits until the caps of MPEG video have come out of ifdqueue. The frame that
 * was pushed after the caps then begins to wait in ifdqueue. A test can now
 * flush or stop the element while a frame waits. */
void harness_expect_caps (IfdHarness * harness);
guint64 harness_get_stat (IfdHarness * harness, const gchar * name);

#define assert_stat(harness, name, value) \
    fail_unless_equals_uint64 (harness_get_stat (harness, name), value)

void harness_expect_stat (IfdHarness * harness, const gchar * name,
    guint64 value);
/* Lets the fake network accept `room` more frames. -1 lets it accept any
 * number. */
void harness_open_network (IfdHarness * harness, gint room);
/* Waits until the streaming thread of ifdqueue waits for the clock. Checks that
 * it waits for the clock time `time`. */
void harness_expect_wait (IfdHarness * harness, GstClockTime time);
void harness_set_time (IfdHarness * harness, GstClockTime time);
/* Advances the clock until `frames` frames have entered the element. */
void harness_run_until (IfdHarness * harness, guint frames);
/* Checks the counters of ifdqueue. Each frame that has entered the element must
 * be counted in exactly one of these counters: sent, dropped, flushed or
 * waiting. The only exception is a frame that is being sent at the moment.
 * `being_sent` is the number of such frames (0 or 1). Call this function when
 * the other threads have finished their work. */
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
/* Makes a harness in the state that most tests need: ifdqueue is in the state
 * PLAYING and has got the caps of parsed MPEG video. */
void harness_setup (IfdHarness * harness);
/* Stops the parts of the harness in the order in which a pipeline stops its
 * elements, which is from downstream to upstream. The fake network is stopped
 * first. After that, ifdqueue gets the state READY. The pusher thread, which
 * stands for the source, is not stopped. */
void harness_stop (IfdHarness * harness);
void harness_teardown (IfdHarness * harness);

#endif /* __IFDHARNESS_H__ */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions for tests in which a network sink sends to a network source over
 * the loopback interface. Each element has its own harness, and a bus with the
 * messages that it posts. Both elements use the system clock, so the tests run
 * in real time.
 */

#ifndef __LOOPBACK_H__
#define __LOOPBACK_H__

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#include <string.h>

#include "overwritingpool.h"

/* --- one element ---------------------------------------------------------- */

typedef struct
{
  GstHarness *harness;
  GstElement *element;          /* the harness' */
  GstBus *bus;
} LoopbackEnd;

/* Makes a harness and a bus for `element`, which is a sink or a source. Set the
 * properties of the element before this call, because the element may start
 * immediately. The function takes ownership of `element`. */
void loopback_end_init (LoopbackEnd * end, GstElement * element,
    const gchar * sink_pad, const gchar * src_pad);
void loopback_end_clear (LoopbackEnd * end);
/* Makes one end of the connection: an element of the given factory with the
 * given properties, in a harness. A source starts when the caller plays its
 * harness. A sink starts immediately. */
void loopback_src_init (LoopbackEnd * end, const gchar * factory,
    const gchar * first_property, va_list values);
void loopback_sink_init (LoopbackEnd * end, const gchar * factory,
    const gchar * first_property, va_list values);
gint loopback_port_of (LoopbackEnd * end);
guint64 loopback_stat_of (LoopbackEnd * end, const gchar * name);
GstMessage *loopback_pop_message (LoopbackEnd * end, GstMessageType types);
/* Waits for the next element message of `end` that has the name `name`. Returns
 * the structure of this message. The caller frees it. */
GstStructure *loopback_pop_structure (LoopbackEnd * end, const gchar * name);
/* Waits until `end` posts an element message with the name `name` in which the
 * field `field` has the text `text`. Other messages are ignored. */
void loopback_wait_for_message (LoopbackEnd * end, const gchar * name,
    const gchar * field, const gchar * text);
/* Returns the number of key unit requests that the sink has sent upstream since
 * the last call. */
guint loopback_count_key_unit_requests (LoopbackEnd * sink);
/* Waits for the next error message of `end` and returns its text, which the
 * caller frees. */
gchar *loopback_pop_error (LoopbackEnd * end);
/* Checks that the element cannot start and posts an error whose text contains
 * `expected`. */
void loopback_expect_no_start (LoopbackEnd * end, const gchar * expected);

/* --- blocked downstream --------------------------------------------------- */

typedef struct
{
  gint held, go_on;             /* atomic */
} LoopbackHold;

/* Makes the streaming thread of the source `src` block when it pushes its first
 * buffer, as if a downstream element were busy. The thread stays blocked until
 * loopback_let_go () is called. Call loopback_hold_downstream () before the
 * first buffer arrives. */
void loopback_hold_downstream (LoopbackEnd * src, LoopbackHold * hold);
void loopback_wait_until_held (LoopbackHold * hold);
void loopback_let_go (LoopbackHold * hold);

/* --- a sender and its receiver -------------------------------------------- */

typedef struct
{
  LoopbackEnd src, sink;
} LoopbackFixture;

void loopback_fixture_clear (LoopbackFixture * fixture);
GstBuffer *loopback_make_buffer (guint n, gsize size);
void loopback_push (LoopbackFixture * fixture, GstBuffer * buffer);
/* Returns the next received buffer, which must be buffer `n` and have `size`
 * bytes. The caller frees it. */
GstBuffer *loopback_pull (LoopbackFixture * fixture, guint n, gsize size);
void loopback_expect (LoopbackFixture * fixture, guint n, gsize size);
/* Checks that the sink works with an upstream element that uses a buffer pool.
 * As soon as the sink has returned a buffer to the pool, the pool overwrites
 * the buffer. The receiver must nevertheless get the data that were pushed. */
void loopback_check_pooled (LoopbackFixture * fixture, guint n, gsize size);
/* Returns the next serialized event of the type `type` that comes out of the
 * receiving element. The caller frees it. */
GstEvent *loopback_pull_event (LoopbackFixture * fixture, GstEventType type);

#endif /* __LOOPBACK_H__ */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A sink and a source of a network on the loopback, each in a harness of its own,
 * and what they said. Both have the system's clock: what is due waits for it.
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

/* Made so that its properties count from the start; takes `element` */
void loopback_end_init (LoopbackEnd * end, GstElement * element,
    const gchar * sink_pad, const gchar * src_pad);
void loopback_end_clear (LoopbackEnd * end);
/* An element of this factory with these properties. A source starts when the
 * caller plays its harness, a sink starts at once. */
void loopback_src_init (LoopbackEnd * end, const gchar * factory,
    const gchar * first_property, va_list values);
void loopback_sink_init (LoopbackEnd * end, const gchar * factory,
    const gchar * first_property, va_list values);
gint loopback_port_of (LoopbackEnd * end);
guint64 loopback_stat_of (LoopbackEnd * end, const gchar * name);
GstMessage *loopback_pop_message (LoopbackEnd * end, GstMessageType types);
/* The next element message of this name; free it */
GstStructure *loopback_pop_structure (LoopbackEnd * end, const gchar * name);
/* Until a message of this name has this text in this field */
void loopback_wait_for_message (LoopbackEnd * end, const gchar * name,
    const gchar * field, const gchar * text);
/* Key unit requests that the sink has sent upstream since the last call */
guint loopback_count_key_unit_requests (LoopbackEnd * sink);
/* The text of the next error; free it */
gchar *loopback_pop_error (LoopbackEnd * end);
/* It can't begin, and an error with this in it says why. */
void loopback_expect_no_start (LoopbackEnd * end, const gchar * expected);

/* --- downstream that stands still ----------------------------------------- */

typedef struct
{
  gint held, go_on;             /* atomic */
} LoopbackHold;

/* Of a source, before anything comes */
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
/* The next buffer that comes is this one; free it. */
GstBuffer *loopback_pull (LoopbackFixture * fixture, guint n, gsize size);
void loopback_expect (LoopbackFixture * fixture, guint n, gsize size);
/* What is sent stays what it was, whatever upstream's pool does with a buffer
 * that it has back. */
void loopback_check_pooled (LoopbackFixture * fixture, guint n, gsize size);
/* The next serialized event downstream of the receiver of this type; free it */
GstEvent *loopback_pull_event (LoopbackFixture * fixture, GstEventType type);

#endif /* __LOOPBACK_H__ */

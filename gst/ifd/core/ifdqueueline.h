/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The line in which frames wait with the events and queries among them, each
 * at its place, while the core (ifd.h) chooses which of the frames stay. No
 * pads, no threads, no clock: the caller has a lock around every call. The line
 * neither reads nor frees the objects of the caller: each of them leaves it by
 * ifd_line_pop (), ifd_line_poll_drop (), ifd_line_flush () or
 * ifd_line_withdraw ().
 *
 *   ifd_line_push_frame (line, now, &item);    or ifd_line_push (line, object)
 *   while (ifd_line_poll_drop (line, &drop)) ...
 *   if (ifd_line_pop (line, now, &item)) { send it; ifd_line_sent (...); }
 */

#pragma once

#include <glib.h>

#include "ifd.h"

/* What stands in the line */
typedef struct
{
  gpointer object;              /* a frame, or its first field; an event or a
                                 * query */
  gboolean is_frame;            /* set by the line */
  /* of frames only: */
  gpointer second;              /* the second field, where it is an object of its
                                 * own; or NULL */
  IfdFrame frame;
  gboolean has_sequence;        /* an MPEG sequence header is inside */
  gpointer sequence;            /* the one in force for it; or NULL */
  /* set by ifd_line_pop: */
  gboolean discont;             /* it does not follow the frame sent last */
  gboolean lacks_sequence;      /* it has no sequence header inside, and the
                                 * receiver lacks it: put it before */
} IfdLineItem;

/* A frame that will not be sent */
typedef struct
{
  IfdEvent event;
  IfdLineItem item;
} IfdLineDrop;

typedef struct _IfdLine IfdLine;

IfdLine *ifd_line_new (const IfdConfig * config);
/* Empty it first. */
void ifd_line_free (IfdLine * line);
/* See ifd_set_trace (). */
void ifd_line_set_trace (IfdLine * line, IfdTrace trace, gpointer owner);
void ifd_line_set_config (IfdLine * line, const IfdConfig * config);

void ifd_line_push_frame (IfdLine * line, guint64 now,
    const IfdLineItem * item);
void ifd_line_push (IfdLine * line, gpointer object);
/* Takes the query out that nobody answers any more, if it is there. */
void ifd_line_withdraw (IfdLine * line, gpointer object);
/* The next one; or FALSE. After a frame, S is taken until ifd_line_sent (); then
 * only events and queries come. */
gboolean ifd_line_pop (IfdLine * line, guint64 now, IfdLineItem * item);
void ifd_line_sent (IfdLine * line, guint64 now);

/* After a push or a restart, until FALSE */
gboolean ifd_line_poll_drop (IfdLine * line, IfdLineDrop * drop);

/* A new receiver; see ifd.h. */
void ifd_line_restart (IfdLine * line);
/* The stream ends here: takes back the oldest of what stands in the line, until
 * FALSE. */
gboolean ifd_line_flush (IfdLine * line, IfdLineItem * item);

/* W does: see ifd_has_room (). */
gboolean ifd_line_has_room (const IfdLine * line);
gboolean ifd_line_is_empty (const IfdLine * line);
/* Events and queries in it */
guint ifd_line_count_objects (const IfdLine * line);
void ifd_line_get_stats (const IfdLine * line, IfdStats * stats);

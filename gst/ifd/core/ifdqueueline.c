/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of ifdqueueline.h: the queue of the element ifdqueue. */

#include "ifdqueueline.h"

#define NO_NUMBER G_MAXUINT64

struct _IfdLine
{
  Ifd *ifd;
  /* The queue. Its elements are IfdLineItem, the oldest one first. Those
   * elements that are frames are exactly the frames that wait in the IFD
   * (I-Frame Delay) algorithm. The other elements are events, queries, and data
   * that are never dropped. */
  GQueue items;
  /* number of elements of `items` that are not frames */
  guint objects;
  GQueue drops;                 /* elements are IfdLineDrop */
  /* Frames are numbered in the order of arrival. This is the number of the last
   * sent frame plus 1; NO_NUMBER if no frame was sent yet. */
  guint64 next_number;
  /* TRUE if the receiver probably does not have the newest sequence header,
   * because a frame that contained it was dropped or because the receiver is
   * new */
  gboolean sequence_is_missing;
};

IfdLine *
ifd_line_new (const IfdConfig * config)
{
  IfdLine *line = g_new0 (IfdLine, 1);

  line->ifd = ifd_new (config);
  line->next_number = NO_NUMBER;
  g_queue_init (&line->items);
  g_queue_init (&line->drops);
  return line;
}

void
ifd_line_free (IfdLine * line)
{
  g_assert (g_queue_is_empty (&line->items));
  g_assert (g_queue_is_empty (&line->drops));
  ifd_free (line->ifd);
  g_free (line);
}

void
ifd_line_set_trace (IfdLine * line, IfdTrace trace, gpointer owner)
{
  ifd_set_trace (line->ifd, trace, owner);
}

void
ifd_line_set_config (IfdLine * line, const IfdConfig * config)
{
  ifd_set_config (line->ifd, config);
}

/* Called when a frame is dropped, but a part of it must be sent nevertheless.
 * This part, `item->rest`, replaces the frame in the queue. */
static void
keep_rest (IfdLine * line, IfdLineItem * item)
{
  item->object = item->rest;
  item->second = item->sequence = item->rest = NULL;
  item->is_frame = FALSE;
  line->objects++;
}

/* Removes from the queue the frame that `event` reports as dropped. If a part
 * of the frame must be sent nevertheless, this part stays in the queue. */
static void
drop_frame (IfdLine * line, const IfdEvent * event)
{
  GList *link = event->frame.user;
  IfdLineItem *item = link->data;
  IfdLineDrop *drop = g_new0 (IfdLineDrop, 1);

  drop->event = *event;
  drop->event.frame.user = NULL;
  drop->item = *item;
  g_queue_push_tail (&line->drops, drop);
  if (item->has_sequence)
    line->sequence_is_missing = TRUE;
  if (item->rest) {
    keep_rest (line, item);
    drop->item.rest = NULL;
    return;
  }
  g_queue_delete_link (&line->items, link);
  g_free (item);
}

static void
take_events (IfdLine * line)
{
  IfdEvent event;

  while (ifd_poll_event (line->ifd, &event)) {
    if (event.type == IFD_EVENT_DROPPED)
      drop_frame (line, &event);
  }
}

void
ifd_line_push_frame (IfdLine * line, guint64 now, const IfdLineItem * item)
{
  IfdLineItem *queued = g_new (IfdLineItem, 1);

  *queued = *item;
  queued->is_frame = TRUE;
  g_queue_push_tail (&line->items, queued);
  queued->frame.user = line->items.tail;
  ifd_input (line->ifd, now, &queued->frame);
  take_events (line);
}

void
ifd_line_push (IfdLine * line, gpointer object)
{
  IfdLineItem *queued = g_new0 (IfdLineItem, 1);

  queued->object = object;
  g_queue_push_tail (&line->items, queued);
  line->objects++;
}

void
ifd_line_push_data (IfdLine * line, const IfdLineItem * item)
{
  IfdLineItem *queued = g_new (IfdLineItem, 1);

  *queued = *item;
  queued->is_frame = FALSE;
  g_queue_push_tail (&line->items, queued);
  line->objects++;
}

void
ifd_line_withdraw (IfdLine * line, gpointer object)
{
  GList *walk;

  for (walk = line->items.head; walk; walk = walk->next) {
    IfdLineItem *item = walk->data;

    if (item->object == object) {
      g_free (item);
      g_queue_delete_link (&line->items, walk);
      line->objects--;
      return;
    }
  }
}

static void
take_head (IfdLine * line, IfdLineItem * item)
{
  IfdLineItem *head = g_queue_pop_head (&line->items);

  *item = *head;
  g_free (head);
  if (!item->is_frame)
    line->objects--;
}

static void
mark_frame (IfdLine * line, IfdLineItem * item)
{
  item->discont = item->frame.number != line->next_number;
  line->next_number = item->frame.number + 1;
  item->lacks_sequence = line->sequence_is_missing && !item->has_sequence
      && item->sequence && item->frame.type == IFD_FRAME_I;
  if (item->has_sequence || item->lacks_sequence)
    line->sequence_is_missing = FALSE;
}

gboolean
ifd_line_pop (IfdLine * line, guint64 now, IfdLineItem * item)
{
  const IfdLineItem *head = g_queue_peek_head (&line->items);
  IfdFrame frame;

  if (!head)
    return FALSE;
  if (!head->is_frame) {
    take_head (line, item);
    return TRUE;
  }
  if (!ifd_poll_output (line->ifd, now, &frame))
    return FALSE;
  /* The IFD algorithm never changes the order of frames. The frame that
   * ifd_poll_output () returned is therefore the oldest item of the queue. */
  g_assert (frame.user == line->items.head);
  take_head (line, item);
  item->frame = frame;
  item->frame.user = NULL;
  mark_frame (line, item);
  return TRUE;
}

void
ifd_line_sent (IfdLine * line, guint64 now)
{
  ifd_sent (line->ifd, now);
}

gboolean
ifd_line_poll_drop (IfdLine * line, IfdLineDrop * drop)
{
  IfdLineDrop *first = g_queue_pop_head (&line->drops);

  if (!first)
    return FALSE;
  *drop = *first;
  g_free (first);
  return TRUE;
}

/* Forgets which frame was sent last, and marks the sequence header as missing
 * at the receiver. Called for a new receiver or a new stream. */
static void
begin_anew (IfdLine * line)
{
  line->next_number = NO_NUMBER;
  line->sequence_is_missing = TRUE;
}

void
ifd_line_restart (IfdLine * line)
{
  ifd_restart (line->ifd);
  begin_anew (line);
  take_events (line);
}

gboolean
ifd_line_flush (IfdLine * line, IfdLineItem * item)
{
  const IfdLineItem *head = g_queue_peek_head (&line->items);
  IfdFrame frame;

  if (!head) {
    /* The queue is empty here, so ifd_flush () returns no frame. It only makes
     * the IFD algorithm forget the frame that is being sent, and the state of
     * the stream. */
    ifd_flush (line->ifd, &frame);
    begin_anew (line);
    return FALSE;
  }
  if (head->is_frame)
    ifd_flush (line->ifd, &frame);
  take_head (line, item);
  return TRUE;
}

gboolean
ifd_line_has_room (const IfdLine * line)
{
  return ifd_has_room (line->ifd);
}

gboolean
ifd_line_is_empty (const IfdLine * line)
{
  return line->items.length == 0;
}

guint
ifd_line_count_objects (const IfdLine * line)
{
  return line->objects;
}

void
ifd_line_get_stats (const IfdLine * line, IfdStats * stats)
{
  ifd_get_stats (line->ifd, stats);
}

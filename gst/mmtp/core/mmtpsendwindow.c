/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtpsendwindow.h: a ring of packets. */

#include "mmtpsendwindow.h"

#include <string.h>

/* Initial number of entries of the ring, a power of two. The number is doubled
 * when the ring is full. */
#define MIN_SIZE 64
/* Maximum number of freed units whose memory is kept for new units. Only units
 * that consist of one packet are kept. At a high rate, one REPORT acknowledges
 * some thousand packets, whose units are then freed. Before the next REPORT
 * arrives, about as many new packets are queued, and their units use the kept
 * memory. */
#define MAX_SPARE 4096

void
mmtp_send_window_init (MmtpSendWindow * window)
{
  memset (window, 0, sizeof (*window));
  window->size = MIN_SIZE;
  window->ring = g_new (MmtpPacket *, window->size);
}

void
mmtp_send_window_clear (MmtpSendWindow * window)
{
  GList *spare;

  mmtp_send_window_raise_floor (window);
  while ((spare = g_queue_pop_head_link (&window->spare)))
    g_free (spare->data);
  g_free (window->ring);
}

MmtpUnit *
mmtp_send_window_alloc (MmtpSendWindow * window, guint n_places)
{
  const gsize size = sizeof (MmtpUnit) + n_places * sizeof (MmtpPacket);
  const GList *spare = n_places == 1 ?
      g_queue_pop_head_link (&window->spare) : NULL;
  MmtpUnit *unit = spare ? spare->data : g_malloc (size);

  memset (unit, 0, size);
  unit->n_places = n_places;
  return unit;
}

void
mmtp_send_window_free_unit (MmtpSendWindow * window, MmtpUnit * unit)
{
  g_bytes_unref (unit->data);
  if (unit->n_places != 1 || window->spare.length == MAX_SPARE) {
    g_free (unit);
    return;
  }
  unit->link.data = unit;
  g_queue_push_head_link (&window->spare, &unit->link);
}

static void
grow (MmtpSendWindow * window)
{
  guint size = window->size * 2;
  MmtpPacket **ring = g_new (MmtpPacket *, size);
  guint64 number;

  for (number = window->floor; number < window->next; number++)
    ring[number & (size - 1)] = mmtp_send_window_get (window, number);
  g_free (window->ring);
  window->ring = ring;
  window->size = size;
}

void
mmtp_send_window_add (MmtpSendWindow * window, MmtpUnit * unit,
    gsize first_room, gsize room)
{
  gsize offset = 0;

  for (; unit->n_packets < unit->n_places; unit->n_packets++, unit->n_kept++) {
    MmtpPacket *packet = &unit->packets[unit->n_packets];

    if (window->next - window->floor == window->size)
      grow (window);
    packet->unit = unit;
    packet->number = window->next++;
    packet->due = unit->due;
    packet->offset = offset;
    packet->size = MIN (unit->size - offset, unit->n_packets ? room :
        first_room);
    window->ring[packet->number & (window->size - 1)] = packet;
    window->bytes += packet->size;
    offset += packet->size;
  }
}

void
mmtp_send_window_raise_floor (MmtpSendWindow * window)
{
  while (window->floor < window->next) {
    MmtpPacket *packet = mmtp_send_window_get (window, window->floor);

    if (packet->state != MMTP_PACKET_DONE)
      return;
    window->bytes -= packet->size;
    if (--packet->unit->n_kept == 0)
      mmtp_send_window_free_unit (window, packet->unit);
    window->floor++;
  }
}

guint64
mmtp_send_window_get_frame_start (const MmtpSendWindow * window,
    const MmtpUnit * unit)
{
  guint64 first = MAX (unit->first, window->floor);

  while (first > window->floor) {
    const MmtpPacket *packet = mmtp_send_window_get (window, first - 1);

    if (packet->unit->frame != unit->frame)
      break;
    first = MAX (packet->unit->first, window->floor);
  }
  return first;
}

MmtpUnit *
mmtp_send_window_get_last_part (const MmtpSendWindow * window,
    const MmtpUnit * unit)
{
  guint64 number = window->next - 1;
  const MmtpPacket *last;

  while ((last = mmtp_send_window_get (window, number)) &&
      last->unit->frame == unit->frame) {
    if (!last->unit->picture.is_data)
      return last->unit;
    number = last->unit->first - 1;
  }
  return NULL;
}

/* The function looks for pieces of a picture after `data`. The last piece of a
 * picture belongs to the picture even if it is empty, so it is never a piece
 * like `data`. If `data` lies within a picture, at least one piece of the
 * picture therefore follows. If no such piece follows, the picture ended before
 * `data`, and the function returns NULL. */
MmtpUnit *
mmtp_send_window_find_picture (const MmtpSendWindow * window,
    const MmtpUnit * data)
{
  guint64 number = MAX (data->first + data->n_packets, window->floor);
  MmtpUnit *unit;

  for (; number < window->next; number = unit->first + unit->n_packets) {
    unit = mmtp_send_window_get (window, number)->unit;
    if (unit->frame != data->frame)
      return NULL;
    if (!unit->picture.is_data)
      return unit;
  }
  return NULL;
}

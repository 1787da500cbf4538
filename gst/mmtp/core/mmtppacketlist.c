/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtppacketlist.h: a sorted list of packets in a ring
 * buffer. Each packet has a place number, which increases from the beginning to
 * the end of the list. The index of a packet is its place number minus the
 * place number of the first packet. The index is correct even if the place
 * numbers have wrapped around. */

#include "mmtppacketlist.h"

/* Number of places in a new ring buffer; a power of two. */
#define MIN_SIZE 64

void
mmtp_packet_list_clear (MmtpPacketList * list)
{
  const MmtpPacketList empty = { NULL };

  g_free (list->ring);
  *list = empty;
}

static MmtpPacket **
get_slot (const MmtpPacketList * list, guint index)
{
  return &list->ring[(list->first + index) & (list->size - 1)];
}

static MmtpPacket *
get (const MmtpPacketList * list, guint index)
{
  return *get_slot (list, index);
}

static void
set (MmtpPacketList * list, guint index, MmtpPacket * packet)
{
  *get_slot (list, index) = packet;
  if (packet)
    packet->place = list->first + index;
}

static guint
get_index (const MmtpPacketList * list, const MmtpPacket * packet)
{
  return packet->place - list->first;
}

/* --- memory --------------------------------------------------------------- */

/* Moves all packets to a new ring buffer with `size` places, and frees the old
 * one. Places whose packet was removed are not copied. */
static void
move_to (MmtpPacketList * list, guint size)
{
  MmtpPacketList moved = { g_new (MmtpPacket *, size), size };
  guint i;

  for (i = 0; i < list->n_places; i++)
    if (get (list, i))
      set (&moved, moved.n++, get (list, i));
  moved.n_places = moved.n;
  moved.bytes = list->bytes;
  g_free (list->ring);
  *list = moved;
}

static void
make_room (MmtpPacketList * list)
{
  if (list->n_places < list->size)
    return;
  if (list->size == 0)
    move_to (list, MIN_SIZE);
  else
    move_to (list, list->n > list->size / 2 ? list->size * 2 : list->size);
}

guint64
mmtp_packet_list_get_work (const MmtpPacketList * list)
{
  return list->bytes + list->n * mmtp_send_packet_get_work (0);
}

/* --- searching ------------------------------------------------------------ */

/* Returns the index of the first packet that is equal to `wanted` or comes
 * after it in the order of the list. Returns `n_places` if there is no such
 * packet.
 *
 * This is a binary search. The place in the middle of the range may be empty,
 * because its packet was removed. In this case, the next packet in the range is
 * compared instead. */
static guint
search (const MmtpPacketList * list, const MmtpPacket * wanted)
{
  guint low = 0, high = list->n_places, middle, i;

  while (low < high) {
    middle = low + (high - low) / 2;
    for (i = middle; i < high && !get (list, i); i++);
    if (i < high && mmtp_send_packet_compare (get (list, i), wanted) < 0)
      low = i + 1;
    else
      high = middle;
  }
  while (low < list->n_places && !get (list, low))
    low++;
  return low;
}

MmtpPacket *
mmtp_packet_list_get_first (const MmtpPacketList * list)
{
  return list->n > 0 ? get (list, 0) : NULL;
}

MmtpPacket *
mmtp_packet_list_get_last (const MmtpPacketList * list)
{
  return list->n > 0 ? get (list, list->n_places - 1) : NULL;
}

MmtpPacket *
mmtp_packet_list_get_next (const MmtpPacketList * list,
    const MmtpPacket * packet)
{
  guint i = get_index (list, packet) + 1;

  while (i < list->n_places && !get (list, i))
    i++;
  return i < list->n_places ? get (list, i) : NULL;
}

MmtpPacket *
mmtp_packet_list_get_previous (const MmtpPacketList * list,
    const MmtpPacket * packet)
{
  guint i = get_index (list, packet);

  while (i > 0)
    if (get (list, --i))
      return get (list, i);
  return NULL;
}

MmtpPacket *
mmtp_packet_list_find (const MmtpPacketList * list, guint64 due)
{
  const MmtpPacket wanted = {.due = due };
  guint i;

  if (list->n == 0 || get (list, 0)->due >= due)
    return mmtp_packet_list_get_first (list);
  i = search (list, &wanted);
  return i < list->n_places ? get (list, i) : NULL;
}

/* --- changes -------------------------------------------------------------- */

/* Makes a free place directly before the packet at `index`, and returns the
 * index of this place. If the place at `index` - 1 is already free, the
 * function uses that place and moves no packet.
 *
 * Otherwise the function moves packets by one place to make room. It either
 * moves all packets before the new place towards the beginning, or all packets
 * after it towards the end. It chooses the side with fewer packets. */
static guint
open_gap (MmtpPacketList * list, guint index)
{
  guint i;

  if (index > 0 && index < list->n_places && !get (list, index - 1))
    return index - 1;
  list->n_places++;
  if (index >= list->n_places / 2) {
    for (i = list->n_places - 1; i > index; i--)
      set (list, i, get (list, i - 1));
    return index;
  }
  list->first--;
  for (i = 0; i < index; i++)
    set (list, i, get (list, i + 1));
  return index;
}

void
mmtp_packet_list_insert (MmtpPacketList * list, MmtpPacket * packet)
{
  const MmtpPacket *last = mmtp_packet_list_get_last (list);
  guint index;

  make_room (list);
  index = !last || mmtp_send_packet_compare (last, packet) < 0 ?
      list->n_places : search (list, packet);
  set (list, open_gap (list, index), packet);
  packet->state = MMTP_PACKET_WAITING;
  list->n++;
  list->bytes += packet->size;
}

static void
trim (MmtpPacketList * list)
{
  if (list->n == 0)
    list->n_places = 0;
  while (list->n_places > 0 && !get (list, 0)) {
    list->first++;
    list->n_places--;
  }
  while (list->n_places > 0 && !get (list, list->n_places - 1))
    list->n_places--;
}

/* Each removed packet leaves a free place in the list. The free places are
 * eliminated only when their number exceeds the number of packets by more than
 * MIN_SIZE. That happens rarely, so a removal takes constant time on average.
 */
void
mmtp_packet_list_remove (MmtpPacketList * list, MmtpPacket * packet,
    MmtpPacketState state)
{
  set (list, get_index (list, packet), NULL);
  packet->state = state;
  list->n--;
  list->bytes -= packet->size;
  trim (list);
  if (list->n_places > 2 * list->n + MIN_SIZE)
    move_to (list, list->size);
}

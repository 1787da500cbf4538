/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtpwaiting.h: a list of waiting packets for each rank. */

#include "mmtpwaiting.h"

void
mmtp_waiting_clear (MmtpWaiting * waiting)
{
  guint i;

  for (i = 0; i < MMTP_N_RANKS; i++)
    mmtp_packet_list_clear (&waiting->ranks[i]);
}

MmtpPacketList *
mmtp_waiting_get_list (MmtpWaiting * waiting, const MmtpPacket * packet)
{
  return &waiting->ranks[packet->unit->rank];
}

void
mmtp_waiting_mark_unbegun (MmtpWaiting * waiting, MmtpUnit * unit)
{
  unit->link.data = unit;
  g_queue_push_tail_link (&waiting->unbegun[unit->rank], &unit->link);
  waiting->unbegun_work[unit->rank] += mmtp_send_unit_get_work (unit);
}

void
mmtp_waiting_mark_begun (MmtpWaiting * waiting, MmtpUnit * unit)
{
  if (!unit->link.data)
    return;
  unit->link.data = NULL;
  g_queue_unlink (&waiting->unbegun[unit->rank], &unit->link);
  waiting->unbegun_work[unit->rank] -= mmtp_send_unit_get_work (unit);
}

gboolean
mmtp_waiting_is_empty (const MmtpWaiting * waiting)
{
  guint i;

  for (i = 0; i < MMTP_N_RANKS; i++)
    if (waiting->ranks[i].n > 0)
      return FALSE;
  return TRUE;
}

guint64
mmtp_waiting_get_bytes (const MmtpWaiting * waiting)
{
  guint64 bytes = 0;
  guint i;

  for (i = 0; i < MMTP_N_RANKS; i++)
    bytes += waiting->ranks[i].bytes;
  return bytes;
}

guint64
mmtp_waiting_get_work (const MmtpWaiting * waiting, MmtpRank rank)
{
  guint64 work = 0;
  guint i;

  for (i = rank; i < MMTP_N_RANKS; i++)
    work += mmtp_packet_list_get_work (&waiting->ranks[i]);
  return work;
}

MmtpPacket *
mmtp_waiting_get_first (const MmtpWaiting * waiting, MmtpRank rank)
{
  return mmtp_packet_list_get_first (&waiting->ranks[rank]);
}

MmtpPacket *
mmtp_waiting_get_next (const MmtpWaiting * waiting, const MmtpPacket * packet)
{
  return mmtp_packet_list_get_next (&waiting->ranks[packet->unit->rank],
      packet);
}

MmtpPacket *
mmtp_waiting_find (const MmtpWaiting * waiting, MmtpRank rank,
    guint64 deadline, guint64 delay)
{
  return mmtp_packet_list_find (&waiting->ranks[rank],
      deadline - MIN (deadline, delay));
}

MmtpPacket *
mmtp_waiting_get_head (const MmtpWaiting * waiting)
{
  MmtpPacket *head = NULL;
  guint i;

  for (i = 0; i < MMTP_N_RANKS; i++) {
    MmtpPacket *packet = mmtp_waiting_get_first (waiting, i);

    if (packet && (!head || mmtp_send_packet_compare (packet, head) < 0))
      head = packet;
  }
  return head;
}

MmtpPacket *
mmtp_waiting_get_tail (const MmtpWaiting * waiting)
{
  MmtpPacket *tail = NULL;
  guint i;

  for (i = 0; i < MMTP_N_RANKS; i++) {
    MmtpPacket *packet = mmtp_packet_list_get_last (&waiting->ranks[i]);

    if (packet && (!tail || mmtp_send_packet_compare (packet, tail) > 0))
      tail = packet;
  }
  return tail;
}

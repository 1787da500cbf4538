/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A list of packets that wait to be sent and have the same rank. The rank of a
 * packet shows how important the packet is. If packets have to be dropped,
 * those with the lowest rank are dropped first. The list is sorted by due time.
 * Packets with the same due time are sorted by stream number.
 *
 * Packets are nearly always added at the end of the list and removed at its
 * beginning. Both operations take constant time on average, and need no memory
 * allocation for each packet. A balanced tree would need one allocation for
 * each packet. A packet in the middle is found by its due time in logarithmic
 * time. A packet can be removed anywhere in constant time on average. */

#pragma once

#include "mmtpsendpacket.h"

/* A list of packets in a ring buffer. Each place of the ring contains a pointer
 * to a packet, or NULL if the packet was removed. The places are numbered from
 * the beginning to the end of the list, and the numbers may wrap around. The
 * first and the last place of the list always contain a packet. */
typedef struct
{
  /* array of pointers to packets; NULL before the first use */
  MmtpPacket **ring;
  /* number of places in the ring; a power of two */
  guint size;
  /* Number of the place that contains the first packet. The index of this place
   * in `ring` is its number modulo `size`. */
  guint64 first;
  /* Number of places from the first packet to the last packet. The empty places
   * between them are counted, too. */
  guint n_places;
  guint n;                      /* number of packets */
  guint64 bytes;                /* payload bytes of all packets */
} MmtpPacketList;

/* Frees the memory of the list. The list is then empty and may be used again. A
 * new list must be filled with zeros before its first use. */
void mmtp_packet_list_clear (MmtpPacketList * list);
/* Adds a packet, whose state becomes MMTP_PACKET_WAITING. */
void mmtp_packet_list_insert (MmtpPacketList * list, MmtpPacket * packet);
/* Removes `packet` from the list, and sets the state of the packet to `state`.
 */
void mmtp_packet_list_remove (MmtpPacketList * list, MmtpPacket * packet,
    MmtpPacketState state);
/* Returns how many bytes the packets of the list will occupy on a path in
 * total, including the headers of MMTP, UDP and IPv4. */
guint64 mmtp_packet_list_get_work (const MmtpPacketList * list);

/* These functions return the first or the last packet of the list, or the
 * packet that follows or precedes `packet`. They return NULL if there is no
 * such packet. */
MmtpPacket *mmtp_packet_list_get_first (const MmtpPacketList * list);
MmtpPacket *mmtp_packet_list_get_last (const MmtpPacketList * list);
MmtpPacket *mmtp_packet_list_get_next (const MmtpPacketList * list,
    const MmtpPacket * packet);
MmtpPacket *mmtp_packet_list_get_previous (const MmtpPacketList * list,
    const MmtpPacket * packet);
/* Returns the first packet of the list whose due time is `due` or later.
 * Returns NULL if there is none. */
MmtpPacket *mmtp_packet_list_find (const MmtpPacketList * list, guint64 due);

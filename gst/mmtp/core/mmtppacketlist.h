/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The packets that wait to be sent and have the same rank. If packets have to
 * be dropped, those of a lower rank are dropped first. The list is sorted by
 * due time, as mmtp_send_packet_compare() specifies.
 *
 * Packets are nearly always added at the end of the list and removed at its
 * beginning. Both operations take constant time and allocate no memory. A
 * balanced tree, in contrast, would have to allocate memory for each packet. A
 * packet in the middle is found by its due time in logarithmic time. A packet
 * can be removed anywhere in constant time on average.
 */

#pragma once

#include "mmtpsendpacket.h"

/* The list is stored in a ring buffer. Each place of the ring contains a
 * pointer to a packet, or NULL if the packet was removed. The first and the
 * last place of the list always contain a packet. The numbers of the places
 * increase from the beginning to the end of the list, and may wrap around. */
typedef struct
{
  /* array of pointers to packets; NULL before the first use */
  MmtpPacket **ring;
  /* number of places in the ring; a power of two */
  guint size;
  guint64 first;                /* place of the first packet */
  /* number of places from the first packet to the last packet, including the
   * empty places between them */
  guint n_places;
  guint n;                      /* number of packets */
  guint64 bytes;                /* payload bytes of all packets */
} MmtpPacketList;

/* Before its first use, a list is all zeros. */
void mmtp_packet_list_clear (MmtpPacketList * list);
/* Adds a packet, whose state becomes MMTP_PACKET_WAITING. */
void mmtp_packet_list_insert (MmtpPacketList * list, MmtpPacket * packet);
/* Removes `packet`, and sets the state of the packet to `state`. */
void mmtp_packet_list_remove (MmtpPacketList * list, MmtpPacket * packet,
    MmtpPacketState state);
/* Returns the number of bytes that all packets of the list need on the network,
 * including their headers. */
guint64 mmtp_packet_list_get_work (const MmtpPacketList * list);

/* Each of the following four functions returns NULL if there is no such packet.
 */
MmtpPacket *mmtp_packet_list_get_first (const MmtpPacketList * list);
MmtpPacket *mmtp_packet_list_get_last (const MmtpPacketList * list);
MmtpPacket *mmtp_packet_list_get_next (const MmtpPacketList * list,
    const MmtpPacket * packet);
MmtpPacket *mmtp_packet_list_get_previous (const MmtpPacketList * list,
    const MmtpPacket * packet);
/* Returns the first packet in the list that is due at the time `due` or later.
 */
MmtpPacket *mmtp_packet_list_find (const MmtpPacketList * list, guint64 due);

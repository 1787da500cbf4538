/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The packets that wait to be sent, in a list for each rank. The rank of a
 * packet says how important it is. Each list is in the order of due times and
 * stream numbers. An MmtpWaiting must be filled with zeros before its first
 * use.
 * */

#pragma once

#include "mmtppacketlist.h"

typedef struct
{
  MmtpPacketList ranks[MMTP_N_RANKS];
  /* For each rank, a list of the units (buffers at the sender) of which no
   * packet has been sent yet, and the bytes that they need on a path. New units
   * are added at the end. */
  GQueue unbegun[MMTP_N_RANKS];
  guint64 unbegun_work[MMTP_N_RANKS];
} MmtpWaiting;

/* Frees the memory of the lists, which must be empty. */
void mmtp_waiting_clear (MmtpWaiting * waiting);
/* Returns the list of the rank of `packet`, to which the packet belongs while
 * it waits. */
MmtpPacketList *mmtp_waiting_get_list (MmtpWaiting * waiting,
    const MmtpPacket * packet);
/* Adds `unit` to the units of which no packet has been sent, or removes it. If
 * `unit` has been removed already, mmtp_waiting_mark_begun() does nothing. */
void mmtp_waiting_mark_unbegun (MmtpWaiting * waiting, MmtpUnit * unit);
void mmtp_waiting_mark_begun (MmtpWaiting * waiting, MmtpUnit * unit);

gboolean mmtp_waiting_is_empty (const MmtpWaiting * waiting);
/* Returns the number of payload bytes, without headers. */
guint64 mmtp_waiting_get_bytes (const MmtpWaiting * waiting);
/* Returns the total size in bytes of the packets whose rank is `rank` or more
 * important. The size includes all headers. */
guint64 mmtp_waiting_get_work (const MmtpWaiting * waiting, MmtpRank rank);
/* Returns the first packet of a rank, or the packet after `packet`; NULL if
 * there is none. */
MmtpPacket *mmtp_waiting_get_first (const MmtpWaiting * waiting, MmtpRank rank);
MmtpPacket *mmtp_waiting_get_next (const MmtpWaiting * waiting,
    const MmtpPacket * packet);
/* Returns the packet of the rank that has the earliest deadline, among those
 * whose deadline is `deadline` or later. The deadline of a packet is `delay`
 * (in ns) after its due time. Returns NULL if there is no such packet. */
MmtpPacket *mmtp_waiting_find (const MmtpWaiting * waiting, MmtpRank rank,
    guint64 deadline, guint64 delay);
/* Returns the first or the last packet of all ranks; NULL if none waits. */
MmtpPacket *mmtp_waiting_get_head (const MmtpWaiting * waiting);
MmtpPacket *mmtp_waiting_get_tail (const MmtpWaiting * waiting);

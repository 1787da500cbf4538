/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The packets of the stream that may still have to be sent or retransmitted, in
 * the order of their stream numbers, and the memory of their buffers.
 *
 * A buffer at the sender is called a unit. A unit gets memory from
 * mmtp_send_window_alloc(), and each of its packets is then added to the
 * window. When the state of a packet has become MMTP_PACKET_DONE, and no older
 * packet is needed, mmtp_send_window_raise_floor() removes it. The unit is
 * freed with its last packet. */

#pragma once

#include "mmtpsendpacket.h"

typedef struct
{
  /* The next new packet gets this stream number. */
  guint64 next;
  /* Packets with a stream number below `floor` will not be sent any more. */
  guint64 floor;
  /* Ring of the packets with the stream numbers from `floor` up to, but not
   * including, `next`. */
  MmtpPacket **ring;
  guint size;                   /* of the ring; a power of two */
  guint64 bytes;                /* payload bytes in the window */
  /* Freed units, whose memory is used again. Each has memory for one packet.
   * They are linked by their field `link`. */
  GQueue spare;
} MmtpSendWindow;

void mmtp_send_window_init (MmtpSendWindow * window);
/* Frees the memory of the window. The state of all packets must be
 * MMTP_PACKET_DONE. */
void mmtp_send_window_clear (MmtpSendWindow * window);

/* Returns zeroed memory for a unit with `n_places` packets. */
MmtpUnit *mmtp_send_window_alloc (MmtpSendWindow * window, guint n_places);
/* Frees a unit of which no packet was added to the window. */
void mmtp_send_window_free_unit (MmtpSendWindow * window, MmtpUnit * unit);
/* Splits `unit` into as many packets as it has memory for, and adds them to the
 * window. The first packet has at most `first_room` bytes of payload, and each
 * further packet at most `room` bytes. */
void mmtp_send_window_add (MmtpSendWindow * window, MmtpUnit * unit,
    gsize first_room, gsize room);
/* Removes the packets that are not needed any more, beginning with the oldest
 * one. Stops at the first packet that may still have to be sent or
 * retransmitted. */
void mmtp_send_window_raise_floor (MmtpSendWindow * window);
/* Returns the packet with the stream number `number`; NULL if the window does
 * not contain it. The function is inline because it is called for each waiting
 * packet when a plan is made. */
static inline MmtpPacket *
mmtp_send_window_get (const MmtpSendWindow * window, guint64 number)
{
  if (number < window->floor || number >= window->next)
    return NULL;
  return window->ring[number & (window->size - 1)];
}

/* Returns the stream number of the first packet of the frame to which `unit`
 * belongs. The window may no longer contain the first packets of this frame.
 * The function then returns the stream number of the first packet of the frame
 * that is still in the window. */
guint64 mmtp_send_window_get_frame_start (const MmtpSendWindow * window,
    const MmtpUnit * unit);
/* Returns the last unit in the window that belongs to the same frame as `unit`
 * and contains a part of a picture. Pieces of a transport stream without video
 * are skipped. Returns NULL if there is no such unit. */
MmtpUnit *mmtp_send_window_get_last_part (const MmtpSendWindow * window,
    const MmtpUnit * unit);
/* `data` is a piece of a transport stream that belongs to no picture. A
 * transport stream interleaves video with other data, so `data` may lie between
 * two pieces of one picture. In this case, the function returns the next piece
 * of this picture. Otherwise it returns NULL. */
MmtpUnit *mmtp_send_window_find_picture (const MmtpSendWindow * window,
    const MmtpUnit * data);

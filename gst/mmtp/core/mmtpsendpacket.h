/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The buffers of the stream at the sender, and the packets into which they are
 * split. Times are in ns.
 */

#pragma once

#include "mmtpbuffer.h"

typedef struct _MmtpUnit MmtpUnit;
typedef struct _MmtpPacket MmtpPacket;

typedef enum
{
  MMTP_PACKET_WAITING,
  /* The packet was removed from the list of waiting packets, because its rank
   * is being changed. It is added to the list of the new rank immediately
   * afterwards. */
  MMTP_PACKET_SET_ASIDE,
  /* The packet was lost, and its retransmission is speculative, which means
   * that it might arrive too late. */
  MMTP_PACKET_SPECULATIVE,
  /* The packet was sent and may have to be retransmitted. */
  MMTP_PACKET_IN_FLIGHT,
  MMTP_PACKET_DONE
} MmtpPacketState;

struct _MmtpPacket
{
  MmtpUnit *unit;
  guint64 number;               /* stream number */
  /* due time in ns of the buffer to which the packet belongs; the send queue is
   * ordered by due times */
  guint64 due;
  /* Position and size of the payload of the packet: it begins at the byte
   * `offset` of the buffer and has `size` bytes. */
  gsize offset, size;
  MmtpPacketState state;
  gboolean was_sent;
  guint path;                   /* path on which the packet was last sent */
  /* channel number of the last transmission. Each path has its own channel
   * numbers, which count the messages that are sent on the path. */
  guint64 path_number;
  /* If the packet waits to be sent: its position in the list of the waiting
   * packets of the same rank (an MmtpPacketList) */
  guint64 place;
};

/* A buffer of the stream at the sender, with the packets into which it is
 * split. The struct is freed when the sender needs none of these packets any
 * more. */
struct _MmtpUnit
{
  GBytes *data;                 /* memory of `bytes` */
  const guint8 *bytes;
  gsize size;
  guint64 due;
  /* Presentation timestamp of the buffer in ns, as the application has set it.
   * The sender uses it only to report that this buffer was dropped. */
  guint64 pts;
  guint8 flags;
  guint8 caps_version;
  MmtpPrelude prelude;
  MmtpRank rank;
  MmtpPicture picture;
  /* number that identifies the frame; all buffers of a frame have the same
   * number */
  guint64 frame;
  /* number that identifies the group of pictures to which the buffer belongs; a
   * group begins with a key frame */
  guint64 group;
  /* Expected number of pictures that are lost if this buffer is not sent: its
   * own picture and the pictures that refer to it. */
  gdouble weight;
  /* Stream number of the first packet of this buffer. The packets of the stream
   * are numbered from 0 in the order in which they are queued. */
  guint64 first;
  guint n_packets;
  /* number of packets of this buffer that the sender still keeps, because they
   * may have to be sent or retransmitted */
  guint n_kept;
  /* number of packets of this buffer that were sent at least once */
  guint n_sent;
  gboolean given_up;
  /* Node with which this buffer is linked into a list. The list contains
   * buffers of which no packet has been sent yet. If this buffer is in no such
   * list, the field `data` of the node is NULL. */
  GList link;
  guint n_places;               /* length of `packets` */
  MmtpPacket packets[];
};

/* Returns the size in bytes of the DATA message that carries the packet. The IP
 * and UDP headers are not included. */
gsize mmtp_send_packet_get_message_size (const MmtpPacket * packet);
/* Returns the number of bytes that a payload of `size` bytes needs on a path,
 * including all headers. */
guint64 mmtp_send_packet_get_work (gsize size);
/* Returns the number of bytes that all packets of the unit (a buffer at the
 * sender) need on a path, including all headers. */
guint64 mmtp_send_unit_get_work (const MmtpUnit * unit);
/* Compares the positions of two packets in the send queue, which is ordered by
 * due times and stream numbers. The result is negative, 0 or positive, as with
 * strcmp(). */
gint mmtp_send_packet_compare (const MmtpPacket * a, const MmtpPacket * b);

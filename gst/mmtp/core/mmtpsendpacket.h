/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The buffers of the stream at the sender, and the packets that they become.
 * Times are ns.
 */

#pragma once

#include "mmtpbuffer.h"

/* A buffer; lives as long as one of its packets */
typedef struct
{
  GBytes *data;
  guint64 due;
  guint8 flags;
  guint8 caps_version;
  MmtpPrelude prelude;
  MmtpRank rank;
  MmtpPicture picture;
  guint64 frame;                /* buffers of one frame share it */
  guint64 group;                /* of pictures, as mmtpgop.h numbers them */
  guint64 first;                /* stream number */
  guint n_packets;
  guint n_kept;                 /* packets that the queue still knows */
  guint n_sent;                 /* packets that were sent at least once */
  gboolean given_up;
  GList link;                   /* among the units of which nothing was sent */
} MmtpUnit;

typedef enum
{
  MMTP_PACKET_WAITING,
  MMTP_PACKET_SET_ASIDE,        /* between two ranks */
  MMTP_PACKET_SPECULATIVE,      /* lost, and only likely to be in time */
  MMTP_PACKET_IN_FLIGHT,        /* sent, and may have to be sent again */
  MMTP_PACKET_DONE
} MmtpPacketState;

typedef struct
{
  MmtpUnit *unit;
  guint64 number;               /* of the stream */
  guint64 due;                  /* the unit's; the queue's order */
  gsize offset, size;           /* of its payload in the buffer */
  MmtpPacketState state;
  gboolean was_sent;
  guint path;                   /* that it was last sent on */
  guint64 path_number;          /* and its number there */
  GSequenceIter *place;         /* in the queue */
} MmtpPacket;

/* Bytes of its DATA message */
gsize mmtp_send_packet_get_message_size (const MmtpPacket * packet);
/* Bytes that a payload of `size` costs on a path, with all headers */
guint64 mmtp_send_packet_get_work (gsize size);
/* The order of the queue, as strcmp() returns it */
gint mmtp_send_packet_compare (const MmtpPacket * a, const MmtpPacket * b);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The unpacker: RTP payloads in, frames of an MPEG video elementary stream
 * out (RFC 2250 section 3 and appendix 1). A core.
 *
 * Packets come in order; what is missing between them is said with the next
 * one. Where a frame begins is read from the payload itself, so that senders
 * whose video-specific headers are all zero are served as well: their payloads
 * go through the framer.
 */

#pragma once

#include "mpegvideoframer.h"
#include "rfc2250header.h"

typedef enum
{
  RFC2250_ON_LOSS_DROP_FRAME,   /* only frames that lost nothing leave */
  RFC2250_ON_LOSS_CONCEAL,      /* whole slices leave, under a picture header */
  RFC2250_ON_LOSS_PASS          /* all that came leaves */
} Rfc2250OnLoss;

typedef struct
{
  const guint8 *data;           /* payload, video-specific header first */
  gsize size;
  gboolean marker;
  gboolean gap;                 /* packets are missing before this one */
  guint64 rtptime;              /* extended timestamp */
  guint64 pts;                  /* ns or NONE: handed on with the frame */
} Rfc2250Payload;

typedef struct
{
  guint8 *data;                 /* g_free () it */
  gsize size;
  gboolean damaged;             /* something of it is missing */
  gboolean headless;            /* it begins in the middle of a picture */
  gboolean end_code;            /* no frame: the sequence end code behind one */
  guint64 rtptime, pts;         /* of its first packet */
} Rfc2250UnpackedFrame;

/* Counters never go back. */
typedef struct
{
  guint64 packets;
  guint64 legacy_packets;       /* with an all-zero header */
  guint64 bad_short;            /* shorter than the header says */
  guint64 bad_mbz;              /* reserved bits set */
  guint64 bad_extension;        /* forbidden value in the MPEG-2 extension */
  guint64 empty;                /* no video behind the header */
  guint64 frames;               /* left whole */
  guint64 frames_damaged;       /* left with something missing */
  guint64 frames_dropped;       /* did not leave */
  guint64 too_big;              /* of these, larger than max_frame_size */
  guint64 pictures_rebuilt;     /* picture headers made anew */
  guint64 gops_rebuilt;         /* GOP headers made anew */
  guint64 slices_dropped;       /* pieces without their other half */
} Rfc2250UnpackerStats;

typedef struct _Rfc2250Unpacker Rfc2250Unpacker;

Rfc2250Unpacker *rfc2250_unpacker_new (void);
void rfc2250_unpacker_free (Rfc2250Unpacker * unpacker);
/* Forgets the stream; keeps configuration and counters. */
void rfc2250_unpacker_reset (Rfc2250Unpacker * unpacker);
void rfc2250_unpacker_set_config (Rfc2250Unpacker * unpacker,
    Rfc2250OnLoss on_loss, gsize max_frame_size);

/* FALSE, and counted: no payload of RFC 2250. For whoever must know before the
 * packet's number counts; rfc2250_unpacker_input () checks too. */
gboolean rfc2250_unpacker_check (Rfc2250Unpacker * unpacker,
    const guint8 * data, gsize size);
void rfc2250_unpacker_input (Rfc2250Unpacker * unpacker,
    const Rfc2250Payload * payload);
/* End of stream */
void rfc2250_unpacker_drain (Rfc2250Unpacker * unpacker);
gboolean rfc2250_unpacker_poll_output (Rfc2250Unpacker * unpacker,
    Rfc2250UnpackedFrame * frame);
void rfc2250_unpacker_get_stats (const Rfc2250Unpacker * unpacker,
    Rfc2250UnpackerStats * stats);

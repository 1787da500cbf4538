/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The packer: frames in, descriptions of RTP payloads out (RFC 2250 section
 * 3.1 and 3.4). A core: it copies no video data, the caller does as it likes.
 *
 * Sequence, GOP and picture headers stand only at the top of a payload, in
 * that order, each whole; one picture to a packet; a slice begins a payload
 * (after headers) or follows whole slices.
 */

#pragma once

#include "mpegvideoframer.h"
#include "rfc2250header.h"

typedef enum
{
  RFC2250_AGGREGATE_NONE,       /* one slice to a packet */
  RFC2250_AGGREGATE_SLICES,     /* whole slices, as many as fit */
  RFC2250_AGGREGATE_FILL        /* and a piece of the next one where that saves
                                 * a packet */
} Rfc2250AggregateMode;

typedef struct
{
  Rfc2250AggregateMode aggregate_mode;
  gboolean mpeg2_extension;     /* T and section 3.4.1 in every packet */
  gboolean new_picture_bits;    /* AN and N */
  gint config_interval;         /* s; 0: never, -1: with every I-frame */
} Rfc2250PackerConfig;

/* One payload: header, then the saved sequence header if inject, then size
 * bytes of the frame from offset on. */
typedef struct
{
  guint8 header[RFC2250_MAX_HEADER_SIZE];
  gsize header_size;
  gboolean inject;
  gsize offset, size;
  gboolean marker;              /* holds the end of the frame's last slice */
  gsize coverage;               /* payload bytes, from its start, that are
                                 * headers of any kind */
  MpegVideoPictureType type;
  guint temporal_reference;
} Rfc2250Packet;

/* Counters never go back. */
typedef struct
{
  guint64 frames;
  guint64 pictures[MPEG_VIDEO_PICTURE_LAST];    /* fields count one by one */
  guint64 packets;
  guint64 payload_bytes;        /* with the video-specific headers */
  guint64 slices;
  guint64 split_slices;         /* larger than a payload, or filled up */
  guint64 header_packets;       /* without any slice data */
  guint64 injected;             /* sequence headers put in */
  guint64 not_injected;         /* would have reset downloaded matrices */
} Rfc2250PackerStats;

typedef struct _Rfc2250Packer Rfc2250Packer;

/* Smallest payload, video-specific header and all, that the largest header of
 * a stream fits into (RFC 2250 section 3.1) */
gsize rfc2250_packer_min_payload (const Rfc2250PackerConfig * config);

Rfc2250Packer *rfc2250_packer_new (void);
void rfc2250_packer_free (Rfc2250Packer * packer);
/* Forgets the stream; keeps configuration and counters. */
void rfc2250_packer_reset (Rfc2250Packer * packer);
void rfc2250_packer_set_config (Rfc2250Packer * packer,
    const Rfc2250PackerConfig * config);

/* A frame and its bytes, both to stay until no output is left. now: its
 * running time, ns. max_payload: bytes, at least
 * rfc2250_packer_min_payload (). */
void rfc2250_packer_input (Rfc2250Packer * packer,
    const MpegVideoFrame * frame, const guint8 * data, guint64 now,
    gsize max_payload);
gboolean rfc2250_packer_poll_output (Rfc2250Packer * packer,
    Rfc2250Packet * packet);
/* The sequence header with its extensions that inject means; never NULL then */
GBytes *rfc2250_packer_get_sequence (Rfc2250Packer * packer);
void rfc2250_packer_get_stats (const Rfc2250Packer * packer,
    Rfc2250PackerStats * stats);

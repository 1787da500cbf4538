/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The packer splits frames into RTP payloads according to RFC 2250, sections
 * 3.1 and 3.4. It does no I/O. It describes the payloads, but does not write
 * them, so that the caller decides whether to copy video data.
 *
 * Each payload follows these rules:
 * - It contains data of one picture only.
 * - Sequence, GOP and picture headers are only at its beginning, in this order,
 *   and are never split.
 * - A slice begins either at the beginning of the payload (possibly after
 *   headers), or directly after another whole slice.
 */

#pragma once

#include "mpegvideoframer.h"
#include "rfc2250header.h"

typedef enum
{
  RFC2250_AGGREGATE_NONE,       /* one slice per packet */
  /* A packet contains as many whole slices as fit into it. */
  RFC2250_AGGREGATE_SLICES,
  /* A packet contains as many whole slices as fit into it. The rest of the
   * packet is filled with the beginning of the next slice if this reduces the
   * number of packets. Otherwise the rest stays unused. */
  RFC2250_AGGREGATE_FILL
} Rfc2250AggregateMode;

typedef struct
{
  Rfc2250AggregateMode aggregate_mode;
  /* TRUE if each packet contains the MPEG-2 header extension of RFC 2250
   * section 3.4.1 (T = 1) */
  gboolean mpeg2_extension;
  gboolean new_picture_bits;    /* set the AN and N bits */
  /* Interval in seconds at which the sequence header is repeated. 0 means that
   * it is never repeated, and -1 that it is repeated with each I-frame. */
  gint config_interval;
} Rfc2250PackerConfig;

/* A payload. It consists of three parts, in this order:
 * - the video-specific header: `header_size` bytes of `header`
 * - the stored sequence header, but only if `inject` is TRUE
 * - `size` bytes of the frame, beginning at `offset` */
typedef struct
{
  guint8 header[RFC2250_MAX_HEADER_SIZE];
  gsize header_size;
  gboolean inject;
  gsize offset, size;
  /* TRUE if the payload contains the end of the frame's last slice. The packet
   * then has the RTP marker bit. */
  gboolean marker;
  /* Number of bytes at the beginning of the payload that are headers: the
   * video-specific header and the headers of the video. A receiver cannot use
   * the payload if these bytes are damaged. */
  gsize coverage;
  MpegVideoPictureType type;
  guint temporal_reference;
} Rfc2250Packet;

/* Counters never decrease. */
typedef struct
{
  guint64 frames;
  guint64 pictures[MPEG_VIDEO_PICTURE_LAST];    /* each field picture counts */
  guint64 packets;
  guint64 payload_bytes;        /* including the video-specific headers */
  guint64 slices;
  /* number of slices that were split, either because they were larger than a
   * payload or in order to fill a packet
   */
  guint64 split_slices;
  guint64 header_packets;       /* packets without slice data */
  guint64 injected;             /* inserted sequence headers */
  /* Number of sequence headers that were not inserted, because they would have
   * reset the quantization matrices that a quant_matrix_extension has set. */
  guint64 not_injected;
} Rfc2250PackerStats;

typedef struct _Rfc2250Packer Rfc2250Packer;

/* Returns the smallest value in bytes that the maximum payload size may have. A
 * payload of this size can hold the video-specific header and the largest
 * header of a stream, because a header must not be split (RFC 2250 section
 * 3.1). */
gsize rfc2250_packer_min_payload (const Rfc2250PackerConfig * config);

Rfc2250Packer *rfc2250_packer_new (void);
void rfc2250_packer_free (Rfc2250Packer * packer);
/* Resets the packer before a new stream. Its configuration and its counters are
 * kept. */
void rfc2250_packer_reset (Rfc2250Packer * packer);
void rfc2250_packer_set_config (Rfc2250Packer * packer,
    const Rfc2250PackerConfig * config);

/* Passes the frame `frame`, whose bytes are `data`, to the packer. `frame` and
 * `data` must stay valid until rfc2250_packer_poll_output returns FALSE. `now`
 * is the running time of the frame in ns. `max_payload` is the maximum payload
 * size in bytes; it must be at least rfc2250_packer_min_payload (). */
void rfc2250_packer_input (Rfc2250Packer * packer,
    const MpegVideoFrame * frame, const guint8 * data, guint64 now,
    gsize max_payload);
gboolean rfc2250_packer_poll_output (Rfc2250Packer * packer,
    Rfc2250Packet * packet);
/* Returns the stored sequence header of the stream, with its extensions
 * (transfer none). If the field `inject` of a packet is TRUE, the caller has to
 * insert this sequence header into the packet, before the frame data. For such
 * a packet, the result is not NULL. */
GBytes *rfc2250_packer_get_sequence (Rfc2250Packer * packer);
void rfc2250_packer_get_stats (const Rfc2250Packer * packer,
    Rfc2250PackerStats * stats);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the pictures of the video in an MPEG transport stream, so that they can
 * be dropped as a whole. The stream is cut into units of whole packets. A unit
 * that holds a picture begins with the first packet of the picture, and ends
 * before the next picture. Between them are packets of sound and data, which
 * must not be dropped. The parser does no I/O and handles invalid input safely.
 *
 * Only streams with one program are cut. Other streams, and streams whose video
 * is scrambled or unknown, pass as units without a picture.
 *
 * Section numbers refer to ISO/IEC 13818-1.
 */

#pragma once

#include <glib.h>

#define TS_PACKET_SIZE 188
#define TS_SYNC_BYTE 0x47
#define TS_NO_PID 0x1fff        /* PID of null packets */

typedef enum
{
  TS_VIDEO_MPEG,                /* MPEG-1 and MPEG-2 */
  TS_VIDEO_H264,
  TS_VIDEO_H265
} TsVideo;

typedef struct
{
  guint8 *data;                 /* whole packets; belongs to the caller */
  gsize size;                   /* in bytes */
  /* of the inputs that held the first packet and the last one */
  guint64 tag, last_tag;
  gboolean has_picture;
  /* The following fields are only set if there is a picture. */
  TsVideo video;
  guint8 *stream;               /* elementary stream; belongs to the caller */
  gsize stream_size;            /* in bytes */
  /* DTS of the picture, or its PTS if it has no DTS, in units of 1/90000 s
   * modulo 2^33 (2.4.3.7) */
  gboolean has_time;
  guint64 time;
  /* What has to be sent if the picture is dropped: the packets of other
   * streams except for null packets, and packets with the clock references of
   * the picture's own packets. It belongs to the caller and may be empty. */
  guint8 *rest;
  gsize rest_size;              /* in bytes */
  /* PID of the video, and by how much its continuity counter advances in the
   * packets that are not in `rest` */
  guint pid;
  guint n_removed;
} TsUnit;

void ts_unit_clear (TsUnit * unit);

typedef struct _TsPictures TsPictures;

TsPictures *ts_pictures_new (void);
void ts_pictures_free (TsPictures * pictures);
/* Discards the state of the stream, as after a flush. */
void ts_pictures_reset (TsPictures * pictures);

/* Adds bytes of the stream, which need not be whole packets. `tag` is a value
 * of the caller. */
void ts_pictures_input (TsPictures * pictures, const guint8 * data, gsize size,
    guint64 tag);
/* Ends the current unit. */
void ts_pictures_drain (TsPictures * pictures);
/* Returns the next complete unit in `unit`, or FALSE if there is none. */
gboolean ts_pictures_poll (TsPictures * pictures, TsUnit * unit);
/* Returns why the stream passes without being cut, or NULL. */
const gchar *ts_pictures_get_refusal (const TsPictures * pictures);

/* The following functions read a packet of TS_PACKET_SIZE bytes. */
guint ts_packet_get_pid (const guint8 * packet);
guint ts_packet_get_counter (const guint8 * packet);
gboolean ts_packet_has_payload (const guint8 * packet);
/* Returns payload_unit_start_indicator. */
gboolean ts_packet_begins (const guint8 * packet);
/* Returns whether the packet has a program clock reference. */
gboolean ts_packet_has_clock (const guint8 * packet);
void ts_packet_set_counter (guint8 * packet, guint counter);
/* Makes the payload of a packet with a clock reference stuffing, so that only
 * the reference remains. `counter` is that of the last packet with payload,
 * which the packet repeats (2.4.3.3). */
void ts_packet_keep_clock (guint8 * packet, guint counter);

/* Subtracts `offset` from the continuity counters of the packets with this PID.
 */
void ts_shift_counters (guint8 * data, gsize size, guint pid, guint offset);

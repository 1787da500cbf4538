/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the pictures of the video in an MPEG transport stream, so that a
 * picture can be dropped as a whole. The stream is cut into units of whole
 * packets. A unit that contains a picture begins with the first packet of the
 * picture and ends before the next picture. The unit also contains packets of
 * sound and data, which must not be dropped. The parser does no I/O and handles
 * invalid input safely.
 *
 * Only a stream with one program is searched for pictures. If a stream has
 * several programs, or if its video is scrambled or unknown, no unit contains a
 * picture.
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
  /* the transport stream packets of this unit; the caller frees them */
  guint8 *data;
  gsize size;                   /* in bytes */
  /* The caller gives a tag to each piece of input. `tag` is the tag of the
   * input that contained the first packet of the unit. `last_tag` is the tag of
   * the input that contained the last packet of the unit. */
  guint64 tag, last_tag;
  gboolean has_picture;
  /* The following fields are only set if the unit has a picture. */
  TsVideo video;
  /* elementary stream of the picture; the caller frees it */
  guint8 *stream;
  gsize stream_size;            /* in bytes */
  /* DTS of the picture, or its PTS if it has no DTS, in units of 1/90000 s
   * modulo 2^33 (2.4.3.7) */
  gboolean has_time;
  guint64 time;
  /* Packets that must be sent even if the picture is dropped:
   *
   * - All packets of other streams, except null packets.
   * - For each packet of the picture that has a clock reference: a packet that
   *   contains only this clock reference.
   *
   * `rest` may be empty. The caller frees it. */
  guint8 *rest;
  gsize rest_size;              /* in bytes */
  guint pid;                    /* PID of the video */
  /* Number of video packets in the unit that increase the continuity counter.
   * If the picture is dropped, the counters of all later video packets have to
   * be reduced by this number.
   */
  guint n_removed;
} TsUnit;

void ts_unit_clear (TsUnit * unit);

typedef struct _TsPictures TsPictures;

TsPictures *ts_pictures_new (void);
void ts_pictures_free (TsPictures * pictures);
/* Discards the state of the stream, as after a flush. */
void ts_pictures_reset (TsPictures * pictures);

/* Adds bytes of the stream. The bytes need not be whole packets. `tag` is any
 * value that the caller chooses. It is returned in the fields `tag` and
 * `last_tag` of TsUnit. */
void ts_pictures_input (TsPictures * pictures, const guint8 * data, gsize size,
    guint64 tag);
/* Ends the current unit, for example at the end of the stream. */
void ts_pictures_drain (TsPictures * pictures);
/* Returns whether the unit that is not complete yet contains a picture. If so,
 * `tag` is set to the tag of the input that contained the last video packet. */
gboolean ts_pictures_is_open (const TsPictures * pictures, guint64 * tag);
/* Ends the current picture before the next picture begins. The caller uses this
 * function if no picture begins for a long time. */
void ts_pictures_end (TsPictures * pictures);
/* Stores the next complete unit in `unit`. Returns FALSE if there is none. */
gboolean ts_pictures_poll (TsPictures * pictures, TsUnit * unit);
/* Returns the reason why the stream is passed on without being cut into units,
 * or NULL if it is cut. */
const gchar *ts_pictures_get_refusal (const TsPictures * pictures);

/* The following functions read or change a packet of TS_PACKET_SIZE bytes. */
guint ts_packet_get_pid (const guint8 * packet);
guint ts_packet_get_counter (const guint8 * packet);
gboolean ts_packet_has_payload (const guint8 * packet);
/* Returns payload_unit_start_indicator. */
gboolean ts_packet_begins (const guint8 * packet);
/* Returns whether the packet has a program clock reference. */
gboolean ts_packet_has_clock (const guint8 * packet);
void ts_packet_set_counter (guint8 * packet, guint counter);
/* Replaces the payload of a packet by stuffing, so that only its clock
 * reference remains. The packet must have a clock reference. `counter` is the
 * continuity counter of the last packet with a payload. A packet without a
 * payload repeats this counter (2.4.3.3). */
void ts_packet_keep_clock (guint8 * packet, guint counter);

/* Subtracts `offset` from the continuity counters of the packets with the given
 * PID. Call this function after pictures were dropped. Otherwise the counters
 * would have a gap, and a receiver would treat the gap as a loss.
 */
void ts_shift_counters (guint8 * data, gsize size, guint pid, guint offset);

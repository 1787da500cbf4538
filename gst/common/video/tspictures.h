/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the pictures of the video in an MPEG transport stream, so that a
 * picture can be dropped as a whole. The stream is cut into units, which
 * consist of whole transport stream packets. A unit that contains a picture
 * begins with the first packet of the picture and ends before the next picture.
 * The unit also contains packets of other streams (audio and data) that lie
 * between the video packets. These must not be dropped. The parser does no I/O
 * and handles invalid input safely.
 *
 * Only a stream with one program is searched for pictures. If a stream has
 * several programs, or if its video is scrambled or has an unknown format, no
 * unit contains a picture. The video may appear or disappear in the middle of
 * the stream.
 *
 * Section numbers refer to ISO/IEC 13818-1. */

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
  /* the transport stream packets of this unit; the caller must free them */
  guint8 *data;
  gsize size;                   /* in bytes */
  /* The caller of ts_pictures_input () passes the stream in pieces, and a tag
   * with each piece. `tag` is the tag of the piece that contained the first
   * packet of this unit. `last_tag` is the tag of the piece that contained its
   * last packet. */
  guint64 tag, last_tag;
  gboolean has_picture;
  /* The following fields are only set if has_picture is TRUE. */
  TsVideo video;
  /* the elementary stream of the picture; the caller must free it */
  guint8 *stream;
  gsize stream_size;            /* in bytes */
  /* DTS of the picture, or its PTS if it has no DTS; in units of 1/90000 s,
   * modulo 2^33 (2.4.3.7). Only valid if has_time is TRUE. */
  gboolean has_time;
  guint64 time;
  /* The packets that must be sent even if the picture is dropped. `rest`
   * contains them, one after the other:
   *
   * - All packets of other streams, except null packets.
   * - For each video packet that has a clock reference: a packet that contains
   *   only this clock reference.
   *
   * If there are no such packets, `rest` is empty. The caller must free `rest`.
   */
  guint8 *rest;
  gsize rest_size;              /* in bytes */
  guint pid;                    /* last known PID of the video */
  /* Number of video packets in this unit that increase the continuity counter
   * of the video. If the picture is dropped, the caller must subtract this
   * number from the counters of all later video packets. */
  guint n_removed;
} TsUnit;

void ts_unit_clear (TsUnit * unit);

typedef struct _TsPictures TsPictures;

TsPictures *ts_pictures_new (void);
void ts_pictures_free (TsPictures * pictures);
/* Discards what is known about the stream, for example after a flush. */
void ts_pictures_reset (TsPictures * pictures);

/* Adds bytes of the stream, which need not be whole packets. `tag` is any value
 * that the caller chooses. It is returned in the fields `tag` and `last_tag` of
 * the TsUnit that contains these bytes. */
void ts_pictures_input (TsPictures * pictures, const guint8 * data, gsize size,
    guint64 tag);
/* Ends the current unit and passes on an incomplete packet, for example at the
 * end of the stream. */
void ts_pictures_drain (TsPictures * pictures);
/* Returns TRUE if the current unit, which is not complete yet, contains a
 * picture. In this case, sets `tag` to the tag of the input that contained the
 * last video packet. */
gboolean ts_pictures_is_open (const TsPictures * pictures, guint64 * tag);
/* Ends the current unit although the next picture has not begun. Call this
 * function if no picture begins for a long time. */
void ts_pictures_end (TsPictures * pictures);
/* Moves the next complete unit to `unit`. Returns FALSE if there is none. */
gboolean ts_pictures_poll (TsPictures * pictures, TsUnit * unit);
/* Returns the reason why the stream is never cut into units with pictures, as a
 * text for the user. Returns NULL if there is no such reason. */
const gchar *ts_pictures_get_refusal (const TsPictures * pictures);
/* Returns a text for the user that says why no pictures are found at present.
 * Returns NULL if there is no such reason. The reason is the refusal, or that
 * ten program map tables in a row have named no video. In the second case, each
 * call of ts_pictures_input () makes one unit of its packets, so the stream
 * passes in the same pieces. A later table may name a video. Its pictures are
 * then found. */
const gchar *ts_pictures_get_warning (const TsPictures * pictures);

/* The following functions read or change one transport stream packet, which has
 * TS_PACKET_SIZE bytes. */
guint ts_packet_get_pid (const guint8 * packet);
guint ts_packet_get_counter (const guint8 * packet);
gboolean ts_packet_has_payload (const guint8 * packet);
/* Returns payload_unit_start_indicator. */
gboolean ts_packet_begins (const guint8 * packet);
/* Returns whether the packet has a program clock reference. */
gboolean ts_packet_has_clock (const guint8 * packet);
void ts_packet_set_counter (guint8 * packet, guint counter);
/* Removes the payload of a packet, so that only its clock reference remains.
 * The payload is replaced by stuffing. The packet must have a clock reference.
 * A packet without a payload repeats the continuity counter of the last packet
 * with a payload (section 2.4.3.3 of ISO/IEC 13818-1). The caller passes the
 * counter of that packet as `counter`. */
void ts_packet_keep_clock (guint8 * packet, guint counter);

/* Subtracts `offset` from the continuity counters of all packets with the PID
 * `pid`. Call this function for the packets after dropped pictures. Otherwise
 * the counters would have a gap, and a receiver would treat the gap as a loss.
 */
void ts_shift_counters (guint8 * data, gsize size, guint pid, guint offset);

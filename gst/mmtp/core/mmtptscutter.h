/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cuts an MPEG transport stream into buffers, so that the sender can drop whole
 * pictures of the video. Together, the buffers contain the whole stream.
 *
 * The packets of a picture, and other packets between them, become several
 * buffers in the order of the stream. Some packets are never dropped with a
 * picture: packets of sound, data and program tables, and video packets with a
 * program clock reference. These packets get buffers of their own. The other
 * video packets of the picture are dropped together.
 *
 * The first buffer of a picture has MMTP_FLAG_HEADER, and the last one has
 * MMTP_FLAG_MARKER (docs/wire-mmtp.md, DATA). The last buffer must be one that
 * can be dropped with the picture. If the last packet of the picture has a
 * clock reference, its buffer is never dropped. In this case, an empty buffer
 * follows it as the last buffer of the picture. If a picture arrives
 * incomplete, the receiver removes the rest of it (mmtptsjoiner.h).
 *
 * The cutter does no I/O and handles invalid input safely.
 */

#pragma once

#include "mmtpgop.h"

typedef struct
{
  /* bytes of the piece, owned by the caller; may be empty */
  GBytes *data;
  /* Tag of the input that contained the last packet of the picture. The caller
   * of mmtp_ts_cutter_input() gives each input a number, its tag. The packets
   * that follow the picture, up to the next picture, count here as packets of
   * the picture. */
  guint64 tag;
  guint8 flags;                 /* flags of MMTP_FLAGS_OF_BUFFER */
  MmtpPicture picture;
} MmtpTsPiece;

typedef struct _MmtpTsCutter MmtpTsCutter;

MmtpTsCutter *mmtp_ts_cutter_new (void);
void mmtp_ts_cutter_free (MmtpTsCutter * cutter);
/* Discards everything that the cutter knows about the stream, and the data that
 * it has not output yet. Used for a flush. */
void mmtp_ts_cutter_reset (MmtpTsCutter * cutter);

/* Adds bytes of the stream, which need not be whole packets. `tag` is any
 * number that the caller chooses for these bytes. mmtp_ts_cutter_poll() and
 * mmtp_ts_cutter_is_open() return this number. A picture is complete when the
 * next picture begins. */
void mmtp_ts_cutter_input (MmtpTsCutter * cutter, const guint8 * data,
    gsize size, guint64 tag);
/* Returns whether a picture has begun and is not complete yet. If so, sets
 * `tag` to the tag that was passed to mmtp_ts_cutter_input() together with the
 * last video packet of this picture. */
gboolean mmtp_ts_cutter_is_open (const MmtpTsCutter * cutter, guint64 * tag);
/* Ends the current picture. Usually, a picture ends when the next one begins.
 * Call this function if the next picture does not begin for a long time. */
void mmtp_ts_cutter_end (MmtpTsCutter * cutter);
/* Ends the stream. */
void mmtp_ts_cutter_drain (MmtpTsCutter * cutter);
/* Removes the next buffer, stores it in `piece` and returns TRUE. Returns FALSE
 * if there is no buffer. */
gboolean mmtp_ts_cutter_poll (MmtpTsCutter * cutter, MmtpTsPiece * piece);
/* Returns the reason if the transport stream cannot be cut into buffers; the
 * stream is then passed on unchanged. Returns NULL if the stream is cut. */
const gchar *mmtp_ts_cutter_get_refusal (const MmtpTsCutter * cutter);
/* Returns a text for the user that says why no pictures are found at present;
 * NULL if there is no such reason. See ts_pictures_get_warning(). */
const gchar *mmtp_ts_cutter_get_warning (const MmtpTsCutter * cutter);

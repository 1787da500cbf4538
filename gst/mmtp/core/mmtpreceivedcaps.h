/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Joins the pieces of the caps. The caps are GStreamer's description of the
 * media format of the stream. The sender transmits them as text, in one or more
 * CAPS messages (docs/wire-mmtp.md, CAPS).
 */

#pragma once

#include "mmtppacket.h"

/* Number of versions of the caps (the description of the media format) that are
 * kept. When the caps change, older versions are still needed, because buffers
 * with the older caps may still arrive. */
#define MMTP_CAPS_VERSIONS 4

typedef struct
{
  guint8 version;               /* 0 if the entry is free */
  guint16 length;
  /* number of bytes of the caps text that have arrived so far */
  guint16 n_bytes;
  /* TRUE if the caps text is complete and all values in it have plain types,
   * such as numbers and strings (see mmtp_caps_text_is_plain()). Otherwise, the
   * receiver does not use the text. */
  gboolean plain;
  /* One bit for each byte of the caps text. The bit is set when the byte has
   * arrived. */
  guint8 come[MMTP_MAX_CAPS / 8];
  gchar text[MMTP_MAX_CAPS + 1];
} MmtpCapsText;

typedef struct
{
  MmtpCapsText *texts[MMTP_CAPS_VERSIONS];      /* NULL if never used */
  guint next;                   /* entry to be replaced next */
} MmtpReceivedCaps;

/* Frees all caps texts in `self`. To initialize a new MmtpReceivedCaps, the
 * caller sets all its fields to 0 and does not need this function. */
void mmtp_received_caps_clear (MmtpReceivedCaps * self);
/* Adds a piece of a caps text, which has arrived in a CAPS message. Sets
 * `is_complete` to TRUE if the whole text has arrived. The caller then has to
 * acknowledge the text.
 *
 * The receiver uses the text only if all values in it have plain types, such as
 * numbers and strings. A complete text that it does not use has to be
 * acknowledged as well. Otherwise, the sender would send the text again. */
MmtpRefusal mmtp_received_caps_add (MmtpReceivedCaps * self,
    const MmtpCaps * caps, gboolean * is_complete);
/* Returns the caps text with the version number `version`. Returns NULL if no
 * text with this number has arrived completely. */
const MmtpCapsText *mmtp_received_caps_find (const MmtpReceivedCaps * self,
    guint8 version);

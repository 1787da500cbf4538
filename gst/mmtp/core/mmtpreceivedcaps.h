/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Assembles the caps that the sender transmits in pieces (docs/wire-mmtp.md,
 * CAPS).
 */

#pragma once

#include "mmtppacket.h"

/* Number of caps versions whose texts are kept. Older versions are needed
 * because buffers of these versions may still arrive. */
#define MMTP_CAPS_VERSIONS 4

typedef struct
{
  guint8 version;               /* 0 if the entry is free */
  guint16 length;
  /* number of bytes of the text that have arrived */
  guint16 n_bytes;
  /* TRUE if the text is complete and all values in the caps have plain types,
   * which mmtp_caps_text_is_plain() checks. The receiver uses the text only in
   * this case. */
  gboolean plain;
  /* One bit for each byte of the caps text. The bit is set if the byte has
   * arrived. */
  guint8 come[MMTP_MAX_CAPS / 8];
  gchar text[MMTP_MAX_CAPS + 1];
} MmtpCapsText;

typedef struct
{
  MmtpCapsText *texts[MMTP_CAPS_VERSIONS];      /* NULL if never used */
  guint next;                   /* entry to be replaced next */
} MmtpReceivedCaps;

/* Frees the memory of the caps. Before an MmtpReceivedCaps is used for the
 * first time, all its fields must be 0. */
void mmtp_received_caps_clear (MmtpReceivedCaps * self);
/* Adds a piece of the caps text that has arrived in a CAPS message. Sets
 * `is_complete` to TRUE if the text is complete and has to be acknowledged.
 *
 * The receiver can use the text only if all values in it have plain types. A
 * complete text that the receiver cannot use is acknowledged, too, because the
 * sender would otherwise send it again. */
MmtpRefusal mmtp_received_caps_add (MmtpReceivedCaps * self,
    const MmtpCaps * caps, gboolean * is_complete);
/* Returns the caps text with the given version number, or NULL if a part of the
 * text has not arrived. */
const MmtpCapsText *mmtp_received_caps_find (const MmtpReceivedCaps * self,
    guint8 version);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Joins the pieces of the caps text that arrive in CAPS messages. The caps
 * describe the media format of the stream. */

#include "mmtpreceivedcaps.h"

#include <string.h>

#include "mmtpcapstext.h"

void
mmtp_received_caps_clear (MmtpReceivedCaps * self)
{
  guint i;

  for (i = 0; i < MMTP_CAPS_VERSIONS; i++)
    g_clear_pointer (&self->texts[i], g_free);
  self->next = 0;
}

static MmtpCapsText *
find_version (const MmtpReceivedCaps * self, guint8 version)
{
  guint i;

  for (i = 0; i < MMTP_CAPS_VERSIONS; i++)
    if (self->texts[i] && self->texts[i]->version == version)
      return self->texts[i];
  return NULL;
}

static MmtpCapsText *
begin_version (MmtpReceivedCaps * self, const MmtpCaps * caps)
{
  MmtpCapsText **slot = &self->texts[self->next];

  self->next = (self->next + 1) % MMTP_CAPS_VERSIONS;
  if (!*slot)
    *slot = g_new (MmtpCapsText, 1);
  memset (*slot, 0, sizeof (**slot));
  (*slot)->version = caps->version;
  (*slot)->length = caps->length;
  return *slot;
}

static void
add_piece (MmtpCapsText * text, const MmtpCaps * caps)
{
  guint i;

  memcpy (text->text + caps->offset, caps->piece, caps->piece_size);
  for (i = caps->offset; i < caps->offset + caps->piece_size; i++) {
    guint8 bit = 1 << i % 8;

    text->n_bytes += text->come[i / 8] & bit ? 0 : 1;
    text->come[i / 8] |= bit;
  }
}

MmtpRefusal
mmtp_received_caps_add (MmtpReceivedCaps * self, const MmtpCaps * caps,
    gboolean * is_complete)
{
  MmtpCapsText *text = find_version (self, caps->version);

  *is_complete = FALSE;
  if (!text)
    text = begin_version (self, caps);
  if (text->length != caps->length)
    return MMTP_REFUSED_MALFORMED;
  if (text->n_bytes == text->length) {
    *is_complete = TRUE;
    return MMTP_VALID;
  }
  add_piece (text, caps);
  if (text->n_bytes < text->length)
    return MMTP_VALID;
  *is_complete = TRUE;
  text->plain = mmtp_caps_text_is_plain (text->text, text->length);
  return text->plain ? MMTP_VALID : MMTP_REFUSED_MALFORMED;
}

const MmtpCapsText *
mmtp_received_caps_find (const MmtpReceivedCaps * self, guint8 version)
{
  const MmtpCapsText *text = find_version (self, version);

  return text && text->n_bytes == text->length ? text : NULL;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Assembles the caps that the sender transmits in pieces (docs/wire-mmtp.md,
 * CAPS). */

#include "mmtpcapstext.h"
#include "mmtpreceiverprivate.h"

#include <string.h>

static MmtpCapsText *
find_version (MmtpReceiverSession * session, guint8 version)
{
  guint i;

  for (i = 0; i < MMTP_CAPS_VERSIONS; i++)
    if (session->caps[i] && session->caps[i]->version == version)
      return session->caps[i];
  return NULL;
}

static MmtpCapsText *
begin_version (MmtpReceiverSession * session, const MmtpCaps * caps)
{
  MmtpCapsText **slot = &session->caps[session->next_caps];

  session->next_caps = (session->next_caps + 1) % MMTP_CAPS_VERSIONS;
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

static void
acknowledge (MmtpReceiver * self, MmtpReceiverPath * path, guint8 version)
{
  MmtpMessage message = {.type = MMTP_CAPS_ACK };

  message.caps.version = version;
  mmtp_receiver_output_add (&self->output, path, &message, &path->address);
}

/* Caps that are not plain are acknowledged as well, because the sender would
 * only repeat them. */
MmtpRefusal
mmtp_receiver_take_caps (MmtpReceiver * self, MmtpReceiverPath * path,
    const MmtpCaps * caps)
{
  MmtpCapsText *text = find_version (&self->session, caps->version);

  if (!text)
    text = begin_version (&self->session, caps);
  if (text->length != caps->length)
    return MMTP_REFUSED_MALFORMED;
  if (text->n_bytes == text->length) {
    acknowledge (self, path, caps->version);
    return MMTP_VALID;
  }
  add_piece (text, caps);
  if (text->n_bytes < text->length)
    return MMTP_VALID;
  acknowledge (self, path, caps->version);
  text->plain = mmtp_caps_text_is_plain (text->text, text->length);
  return text->plain ? MMTP_VALID : MMTP_REFUSED_MALFORMED;
}

const MmtpCapsText *
mmtp_receiver_find_caps (MmtpReceiver * self, guint8 version)
{
  MmtpCapsText *text = find_version (&self->session, version);

  return text && text->n_bytes == text->length ? text : NULL;
}

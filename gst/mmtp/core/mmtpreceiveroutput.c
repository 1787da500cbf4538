/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages and events of the receiver wait here until the caller fetches them.
 * The other files of the receiver call this file; it calls none of them. */

#include "mmtpreceiverprivate.h"

#include <string.h>

/* Limits of the two queues: more than a single call can produce. */
#define MAX_OUTPUT 1024
#define MAX_EVENTS 1024

void
mmtp_receiver_draw (MmtpReceiver * self, const gchar * purpose,
    gconstpointer more, gsize size, guint8 drawn[MMTP_KEY_SIZE])
{
  GHmac *hmac = g_hmac_new (G_CHECKSUM_SHA256, self->draw_secret,
      MMTP_KEY_SIZE);
  gsize n = MMTP_KEY_SIZE;

  g_hmac_update (hmac, (const guchar *) purpose, strlen (purpose));
  if (size > 0)
    g_hmac_update (hmac, more, size);
  g_hmac_get_digest (hmac, drawn, &n);
  g_hmac_unref (hmac);
}

static void
push_output (MmtpReceiver * self, const MmtpAddress * address,
    const guint8 * bytes, gsize size)
{
  MmtpReceiverOutput *output;

  if (self->output.length >= MAX_OUTPUT)
    return;
  output = g_malloc (sizeof (*output) + size);
  output->address = *address;
  output->size = size;
  memcpy (output->bytes, bytes, size);
  g_queue_push_tail (&self->output, output);
}

/* Only those refusals are sealed that answer an OPEN with a valid MAC, because
 * anybody can provoke the others. */
static gboolean
is_sealed (const MmtpMessage * message)
{
  return message->type == MMTP_COOKIE || (message->type == MMTP_REFUSE
      && (message->refuse.reason == MMTP_REFUSE_BUSY
          || message->refuse.reason == MMTP_REFUSE_OVER));
}

void
mmtp_receiver_send_bare (MmtpReceiver * self, MmtpMessage * message,
    const MmtpAddress * address)
{
  guint8 bytes[128];
  gsize size;

  message->sent = mmtp_to_ticks (self->now);
  size = mmtp_packet_write (message, bytes, sizeof (bytes));
  if (is_sealed (message))
    mmtp_key_seal (&self->key, bytes, size);
  push_output (self, address, bytes, size);
}

gsize
mmtp_receiver_send (MmtpReceiver * self, MmtpReceiverPath * path,
    MmtpMessage * message, const MmtpAddress * address)
{
  guint8 bytes[2048];
  guint64 number = path->next_number++;
  gsize size;

  message->channel = path->id;
  message->number = number & G_MAXUINT16;
  message->sent = mmtp_to_ticks (self->now);
  if (message->type == MMTP_REPORT)
    message->report.channel_number = number;
  size = mmtp_packet_write (message, bytes, sizeof (bytes));
  if (size == 0)
    return 0;
  mmtp_direction_seal (&self->session.ours, number, bytes, size);
  push_output (self, address, bytes, size);
  return size;
}

void
mmtp_receiver_push_event (MmtpReceiver * self, MmtpReceiverEventType type,
    guint path)
{
  MmtpReceiverEvent *event;

  if (self->events.length >= MAX_EVENTS)
    return;
  event = g_new0 (MmtpReceiverEvent, 1);
  event->type = type;
  event->path = path;
  event->delay = self->session.initial_delay;
  event->wanted_delay = self->session.wanted_delay;
  g_queue_push_tail (&self->events, event);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers, authenticates and queues the messages of the receiver. */

#include "mmtpreceiveroutput.h"

#include <string.h>

/* Maximum number of messages in the queue. A single call of a function of the
 * receiver creates fewer messages than this. */
#define MAX_OUTPUT 1024

/* A message to be sent. */
typedef struct
{
  MmtpAddress address;
  gsize size;
  guint8 bytes[];
} Output;

void
mmtp_receiver_output_init (MmtpReceiverOutput * self,
    const MmtpReceiverPaths * paths, const MmtpKey * key)
{
  memset (self, 0, sizeof (*self));
  self->paths = paths;
  self->key = key;
  g_queue_init (&self->messages);
}

void
mmtp_receiver_output_clear (MmtpReceiverOutput * self)
{
  g_queue_clear_full (&self->messages, g_free);
}

static void
push (MmtpReceiverOutput * self, const MmtpAddress * address,
    const guint8 * bytes, gsize size)
{
  Output *output;

  if (self->messages.length >= MAX_OUTPUT)
    return;
  output = g_malloc (sizeof (*output) + size);
  output->address = *address;
  output->size = size;
  memcpy (output->bytes, bytes, size);
  g_queue_push_tail (&self->messages, output);
}

/* Returns whether a message of the handshake gets a seal, which is an HMAC in
 * its trailer. Each COOKIE is sealed. A REFUSE is sealed only if it answers an
 * OPEN with a valid MAC. Anybody can provoke the other REFUSEs. If they were
 * sealed, an attacker could make the sender give up. */
static gboolean
is_sealed (const MmtpMessage * message)
{
  return message->type == MMTP_COOKIE || (message->type == MMTP_REFUSE
      && (message->refuse.reason == MMTP_REFUSE_BUSY
          || message->refuse.reason == MMTP_REFUSE_OVER));
}

void
mmtp_receiver_output_add_bare (MmtpReceiverOutput * self,
    MmtpMessage * message, const MmtpAddress * address)
{
  guint8 bytes[128];
  gsize size;

  message->sent = mmtp_to_ticks (self->paths->now);
  size = mmtp_packet_write (message, bytes, sizeof (bytes));
  if (is_sealed (message))
    mmtp_key_seal (self->key, bytes, size);
  push (self, address, bytes, size);
}

gsize
mmtp_receiver_output_add (MmtpReceiverOutput * self, MmtpReceiverPath * path,
    MmtpMessage * message, const MmtpAddress * address)
{
  guint8 bytes[2048];
  guint64 number = path->next_number++;
  gsize size;

  message->channel = path->id;
  message->number = number & G_MAXUINT16;
  message->sent = mmtp_to_ticks (self->paths->now);
  if (message->type == MMTP_REPORT)
    message->report.channel_number = number;
  size = mmtp_packet_write (message, bytes, sizeof (bytes));
  if (size == 0)
    return 0;
  mmtp_direction_seal (&self->ours, number, bytes, size);
  push (self, address, bytes, size);
  return size;
}

gsize
mmtp_receiver_output_poll (MmtpReceiverOutput * self, MmtpAddress * address,
    guint8 * bytes, gsize room)
{
  Output *output;
  gsize size;

  do {
    output = g_queue_pop_head (&self->messages);
    if (!output)
      return 0;
    size = output->size <= room ? output->size : 0;
    memcpy (bytes, output->bytes, size);
    *address = output->address;
    g_free (output);
  } while (size == 0);
  return size;
}

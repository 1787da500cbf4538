/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See mmtpverbs.h. */

#include "mmtpverbs.h"

#include "mmtpreceiver.h"
#include "mmtpsender.h"

/* --- sender --------------------------------------------------------------- */

static void
sender_input (gpointer core, guint64 now, guint path, const Datagram * datagram)
{
  mmtp_sender_input (core, now, path, datagram->bytes, datagram->size);
}

static void
sender_timeout (gpointer core, guint64 now)
{
  mmtp_sender_timeout (core, now);
}

static gboolean
sender_poll_output (gpointer core, guint64 now, guint * path,
    Datagram * datagram, gsize room)
{
  datagram->size = mmtp_sender_poll_output (core, now, path, datagram->bytes,
      room);
  return datagram->size > 0;
}

static gboolean
sender_poll_event (gpointer core, gpointer event)
{
  return mmtp_sender_poll_event (core, event);
}

static guint64
sender_next_wakeup (gpointer core)
{
  return mmtp_sender_next_wakeup (core);
}

static void
sender_set_blocked (gpointer core, guint64 now, guint path,
    gboolean is_blocked)
{
  mmtp_sender_set_blocked (core, now, path, is_blocked);
}

const DriverVerbs mmtp_sender_verbs = {
  .event_size = sizeof (MmtpSenderEvent),
  .input = sender_input,
  .timeout = sender_timeout,
  .poll_output = sender_poll_output,
  .poll_event = sender_poll_event,
  .next_wakeup = sender_next_wakeup,
  .set_blocked = sender_set_blocked,
};

/* --- receiver ------------------------------------------------------------- */

static void
receiver_input (gpointer core, guint64 now, guint path,
    const Datagram * datagram)
{
  MmtpAddress address;

  mmtp_address_set_path (&address, &datagram->path);
  mmtp_receiver_input (core, now, &address, datagram->bytes, datagram->size);
}

static void
receiver_timeout (gpointer core, guint64 now)
{
  mmtp_receiver_timeout (core, now);
}

static gboolean
receiver_poll_output (gpointer core, guint64 now, guint * path,
    Datagram * datagram, gsize room)
{
  MmtpAddress address;

  datagram->size = mmtp_receiver_poll_output (core, now, &address,
      datagram->bytes, room);
  if (datagram->size == 0)
    return FALSE;
  *path = 0;
  mmtp_address_get_path (&address, &datagram->path);
  return TRUE;
}

static gboolean
receiver_poll_event (gpointer core, gpointer event)
{
  return mmtp_receiver_poll_event (core, event);
}

static guint64
receiver_next_wakeup (gpointer core)
{
  return mmtp_receiver_next_wakeup (core);
}

const DriverVerbs mmtp_receiver_verbs = {
  .event_size = sizeof (MmtpReceiverEvent),
  .input = receiver_input,
  .timeout = receiver_timeout,
  .poll_output = receiver_poll_output,
  .poll_event = receiver_poll_event,
  .next_wakeup = receiver_next_wakeup,
};

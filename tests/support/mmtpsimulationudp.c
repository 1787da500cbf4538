/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A sender that uses UDP only, with its receiver. It sends each frame as one
 * UDP packet on the only path, as soon as the frame is generated. The MMTP
 * paper compares MMTP with such a program (section 5.2).
 *
 * The results of this sender can be computed by hand. A test of them therefore
 * checks the simulation itself. */

#include "mmtpsimulation.h"

#include <string.h>

typedef struct
{
  GQueue packets;               /* of GBytes */
  gboolean has_begun;           /* MMTP_EVENT_READY was returned. */
  gboolean has_ended;
  guint n_paths;
  MmtpSenderStats stats;
} UdpSender;

typedef struct
{
  GQueue buffers;               /* of MmtpReceiverEvent */
} UdpReceiver;

static gpointer
sender_new (const MmtpSenderConfig * config, guint64 seed)
{
  UdpSender *sender = g_new0 (UdpSender, 1);

  g_queue_init (&sender->packets);
  sender->stats.initial_delay = config->max_delay;
  return sender;
}

static void
sender_free (gpointer data)
{
  UdpSender *sender = data;

  g_queue_clear_full (&sender->packets, (GDestroyNotify) g_bytes_unref);
  g_free (sender);
}

static gint
add_path (gpointer data, guint64 now, const MmtpPathConfig * config)
{
  UdpSender *sender = data;

  return sender->n_paths++;
}

static void
remove_path (gpointer data, guint64 now, guint path, MmtpLeaveReason reason)
{
}

static gboolean
put (gpointer data, guint64 now, const MmtpBuffer * buffer)
{
  UdpSender *sender = data;

  g_queue_push_tail (&sender->packets, g_bytes_ref (buffer->data));
  return TRUE;
}

static gboolean
has_room (gpointer data, guint64 now)
{
  return TRUE;
}

static void
end (gpointer data, guint64 now)
{
  UdpSender *sender = data;

  sender->has_ended = TRUE;
}

static void
sender_input (gpointer data, guint64 now, guint path,
    const guint8 * bytes, gsize size)
{
}

static void
timeout (gpointer data, guint64 now)
{
}

static gsize
sender_poll_output (gpointer data, guint64 now, guint * path,
    guint8 * bytes, gsize room)
{
  UdpSender *sender = data;
  GBytes *packet = g_queue_pop_head (&sender->packets);
  gsize size = 0;

  if (!packet)
    return 0;
  memcpy (bytes, g_bytes_get_data (packet, &size), g_bytes_get_size (packet));
  g_bytes_unref (packet);
  *path = 0;
  return size;
}

static guint64
next_wakeup (gpointer data)
{
  return MMTP_SIMULATION_NEVER;
}

static gboolean
sender_poll_event (gpointer data, MmtpSenderEvent * event)
{
  UdpSender *sender = data;

  memset (event, 0, sizeof *event);
  if (!sender->has_begun) {
    sender->has_begun = TRUE;
    event->type = MMTP_EVENT_READY;
    return TRUE;
  }
  event->type = MMTP_EVENT_ENDED;
  if (!sender->has_ended)
    return FALSE;
  sender->has_ended = FALSE;
  return TRUE;
}

static void
get_sender_stats (gpointer data, MmtpSenderStats * stats)
{
  UdpSender *sender = data;

  *stats = sender->stats;
}

static gboolean
get_sender_path_stats (gpointer data, guint path, MmtpSenderPathStats * stats)
{
  return FALSE;
}

static gpointer
receiver_new (const MmtpReceiverConfig * config, guint64 seed)
{
  UdpReceiver *receiver = g_new0 (UdpReceiver, 1);

  g_queue_init (&receiver->buffers);
  return receiver;
}

static void
event_free (gpointer data)
{
  MmtpReceiverEvent *event = data;

  datagram_slice_clear (&event->data);
  g_free (event);
}

static void
receiver_free (gpointer data)
{
  UdpReceiver *receiver = data;

  g_queue_clear_full (&receiver->buffers, event_free);
  g_free (receiver);
}

static void
receiver_input (gpointer data, guint64 now, const MmtpAddress * address,
    const guint8 * bytes, gsize size)
{
  UdpReceiver *receiver = data;
  MmtpReceiverEvent *event = g_new0 (MmtpReceiverEvent, 1);

  event->type = MMTP_EVENT_BUFFER;
  datagram_block_slice (NULL, bytes, size, &event->data);
  event->due = now;
  g_queue_push_tail (&receiver->buffers, event);
}

static gsize
receiver_poll_output (gpointer data, guint64 now, MmtpAddress * address,
    guint8 * bytes, gsize room)
{
  return 0;
}

static gboolean
receiver_poll_event (gpointer data, MmtpReceiverEvent * event)
{
  UdpReceiver *receiver = data;
  MmtpReceiverEvent *first = g_queue_pop_head (&receiver->buffers);

  if (!first)
    return FALSE;
  *event = *first;
  g_free (first);
  return TRUE;
}

static void
get_receiver_stats (gpointer data, MmtpReceiverStats * stats)
{
  memset (stats, 0, sizeof *stats);
}

static gboolean
get_receiver_path_stats (gpointer data, guint path,
    MmtpReceiverPathStats * stats)
{
  return FALSE;
}

const MmtpSimulationEnds mmtp_simulation_udp = {
  .sender_new = sender_new,
  .sender_free = sender_free,
  .add_path = add_path,
  .remove_path = remove_path,
  .put = put,
  .has_room = has_room,
  .end = end,
  .sender_input = sender_input,
  .sender_timeout = timeout,
  .sender_poll_output = sender_poll_output,
  .sender_next_wakeup = next_wakeup,
  .sender_poll_event = sender_poll_event,
  .get_sender_stats = get_sender_stats,
  .get_sender_path_stats = get_sender_path_stats,
  .receiver_new = receiver_new,
  .receiver_free = receiver_free,
  .receiver_input = receiver_input,
  .receiver_timeout = timeout,
  .receiver_poll_output = receiver_poll_output,
  .receiver_next_wakeup = next_wakeup,
  .receiver_poll_event = receiver_poll_event,
  .get_receiver_stats = get_receiver_stats,
  .get_receiver_path_stats = get_receiver_path_stats,
};

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sends batches of packets to all receivers of udplitesink. The functions are
 * documented in gstudplitesinksender.h. */

#include "gstudplitesinksender.h"

#define GST_CAT_DEFAULT gst_udplite_sink_debug

G_STATIC_ASSERT (UDPLITE_MAX_ROUND >= DATAGRAM_BATCH);

void
gst_udplite_sink_sender_init (GstUdpliteSinkSender * self,
    GstNetworkSink * sink, UdpliteClients * clients,
    GstUdpliteSinkSockets * sockets)
{
  self->sink = sink;
  self->clients = clients;
  self->sockets = sockets;
  self->packets = gst_udplite_packets_new ();
}

void
gst_udplite_sink_sender_finalize (GstUdpliteSinkSender * self)
{
  gst_clear_buffer (&self->resume_at);
  gst_udplite_packets_free (self->packets);
}

void
gst_udplite_sink_sender_reset (GstUdpliteSinkSender * self)
{
  self->send_errors = self->bytes_served = 0;
  gst_warning_limit_reset (&self->warning_limit);
  /* The next caps event says which format the packets have. Until then, their
   * format is unknown. */
  self->coverage.format = UDPLITE_FORMAT_UNKNOWN;
}

/* --- one receiver --------------------------------------------------------- */

/* Counts an error: a packet cannot be sent to the receiver `client`. The packet
 * may still be sent to other receivers. Takes ownership of `error`. */
static void
count_error (GstUdpliteSinkSender * self, UdpliteClient * client,
    GError * error)
{
  client->errors++;
  self->send_errors++;
  GST_DEBUG_OBJECT (self->sink, "could not send a packet to %s:%u: %s",
      client->host, client->port, error->message);
  if (gst_warning_limit_allow (&self->warning_limit))
    GST_WARNING_OBJECT (self->sink, "can't send to %s:%u: %s (no more than one "
        "such warning in 10 s)", client->host, client->port, error->message);
  g_error_free (error);
}

/* Sends packets to one receiver. Returns the number of packets that were sent.
 * If this number is less than `n` and `error` is not set, the socket has no
 * room. If `error` is set, the packet after the sent ones could not be sent. */
static guint
send_some (GstUdpliteSinkSender * self, const UdpliteClient * client,
    guint first, guint n, GError ** error)
{
  UdpliteSocket *socket = gst_udplite_sink_sockets_find (self->sockets,
      &client->path);
  const UdpliteOutput *outputs;
  GError *refused = NULL;
  guint sent;

  if (client->path.address_size == 0 || !socket) {
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
        "its address is not known");
    return 0;
  }
  outputs = gst_udplite_packets_address (self->packets, &client->path);
  sent = udplite_socket_send (socket, outputs + first, n, error);
  if (!udplite_socket_check_gso (socket, &refused)) {
    GST_DEBUG_OBJECT (self->sink, "%s", refused->message);
    g_error_free (refused);
  }
  return sent;
}

static void
count_sent (GstUdpliteSinkSender * self, const UdpliteTurn * turn,
    GstBuffer ** buffers, guint sent)
{
  gsize bytes = 0;
  guint i;

  for (i = 0; i < sent; i++)
    bytes += gst_buffer_get_size (buffers[turn->first + i]);
  turn->client->bytes_sent += bytes;
  turn->client->packets_sent += sent;
  self->bytes_served += bytes;
}

/* --- all receivers -------------------------------------------------------- */

/* Sends the `n` packets in `buffers` to all receivers. If a socket has no room,
 * stops and returns FALSE. If an earlier call has stopped in this batch,
 * continues at the point where that call stopped. */
static gboolean
send_to_all (GstUdpliteSinkSender * self, GstBuffer ** buffers, guint n)
{
  GError *error = NULL;
  UdpliteTurn turn;
  guint sent;

  while (udplite_round_next (&self->round, self->clients,
          self->send_duplicates, n, &turn)) {
    sent = send_some (self, turn.client, turn.first, turn.n, &error);
    count_sent (self, &turn, buffers, sent);
    udplite_round_note_sent (&self->round, sent);
    if (error) {
      count_error (self, turn.client, g_steal_pointer (&error));
      udplite_round_skip (&self->round);
    } else if (sent < turn.n) {
      self->full = gst_udplite_sink_sockets_get_family (&turn.client->path);
      return FALSE;
    }
  }
  return TRUE;
}

static void
clear_round (GstUdpliteSinkSender * self)
{
  udplite_round_clear (&self->round);
  gst_clear_buffer (&self->resume_at);
}

/* Ends a round. In a round, a batch of packets is sent to all receivers. The
 * first `done` packets of the batch are finished: they are not sent again. If a
 * finished packet could be sent to none of the receivers, the base class is
 * told that the packet was not sent. */
static void
end_round (GstUdpliteSinkSender * self, GstBuffer ** buffers, guint done)
{
  guint i;

  for (i = 0; i < done; i++) {
    if (self->round.reached[i])
      continue;
    GST_DEBUG_OBJECT (self->sink, "dropped a buffer of %" G_GSIZE_FORMAT
        " bytes with pts %" GST_TIME_FORMAT ": unsendable: it could be sent to"
        " no receiver", gst_buffer_get_size (buffers[i]),
        GST_TIME_ARGS (GST_BUFFER_PTS (buffers[i])));
    gst_network_sink_refuse_packet (self->sink, buffers[i]);
  }
  clear_round (self);
}

/* Interrupts the sending of a batch of packets because a socket has no room.
 * The result tells the base class how many packets are finished:
 *
 * - If each packet is sent only once, the result is the number of packets
 *   before the packet for which the socket had no room. The base class then
 *   continues with this packet.
 * - If packets are sent several times, the result is 0. The base class then
 *   offers the whole batch again, and the sink resumes at the point of the
 *   interruption. */
static guint
interrupt_round (GstUdpliteSinkSender * self, GstBuffer ** buffers)
{
  const guint done = self->round.packet;

  if (self->round.time > 0
      || !udplite_round_goes_once (self->clients, self->send_duplicates)) {
    gst_buffer_replace (&self->resume_at, buffers[0]);
    return 0;
  }
  end_round (self, buffers, done);
  return done;
}

/* Returns how many of the `n` packets of a batch may be sent in one round.
 *
 * With blocking=false, the base class drops the first packet of the batch if a
 * socket is full. The sink may have to send each packet several times, for
 * example to several receivers. Suppose that the first receiver has already got
 * the first packet of the batch, and that the socket becomes full at the second
 * packet. The base class would drop the first packet, although the socket was
 * full only for the second packet. The other receivers would then miss the
 * first packet.
 *
 * To prevent this, the batch is limited to one packet. The base class can then
 * drop only the packet for which the socket is full. */
static guint
limit_batch (GstUdpliteSinkSender * self, guint n, gboolean blocking)
{
  if (n > 1 && !blocking
      && !udplite_round_goes_once (self->clients, self->send_duplicates))
    return 1;
  return n;
}

GstNetworkSinkResult
gst_udplite_sink_sender_send (GstUdpliteSinkSender * self,
    GstBuffer ** buffers, guint n, gboolean blocking, guint * sent,
    GError ** error)
{
  GstNetworkSinkResult result = GST_NETWORK_SINK_SENT;
  guint mapped;

  n = limit_batch (self, n, blocking);
  /* `resume_at` is the first packet of an interrupted batch. If the present
   * batch does not begin with this packet, the base class has dropped the
   * interrupted batch. Its stored progress is then discarded. */
  if (self->resume_at && self->resume_at != buffers[0])
    clear_round (self);
  mapped = gst_udplite_packets_map (self->packets, buffers, n, &self->coverage);
  if (mapped == 0) {
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED,
        "its memory could not be mapped");
    result = GST_NETWORK_SINK_UNSENDABLE;
  } else if (send_to_all (self, buffers, mapped)) {
    *sent = mapped;
    end_round (self, buffers, mapped);
  } else {
    *sent = interrupt_round (self, buffers);
    result = GST_NETWORK_SINK_FULL;
  }
  gst_udplite_packets_unmap (self->packets);
  return result;
}

GSocket *
gst_udplite_sink_sender_get_full_socket (GstUdpliteSinkSender * self)
{
  return gst_udplite_sink_sockets_get_socket (self->sockets, self->full);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of dccpendpoint.h: a DCCP endpoint. It finds the connection to
 * which a received packet belongs (steps 1 to 3 of RFC 4340 section 8.5). It
 * also answers packets that belong to no connection. */

#include "dccpconnectioninput.h"
#include "dccpconnectionoutput.h"
#include "dccpconnectiontimeouts.h"
#include "dccpendpointprivate.h"

#include <string.h>

/* Minimum path MTU that is accepted from an ICMP message. No real path has a
 * smaller MTU, so a smaller value must be forged. The IPv4 value is the minimum
 * of Linux, and the IPv6 value is from RFC 8200 section 5. */
#define MIN_MTU_IPV4 552
#define MIN_MTU_IPV6 1280
#define FIRST_DYNAMIC_PORT 49152

/* Sets the default configuration. The Sequence Window is the range of sequence
 * numbers that the peer accepts. It should cover five round trips (RFC 4340
 * section 7.5.2). Its default is 10000 packets, which is enough for 2000
 * packets per round trip. With a round-trip time of 200 ms and packets of 1500
 * bytes, this is a rate of 120 Mbit/s. */
void
dccp_endpoint_config_init (DccpEndpointConfig * config)
{
  memset (config, 0, sizeof (*config));
  config->local_port = 0;
  config->service_code = DCCP_SERVICE_RTPV;
  config->sequence_window = 10000;
  config->mtu = 1500;
  config->connect_timeout = 4 * DCCP_MSL;
  config->idle_timeout = 10 * DCCP_SECOND;
  config->time_wait = 2 * DCCP_MSL;
  config->ccids = dccp_ccids;
  config->reduce_oscillation = TRUE;
  config->granularity = DCCP_MILLISECOND;
}

DccpEndpoint *
dccp_endpoint_new (const DccpEndpointConfig * config,
    const guint8 entropy[DCCP_ENTROPY_SIZE])
{
  DccpEndpoint *endpoint = g_new0 (DccpEndpoint, 1);

  endpoint->common.config = *config;
  dccp_secrets_init (&endpoint->secrets, entropy);
  endpoint->put = g_new (DccpPut, DCCP_MAX_PUT);
  if (config->is_listener)
    endpoint->listener = dccp_listener_new (&endpoint->common,
        &endpoint->secrets);
  return endpoint;
}

void
dccp_endpoint_set_trace (DccpEndpoint * endpoint, DriverTrace trace,
    gpointer owner)
{
  endpoint->common.trace = trace;
  endpoint->common.trace_owner = owner;
}

void
dccp_endpoint_free (DccpEndpoint * endpoint)
{
  g_clear_pointer (&endpoint->listener, dccp_listener_free);
  g_clear_pointer (&endpoint->connection, dccp_connection_free);
  g_free (endpoint->put);
  g_free (endpoint);
}

static guint64
advance (DccpEndpoint * endpoint, guint64 now)
{
  endpoint->now = MAX (endpoint->now, now);
  return endpoint->now;
}

/* --- connections that come and go --------------------------------------------- */

static void
bury (DccpEndpoint * endpoint)
{
  if (!endpoint->connection || !dccp_connection_is_over (endpoint->connection))
    return;
  dccp_ended_add (&endpoint->ended, endpoint->now, endpoint->connection,
      endpoint->common.config.time_wait);
  g_clear_pointer (&endpoint->connection, dccp_connection_free);
}

/* Called after each function that may have changed the state of a connection. A
 * client of the listener that has completed its handshake gets the connection
 * of this endpoint. If the connection has ended, it is freed. */
static void
settle (DccpEndpoint * endpoint)
{
  if (endpoint->listener && !endpoint->connection)
    endpoint->connection = dccp_listener_take_connection (endpoint->listener,
        endpoint->now, &endpoint->ended);
  bury (endpoint);
}

void
dccp_endpoint_connect (DccpEndpoint * endpoint, guint64 now,
    const DatagramPath * path)
{
  const DccpEndpointConfig *config = &endpoint->common.config;
  guint16 port = config->local_port;

  g_return_if_fail (!config->is_listener && !endpoint->connection);
  if (port == 0)
    port = FIRST_DYNAMIC_PORT + dccp_secrets_draw (&endpoint->secrets) %
        (65536 - FIRST_DYNAMIC_PORT);
  endpoint->connection = dccp_connection_new_client (&endpoint->common,
      advance (endpoint, now), path, port,
      dccp_secrets_take_iss (&endpoint->secrets));
}

static void
tell_closed (DccpEndpoint * endpoint)
{
  DccpEvent event = { DCCP_EVENT_CLOSED };

  dccp_events_push (&endpoint->common.events, &event);
}

void
dccp_endpoint_close (DccpEndpoint * endpoint, guint64 now)
{
  advance (endpoint, now);
  if (endpoint->connection)
    dccp_connection_close (endpoint->connection, endpoint->now);
  else
    tell_closed (endpoint);
  settle (endpoint);
}

void
dccp_endpoint_abort (DccpEndpoint * endpoint, guint64 now)
{
  advance (endpoint, now);
  if (!endpoint->connection)
    return;
  endpoint->connection->now = endpoint->now;
  dccp_connection_abort (endpoint->connection, DCCP_EVENT_ABORTED,
      DCCP_RESET_ABORTED, NULL);
  settle (endpoint);
}

/* --- packets without a connection ------------------------------------------ */

static gboolean
is_from_ended (DccpEndpoint * endpoint, const DatagramPath * path,
    const DccpPacket * packet)
{
  return dccp_ended_is_from_peer (&endpoint->ended, endpoint->now, path, packet,
      endpoint->common.config.sequence_window);
}

/* Answers a packet with a Reset. Normally the Reset must not be longer than the
 * packet, because the address of the sender may be forged. There is an
 * exception for packets from the peer of an earlier, ended connection. If our
 * Reset was lost, such a peer repeats its Close, and the Close may be shorter
 * than the Reset.
 *
 * The number of Resets per second is limited. Resets to peers of earlier
 * connections have a separate limit, which Resets to other hosts cannot use up.
 */
static void
answer (DccpEndpoint * endpoint, const DatagramPath * path,
    const DccpPacket * packet, gsize size, guint8 code)
{
  const gboolean is_known = is_from_ended (endpoint, path, packet);
  DccpCommon *common = &endpoint->common;
  DccpPacket reset;

  if (packet->type == DCCP_RESET || packet->type == DCCP_LISTEN)
    return;
  if ((size < DCCP_RESET_SIZE && !is_known)
      || !dccp_limiter_take (is_known ? &common->last_resets : &common->resets,
          endpoint->now)) {
    common->stats.answers_suppressed++;
    return;
  }
  dccp_answers_make_reset (&reset, packet, code);
  dccp_answers_push (&common->answers, path, &reset);
  common->stats.sent[DCCP_RESET]++;
}

static void
refuse_client (DccpEndpoint * endpoint, const DatagramPath * path,
    const DccpPacket * packet, gsize size)
{
  DccpEvent event = { DCCP_EVENT_REFUSED };
  const guint64 suppressed = endpoint->common.stats.answers_suppressed;

  endpoint->common.stats.connections_refused++;
  dccp_common_trace (&endpoint->common,
      "refused a second client: there is a connection");
  answer (endpoint, path, packet, size, DCCP_RESET_TOO_BUSY);
  if (endpoint->common.stats.answers_suppressed > suppressed)
    return;
  event.path = *path;
  event.reset_code = DCCP_RESET_TOO_BUSY;
  dccp_events_push (&endpoint->common.events, &event);
}

/* Handles a Request that a listener has received (RFC 4340 section 8.5, step
 * 3). `is_contested` is explained in dccplistener.h. */
static void
process_listen (DccpEndpoint * endpoint, const DatagramPath * path,
    const DccpPacket * packet, gsize size, gboolean is_contested)
{
  if (packet->service_code != endpoint->common.config.service_code) {
    dccp_common_refuse (&endpoint->common, DCCP_REFUSED_FLOW);
    answer (endpoint, path, packet, size, DCCP_RESET_BAD_SERVICE_CODE);
    return;
  }
  if (endpoint->connection) {
    dccp_common_refuse (&endpoint->common, DCCP_REFUSED_FLOW);
    refuse_client (endpoint, path, packet, size);
    return;
  }
  dccp_listener_add_request (endpoint->listener, endpoint->now, path, packet,
      size, is_contested);
}

/* Processes a packet that belongs to no connection (RFC 4340 section 8.5, step
 * 2). If the packet is a Request and this endpoint listens, the Request is
 * processed. Any other packet is refused. It is answered with a Reset, unless a
 * limit on the rate or the size of Resets forbids this. */
static void
process_unconnected (DccpEndpoint * endpoint, const DatagramPath * path,
    const DccpPacket * packet, gsize size)
{
  const DccpEndpointConfig *config = &endpoint->common.config;

  if (endpoint->listener && packet->destination == config->local_port
      && packet->type == DCCP_REQUEST && packet->extended
      && !dccp_ended_is_in_time_wait (&endpoint->ended, endpoint->now, path,
          packet)) {
    process_listen (endpoint, path, packet, size, FALSE);
    return;
  }
  dccp_common_refuse (&endpoint->common, DCCP_REFUSED_FLOW);
  answer (endpoint, path, packet, size, DCCP_RESET_NO_CONNECTION);
}

/* --- packets -------------------------------------------------------------------- */

static DccpConnection *
find (DccpEndpoint * endpoint, const DatagramPath * path,
    const DccpPacket * packet)
{
  if (endpoint->connection
      && dccp_connection_matches (endpoint->connection, path, packet))
    return endpoint->connection;
  return endpoint->listener ? dccp_listener_find (endpoint->listener, path,
      packet) : NULL;
}

/* A candidate is a connection whose handshake is not complete. Only candidates
 * are in the state RESPOND. Returns whether `packet` has the addresses and
 * ports of the candidate `connection`, but a sequence number that is invalid
 * for it. In this case, either `packet` or the Request that created the
 * candidate may be forged. */
static gboolean
is_contested (const DccpConnection * connection, const DccpPacket * packet)
{
  return connection && connection->state == DCCP_STATE_RESPOND
      && packet->extended
      && !dccp_numbers_is_sequence_valid (&connection->numbers, packet);
}

gboolean
dccp_endpoint_take (DccpEndpoint * endpoint, guint64 now,
    const DatagramPath * path, const guint8 * bytes, gsize size,
    DccpData * data)
{
  DccpConnection *connection, *restored;
  gboolean has_data = FALSE, contested;
  DccpRefusal refusal;
  DccpPacket packet;

  advance (endpoint, now);
  refusal = dccp_packet_parse (&packet, path, bytes, size);
  if (refusal != DCCP_ACCEPTED) {
    dccp_common_refuse (&endpoint->common, refusal);
    return FALSE;
  }
  connection = find (endpoint, path, &packet);
  contested = is_contested (connection, &packet);
  if (endpoint->listener && !endpoint->connection && (!connection || contested)
      && (restored = dccp_listener_restore (endpoint->listener, endpoint->now,
              path, &packet, connection))) {
    connection = restored;
    contested = FALSE;
  }
  if (contested && packet.type == DCCP_REQUEST)
    process_listen (endpoint, path, &packet, size, TRUE);
  else if (contested && is_from_ended (endpoint, path, &packet))
    process_unconnected (endpoint, path, &packet, size);
  else if (connection)
    has_data = dccp_connection_input (connection, endpoint->now, &packet, size,
        data);
  else
    process_unconnected (endpoint, path, &packet, size);
  settle (endpoint);
  return has_data;
}

/* Processes a received datagram. If it contains data for the application, an
 * event with this data is queued. If this data packet also completes the
 * handshake, the event CONNECTED is queued before the event with the data. */
void
dccp_endpoint_input (DccpEndpoint * endpoint, guint64 now,
    const Datagram * datagram)
{
  DccpEvent event = { DCCP_EVENT_DATA };

  event.time = now;
  if (!dccp_endpoint_take (endpoint, now, &datagram->path, datagram->bytes,
          datagram->size, &event.data))
    return;
  event.data.block = datagram->block;
  dccp_events_push (&endpoint->common.events, &event);
}

/* Handles an ICMP error, which anybody may forge. If the error says that the
 * peer is unreachable, the function ends the connection, but only while the
 * client still waits for the first answer. If the error says that a packet was
 * too long, the function reduces the path MTU (RFC 4340 section 14.2). */
void
dccp_endpoint_unreachable (DccpEndpoint * endpoint, guint64 now, guint mtu)
{
  DccpConnection *connection = endpoint->connection;
  guint min;

  advance (endpoint, now);
  if (!connection)
    return;
  connection->now = endpoint->now;
  min = connection->path.address_size == 16 ? MIN_MTU_IPV6 : MIN_MTU_IPV4;
  if (mtu > 0)
    connection->mtu = MIN (connection->mtu, MAX (mtu, min));
  else if (connection->state == DCCP_STATE_REQUEST)
    dccp_connection_end (connection, DCCP_STATE_CLOSED,
        DCCP_EVENT_UNREACHABLE, 0, NULL);
  settle (endpoint);
}

void
dccp_endpoint_timeout (DccpEndpoint * endpoint, guint64 now)
{
  advance (endpoint, now);
  if (endpoint->listener)
    dccp_listener_timeout (endpoint->listener, endpoint->now);
  if (endpoint->connection)
    dccp_connection_timeout (endpoint->connection, endpoint->now);
  settle (endpoint);
}

gsize
dccp_endpoint_poll_control (DccpEndpoint * endpoint, guint64 now,
    DatagramPath * path, guint8 bytes[DCCP_MAX_CONTROL])
{
  gsize size;

  advance (endpoint, now);
  size = dccp_answers_pop (&endpoint->common.answers, path, bytes);
  if (size == 0 && endpoint->listener)
    size = dccp_listener_poll_output (endpoint->listener, endpoint->now, path,
        bytes);
  if (size == 0 && endpoint->connection) {
    *path = endpoint->connection->path;
    size = dccp_connection_poll_output (endpoint->connection, endpoint->now,
        bytes);
  }
  return size;
}

gboolean
dccp_endpoint_poll_output (DccpEndpoint * endpoint, guint64 now,
    Datagram * datagram)
{
  DccpPut *put;

  if (endpoint->n_polled == endpoint->n_put) {
    datagram->size = dccp_endpoint_poll_control (endpoint, now,
        &datagram->path, datagram->bytes);
    return datagram->size > 0;
  }
  put = &endpoint->put[endpoint->n_polled++];
  memcpy (datagram->bytes, put->header, put->header_size);
  datagram->size = put->header_size;
  datagram->path = put->path;
  datagram->parts = &put->payload;
  datagram->n_parts = 1;
  return TRUE;
}

guint64
dccp_endpoint_next_wakeup (DccpEndpoint * endpoint)
{
  if (endpoint->connection)
    return dccp_connection_next_wakeup (endpoint->connection);
  return endpoint->listener ? dccp_listener_next_wakeup (endpoint->listener) :
      DCCP_NEVER;
}

gboolean
dccp_endpoint_poll_event (DccpEndpoint * endpoint, DccpEvent * event)
{
  return dccp_events_pop (&endpoint->common.events, event);
}

/* --- data ------------------------------------------------------------------------ */

guint64
dccp_endpoint_next_send (DccpEndpoint * endpoint, guint64 now)
{
  advance (endpoint, now);
  return endpoint->connection ?
      dccp_connection_next_send (endpoint->connection, endpoint->now) :
      DCCP_NEVER;
}

/* Returns the maximum payload size. If there is no connection, the size of the
 * headers is not known yet. The result is then for the longest headers, which
 * are those of IPv6 with UDP encapsulation. */
guint
dccp_endpoint_get_max_payload (DccpEndpoint * endpoint)
{
  const DatagramPath widest = {.address_size = 16,.local_port = 1,
    .remote_port = 1
  };

  if (!endpoint->connection)
    return dccp_connection_get_max_payload (&widest,
        endpoint->common.config.mtu);
  return dccp_connection_get_max_payload (&endpoint->connection->path,
      endpoint->connection->mtu);
}

gsize
dccp_endpoint_send (DccpEndpoint * endpoint, guint64 now,
    const guint8 * payload, gsize size, gboolean more,
    guint8 header[DCCP_MAX_HEADER])
{
  advance (endpoint, now);
  return endpoint->connection ? dccp_connection_send (endpoint->connection,
      endpoint->now, payload, size, more, header) : 0;
}

gboolean
dccp_endpoint_put (DccpEndpoint * endpoint, guint64 now,
    const guint8 * payload, gsize size, gboolean more, guint64 * sequence)
{
  DccpPut *put;

  if (endpoint->n_polled == endpoint->n_put)
    endpoint->n_polled = endpoint->n_put = 0;
  if (endpoint->n_put == DCCP_MAX_PUT)
    return FALSE;
  put = &endpoint->put[endpoint->n_put];
  put->header_size = dccp_endpoint_send (endpoint, now, payload, size, more,
      put->header);
  if (put->header_size == 0)
    return FALSE;
  put->path = endpoint->connection->path;
  put->payload.data = payload;
  put->payload.size = size;
  *sequence = endpoint->connection->numbers.gss;
  endpoint->n_put++;
  return TRUE;
}

gboolean
dccp_endpoint_get_path (DccpEndpoint * endpoint, DatagramPath * path)
{
  if (!endpoint->connection)
    return FALSE;
  *path = endpoint->connection->path;
  return TRUE;
}

/* Sets whether the application is too slow for the received data. If `slow` is
 * FALSE and the last acknowledgement had the option Slow Receiver, an Ack
 * without this option is sent at once. It tells the peer that the application
 * is fast again (RFC 4340 section 11.6). Otherwise the peer would have to wait
 * for the next regular Ack, and perhaps none is due. */
void
dccp_endpoint_set_slow (DccpEndpoint * endpoint, guint64 now, gboolean slow)
{
  DccpConnection *connection = endpoint->connection;

  advance (endpoint, now);
  endpoint->common.is_slow = slow;
  if (connection && !slow && connection->told_slow)
    connection->owes_ack = TRUE;
}

void
dccp_endpoint_dropped (DccpEndpoint * endpoint, guint64 now, guint64 sequence,
    guint8 drop_code)
{
  DccpConnection *connection = endpoint->connection;

  g_return_if_fail (drop_code < DCCP_DROP_NONE);
  advance (endpoint, now);
  if (connection && dccp_history_get (&connection->received.packets, sequence)
      && dccp_dropped_add (&connection->dropped, sequence, drop_code))
    endpoint->common.stats.dropped_sent++;
}

gboolean
dccp_endpoint_were_dropped (DccpEndpoint * endpoint, DccpHistory * packets,
    guint64 first, gint64 n)
{
  return endpoint->connection && dccp_history_have_common (packets,
      &endpoint->connection->drop_reports.reported, first, n);
}

/* --- statistics -------------------------------------------------------------------- */

void
dccp_endpoint_get_stats (DccpEndpoint * endpoint, DccpStats * stats)
{
  *stats = endpoint->common.stats;
  stats->state = dccp_endpoint_get_state (endpoint);
  if (endpoint->listener)
    dccp_listener_add_stats (endpoint->listener, stats);
  if (!endpoint->connection)
    return;
  dccp_connection_add_stats (endpoint->connection, stats);
  dccp_half_connections_describe (&endpoint->connection->halves, stats);
}

DccpState
dccp_endpoint_get_state (DccpEndpoint * endpoint)
{
  if (endpoint->connection)
    return endpoint->connection->state;
  if (endpoint->listener)
    return endpoint->listener->n_candidates > 0 ? DCCP_STATE_RESPOND :
        DCCP_STATE_LISTEN;
  if (dccp_ended_is_last_in_time_wait (&endpoint->ended, endpoint->now))
    return DCCP_STATE_TIME_WAIT;
  return DCCP_STATE_CLOSED;
}

/* --- for the driver ---------------------------------------------------------------- */

static void
input (gpointer core, guint64 now, guint path, const Datagram * datagram)
{
  dccp_endpoint_input (core, now, datagram);
}

static void
timeout (gpointer core, guint64 now)
{
  dccp_endpoint_timeout (core, now);
}

static gboolean
poll_output (gpointer core, guint64 now, guint * path, Datagram * datagram,
    gsize room)
{
  g_return_val_if_fail (room >= DCCP_MAX_CONTROL, FALSE);
  *path = 0;
  return dccp_endpoint_poll_output (core, now, datagram);
}

static gboolean
poll_event (gpointer core, gpointer event)
{
  return dccp_endpoint_poll_event (core, event);
}

static guint64
next_wakeup (gpointer core)
{
  return dccp_endpoint_next_wakeup (core);
}

const DriverVerbs dccp_endpoint_verbs = {
  .event_size = sizeof (DccpEvent),
  .input = input,
  .timeout = timeout,
  .poll_output = poll_output,
  .poll_event = poll_event,
  .next_wakeup = next_wakeup,
};

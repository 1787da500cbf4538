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
  if (config->is_listener) {
    guint8 secret[PREFIX_LIMITER_SECRET_SIZE];

    dccp_secrets_make (&endpoint->secrets, "limiter", secret);
    endpoint->limiter = prefix_limiter_new (secret);
    endpoint->responses = g_new0 (DccpResponses, 1);
  }
  return endpoint;
}

static void
get_host (const DatagramPath * path, PrefixLimiterHost * host)
{
  memset (host, 0, sizeof (*host));
  memcpy (host->bytes, path->remote, sizeof (path->remote));
  memcpy (host->bytes + sizeof (path->remote), &path->scope,
      sizeof (path->scope));
  host->size = sizeof (path->remote) + sizeof (path->scope);
  host->prefix_size = prefix_limiter_get_prefix_size (path->remote,
      path->address_size);
}

static void
drop_candidate (DccpEndpoint * endpoint, guint n)
{
  dccp_connection_free (endpoint->candidates[n]);
  endpoint->n_candidates--;
  memmove (&endpoint->candidates[n], &endpoint->candidates[n + 1],
      (endpoint->n_candidates - n) * sizeof (endpoint->candidates[0]));
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
  while (endpoint->n_candidates > 0)
    drop_candidate (endpoint, 0);
  g_clear_pointer (&endpoint->connection, dccp_connection_free);
  g_clear_pointer (&endpoint->limiter, prefix_limiter_free);
  g_free (endpoint->responses);
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

static void
refuse_candidates (DccpEndpoint * endpoint)
{
  while (endpoint->n_candidates > 0) {
    DccpConnection *candidate = endpoint->candidates[0];

    candidate->now = endpoint->now;
    dccp_connection_abort (candidate, DCCP_EVENT_ABORTED, DCCP_RESET_TOO_BUSY,
        NULL);
    drop_candidate (endpoint, 0);
  }
}

/* A candidate is a connection whose client has begun a handshake. The first
 * candidate in the list that has completed its handshake becomes the connection
 * of this endpoint, and the other candidates are refused. Candidates that have
 * ended are removed from the list. */
static void
settle_candidates (DccpEndpoint * endpoint)
{
  guint i = 0;

  while (i < endpoint->n_candidates) {
    DccpConnection *candidate = endpoint->candidates[i];

    if (dccp_connection_is_over (candidate)) {
      /* The state TIMEWAIT reserves the ports of a connection for a while. If
       * the client has not acknowledged any packet, its Request may be forged.
       * The ports are not reserved in this case. */
      if (candidate->state == DCCP_STATE_TIME_WAIT && candidate->halves.sender)
        dccp_ended_add (&endpoint->ended, endpoint->now, candidate,
            endpoint->common.config.time_wait);
      drop_candidate (endpoint, i);
      continue;
    }
    if (candidate->state != DCCP_STATE_RESPOND) {
      PrefixLimiterHost host;

      get_host (&candidate->path, &host);
      prefix_limiter_remember (endpoint->limiter, &host);
      endpoint->connection = candidate;
      memmove (&endpoint->candidates[i], &endpoint->candidates[i + 1],
          (--endpoint->n_candidates - i) * sizeof (candidate));
      refuse_candidates (endpoint);
      return;
    }
    i++;
  }
}

static void
settle (DccpEndpoint * endpoint)
{
  settle_candidates (endpoint);
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

/* --- packets without a connection
 * --------------------------------------------------- */

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

static gboolean
is_of_prefix (const DccpConnection * candidate, const PrefixLimiterHost * host)
{
  PrefixLimiterHost other;

  get_host (&candidate->path, &other);
  return other.prefix_size == host->prefix_size
      && memcmp (other.bytes, host->bytes, host->prefix_size) == 0;
}

/* A candidate is a connection whose handshake is not complete. Returns the
 * index at which a new candidate of the host `host` has to be stored. An older
 * candidate may have this index; the new candidate replaces it.
 *
 * If the network of `host` already has the maximum number of candidates for one
 * network, returns the index of the oldest candidate of this network.
 * Otherwise, if the list of candidates is full, returns the index of the oldest
 * candidate in the list. If there is still room, returns n_candidates, which is
 * the index of the first free entry. */
static guint
find_place (DccpEndpoint * endpoint, const PrefixLimiterHost * host)
{
  guint i, n = 0, oldest = 0;

  for (i = endpoint->n_candidates; i > 0; i--) {
    if (!is_of_prefix (endpoint->candidates[i - 1], host))
      continue;
    oldest = i - 1;
    n++;
  }
  if (n >= DCCP_MAX_CANDIDATES_OF_PREFIX)
    return oldest;
  return endpoint->n_candidates == DCCP_MAX_CANDIDATES ? 0 :
      endpoint->n_candidates;
}

static gboolean
had_time_for_answer (DccpEndpoint * endpoint, const DccpConnection * candidate)
{
  return endpoint->now - MAX (candidate->timers.began,
      candidate->handshake_times.response_time) >= DCCP_SECOND;
}

/* Makes room for a new candidate of the host `host`. A candidate is a
 * connection whose handshake is not complete. Returns FALSE if no room can be
 * made.
 *
 * If there is no room, an older candidate has to be removed. Normally it is
 * removed only if its client has had enough time to answer the last Response.
 * There is an exception if `host` has completed a handshake earlier. We may
 * then answer a number of packets of `host` per second, and this budget is
 * called the reserve (prefixlimiter.h). If the reserve is not used up, the
 * older candidate is removed immediately. The answer to the new candidate is
 * deducted from the reserve. */
static gboolean
make_room (DccpEndpoint * endpoint, const PrefixLimiterHost * host)
{
  const guint place = find_place (endpoint, host);

  if (place == endpoint->n_candidates)
    return TRUE;
  if (!had_time_for_answer (endpoint, endpoint->candidates[place])
      && !prefix_limiter_take_reserve (endpoint->limiter, endpoint->now, host))
    return FALSE;
  drop_candidate (endpoint, place);
  return TRUE;
}

/* Creates a connection for the Request that has arrived from a client. The
 * connection is then in the state RESPOND, and the next packet that it sends is
 * the Response. */
static DccpConnection *
hear_request (DccpEndpoint * endpoint, guint64 now, const DatagramPath * path,
    const DccpPacket * request, gsize size)
{
  const guint64 iss = dccp_secrets_make_iss (&endpoint->secrets,
      endpoint->common.stats.connections, path,
      endpoint->common.config.local_port, request->source);
  DccpConnection *connection = dccp_connection_new_server (&endpoint->common,
      now, path, request, iss);
  DccpData data;

  dccp_connection_input (connection, now, request, size, &data);
  return connection;
}

/* Answers the Request `packet` with a Response that contains an Init Cookie
 * (RFC 4340 section 8.1.4). The listener stores nothing about this client. When
 * the client acknowledges the Response, it returns the cookie, which contains
 * all that the listener needs to create the connection. If too many such
 * Responses were sent recently, this one is not sent. */
static void
respond_with_cookie (DccpEndpoint * endpoint, const DatagramPath * path,
    const DccpPacket * packet, gsize size, const PrefixLimiterHost * host)
{
  DccpStats *stats = &endpoint->common.stats;
  guint8 bytes[DCCP_MAX_CONTROL];
  DccpConnection *connection;
  DccpCookie cookie;

  if (!prefix_limiter_take (endpoint->limiter, endpoint->now, host,
          DCCP_MAX_COOKIE_RATE)
      || !dccp_cookie_make (&cookie, endpoint->secrets.entropy,
          stats->connections, endpoint->now, path, packet)) {
    dccp_common_refuse (&endpoint->common, DCCP_REFUSED_FLOW);
    stats->answers_suppressed++;
    return;
  }
  connection = hear_request (endpoint, endpoint->now, path, packet, size);
  dccp_cookie_list_add (&connection->cookies, cookie.bytes, cookie.size);
  size = dccp_connection_poll_output (connection, endpoint->now, bytes);
  if (size > 0 && !dccp_responses_push (endpoint->responses, path, bytes, size))
    stats->answers_suppressed++;
  dccp_connection_free (connection);
}

/* Handles a Request that a listener has received (RFC 4340 section 8.5, step
 * 3). A candidate is a connection that was created by a Request, and whose
 * client has not acknowledged our Response yet.
 *
 * `is_contested` is TRUE if there is a candidate with the addresses and ports
 * of this Request, but it was created by a Request with another sequence
 * number. One of the two Requests is then forged. The candidate is kept, and
 * this Request is answered with a cookie. The client acknowledges only the
 * Response to its genuine Request. This acknowledgement later shows which of
 * the two Requests is genuine. */
static void
process_listen (DccpEndpoint * endpoint, const DatagramPath * path,
    const DccpPacket * packet, gsize size, gboolean is_contested)
{
  PrefixLimiterHost host;

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
  get_host (path, &host);
  if (!is_contested && make_room (endpoint, &host))
    endpoint->candidates[endpoint->n_candidates++] = hear_request (endpoint,
        endpoint->now, path, packet, size);
  else
    respond_with_cookie (endpoint, path, packet, size, &host);
}

/* Creates a candidate, which is a connection with an incomplete handshake, from
 * the cookie in `packet`. The cookie contains the Request that the client sent
 * earlier. The new candidate is the same as if the endpoint had stored that
 * Request. Returns the candidate, or NULL if the packet has no valid cookie.
 * The endpoint counted the Request and its Response when the Request arrived,
 * so this function does not change the counters. */
static DccpConnection *
restore_candidate (DccpEndpoint * endpoint, const DatagramPath * path,
    const DccpPacket * packet, DccpConnection * contested)
{
  const DccpStats stats = endpoint->common.stats;
  guint8 bytes[DCCP_MAX_CONTROL];
  DccpConnection *candidate;
  DccpPacket request;
  guint64 time;
  guint i;

  if (packet->type != DCCP_ACK || !packet->extended || endpoint->connection
      || packet->destination != endpoint->common.config.local_port
      || !dccp_cookie_check (packet, endpoint->secrets.entropy,
          stats.connections, endpoint->now, path, &request, &time))
    return NULL;
  request.service_code = endpoint->common.config.service_code;
  candidate = hear_request (endpoint, time, path, &request, 0);
  dccp_connection_poll_output (candidate, time, bytes);
  endpoint->common.stats = stats;
  for (i = 0; contested && i < endpoint->n_candidates; i++)
    if (endpoint->candidates[i] == contested)
      drop_candidate (endpoint, i);
  if (endpoint->n_candidates == DCCP_MAX_CANDIDATES)
    drop_candidate (endpoint, 0);
  endpoint->candidates[endpoint->n_candidates++] = candidate;
  return candidate;
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

  if (config->is_listener && packet->destination == config->local_port
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

static gboolean
is_of (const DccpConnection * connection, const DatagramPath * path,
    const DccpPacket * packet)
{
  return connection && connection->local_port == packet->destination
      && connection->remote_port == packet->source
      && datagram_path_equal (&connection->path, path);
}

static DccpConnection *
find (DccpEndpoint * endpoint, const DatagramPath * path,
    const DccpPacket * packet)
{
  guint i;

  if (is_of (endpoint->connection, path, packet))
    return endpoint->connection;
  for (i = 0; i < endpoint->n_candidates; i++)
    if (is_of (endpoint->candidates[i], path, packet))
      return endpoint->candidates[i];
  return NULL;
}

/* A candidate is a connection whose handshake is not complete. Returns whether
 * `packet` has the addresses and ports of `candidate`, but a sequence number
 * that is invalid for it. In this case, either `packet` or the Request that
 * created the candidate may be forged. */
static gboolean
is_contested (DccpEndpoint * endpoint, DccpConnection * candidate,
    const DccpPacket * packet)
{
  return candidate && candidate != endpoint->connection && packet->extended
      && candidate->state == DCCP_STATE_RESPOND
      && !dccp_numbers_is_sequence_valid (&candidate->numbers, packet);
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
  contested = is_contested (endpoint, connection, &packet);
  if (endpoint->common.config.is_listener && (!connection || contested)
      && (restored = restore_candidate (endpoint, path, &packet, connection))) {
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
static void
input_datagram (DccpEndpoint * endpoint, guint64 now, const Datagram * datagram)
{
  DccpEvent event = { DCCP_EVENT_DATA };

  event.time = now;
  if (!dccp_endpoint_take (endpoint, now, &datagram->path, datagram->bytes,
          datagram->size, &event.data))
    return;
  event.data.block = datagram->block;
  dccp_events_push (&endpoint->common.events, &event);
}

void
dccp_endpoint_input (DccpEndpoint * endpoint, guint64 now,
    const DatagramPath * path, const guint8 * bytes, gsize size)
{
  Datagram datagram;

  datagram_init (&datagram, (guint8 *) bytes, size);
  datagram.path = *path;
  input_datagram (endpoint, now, &datagram);
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
  guint i;

  advance (endpoint, now);
  for (i = 0; i < endpoint->n_candidates; i++)
    dccp_connection_timeout (endpoint->candidates[i], endpoint->now);
  if (endpoint->connection)
    dccp_connection_timeout (endpoint->connection, endpoint->now);
  settle (endpoint);
}

gsize
dccp_endpoint_poll_control (DccpEndpoint * endpoint, guint64 now,
    DatagramPath * path, guint8 bytes[DCCP_MAX_CONTROL])
{
  gsize size;
  guint i;

  advance (endpoint, now);
  size = dccp_answers_pop (&endpoint->common.answers, path, bytes);
  if (size == 0 && endpoint->responses)
    size = dccp_responses_pop (endpoint->responses, path, bytes);
  if (size == 0 && endpoint->connection) {
    *path = endpoint->connection->path;
    size = dccp_connection_poll_output (endpoint->connection, endpoint->now,
        bytes);
  }
  for (i = 0; i < endpoint->n_candidates && size == 0; i++) {
    *path = endpoint->candidates[i]->path;
    size = dccp_connection_poll_output (endpoint->candidates[i], endpoint->now,
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
  guint64 next = DCCP_NEVER;
  guint i;

  if (endpoint->connection)
    next = dccp_connection_next_wakeup (endpoint->connection);
  for (i = 0; i < endpoint->n_candidates; i++)
    next = MIN (next, dccp_connection_next_wakeup (endpoint->candidates[i]));
  return next;
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
  guint i;

  *stats = endpoint->common.stats;
  stats->state = dccp_endpoint_get_state (endpoint);
  for (i = 0; i < endpoint->n_candidates; i++)
    dccp_connection_add_stats (endpoint->candidates[i], stats);
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
  if (endpoint->n_candidates > 0)
    return DCCP_STATE_RESPOND;
  if (endpoint->common.config.is_listener)
    return DCCP_STATE_LISTEN;
  if (dccp_ended_is_last_in_time_wait (&endpoint->ended, endpoint->now))
    return DCCP_STATE_TIME_WAIT;
  return DCCP_STATE_CLOSED;
}

/* --- for the driver ---------------------------------------------------------------- */

static void
input (gpointer core, guint64 now, guint path, const Datagram * datagram)
{
  input_datagram (core, now, datagram);
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

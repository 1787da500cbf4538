/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of dccplistener.h: the candidates of a listener, and its
 * Responses with a cookie. */

#include "dccplistener.h"

#include "dccpconnectioninput.h"
#include "dccpconnectionoutput.h"
#include "dccpconnectiontimeouts.h"

#include <string.h>

/* --- begin and end -------------------------------------------------------- */

DccpListener *
dccp_listener_new (DccpCommon * common, const DccpSecrets * secrets)
{
  DccpListener *listener = g_new0 (DccpListener, 1);
  guint8 secret[PREFIX_LIMITER_SECRET_SIZE];

  listener->common = common;
  listener->secrets = secrets;
  dccp_secrets_make (secrets, "limiter", secret);
  listener->limiter = prefix_limiter_new (secret);
  return listener;
}

/* Removes the candidate `n` from the list, but does not free it. */
static DccpConnection *
steal_candidate (DccpListener * listener, guint n)
{
  DccpConnection *candidate = listener->candidates[n];

  listener->n_candidates--;
  memmove (&listener->candidates[n], &listener->candidates[n + 1],
      (listener->n_candidates - n) * sizeof (listener->candidates[0]));
  return candidate;
}

static void
drop_candidate (DccpListener * listener, guint n)
{
  dccp_connection_free (steal_candidate (listener, n));
}

void
dccp_listener_free (DccpListener * listener)
{
  while (listener->n_candidates > 0)
    drop_candidate (listener, 0);
  prefix_limiter_free (listener->limiter);
  g_free (listener);
}

DccpConnection *
dccp_listener_find (DccpListener * listener, const DatagramPath * path,
    const DccpPacket * packet)
{
  guint i;

  for (i = 0; i < listener->n_candidates; i++)
    if (dccp_connection_matches (listener->candidates[i], path, packet))
      return listener->candidates[i];
  return NULL;
}

/* --- room for candidates -------------------------------------------------- */

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

static gboolean
is_of_prefix (const DccpConnection * candidate, const PrefixLimiterHost * host)
{
  PrefixLimiterHost other;

  get_host (&candidate->path, &other);
  return other.prefix_size == host->prefix_size
      && memcmp (other.bytes, host->bytes, host->prefix_size) == 0;
}

/* Returns the index at which a new candidate of the host `host` has to be
 * stored. An older candidate may have this index; the new candidate replaces
 * it.
 *
 * If the network of `host` already has the maximum number of candidates for one
 * network, returns the index of the oldest candidate of this network.
 * Otherwise, if the list of candidates is full, returns the index of the oldest
 * candidate in the list. If there is still room, returns n_candidates, which is
 * the index of the first free entry. */
static guint
find_place (DccpListener * listener, const PrefixLimiterHost * host)
{
  guint i, n = 0, oldest = 0;

  for (i = listener->n_candidates; i > 0; i--) {
    if (!is_of_prefix (listener->candidates[i - 1], host))
      continue;
    oldest = i - 1;
    n++;
  }
  if (n >= DCCP_MAX_CANDIDATES_OF_PREFIX)
    return oldest;
  return listener->n_candidates == DCCP_MAX_CANDIDATES ? 0 :
      listener->n_candidates;
}

static gboolean
had_time_for_answer (const DccpConnection * candidate, guint64 now)
{
  return now - MAX (candidate->timers.began,
      candidate->handshake_times.response_time) >= DCCP_SECOND;
}

/* Makes room for a new candidate of the host `host`. Returns FALSE if no room
 * can be made.
 *
 * If there is no room, an older candidate has to be removed. Normally it is
 * removed only if its client has had enough time to answer the last Response.
 * There is an exception if `host` has completed a handshake earlier. We may
 * then answer a number of packets of `host` per second, and this budget is
 * called the reserve (prefixlimiter.h). If the reserve is not used up, the
 * older candidate is removed immediately. The answer to the new candidate is
 * deducted from the reserve. */
static gboolean
make_room (DccpListener * listener, guint64 now, const PrefixLimiterHost * host)
{
  const guint place = find_place (listener, host);

  if (place == listener->n_candidates)
    return TRUE;
  if (!had_time_for_answer (listener->candidates[place], now)
      && !prefix_limiter_take_reserve (listener->limiter, now, host))
    return FALSE;
  drop_candidate (listener, place);
  return TRUE;
}

/* --- Requests ------------------------------------------------------------- */

/* Creates a connection for the Request that has arrived from a client. The
 * connection is then in the state RESPOND, and the next packet that it sends is
 * the Response. */
static DccpConnection *
hear_request (DccpListener * listener, guint64 now, const DatagramPath * path,
    const DccpPacket * request, gsize size)
{
  DccpCommon *common = listener->common;
  const guint64 iss = dccp_secrets_make_iss (listener->secrets,
      common->stats.connections, path, common->config.local_port,
      request->source);
  DccpConnection *connection = dccp_connection_new_server (common, now, path,
      request, iss);
  DccpData data;

  dccp_connection_input (connection, now, request, size, &data);
  return connection;
}

/* Answers a Request with a Response that contains an Init Cookie (RFC 4340
 * section 8.1.4). The listener stores nothing about this client. When the
 * client acknowledges the Response, it returns the cookie, which contains all
 * that the listener needs to create the connection. If too many such Responses
 * were sent recently, this one is not sent. */
static void
respond_with_cookie (DccpListener * listener, guint64 now,
    const DatagramPath * path, const DccpPacket * request, gsize size,
    const PrefixLimiterHost * host)
{
  DccpStats *stats = &listener->common->stats;
  guint8 bytes[DCCP_MAX_CONTROL];
  DccpConnection *connection;
  DccpCookie cookie;

  if (!prefix_limiter_take (listener->limiter, now, host, DCCP_MAX_COOKIE_RATE)
      || !dccp_cookie_make (&cookie, listener->secrets->entropy,
          stats->connections, now, path, request)) {
    dccp_common_refuse (listener->common, DCCP_REFUSED_FLOW);
    stats->answers_suppressed++;
    return;
  }
  connection = hear_request (listener, now, path, request, size);
  dccp_cookie_list_add (&connection->cookies, cookie.bytes, cookie.size);
  size = dccp_connection_poll_output (connection, now, bytes);
  if (size > 0 && !dccp_responses_push (&listener->responses, path, bytes,
          size))
    stats->answers_suppressed++;
  dccp_connection_free (connection);
}

void
dccp_listener_add_request (DccpListener * listener, guint64 now,
    const DatagramPath * path, const DccpPacket * request, gsize size,
    gboolean is_contested)
{
  PrefixLimiterHost host;

  get_host (path, &host);
  if (!is_contested && make_room (listener, now, &host))
    listener->candidates[listener->n_candidates++] = hear_request (listener,
        now, path, request, size);
  else
    respond_with_cookie (listener, now, path, request, size, &host);
}

/* Stores the candidate `candidate` in the list. If it replaces the candidate
 * `contested`, or if the list is full, an older candidate is removed. */
static void
add_restored (DccpListener * listener, DccpConnection * candidate,
    const DccpConnection * contested)
{
  guint i;

  for (i = 0; contested && i < listener->n_candidates; i++)
    if (listener->candidates[i] == contested)
      drop_candidate (listener, i);
  if (listener->n_candidates == DCCP_MAX_CANDIDATES)
    drop_candidate (listener, 0);
  listener->candidates[listener->n_candidates++] = candidate;
}

/* The endpoint counted the Request and its Response when the Request arrived,
 * so this function does not change the counters. */
DccpConnection *
dccp_listener_restore (DccpListener * listener, guint64 now,
    const DatagramPath * path, const DccpPacket * packet,
    DccpConnection * contested)
{
  DccpCommon *common = listener->common;
  const DccpStats stats = common->stats;
  guint8 bytes[DCCP_MAX_CONTROL];
  DccpConnection *candidate;
  DccpPacket request;
  guint64 time;

  if (packet->type != DCCP_ACK || !packet->extended
      || packet->destination != common->config.local_port
      || !dccp_cookie_check (packet, listener->secrets->entropy,
          stats.connections, now, path, &request, &time))
    return NULL;
  request.service_code = common->config.service_code;
  candidate = hear_request (listener, time, path, &request, 0);
  dccp_connection_poll_output (candidate, time, bytes);
  common->stats = stats;
  add_restored (listener, candidate, contested);
  return candidate;
}

/* --- the end of a handshake ----------------------------------------------- */

static void
refuse_candidates (DccpListener * listener, guint64 now)
{
  while (listener->n_candidates > 0) {
    DccpConnection *candidate = listener->candidates[0];

    candidate->now = now;
    dccp_connection_abort (candidate, DCCP_EVENT_ABORTED, DCCP_RESET_TOO_BUSY,
        NULL);
    drop_candidate (listener, 0);
  }
}

/* Removes a candidate that has ended. The state TIMEWAIT reserves the ports of
 * a connection for a while. If the client has not acknowledged any packet, its
 * Request may be forged. The ports are not reserved in this case. */
static void
end_candidate (DccpListener * listener, guint n, guint64 now, DccpEnded * ended)
{
  const DccpConnection *candidate = listener->candidates[n];

  if (candidate->state == DCCP_STATE_TIME_WAIT && candidate->halves.sender)
    dccp_ended_add (ended, now, candidate, listener->common->config.time_wait);
  drop_candidate (listener, n);
}

/* Called for the candidate `n`, which has completed its handshake. */
static DccpConnection *
accept_candidate (DccpListener * listener, guint n, guint64 now)
{
  DccpConnection *accepted = steal_candidate (listener, n);
  PrefixLimiterHost host;

  get_host (&accepted->path, &host);
  prefix_limiter_remember (listener->limiter, &host);
  refuse_candidates (listener, now);
  return accepted;
}

DccpConnection *
dccp_listener_take_connection (DccpListener * listener, guint64 now,
    DccpEnded * ended)
{
  guint i = 0;

  while (i < listener->n_candidates) {
    if (dccp_connection_is_over (listener->candidates[i]))
      end_candidate (listener, i, now, ended);
    else if (listener->candidates[i]->state != DCCP_STATE_RESPOND)
      return accept_candidate (listener, i, now);
    else
      i++;
  }
  return NULL;
}

/* --- output and timers ---------------------------------------------------- */

void
dccp_listener_timeout (DccpListener * listener, guint64 now)
{
  guint i;

  for (i = 0; i < listener->n_candidates; i++)
    dccp_connection_timeout (listener->candidates[i], now);
}

gsize
dccp_listener_poll_output (DccpListener * listener, guint64 now,
    DatagramPath * path, guint8 bytes[DCCP_MAX_CONTROL])
{
  gsize size = dccp_responses_pop (&listener->responses, path, bytes);
  guint i;

  for (i = 0; i < listener->n_candidates && size == 0; i++) {
    *path = listener->candidates[i]->path;
    size = dccp_connection_poll_output (listener->candidates[i], now, bytes);
  }
  return size;
}

guint64
dccp_listener_next_wakeup (DccpListener * listener)
{
  guint64 next = DCCP_NEVER;
  guint i;

  for (i = 0; i < listener->n_candidates; i++)
    next = MIN (next, dccp_connection_next_wakeup (listener->candidates[i]));
  return next;
}

void
dccp_listener_add_stats (DccpListener * listener, DccpStats * stats)
{
  guint i;

  for (i = 0; i < listener->n_candidates; i++)
    dccp_connection_add_stats (listener->candidates[i], stats);
}

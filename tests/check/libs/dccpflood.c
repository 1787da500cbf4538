/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Simulates an off-path attacker who floods a DCCP connection. This attacker
 * knows the addresses and ports, but must guess the sequence numbers. In each
 * run, one endpoint is attacked while it is in one state. It then receives
 * 10,000 forged packets of one type per second. A comparison with a run without
 * the attacker shows the cost of the attack. Time is virtual. With
 * DCCPFLOOD_TABLE=1 the test prints a line for each run; docs/security.md has a
 * summary.
 */

#include <gst/check/gstcheck.h>

#include <string.h>

#include "dccppacketbuilder.h"
#include "dccpnetwork.h"

#define RATE 10                 /* packets per ms */
#define CLIENT_PORT 4000
/* Limits for the reaction of an endpoint to one forged packet: it sends at most
 * one answer, and reports at most one refused client to its application. */
#define MAX_OUTPUTS 1
#define MAX_EVENTS 1
/* Maximum number of Syncs and Resets that one endpoint sends per second. It is
 * the sum of three limits: one for Syncs, one for Resets, and one for Resets
 * that answer a peer whose connection has ended. */
#define MAX_ANSWERS (3 * DCCP_ANSWERS_PER_SECOND)
/* Maximum number of Responses that the listener sends per second. It is the sum
 * of two limits: one for Responses of half-open connections, and one for
 * Responses with an Init Cookie. */
#define MAX_RESPONSES (DCCP_ANSWERS_PER_SECOND * DCCP_MAX_CANDIDATES \
    + DCCP_MAX_COOKIE_RATE)

#define LISTEN_TIME 200         /* ms */
#define HANDSHAKE_TIME 4000
#define STREAM_TIME 600
#define CLOSING_TIME 4000
#define PAUSE 300

static DccpNetwork network;

/* --- forged packets ------------------------------------------------------- */

#define UNKNOWN_TYPE DCCP_LAST_TYPE
#define N_TYPES (DCCP_LAST_TYPE + 1)

typedef enum
{
  FROM_ANYWHERE,
  /* Forged packets have the source address and the source port of the real
   * peer. */
  FROM_THE_PEER,
  N_SOURCES
} Source;

typedef struct
{
  const gchar *name;
  DccpEnd end;                  /* the endpoint that is flooded */
  DccpState state;              /* its state during the flood */
  gboolean is_after;            /* TRUE if a connection has ended before */
} Target;

static const Target targets[] = {
  {"client, REQUEST", CLIENT, DCCP_STATE_REQUEST},
  {"client, PARTOPEN", CLIENT, DCCP_STATE_PARTOPEN},
  {"client, OPEN", CLIENT, DCCP_STATE_OPEN},
  {"client, CLOSING", CLIENT, DCCP_STATE_CLOSING},
  {"client, TIMEWAIT", CLIENT, DCCP_STATE_TIME_WAIT},
  {"listener, LISTEN", SERVER, DCCP_STATE_LISTEN},
  {"listener, RESPOND", SERVER, DCCP_STATE_RESPOND},
  {"listener, OPEN", SERVER, DCCP_STATE_OPEN},
  {"listener, CLOSEREQ", SERVER, DCCP_STATE_CLOSE_REQ},
  {"listener, after", SERVER, DCCP_STATE_LISTEN, TRUE},
};

typedef struct
{
  const Target *target;         /* NULL if there is no attacker */
  guint type;
  Source source;
  guint32 state;                /* state of the random numbers */
  gboolean is_after;
  guint n;                      /* packets of the attacker */
  guint max_outputs, max_events;        /* maximum after one forged packet */
} Attack;

typedef struct
{
  guint sent, received;         /* packets of data */
  guint connections;
  guint closed[N_ENDS];
  guint answers, responses, seconds;
} Outcome;

static guint64
draw (Attack * self)
{
  return dccp_builder_draw (&self->state);
}

static const guint8 *
draw_options (Attack * self, gsize * size)
{
  static guint8 noise[32];
  guint i;

  switch (draw (self) % 4) {
    case 0:
      *size = 0;
      return NULL;
    case 1:
      /* Change L and Change R (Sequence Window, 100) */
      *size = 18;
      return (const guint8 *)
          "\40\11\3\0\0\0\0\0\144\42\11\3\0\0\0\0\0\144";
    case 2:
      /* Options that a data receiver sends: Slow Receiver, Receive Rate and
       * Loss Event Rate */
      *size = 13;
      return (const guint8 *) "\2\302\6\0\0\0\1\300\6\0\0\0\2";
    default:
      for (i = 0; i < sizeof (noise); i++)
        noise[i] = draw (self);
      *size = sizeof (noise);
      return noise;
  }
}

/* Chooses the addresses and ports of a forged packet. Returns the path on which
 * the packet arrives, and writes the DCCP ports to `packet`. */
static DatagramPath
draw_path (Attack * self, DccpPacket * packet)
{
  const DccpEnd to = self->target->end;
  DatagramPath path = network.paths[to];

  packet->source = to == SERVER ? CLIENT_PORT : DCCP_NETWORK_PORT;
  packet->destination = to == SERVER ? DCCP_NETWORK_PORT : CLIENT_PORT;
  if (self->source == FROM_ANYWHERE) {
    const guint32 address = draw (self);

    memcpy (path.remote, &address, sizeof (address));
    packet->source = draw (self);
  }
  return path;
}

static DatagramPath
turn (const DatagramPath * path)
{
  DatagramPath turned = *path;

  memcpy (turned.local, path->remote, sizeof (turned.local));
  memcpy (turned.remote, path->local, sizeof (turned.remote));
  return turned;
}

static gboolean
may_be_short (guint type)
{
  return type == DCCP_DATA || type == DCCP_ACK || type == DCCP_DATA_ACK;
}

static void
inject (Attack * self)
{
  const DccpEnd to = self->target->end;
  const guint n_logged = network.log->len, n_events = network.events[to]->len;
  guint8 bytes[DCCP_MAX_HEADER + 64] = { 0 };
  DccpPacket packet = dccp_build_packet (&self->state);
  DatagramPath path = draw_path (self, &packet), back = turn (&path);
  gsize size;

  packet.type = MIN (self->type, DCCP_SYNC_ACK);
  packet.options = draw_options (self, &packet.options_size);
  if (self->type == DCCP_LISTEN)
    packet.type = DCCP_LISTEN;
  if (may_be_short (packet.type) && draw (self) % 4 == 0)
    packet.extended = FALSE;
  size = dccp_packet_write (&packet, &back, bytes) + packet.payload_size;
  if (self->type == UNKNOWN_TYPE)
    bytes[8] = (DCCP_LAST_TYPE + draw (self) % (16 - DCCP_LAST_TYPE)) << 1 | 1;
  if (draw (self) % 16 == 0)
    bytes[6] ^= 1;              /* of the checksum */
  if (draw (self) % 16 == 0)
    size = draw (self) % size;
  dccp_network_inject_from (&network, to, &path, bytes, size);
  self->n++;
  self->max_outputs = MAX (self->max_outputs, network.log->len - n_logged);
  self->max_events = MAX (self->max_events, network.events[to]->len - n_events);
}

/* --- the life of a connection --------------------------------------------- */

/* Returns whether the endpoint is now in the state in which it is attacked. For
 * the state LISTEN, the state RESPOND counts too: the first forged Request
 * creates a half-open connection, which changes the state to RESPOND. */
static gboolean
is_target (Attack * self)
{
  const Target *target = self->target;
  DccpState state;

  if (!target)
    return FALSE;
  state = dccp_network_get_state (&network, target->end);
  if (target->state == DCCP_STATE_LISTEN)
    return (state == DCCP_STATE_LISTEN || state == DCCP_STATE_RESPOND)
        && target->is_after == self->is_after;
  return state == target->state;
}

static void
run (Attack * self, guint ms)
{
  guint i;

  for (; ms > 0; ms--) {
    dccp_network_run (&network, MS);
    for (i = 0; i < RATE && is_target (self); i++)
      inject (self);
    g_assert_cmpuint (network.ends[SERVER]->listener->n_candidates, <=,
        DCCP_MAX_CANDIDATES);
  }
}

/* For each endpoint, the time until which the network drops all packets that
 * this endpoint sends */
static guint64 silent_until[N_ENDS];

static gboolean
lose_while_silent (DccpNetwork * unused, DccpEnd from,
    const DccpPacket * packet, guint8 * bytes, gsize size)
{
  return network.now >= silent_until[from];
}

/* Begins a handshake. The network drops the first Response and the first two
 * Acks, so that the handshake lasts longer. */
static void
begin_handshake (void)
{
  network.lose[SERVER][DCCP_RESPONSE] = 1;
  network.lose[CLIENT][DCCP_ACK] = 2;
  dccp_network_connect (&network);
}

/* Closes the connection. The network drops the packets of the other endpoint
 * for 0.5 s, so the first Close or CloseReq gets no answer. */
static void
begin_closing (Attack * self)
{
  const DccpEnd closing = self->target && self->target->state ==
      DCCP_STATE_CLOSE_REQ ? SERVER : CLIENT;

  silent_until[OTHER (closing)] = network.now + SECOND / 2;
  dccp_endpoint_close (network.ends[closing], network.now);
  dccp_network_flush (&network, closing);
}

static guint
count_answers (void)
{
  DccpEnd end;
  guint n = 0;

  for (end = CLIENT; end < N_ENDS; end++)
    n += dccp_network_count (&network, end, DCCP_SYNC)
        + dccp_network_count (&network, end, DCCP_RESET);
  return n;
}

static void
live (Attack * self, Outcome * outcome)
{
  const guint64 begin = SECOND;
  DccpEnd end;

  dccp_network_init (&network);
  network.configs[CLIENT].local_port = CLIENT_PORT;
  for (end = CLIENT; end < N_ENDS; end++) {
    network.paths[end].local_port = network.paths[end].remote_port = 0;
    silent_until[end] = 0;
  }
  network.filter = lose_while_silent;
  dccp_network_begin (&network);
  self->state = 1;
  run (self, LISTEN_TIME);
  begin_handshake ();
  run (self, HANDSHAKE_TIME);
  network.put_at[CLIENT] = network.now;
  network.sending[CLIENT] = TRUE;
  run (self, STREAM_TIME);
  network.sending[CLIENT] = FALSE;
  run (self, PAUSE);
  begin_closing (self);
  self->is_after = TRUE;
  run (self, CLOSING_TIME);
  /* and another one */
  dccp_network_connect (&network);
  run (self, PAUSE);
  outcome->sent = network.n_sent[CLIENT];
  outcome->received = network.received[SERVER]->len;
  outcome->connections = dccp_network_get_stats (&network, SERVER)->connections;
  for (end = CLIENT; end < N_ENDS; end++)
    outcome->closed[end] = dccp_network_count_events (&network, end,
        DCCP_EVENT_CLOSED);
  outcome->answers = count_answers ();
  outcome->responses = dccp_network_count (&network, SERVER, DCCP_RESPONSE);
  outcome->seconds = (network.now - begin) / SECOND + 1;
  dccp_network_clear (&network);
}

/* --- the tests ------------------------------------------------------------ */

static const gchar *
get_type_name (guint type)
{
  return type < DCCP_LAST_TYPE ? dccp_type_get_name (type) : "unknown";
}

static void
print (const Attack * attack, const Outcome * without, const Outcome * with)
{
  if (!g_getenv ("DCCPFLOOD_TABLE"))
    return;
  g_print ("%-8s %-18s %-8s n %6u: data %u of %u (%u), connections %u, "
      "closed %u %u, Syncs and Resets %u (%u), Responses %u, outputs %u, "
      "events %u\n", get_type_name (attack->type), attack->target->name,
      attack->source == FROM_THE_PEER ? "peer" : "anywhere", attack->n,
      with->received, with->sent, without->received, with->connections,
      with->closed[CLIENT], with->closed[SERVER], with->answers,
      without->answers, with->responses, attack->max_outputs,
      attack->max_events);
}

/* Returns whether the attack can use up the answers that the listener may send
 * to the client. The number of answers to unknown addresses is limited
 * (docs/security.md). The attacker may send forged Requests with the client's
 * address to the listener. The answers to these Requests then count towards two
 * limits:
 * - the maximum number of answers to the client's network;
 * - the maximum number of additional answers that are reserved for a client
 *   that was connected before. */
static gboolean
takes_the_answers (const Attack * attack)
{
  return attack->type == DCCP_REQUEST && attack->source == FROM_THE_PEER
      && attack->target->state == DCCP_STATE_LISTEN;
}

GST_START_TEST (off_path_flood_costs_nothing)
{
  Attack nobody = { NULL }, attack = {
    .target = &targets[__i__ / N_SOURCES % G_N_ELEMENTS (targets)],
    .source = __i__ % N_SOURCES,
    .type = __i__ / N_SOURCES / G_N_ELEMENTS (targets)
  };
  Outcome without, with;

  live (&nobody, &without);
  live (&attack, &with);
  print (&attack, &without, &with);
  fail_unless (attack.n > 1000, "only %u packets", attack.n);
  fail_unless (attack.max_outputs <= MAX_OUTPUTS);
  fail_unless (attack.max_events <= MAX_EVENTS);
  fail_unless (with.answers <= without.answers
      + N_ENDS * MAX_ANSWERS * with.seconds);
  fail_unless (with.responses <= MAX_RESPONSES * with.seconds);
  assert_equals_int (without.connections, 2);
  if (takes_the_answers (&attack) && !attack.target->is_after)
    return;
  if (!takes_the_answers (&attack))
    assert_equals_int (with.connections, 2);
  assert_equals_int (with.closed[CLIENT], 1);
  assert_equals_int (with.closed[SERVER], 1);
  fail_unless (with.sent * 100 > without.sent * 99);
  fail_unless (with.received * 100 > without.received * 99);
}

GST_END_TEST;

/* The attacker sends one forged Request, which has the client's address and
 * port. If __i__ is 0, the forged Request arrives before the client's first
 * Request. If __i__ is 1, the client's first Request is lost. The forged
 * Request then arrives before the client's second Request. In both cases the
 * client must connect. */
GST_START_TEST (forged_request_keeps_no_client_out)
{
  DccpPacket request = {.type = DCCP_REQUEST,.source = CLIENT_PORT,
    .destination = DCCP_NETWORK_PORT,.sequence = 4711,
    .service_code = DCCP_SERVICE_RTPV
  };

  dccp_network_init (&network);
  network.configs[CLIENT].local_port = CLIENT_PORT;
  dccp_network_begin (&network);
  network.lose[CLIENT][DCCP_REQUEST] = __i__;
  if (__i__ == 0)
    dccp_network_inject_packet (&network, SERVER, &request);
  dccp_network_run (&network, 200 * MS);
  dccp_network_connect (&network);
  dccp_network_run (&network, 200 * MS);
  if (__i__ == 1)
    dccp_network_inject_packet (&network, SERVER, &request);
  dccp_network_run (&network, 2 * SECOND);
  assert_equals_int (dccp_network_get_state (&network, CLIENT),
      DCCP_STATE_OPEN);
  assert_equals_int (dccp_network_get_state (&network, SERVER),
      DCCP_STATE_OPEN);
  assert_equals_uint64 (dccp_network_get_stats (&network, SERVER)->connections,
      1);
  dccp_network_clear (&network);
}

GST_END_TEST;

static Suite *
dccpflood_suite (void)
{
  Suite *suite = suite_create ("dccpflood");
  TCase *floods = tcase_create ("floods");

  suite_add_tcase (suite, floods);
  tcase_add_loop_test (floods, off_path_flood_costs_nothing, 0,
      N_TYPES * G_N_ELEMENTS (targets) * N_SOURCES);
  tcase_add_loop_test (floods, forged_request_keeps_no_client_out, 0, 2);
  return suite;
}

GST_CHECK_MAIN (dccpflood);

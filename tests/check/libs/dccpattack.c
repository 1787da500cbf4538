/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Attackers who don't see the packets of a DCCP connection (RFC 4340 section 18):
 * they know addresses and ports, and guess the numbers. The same run without them
 * has the same data at the same rate; what they hear is limited, and not longer
 * than what they say.
 */

#include <gst/check/gstcheck.h>

#include <string.h>

#include "dccpwire.h"

#define DURATION (10 * SECOND)

typedef struct _Attack Attack;

struct _Attack
{
  void (*attack) (Attack * self);       /* each millisecond; NULL: nobody */
  guint32 state;                /* of the numbers that it draws */
  guint n;                      /* packets of the attacker */
  guint answers;                /* that go at once */
};

static DccpWire wire;

static guint64
draw (Attack * self)
{
  guint64 number = 0;
  guint i;

  for (i = 0; i < 2; i++) {
    self->state ^= self->state << 13;
    self->state ^= self->state >> 17;
    self->state ^= self->state << 5;
    number = number << 32 | self->state;
  }
  return number & DCCP_SEQUENCE_MASK;
}

/* What goes at once is an answer: it is no longer, and of no Reset a Reset. */
static void
forge (Attack * self, DccpEnd to, const DccpPacket * packet)
{
  /* options are padded to whole words */
  const gsize size = packet->payload_size + (packet->options_size + 3) / 4 * 4
      + dccp_type_get_header_size (packet->type, TRUE);
  guint i = wire.log->len;

  dccp_wire_forge (&wire, to, packet);
  self->n++;
  for (; i < wire.log->len; i++) {
    const DccpWireEntry *answer = &g_array_index (wire.log, DccpWireEntry, i);

    if (answer->packet.type != DCCP_RESET && answer->packet.type != DCCP_SYNC)
      continue;
    self->answers++;
    fail_unless (answer->size <= size);
    fail_if (answer->packet.type == DCCP_RESET && packet->type == DCCP_RESET);
  }
}

static void
run (Attack * self)
{
  const guint64 end = wire.now + DURATION;

  self->state = 1;
  dccp_wire_connect (&wire);
  wire.sending[CLIENT] = TRUE;
  while (wire.now < end) {
    dccp_wire_run (&wire, MS);
    if (self->attack)
      self->attack (self);
  }
  wire.sending[CLIENT] = FALSE;
  dccp_wire_run (&wire, SECOND);
}

typedef struct
{
  guint sent, received;
  guint64 rate, feedback, connections;
} Outcome;

static void
judge (Outcome * outcome)
{
  const DccpStats *stats = dccp_wire_get_stats (&wire, CLIENT);

  outcome->sent = wire.n_sent[CLIENT];
  outcome->received = wire.received[SERVER]->len;
  outcome->rate = stats->rate;
  outcome->feedback = stats->feedback_received;
  assert_equals_float (stats->loss_event_rate, 0);
  stats = dccp_wire_get_stats (&wire, SERVER);
  assert_equals_uint64 (stats->loss_events, 0);
  outcome->connections = stats->connections;
  assert_equals_int (dccp_wire_get_state (&wire, CLIENT), DCCP_STATE_OPEN);
  assert_equals_int (dccp_wire_get_state (&wire, SERVER), DCCP_STATE_OPEN);
}

static void
assert_unmoved (void (*attack) (Attack * self))
{
  Attack nobody = { NULL }, somebody = { attack };
  Outcome without, with;
  guint i;

  dccp_wire_init (&wire);
  dccp_wire_begin (&wire);
  run (&nobody);
  judge (&without);
  dccp_wire_clear (&wire);
  dccp_wire_init (&wire);
  dccp_wire_begin (&wire);
  run (&somebody);
  judge (&with);
  fail_unless (somebody.n > 5000);
  assert_equals_int (with.sent, without.sent);
  assert_equals_int (with.received, without.received);
  assert_equals_int (with.received, with.sent);
  for (i = 0; i < with.received; i++)
    assert_equals_int (g_array_index (wire.received[SERVER], guint32, i), i);
  assert_equals_uint64 (with.connections, 1);
  /* A Sync that answers a forged packet may shift a report by a packet's time. */
  fail_unless (ABS ((gint64) (with.feedback - without.feedback)) <= 5);
  fail_unless (ABS ((gdouble) with.rate - (gdouble) without.rate) <=
      0.02 * without.rate, "%" G_GUINT64_FORMAT " instead of %"
      G_GUINT64_FORMAT, with.rate, without.rate);
  /* in each of ten seconds eight Syncs and eight Resets of both */
  fail_unless (somebody.answers <= 2 * 2 * 8 * 11, "%u answers",
      somebody.answers);
  dccp_wire_clear (&wire);
}

/* --- whoever guesses -------------------------------------------------------------- */

static DccpPacket
draw_packet (Attack * self)
{
  static const guint8 payload[64];
  DccpPacket packet = {
    .type = draw (self) % DCCP_LAST_TYPE,
    .sequence = draw (self),
    .acknowledgement = draw (self),
    .reset_code = draw (self) % 13,
    .service_code = DCCP_SERVICE_RTPV,
    .ccval = draw (self) % 16,
    /* Slow Receiver, Receive Rate, Loss Event Rate */
    .options = (const guint8 *) "\2\302\6\0\0\0\1\300\6\0\0\0\2",
    .options_size = draw (self) % 2 ? 13 : 0,
    .payload = payload,
    .payload_size = draw (self) % 2 ? sizeof (payload) : 0,
  };

  return packet;
}

static void
guess (Attack * self)
{
  DccpEnd end;

  for (end = CLIENT; end < N_ENDS; end++) {
    DccpPacket packet = draw_packet (self);

    /* the client's also while it connects */
    if (end == CLIENT || dccp_wire_get_state (&wire, end) == DCCP_STATE_OPEN)
      forge (self, end, &packet);
  }
}

GST_START_TEST (random_numbers_change_nothing)
{
  assert_unmoved (guess);
}

GST_END_TEST;

/* --- near misses ------------------------------------------------------------------ */

/* One number is just outside of its window, the other one is right. */
static void
miss (Attack * self)
{
  DccpEnd end = draw (self) % N_ENDS;
  DccpConnection *connection = dccp_wire_get (&wire, end);
  DccpPacket packet;

  if (!connection || connection->state != DCCP_STATE_OPEN)
    return;
  packet = draw_packet (self);
  packet.sequence = dccp_sequence_add (connection->gsr, 1);
  packet.acknowledgement = connection->gss;
  if (!dccp_type_has_acknowledgement (packet.type) || draw (self) % 2)
    packet.sequence = dccp_sequence_add (connection->gsr,
        draw (self) % 2 ? 7501 : -2500);
  else
    packet.acknowledgement = dccp_sequence_add (draw (self) % 2 ?
        connection->gss : connection->iss, draw (self) % 2 ? 10001 : -10001);
  forge (self, end, &packet);
}

GST_START_TEST (near_misses_change_nothing)
{
  assert_unmoved (miss);
}

GST_END_TEST;

/* --- strangers ---------------------------------------------------------------------- */

static void
come_from_elsewhere (Attack * self)
{
  guint8 bytes[DCCP_LONGEST_HEADER + 64] = { 0 };
  DccpPacket packet = draw_packet (self);
  DccpPath path = wire.paths[SERVER];
  const guint before = wire.log->len;
  gsize size;

  if (dccp_wire_get_state (&wire, SERVER) != DCCP_STATE_OPEN)
    return;
  path.remote[2] = draw (self);
  path.remote_udp = draw (self);
  packet.extended = TRUE;
  packet.source = draw (self);
  packet.destination = draw (self) % 4 ? DCCP_WIRE_PORT : draw (self);
  if (draw (self) % 2)
    packet.type = DCCP_REQUEST;
  size = dccp_packet_write (&packet, &path, bytes) + packet.payload_size;
  dccp_wire_inject_from (&wire, SERVER, &path, bytes, size);
  self->n++;
  self->answers += wire.log->len - before;
  if (wire.log->len > before)
    fail_unless (size >= g_array_index (wire.log, DccpWireEntry, before).size
        || packet.type == DCCP_REQUEST);
}

GST_START_TEST (strangers_change_nothing)
{
  assert_unmoved (come_from_elsewhere);
}

GST_END_TEST;

/* The address of the client itself, in Requests */
static void
ask_again (Attack * self)
{
  DccpPacket packet = draw_packet (self);

  packet.type = DCCP_REQUEST;
  if (dccp_wire_get_state (&wire, SERVER) == DCCP_STATE_OPEN)
    forge (self, SERVER, &packet);
}

GST_START_TEST (requests_in_its_name_change_nothing)
{
  assert_unmoved (ask_again);
}

GST_END_TEST;

/* --- floods ------------------------------------------------------------------------ */

/* Nobody is connected; memory and answers stay within bounds. */
GST_START_TEST (flood_of_requests_has_few_answers)
{
  Attack self = {.state = 1 };
  guint i, responses;

  dccp_wire_init (&wire);
  dccp_wire_begin (&wire);
  for (i = 0; i < 20000; i++) {
    guint8 bytes[DCCP_LONGEST_HEADER];
    DccpPath path = wire.paths[SERVER];
    DccpPacket packet = {
      .type = DCCP_REQUEST,.extended = TRUE,.source = draw (&self),
      .destination = DCCP_WIRE_PORT,.sequence = draw (&self),
      .service_code = DCCP_SERVICE_RTPV
    };

    path.remote[1] = draw (&self);
    dccp_wire_inject_from (&wire, SERVER, &path, bytes,
        dccp_packet_write (&packet, &path, bytes));
    fail_unless (wire.ends[SERVER]->n_candidates <= DCCP_MAX_CANDIDATES);
    dccp_wire_run (&wire, MS / 2);
  }
  responses = dccp_wire_count (&wire, SERVER, DCCP_RESPONSE);
  fail_unless (responses <= 11 * DCCP_MAX_CANDIDATES, "%u", responses);
  assert_equals_int (wire.log->len, responses);
  /* who comes when it is over is let in */
  dccp_wire_run (&wire, 2 * SECOND);
  dccp_wire_open (&wire);
  dccp_wire_clear (&wire);
}

GST_END_TEST;

/* Of one flow, with numbers that go on */
GST_START_TEST (flood_of_a_half_open_flow_has_few_answers)
{
  guint i;

  dccp_wire_init (&wire);
  dccp_wire_begin (&wire);
  for (i = 0; i < 10000; i++) {
    DccpPacket packet = {
      .type = DCCP_REQUEST,.source = 1,.destination = DCCP_WIRE_PORT,
      .sequence = i,.service_code = DCCP_SERVICE_RTPV
    };

    dccp_wire_forge (&wire, SERVER, &packet);
    dccp_wire_run (&wire, MS);
  }
  assert_equals_int (wire.ends[SERVER]->n_candidates, 1);
  fail_unless (dccp_wire_count (&wire, SERVER, DCCP_RESPONSE) <= 11 * 8);
  fail_unless (dccp_wire_get_stats (&wire, SERVER)->answers_suppressed > 9000);
  dccp_wire_clear (&wire);
}

GST_END_TEST;

/* CCID 2 or nothing; and with a Mandatory before nothing, too short to be worth a
 * Reset */
GST_START_TEST (flood_of_requests_that_cannot_be_has_few_answers)
{
  guint i;

  dccp_wire_init (&wire);
  dccp_wire_begin (&wire);
  for (i = 0; i <= 100; i++) {
    DccpPacket packet = {
      .type = DCCP_REQUEST,.source = i + 1,.destination = DCCP_WIRE_PORT,
      .sequence = i,.service_code = DCCP_SERVICE_RTPV,
      .options = (const guint8 *) (i % 2 ? "\1\40\4\1\2" : "\1\1"),
      .options_size = i % 2 ? 5 : 2
    };

    dccp_wire_forge (&wire, SERVER, &packet);
    if (i % 2 == 0)
      assert_equals_int (dccp_wire_count (&wire, SERVER, DCCP_RESET), i / 2 <
          8 ? i / 2 : 8);
  }
  assert_equals_int (dccp_wire_get_state (&wire, SERVER), DCCP_STATE_LISTEN);
  assert_equals_int (wire.log->len, 8);
  assert_equals_uint64 (dccp_wire_get_stats (&wire,
          SERVER)->refused[DCCP_REFUSED_OPTION], 101);
  dccp_wire_clear (&wire);
}

GST_END_TEST;

GST_START_TEST (resets_are_never_answered_by_resets)
{
  Attack self = {.state = 1 };
  guint i;

  dccp_wire_init (&wire);
  dccp_wire_begin (&wire);
  for (i = 0; i < 1000; i++) {
    DccpPacket packet = draw_packet (&self);

    packet.type = DCCP_RESET;
    packet.source = 1;
    packet.destination = i % 2 ? DCCP_WIRE_PORT : 2;
    dccp_wire_forge (&wire, i % 3 ? SERVER : CLIENT, &packet);
  }
  assert_equals_int (wire.log->len, 0);
  assert_equals_uint64 (dccp_wire_get_stats (&wire,
          SERVER)->refused[DCCP_REFUSED_FLOW], 666);
  dccp_wire_clear (&wire);
}

GST_END_TEST;

static Suite *
dccpattack_suite (void)
{
  Suite *suite = suite_create ("dccpattack");
  TCase *unmoved = tcase_create ("unmoved");
  TCase *floods = tcase_create ("floods");

  suite_add_tcase (suite, unmoved);
  tcase_add_test (unmoved, random_numbers_change_nothing);
  tcase_add_test (unmoved, near_misses_change_nothing);
  tcase_add_test (unmoved, strangers_change_nothing);
  tcase_add_test (unmoved, requests_in_its_name_change_nothing);
  suite_add_tcase (suite, floods);
  tcase_add_test (floods, flood_of_requests_has_few_answers);
  tcase_add_test (floods, flood_of_a_half_open_flow_has_few_answers);
  tcase_add_test (floods, flood_of_requests_that_cannot_be_has_few_answers);
  tcase_add_test (floods, resets_are_never_answered_by_resets);
  return suite;
}

GST_CHECK_MAIN (dccpattack);

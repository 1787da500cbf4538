/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the small modules that are parts of a DCCP endpoint. The expected
 * values were computed by hand, or with the module hmac of Python. */

#include <gst/check/gstcheck.h>

#include <string.h>

#include "dccpended.h"
#include "dccpsecrets.h"

#define PORT 5001
#define REMOTE_PORT 6001
#define START (1000 * DCCP_SECOND)
#define TIME_WAIT (240 * DCCP_SECOND)
#define WINDOW 100
#define GSS 2000
#define GSR 6000

static void
init_path (DatagramPath * path)
{
  memset (path, 0, sizeof (*path));
  path->address_size = 4;
  path->local[0] = path->remote[0] = 10;
  path->local[3] = 1;
  path->remote[3] = 2;
}

/* --- secrets -------------------------------------------------------------- */

static const guint8 entropy[DCCP_ENTROPY_SIZE] = { 7 };

/* Returns the first eight bytes of `mac` as the number that they have in the
 * memory of this machine. */
static guint64
get_number (const guint8 mac[8])
{
  guint64 number;

  memcpy (&number, mac, sizeof (number));
  return number;
}

GST_START_TEST (random_numbers_are_macs_of_a_counter)
{
  static const guint8 macs[][8] = {
    {0x0e, 0xd0, 0xd3, 0xb7, 0x58, 0xc8, 0x57, 0xcb},
    {0xc9, 0xea, 0x32, 0xdd, 0xe6, 0xbc, 0x8f, 0xe7},
    {0x2d, 0xd8, 0x3c, 0xde, 0xb5, 0x15, 0xd2, 0x86},
  };
  DccpSecrets secrets;

  dccp_secrets_init (&secrets, entropy);
  fail_unless_equals_uint64 (dccp_secrets_draw (&secrets),
      get_number (macs[1]));
  fail_unless_equals_uint64 (dccp_secrets_take_iss (&secrets),
      get_number (macs[0]) & DCCP_SEQUENCE_MASK);
  fail_unless_equals_uint64 (dccp_secrets_take_iss (&secrets),
      get_number (macs[2]) & DCCP_SEQUENCE_MASK);
}

GST_END_TEST;

GST_START_TEST (secret_depends_on_its_purpose)
{
  static const guint8 limiter[] = {
    0xbe, 0x6f, 0xfc, 0x59, 0xfc, 0xb0, 0x40, 0x7a,
    0x58, 0x98, 0x5e, 0xed, 0x67, 0x5c, 0xec, 0xc0,
    0x7b, 0xac, 0x00, 0x06, 0x5d, 0xdc, 0x44, 0xde,
    0x4e, 0x9f, 0x1a, 0xdb, 0x77, 0x65, 0xc1, 0x9e
  };
  guint8 secret[DCCP_SECRET_SIZE];
  DccpSecrets secrets;

  dccp_secrets_init (&secrets, entropy);
  dccp_secrets_make (&secrets, "limiter", secret);
  fail_unless (memcmp (secret, limiter, sizeof (limiter)) == 0);
  dccp_secrets_draw (&secrets);
  dccp_secrets_make (&secrets, "limiter", secret);
  fail_unless (memcmp (secret, limiter, sizeof (limiter)) == 0);
  dccp_secrets_make (&secrets, "other", secret);
  fail_if (memcmp (secret, limiter, sizeof (limiter)) == 0);
}

GST_END_TEST;

GST_START_TEST (first_number_of_a_listener_depends_on_the_client)
{
  DccpSecrets secrets;
  DatagramPath path;
  guint64 iss;

  init_path (&path);
  dccp_secrets_init (&secrets, entropy);
  iss = dccp_secrets_make_iss (&secrets, 3, &path, PORT, REMOTE_PORT);
  fail_unless (iss <= DCCP_SEQUENCE_MASK);
  fail_unless_equals_uint64 (dccp_secrets_make_iss (&secrets, 3, &path, PORT,
          REMOTE_PORT), iss);
  fail_if (dccp_secrets_make_iss (&secrets, 4, &path, PORT,
          REMOTE_PORT) == iss);
  fail_if (dccp_secrets_make_iss (&secrets, 3, &path, PORT,
          REMOTE_PORT + 1) == iss);
  secrets.next_iss = dccp_sequence_add (secrets.next_iss, 5);
  fail_unless_equals_uint64 (dccp_secrets_make_iss (&secrets, 3, &path, PORT,
          REMOTE_PORT), dccp_sequence_add (iss, 5));
  path.remote[3]++;
  fail_if (dccp_secrets_make_iss (&secrets, 3, &path, PORT, REMOTE_PORT) ==
      dccp_sequence_add (iss, 5));
}

GST_END_TEST;

/* --- connections that have ended ------------------------------------------ */

/* Adds a connection with the port `port` of the peer. */
static void
add_ended (DccpEnded * ended, guint64 now, guint16 port, DccpState state)
{
  DccpConnection connection = {.local_port = PORT,.remote_port = port,
    .state = state,.numbers.gss = GSS,.numbers.gsr = GSR
  };

  init_path (&connection.path);
  dccp_ended_add (ended, now, &connection, TIME_WAIT);
}

static gboolean
is_in_time_wait (const DccpEnded * ended, guint64 now, guint16 port)
{
  const DccpPacket packet = {.source = port,.destination = PORT };
  DatagramPath path;

  init_path (&path);
  return dccp_ended_is_in_time_wait (ended, now, &path, &packet);
}

GST_START_TEST (time_wait_ends)
{
  DccpEnded ended = { 0 };

  fail_if (dccp_ended_is_last_in_time_wait (&ended, 0));
  add_ended (&ended, START, 1, DCCP_STATE_TIME_WAIT);
  fail_unless (is_in_time_wait (&ended, START + TIME_WAIT - 1, 1));
  fail_if (is_in_time_wait (&ended, START + TIME_WAIT, 1));
  fail_if (is_in_time_wait (&ended, START, 2));
  fail_unless (dccp_ended_is_last_in_time_wait (&ended, START + TIME_WAIT - 1));
  fail_if (dccp_ended_is_last_in_time_wait (&ended, START + TIME_WAIT));
  /* The latest connection of a peer counts. */
  add_ended (&ended, START + 1, 1, DCCP_STATE_CLOSED);
  fail_if (is_in_time_wait (&ended, START + 1, 1));
  fail_if (dccp_ended_is_last_in_time_wait (&ended, START + 1));
}

GST_END_TEST;

GST_START_TEST (oldest_ended_connection_is_replaced)
{
  DccpEnded ended = { 0 };
  guint16 port;

  for (port = 1; port <= DCCP_MAX_ENDED; port++)
    add_ended (&ended, START, port, DCCP_STATE_TIME_WAIT);
  fail_unless (is_in_time_wait (&ended, START, 1));
  add_ended (&ended, START, port, DCCP_STATE_TIME_WAIT);
  fail_if (is_in_time_wait (&ended, START, 1));
  fail_unless (is_in_time_wait (&ended, START, 2));
  fail_unless (is_in_time_wait (&ended, START, port));
}

GST_END_TEST;

static gboolean
is_from_peer (const DccpEnded * ended, DccpType type, guint64 sequence,
    guint64 acknowledgement)
{
  const DccpPacket packet = {.type = type,.source = REMOTE_PORT,
    .destination = PORT,.sequence = sequence,.acknowledgement = acknowledgement
  };
  DatagramPath path;

  init_path (&path);
  return dccp_ended_is_from_peer (ended, START, &path, &packet, WINDOW);
}

GST_START_TEST (peer_of_an_ended_connection_knows_its_numbers)
{
  DccpEnded ended = { 0 };

  fail_if (is_from_peer (&ended, DCCP_CLOSE, GSR, GSS));
  add_ended (&ended, START, REMOTE_PORT, DCCP_STATE_CLOSED);
  fail_unless (is_from_peer (&ended, DCCP_CLOSE, GSR, GSS));
  fail_unless (is_from_peer (&ended, DCCP_CLOSE, GSR + WINDOW, GSS));
  fail_unless (is_from_peer (&ended, DCCP_CLOSE, GSR, GSS - WINDOW));
  fail_if (is_from_peer (&ended, DCCP_CLOSE, GSR - 1, GSS));
  fail_if (is_from_peer (&ended, DCCP_CLOSE, GSR + WINDOW + 1, GSS));
  fail_if (is_from_peer (&ended, DCCP_CLOSE, GSR, GSS + 1));
  fail_if (is_from_peer (&ended, DCCP_CLOSE, GSR, GSS - WINDOW - 1));
  /* A packet of this type has no acknowledgement number. */
  fail_if (is_from_peer (&ended, DCCP_DATA, GSR, GSS));
}

GST_END_TEST;

static Suite *
dccpendpointparts_suite (void)
{
  Suite *s = suite_create ("dccpendpointparts");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, random_numbers_are_macs_of_a_counter);
  tcase_add_test (tc, secret_depends_on_its_purpose);
  tcase_add_test (tc, first_number_of_a_listener_depends_on_the_client);
  tcase_add_test (tc, time_wait_ends);
  tcase_add_test (tc, oldest_ended_connection_is_replaced);
  tcase_add_test (tc, peer_of_an_ended_connection_knows_its_numbers);
  return s;
}

GST_CHECK_MAIN (dccpendpointparts);

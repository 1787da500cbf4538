/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of attacks on an MMTP session. In most tests, the attacker must have no
 * effect on the session. Such a test runs the same session twice, once with the
 * attacker and once without. In both runs, the endpoints must exchange the same
 * messages at the same times, and the receiver must output the same buffers.
 * The statistics of both runs must also be the same, except for the counters of
 * refused messages. (docs/wire-mmtp.md section 2: a refused message changes no
 * state except such a counter.)
 */

#include <gst/check/gstcheck.h>

#include "mmtpattacker.h"

#define SECOND G_GUINT64_CONSTANT (1000000000)
/* Size of a frame in bytes. With 25 frames per second, the stream has
 * 1.2 Mbit/s. The fastest path (4 Mbit/s) can carry this stream alone. */
#define FRAME_SIZE 6000
#define KEY "correct horse"
/* Time in ns after which a message that was sent has certainly arrived. The
 * attacker replays only messages that are older than this. */
#define SETTLED (2 * SECOND)
#define MAX_RECORDED 4000

static const gchar *const keys[] = { NULL, KEY };

typedef struct _Attack Attack;

struct _Attack
{
  void (*attack) (Attack * self, MmtpNetwork * network);
  guint32 state;                /* State of the random numbers. */
  /* SHA-256 of all messages between the sender and the receiver, with their
   * times and addresses. If this hash is the same in two runs, the endpoints
   * have exchanged the same messages. Messages from or to the attacker are not
   * included. */
  GChecksum *messages;
  GArray *recorded;             /* Array of Recorded, or NULL. */
  MmtpOverheard known;
  guint n_sent;                 /* Number of messages that the attacker sent. */
  guint8 nonce_s[MMTP_NONCE_SIZE];      /* Nonce of the sender's last INIT. */
  gboolean accepted;            /* An ACCEPT answered this INIT. */
  /* TRUE if the attacker has got a handshake cookie for its own address and has
   * not used it yet. `cookie` is this cookie. */
  gboolean has_cookie;
  guint8 cookie[MMTP_COOKIE_SIZE];
  /* Number of the path on which the attacker intercepts the sender's messages.
   */
  guint attacker_path;
  /* TRUE if the attacker runs on the sender's host. Its address is then the
   * sender's address with another port. */
  gboolean shares_host;
};

/* Returns a random source address for a forged message, because an attacker can
 * forge source addresses. It is the address of one of the sender's paths or, in
 * one of four cases, the address of a host outside the session. */
static MmtpAddress
draw_address (Attack * self)
{
  MmtpAddress address;

  if (attacker_draw (&self->state) % 4 == 0)
    return attacker_make_unknown_host (attacker_draw (&self->state) % 8);
  mmtp_network_get_address (attacker_draw (&self->state) % MMTP_NETWORK_PATHS,
      &address);
  return address;
}

static void
send_to (Attack * self, MmtpNetwork * network, MmtpRole to,
    const MmtpAddress * address, const guint8 * bytes, gsize size)
{
  self->n_sent++;
  if (to == MMTP_RECEIVER)
    mmtp_network_to_receiver (network, address, bytes, size);
  else
    mmtp_network_to_sender (network,
        attacker_draw (&self->state) % MMTP_NETWORK_PATHS, bytes, size);
}

/* --- runs ----------------------------------------------------------------- */

static void
keep (Attack * self, MmtpNetwork * network, MmtpRole from,
    const MmtpAddress * address, const guint8 * bytes, gsize size)
{
  Recorded recorded;

  if (self->recorded->len >= MAX_RECORDED)
    return;
  attacker_record (&recorded, network, from, address, bytes, size);
  g_array_append_val (self->recorded, recorded);
}

/* An attacker may send an INIT or OPEN (a request of the handshake) with the
 * sender's address. The receiver sends its answer to the sender. Returns
 * whether the message `bytes` is such an answer. The simulation drops these
 * answers, because they would use capacity of the sender's path. The attack
 * does not become weaker, because the attackers do not depend on these answers:
 * they also send forged messages directly to the sender. */
static gboolean
is_for_attacker (Attack * self, const guint8 * bytes)
{
  const guint8 *nonce = bytes + MMTP_HEADER_SIZE;
  const MmtpType type = bytes[0] & 0x1f;

  if (type == MMTP_INIT) {
    memcpy (self->nonce_s, nonce, MMTP_NONCE_SIZE);
    self->accepted = FALSE;
    return FALSE;
  }
  if (type != MMTP_COOKIE && type != MMTP_ACCEPT && type != MMTP_REFUSE)
    return FALSE;
  if (self->accepted || memcmp (self->nonce_s, nonce, MMTP_NONCE_SIZE) != 0)
    return TRUE;
  self->accepted = type == MMTP_ACCEPT;
  return FALSE;
}

static gboolean
sent (MmtpNetwork * network, MmtpRole from, const MmtpAddress * address,
    const guint8 * bytes, gsize size, gpointer data)
{
  Attack *self = data;

  if (attacker_is_unknown_host (address) && (bytes[0] & 0x1f) == MMTP_COOKIE) {
    memcpy (self->cookie, bytes + MMTP_HEADER_SIZE + MMTP_NONCE_SIZE,
        MMTP_COOKIE_SIZE);
    self->has_cookie = TRUE;
  }
  if (attacker_is_unknown_host (address) || is_for_attacker (self, bytes))
    return FALSE;
  g_checksum_update (self->messages, (guint8 *) & network->now,
      sizeof (network->now));
  g_checksum_update (self->messages, (guint8 *) address, sizeof (*address));
  g_checksum_update (self->messages, bytes, size);
  if (self->recorded)
    keep (self, network, from, address, bytes, size);
  return TRUE;
}

static void
happened (MmtpNetwork * network, gpointer data)
{
  Attack *self = data;

  if (self->attack)
    self->attack (self, network);
}

static void
begin (MmtpNetwork * network, Attack * self, const gchar * key)
{
  const MmtpNetworkConfig config = { key, FRAME_SIZE, sent, happened, self };
  guint i;

  self->state = 1;
  self->messages = g_checksum_new (G_CHECKSUM_SHA256);
  mmtp_network_init (network, &config);
  for (i = 0; i < MMTP_NETWORK_PATHS; i++)
    mmtp_network_add_path (network, i);
}

static void
finish (MmtpNetwork * network, Attack * self)
{
  g_checksum_free (self->messages);
  if (self->recorded)
    g_array_unref (self->recorded);
  mmtp_network_clear (network);
}

/* --- comparison with the undisturbed run ---------------------------------- */

static void
assert_same_paths (MmtpNetwork * one, MmtpNetwork * other)
{
  MmtpSenderPathStats a, b;
  guint i;

  for (i = 0; i < MMTP_NETWORK_PATHS; i++) {
    fail_unless (mmtp_sender_get_path_stats (one->sender, i, &a));
    fail_unless (mmtp_sender_get_path_stats (other->sender, i, &b));
    assert_equals_int (a.state, b.state);
    assert_equals_uint64 (a.rate, b.rate);
    assert_equals_uint64 (a.delay, b.delay);
    assert_equals_uint64 (a.packets, b.packets);
    assert_equals_uint64 (a.lost, b.lost);
    assert_equals_uint64 (a.silences, b.silences);
  }
}

static void
assert_same_stats (MmtpNetwork * one, MmtpNetwork * other)
{
  MmtpReceiverStats a = one->receiver_stats, b = other->receiver_stats;
  MmtpSenderStats c = one->sender_stats, d = other->sender_stats;

  memset (a.refused, 0, sizeof (a.refused));
  memset (b.refused, 0, sizeof (b.refused));
  memset (c.refused, 0, sizeof (c.refused));
  memset (d.refused, 0, sizeof (d.refused));
  fail_unless (memcmp (&a, &b, sizeof (a)) == 0);
  fail_unless (memcmp (&c, &d, sizeof (c)) == 0);
}

static void
assert_same (MmtpNetwork * one, Attack * none, MmtpNetwork * other,
    Attack * attack)
{
  assert_equals_int (one->out->len, other->out->len);
  fail_unless (memcmp (one->out->data, other->out->data,
          one->out->len * sizeof (guint32)) == 0);
  assert_equals_string (g_checksum_get_string (none->messages),
      g_checksum_get_string (attack->messages));
  assert_same_paths (one, other);
  assert_same_stats (one, other);
}

/* Checks that the session carried a stream, and that no path has failed. */
static void
assert_streamed (MmtpNetwork * network, guint seconds)
{
  MmtpSenderPathStats stats;
  guint i;

  assert_equals_int (network->sessions, 1);
  assert_equals_int (network->silences + network->ends, 0);
  assert_equals_int (network->lost + network->refused + network->broken, 0);
  fail_unless (network->out->len >= (seconds - 3) * 25, "%u buffers",
      network->out->len);
  for (i = 0; i < MMTP_NETWORK_PATHS; i++) {
    fail_unless (mmtp_sender_get_path_stats (network->sender, i, &stats));
    fail_unless_equals_int (stats.state, MMTP_PATH_ACTIVE);
  }
}

static guint64
count_refused (const guint64 refused[MMTP_LAST_REFUSAL])
{
  guint64 n = 0;
  guint i;

  for (i = 0; i < MMTP_LAST_REFUSAL; i++)
    n += refused[i];
  return n;
}

/* Runs the same session twice for `seconds` s, the second time with the
 * attacker. Checks that the endpoints refuse the messages of the attacker, and
 * that the attacker has no effect on the session. */
static void
check_that_nothing_changes (Attack * attack, const gchar * key, guint seconds)
{
  MmtpNetwork quiet, attacked;
  Attack nobody = { NULL, };

  begin (&quiet, &nobody, key);
  mmtp_network_run (&quiet, seconds * SECOND);
  assert_streamed (&quiet, seconds);

  begin (&attacked, attack, key);
  mmtp_network_run (&attacked, seconds * SECOND);
  fail_unless (attack->n_sent > 1000);
  assert_same (&quiet, &nobody, &attacked, attack);
  fail_unless (count_refused (attacked.sender_stats.refused)
      + count_refused (attacked.receiver_stats.refused) > 1000);
  finish (&attacked, attack);
  finish (&quiet, &nobody);
}

/* --- off-path attackers --------------------------------------------------- */

/* Sends a forged message of an attacker that has guessed the message numbers,
 * the times and the stream number correctly. The attacker does not know the
 * secrets of the session (nonces, cookie, challenge and trailer). */
static void
guess (Attack * self, MmtpNetwork * network)
{
  MmtpRole from = attacker_draw (&self->state) & 1 ? MMTP_SENDER
      : MMTP_RECEIVER;
  guint path = attacker_draw (&self->state) % MMTP_NETWORK_PATHS;
  MmtpAddress address = draw_address (self);
  MmtpMessage message;
  guint8 bytes[2000];
  gsize size;

  self->known = network->overheard;
  memset (self->known.nonce_s, 1, MMTP_NONCE_SIZE);
  memset (self->known.nonce_r, 2, MMTP_NONCE_SIZE);
  memset (self->known.cookie, 3, MMTP_COOKIE_SIZE);
  self->known.path_nonce = self->known.challenge = 4;
  mmtp_build_message (&message, attacker_draw (&self->state) % MMTP_LAST_TYPE,
      from, path, &self->known, attacker_draw, &self->state);
  message.trailer = (guint64) attacker_draw (&self->state) << 32;
  message.trailer |= attacker_draw (&self->state);
  size = mmtp_packet_write (&message, bytes, sizeof (bytes));
  send_to (self, network, from == MMTP_SENDER ? MMTP_RECEIVER : MMTP_SENDER,
      &address, bytes, size);
}

GST_START_TEST (guessed_messages_change_nothing)
{
  Attack attack = { guess, };

  check_that_nothing_changes (&attack, keys[__i__], 12);
}

GST_END_TEST;

/* Random bytes without a valid format. */
static void
send_noise (Attack * self, MmtpNetwork * network)
{
  MmtpAddress address = draw_address (self);
  guint8 bytes[200];
  gsize size = attacker_draw (&self->state) % sizeof (bytes), i;

  for (i = 0; i < size; i++)
    bytes[i] = attacker_draw (&self->state);
  if (size > 0 && attacker_draw (&self->state) & 1)
    bytes[0] = MMTP_VERSION << 5 | bytes[0] % MMTP_LAST_TYPE;
  send_to (self, network, attacker_draw (&self->state) & 1 ? MMTP_RECEIVER
      : MMTP_SENDER, &address, bytes, size);
}

GST_START_TEST (noise_changes_nothing)
{
  Attack attack = { send_noise, };

  check_that_nothing_changes (&attack, keys[__i__], 12);
}

GST_END_TEST;

/* While the sender has a session, the attacker requests a session for itself.
 * It sends INITs from its own address to get a cookie. If it receives a cookie,
 * it sends an OPEN with this cookie. The session of the sender must not be
 * affected. */
static void
ask_for_session (Attack * self, MmtpNetwork * network)
{
  MmtpAddress address = self->shares_host ? attacker_make_shared_address ()
      : attacker_make_unknown_host (5);
  MmtpMessage message = { MMTP_INIT, };
  guint8 bytes[200];
  gsize size;

  if (!network->has_session)
    return;
  if (self->has_cookie) {
    message.type = MMTP_OPEN;
    memcpy (message.open.cookie, self->cookie, MMTP_COOKIE_SIZE);
    message.open.max_size = 1472;
    message.open.keepalive_period = 100;
  }
  size = mmtp_packet_write (&message, bytes, sizeof (bytes));
  self->has_cookie = FALSE;
  send_to (self, network, MMTP_RECEIVER, &address, bytes, size);
}

GST_START_TEST (second_sender_changes_nothing)
{
  Attack attack = { ask_for_session, };

  check_that_nothing_changes (&attack, keys[__i__], 12);
}

GST_END_TEST;

/* While a sender has a session, another sender on the same host requests a
 * session. The first session must not be affected. */
GST_START_TEST (second_sender_on_the_same_host_changes_nothing)
{
  Attack attack = { ask_for_session, };

  attack.shares_host = TRUE;
  check_that_nothing_changes (&attack, keys[__i__], 12);
}

GST_END_TEST;

/* --- on-path attackers, no key -------------------------------------------- */

/* Draws one of the recorded messages of the session at random. If it was sent
 * at least SETTLED ns ago, sends a copy of it. The copy is unchanged, or
 * damaged, or has another source address, or goes back to the endpoint that
 * sent the message. */
static void
replay (Attack * self, MmtpNetwork * network)
{
  MmtpAddress address;
  MmtpRole to;
  Recorded copy;

  if (self->recorded->len == 0)
    return;
  copy = g_array_index (self->recorded, Recorded,
      attacker_draw (&self->state) % self->recorded->len);
  if (network->now < copy.time + SETTLED)
    return;
  to = copy.from == MMTP_SENDER ? MMTP_RECEIVER : MMTP_SENDER;
  address = copy.address;
  switch (attacker_draw (&self->state) % 4) {
    case 0:
      attacker_spoil (&self->state, copy.bytes, &copy.size);
      break;
    case 1:
      address = draw_address (self);
      break;
    case 2:
      to = copy.from;
      break;
    default:
      break;
  }
  send_to (self, network, to, &address, copy.bytes, copy.size);
}

GST_START_TEST (late_replay_changes_nothing)
{
  Attack attack = { replay, };

  attack.recorded = g_array_new (FALSE, FALSE, sizeof (Recorded));
  check_that_nothing_changes (&attack, KEY, 15);
}

GST_END_TEST;

/* Sends a damaged copy of the message that an endpoint has sent last. The copy
 * arrives before the message itself. The endpoint that receives the copy must
 * ignore it completely. */
static void
spoil_the_latest (Attack * self, MmtpNetwork * network)
{
  Recorded copy;

  if (!network->has_session)
    return;
  copy = g_array_index (self->recorded, Recorded, self->recorded->len - 1);
  attacker_spoil (&self->state, copy.bytes, &copy.size);
  send_to (self, network,
      copy.from == MMTP_SENDER ? MMTP_RECEIVER : MMTP_SENDER, &copy.address,
      copy.bytes, copy.size);
}

GST_START_TEST (corrupted_messages_change_nothing)
{
  Attack attack = { spoil_the_latest, };

  attack.recorded = g_array_new (FALSE, FALSE, sizeof (Recorded));
  check_that_nothing_changes (&attack, KEY, 12);
}

GST_END_TEST;

/* Sends a forged message of an attacker that knows the nonces and the cookie of
 * the session, but not the key of the session. */
static void
send_with_known_nonces (Attack * self, MmtpNetwork * network)
{
  MmtpRole from = attacker_draw (&self->state) & 1 ? MMTP_SENDER
      : MMTP_RECEIVER;
  MmtpAddress address = draw_address (self);
  MmtpMessage message;
  guint8 bytes[2000];
  gsize size;

  if (!network->streaming)
    return;
  mmtp_build_message (&message, attacker_draw (&self->state) % MMTP_LAST_TYPE,
      from, attacker_draw (&self->state) % MMTP_NETWORK_PATHS,
      &network->overheard, attacker_draw, &self->state);
  message.trailer = network->overheard.tokens[from == MMTP_RECEIVER];
  size = mmtp_packet_write (&message, bytes, sizeof (bytes));
  send_to (self, network, from == MMTP_SENDER ? MMTP_RECEIVER : MMTP_SENDER,
      &address, bytes, size);
}

GST_START_TEST (known_nonces_without_the_key_change_nothing)
{
  Attack attack = { send_with_known_nonces, };

  check_that_nothing_changes (&attack, KEY, 12);
}

GST_END_TEST;

/* --- attacks on the handshake --------------------------------------------- */

#define FORGED_DISTANCE (SECOND / 10000)        /* 10,000 messages a second */
#define N_FORGED_STEPS 4        /* INIT, COOKIE, OPEN, ACCEPT */

/* The kinds of forged messages in the tests of the handshake. When the attacker
 * sees a message of the handshake, it sends forged messages of one of these
 * kinds to the sender. `type` is the type of the forged message. If the type is
 * REFUSE, `reason` is the reason that the message states for the refusal. */
static const struct
{
  MmtpType type;
  MmtpRefuseReason reason;
} forged_answers[] = {
  {MMTP_REFUSE, MMTP_REFUSE_VERSION},
  {MMTP_REFUSE, MMTP_REFUSE_BUSY},
  {MMTP_REFUSE, MMTP_REFUSE_KEY},
  {MMTP_REFUSE, MMTP_REFUSE_COOKIE},
  {MMTP_REFUSE, MMTP_REFUSE_OVER},
  {MMTP_COOKIE,},
  {MMTP_ACCEPT,},
};

typedef struct
{
  Attack attack;
  /* Type of a handshake message. When the attacker sees a message of this type,
   * it sends forged messages. */
  MmtpType step;
  MmtpType type;                /* Type of the forged message. */
  MmtpRefuseReason reason;
  /* TRUE if the attacker forges no messages. Instead, it requests a COOKIE for
   * its own address from the receiver, and forwards this COOKIE to the sender.
   */
  gboolean relays;
  gboolean seen;
  /* The last COOKIE message that the receiver has sent to an address of the
   * attacker. */
  guint8 relayed[64];
  gsize relayed_size;
} Handshaker;

static void
send_forged_answer (Handshaker * self, MmtpNetwork * network, guint path)
{
  MmtpMessage message = { self->type };
  guint8 bytes[200];
  gsize size;

  message.channel = path;
  message.trailer = attacker_draw (&self->attack.state);
  memcpy (message.init.nonce, self->attack.nonce_s, MMTP_NONCE_SIZE);
  if (self->type == MMTP_REFUSE) {
    message.refuse.reason = self->reason;
  } else if (self->type == MMTP_COOKIE) {
    memset (message.init.cookie, attacker_draw (&self->attack.state),
        MMTP_COOKIE_SIZE);
  } else {
    message.accept.has_key = TRUE;
    message.accept.mac[0] = attacker_draw (&self->attack.state);
  }
  size = mmtp_packet_write (&message, bytes, sizeof (bytes));
  self->attack.n_sent++;
  mmtp_network_to_sender (network, path, bytes, size);
}

/* Sends an INIT to the receiver from an address of the attacker. The receiver
 * answers with a COOKIE that is valid for this address only. Forwards this
 * COOKIE to the sender. */
static void
relay_cookie (Handshaker * self, MmtpNetwork * network, guint path)
{
  const MmtpAddress address =
      attacker_make_unknown_host (attacker_draw (&self->attack.state) % 65536);
  MmtpMessage message = { MMTP_INIT };
  guint8 bytes[100];
  gsize size;

  message.channel = path;
  memcpy (message.init.nonce, self->attack.nonce_s, MMTP_NONCE_SIZE);
  size = mmtp_packet_write (&message, bytes, sizeof (bytes));
  self->relayed_size = 0;
  mmtp_network_to_receiver (network, &address, bytes, size);
  if (self->relayed_size > 0)
    mmtp_network_to_sender (network, path, self->relayed, self->relayed_size);
}

static gboolean
see_handshake (MmtpNetwork * network, MmtpRole from,
    const MmtpAddress * address, const guint8 * bytes, gsize size,
    gpointer data)
{
  Handshaker *self = data;
  const MmtpType type = bytes[0] & 0x1f;

  if (attacker_is_unknown_host (address)) {
    if (type == MMTP_COOKIE && size <= sizeof (self->relayed)) {
      memcpy (self->relayed, bytes, size);
      self->relayed_size = size;
    }
    return FALSE;
  }
  if (type == MMTP_INIT)
    memcpy (self->attack.nonce_s, bytes + MMTP_HEADER_SIZE, MMTP_NONCE_SIZE);
  self->seen |= type == self->step;
  return TRUE;
}

static void
answer_what_was_seen (MmtpNetwork * network, gpointer data)
{
  Handshaker *self = data;
  guint i;

  if (!self->seen)
    return;
  self->seen = FALSE;
  for (i = 0; i < 10; i++)
    if (self->relays)
      relay_cookie (self, network, i % MMTP_NETWORK_PATHS);
    else
      send_forged_answer (self, network, i % MMTP_NETWORK_PATHS);
}

static void
begin_handshake (MmtpNetwork * network, Handshaker * self, guint n_paths)
{
  const MmtpNetworkConfig config =
      { KEY, FRAME_SIZE, see_handshake, answer_what_was_seen, self };
  guint i;

  self->attack.state = 1;
  mmtp_network_init (network, &config);
  for (i = 0; i < n_paths; i++)
    mmtp_network_add_path (network, i);
  answer_what_was_seen (network, self);
}

/* Both endpoints have a key, which the attacker does not know. When the
 * attacker sees a certain message of the handshake, it sends forged answers to
 * the sender. The handshake must succeed nevertheless. */
GST_START_TEST (a_forged_step_of_the_handshake_stops_nothing)
{
  Handshaker self = { {NULL,}, };
  MmtpNetwork network;

  self.step = MMTP_INIT + __i__ / G_N_ELEMENTS (forged_answers);
  self.type = forged_answers[__i__ % G_N_ELEMENTS (forged_answers)].type;
  self.reason = forged_answers[__i__ % G_N_ELEMENTS (forged_answers)].reason;
  begin_handshake (&network, &self, MMTP_NETWORK_PATHS);
  mmtp_network_run (&network, 3 * SECOND);
  fail_unless (self.attack.n_sent >= 10);
  assert_equals_int (network.refused + network.lost, 0);
  assert_equals_int (network.sessions, 1);
  fail_unless (network.out->len >= 25, "%u buffers", network.out->len);
  mmtp_network_clear (&network);
}

GST_END_TEST;

/* A COOKIE is valid only for the address for which the receiver has made it.
 * The attacker requests a COOKIE for its own address and forwards it to the
 * sender. This COOKIE arrives before the COOKIE for the sender's own address.
 * The handshake must succeed nevertheless. */
GST_START_TEST (a_cookie_of_another_address_stops_nothing)
{
  Handshaker self = { {NULL,}, };
  MmtpNetwork network;

  self.step = MMTP_INIT + __i__;
  self.relays = TRUE;
  begin_handshake (&network, &self, 1);
  mmtp_network_run (&network, 3 * SECOND);
  fail_unless (self.relayed_size > 0);
  assert_equals_int (network.refused + network.lost, 0);
  assert_equals_int (network.sessions, 1);
  mmtp_network_clear (&network);
}

GST_END_TEST;

/* Sends an INIT, the first message of a handshake, without a seal. A seal is an
 * HMAC that shows that a sender has the key. In half of the calls, the INIT
 * comes from the sender's address, otherwise from another host. The receiver
 * limits its answers to INITs without a seal, and the INITs of this function
 * use up this limit. */
static void
flood_with_inits (Handshaker * self, MmtpNetwork * network)
{
  MmtpAddress address =
      attacker_make_unknown_host (attacker_draw (&self->attack.state) % 65536);
  MmtpMessage message = { MMTP_INIT };
  guint8 bytes[100];
  gsize size;

  if (attacker_draw (&self->attack.state) & 1)
    mmtp_network_get_address (0, &address);
  memcpy (message.init.nonce, self->attack.nonce_s, MMTP_NONCE_SIZE);
  message.init.nonce[0] ^= attacker_draw (&self->attack.state) & 1;
  size = mmtp_packet_write (&message, bytes, sizeof (bytes));
  mmtp_network_to_receiver (network, &address, bytes, size);
}

/* Sends a forged OPEN, the request for a session, in the sender's name. It has
 * the sender's address and nonce, but no valid MAC. In half of the calls, the
 * cookie is also wrong. */
static void
send_open_as_sender (Handshaker * self, MmtpNetwork * network)
{
  MmtpMessage message = { MMTP_OPEN };
  MmtpAddress address;
  guint8 bytes[200];
  gsize size;

  mmtp_network_get_address (0, &address);
  memcpy (message.open.nonce, self->attack.nonce_s, MMTP_NONCE_SIZE);
  memcpy (message.open.cookie, network->overheard.cookie, MMTP_COOKIE_SIZE);
  message.open.cookie[31] ^= attacker_draw (&self->attack.state) & 1;
  message.open.max_size = 1472;
  message.open.keepalive_period = 100;
  message.open.has_key = TRUE;
  size = mmtp_packet_write (&message, bytes, sizeof (bytes));
  mmtp_network_to_receiver (network, &address, bytes, size);
}

static void
send_any_step (Handshaker * self, MmtpNetwork * network, guint i)
{
  const guint n = G_N_ELEMENTS (forged_answers);

  self->attack.n_sent++;
  if (i % 4 == 0) {
    flood_with_inits (self, network);
  } else if (i % 4 == 1) {
    send_open_as_sender (self, network);
  } else if (i % 100 == 98) {
    relay_cookie (self, network, i / 100 % MMTP_NETWORK_PATHS);
  } else {
    self->type = forged_answers[i % n].type;
    self->reason = forged_answers[i % n].reason;
    send_forged_answer (self, network,
        attacker_draw (&self->attack.state) % MMTP_NETWORK_PATHS);
  }
}

/* An attacker floods the receiver with INITs before the sender sends its first
 * INIT. Then the attacker sends 10,000 forged messages per second for 2 s, with
 * all types of handshake messages. The handshake must succeed nevertheless, and
 * the stream must run. */
GST_START_TEST (a_flooded_handshake_succeeds)
{
  Handshaker self = { {NULL,}, };
  MmtpNetwork network;
  guint i;

  self.step = MMTP_LAST_TYPE;
  begin_handshake (&network, &self, MMTP_NETWORK_PATHS);
  for (i = 0; i < 2000; i++)
    flood_with_inits (&self, &network);
  for (i = 0; i < 20000; i++) {
    send_any_step (&self, &network, i);
    mmtp_network_run (&network, FORGED_DISTANCE);
  }
  assert_equals_int (network.refused + network.lost, 0);
  assert_equals_int (network.sessions, 1);
  fail_unless (network.out->len >= 25, "%u buffers", network.out->len);
  mmtp_network_clear (&network);
}

GST_END_TEST;

/* --- ended sessions ------------------------------------------------------- */

static void
replay_all (Attack * self, MmtpNetwork * network, guint n)
{
  guint i;

  for (i = 0; i < n; i++) {
    Recorded copy = g_array_index (self->recorded, Recorded, i);

    if (copy.from == MMTP_SENDER)
      mmtp_network_to_receiver (network, &copy.address, copy.bytes, copy.size);
    else
      mmtp_network_to_sender (network, 0, copy.bytes, copy.size);
  }
}

static void
end_session (MmtpNetwork * network, guint n)
{
  network->streaming = FALSE;
  mmtp_sender_end (network->sender, network->now);
  mmtp_network_run (network, 2 * SECOND);
  assert_equals_int (network->sessions, n);
  assert_equals_int (network->ended, n);
  assert_equals_int (network->ends, n);
}

static void
begin_second (MmtpNetwork * network)
{
  guint i;

  mmtp_network_begin_anew (network, 2);
  for (i = 0; i < MMTP_NETWORK_PATHS; i++)
    mmtp_network_add_path (network, i);
}

/* After the end of a session, an attacker replays the messages of the session.
 * The session must not begin again, although the OPEN (the request for the
 * session) is among these messages and its cookie is still valid for some
 * seconds. */
GST_START_TEST (a_session_that_is_over_does_not_come_back)
{
  Attack attack = { NULL, };
  MmtpNetwork network;
  guint i, n, n_out;

  attack.recorded = g_array_new (FALSE, FALSE, sizeof (Recorded));
  begin (&network, &attack, keys[__i__]);
  mmtp_network_run (&network, 3 * SECOND);
  end_session (&network, 1);
  n = attack.recorded->len;
  n_out = network.out->len;
  for (i = 0; i < 20; i++) {
    replay_all (&attack, &network, n);
    mmtp_network_run (&network, SECOND);
  }
  assert_equals_int (network.sessions, 1);
  assert_equals_int (network.ends, 1);
  assert_equals_int (network.out->len, n_out);
  finish (&network, &attack);
}

GST_END_TEST;

/* A first session has ended. An attacker has recorded the messages of this
 * session. The attacker replays them before and while a second sender begins a
 * session. The receiver must accept the second sender, and the replayed
 * messages must not disturb the second session. */
GST_START_TEST (an_old_session_is_nothing_to_a_new_one)
{
  Attack attack = { NULL, };
  MmtpNetwork network;
  guint i, n, n_out;

  attack.recorded = g_array_new (FALSE, FALSE, sizeof (Recorded));
  begin (&network, &attack, keys[__i__]);
  mmtp_network_run (&network, 3 * SECOND);
  end_session (&network, 1);
  n = attack.recorded->len;
  n_out = network.out->len;

  replay_all (&attack, &network, n);
  begin_second (&network);
  for (i = 0; i < 50; i++) {
    replay_all (&attack, &network, n);
    mmtp_network_run (&network, SECOND / 5);
  }
  assert_equals_int (network.sessions, 2);
  assert_equals_int (network.lost + network.refused + network.broken, 0);
  assert_equals_int (network.ends, 1);
  fail_unless (network.out->len >= n_out + 7 * 25, "%u buffers",
      network.out->len - n_out);
  finish (&network, &attack);
}

GST_END_TEST;

/* Two sessions took place one after the other, and both have ended. An attacker
 * replays the messages of both sessions. Neither session may begin again,
 * although the cookies in the replayed requests are still valid for some
 * seconds. */
GST_START_TEST (two_sessions_that_are_over_do_not_come_back)
{
  Attack attack = { NULL, };
  MmtpNetwork network;
  guint i;

  attack.recorded = g_array_new (FALSE, FALSE, sizeof (Recorded));
  begin (&network, &attack, keys[__i__]);
  mmtp_network_run (&network, SECOND);
  end_session (&network, 1);
  begin_second (&network);
  mmtp_network_run (&network, SECOND);
  end_session (&network, 2);
  for (i = 0; i < 20; i++) {
    replay_all (&attack, &network, attack.recorded->len);
    mmtp_network_run (&network, SECOND);
  }
  assert_equals_int (network.sessions, 2);
  assert_equals_int (network.ends, 2);
  finish (&network, &attack);
}

GST_END_TEST;

/* Sends 2000 OPENs (requests for a session) with cookies that the receiver has
 * not made. In half of the cookies, the field for the time is 0. The receiver
 * must refuse all these OPENs and begin no session. */
GST_START_TEST (a_session_needs_a_cookie)
{
  Attack attack = { NULL, };
  MmtpMessage message = { MMTP_OPEN, };
  MmtpAddress address;
  guint8 bytes[200];
  MmtpNetwork network;
  gsize size;
  guint i;

  begin (&network, &attack, NULL);
  message.open.max_size = 1472;
  message.open.keepalive_period = 100;
  for (i = 0; i < 1000; i++) {
    address = attacker_make_unknown_host (i);
    memset (message.open.cookie, i, MMTP_COOKIE_SIZE);
    size = mmtp_packet_write (&message, bytes, sizeof (bytes));
    mmtp_network_to_receiver (&network, &address, bytes, size);
    memset (message.open.cookie, 0, 8);
    size = mmtp_packet_write (&message, bytes, sizeof (bytes));
    mmtp_network_to_receiver (&network, &address, bytes, size);
  }
  assert_equals_int (network.sessions, 0);
  assert_equals_uint64 (count_refused (network.receiver_stats.refused), 2000);
  finish (&network, &attack);
}

GST_END_TEST;

/* --- floods --------------------------------------------------------------- */

static gsize
write_init (guint8 * bytes, gsize room, guint32 number)
{
  MmtpMessage message = { MMTP_INIT, };

  memcpy (message.init.nonce, &number, sizeof (number));
  return mmtp_packet_write (&message, bytes, room);
}

/* In each of three seconds, 100,000 INITs (requests for a cookie) from
 * different addresses arrive at the same moment. The receiver stores nothing
 * about the hosts that send INITs. It stores only its answers until they are
 * sent, and these must be at most 1024. The receiver may send at most 20,000
 * answers per second (docs/wire-mmtp.md section 4), and at most a tenth of this
 * number in one burst. */
GST_START_TEST (a_flood_of_inits_leaves_nothing_behind)
{
  MmtpReceiverConfig config;
  MmtpReceiver *receiver;
  guint8 entropy[MMTP_ENTROPY_SIZE] = { 1, }, bytes[2000];
  MmtpReceiverEvent event;
  MmtpAddress address;
  guint second, i, n;
  gsize size;

  mmtp_receiver_config_init (&config);
  receiver = mmtp_receiver_new (&config, entropy);
  for (second = 1; second < 4; second++) {
    for (i = 0; i < 100000; i++) {
      address = attacker_make_unknown_host (i);
      size = write_init (bytes, sizeof (bytes), i);
      mmtp_receiver_input (receiver, second * SECOND, &address, bytes, size);
    }
    for (n = 0; (size = mmtp_receiver_poll_output (receiver, second * SECOND,
                &address, bytes, sizeof (bytes))); n++)
      assert_equals_int (size, 63);
    fail_unless (n >= 1 && n <= 1024, "%u cookies", n);
    fail_if (mmtp_receiver_poll_event (receiver, &event));
  }
  mmtp_receiver_free (receiver);
}

GST_END_TEST;

static void
flood (Attack * self, MmtpNetwork * network)
{
  guint8 bytes[100];
  guint i;

  for (i = 0; i < 20; i++) {
    MmtpAddress address = attacker_make_unknown_host (self->n_sent++ % 65536);
    gsize size = write_init (bytes, sizeof (bytes), self->n_sent);

    mmtp_network_to_receiver (network, &address, bytes, size);
  }
}

/* Floods the receiver with INITs, the first messages of a handshake, from many
 * addresses during a session. The session must not be disturbed. In addition,
 * the simulated network checks how much the receiver sends. To an address that
 * is not validated, the receiver must not send more bytes than it has received
 * from this address. */
GST_START_TEST (a_flood_of_inits_does_not_disturb_a_session)
{
  MmtpNetwork quiet, attacked;
  Attack nobody = { NULL, }, attack = { flood, };
  const guint seconds = 8;

  begin (&quiet, &nobody, keys[__i__]);
  mmtp_network_run (&quiet, seconds * SECOND);
  assert_streamed (&quiet, seconds);
  attack.attack = NULL;
  begin (&attacked, &attack, keys[__i__]);
  mmtp_network_run (&attacked, SECOND);
  attack.attack = flood;
  mmtp_network_run (&attacked, (seconds - 1) * SECOND);
  fail_unless (attack.n_sent > 10000);
  assert_same (&quiet, &nobody, &attacked, &attack);
  finish (&attacked, &attack);
  finish (&quiet, &nobody);
}

GST_END_TEST;

/* --- attackers who intercept messages ------------------------------------- */

/* An attacker intercepts the sender's messages on one path and keeps them, so
 * the receiver does not get them. Later, resend () sends them to the receiver
 * from the attacker's address. */
static gboolean
steal (MmtpNetwork * network, MmtpRole from, const MmtpAddress * address,
    const guint8 * bytes, gsize size, gpointer data)
{
  Attack *self = data;
  MmtpAddress own;

  mmtp_network_get_address (self->attacker_path, &own);
  if (from != MMTP_SENDER || !network->streaming
      || memcmp (&own, address, sizeof (own)) != 0)
    return TRUE;
  keep (self, network, from, address, bytes, size);
  return FALSE;
}

static void
resend (Attack * self, MmtpNetwork * network)
{
  MmtpAddress address = attacker_make_unknown_host (7);
  guint i;

  for (i = 0; i < self->recorded->len; i++) {
    Recorded *stolen = &g_array_index (self->recorded, Recorded, i);

    send_to (self, network, MMTP_RECEIVER, &address, stolen->bytes,
        stolen->size);
  }
  g_array_set_size (self->recorded, 0);
}

/* An attacker has intercepted the sender's messages on one path, and sends them
 * to the receiver from its own address. The receiver validates each new
 * address: it sends a CHALLENGE to the address and waits for the answer. Only
 * the sender can make this answer, so the attacker must get no path. The
 * session must continue on the other paths. */
GST_START_TEST (an_attacker_gets_no_path)
{
  MmtpSenderPathStats stats;
  Attack attack = { resend, };
  MmtpNetwork network;
  MmtpAddress own = attacker_make_unknown_host (7);

  attack.recorded = g_array_new (FALSE, FALSE, sizeof (Recorded));
  attack.attacker_path = __i__;
  begin (&network, &attack, KEY);
  network.config.sent = steal;
  mmtp_network_run (&network, 15 * SECOND);
  fail_unless (attack.n_sent > 0);
  assert_equals_int (network.sessions, 1);
  assert_equals_int (network.lost + network.refused, 0);
  fail_unless (mmtp_network_get_sent (&network, &own) <= 40 * 31);
  mmtp_sender_get_path_stats (network.sender, __i__, &stats);
  fail_if (stats.state == MMTP_PATH_ACTIVE);
  fail_unless (network.out->len >= 10 * 25, "%u buffers", network.out->len);
  finish (&network, &attack);
}

GST_END_TEST;

/* A RESPONSE is the sender's answer to a CHALLENGE, with which the receiver
 * validates an address. The attacker intercepts a RESPONSE, so the receiver
 * does not get it. Later the attacker sends this RESPONSE from its own address.
 * The receiver must not validate the attacker's address, because a challenge is
 * valid for one address only. */
static gboolean
steal_response (MmtpNetwork * network, MmtpRole from,
    const MmtpAddress * address, const guint8 * bytes, gsize size,
    gpointer data)
{
  Attack *self = data;

  if ((bytes[0] & 0x1f) != MMTP_RESPONSE)
    return TRUE;
  keep (self, network, from, address, bytes, size);
  return FALSE;
}

GST_START_TEST (copied_response_validates_no_other_address)
{
  Attack attack = { resend, };
  MmtpNetwork network;
  MmtpAddress own = attacker_make_unknown_host (7);

  attack.recorded = g_array_new (FALSE, FALSE, sizeof (Recorded));
  begin (&network, &attack, keys[__i__]);
  network.config.sent = steal_response;
  g_array_set_size (attack.recorded, 0);
  mmtp_network_run (&network, 15 * SECOND);
  fail_unless (attack.n_sent > 0);
  assert_equals_int (mmtp_network_get_sent (&network, &own), 0);
  assert_equals_int (network.sessions, 1);
  assert_equals_int (network.lost + network.refused, 0);
  /* All RESPONSEs were intercepted, so no second path has joined the session.
   * The path of the handshake needs no RESPONSE, so the stream must continue on
   * this path. Of the 15 s of the stream, the buffers of at least 7 s must be
   * output. */
  fail_unless (network.out->len >= (15 - 8) * 25, "%u buffers",
      network.out->len);
  finish (&network, &attack);
}

GST_END_TEST;

/* --- floods before the first handshake ------------------------------------ */

#define FLOOD_RATE 10           /* INITs each ms */
#define FLOOD_TIME 10000        /* ms */
#define N_REAL 200

typedef struct
{
  MmtpAddress address;
  /* `next_init` is the time in ms at which the sender sends its next INIT. It
   * is 0 after the sender has got a cookie. `wait` is the interval in ms
   * between the next INIT and the one after it. */
  guint next_init, wait;
} RealSender;

typedef struct
{
  MmtpReceiver *receiver;
  guint64 now;
  guint32 state;
  RealSender real[N_REAL];
  guint n_answers;
} Flood;

static MmtpAddress
make_host (guint8 a, guint8 b, guint8 c, guint8 d)
{
  MmtpAddress address = { 6, {a, b, c, d, 0x13, 0x8c}, 4, 3 };

  return address;
}

static void
flood_init (Flood * self)
{
  const guint8 entropy[MMTP_ENTROPY_SIZE] = { 1, };
  MmtpReceiverConfig config;
  guint i;

  memset (self, 0, sizeof (*self));
  self->state = 1;
  self->now = SECOND;
  mmtp_receiver_config_init (&config);
  self->receiver = mmtp_receiver_new (&config, entropy);
  for (i = 0; i < N_REAL; i++) {
    self->real[i].address = make_host (100, 64, i, 7);
    self->real[i].next_init = 1 + i * 10;
    self->real[i].wait = 250;
  }
}

static void
give_init (Flood * self, const MmtpAddress * address)
{
  guint8 bytes[100];
  gsize size = write_init (bytes, sizeof (bytes), attacker_draw (&self->state));

  mmtp_receiver_input (self->receiver, self->now, address, bytes, size);
}

typedef enum
{
  INITS_FROM_ANYWHERE,
  INITS_FROM_ONE_PREFIX,
  /* The next two types of floods consist of OPENs (requests for a session). The
   * cookies in these OPENs were not made by the receiver. */
  OPENS_FROM_ANYWHERE,
  OPENS_FROM_ONE_PREFIX,
  N_FLOODS
} FloodType;

static void
give_open (Flood * self, const MmtpAddress * address)
{
  MmtpMessage message = { MMTP_OPEN, };
  guint8 bytes[200];
  gsize size;

  message.open.max_size = 1472;
  message.open.keepalive_period = 100;
  memset (message.open.cookie, attacker_draw (&self->state), MMTP_COOKIE_SIZE);
  memset (message.open.cookie, 0, 8);
  size = mmtp_packet_write (&message, bytes, sizeof (bytes));
  mmtp_receiver_input (self->receiver, self->now, address, bytes, size);
}

static void
send_forged_requests (Flood * self, FloodType type)
{
  guint i;

  for (i = 0; i < FLOOD_RATE; i++) {
    guint32 drawn = attacker_draw (&self->state);
    MmtpAddress address = type % 2 ? make_host (203, 0, 113, drawn) :
        make_host (drawn >> 24, drawn >> 16, drawn >> 8, drawn);

    if (type < OPENS_FROM_ANYWHERE)
      give_init (self, &address);
    else
      give_open (self, &address);
  }
}

/* Sends the INITs that are due at the time `ms`. The INITs come from the real
 * senders, which are not part of the flood. A sender repeats its first INIT
 * after 250 ms. It doubles the interval after each repetition, up to 2 s
 * (docs/wire-mmtp.md section 4). */
static void
ask_again (Flood * self, guint ms)
{
  guint i;

  for (i = 0; i < N_REAL; i++) {
    RealSender *real = &self->real[i];

    if (real->next_init != ms)
      continue;
    give_init (self, &real->address);
    real->next_init += real->wait;
    real->wait = MIN (2 * real->wait, 2000);
  }
}

static void
take_answers (Flood * self)
{
  MmtpAddress address;
  guint8 bytes[200];
  guint i;

  while (mmtp_receiver_poll_output (self->receiver, self->now, &address, bytes,
          sizeof (bytes)) > 0) {
    self->n_answers++;
    for (i = 0; i < N_REAL; i++)
      if (memcmp (&address, &self->real[i].address, sizeof (address)) == 0)
        self->real[i].next_init = 0;
  }
}

/* A flood of 10,000 forged requests per second lasts for 10 s. In its first two
 * seconds, 200 real senders begin a handshake. None of their hosts had a
 * session before. All 200 senders must get a cookie before the flood ends. */
GST_START_TEST (flood_of_requests_keeps_no_sender_out)
{
  guint ms, i, without = 0;
  Flood flood;

  flood_init (&flood);
  for (ms = 1; ms <= FLOOD_TIME; ms++) {
    flood.now += SECOND / 1000;
    send_forged_requests (&flood, __i__);
    ask_again (&flood, ms);
    take_answers (&flood);
  }
  for (i = 0; i < N_REAL; i++)
    without += flood.real[i].next_init > 0;
  fail_unless (without == 0, "%u of %u senders have no cookie", without,
      N_REAL);
  /* If __i__ is odd, all forged requests come from one network. The receiver
   * may send this network 100 answers immediately and 100 more per second. In
   * addition, it may send one answer to each real sender. */
  if (__i__ % 2)
    fail_unless (flood.n_answers <= N_REAL + 100 + FLOOD_TIME / 1000 * 100,
        "%u answers", flood.n_answers);
  mmtp_receiver_free (flood.receiver);
}

GST_END_TEST;

/* Sends INITs, the first messages of a handshake, from forged addresses in the
 * sender's own network (address prefix). For each network, the receiver limits
 * the number of its answers, and the forged INITs use up this limit for the
 * sender's network. The sender must nevertheless get an answer: it had a
 * session before. The receiver reserves additional answers for the hosts that
 * had a session most recently. */
static void
flood_own_prefix (Attack * self, MmtpNetwork * network)
{
  MmtpAddress address = attacker_make_shared_address ();
  guint8 bytes[100];
  guint i;

  for (i = 0; i < FLOOD_RATE; i++) {
    gsize size = write_init (bytes, sizeof (bytes), self->n_sent++);

    address.bytes[3] = 16 + self->n_sent % 200;
    mmtp_network_to_receiver (network, &address, bytes, size);
  }
}

GST_START_TEST (flood_of_inits_keeps_no_old_sender_out)
{
  Attack attack = { NULL, };
  MmtpNetwork network;
  guint ms;

  begin (&network, &attack, keys[__i__]);
  mmtp_network_run (&network, 2 * SECOND);
  end_session (&network, 1);
  for (ms = 0; ms < 1000; ms++) {
    flood_own_prefix (&attack, &network);
    mmtp_network_run (&network, SECOND / 1000);
  }
  begin_second (&network);
  for (ms = 0; ms < 1000; ms++) {
    flood_own_prefix (&attack, &network);
    mmtp_network_run (&network, SECOND / 1000);
  }
  assert_equals_int (network.sessions, 2);
  finish (&network, &attack);
}

GST_END_TEST;

static Suite *
mmtpattack_suite (void)
{
  Suite *suite = suite_create ("mmtpattack");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, guessed_messages_change_nothing, 0, 2);
  tcase_add_loop_test (tcase, noise_changes_nothing, 0, 2);
  tcase_add_loop_test (tcase, second_sender_changes_nothing, 0, 2);
  tcase_add_loop_test (tcase, second_sender_on_the_same_host_changes_nothing, 0,
      G_N_ELEMENTS (keys));
  tcase_add_test (tcase, late_replay_changes_nothing);
  tcase_add_test (tcase, corrupted_messages_change_nothing);
  tcase_add_test (tcase, known_nonces_without_the_key_change_nothing);
  tcase_add_loop_test (tcase, a_forged_step_of_the_handshake_stops_nothing, 0,
      N_FORGED_STEPS * G_N_ELEMENTS (forged_answers));
  tcase_add_loop_test (tcase, a_cookie_of_another_address_stops_nothing, 0,
      N_FORGED_STEPS);
  tcase_add_test (tcase, a_flooded_handshake_succeeds);
  tcase_add_loop_test (tcase, a_session_that_is_over_does_not_come_back, 0, 2);
  tcase_add_loop_test (tcase, an_old_session_is_nothing_to_a_new_one, 0, 2);
  tcase_add_loop_test (tcase, two_sessions_that_are_over_do_not_come_back, 0,
      2);
  tcase_add_test (tcase, a_session_needs_a_cookie);
  tcase_add_test (tcase, a_flood_of_inits_leaves_nothing_behind);
  tcase_add_loop_test (tcase, a_flood_of_inits_does_not_disturb_a_session, 0,
      2);
  tcase_add_loop_test (tcase, flood_of_requests_keeps_no_sender_out, 0,
      N_FLOODS);
  tcase_add_loop_test (tcase, flood_of_inits_keeps_no_old_sender_out, 0, 2);
  tcase_add_loop_test (tcase, an_attacker_gets_no_path, 0, MMTP_NETWORK_PATHS);
  tcase_add_loop_test (tcase, copied_response_validates_no_other_address, 0, 2);
  return suite;
}

GST_CHECK_MAIN (mmtpattack);

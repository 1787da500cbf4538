/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the receiver in virtual time. The test acts as the sender: it builds
 * each message, passes it to the receiver, and takes the receiver's answers. */

#include <gst/check/gstcheck.h>
#include <string.h>

#include "mmtpkeys.h"
#include "mmtpparity.h"
#include "mmtpreceiver.h"

#define MS(n) ((n) * G_GUINT64_CONSTANT (1000000))
#define US(n) ((n) * G_GUINT64_CONSTANT (1000))

/* Time on the sender's clock, in us, when the receiver's clock shows OUR_START.
 * The two clocks differ by nearly 2^48 us, to check that the receiver also
 * works with a large difference. */
#define SENDER_START G_GUINT64_CONSTANT (281474975736640)       /* us */
#define OUR_START MS (5000)
#define PERIOD 100              /* ms */
#define D0 500                  /* ms */
/* Size of the payload of a DATA message in bytes. The receiver may use only a
 * part of the path's rate for reports. If a DATA message of this size arrives
 * every 10 ms, this part suffices for a report in each report period. */
#define PAYLOAD 1200            /* bytes */

typedef struct
{
  MmtpReceiver *receiver;
  guint64 now;                  /* ns, ours */
  MmtpKey key;
  /* With these two objects, messages are sealed (protected against forgery).
   * The seal is a token or, if the session has a key, an HMAC. `ours` is used
   * for messages of the simulated sender, and `theirs` for messages of the
   * receiver. */
  MmtpDirection ours, theirs;
  guint8 nonce[MMTP_NONCE_SIZE];
  /* Token that the receiver puts into its messages if the session has no key.
   * The sender has chosen it. */
  guint64 token;
  guint64 numbers[MMTP_MAX_PATHS];
  guint64 theirs_number[MMTP_MAX_PATHS];
  guint32 next;                 /* stream number */
  /* `bytes` is the last message that the receiver has sent, `size` its size,
   * and `message` its parsed form. `address` is the address to which it was
   * sent. */
  guint8 bytes[MMTP_MAX_MESSAGE];
  gsize size;
  MmtpMessage message;
  MmtpAddress address;
} Peer;

static MmtpAddress
make_address (guint8 host)
{
  MmtpAddress address = { 6, {192, 0, 2, host, 0x13, 0x8c}, 4, 3 };

  return address;
}

static void
peer_init (Peer * peer, const MmtpReceiverConfig * config, const gchar * key)
{
  MmtpReceiverConfig own;
  guint8 entropy[MMTP_ENTROPY_SIZE];
  GBytes *bytes = key ? g_bytes_new (key, strlen (key)) : NULL;
  guint i;

  memset (peer, 0, sizeof (*peer));
  for (i = 0; i < sizeof (entropy); i++)
    entropy[i] = i * 7;
  for (i = 0; i < sizeof (peer->nonce); i++)
    peer->nonce[i] = 100 + i;
  if (config)
    own = *config;
  else
    mmtp_receiver_config_init (&own);
  own.key = bytes;
  peer->receiver = mmtp_receiver_new (&own, entropy);
  peer->now = OUR_START;
  peer->token = G_GUINT64_CONSTANT (0x1122334455667788);
  mmtp_key_init (&peer->key, bytes);
  if (bytes)
    g_bytes_unref (bytes);
}

static void
peer_clear (Peer * peer)
{
  mmtp_receiver_free (peer->receiver);
  mmtp_key_clear (&peer->key);
  if (peer->ours.hmac)
    mmtp_direction_clear (&peer->ours);
  if (peer->theirs.hmac)
    mmtp_direction_clear (&peer->theirs);
}

static guint64
sender_now (const Peer * peer)
{
  return SENDER_START + (peer->now - OUR_START) / 1000;
}

/* A message contains its time of sending as 24 bits, in units of 10 us. Returns
 * this field for a message that was sent `ms` milliseconds ago. */
static guint32
sent_before (const Peer * peer, guint ms)
{
  return (sender_now (peer) - ms * 1000) / 10 & 0xffffff;
}

static MmtpMessage
make (const Peer * peer, MmtpType type, guint8 path, guint transit)
{
  MmtpMessage message;

  memset (&message, 0, sizeof (message));
  message.type = type;
  message.channel = path;
  message.sent = sent_before (peer, transit);
  return message;
}

static void
give (Peer * peer, const MmtpMessage * message, const MmtpAddress * address)
{
  guint8 bytes[2000];
  gsize size = mmtp_packet_write (message, bytes, sizeof (bytes));

  fail_unless (size > 0);
  mmtp_receiver_input (peer->receiver, peer->now, address, bytes, size);
}

/* Passes a message of the simulated sender to the receiver. The message gets
 * the next message number of its path and a valid trailer. */
static void
give_sealed (Peer * peer, MmtpMessage * message, const MmtpAddress * address)
{
  guint64 number = peer->numbers[message->channel]++;
  guint8 bytes[2000];
  gsize size;

  message->number = number & 0xffff;
  if (message->type == MMTP_JOIN)
    message->join.number = number;
  if (message->type == MMTP_KEEPALIVE)
    message->keepalive.number = number;
  size = mmtp_packet_write (message, bytes, sizeof (bytes));
  fail_unless (size > 0);
  mmtp_direction_seal (&peer->ours, number, bytes, size);
  mmtp_receiver_input (peer->receiver, peer->now, address, bytes, size);
}

static gboolean
poll_message (Peer * peer)
{
  peer->size = mmtp_receiver_poll_output (peer->receiver, peer->now,
      &peer->address, peer->bytes, sizeof (peer->bytes));
  if (peer->size == 0)
    return FALSE;
  fail_unless_equals_int (mmtp_packet_parse_header (&peer->message,
          peer->bytes, peer->size, MMTP_RECEIVER), MMTP_VALID);
  fail_unless_equals_int (mmtp_packet_parse_body (&peer->message,
          peer->bytes, peer->size), MMTP_VALID);
  return TRUE;
}

/* Takes the next message of the session from the receiver. Checks its number:
 * the messages of each path have consecutive numbers. Returns FALSE if there is
 * no message. */
static gboolean
poll_sealed (Peer * peer)
{
  guint64 number;

  if (!poll_message (peer))
    return FALSE;
  number = peer->theirs_number[peer->message.channel]++;
  fail_unless_equals_int (peer->message.number, number & 0xffff);
  fail_unless (mmtp_direction_verify (&peer->theirs, number, peer->bytes,
          peer->size));
  return TRUE;
}

static gboolean
poll_type (Peer * peer, MmtpType type)
{
  while (poll_sealed (peer))
    if (peer->message.type == type)
      return TRUE;
  return FALSE;
}

/* Takes messages from the receiver, and ignores them, until it has no more
 * messages. */
static void
drain (Peer * peer)
{
  while (poll_sealed (peer));
}

static gboolean
poll_event (Peer * peer, MmtpReceiverEventType type, MmtpReceiverEvent * event)
{
  if (!mmtp_receiver_poll_event (peer->receiver, event))
    return FALSE;
  fail_unless_equals_int (event->type, type);
  return TRUE;
}

static guint64
count_refused (Peer * peer, MmtpRefusal refusal)
{
  MmtpReceiverStats stats;

  mmtp_receiver_get_stats (peer->receiver, &stats);
  return stats.refused[refusal];
}

/* --- handshake ------------------------------------------------------------ */

/* Passes an INIT, the first message of the handshake, to the receiver. If the
 * simulated sender has a key, the trailer of the INIT is a seal (an HMAC). */
static void
give_init (Peer * peer, const MmtpAddress * address)
{
  MmtpMessage init = make (peer, MMTP_INIT, 0, 0);
  guint8 bytes[MMTP_INIT_SIZE];
  gsize size;

  memcpy (init.init.nonce, peer->nonce, MMTP_NONCE_SIZE);
  size = mmtp_packet_write (&init, bytes, sizeof (bytes));
  fail_unless_equals_int (size, sizeof (bytes));
  mmtp_key_seal (&peer->key, bytes, size);
  mmtp_receiver_input (peer->receiver, peer->now, address, bytes, size);
}

static MmtpMessage
make_open (Peer * peer, const guint8 * cookie)
{
  MmtpMessage open = make (peer, MMTP_OPEN, 0, 0);
  guint8 bytes[2000];

  memcpy (open.open.nonce, peer->nonce, MMTP_NONCE_SIZE);
  memcpy (open.open.cookie, cookie, MMTP_COOKIE_SIZE);
  open.open.token = peer->token;
  open.open.initial_delay = D0 * 1000;
  open.open.bit_rate = 1000000;
  open.open.frame_period = 40000;
  open.open.max_size = 1472;
  open.open.keepalive_period = PERIOD;
  open.open.now = sender_now (peer);
  open.open.has_key = peer->key.is_set;
  open.number = peer->numbers[0]++;
  fail_unless (mmtp_packet_write (&open, bytes, sizeof (bytes)) > 0);
  mmtp_key_sign (&peer->key, bytes, 92, open.open.mac);
  return open;
}

static void
take_accept (Peer * peer)
{
  fail_unless (poll_message (peer));
  fail_unless_equals_int (peer->message.type, MMTP_ACCEPT);
  fail_unless_equals_int (peer->message.number, 0);
  fail_unless (memcmp (peer->message.accept.nonce, peer->nonce,
          MMTP_NONCE_SIZE) == 0);
  fail_unless (mmtp_key_verify (&peer->key, peer->bytes, 52,
          peer->message.accept.mac));
  peer->theirs_number[0] = 1;
  mmtp_direction_init (&peer->ours, &peer->key, peer->nonce,
      peer->message.accept.nonce_r, MMTP_SENDER, peer->message.accept.token);
  mmtp_direction_init (&peer->theirs, &peer->key, peer->nonce,
      peer->message.accept.nonce_r, MMTP_RECEIVER, peer->token);
}

/* Path 0, from host 1 */
static void
open_session (Peer * peer)
{
  MmtpAddress address = make_address (1);
  MmtpReceiverEvent event;
  MmtpMessage open;

  give_init (peer, &address);
  fail_unless (poll_message (peer));
  fail_unless_equals_int (peer->message.type, MMTP_COOKIE);
  open = make_open (peer, peer->message.init.cookie);
  give (peer, &open, &address);
  take_accept (peer);
  fail_if (poll_message (peer));
  fail_unless (poll_event (peer, MMTP_EVENT_SESSION, &event));
  fail_unless_equals_uint64 (event.delay, MS (D0));
  fail_unless_equals_uint64 (event.bit_rate, 1000000);
  fail_unless_equals_int (event.frame_rate, 25000);
  fail_unless (poll_event (peer, MMTP_EVENT_JOINED, &event));
  fail_if (mmtp_receiver_poll_event (peer->receiver, &event));
}

GST_START_TEST (a_session_opens_by_a_cookie)
{
  static const gchar *const keys[] = { NULL, "secret" };
  MmtpAddress address = make_address (1);
  MmtpReceiverStats stats;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (keys); i++) {
    Peer peer;
    MmtpMessage open;
    guint8 cookie[MMTP_COOKIE_SIZE];

    peer_init (&peer, NULL, keys[i]);
    give_init (&peer, &address);
    fail_unless (poll_message (&peer));
    fail_unless (peer.size <= MMTP_INIT_SIZE);
    fail_unless (memcmp (&peer.address, &address, sizeof (address)) == 0);
    memcpy (cookie, peer.message.init.cookie, sizeof (cookie));
    /* An INIT has arrived, but no OPEN yet. In this state, the receiver must
     * store nothing about the sender, so that a flood of INITs cannot fill its
     * memory. Therefore no timer may run. */
    fail_unless (mmtp_receiver_next_wakeup (peer.receiver) == MMTP_NEVER);
    peer.now += MS (100);
    open = make_open (&peer, cookie);
    give (&peer, &open, &address);
    take_accept (&peer);
    mmtp_receiver_get_stats (peer.receiver, &stats);
    fail_unless (stats.in_session);
    fail_unless_equals_uint64 (stats.sessions, 1);
    peer_clear (&peer);
  }
}

GST_END_TEST;

static void
expect_refuse (Peer * peer, MmtpRefuseReason reason)
{
  fail_unless (poll_message (peer));
  fail_unless_equals_int (peer->message.type, MMTP_REFUSE);
  fail_unless_equals_int (peer->message.refuse.reason, reason);
  fail_unless (memcmp (peer->message.refuse.nonce, peer->nonce,
          MMTP_NONCE_SIZE) == 0);
}

/* With a REFUSE, the receiver refuses an OPEN (the request for a session). It
 * must seal the REFUSE (add an HMAC as its trailer) only if the OPEN comes from
 * a sender that has the key. If the OPEN has a wrong MAC or a wrong cookie
 * (reasons MMTP_REFUSE_KEY and MMTP_REFUSE_COOKIE), an attacker without the key
 * may have sent it in the sender's name. If this REFUSE were sealed, the real
 * sender would believe it and give up. */
GST_START_TEST (only_a_refusal_of_a_right_open_is_sealed)
{
  MmtpAddress here = make_address (1), there = make_address (2);
  guint8 cookie[MMTP_COOKIE_SIZE];
  MmtpMessage open;
  Peer peer, other;

  peer_init (&peer, NULL, "secret");
  open_session (&peer);
  other = peer;
  other.nonce[0] ^= 1;
  other.numbers[0] = 7;
  give_init (&other, &there);
  fail_unless (poll_message (&other));
  fail_unless (mmtp_key_verify_seal (&peer.key, other.bytes, other.size));
  memcpy (cookie, other.message.init.cookie, sizeof (cookie));

  open = make_open (&other, cookie);
  give (&other, &open, &there);
  expect_refuse (&other, MMTP_REFUSE_BUSY);
  fail_unless (mmtp_key_verify_seal (&peer.key, other.bytes, other.size));
  fail_unless_equals_int (other.message.number, 7);

  open.open.mac[0] ^= 1;
  give (&other, &open, &there);
  expect_refuse (&other, MMTP_REFUSE_KEY);
  fail_if (mmtp_key_verify_seal (&peer.key, other.bytes, other.size));
  give (&other, &open, &here);
  expect_refuse (&other, MMTP_REFUSE_COOKIE);
  fail_if (mmtp_key_verify_seal (&peer.key, other.bytes, other.size));
  peer_clear (&peer);
}

GST_END_TEST;

GST_START_TEST (refusal_states_the_reason)
{
  MmtpAddress here = make_address (1), there = make_address (2);
  guint8 cookie[MMTP_COOKIE_SIZE];
  MmtpMessage open;
  Peer peer;

  peer_init (&peer, NULL, "secret");
  give_init (&peer, &here);
  fail_unless (poll_message (&peer));
  memcpy (cookie, peer.message.init.cookie, sizeof (cookie));
  /* A cookie is valid only for the address for which it was made, and only for
   * a limited time. An OPEN (the request for a session) contains a cookie. The
   * receiver must refuse an OPEN that comes from another address, and an OPEN
   * that arrives 12 s later. */
  open = make_open (&peer, cookie);
  give (&peer, &open, &there);
  expect_refuse (&peer, MMTP_REFUSE_COOKIE);
  peer.now += MS (12000);
  give (&peer, &open, &here);
  expect_refuse (&peer, MMTP_REFUSE_COOKIE);
  peer.now -= MS (12000);
  mmtp_receiver_free (peer.receiver);
  mmtp_key_clear (&peer.key);

  peer_init (&peer, NULL, "secret");
  give_init (&peer, &here);
  fail_unless (poll_message (&peer));
  memcpy (cookie, peer.message.init.cookie, sizeof (cookie));
  open = make_open (&peer, cookie);
  open.open.mac[0] ^= 1;
  give (&peer, &open, &here);
  expect_refuse (&peer, MMTP_REFUSE_KEY);
  open.open.has_key = FALSE;
  memset (open.open.mac, 0, MMTP_MAC_SIZE);
  give (&peer, &open, &here);
  expect_refuse (&peer, MMTP_REFUSE_KEY);
  fail_unless_equals_uint64 (count_refused (&peer, MMTP_REFUSED_SESSION), 2);
  fail_if (poll_message (&peer));
  peer_clear (&peer);
}

GST_END_TEST;

static void
give_of_version (Peer * peer, MmtpMessage * message, guint version)
{
  MmtpAddress address = make_address (1);
  guint8 bytes[256];
  gsize size = mmtp_packet_write (message, bytes, sizeof (bytes));

  bytes[0] = (bytes[0] & 0x1f) | version << 5;
  mmtp_receiver_input (peer->receiver, peer->now, &address, bytes, size);
}

/* A sender uses another version of the protocol. The receiver must refuse each
 * of its messages, and the answer must contain the receiver's version. The
 * application must get only one event for each version, because anyone can send
 * such messages at a high rate. */
GST_START_TEST (another_version_is_refused_and_told)
{
  static const guint8 cookie[MMTP_COOKIE_SIZE];
  static const guint versions[] = { 1, 3, 1, 3 };
  MmtpReceiverEvent event;
  MmtpMessage messages[2];
  Peer peer;
  guint i, j;

  peer_init (&peer, NULL, NULL);
  messages[0] = make (&peer, MMTP_INIT, 0, 0);
  memcpy (messages[0].init.nonce, peer.nonce, MMTP_NONCE_SIZE);
  messages[1] = make_open (&peer, cookie);
  for (i = 0; i < G_N_ELEMENTS (versions); i++) {
    for (j = 0; j < G_N_ELEMENTS (messages); j++) {
      give_of_version (&peer, &messages[j], versions[i]);
      expect_refuse (&peer, MMTP_REFUSE_VERSION);
      fail_unless_equals_int (peer.bytes[0] >> 5, MMTP_VERSION);
      fail_if (poll_message (&peer));
    }
    if (i >= 2)
      continue;
    fail_unless (poll_event (&peer, MMTP_EVENT_OTHER_VERSION, &event));
    fail_unless_equals_int (event.version, versions[i]);
  }
  fail_if (mmtp_receiver_poll_event (peer.receiver, &event));
  fail_unless_equals_uint64 (count_refused (&peer, MMTP_REFUSED_VERSION), 8);
  peer_clear (&peer);
}

GST_END_TEST;

GST_START_TEST (one_session_at_a_time)
{
  MmtpAddress here = make_address (1), there = make_address (2);
  MmtpReceiverEvent event;
  MmtpMessage open, first;
  guint64 token;
  Peer peer, other;

  peer_init (&peer, NULL, NULL);
  open_session (&peer);
  token = peer.message.accept.token;
  /* The sender gets no ACCEPT and repeats its OPEN. The repeated OPEN has a new
   * message number, so the receiver must answer it with the same ACCEPT as
   * before. Then a copy of the repeated OPEN arrives. The copy has the same
   * message number as the repeated OPEN, so the receiver must refuse the copy
   * as a replay. */
  first = make_open (&peer, peer.message.init.cookie);
  give (&peer, &first, &here);
  fail_unless (poll_message (&peer));
  fail_unless_equals_int (peer.message.type, MMTP_ACCEPT);
  fail_unless_equals_uint64 (peer.message.accept.token, token);
  give (&peer, &first, &here);
  fail_if (poll_message (&peer));
  fail_unless_equals_uint64 (count_refused (&peer, MMTP_REFUSED_REPLAY), 1);
  /* another one */
  other = peer;
  other.nonce[0] ^= 1;
  give_init (&other, &there);
  fail_unless (poll_message (&other));
  open = make_open (&other, other.message.init.cookie);
  give (&other, &open, &there);
  expect_refuse (&other, MMTP_REFUSE_BUSY);
  /* No message of the first sender arrives for 10 s, so its session ends. Then
   * the receiver must accept the second sender. */
  other.now += MS (10000);
  mmtp_receiver_timeout (peer.receiver, other.now);
  fail_unless (poll_event (&peer, MMTP_EVENT_SILENT, &event));
  while (poll_message (&other));
  give_init (&other, &there);
  fail_unless (poll_message (&other));
  open = make_open (&other, other.message.init.cookie);
  give (&other, &open, &there);
  take_accept (&other);
  fail_unless (other.message.accept.token != token);
  fail_unless (poll_event (&peer, MMTP_EVENT_SESSION, &event));
  peer_clear (&peer);
}

GST_END_TEST;

static void
ask_for_session (Peer * peer, const MmtpAddress * address)
{
  MmtpMessage open;

  give_init (peer, address);
  fail_unless (poll_message (peer));
  fail_unless_equals_int (peer->message.type, MMTP_COOKIE);
  open = make_open (peer, peer->message.init.cookie);
  give (peer, &open, address);
}

static void
end_session (Peer * peer)
{
  MmtpMessage end = make (peer, MMTP_END, 0, 0);
  MmtpAddress address = make_address (1);
  MmtpReceiverEvent event;

  give_sealed (peer, &end, &address);
  fail_unless (poll_event (peer, MMTP_EVENT_END, &event));
  fail_unless (poll_type (peer, MMTP_END_ACK));
  while (poll_type (peer, MMTP_END_ACK));
}

/* The test runs with a key if __i__ is 1, and without a key if it is 0. An END
 * must be ignored in two cases. In the first case, it is correctly sealed, but
 * comes from another host or from another port of the sender's host. In the
 * second case, it comes from the correct address, but its trailer is wrong. */
GST_START_TEST (end_counts_only_from_the_validated_address_and_token)
{
  MmtpAddress here = make_address (1), there = make_address (2);
  MmtpAddress beside = make_address (1);
  MmtpMessage end;
  MmtpReceiverEvent event;
  Peer peer;

  peer_init (&peer, NULL, __i__ ? "a key of the test" : NULL);
  open_session (&peer);
  end = make (&peer, MMTP_END, 0, 0);
  beside.bytes[4]++;
  give_sealed (&peer, &end, &there);
  give_sealed (&peer, &end, &beside);
  end.number = peer.numbers[0]++;
  end.trailer = peer.token;
  give (&peer, &end, &here);
  fail_if (mmtp_receiver_poll_event (peer.receiver, &event));
  fail_if (poll_type (&peer, MMTP_END_ACK));
  fail_unless_equals_uint64 (count_refused (&peer, MMTP_REFUSED_ADDRESS), 2);
  fail_unless_equals_uint64 (count_refused (&peer, MMTP_REFUSED_TRAILER), 1);
  end_session (&peer);
  peer_clear (&peer);
}

GST_END_TEST;

/* Times at which a new sender requests a session, in ms after its first
 * request. */
static const guint asked_at[] = { 0, 250, 750, 1750 };

static void
give_sign_of_life (Peer * peer)
{
  MmtpMessage message = make (peer, MMTP_KEEPALIVE, 0, 0);
  MmtpAddress address = make_address (1);

  message.keepalive.initial_delay = D0 * 1000;
  message.keepalive.round_trip = 20000;
  give_sealed (peer, &message, &address);
}

/* `peer` already has a session. `other` is a second sender, which requests a
 * session at each of the times in `asked_at`. Its requests come from the host
 * `host` (host 1 is that of `peer`), but from another port than the port of
 * `peer`. If `lives` is TRUE, `peer` sends a KEEPALIVE between two requests.
 * Returns the type of the answer to the last request. */
static MmtpType
ask_again (Peer * peer, Peer * other, guint8 host, gboolean lives)
{
  MmtpAddress address = make_address (host);
  guint64 begin = peer->now;
  guint i;

  address.bytes[5]++;
  for (i = 0; i < G_N_ELEMENTS (asked_at); i++) {
    peer->now = other->now = begin + MS (asked_at[i]);
    if (lives && i == 2)
      give_sign_of_life (peer);
    while (poll_message (other));
    ask_for_session (other, &address);
    do
      fail_unless (poll_message (other));
    while (other->message.type != MMTP_ACCEPT
        && other->message.type != MMTP_REFUSE);
  }
  return other->message.type;
}

static void
check_taken_over (guint8 host, gboolean lives, gboolean expected)
{
  MmtpReceiverEvent event;
  MmtpReceiverStats stats;
  Peer peer, other;

  peer_init (&peer, NULL, NULL);
  open_session (&peer);
  give_sign_of_life (&peer);
  other = peer;
  other.nonce[0] ^= 1;
  fail_unless_equals_int (ask_again (&peer, &other, host, lives),
      expected ? MMTP_ACCEPT : MMTP_REFUSE);
  mmtp_receiver_get_stats (peer.receiver, &stats);
  fail_unless_equals_uint64 (stats.sessions, expected ? 2 : 1);
  if (expected) {
    fail_unless (poll_event (&peer, MMTP_EVENT_SILENT, &event));
    fail_unless (poll_event (&peer, MMTP_EVENT_SESSION, &event));
  } else {
    fail_if (mmtp_receiver_poll_event (peer.receiver, &event));
  }
  peer_clear (&peer);
}

GST_START_TEST (silent_sender_may_resume_its_session)
{
  MmtpReceiverEvent event;
  MmtpReceiverStats stats;
  Peer peer;

  peer_init (&peer, NULL, NULL);
  open_session (&peer);
  give_sign_of_life (&peer);
  fail_if (mmtp_receiver_poll_event (peer.receiver, &event));
  peer.now += MS (10000);
  mmtp_receiver_timeout (peer.receiver, peer.now);
  fail_unless (poll_event (&peer, MMTP_EVENT_SILENT, &event));
  give_sign_of_life (&peer);
  fail_unless (poll_event (&peer, MMTP_EVENT_BACK, &event));
  give_sign_of_life (&peer);
  fail_if (mmtp_receiver_poll_event (peer.receiver, &event));
  mmtp_receiver_get_stats (peer.receiver, &stats);
  fail_unless (stats.in_session);
  fail_unless_equals_uint64 (stats.sessions, 1);
  peer_clear (&peer);
}

GST_END_TEST;

/* The application fetches no events. The queue of 1024 events becomes full with
 * the version 3, and the event for the version 4 is lost. It must not change
 * the event before it. */
GST_START_TEST (full_queue_keeps_its_last_event)
{
  static const guint versions[] = { 1, 3, 4 };
  MmtpReceiverEvent event;
  MmtpMessage init;
  Peer peer;
  guint i;

  peer_init (&peer, NULL, NULL);
  open_session (&peer);
  give_sign_of_life (&peer);
  for (i = 0; i < 511; i++) {
    peer.now += MS (10000);
    mmtp_receiver_timeout (peer.receiver, peer.now);
    give_sign_of_life (&peer);
  }
  init = make (&peer, MMTP_INIT, 0, 0);
  for (i = 0; i < G_N_ELEMENTS (versions); i++)
    give_of_version (&peer, &init, versions[i]);
  for (i = 0; i < 511; i++) {
    fail_unless (poll_event (&peer, MMTP_EVENT_SILENT, &event));
    fail_unless (poll_event (&peer, MMTP_EVENT_BACK, &event));
  }
  for (i = 0; i < 2; i++) {
    fail_unless (poll_event (&peer, MMTP_EVENT_OTHER_VERSION, &event));
    fail_unless_equals_int (event.version, versions[i]);
  }
  fail_if (mmtp_receiver_poll_event (peer.receiver, &event));
  peer_clear (&peer);
}

GST_END_TEST;

/* A sender was killed and starts again. It must get a session, although the
 * timeout of its previous session has not expired. */
GST_START_TEST (a_sender_that_begins_again_takes_its_own_place)
{
  check_taken_over (1, FALSE, TRUE);
}

GST_END_TEST;

GST_START_TEST (nobody_takes_the_place_of_another)
{
  check_taken_over (2, FALSE, FALSE);
  /* The second sender requests a session from the same host as the first
   * sender. The first sender is still alive, so the receiver must refuse the
   * second one. */
  check_taken_over (1, TRUE, FALSE);
}

GST_END_TEST;

/* While the first sender has a session, a second sender on the same host
 * requests a session every 10 ms. The receiver must find out whether the first
 * sender is still alive. For a fixed time, the receiver sends QUERY messages to
 * the first sender and waits for an answer. The repeated requests of the second
 * sender must not shorten this time, and the receiver must send at most 20
 * QUERYs. */
GST_START_TEST (a_doubt_takes_its_time)
{
  MmtpAddress address = make_address (1);
  guint64 end = OUR_START + MS (1900);
  guint n_queries = 0;
  Peer peer, other;

  peer_init (&peer, NULL, NULL);
  open_session (&peer);
  address.bytes[5]++;
  /* The receiver does not know the round trip to the first sender. It therefore
   * waits 2 s for a sign that this sender is still alive. */
  while (peer.now < end) {
    other = peer;
    other.nonce[0] ^= 1;
    give_init (&other, &address);
    while (poll_message (&other)) {
      n_queries += other.message.type == MMTP_QUERY;
      fail_if (other.message.type == MMTP_ACCEPT);
      if (other.message.type == MMTP_COOKIE) {
        MmtpMessage open = make_open (&other, other.message.init.cookie);

        give (&other, &open, &address);
      }
    }
    peer.now += MS (10);
  }
  fail_unless (n_queries >= 10 && n_queries <= 20, "%u", n_queries);
  peer_clear (&peer);
}

GST_END_TEST;

/* The application has got EOS at the end of the first session, and accepts no
 * further stream. The receiver must then refuse all new sessions. */
GST_START_TEST (after_the_end_of_the_only_stream_none_begins)
{
  MmtpAddress there = make_address (2);
  MmtpReceiverEvent event;
  Peer peer, other;
  guint i;

  peer_init (&peer, NULL, NULL);
  mmtp_receiver_set_ends (peer.receiver, TRUE);
  open_session (&peer);
  end_session (&peer);
  other = peer;
  other.nonce[0] ^= 1;
  for (i = 0; i < 3; i++) {
    ask_for_session (&other, &there);
    expect_refuse (&other, MMTP_REFUSE_OVER);
    fail_unless_equals_int (poll_event (&peer, MMTP_EVENT_OVER, &event),
        i == 0);
    fail_if (mmtp_receiver_poll_event (peer.receiver, &event));
  }
  /* From now on, the application accepts a further stream, so the receiver must
   * accept the second sender. */
  mmtp_receiver_set_ends (peer.receiver, FALSE);
  ask_for_session (&other, &there);
  fail_unless (poll_message (&other));
  fail_unless_equals_int (other.message.type, MMTP_ACCEPT);
  peer_clear (&peer);
}

GST_END_TEST;

/* Passes an INIT to the receiver every 100 us for one second, from `n_networks`
 * different networks in turn. Returns the number of answers. Fails if the
 * answers have more bytes than the INITs before them. */
static guint
count_answers (Peer * peer, guint n_networks)
{
  guint i, answers = 0, sent = 0, got = 0;

  for (i = 0; i < 10000; i++) {
    MmtpAddress address = make_address (1);

    address.bytes[0] = 10;
    address.bytes[1] = i % n_networks >> 8;
    address.bytes[2] = i % n_networks;
    peer->now += US (100);
    give_init (peer, &address);
    sent += MMTP_INIT_SIZE;
    while (poll_message (peer)) {
      answers++;
      got += peer->size;
    }
    fail_unless (got <= sent);
  }
  return answers;
}

/* 10,000 INITs arrive in one second. To each network from which they come, the
 * receiver must send 100 answers immediately and 99 more until the end of this
 * second. */
GST_START_TEST (each_network_gets_a_hundred_answers_a_second)
{
  Peer peer;

  peer_init (&peer, NULL, NULL);
  assert_equals_int (count_answers (&peer, 1), 199);
  peer_clear (&peer);
  peer_init (&peer, NULL, NULL);
  assert_equals_int (count_answers (&peer, 10), 1990);
  peer_clear (&peer);
}

GST_END_TEST;

/* While a session exists, INITs arrive from 5000 networks for one second. The
 * number of answers to all networks together is limited: the receiver must send
 * 100 answers immediately, and 999 more until the end of this second. */
GST_START_TEST (unknown_hosts_get_fewer_answers_while_a_session_is_alive)
{
  Peer peer;

  peer_init (&peer, NULL, NULL);
  open_session (&peer);
  assert_equals_int (count_answers (&peer, 5000), 1099);
  peer_clear (&peer);
}

GST_END_TEST;

static gboolean
gets_cookie (Peer * peer, const MmtpAddress * address)
{
  give_init (peer, address);
  return poll_message (peer) && peer->message.type == MMTP_COOKIE;
}

/* In a session with a key, an INIT contains a valid MAC. An attacker that has
 * seen such an INIT can send copies of it from any address. The receiver must
 * therefore limit the number of its answers to INITs with a valid MAC. The
 * limit must be the same as for other INITs. */
GST_START_TEST (replayed_inits_with_a_key_get_no_more_answers)
{
  const MmtpAddress other_network = make_address (9);
  Peer peer;

  peer_init (&peer, NULL, "secret");
  assert_equals_int (count_answers (&peer, 1), 199);
  fail_unless (gets_cookie (&peer, &other_network));
  peer_clear (&peer);
  peer_init (&peer, NULL, "secret");
  open_session (&peer);
  assert_equals_int (count_answers (&peer, 1), 199);
  fail_unless (gets_cookie (&peer, &other_network));
  peer_clear (&peer);
  peer_init (&peer, NULL, "secret");
  open_session (&peer);
  assert_equals_int (count_answers (&peer, 5000), 1099);
  peer_clear (&peer);
}

GST_END_TEST;

/* The receiver has two limits for the number of its answers: one for senders
 * that have the key, and one for unknown hosts. Neither group may use up the
 * answers of the other group, even if both groups are in one network. */
GST_START_TEST (senders_with_a_key_and_unknown_hosts_share_no_answers)
{
  const MmtpAddress address = { 6, {10, 0, 0, 2, 0x13, 0x8c}, 4, 3 };
  Peer peer, unknown_host;

  peer_init (&peer, NULL, "secret");
  open_session (&peer);
  unknown_host = peer;
  mmtp_key_init (&unknown_host.key, NULL);
  assert_equals_int (count_answers (&unknown_host, 5000), 1099);
  peer.now = unknown_host.now;
  assert_equals_int (count_answers (&peer, 5000), 1099);
  unknown_host.now = peer.now += MS (1000);
  assert_equals_int (count_answers (&unknown_host, 1), 199);
  peer.now = unknown_host.now;
  fail_unless (gets_cookie (&peer, &address));
  peer_clear (&peer);
}

GST_END_TEST;

/* The receiver limits the number of its answers, but reserves some additional
 * answers for hosts that had a session before. Here replayed INITs from 5000
 * networks use up all other answers. A host that had a session before must
 * still get a COOKIE. */
GST_START_TEST (replayed_inits_leave_the_reserve_of_a_known_host)
{
  MmtpAddress address = make_address (1);
  Peer peer;

  peer_init (&peer, NULL, "secret");
  open_session (&peer);
  address.bytes[5]++;
  count_answers (&peer, 5000);
  fail_unless (gets_cookie (&peer, &address));
  peer_clear (&peer);
}

GST_END_TEST;

/* --- data ----------------------------------------------------------------- */

static MmtpMessage
make_data (Peer * peer, guint8 path, guint transit, guint32 number,
    guint64 due_ms, guint8 flags)
{
  static const guint8 payload[PAYLOAD];
  MmtpMessage message = make (peer, MMTP_DATA, path, transit);

  message.data.stream_number = number;
  message.data.due = (SENDER_START + due_ms * 1000) & G_MAXUINT32;
  message.data.flags = flags;
  message.data.payload = payload;
  message.data.payload_size = PAYLOAD;
  return message;
}

#define WHOLE (MMTP_FLAG_FIRST | MMTP_FLAG_LAST)

static void
give_data (Peer * peer, guint8 path, guint transit, guint32 number,
    guint64 due_ms)
{
  MmtpMessage message = make_data (peer, path, transit, number, due_ms,
      WHOLE);
  MmtpAddress address = make_address (path + 1);

  give_sealed (peer, &message, &address);
}

static void
give_keepalive (Peer * peer, guint8 path, guint transit, gint32 offset,
    guint32 floor)
{
  MmtpMessage message = make (peer, MMTP_KEEPALIVE, path, transit);
  MmtpAddress address = make_address (path + 1);

  message.keepalive.initial_delay = D0 * 1000;
  message.keepalive.has_offset = TRUE;
  message.keepalive.offset = offset;
  message.keepalive.round_trip = 2 * transit * 1000;
  message.keepalive.floor = floor;
  give_sealed (peer, &message, &address);
}

GST_START_TEST (buffers_come_out_in_order_and_on_our_clock)
{
  MmtpReceiverEvent event;
  Peer peer;

  peer_init (&peer, NULL, "secret");
  open_session (&peer);
  peer.now += MS (60);
  give_keepalive (&peer, 0, 50, 20000, 0);
  give_data (&peer, 0, 50, 1, 40);
  fail_if (mmtp_receiver_poll_event (peer.receiver, &event));
  give_data (&peer, 0, 50, 0, 0);
  fail_unless (poll_event (&peer, MMTP_EVENT_BUFFER, &event));
  /* At the handshake, the sender's clock showed SENDER_START, and the
   * receiver's clock showed OUR_START. The receiver estimates the difference
   * between the clocks from these two times. The KEEPALIVE says that 20 ms must
   * be added to the estimate. The frame is due at SENDER_START on the sender's
   * clock. On the receiver's clock, its due time must therefore be OUR_START +
   * 20 ms. */
  fail_unless_equals_uint64 (event.due, OUR_START + MS (20));
  fail_unless_equals_uint64 (event.delay, MS (D0));
  fail_unless_equals_int (event.data.size, PAYLOAD);
  fail_if (event.discont);
  datagram_slice_clear (&event.data);
  fail_unless (poll_event (&peer, MMTP_EVENT_BUFFER, &event));
  fail_unless_equals_uint64 (event.due, OUR_START + MS (60));
  datagram_slice_clear (&event.data);
  fail_if (mmtp_receiver_poll_event (peer.receiver, &event));
  peer_clear (&peer);
}

GST_END_TEST;

GST_START_TEST (a_gap_is_skipped_at_the_deadline_and_nothing_is_late)
{
  MmtpReceiverEvent event;
  MmtpReceiverStats stats;
  guint64 deadline = OUR_START + MS (40 + 20 + D0);
  Peer peer;

  peer_init (&peer, NULL, NULL);
  open_session (&peer);
  peer.now += MS (60);
  give_keepalive (&peer, 0, 50, 20000, 0);
  give_data (&peer, 0, 50, 1, 40);
  while (mmtp_receiver_next_wakeup (peer.receiver) < deadline) {
    peer.now = mmtp_receiver_next_wakeup (peer.receiver);
    mmtp_receiver_timeout (peer.receiver, peer.now);
    drain (&peer);
    fail_if (mmtp_receiver_poll_event (peer.receiver, &event));
  }
  fail_unless_equals_uint64 (mmtp_receiver_next_wakeup (peer.receiver),
      deadline);
  peer.now = deadline;
  mmtp_receiver_timeout (peer.receiver, peer.now);
  fail_unless (poll_event (&peer, MMTP_EVENT_BUFFER, &event));
  fail_unless (event.discont);
  datagram_slice_clear (&event.data);
  /* Now two buffers arrive after their deadlines. The receiver must count them
   * as late and must not output them. */
  give_data (&peer, 0, 50, 0, 0);
  give_data (&peer, 0, 50, 2, 40);
  fail_if (mmtp_receiver_poll_event (peer.receiver, &event));
  mmtp_receiver_get_stats (peer.receiver, &stats);
  fail_unless_equals_uint64 (stats.late, 2);
  fail_unless_equals_uint64 (stats.missing, 2);
  fail_unless_equals_uint64 (stats.buffers, 1);
  peer_clear (&peer);
}

GST_END_TEST;

/* The configuration sets the maximum lateness to 30 ms. A packet that arrives
 * 29 ms after its deadline must be output. Its deadline, which is in the past,
 * must not change. A packet that arrives 31 ms after its deadline must be
 * dropped and counted as late. */
GST_START_TEST (a_late_buffer_is_output_up_to_a_limit)
{
  MmtpReceiverConfig config;
  MmtpReceiverEvent event;
  MmtpReceiverStats stats;
  guint64 deadline = OUR_START + MS (40 + 20 + D0);
  Peer peer;

  mmtp_receiver_config_init (&config);
  config.max_lateness = MS (30);
  peer_init (&peer, &config, NULL);
  open_session (&peer);
  peer.now += MS (60);
  give_keepalive (&peer, 0, 50, 20000, 0);
  peer.now = deadline + MS (29);
  mmtp_receiver_timeout (peer.receiver, peer.now);
  drain (&peer);
  give_data (&peer, 0, 50, 0, 40);
  fail_unless (poll_event (&peer, MMTP_EVENT_BUFFER, &event));
  fail_unless_equals_uint64 (event.due + event.delay, deadline);
  datagram_slice_clear (&event.data);
  peer.now += MS (2);
  give_data (&peer, 0, 50, 1, 40);
  fail_if (mmtp_receiver_poll_event (peer.receiver, &event));
  mmtp_receiver_get_stats (peer.receiver, &stats);
  fail_unless_equals_uint64 (stats.buffers, 1);
  fail_unless_equals_uint64 (stats.late, 1);
  peer_clear (&peer);
}

GST_END_TEST;

/* A timer of the receiver may run late because the machine is busy. The
 * receiver must then still output the buffers that arrived in time. There is
 * one exception: when the initial delay (D0) becomes shorter, the receiver may
 * drop buffers that are late with the new D0. */
GST_START_TEST (buffers_received_in_time_are_output)
{
  MmtpAddress address = make_address (1);
  MmtpReceiverEvent event;
  MmtpMessage message;
  Peer peer;

  peer_init (&peer, NULL, NULL);
  open_session (&peer);
  give_data (&peer, 0, 0, 1, 0);
  peer.now = OUR_START + MS (D0 + 3);
  mmtp_receiver_timeout (peer.receiver, peer.now);
  fail_unless (poll_event (&peer, MMTP_EVENT_BUFFER, &event));
  fail_unless_equals_uint64 (event.due, OUR_START);
  datagram_slice_clear (&event.data);

  give_data (&peer, 0, 0, 3, 200);
  give_data (&peer, 0, 0, 4, 600);
  message = make (&peer, MMTP_KEEPALIVE, 0, 0);
  message.keepalive.initial_delay = 100000;
  give_sealed (&peer, &message, &address);
  fail_unless (poll_event (&peer, MMTP_EVENT_INITIAL_DELAY, &event));
  mmtp_receiver_timeout (peer.receiver, peer.now);
  fail_unless (poll_event (&peer, MMTP_EVENT_BUFFER, &event));
  fail_unless_equals_uint64 (event.due, OUR_START + MS (600));
  fail_unless (event.discont);
  datagram_slice_clear (&event.data);
  fail_if (mmtp_receiver_poll_event (peer.receiver, &event));
  peer_clear (&peer);
}

GST_END_TEST;

/* --- reports -------------------------------------------------------------- */

/* Number of messages after the OPEN at the beginning of a session. The receiver
 * must report each of these messages immediately. */
#define START_MESSAGES 31
/* Size in bytes of a REPORT that describes one path without losses. */
#define REPORT_SIZE 81

/* Advances the time by `ms` milliseconds in steps of 1 ms, and runs the timers
 * of the receiver in each step. */
static void
advance (Peer * peer, guint ms)
{
  for (; ms > 0; ms--) {
    peer->now += MS (1);
    mmtp_receiver_timeout (peer->receiver, peer->now);
  }
}

/* Takes all messages that the receiver has to send. Returns how many of them
 * are REPORTs. Afterwards, `peer->message` contains the last REPORT. */
static guint
count_reports (Peer * peer)
{
  MmtpMessage last = peer->message;
  guint n = 0;

  while (poll_sealed (peer))
    if (peer->message.type == MMTP_REPORT) {
      last = peer->message;
      n++;
    }
  peer->message = last;
  return n;
}

/* Passes `n` messages of a stream to the receiver on path 0, at intervals of
 * `distance` ms. Returns the number of REPORTs that the receiver sent during
 * this time. */
static guint
stream (Peer * peer, guint n, guint distance)
{
  guint reports = 0;

  for (; n > 0; n--) {
    advance (peer, distance);
    give_data (peer, 0, 30, peer->next++, peer->now / 1000000);
    reports += count_reports (peer);
  }
  return reports;
}

/* Opens a session and passes 100 messages of a stream to the receiver, at
 * intervals of 10 ms. Ignores the REPORTs that the receiver sends during this
 * time. */
static void
begin_stream (Peer * peer)
{
  peer_init (peer, NULL, NULL);
  open_session (peer);
  stream (peer, 100, 10);
}

/* Advances the time until the receiver sends a REPORT, for at most 5 s. Returns
 * how far the time was advanced, in ms. Afterwards, `peer->message` contains
 * the REPORT. */
static guint
get_wait (Peer * peer)
{
  guint ms;

  for (ms = 1; ms < 5000; ms++) {
    advance (peer, 1);
    if (count_reports (peer) > 0)
      return ms;
  }
  return ms;
}

GST_START_TEST (a_report_goes_each_period)
{
  MmtpRecord *record = NULL;
  guint i, n = 0;
  Peer peer;

  peer_init (&peer, NULL, NULL);
  open_session (&peer);
  for (i = 0; i < 131; i++) {
    peer.now += MS (10);
    give_data (&peer, 0, 30, i, 10 * i);
    mmtp_receiver_timeout (peer.receiver, peer.now);
    while (poll_sealed (&peer)) {
      if (peer.message.type != MMTP_REPORT)
        continue;
      n++;
      fail_unless_equals_int (peer.size, REPORT_SIZE);
      fail_unless_equals_int (peer.message.report.number, n);
      fail_unless_equals_int (peer.message.report.n_records, 1);
      fail_unless_equals_int (peer.message.report.echo,
          sent_before (&peer, 30));
      fail_unless_equals_int (peer.message.report.hold, 0);
      fail_unless_equals_int (peer.message.report.next, i + 1);
      record = &peer.message.report.records[0];
      /* OPEN too */
      fail_unless_equals_int (record->received, i + 2);
      fail_unless_equals_int (record->highest, i + 1);
      fail_unless_equals_int (record->lost, 0);
      fail_unless_equals_int (record->arrival, peer.now / 10000 & 0xffffff);
    }
    /* The receiver must report each of the first START_MESSAGES messages
     * immediately. */
    if (i + 1 == START_MESSAGES)
      fail_unless_equals_int (n, START_MESSAGES);
  }
  fail_unless_equals_int (n, START_MESSAGES + 1000 / 50);
  fail_unless_equals_int (record->transit, 3000);
  fail_unless_equals_int (record->min_transit, 3000);
  fail_unless_equals_int (record->high_transit, 3000);
  fail_unless_equals_int (record->flags, 0);
  peer_clear (&peer);
}

GST_END_TEST;

/* Tests how often the receiver sends reports if the rate of the stream is low.
 * The reports may use 2.5 % of the rate of the stream. The lower the rate is,
 * the longer the report period must therefore be, but it must not exceed 300
 * ms.
 *
 * The test uses two rates. With the first rate, the limit of 2.5 % determines
 * the period. The second rate is so low that the limit would require a period
 * of more than 300 ms. The period must then be 300 ms. */
GST_START_TEST (a_slow_path_has_fewer_reports)
{
  guint n;
  Peer peer;

  peer_init (&peer, NULL, NULL);
  open_session (&peer);
  stream (&peer, 100, 50);
  /* The reports of the receiver may use at most one fortieth (2.5 %) of the
   * rate of the stream. The stream has a packet of 1224 bytes every 50 ms, and
   * a report has REPORT_SIZE bytes. The report period is therefore 40 *
   * REPORT_SIZE / 1224 * 50 ms = 132 ms. */
  n = stream (&peer, 200, 50);
  fail_unless (n >= 66 && n <= 84, "%u reports", n);
  stream (&peer, 20, 200);
  n = stream (&peer, 50, 200);
  fail_unless (n >= 25 && n <= 34, "%u reports", n);
  peer_clear (&peer);
}

GST_END_TEST;

/* The keep-alive period (20 ms) is shorter than the usual report period (50
 * ms). The receiver must send a report in each keep-alive period, but not more
 * often. */
GST_START_TEST (reports_are_no_rarer_than_keepalives)
{
  MmtpReceiverConfig config;
  Peer peer;
  guint n;

  mmtp_receiver_config_init (&config);
  config.keepalive_period = MS (20);
  peer_init (&peer, &config, NULL);
  open_session (&peer);
  /* The receiver may use 2.5 % of the received rate for its reports. At
   * 306 kB/s, it could send a report every 10.6 ms. It must nevertheless send a
   * report only every 20 ms, because this is the keep-alive period. */
  stream (&peer, 300, 4);
  n = stream (&peer, 250, 4);
  fail_unless_equals_int (n, 50);
  peer_clear (&peer);
}

GST_END_TEST;

static void
give_report_period (Peer * peer, guint period)
{
  MmtpMessage message = make (peer, MMTP_KEEPALIVE, 0, 0);
  MmtpAddress address = make_address (1);

  message.keepalive.initial_delay = D0 * 1000;
  message.keepalive.report_period = period;
  give_sealed (peer, &message, &address);
}

GST_START_TEST (the_sender_chooses_the_period_of_reports)
{
  static const struct
  {
    guint wanted, period;
  } periods[] = { {10, 10}, {25, 25}, {400, 400}, {1, 10}, {65535, 2000} };
  guint i;
  Peer peer;

  begin_stream (&peer);
  for (i = 0; i < G_N_ELEMENTS (periods); i++) {
    give_report_period (&peer, periods[i].wanted);
    /* The KEEPALIVE that requests another report period may be the first
     * message after a gap in the stream. After a gap, the receiver sends some
     * reports immediately. The test therefore ignores the intervals before the
     * next two reports. */
    get_wait (&peer);
    get_wait (&peer);
    fail_unless_equals_int (get_wait (&peer), periods[i].period);
    fail_unless_equals_int (get_wait (&peer), periods[i].period);
  }
  /* A requested period of 0 means that the receiver chooses the report period
   * itself. Here it must send 20 reports in one second. */
  give_report_period (&peer, 0);
  stream (&peer, 200, 10);
  fail_unless_equals_int (stream (&peer, 100, 10), 20);
  peer_clear (&peer);
}

GST_END_TEST;

/* The sender changes the report period, first to a longer and then to a shorter
 * period. Already the next report must be sent according to the new period. */
GST_START_TEST (another_period_holds_at_once)
{
  Peer peer;

  begin_stream (&peer);
  get_wait (&peer);
  advance (&peer, 20);
  give_report_period (&peer, 1000);
  fail_unless_equals_int (get_wait (&peer), 980);
  advance (&peer, 100);
  give_report_period (&peer, 50);
  advance (&peer, 1);
  fail_unless_equals_int (count_reports (&peer), 1);
  peer_clear (&peer);
}

GST_END_TEST;

GST_START_TEST (a_loss_is_reported_at_once)
{
  MmtpRecord *record;
  Peer peer;

  peer_init (&peer, NULL, NULL);
  open_session (&peer);
  stream (&peer, 40, 10);
  get_wait (&peer);
  advance (&peer, 11);
  peer.numbers[0] += 2;
  peer.next += 2;
  fail_unless_equals_int (stream (&peer, 2, 1), 0);
  fail_unless_equals_int (stream (&peer, 1, 1), 1);
  record = &peer.message.report.records[0];
  fail_unless_equals_int (record->lost, 2);
  fail_unless_equals_int (record->n_ranges, 1);
  fail_unless_equals_int (record->ranges[0].first, 41);
  fail_unless_equals_int (record->ranges[0].count, 2);
  fail_unless_equals_int (peer.message.report.next, 40);
  /* Another message is lost directly after the previous report. The receiver
   * must report this loss 10 ms after the previous report and not earlier,
   * because reports of losses must be at least 10 ms apart. */
  peer.numbers[0] += 1;
  peer.next += 1;
  fail_unless_equals_int (stream (&peer, 9, 1), 0);
  advance (&peer, 1);
  fail_unless_equals_int (count_reports (&peer), 1);
  fail_unless_equals_int (peer.message.report.records[0].lost, 3);
  peer_clear (&peer);
}

GST_END_TEST;

/* If the report period is long, the receiver waits longer before it reports a
 * loss. Here the report period is 400 ms. A loss must be reported a quarter of
 * this period (100 ms) after the previous report, and not earlier. */
GST_START_TEST (losses_on_a_slow_path_wait)
{
  Peer peer;

  begin_stream (&peer);
  give_report_period (&peer, 400);
  stream (&peer, 1, 1);
  get_wait (&peer);
  peer.numbers[0] += 1;
  fail_unless_equals_int (stream (&peer, 9, 10), 0);
  fail_unless_equals_int (get_wait (&peer), 10);
  fail_unless_equals_int (peer.message.report.records[0].lost, 1);
  peer_clear (&peer);
}

GST_END_TEST;

/* No message arrives for longer than a report period. This is a gap. The first
 * message after the gap must be reported immediately, and again 10 ms later. */
GST_START_TEST (the_end_of_a_gap_is_reported_at_once_and_again)
{
  static const guint gaps[] = { 75, 300, 1700, 5000 };
  guint i, n;
  Peer peer;

  begin_stream (&peer);
  for (i = 0; i < G_N_ELEMENTS (gaps); i++) {
    advance (&peer, gaps[i] - 1);
    n = count_reports (&peer);
    /* During a gap, the receiver must continue to send a report in each report
     * period. These reports say that no message has arrived. */
    fail_unless (n >= gaps[i] / 50 - 1 && n <= gaps[i] / 50 + 1);
    fail_unless_equals_int (peer.message.report.records[0].flags,
        MMTP_RECORD_UNMEASURED);
    /* The receiver sends an immediate report only if the last report is at
     * least 10 ms old. The test therefore waits until the last report is 11 ms
     * old. The report about the next message can then be sent immediately. */
    while (mmtp_receiver_next_wakeup (peer.receiver) < peer.now + MS (20)) {
      advance (&peer, 1);
      count_reports (&peer);
    }
    advance (&peer, 11);
    fail_unless_equals_int (count_reports (&peer), 0);
    give_data (&peer, 0, 30, peer.next++, peer.now / 1000000);
    fail_unless_equals_int (count_reports (&peer), 1);
    fail_unless_equals_int (peer.message.report.records[0].flags, 0);
    fail_unless_equals_int (peer.message.report.records[0].arrival,
        peer.now / 10000 & 0xffffff);
    fail_unless_equals_int (get_wait (&peer), 10);
    /* After a gap, the report period must still be 50 ms. The receiver computes
     * it from the measured rate, which is too low because of the gap. The
     * receiver must not lengthen the report period for this reason. */
    fail_unless_equals_int (get_wait (&peer), 50);
    stream (&peer, 150, 10);
  }
  peer_clear (&peer);
}

GST_END_TEST;

/* There is no stream, and only keep-alives are sent. The time between two
 * keep-alives is longer than the report period of a path with a stream. This
 * time must nevertheless not count as a gap. After a gap, the receiver would
 * send reports immediately. */
GST_START_TEST (an_idle_path_has_no_gaps)
{
  guint i, n = 0;
  Peer peer;

  begin_stream (&peer);
  for (i = 0; i < 50; i++) {
    advance (&peer, 200);
    give_keepalive (&peer, 0, 30, 0, 0);
    if (i >= 10)
      n += count_reports (&peer);
    else
      count_reports (&peer);
  }
  /* each 300 ms */
  fail_unless (n >= 26 && n <= 32, "%u reports", n);
  peer_clear (&peer);
}

GST_END_TEST;

/* The receiver sends a report after each 64 messages, but two reports must be
 * at least 5 ms apart. Here 64 messages arrive in 3.2 ms, so the interval
 * between two reports must be 5 to 6 ms. */
GST_START_TEST (many_messages_have_no_more_than_a_report_each_5_ms)
{
  guint64 last = 0;
  guint i, n = 0;
  Peer peer;

  begin_stream (&peer);
  get_wait (&peer);
  for (i = 0; i < 20000; i++) {
    peer.now += US (50);
    give_data (&peer, 0, 30, peer.next++, peer.now / 1000000);
    if (i % 3 == 0)
      mmtp_receiver_timeout (peer.receiver, peer.now);
    if (i % 7 == 0)
      peer.numbers[0]++;
    if (count_reports (&peer) == 0)
      continue;
    n++;
    fail_unless (peer.now - last >= MS (5));
    fail_unless (peer.now - last < MS (6) || last == 0);
    last = peer.now;
  }
  fail_unless (n >= 180 && n <= 200, "%u reports", n);
  peer_clear (&peer);
}

GST_END_TEST;

static void
give_repair (Peer * peer, const MmtpMessage * messages, guint n)
{
  MmtpMessage message = make (peer, MMTP_REPAIR, 0, 50);
  MmtpAddress address = make_address (1);
  MmtpBlock block = { 0, };
  guint8 bytes[2000];
  guint i;

  for (i = 0; i < n; i++)
    fail_unless (mmtp_block_add (&block, messages[i].data.stream_number,
            bytes, mmtp_packet_write (&messages[i], bytes, sizeof (bytes))));
  mmtp_block_get_repair (&block, &message.repair);
  give_sealed (peer, &message, &address);
  mmtp_block_clear (&block);
}

GST_START_TEST (a_repair_brings_what_was_lost)
{
  MmtpMessage messages[5];
  MmtpReceiverEvent event;
  MmtpReceiverStats stats;
  MmtpAddress address = make_address (1);
  Peer peer;
  guint i;

  peer_init (&peer, NULL, NULL);
  open_session (&peer);
  peer.now += MS (60);
  for (i = 0; i < 5; i++)
    messages[i] = make_data (&peer, 0, 50, i, 10 * i, WHOLE);
  for (i = 0; i < 5; i++)
    if (i != 1 && i != 3)
      give_sealed (&peer, &messages[i], &address);
  /* A REPAIR is the parity of several messages, from which the receiver can
   * compute a single missing message. Of the messages 0 to 4, messages 1 and 3
   * are lost. The first REPAIR covers all five messages, so it cannot restore
   * the two lost messages. The second REPAIR covers the messages 0 to 2, so the
   * receiver must restore message 1. It must then restore message 3 from the
   * first REPAIR. */
  give_repair (&peer, messages, 5);
  fail_unless (poll_event (&peer, MMTP_EVENT_BUFFER, &event));
  datagram_slice_clear (&event.data);
  fail_if (mmtp_receiver_poll_event (peer.receiver, &event));
  give_repair (&peer, messages, 3);
  for (i = 1; i < 5; i++) {
    fail_unless (poll_event (&peer, MMTP_EVENT_BUFFER, &event));
    fail_if (event.discont);
    datagram_slice_clear (&event.data);
  }
  /* A message that was restored from a REPAIR arrives afterwards. It must count
   * as a duplicate. */
  give_sealed (&peer, &messages[1], &address);
  mmtp_receiver_get_stats (peer.receiver, &stats);
  fail_unless_equals_uint64 (stats.recovered, 2);
  fail_unless_equals_uint64 (stats.packets, 5);
  fail_unless_equals_uint64 (stats.duplicates, 1);
  fail_unless_equals_uint64 (stats.missing, 0);
  peer_clear (&peer);
}

GST_END_TEST;

GST_START_TEST (a_repair_lets_nothing_out_that_is_late)
{
  MmtpMessage messages[2];
  MmtpReceiverEvent event;
  MmtpReceiverStats stats;
  MmtpAddress address = make_address (1);
  Peer peer;
  guint i;

  peer_init (&peer, NULL, NULL);
  open_session (&peer);
  peer.now += MS (60);
  for (i = 0; i < 2; i++)
    messages[i] = make_data (&peer, 0, 50, i, 10 * i, WHOLE);
  give_sealed (&peer, &messages[1], &address);
  peer.now += MS (2 * D0);
  mmtp_receiver_timeout (peer.receiver, peer.now);
  fail_unless (poll_event (&peer, MMTP_EVENT_BUFFER, &event));
  datagram_slice_clear (&event.data);
  give_repair (&peer, messages, 2);
  fail_if (mmtp_receiver_poll_event (peer.receiver, &event));
  mmtp_receiver_get_stats (peer.receiver, &stats);
  fail_unless_equals_uint64 (stats.recovered, 0);
  peer_clear (&peer);
}

GST_END_TEST;

/* --- refused messages ----------------------------------------------------- */

/* All types of messages that a sender sends after the handshake, during a
 * session. */
static const MmtpType session_types[] = { MMTP_DATA, MMTP_PROBE, MMTP_JOIN,
  MMTP_RESPONSE, MMTP_KEEPALIVE, MMTP_QUERY, MMTP_LEAVE, MMTP_CAPS, MMTP_END,
  MMTP_REPAIR
};

static MmtpMessage
make_any (Peer * peer, MmtpType type)
{
  MmtpMessage message = make (peer, type, 0, 0);

  switch (type) {
    case MMTP_DATA:
      return make_data (peer, 0, 0, 0, 0, WHOLE);
    case MMTP_PROBE:
      message.probe.size = 100;
      break;
    case MMTP_JOIN:
      message.join.max_size = 1472;
      break;
    case MMTP_KEEPALIVE:
      message.keepalive.initial_delay = 1000000;
      message.keepalive.floor = 1000;
      break;
    case MMTP_CAPS:
      message.caps.version = 1;
      message.caps.length = 10;
      message.caps.piece = (const guint8 *) "video/mpeg";
      message.caps.piece_size = 10;
      break;
    case MMTP_REPAIR:
      message.repair.mask = 1;
      message.repair.content = (const guint8 *) "content";
      message.repair.content_size = 7;
      break;
    default:
      break;
  }
  return message;
}

/* Gets a copy of the state of the receiver. An attacker may change only the
 * counters of refused messages. These counters are set to 0 in the copy, so
 * that two copies can be compared. */
static void
get_state (Peer * peer, MmtpReceiverStats * stats, MmtpReceiverPathStats * path)
{
  mmtp_receiver_get_stats (peer->receiver, stats);
  memset (stats->refused, 0, sizeof (stats->refused));
  mmtp_receiver_get_path_stats (peer->receiver, 0, path);
}

static void
expect_unmoved (Peer * peer, const MmtpReceiverStats * stats,
    const MmtpReceiverPathStats * path, guint64 wakeup)
{
  MmtpReceiverStats stats_now;
  MmtpReceiverPathStats path_now;
  MmtpReceiverEvent event;

  get_state (peer, &stats_now, &path_now);
  fail_unless (memcmp (stats, &stats_now, sizeof (stats_now)) == 0);
  fail_unless (memcmp (path, &path_now, sizeof (path_now)) == 0);
  fail_unless_equals_uint64 (mmtp_receiver_next_wakeup (peer->receiver),
      wakeup);
  fail_if (mmtp_receiver_poll_event (peer->receiver, &event));
  fail_if (poll_message (peer));
}

/* An off-path attacker guesses the secrets of the session, but one bit is
 * wrong. It sends messages of each type. The trailer of each message is correct
 * except for one bit, and each bit is tried. The messages come from the
 * sender's address and from another address. The receiver must refuse all
 * messages, and its state must not change. */
static void
expect_refused_guesses (const gchar * key)
{
  MmtpReceiverStats stats;
  MmtpReceiverPathStats path;
  guint64 wakeup, refused = 0;
  guint i, bit, host;
  Peer peer;

  peer_init (&peer, NULL, key);
  open_session (&peer);
  get_state (&peer, &stats, &path);
  wakeup = mmtp_receiver_next_wakeup (peer.receiver);
  for (i = 0; i < G_N_ELEMENTS (session_types); i++) {
    for (host = 1; host <= 2; host++) {
      MmtpAddress address = make_address (host);
      MmtpMessage message = make_any (&peer, session_types[i]);
      guint8 bytes[2000];
      gsize size;

      message.number = peer.numbers[0];
      if (message.type == MMTP_JOIN || message.type == MMTP_KEEPALIVE)
        message.join.number = peer.numbers[0];
      size = mmtp_packet_write (&message, bytes, sizeof (bytes));
      mmtp_direction_seal (&peer.ours, peer.numbers[0], bytes, size);
      for (bit = 0; bit < 64; bit++) {
        bytes[size - 1 - bit / 8] ^= 1 << bit % 8;
        mmtp_receiver_input (peer.receiver, peer.now, &address, bytes, size);
        bytes[size - 1 - bit / 8] ^= 1 << bit % 8;
        refused++;
      }
    }
  }
  fail_unless_equals_uint64 (count_refused (&peer, MMTP_REFUSED_TRAILER),
      refused);
  expect_unmoved (&peer, &stats, &path, wakeup);
  peer_clear (&peer);
}

GST_START_TEST (guesses_move_nothing)
{
  expect_refused_guesses (NULL);
  expect_refused_guesses ("secret");
}

GST_END_TEST;

/* An on-path attacker without the key changes one byte of a message. Whichever
 * byte is changed, the receiver must refuse the message. It must also refuse a
 * message that is cut. */
GST_START_TEST (with_a_key_no_byte_can_be_changed)
{
  MmtpAddress address = make_address (1);
  MmtpReceiverStats stats;
  MmtpReceiverPathStats path;
  guint64 wakeup;
  guint i;
  Peer peer;

  peer_init (&peer, NULL, "secret");
  open_session (&peer);
  get_state (&peer, &stats, &path);
  wakeup = mmtp_receiver_next_wakeup (peer.receiver);
  for (i = 0; i < G_N_ELEMENTS (session_types); i++) {
    MmtpMessage message = make_any (&peer, session_types[i]);
    guint8 bytes[2000];
    gsize size, at;

    message.number = peer.numbers[0];
    if (message.type == MMTP_JOIN || message.type == MMTP_KEEPALIVE)
      message.join.number = peer.numbers[0];
    size = mmtp_packet_write (&message, bytes, sizeof (bytes));
    mmtp_direction_seal (&peer.ours, peer.numbers[0], bytes, size);
    for (at = 0; at < size; at++) {
      /* Byte 0 contains the version and the type of the message. With another
       * type, the message could become an INIT, which the receiver handles
       * without a session. The test therefore changes only the version in this
       * byte. */
      bytes[at] ^= at == 0 ? 0x20 : 0x81;
      mmtp_receiver_input (peer.receiver, peer.now, &address, bytes, size);
      bytes[at] ^= at == 0 ? 0x20 : 0x81;
      mmtp_receiver_input (peer.receiver, peer.now, &address, bytes, at);
    }
  }
  expect_unmoved (&peer, &stats, &path, wakeup);
  peer_clear (&peer);
}

GST_END_TEST;

GST_START_TEST (replayed_message_is_refused)
{
  MmtpAddress address = make_address (1), elsewhere = make_address (9);
  MmtpMessage message;
  guint8 bytes[2000];
  gsize size;
  guint i;
  Peer peer;

  peer_init (&peer, NULL, "secret");
  open_session (&peer);
  message = make_data (&peer, 0, 0, 0, 0, WHOLE);
  message.number = peer.numbers[0];
  size = mmtp_packet_write (&message, bytes, sizeof (bytes));
  mmtp_direction_seal (&peer.ours, peer.numbers[0]++, bytes, size);
  mmtp_receiver_input (peer.receiver, peer.now, &address, bytes, size);
  mmtp_receiver_input (peer.receiver, peer.now, &address, bytes, size);
  mmtp_receiver_input (peer.receiver, peer.now, &elsewhere, bytes, size);
  fail_unless_equals_uint64 (count_refused (&peer, MMTP_REFUSED_REPLAY), 2);
  for (i = 1; i <= 2000; i++)
    give_data (&peer, 0, 0, i, i);
  mmtp_receiver_input (peer.receiver, peer.now, &address, bytes, size);
  fail_unless_equals_uint64 (count_refused (&peer, MMTP_REFUSED_REPLAY)
      + count_refused (&peer, MMTP_REFUSED_TRAILER), 3);
  peer_clear (&peer);
}

GST_END_TEST;

GST_START_TEST (message_without_session_or_channel_is_refused)
{
  MmtpAddress address = make_address (1);
  MmtpMessage message;
  Peer peer;

  peer_init (&peer, NULL, NULL);
  message = make_data (&peer, 0, 0, 0, 0, WHOLE);
  give (&peer, &message, &address);
  fail_unless_equals_uint64 (count_refused (&peer, MMTP_REFUSED_CHANNEL), 1);
  open_session (&peer);
  give_data (&peer, 3, 0, 0, 0);
  fail_unless_equals_uint64 (count_refused (&peer, MMTP_REFUSED_CHANNEL), 2);
  message = make_data (&peer, 0, 0, 0, 0, WHOLE);
  address = make_address (2);
  give_sealed (&peer, &message, &address);
  fail_unless_equals_uint64 (count_refused (&peer, MMTP_REFUSED_ADDRESS), 1);
  /* a receiver's message */
  message = make (&peer, MMTP_END_ACK, 0, 0);
  give_sealed (&peer, &message, &address);
  fail_unless_equals_uint64 (count_refused (&peer, MMTP_REFUSED_TYPE), 1);
  peer_clear (&peer);
}

GST_END_TEST;

/* --- paths join and leave ------------------------------------------------- */

static guint64
join_from (Peer * peer, guint8 path, guint8 host, guint64 nonce)
{
  MmtpMessage message = make (peer, MMTP_JOIN, path, 0);
  MmtpAddress address = make_address (host);

  message.join.nonce = nonce;
  message.join.max_size = 1472;
  drain (peer);
  give_sealed (peer, &message, &address);
  fail_unless (poll_sealed (peer));
  fail_unless_equals_int (peer->message.type, MMTP_CHALLENGE);
  fail_unless_equals_int (peer->message.channel, path);
  fail_unless (memcmp (&peer->address, &address, sizeof (address)) == 0);
  fail_unless (peer->size <= MMTP_JOIN_SIZE);
  fail_unless_equals_uint64 (peer->message.challenge.nonce, nonce);
  return peer->message.challenge.challenge;
}

static void
respond_from (Peer * peer, guint8 path, guint8 host, guint64 challenge)
{
  MmtpMessage message = make (peer, MMTP_RESPONSE, path, 0);
  MmtpAddress address = make_address (host);

  message.challenge.challenge = challenge;
  give_sealed (peer, &message, &address);
}

/* Adds path number `path` to the session. Path n has the address of host n + 1.
 */
static void
join_path (Peer * peer, guint8 path)
{
  MmtpReceiverEvent event;
  guint64 challenge = join_from (peer, path, path + 1, 77);

  fail_if (mmtp_receiver_poll_event (peer->receiver, &event));
  respond_from (peer, path, path + 1, challenge);
  fail_unless (poll_event (peer, MMTP_EVENT_JOINED, &event));
  fail_unless_equals_int (event.path, path);
}

GST_START_TEST (a_path_joins_by_its_address)
{
  MmtpReceiverEvent event;
  guint64 challenge, other;
  Peer peer;

  peer_init (&peer, NULL, "secret");
  open_session (&peer);
  /* The path has been in use before, so its message numbers no longer fit into
   * 16 bits. Most messages contain only the low 16 bits of their number. A
   * JOIN, with which a path is added, contains all 64 bits, so that the
   * receiver knows the whole number. */
  peer.numbers[5] = 70000;
  challenge = join_from (&peer, 5, 6, 1);
  fail_unless (challenge == join_from (&peer, 5, 6, 2));
  other = join_from (&peer, 5, 7, 3);
  fail_unless (challenge != other);
  /* The receiver has not validated the address of path 5 yet, so it must refuse
   * data on this path. */
  give_data (&peer, 5, 0, 0, 0);
  fail_unless_equals_uint64 (count_refused (&peer, MMTP_REFUSED_CHANNEL), 1);
  respond_from (&peer, 5, 6, other);
  respond_from (&peer, 5, 7, challenge);
  fail_unless_equals_uint64 (count_refused (&peer, MMTP_REFUSED_ADDRESS), 2);
  fail_if (mmtp_receiver_poll_event (peer.receiver, &event));
  respond_from (&peer, 5, 6, challenge);
  fail_unless (poll_event (&peer, MMTP_EVENT_JOINED, &event));
  give_data (&peer, 5, 0, 0, 0);
  fail_unless (poll_event (&peer, MMTP_EVENT_BUFFER, &event));
  datagram_slice_clear (&event.data);
  /* If nothing has arrived for some time from the present address of the path,
   * a RESPONSE from another address must move the path to that address. */
  peer.now += MS (1000);
  respond_from (&peer, 5, 7, other);
  fail_if (mmtp_receiver_poll_event (peer.receiver, &event));
  give_data (&peer, 5, 0, 1, 0);
  fail_unless_equals_uint64 (count_refused (&peer, MMTP_REFUSED_ADDRESS), 3);
  peer_clear (&peer);
}

GST_END_TEST;

GST_START_TEST (a_path_leaves_and_comes_back)
{
  MmtpAddress address = make_address (1);
  MmtpReceiverEvent event;
  MmtpMessage message;
  Peer peer;

  peer_init (&peer, NULL, NULL);
  open_session (&peer);
  join_path (&peer, 1);
  give_data (&peer, 1, 0, 0, 0);
  fail_unless (poll_event (&peer, MMTP_EVENT_BUFFER, &event));
  datagram_slice_clear (&event.data);
  message = make (&peer, MMTP_LEAVE, 0, 0);
  message.leave.channel = 1;
  message.leave.reason = MMTP_LEAVE_INTERFACE;
  drain (&peer);
  give_sealed (&peer, &message, &address);
  fail_unless (poll_sealed (&peer));
  fail_unless_equals_int (peer.message.type, MMTP_LEAVE);
  fail_unless_equals_int (peer.message.channel, 0);
  fail_unless_equals_int (peer.message.leave.channel, 1);
  fail_unless (peer.message.leave.is_ack);
  fail_unless_equals_int (peer.message.leave.highest, 2);
  fail_unless (poll_event (&peer, MMTP_EVENT_LEFT, &event));
  fail_unless_equals_int (event.path, 1);
  /* The sender repeats the LEAVE, because the acknowledgement may be lost. The
   * receiver must acknowledge the second LEAVE, too, but must not report
   * MMTP_EVENT_LEFT to the application again. */
  give_sealed (&peer, &message, &address);
  fail_unless (poll_type (&peer, MMTP_LEAVE));
  fail_if (mmtp_receiver_poll_event (peer.receiver, &event));
  give_data (&peer, 1, 0, 1, 0);
  fail_unless_equals_uint64 (count_refused (&peer, MMTP_REFUSED_CHANNEL), 1);
  peer.numbers[1]--;
  join_path (&peer, 1);
  peer_clear (&peer);
}

GST_END_TEST;

/* --- caps, rate, delay, floor, end ---------------------------------------- */

static void
give_caps (Peer * peer, guint8 version, const gchar * text, guint from,
    guint size)
{
  MmtpMessage message = make (peer, MMTP_CAPS, 0, 0);
  MmtpAddress address = make_address (1);

  message.caps.version = version;
  message.caps.length = strlen (text);
  message.caps.offset = from;
  message.caps.piece = (const guint8 *) text + from;
  message.caps.piece_size = size;
  give_sealed (peer, &message, &address);
}

static void
give_version (Peer * peer, guint32 number, guint8 version)
{
  MmtpMessage message = make_data (peer, 0, 0, number, number, WHOLE);
  MmtpAddress address = make_address (1);

  message.data.caps_version = version;
  give_sealed (peer, &message, &address);
}

static void
expect_buffer (Peer * peer, gboolean discont)
{
  MmtpReceiverEvent event;

  fail_unless (poll_event (peer, MMTP_EVENT_BUFFER, &event));
  fail_unless_equals_int (event.discont, discont);
  datagram_slice_clear (&event.data);
}

GST_START_TEST (buffers_wait_for_their_caps)
{
  const gchar *text = "video/mpeg, mpegversion=(int)2";
  MmtpReceiverEvent event;
  Peer peer;

  peer_init (&peer, NULL, NULL);
  open_session (&peer);
  give_version (&peer, 0, 1);
  give_version (&peer, 1, 1);
  give_caps (&peer, 1, text, 10, strlen (text) - 10);
  fail_if (mmtp_receiver_poll_event (peer.receiver, &event));
  fail_if (poll_type (&peer, MMTP_CAPS_ACK));
  give_caps (&peer, 1, text, 0, 12);
  fail_unless (poll_type (&peer, MMTP_CAPS_ACK));
  fail_unless_equals_int (peer.message.caps.version, 1);
  fail_unless (poll_event (&peer, MMTP_EVENT_CAPS, &event));
  fail_unless_equals_string (event.caps, text);
  g_free (event.caps);
  expect_buffer (&peer, FALSE);
  expect_buffer (&peer, FALSE);
  /* The acknowledgement was lost. */
  give_caps (&peer, 1, text, 0, 12);
  fail_unless (poll_type (&peer, MMTP_CAPS_ACK));
  /* Each buffer contains the version number of its caps (the description of its
   * media format). The receiver must output new caps directly before the first
   * buffer that has their version number. */
  give_caps (&peer, 2, "audio/mpeg", 0, 10);
  give_version (&peer, 2, 1);
  expect_buffer (&peer, FALSE);
  give_version (&peer, 3, 2);
  fail_unless (poll_event (&peer, MMTP_EVENT_CAPS, &event));
  fail_unless_equals_string (event.caps, "audio/mpeg");
  g_free (event.caps);
  expect_buffer (&peer, FALSE);
  /* none */
  give_version (&peer, 4, 0);
  fail_unless (poll_event (&peer, MMTP_EVENT_CAPS, &event));
  fail_unless (event.caps == NULL);
  expect_buffer (&peer, FALSE);
  /* The caps of the next buffer have not arrived yet. The buffer must wait for
   * its caps, but not longer than until its deadline. */
  give_version (&peer, 5, 3);
  give_version (&peer, 6, 0);
  fail_if (mmtp_receiver_poll_event (peer.receiver, &event));
  peer.now = OUR_START + MS (D0 + 5);
  mmtp_receiver_timeout (peer.receiver, peer.now);
  expect_buffer (&peer, TRUE);
  peer_clear (&peer);
}

GST_END_TEST;

/* Two buffers arrive. The first one must wait because its caps have not
 * arrived. Its due time is later than that of the second buffer. The second
 * buffer must be output in time, although it follows the first one in the
 * stream. */
GST_START_TEST (no_buffer_is_late_because_another_waits_for_its_caps)
{
  MmtpAddress address = make_address (1);
  MmtpReceiverEvent event;
  MmtpMessage message;
  Peer peer;

  peer_init (&peer, NULL, NULL);
  open_session (&peer);
  message = make_data (&peer, 0, 0, 0, 0, WHOLE);
  message.data.caps_version = 3;
  message.data.due += 300000;
  give_sealed (&peer, &message, &address);
  give_version (&peer, 1, 0);
  fail_if (mmtp_receiver_poll_event (peer.receiver, &event));
  fail_unless (mmtp_receiver_next_wakeup (peer.receiver) <= OUR_START +
      MS (D0 + 5));
  peer.now = OUR_START + MS (D0 + 5);
  mmtp_receiver_timeout (peer.receiver, peer.now);
  expect_buffer (&peer, TRUE);
  peer_clear (&peer);
}

GST_END_TEST;

GST_START_TEST (caps_that_are_not_plain_are_refused_as_a_whole)
{
  const gchar *text = "video/mpeg, a=(GstCaps)x";
  MmtpReceiverEvent event;
  Peer peer;

  peer_init (&peer, NULL, NULL);
  open_session (&peer);
  give_caps (&peer, 1, text, 0, strlen (text));
  fail_unless (poll_type (&peer, MMTP_CAPS_ACK));
  fail_unless_equals_uint64 (count_refused (&peer, MMTP_REFUSED_MALFORMED), 1);
  give_version (&peer, 0, 1);
  expect_buffer (&peer, FALSE);
  /* a length that changes */
  give_caps (&peer, 2, "video/mpeg", 0, 5);
  give_caps (&peer, 2, "video/mpe", 5, 4);
  fail_unless_equals_uint64 (count_refused (&peer, MMTP_REFUSED_MALFORMED), 2);
  fail_if (mmtp_receiver_poll_event (peer.receiver, &event));
  peer_clear (&peer);
}

GST_END_TEST;

GST_START_TEST (the_presentation_rate_comes_before_its_buffer)
{
  MmtpAddress address = make_address (1);
  MmtpReceiverEvent event;
  MmtpMessage message;
  Peer peer;

  peer_init (&peer, NULL, NULL);
  open_session (&peer);
  message = make_data (&peer, 0, 0, 0, 0, WHOLE | MMTP_FLAG_PRELUDE);
  message.data.prelude.mask = MMTP_PRELUDE_RATE | MMTP_PRELUDE_PTS;
  message.data.prelude.frame_rate = 12500;
  message.data.prelude.bit_rate = 64000;
  message.data.prelude.pts = 80000;
  give_sealed (&peer, &message, &address);
  fail_unless (poll_event (&peer, MMTP_EVENT_PRESENTATION_RATE, &event));
  fail_unless_equals_int (event.frame_rate, 12500);
  fail_unless_equals_uint64 (event.bit_rate, 64000);
  fail_unless (poll_event (&peer, MMTP_EVENT_BUFFER, &event));
  fail_unless_equals_int (event.prelude.pts, 80000);
  datagram_slice_clear (&event.data);
  peer_clear (&peer);
}

GST_END_TEST;

GST_START_TEST (the_initial_delay_follows_the_sender_within_limits)
{
  MmtpAddress address = make_address (1);
  MmtpReceiverConfig config;
  MmtpReceiverEvent event;
  MmtpMessage message;
  Peer peer;

  mmtp_receiver_config_init (&config);
  config.min_delay = MS (400);
  config.max_delay = MS (800);
  peer_init (&peer, &config, NULL);
  open_session (&peer);
  message = make (&peer, MMTP_KEEPALIVE, 0, 0);
  message.keepalive.initial_delay = 600000;
  give_sealed (&peer, &message, &address);
  fail_unless (poll_event (&peer, MMTP_EVENT_INITIAL_DELAY, &event));
  fail_unless_equals_uint64 (event.delay, MS (600));
  give_sealed (&peer, &message, &address);
  fail_if (mmtp_receiver_poll_event (peer.receiver, &event));
  message.keepalive.initial_delay = 10000;
  give_sealed (&peer, &message, &address);
  fail_unless (poll_event (&peer, MMTP_EVENT_INITIAL_DELAY, &event));
  fail_unless_equals_uint64 (event.delay, MS (400));
  message.keepalive.initial_delay = 5000000;
  give_sealed (&peer, &message, &address);
  fail_unless (poll_event (&peer, MMTP_EVENT_INITIAL_DELAY, &event));
  fail_unless_equals_uint64 (event.delay, MS (800));
  peer_clear (&peer);
}

GST_END_TEST;

/* Number of changes of the initial delay (D0) that the receiver accepts in one
 * second. */
#define MAX_DELAY_CHANGES 4

GST_START_TEST (changes_of_the_initial_delay_are_limited)
{
  MmtpAddress address = make_address (1);
  MmtpReceiverEvent event;
  MmtpMessage message;
  guint i, n = 0;
  Peer peer;

  peer_init (&peer, NULL, NULL);
  open_session (&peer);
  message = make (&peer, MMTP_KEEPALIVE, 0, 0);
  for (i = 0; i < 100; i++) {
    message.keepalive.initial_delay = 300001 + i;
    give_sealed (&peer, &message, &address);
  }
  while (mmtp_receiver_poll_event (peer.receiver, &event))
    n += event.type == MMTP_EVENT_INITIAL_DELAY;
  fail_unless_equals_int (n, MAX_DELAY_CHANGES);
  /* In one second, the receiver accepts at most MAX_DELAY_CHANGES changes of
   * the initial delay (D0), and ignores the others. In the next second, it
   * accepts changes again. A KEEPALIVE must then set D0 to the value that the
   * sender has requested last. */
  peer.now += MS (1000);
  give_sealed (&peer, &message, &address);
  fail_unless (poll_event (&peer, MMTP_EVENT_INITIAL_DELAY, &event));
  fail_unless_equals_uint64 (event.delay, 300100 * G_GUINT64_CONSTANT (1000));
  peer_clear (&peer);
}

GST_END_TEST;

/* In a KEEPALIVE, the sender announces a floor: it sends no further packets
 * with stream numbers below the floor. Packets below the floor that were sent
 * before the KEEPALIVE may still be on their way over a slower path. On a path,
 * the first message that was sent later than the KEEPALIVE shows that none of
 * these packets follows on this path. The receiver must therefore wait for
 * missing packets below the floor, until such a message has arrived on each
 * path. */
GST_START_TEST (the_floor_holds_when_all_paths_have_brought_what_was_before)
{
  MmtpReceiverEvent event;
  Peer peer;

  peer_init (&peer, NULL, NULL);
  open_session (&peer);
  join_path (&peer, 1);
  peer.now += MS (200);
  give_data (&peer, 0, 10, 2, 200);
  give_keepalive (&peer, 0, 10, 0, 2);
  fail_if (mmtp_receiver_poll_event (peer.receiver, &event));
  peer.now += MS (50);
  give_data (&peer, 1, 150, 1, 200);    /* was sent before */
  fail_if (mmtp_receiver_poll_event (peer.receiver, &event));
  peer.now += MS (120);
  give_keepalive (&peer, 1, 150, 0, 2);
  expect_buffer (&peer, TRUE);
  expect_buffer (&peer, FALSE);
  fail_if (mmtp_receiver_poll_event (peer.receiver, &event));
  peer_clear (&peer);
}

GST_END_TEST;

/* Sends an END, with which the sender ends the stream. Returns whether the
 * receiver acknowledges it. */
static gboolean
give_end (Peer * peer, guint32 number)
{
  MmtpMessage message = make (peer, MMTP_END, 0, 0);
  MmtpAddress address = make_address (1);

  message.end.stream_number = number;
  give_sealed (peer, &message, &address);
  if (!poll_type (peer, MMTP_END_ACK))
    return FALSE;
  fail_unless_equals_int (peer->message.end.stream_number, number);
  return TRUE;
}

/* The receiver must acknowledge an END three times in a row. A single
 * acknowledgement may be lost, and the sender would then repeat the END. At
 * that time, the receiver's application may have exited already, so nobody
 * would answer. */
static void
expect_end (Peer * peer, guint32 number)
{
  MmtpReceiverEvent event;
  guint i;

  fail_unless (poll_event (peer, MMTP_EVENT_END, &event));
  for (i = 0; i < 3; i++) {
    fail_unless (poll_type (peer, MMTP_END_ACK));
    fail_unless_equals_int (peer->message.end.stream_number, number);
  }
  fail_if (poll_type (peer, MMTP_END_ACK));
  fail_if (mmtp_receiver_poll_event (peer->receiver, &event));
}

GST_START_TEST (the_end_comes_when_all_is_there)
{
  MmtpReceiverEvent event;
  Peer peer;

  peer_init (&peer, NULL, NULL);
  open_session (&peer);
  give_data (&peer, 0, 0, 0, 0);
  expect_buffer (&peer, FALSE);
  give_data (&peer, 0, 0, 2, 0);
  /* The sender has ended the stream with an END, but packet 1 is missing. The
   * receiver must not acknowledge the END yet, because the sender can
   * retransmit the packet only while it stays connected. */
  fail_if (give_end (&peer, 3));
  fail_if (mmtp_receiver_poll_event (peer.receiver, &event));
  give_data (&peer, 0, 0, 1, 0);
  expect_buffer (&peer, FALSE);
  expect_buffer (&peer, FALSE);
  expect_end (&peer, 3);
  /* The acknowledgements of an END may be lost. If the sender repeats the END,
   * the receiver must therefore acknowledge it again. The receiver must not
   * output any further buffer after the END. */
  fail_unless (give_end (&peer, 3));
  give_data (&peer, 0, 0, 3, 0);
  fail_if (mmtp_receiver_poll_event (peer.receiver, &event));
  peer.now += MS (60000);
  mmtp_receiver_timeout (peer.receiver, peer.now);
  fail_if (mmtp_receiver_poll_event (peer.receiver, &event));
  fail_unless (mmtp_receiver_next_wakeup (peer.receiver) == MMTP_NEVER);
  /* Another session can begin immediately. */
  peer.nonce[3] ^= 1;
  peer.numbers[0] = 0;
  open_session (&peer);
  peer_clear (&peer);
}

GST_END_TEST;

GST_START_TEST (the_end_comes_at_the_deadline_when_something_is_missing)
{
  MmtpReceiverEvent event;
  Peer peer;
  guint64 wakeup;

  peer_init (&peer, NULL, NULL);
  open_session (&peer);
  peer.now += MS (100);
  give_data (&peer, 0, 0, 0, 100);
  expect_buffer (&peer, FALSE);
  fail_if (give_end (&peer, 2));
  while ((wakeup = mmtp_receiver_next_wakeup (peer.receiver))
      < OUR_START + MS (100 + D0)) {
    peer.now = wakeup;
    mmtp_receiver_timeout (peer.receiver, wakeup);
    drain (&peer);
    fail_if (mmtp_receiver_poll_event (peer.receiver, &event));
  }
  fail_unless_equals_uint64 (wakeup, OUR_START + MS (100 + D0));
  peer.now = wakeup;
  mmtp_receiver_timeout (peer.receiver, wakeup);
  expect_end (&peer, 2);
  fail_unless (give_end (&peer, 2));
  peer_clear (&peer);
}

GST_END_TEST;

/* --- reports of several paths --------------------------------------------- */

static void
give_query (Peer * peer, guint8 via, guint8 about)
{
  MmtpMessage message = make (peer, MMTP_QUERY, via, 0);
  MmtpAddress address = make_address (via + 1);

  message.query.channel = about;
  give_sealed (peer, &message, &address);
}

GST_START_TEST (a_query_is_answered_at_once_and_not_too_often)
{
  Peer peer;
  guint i, n = 0;

  peer_init (&peer, NULL, NULL);
  open_session (&peer);
  join_path (&peer, 1);
  drain (&peer);
  give_query (&peer, 1, MMTP_ALL_CHANNELS);
  fail_unless (poll_sealed (&peer));
  fail_unless_equals_int (peer.message.type, MMTP_REPORT);
  fail_unless_equals_int (peer.message.channel, 1);
  fail_unless_equals_int (peer.message.report.echo_channel, 1);
  fail_unless_equals_int (peer.message.report.n_records, 2);
  fail_if (poll_sealed (&peer));
  peer.now += MS (20);
  give_query (&peer, 0, 1);
  fail_unless (poll_sealed (&peer));
  fail_unless_equals_int (peer.message.report.n_records, 1);
  fail_unless_equals_int (peer.message.report.records[0].channel, 1);
  peer.now += MS (10);
  for (i = 0; i < 60; i++) {
    give_query (&peer, 0, 1);
    while (poll_sealed (&peer))
      n++;
    peer.now += MS (1);
  }
  fail_unless_equals_int (n, 6);
  peer_clear (&peer);
}

GST_END_TEST;

/* Number of paths in the next test. With so many paths, the receiver sends the
 * REPORTs about all paths only on the fastest path. On another path, it reports
 * only about this path. */
#define MANY_PATHS 6

/* The receiver must send the REPORTs about all paths on the fastest path. When
 * this path becomes silent, the receiver must send them on the path that is
 * then the fastest. */
GST_START_TEST (reports_go_on_the_fastest_path_that_lives)
{
  guint all_on[2] = { 0, 0 }, own_on[2] = { 0, 0 }, i;
  Peer peer;

  peer_init (&peer, NULL, NULL);
  open_session (&peer);
  for (i = 1; i < MANY_PATHS; i++)
    join_path (&peer, i);
  for (i = 0; i < 200; i++) {
    peer.now += MS (10);
    if (i < 100)
      give_data (&peer, 0, 30, 2 * i, 10 * i);
    give_data (&peer, 1, 60, 2 * i + 1, 10 * i);
    mmtp_receiver_timeout (peer.receiver, peer.now);
    while (poll_sealed (&peer)) {
      if (peer.message.type != MMTP_REPORT)
        continue;
      if (i == 100)
        all_on[0] = all_on[1] = 0;
      if (peer.message.report.n_records == MANY_PATHS)
        all_on[peer.message.channel]++;
      else if (peer.message.channel < 2)
        own_on[peer.message.channel]++;
    }
    if (i == 99) {
      fail_unless (all_on[0] >= 8);
      fail_unless_equals_int (all_on[1], 0);
      fail_unless (own_on[1] >= 8);
      fail_unless_equals_int (own_on[0], 0);
    }
  }
  fail_unless (all_on[1] >= 5);
  peer_clear (&peer);
}

GST_END_TEST;

/* When the receiver sends reports on two paths at the same time, both reports
 * must contain the same records. */
GST_START_TEST (all_paths_carry_the_same_records)
{
  MmtpReport reports[2];
  gboolean has[2];
  guint i, j, n = 0;
  Peer peer;

  peer_init (&peer, NULL, NULL);
  open_session (&peer);
  join_path (&peer, 1);
  give_report_period (&peer, 100);
  for (i = 0; i < 200; i++) {
    peer.now += MS (9);
    give_data (&peer, 0, 20 + i % 7, 2 * i, 10 * i);
    give_data (&peer, 1, 60 + i % 5, 2 * i + 1, 10 * i);
    drain (&peer);
    peer.now += MS (1);
    mmtp_receiver_timeout (peer.receiver, peer.now);
    has[0] = has[1] = FALSE;
    while (poll_sealed (&peer))
      if (peer.message.type == MMTP_REPORT) {
        fail_unless_equals_int (peer.message.report.n_records, 2);
        has[peer.message.channel] = TRUE;
        reports[peer.message.channel] = peer.message.report;
      }
    if (!has[0] || !has[1])
      continue;
    n++;
    for (j = 0; j < 2; j++) {
      const MmtpRecord *a = &reports[0].records[j], *b = &reports[1].records[j];

      fail_unless_equals_int (a->flags, b->flags);
      fail_unless_equals_int (a->received, b->received);
      fail_unless_equals_int (a->arrival, b->arrival);
      fail_unless_equals_int (a->min_transit, b->min_transit);
      fail_unless_equals_int (a->high_transit, b->high_transit);
    }
  }
  fail_unless (n > 5);
  peer_clear (&peer);
}

GST_END_TEST;

/* After a gap, the first message arrives on path 1, the slower of two paths.
 * The receiver must report this message twice: immediately on the faster path
 * 0, and within the next 10 ms on path 1. */
GST_START_TEST (the_end_of_a_gap_is_told_on_two_paths)
{
  guint i, via[2] = { 0, 0 };
  Peer peer;

  peer_init (&peer, NULL, NULL);
  open_session (&peer);
  join_path (&peer, 1);
  for (i = 0; i < 200; i++) {
    advance (&peer, 10);
    give_data (&peer, 0, 20, peer.next++, peer.now / 1000000);
    if (i < 100)
      give_data (&peer, 1, 60, peer.next++, peer.now / 1000000);
  }
  get_wait (&peer);
  advance (&peer, 11);
  while (mmtp_receiver_next_wakeup (peer.receiver) < peer.now + MS (12)) {
    advance (&peer, 1);
    count_reports (&peer);
  }
  advance (&peer, 11);
  count_reports (&peer);
  give_data (&peer, 1, 60, peer.next++, peer.now / 1000000);
  fail_unless (poll_type (&peer, MMTP_REPORT));
  fail_unless_equals_int (peer.message.channel, 0);
  fail_unless_equals_int (peer.message.report.records[1].flags, 0);
  for (i = 0; i < 10; i++) {
    advance (&peer, 1);
    while (poll_sealed (&peer))
      via[peer.message.channel] += peer.message.type == MMTP_REPORT ? 1 : 0;
  }
  fail_unless_equals_int (via[0], 0);
  fail_unless_equals_int (via[1], 1);
  peer_clear (&peer);
}

GST_END_TEST;

GST_START_TEST (a_missed_keepalive_is_asked_for)
{
  guint i, n = 0;
  Peer peer;

  peer_init (&peer, NULL, NULL);
  open_session (&peer);
  for (i = 0; i < 200; i++) {
    peer.now += MS (10);
    give_data (&peer, 0, 30, i, 10 * i);
    if (i < 50 && i % 10 == 0)
      give_keepalive (&peer, 0, 30, 0, 0);
    mmtp_receiver_timeout (peer.receiver, peer.now);
    while (poll_sealed (&peer))
      n += peer.message.type == MMTP_QUERY ? 1 : 0;
    fail_unless (i >= 50 || n == 0);
  }
  fail_unless (n >= 1);
  fail_unless (n <= 3);
  peer_clear (&peer);
}

GST_END_TEST;

static Suite *
mmtpreceiver_suite (void)
{
  Suite *s = suite_create ("mmtpreceiver");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, a_session_opens_by_a_cookie);
  tcase_add_test (tc, only_a_refusal_of_a_right_open_is_sealed);
  tcase_add_test (tc, refusal_states_the_reason);
  tcase_add_test (tc, another_version_is_refused_and_told);
  tcase_add_test (tc, one_session_at_a_time);
  tcase_add_test (tc, silent_sender_may_resume_its_session);
  tcase_add_test (tc, full_queue_keeps_its_last_event);
  tcase_add_test (tc, a_sender_that_begins_again_takes_its_own_place);
  tcase_add_test (tc, nobody_takes_the_place_of_another);
  tcase_add_test (tc, a_doubt_takes_its_time);
  tcase_add_test (tc, after_the_end_of_the_only_stream_none_begins);
  tcase_add_loop_test (tc,
      end_counts_only_from_the_validated_address_and_token, 0, 2);
  tcase_add_test (tc, each_network_gets_a_hundred_answers_a_second);
  tcase_add_test (tc, unknown_hosts_get_fewer_answers_while_a_session_is_alive);
  tcase_add_test (tc, replayed_inits_with_a_key_get_no_more_answers);
  tcase_add_test (tc, senders_with_a_key_and_unknown_hosts_share_no_answers);
  tcase_add_test (tc, replayed_inits_leave_the_reserve_of_a_known_host);
  tcase_add_test (tc, buffers_come_out_in_order_and_on_our_clock);
  tcase_add_test (tc, a_gap_is_skipped_at_the_deadline_and_nothing_is_late);
  tcase_add_test (tc, a_late_buffer_is_output_up_to_a_limit);
  tcase_add_test (tc, buffers_received_in_time_are_output);
  tcase_add_test (tc, a_report_goes_each_period);
  tcase_add_test (tc, a_slow_path_has_fewer_reports);
  tcase_add_test (tc, reports_are_no_rarer_than_keepalives);
  tcase_add_test (tc, the_sender_chooses_the_period_of_reports);
  tcase_add_test (tc, another_period_holds_at_once);
  tcase_add_test (tc, a_loss_is_reported_at_once);
  tcase_add_test (tc, losses_on_a_slow_path_wait);
  tcase_add_test (tc, the_end_of_a_gap_is_reported_at_once_and_again);
  tcase_add_test (tc, an_idle_path_has_no_gaps);
  tcase_add_test (tc, many_messages_have_no_more_than_a_report_each_5_ms);
  tcase_add_test (tc, a_repair_brings_what_was_lost);
  tcase_add_test (tc, a_repair_lets_nothing_out_that_is_late);
  tcase_add_test (tc, guesses_move_nothing);
  tcase_add_test (tc, with_a_key_no_byte_can_be_changed);
  tcase_add_test (tc, replayed_message_is_refused);
  tcase_add_test (tc, message_without_session_or_channel_is_refused);
  tcase_add_test (tc, a_path_joins_by_its_address);
  tcase_add_test (tc, a_path_leaves_and_comes_back);
  tcase_add_test (tc, buffers_wait_for_their_caps);
  tcase_add_test (tc, no_buffer_is_late_because_another_waits_for_its_caps);
  tcase_add_test (tc, caps_that_are_not_plain_are_refused_as_a_whole);
  tcase_add_test (tc, the_presentation_rate_comes_before_its_buffer);
  tcase_add_test (tc, the_initial_delay_follows_the_sender_within_limits);
  tcase_add_test (tc, changes_of_the_initial_delay_are_limited);
  tcase_add_test (tc,
      the_floor_holds_when_all_paths_have_brought_what_was_before);
  tcase_add_test (tc, the_end_comes_when_all_is_there);
  tcase_add_test (tc, the_end_comes_at_the_deadline_when_something_is_missing);
  tcase_add_test (tc, a_query_is_answered_at_once_and_not_too_often);
  tcase_add_test (tc, reports_go_on_the_fastest_path_that_lives);
  tcase_add_test (tc, all_paths_carry_the_same_records);
  tcase_add_test (tc, the_end_of_a_gap_is_told_on_two_paths);
  tcase_add_test (tc, a_missed_keepalive_is_asked_for);
  return s;
}

GST_CHECK_MAIN (mmtpreceiver);

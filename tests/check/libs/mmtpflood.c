/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Floods the endpoints of an MMTP session with forged messages: an attacker
 * sends 10,000 messages per second. There is one run for each message type,
 * each state of the endpoints and each kind of attacker. Each run is compared
 * with a run without an attacker:
 *
 * - The loss of the stream must increase by less than one percentage point.
 * - The work for a forged message, the memory in use and the number of answers
 *   must stay within bounds.
 *
 * The environment variable MMTP_FLOOD_MS sets the duration of a flood in ms.
 * MMTP_FLOOD_SEED sets the seed of the random numbers. If MMTP_FLOOD_TABLE is
 * set, the test prints the results.
 */

#include <gst/check/gstcheck.h>

#ifdef HAVE_MALLINFO2
#include <malloc.h>
#endif

#include "mmtpattacker.h"
#include "mmtppacketbuilder.h"

#define MS G_GUINT64_CONSTANT (1000000)
#define SECOND (1000 * MS)
/* Size of a frame in bytes. With 25 frames per second, the stream has
 * 480 kbit/s. Even the slowest path, which has 500 kbit/s, can carry this
 * stream alone. */
#define FRAME_SIZE 2400
#define KEY "correct horse"
#define CAPS "video/mpeg, mpegversion=(int)2"
#define FORGED_EACH_MS 10
#define HUGE_FORGED_EACH_MS 1000
#define HUGE_FLOOD 20           /* ms */
#define DEFAULT_FLOOD 200       /* ms */
/* Maximum duration in ms of a flood while a session ends. It is less than the
 * session timeout of both endpoints, which is 10 s, so that the timeout does
 * not expire during the flood. */
#define MAX_ENDING 5000
/* Minimum duration in ms of a flood in the state TAKING_OVER, in which a second
 * sender takes the place of a sender that has died. */
#define MIN_TAKE_OVER 1000
#define RESTART_TIME (500 * MS)
/* Time in ns from the start of the second sender to the beginning of the flood,
 * in the state TAKING_OVER. In this state, a second sender takes the place of a
 * sender that has died. The receiver accepts the second sender only after 1 s,
 * because the session of the first sender may still be alive. The flood thus
 * begins just before the receiver accepts the second sender. */
#define TAKE_OVER_AFTER (900 * MS)
#define DEFAULT_SEED 2
/* Number of messages of each type that the attacker records, to replay them
 * later. It keeps the latest ones. */
#define N_SEEN 64
#define N_UNKNOWN_HOSTS 1024
#define UNKNOWN_TYPE MMTP_LAST_TYPE
#define ANY_TYPE (MMTP_LAST_TYPE + 1)   /* All types, in random order. */
#define N_TYPES (MMTP_LAST_TYPE + 2)

/* A flood may increase the loss of the stream by less than this number of
 * percentage points. */
#define MAX_ADDED_LOSS 1.0
/* Maximum time in ms by which a flood may delay the beginning of the stream.
 * The flood may delay the handshake, in which messages are repeated at
 * intervals of up to 2 s. */
#define MAX_DELAY 2000
/* Maximum work of the two endpoints for one forged message. The work is the
 * number of basic blocks (pieces of code without branches) of MMTP that are
 * executed. It includes the work for the answers that the forged message
 * causes.
 *
 * Most forged messages cause a few hundred basic blocks. The most expensive
 * message is a copy that arrives before its original, for example a copy of the
 * OPEN that begins a session. */
#define MAX_STEPS 50000
/* Limit in bytes for the additional growth of the memory during a flood: the
 * growth in the run with the flood minus the growth in a run without a flood. A
 * flood may increase the memory for three harmless reasons:
 * - A copied message may make the session begin earlier. The memory of the
 *   session and of the stream is then allocated during the flood. MAX_GROWTH
 *   allows for this memory.
 * - The endpoints may send more messages than in the run without a flood.
 * - The test itself stores all messages.
 *
 * Because of the last two reasons, the limit is MAX_GROWTH plus
 * MAX_MESSAGE_GROWTH bytes for each additional message. */
#define MAX_GROWTH (256 * 1024)
#define MAX_MESSAGE_GROWTH 128
/* Limits for the number of messages that the endpoints send because of a flood
 * (docs/security.md, Floods). They apply if the attacker is not on the path and
 * a session has begun before the flood. The endpoints may then send at most
 * MAX_ANSWERS messages per second, and MAX_ANSWERS_AT_ONCE more in a burst. In
 * all other cases, the endpoints may send one message for each forged
 * message. */
#define MAX_ANSWERS 1000
#define MAX_ANSWERS_AT_ONCE 200

/* --- steps ---------------------------------------------------------------- */

static guint64 n_steps;

/* Counts the executed code of MMTP. The test is compiled with
 * -fsanitize-coverage=trace-pc, so the compiler inserts a call of this function
 * into each basic block of MMTP's code. */
void __sanitizer_cov_trace_pc (void);

void
__sanitizer_cov_trace_pc (void)
{
  n_steps++;
}

static gsize
get_memory (void)
{
#ifdef HAVE_MALLINFO2
  const struct mallinfo2 info = mallinfo2 ();

  return info.uordblks + info.hblkhd;
#else
  return 0;
#endif
}

/* --- runs ----------------------------------------------------------------- */

/* State of the two endpoints during the flood. */
typedef enum
{
  /* The receiver waits for the first sender, which has not started yet. */
  NOBODY,
  ASKING,                       /* The sender waits for COOKIE. */
  /* The sender has requested a session with an OPEN and waits for ACCEPT. */
  OPENING,
  /* The session exists, and the sender adds two more paths to it. On each new
   * path, the sender waits for CHALLENGE. With this message, the receiver
   * checks the address from which the sender sends on the path. */
  JOINING,
  STREAMING,
  ENDING,                       /* The sender waits for END-ACK. */
  /* The previous sender has ended its session, and the next sender begins a
   * session. */
  OVER,
  /* The previous sender has died without ending its session, and the next
   * sender begins a session. */
  TAKING_OVER,
  N_STATES
} State;

static const gchar *const state_names[] = {
  "nobody", "asking", "opening", "joining", "streaming", "ending", "over",
  "taking over"
};

typedef struct _Flood Flood;

typedef struct
{
  const gchar *name;
  const gchar *key;
  gboolean is_on_path;
  void (*send) (Flood * self);
} Attacker;

typedef struct
{
  guint n_put, n_out;           /* buffers */
  guint sessions, ends, ended, troubles;
  guint n_forged, flood_ms;
  /* Number of messages that the two endpoints sent during the flood. */
  guint n_messages;
  guint64 refused[MMTP_LAST_REFUSAL];
  /* Maximum work that a single forged message has caused, as a number of
   * executed basic blocks of MMTP's code. */
  guint64 steps;
  gint64 growth;                /* bytes */
} Outcome;

struct _Flood
{
  MmtpNetwork network;
  State state;
  const Attacker *attacker;     /* NULL: none */
  guint target;                 /* A type, or ANY_TYPE. */
  guint type;                   /* Type of the next message. */
  guint each_ms;                /* Forged messages per ms. */
  guint32 random;
  gboolean flooding;
  /* Bit mask of the message types that the simulated network drops at present.
   */
  guint lost;
    Recorded (*seen)[N_SEEN];
  guint n_seen[MMTP_LAST_TYPE];
  Outcome outcome;
};

static void
see (Flood * self, MmtpRole from, const MmtpAddress * address,
    const guint8 * bytes, gsize size)
{
  const guint type = bytes[0] & 0x1f;

  attacker_record (&self->seen[type][self->n_seen[type]++ % N_SEEN],
      &self->network, from, address, bytes, size);
}

static gboolean
sent (MmtpNetwork * network, MmtpRole from, const MmtpAddress * address,
    const guint8 * bytes, gsize size, gpointer data)
{
  Flood *self = data;

  self->outcome.n_messages += self->flooding;
  see (self, from, address, bytes, size);
  return !attacker_is_unknown_host (address)
      && !(self->lost & 1u << (bytes[0] & 0x1f));
}

static guint64
get_flood_time (const Flood * self)
{
  const gchar *text = g_getenv ("MMTP_FLOOD_MS");
  guint64 ms = text ? g_ascii_strtoull (text, NULL, 10) : DEFAULT_FLOOD;

  if (self->each_ms == HUGE_FORGED_EACH_MS)
    return HUGE_FLOOD;
  if (self->state == ENDING)
    return MIN (ms, MAX_ENDING);
  return self->state == TAKING_OVER ? MAX (ms, MIN_TAKE_OVER) : ms;
}

static void
send_forged (Flood * self)
{
  guint i;

  for (i = 0; self->attacker && i < self->each_ms; i++) {
    const guint64 before = n_steps;

    if (self->target == ANY_TYPE)
      self->type = attacker_draw (&self->random) % ANY_TYPE;
    self->attacker->send (self);
    self->outcome.n_forged++;
    self->outcome.steps = MAX (self->outcome.steps, n_steps - before);
  }
}

static void
flood (Flood * self, guint64 ms)
{
  const gsize before = get_memory ();

  self->outcome.flood_ms += ms;
  self->flooding = TRUE;
  while (ms-- > 0) {
    send_forged (self);
    mmtp_network_run (&self->network, MS);
  }
  self->flooding = FALSE;
  self->outcome.growth += (gint64) get_memory () - (gint64) before;
}

/* Floods the endpoints while one of them waits for a message of the type
 * `type`. The network drops all messages of this type, so the endpoint waits
 * longer than usual. The network first runs for `beforehand` ns without a
 * flood. Then the flood begins.
 *
 * After this flood, the network drops no more messages, and a second flood of
 * `more` ms follows. During the second flood, the endpoint that still waits
 * requests the missing message again and receives it. */
static void
flood_without (Flood * self, MmtpType type, guint64 beforehand, guint more)
{
  self->lost = 1u << type;
  mmtp_network_run (&self->network, beforehand);
  flood (self, get_flood_time (self));
  self->lost = 0;
  flood (self, more);
}

static void
add_paths (Flood * self)
{
  guint i;

  for (i = 0; i < MMTP_NETWORK_PATHS; i++)
    mmtp_network_add_path (&self->network, i);
}

static void
end (Flood * self)
{
  self->network.streaming = FALSE;
  mmtp_sender_end (self->network.sender, self->network.now);
}

static void
begin_second (Flood * self)
{
  mmtp_network_begin_anew (&self->network, 2);
  mmtp_network_run (&self->network, RESTART_TIME);
  add_paths (self);
}

/* Begins the session and runs it until all paths carry the stream. Afterwards
 * one path leaves the session and joins it again.
 *
 * A flood sends many forged messages while the session is in the state
 * `self->state`. While this function begins the session, the states NOBODY,
 * ASKING, OPENING and JOINING occur. If `self->state` is one of these four
 * states, this function also runs the flood. */
static void
begin (Flood * self)
{
  if (self->state == NOBODY)
    flood (self, get_flood_time (self));
  mmtp_sender_set_caps (self->network.sender, self->network.now, CAPS);
  add_paths (self);
  if (self->state == ASKING)
    flood_without (self, MMTP_COOKIE, 0, 300);
  else if (self->state == OPENING)
    flood_without (self, MMTP_ACCEPT, 100 * MS, 600);
  else if (self->state == JOINING)
    flood_without (self, MMTP_CHALLENGE, 100 * MS, 500);
  mmtp_network_run (&self->network, 500 * MS);
  mmtp_sender_remove_path (self->network.sender, self->network.now, 2,
      MMTP_LEAVE_ASKED);
  mmtp_network_run (&self->network, 300 * MS);
  mmtp_network_add_path (&self->network, 2);
  mmtp_network_run (&self->network, 500 * MS);
}

static void
go_on (Flood * self)
{
  if (self->state == STREAMING)
    flood (self, get_flood_time (self));
  mmtp_network_run (&self->network, 3 * SECOND);
  if (self->state == ENDING) {
    end (self);
    flood_without (self, MMTP_END_ACK, 0, 200);
  } else if (self->state == OVER) {
    end (self);
    mmtp_network_run (&self->network, SECOND);
    begin_second (self);
    flood (self, get_flood_time (self));
  } else if (self->state == TAKING_OVER) {
    begin_second (self);
    mmtp_network_run (&self->network, TAKE_OVER_AFTER);
    flood (self, get_flood_time (self));
  }
  mmtp_network_run (&self->network, SECOND);
  self->network.streaming = FALSE;
  mmtp_network_run (&self->network, 1500 * MS);
}

static void
note_outcome (Flood * self)
{
  const MmtpNetwork *network = &self->network;
  Outcome *outcome = &self->outcome;
  guint i;

  outcome->n_put = network->n_put;
  outcome->n_out = network->out->len;
  outcome->sessions = network->sessions;
  outcome->ends = network->ends;
  outcome->ended = network->ended;
  outcome->troubles = network->lost + network->refused + network->broken;
  for (i = 0; i < MMTP_LAST_REFUSAL; i++)
    outcome->refused[i] = network->receiver_stats.refused[i]
        + network->sender_stats.refused[i];
}

static guint32
get_seed (void)
{
  const gchar *text = g_getenv ("MMTP_FLOOD_SEED");

  return text ? MAX (g_ascii_strtoull (text, NULL, 10), 1) : DEFAULT_SEED;
}

/* The simulated network keeps an account of each address. This function makes
 * the network allocate the accounts of all addresses of attackers before the
 * flood begins. Otherwise this memory would count as growth during the
 * flood. */
static void
meet_unknown_hosts (Flood * self)
{
  guint i;

  for (i = 0; i < N_UNKNOWN_HOSTS; i++) {
    const MmtpAddress address = attacker_make_unknown_host (i);

    mmtp_network_get_sent (&self->network, &address);
  }
}

static Outcome
run (State state, const Attacker * attacker, guint type, const gchar * key,
    guint each_ms)
{
  Flood self = {.state = state,.attacker = attacker,.each_ms = each_ms,
    .random = get_seed ()
  };
  const MmtpNetworkConfig config = { key, FRAME_SIZE, sent, NULL, &self };

  self.target = self.type = type;
  self.seen = g_malloc0 (MMTP_LAST_TYPE * sizeof (*self.seen));
  mmtp_network_init (&self.network, &config);
  meet_unknown_hosts (&self);
  begin (&self);
  go_on (&self);
  note_outcome (&self);
  mmtp_network_clear (&self.network);
  g_free (self.seen);
  return self.outcome;
}

/* --- attackers ------------------------------------------------------------ */

#define BOTH (MMTP_SENDER | MMTP_RECEIVER)

static const MmtpRole roles[ANY_TYPE] = {
  [MMTP_DATA] = MMTP_SENDER,
  [MMTP_PROBE] = MMTP_SENDER,
  [MMTP_INIT] = MMTP_SENDER,
  [MMTP_COOKIE] = MMTP_RECEIVER,
  [MMTP_OPEN] = MMTP_SENDER,
  [MMTP_ACCEPT] = MMTP_RECEIVER,
  [MMTP_REFUSE] = MMTP_RECEIVER,
  [MMTP_JOIN] = MMTP_SENDER,
  [MMTP_CHALLENGE] = MMTP_RECEIVER,
  [MMTP_RESPONSE] = MMTP_SENDER,
  [MMTP_KEEPALIVE] = MMTP_SENDER,
  [MMTP_REPORT] = MMTP_RECEIVER,
  [MMTP_QUERY] = BOTH,
  [MMTP_RESERVED_13] = BOTH,
  [MMTP_LEAVE] = BOTH,
  [MMTP_CAPS] = MMTP_SENDER,
  [MMTP_CAPS_ACK] = MMTP_RECEIVER,
  [MMTP_END] = MMTP_SENDER,
  [MMTP_END_ACK] = MMTP_RECEIVER,
  [MMTP_REPAIR] = MMTP_SENDER,
  [UNKNOWN_TYPE] = BOTH,
};

/* Returns the endpoint whose messages the attacker forges next. Usually only
 * one endpoint sends messages of the present type. Seven of eight forged
 * messages are then forged in the name of this endpoint, and one in the name of
 * the other endpoint. If both endpoints send messages of this type, one of them
 * is drawn at random. */
static MmtpRole
draw_role (Flood * self)
{
  const MmtpRole role = roles[self->type];

  if (role == BOTH)
    return attacker_draw (&self->random) & 1 ? MMTP_SENDER : MMTP_RECEIVER;
  return attacker_draw (&self->random) % 8 ? role : BOTH & ~role;
}

/* Returns whether the attacker may send the next message with the sender's
 * address. The receiver limits its answers to handshake requests. Forged
 * requests with the sender's address would use up these answers, so the sender
 * would get no session (docs/security.md, Floods). This is a known weakness,
 * which the test excludes. The attacker may therefore not use the sender's
 * address if these three conditions are met:
 * - There is no key.
 * - The message is a handshake request.
 * - The sender still waits for its session. */
static gboolean
may_be_sender (const Flood * self)
{
  const gboolean is_request = self->type == MMTP_INIT ||
      self->type == MMTP_OPEN;
  const gboolean is_waited_for = self->state == NOBODY ||
      self->state == ASKING || self->state == OVER ||
      self->state == TAKING_OVER;

  return self->attacker->key || !is_request || !is_waited_for;
}

/* Returns one of these addresses at random:
 * - the address of the attacker's host
 * - the address of any other host
 * - an address of the sender, if the attacker may forge it */
static MmtpAddress
draw_address (Flood * self)
{
  MmtpAddress address;

  switch (attacker_draw (&self->random) % (may_be_sender (self) ? 4 : 2)) {
    case 0:
      return attacker_make_unknown_host (1);
    case 1:
      return attacker_make_unknown_host (attacker_draw (&self->random)
          % N_UNKNOWN_HOSTS);
    default:
      mmtp_network_get_address (attacker_draw (&self->random) %
          MMTP_NETWORK_PATHS, &address);
      return address;
  }
}

static void
give (Flood * self, MmtpRole from, const MmtpAddress * address, guint path,
    const guint8 * bytes, gsize size)
{
  if (from == MMTP_SENDER)
    mmtp_network_to_receiver (&self->network, address, bytes, size);
  else
    mmtp_network_to_sender (&self->network, path, bytes, size);
}

static void
send_forged_message (Flood * self, MmtpRole from, const MmtpOverheard * known,
    guint64 trailer)
{
  const guint path = attacker_draw (&self->random) % MMTP_NETWORK_PATHS;
  const MmtpAddress address = draw_address (self);
  MmtpMessage message;
  guint8 bytes[2000];
  gsize size;

  mmtp_build_message (&message,
      self->type == UNKNOWN_TYPE ? MMTP_QUERY : self->type, from, path, known,
      attacker_draw, &self->random);
  message.trailer = trailer;
  size = mmtp_packet_write (&message, bytes, sizeof (bytes));
  if (self->type == MMTP_RESERVED_13)
    bytes[0] = MMTP_VERSION << 5 | MMTP_RESERVED_13;
  else if (self->type == UNKNOWN_TYPE)
    bytes[0] = attacker_draw (&self->random) | 0x1f;
  give (self, from, &address, path, bytes, size);
}

static guint64
draw_trailer (Flood * self)
{
  const guint64 high = attacker_draw (&self->random);

  return high << 32 | attacker_draw (&self->random);
}

/* Sends a forged message of an attacker that has guessed the message numbers,
 * the times and the stream numbers, but not the secrets (nonces, cookie,
 * challenge and trailer). */
static void
guess (Flood * self)
{
  MmtpOverheard known = self->network.overheard;

  memset (known.nonce_s, 1, MMTP_NONCE_SIZE);
  memset (known.nonce_r, 2, MMTP_NONCE_SIZE);
  memset (known.cookie, 3, MMTP_COOKIE_SIZE);
  known.path_nonce = known.challenge = 4;
  send_forged_message (self, draw_role (self), &known, draw_trailer (self));
}

/* Sends a message that an attacker has forged. The attacker has seen all
 * messages of the session, but does not know the key. */
static void
send_without_key (Flood * self)
{
  const MmtpRole from = draw_role (self);
  const MmtpOverheard *known = &self->network.overheard;

  send_forged_message (self, from, known, attacker_draw (&self->random) & 1
      ? draw_trailer (self) : known->tokens[from == MMTP_RECEIVER]);
}

/* Copies a recorded message of the type `type` to `copy`. Returns FALSE if no
 * message of this type has been sent yet. */
static gboolean
find_seen (Flood * self, guint type, Recorded * copy)
{
  const guint n = MIN (self->n_seen[type], N_SEEN);
  guint back = 0;

  if (n == 0)
    return FALSE;
  /* In half of the calls, copies the newest recorded message. This message is
   * still in flight, so the copy arrives before it. */
  if (!(attacker_draw (&self->random) & 1))
    back = attacker_draw (&self->random) % n;
  *copy = self->seen[type][(self->n_seen[type] - 1 - back) % N_SEEN];
  return TRUE;
}

static gboolean
find_any_seen (Flood * self, Recorded * copy)
{
  const guint first = attacker_draw (&self->random);
  guint i;

  for (i = 0; i < MMTP_LAST_TYPE; i++)
    if (find_seen (self, (first + i) % MMTP_LAST_TYPE, copy))
      return TRUE;
  return FALSE;
}

/* Replaces either the header or the trailer of the message `copy` with the
 * header or the trailer of another recorded message. */
static void
mix (Flood * self, Recorded * copy)
{
  Recorded other;

  if (!find_any_seen (self, &other))
    return;
  if (attacker_draw (&self->random) & 1)
    memcpy (copy->bytes + 1, other.bytes + 1, MMTP_HEADER_SIZE - 1);
  else
    memcpy (copy->bytes + copy->size - MMTP_TRAILER_SIZE,
        other.bytes + other.size - MMTP_TRAILER_SIZE, MMTP_TRAILER_SIZE);
}

static void
spoil_in_some_way (Flood * self, Recorded * copy, guint * path)
{
  switch (attacker_draw (&self->random) % 8) {
    case 0:
    case 1:
      attacker_spoil (&self->random, copy->bytes, &copy->size);
      break;
    case 2:
      copy->address = draw_address (self);
      break;
    case 3:
      copy->from = BOTH & ~copy->from;
      break;
    case 4:
    case 5:
      mix (self, copy);
      break;
    case 6:
      *path = copy->bytes[1] = attacker_draw (&self->random)
          % MMTP_NETWORK_PATHS;
      break;
    default:
      break;
  }
}

static void
replay (Flood * self)
{
  Recorded copy;
  guint path;

  /* If the endpoints have not sent a message of the wanted type yet, the
   * attacker copies a message of another type and changes its type. */
  if (self->type == UNKNOWN_TYPE || !find_seen (self, self->type, &copy)) {
    if (!find_any_seen (self, &copy))
      return;
    copy.bytes[0] = (copy.bytes[0] & 0xe0) | (self->type & 0x1f);
  }
  path = copy.bytes[1] % MMTP_NETWORK_PATHS;
  spoil_in_some_way (self, &copy, &path);
  give (self, copy.from, &copy.address, path, copy.bytes, copy.size);
}

#define N_OFF_PATH 2

/* The first N_OFF_PATH attackers in this table are off the path: they do not
 * see the messages of the session. The other attackers are on the path. */
static const Attacker attackers[] = {
  {"off-path, no key", NULL, FALSE, guess},
  {"off-path, key", KEY, FALSE, guess},
  {"on-path, key, forges", KEY, TRUE, send_without_key},
  {"on-path, key, replays", KEY, TRUE, replay},
};

/* --- conditions that must hold -------------------------------------------- */

static gdouble
get_loss (const Outcome * outcome)
{
  return 100.0 * (outcome->n_put - outcome->n_out) / outcome->n_put;
}

/* Compares a run without a flood and a run with a flood. Returns by how many ms
 * the flood has delayed the beginning of the stream. Both runs end at the same
 * time, and the stream has a buffer every 40 ms. The difference of the numbers
 * of buffers therefore shows the delay. */
static gint
get_delay (const Outcome * quiet, const Outcome * flooded)
{
  return ((gint) quiet->n_put - (gint) flooded->n_put) * 40;
}

static const gchar *
get_type_name (guint type)
{
  if (type == ANY_TYPE)
    return "all types";
  return type == UNKNOWN_TYPE ? "unknown" : mmtp_type_get_name (type);
}

static void
print_outcome (State state, const Attacker * attacker, guint type,
    const Outcome * quiet, const Outcome * flooded)
{
  guint i;

  g_print ("%-11s | %-21s | %-9s | loss %+.2f | delay %5d ms | steps %5"
      G_GUINT64_FORMAT " | growth %6" G_GINT64_FORMAT
      " | messages %+5d for %u |", state_names[state], attacker->name,
      get_type_name (type), get_loss (flooded) - get_loss (quiet),
      get_delay (quiet, flooded), flooded->steps,
      flooded->growth - quiet->growth,
      (gint) (flooded->n_messages - quiet->n_messages), flooded->n_forged);
  for (i = 0; i < MMTP_LAST_REFUSAL; i++)
    if (flooded->refused[i] > quiet->refused[i])
      g_print (" %s %" G_GUINT64_FORMAT, mmtp_refusal_get_name (i),
          flooded->refused[i] - quiet->refused[i]);
  g_print ("\n");
}

static void
check_stream (const Outcome * quiet, const Outcome * flooded,
    const gchar * where)
{
  const gdouble added = get_loss (flooded) - get_loss (quiet);

  fail_unless (added < MAX_ADDED_LOSS, "%s: %.2f points of loss", where, added);
  fail_unless (get_delay (quiet, flooded) <= MAX_DELAY, "%s: %d ms later",
      where, get_delay (quiet, flooded));
  fail_unless (flooded->sessions == quiet->sessions
      && flooded->ends == quiet->ends && flooded->ended == quiet->ended
      && flooded->troubles == quiet->troubles,
      "%s: %u sessions, %u ends, %u ended, %u troubles", where,
      flooded->sessions, flooded->ends, flooded->ended, flooded->troubles);
}

static void
check_bounds (State state, gboolean is_on_path, const Outcome * quiet,
    const Outcome * flooded, const gchar * where)
{
  const gint caused = (gint) flooded->n_messages - (gint) quiet->n_messages;
  const gint64 growth = flooded->growth - quiet->growth;
  guint max = flooded->n_forged;

  if (!is_on_path && state >= JOINING)
    max = MAX_ANSWERS * flooded->flood_ms / 1000 + MAX_ANSWERS_AT_ONCE;
  fail_unless (flooded->steps <= MAX_STEPS, "%s: %" G_GUINT64_FORMAT " steps",
      where, flooded->steps);
  fail_unless (growth <= MAX_GROWTH + MAX_MESSAGE_GROWTH * MAX (caused, 0),
      "%s: %" G_GINT64_FORMAT " bytes", where, growth);
  fail_unless (caused <= (gint) max, "%s: %d messages", where, caused);
}

static void
check_flood (State state, const Attacker * attacker, guint type,
    guint each_ms, const Outcome * quiet)
{
  const Outcome flooded = run (state, attacker, type, attacker->key, each_ms);
  gchar *where = g_strdup_printf ("%s, %s, %s", state_names[state],
      attacker->name, get_type_name (type));

  if (g_getenv ("MMTP_FLOOD_TABLE"))
    print_outcome (state, attacker, type, quiet, &flooded);
  check_stream (quiet, &flooded, where);
  check_bounds (state, attacker->is_on_path, quiet, &flooded, where);
  g_free (where);
}

GST_START_TEST (flood_of_forged_messages_changes_nothing)
{
  const State state = __i__ % N_STATES;
  const Attacker *attacker = &attackers[__i__ / N_STATES];
  const Outcome quiet = run (state, NULL, 0, attacker->key, 0);
  guint type;

  for (type = 0; type < N_TYPES; type++)
    check_flood (state, attacker, type, FORGED_EACH_MS, &quiet);
}

GST_END_TEST;

/* An off-path attacker sends a million messages per second. The endpoints must
 * not send more answers than in a flood of 10,000 messages per second;
 * check_bounds () checks this. */
GST_START_TEST (huge_flood_gets_no_more_answers)
{
  const Attacker *attacker = &attackers[__i__];
  const Outcome quiet = run (STREAMING, NULL, 0, attacker->key,
      HUGE_FORGED_EACH_MS);
  guint type;

  for (type = 0; type < N_TYPES; type++)
    check_flood (STREAMING, attacker, type, HUGE_FORGED_EACH_MS, &quiet);
}

GST_END_TEST;

GST_START_TEST (steps_are_counted)
{
#ifdef HAVE_TRACE_PC
  const Outcome outcome = run (STREAMING, &attackers[0], MMTP_DATA, NULL,
      FORGED_EACH_MS);

  fail_unless (outcome.steps > 0);
#endif
}

GST_END_TEST;

/* --- attempts to move the session ----------------------------------------- */

/* An on-path attacker that is faster than the path tries to move the session,
 * or one path of the session, to its own address. It must not succeed. It acts
 * in three steps:
 * 1. It copies the sender's request (INIT or JOIN) and sends the copy from its
 *    own address.
 * 2. It forwards the receiver's answer (COOKIE or CHALLENGE) to the sender,
 *    which reacts with a further message (OPEN or RESPONSE).
 * 3. It sends a copy of this further message from its own address. The copy
 *    arrives before the message itself. */
typedef struct
{
  MmtpNetwork network;
  MmtpType question, answer, proof;
  GQueue to_receiver, to_sender;        /* of Recorded */
  guint n_proofs;
} Hijack;

static void
keep (GQueue * queue, MmtpNetwork * network, MmtpRole from,
    const MmtpAddress * address, const guint8 * bytes, gsize size)
{
  Recorded *copy = g_new (Recorded, 1);

  attacker_record (copy, network, from, address, bytes, size);
  g_queue_push_tail (queue, copy);
}

static gboolean
watch (MmtpNetwork * network, MmtpRole from, const MmtpAddress * address,
    const guint8 * bytes, gsize size, gpointer data)
{
  Hijack *self = data;
  const MmtpType type = bytes[0] & 0x1f;

  if (type == self->question || type == self->proof)
    keep (&self->to_receiver, network, from, address, bytes, size);
  else if (type == self->answer && attacker_is_unknown_host (address))
    keep (&self->to_sender, network, from, address, bytes, size);
  self->n_proofs += type == self->proof;
  return !attacker_is_unknown_host (address);
}

static void
steal (MmtpNetwork * network, gpointer data)
{
  const MmtpAddress own = attacker_make_unknown_host (7);
  Hijack *self = data;
  Recorded *copy;

  while ((copy = g_queue_pop_head (&self->to_receiver))) {
    mmtp_network_to_receiver (network, &own, copy->bytes, copy->size);
    g_free (copy);
  }
  while ((copy = g_queue_pop_head (&self->to_sender))) {
    mmtp_network_to_sender (network, copy->bytes[1], copy->bytes, copy->size);
    g_free (copy);
  }
}

static const struct
{
  MmtpType question, answer, proof;
} thefts[] = {
  {MMTP_INIT, MMTP_COOKIE, MMTP_OPEN},
  {MMTP_JOIN, MMTP_CHALLENGE, MMTP_RESPONSE},
};

#define THEFT_TIME 8            /* s */
/* Maximum time in s from the start of the sender to the beginning of the
 * stream. */
#define MAX_START 2

GST_START_TEST (address_of_a_session_is_not_stolen)
{
  Hijack self = {.question = thefts[__i__].question,
    .answer = thefts[__i__].answer,.proof = thefts[__i__].proof
  };
  const MmtpNetworkConfig config = { KEY, FRAME_SIZE, watch, steal, &self };
  guint i;

  mmtp_network_init (&self.network, &config);
  for (i = 0; i < MMTP_NETWORK_PATHS; i++)
    mmtp_network_add_path (&self.network, i);
  steal (&self.network, &self);
  mmtp_network_run (&self.network, THEFT_TIME * SECOND);
  self.network.streaming = FALSE;
  mmtp_network_run (&self.network, 1500 * MS);
  fail_unless (self.n_proofs > 0);
  assert_equals_int (self.network.sessions, 1);
  fail_unless (self.network.n_put >= (THEFT_TIME - MAX_START) * 25,
      "%u buffers put", self.network.n_put);
  fail_unless ((self.network.n_put - self.network.out->len) * 100 <
      self.network.n_put, "%u of %u buffers came", self.network.out->len,
      self.network.n_put);
  mmtp_network_clear (&self.network);
}

GST_END_TEST;

static Suite *
mmtpflood_suite (void)
{
  Suite *suite = suite_create ("mmtpflood");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_set_timeout (tcase, 600);
  tcase_add_loop_test (tcase, flood_of_forged_messages_changes_nothing, 0,
      N_STATES * G_N_ELEMENTS (attackers));
  tcase_add_loop_test (tcase, huge_flood_gets_no_more_answers, 0, N_OFF_PATH);
  tcase_add_test (tcase, steps_are_counted);
  tcase_add_loop_test (tcase, address_of_a_session_is_not_stolen, 0,
      G_N_ELEMENTS (thefts));
  return suite;
}

GST_CHECK_MAIN (mmtpflood);

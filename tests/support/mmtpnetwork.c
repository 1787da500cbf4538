/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtpnetwork.h: a sender and a receiver of MMTP, which
 * exchange messages over simulated paths in virtual time. It also checks
 * conditions that must always hold. If a check fails, the program aborts. */

#include "mmtpnetwork.h"

#include <string.h>

#define MS G_GUINT64_CONSTANT (1000000)
#define SECOND (1000 * MS)
#define OVERHEAD 28             /* IPv4 and UDP */
#define MAX_SIZE 1472
#define MAX_BYTES 500000
/* Maximum number of messages that an endpoint sends at one virtual time. An
 * endpoint that sends more is in an endless loop. */
#define MAX_OUTPUTS 100000
/* Maximum number of wakeups of an endpoint at one virtual time. An endpoint
 * that asks for more wakeups is in an endless loop. */
#define MAX_WAKEUPS 8

static const struct
{
  const gchar *name;
  guint64 rate;                 /* bits per second */
  guint64 delay;                /* ns one way */
} paths[MMTP_NETWORK_PATHS] = {
  {"fast", 4000000, 10 * MS}, {"middle", 2000000, 40 * MS},
  {"slow", 500000, 120 * MS}
};

typedef struct
{
  guint64 time;                 /* ns, of arrival */
  guint path;
  /* Address that the sender had on this path when the message was sent. */
  MmtpAddress address;
  GBytes *bytes;
} Flight;

/* One address of the sender, as the simulated network sees it. For each
 * address, a receiver must record how many bytes it has received from the
 * address, how many bytes it has sent to the address, and whether the address
 * is validated (docs/wire-mmtp.md, sections 3 and 4). The simulated network
 * makes the same records independently, and uses them to check that the
 * receiver obeys these sections. */
typedef struct
{
  guint64 received, sent;       /* bytes */
  /* The challenges that the receiver has sent to this address, as an array of
   * guint64; NULL if it has sent none. */
  GArray *challenges;
  GByteArray *cookies;
  /* TRUE if a message that contains one of the challenges has come from this
   * address. The address is then validated. */
  gboolean validated;
} Account;

enum
{ TO_SENDER, TO_RECEIVER };

static void
free_account (gpointer data)
{
  Account *account = data;

  g_clear_pointer (&account->challenges, g_array_unref);
  g_clear_pointer (&account->cookies, g_byte_array_unref);
  g_free (account);
}

static guint
hash_address (gconstpointer key)
{
  const MmtpAddress *address = key;
  guint hash = 5381, i;

  for (i = 0; i < address->size; i++)
    hash = hash * 33 + address->bytes[i];
  return hash;
}

static gboolean
is_same_address (gconstpointer a, gconstpointer b)
{
  const MmtpAddress *one = a, *other = b;

  return one->size == other->size
      && memcmp (one->bytes, other->bytes, one->size) == 0;
}

void
mmtp_network_get_address (guint path, MmtpAddress * address)
{
  const guint8 bytes[] = { 192, 0, 2, path + 1, 0x13, 0x8c };

  memset (address, 0, sizeof (*address));
  address->size = sizeof (bytes);
  memcpy (address->bytes, bytes, sizeof (bytes));
  address->host_size = 4;
  address->prefix_size = 3;
}

static guint
find_path (MmtpNetwork * self, const MmtpAddress * address)
{
  guint i;

  for (i = 0; i < MMTP_NETWORK_PATHS; i++)
    if (is_same_address (address, &self->addresses[i]))
      return i;
  return MMTP_NO_PATH;
}

void
mmtp_network_move (MmtpNetwork * self, guint path, const MmtpAddress * address)
{
  self->addresses[path] = *address;
}

/* --- conditions that must hold -------------------------------------------- */

static void
check_sender_path (MmtpNetwork * self, guint path)
{
  MmtpSenderPathStats *old = &self->sender_paths[path], new;

  if (!mmtp_sender_get_path_stats (self->sender, path, &new))
    return;
  g_assert (new.packets >= old->packets && new.bytes >= old->bytes);
  g_assert (new.data_packets >= old->data_packets);
  g_assert (new.retransmitted >= old->retransmitted);
  g_assert (new.probes >= old->probes && new.reported >= old->reported);
  g_assert (new.lost >= old->lost && new.late >= old->late);
  g_assert (new.requeued >= old->requeued);
  g_assert (new.silences >= old->silences);
  *old = new;
}

static void
check_receiver_path (MmtpNetwork * self, guint path)
{
  MmtpReceiverPathStats *old = &self->receiver_paths[path], new;

  if (!mmtp_receiver_get_path_stats (self->receiver, path, &new))
    return;
  g_assert (new.received >= old->received && new.bytes >= old->bytes);
  g_assert (new.lost >= old->lost && new.late >= old->late);
  g_assert (new.duplicates >= old->duplicates);
  *old = new;
}

static void
check_sender_stats (MmtpNetwork * self)
{
  MmtpSenderStats *old = &self->sender_stats, new;
  guint i;

  mmtp_sender_get_stats (self->sender, &new);
  g_assert (new.buffers >= old->buffers && new.bytes >= old->bytes);
  g_assert (new.packets >= old->packets);
  g_assert (new.sent_buffers >= old->sent_buffers);
  g_assert (new.discarded_buffers >= old->discarded_buffers);
  g_assert (new.discarded_room >= old->discarded_room);
  g_assert (new.discarded_broken >= old->discarded_broken);
  g_assert (new.discarded_connection >= old->discarded_connection);
  g_assert (new.discarded_keys >= old->discarded_keys);
  g_assert (new.discarded_droppable >= old->discarded_droppable);
  g_assert (new.retransmitted >= old->retransmitted);
  g_assert (new.unrepaired >= old->unrepaired);
  g_assert (new.n_paths >= old->n_paths);
  g_assert (new.n_paths <= MMTP_NETWORK_PATHS);
  g_assert (new.queued_bytes <= 2 * self->sender_config.max_bytes);
  for (i = 0; i < MMTP_LAST_REFUSAL; i++)
    g_assert (new.refused[i] >= old->refused[i]);
  *old = new;
  for (i = 0; i < MMTP_NETWORK_PATHS; i++)
    check_sender_path (self, i);
}

static void
check_receiver_stats (MmtpNetwork * self)
{
  MmtpReceiverStats *old = &self->receiver_stats, new;
  guint i;

  mmtp_receiver_get_stats (self->receiver, &new);
  g_assert (new.sessions >= old->sessions);
  g_assert (new.buffers >= old->buffers && new.bytes >= old->bytes);
  g_assert (new.packets >= old->packets && new.late >= old->late);
  g_assert (new.duplicates >= old->duplicates);
  g_assert (new.missing >= old->missing);
  g_assert (new.incomplete >= old->incomplete);
  g_assert (new.no_room >= old->no_room && new.reports >= old->reports);
  g_assert (new.n_paths <= MMTP_MAX_PATHS);
  g_assert (new.held_bytes <= self->receiver_config.max_bytes);
  for (i = 0; i < MMTP_LAST_REFUSAL; i++)
    g_assert (new.refused[i] >= old->refused[i]);
  *old = new;
  for (i = 0; i < MMTP_NETWORK_PATHS; i++)
    check_receiver_path (self, i);
}

static Account *
get_account (MmtpNetwork * self, const MmtpAddress * address)
{
  Account *account = g_hash_table_lookup (self->accounts, address);

  if (!account) {
    account = g_new0 (Account, 1);
    g_hash_table_insert (self->accounts, g_memdup2 (address,
            sizeof (*address)), account);
  }
  return account;
}

static gboolean
read_message (MmtpMessage * message, const guint8 * bytes, gsize size,
    MmtpRole from)
{
  return !mmtp_packet_parse_header (message, bytes, size, from)
      && !mmtp_packet_parse_body (message, bytes, size);
}

static gboolean
has_challenge (const Account * account, const MmtpChallenge * response)
{
  guint i;

  for (i = 0; account->challenges && i < account->challenges->len; i++)
    if (g_array_index (account->challenges, guint64, i) == response->challenge)
      return TRUE;
  return FALSE;
}

static gboolean
has_cookie (const Account * account, const MmtpOpen * open)
{
  guint i;

  for (i = 0; account->cookies && i < account->cookies->len;
      i += MMTP_COOKIE_SIZE)
    if (memcmp (account->cookies->data + i, open->cookie,
            MMTP_COOKIE_SIZE) == 0)
      return TRUE;
  return FALSE;
}

static void
account_input (MmtpNetwork * self, const MmtpAddress * address,
    const guint8 * bytes, gsize size)
{
  Account *account = get_account (self, address);
  MmtpMessage message;

  account->received += size;
  if (!read_message (&message, bytes, size, MMTP_SENDER))
    return;
  if (message.type == MMTP_RESPONSE)
    account->validated |= has_challenge (account, &message.challenge);
  else if (message.type == MMTP_OPEN)
    account->validated |= has_cookie (account, &message.open);
}

static void
remember (Account * account, const MmtpMessage * message)
{
  if (message->type == MMTP_CHALLENGE) {
    if (!account->challenges)
      account->challenges = g_array_new (FALSE, FALSE, sizeof (guint64));
    g_array_append_val (account->challenges, message->challenge.challenge);
  } else if (message->type == MMTP_COOKIE) {
    if (!account->cookies)
      account->cookies = g_byte_array_new ();
    g_byte_array_append (account->cookies, message->init.cookie,
        MMTP_COOKIE_SIZE);
  }
}

static void
account_output (MmtpNetwork * self, const MmtpAddress * address,
    const guint8 * bytes, gsize size)
{
  Account *account = get_account (self, address);
  MmtpMessage message;

  account->sent += size;
  g_assert (account->validated || account->sent <= account->received);
  g_assert (read_message (&message, bytes, size, MMTP_RECEIVER));
  if (!account->validated)
    remember (account, &message);
}

gsize
mmtp_network_get_sent (MmtpNetwork * self, const MmtpAddress * address)
{
  return get_account (self, address)->sent;
}

/* --- the stream ----------------------------------------------------------- */

static GBytes *
new_frame (guint32 number, guint size)
{
  guint8 *data = g_malloc (size);
  guint i;

  for (i = 0; i < size; i++)
    data[i] = (number >> 8 * (i % 4)) ^ i / 4;
  return g_bytes_new_take (data, size);
}

static void
put (MmtpNetwork * self)
{
  MmtpBuffer buffer = { NULL, self->now, self->n_put % 12 ?
        MMTP_FLAG_DELTA : MMTP_FLAG_HEADER, {0,}
  };

  self->put_at = self->now + MMTP_NETWORK_PERIOD;
  buffer.data = new_frame (self->n_put++, self->config.frame_size);
  mmtp_sender_put (self->sender, self->now, &buffer);
  g_bytes_unref (buffer.data);
}

/* Checks that the receiver did not output a buffer after its deadline. While
 * the buffer waited, the receiver may have corrected its clock, by at most 1 ms
 * per second (mmtpclock.c). The check therefore accepts a delay of this size.
 */
static void
check_time (MmtpNetwork * self, const MmtpReceiverEvent * event)
{
  g_assert (event->due + event->delay + event->delay / 1000 >= self->now);
}

static void
check_frame (MmtpNetwork * self, const MmtpReceiverEvent * event)
{
  const guint8 *data = event->data.bytes;
  guint32 number;
  GBytes *expected;

  g_assert (event->data.size == self->config.frame_size);
  number = data[0] | data[1] << 8 | data[2] << 16 | (guint32) data[3] << 24;
  g_assert (number < self->n_put);
  expected = new_frame (number, self->config.frame_size);
  g_assert (memcmp (g_bytes_get_data (expected, NULL), data,
          event->data.size) == 0);
  g_bytes_unref (expected);
  if (self->out->len > 0)
    g_assert (number > g_array_index (self->out, guint32, self->out->len - 1));
  g_array_append_val (self->out, number);
}

/* --- messages ------------------------------------------------------------- */

static void
set_directions (MmtpNetwork * self)
{
  guint i;

  for (i = 0; i < 2; i++) {
    if (self->has_session)
      mmtp_direction_clear (&self->directions[i]);
    mmtp_direction_init (&self->directions[i], &self->key,
        self->overheard.nonce_s, self->overheard.nonce_r,
        i ? MMTP_RECEIVER : MMTP_SENDER, self->overheard.tokens[i]);
  }
  self->has_session = TRUE;
}

static gboolean
tell_sent (MmtpNetwork * self, MmtpRole from, const MmtpAddress * address,
    const guint8 * bytes, gsize size)
{
  mmtp_overhear (&self->overheard, bytes, size, from);
  if ((bytes[0] & 0x1f) == MMTP_ACCEPT)
    set_directions (self);
  return !self->config.sent || self->config.sent (self, from, address, bytes,
      size, self->config.data);
}

/* Puts a message on its way over a path. Computes when the message arrives. The
 * messages of a path arrive in the order in which they were sent. */
static void
take_off (MmtpNetwork * self, guint to, guint path,
    const MmtpAddress * address, const guint8 * bytes, gsize size)
{
  guint64 *busy = &self->busy[to][path];
  Flight *flight = g_new (Flight, 1);

  *busy = MAX (*busy, self->now)
      + (size + OVERHEAD) * 8 * SECOND / paths[path].rate;
  flight->time = *busy + paths[path].delay;
  flight->path = path;
  flight->address = *address;
  flight->bytes = g_bytes_new (bytes, size);
  g_queue_push_tail (&self->flights[to][path], flight);
}

static void
free_flight (gpointer data)
{
  Flight *flight = data;

  g_bytes_unref (flight->bytes);
  g_free (flight);
}

static gboolean
has_room (MmtpNetwork * self, guint to, guint path)
{
  return self->busy[to][path] < self->now + SECOND;
}

/* Sends a message on the path. The queue of the path holds as many messages as
 * the path transmits in one second. If the queue is full, the message is
 * dropped. */
static void
send (MmtpNetwork * self, guint to, guint path, const MmtpAddress * address,
    const guint8 * bytes, gsize size)
{
  MmtpRole from = to == TO_RECEIVER ? MMTP_SENDER : MMTP_RECEIVER;

  if (has_room (self, to, path)
      && tell_sent (self, from, address, bytes, size))
    take_off (self, to, path, address, bytes, size);
}

static void
poll_sender (MmtpNetwork * self)
{
  MmtpSenderEvent event;
  guint8 bytes[MAX_SIZE];
  guint path, n = 0;
  gsize size;

  while ((size = mmtp_sender_poll_output (self->sender, self->now, &path,
              bytes, sizeof (bytes)))) {
    g_assert (size <= MAX_SIZE && path < MMTP_NETWORK_PATHS);
    g_assert (n++ < MAX_OUTPUTS);
    send (self, TO_RECEIVER, path, &self->addresses[path], bytes, size);
  }
  while (mmtp_sender_poll_event (self->sender, &event)) {
    if (event.type == MMTP_EVENT_READY && self->put_at == MMTP_NEVER) {
      self->streaming = TRUE;
      self->put_at = self->now;
    }
    self->lost += event.type == MMTP_EVENT_LOST;
    self->broken += event.type == MMTP_EVENT_BROKEN;
    self->refused += event.type == MMTP_EVENT_REFUSED;
    self->ended += event.type == MMTP_EVENT_ENDED;
  }
  check_sender_stats (self);
}

static void
poll_receiver_output (MmtpNetwork * self)
{
  MmtpAddress address;
  guint8 bytes[MAX_SIZE];
  guint path, n = 0;
  gsize size;

  while ((size = mmtp_receiver_poll_output (self->receiver, self->now,
              &address, bytes, sizeof (bytes)))) {
    g_assert (size <= MAX_SIZE);
    g_assert (n++ < MAX_OUTPUTS);
    account_output (self, &address, bytes, size);
    path = find_path (self, &address);
    if (path != MMTP_NO_PATH)
      send (self, TO_SENDER, path, &address, bytes, size);
    else
      tell_sent (self, MMTP_RECEIVER, &address, bytes, size);
  }
}

static void
poll_receiver (MmtpNetwork * self)
{
  MmtpReceiverEvent event;

  poll_receiver_output (self);
  while (mmtp_receiver_poll_event (self->receiver, &event)) {
    self->sessions += event.type == MMTP_EVENT_SESSION;
    self->silences += event.type == MMTP_EVENT_SILENT;
    self->ends += event.type == MMTP_EVENT_END;
    if (event.type == MMTP_EVENT_BUFFER) {
      check_time (self, &event);
      if (self->trusted)
        check_frame (self, &event);
      datagram_slice_clear (&event.data);
    } else if (event.type == MMTP_EVENT_CAPS)
      g_free (event.caps);
  }
  check_receiver_stats (self);
}

void
mmtp_network_to_sender (MmtpNetwork * self, guint path, const guint8 * bytes,
    gsize size)
{
  mmtp_sender_input (self->sender, self->now, path, bytes, size);
  poll_sender (self);
}

void
mmtp_network_to_receiver (MmtpNetwork * self, const MmtpAddress * address,
    const guint8 * bytes, gsize size)
{
  account_input (self, address, bytes, size);
  mmtp_receiver_input (self->receiver, self->now, address, bytes, size);
  poll_receiver (self);
}

/* --- time ----------------------------------------------------------------- */

static GQueue *
get_next_flight (MmtpNetwork * self)
{
  GQueue *next = NULL;
  guint i;

  for (i = 0; i < 2 * MMTP_NETWORK_PATHS; i++) {
    GQueue *queue = &self->flights[i / MMTP_NETWORK_PATHS]
        [i % MMTP_NETWORK_PATHS];
    const Flight *flight = g_queue_peek_head (queue);

    if (flight && (!next
            || flight->time < ((Flight *) g_queue_peek_head (next))->time))
      next = queue;
  }
  return next;
}

static gboolean
is_to_receiver (const MmtpNetwork * self, const GQueue * queue)
{
  return queue >= self->flights[TO_RECEIVER];
}

static void
land (MmtpNetwork * self, GQueue * queue)
{
  Flight *flight = g_queue_pop_head (queue);
  gsize size;
  const guint8 *bytes = g_bytes_get_data (flight->bytes, &size);

  if (is_to_receiver (self, queue))
    mmtp_network_to_receiver (self, &flight->address, bytes, size);
  else
    mmtp_network_to_sender (self, flight->path, bytes, size);
  free_flight (flight);
}

static guint64
get_next_time (MmtpNetwork * self, GQueue * queue)
{
  guint64 next = MIN (mmtp_sender_next_wakeup (self->sender),
      mmtp_receiver_next_wakeup (self->receiver));

  if (self->streaming)
    next = MIN (next, self->put_at);
  if (queue)
    next = MIN (next, ((Flight *) g_queue_peek_head (queue))->time);
  return next;
}

/* Wakes both endpoints up if they have asked for it. An endpoint may then ask
 * to be woken up again at the same virtual time. If this happens more than
 * MAX_WAKEUPS times, the endpoint is in an endless loop, and the test fails. */
static void
wake (MmtpNetwork * self)
{
  guint n;

  for (n = 0; mmtp_sender_next_wakeup (self->sender) <= self->now; n++) {
    g_assert (n < MAX_WAKEUPS);
    mmtp_sender_timeout (self->sender, self->now);
    poll_sender (self);
  }
  for (n = 0; mmtp_receiver_next_wakeup (self->receiver) <= self->now; n++) {
    g_assert (n < MAX_WAKEUPS);
    mmtp_receiver_timeout (self->receiver, self->now);
    poll_receiver (self);
  }
}

void
mmtp_network_run (MmtpNetwork * self, guint64 duration)
{
  const guint64 until = self->now + duration;

  for (;;) {
    GQueue *queue = get_next_flight (self);
    guint64 next = get_next_time (self, queue);

    if (next > until)
      break;
    self->now = MAX (self->now, next);
    if (queue && ((Flight *) g_queue_peek_head (queue))->time <= self->now)
      land (self, queue);
    if (self->streaming && self->put_at <= self->now) {
      put (self);
      poll_sender (self);
    }
    wake (self);
    if (self->config.happened)
      self->config.happened (self, self->config.data);
  }
  self->now = until;
}

/* --- life cycle ----------------------------------------------------------- */

void
mmtp_network_add_path (MmtpNetwork * self, guint path)
{
  const MmtpPathConfig config = { paths[path].name, MAX_SIZE, OVERHEAD };

  g_assert (mmtp_sender_add_path (self->sender, self->now, &config) == path);
  poll_sender (self);
}

static void
make_entropy (guint8 entropy[MMTP_ENTROPY_SIZE], guint seed)
{
  guint i;

  for (i = 0; i < MMTP_ENTROPY_SIZE; i++)
    entropy[i] = (2 * seed + 1) * i + seed;
}

void
mmtp_network_begin_anew (MmtpNetwork * self, guint seed)
{
  guint8 entropy[MMTP_ENTROPY_SIZE];

  make_entropy (entropy, seed);
  g_clear_pointer (&self->sender, mmtp_sender_free);
  self->sender = mmtp_sender_new (&self->sender_config, entropy);
  memset (&self->sender_stats, 0, sizeof (self->sender_stats));
  memset (self->sender_paths, 0, sizeof (self->sender_paths));
  self->put_at = MMTP_NEVER;
  self->streaming = FALSE;
}

static void
init_key (MmtpNetwork * self)
{
  GBytes *key = NULL;

  if (self->config.key)
    key = g_bytes_new (self->config.key, strlen (self->config.key));
  mmtp_key_init (&self->key, key);
  self->sender_config.key = self->receiver_config.key = key;
}

void
mmtp_network_init (MmtpNetwork * self, const MmtpNetworkConfig * config)
{
  guint8 entropy[MMTP_ENTROPY_SIZE];
  guint i;

  memset (self, 0, sizeof (*self));
  self->config = *config;
  self->now = SECOND;
  self->put_at = MMTP_NEVER;
  self->trusted = TRUE;
  self->out = g_array_new (FALSE, FALSE, sizeof (guint32));
  for (i = 0; i < MMTP_NETWORK_PATHS; i++)
    mmtp_network_get_address (i, &self->addresses[i]);
  self->accounts = g_hash_table_new_full (hash_address, is_same_address,
      g_free, free_account);
  mmtp_sender_config_init (&self->sender_config);
  mmtp_receiver_config_init (&self->receiver_config);
  self->sender_config.max_bytes = self->receiver_config.max_bytes = MAX_BYTES;
  init_key (self);
  make_entropy (entropy, 0);
  self->receiver = mmtp_receiver_new (&self->receiver_config, entropy);
  mmtp_network_begin_anew (self, 1);
}

void
mmtp_network_clear (MmtpNetwork * self)
{
  guint i;

  for (i = 0; i < 2; i++)
    mmtp_direction_clear (&self->directions[i]);
  for (i = 0; i < 2 * MMTP_NETWORK_PATHS; i++)
    g_queue_clear_full (&self->flights[i / MMTP_NETWORK_PATHS]
        [i % MMTP_NETWORK_PATHS], free_flight);
  mmtp_key_clear (&self->key);
  g_clear_pointer (&self->sender_config.key, g_bytes_unref);
  mmtp_sender_free (self->sender);
  mmtp_receiver_free (self->receiver);
  g_hash_table_unref (self->accounts);
  g_array_unref (self->out);
}

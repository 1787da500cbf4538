/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes an MMTP session between a sender and a receiver. The session is
 * simulated in virtual time. The fuzzer adds forged messages with arbitrary
 * contents. The numbers in a forged message may be valid or invalid. A trailer
 * authenticates the message, and may be valid or invalid, too. Packets are
 * lost, damaged, duplicated or sent from another address. The fuzzer calls
 * every function that an element may call. The conditions that mmtpnetwork.h
 * checks must hold. When the input has ended, the session must continue.
 *
 * Input: flags, then commands (the type Order) with their arguments. The lowest
 * byte of the numbers in forged messages comes from the input; the other bytes
 * are random.
 */

#include "mmtpnetwork.h"
#include "fuzz.h"

#define FLAG_KEY (1 << 0)
#define FLAG_ONE_PATH (1 << 2)
#define FLAG_SMALL (1 << 3)     /* frames */

#define MAX_ORDERS 200
/* ns, maximum of a run */
#define MAX_TIME (20 * G_GUINT64_CONSTANT (1000000000))
#define MS G_GUINT64_CONSTANT (1000000)
#define N_KEPT 64
#define N_UNKNOWN_HOSTS 4

typedef enum
{
  ORDER_RUN,
  ORDER_RUN_LONG,
  ORDER_INJECT_TO_RECEIVER,
  ORDER_INJECT_TO_SENDER,
  ORDER_REPLAY,
  ORDER_LOSE,
  ORDER_SPOIL,
  ORDER_NOISE,
  ORDER_MOVE,
  ORDER_ADD,
  ORDER_REMOVE,
  ORDER_BLOCK,
  ORDER_PUT,
  ORDER_CAPS,
  ORDER_DELAYS,
  ORDER_FLUSH,
  ORDER_END,
  ORDER_BEGIN_ANEW,
  ORDER_LAST
} Order;

typedef struct
{
  MmtpRole from;
  MmtpAddress address;
  guint8 *bytes;
  gsize size;
} Kept;

typedef struct
{
  MmtpNetwork network;
  FuzzInput input;
  guint32 chance;
  guint64 began;                /* ns */
  Kept kept[N_KEPT];
  guint n_kept;
  /* Number of messages that will be dropped, beginning with the next message.
   */
  guint n_lose;
} Run;

static guint32
draw (gpointer source)
{
  Run *self = source;

  self->chance = self->chance * 1664525 + 1013904223;
  return (self->chance & ~0xffu) | fuzz_take_u8 (&self->input);
}

static guint
take (Run * self, guint below)
{
  return fuzz_take_u8 (&self->input) % below;
}

static MmtpAddress
make_unknown_host (guint number)
{
  MmtpAddress address = { 6, {198, 51, 100, number, 0, 9} };

  return address;
}

static MmtpAddress
take_address (Run * self)
{
  guint choice = take (self, MMTP_NETWORK_PATHS + N_UNKNOWN_HOSTS);

  if (choice >= MMTP_NETWORK_PATHS)
    return make_unknown_host (choice);
  return self->network.addresses[choice];
}

/* --- messages on their way ------------------------------------------------ */

static void
keep (Run * self, MmtpRole from, const MmtpAddress * address,
    const guint8 * bytes, gsize size)
{
  Kept *kept = &self->kept[self->n_kept++ % N_KEPT];

  g_free (kept->bytes);
  kept->from = from;
  kept->address = *address;
  kept->bytes = g_memdup2 (bytes, size);
  kept->size = size;
}

static gboolean
sent (MmtpNetwork * network, MmtpRole from, const MmtpAddress * address,
    const guint8 * bytes, gsize size, gpointer data)
{
  Run *self = data;

  keep (self, from, address, bytes, size);
  if (self->n_lose > 0) {
    self->n_lose--;
    return FALSE;
  }
  return TRUE;
}

/* Delivers a message to the endpoint `to`. The message is copied to memory of
 * exactly `size` bytes, so that AddressSanitizer finds any access beyond them.
 */
static void
deliver (Run * self, MmtpRole to, const MmtpAddress * address,
    const guint8 * bytes, gsize size)
{
  guint8 *copy = size ? g_memdup2 (bytes, size) : g_malloc (1);

  if (to == MMTP_RECEIVER)
    mmtp_network_to_receiver (&self->network, address, copy, size);
  else
    mmtp_network_to_sender (&self->network, take (self, MMTP_NETWORK_PATHS),
        copy, size);
  g_free (copy);
}

static void
replay (Run * self, gboolean spoiled)
{
  guint n = MIN (self->n_kept, N_KEPT);
  const Kept *kept;
  guint8 *bytes;
  gsize size;
  guint where;

  if (n == 0)
    return;
  kept = &self->kept[take (self, n)];
  bytes = g_memdup2 (kept->bytes, kept->size);
  size = kept->size;
  if (spoiled) {
    where = draw (self);
    self->network.trusted = FALSE;
    if (where & 1)
      bytes[where / 16 % size] ^= 1 << where / 2 % 8;
    else
      size = where / 2 % size;
  }
  deliver (self, kept->from == MMTP_SENDER ? MMTP_RECEIVER : MMTP_SENDER,
      &kept->address, bytes, size);
  g_free (bytes);
}

/* Makes the trailer or the token of a forged message valid. This simulates an
 * attacker who has the secrets. */
static void
seal (Run * self, const MmtpMessage * message, guint64 number, MmtpRole from,
    guint8 * bytes, gsize size)
{
  if (message->type >= MMTP_INIT && message->type <= MMTP_REFUSE) {
    guint at = message->type == MMTP_OPEN ? 92 : 52;

    if (message->type == MMTP_OPEN || message->type == MMTP_ACCEPT)
      mmtp_key_sign (&self->network.key, bytes, at, bytes + at);
    else
      mmtp_key_seal (&self->network.key, bytes, size);
  } else if (self->network.has_session)
    mmtp_direction_seal (&self->network.directions[from == MMTP_RECEIVER],
        number, bytes, size);
}

static void
inject (Run * self, MmtpRole from)
{
  MmtpType type = take (self, MMTP_LAST_TYPE);
  guint choice = take (self, 16);
  guint8 path = choice & 8 ? take (self, 256) : choice % MMTP_NETWORK_PATHS;
  MmtpAddress address = take_address (self);
  MmtpMessage message;
  guint8 bytes[2000];
  guint64 number;
  gsize size;

  self->network.trusted = FALSE;
  number =
      mmtp_build_message (&message, type, from, path, &self->network.overheard,
      draw, self);
  size = mmtp_packet_write (&message, bytes, sizeof (bytes));
  fuzz_check (size > 0);
  if (take (self, 16) != 15)
    seal (self, &message, number, from, bytes, size);
  mmtp_overhear (&self->network.overheard, bytes, size, from);
  deliver (self, from == MMTP_SENDER ? MMTP_RECEIVER : MMTP_SENDER, &address,
      bytes, size);
}

static void
make_noise (Run * self)
{
  MmtpRole to = take (self, 2) ? MMTP_RECEIVER : MMTP_SENDER;
  MmtpAddress address = take_address (self);
  guint length = take (self, 100);
  gsize size = MIN (length, self->input.size);
  guint8 *bytes = fuzz_take_copy (&self->input, size);

  deliver (self, to, &address, bytes, size);
  g_free (bytes);
}

/* --- calls of an element -------------------------------------------------- */

static void
run (Run * self, guint64 duration)
{
  if (self->network.now + duration < self->began + MAX_TIME)
    mmtp_network_run (&self->network, duration);
}

static void
put (Run * self)
{
  MmtpBuffer buffer = { NULL, };
  guint n = take (self, 8), size = draw (self) % 5000;
  guint i;

  self->network.trusted = FALSE;
  for (i = 0; i < n; i++) {
    buffer.data = g_bytes_new_take (g_malloc0 (size + 1), size);
    buffer.due = draw (self) & 1 ? G_MAXUINT64 :
        self->network.now + (guint64) draw (self) - G_MAXINT32;
    buffer.flags = draw (self) & MMTP_FLAGS_OF_BUFFER;
    buffer.prelude.mask = draw (self) & 0x3f;
    buffer.prelude.pts = draw (self);
    buffer.prelude.frame_rate = draw (self);
    mmtp_sender_put (self->network.sender, self->network.now, &buffer);
    g_bytes_unref (buffer.data);
  }
}

static void
set_caps (Run * self)
{
  static const gchar *const texts[] = {
    NULL, "video/mpeg, mpegversion=(int)2", "x", "{", ""
  };
  guint choice = take (self, G_N_ELEMENTS (texts) + 1);
  gchar *text = choice < G_N_ELEMENTS (texts) ? g_strdup (texts[choice]) :
      g_strnfill (draw (self) % 9000, 'a');

  mmtp_sender_set_caps (self->network.sender, self->network.now, text);
  g_free (text);
}

static void
move (Run * self)
{
  guint path = take (self, MMTP_NETWORK_PATHS);
  MmtpAddress address = make_unknown_host (100 + take (self, N_UNKNOWN_HOSTS));

  address.bytes[2] = path;
  mmtp_network_move (&self->network, path, &address);
}

static guint
count_paths (Run * self)
{
  return self->network.sender_stats.n_paths;
}

static void
change_path (Run * self, Order order)
{
  MmtpSender *sender = self->network.sender;
  guint64 now = self->network.now;
  guint path = take (self, MMTP_NETWORK_PATHS);

  if (order == ORDER_ADD)
    mmtp_network_add_path (&self->network, MIN (path, count_paths (self)));
  else if (path >= count_paths (self))
    return;
  else if (order == ORDER_REMOVE)
    mmtp_sender_remove_path (sender, now, path, take (self, 4));
  else
    mmtp_sender_set_blocked (sender, now, path, take (self, 2));
}

static void
begin_anew (Run * self)
{
  mmtp_network_begin_anew (&self->network, take (self, 256));
  mmtp_network_add_path (&self->network, 0);
}

static void
act (Run * self, Order order)
{
  MmtpSender *sender = self->network.sender;
  guint64 now = self->network.now;

  switch (order) {
    case ORDER_RUN:
      run (self, take (self, 256) * MS);
      break;
    case ORDER_RUN_LONG:
      run (self, take (self, 50) * 100 * MS);
      break;
    case ORDER_INJECT_TO_RECEIVER:
      inject (self, MMTP_SENDER);
      break;
    case ORDER_INJECT_TO_SENDER:
      inject (self, MMTP_RECEIVER);
      break;
    case ORDER_REPLAY:
    case ORDER_SPOIL:
      replay (self, order == ORDER_SPOIL);
      break;
    case ORDER_LOSE:
      self->n_lose = take (self, 256);
      break;
    case ORDER_NOISE:
      make_noise (self);
      break;
    case ORDER_MOVE:
      move (self);
      break;
    case ORDER_ADD:
    case ORDER_REMOVE:
    case ORDER_BLOCK:
      change_path (self, order);
      break;
    case ORDER_PUT:
      put (self);
      break;
    case ORDER_CAPS:
      set_caps (self);
      break;
    case ORDER_DELAYS:
      mmtp_sender_set_delays (sender, now,
          draw (self) * G_GUINT64_CONSTANT (16),
          draw (self) * G_GUINT64_CONSTANT (16));
      break;
    case ORDER_FLUSH:
      mmtp_sender_flush (sender, now);
      break;
    case ORDER_END:
      self->network.streaming = FALSE;
      mmtp_sender_end (sender, now);
      break;
    default:
      begin_anew (self);
      break;
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  Run self = {.input = {data, size},.chance = 1 };
  guint flags = fuzz_take_u8 (&self.input), i;
  const MmtpNetworkConfig config = { flags & FLAG_KEY ? "key" : NULL,
    flags & FLAG_SMALL ? 100 : 6000, sent, NULL, &self
  };

  mmtp_network_init (&self.network, &config);
  self.began = self.network.now;
  for (i = 0; i < (flags & FLAG_ONE_PATH ? 1 : MMTP_NETWORK_PATHS); i++)
    mmtp_network_add_path (&self.network, i);
  for (i = 0; i < MAX_ORDERS && self.input.size > 0; i++)
    act (&self, take (&self, ORDER_LAST));
  self.n_lose = 0;
  run (&self, 1000 * MS);
  mmtp_network_clear (&self.network);
  for (i = 0; i < N_KEPT; i++)
    g_free (self.kept[i].bytes);
  return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes DCCP connections between a client and a listener. The connections are
 * simulated in virtual time. The fuzzer adds packets of every type with nearly
 * correct sequence numbers, any options and any payload. Packets are lost,
 * delayed, damaged, duplicated or sent from another address. The fuzzer calls
 * every function that an element may call. When the input has ended, the
 * connection must end too.
 *
 * The conditions that dccpnetwork.h checks must hold:
 * - No endpoint hangs.
 * - No endpoint asks for an immediate wakeup again and again.
 * - Counters do not decrease.
 * - Answers are rate-limited.
 * - Data is not sent faster than the allowed rate.
 *
 * Input: flags, then commands (the type Order) with their arguments.
 */

#include "dccpnetwork.h"
#include "fuzz.h"

#define FLAG_RAW (1 << 0)
#define FLAG_IPV6 (1 << 1)
#define FLAG_COVERAGE (1 << 2)
#define FLAG_SMALL_WINDOW (1 << 3)
#define FLAG_SERVER_SENDS (1 << 4)
#define FLAG_EDGE (1 << 5)      /* The numbers wrap soon. */
/* With this flag, the connection is already open before the first command of
 * the input. */
#define FLAG_OPEN (1 << 6)
/* If the input has the flags FLAG_SMALL_WINDOW and FLAG_OPEN, the listener has
 * no room for further half-open connections. If a client connects in this
 * situation, the listener answers with an Init Cookie and keeps no state for
 * this client. */
#define FLAGS_CROWDED (FLAG_SMALL_WINDOW | FLAG_OPEN)
#define FLAG_NO_IDLE_TIMEOUT (1 << 7)

#define MAX_ORDERS 200
#define MAX_TIME (60 * SECOND)  /* Maximum time of a run. */
#define N_KEPT 32

typedef enum
{
  ORDER_RUN,
  ORDER_RUN_LONG,
  ORDER_INJECT,
  ORDER_INJECT_ELSEWHERE,
  ORDER_REPLAY,
  ORDER_SPOIL,
  ORDER_NOISE,
  ORDER_LOSE,
  ORDER_DELAY,
  ORDER_CONNECT,
  ORDER_CLOSE,
  ORDER_ABORT,
  ORDER_SLOW,
  ORDER_DROPPED,
  ORDER_UNREACHABLE,
  ORDER_STREAM,
  ORDER_LAST
} Order;

typedef struct
{
  DccpEnd to;
  gsize size;
  guint8 bytes[DCCP_MAX_HEADER + DCCP_NETWORK_MAX_PAYLOAD];
} Kept;

typedef struct
{
  DccpNetwork network;
  FuzzInput input;
  guint64 began;                /* ns */
  Kept kept[N_KEPT];
  guint n_kept;
} Run;

static guint
take (Run * self, guint below)
{
  return fuzz_take_u8 (&self->input) % below;
}

static gboolean
keep (DccpNetwork * network, DccpEnd from, const DccpPacket * packet,
    guint8 * bytes, gsize size)
{
  Run *self = network->user_data;
  Kept *kept = &self->kept[self->n_kept++ % N_KEPT];

  fuzz_check (size <= sizeof (kept->bytes));
  kept->to = OTHER (from);
  kept->size = size;
  memcpy (kept->bytes, bytes, size);
  return TRUE;
}

static void
replay (Run * self, gboolean spoiled)
{
  const guint n = MIN (self->n_kept, N_KEPT);
  const Kept *kept;
  guint8 *bytes;
  guint where;

  if (n == 0)
    return;
  kept = &self->kept[take (self, n)];
  bytes = g_memdup2 (kept->bytes, kept->size);
  if (spoiled) {
    where = take (self, MIN (kept->size, 256));
    bytes[where] ^= fuzz_take_u8 (&self->input);
  }
  dccp_network_inject (&self->network, kept->to, bytes, kept->size);
  g_free (bytes);
}

static void
make_noise (Run * self)
{
  const DccpEnd to = take (self, N_ENDS);
  const gsize wanted = fuzz_take_u8 (&self->input);
  const gsize size = MIN (wanted, self->input.size);
  guint8 *bytes = fuzz_take_copy (&self->input, size);

  dccp_network_inject (&self->network, to, bytes, size);
  g_free (bytes);
}

/* --- forged packets ------------------------------------------------------- */

/* Returns a sequence number that depends on the next byte of the input. `right`
 * is a recent sequence number of the connection. If the byte is 255, the result
 * is an arbitrary number. Otherwise the result is close to `right`, or close to
 * a limit of the valid numbers around `right`, such as an end of the sequence
 * window. */
static guint64
take_number (Run * self, guint64 right)
{
  static const gint64 edges[] = { 0, 1, 2, 3, 75, 76, 7500, 7501, 10000, -1,
    -24, -25, -2499, -2500, -9999, G_GINT64_CONSTANT (1) << 47
  };
  const guint choice = fuzz_take_u8 (&self->input);

  if (choice == 255)
    return fuzz_take_u32 (&self->input) & DCCP_SEQUENCE_MASK;
  return dccp_sequence_add (right, edges[choice % 16] + choice / 16);
}

static DccpPacket
take_packet (Run * self, DccpEnd to, guint8 * options, guint8 * payload)
{
  DccpConnection *connection = dccp_network_get (&self->network, to);
  const guint64 gsr = connection ? connection->numbers.gsr : 0;
  const guint64 gss = connection ? connection->numbers.gss : 0;
  DccpPacket packet = {
    .type = take (self, DCCP_LAST_TYPE),
    .source = DCCP_NETWORK_PORT,
    .destination = 50000,
    .extended = TRUE,
    .service_code = DCCP_SERVICE_RTPV,
    .options = options,
    .payload = payload,
  };
  const guint flags = fuzz_take_u8 (&self->input);

  if (to == SERVER) {
    packet.source = 50000;
    packet.destination = DCCP_NETWORK_PORT;
  }
  packet.ccval = flags & 15;
  packet.sequence = take_number (self, gsr);
  packet.acknowledgement = take_number (self, gss);
  packet.reset_code = flags;
  if (flags & 16) {
    packet.options_size = take (self, 128);
    packet.options_size = MIN (packet.options_size, self->input.size);
    memcpy (options, self->input.data, packet.options_size);
    self->input.data += packet.options_size;
    self->input.size -= packet.options_size;
  }
  if (dccp_type_has_data (packet.type) && flags & 32)
    packet.payload_size = take (self, 128);
  if (flags & 64)
    packet.coverage = take (self, 16);
  if ((gsize) packet.coverage * 4 > packet.payload_size + 4)
    packet.coverage = 0;
  return packet;
}

static void
inject (Run * self, gboolean elsewhere)
{
  const DccpEnd to = take (self, N_ENDS);
  const DatagramPath path = self->network.paths[to];
  guint8 options[128] = { 0 }, payload[128] = { 0 };
  DccpPacket packet = take_packet (self, to, options, payload);

  if (elsewhere) {
    self->network.paths[to].remote[3] ^= take (self, 16);
    packet.source ^= take (self, 4);
    packet.destination ^= take (self, 2);
  }
  dccp_network_inject_packet (&self->network, to, &packet);
  self->network.paths[to] = path;
}

/* --- calls of an element -------------------------------------------------- */

static void
connect_again (Run * self)
{
  if (!self->network.ends[CLIENT]->connection)
    dccp_network_connect (&self->network);
}

static void
tell_dropped (Run * self)
{
  const DccpEnd end = take (self, N_ENDS);
  const guint code = take (self, DCCP_DROP_NONE);

  dccp_endpoint_dropped (self->network.ends[end], self->network.now,
      dccp_sequence_add (self->network.last[end].sequence,
          -(gint64) take (self, 8)), code);
}

static void
stream (Run * self)
{
  const DccpEnd end = take (self, N_ENDS);

  self->network.sending[end] = !self->network.sending[end];
  self->network.put_at[end] = self->network.now;
  self->network.n_put[end] = self->network.n_sent[end];
}

static void
run (Run * self, guint64 duration)
{
  if (self->network.now - self->began < MAX_TIME)
    dccp_network_run (&self->network, duration);
}

static void
obey (Run * self)
{
  DccpNetwork *network = &self->network;
  DccpEnd end;

  switch (take (self, ORDER_LAST)) {
    case ORDER_RUN:
      run (self, take (self, 256) * MS);
      break;
    case ORDER_RUN_LONG:
      run (self, take (self, 16) * SECOND);
      break;
    case ORDER_INJECT:
      inject (self, FALSE);
      break;
    case ORDER_INJECT_ELSEWHERE:
      inject (self, TRUE);
      break;
    case ORDER_REPLAY:
      replay (self, FALSE);
      break;
    case ORDER_SPOIL:
      replay (self, TRUE);
      break;
    case ORDER_NOISE:
      make_noise (self);
      break;
    case ORDER_LOSE:
      end = take (self, N_ENDS);
      network->lose_all[end] = take (self, 256);
      break;
    case ORDER_DELAY:
      end = take (self, N_ENDS);
      network->extra_delay[end] = take (self, 256) * MS;
      break;
    case ORDER_CONNECT:
      connect_again (self);
      break;
    case ORDER_CLOSE:
      dccp_network_close (network, take (self, N_ENDS));
      break;
    case ORDER_ABORT:
      end = take (self, N_ENDS);
      dccp_endpoint_abort (network->ends[end], network->now);
      dccp_network_flush (network, end);
      break;
    case ORDER_SLOW:
      end = take (self, N_ENDS);
      dccp_endpoint_set_slow (network->ends[end], network->now, take (self, 2));
      break;
    case ORDER_DROPPED:
      tell_dropped (self);
      break;
    case ORDER_UNREACHABLE:
      end = take (self, N_ENDS);
      dccp_endpoint_unreachable (network->ends[end], network->now,
          take (self, 256) * 6);
      dccp_network_flush (network, end);
      break;
    case ORDER_STREAM:
      stream (self);
      break;
  }
}

/* --- runs ----------------------------------------------------------------- */

/* Sends Requests to the listener from other addresses in the client's network.
 * Each Request creates a half-open connection. Afterwards the listener accepts
 * no further half-open connections from this network. */
static void
crowd (DccpNetwork * network)
{
  guint8 bytes[DCCP_MAX_HEADER];
  DatagramPath path = network->paths[SERVER];
  guint i;

  for (i = 0; i < DCCP_MAX_CANDIDATES_OF_PREFIX; i++) {
    DccpPacket request = {.type = DCCP_REQUEST,.extended = TRUE,.source = i,
      .destination = DCCP_NETWORK_PORT,.service_code = DCCP_SERVICE_RTPV
    };

    path.remote[path.address_size - 1] = 100 + i;
    dccp_network_inject_from (network, SERVER, &path, bytes,
        dccp_packet_write (&request, &path, bytes));
  }
}

static void
begin (Run * self, guint flags)
{
  DccpNetwork *network = &self->network;
  DccpEnd end;

  dccp_network_init (network);
  network->user_data = self;
  network->filter = keep;
  for (end = CLIENT; end < N_ENDS; end++) {
    DatagramPath *path = &network->paths[end];
    DccpEndpointConfig *config = &network->configs[end];

    config->ccids = dccp_ccids;
    if (flags & FLAG_RAW)
      path->local_port = path->remote_port = 0;
    if (flags & FLAG_IPV6)
      path->address_size = 16;
    if (flags & FLAG_COVERAGE)
      config->coverage = config->min_coverage = 1 + end;
    if (flags & FLAG_SMALL_WINDOW)
      config->sequence_window = 100;
    if (flags & FLAG_NO_IDLE_TIMEOUT)
      config->idle_timeout = 0;
  }
  network->configs[CLIENT].local_port = 50000;
  network->configs[SERVER].time_wait = SECOND;
  dccp_network_begin (network);
  for (end = CLIENT; end < N_ENDS && flags & FLAG_EDGE; end++)
    dccp_network_set_iss (network, end, dccp_sequence_add (0, -5));
  network->sending[flags & FLAG_SERVER_SENDS ? SERVER : CLIENT] = TRUE;
  self->began = network->now;
  if ((flags & FLAGS_CROWDED) == FLAGS_CROWDED)
    crowd (network);
  if (flags & FLAG_OPEN)
    dccp_network_open (network);
}

/* Ends the run: no endpoint sends data any more, both endpoints close the
 * connection, and packets are no longer lost. The connection must end, whatever
 * happened before. */
static void
finish (Run * self)
{
  DccpNetwork *network = &self->network;
  DccpEnd end;

  for (end = CLIENT; end < N_ENDS; end++) {
    network->sending[end] = FALSE;
    network->n_put[end] = network->n_sent[end];
    network->lose_all[end] = 0;
    network->extra_delay[end] = 0;
    dccp_network_close (network, end);
  }
  dccp_network_run (network, 1000 * SECOND);
  fuzz_check (network->ends[CLIENT]->connection == NULL);
  fuzz_check (network->ends[SERVER]->connection == NULL);
  fuzz_check (network->ends[SERVER]->listener->n_candidates == 0);
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  Run *self = g_new0 (Run, 1);
  guint i;

  self->input.data = data;
  self->input.size = size;
  begin (self, fuzz_take_u8 (&self->input));
  for (i = 0; i < MAX_ORDERS && self->input.size > 0; i++)
    obey (self);
  finish (self);
  dccp_network_clear (&self->network);
  g_free (self);
  return 0;
}

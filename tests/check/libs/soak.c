/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs a stream through the protocol code of MMTP and of DCCP for a long
 * virtual time, over links with outages. The memory in use must not grow after
 * the first part of the run. Each packet must be counted by exactly one
 * counter. The test in the suite `unit` simulates 20 minutes, and the test in
 * the suite `long` simulates eight hours. The environment variable SOAK_MINUTES
 * overrides the simulated time, in minutes. */

#include <gst/check/gstcheck.h>

#include <malloc.h>

#include "dccpnetwork.h"
#include "mmtpsimulation.h"
#include "seededdraw.h"

#define MINUTE (60 * VIRTUAL_LINK_SECOND)
#define DEFAULT_MINUTES 20
/* All hosts of an address prefix share one budget of answers: 100 answers in
 * one burst, and then one answer every 10 ms. */
#define N_WATCHES 16
#define N_START 4
/* Maximum number of bytes by which the memory in use may grow after the start
 * of the run. In eight hours, a leak of one byte per packet would add up to a
 * megabyte. */
#define MAX_GROWTH (32 * 1024)
/* Length of one long outage that each path has soon after the start of the run.
 * Each path has a log of the messages that were sent on it. During an outage,
 * this log gets more memory, and it keeps this memory after the outage. The
 * random outages are shorter than LONG_OUTAGE, so no log gets more memory after
 * the long outage. Later growth would therefore be a leak. */
#define LONG_OUTAGE (20 * VIRTUAL_LINK_SECOND)

static guint64
get_duration (void)
{
  const gchar *minutes = g_getenv ("SOAK_MINUTES");

  return (minutes ? g_ascii_strtoull (minutes, NULL, 10) : DEFAULT_MINUTES)
      * MINUTE;
}

/* --- memory --------------------------------------------------------------- */

typedef struct
{
  /* Maximum number of bytes in use: `start` in the first part of the run, and
   * `end` in the rest of the run. */
  gsize start, end;
  guint n;
} Memory;

static void
watch_memory (Memory * self)
{
  const struct mallinfo2 info = mallinfo2 ();
  gsize *peak = self->n++ < N_START ? &self->start : &self->end;

  GST_INFO ("watch %u: %" G_GSIZE_FORMAT " bytes in use", self->n,
      info.uordblks + info.hblkhd);
  *peak = MAX (*peak, info.uordblks + info.hblkhd);
}

static void
check_memory (const Memory * self)
{
  fail_unless (self->n >= N_WATCHES - 1, "watched only %u times", self->n);
  fail_unless (self->end <= self->start + MAX_GROWTH,
      "memory in use grew from %" G_GSIZE_FORMAT " to %" G_GSIZE_FORMAT
      " bytes", self->start, self->end);
}

/* --- MMTP ----------------------------------------------------------------- */

static void
watch_mmtp (MmtpSimulation * simulation, gpointer data)
{
  watch_memory (data);
}

static void
add_mmtp_path (MmtpSimulationConfig * config, guint64 rate, guint64 delay,
    gdouble outage_share, guint64 mean_outage)
{
  const VirtualLinkPath path = {.rate = rate,.delay = delay,.fluctuation =
        delay / 4,
    .queue = rate / 4,.loss = outage_share,.burst = mean_outage
  };

  mmtp_simulation_config_add_path (config, &path, &path);
}

/* The simulation has these events:
 * - Each path has outages at random times.
 * - Each path has one long outage. When the long outage of a path ends, that of
 *   the next path begins.
 * - At regular intervals, both paths have an outage at the same time.
 * - At regular intervals, the first path leaves the session and joins it again.
 */
static void
init_mmtp (MmtpSimulationConfig * config, guint64 duration, Memory * memory)
{
  const guint n_outages = 8;
  const guint64 period = duration / n_outages;
  guint i, j;

  mmtp_simulation_config_init (config, &mmtp_simulation_cores);
  config->seed = 1;
  config->sender.max_delay = VIRTUAL_LINK_SECOND;
  config->clock_skew = 50000;
  config->watch_period = duration / N_WATCHES;
  config->watch = watch_mmtp;
  config->watch_data = memory;
  add_mmtp_path (config, 100000, 30 * VIRTUAL_LINK_MS, 0.02,
      2 * VIRTUAL_LINK_SECOND);
  add_mmtp_path (config, 50000, 80 * VIRTUAL_LINK_MS, 0.02,
      VIRTUAL_LINK_SECOND);
  for (i = 0; i < config->n_paths; i++)
    virtual_link_config_add_outage (&config->paths[i].link,
        30 * VIRTUAL_LINK_SECOND + i * LONG_OUTAGE,
        30 * VIRTUAL_LINK_SECOND + (i + 1) * LONG_OUTAGE, 0);
  for (i = 0; i < n_outages; i++) {
    const guint64 begin = i * period;

    for (j = 0; j < config->n_paths; j++)
      virtual_link_config_add_outage (&config->paths[j].link,
          begin + period / 8, begin + period / 8 + 3 * VIRTUAL_LINK_SECOND, 0);
    mmtp_simulation_config_add_action (config, begin + period / 2,
        MMTP_SIMULATION_REMOVE, 0);
    mmtp_simulation_config_add_action (config, begin + period * 5 / 8,
        MMTP_SIMULATION_ADD, 0);
  }
  mmtp_simulation_config_set_source (config, duration / (40 * VIRTUAL_LINK_MS),
      40 * VIRTUAL_LINK_MS, 1500);
  config->source.video = TRUE;
}

static void
check_mmtp_link (const MmtpSimulationResult * result, guint path)
{
  const VirtualLinkStats *links = result->links[path];
  guint64 over, n_stateless = 0;
  guint direction;

  for (direction = 0; direction < 2; direction++) {
    over = links[direction].arrived + links[direction].overflowed
        + links[direction].lost + links[direction].under_way;
    fail_unless (over == links[direction].offered,
        "path %u: of %" G_GUINT64_FORMAT " packets %" G_GUINT64_FORMAT
        " are accounted for", path, links[direction].offered, over);
  }
  /* The receiver answers an INIT (a request for a session) without keeping any
   * state. At this time the session does not exist, so its counters do not
   * include the INIT. */
  if (path == 0)
    n_stateless = result->messages[VIRTUAL_LINK_FORWARD][MMTP_INIT];
  fail_unless_equals_uint64 (result->paths[path].packets,
      links[VIRTUAL_LINK_FORWARD].offered);
  fail_unless_equals_uint64 (result->arrivals[path].received + n_stateless,
      links[VIRTUAL_LINK_FORWARD].arrived);
  fail_unless (links[VIRTUAL_LINK_FORWARD].lost > 0, "path %u lost nothing",
      path);
  fail_unless (result->paths[path].silences > 0);
}

static void
check_mmtp (const MmtpSimulationConfig * config,
    const MmtpSimulationResult * result)
{
  const guint n = config->source.n;
  guint i;

  fail_unless (result->errors->len == 0, "%s", result->errors->str);
  fail_unless_equals_int (result->frames, n);
  fail_unless_equals_int (result->duplicates + result->out_of_order
      + result->corrupt, 0);
  fail_unless_equals_int (result->refused + result->in_time
      + result->too_late + result->missing, n);
  fail_unless_equals_uint64 (result->sender.buffers, n);
  fail_unless_equals_uint64 (result->receiver.buffers,
      result->in_time + result->too_late);
  fail_unless (result->in_time > n * 0.9, "%u of %u frames in time",
      result->in_time, n);
  fail_unless_equals_uint64 (result->receiver.held_bytes, 0);
  fail_unless_equals_uint64 (result->sender.queued_bytes, 0);
  fail_unless (result->ended_at != MMTP_SIMULATION_NEVER);
  for (i = 0; i < config->n_paths; i++)
    check_mmtp_link (result, i);
}

GST_START_TEST (mmtp_stays_as_it_is)
{
  Memory memory = { 0 };
  MmtpSimulationConfig config;
  MmtpSimulation *simulation;

  init_mmtp (&config, get_duration (), &memory);
  simulation = mmtp_simulation_new (&config);
  mmtp_simulation_run (simulation);
  if (g_getenv ("MMTP_VERBOSE"))
    mmtp_simulation_print (simulation);
  check_mmtp (&config, mmtp_simulation_get_result (simulation));
  check_memory (&memory);
  mmtp_simulation_free (simulation);
}

GST_END_TEST;

/* --- DCCP ----------------------------------------------------------------- */

#define OUTAGE_PERIOD (100 * SECOND)
#define OUTAGE (3 * SECOND)
#define LOSS_PER_THOUSAND 2

typedef struct
{
  DccpNetwork network;
  guint64 begin;                /* ns, of the stream */
  guint64 n_packets[N_ENDS];
  guint64 data_lost[N_ENDS], data_arrived;
} DccpSoak;

static gboolean
is_dccp_data (const DccpPacket * packet)
{
  return packet->type == DCCP_DATA || packet->type == DCCP_DATA_ACK;
}

/* Drops all packets during an outage, and single packets at random at any other
 * time. */
static gboolean
pass_dccp (DccpNetwork * network, DccpEnd from, const DccpPacket * packet,
    guint8 * bytes, gsize size)
{
  DccpSoak *self = network->user_data;
  const guint64 time = (network->now - self->begin) % OUTAGE_PERIOD;
  const guint64 value = seeded_draw (1, from, 0, self->n_packets[from]++, 0);
  const gboolean lost = time >= OUTAGE_PERIOD - OUTAGE
      || value % 1000 < LOSS_PER_THOUSAND;

  if (lost && is_dccp_data (packet))
    self->data_lost[from]++;
  return !lost;
}

/* Checks that the client has received no data packet, and counts the data
 * packets that the server has received. Then clears the logs of the simulated
 * network, because they would use more and more memory. */
static void
clear_logs (DccpSoak * self)
{
  DccpNetwork *network = &self->network;
  guint end;

  self->data_arrived += network->received[SERVER]->len;
  fail_unless_equals_int (network->received[CLIENT]->len, 0);
  g_array_set_size (network->log, 0);
  for (end = 0; end < N_ENDS; end++) {
    g_array_set_size (network->events[end], 0);
    g_array_set_size (network->received[end], 0);
  }
}

static void
run_dccp (DccpSoak * self, guint64 duration, Memory * memory)
{
  const guint64 step = 10 * SECOND;
  const guint64 end = self->network.now + duration;
  guint64 next_watch = self->network.now + duration / N_WATCHES;

  while (self->network.now < end) {
    dccp_network_run (&self->network, MIN (step,
            next_watch - self->network.now));
    clear_logs (self);
    if (self->network.now < next_watch)
      continue;
    watch_memory (memory);
    next_watch += duration / N_WATCHES;
  }
}

/* Ends the soak test of DCCP. Runs the network without losses until all packets
 * that were waiting have been sent and have arrived. */
static void
finish_dccp (DccpSoak * self)
{
  DccpNetwork *network = &self->network;
  guint i;

  network->sending[CLIENT] = FALSE;
  network->filter = NULL;
  for (i = 0; i < 100 && network->n_sent[CLIENT] < network->n_put[CLIENT]; i++)
    dccp_network_run (network, SECOND);
  dccp_network_run (network, SECOND);
  clear_logs (self);
}

static void
check_dccp (const DccpSoak * self)
{
  const DccpNetwork *network = &self->network;
  const DccpStats *client = &network->stats[CLIENT];
  const DccpStats *server = &network->stats[SERVER];
  const guint64 n_sent = network->n_sent[CLIENT];
  const guint64 received = server->received[DCCP_DATA]
      + server->received[DCCP_DATA_ACK];

  fail_unless_equals_uint64 (n_sent, network->n_put[CLIENT]);
  fail_unless_equals_uint64 (client->sent[DCCP_DATA]
      + client->sent[DCCP_DATA_ACK], n_sent);
  fail_unless_equals_uint64 (received, n_sent - self->data_lost[CLIENT]);
  fail_unless_equals_uint64 (received, self->data_arrived);
  fail_unless_equals_uint64 (client->bytes_sent,
      n_sent * network->sizes[CLIENT]);
  fail_unless_equals_uint64 (server->bytes_received,
      received * network->sizes[CLIENT]);
  fail_unless (self->data_lost[CLIENT] > 0);
  fail_unless_equals_uint64 (client->connections, 1);
  fail_unless_equals_uint64 (server->connections, 1);
}

GST_START_TEST (dccp_stays_as_it_is)
{
  const guint64 duration = get_duration ();
  DccpSoak self = { 0 };
  Memory memory = { 0 };

  dccp_network_init (&self.network);
  dccp_network_begin (&self.network);
  dccp_network_open (&self.network);
  self.begin = self.network.now;
  self.network.user_data = &self;
  self.network.filter = pass_dccp;
  self.network.periods[CLIENT] = 20 * MS;
  self.network.put_at[CLIENT] = self.network.now;
  self.network.sending[CLIENT] = TRUE;
  run_dccp (&self, duration, &memory);
  finish_dccp (&self);
  check_dccp (&self);
  check_memory (&memory);
  dccp_network_close (&self.network, CLIENT);
  dccp_network_run (&self.network, 300 * SECOND);
  fail_unless (dccp_network_get (&self.network, CLIENT) == NULL);
  fail_unless (dccp_network_get (&self.network, SERVER) == NULL);
  dccp_network_clear (&self.network);
}

GST_END_TEST;

static Suite *
soak_suite (void)
{
  Suite *s = suite_create ("soak");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_set_timeout (tc, 3600);
  tcase_add_test (tc, mmtp_stays_as_it_is);
  tcase_add_test (tc, dccp_stays_as_it_is);
  return s;
}

GST_CHECK_MAIN (soak);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The network of the simulation of DCCP and TCP flows: the link that all flows
 * share, and the access network of each flow. dccpsimulation.h describes the
 * simulation. dccpsimulationflow.c implements the flows. */

#include "dccpsimulationprivate.h"

#include <math.h>
#include <string.h>

void
dccp_simulation_config_init (DccpSimulationConfig * config, guint64 seed,
    guint64 duration, guint64 rate, guint64 delay, guint64 queue)
{
  guint i;

  memset (config, 0, sizeof (*config));
  config->seed = seed;
  config->duration = duration;
  for (i = 0; i < 2; i++) {
    config->link.path[i].rate = rate;
    config->link.path[i].delay = delay;
    config->link.path[i].queue = queue;
  }
}

DccpSimulationFlow *
dccp_simulation_config_add (DccpSimulationConfig * config,
    DccpSimulationTraffic traffic, guint32 size)
{
  DccpSimulationFlow *flow = &config->flows[config->n_flows++];

  g_assert_cmpuint (config->n_flows, <=, DCCP_SIMULATION_MAX_FLOWS);
  flow->traffic = traffic;
  flow->size = size;
  return flow;
}

void
dccp_simulation_packet_free (gpointer packet)
{
  g_free (packet);
}

static void
on_held (Simulation * simulation, Flow * flow, Held * held)
{
  Packet *packet = held->packet;

  if (held->is_behind_link) {
    flow_receive (flow, packet);
    dccp_simulation_packet_free (packet);
  } else {
    virtual_link_input (simulation->link, simulation->now, packet->direction,
        packet->wire_size, packet);
  }
  g_free (held);
}

/* Delays a packet in the access network, which only the packet's own flow uses.
 * Packets with data pass this network before they reach the link. Packets in
 * the opposite direction, such as feedback, pass it after they have left the
 * link. */
static void
hold (Flow * flow, Packet * packet, gboolean is_behind_link)
{
  gboolean is_forward = packet->direction == flow_get_direction (flow);
  Held *held = g_new0 (Held, 1);

  held->packet = packet;
  held->is_behind_link = is_behind_link;
  held->time = flow->simulation->now
      + (is_forward != is_behind_link ? flow->config->delay : 0);
  g_queue_push_tail (&flow->held[is_behind_link], held);
}

void
simulation_send (Flow * flow, Packet * packet)
{
  packet->flow = flow->number;
  packet->sent = flow->simulation->now;
  hold (flow, packet, FALSE);
}

static gboolean
release_held (Simulation * simulation, Flow * flow)
{
  gboolean any = FALSE;
  guint i;

  for (i = 0; i < 2; i++) {
    Held *held;

    while ((held = g_queue_peek_head (&flow->held[i]))
        && held->time <= simulation->now) {
      g_queue_pop_head (&flow->held[i]);
      on_held (simulation, flow, held);
      any = TRUE;
    }
  }
  return any;
}

static gboolean
step (Simulation * simulation)
{
  VirtualLinkDirection direction;
  Packet *packet;
  gboolean any = FALSE;
  guint i;

  while ((packet =
          virtual_link_output (simulation->link, simulation->now,
              &direction))) {
    hold (&simulation->flows[packet->flow], packet, TRUE);
    any = TRUE;
  }
  for (i = 0; i < simulation->n_flows; i++) {
    any |= release_held (simulation, &simulation->flows[i]);
    any |= flow_run (&simulation->flows[i]);
  }
  return any;
}

static guint64
next_time (Simulation * simulation)
{
  guint64 next =
      MIN (virtual_link_next (simulation->link), simulation->next_bin);
  guint i, j;

  for (i = 0; i < simulation->n_flows; i++) {
    next = MIN (next, flow_next (&simulation->flows[i]));
    for (j = 0; j < 2; j++) {
      Held *held = g_queue_peek_head (&simulation->flows[i].held[j]);

      if (held)
        next = MIN (next, held->time);
    }
  }
  return next;
}

static void
end_bin (Simulation * simulation)
{
  guint i;

  for (i = 0; i < simulation->n_flows; i++)
    flow_end_bin (&simulation->flows[i]);
  simulation->next_bin += DCCP_SIMULATION_BIN;
}

static void
clear (Simulation * simulation)
{
  guint i, j;

  for (i = 0; i < simulation->n_flows; i++) {
    Flow *flow = &simulation->flows[i];

    for (j = 0; j < 2; j++) {
      Held *held;

      while ((held = g_queue_pop_head (&flow->held[j]))) {
        dccp_simulation_packet_free (held->packet);
        g_free (held);
      }
    }
    flow_clear (flow);
  }
  virtual_link_free (simulation->link);
}

void
dccp_simulation_run (const DccpSimulationConfig * config,
    DccpSimulationResult * result)
{
  Simulation simulation = { 0 };
  guint i;

  memset (result, 0, sizeof (*result));
  result->n_flows = simulation.n_flows = config->n_flows;
  simulation.config = config;
  simulation.now = DCCP_SIMULATION_START;
  simulation.next_bin = DCCP_SIMULATION_START + DCCP_SIMULATION_BIN;
  simulation.link = virtual_link_new (&config->link, config->seed, 0,
      dccp_simulation_packet_free);
  virtual_link_set_origin (simulation.link, DCCP_SIMULATION_START);
  for (i = 0; i < config->n_flows; i++)
    flow_init (&simulation.flows[i], &simulation, i, &result->flows[i]);

  while (simulation.now < DCCP_SIMULATION_START + config->duration) {
    guint n = 0;

    while (step (&simulation))
      /* Virtual time does not advance in this loop. If the loop has 100000
       * iterations, an endpoint must be in an endless loop, and the test fails.
       */
      g_assert_cmpuint (n++, <, 100000);
    simulation.now = MAX (simulation.now + 1, next_time (&simulation));
    while (simulation.next_bin <= simulation.now)
      end_bin (&simulation);
  }

  for (i = 0; i < 2; i++)
    virtual_link_get_stats (simulation.link, i, &result->link[i]);
  clear (&simulation);
}

void
dccp_simulation_result_clear (DccpSimulationResult * result)
{
  guint i;

  for (i = 0; i < result->n_flows; i++) {
    g_free (result->flows[i].bins);
    g_array_unref (result->flows[i].delays);
    g_array_unref (result->flows[i].estimates);
  }
}

/* --- results -------------------------------------------------------------- */

static guint64
sum_arrived (const DccpSimulationFlowResult * flow, guint64 from, guint64 to)
{
  guint64 sum = 0;
  guint i;

  for (i = from / DCCP_SIMULATION_BIN;
      i < MIN (to / DCCP_SIMULATION_BIN, flow->n_bins); i++)
    sum += flow->bins[i].arrived;
  return sum;
}

gdouble
dccp_simulation_get_throughput (const DccpSimulationFlowResult * flow,
    guint64 from, guint64 to)
{
  return sum_arrived (flow, from, to) * 1e9 / (to - from);
}

gdouble
dccp_simulation_get_variation (const DccpSimulationFlowResult * flow,
    guint64 from, guint64 to)
{
  gdouble sum = 0, squares = 0, mean;
  guint64 time;
  guint n = 0;

  for (time = from; time + VIRTUAL_LINK_SECOND <= to;
      time += VIRTUAL_LINK_SECOND) {
    gdouble bytes = sum_arrived (flow, time, time + VIRTUAL_LINK_SECOND);

    sum += bytes;
    squares += bytes * bytes;
    n++;
  }
  mean = sum / n;
  return sqrt (MAX (0, squares / n - mean * mean)) / mean;
}

gdouble
dccp_simulation_get_fairness (const DccpSimulationResult * result, guint n,
    guint64 from, guint64 to)
{
  gdouble sum = 0, squares = 0;
  guint i;

  for (i = 0; i < n; i++) {
    gdouble rate = dccp_simulation_get_throughput (&result->flows[i], from, to);

    sum += rate;
    squares += rate * rate;
  }
  return squares > 0 ? sum * sum / (n * squares) : 0;
}

static gint
compare_times (gconstpointer a, gconstpointer b)
{
  guint64 x = *(const guint64 *) a, y = *(const guint64 *) b;

  return x < y ? -1 : x > y;
}

guint64
dccp_simulation_get_delay (const DccpSimulationFlowResult * flow, gdouble part)
{
  GArray *sorted;
  guint64 delay;

  if (!flow->delays->len)
    return 0;
  sorted = g_array_copy (flow->delays);
  g_array_sort (sorted, compare_times);
  delay = g_array_index (sorted, guint64,
      (guint) MIN (part * sorted->len, sorted->len - 1));
  g_array_unref (sorted);
  return delay;
}

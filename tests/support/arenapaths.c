/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of arenapaths.h: the network paths of the arena (a benchmark
 * of MMTP), and traces that say when a link delivers packets. */

#include "arenapaths.h"

#include <stdlib.h>
#include <string.h>

#include "linkload.h"

/* Sizes in bytes of the packets with which the capacity of a link is measured.
 * FULL_PACKET is the maximum and SMALL_PACKET the minimum size. On a slow link
 * the packets are smaller, so that the transmission of each packet takes about
 * PACKET_TIME. With large packets, the result for a slow link would be inexact,
 * because the number of bytes that arrive before a deadline is always a
 * multiple of the packet size. */
#define FULL_PACKET 1500
#define SMALL_PACKET 100
#define PACKET_TIME (10 * LINK_MS)

/* Rate in bit/s at which a host receives packets. Because of this rate, packets
 * that a link delivers at the same time arrive one after the other. Traces
 * deliver many packets in the same millisecond, and token buckets release
 * several packets at once, but no real host receives two packets at the same
 * instant. */
#define HOST_RATE G_GUINT64_CONSTANT (1000000000)

/* --- traces --------------------------------------------------------------- */

ArenaTrace *
arena_trace_new (const gchar * name)
{
  ArenaTrace *trace = g_new0 (ArenaTrace, 1);

  trace->name = g_strdup (name);
  trace->times = g_array_new (FALSE, FALSE, sizeof (guint32));
  return trace;
}

void
arena_trace_free (ArenaTrace * trace)
{
  g_array_unref (trace->times);
  g_free (trace->name);
  g_free (trace);
}

void
arena_trace_add (ArenaTrace * trace, guint32 time)
{
  g_array_append_val (trace->times, time);
  trace->period = MAX (trace->period, time);
}

void
arena_trace_add_rate (ArenaTrace * trace, guint32 from, guint32 to,
    guint64 rate)
{
  guint64 i, n = (guint64) (to - from) * rate / (8000 * FULL_PACKET);

  for (i = 1; i <= n; i++)
    arena_trace_add (trace, from + i * (8000 * FULL_PACKET) / rate);
  trace->period = MAX (trace->period, to);
}

void
arena_trace_add_batches (ArenaTrace * trace, guint32 to, guint32 interval,
    guint batch)
{
  guint32 time;
  guint i;

  for (time = interval; time <= to; time += interval) {
    for (i = 0; i < batch; i++)
      arena_trace_add (trace, time);
  }
}

ArenaTrace *
arena_trace_load (const gchar * path, GError ** error)
{
  gchar *text, *line, *name;
  ArenaTrace *trace;

  if (!g_file_get_contents (path, &text, NULL, error))
    return NULL;
  name = g_path_get_basename (path);
  trace = arena_trace_new (name);
  g_free (name);
  for (line = text; *line; line += strcspn (line, "\n")) {
    line += strspn (line, "\n");
    if (g_ascii_isdigit (*line))
      arena_trace_add (trace, strtoul (line, NULL, 10));
  }
  g_free (text);
  if (trace->period == 0) {
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
        "%s is no delivery trace: no line has a time in ms", path);
    g_clear_pointer (&trace, arena_trace_free);
  }
  return trace;
}

gchar *
arena_trace_get_text (const ArenaTrace * trace, guint32 offset, guint32 length)
{
  GString *text = g_string_sized_new (1 << 16);
  guint64 round = 0;
  guint i = 0;

  g_assert (trace->times->len > 0);
  offset %= trace->period;
  while (TRUE) {
    guint64 time = round + g_array_index (trace->times, guint32, i);

    if (time > (guint64) offset + length)
      break;
    if (time >= offset)
      g_string_append_printf (text, "%" G_GUINT64_FORMAT "\n", time - offset);
    if (++i == trace->times->len) {
      i = 0;
      round += trace->period;
    }
  }
  /* After its last line, a trace begins again. This must not happen during the
   * run, so a last line is added whose time is after the end of the run. */
  g_string_append_printf (text, "%u\n", length + 1);
  return g_string_free (text, FALSE);
}

/* --- links ---------------------------------------------------------------- */

void
arena_path_init (ArenaPath * path, guint64 rate, guint64 delay)
{
  guint i;

  memset (path, 0, sizeof *path);
  for (i = 0; i < ARENA_N_DIRECTIONS; i++) {
    LinkConfig *config = &path->config[i];

    link_config_init (config, LINK_PROFILE_CUSTOM, LINK_QUALITY_IDEAL);
    config->queue.packets = 1000;
    config->pipe.rate[0] = config->pipe.rate[1] = rate;
    config->pipe.delay[0] = config->pipe.delay[1] = delay;
  }
}

static void
add_changes (const ArenaPath * path, ArenaDirection direction, Link * link)
{
  const guint64 *rate = path->config[direction].pipe.rate;
  guint i, station;

  for (i = 0; i < path->n_steps; i++) {
    for (station = 0; station < 2; station++)
      link_add_step (link, path->steps[i].time, station, rate[station],
          path->steps[i].delay);
  }
  if (path->cut_begin < path->cut_end)
    link_add_cut (link, path->cut_begin, path->cut_end, 0);
}

static Link *
open_link (const ArenaPath * path, ArenaDirection direction, guint number,
    guint n, guint64 length)
{
  const ArenaTrace *trace = path->trace[direction];
  LinkConfig config = path->config[direction];
  gchar *text = NULL;
  GError *error = NULL;
  Link *link;

  /* The seed of a link depends on the seed of its path, on the direction and on
   * the number of the run. */
  config.seed = (config.seed * 2 + direction) * 1000 + number + 1;
  config.pipe.receiver_rate = HOST_RATE;
  if (trace) {
    guint64 offset = path->rotates ? (guint64) trace->period * number / n : 0;

    text = arena_trace_get_text (trace, offset, length / LINK_MS);
    config.pipe.trace[0] = text;
    /* The trace of a second station on the link. No packet uses this station,
     * but the configuration requires a valid trace for it. */
    config.pipe.trace[1] = "1000\n";
  }
  link = link_new (&config, &error);
  if (!link)
    g_error ("could not make a link of the arena: %s", error->message);
  g_free (text);
  add_changes (path, direction, link);
  return link;
}

/* Returns the index of the path whose links the path `index` uses. */
static guint
find_owner (const ArenaPath * paths, guint index)
{
  guint i;

  for (i = 0; i < index; i++) {
    if (paths[index].bottleneck
        && paths[i].bottleneck == paths[index].bottleneck)
      return i;
  }
  return index;
}

void
arena_links_open (ArenaLinks * links, const ArenaPath * paths, guint index,
    guint number, guint n, guint64 length)
{
  const guint owner = find_owner (paths, index);
  const ArenaPath *path = &paths[index];
  ArenaLinks *own = &links[index];

  if (owner != index) {
    *own = links[owner];
    own->is_borrowed = TRUE;
    return;
  }
  memset (own, 0, sizeof *own);
  own->links[ARENA_FORWARD] = open_link (path, ARENA_FORWARD, number, n,
      length);
  if (path->one_link) {
    own->links[ARENA_BACK] = own->links[ARENA_FORWARD];
    memcpy (own->station, path->station, sizeof own->station);
  } else {
    own->links[ARENA_BACK] = open_link (path, ARENA_BACK, number, n, length);
  }
}

void
arena_links_close (ArenaLinks * links, GDestroyNotify user_free)
{
  if (links->is_borrowed)
    return;
  link_free (links->links[ARENA_FORWARD], user_free);
  if (links->links[ARENA_BACK] != links->links[ARENA_FORWARD])
    link_free (links->links[ARENA_BACK], user_free);
}

/* --- what the links deliver ----------------------------------------------- */

/* Returns TRUE if the link sends only at certain instants, and transmits many
 * bytes at each of them. Returns FALSE if the link transmits its bytes at a
 * steady rate. */
static gboolean
is_instant (const ArenaPath * path)
{
  const LinkPipeConfig *pipe = &path->config[ARENA_FORWARD].pipe;
  guint number = path->station[ARENA_FORWARD] ? 1 : 0;

  return path->trace[ARENA_FORWARD] || pipe->cellular.mean_rate[number];
}

static guint32
get_packet_size (const ArenaPath * path)
{
  const LinkConfig *config = &path->config[ARENA_FORWARD];
  guint64 rate = config->pipe.rate[path->station[ARENA_FORWARD] ? 1 : 0];

  if (config->model != LINK_MODEL_PIPE || is_instant (path) || rate == 0)
    return FULL_PACKET;
  return CLAMP (rate / 8 * PACKET_TIME / LINK_SECOND, SMALL_PACKET,
      FULL_PACKET);
}

/* State of a measurement, which finds out when a link can send. The measurement
 * always keeps one packet waiting in the queue of the link, so that the link is
 * never idle. When the link begins to send the waiting packet, the next packet
 * is put into the queue. begun[i] is the time at which packet i was put into
 * the queue. At this time, the link began to send packet i - 1. */
typedef struct
{
  Link *link;
  guint flow;
  guint32 size;
  GArray *begun;                /* of guint64, ns */
  /* For each packet, its arrival time in ns (guint64); G_MAXUINT64 if the
   * packet was lost. */
  GArray *arrivals;
} Saturation;

static void
fill_queue (Saturation * saturation, guint station, guint64 now)
{
  guint packets;
  guint64 bytes;

  link_get_queue (saturation->link, station, &packets, &bytes);
  while (packets == 0) {
    guint64 never = G_MAXUINT64;

    g_array_append_val (saturation->begun, now);
    g_array_append_val (saturation->arrivals, never);
    link_input (saturation->link, now, saturation->flow, saturation->size,
        GUINT_TO_POINTER (saturation->arrivals->len - 1));
    link_get_queue (saturation->link, station, &packets, &bytes);
  }
}

static void
take_arrivals (Saturation * saturation)
{
  LinkPacket packet;
  LinkEvent event;

  while (link_poll_output (saturation->link, &packet)) {
    if (packet.fate == LINK_FATE_DELIVERED && packet.copy == 0)
      g_array_index (saturation->arrivals, guint64,
          GPOINTER_TO_UINT (packet.user)) = packet.departure;
  }
  while (link_poll_event (saturation->link, &event));
}

static void
add_opportunities (const Saturation * saturation, gboolean instant,
    GArray * opportunities)
{
  guint i;

  /* fill_queue () puts a packet into the queue whenever the queue is empty, so
   * the queue never holds more than one packet. The queue becomes empty when
   * the link begins to send the packet in it. begun[i] is the time at which
   * packet i was put into the queue. At this time, the link began to send
   * packet i - 1. The times for packet i itself are therefore in the next two
   * elements:
   * - begun[i + 1] is the time at which the link began to send packet i.
   * - begun[i + 2] is the time at which the link had sent packet i, and began
   *   to send packet i + 1. */
  for (i = 0; i + 2 < saturation->arrivals->len; i++) {
    ArenaOpportunity opportunity = { 0 };

    opportunity.begin = g_array_index (saturation->begun, guint64, i + 1);
    opportunity.end = g_array_index (saturation->begun, guint64, i + 2);
    opportunity.arrival = g_array_index (saturation->arrivals, guint64, i);
    opportunity.bytes = saturation->size;
    if (instant)
      opportunity.begin = opportunity.end;
    if (opportunity.arrival != G_MAXUINT64)
      g_array_append_val (opportunities, opportunity);
  }
}

static void
saturate (const ArenaPath * path, guint number, guint n, guint64 length,
    GArray * opportunities)
{
  Saturation saturation = { 0 };
  ArenaLinks links;
  guint station;
  guint64 now = 0;

  arena_links_open (&links, path, 0, number, n, length);
  station = links.station[ARENA_FORWARD];
  saturation.link = links.links[ARENA_FORWARD];
  saturation.flow = link_add_flow (saturation.link, station);
  saturation.size = get_packet_size (path);
  saturation.begun = g_array_new (FALSE, FALSE, sizeof (guint64));
  saturation.arrivals = g_array_new (FALSE, FALSE, sizeof (guint64));
  while (now < length) {
    fill_queue (&saturation, station, now);
    now = MAX (now, link_next_wakeup (saturation.link));
    link_timeout (saturation.link, now);
    take_arrivals (&saturation);
  }
  add_opportunities (&saturation, is_instant (path), opportunities);
  g_array_unref (saturation.begun);
  g_array_unref (saturation.arrivals);
  arena_links_close (&links, NULL);
}

ArenaSupply *
arena_paths_get_supply (const ArenaPath * paths, guint n_paths, guint number,
    guint n, guint64 length)
{
  GArray *opportunities = g_array_new (FALSE, FALSE, sizeof (ArenaOpportunity));
  guint i;

  for (i = 0; i < n_paths; i++) {
    if (find_owner (paths, i) == i)
      saturate (&paths[i], number, n, length, opportunities);
  }
  return arena_supply_new (opportunities);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures how fast a network sink and source carry packets, over one link or
 * several.
 *
 *   bondflood SINK SOURCE PACKETS RATE LIST [SIZE]
 *
 * SINK and SOURCE are elements with their properties, as in a launch line. The
 * source runs in a process of its own. The program pushes PACKETS packets into
 * the sink, RATE packets per second. If RATE is 0, it pushes as fast as
 * possible. The packets are pushed in buffer lists of LIST packets. If LIST is
 * 1, they are pushed as single buffers. A packet has SIZE bytes. The default is
 * 1328 bytes, the size of an RTP packet with seven packets of MPEG-TS.
 *
 * The program prints:
 * - the number of packets that the source output,
 * - the seconds from the first input to the last output,
 * - the CPU time of the sink and that of the source, in seconds.
 *
 * If callcount.so is preloaded, the program prints a second line with three
 * numbers for the process of the sink, and then three for the process of the
 * source. They are the numbers of allocations, of operations on locks, and of
 * clock readings (see calls.py).
 */

#define _GNU_SOURCE
#include "floodends.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "callcount.h"

#define DEFAULT_SIZE (12 + 7 * 188)
/* The run ends if the source outputs no packet for this time in us. The time is
 * long enough for a retransmission on the loopback interface. */
#define IDLE_US (300 * 1000)
#define CONNECT_US (20 * G_USEC_PER_SEC)

static FloodShared *shared;

static gsize packet_size = DEFAULT_SIZE;

static gdouble
get_time (clockid_t clock)
{
  struct timespec time;

  if (clock_gettime (clock, &time) < 0)
    flood_fail (g_strerror (errno));
  return time.tv_sec + time.tv_nsec / 1e9;
}

static void
push (GstPad * pad, guint list_size)
{
  flood_push (pad, flood_make (packet_size, list_size));
}

/* --- calls of functions --------------------------------------------------- */

/* The number of calls of each counted function. The first index is 0 for the
 * process of the sink and 1 for the process of the source. Calls are counted
 * only if callcount.so is preloaded. */
typedef gint64 Calls[2][CALLCOUNT_FUNCTIONS];

static void
count_in_source (void)
{
  if (callcount_select)
    callcount_select (1);
}

/* Adds the current counts of function calls, multiplied by `factor`, to
 * `calls`. A caller uses the factor -1 before a run and the factor 1 after it.
 * Then `calls` contains only the calls during the run. */
static void
add_calls (Calls calls, gint factor)
{
  guint process, function;

  for (process = 0; callcount_get && process < 2; process++) {
    for (function = 0; function < CALLCOUNT_FUNCTIONS; function++)
      calls[process][function] += factor *
          (gint64) callcount_get (process, function);
  }
}

/* Subtracts from `calls` the function calls that this program itself has made.
 * The program makes calls when it creates packets. It also makes calls when it
 * counts packets at the output of the source. The calls of the sink and of the
 * source remain. */
static void
subtract_own_calls (Calls calls, guint n_pushed, guint n_noted, guint list_size)
{
  GstMiniObject *packets;

  add_calls (calls, n_pushed);
  packets = flood_make (packet_size, list_size);
  add_calls (calls, -n_pushed);
  gst_mini_object_unref (packets);
  calls[1][CALLCOUNT_CLOCK] -= n_noted;
}

static void
print_calls (Calls calls)
{
  guint process, function;

  for (process = 0; callcount_get && process < 2; process++) {
    for (function = 0; function < CALLCOUNT_FUNCTIONS; function++)
      g_print ("%" G_GINT64_FORMAT " ", calls[process][function]);
  }
  g_print (callcount_get ? "\n" : "");
}

/* --- the run -------------------------------------------------------------- */

/* Waits until packets stop arriving. */
static void
wait_for_silence (void)
{
  gint before = -1;

  while (g_atomic_int_get (&shared->received) != before
      || g_get_monotonic_time () - shared->received_at < IDLE_US) {
    before = g_atomic_int_get (&shared->received);
    g_usleep (10000);
  }
}

/* Prepares the sink and the source for the benchmark. Pushes packets until the
 * source has output the first packet. Then waits until no more packets arrive.
 * At the start, some sinks measure their links. The wait gives them time to
 * finish this measurement before the benchmark begins. */
static void
warm_up (GstPad * pad, guint list_size)
{
  gint64 begin = g_get_monotonic_time ();

  while (g_atomic_int_get (&shared->received) == 0) {
    if (g_get_monotonic_time () - begin > CONNECT_US)
      flood_fail ("nothing comes out");
    push (pad, list_size);
    g_usleep (10000);
  }
  wait_for_silence ();
}

static void
push_all (GstPad * pad, guint n, guint rate, guint list_size)
{
  gint64 begin = g_get_monotonic_time (), wait;
  guint i;

  for (i = 0; i < n; i += list_size) {
    if (rate > 0) {
      wait = begin + (gint64) i *G_USEC_PER_SEC / rate
          - g_get_monotonic_time ();
      if (wait > 0)
        g_usleep (wait);
    }
    push (pad, list_size);
  }
}

static void
flood (GstPad * pad, pid_t source, guint n, guint rate, guint list_size)
{
  gdouble sink_cpu, source_cpu;
  Calls calls = { {0} };
  gint before, noted;
  gint64 begin;
  clockid_t clock;

  if (clock_getcpuclockid (source, &clock) != 0)
    flood_fail ("no clock of the source's process");
  warm_up (pad, list_size);
  before = g_atomic_int_get (&shared->received);
  noted = shared->noted;
  add_calls (calls, -1);
  begin = g_get_monotonic_time ();
  sink_cpu = -get_time (CLOCK_PROCESS_CPUTIME_ID);
  source_cpu = -get_time (clock);
  push_all (pad, n, rate, list_size);
  wait_for_silence ();
  sink_cpu += get_time (CLOCK_PROCESS_CPUTIME_ID);
  source_cpu += get_time (clock);
  add_calls (calls, 1);
  g_print ("%d %.6f %.6f %.6f\n", g_atomic_int_get (&shared->received)
      - before, (shared->received_at - begin) / 1e6, sink_cpu, source_cpu);
  subtract_own_calls (calls, (n + list_size - 1) / list_size,
      shared->noted - noted, list_size);
  print_calls (calls);
}

int
main (int argc, char **argv)
{
  GstPad *pad;
  pid_t source;

  if (argc != 6 && argc != 7) {
    g_printerr ("Usage: bondflood SINK SOURCE PACKETS RATE LIST [SIZE]\n");
    return 2;
  }
  if (argc == 7)
    packet_size = atoi (argv[6]);
  shared = flood_start_source (argv[2], count_in_source, &source);
  pad = flood_open_sink (argv[1]);
  flood (pad, source, atoi (argv[3]), atoi (argv[4]), MAX (1, atoi (argv[5])));
  kill (source, SIGKILL);
  _exit (fflush (stdout) ? 1 : 0);
}

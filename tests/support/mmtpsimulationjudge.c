/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The judge of a simulated MMTP session: it determines what happened to each
 * frame and packet. It uses the time of the simulation, not the clocks of the
 * endpoints. It reads the wire format of docs/wire-mmtp.md with its own code,
 * and not with the code that wrote the packets. */

#include "mmtpsimulation.h"

#include <string.h>

#include "mmtppacketbuilder.h"
#include "mmtpsimulationprivate.h"

#define MAX_ERRORS 8

void
mmtp_simulation_judge_init (MmtpSimulation * simulation)
{
  guint i;

  simulation->origin = MMTP_SIMULATION_NEVER;
  simulation->result.origin = MMTP_SIMULATION_NEVER;
  simulation->result.ended_at = MMTP_SIMULATION_NEVER;
  simulation->result.errors = g_string_new (NULL);
  for (i = 0; i < simulation->config.source.n; i++)
    simulation->frames[i].due = simulation->frames[i].released =
        MMTP_SIMULATION_NEVER;
}

void
mmtp_simulation_judge_clear (MmtpSimulation * simulation)
{
  g_string_free (simulation->result.errors, TRUE);
}

void
mmtp_simulation_error (MmtpSimulation * simulation, const gchar * format, ...)
{
  va_list args;

  if (simulation->n_errors++ >= MAX_ERRORS)
    return;
  g_string_append_printf (simulation->result.errors, "%.6f s: ",
      simulation->now / 1e9);
  va_start (args, format);
  g_string_append_vprintf (simulation->result.errors, format, args);
  va_end (args);
  g_string_append_c (simulation->result.errors, '\n');
}

/* --- packets -------------------------------------------------------------- */

static gboolean
is_data (const MmtpSimulation * simulation, const guint8 * bytes, gsize size)
{
  return simulation->ends->speaks_mmtp && size >= 24 &&
      bytes[0] == (MMTP_VERSION << 5 | MMTP_DATA);
}

void
mmtp_simulation_judge_sent (MmtpSimulation * simulation,
    VirtualLinkDirection direction, guint path, const guint8 * bytes,
    gsize size)
{
  if (!simulation->ends->speaks_mmtp)
    return;
  if (bytes[1] != path)
    mmtp_simulation_error (simulation, "says path %u on path %u",
        bytes[1], path);
  if ((bytes[0] & 0x1f) < MMTP_LAST_TYPE)
    simulation->result.messages[direction][bytes[0] & 0x1f]++;
  simulation->result.data_packets += is_data (simulation, bytes, size);
}

/* Returns whether the source and the TCP flows of the path are both active at
 * the current virtual time. */
static gboolean
is_shared_time (const MmtpSimulation * simulation, guint path)
{
  return simulation->origin != MMTP_SIMULATION_NEVER
      && simulation->now >=
      simulation->origin + simulation->config.paths[path].tcp_from
      && simulation->n_put < simulation->config.source.n;
}

/* Records that a packet has arrived at the current time. A packet contains only
 * the lowest 32 bits of the due time of its frame. `due` is this number. All
 * packets of a frame contain the same number, so the function finds the frame
 * by it. */
static void
note_arrival (MmtpSimulation * simulation, guint32 due)
{
  guint32 now = mmtp_simulation_to_sender (simulation, simulation->now) / 1000;
  gint64 ahead = (gint32) (due - now) * G_GINT64_CONSTANT (1000);
  guint64 since = simulation->now + ahead - simulation->origin;
  guint number = (since + simulation->config.source.period / 2) /
      simulation->config.source.period;

  if (number < simulation->n_put
      && simulation->frames[number].released == MMTP_SIMULATION_NEVER)
    simulation->frames[number].arrived = simulation->now;
}

/* Updates the results of the simulation when a message arrives at the receiver.
 * If it is a DATA message, compares the due time in its header, which is in us,
 * with the current time. If the message is late, it is counted. */
void
mmtp_simulation_judge_packet (MmtpSimulation * simulation, guint path,
    const guint8 * bytes, gsize size)
{
  MmtpSenderStats stats;
  guint32 due, now;
  gint64 lateness;

  if (is_shared_time (simulation, path))
    simulation->result.mmtp_bytes[path] += size + MMTP_SIMULATION_OVERHEAD;
  if (!is_data (simulation, bytes, size))
    return;
  simulation->result.data_arrived++;
  simulation->ends->get_sender_stats (simulation->sender, &stats);
  due = (guint32) bytes[10] << 24 | bytes[11] << 16 | bytes[12] << 8
      | bytes[13];
  now = mmtp_simulation_to_sender (simulation, simulation->now) / 1000;
  note_arrival (simulation, due);
  lateness = (gint64) (gint32) (now - due) * 1000 - stats.initial_delay;
  if (lateness <= 0)
    return;
  simulation->result.late_packets++;
  simulation->result.worst_late = MAX (simulation->result.worst_late, lateness);
}

void
mmtp_simulation_judge_tcp (MmtpSimulation * simulation, guint path,
    const Tcp * tcp)
{
  if (is_shared_time (simulation, path))
    simulation->result.tcp_bytes[path] += tcp->config.mss + tcp->config.header;
}

/* --- frames --------------------------------------------------------------- */

/* Reads the number of a frame from its first four bytes and returns this
 * number. Returns G_MAXUINT if the bytes differ from the bytes of the frame
 * that the simulation sent with this number. */
static guint
identify_frame (const MmtpSimulation * simulation, const DatagramSlice * data)
{
  const guint8 *bytes = data->bytes;
  const gsize size = data->size;
  guint number;

  if (size < 4)
    return G_MAXUINT;
  number = (guint) bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
  if (number >= simulation->n_put || simulation->frames[number].size != size)
    return G_MAXUINT;
  if (bytes[3] != (guint8) number || memcmp (bytes + 3, bytes + 4, size - 4))
    return G_MAXUINT;
  return number;
}

/* When the receiver outputs a frame, it reports the frame's deadline. Compares
 * this deadline with the true one, and records the maximum difference of all
 * frames. Also checks that the receiver did not output the frame after the
 * deadline that it reports. */
static void
judge_times (MmtpSimulation * simulation, const MmtpSimulationFrame * frame,
    const MmtpReceiverEvent * event)
{
  gint64 error = event->due + event->delay
      - mmtp_simulation_to_receiver (simulation, frame->limit);

  if (event->due + event->delay < mmtp_simulation_to_receiver (simulation,
          simulation->now))
    mmtp_simulation_error (simulation,
        "let out %.6f s after its time by its own clock",
        (mmtp_simulation_to_receiver (simulation,
                simulation->now) - event->due - event->delay) / 1e9);
  simulation->result.worst_deadline =
      MAX (simulation->result.worst_deadline, ABS (error));
}

static void
judge_frame (MmtpSimulation * simulation, const MmtpReceiverEvent * event)
{
  guint number = identify_frame (simulation, &event->data);
  MmtpSimulationResult *result = &simulation->result;
  MmtpSenderStats stats;
  MmtpSimulationFrame *frame;

  if (number == G_MAXUINT) {
    result->corrupt++;
    mmtp_simulation_error (simulation, "a buffer that nobody put");
    return;
  }
  frame = &simulation->frames[number];
  if (frame->released != MMTP_SIMULATION_NEVER) {
    result->duplicates++;
    mmtp_simulation_error (simulation, "frame %u twice", number);
    return;
  }
  if (number < simulation->next_frame) {
    result->out_of_order++;
    mmtp_simulation_error (simulation, "frame %u after frame %u", number,
        simulation->next_frame - 1);
  }
  if (event->flags != frame->flags)
    mmtp_simulation_error (simulation, "frame %u has flags %02x", number,
        event->flags);
  simulation->next_frame = MAX (simulation->next_frame, number + 1);
  frame->released = simulation->now;
  simulation->ends->get_sender_stats (simulation->sender, &stats);
  frame->limit = frame->due + stats.initial_delay;
  judge_times (simulation, frame, event);
  if (frame->released > frame->limit)
    result->worst_release = MAX (result->worst_release,
        frame->released - frame->limit);
  /* `arrived` is the time at which the last DATA packet of the frame arrived.
   * It is 0 if the judge has seen no DATA packet of the frame, for one of two
   * reasons: the receiver has restored the frame from a REPAIR message, or the
   * simulation runs with mmtp_simulation_udp, which sends no MMTP packets. In
   * both cases, the current time counts as the arrival.
   */
  if (frame->arrived == 0)
    frame->arrived = simulation->now;
  result->in_time += frame->arrived <= frame->limit;
  result->too_late += frame->arrived > frame->limit;
}

void
mmtp_simulation_judge_receiver_event (MmtpSimulation * simulation,
    MmtpReceiverEvent * event)
{
  switch (event->type) {
    case MMTP_EVENT_BUFFER:
      judge_frame (simulation, event);
      datagram_slice_clear (&event->data);
      break;
    case MMTP_EVENT_CAPS:
      g_free (event->caps);
      break;
    case MMTP_EVENT_END:
      simulation->result.ended_at = simulation->now;
      break;
    default:
      break;
  }
  if (simulation->config.verbose)
    g_print ("%10.6f receiver event %d path %u\n", simulation->now / 1e9,
        event->type, event->path);
}

void
mmtp_simulation_judge_sender_event (MmtpSimulation * simulation,
    const MmtpSenderEvent * event)
{
  if (event->type == MMTP_EVENT_READY)
    simulation->result.ready = TRUE;
  else if (event->type == MMTP_EVENT_ENDED)
    simulation->has_ended = TRUE;
  else if (event->type == MMTP_EVENT_BROKEN)
    simulation->result.broken_events++;
  else if (event->type == MMTP_EVENT_TOO_SLOW)
    simulation->result.too_slow_events++;
  if (simulation->config.verbose)
    g_print ("%10.6f sender event %d path %u state %d rate %"
        G_GUINT64_FORMAT "\n", simulation->now / 1e9, event->type, event->path,
        event->state, event->rate);
}

/* --- the end of the run --------------------------------------------------- */

void
mmtp_simulation_judge_memory (MmtpSimulation * simulation)
{
  MmtpSenderStats sender;
  MmtpReceiverStats receiver;

  simulation->ends->get_sender_stats (simulation->sender, &sender);
  simulation->ends->get_receiver_stats (simulation->receiver, &receiver);
  simulation->result.max_queued =
      MAX (simulation->result.max_queued, sender.queued_bytes);
  simulation->result.max_held =
      MAX (simulation->result.max_held, receiver.held_bytes);
  simulation->result.initial_delay = sender.initial_delay;
}

static gboolean
is_lost (const MmtpSimulationFrame * frame)
{
  return frame->released == MMTP_SIMULATION_NEVER
      || frame->arrived > frame->limit;
}

/* Returns how many frames were in time and can be decoded. A frame without
 * MMTP_FLAG_DELTA is a key frame, which needs no other frame. Every other frame
 * needs the last key frame and all reference frames after that key frame. A
 * reference frame is a frame without MMTP_FLAG_DROPPABLE. */
static guint
count_decodable (const MmtpSimulation * simulation)
{
  gboolean has_references = FALSE;
  guint i, n = 0;

  for (i = 0; i < simulation->n_put; i++) {
    const MmtpSimulationFrame *frame = &simulation->frames[i];
    gboolean in_time = !is_lost (frame);

    has_references |= !(frame->flags & MMTP_FLAG_DELTA);
    n += in_time && has_references;
    if (!(frame->flags & MMTP_FLAG_DROPPABLE))
      has_references &= in_time;
  }
  return n;
}

void
mmtp_simulation_judge_end (MmtpSimulation * simulation)
{
  MmtpSimulationResult *result = &simulation->result;
  guint i;

  result->frames = simulation->n_put;
  for (i = 0; i < simulation->n_put; i++)
    result->missing += simulation->frames[i].released == MMTP_SIMULATION_NEVER;
  result->decodable = count_decodable (simulation);
  simulation->ends->get_sender_stats (simulation->sender, &result->sender);
  simulation->ends->get_receiver_stats (simulation->receiver,
      &result->receiver);
  for (i = 0; i < simulation->config.n_paths; i++) {
    simulation->ends->get_sender_path_stats (simulation->sender, i,
        &result->paths[i]);
    simulation->ends->get_receiver_path_stats (simulation->receiver, i,
        &result->arrivals[i]);
    virtual_link_get_stats (simulation->paths[i].link, VIRTUAL_LINK_FORWARD,
        &result->links[i][VIRTUAL_LINK_FORWARD]);
    virtual_link_get_stats (simulation->paths[i].link, VIRTUAL_LINK_BACK,
        &result->links[i][VIRTUAL_LINK_BACK]);
  }
}

const MmtpSimulationResult *
mmtp_simulation_get_result (MmtpSimulation * simulation)
{
  return &simulation->result;
}

const MmtpSimulationFrame *
mmtp_simulation_get_frames (MmtpSimulation * simulation)
{
  return simulation->frames;
}

static gboolean
is_put_in (const MmtpSimulation * simulation, const MmtpSimulationFrame * frame,
    guint64 from, guint64 to)
{
  return frame->due >= simulation->origin + from
      && frame->due < simulation->origin + to;
}

guint
mmtp_simulation_count_lost (MmtpSimulation * simulation, guint64 from,
    guint64 to)
{
  guint i, n = 0;

  for (i = 0; i < simulation->n_put; i++)
    n += is_put_in (simulation, &simulation->frames[i], from, to) &&
        is_lost (&simulation->frames[i]);
  return n;
}

guint
mmtp_simulation_count_useless (MmtpSimulation * simulation, guint64 from,
    guint64 to)
{
  gboolean is_broken = FALSE;
  guint i, n = 0;

  for (i = 0; i < simulation->n_put; i++) {
    const MmtpSimulationFrame *frame = &simulation->frames[i];

    if (!(frame->flags & MMTP_FLAG_DELTA))
      is_broken = FALSE;
    n += is_broken && is_lost (frame)
        && is_put_in (simulation, frame, from, to);
    if (is_lost (frame) && !(frame->flags & MMTP_FLAG_DROPPABLE))
      is_broken = TRUE;
  }
  return n;
}

static void
print_path (MmtpSimulation * simulation, guint i)
{
  const MmtpSimulationResult *result = &simulation->result;
  const MmtpSenderPathStats *c = &result->paths[i];
  const VirtualLinkStats *forward = &result->links[i][VIRTUAL_LINK_FORWARD];
  const VirtualLinkStats *back = &result->links[i][VIRTUAL_LINK_BACK];

  g_print ("    %u %-8s rate %.0f of %.0f byte/s, delay %.1f high %.1f of "
      "%.1f ms, rtt %.1f ms\n", i, mmtp_path_state_get_name (c->state),
      c->rate / 8.0,
      (gdouble) simulation->config.paths[i].link.path[0].rate,
      c->delay / 1e6, c->high_delay / 1e6,
      simulation->config.paths[i].link.path[0].delay / 1e6,
      c->round_trip / 1e6);
  g_print ("      packets %" G_GUINT64_FORMAT " data %" G_GUINT64_FORMAT
      " again %" G_GUINT64_FORMAT " probes %" G_GUINT64_FORMAT " lost %"
      G_GUINT64_FORMAT " late %" G_GUINT64_FORMAT " silences %" G_GUINT64_FORMAT
      "; link: %" G_GUINT64_FORMAT " arrived %" G_GUINT64_FORMAT " lost %"
      G_GUINT64_FORMAT " overflowed, busy %.1f s, queue %" G_GUINT64_FORMAT
      "; back %" G_GUINT64_FORMAT " busy %.2f s\n", c->packets, c->data_packets,
      c->retransmitted, c->probes, c->lost, c->late, c->silences,
      forward->arrived, forward->lost, forward->overflowed, forward->busy / 1e9,
      forward->max_queued, back->offered, back->busy / 1e9);
}

static void
print_messages (MmtpSimulation * simulation)
{
  guint d, i;

  g_print ("    messages:");
  for (d = 0; d < 2; d++) {
    for (i = 0; i < MMTP_LAST_TYPE; i++) {
      guint64 n = simulation->result.messages[d][i];

      if (n)
        g_print (" %" G_GUINT64_FORMAT " %s", n, mmtp_type_get_name (i));
    }
    g_print (d ? " back\n" : " forward,");
  }
}

void
mmtp_simulation_print (MmtpSimulation * simulation)
{
  const MmtpSimulationResult *result = &simulation->result;
  guint i;

  g_print ("  seed %" G_GUINT64_FORMAT ": %u frames from %.3f s%s, D0 %.1f ms:"
      " %u refused, %u in time, %u too late (%.3f ms), %u missing, %u twice, "
      "%u disordered, %u corrupt\n", simulation->config.seed, result->frames,
      result->origin / 1e9, result->ready ? "" : " (not ready)",
      result->initial_delay / 1e6, result->refused, result->in_time,
      result->too_late, result->worst_release / 1e6, result->missing,
      result->duplicates, result->out_of_order, result->corrupt);
  g_print ("    %" G_GUINT64_FORMAT " DATA, %" G_GUINT64_FORMAT " arrived, %"
      G_GUINT64_FORMAT " late (%.1f ms); discarded %" G_GUINT64_FORMAT
      ", again %" G_GUINT64_FORMAT "; memory %" G_GUINT64_FORMAT " and %"
      G_GUINT64_FORMAT " bytes; clock within %.2f ms; end %s\n",
      result->data_packets, result->data_arrived, result->late_packets,
      result->worst_late / 1e6, result->sender.discarded_buffers,
      result->sender.retransmitted, result->max_queued, result->max_held,
      result->worst_deadline / 1e6,
      result->ended_at == MMTP_SIMULATION_NEVER ? "never" : "told");
  print_messages (simulation);
  for (i = 0; i < simulation->config.n_paths; i++)
    print_path (simulation, i);
  if (result->errors->len)
    g_print ("%s", result->errors->str);
}

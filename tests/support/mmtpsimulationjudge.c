/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What became of each frame and packet of a simulated session, by true time and
 * by the bytes of docs/wire-mmtp.md, read here once more and not by the codec
 * that wrote them.
 */

#include "mmtpsimulation.h"

#include <string.h>

#include "mmtpsimulationprivate.h"

#define MAX_ERRORS 8

void
mmtp_simulation_judge_init (MmtpSimulation * sim)
{
  guint i;

  sim->origin = MMTP_SIMULATION_NEVER;
  sim->result.origin = MMTP_SIMULATION_NEVER;
  sim->result.ended_at = MMTP_SIMULATION_NEVER;
  sim->result.errors = g_string_new (NULL);
  for (i = 0; i < sim->config.source.n; i++)
    sim->frames[i].due = sim->frames[i].released = MMTP_SIMULATION_NEVER;
}

void
mmtp_simulation_judge_clear (MmtpSimulation * sim)
{
  g_string_free (sim->result.errors, TRUE);
}

void
mmtp_simulation_error (MmtpSimulation * sim, const gchar * format, ...)
{
  va_list args;

  if (sim->n_errors++ >= MAX_ERRORS)
    return;
  g_string_append_printf (sim->result.errors, "%.6f s: ", sim->now / 1e9);
  va_start (args, format);
  g_string_append_vprintf (sim->result.errors, format, args);
  va_end (args);
  g_string_append_c (sim->result.errors, '\n');
}

/* --- packets -------------------------------------------------------------- */

static gboolean
is_data (const MmtpSimulation * sim, const guint8 * bytes, gsize size)
{
  return sim->ends->speaks_mmtp && size >= 24 &&
      bytes[0] == (MMTP_VERSION << 5 | MMTP_DATA);
}

void
mmtp_simulation_judge_sent (MmtpSimulation * sim,
    VirtualLinkDirection direction, guint channel, const guint8 * bytes,
    gsize size)
{
  if (!sim->ends->speaks_mmtp)
    return;
  if (bytes[1] != channel)
    mmtp_simulation_error (sim, "says channel %u on channel %u", bytes[1],
        channel);
  if ((bytes[0] & 0x1f) < MMTP_LAST_TYPE)
    sim->result.messages[direction][bytes[0] & 0x1f]++;
  sim->result.data_packets += is_data (sim, bytes, size);
}

/* While the source and the TCP flows of the channel both run */
static gboolean
is_shared_time (const MmtpSimulation * sim, guint channel)
{
  return sim->origin != MMTP_SIMULATION_NEVER
      && sim->now >= sim->origin + sim->config.channels[channel].tcp_from
      && sim->n_put < sim->config.source.n;
}

/* All packets of a frame have its due time, of which a packet has 32 bits. */
static void
note_arrival (MmtpSimulation * sim, guint32 due)
{
  guint32 now = mmtp_simulation_to_sender (sim, sim->now) / 1000;
  gint64 ahead = (gint32) (due - now) * G_GINT64_CONSTANT (1000);
  guint64 since = sim->now + ahead - sim->origin;
  guint number = (since + sim->config.source.period / 2) /
      sim->config.source.period;

  if (number < sim->n_put
      && sim->frames[number].released == MMTP_SIMULATION_NEVER)
    sim->frames[number].arrived = sim->now;
}

/* A message has come to the receiver. Due time in us, docs/wire-mmtp.md 3 */
void
mmtp_simulation_judge_packet (MmtpSimulation * sim, guint channel,
    const guint8 * bytes, gsize size)
{
  MmtpSenderStats stats;
  guint32 due, now;
  gint64 lateness;

  if (is_shared_time (sim, channel))
    sim->result.mmtp_bytes[channel] += size + MMTP_SIMULATION_OVERHEAD;
  if (!is_data (sim, bytes, size))
    return;
  sim->result.data_arrived++;
  sim->ends->get_sender_stats (sim->sender, &stats);
  due = (guint32) bytes[10] << 24 | bytes[11] << 16 | bytes[12] << 8
      | bytes[13];
  now = mmtp_simulation_to_sender (sim, sim->now) / 1000;
  note_arrival (sim, due);
  lateness = (gint64) (gint32) (now - due) * 1000 - stats.initial_delay;
  if (lateness <= 0)
    return;
  sim->result.late_packets++;
  sim->result.worst_late = MAX (sim->result.worst_late, lateness);
}

void
mmtp_simulation_judge_tcp (MmtpSimulation * sim, guint channel, const Tcp * tcp)
{
  if (is_shared_time (sim, channel))
    sim->result.tcp_bytes[channel] += tcp->config.mss + tcp->config.header;
}

/* --- frames --------------------------------------------------------------- */

/* The frame's number, or G_MAXUINT: its bytes are not those that were put. */
static guint
identify_frame (const MmtpSimulation * sim, GBytes * data)
{
  gsize size;
  const guint8 *bytes = g_bytes_get_data (data, &size);
  guint number;

  if (size < 4)
    return G_MAXUINT;
  number = (guint) bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
  if (number >= sim->n_put || sim->frames[number].size != size)
    return G_MAXUINT;
  if (bytes[3] != (guint8) number || memcmp (bytes + 3, bytes + 4, size - 4))
    return G_MAXUINT;
  return number;
}

/* The receiver's word for the deadline, and its own promise */
static void
judge_times (MmtpSimulation * sim, const MmtpSimulationFrame * frame,
    const MmtpReceiverEvent * event)
{
  gint64 error = event->due + event->delay
      - mmtp_simulation_to_receiver (sim, frame->limit);

  if (event->due + event->delay < mmtp_simulation_to_receiver (sim, sim->now))
    mmtp_simulation_error (sim,
        "let out %.6f s after its time by its own clock",
        (mmtp_simulation_to_receiver (sim,
                sim->now) - event->due - event->delay) / 1e9);
  sim->result.worst_deadline = MAX (sim->result.worst_deadline, ABS (error));
}

static void
judge_frame (MmtpSimulation * sim, const MmtpReceiverEvent * event)
{
  guint number = identify_frame (sim, event->data);
  MmtpSimulationResult *result = &sim->result;
  MmtpSenderStats stats;
  MmtpSimulationFrame *frame;

  if (number == G_MAXUINT) {
    result->corrupt++;
    mmtp_simulation_error (sim, "a buffer that nobody put");
    return;
  }
  frame = &sim->frames[number];
  if (frame->released != MMTP_SIMULATION_NEVER) {
    result->duplicates++;
    mmtp_simulation_error (sim, "frame %u twice", number);
    return;
  }
  if (number < sim->next_frame) {
    result->out_of_order++;
    mmtp_simulation_error (sim, "frame %u after frame %u", number,
        sim->next_frame - 1);
  }
  if (event->flags != frame->flags)
    mmtp_simulation_error (sim, "frame %u has flags %02x", number,
        event->flags);
  sim->next_frame = MAX (sim->next_frame, number + 1);
  frame->released = sim->now;
  sim->ends->get_sender_stats (sim->sender, &stats);
  frame->limit = frame->due + stats.initial_delay;
  judge_times (sim, frame, event);
  if (frame->released > frame->limit)
    result->worst_release = MAX (result->worst_release,
        frame->released - frame->limit);
  /* Without MMTP, or by a REPAIR */
  if (frame->arrived == 0)
    frame->arrived = sim->now;
  result->in_time += frame->arrived <= frame->limit;
  result->too_late += frame->arrived > frame->limit;
}

void
mmtp_simulation_judge_receiver_event (MmtpSimulation * sim,
    MmtpReceiverEvent * event)
{
  switch (event->type) {
    case MMTP_EVENT_BUFFER:
      judge_frame (sim, event);
      g_bytes_unref (event->data);
      break;
    case MMTP_EVENT_CAPS:
      g_free (event->caps);
      break;
    case MMTP_EVENT_END:
      sim->result.ended_at = sim->now;
      break;
    default:
      break;
  }
  if (sim->config.verbose)
    g_print ("%10.6f receiver event %d channel %u\n", sim->now / 1e9,
        event->type, event->path);
}

void
mmtp_simulation_judge_sender_event (MmtpSimulation * sim,
    const MmtpSenderEvent * event)
{
  if (event->type == MMTP_EVENT_READY)
    sim->result.ready = TRUE;
  else if (event->type == MMTP_EVENT_ENDED)
    sim->has_ended = TRUE;
  else if (event->type == MMTP_EVENT_BROKEN)
    sim->result.broken_events++;
  else if (event->type == MMTP_EVENT_TOO_SLOW)
    sim->result.too_slow_events++;
  if (sim->config.verbose)
    g_print ("%10.6f sender event %d channel %u state %d rate %"
        G_GUINT64_FORMAT "\n", sim->now / 1e9, event->type, event->path,
        event->state, event->rate);
}

/* --- in all --------------------------------------------------------------- */

void
mmtp_simulation_judge_memory (MmtpSimulation * sim)
{
  MmtpSenderStats sender;
  MmtpReceiverStats receiver;

  sim->ends->get_sender_stats (sim->sender, &sender);
  sim->ends->get_receiver_stats (sim->receiver, &receiver);
  sim->result.max_queued = MAX (sim->result.max_queued, sender.queued_bytes);
  sim->result.max_held = MAX (sim->result.max_held, receiver.held_bytes);
  sim->result.initial_delay = sender.initial_delay;
}

void
mmtp_simulation_judge_end (MmtpSimulation * sim)
{
  MmtpSimulationResult *result = &sim->result;
  guint i;

  result->frames = sim->n_put;
  for (i = 0; i < sim->n_put; i++)
    result->missing += sim->frames[i].released == MMTP_SIMULATION_NEVER;
  sim->ends->get_sender_stats (sim->sender, &result->sender);
  sim->ends->get_receiver_stats (sim->receiver, &result->receiver);
  for (i = 0; i < sim->config.n_channels; i++) {
    sim->ends->get_sender_channel_stats (sim->sender, i, &result->channels[i]);
    sim->ends->get_receiver_channel_stats (sim->receiver, i,
        &result->arrivals[i]);
    virtual_link_get_stats (sim->channels[i].link, VIRTUAL_LINK_FORWARD,
        &result->links[i][VIRTUAL_LINK_FORWARD]);
    virtual_link_get_stats (sim->channels[i].link, VIRTUAL_LINK_BACK,
        &result->links[i][VIRTUAL_LINK_BACK]);
  }
}

const MmtpSimulationResult *
mmtp_simulation_get_result (MmtpSimulation * sim)
{
  return &sim->result;
}

const MmtpSimulationFrame *
mmtp_simulation_get_frames (MmtpSimulation * sim)
{
  return sim->frames;
}

static gboolean
is_lost (const MmtpSimulationFrame * frame)
{
  return frame->released == MMTP_SIMULATION_NEVER
      || frame->arrived > frame->limit;
}

static gboolean
is_put_in (const MmtpSimulation * sim, const MmtpSimulationFrame * frame,
    guint64 from, guint64 to)
{
  return frame->due >= sim->origin + from && frame->due < sim->origin + to;
}

guint
mmtp_simulation_count_lost (MmtpSimulation * sim, guint64 from, guint64 to)
{
  guint i, n = 0;

  for (i = 0; i < sim->n_put; i++)
    n += is_put_in (sim, &sim->frames[i], from, to) &&
        is_lost (&sim->frames[i]);
  return n;
}

guint
mmtp_simulation_count_useless (MmtpSimulation * sim, guint64 from, guint64 to)
{
  gboolean is_broken = FALSE;
  guint i, n = 0;

  for (i = 0; i < sim->n_put; i++) {
    const MmtpSimulationFrame *frame = &sim->frames[i];

    if (!(frame->flags & MMTP_FLAG_DELTA))
      is_broken = FALSE;
    n += is_broken && is_lost (frame) && is_put_in (sim, frame, from, to);
    if (is_lost (frame) && !(frame->flags & MMTP_FLAG_DROPPABLE))
      is_broken = TRUE;
  }
  return n;
}

static void
print_channel (MmtpSimulation * sim, guint i)
{
  const MmtpSimulationResult *result = &sim->result;
  const MmtpSenderPathStats *c = &result->channels[i];
  const VirtualLinkStats *forward = &result->links[i][VIRTUAL_LINK_FORWARD];
  const VirtualLinkStats *back = &result->links[i][VIRTUAL_LINK_BACK];

  g_print ("    %u %-8s rate %.0f of %.0f byte/s, delay %.1f high %.1f of "
      "%.1f ms, rtt %.1f ms\n", i, mmtp_path_state_get_name (c->state),
      c->rate / 8.0,
      (gdouble) sim->config.channels[i].link.path[0].rate,
      c->delay / 1e6, c->high_delay / 1e6,
      sim->config.channels[i].link.path[0].delay / 1e6, c->round_trip / 1e6);
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
print_messages (MmtpSimulation * sim)
{
  guint d, i;

  g_print ("    messages:");
  for (d = 0; d < 2; d++) {
    for (i = 0; i < MMTP_LAST_TYPE; i++) {
      guint64 n = sim->result.messages[d][i];

      if (n)
        g_print (" %" G_GUINT64_FORMAT " %s", n, mmtp_type_get_name (i));
    }
    g_print (d ? " back\n" : " forward,");
  }
}

void
mmtp_simulation_print (MmtpSimulation * sim)
{
  const MmtpSimulationResult *result = &sim->result;
  guint i;

  g_print ("  seed %" G_GUINT64_FORMAT ": %u frames from %.3f s%s, D0 %.1f ms:"
      " %u refused, %u in time, %u too late (%.3f ms), %u missing, %u twice, "
      "%u disordered, %u corrupt\n", sim->config.seed, result->frames,
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
  print_messages (sim);
  for (i = 0; i < sim->config.n_channels; i++)
    print_channel (sim, i);
  if (result->errors->len)
    g_print ("%s", result->errors->str);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fuzzlink.h"

/* --- the numbers of a LinkConfig ------------------------------------------ */

#define FIELD(type, member) { G_STRUCT_OFFSET (LinkConfig, member), type }
#define ON_OFF(member) FIELD (FIELD_U64, member.mean_good), \
    FIELD (FIELD_U64, member.mean_bad)
#define BOTH(type, member) FIELD (type, member[0]), FIELD (type, member[1])

const FuzzField fuzz_fields[] = {
  FIELD (FIELD_U64, seed),
  FIELD (FIELD_UINT, overhead),
  FIELD (FIELD_UINT, max_size),
  FIELD (FIELD_UINT, queue.packets),
  FIELD (FIELD_U64, queue.bytes),
  FIELD (FIELD_U64, queue.time),
  FIELD (FIELD_UINT, dcf.n_rates),
  BOTH (FIELD_U64, dcf.rates),
  BOTH (FIELD_CHANCE, dcf.failure),
  FIELD (FIELD_CHANCE, dcf.failure[LINK_MAX_RATES - 1]),
  FIELD (FIELD_CHANCE, dcf.oven_failure[0]),
  FIELD (FIELD_CHANCE, dcf.oven_failure[LINK_MAX_RATES - 1]),
  FIELD (FIELD_UINT, dcf.top_rate),
  FIELD (FIELD_U64, dcf.ack_rate),
  FIELD (FIELD_FLAG, dcf.ofdm),
  FIELD (FIELD_FLAG, dcf.short_preamble),
  FIELD (FIELD_UINT, dcf.retry_limit),
  FIELD (FIELD_UINT, dcf.fallback),
  FIELD (FIELD_UINT, dcf.down_after),
  FIELD (FIELD_UINT, dcf.up_after),
  FIELD (FIELD_UINT, dcf.loss_up_after),
  FIELD (FIELD_FLAG, oven.always),
  FIELD (FIELD_UINT, oven.n_windows),
  FIELD (FIELD_U64, oven.windows[0].begin),
  FIELD (FIELD_U64, oven.windows[0].end),
  FIELD (FIELD_U64, oven.windows[1].begin),
  FIELD (FIELD_U64, oven.windows[1].end),
  FIELD (FIELD_U64, oven.cycle),
  FIELD (FIELD_U64, oven.on),
  BOTH (FIELD_U64, pipe.rate),
  FIELD (FIELD_FLAG, pipe.half_duplex),
  FIELD (FIELD_U64, pipe.turnaround),
  FIELD (FIELD_UINT, pipe.overhead),
  BOTH (FIELD_U64, pipe.delay),
  FIELD (FIELD_U64, pipe.jitter),
  FIELD (FIELD_FLAG, pipe.jitter_exponential),
  FIELD (FIELD_U64, pipe.idle_delay),
  FIELD (FIELD_UINT, pipe.idle_delay_size),
  ON_OFF (pipe.fading),
  FIELD (FIELD_CHANCE, pipe.loss_good),
  FIELD (FIELD_CHANCE, pipe.loss_bad),
  FIELD (FIELD_CHANCE, pipe.bit_error_good),
  FIELD (FIELD_CHANCE, pipe.bit_error_bad),
  FIELD (FIELD_FLAG, pipe.drop_damaged),
  FIELD (FIELD_CHANCE, pipe.duplicate),
  FIELD (FIELD_CHANCE, pipe.reorder),
  FIELD (FIELD_U64, pipe.reorder_delay),
  ON_OFF (pipe.outage),
  ON_OFF (pipe.stall),
  FIELD (FIELD_U64, pipe.receiver_rate),
  FIELD (FIELD_U64, pipe.receiver_buffer),
  BOTH (FIELD_U64, blocks.serial_rate),
  FIELD (FIELD_U64, blocks.block_time),
  FIELD (FIELD_UINT, blocks.block_payload),
  FIELD (FIELD_CHANCE, blocks.block_error_rate),
  FIELD (FIELD_CHANCE, blocks.mean_burst),
  FIELD (FIELD_CHANCE, blocks.corrupt_share),
  FIELD (FIELD_UINT, blocks.overhead),
  FIELD (FIELD_UINT, blocks.overhead_before),
  FIELD (FIELD_FLAG, blocks.frame_check),
  BOTH (FIELD_U64, blocks.delay),
  FIELD (FIELD_U64, blocks.radio_delay),
  FIELD (FIELD_UINT, blocks.rlp_window),
  FIELD (FIELD_U64, blocks.rlp_t1),
  FIELD (FIELD_UINT, blocks.rlp_n2),
  FIELD (FIELD_UINT, blocks.rlp_after_n2),
  FIELD (FIELD_FLAG, dial_up.enabled),
  FIELD (FIELD_U64, dial_up.command_min),
  FIELD (FIELD_U64, dial_up.command_max),
  FIELD (FIELD_U64, dial_up.connect_min),
  FIELD (FIELD_U64, dial_up.connect_max),
  FIELD (FIELD_U64, dial_up.handshake_min),
  FIELD (FIELD_U64, dial_up.handshake_max),
  FIELD (FIELD_CHANCE, dial_up.slow),
  FIELD (FIELD_U64, dial_up.slow_extra_max),
  FIELD (FIELD_CHANCE, dial_up.failure),
  FIELD (FIELD_U64, dial_up.failure_min),
  FIELD (FIELD_U64, dial_up.failure_max),
  FIELD (FIELD_U64, dial_up.mean_time_to_break),
  FIELD (FIELD_UINT, model),
  FIELD (FIELD_U64, dial_up.hang_up_after),
  FIELD (FIELD_U64, pipe.burst),
  BOTH (FIELD_U64, pipe.cellular.mean_rate),
  FIELD (FIELD_U64, pipe.cellular.min_rate),
  FIELD (FIELD_U64, pipe.cellular.max_rate),
  FIELD (FIELD_U64, pipe.cellular.noise),
  FIELD (FIELD_U64, pipe.cellular.reversion),
  FIELD (FIELD_CHANCE, pipe.cellular.outage_escape),
  FIELD (FIELD_U64, pipe.cellular.outage_interval),
  FIELD (FIELD_FLAG, pipe.take_turns)
};

const guint fuzz_n_fields = G_N_ELEMENTS (fuzz_fields);

guint64
fuzz_take_magnitude (FuzzInput * input)
{
  guint choice = fuzz_take_u8 (input), exponent = choice >> 4;
  guint64 value = choice & 15;

  while (exponent-- > 0)
    value *= 10;
  return value;
}

void
fuzz_set_field (LinkConfig * config, const FuzzField * field, guint64 number,
    gdouble chance)
{
  gpointer at = G_STRUCT_MEMBER_P (config, field->offset);

  switch (field->type) {
    case FIELD_U64:
      *(guint64 *) at = number;
      break;
    case FIELD_UINT:
      *(guint *) at = number;
      break;
    case FIELD_CHANCE:
      *(gdouble *) at = chance;
      break;
    case FIELD_FLAG:
      *(gboolean *) at = number & 1;
      break;
  }
}

/* The current run, for fuzz_user_free (). A global variable is necessary,
 * because link_free () passes only the packet to this function. */
static FuzzRun *fuzz_running;

static void
fuzz_user_free (gpointer user)
{
  FuzzPacket *packet = user;

  fuzz_check (packet >= fuzz_running->packets
      && packet < fuzz_running->packets + fuzz_running->n_packets);
  packet->freed++;
}

FuzzRun *
fuzz_run_new (const LinkConfig * config, GError ** error)
{
  Link *link = link_new (config, error);
  FuzzRun *run;
  guint i;

  if (!link)
    return NULL;
  run = g_new0 (FuzzRun, 1);
  run->link = link;
  for (i = 0; i < LINK_MAX_STATIONS; i++)
    run->quality[i] = -1;
  run->record = g_string_new (NULL);
  return run;
}

void
fuzz_run_add_flow (FuzzRun * run, guint station)
{
  if (run->n_flows == FUZZ_MAX_FLOWS)
    return;
  fuzz_check (link_add_flow (run->link, station) == run->n_flows);
  run->stations[run->n_flows++] = MIN (station, LINK_MAX_STATIONS - 1);
}

void
fuzz_run_set_station (FuzzRun * run, guint flow, guint station)
{
  link_set_station (run->link, flow, station);
  run->stations[flow] = MIN (station, LINK_MAX_STATIONS - 1);
}

static void
fuzz_check_damage (FuzzPacket * known, const LinkPacket * packet)
{
  guint8 *data = g_malloc0 (known->size + (known->size == 0));
  guint i, hash = 0;

  fuzz_check ((packet->n_damage > 0) == (packet->damage != NULL));
  for (i = 0; i < packet->n_damage; i++) {
    fuzz_check (packet->damage[i].offset < packet->size);
    fuzz_check (packet->damage[i].flip != 0);
    hash = hash * 31 + packet->damage[i].offset * 257 + packet->damage[i].flip;
  }
  link_packet_apply_damage (packet, data, known->size);
  g_free (data);
  fuzz_check (known->fates + known->outputs == 0 || known->damage_hash == hash);
  known->damage_hash = hash;
}

static FuzzPacket *
fuzz_check_packet (FuzzRun * run, const LinkPacket * packet)
{
  FuzzPacket *known = packet->user;

  fuzz_check (known >= run->packets && known < run->packets + run->n_packets);
  fuzz_check (known->freed == 0);
  fuzz_check (packet->flow == known->flow && packet->index == known->index);
  fuzz_check (packet->size == known->size);
  fuzz_check (packet->station == known->station);
  fuzz_check (packet->arrival == known->arrival);
  fuzz_check (packet->departure >= packet->arrival);
  fuzz_check (packet->departure <= run->now);
  fuzz_check (packet->fate < LINK_FATE_LAST);
  return known;
}

static void
fuzz_check_output (FuzzRun * run, const LinkPacket * packet)
{
  FuzzPacket *known = fuzz_check_packet (run, packet);

  fuzz_check (packet->fate == (packet->n_damage ? LINK_FATE_DAMAGED :
          LINK_FATE_DELIVERED));
  fuzz_check (packet->departure >= run->last_departure);
  run->last_departure = packet->departure;
  fuzz_check (packet->attempts > 0);
  fuzz_check (packet->jitter <= packet->departure - packet->arrival);
  fuzz_check_damage (known, packet);
  fuzz_check (!run->copied || run->copied == known);
  if (packet->copy) {
    fuzz_check (packet->copy == ++known->copies && known->outputs == 0);
    run->copied = known;
    run->duplicates++;
    return;
  }
  fuzz_check (packet->copies == known->copies);
  run->copied = NULL;
  fuzz_check (++known->outputs == 1);
  run->arrived_bytes[known->flow] += known->size;
  run->n_outputs++;
}

static void
fuzz_check_fate (FuzzRun * run, const LinkEvent * event)
{
  FuzzPacket *known = fuzz_check_packet (run, &event->packet);
  gchar *line;

  fuzz_check (event->time == event->packet.departure);
  fuzz_check (event->station == event->packet.station);
  fuzz_check (event->packet.copy == 0);
  fuzz_check_damage (known, &event->packet);
  fuzz_check (++known->fates == 1);
  fuzz_check (event->packet.fate <= LINK_FATE_DAMAGED || known->outputs == 0);
  run->n_ended++;
  run->ended[known->flow]++;
  run->n_arrived += event->packet.fate <= LINK_FATE_DAMAGED;
  known->end = event->packet;
  known->end.damage = NULL;
  line = link_pattern_format_packet (&event->packet);
  if (line)
    g_string_append (run->record, line);
  g_free (line);
}

static void
fuzz_check_event (FuzzRun * run, const LinkEvent * event)
{
  fuzz_check (event->time >= run->last_event && event->time <= run->now);
  run->last_event = event->time;
  switch (event->type) {
    case LINK_EVENT_FATE:
      fuzz_check_fate (run, event);
      break;
    case LINK_EVENT_QUALITY:
      fuzz_check (event->station < LINK_MAX_STATIONS);
      fuzz_check (event->quality >= 0 && event->quality <= 1);
      fuzz_check (event->quality != run->quality[event->station]);
      run->quality[event->station] = event->quality;
      run->n_quality++;
      break;
    case LINK_EVENT_CALL:
      fuzz_check (event->call != run->call && event->call != LINK_CALL_NONE
          && event->call <= LINK_CALL_CONNECTED);
      run->call = event->call;
      break;
    default:
      fuzz_check (FALSE);
  }
}

static void
fuzz_check_flow_stats (FuzzRun * run, guint flow)
{
  const LinkFlowStats *before = &run->stats[flow];
  LinkFlowStats stats;
  guint64 fates = 0, sent = 0, refused;
  guint i;

  link_get_flow_stats (run->link, flow, &stats);
  for (i = 0; i < sizeof (stats) / sizeof (guint64); i++)
    fuzz_check (((guint64 *) & stats)[i] >= ((guint64 *) before)[i]);
  for (i = 0; i < LINK_FATE_LAST; i++)
    fates += stats.fates[i];
  for (i = 0; i < LINK_MAX_ATTEMPTS; i++)
    sent += stats.transmissions[i];
  fuzz_check (stats.offered == run->offered[flow]);
  fuzz_check (fates == run->ended[flow] && sent == fates);
  fuzz_check (stats.delivered_bytes == run->arrived_bytes[flow]);
  refused = stats.fates[LINK_FATE_QUEUE] + stats.fates[LINK_FATE_TOO_BIG];
  fuzz_check (stats.offered >= stats.queued + refused);
  fuzz_check (stats.offered <= stats.queued + refused +
      stats.fates[LINK_FATE_FRAME]);
  run->stats[flow] = stats;
}

guint
fuzz_run_count_inside (const FuzzRun * run)
{
  return run->n_packets - run->n_ended;
}

/* Checks the counters of the link. Must be called after all packets were
 * polled, because the counters are compared with the packets that were
 * output. */
static void
fuzz_run_check_stats (FuzzRun * run)
{
  guint64 duplicates = 0, bytes;
  guint i, packets, queued = 0;

  fuzz_check (run->n_outputs == run->n_arrived);
  for (i = 0; i < run->n_flows; i++) {
    fuzz_check_flow_stats (run, i);
    duplicates += run->stats[i].duplicates;
  }
  fuzz_check (duplicates == run->duplicates);
  for (i = 0; i < LINK_MAX_STATIONS; i++) {
    link_get_queue (run->link, i, &packets, &bytes);
    fuzz_check (packets > 0 || bytes == 0);
    queued += packets;
  }
  fuzz_check (queued <= fuzz_run_count_inside (run));
}

void
fuzz_run_poll (FuzzRun * run)
{
  LinkPacket packet;
  LinkEvent event;

  while (link_poll_output (run->link, &packet))
    fuzz_check_output (run, &packet);
  fuzz_check (!run->copied);
  while (link_poll_event (run->link, &event))
    fuzz_check_event (run, &event);
  fuzz_run_check_stats (run);
}

static void
fuzz_run_check_wakeup (FuzzRun * run)
{
  guint64 wakeup = link_next_wakeup (run->link);
  guint i;

  fuzz_check (wakeup > run->now);
  for (i = 0; i < LINK_MAX_STATIONS; i++) {
    gdouble quality = link_get_quality (run->link, i);

    fuzz_check (quality >= 0 && quality <= 1);
  }
}

void
fuzz_run_advance (FuzzRun * run, guint64 now)
{
  run->now = MAX (run->now, now);
  link_timeout (run->link, now);
  fuzz_run_check_wakeup (run);
}

/* Makes up the description of a video packet for the fuzzed link. The
 * description contains the position of the packet in a video frame, and
 * properties of this frame. It is computed from the size of the packet and from
 * the description of the previous packet of the flow. Returns NULL if the
 * packet is to contain no video.
 *
 * The descriptions are made in such a way that a frame has a few packets, that
 * some packets are missing, and that some frames have no end. Packets without
 * video occur inside frames, too. */
static const VideoPacket *
fuzz_describe (FuzzRun * run, guint flow, guint32 size)
{
  VideoPacket *video = &run->video[flow];

  if (size % 7 == 6)
    return NULL;
  video->begins = video->ends || size % 11 == 10;
  video->ends = size % 3 == 0;
  video->sequence += size % 17 == 16 ? 2 : size % 19 == 18 ? 0 : 1;
  video->timestamp += video->begins && size % 23 != 22;
  video->stream = size % 29 < 2 ? size % 64 : 0;
  video->closed_gop = size % 31 == 30;
  video->temporal_reference = size % 1024;
  if (video->begins)
    video->type = (size >> 3) % MPEG_VIDEO_PICTURE_LAST;
  return video;
}

void
fuzz_run_input (FuzzRun * run, guint64 now, guint flow, guint32 size)
{
  const VideoPacket *video;
  FuzzPacket *packet;

  if (run->n_packets == FUZZ_MAX_PACKETS)
    return;
  packet = &run->packets[run->n_packets++];
  run->now = MAX (run->now, now);
  packet->flow = flow;
  packet->station = run->stations[flow];
  packet->index = run->offered[flow]++;
  packet->size = size;
  packet->arrival = run->now;
  video = fuzz_describe (run, flow, size);
  link_has_room_for_video (run->link, flow, size, video);
  link_input_video (run->link, now, flow, size, video, packet);
  fuzz_run_check_wakeup (run);
}

void
fuzz_run_free (FuzzRun * run)
{
  guint i;

  fuzz_running = run;
  link_free (run->link, fuzz_user_free);
  for (i = 0; i < run->n_packets; i++) {
    FuzzPacket *packet = &run->packets[i];
    gboolean lost = packet->fates && packet->end.fate > LINK_FATE_DAMAGED;

    fuzz_check (packet->outputs + lost + packet->freed == 1);
  }
  g_string_free (run->record, TRUE);
  g_free (run);
}

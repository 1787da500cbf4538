/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Model of a link as a pipe: a transmitter with a rate, a delay, and random
 * events between the sender and the receiver. The custom profile uses this
 * model. It is also used for networks of which only rates and delays were
 * published (NMT, GPRS, RangeLAN2 and IrDA), for delivery traces, and for the
 * cellular model.
 *
 *   queue -> transmitter (rate, burst, trace, cellular, outage)
 *     -> air (loss, bit errors)
 *     -> delay, jitter, reordering -> network (stall) -> receiver -> out
 */

#include "linkmodel.h"

#include "linkdelivery.h"

/* The quality of a channel is the probability that a packet arrives undamaged.
 * It is computed for a packet of this size in bits, which is the maximum
 * payload of Ethernet. */
#define QUALITY_BITS (8 * 1500)

/* The transmitter of one station. With half-duplex, all stations share one
 * transmitter. */
typedef struct
{
  LinkItem *item;               /* in service */
  /* times in ns at which the transmission of `item` begins and ends */
  guint64 begin, end;
  /* One-way delay in ns that follows the transmission of `item`. It is the
   * delay that was configured when the transmission began. */
  guint64 delay;
  /* station of the current or last transmission */
  guint station;
  gboolean used;
} Transmitter;

typedef struct
{
  LinkOnOff fading, outage, stall;
  LinkDelivery *delivery;       /* NULL = `rate` is used */
  /* random process of the outages of a cellular link, owned by `delivery`; NULL
   * for all other links */
  LinkOnOff *coverage;
  /* time in ns at which the token bucket will be full if nothing more is sent;
   * a time in the past means that the bucket is full now */
  guint64 bucket_full;
  /* Latest departure time in ns so far. Packets that were chosen for reordering
   * do not count, because later packets may overtake them. */
  guint64 last_departure;
  /* time in ns until which the receiver is busy with earlier packets */
  guint64 receiver_free;
} Direction;

typedef struct
{
  Link *link;
  /* The configuration that is valid now. It begins as the configuration of the
   * link. Later, each step (LinkStep) changes a rate and a delay in it at a
   * given time. */
  LinkPipeConfig config;
  guint n_steps;                /* number of these steps */
  Transmitter transmitters[LINK_MAX_STATIONS];
  Direction directions[LINK_MAX_STATIONS];      /* by station */
  guint n_stations;
  guint64 quality_change;
} Pipe;

/* Draws */

static guint64
draw (const Pipe * pipe, const LinkItem * item, LinkDraw purpose, guint attempt)
{
  return seeded_draw (pipe->link->config.seed, item->p.flow, purpose,
      item->p.index, attempt);
}

static gboolean
happens (const Pipe * pipe, const LinkItem * item, LinkDraw purpose,
    gdouble probability)
{
  return probability > 0 && seeded_draw_hits (draw (pipe, item, purpose, 0),
      seeded_chance (probability));
}

/* Transmitters */

static Transmitter *
get_transmitter (Pipe * pipe, guint station)
{
  return &pipe->transmitters[pipe->config.half_duplex ? 0 : station];
}

/* Returns the Direction whose outages, token bucket and sending opportunities
 * apply to `station`. With half-duplex all stations share one transmitter, so
 * this is always the Direction of station 0. */
static Direction *
get_sender (Pipe * pipe, guint station)
{
  return &pipe->directions[pipe->config.half_duplex ? 0 : station];
}

static guint64
divide_up (guint64 numerator, guint64 factor, guint64 denominator)
{
  /* A packet has at most 1 GiB (link.c), so the product of `numerator` and
   * `factor` does not overflow.
   */
  return (numerator * factor + denominator - 1) / denominator;
}

static gboolean
is_bad_for_ever (LinkOnOff * state, guint64 time)
{
  return link_on_off_is_bad (state, time)
      && link_on_off_end (state, time) == LINK_NEVER;
}

/* A token bucket in the form of the generic cell rate algorithm (ITU-T I.371,
 * annex A). The level of the bucket is stored as the time at which the bucket
 * will be full if nothing more is sent. A packet leaves as soon as the bucket
 * is full or holds tokens for all bytes of the packet. The bucket also fills
 * during an outage, but no packet leaves before the outage ends. */
static guint64
pass_bucket (Pipe * pipe, guint station, guint64 begin, guint64 bytes)
{
  Direction *direction = get_sender (pipe, station);
  guint64 rate = pipe->config.rate[link_direction (station)];
  guint64 cost = divide_up (bytes * 8, LINK_SECOND, rate);
  guint64 depth = divide_up (pipe->config.burst * 8, LINK_SECOND, rate);
  guint64 spare = depth - MIN (cost, depth), leave = begin;

  if (direction->bucket_full > leave + spare)
    leave = direction->bucket_full - spare;
  while (link_on_off_is_bad (&direction->outage, leave))
    leave = link_on_off_end (&direction->outage, leave);
  direction->bucket_full = MAX (direction->bucket_full, leave) + cost;
  return leave;
}

/* Returns the time at which the transmission of `bytes` bytes ends, if it
 * begins at the time `begin`. During an outage, the transmission is
 * interrupted. */
static guint64
get_service_end (Pipe * pipe, guint station, guint64 begin, guint64 bytes)
{
  Direction *direction = get_sender (pipe, station);
  guint64 rate = pipe->config.rate[link_direction (station)];
  guint64 left = rate ? divide_up (bytes * 8, LINK_SECOND, rate) : 0;
  guint64 time = begin;

  if (is_bad_for_ever (&direction->outage, begin))
    return LINK_NEVER;
  if (direction->delivery)
    return link_delivery_send (direction->delivery, &direction->outage, begin,
        bytes);
  if (rate && pipe->config.burst)
    return pass_bucket (pipe, station, begin, bytes);
  while (TRUE) {
    guint64 end = link_on_off_end (&direction->outage, time);

    if (!link_on_off_is_bad (&direction->outage, time)) {
      if (left <= end - time)
        return time + left;
      left -= end - time;
    }
    time = end;
  }
}

/* Returns the first station after `last`, in cyclic order, that has a packet.
 * Returns -1 if no station has a packet. */
static gint
find_next_in_turn (Pipe * pipe, guint last)
{
  guint i;

  for (i = 1; i <= pipe->n_stations; i++) {
    guint station = (last + i) % pipe->n_stations;

    if (link_peek (pipe->link, station))
      return station;
  }
  return -1;
}

/* Returns the station that sends next with the transmitter `number`, or -1 if
 * no station has a packet for it.
 *
 * Without half-duplex each station has a transmitter of its own, so only the
 * station `number` is considered. With half-duplex all stations share one
 * transmitter. If `take_turns` is set, the stations then send in cyclic order.
 * If it is not set, the station whose packet has waited longest sends next. */
static gint
find_waiting (Pipe * pipe, guint number)
{
  guint64 oldest = LINK_NEVER;
  gint found = -1;
  guint i;

  if (!pipe->config.half_duplex)
    return link_peek (pipe->link, number) ? (gint) number : -1;
  if (pipe->config.take_turns)
    return find_next_in_turn (pipe, pipe->transmitters[number].station);
  for (i = 0; i < pipe->n_stations; i++) {
    LinkItem *item = link_peek (pipe->link, i);

    if (item && item->p.arrival < oldest) {
      oldest = item->p.arrival;
      found = i;
    }
  }
  return found;
}

static void
take_steps (Pipe * pipe)
{
  const GArray *steps = pipe->link->steps;

  for (; pipe->n_steps < steps->len; pipe->n_steps++) {
    const LinkStep *step = &g_array_index (steps, LinkStep, pipe->n_steps);

    if (step->from > pipe->link->now)
      return;
    pipe->config.rate[step->direction] = step->rate;
    pipe->config.delay[step->direction] = step->delay;
  }
}

static void
start (Pipe * pipe, guint number)
{
  Transmitter *transmitter = &pipe->transmitters[number];
  guint64 begin = pipe->link->now;
  gint station = find_waiting (pipe, number);
  guint64 bytes;

  if (station < 0 || !link_is_connected (pipe->link))
    return;
  take_steps (pipe);
  transmitter->item = link_take (pipe->link, station);
  transmitter->begin = begin;
  transmitter->delay = pipe->config.delay[link_direction (station)];
  if (transmitter->used && transmitter->station != station)
    begin += pipe->config.turnaround;
  transmitter->used = TRUE;
  transmitter->station = station;
  bytes = (guint64) transmitter->item->p.size + pipe->link->config.overhead;
  /* A modem that was idle sends a packet above a certain size only after an
   * additional delay. */
  if (pipe->config.idle_delay && station == 0
      && bytes > pipe->config.idle_delay_size
      && transmitter->item->p.arrival == pipe->link->now)
    begin += pipe->config.idle_delay;
  transmitter->end = get_service_end (pipe, station, begin,
      bytes + pipe->config.overhead);
  transmitter->item->p.airtime = transmitter->end - begin;
  transmitter->item->p.attempts = 1;
}

/* The radio */

static void
add_bit_errors (Pipe * pipe, LinkItem * item, gdouble rate)
{
  SeededChance chance = seeded_chance (rate);
  guint64 bits = (guint64) item->p.size * 8, position = 0;
  guint i;

  if (chance == 0)
    return;
  for (i = 0;; i++) {
    guint64 gap = seeded_draw_geometric (draw (pipe, item,
            LINK_DRAW_BIT_ERROR, i), chance);

    if (gap > bits - position)
      break;
    position += gap;
    link_item_add_damage (item, (position - 1) / 8,
        0x80 >> ((position - 1) % 8));
  }
}

static LinkFate
cross_air (Pipe * pipe, LinkItem * item)
{
  gboolean bad = link_on_off_is_bad (&pipe->directions[item->p.station].fading,
      pipe->link->now);

  if (item->recorded) {
    link_item_replay_damage (item);
    return item->recorded->fate;
  }
  if (happens (pipe, item, LINK_DRAW_LOSS, bad ? pipe->config.loss_bad :
          pipe->config.loss_good))
    return LINK_FATE_AIR;
  add_bit_errors (pipe, item, bad ? pipe->config.bit_error_bad :
      pipe->config.bit_error_good);
  if (item->damage && pipe->config.drop_damaged)
    return LINK_FATE_CHECK;
  return LINK_FATE_DELIVERED;
}

/* Delay and receiver */

static guint64
draw_jitter (Pipe * pipe, const LinkItem * item)
{
  guint64 value = draw (pipe, item, LINK_DRAW_JITTER, 0);

  if (item->recorded)
    return item->recorded->jitter;
  if (pipe->config.jitter_exponential)
    return seeded_draw_exponential (value, pipe->config.jitter);
  return seeded_draw_below (value, pipe->config.jitter + 1);
}

static guint
draw_copies (Pipe * pipe, const LinkItem * item)
{
  if (item->recorded)
    return item->recorded->copies;
  return happens (pipe, item, LINK_DRAW_DUPLICATE, pipe->config.duplicate);
}

static gboolean
draw_overtaken (Pipe * pipe, const LinkItem * item)
{
  if (item->recorded)
    return item->recorded->overtaken;
  return happens (pipe, item, LINK_DRAW_REORDER, pipe->config.reorder);
}

/* Returns the time at which the packet leaves the pipe. A packet that was
 * chosen for reordering is delayed by reorder_delay, so that later packets can
 * overtake it. However, if the jitter of the packet comes from a recorded
 * pattern, reorder_delay is not added, because the recorded jitter already
 * contains this delay. Packets that were not chosen for reordering keep their
 * order. */
static guint64
get_departure (Pipe * pipe, LinkItem * item)
{
  Direction *direction = &pipe->directions[item->p.station];
  guint64 departure = pipe->link->now +
      get_transmitter (pipe, item->p.station)->delay;

  if (pipe->config.jitter || item->recorded)
    item->p.jitter = draw_jitter (pipe, item);
  item->p.overtaken = draw_overtaken (pipe, item);
  if (item->p.overtaken && !item->recorded)
    item->p.jitter += pipe->config.reorder_delay;
  departure += item->p.jitter;
  if (item->p.overtaken)
    return departure;
  if (link_on_off_is_bad (&direction->stall, departure))
    departure = link_on_off_end (&direction->stall, departure);
  departure = MAX (departure, direction->last_departure);
  direction->last_departure = departure;
  return departure;
}

/* Simulates a receiver that may process packets more slowly than the link
 * delivers them. Packets then wait in a buffer of the receiver. Before the
 * call, `departure` is the time at which the packet leaves the link. The
 * function sets it to the time at which the receiver has processed the packet.
 * Returns FALSE if the packet is lost because the buffer is full.
 *
 * A packet that was chosen for reordering does not wait in the buffer, and its
 * `departure` is not changed. Later packets may overtake it, so its waiting
 * time would depend on packets that the model does not know yet. */
static gboolean
pass_receiver (Pipe * pipe, const LinkItem * item, guint64 * departure)
{
  Direction *direction = &pipe->directions[item->p.station];
  guint64 rate = pipe->config.receiver_rate, begin, waiting;

  if (rate == 0 || item->p.overtaken || *departure == LINK_NEVER)
    return TRUE;
  begin = MAX (*departure, direction->receiver_free);
  waiting = (begin - *departure) / 1000 * rate / 8000000;
  if (pipe->config.receiver_buffer
      && waiting + item->p.size > pipe->config.receiver_buffer)
    return FALSE;
  *departure = begin + divide_up ((guint64) item->p.size * 8, LINK_SECOND,
      rate);
  direction->receiver_free = *departure;
  return TRUE;
}

/* Returns whether the packet is lost by a cut. A cut is a span of time in which
 * the link loses all packets above a certain size. The packet is on the link,
 * in transmission or in flight, from `begin` to `departure`. */
static gboolean
meets_cut (const Pipe * pipe, const LinkItem * item, guint64 begin,
    guint64 departure)
{
  const GArray *cuts = pipe->link->cuts;
  guint i;

  for (i = 0; i < cuts->len; i++) {
    const LinkCut *cut = &g_array_index (cuts, LinkCut, i);

    if (item->p.size > cut->above && departure >= cut->from && begin < cut->to)
      return TRUE;
  }
  return FALSE;
}

static void
leave (Pipe * pipe, LinkItem * item)
{
  guint64 departure = get_departure (pipe, item);
  guint i, copies;

  if (meets_cut (pipe, item, get_transmitter (pipe, item->p.station)->begin,
          departure)) {
    link_lose (pipe->link, item, LINK_FATE_AIR);
    return;
  }
  if (!pass_receiver (pipe, item, &departure)) {
    link_lose (pipe->link, item, LINK_FATE_RECEIVER);
    return;
  }
  copies = draw_copies (pipe, item);
  for (i = 0; i < copies; i++)
    link_duplicate (pipe->link, item, departure);
  link_deliver (pipe->link, item, departure);
}

static void
finish (Pipe * pipe, guint number)
{
  LinkItem *item = pipe->transmitters[number].item;
  LinkFate fate = cross_air (pipe, item);

  pipe->transmitters[number].item = NULL;
  if (link_fate_is_lost (fate))
    link_lose (pipe->link, item, fate);
  else
    leave (pipe, item);
  start (pipe, number);
}

/* The class */

static void
find_quality_change (Pipe * pipe)
{
  guint64 now = pipe->link->now;
  guint i;

  pipe->quality_change = LINK_NEVER;
  for (i = 0; i < pipe->n_stations; i++) {
    Direction *direction = &pipe->directions[i];

    pipe->quality_change = MIN (pipe->quality_change,
        MIN (link_on_off_end (&direction->fading, now),
            link_on_off_end (&get_sender (pipe, i)->outage, now)));
    if (get_sender (pipe, i)->coverage)
      pipe->quality_change = MIN (pipe->quality_change,
          link_on_off_end (get_sender (pipe, i)->coverage, now));
  }
}

static void
init_cellular (Pipe * pipe, guint station)
{
  Direction *direction = &pipe->directions[station];
  guint number = link_direction (station);
  LinkWander *wander;

  if (pipe->config.cellular.mean_rate[number] == 0)
    return;
  wander = link_wander_new (&pipe->config.cellular, number,
      pipe->link->config.seed, station);
  direction->coverage = link_wander_get_outages (wander);
  direction->delivery = link_delivery_new_wander (wander);
}

static gboolean
init_direction (Pipe * pipe, guint station, GError ** error)
{
  Direction *direction = &pipe->directions[station];
  const gchar *trace = pipe->config.trace[link_direction (station)];
  guint64 seed = pipe->link->config.seed;

  link_on_off_init (&direction->fading, &pipe->config.fading, 0, seed, station,
      LINK_DRAW_FADING);
  link_on_off_init (&direction->outage, &pipe->config.outage, 0, seed, station,
      LINK_DRAW_OUTAGE);
  link_on_off_init (&direction->stall, &pipe->config.stall, 0, seed, station,
      LINK_DRAW_STALL);
  if (!trace)
    trace = pipe->config.trace[0];
  if (!trace) {
    init_cellular (pipe, station);
    return TRUE;
  }
  direction->delivery = link_delivery_parse (trace, error);
  return direction->delivery != NULL;
}

static void
link_pipe_destroy (gpointer model, GDestroyNotify user_free)
{
  Pipe *pipe = model;
  guint i;

  for (i = 0; i < LINK_MAX_STATIONS; i++) {
    if (pipe->transmitters[i].item)
      link_item_free (pipe->transmitters[i].item, user_free);
    g_clear_pointer (&pipe->directions[i].delivery, link_delivery_free);
  }
  g_free (pipe);
}

static gpointer
link_pipe_create (Link * link, GError ** error)
{
  Pipe *pipe = g_new0 (Pipe, 1);
  guint i;

  pipe->link = link;
  pipe->config = link->config.pipe;
  pipe->quality_change = LINK_NEVER;
  for (i = 0; i < LINK_MAX_STATIONS; i++) {
    if (!init_direction (pipe, i, error)) {
      link_pipe_destroy (pipe, NULL);
      return NULL;
    }
  }
  return pipe;
}

static void
link_pipe_arrived (gpointer model, guint station)
{
  Pipe *pipe = model;
  Transmitter *transmitter = get_transmitter (pipe, station);

  if (station >= pipe->n_stations) {
    pipe->n_stations = station + 1;
    find_quality_change (pipe);
  }
  if (!transmitter->item)
    start (pipe, transmitter - pipe->transmitters);
}

static guint64
link_pipe_next (gpointer model)
{
  Pipe *pipe = model;
  guint64 next = pipe->quality_change;
  guint i;

  for (i = 0; i < pipe->n_stations; i++) {
    if (pipe->transmitters[i].item)
      next = MIN (next, pipe->transmitters[i].end);
  }
  return next;
}

static void
link_pipe_advance (gpointer model)
{
  Pipe *pipe = model;
  guint64 now = pipe->link->now;
  guint i;

  if (now >= pipe->quality_change) {
    find_quality_change (pipe);
    link_all_qualities_changed (pipe->link);
    return;
  }
  for (i = 0; i < pipe->n_stations; i++) {
    if (pipe->transmitters[i].item && pipe->transmitters[i].end <= now)
      finish (pipe, i);
  }
}

static void
link_pipe_call_changed (gpointer model, gboolean connected)
{
  Pipe *pipe = model;
  guint i;

  for (i = 0; i < pipe->n_stations; i++) {
    LinkItem *item = pipe->transmitters[i].item;

    if (connected && !item && get_transmitter (pipe, i) ==
        &pipe->transmitters[i]) {
      start (pipe, i);
    } else if (!connected && item) {
      guint64 rest = pipe->transmitters[i].end - pipe->link->now;

      pipe->transmitters[i].item = NULL;
      item->p.airtime -= MIN (item->p.airtime, rest);
      link_lose (pipe->link, item, LINK_FATE_CALL);
    }
  }
}

/* Returns the probability that a packet of QUALITY_BITS bits arrives undamaged.
 * Only multiplications are used, so that the result is the same on every
 * machine. */
static gdouble
get_whole (gdouble loss, gdouble bit_error)
{
  gdouble whole = 1 - loss, power = 1 - bit_error;
  guint bits;

  for (bits = QUALITY_BITS; bits && bit_error > 0; bits >>= 1) {
    if (bits & 1)
      whole *= power;
    power *= power;
  }
  return whole;
}

static gdouble
link_pipe_quality (gpointer model, guint station)
{
  Pipe *pipe = model;
  Direction *direction = &pipe->directions[station];
  guint64 now = pipe->link->now;

  if (link_on_off_is_bad (&get_sender (pipe, station)->outage, now))
    return 0;
  if (get_sender (pipe, station)->coverage
      && link_on_off_is_bad (get_sender (pipe, station)->coverage, now))
    return 0;
  if (link_on_off_is_bad (&direction->fading, now))
    return get_whole (pipe->config.loss_bad, pipe->config.bit_error_bad);
  return get_whole (pipe->config.loss_good, pipe->config.bit_error_good);
}

const LinkModelClass link_pipe_class = {
  link_pipe_create,
  link_pipe_destroy,
  link_pipe_arrived,
  link_pipe_next,
  link_pipe_advance,
  link_pipe_call_changed,
  link_pipe_quality
};

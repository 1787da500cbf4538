/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Model of the medium access of IEEE 802.11. Stations contend for one medium,
 * collide, retransmit frames that were not acknowledged, and change their rate.
 * Section numbers are those of IEEE 802.11-1999 and its supplements b (1999)
 * and g (2003).
 *
 * The medium is idle or busy. While it is idle, each station with a packet has
 * a time at which it will begin to send. The station with the earliest time
 * begins. When a station begins, the model draws at random whether the attempt
 * succeeds.
 *
 * In IEEE 802.11, a station that has received an erroneous frame waits EIFS
 * instead of DIFS (9.2.3.4). In this model, no station receives an erroneous
 * frame. Each station therefore waits DIFS, even after a frame of another
 * station has failed.
 */

#include "linkmodel.h"

#include "linkoven.h"

#define US G_GUINT64_CONSTANT (1000)

/* Slot times, SIFS and contention windows. Sections 15.3.3 and 18.3.3 of IEEE
 * 802.11 specify them for DSSS and CCK. Section 19.8.4 specifies them for
 * ERP-OFDM without 802.11b stations. */
#define DSSS_SLOT (20 * US)
#define OFDM_SLOT (9 * US)
#define SIFS (10 * US)
#define DSSS_CW_MIN 31
#define OFDM_CW_MIN 15
#define CW_MAX 1023
/* PLCP preamble and header (18.2.2) */
#define LONG_PLCP (192 * US)
#define SHORT_PLCP (96 * US)
/* Durations of OFDM transmissions (17.3.3, 19.3.2.3): OFDM_PLCP is the preamble
 * with the SIGNAL field, OFDM_SYMBOL is one symbol, and OFDM_EXTENSION is the
 * signal extension of 6 us. */
#define OFDM_PLCP (20 * US)
#define OFDM_SYMBOL (4 * US)
#define OFDM_EXTENSION (6 * US)
#define OFDM_SERVICE_AND_TAIL 22        /* bits */
/* Sizes in bytes: header and FCS of a data frame (7.2.2), LLC and SNAP, and an
 * ACK (7.2.1.3). */
#define MAC_BYTES 28
#define LLC_BYTES 8
#define ACK_BYTES 14
#define DEFAULT_RETRY_LIMIT 16

typedef struct
{
  LinkItem *head;               /* in service */
  /* time in ns at which the station took the packet `head` from its queue */
  guint64 ready;
  guint cw;
  /* number of backoff slots that remained when the medium became idle */
  guint backoff;
  guint rate;
  guint failures, successes;    /* in a row */
  /* TRUE for the first frame after the rate was increased. If this frame fails,
   * the rate is reduced again at once. */
  gboolean probing;
  /* TRUE if a packet was lost and the station has not used the top rate since
   * then. In this case, the station increases its rate after loss_up_after
   * successful frames. Otherwise, it does so after up_after successful frames.
   */
  gboolean after_loss;
  /* TRUE while this station is a sender of the current transmission */
  gboolean sending;
} Station;

typedef struct
{
  Link *link;
  LinkDcfConfig config;
  guint64 slot, difs;
  guint cw_min;
  LinkOven oven;
  LinkOnOff fading[LINK_MAX_STATIONS];
  gdouble fade_failure;
  Station stations[LINK_MAX_STATIONS];
  /* one more than the greatest station number in use */
  guint n_stations;
  gboolean busy;
  guint64 idle_since, busy_until;
  guint64 quality_change;
} Dcf;

/* Airtimes */

static guint64
round_up_us (guint64 bits, guint64 rate)
{
  /* The LENGTH field of the PLCP header counts whole microseconds (18.2.3.5).
   * The duration is therefore rounded up to microseconds. */
  return (bits * 1000000 + rate - 1) / rate * US;
}

static guint64
get_frame_time (const Dcf * dcf, guint64 bytes, guint64 rate)
{
  guint64 bits = bytes * 8;

  if (dcf->config.ofdm) {
    guint64 symbol_bits = rate / 250000;
    guint64 n = (bits + OFDM_SERVICE_AND_TAIL + symbol_bits - 1) / symbol_bits;

    return OFDM_PLCP + n * OFDM_SYMBOL + OFDM_EXTENSION;
  }
  /* At 1 Mbit/s only the long preamble is allowed (IEEE 802.11b, 18.2.2.2). */
  return (dcf->config.short_preamble && rate > 1000000 ? SHORT_PLCP :
      LONG_PLCP) + round_up_us (bits, rate);
}

/* Returns the rate at which the ACK for a frame of the rate `rate` is sent. If
 * no ACK rate is configured, it is the highest basic rate that does not exceed
 * `rate` (9.6). */
static guint64
get_ack_rate (const Dcf * dcf, guint64 rate)
{
  static const guint64 dsss[] = { 2000000, 1000000 };
  static const guint64 ofdm[] = { 24000000, 12000000, 6000000 };
  guint i;

  if (dcf->config.ack_rate)
    return MIN (dcf->config.ack_rate, MAX (rate, 1000000));
  if (dcf->config.ofdm) {
    for (i = 0; i < G_N_ELEMENTS (ofdm) - 1 && ofdm[i] > rate; i++);
    return ofdm[i];
  }
  for (i = 0; i < G_N_ELEMENTS (dsss) - 1 && dsss[i] > rate; i++);
  return dsss[i];
}

static guint64
get_data_time (const Dcf * dcf, const Station * station)
{
  guint64 bytes = (guint64) station->head->p.size + dcf->link->config.overhead +
      LLC_BYTES + MAC_BYTES;

  return get_frame_time (dcf, bytes, dcf->config.rates[station->rate]);
}

/* Returns the sum of SIFS and the duration of the ACK. A sender that receives
 * no ACK also waits for this time before it continues. */
static guint64
get_ack_time (const Dcf * dcf, const Station * station)
{
  return SIFS + get_frame_time (dcf, ACK_BYTES,
      get_ack_rate (dcf, dcf->config.rates[station->rate]));
}

/* Contention (9.2.5.2) */

static void
draw_backoff (Dcf * dcf, guint number, const LinkItem * item, guint attempt)
{
  Station *station = &dcf->stations[number];
  guint64 draw = seeded_draw (dcf->link->config.seed, item->p.flow,
      LINK_DRAW_BACKOFF, item->p.index, attempt);

  station->backoff = seeded_draw_below (draw, station->cw + 1);
}

static guint64
get_begin (const Dcf * dcf, const Station * station)
{
  guint64 end_of_backoff = dcf->idle_since + dcf->difs +
      station->backoff * dcf->slot;

  return MAX (station->ready, end_of_backoff);
}

static guint64
get_first_begin (const Dcf * dcf)
{
  guint64 first = LINK_NEVER;
  guint i;

  for (i = 0; i < dcf->n_stations; i++) {
    if (dcf->stations[i].head)
      first = MIN (first, get_begin (dcf, &dcf->stations[i]));
  }
  return first;
}

/* Called when a station begins to send. Stores how many backoff slots remain
 * for each of the other stations. */
static void
freeze_backoffs (Dcf * dcf)
{
  guint64 counting = dcf->idle_since + dcf->difs;
  guint64 slots = dcf->link->now > counting ?
      (dcf->link->now - counting) / dcf->slot : 0;
  guint i;

  for (i = 0; i < dcf->n_stations; i++) {
    Station *station = &dcf->stations[i];

    if (!station->sending)
      station->backoff -= MIN (station->backoff, slots);
  }
}

static void
take_next (Dcf * dcf, guint number)
{
  Station *station = &dcf->stations[number];

  station->head = link_take (dcf->link, number);
  station->ready = dcf->link->now;
}

/* Functions that select the rate of a station. IEEE 802.11 does not define how
 * a rate is selected (9.6). The methods are therefore from the literature:
 * - Kamerman and Monteban (1997) describe automatic rate fallback (ARF).
 * - Ouwens (section 3.5) describes a card that uses the lowest rate after a
 *   lost packet. */

static void
set_rate (Dcf * dcf, guint number, guint rate)
{
  Station *station = &dcf->stations[number];

  station->failures = station->successes = 0;
  if (rate == dcf->config.top_rate)
    station->after_loss = FALSE;
  if (rate == station->rate)
    return;
  station->rate = rate;
  dcf->link->stats.rate_changes++;
  link_quality_changed (dcf->link, number);
}

static gboolean
has_arf (const Dcf * dcf)
{
  return dcf->config.fallback == LINK_FALLBACK_ARF ||
      dcf->config.fallback == LINK_FALLBACK_ARF_LOSS;
}

static void
rate_after_failure (Dcf * dcf, guint number)
{
  Station *station = &dcf->stations[number];
  gboolean probing = station->probing;

  station->probing = FALSE;
  station->successes = 0;
  station->failures++;
  if (!has_arf (dcf) || station->rate == 0)
    return;
  if (probing || station->failures >= dcf->config.down_after)
    set_rate (dcf, number, station->rate - 1);
}

static void
rate_after_success (Dcf * dcf, guint number)
{
  Station *station = &dcf->stations[number];
  guint up_after = station->after_loss ? dcf->config.loss_up_after :
      dcf->config.up_after;

  station->probing = FALSE;
  station->failures = 0;
  station->successes++;
  if (station->rate == dcf->config.top_rate || station->successes < up_after)
    return;
  set_rate (dcf, number, station->rate + 1);
  station->probing = TRUE;
}

static void
rate_after_loss (Dcf * dcf, guint number)
{
  Station *station = &dcf->stations[number];

  if (dcf->config.fallback != LINK_FALLBACK_LOSS &&
      dcf->config.fallback != LINK_FALLBACK_ARF_LOSS)
    return;
  station->probing = FALSE;
  station->after_loss = dcf->config.top_rate > 0;
  set_rate (dcf, number, 0);
}

/* An attempt */

static gdouble
get_failure (Dcf * dcf, guint number, gboolean oven)
{
  const Station *station = &dcf->stations[number];
  gdouble failure = dcf->config.failure[station->rate];

  if (oven)
    failure += dcf->config.oven_failure[station->rate];
  if (link_on_off_is_bad (&dcf->fading[number], dcf->link->now))
    failure += dcf->fade_failure;
  return MIN (failure, 1);
}

static gboolean
draw_failure (Dcf * dcf, guint number, guint64 duration)
{
  const LinkItem *item = dcf->stations[number].head;
  const LinkPatternEntry *entry = item->recorded;
  gboolean oven = link_oven_overlaps (&dcf->oven, dcf->link->now,
      dcf->link->now + duration);

  if (entry)
    return item->p.attempts < entry->attempts
        || link_fate_is_lost (entry->fate);
  return seeded_draw_hits (seeded_draw (dcf->link->config.seed, item->p.flow,
          LINK_DRAW_FAILURE, item->p.index, item->p.attempts),
      seeded_chance (get_failure (dcf, number, oven)));
}

/* Returns the maximum number of transmissions of a packet. A packet that is
 * replayed from a recorded run has the fate that it had in that run:
 * - If it was lost in that run, it is lost again after the same number of
 *   transmissions.
 * - If it arrived in that run, it must arrive again. It then has no maximum,
 *   because collisions in the present run may make further transmissions
 *   necessary. */
static guint
get_retry_limit (const Dcf * dcf, const LinkItem * item)
{
  const LinkPatternEntry *entry = item->recorded;

  if (entry)
    return link_fate_is_lost (entry->fate) ? entry->attempts : G_MAXUINT;
  return dcf->config.retry_limit ? dcf->config.retry_limit :
      DEFAULT_RETRY_LIMIT;
}

/* Prepares the station `number` for its next packet: sets the contention window
 * to its minimum and begins a backoff (9.2.5.2). */
static void
finish_packet (Dcf * dcf, guint number, const LinkItem * item)
{
  Station *station = &dcf->stations[number];

  station->cw = dcf->cw_min;
  draw_backoff (dcf, number, item, 0);
}

static void
succeed (Dcf * dcf, guint number, guint64 data_time)
{
  Station *station = &dcf->stations[number];
  LinkItem *item = station->head;

  station->head = NULL;
  finish_packet (dcf, number, item);
  if (item->recorded)
    link_item_replay_damage (item);
  link_deliver (dcf->link, item, dcf->link->now + data_time);
  rate_after_success (dcf, number);
}

/* Called when a transmission of the station `number` has failed. Adapts the
 * rate of the station, and draws a backoff from a larger contention window.
 * Whether the packet is lost is not decided here, but later in end (), when the
 * medium becomes idle. */
static void
fail (Dcf * dcf, guint number)
{
  Station *station = &dcf->stations[number];

  rate_after_failure (dcf, number);
  station->cw = MIN (2 * station->cw + 1, CW_MAX);
  draw_backoff (dcf, number, station->head, station->head->p.attempts);
}

/* Finds the stations that begin to send now, and returns their number. There
 * may be several, because stations that begin in the same slot do not hear each
 * other. */
static guint
find_senders (Dcf * dcf)
{
  guint i, n = 0;

  for (i = 0; i < dcf->n_stations; i++) {
    Station *station = &dcf->stations[i];

    station->sending = station->head && station->ready <= dcf->link->now
        && get_begin (dcf, station) < dcf->link->now + dcf->slot;
    if (station->sending)
      n++;
  }
  return n;
}

static void
attempt (Dcf * dcf, guint number, gboolean collided)
{
  Station *station = &dcf->stations[number];
  guint64 data_time = get_data_time (dcf, station);
  guint64 duration = data_time + get_ack_time (dcf, station);

  station->head->p.attempts++;
  station->head->p.airtime += duration;
  dcf->busy_until = MAX (dcf->busy_until, dcf->link->now + duration);
  if (!draw_failure (dcf, number, duration) && !collided)
    succeed (dcf, number, data_time);
  else
    fail (dcf, number);
}

static void
begin (Dcf * dcf)
{
  guint n = find_senders (dcf);
  guint i;

  freeze_backoffs (dcf);
  dcf->busy = TRUE;
  dcf->busy_until = dcf->link->now;
  if (n > 1)
    dcf->link->stats.collisions++;
  for (i = 0; i < dcf->n_stations; i++) {
    if (dcf->stations[i].sending)
      attempt (dcf, i, n > 1);
  }
}

static void
give_up (Dcf * dcf, guint number)
{
  Station *station = &dcf->stations[number];
  LinkItem *item = station->head;

  station->head = NULL;
  finish_packet (dcf, number, item);
  link_lose (dcf->link, item, LINK_FATE_AIR);
  rate_after_loss (dcf, number);
}

static void
end (Dcf * dcf)
{
  guint i;

  dcf->busy = FALSE;
  dcf->idle_since = dcf->link->now;
  for (i = 0; i < dcf->n_stations; i++) {
    Station *station = &dcf->stations[i];

    if (station->sending && station->head
        && station->head->p.attempts >= get_retry_limit (dcf, station->head))
      give_up (dcf, i);
    if (station->sending && !station->head)
      take_next (dcf, i);
    station->sending = FALSE;
  }
}

/* The class */

static void
find_quality_change (Dcf * dcf)
{
  guint i;

  dcf->quality_change = link_oven_next_change (&dcf->oven, dcf->link->now);
  for (i = 0; i < dcf->n_stations; i++)
    dcf->quality_change = MIN (dcf->quality_change,
        link_on_off_end (&dcf->fading[i], dcf->link->now));
}

static gpointer
link_dcf_create (Link * link, GError ** error)
{
  Dcf *dcf = g_new0 (Dcf, 1);
  guint i;

  dcf->link = link;
  dcf->config = link->config.dcf;
  dcf->slot = dcf->config.ofdm ? OFDM_SLOT : DSSS_SLOT;
  dcf->difs = SIFS + 2 * dcf->slot;
  dcf->cw_min = dcf->config.ofdm ? OFDM_CW_MIN : DSSS_CW_MIN;
  dcf->fade_failure = link->config.pipe.loss_bad;
  link_oven_init (&dcf->oven, &link->config.oven, link->config.seed);
  for (i = 0; i < LINK_MAX_STATIONS; i++) {
    Station *station = &dcf->stations[i];

    station->cw = dcf->cw_min;
    station->rate = dcf->config.top_rate;
    link_on_off_init (&dcf->fading[i], &link->config.pipe.fading, 0,
        link->config.seed, i, LINK_DRAW_FADING);
  }
  find_quality_change (dcf);
  return dcf;
}

static void
link_dcf_destroy (gpointer model, GDestroyNotify user_free)
{
  Dcf *dcf = model;
  guint i;

  for (i = 0; i < dcf->n_stations; i++) {
    if (dcf->stations[i].head)
      link_item_free (dcf->stations[i].head, user_free);
  }
  g_free (dcf);
}

static void
link_dcf_arrived (gpointer model, guint number)
{
  Dcf *dcf = model;
  Station *station = &dcf->stations[number];

  if (number >= dcf->n_stations) {
    dcf->n_stations = number + 1;
    find_quality_change (dcf);
  }
  if (station->head || station->sending)
    return;
  take_next (dcf, number);
  /* If a packet arrives while the medium is busy, the station needs a backoff.
   * It may send without backoff only if the medium is idle (9.2.5.1). */
  if (dcf->busy && station->backoff == 0)
    draw_backoff (dcf, number, station->head, G_MAXUINT32);
}

static guint64
link_dcf_next (gpointer model)
{
  Dcf *dcf = model;
  guint64 next = dcf->busy ? dcf->busy_until : get_first_begin (dcf);

  return MIN (next, dcf->quality_change);
}

static void
link_dcf_advance (gpointer model)
{
  Dcf *dcf = model;

  if (dcf->link->now >= dcf->quality_change) {
    find_quality_change (dcf);
    link_all_qualities_changed (dcf->link);
  } else if (dcf->busy) {
    end (dcf);
  } else {
    begin (dcf);
  }
}

static gdouble
link_dcf_quality (gpointer model, guint number)
{
  Dcf *dcf = model;
  gdouble calm = get_failure (dcf, number, FALSE);

  /* Returns the probability that an attempt to send succeeds. While the
   * microwave oven is on, this probability changes within each cycle of the
   * mains voltage, because the oven radiates only during a part of the cycle.
   * The result is therefore the mean over a whole cycle. */
  if (link_oven_is_running (&dcf->oven, dcf->link->now))
    calm += link_oven_get_share (&dcf->oven) *
        (get_failure (dcf, number, TRUE) - calm);
  return 1 - calm;
}

const LinkModelClass link_dcf_class = {
  link_dcf_create,
  link_dcf_destroy,
  link_dcf_arrived,
  link_dcf_next,
  link_dcf_advance,
  NULL,
  link_dcf_quality
};

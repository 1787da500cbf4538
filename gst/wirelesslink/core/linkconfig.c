/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The profiles: what was measured of each network, and where. A number without
 * a source is ours, chosen so that the measured ones come out (docs/links.md
 * has the tables). Sources: Ouwens 2006; Singh 2000; Alanko et al. 1994;
 * Magalhaes and Kravets 2001; Erixzon and Kallstrom 2004; Winstein, Sivaraman
 * and Balakrishnan 2013.
 */

#include "linkconfig.h"

#include <string.h>

#define MS LINK_MS
#define SECOND LINK_SECOND

/* Not by G_DEFINE_QUARK: indenters put spaces into the name that it makes. */
GQuark
link_error_quark (void)
{
  return g_quark_from_static_string ("link-error-quark");
}

/* Rates of DSSS and CCK (IEEE 802.11b 18.2.3.3) and ERP-OFDM (802.11g 19.2) */
static const guint64 dsss_rates[] = { 1000000, 2000000, 5500000, 11000000 };
static const guint64 ofdm_rates[] = { 6000000, 9000000, 12000000, 18000000,
  24000000, 36000000, 48000000, 54000000
};

/* These, the oven's share of a cycle and the three thresholds of the rate
 * fallback in set_base were found together: the one set that fits Ouwens'
 * tables 3.2 to 3.4 and 3.6 at 5.5 Mbit/s and what the oven costs in 3.6 to
 * 3.9 at 11. */
static const gdouble dsss_failure[] = { 0.005, 0.0003, 0.0026, 0.0026 };
static const gdouble dsss_oven_failure[] = { 0.0075, 0.137, 0.21, 0.21 };

/* Winstein et al. 2013, 3.1 and 3.2: rates from 0 to 1000 packets of 1500 bytes
 * per second, a noise of 200 packets/s per square root of a second, outages
 * that end at a rate of 1 per second. The reversion time is ours: shadowing is
 * correlated over 50 m (3GPP TR 36.814, annex A), for which a car in a town
 * needs 5 s. */
static void
set_wander (LinkCellularConfig * cellular)
{
  cellular->max_rate = 12000000;
  cellular->noise = 2400000;
  cellular->reversion = 5 * SECOND;
  cellular->outage_escape = 1;
}

static void
set_base (LinkConfig * config)
{
  memset (config, 0, sizeof (*config));
  config->model = LINK_MODEL_PIPE;
  config->queue.packets = 100;
  config->queue.ifd.algorithm = IFD_ALGORITHM_GOP;
  config->queue.ifd.max_frames = IFD_DEFAULT_MAX_FRAMES;
  set_wander (&config->pipe.cellular);
  config->dcf.top_rate = G_MAXUINT;
  config->dcf.up_after = 7;
  config->dcf.down_after = 3;
  config->dcf.loss_up_after = 27;
  config->oven.cycle = 20 * MS;
  /* Half a cycle at most: a half-wave rectifier feeds the magnetron. */
  config->oven.on = 6920000;
}

/* Ouwens 3.2: Cisco Aironet 350, long preamble (Linux default) */
static void
set_80211b (LinkConfig * config)
{
  LinkDcfConfig *dcf = &config->dcf;

  config->model = LINK_MODEL_DCF;
  /* 7.1.2: 2304 bytes with LLC and SNAP */
  config->max_size = 2296;
  dcf->n_rates = G_N_ELEMENTS (dsss_rates);
  memcpy (dcf->rates, dsss_rates, sizeof (dsss_rates));
  memcpy (dcf->failure, dsss_failure, sizeof (dsss_failure));
  memcpy (dcf->oven_failure, dsss_oven_failure, sizeof (dsss_oven_failure));
  dcf->top_rate = dcf->n_rates - 1;
  dcf->retry_limit = 16;
  dcf->fallback = LINK_FALLBACK_ARF_LOSS;
}

/* Table 3.6 without an oven is a link of 5.5 Mbit/s. */
static void
set_80211b_ouwens (LinkConfig * config)
{
  set_80211b (config);
  config->dcf.top_rate = 2;
}

static void
set_80211g (LinkConfig * config)
{
  LinkDcfConfig *dcf = &config->dcf;
  guint i;

  config->model = LINK_MODEL_DCF;
  config->max_size = 2296;
  dcf->ofdm = TRUE;
  dcf->n_rates = G_N_ELEMENTS (ofdm_rates);
  memcpy (dcf->rates, ofdm_rates, sizeof (ofdm_rates));
  for (i = 0; i < dcf->n_rates; i++) {
    dcf->failure[i] = dsss_failure[MIN (i, 3)];
    dcf->oven_failure[i] = dsss_oven_failure[MIN (i, 3)];
  }
  dcf->top_rate = dcf->n_rates - 1;
  dcf->retry_limit = 16;
  dcf->fallback = LINK_FALLBACK_ARF_LOSS;
}

/* Alanko 3.1: 0.5 s, 12 to 14 s and 16 to 18 s, 28 to 31 s together, none over
 * 35 s; 46 of 446 calls failed */
static void
set_gsm_dial_up (LinkDialUpConfig * dial_up)
{
  dial_up->command_min = 200 * MS;
  dial_up->command_max = 500 * MS;
  dial_up->connect_min = 12 * SECOND;
  dial_up->connect_max = 14 * SECOND;
  dial_up->handshake_min = 16 * SECOND;
  dial_up->handshake_max = 17 * SECOND;
  dial_up->failure = 46 / 446.0;
  dial_up->failure_min = 28 * SECOND;
  dial_up->failure_max = 35 * SECOND;
}

/* Alanko 3.1: 5 s, 11 to 14 s and 15 s or more, 31 to 35 s together, 1 % more;
 * 10 of 410 calls failed, which took 90 to 95 s to see */
static void
set_nmt_dial_up (LinkDialUpConfig * dial_up)
{
  dial_up->command_min = 4800 * MS;
  dial_up->command_max = 5200 * MS;
  dial_up->connect_min = 11 * SECOND;
  dial_up->connect_max = 14 * SECOND;
  dial_up->handshake_min = 15 * SECOND;
  dial_up->handshake_max = 15800 * MS;
  dial_up->slow = 0.012;
  dial_up->slow_extra_max = 15 * SECOND;
  dial_up->failure = 10 / 410.0;
  dial_up->failure_min = 90 * SECOND;
  dial_up->failure_max = 95 * SECOND;
}

static void
set_gsm_blocks (LinkBlocksConfig * blocks)
{
  /* 9600 bit/s with start and stop bits */
  blocks->serial_rate[0] = blocks->serial_rate[1] = 960;
  blocks->block_time = 20 * MS;
  blocks->corrupt_share = 0.2;  /* Singh 5.1 */
  blocks->mean_burst = 1;
  /* TS 45.003 3.3: interleaved over 22 bursts */
  blocks->radio_delay = 100 * MS;
}

/* Alanko, tables 4 and 5: SLIP over RLP; Singh 2.3.2 for N2. A byte takes
 * 0.45 s each way in table 4: 10 ms until the next block, 20 in it, the radio's
 * 100, and the rest in modems and telephone network. T1 is 480 ms in the data
 * cards of the time. */
static void
set_gsm (LinkConfig * config, LinkQuality quality)
{
  LinkBlocksConfig *blocks = &config->blocks;

  config->model = LINK_MODEL_RLP;
  config->max_size = 1500;
  set_gsm_blocks (blocks);
  blocks->block_payload = 24;
  blocks->overhead = 2;
  blocks->overhead_before = 1;
  blocks->delay[0] = blocks->delay[1] = 320 * MS;
  blocks->rlp_window = 61;      /* Alanko, table 2 */
  blocks->rlp_t1 = 480 * MS;
  blocks->rlp_n2 = 6;
  set_gsm_dial_up (&config->dial_up);
  /* Table 5: 640 and 240 kbyte in 15 minutes. "Typical transmission failures
   * become visible only as exceptionally long delays" (4): of the bursts with
   * which good makes 640, those of 0.2 s seldom use up N2, once in 45 minutes;
   * those of 1 s outlast the polls a dozen times in 15. Where poor makes 240,
   * bursts of any length use it up once or twice a minute. */
  if (quality == LINK_QUALITY_GOOD) {
    blocks->block_error_rate = 0.2;
    blocks->mean_burst = 10;
  } else if (quality == LINK_QUALITY_POOR) {
    blocks->block_error_rate = 0.415;
    blocks->mean_burst = 10;
  }
}

/* Singh 5.1 and appendix B: PPP over the transparent service */
static void
set_gsm_transparent (LinkConfig * config, LinkQuality quality)
{
  LinkBlocksConfig *blocks = &config->blocks;

  config->model = LINK_MODEL_BLOCKS;
  config->max_size = 1500;
  set_gsm_blocks (blocks);
  blocks->block_payload = 28;
  blocks->overhead = 7;
  blocks->overhead_before = 5;
  blocks->frame_check = TRUE;
  blocks->delay[0] = blocks->delay[1] = 100 * MS;
  set_gsm_dial_up (&config->dial_up);
  if (quality == LINK_QUALITY_GOOD) {
    /* of the live experiment, 5.2.3 */
    blocks->block_error_rate = 0.0085;
    blocks->mean_burst = 3.4;
  } else if (quality == LINK_QUALITY_POOR) {
    /* of the trace of a bad place, 5.1 */
    blocks->block_error_rate = 0.0158;
    blocks->mean_burst = 1.7;
  }
}

/* Alanko, tables 3 and 5: a modem of 7200 bit/s whose V.42bis makes 1298
 * byte/s up and 1934 down of the text of the requests and replies */
static void
set_nmt (LinkConfig * config, LinkQuality quality)
{
  LinkPipeConfig *pipe = &config->pipe;

  config->max_size = 1500;
  pipe->rate[0] = 1298 * 8;
  pipe->rate[1] = 1934 * 8;
  pipe->overhead = 2;           /* SLIP */
  pipe->delay[0] = pipe->delay[1] = 192500000;
  pipe->idle_delay = 199 * MS;
  pipe->idle_delay_size = 60;
  set_nmt_dial_up (&config->dial_up);
  /* A modem that trains anew is silent for 5 to 10 s (4); how often, so that
   * 70 and 25 % of the time are left (table 5: 870 and 310 of 1240). */
  if (quality == LINK_QUALITY_GOOD) {
    pipe->outage.mean_good = 17500 * MS;
    pipe->outage.mean_bad = 7500 * MS;
  } else if (quality == LINK_QUALITY_POOR) {
    pipe->outage.mean_good = 2500 * MS;
    pipe->outage.mean_bad = 7500 * MS;
  }
}

/* Erixzon 5.2.3, 5.3.6, table 5.1: 6000 byte/s of TCP data to the phone, 0.9 s
 * there and back, once a minute a few seconds without anything. 2.3: the phone
 * sends 8 to 12 kbit/s. */
static void
set_gprs (LinkConfig * config, LinkQuality quality)
{
  LinkPipeConfig *pipe = &config->pipe;

  config->max_size = 1500;
  pipe->rate[0] = 12000;
  pipe->rate[1] = 50000;
  pipe->delay[0] = pipe->delay[1] = 370 * MS;
  pipe->jitter = 60 * MS;
  if (quality != LINK_QUALITY_IDEAL) {
    pipe->stall.mean_good = (quality == LINK_QUALITY_GOOD ? 45 : 15) * SECOND;
    pipe->stall.mean_bad = 4 * SECOND;
  }
}

/* Magalhaes, table 1 (KB is 1000 bytes of payload), table 2: 17 to 21 of 1000
 * frames lost, in 1 to 3 blocks, and 5.5 s of buffer */
static void
set_rangelan2 (LinkConfig * config, LinkQuality quality)
{
  LinkPipeConfig *pipe = &config->pipe;

  config->max_size = 1500;
  config->queue.packets = 0;
  config->queue.bytes = 200000;
  pipe->half_duplex = TRUE;
  pipe->rate[0] = pipe->rate[1] = 297024;
  pipe->delay[0] = pipe->delay[1] = 137538462;
  pipe->jitter = 230 * MS;
  if (quality != LINK_QUALITY_IDEAL) {
    pipe->fading.mean_bad = 350 * MS;
    pipe->fading.mean_good = (quality == LINK_QUALITY_GOOD ? 17 : 3) * SECOND;
    pipe->loss_bad = 1;
  }
}

/* Magalhaes, table 1, table 3: reliable, 3.5 s of buffer. The dongle makes a
 * serial line of 115200 bit/s of it. */
static void
set_irda (LinkConfig * config, LinkQuality quality)
{
  LinkPipeConfig *pipe = &config->pipe;

  config->max_size = 1500;
  config->queue.packets = 0;
  config->queue.bytes = 32000;
  pipe->half_duplex = TRUE;
  pipe->turnaround = 10 * MS;
  pipe->rate[0] = pipe->rate[1] = 75072;
  pipe->delay[0] = pipe->delay[1] = 162826087;
  pipe->jitter = 300 * MS;
  /* somebody walks through the beam: it waits, nothing is lost */
  if (quality != LINK_QUALITY_IDEAL) {
    pipe->outage.mean_bad = 500 * MS;
    pipe->outage.mean_good = (quality == LINK_QUALITY_GOOD ? 20 : 2) * SECOND;
  }
}

/* LTE in the model of Winstein et al. (linkwander.h). The noise is a fifth of
 * the maximum rate, as in the paper. The other numbers are ours and are not
 * fitted to any recording. The queue drops at its tail and holds 1000 packets,
 * because cellular networks have deep queues. The delay of radio and core
 * network is 20 ms each way. The minimum rate of an ideal place is so high that
 * gaps of 300 ms do not occur in practice. */
static void
set_cellular (LinkConfig * config, LinkQuality quality)
{
  LinkPipeConfig *pipe = &config->pipe;
  LinkCellularConfig *cellular = &pipe->cellular;

  config->max_size = 1500;
  config->queue.packets = 0;
  config->queue.bytes = 1500000;
  pipe->delay[0] = pipe->delay[1] = 20 * MS;
  cellular->mean_rate[0] = cellular->mean_rate[1] = 6000000;
  if (quality == LINK_QUALITY_IDEAL) {
    cellular->min_rate = 1500000;
  } else if (quality == LINK_QUALITY_GOOD) {
    cellular->outage_interval = 120 * SECOND;
  } else {
    cellular->mean_rate[0] = cellular->mean_rate[1] = 2000000;
    cellular->max_rate = 6000000;
    cellular->noise = 1200000;
    cellular->outage_interval = 15 * SECOND;
  }
}

void
link_config_init (LinkConfig * config, LinkProfile profile, LinkQuality quality)
{
  set_base (config);
  config->profile = profile;
  switch (profile) {
    case LINK_PROFILE_80211B:
      set_80211b (config);
      break;
    case LINK_PROFILE_80211B_OUWENS:
      set_80211b_ouwens (config);
      break;
    case LINK_PROFILE_80211G:
      set_80211g (config);
      break;
    case LINK_PROFILE_GSM:
      set_gsm (config, quality);
      break;
    case LINK_PROFILE_GSM_TRANSPARENT:
      set_gsm_transparent (config, quality);
      break;
    case LINK_PROFILE_NMT:
      set_nmt (config, quality);
      break;
    case LINK_PROFILE_GPRS:
      set_gprs (config, quality);
      break;
    case LINK_PROFILE_RANGELAN2:
      set_rangelan2 (config, quality);
      break;
    case LINK_PROFILE_IRDA:
      set_irda (config, quality);
      break;
    case LINK_PROFILE_CELLULAR:
      set_cellular (config, quality);
      break;
    default:
      break;
  }
}

/* "20-40,50-60" */

static gboolean
parse_seconds (const gchar * text, const gchar ** end, guint64 * time)
{
  gdouble seconds = g_ascii_strtod (text, (gchar **) end);

  if (*end == text || !(seconds >= 0 && seconds < 1e9))
    return FALSE;
  *time = seconds * 1e9 + 0.5;
  return TRUE;
}

static gboolean
parse_window (LinkOvenConfig * oven, const gchar ** text)
{
  LinkWindow window;

  if (!parse_seconds (*text, text, &window.begin) || *(*text)++ != '-'
      || !parse_seconds (*text, text, &window.end)
      || window.end <= window.begin || oven->n_windows == LINK_MAX_WINDOWS)
    return FALSE;
  if (oven->n_windows > 0
      && window.begin < oven->windows[oven->n_windows - 1].end)
    return FALSE;
  oven->windows[oven->n_windows++] = window;
  return TRUE;
}

gboolean
link_config_parse_interference (LinkConfig * config, const gchar * text,
    GError ** error)
{
  const gchar *rest = text;

  config->oven.always = FALSE;
  config->oven.n_windows = 0;
  if (!text || !*text || !strcmp (text, "none"))
    return TRUE;
  if (!strcmp (text, "always")) {
    config->oven.always = TRUE;
    return TRUE;
  }
  while (parse_window (&config->oven, &rest)) {
    if (*rest == '\0')
      return TRUE;
    if (*rest++ != ',')
      break;
  }
  g_set_error (error, LINK_ERROR, LINK_ERROR_SYNTAX, "interference \"%s\" is "
      "not \"none\", \"always\" or up to %d windows in seconds, in order, such "
      "as \"20-40,50.5-60\"", text, LINK_MAX_WINDOWS);
  return FALSE;
}

/* Checks: a table of what must lie between what */

typedef struct
{
  const gchar *name;
  gdouble value, least, most;
} Range;

static gboolean
check_ranges (const Range * ranges, guint n, GError ** error)
{
  guint i;

  for (i = 0; i < n; i++) {
    if (ranges[i].value >= ranges[i].least && ranges[i].value <= ranges[i].most)
      continue;
    g_set_error (error, LINK_ERROR, LINK_ERROR_RANGE,
        "%s is %.10g, it must be from %.10g to %.10g", ranges[i].name,
        ranges[i].value, ranges[i].least, ranges[i].most);
    return FALSE;
  }
  return TRUE;
}

#define MAX_TIME 1e15           /* ns: 11 days */
/* ns: what comes and goes more often is an error rate, and costs a wakeup each
 * time */
#define MIN_SOJOURN 1e5
#define MAX_RATE 1e12           /* bit/s */
#define MIN_WLAN_RATE 250000    /* bit/s: one in each symbol of OFDM */
#define MAX_BURST 1e9           /* bytes */
/* bit/s: the model draws each packet's opportunity, and the rate 50 times a
 * second, until a packet is sent */
#define MIN_CELLULAR_RATE 10000
#define MAX_CELLULAR_RATE 1e10
#define MIN_REVERSION 1e8       /* ns: five steps of the model */

/* Only where both are there does it come and go. */
static gdouble
get_least (const LinkOnOffConfig * config)
{
  return config->mean_good && config->mean_bad ? MIN_SOJOURN : 0;
}

/* The mean must be so far from both limits that a wandering rate can keep it:
 * at the margin within 7 %, in the middle within 1 %. */
static gboolean
check_cellular (const LinkCellularConfig * cellular, GError ** error)
{
  const gdouble margin = cellular->noise ? 0.05 *
      ((gdouble) cellular->max_rate - cellular->min_rate) : 0;
  const gdouble share = cellular->outage_interval ? 1 / (1 + 1e9 /
      (cellular->outage_escape * cellular->outage_interval)) : 1;
  const gdouble least = MAX ((cellular->min_rate + margin) * share,
      MIN_CELLULAR_RATE);
  const gdouble most = (cellular->max_rate - margin) * share;
  const Range limits[] = {
    {"cellular-max-rate", cellular->max_rate, MIN_CELLULAR_RATE,
        MAX_CELLULAR_RATE},
    {"cellular-min-rate", cellular->min_rate, 0, cellular->max_rate},
    {"cellular-noise", cellular->noise, 0, MAX_CELLULAR_RATE},
    {"cellular-reversion", cellular->reversion, MIN_REVERSION, MAX_TIME},
    {"cellular-outage-escape", cellular->outage_escape, 0.001, 1000},
    {"cellular-outage-interval", cellular->outage_interval,
        cellular->outage_interval ? MIN_SOJOURN : 0, MAX_TIME},
  };
  guint i;

  if (!check_ranges (limits, G_N_ELEMENTS (limits), error))
    return FALSE;
  for (i = 0; i < 2; i++) {
    const Range mean = { i ? "cellular-rate-down" : "cellular-rate",
      cellular->mean_rate[i], least, most
    };

    if (cellular->mean_rate[i] && !check_ranges (&mean, 1, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
check_burst (const LinkPipeConfig * pipe, GError ** error)
{
  const Range range = { "burst", pipe->burst, 0, MAX_BURST };

  if (!check_ranges (&range, 1, error))
    return FALSE;
  if (!pipe->burst)
    return TRUE;
  if (pipe->trace[0] || pipe->trace[1] || pipe->cellular.mean_rate[0]
      || pipe->cellular.mean_rate[1]) {
    g_set_error (error, LINK_ERROR, LINK_ERROR_RANGE, "burst needs a fixed "
        "rate, it must be 0 with a delivery trace or with cellular-rate");
    return FALSE;
  }
  if (!pipe->rate[0] && !pipe->rate[1]) {
    g_set_error (error, LINK_ERROR, LINK_ERROR_RANGE, "burst is %"
        G_GUINT64_FORMAT " bytes, but rate is 0: a token bucket needs a rate",
        pipe->burst);
    return FALSE;
  }
  return TRUE;
}

static gboolean
check_pipe (const LinkPipeConfig * pipe, GError ** error)
{
  const gdouble fading = get_least (&pipe->fading);
  const gdouble outage = get_least (&pipe->outage);
  const gdouble stall = get_least (&pipe->stall);
  const Range ranges[] = {
    {"rate", pipe->rate[0], 0, MAX_RATE},
    {"rate-down", pipe->rate[1], 0, MAX_RATE},
    {"delay", pipe->delay[0], 0, MAX_TIME},
    {"delay-down", pipe->delay[1], 0, MAX_TIME},
    {"jitter", pipe->jitter, 0, MAX_TIME},
    {"turnaround", pipe->turnaround, 0, MAX_TIME},
    {"framing overhead", pipe->overhead, 0, 65535},
    {"idle-delay", pipe->idle_delay, 0, MAX_TIME},
    {"loss", pipe->loss_good, 0, 1},
    {"loss-bad", pipe->loss_bad, 0, 1},
    {"bit-error-rate", pipe->bit_error_good, 0, 0.5},
    {"bit-error-rate-bad", pipe->bit_error_bad, 0, 0.5},
    {"duplicate", pipe->duplicate, 0, 1},
    {"reorder", pipe->reorder, 0, 1},
    {"reorder-delay", pipe->reorder_delay, 0, MAX_TIME},
    {"mean-good", pipe->fading.mean_good, fading, MAX_TIME},
    {"mean-bad", pipe->fading.mean_bad, fading, MAX_TIME},
    {"outage-good", pipe->outage.mean_good, outage, MAX_TIME},
    {"outage-bad", pipe->outage.mean_bad, outage, MAX_TIME},
    {"stall-good", pipe->stall.mean_good, stall, MAX_TIME},
    {"stall-bad", pipe->stall.mean_bad, stall, MAX_TIME},
    {"receiver-rate", pipe->receiver_rate, 0, MAX_RATE},
    {"receiver-buffer", pipe->receiver_buffer, 0, 1e12},
  };

  return check_ranges (ranges, G_N_ELEMENTS (ranges), error)
      && check_cellular (&pipe->cellular, error)
      && check_burst (pipe, error);
}

static gboolean
check_dcf (const LinkDcfConfig * dcf, GError ** error)
{
  const Range ranges[] = {
    {"number of rates", dcf->n_rates, 1, LINK_MAX_RATES},
    {"max-rate", dcf->top_rate, 0, dcf->n_rates - 1},
    {"ack-rate", dcf->ack_rate, dcf->ack_rate ? MIN_WLAN_RATE : 0, MAX_RATE},
    {"retry-limit", dcf->retry_limit, 0, 255},
    {"down-after", dcf->down_after, 1, G_MAXUINT},
    {"up-after", dcf->up_after, 1, G_MAXUINT},
    {"loss-up-after", dcf->loss_up_after, 1, G_MAXUINT},
  };
  guint i;

  if (!check_ranges (ranges, G_N_ELEMENTS (ranges), error))
    return FALSE;
  for (i = 0; i < dcf->n_rates; i++) {
    const Range rates[] = {
      {"rate", dcf->rates[i], MIN_WLAN_RATE, MAX_RATE},
      {"failure", dcf->failure[i], 0, 1},
      {"oven-failure", dcf->oven_failure[i], 0, 1},
    };

    if (!check_ranges (rates, G_N_ELEMENTS (rates), error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
check_blocks (const LinkBlocksConfig * blocks, GError ** error)
{
  const Range ranges[] = {
    {"serial-rate", blocks->serial_rate[0], 1, 1e9},
    {"serial-rate-down", blocks->serial_rate[1], 1, 1e9},
    {"block-time", blocks->block_time, MIN_SOJOURN, 1e10},
    {"block-payload", blocks->block_payload, 1, 65535},
    {"block-error-rate", blocks->block_error_rate, 0, 1},
    {"mean-burst", blocks->mean_burst, 1, 1e6},
    {"corrupt-share", blocks->corrupt_share, 0, 1},
    {"framing overhead", blocks->overhead, blocks->overhead_before, 65535},
    {"delay", blocks->delay[0], 0, MAX_TIME},
    {"delay-down", blocks->delay[1], 0, MAX_TIME},
    {"radio-delay", blocks->radio_delay, 0, MAX_TIME},
  };

  return check_ranges (ranges, G_N_ELEMENTS (ranges), error);
}

static gboolean
check_rlp (const LinkBlocksConfig * blocks, GError ** error)
{
  const Range ranges[] = {
    /* 3GPP TS 24.022 5.2.3.1: modulus 62 */
    {"rlp-window", blocks->rlp_window, 1, 61},
    {"rlp-t1", blocks->rlp_t1, blocks->block_time, MAX_TIME},
    {"rlp-n2", blocks->rlp_n2, 1, 255},
  };

  return check_ranges (ranges, G_N_ELEMENTS (ranges), error);
}

static gboolean
check_dial_up (const LinkDialUpConfig * dial_up, GError ** error)
{
  const Range ranges[] = {
    {"command time", dial_up->command_max, 0, MAX_TIME},
    {"connect time", dial_up->connect_max, 0, MAX_TIME},
    {"handshake time", dial_up->handshake_max, 0, MAX_TIME},
    {"handshake time of slow calls", dial_up->slow_extra_max, 0, MAX_TIME},
    {"call set-up time", dial_up->command_max + dial_up->connect_max +
          dial_up->handshake_max, dial_up->command_min + dial_up->connect_min +
          dial_up->handshake_min, MAX_TIME},
    {"call-failure", dial_up->failure, 0, 1},
    {"slow calls", dial_up->slow, 0, 1},
    {"time of a failed call", dial_up->failure_max, dial_up->failure_min,
        MAX_TIME},
    {"mean-time-to-break", dial_up->mean_time_to_break,
        dial_up->mean_time_to_break ? LINK_MS : 0, MAX_TIME},
    {"hang-up-after", dial_up->hang_up_after,
        dial_up->hang_up_after ? LINK_MS : 0, MAX_TIME},
  };

  return check_ranges (ranges, G_N_ELEMENTS (ranges), error);
}

static gboolean
check_oven (const LinkOvenConfig * oven, GError ** error)
{
  const Range ranges[] = {
    {"mains cycle", oven->cycle, 1, MAX_TIME},
    {"oven-on", oven->on, 0, oven->cycle},
    {"number of windows", oven->n_windows, 0, LINK_MAX_WINDOWS},
  };

  return check_ranges (ranges, G_N_ELEMENTS (ranges), error);
}

gboolean
link_config_check (const LinkConfig * config, GError ** error)
{
  const Range ranges[] = {
    {"overhead", config->overhead, 0, 65535},
    {"max-size", config->max_size, 0, 1 << 30},
    {"ifd-max-frames", config->queue.ifd.max_frames, 1, IFD_MAX_FRAMES},
  };

  if (!check_ranges (ranges, G_N_ELEMENTS (ranges), error)
      || !check_oven (&config->oven, error)
      || !check_pipe (&config->pipe, error))
    return FALSE;
  if (config->dial_up.enabled && !check_dial_up (&config->dial_up, error))
    return FALSE;
  if (config->model == LINK_MODEL_DCF && config->dial_up.enabled) {
    g_set_error (error, LINK_ERROR, LINK_ERROR_RANGE,
        "dial-up is of telephones, 802.11 has no calls");
    return FALSE;
  }
  if (config->model == LINK_MODEL_DCF)
    return check_dcf (&config->dcf, error);
  if (config->model == LINK_MODEL_PIPE)
    return TRUE;
  return check_blocks (&config->blocks, error)
      && (config->model == LINK_MODEL_BLOCKS
      || check_rlp (&config->blocks, error));
}

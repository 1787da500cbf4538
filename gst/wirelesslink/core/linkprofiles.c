/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The profiles: one table entry and one function for each measured network. A
 * new profile needs a function and an entry at the end of the table. The
 * property `profile` and the fuzz targets take their lists of profiles from
 * this table.
 *
 * Each value has a source, or we have chosen it so that the model reproduces
 * the measured results (see the tables in docs/links.md).
 *
 * Sources: Ouwens 2006; Singh 2000; Alanko et al. 1994; Magalhaes and Kravets
 * 2001; Erixzon and Kallstrom 2004; Winstein, Sivaraman and Balakrishnan 2013.
 */

#include "linkconfig.h"

#include <string.h>

#define MS LINK_MS
#define SECOND LINK_SECOND

/* Rates of DSSS and CCK (IEEE 802.11b 18.2.3.3) and ERP-OFDM (802.11g 19.2) */
static const guint64 dsss_rates[] = { 1000000, 2000000, 5500000, 11000000 };

static const guint64 ofdm_rates[] = { 6000000, 9000000, 12000000, 18000000,
  24000000, 36000000, 48000000, 54000000
};

/* Probabilities that a transmission fails, for each DSSS and CCK rate. While
 * the microwave oven radiates, the probability in the second array is added to
 * the probability in the first array.
 *
 * These values were fitted to the measurements of Ouwens. Some other values
 * were fitted together with them:
 * - The part of a mains cycle in which the oven radiates.
 * - The three numbers of attempts after which a station changes its rate
 *   (`down_after`, `up_after` and `loss_up_after` in set_base ()).
 *
 * The values must fit two parts of the measurements: tables 3.2 to 3.4, and the
 * rate of 5.5 Mbit/s in table 3.6. No other set of values fits both parts. The
 * set also agrees with tables 3.6 to 3.9 on how much the oven reduces the rate
 * at 11 Mbit/s. */
static const gdouble dsss_failure[] = { 0.005, 0.0003, 0.0026, 0.0026 };
static const gdouble dsss_oven_failure[] = { 0.0075, 0.137, 0.21, 0.21 };

/* Values of Winstein et al. 2013, sections 3.1 and 3.2. The rate is between 0
 * and 1000 packets of 1500 bytes per second. The noise is 200 packets/s per
 * square root of a second. The mean duration of an outage is 1 s.
 *
 * The reversion time is the time constant with which the rate returns to its
 * mean. The paper has no such time, so we have chosen 5 s. The reason is that
 * shadowing is correlated over 50 m (3GPP TR 36.814, annex A), and a car in a
 * town needs 5 s for this distance. */
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
  /* Time in ns for which the microwave oven radiates in each cycle of the mains
   * voltage. It cannot be more than half a cycle, because a half-wave rectifier
   * feeds the magnetron. */
  config->oven.on = 6920000;
}

/* Simulates the Cisco Aironet 350 of Ouwens' section 3.2. It uses the long
 * preamble, which is the default of Linux. */
static void
set_80211b (LinkConfig * config, LinkQuality quality)
{
  LinkDcfConfig *dcf = &config->dcf;

  config->model = LINK_MODEL_DCF;
  /* Section 7.1.2 allows 2304 bytes including LLC and SNAP. */
  config->max_size = 2296;
  dcf->n_rates = G_N_ELEMENTS (dsss_rates);
  memcpy (dcf->rates, dsss_rates, sizeof (dsss_rates));
  memcpy (dcf->failure, dsss_failure, sizeof (dsss_failure));
  memcpy (dcf->oven_failure, dsss_oven_failure, sizeof (dsss_oven_failure));
  dcf->top_rate = dcf->n_rates - 1;
  dcf->retry_limit = 16;
  dcf->fallback = LINK_FALLBACK_ARF_LOSS;
}

/* 802.11b as in Ouwens' table 3.6. Without interference from a microwave oven,
 * the results in this table are those of a link with 5.5 Mbit/s. Therefore the
 * maximum rate is 5.5 Mbit/s here. */
static void
set_80211b_ouwens (LinkConfig * config, LinkQuality quality)
{
  set_80211b (config, quality);
  config->dcf.top_rate = 2;
}

static void
set_80211g (LinkConfig * config, LinkQuality quality)
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

/* Call set-up times of GSM, Alanko 3.1: 0.5 s for the command, 12 to 14 s for
 * the connection, and 16 to 18 s for the handshake. The sum of these times
 * was typically 28 to 31 s, and at most 35 s. 46 of 446 calls failed. */
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

/* Durations of the phases in which NMT sets up a phone call (Alanko 3.1): 5 s
 * for the command to the phone, 11 to 14 s for the connection, and 15 s or more
 * for the handshake of the modems. In most calls, the three phases together
 * took 31 to 35 s. In 1 % of the calls they took longer. 10 of 410 calls
 * failed. A failure was detected after 90 to 95 s. */
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
  /* The serial line carries 9600 bit/s. A byte has 10 bits on the line,
   * including a start bit and a stop bit, so the rate is 960 byte/s. */
  blocks->serial_rate[0] = blocks->serial_rate[1] = 960;
  blocks->block_time = 20 * MS;
  blocks->corrupt_share = 0.2;  /* Singh 5.1 */
  blocks->mean_burst = 1;
  /* Interleaving spreads the data over 22 radio bursts (3GPP TS 45.003, 3.3),
   * which delays the data by about 100 ms. */
  blocks->radio_delay = 100 * MS;
}

/* A GSM data call with SLIP over RLP, as in Alanko's tables 4 and 5. N2, the
 * maximum number of retransmissions, is from Singh 2.3.2. T1, the
 * retransmission timer, is 480 ms, as in the data cards of that time.
 *
 * According to Alanko's table 4, the delay of a byte is 0.45 s in each
 * direction. In the model, this delay has four parts: 10 ms until the next
 * block begins, 20 ms for the transmission of the block, 100 ms in the radio
 * network, and the rest in the modems and the telephone network. */
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
  /* The error rates were chosen to match Alanko's table 5: 640 kbyte are
   * transferred in 15 minutes at the quality "good", and 240 kbyte at the
   * quality "poor".
   *
   * Several burst lengths give the 640 kbyte. The burst length was therefore
   * chosen by how often RLP reaches N2, its maximum number of retransmissions
   * of a frame or a poll. RLP then gives up and resets the link. According to
   * Alanko's section 4, "typical transmission failures become visible only as
   * exceptionally long delays", so N2 must rarely be reached.
   *
   * At the quality "good", bursts of 10 blocks (0.2 s) reach N2 only once in 45
   * minutes. Bursts of 1 s would reach it a dozen times in 15 minutes. At the
   * quality "poor", N2 is reached once or twice a minute, whatever the length
   * of the bursts. */
  if (quality == LINK_QUALITY_GOOD) {
    blocks->block_error_rate = 0.2;
    blocks->mean_burst = 10;
  } else if (quality == LINK_QUALITY_POOR) {
    blocks->block_error_rate = 0.415;
    blocks->mean_burst = 10;
  }
}

/* Configures a link with PPP over the transparent data service of GSM (Singh,
 * section 5.1 and appendix B). */
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
    /* from the live experiment, Singh 5.2.3 */
    blocks->block_error_rate = 0.0085;
    blocks->mean_burst = 3.4;
  } else if (quality == LINK_QUALITY_POOR) {
    /* error rate and burst length in the trace that Singh (section 5.1)
     * recorded at a place with bad reception */
    blocks->block_error_rate = 0.0158;
    blocks->mean_burst = 1.7;
  }
}

/* A modem with 7200 bit/s in the NMT network (Alanko, tables 3 and 5). V.42bis
 * compresses the text of the requests and replies. The rates of the
 * uncompressed text are therefore higher: 1298 byte/s upstream and 1934 byte/s
 * downstream. */
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
  /* A modem that retrains is silent for 5 to 10 s (Alanko 4). The frequency of
   * these outages was chosen so that the model transfers as much data in 15
   * minutes as the link in Alanko's table 5. An ideal link transfers 1240 kbyte
   * in this time. At the quality "good", 870 kbyte are transferred, so the
   * modem can send in 70 % of the time. At the quality "poor", 310 kbyte are
   * transferred, so the modem can send in 25 % of the time. */
  if (quality == LINK_QUALITY_GOOD) {
    pipe->outage.mean_good = 17500 * MS;
    pipe->outage.mean_bad = 7500 * MS;
  } else if (quality == LINK_QUALITY_POOR) {
    pipe->outage.mean_good = 2500 * MS;
    pipe->outage.mean_bad = 7500 * MS;
  }
}

/* Sources: Erixzon 2.3 (data rate of the phone), 5.2.3, 5.3.6 and table 5.1.
 * The phone receives 6000 byte/s of TCP data and sends 8 to 12 kbit/s. The
 * round-trip time is 0.9 s. About once a minute, the network pauses for a few
 * seconds. */
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

/* The bitrate is from Magalhaes, table 1, where a KB is 1000 bytes of payload.
 * Table 2 gives the losses: 17 to 21 of 1000 frames are lost, in 1 to 3 groups.
 * It also gives the size of the device queue: the queue can hold the packets
 * that the link transmits in 5.5 s. */
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

/* An infrared link with the numbers of Magalhaes, tables 1 and 3. No packets
 * are lost, and the buffer holds 3.5 s of data. For the computer, the infrared
 * dongle is a serial line with 115200 bit/s. */
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
  /* An outage occurs when somebody walks through the infrared beam. During an
   * outage the packets wait and are not lost. */
  if (quality != LINK_QUALITY_IDEAL) {
    pipe->outage.mean_bad = 500 * MS;
    pipe->outage.mean_good = (quality == LINK_QUALITY_GOOD ? 20 : 2) * SECOND;
  }
}

/* LTE in the model of Winstein et al. (linkwander.h), in which the rate varies
 * at random. The noise is the strength of this variation. It is a fifth of the
 * maximum rate, as in their paper. We have chosen all other values, and they
 * are not fitted to any recording.
 *
 * The queue drops at its tail and holds 1000 packets, because cellular networks
 * have long queues. The delay of radio and core network is 20 ms in each
 * direction. At the quality "ideal", the minimum rate is so high that a gap of
 * 300 ms between two packets does not occur in practice. */
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

static void
set_nothing (LinkConfig * config, LinkQuality quality)
{
}

typedef struct
{
  LinkProfileInfo info;
  void (*set) (LinkConfig * config, LinkQuality quality);
} Profile;

/* The index of each entry is equal to its value in the enum LinkProfile and in
 * the property `profile`. Add new entries at the end, so that the existing
 * entries keep their values. */
static const Profile profiles[] = {
  {{"custom", "No measured network: only the properties describe the link"},
      set_nothing},
  {{"80211b", "IEEE 802.11b, 11 Mbit/s"}, set_80211b},
  {{"80211b-ouwens", "IEEE 802.11b with the network card of Ouwens (2006)"},
      set_80211b_ouwens},
  {{"80211g", "IEEE 802.11g, 54 Mbit/s"}, set_80211g},
  {{"gsm", "GSM data, 9600 bit/s, with RLP"}, set_gsm},
  {{"gsm-transparent", "GSM data, 9600 bit/s, transparent"},
      set_gsm_transparent},
  {{"nmt", "NMT 900, modem of 7200 bit/s"}, set_nmt},
  {{"gprs", "GPRS"}, set_gprs},
  {{"rangelan2", "Proxim RangeLAN2"}, set_rangelan2},
  {{"irda", "IrDA, 115200 bit/s"}, set_irda},
  {{"trace", "The rate varies as recorded in the file of the property "
              "delivery-trace"}, set_nothing},
  {{"cellular",
          "Mobile network (LTE) with varying rate and with outages (Winstein "
              "et al. 2013)"},
      set_cellular},
};

const LinkProfileInfo *
link_profile_get_info (guint profile)
{
  return profile < G_N_ELEMENTS (profiles) ? &profiles[profile].info : NULL;
}

guint
link_profile_get_number (void)
{
  return G_N_ELEMENTS (profiles);
}

void
link_config_init (LinkConfig * config, guint profile, LinkQuality quality)
{
  g_return_if_fail (profile < G_N_ELEMENTS (profiles));

  set_base (config);
  config->profile = profile;
  profiles[profile].set (config, quality);
}

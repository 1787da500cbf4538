/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the configuration of a simulated link: the range of each number, and
 * the syntax of the text that says when a microwave oven disturbs the link. The
 * predefined configurations, which are called profiles, are in linkprofiles.c.
 */

#include "linkconfig.h"

#include <string.h>

/* G_DEFINE_QUARK is not used, because gst-indent would insert spaces into its
 * argument, the name of the quark. */
GQuark
link_error_quark (void)
{
  return g_quark_from_static_string ("link-error-quark");
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
      "not valid: set \"none\", \"always\", or up to %d windows in seconds and "
      "in ascending order, such as \"20-40,50.5-60\"", text, LINK_MAX_WINDOWS);
  return FALSE;
}

/* The following functions check that each number in a configuration is between
 * its minimum and its maximum. */

typedef struct
{
  const gchar *name;
  gdouble value, min, max;
} Range;

static gboolean
check_ranges (const Range * ranges, guint n, GError ** error)
{
  guint i;

  for (i = 0; i < n; i++) {
    if (ranges[i].value >= ranges[i].min && ranges[i].value <= ranges[i].max)
      continue;
    g_set_error (error, LINK_ERROR, LINK_ERROR_RANGE,
        "%s is %.10g: set it to a value from %.10g to %.10g", ranges[i].name,
        ranges[i].value, ranges[i].min, ranges[i].max);
    return FALSE;
  }
  return TRUE;
}

#define MAX_TIME 1e15           /* ns: 11 days */
/* Minimum mean duration in ns of a state, such as the good or the bad state of
 * a channel. Each change of the state costs a wakeup, so shorter states would
 * need too much computing time. To model shorter states, configure an error
 * rate instead. */
#define MIN_SOJOURN 1e5
#define MAX_RATE 1e12           /* bit/s */
/* Minimum rate of a wireless LAN in bit/s. At a lower rate, an OFDM symbol,
 * which takes 4 us, would carry less than one bit. */
#define MIN_WLAN_RATE 250000
#define MAX_BURST 1e9           /* bytes */
/* Minimum mean rate of a cellular link in bit/s. At a lower rate, a single
 * packet could need much computing time. Until the packet is sent, the model
 * computes a random time for each opportunity to send. It also computes a
 * random rate for every 20 ms of link time. */
#define MIN_CELLULAR_RATE 10000
#define MAX_CELLULAR_RATE 1e10
/* Minimum, in ns, of the property cellular-reversion. The property is the time
 * constant with which the rate returns to its mean. The minimum equals five
 * time steps of the cellular model (linkwander.c). */
#define MIN_REVERSION 1e8

/* `config` has the mean durations of the good state (mean_good) and of the bad
 * state (mean_bad). Returns the minimum, in ns, that is permitted for each of
 * the two durations. If mean_good or mean_bad is 0, the state never changes,
 * and the minimum is 0. */
static gdouble
get_min (const LinkOnOffConfig * config)
{
  return config->mean_good && config->mean_bad ? MIN_SOJOURN : 0;
}

/* The message of `error` says that the mean rate is not within its limits. The
 * user did not set these limits directly. This function therefore appends an
 * explanation to the message, which names the properties that determine the
 * limits. */
static void
explain_mean (GError * error)
{
  gchar *text = g_strconcat (error->message, ". These limits follow from "
      "cellular-min-rate, cellular-max-rate and the share of the time without "
      "outages", NULL);

  g_free (error->message);
  error->message = text;
}

/* Checks the configuration of a cellular link. The configured mean rate must
 * not be too close to the minimum or the maximum rate, because the model cannot
 * reach such a mean. Even a permitted mean rate is not reached exactly: the
 * measured mean rate of the model differs from it by at most 1 % in the middle
 * of the permitted range, and by at most 7 % at the ends of this range. */
static gboolean
check_cellular (const LinkCellularConfig * cellular, GError ** error)
{
  const gdouble margin = cellular->noise ? 0.05 *
      ((gdouble) cellular->max_rate - cellular->min_rate) : 0;
  const gdouble share = cellular->outage_interval ? 1 / (1 + 1e9 /
      (cellular->outage_escape * cellular->outage_interval)) : 1;
  const gdouble min = MAX ((cellular->min_rate + margin) * share,
      MIN_CELLULAR_RATE);
  const gdouble max = (cellular->max_rate - margin) * share;
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
      cellular->mean_rate[i], min, max
    };

    if (cellular->mean_rate[i] && !check_ranges (&mean, 1, error)) {
      if (error)
        explain_mean (*error);
      return FALSE;
    }
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
        "rate: set burst to 0 with a delivery trace or with cellular-rate");
    return FALSE;
  }
  if (!pipe->rate[0] && !pipe->rate[1]) {
    g_set_error (error, LINK_ERROR, LINK_ERROR_RANGE, "burst is %"
        G_GUINT64_FORMAT " bytes, but rate is 0: set rate, because a token "
        "bucket needs a rate", pipe->burst);
    return FALSE;
  }
  return TRUE;
}

static gboolean
check_pipe (const LinkPipeConfig * pipe, GError ** error)
{
  const gdouble fading = get_min (&pipe->fading);
  const gdouble outage = get_min (&pipe->outage);
  const gdouble stall = get_min (&pipe->stall);
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
        "dial-up works with profiles of telephone networks, and 802.11 has no "
        "calls: set dial-up=false or choose another profile");
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

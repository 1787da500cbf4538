/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of properties, and their conversion to a LinkConfig. The functions
 * are documented in wirelesslinksettings.h. */

#include "wirelesslinksettings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gstifd.h"
#include "gstwirelessproperties.h"
#include "linkdelivery.h"
#include "linkpattern.h"

/* Maximum size of a trace or pattern in bytes, enough for one hour with 1,500
 * packets per second. */
#define MAX_FILE (1 << 28)

typedef enum
{
  KIND_UINT,
  KIND_UINT64,
  KIND_DOUBLE,
  KIND_BOOLEAN,
  KIND_ENUM,
  /* The property is a rate in bit/s. The LinkConfig stores the index of this
   * rate in `dcf.rates`. */
  KIND_MAX_RATE,
  /* The property is the rate of a serial line in bit/s, including start and
   * stop bits. The LinkConfig stores the rate in bytes/s. */
  KIND_SERIAL_RATE,
  /* The property is a frequency in Hz. The LinkConfig has the corresponding
   * period in ns. */
  KIND_FREQUENCY,
  /* The property is in ms and may have decimals. The LinkConfig stores the
   * value in ns. */
  KIND_MILLISECONDS,
  /* Kind of the property `profile`, which sets the defaults of all other
   * properties. write_member () copies the values of the kinds that precede
   * KIND_PROFILE in this enumeration to fields of the LinkConfig. KIND_MAX_RATE
   * is an exception. KIND_MAX_RATE, KIND_PROFILE and the three kinds that
   * follow KIND_PROFILE are each handled by code of their own. */
  KIND_PROFILE,
  KIND_QUALITY,
  KIND_INTERFERENCE,
  KIND_FILE
} Kind;

typedef GType (*GetType) (void);

typedef struct
{
  const gchar *name;
  Kind kind;
  /* minimum and maximum of the property; if both are 0, the property has the
   * whole range of its type */
  gdouble min, max;
  gsize offset;                 /* offset of the value in the LinkConfig */
  /* Offset of a second place in the LinkConfig where the value of the property
   * is stored. If `down` is not 0, the link uses the value at `offset` for
   * station 0 and the value at `down` for all other stations. If `down` is 0,
   * this second place does not exist. */
  gsize down;
  /* Offsets of two more places in the LinkConfig where the value of the
   * property is stored. Only the models of GSM radio blocks (LINK_MODEL_BLOCKS
   * and LINK_MODEL_RLP) use the values there. The value at `blocks` is for
   * station 0, and the value at `blocks_down` is for all other stations. If an
   * offset is 0, the place does not exist. */
  gsize blocks, blocks_down;
  GetType get_type;             /* type of an enumeration */
  const gchar *blurb;
  /* Only for a deprecated property: name of the property that replaces it. NULL
   * if the property is not deprecated. */
  const gchar *instead;
} Setting;

#define TIME_MAX 1e15
#define RATE_MAX 1e12
#define CELLULAR_RATE_MIN 10000
#define CELLULAR_RATE_MAX 1e10

/* *INDENT-OFF* */

/* --- enumerations --------------------------------------------------------- */

/* Registers the profiles of linkprofiles.c as an enumeration type of GObject.
 */
static GType
profile_get_type (void)
{
  static gsize type = 0;

  if (g_once_init_enter (&type)) {
    guint i, n = link_profile_get_number ();
    /* This array of values is never freed, because GObject keeps a pointer to
     * it. */
    GEnumValue *values = g_new0 (GEnumValue, n + 1);
    GType new_type;

    for (i = 0; i < n; i++) {
      const LinkProfileInfo *info = link_profile_get_info (i);

      values[i].value = i;
      values[i].value_name = info->description;
      values[i].value_nick = info->nick;
    }
    new_type = g_enum_register_static ("GstWirelessLinkProfile", values);
    gst_type_mark_as_plugin_api (new_type, 0);
    g_once_init_leave (&type, new_type);
  }
  return type;
}

static GST_WIRELESS_DEFINE_ENUM (quality, "GstWirelessLinkQuality",
    {LINK_QUALITY_IDEAL, "No packet is lost on the radio channel", "ideal"},
    {LINK_QUALITY_GOOD, "A place with good reception", "good"},
    {LINK_QUALITY_POOR, "A place with poor reception", "poor"})

static GST_WIRELESS_DEFINE_ENUM (queue, "GstWirelessLinkQueue",
    {LINK_QUEUE_DROP_TAIL, "A full queue takes no packet", "drop-tail"},
    {LINK_QUEUE_DROP_FRAME,
        "A full queue takes no packet, and a frame of video that lost a "
        "packet there is dropped whole", "drop-frame"},
    {LINK_QUEUE_IFD,
        "I-Frame Delay: a full queue drops whole frames of video, B-frames "
        "first", "ifd"})

static GST_WIRELESS_DEFINE_ENUM (rate_fallback, "GstWirelessLinkRateFallback",
    {LINK_FALLBACK_FIXED, "The rate is always that of the property max-rate",
        "fixed"},
    {LINK_FALLBACK_ARF,
        "ARF: consecutive failed transmissions, as many as down-after says, "
        "lower the rate by one step", "arf"},
    {LINK_FALLBACK_LOSS, "A lost packet lowers the rate to the minimum",
        "loss"},
    {LINK_FALLBACK_ARF_LOSS, "Both arf and loss: failed transmissions lower "
        "the rate by one step, and a lost packet lowers the rate to the "
        "minimum",
        "arf-loss"})

static GST_WIRELESS_DEFINE_ENUM (jitter_distribution,
    "GstWirelessLinkJitterDistribution",
    {FALSE, "Uniform from 0 to jitter-ms", "uniform"},
    {TRUE, "Exponential with jitter-ms as its mean", "exponential"})

static GST_WIRELESS_DEFINE_ENUM (rlp_after_n2, "GstWirelessLinkRlpAfterN2",
    {LINK_AFTER_N2_RESET, "The packets in flight are lost", "reset"},
    {LINK_AFTER_N2_DISCONNECT,
        "The packets in flight are lost, and so is the call", "disconnect"})

/* --- table ---------------------------------------------------------------- */

#define AT(member) G_STRUCT_OFFSET (LinkConfig, member)
#define PLAIN(member) AT (member), 0, 0, 0, NULL
#define PAIR(member) AT (member[0]), AT (member[1]), 0, 0, NULL
#define ENUM(member, name) AT (member), 0, 0, 0, name##_get_type
#define NOWHERE 0, 0, 0, 0, NULL

static const Setting table[] = {
  {"profile", KIND_PROFILE, 0, 0, ENUM (profile, profile),
      "Measured network that sets the defaults of the other properties; a "
      "property that is set overrides its default"},
  {"quality", KIND_QUALITY, 0, 0, 0, 0, 0, 0, quality_get_type,
      "Quality of the radio channel, in the profiles gsm, gsm-transparent, nmt, "
      "gprs, rangelan2, irda and cellular"},
  {"seed", KIND_UINT64, 0, 0, PLAIN (seed),
      "Seed of all random draws; the same seed gives the same radio channel (0 "
      "is a seed like any other)"},
  {"overhead", KIND_UINT, 0, 65535, PLAIN (overhead),
      "Size of the headers that the buffers do not contain yet (bytes, 28 "
      "for the payload of UDP over IPv4, 0 for IP packets)"},
  {"max-size", KIND_UINT, 0, 0, PLAIN (max_size),
      "Maximum size of a packet with its overhead (bytes, 0 = unlimited); "
      "larger packets are lost"},
  {"txqueuelen", KIND_UINT, 0, 0, PLAIN (queue.packets),
      "Maximum number of packets in the queue of a station (packets, 0 = "
      "unlimited)"},
  {"queue-bytes", KIND_UINT64, 0, 0, PLAIN (queue.bytes),
      "Maximum amount of data in the queue of a station (bytes, 0 = "
      "unlimited)"},
  {"queue-time-ms", KIND_MILLISECONDS, 0, PROPERTY_MAX_MILLISECONDS, PLAIN (queue.time),
      "Maximum waiting time of the oldest packet in the queue of a station; "
      "after this time the queue counts as full (ms, 0 = unlimited)"},
  {"queue-time", KIND_UINT64, 0, TIME_MAX, PLAIN (queue.time),
      "Deprecated: use queue-time-ms, which is in ms; this one is in ns",
      "queue-time-ms"},
  {"queue", KIND_ENUM, 0, 0, ENUM (queue.discipline, queue),
      "Unit that a full queue drops: packets, or frames of MPEG video"},
  {"ifd-algorithm", KIND_ENUM, 0, 0, ENUM (queue.ifd.algorithm,
        gst_ifd_algorithm),
      "Rule that chooses the frames to drop (only with queue=ifd)"},
  {"ifd-max-frames", KIND_UINT, 1, IFD_MAX_FRAMES, PLAIN (queue.ifd.max_frames),
      "Maximum number of waiting frames of a stream, without the frame being "
      "sent (only with queue=ifd; always 1 with ifd-algorithm=paper or "
      "paper-gop)"},

  {"max-rate", KIND_MAX_RATE, 0, RATE_MAX, NOWHERE,
      "Maximum transmission rate of 802.11, which must be a rate of the "
      "profile (bit/s, 0 = the maximum rate of the profile)"},
  {"rate-fallback", KIND_ENUM, 0, 0, ENUM (dcf.fallback, rate_fallback),
      "When 802.11 lowers the transmission rate"},
  {"down-after", KIND_UINT, 1, 1e9, PLAIN (dcf.down_after),
      "Number of consecutive failed transmissions after which 802.11 lowers "
      "the rate (only with rate-fallback=arf or arf-loss)"},
  {"up-after", KIND_UINT, 1, 1e9, PLAIN (dcf.up_after),
      "Number of consecutive successful transmissions after which 802.11 "
      "raises the rate (only with rate-fallback=arf or arf-loss)"},
  {"loss-up-after", KIND_UINT, 1, 1e9, PLAIN (dcf.loss_up_after),
      "Number of consecutive successful transmissions per step in which 802.11 "
      "raises the rate again after a lost packet (only with rate-fallback=loss "
      "or arf-loss)"},
  {"retry-limit", KIND_UINT, 0, 255, PLAIN (dcf.retry_limit),
      "Maximum number of transmissions of a packet in 802.11 (0 = 16)"},
  {"short-preamble", KIND_BOOLEAN, 0, 0, PLAIN (dcf.short_preamble),
      "Whether 802.11b uses the short preamble"},
  {"ack-rate", KIND_UINT64, 0, RATE_MAX, PLAIN (dcf.ack_rate),
      "Rate of the acknowledgements of 802.11 (bit/s, 0 = the highest basic "
      "rate that is not above the rate of the packet)"},
  {"interference", KIND_INTERFERENCE, 0, 0, NOWHERE,
      "When a microwave oven disturbs 802.11: \"none\", \"always\", or a "
      "comma separated list of times since the start (seconds, such as "
      "20-40,50-60; unset = none)"},
  {"oven-on", KIND_UINT64, 0, TIME_MAX, PLAIN (oven.on),
      "Time for which the microwave oven sends in each cycle of the mains "
      "(ns)"},
  {"mains-frequency", KIND_FREQUENCY, 1, 1000, PLAIN (oven.cycle),
      "Frequency of the mains of the microwave oven (Hz)"},

  {"rate", KIND_UINT64, 0, RATE_MAX, PAIR (pipe.rate),
      "Rate of the transmitters (bit/s, 0 = unlimited)"},
  {"rate-down", KIND_UINT64, 0, RATE_MAX, PLAIN (pipe.rate[1]),
      "Rate of the transmitters of all stations except station 0, the mobile "
      "host (bit/s, 0 = unlimited; if not set, as rate or the profile says)"},
  {"burst", KIND_UINT64, 0, 1e9, PLAIN (pipe.burst),
      "Depth of the token bucket, which is filled at the rate of the property "
      "rate (bytes, 0 = no bucket: every packet is sent at this rate)"},
  {"cellular-rate", KIND_UINT64, 0, CELLULAR_RATE_MAX,
      PAIR (pipe.cellular.mean_rate),
      "Long-term mean rate of the cellular model, including outages, to use "
      "instead of the property rate (bit/s, 0 = no cellular model)"},
  {"cellular-rate-down", KIND_UINT64, 0, CELLULAR_RATE_MAX,
      PLAIN (pipe.cellular.mean_rate[1]),
      "Long-term mean rate, like cellular-rate, for all stations except "
      "station 0, the mobile host (bit/s, 0 = no cellular model; if not set, "
      "as cellular-rate or the profile says)"},
  {"cellular-min-rate", KIND_UINT64, 0, CELLULAR_RATE_MAX,
      PLAIN (pipe.cellular.min_rate),
      "Minimum rate of the cellular model outside outages (bit/s)"},
  {"cellular-max-rate", KIND_UINT64, CELLULAR_RATE_MIN, CELLULAR_RATE_MAX,
      PLAIN (pipe.cellular.max_rate),
      "Maximum rate of the cellular model (bit/s)"},
  {"cellular-noise", KIND_UINT64, 0, CELLULAR_RATE_MAX,
      PLAIN (pipe.cellular.noise),
      "Standard deviation of the rate change within one second in the cellular "
      "model (bit/s, 0 = the rate stays at its mean)"},
  {"cellular-reversion", KIND_UINT64, 1e8, TIME_MAX,
      PLAIN (pipe.cellular.reversion),
      "Time constant with which the rate of the cellular model returns to "
      "its mean (ns)"},
  {"cellular-outage-interval", KIND_UINT64, 0, TIME_MAX,
      PLAIN (pipe.cellular.outage_interval),
      "Mean time from one outage of the cellular model to the next (ns, 0 = "
      "no outages)"},
  {"cellular-outage-escape", KIND_DOUBLE, 0.001, 1000,
      PLAIN (pipe.cellular.outage_escape),
      "Rate at which outages of the cellular model end, the reciprocal of "
      "their mean duration (per second)"},
  {"delay-ms", KIND_MILLISECONDS, 0, PROPERTY_MAX_MILLISECONDS,
      AT (pipe.delay[0]), AT (pipe.delay[1]),
      AT (blocks.delay[0]), AT (blocks.delay[1]), NULL,
      "One-way delay of a packet after its transmission (ms)"},
  {"delay", KIND_UINT64, 0, TIME_MAX, AT (pipe.delay[0]), AT (pipe.delay[1]),
      AT (blocks.delay[0]), AT (blocks.delay[1]), NULL,
      "Deprecated: use delay-ms, which is in ms; this one is in ns",
      "delay-ms"},
  {"delay-down-ms", KIND_MILLISECONDS, 0, PROPERTY_MAX_MILLISECONDS, AT (pipe.delay[1]), 0,
      AT (blocks.delay[1]), 0, NULL,
      "One-way delay of a packet after its transmission by a station other "
      "than station 0, the mobile host (ms; if not set, as delay-ms or the "
      "profile says)"},
  {"delay-down", KIND_UINT64, 0, TIME_MAX, AT (pipe.delay[1]), 0,
      AT (blocks.delay[1]), 0, NULL,
      "Deprecated: use delay-down-ms, which is in ms; this one is in ns",
      "delay-down-ms"},
  {"jitter-ms", KIND_MILLISECONDS, 0, PROPERTY_MAX_MILLISECONDS, PLAIN (pipe.jitter),
      "Maximum random delay in addition to delay-ms, or its mean with "
      "jitter-distribution=exponential (ms); packets stay in order"},
  {"jitter", KIND_UINT64, 0, TIME_MAX, PLAIN (pipe.jitter),
      "Deprecated: use jitter-ms, which is in ms; this one is in ns",
      "jitter-ms"},
  {"jitter-distribution", KIND_ENUM, 0, 0,
      ENUM (pipe.jitter_exponential, jitter_distribution),
      "Distribution of the random delay"},
  {"loss", KIND_DOUBLE, 0, 1, PLAIN (pipe.loss_good),
      "Fraction of the packets that are lost on the radio channel in its "
      "good state (0 to 1)"},
  {"loss-bad", KIND_DOUBLE, 0, 1, PLAIN (pipe.loss_bad),
      "Fraction of the packets that are lost on the radio channel in its bad "
      "state (0 to 1)"},
  {"mean-good", KIND_UINT64, 0, TIME_MAX, PLAIN (pipe.fading.mean_good),
      "Mean duration of the good state of the radio channel (ns, 0 = always bad "
      "if mean-bad is set)"},
  {"mean-bad", KIND_UINT64, 0, TIME_MAX, PLAIN (pipe.fading.mean_bad),
      "Mean duration of the bad state of the radio channel (ns, 0 = no bad "
      "state)"},
  {"bit-error-rate", KIND_DOUBLE, 0, 0.5, PLAIN (pipe.bit_error_good),
      "Fraction of the bits that are inverted in the good state of the radio "
      "channel (0 to 0.5)"},
  {"bit-error-rate-bad", KIND_DOUBLE, 0, 0.5, PLAIN (pipe.bit_error_bad),
      "Fraction of the bits that are inverted in the bad state of the radio "
      "channel (0 to 0.5)"},
  {"drop-damaged", KIND_BOOLEAN, 0, 0, PLAIN (pipe.drop_damaged),
      "Whether packets with bit errors are dropped, as by the frame check of a "
      "link layer; false delivers the damaged packets"},
  {"duplicate", KIND_DOUBLE, 0, 1, PLAIN (pipe.duplicate),
      "Fraction of the packets that arrive twice (0 to 1)"},
  {"reorder", KIND_DOUBLE, 0, 1, PLAIN (pipe.reorder),
      "Fraction of the packets that are overtaken by others (0 to 1)"},
  {"reorder-delay-ms", KIND_MILLISECONDS, 0, PROPERTY_MAX_MILLISECONDS,
      PLAIN (pipe.reorder_delay),
      "Additional delay of the packets that are overtaken (ms)"},
  {"reorder-delay", KIND_UINT64, 0, TIME_MAX, PLAIN (pipe.reorder_delay),
      "Deprecated: use reorder-delay-ms, which is in ms; this one is in ns",
      "reorder-delay-ms"},
  {"packet-overhead", KIND_UINT, 0, 65535, PLAIN (pipe.overhead),
      "Size of the link-layer headers that are sent with each packet, in "
      "addition to the headers that the property overhead counts (bytes)"},
  {"half-duplex", KIND_BOOLEAN, 0, 0, PLAIN (pipe.half_duplex),
      "Whether all stations share one transmitter"},
  {"take-turns", KIND_BOOLEAN, 0, 0, PLAIN (pipe.take_turns),
      "Whether the stations of a half-duplex link send in turn; false sends "
      "packets in the order in which they arrive at the link"},
  {"turnaround", KIND_UINT64, 0, TIME_MAX, PLAIN (pipe.turnaround),
      "Pause of a half-duplex link before another station sends (ns, 0 = no "
      "pause)"},
  {"outage-good", KIND_UINT64, 0, TIME_MAX, PLAIN (pipe.outage.mean_good),
      "Mean time from the end of an outage of the transmitter to the next "
      "outage (ns, 0 = permanent outage if outage-bad is set)"},
  {"outage-bad", KIND_UINT64, 0, TIME_MAX, PLAIN (pipe.outage.mean_bad),
      "Mean duration of an outage, in which nothing is sent and nothing is "
      "lost (ns, 0 = no outages)"},
  {"stall-good", KIND_UINT64, 0, TIME_MAX, PLAIN (pipe.stall.mean_good),
      "Mean time from the end of a stall of the network beyond the transmitter "
      "to the next stall (ns, 0 = always stalled if stall-bad is set)"},
  {"stall-bad", KIND_UINT64, 0, TIME_MAX, PLAIN (pipe.stall.mean_bad),
      "Mean duration of a stall, after which everything arrives at once (ns, "
      "0 = no stalls)"},
  {"receiver-rate", KIND_UINT64, 0, RATE_MAX, PLAIN (pipe.receiver_rate),
      "Rate at which a receiver can take data (bit/s, 0 = unlimited)"},
  {"receiver-buffer", KIND_UINT64, 0, RATE_MAX, PLAIN (pipe.receiver_buffer),
      "Maximum amount of data that waits for a receiver; what exceeds it is "
      "lost (bytes, 0 = unlimited)"},

  {"serial-rate", KIND_SERIAL_RATE, 0, 1e10, PAIR (blocks.serial_rate),
      "Rate of the serial line before the GSM radio, with 10 bits for each "
      "byte (bit/s, 0 = unlimited)"},
  {"block-error-rate", KIND_DOUBLE, 0, 1, PLAIN (blocks.block_error_rate),
      "Fraction of the GSM radio blocks that are damaged by transmission "
      "errors (0 to 1)"},
  {"mean-burst", KIND_DOUBLE, 0, 1e6, PLAIN (blocks.mean_burst),
      "Mean number of consecutive GSM radio blocks that are damaged (blocks, 0 "
      "= the profile has no radio blocks)"},
  {"corrupt-share", KIND_DOUBLE, 0, 1, PLAIN (blocks.corrupt_share),
      "Fraction of the bytes of a damaged GSM radio block that change (0 to "
      "1)"},
  {"frame-check", KIND_BOOLEAN, 0, 0, PLAIN (blocks.frame_check),
      "Whether damaged packets of transparent GSM are dropped, as by PPP; "
      "false delivers the damaged packets, as PPP Lite does"},
  {"block-trace", KIND_FILE, 0, 0, AT (blocks.trace), 0, 0, 0, NULL,
      "File with a \"0\" for each undamaged GSM radio block and a \"1\" for "
      "each damaged block, to use instead of block-error-rate (unset = none)"},
  {"block-trace-down", KIND_FILE, 0, 0, AT (blocks.trace_down), 0, 0, 0, NULL,
      "File like that of block-trace, for all stations except station 0, the "
      "mobile host (unset = the file of block-trace)"},
  {"rlp-window", KIND_UINT, 0, 61, PLAIN (blocks.rlp_window),
      "Maximum number of frames that RLP of GSM sends before an "
      "acknowledgement (frames, 0 = the profile has no RLP)"},
  {"rlp-t1", KIND_UINT64, 0, TIME_MAX, PLAIN (blocks.rlp_t1),
      "Time for which RLP of GSM waits for an acknowledgement, parameter T1 "
      "(ns, 0 = the profile has no RLP)"},
  {"rlp-n2", KIND_UINT, 0, 255, PLAIN (blocks.rlp_n2),
      "Maximum number of retransmissions in RLP of GSM, parameter N2, for a "
      "frame or a poll (0 = the profile has no RLP)"},
  {"rlp-after-n2", KIND_ENUM, 0, 0, ENUM (blocks.rlp_after_n2, rlp_after_n2),
      "What RLP of GSM does after rlp-n2 retransmissions"},

  {"dial-up", KIND_BOOLEAN, 0, 0, PLAIN (dial_up.enabled),
      "Whether the first packet waits until a GSM or NMT call is set up"},
  {"call-failure", KIND_DOUBLE, 0, 1, PLAIN (dial_up.failure),
      "Fraction of the attempts to set up a call that fail (0 to 1)"},
  {"mean-time-to-break", KIND_UINT64, 0, TIME_MAX,
      PLAIN (dial_up.mean_time_to_break),
      "Mean duration of a call until it breaks (ns, 0 = calls do not break)"},
  {"hang-up-after", KIND_UINT64, 0, TIME_MAX, PLAIN (dial_up.hang_up_after),
      "Time without a packet in the link after which a GSM or NMT call is ended "
      "(ns, 0 = never)"},

  {"delivery-trace", KIND_FILE, 0, 0, AT (pipe.trace[0]), 0, 0, 0, NULL,
      "File in the format of mahimahi, to use instead of the property rate: "
      "each line is a time at which 1500 bytes can be sent (ms, unset = none)"},
  {"delivery-trace-down", KIND_FILE, 0, 0, AT (pipe.trace[1]), 0, 0, 0, NULL,
      "File like that of delivery-trace, for all stations except station 0, "
      "the mobile host (unset = the file of delivery-trace)"},
  {"pattern", KIND_FILE, 0, 0, AT (pattern), 0, 0, 0, NULL,
      "File that record-pattern has written, whose losses, damage and delays "
      "are repeated (unset = none)"},
};

#undef AT
#undef PLAIN
#undef PAIR
#undef ENUM
#undef NOWHERE

/* *INDENT-ON* */

#define N_SETTINGS G_N_ELEMENTS (table)

struct _WirelessLinkSettings
{
  /* The value of each property. If a property was not set, its GValue is not
   * initialised (G_VALUE_INIT). */
  GValue values[N_SETTINGS];
};

/* --- conversion between LinkConfig and GValue ----------------------------- */

static gsize
get_place (const Setting * setting, const LinkConfig * config)
{
  if (setting->blocks && (config->model == LINK_MODEL_BLOCKS
          || config->model == LINK_MODEL_RLP))
    return setting->blocks;
  return setting->offset;
}

static guint64
get_top_rate (const LinkConfig * config)
{
  const LinkDcfConfig *dcf = &config->dcf;

  if (dcf->n_rates == 0)
    return 0;
  return dcf->rates[MIN (dcf->top_rate, dcf->n_rates - 1)];
}

/* Reads the value of a property from `config` and stores it in `value`. Two
 * kinds of properties cannot be read from `config`: the property quality, and
 * all properties of type string. For them, `value` is not changed. A new GValue
 * for a string contains NULL, which is the default of all string properties. */
static void
read_member (const Setting * setting, const LinkConfig * config, GValue * value)
{
  gconstpointer member = G_STRUCT_MEMBER_P (config, get_place (setting,
          config));

  switch (setting->kind) {
    case KIND_MAX_RATE:
      g_value_set_uint64 (value, get_top_rate (config));
      break;
    case KIND_SERIAL_RATE:
      g_value_set_uint64 (value, *(const guint64 *) member * 10);
      break;
    case KIND_MILLISECONDS:
      g_value_set_double (value, *(const guint64 *) member / 1e6);
      break;
    case KIND_FREQUENCY:
      g_value_set_uint (value, (LINK_SECOND + *(const guint64 *) member / 2) /
          *(const guint64 *) member);
      break;
    case KIND_QUALITY:
    case KIND_INTERFERENCE:
    case KIND_FILE:
      break;
    default:
      gst_wireless_member_get (member, value);
      break;
  }
}

static void
write_one (const Setting * setting, gpointer member, const GValue * value)
{
  switch (setting->kind) {
    case KIND_SERIAL_RATE:
      *(guint64 *) member = g_value_get_uint64 (value) / 10;
      break;
    case KIND_MILLISECONDS:
      *(guint64 *) member = g_value_get_double (value) * 1e6 + 0.5;
      break;
    case KIND_FREQUENCY:
      *(guint64 *) member = (LINK_SECOND + g_value_get_uint (value) / 2) /
          g_value_get_uint (value);
      break;
    default:
      gst_wireless_member_set (member, value);
      break;
  }
}

static void
write_member (const Setting * setting, LinkConfig * config, const GValue *
    value)
{
  const gsize places[] = { setting->offset, setting->down, setting->blocks,
    setting->blocks_down
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (places); i++) {
    if (places[i])
      write_one (setting, G_STRUCT_MEMBER_P (config, places[i]), value);
  }
}

/* --- properties ----------------------------------------------------------- */

static GType
get_value_type (const Setting * setting)
{
  switch (setting->kind) {
    case KIND_UINT:
    case KIND_FREQUENCY:
      return G_TYPE_UINT;
    case KIND_DOUBLE:
    case KIND_MILLISECONDS:
      return G_TYPE_DOUBLE;
    case KIND_BOOLEAN:
      return G_TYPE_BOOLEAN;
    case KIND_PROFILE:
    case KIND_QUALITY:
    case KIND_ENUM:
      return setting->get_type ();
    case KIND_INTERFERENCE:
    case KIND_FILE:
      return G_TYPE_STRING;
    default:
      return G_TYPE_UINT64;
  }
}

/* Sets the default of a property to the value that the property has with
 * profile=custom. */
static void
fill_initial (const Setting * setting, const LinkConfig * config,
    GstWirelessProperty * property)
{
  GValue initial = G_VALUE_INIT;

  g_value_init (&initial, get_value_type (setting));
  read_member (setting, config, &initial);
  if (G_VALUE_HOLDS_UINT (&initial))
    property->initial = g_value_get_uint (&initial);
  else if (G_VALUE_HOLDS_UINT64 (&initial))
    property->initial = g_value_get_uint64 (&initial);
  else if (G_VALUE_HOLDS_DOUBLE (&initial))
    property->double_initial = g_value_get_double (&initial);
  else if (G_VALUE_HOLDS_BOOLEAN (&initial))
    property->initial = g_value_get_boolean (&initial);
  else if (G_VALUE_HOLDS_ENUM (&initial))
    property->initial = g_value_get_enum (&initial);
  g_value_unset (&initial);
}

static void
fill_property (const Setting * setting, GstWirelessProperty * property)
{
  property->name = property->nick = setting->name;
  property->blurb = setting->blurb;
  property->flags = PROPERTY_READY;
  if (setting->instead)
    property->flags |= G_PARAM_DEPRECATED;
  property->instead = setting->instead;
  property->type = get_value_type (setting);
  property->minimum = setting->min;
  property->double_minimum = setting->min;
  property->double_maximum = setting->max;
  if (setting->max > 0)
    property->maximum = setting->max;
  else
    property->maximum = property->type == G_TYPE_UINT ? G_MAXUINT : G_MAXUINT64;
}

void
wireless_link_settings_install (GObjectClass * object_class,
    void (*set) (gpointer object, const GValue * value, GParamSpec * pspec),
    void (*get) (gpointer object, GValue * value, GParamSpec * pspec))
{
  static GstWirelessProperty properties[N_SETTINGS];
  LinkConfig config;
  guint i;

  link_config_init (&config, LINK_PROFILE_CUSTOM, LINK_QUALITY_IDEAL);
  for (i = 0; i < N_SETTINGS; i++) {
    fill_property (&table[i], &properties[i]);
    fill_initial (&table[i], &config, &properties[i]);
    properties[i].set = set;
    properties[i].get = get;
  }
  gst_wireless_properties_install (object_class, properties, N_SETTINGS, 0, 0);
}

WirelessLinkSettings *
wireless_link_settings_new (void)
{
  return g_new0 (WirelessLinkSettings, 1);
}

void
wireless_link_settings_free (WirelessLinkSettings * settings)
{
  guint i;

  for (i = 0; i < N_SETTINGS; i++) {
    if (G_IS_VALUE (&settings->values[i]))
      g_value_unset (&settings->values[i]);
  }
  g_free (settings);
}

static const GValue *
find_value (const WirelessLinkSettings * settings, Kind kind)
{
  guint i;

  for (i = 0; i < N_SETTINGS && table[i].kind != kind; i++);
  return G_IS_VALUE (&settings->values[i]) ? &settings->values[i] : NULL;
}

static void
begin_config (const WirelessLinkSettings * settings, LinkConfig * config)
{
  const GValue *profile = find_value (settings, KIND_PROFILE);
  const GValue *quality = find_value (settings, KIND_QUALITY);

  link_config_init (config,
      profile ? g_value_get_enum (profile) : LINK_PROFILE_CUSTOM,
      quality ? g_value_get_enum (quality) : LINK_QUALITY_IDEAL);
}

/* Writes the values of the profile into `config`. If the application has set a
 * property, the value of the property replaces the value of the profile. */
static void
fill_config (const WirelessLinkSettings * settings, LinkConfig * config)
{
  guint i;

  begin_config (settings, config);
  for (i = 0; i < N_SETTINGS; i++) {
    if (G_IS_VALUE (&settings->values[i]) && table[i].kind < KIND_PROFILE)
      write_member (&table[i], config, &settings->values[i]);
  }
}

/* Some settings have two properties: a deprecated property, and the property
 * that replaces it. The property that is set last determines the setting.
 * `number` is the index of one of these properties in the table. The function
 * returns the place for the value of the other property. Returns NULL if the
 * setting has only one property. */
static GValue *
find_other_name (WirelessLinkSettings * settings, guint number)
{
  guint i;

  for (i = 0; i < N_SETTINGS; i++)
    if (g_strcmp0 (table[i].instead, table[number].name) == 0
        || g_strcmp0 (table[number].instead, table[i].name) == 0)
      return &settings->values[i];
  return NULL;
}

static guint
find_setting (const gchar * name)
{
  guint i;

  for (i = 0; !g_str_equal (table[i].name, name); i++);
  return i;
}

void
wireless_link_settings_set (WirelessLinkSettings * settings, const gchar * name,
    const GValue * value)
{
  const guint i = find_setting (name);
  GValue *kept = &settings->values[i];
  GValue *other = find_other_name (settings, i);

  if (other && G_IS_VALUE (other))
    g_value_unset (other);
  if (!G_IS_VALUE (kept))
    g_value_init (kept, G_VALUE_TYPE (value));
  g_value_copy (value, kept);
}

void
wireless_link_settings_get (WirelessLinkSettings * settings, const gchar * name,
    GValue * value)
{
  const guint i = find_setting (name);
  LinkConfig config;

  if (G_IS_VALUE (&settings->values[i])) {
    g_value_copy (&settings->values[i], value);
    return;
  }
  fill_config (settings, &config);
  read_member (&table[i], &config, value);
}

/* --- texts and files ------------------------------------------------------ */

static gboolean
set_max_rate (LinkConfig * config, guint64 rate, GError ** error)
{
  GString *rates;
  guint i;

  if (rate == 0 || config->model != LINK_MODEL_DCF)
    return TRUE;
  for (i = 0; i < config->dcf.n_rates; i++) {
    if (config->dcf.rates[i] == rate) {
      config->dcf.top_rate = i;
      return TRUE;
    }
  }
  rates = g_string_new (NULL);
  for (i = 0; i < config->dcf.n_rates; i++)
    g_string_append_printf (rates, " %" G_GUINT64_FORMAT, config->dcf.rates[i]);
  g_set_error (error, LINK_ERROR, LINK_ERROR_RANGE, "max-rate is %"
      G_GUINT64_FORMAT " bit/s: set one of the rates of the profile,%s", rate,
      rates->str);
  g_string_free (rates, TRUE);
  return FALSE;
}

static gboolean
try_text (const Setting * setting, const gchar * text, LinkConfig * config,
    GError ** error)
{
  if (g_str_equal (setting->name, "pattern")) {
    LinkPattern *pattern = link_pattern_parse (text, error);

    if (pattern)
      config->seed = link_pattern_get_seed (pattern);
    g_clear_pointer (&pattern, link_pattern_free);
    return !*error;
  }
  if (g_str_has_prefix (setting->name, "delivery-trace")) {
    LinkDelivery *delivery = link_delivery_parse (text, error);

    g_clear_pointer (&delivery, link_delivery_free);
    return !*error;
  }
  return TRUE;
}

/* Reads a file or a FIFO, but not more than MAX_FILE bytes. */
static gboolean
read_text (const gchar * name, gchar ** text, GError ** error)
{
  FILE *file = fopen (name, "r");
  GString *read = g_string_new (NULL);
  gchar block[16384];
  gsize size = 1;

  while (file && size > 0 && read->len <= MAX_FILE) {
    size = fread (block, 1, sizeof (block), file);
    g_string_append_len (read, block, size);
  }
  *text = NULL;
  if (!file || ferror (file))
    g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (errno),
        "could not read the file \"%s\": %s. Set a file that exists and may be "
        "read", name, g_strerror (errno));
  else if (read->len > MAX_FILE)
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_NOSPC,
        "the file \"%s\" is larger than the limit of %d bytes. Shorten the "
        "file", name, MAX_FILE);
  else
    *text = g_string_free (g_steal_pointer (&read), FALSE);
  if (file)
    fclose (file);
  if (read)
    g_string_free (read, TRUE);
  return *text != NULL;
}

static gboolean
read_file (const Setting * setting, const gchar * name, LinkConfig * config,
    gchar ** text, GError ** error)
{
  GError *problem = NULL;

  if (!read_text (name, text, &problem)) {
    g_propagate_prefixed_error (error, problem, "%s: ", setting->name);
    return FALSE;
  }
  if (!try_text (setting, *text, config, &problem)) {
    g_propagate_prefixed_error (error, problem, "%s \"%s\": ", setting->name,
        name);
    return FALSE;
  }
  G_STRUCT_MEMBER (const gchar *, config, setting->offset) = *text;
  return TRUE;
}

/* Applies the properties whose values need a check: the maximum rate,
 * `interference`, and the properties that name a file, such as a trace. */
static gboolean
fill_texts (const WirelessLinkSettings * settings, WirelessLinkConfig * full,
    GError ** error)
{
  guint i, n_texts = 0;

  for (i = 0; i < N_SETTINGS; i++) {
    const GValue *value = &settings->values[i];
    const Setting *setting = &table[i];
    gboolean right = TRUE;

    if (!G_IS_VALUE (value))
      continue;
    if (setting->kind == KIND_MAX_RATE)
      right = set_max_rate (&full->config, g_value_get_uint64 (value), error);
    else if (setting->kind == KIND_INTERFERENCE && g_value_get_string (value))
      right = link_config_parse_interference (&full->config,
          g_value_get_string (value), error);
    else if (setting->kind == KIND_FILE && g_value_get_string (value))
      right = read_file (setting, g_value_get_string (value), &full->config,
          &full->texts[n_texts++], error);
    if (!right)
      return FALSE;
    if (setting->offset == G_STRUCT_OFFSET (LinkConfig, blocks.trace))
      full->block_trace = g_value_get_string (value);
  }
  return TRUE;
}

static gboolean
check_trace (const LinkConfig * config, GError ** error)
{
  if (config->profile != LINK_PROFILE_TRACE || config->pipe.trace[0])
    return TRUE;
  g_set_error (error, LINK_ERROR, LINK_ERROR_EMPTY,
      "profile=trace needs a delivery trace: set delivery-trace to its file");
  return FALSE;
}

gboolean
wireless_link_settings_build (WirelessLinkSettings * settings,
    WirelessLinkConfig * config, GError ** error)
{
  memset (config, 0, sizeof (*config));
  fill_config (settings, &config->config);
  if (fill_texts (settings, config, error)
      && check_trace (&config->config, error))
    return TRUE;
  wireless_link_config_clear (config);
  return FALSE;
}

void
wireless_link_config_clear (WirelessLinkConfig * config)
{
  guint i;

  for (i = 0; i < G_N_ELEMENTS (config->texts); i++)
    g_clear_pointer (&config->texts[i], g_free);
}

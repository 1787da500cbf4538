/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of properties, see the header. */

#include "wirelesslinksettings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gstifd.h"
#include "gstwirelessproperties.h"
#include "linkdelivery.h"
#include "linkpattern.h"

/* bytes of a trace or pattern: an hour of 1,500 packets a second */
#define MAX_FILE (1 << 28)

typedef enum
{
  KIND_UINT,
  KIND_UINT64,
  KIND_DOUBLE,
  KIND_BOOLEAN,
  KIND_ENUM,
  KIND_MAX_RATE,                /* bit/s here, index of a rate there */
  KIND_SERIAL_RATE,             /* bit/s with start and stop bits here, bytes/s
                                 * there */
  KIND_FREQUENCY,               /* Hz here, ns there */
  KIND_PROFILE,                 /* what all others begin from */
  KIND_QUALITY,
  KIND_INTERFERENCE,
  KIND_FILE
} Kind;

typedef GType (*GetType) (void);

typedef struct
{
  const gchar *name;
  Kind kind;
  gdouble min, max;             /* 0, 0: all that the type can hold */
  gsize offset;
  gsize down;                   /* the other direction, if it has its own */
  gsize blocks, blocks_down;    /* where the models of radio blocks have it */
  GetType get_type;             /* of an enumeration */
  const gchar *blurb;
} Setting;

#define TIME_MAX 1e15
#define RATE_MAX 1e12
#define CELLULAR_RATE_MIN 10000
#define CELLULAR_RATE_MAX 1e10

/* *INDENT-OFF* */

/* Enumerations */

/* The table of linkprofiles.c as an enumeration */
static GType
profile_get_type (void)
{
  static gsize type = 0;

  if (g_once_init_enter (&type)) {
    guint i, n = link_profile_get_number ();
    /* GObject keeps it. */
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
    {LINK_QUALITY_IDEAL, "Nothing is lost on the air", "ideal"},
    {LINK_QUALITY_GOOD, "A good place", "good"},
    {LINK_QUALITY_POOR, "A bad place", "poor"})

static GST_WIRELESS_DEFINE_ENUM (queue, "GstWirelessLinkQueue",
    {LINK_QUEUE_DROP_TAIL, "A full queue takes no packet", "drop-tail"},
    {LINK_QUEUE_DROP_FRAME, "The same, and a frame of video that lost a packet "
        "there is lost whole", "drop-frame"},
    {LINK_QUEUE_IFD, "I-Frame Delay: whole frames of video, those that matter "
        "most", "ifd"})

static GST_WIRELESS_DEFINE_ENUM (rate_fallback, "GstWirelessLinkRateFallback",
    {LINK_FALLBACK_FIXED, "Always max-rate", "fixed"},
    {LINK_FALLBACK_ARF, "One step down after down-after failures", "arf"},
    {LINK_FALLBACK_LOSS, "To the slowest rate after a packet lost", "loss"},
    {LINK_FALLBACK_ARF_LOSS, "Both", "arf-loss"})

static GST_WIRELESS_DEFINE_ENUM (jitter_distribution,
    "GstWirelessLinkJitterDistribution",
    {FALSE, "From 0 to jitter, all equally likely", "uniform"},
    {TRUE, "Exponential with mean jitter", "exponential"})

static GST_WIRELESS_DEFINE_ENUM (rlp_after_n2, "GstWirelessLinkRlpAfterN2",
    {LINK_AFTER_N2_RESET, "What is in flight is lost", "reset"},
    {LINK_AFTER_N2_DISCONNECT, "The call is lost too", "disconnect"})

/* The table */

#define AT(member) G_STRUCT_OFFSET (LinkConfig, member)
#define PLAIN(member) AT (member), 0, 0, 0, NULL
#define PAIR(member) AT (member[0]), AT (member[1]), 0, 0, NULL
#define ENUM(member, name) AT (member), 0, 0, 0, name##_get_type
#define NOWHERE 0, 0, 0, 0, NULL

static const Setting table[] = {
  {"profile", KIND_PROFILE, 0, 0, ENUM (profile, profile),
      "Network that was measured, with all its numbers; every property that is "
      "set overrides one of them"},
  {"quality", KIND_QUALITY, 0, 0, 0, 0, 0, 0, quality_get_type,
      "How good the place is, in profiles that know several"},
  {"seed", KIND_UINT64, 0, 0, PLAIN (seed),
      "Where all randomness comes from: the same seed, the same radio"},
  {"overhead", KIND_UINT, 0, 65535, PLAIN (overhead),
      "Bytes of headers that the buffers don't have yet: 28 for the payload of "
      "UDP over IPv4, 0 for IP packets"},
  {"max-size", KIND_UINT, 0, 0, PLAIN (max_size),
      "Largest packet with its overhead, in bytes; 0: no limit"},
  {"txqueuelen", KIND_UINT, 0, 0, PLAIN (queue.packets),
      "Packets that wait in the queue of a station; 0: no limit"},
  {"queue-bytes", KIND_UINT64, 0, 0, PLAIN (queue.bytes),
      "Bytes that wait in the queue of a station; 0: no limit"},
  {"queue-time", KIND_UINT64, 0, TIME_MAX, PLAIN (queue.time),
      "The queue of a station is full while its oldest packet waits longer, "
      "in ns; 0: no limit"},
  {"queue", KIND_ENUM, 0, 0, ENUM (queue.discipline, queue),
      "Who is lost where there is no room: packets, or frames of MPEG video"},
  {"ifd-algorithm", KIND_ENUM, 0, 0, ENUM (queue.ifd.algorithm,
        gst_ifd_algorithm),
      "queue=ifd: how it chooses among frames"},
  {"ifd-max-frames", KIND_UINT, 1, IFD_MAX_FRAMES, PLAIN (queue.ifd.max_frames),
      "queue=ifd: frames of a stream that may wait, beside the one that is "
      "being sent; the algorithms of the paper always have 1"},

  {"max-rate", KIND_MAX_RATE, 0, RATE_MAX, NOWHERE,
      "802.11: highest rate, in bit/s, one that the profile has; 0: the "
      "profile's"},
  {"rate-fallback", KIND_ENUM, 0, 0, ENUM (dcf.fallback, rate_fallback),
      "802.11: when the rate is lowered"},
  {"down-after", KIND_UINT, 1, 1e9, PLAIN (dcf.down_after),
      "802.11: failures in a row until the rate is lowered"},
  {"up-after", KIND_UINT, 1, 1e9, PLAIN (dcf.up_after),
      "802.11: successes in a row until the rate is raised"},
  {"loss-up-after", KIND_UINT, 1, 1e9, PLAIN (dcf.loss_up_after),
      "802.11: the same while climbing after a packet lost"},
  {"retry-limit", KIND_UINT, 0, 255, PLAIN (dcf.retry_limit),
      "802.11: transmissions of a packet; 0: 16"},
  {"short-preamble", KIND_BOOLEAN, 0, 0, PLAIN (dcf.short_preamble),
      "802.11b: the short preamble"},
  {"ack-rate", KIND_UINT64, 0, RATE_MAX, PLAIN (dcf.ack_rate),
      "802.11: rate of acknowledgements, in bit/s; 0: highest basic rate that "
      "is not above the packet's"},
  {"interference", KIND_INTERFERENCE, 0, 0, NOWHERE,
      "802.11: when a microwave oven is on: \"none\", \"always\", or seconds "
      "since the link began, as in \"20-40,50-60\""},
  {"oven-on", KIND_UINT64, 0, TIME_MAX, PLAIN (oven.on),
      "802.11: how long the oven sends in each cycle of the mains, in ns"},
  {"mains-frequency", KIND_FREQUENCY, 1, 1000, PLAIN (oven.cycle),
      "802.11: of the oven's mains, in Hz"},

  {"rate", KIND_UINT64, 0, RATE_MAX, PAIR (pipe.rate),
      "Rate of the transmitters, in bit/s; 0: no limit"},
  {"rate-down", KIND_UINT64, 0, RATE_MAX, PLAIN (pipe.rate[1]),
      "The same for stations other than 0; unless set it is rate"},
  {"burst", KIND_UINT64, 0, 1e9, PLAIN (pipe.burst),
      "Depth of a token bucket that fills at rate, in bytes; 0: no bucket, a "
      "packet takes its time at rate"},
  {"cellular-rate", KIND_UINT64, 0, CELLULAR_RATE_MAX,
      PAIR (pipe.cellular.mean_rate),
      "Cellular model instead of rate: mean rate over a long time with its "
      "outages, in bit/s; 0: no cellular model"},
  {"cellular-rate-down", KIND_UINT64, 0, CELLULAR_RATE_MAX,
      PLAIN (pipe.cellular.mean_rate[1]),
      "The same for stations other than 0; unless set it is cellular-rate"},
  {"cellular-min-rate", KIND_UINT64, 0, CELLULAR_RATE_MAX,
      PLAIN (pipe.cellular.min_rate),
      "Cellular model: minimum rate outside of outages, in bit/s"},
  {"cellular-max-rate", KIND_UINT64, CELLULAR_RATE_MIN, CELLULAR_RATE_MAX,
      PLAIN (pipe.cellular.max_rate),
      "Cellular model: maximum rate, in bit/s"},
  {"cellular-noise", KIND_UINT64, 0, CELLULAR_RATE_MAX,
      PLAIN (pipe.cellular.noise),
      "Cellular model: standard deviation of the change of the rate in one "
      "second, in bit/s; 0: the rate stays at its mean"},
  {"cellular-reversion", KIND_UINT64, 1e8, TIME_MAX,
      PLAIN (pipe.cellular.reversion),
      "Cellular model: time constant with which the rate returns to its mean, "
      "in ns"},
  {"cellular-outage-interval", KIND_UINT64, 0, TIME_MAX,
      PLAIN (pipe.cellular.outage_interval),
      "Cellular model: mean time from an outage to the next, in ns; 0: there "
      "are no outages"},
  {"cellular-outage-escape", KIND_DOUBLE, 0.001, 1000,
      PLAIN (pipe.cellular.outage_escape),
      "Cellular model: rate at which an outage ends, per second: 1 / its mean "
      "length"},
  {"delay", KIND_UINT64, 0, TIME_MAX, AT (pipe.delay[0]), AT (pipe.delay[1]),
      AT (blocks.delay[0]), AT (blocks.delay[1]), NULL,
      "Delay behind the transmitter, in ns"},
  {"delay-down", KIND_UINT64, 0, TIME_MAX, AT (pipe.delay[1]), 0,
      AT (blocks.delay[1]), 0, NULL,
      "The same for stations other than 0; unless set it is delay"},
  {"jitter", KIND_UINT64, 0, TIME_MAX, PLAIN (pipe.jitter),
      "Random delay more than that, in ns; packets stay in order"},
  {"jitter-distribution", KIND_ENUM, 0, 0,
      ENUM (pipe.jitter_exponential, jitter_distribution),
      "How the jitter is distributed"},
  {"loss", KIND_DOUBLE, 0, 1, PLAIN (pipe.loss_good),
      "Part of the packets lost on the air, in good times"},
  {"loss-bad", KIND_DOUBLE, 0, 1, PLAIN (pipe.loss_bad),
      "The same in bad times"},
  {"mean-good", KIND_UINT64, 0, TIME_MAX, PLAIN (pipe.fading.mean_good),
      "How long good times of the radio last in the mean, in ns"},
  {"mean-bad", KIND_UINT64, 0, TIME_MAX, PLAIN (pipe.fading.mean_bad),
      "How long bad times last in the mean, in ns; 0: there are none"},
  {"bit-error-rate", KIND_DOUBLE, 0, 0.5, PLAIN (pipe.bit_error_good),
      "Part of the bits that are flipped, in good times"},
  {"bit-error-rate-bad", KIND_DOUBLE, 0, 0.5, PLAIN (pipe.bit_error_bad),
      "The same in bad times"},
  {"drop-damaged", KIND_BOOLEAN, 0, 0, PLAIN (pipe.drop_damaged),
      "A frame check drops packets with bit errors"},
  {"duplicate", KIND_DOUBLE, 0, 1, PLAIN (pipe.duplicate),
      "Part of the packets that come out twice"},
  {"reorder", KIND_DOUBLE, 0, 1, PLAIN (pipe.reorder),
      "Part of the packets that others overtake"},
  {"reorder-delay", KIND_UINT64, 0, TIME_MAX, PLAIN (pipe.reorder_delay),
      "How much later those come, in ns"},
  {"packet-overhead", KIND_UINT, 0, 65535, PLAIN (pipe.overhead),
      "Bytes of the link's own that are sent with each packet"},
  {"half-duplex", KIND_BOOLEAN, 0, 0, PLAIN (pipe.half_duplex),
      "All stations share one transmitter"},
  {"take-turns", KIND_BOOLEAN, 0, 0, PLAIN (pipe.take_turns),
      "Half duplex: stations send in turn, not in the order of arrival"},
  {"turnaround", KIND_UINT64, 0, TIME_MAX, PLAIN (pipe.turnaround),
      "Half duplex: pause when another station sends, in ns"},
  {"outage-good", KIND_UINT64, 0, TIME_MAX, PLAIN (pipe.outage.mean_good),
      "How long the transmitter sends between outages in the mean, in ns"},
  {"outage-bad", KIND_UINT64, 0, TIME_MAX, PLAIN (pipe.outage.mean_bad),
      "How long outages last in the mean, in ns; nothing is lost in them; 0: "
      "there are none"},
  {"stall-good", KIND_UINT64, 0, TIME_MAX, PLAIN (pipe.stall.mean_good),
      "How long the network behind the transmitter runs between stalls in "
      "the mean, in ns"},
  {"stall-bad", KIND_UINT64, 0, TIME_MAX, PLAIN (pipe.stall.mean_bad),
      "How long stalls last in the mean, in ns; then all comes at once; 0: "
      "there are none"},
  {"receiver-rate", KIND_UINT64, 0, RATE_MAX, PLAIN (pipe.receiver_rate),
      "What a receiver can take, in bit/s; 0: all"},
  {"receiver-buffer", KIND_UINT64, 0, RATE_MAX, PLAIN (pipe.receiver_buffer),
      "Bytes that wait before a receiver; more is lost; 0: no limit"},

  {"serial-rate", KIND_SERIAL_RATE, 0, 1e10, PAIR (blocks.serial_rate),
      "GSM: rate of the line before the radio, in bit/s, 10 for each byte"},
  {"block-error-rate", KIND_DOUBLE, 0, 1, PLAIN (blocks.block_error_rate),
      "GSM: part of the radio blocks that are hit"},
  {"mean-burst", KIND_DOUBLE, 0, 1e6, PLAIN (blocks.mean_burst),
      "GSM: blocks that are hit in a row, in the mean"},
  {"corrupt-share", KIND_DOUBLE, 0, 1, PLAIN (blocks.corrupt_share),
      "GSM: part of the bytes of a hit block that change"},
  {"frame-check", KIND_BOOLEAN, 0, 0, PLAIN (blocks.frame_check),
      "GSM transparent: damaged packets are dropped, as PPP does; false: they "
      "pass, as in PPP Lite"},
  {"block-trace", KIND_FILE, 0, 0, AT (blocks.trace), 0, 0, 0, NULL,
      "GSM: file of \"0\" and \"1\" for radio blocks that come through and "
      "that are hit, instead of block-error-rate"},
  {"block-trace-down", KIND_FILE, 0, 0, AT (blocks.trace_down), 0, 0, 0, NULL,
      "The same for stations other than 0; unless set it is block-trace"},
  {"rlp-window", KIND_UINT, 0, 61, PLAIN (blocks.rlp_window),
      "GSM: frames that RLP sends before an acknowledgement"},
  {"rlp-t1", KIND_UINT64, 0, TIME_MAX, PLAIN (blocks.rlp_t1),
      "GSM: how long RLP waits for an acknowledgement, in ns"},
  {"rlp-n2", KIND_UINT, 0, 255, PLAIN (blocks.rlp_n2),
      "GSM: retransmissions of an RLP frame or poll"},
  {"rlp-after-n2", KIND_ENUM, 0, 0, ENUM (blocks.rlp_after_n2, rlp_after_n2),
      "GSM: what RLP does after that"},

  {"dial-up", KIND_BOOLEAN, 0, 0, PLAIN (dial_up.enabled),
      "The first packet waits until a call is set up"},
  {"call-failure", KIND_DOUBLE, 0, 1, PLAIN (dial_up.failure),
      "Part of the calls that fail"},
  {"mean-time-to-break", KIND_UINT64, 0, TIME_MAX,
      PLAIN (dial_up.mean_time_to_break),
      "How long calls last in the mean, in ns; 0: for ever"},
  {"hang-up-after", KIND_UINT64, 0, TIME_MAX, PLAIN (dial_up.hang_up_after),
      "Dial-up: how long no packet is in the link until the call is ended, in "
      "ns; 0: never"},

  {"delivery-trace", KIND_FILE, 0, 0, AT (pipe.trace[0]), 0, 0, 0, NULL,
      "File in mahimahi's format, instead of rate: a line for each 1500 bytes "
      "that can be sent, its time in ms"},
  {"delivery-trace-down", KIND_FILE, 0, 0, AT (pipe.trace[1]), 0, 0, 0, NULL,
      "The same for stations other than 0; unless set it is delivery-trace"},
  {"pattern", KIND_FILE, 0, 0, AT (pattern), 0, 0, 0, NULL,
      "File of record-pattern, whose losses, damage and delays happen again"},
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
  GValue values[N_SETTINGS];    /* of those that were set, others invalid */
};

/* A member of a LinkConfig and a GValue of the property's type */

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

/* Texts have no value in a configuration: their default is NULL. */
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

/* Properties */

static GType
get_value_type (const Setting * setting)
{
  switch (setting->kind) {
    case KIND_UINT:
    case KIND_FREQUENCY:
      return G_TYPE_UINT;
    case KIND_DOUBLE:
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

/* The default is that of the custom profile. */
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

/* The profile, and the numbers that were set */
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
  GValue *kept = &settings->values[find_setting (name)];

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

/* Texts and files */

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

/* A FIFO does as well as a file, but none without end. */
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
        "could not read the file \"%s\": %s", name, g_strerror (errno));
  else if (read->len > MAX_FILE)
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_NOSPC,
        "the file \"%s\" is larger than the limit of %d bytes", name, MAX_FILE);
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

/* What can be wrong */
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

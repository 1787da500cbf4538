/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The configuration of a link. A profile provides numbers that were measured in
 * a real network; linkprofiles.c names the sources of the numbers. Every number
 * may then be changed. Times are in ns, rates in bit/s, sizes in bytes, and
 * probabilities are 0 to 1.
 */

#pragma once

#include "ifd.h"

#define LINK_MAX_STATIONS 16
#define LINK_MAX_RATES 8
#define LINK_MAX_WINDOWS 16

#define LINK_MS G_GUINT64_CONSTANT (1000000)
#define LINK_SECOND G_GUINT64_CONSTANT (1000000000)
#define LINK_NEVER G_MAXUINT64

#define LINK_ERROR (link_error_quark ())
GQuark link_error_quark (void);

typedef enum
{
  LINK_ERROR_RANGE,             /* a number outside its range */
  /* error code: a text or file has invalid syntax */
  LINK_ERROR_SYNTAX,
  LINK_ERROR_EMPTY              /* a file without contents */
} LinkError;

/* Numbers of the profiles, which are predefined configurations. Only the
 * profiles to which the code refers have a name here. linkprofiles.c may define
 * further profiles, with greater numbers. link_profile_get_info () knows all of
 * them. */
typedef enum
{
  LINK_PROFILE_CUSTOM,
  LINK_PROFILE_80211B,
  /* 802.11b with the network card that Ouwens (2006) describes in section 3.5
   */
  LINK_PROFILE_80211B_OUWENS,
  LINK_PROFILE_80211G,
  LINK_PROFILE_GSM,             /* non-transparent: RLP */
  LINK_PROFILE_GSM_TRANSPARENT,
  LINK_PROFILE_NMT,
  LINK_PROFILE_GPRS,
  LINK_PROFILE_RANGELAN2,
  LINK_PROFILE_IRDA,
  LINK_PROFILE_TRACE,
  LINK_PROFILE_CELLULAR
} LinkProfile;

typedef struct
{
  const gchar *nick, *description;
} LinkProfileInfo;

typedef enum
{
  LINK_QUALITY_IDEAL,
  LINK_QUALITY_GOOD,
  LINK_QUALITY_POOR
} LinkQuality;

typedef enum
{
  LINK_MODEL_PIPE,              /* rate, delay, loss */
  LINK_MODEL_DCF,               /* IEEE 802.11, distributed coordination */
  LINK_MODEL_BLOCKS,            /* GSM radio blocks, transparent */
  LINK_MODEL_RLP                /* GSM radio blocks under RLP */
} LinkModelType;

typedef enum
{
  LINK_QUEUE_DROP_TAIL,
  /* Queue discipline for video: if a packet of a frame is dropped, the other
   * packets of the frame are dropped as well. */
  LINK_QUEUE_DROP_FRAME,
  LINK_QUEUE_IFD                /* drops frames by frame type */
} LinkQueueDiscipline;

/* Configuration of a queue. `packets`, `bytes` and `time` limit the packets
 * that wait in the queue; 0 means no limit. The packet that is being sent does
 * not count as waiting. */
typedef struct
{
  LinkQueueDiscipline discipline;
  guint packets;                /* txqueuelen */
  guint64 bytes;
  /* Maximum waiting time in ns. The queue counts as full while its oldest
   * packet has waited longer than this time. */
  guint64 time;
  /* Configuration of the separate queue for video packets. It exists only with
   * the discipline LINK_QUEUE_IFD. With this discipline, `packets`, `bytes` and
   * `time` limit only the queue of all other packets. */
  IfdConfig ifd;
} LinkQueueConfig;

/* Random process that alternates between a good and a bad state. mean_good and
 * mean_bad are the mean durations of these states. The state depends only on
 * the time and the seed. If mean_bad is 0, the state is always good. */
typedef struct
{
  guint64 mean_good, mean_bad;  /* ns */
} LinkOnOffConfig;

typedef enum
{
  LINK_FALLBACK_FIXED,          /* always the top rate */
  /* automatic rate fallback: uses the next lower rate after several consecutive
   * failed attempts, and the next higher rate after several successful ones */
  LINK_FALLBACK_ARF,
  LINK_FALLBACK_LOSS,           /* lowest rate after a lost packet */
  LINK_FALLBACK_ARF_LOSS        /* both */
} LinkFallback;

typedef struct
{
  guint n_rates;                /* number of values in `rates` */
  guint64 rates[LINK_MAX_RATES];        /* bit/s, in ascending order */
  /* probability that an attempt to send a frame fails, for each rate */
  gdouble failure[LINK_MAX_RATES];
  /* Additional probability that an attempt to send a frame fails while the
   * microwave oven radiates. The array has one probability for each rate. */
  gdouble oven_failure[LINK_MAX_RATES];
  /* index in `rates` of the highest rate that the stations may use */
  guint top_rate;
  /* rate in bit/s at which an ACK is sent; 0 = the highest basic rate that does
   * not exceed the rate of the data frame */
  guint64 ack_rate;
  gboolean ofdm;                /* 802.11g instead of DSSS and CCK of 802.11b */
  gboolean short_preamble;
  guint retry_limit;            /* maximum number of transmissions; 0 = 16 */
  LinkFallback fallback;
  /* number of failed attempts in a row after which a station reduces its rate
   * by one step */
  guint down_after;
  /* number of successful attempts in a row after which a station increases its
   * rate by one step */
  guint up_after;
  /* Number of successful attempts in a row after which a station increases its
   * rate by one step while it recovers from a lost packet. The recovery begins
   * when the packet is lost, and lasts until the station uses the top rate
   * again. At all other times, `up_after` applies. */
  guint loss_up_after;
} LinkDcfConfig;

typedef struct
{
  guint64 begin, end;           /* ns since the link began */
} LinkWindow;

/* A microwave oven, which disturbs the link. It radiates during a part of each
 * cycle of the mains voltage. */
typedef struct
{
  gboolean always;              /* on during the whole run */
  /* Time windows in which the microwave oven is on, in increasing order. They
   * are used only if `always` is FALSE.
   */
  guint n_windows;
  LinkWindow windows[LINK_MAX_WINDOWS];
  guint64 cycle;                /* ns, 20 ms at 50 Hz */
  /* duration in ns of the radiation of the microwave oven in each cycle */
  guint64 on;
} LinkOvenConfig;

/* A cellular link with a varying rate (linkwander.h). The defaults are those of
 * Winstein et al. (2013), as far as their paper states them. The paper counts
 * rates in packets per second. A packet has 12000 bits there, so the rates here
 * are 12000 times those numbers.
 */
typedef struct
{
  /* Long-term mean of the rate in bit/s, one value per direction. The mean
   * includes the outages, in which the rate is 0. If this field is 0 for a
   * direction, the direction does not use the cellular model. */
  guint64 mean_rate[2];
  guint64 min_rate;             /* bit/s between two outages */
  guint64 max_rate;             /* bit/s; 1000 packets/s in the paper */
  /* Standard deviation, in bit/s, of the random change of the rate in one
   * second (Brownian motion). Winstein et al. use 200 packets/s, which is 2.4
   * Mbit/s. */
  guint64 noise;
  /* Time constant in ns with which the rate returns to its mean (mean
   * reversion). The model of Winstein et al. has no mean reversion. */
  guint64 reversion;
  /* Reciprocal of the mean duration of an outage, in 1/s. Winstein et al. use 1
   * per second. */
  gdouble outage_escape;
  /* Mean time in ns from the end of an outage to the next outage; 0 = no
   * outages. */
  guint64 outage_interval;
} LinkCellularConfig;

/* Configuration of LINK_MODEL_PIPE, a link with a rate and a delay per
 * direction. An array of two has one value per direction. The first value is
 * for packets that station 0 (the mobile station) sends, and the second is for
 * packets that all other stations send. */
typedef struct
{
  guint64 rate[2];              /* bit/s; 0: no limit */
  /* Size in bytes of a token bucket that is filled at `rate`. A packet that
   * finds enough tokens leaves at once. 0 = no bucket: the transmission of each
   * packet takes its size divided by `rate`. */
  guint64 burst;
  LinkCellularConfig cellular;  /* used instead of `rate` */
  /* Text of a delivery trace in mahimahi's format, which lists the times at
   * which the link can send. It is used instead of `rate` and `cellular`. If
   * trace[1] is NULL, trace[0] is used for both directions. */
  const gchar *trace[2];
  gboolean half_duplex;         /* both directions share one medium */
  /* Order in which the stations send on a half-duplex medium. TRUE = the
   * stations take turns; FALSE = the packet that has waited for the longest
   * time is sent first. */
  gboolean take_turns;
  /* Pause in ns before a station sends on a half-duplex medium. The pause
   * applies only if the previous packet was sent by another station. */
  guint64 turnaround;
  /* size in bytes of the framing that the link layer adds to each packet */
  guint overhead;
  guint64 delay[2];             /* ns */
  /* Mean or maximum of an additional random delay, in ns. If
   * `jitter_exponential` is TRUE, the random delay has an exponential
   * distribution, and this field is its mean. Otherwise, the random delay is
   * uniformly distributed from 0 to this maximum. */
  guint64 jitter;
  /* Distribution of the jitter. TRUE = exponential with the mean `jitter`,
   * FALSE = uniform from 0 to `jitter`. */
  gboolean jitter_exponential;
  /* Additional delay in ns for a packet of station 0 (the mobile station) that
   * arrives while the link is idle. It models a modem that delays such packets.
   */
  guint64 idle_delay;
  /* Maximum size in bytes, including the IP and UDP headers, of a packet that
   * is exempt from `idle_delay`. Only larger packets get this delay. */
  guint idle_delay_size;
  /* mean durations in ns of the good and of the bad state of the radio */
  LinkOnOffConfig fading;
  /* loss probability of a packet in the good and in the bad state of the radio
   */
  gdouble loss_good, loss_bad;
  gdouble bit_error_good, bit_error_bad;
  gboolean drop_damaged;        /* A frame check drops damaged packets. */
  gdouble duplicate;
  /* fraction of the packets, 0 to 1, that are delayed by `reorder_delay`, so
   * that later packets can overtake them */
  gdouble reorder;
  guint64 reorder_delay;        /* ns */
  /* Random process that pauses the transmitter: it transmits in the good state,
   * and pauses in the bad state. The pause itself loses no packet. */
  LinkOnOffConfig outage;
  /* Random process that pauses the network downstream of the link. In the bad
   * state, this network delivers nothing. At the end of the bad state, it
   * delivers all packets that have waited, at the same time. */
  LinkOnOffConfig stall;
  /* rate at which the receiver can process packets, in bit/s; 0 = no limit */
  guint64 receiver_rate;
  guint64 receiver_buffer;      /* bytes; 0: no limit */
} LinkPipeConfig;

typedef enum
{
  LINK_AFTER_N2_RESET,          /* packets in flight are lost */
  LINK_AFTER_N2_DISCONNECT      /* the call is ended, too */
} LinkAfterN2;

typedef struct
{
  /* Rate in bytes/s of the serial line that packets cross before they are sent
   * by radio. There is one value per direction. */
  guint64 serial_rate[2];
  guint64 block_time;           /* ns */
  guint block_payload;          /* bytes */
  gdouble block_error_rate;
  gdouble mean_burst;           /* blocks */
  /* probability that a byte is damaged, for each byte of a radio block with
   * errors */
  gdouble corrupt_share;
  /* Recorded errors of the radio blocks that station 0 sends: a text with one
   * character per block, which is '1' if the block has errors, and '0'
   * otherwise. If NULL, the errors occur in random bursts. */
  const gchar *trace;
  /* Recorded errors of the radio blocks that all stations except station 0
   * send, in the format of `trace`. If NULL, `trace` applies to the blocks of
   * all stations. */
  const gchar *trace_down;
  guint overhead;               /* framing bytes of each packet */
  /* Number of framing bytes that are sent before each packet. The rest of the
   * `overhead` framing bytes are sent after the packet. */
  guint overhead_before;
  gboolean frame_check;         /* damaged packets are dropped */
  /* Delay in ns between the radio link and the receiver, one value per
   * direction. It comes in addition to `radio_delay`. */
  guint64 delay[2];
  /* delay in ns that interleaving on the radio link causes */
  guint64 radio_delay;
  guint rlp_window;             /* frames */
  guint64 rlp_t1;               /* ns */
  /* parameter N2 of RLP: maximum number of retransmissions of a frame, and of a
   * poll (a request for the state of the peer) */
  guint rlp_n2;
  LinkAfterN2 rlp_after_n2;
} LinkBlocksConfig;

typedef struct
{
  gboolean enabled;
  /* The set-up of a phone call has three phases: the command to the phone, the
   * connection, and the handshake of the modems. The fields from
   * `command_min` to `handshake_max` are the minimum and the maximum duration
   * of each phase, in ns. */
  guint64 command_min, command_max;
  guint64 connect_min, connect_max;
  guint64 handshake_min, handshake_max;
  /* probability that the handshake of a phone call is slow; a slow handshake
   * takes up to `slow_extra_max` longer */
  gdouble slow;
  guint64 slow_extra_max;       /* ns */
  gdouble failure;              /* probability that a phone call fails */
  /* Minimum and maximum time in ns from the start of a failed phone call until
   * the failure is detected. The time is random within these limits. */
  guint64 failure_min, failure_max;
  /* mean time in ns from the connection of a phone call until it is
   * interrupted; 0 = phone calls are not interrupted */
  guint64 mean_time_to_break;
  guint64 hang_up_after;        /* ns without a packet; 0 = never */
} LinkDialUpConfig;

typedef struct
{
  guint profile;                /* a LinkProfile or a greater number */
  LinkModelType model;
  guint64 seed;
  /* Total size in bytes of the IP and UDP headers of a packet. The size of a
   * packet in the link does not include these headers, so the link adds this
   * number to it. */
  guint overhead;
  /* maximum packet size in bytes, including the headers counted in `overhead`;
   * 0 = no limit */
  guint max_size;
  LinkQueueConfig queue;
  LinkDcfConfig dcf;
  LinkOvenConfig oven;
  LinkPipeConfig pipe;
  LinkBlocksConfig blocks;
  LinkDialUpConfig dial_up;
  const gchar *pattern;         /* text of a recorded pattern */
} LinkConfig;

/* Returns the name and the description of the profile with the number
 * `profile`. Returns NULL if there is no such profile. */
const LinkProfileInfo *link_profile_get_info (guint profile);
guint link_profile_get_number (void);
/* Sets every field of `config` to its value in the profile with the number
 * `profile`. The value of a field may depend on the radio quality `quality`. */
void link_config_init (LinkConfig * config, guint profile,
    LinkQuality quality);
/* Parses the times at which the microwave oven is switched on: "none",
 * "always", or time windows in seconds, such as "20-40,50-60". Stores the
 * result in `config->oven`. */
gboolean link_config_parse_interference (LinkConfig * config,
    const gchar * text, GError ** error);
/* Checks whether all numbers are in their ranges. If not, returns FALSE with an
 * error that names the invalid field and its limits. */
gboolean link_config_check (const LinkConfig * config, GError ** error);

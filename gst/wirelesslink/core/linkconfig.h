/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a link is made of. A profile fills it in with the numbers of a network
 * that was measured (sources in linkprofiles.c); every number may then be
 * changed. Times are ns, rates bit/s, sizes bytes, probabilities 0 to 1.
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
  LINK_ERROR_RANGE,             /* a number that can't be */
  LINK_ERROR_SYNTAX,            /* a text or file that can't be read */
  LINK_ERROR_EMPTY              /* a file with nothing in it */
} LinkError;

/* The profiles that code names. linkprofiles.c may have more, with higher
 * numbers: their list is what link_profile_get_info() returns. */
typedef enum
{
  LINK_PROFILE_CUSTOM,
  LINK_PROFILE_80211B,
  LINK_PROFILE_80211B_OUWENS,   /* with the card of Ouwens 3.5 */
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
  LINK_QUEUE_DROP_FRAME,        /* no packet of a frame without the others */
  LINK_QUEUE_IFD                /* chooses among frames */
} LinkQueueDiscipline;

/* The limits hold for what waits, besides the packet in service; 0: none. */
typedef struct
{
  LinkQueueDiscipline discipline;
  guint packets;                /* txqueuelen */
  guint64 bytes;
  guint64 time;                 /* ns: full while the oldest waits longer */
  IfdConfig ifd;                /* of LINK_QUEUE_IFD, whose video has no other
                                 * limits */
} LinkQueueConfig;

/* A process that is good for a while and bad for a while, a function of time
 * and seed alone. Never bad where mean_bad is 0. */
typedef struct
{
  guint64 mean_good, mean_bad;  /* ns */
} LinkOnOffConfig;

typedef enum
{
  LINK_FALLBACK_FIXED,          /* always the top rate */
  LINK_FALLBACK_ARF,            /* down after failures in a row */
  LINK_FALLBACK_LOSS,           /* to the slowest after a packet lost */
  LINK_FALLBACK_ARF_LOSS        /* both */
} LinkFallback;

typedef struct
{
  guint n_rates;                /* from the slowest to the fastest */
  guint64 rates[LINK_MAX_RATES];        /* bit/s */
  gdouble failure[LINK_MAX_RATES];      /* of an attempt, at each rate */
  gdouble oven_failure[LINK_MAX_RATES]; /* more, where the oven overlaps */
  guint top_rate;               /* index of the fastest that is used */
  guint64 ack_rate;             /* bit/s; 0: the highest basic rate below */
  gboolean ofdm;                /* 802.11g, or DSSS and CCK of 802.11b */
  gboolean short_preamble;
  guint retry_limit;            /* transmissions; 0 counts as 16 */
  LinkFallback fallback;
  guint down_after;             /* failed attempts in a row */
  guint up_after;               /* successes in a row */
  guint loss_up_after;          /* successes for each step up after a loss */
} LinkDcfConfig;

typedef struct
{
  guint64 begin, end;           /* ns since the link began */
} LinkWindow;

/* A microwave oven: on for a part of each cycle of the mains. */
typedef struct
{
  gboolean always;              /* on during the whole run */
  guint n_windows;              /* else in these, in order */
  LinkWindow windows[LINK_MAX_WINDOWS];
  guint64 cycle;                /* ns, 20 ms at 50 Hz */
  guint64 on;                   /* ns of each cycle */
} LinkOvenConfig;

/* A cellular link whose rate wanders (linkwander.h). The defaults are the
 * values of the paper, where it has them; its packets have 12000 bits. */
typedef struct
{
  guint64 mean_rate[2];         /* bit/s over a long time, with the outages; 0:
                                 * the direction has no such model */
  guint64 min_rate;             /* bit/s, outside of outages */
  guint64 max_rate;             /* bit/s; the paper: 1000 packets/s */
  guint64 noise;                /* bit/s after one second of Brownian motion,
                                 * standard deviation; the paper: 200 packets */
  guint64 reversion;            /* ns: time constant of the return to the mean;
                                 * not in the paper */
  gdouble outage_escape;        /* 1/s: 1 / mean length of an outage; the paper:
                                 * 1 */
  guint64 outage_interval;      /* ns from the end of an outage to the next one,
                                 * mean; 0: there are none */
} LinkCellularConfig;

/* Where a field has two values they are for station 0, the mobile, and for the
 * others. */
typedef struct
{
  guint64 rate[2];              /* bit/s; 0: no limit */
  guint64 burst;                /* bytes in a token bucket that fills at rate;
                                 * 0: no bucket, a packet takes its time */
  LinkCellularConfig cellular;  /* instead of a rate */
  const gchar *trace[2];        /* text in mahimahi's format instead of both;
                                 * [1] NULL: as [0] */
  gboolean half_duplex;         /* one medium for both directions */
  gboolean take_turns;          /* on it the stations send in turn; otherwise
                                 * the packet that waits longest goes first */
  guint64 turnaround;           /* ns, when the direction changes */
  guint overhead;               /* bytes that are sent with each packet */
  guint64 delay[2];             /* ns */
  guint64 jitter;               /* ns more, uniform from 0 to this */
  gboolean jitter_exponential;  /* instead, with this mean */
  guint64 idle_delay;           /* ns more for the first packet of station 0 */
  guint idle_delay_size;        /* ... that is larger than this */
  LinkOnOffConfig fading;       /* good and bad times of the radio */
  gdouble loss_good, loss_bad;  /* of a packet, in each state */
  gdouble bit_error_good, bit_error_bad;
  gboolean drop_damaged;        /* a frame check below */
  gdouble duplicate;
  gdouble reorder;              /* part of the packets that others overtake */
  guint64 reorder_delay;        /* ns */
  LinkOnOffConfig outage;       /* the transmitter stops: nothing is lost */
  LinkOnOffConfig stall;        /* the network behind it stops, then gives all
                                 * at once */
  guint64 receiver_rate;        /* bit/s that the receiver can take; 0: all */
  guint64 receiver_buffer;      /* bytes; 0: no limit */
} LinkPipeConfig;

typedef enum
{
  LINK_AFTER_N2_RESET,          /* what is in flight is lost */
  LINK_AFTER_N2_DISCONNECT      /* the call is lost too */
} LinkAfterN2;

typedef struct
{
  guint64 serial_rate[2];       /* bytes/s of the line before the radio */
  guint64 block_time;           /* ns */
  guint block_payload;          /* bytes */
  gdouble block_error_rate;
  gdouble mean_burst;           /* blocks */
  gdouble corrupt_share;        /* of the bytes of a block that is hit */
  const gchar *trace;           /* '0' and '1' for each block, NULL: on/off */
  const gchar *trace_down;      /* for the others; NULL: as trace */
  guint overhead;               /* bytes of framing with each packet */
  guint overhead_before;        /* of these, before the packet */
  gboolean frame_check;         /* a damaged packet is dropped */
  guint64 delay[2];             /* ns, behind the radio */
  guint64 radio_delay;          /* ns, of the radio: interleaving */
  guint rlp_window;             /* frames */
  guint64 rlp_t1;               /* ns */
  guint rlp_n2;                 /* retransmissions of a frame or a poll */
  LinkAfterN2 rlp_after_n2;
} LinkBlocksConfig;

typedef struct
{
  gboolean enabled;
  guint64 command_min, command_max;     /* ns: the phases of a call's set-up */
  guint64 connect_min, connect_max;
  guint64 handshake_min, handshake_max;
  gdouble slow;                 /* part of the calls with a slow handshake */
  guint64 slow_extra_max;       /* ns */
  gdouble failure;              /* of a call */
  guint64 failure_min, failure_max;     /* ns until that is known */
  guint64 mean_time_to_break;   /* ns; 0: calls don't break */
  guint64 hang_up_after;        /* ns without a packet; 0: never */
} LinkDialUpConfig;

typedef struct
{
  guint profile;                /* LinkProfile, or a later number */
  LinkModelType model;
  guint64 seed;
  guint overhead;               /* bytes of IP and UDP that the packets put in
                                 * don't have yet */
  guint max_size;               /* bytes of a packet with that; 0: no limit */
  LinkQueueConfig queue;
  LinkDcfConfig dcf;
  LinkOvenConfig oven;
  LinkPipeConfig pipe;
  LinkBlocksConfig blocks;
  LinkDialUpConfig dial_up;
  const gchar *pattern;         /* text of a recorded run */
} LinkConfig;

/* The name of a profile; NULL: there are not so many */
const LinkProfileInfo *link_profile_get_info (guint profile);
guint link_profile_get_number (void);
/* Everything as this profile has it */
void link_config_init (LinkConfig * config, guint profile,
    LinkQuality quality);
/* "20-40,50-60" in seconds, "always" or "none" */
gboolean link_config_parse_interference (LinkConfig * config,
    const gchar * text, GError ** error);
/* FALSE with the name of the field and its limits */
gboolean link_config_check (const LinkConfig * config, GError ** error);

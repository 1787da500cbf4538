/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a user says of a path of the sender, and what the sender says of it in
 * turn: its configuration, its state and its statistics.
 */

#pragma once

#include <glib.h>

#define MMTP_NO_PATH G_MAXUINT

typedef struct
{
  const gchar *name;            /* for statistics and events; copied */
  guint16 max_size;             /* bytes of a UDP payload here, at least
                                 * MMTP_MIN_MESSAGE_SIZE */
  guint16 overhead;             /* bytes of IP and UDP that each packet costs */
  guint64 rate;                 /* bits per second, 0: to be measured; what the
                                 * framework knows, a beginning [4.6] */
  guint64 delay;                /* ns one way, 0: to be measured */
} MmtpPathConfig;

typedef enum
{
  MMTP_PATH_OPENING,         /* handshake or join */
  MMTP_PATH_ACTIVE,
  MMTP_PATH_CONTROL,         /* too slow for D0: control messages only */
  MMTP_PATH_SILENT,          /* nothing has been reported for a second */
  MMTP_PATH_GONE             /* removed */
} MmtpPathState;

const gchar *mmtp_path_state_get_name (MmtpPathState state);

/* What a path does for the stream now, and if it is nothing, why */
typedef enum
{
  MMTP_USE_CARRIES,
  MMTP_USE_JOINING,             /* the receiver has not answered yet */
  MMTP_USE_SPARE,               /* the others suffice */
  MMTP_USE_PROBED,              /* others are better known: it gets empty
                                 * messages, and what no other can bring */
  MMTP_USE_TOO_SLOW,            /* what goes there now comes too late */
  MMTP_USE_SILENT,              /* nothing arrives there, see silence */
  MMTP_USE_BLOCKED,             /* its socket has no room */
  MMTP_USE_GONE                 /* removed */
} MmtpPathUse;

/* Counters never go back. */
typedef struct
{
  const gchar *name;
  MmtpPathState state;
  MmtpPathUse use;
  guint64 silence;              /* ns since something last arrived, where it is
                                 * used for nothing because of that */
  gdouble share;                /* of the stream's bytes in the last second,
                                 * about: 0 to 1 */
  gdouble loss;                 /* of the messages reported in the last ten
                                 * seconds, about: 0 to 1 */
  guint64 rate;                 /* bits per second that it delivers */
  guint64 window;               /* bytes that may be in flight */
  guint64 in_flight;            /* bytes, with IP and UDP */
  guint64 delay;                /* ns one way, minimum */
  guint64 high_delay;           /* ns that nearly all messages stay below */
  guint64 round_trip;           /* ns, 0: unknown */
  guint64 jitter;               /* ns, as RFC 3550, section 6.4.1 */
  guint64 packets, bytes;       /* sent, all messages, without IP and UDP */
  guint64 data_packets;
  guint64 retransmitted;
  guint64 probes;               /* empty ones */
  guint64 reported;             /* that the receiver has */
  guint64 lost;                 /* that the receiver misses */
  guint64 late;                 /* that the receiver had too late */
  guint64 requeued;             /* under way when it fell silent or left */
  guint64 silences;             /* times it fell silent */
  guint64 report_steps;         /* sent messages visited, to bound the work of a
                                 * REPORT */
} MmtpSenderPathStats;

/* In words, as "silent for 0.4 s"; "" where it carries packets. To be freed */
gchar *mmtp_path_stats_explain (const MmtpSenderPathStats * stats);

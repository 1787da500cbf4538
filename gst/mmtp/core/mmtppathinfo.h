/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Configuration, state and statistics of one path of the sender, as the user of
 * the sender sees them.
 */

#pragma once

#include <glib.h>

#define MMTP_NO_PATH G_MAXUINT

typedef struct
{
  const gchar *name;            /* name in statistics and events; copied */
  /* Maximum UDP payload in bytes, at least MMTP_MIN_MESSAGE_SIZE. */
  guint16 max_size;
  guint16 overhead;             /* bytes of IP and UDP headers per packet */
  /* Rate that is known in advance, in bit/s, from which the sender starts
   * [4.6]; 0 means that it is measured. */
  guint64 rate;
  /* one-way delay in ns; 0 means that it is measured */
  guint64 delay;
} MmtpPathConfig;

typedef enum
{
  MMTP_PATH_OPENING,         /* handshake or JOIN in progress */
  MMTP_PATH_ACTIVE,
  /* too slow for D0: carries only control messages */
  MMTP_PATH_CONTROL,
  /* The receiver reports no messages from this path. */
  MMTP_PATH_SILENT,
  MMTP_PATH_GONE             /* removed */
} MmtpPathState;

const gchar *mmtp_path_state_get_name (MmtpPathState state);

/* How the stream uses a path at present, or why it does not. */
typedef enum
{
  MMTP_USE_CARRIES,
  MMTP_USE_JOINING,             /* The receiver has not answered yet. */
  MMTP_USE_SPARE,               /* The other paths suffice. */
  /* The path carries only PROBEs and what no other path can deliver, because
   * the other paths are better known. */
  MMTP_USE_PROBED,
  MMTP_USE_TOO_SLOW,            /* A packet sent there now would be late. */
  MMTP_USE_SILENT,              /* Nothing arrives there, see `silence`. */
  MMTP_USE_BLOCKED,             /* Its socket's send buffer is full. */
  MMTP_USE_GONE                 /* removed */
} MmtpPathUse;

/* Statistics of a path. Counters never go back. */
typedef struct
{
  const gchar *name;
  MmtpPathState state;
  MmtpPathUse use;
  /* Time in ns since a message last arrived, if `use` is MMTP_USE_SILENT. */
  guint64 silence;
  /* Approximate share of the stream's bytes in the last second, 0 to 1. */
  gdouble share;
  /* Approximate share of lost messages in the last ten seconds, 0 to 1. */
  gdouble loss;
  guint64 rate;                 /* delivery rate in bit/s */
  guint64 window;               /* congestion window in bytes */
  guint64 in_flight;            /* bytes in flight with IP and UDP headers */
  guint64 delay;                /* minimum one-way delay in ns */
  /* one-way delay in ns that nearly all messages stay below */
  guint64 high_delay;
  guint64 round_trip;           /* in ns; 0 if unknown */
  guint64 jitter;               /* in ns, as in RFC 3550, section 6.4.1 */
  /* messages sent, and their bytes without IP and UDP headers */
  guint64 packets, bytes;
  guint64 data_packets;
  guint64 retransmitted;
  guint64 probes;               /* PROBE messages sent */
  guint64 reported;             /* messages that the receiver has got */
  /* messages that the receiver reported as lost */
  guint64 lost;
  /* DATA packets that arrived after their deadline */
  guint64 late;
  /* packets queued again because the path fell silent or left */
  guint64 requeued;
  guint64 silences;             /* how often the path fell silent */
  /* Entries of the sent log visited while processing reports. Tests check that
   * this work stays bounded. */
  guint64 report_steps;
} MmtpSenderPathStats;

/* Returns the use in words, for example "silent for 0.4 s", or "" if the path
 * carries packets. Free the result with g_free(). */
gchar *mmtp_path_stats_explain (const MmtpSenderPathStats * stats);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Configuration, state and statistics of one path of the sender, as the
 * application sees them.
 */

#pragma once

#include <glib.h>

#define MMTP_NO_PATH G_MAXUINT

typedef struct
{
  /* name of the path in statistics and events; the string is copied */
  const gchar *name;
  /* Maximum UDP payload in bytes, at least MMTP_MIN_MESSAGE_SIZE. */
  guint16 max_size;
  guint16 overhead;             /* bytes of IP and UDP headers per packet */
  /* Configured rate of the path in bit/s, with which the sender starts [4.6 of
   * the MMTP paper]; 0 means that the rate is measured. */
  guint64 rate;
  /* configured one-way delay of the path in ns; 0 means that the sender
   * measures the delay */
  guint64 delay;
} MmtpPathConfig;

typedef enum
{
  MMTP_PATH_OPENING,         /* handshake or JOIN in progress */
  MMTP_PATH_ACTIVE,
  /* The path is too slow for the initial delay (D0), so it carries control
   * messages only. */
  MMTP_PATH_CONTROL,
  /* According to the REPORTs, no messages arrive on this path. */
  MMTP_PATH_SILENT,
  MMTP_PATH_GONE             /* The path was removed. */
} MmtpPathState;

const gchar *mmtp_path_state_get_name (MmtpPathState state);

/* Says whether the sender sends packets of the stream on a path at present. If
 * it does not, the value is the reason. */
typedef enum
{
  MMTP_USE_CARRIES,
  /* The receiver has not answered on this path yet. */
  MMTP_USE_JOINING,
  MMTP_USE_SPARE,               /* The other paths suffice. */
  /* The sender has better information about another path. On this path, it
   * therefore sends only PROBEs, and packets that no other path can deliver. */
  MMTP_USE_PROBED,
  /* The path is so slow that a packet sent now would arrive after its deadline.
   */
  MMTP_USE_TOO_SLOW,
  /* Messages no longer arrive on this path. The field `silence` is the time
   * since the last message arrived. */
  MMTP_USE_SILENT,
  /* The send buffer of the path's socket is full. */
  MMTP_USE_BLOCKED,
  MMTP_USE_GONE                 /* The path was removed. */
} MmtpPathUse;

/* Statistics of a path. Counters never decrease. */
typedef struct
{
  const gchar *name;
  MmtpPathState state;
  MmtpPathUse use;
  /* Time in ns since a message last arrived, if `use` is MMTP_USE_SILENT. */
  guint64 silence;
  /* Approximate share of the stream's bytes that this path carried in the last
   * second, 0 to 1. */
  gdouble share;
  /* Approximate share of the messages on this path that were lost in the last
   * ten seconds, 0 to 1. */
  gdouble loss;
  guint64 rate;                 /* delivery rate in bit/s */
  guint64 window;               /* congestion window in bytes */
  guint64 in_flight;            /* bytes in flight with IP and UDP headers */
  guint64 delay;                /* minimum one-way delay in ns */
  /* one-way delay in ns that nearly all messages do not exceed */
  guint64 high_delay;
  /* Queueing delay in ns: the minimum one-way delay in the latest report minus
   * the minimum one-way delay of the path. */
  guint64 queue_delay;
  guint64 round_trip;           /* in ns; 0 if unknown */
  /* jitter in ns, computed as in RFC 3550, section 6.4.1 */
  guint64 jitter;
  /* number of messages sent, and number of their bytes without IP and UDP
   * headers */
  guint64 packets, bytes;
  guint64 data_packets;
  guint64 retransmitted;
  guint64 probes;               /* PROBE messages sent */
  /* number of messages on this path that have arrived, according to the
   * receiver's reports */
  guint64 reported;
  /* number of messages that the receiver reported as lost */
  guint64 lost;
  /* number of DATA packets that arrived after their deadline */
  guint64 late;
  /* number of packets that were sent on this path and then put back into the
   * send queue, because the path fell silent or was removed before they were
   * acknowledged */
  guint64 requeued;
  guint64 silences;             /* number of times that the path fell silent */
  /* Number of entries that the sender has visited in its log of sent messages
   * while it processed reports about this path. Tests check that the number of
   * entries visited per report stays bounded. */
  guint64 report_steps;
} MmtpSenderPathStats;

/* Returns the reason why the path carries no packets, for example "silent for
 * 0.4 s". Returns "" if it carries packets. Free the result with g_free(). */
gchar *mmtp_path_stats_explain (const MmtpSenderPathStats * stats);

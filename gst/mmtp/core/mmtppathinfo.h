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
  /* Maximum size in bytes of a UDP payload on this path. It must be at least
   * MMTP_MIN_MESSAGE_SIZE. */
  guint16 max_size;
  /* size in bytes of the IP and UDP headers of one packet */
  guint16 overhead;
  /* Rate of the path in bit/s, as the application has configured it (section
   * 4.6 of the MMTP paper). If it is 0, no rate is configured, and the sender
   * measures the rate. Otherwise the sender uses the configured rate and
   * measures none. */
  guint64 rate;
  /* One-way delay of the path in ns, as the application has configured it. The
   * sender uses it until it has measured the delay. 0 means that no delay is
   * configured. */
  guint64 delay;
} MmtpPathConfig;

typedef enum
{
  MMTP_PATH_OPENING,         /* handshake or JOIN in progress */
  MMTP_PATH_ACTIVE,
  /* The one-way delay of the path exceeds the greatest allowed value of the
   * initial delay. The initial delay (D0) is the latency of the session. The
   * path therefore carries control messages, but no packets of the stream. */
  MMTP_PATH_CONTROL,
  /* The path counts as dead for now: the receiver's REPORTs do not show that
   * messages still arrive on it. */
  MMTP_PATH_SILENT,
  MMTP_PATH_GONE             /* The path was removed. */
} MmtpPathState;

const gchar *mmtp_path_state_get_name (MmtpPathState state);

/* How the sender uses a path at present. MMTP_USE_CARRIES means that the path
 * carries packets of the stream. Each other value is a reason why the path
 * carries no packets, or only a few. */
typedef enum
{
  MMTP_USE_CARRIES,
  /* The path has not joined the session yet: the receiver has not answered the
   * handshake or a JOIN on this path. */
  MMTP_USE_JOINING,
  MMTP_USE_SPARE,               /* The other paths suffice. */
  /* The sender knows less about this path than about another path. For example,
   * it has measured the rate of the other path, but not of this one. On this
   * path, it therefore sends only PROBEs (messages that measure a path), and
   * packets that no other path can deliver. */
  MMTP_USE_PROBED,
  /* The path is so slow that a packet sent now would arrive after its deadline.
   */
  MMTP_USE_TOO_SLOW,
  /* Messages no longer arrive on this path. The field `silence` of
   * MmtpSenderPathStats says for how long. */
  MMTP_USE_SILENT,
  /* The send buffer of the path's socket is full. */
  MMTP_USE_BLOCKED,
  MMTP_USE_GONE                 /* The path was removed. */
} MmtpPathUse;

/* Statistics of one path at the sender. The counters never decrease. */
typedef struct
{
  const gchar *name;
  MmtpPathState state;
  MmtpPathUse use;
  /* Time in ns for which no report has shown a new arrival on the path. It is 0
   * unless `use` is MMTP_USE_SILENT. */
  guint64 silence;
  /* Approximate share of this path in the traffic of the last second: the bytes
   * of the stream that this path carried, divided by those that all paths
   * carried. From 0 to 1. */
  gdouble share;
  /* Approximate share of lost messages among all messages that were sent on
   * this path in the last ten seconds. From 0 to 1. */
  gdouble loss;
  guint64 rate;                 /* delivery rate in bit/s */
  guint64 window;               /* congestion window in bytes */
  /* number of bytes in flight on the path, including IP and UDP headers */
  guint64 in_flight;
  /* minimum one-way delay of the path in ns, which is its delay without a queue
   */
  guint64 delay;
  /* one-way delay in ns that hardly any message on the path exceeds */
  guint64 high_delay;
  /* Present queueing delay of the path in ns. It is the minimum one-way delay
   * of the messages in the latest report, minus the minimum one-way delay of
   * the path in the recent past. */
  guint64 queue_delay;
  guint64 round_trip;           /* in ns; 0 if unknown */
  /* jitter of the one-way delay in ns, computed as in RFC 3550, section 6.4.1
   */
  guint64 jitter;
  /* number of messages that were sent on this path, and sum of their sizes in
   * bytes without IP and UDP headers */
  guint64 packets, bytes;
  guint64 data_packets;
  guint64 retransmitted;
  guint64 probes;               /* PROBE messages sent */
  /* number of messages that have arrived on this path, according to the
   * receiver's reports */
  guint64 reported;
  /* number of messages on this path that the receiver has reported as lost */
  guint64 lost;
  /* number of DATA packets on this path that arrived after their deadline,
   * according to the receiver's reports */
  guint64 late;
  /* Number of packets that were sent on this path and then put back into the
   * send queue. The reason is that the path stalled, became slower, fell silent
   * or was removed before the receiver acknowledged them. */
  guint64 requeued;
  guint64 silences;             /* number of times that the path fell silent */
  /* Number of entries that the sender has visited in its log of sent messages,
   * because of reports about this path. Tests check that the number of entries
   * per report stays bounded. */
  guint64 report_steps;
  /* For each message in flight, the sender predicts when the path will have
   * finished the transmission of the message. When a report about this path
   * arrives, the sender computes at most 256 of these predictions again. This
   * field is the total number of predictions that were computed again because
   * of reports. */
  guint64 prediction_steps;
} MmtpSenderPathStats;

/* Returns a text that says why the path carries no packets of the stream, for
 * example "silent for 0.4 s". Returns "" if the path carries packets. The
 * caller frees the text with g_free(). */
gchar *mmtp_path_stats_explain (const MmtpSenderPathStats * stats);

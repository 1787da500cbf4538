/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A rule computes the bitrate of an encoder from reports about the network.
 * Each rule is a table of operations in a file of its own. A rule does not
 * depend on the type of the encoder or of the transport: it gets reports and
 * returns the wanted bitrate. bitratecontrol.h limits how often the bitrate of
 * the encoder is changed. This limit applies to all rules.
 *
 * Rates are in bit/s, times in ns of the caller's clock.
 */

#pragma once

#include <glib.h>

#define BITRATE_UNKNOWN G_MAXUINT64

typedef struct
{
  guint64 min_bitrate, max_bitrate;
  /* fraction (0 to 1) of the estimated rate that the encoder leaves unused */
  gdouble headroom;
  /* Latency of the stream: time in ns from the arrival of a frame at
   * bitrateadapt until the receiver displays this frame; 0 = unknown */
  guint64 latency;
} BitrateLimits;

/* Information about the network at the time `now`. A rule ignores the fields
 * that it does not need. */
typedef struct
{
  guint64 now;
  guint64 estimate;             /* estimated capacity; 0 = unknown */
  /* TRUE if `estimate` is only a lower bound, so that the network may carry
   * more. This is the case if the application sent no more than the estimate.
   */
  gboolean is_lower_bound;
  /* number of bytes that wait at the sender, or BITRATE_UNKNOWN */
  guint64 queued_bytes;
  /* number of packets that wait at the sender, or BITRATE_UNKNOWN */
  guint64 queued_packets;
  /* Number of bytes in flight; BITRATE_UNKNOWN if not known. These bytes were
   * sent, but no report of the receiver covers them yet. */
  guint64 in_flight;
  /* number of bytes that left the encoder so far, or BITRATE_UNKNOWN */
  guint64 put_bytes;
  /* TRUE if the encoder waits because the elements downstream have not accepted
   * its latest frame yet */
  gboolean is_blocked;
  /* Queueing delay of the latest packets in the network, in ns; BITRATE_UNKNOWN
   * if not known. It is the one-way delay of the fastest of these packets,
   * minus the minimum of all one-way delays measured so far. */
  guint64 network_queue;
  guint64 round_trip;           /* ns, or BITRATE_UNKNOWN */
  /* send rate of the transport in bit/s, or BITRATE_UNKNOWN */
  guint64 send_rate;
  /* share of lost packets in a new receiver report, from 0 to 1; -1 if there is
   * no new report */
  gdouble loss;
  /* Number of bytes of padding that the transport has sent so far. Padding is
   * data without content that fills the path. While padding is sent, `estimate`
   * shows the rate that the path can carry, even if the stream itself has a
   * lower bitrate. */
  guint64 padding;
  /* number of packets that the transport has dropped so far because they would
   * have arrived too late */
  guint64 dropped;
} BitrateReport;

typedef struct
{
  const gchar *name, *description;
  /* Size in bytes of the state of the rule. The functions below get this state
   * as `rule`. All bytes of the state are 0 before init () is called. */
  gsize size;
  void (*init) (gpointer rule, const BitrateLimits * limits);
  /* Called for each report about the network. Returns the bitrate in bit/s that
   * the rule wants for the encoder. The caller limits this result to the range
   * from limits->min_bitrate to limits->max_bitrate. `bitrate` is the limited
   * result of the previous call, or the initial bitrate in the first call. */
  gdouble (*feedback) (gpointer rule, const BitrateLimits * limits,
      const BitrateReport * report, gdouble bitrate);
} BitrateRule;

/* Rule that derives the encoder's bitrate from the transport's estimate of the
 * network capacity */
extern const BitrateRule bitrate_estimate_rule;
/* Rule that derives the encoder's bitrate from the round-trip time and, if it
 * is reported, the number of packets in the send buffer. The rule is for
 * transports such as SRT and RIST. */
extern const BitrateRule bitrate_round_trip_rule;
/* Rule that derives the encoder's bitrate from the losses in RTCP receiver
 * reports */
extern const BitrateRule bitrate_loss_rule;

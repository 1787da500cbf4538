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
  /* TRUE if the estimate is only a lower bound: the application sent no more
   * than the estimate, so the network may carry more. */
  gboolean is_lower_bound;
  /* number of bytes that wait at the sender, or BITRATE_UNKNOWN */
  guint64 queued_bytes;
  /* number of packets that wait at the sender, or BITRATE_UNKNOWN */
  guint64 queued_packets;
  /* number of bytes in flight: sent, but not yet contained in a report of the
   * receiver; or BITRATE_UNKNOWN */
  guint64 in_flight;
  /* number of bytes that left the encoder so far, or BITRATE_UNKNOWN */
  guint64 put_bytes;
  /* TRUE if the encoder waits because the elements downstream have not accepted
   * its latest frame yet */
  gboolean is_blocked;
  /* Time in ns for which the latest packets waited in queues of the network, or
   * BITRATE_UNKNOWN. It is computed as the one-way delay of the fastest of
   * these packets, minus the minimum one-way delay that was ever measured. */
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
  /* number of packets that the transport has dropped so far, because they would
   * have been late */
  guint64 dropped;
} BitrateReport;

typedef struct
{
  const gchar *name, *description;
  /* size in bytes of the rule's own state, which the functions get as `rule`;
   * the state is all zero before init () */
  gsize size;
  void (*init) (gpointer rule, const BitrateLimits * limits);
  /* Called for each report about the network. Returns the bitrate in bit/s that
   * the rule wants for the encoder. `bitrate` is the bitrate that was wanted
   * before this report. The caller limits the result to the range from
   * limits->min_bitrate to limits->max_bitrate. */
  gdouble (*feedback) (gpointer rule, const BitrateLimits * limits,
      const BitrateReport * report, gdouble bitrate);
} BitrateRule;

/* Rule that derives the encoder's bitrate from the transport's estimate of the
 * network capacity */
extern const BitrateRule bitrate_estimate_rule;
/* Rule that derives the encoder's bitrate from the round-trip time and the send
 * buffer of SRT or RIST */
extern const BitrateRule bitrate_round_trip_rule;
/* Rule that derives the encoder's bitrate from the losses in RTCP receiver
 * reports */
extern const BitrateRule bitrate_loss_rule;

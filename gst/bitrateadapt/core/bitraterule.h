/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How the rate of an encoder follows from what is known of the network. A rule is
 * a table of operations and one file. It knows neither the encoder nor the
 * transport: it gets reports and returns the rate that it wants. How often an
 * encoder is changed is decided in bitratecontrol.h, for all rules.
 *
 * Rates are bit/s, times are ns of the caller's clock.
 */

#pragma once

#include <glib.h>

#define BITRATE_UNKNOWN G_MAXUINT64

typedef struct
{
  guint64 min_bitrate, max_bitrate;
  gdouble headroom;             /* part of the estimate that is left free */
  guint64 latency;              /* that the receiver waits at most; 0: unknown */
} BitrateLimits;

/* What is known of the network now. A rule ignores what it does not need. */
typedef struct
{
  guint64 now;
  guint64 estimate;             /* that the network carries; 0: unknown */
  gboolean is_lower_bound;      /* of the estimate: the application sent no more,
                                 * so the network may carry more */
  guint64 queued_bytes;         /* that wait at the sender, or BITRATE_UNKNOWN */
  guint64 queued_packets;       /* likewise */
  guint64 in_flight;            /* bytes sent and not reported yet, likewise */
  guint64 round_trip;           /* or BITRATE_UNKNOWN */
  guint64 send_rate;            /* of the transport, or BITRATE_UNKNOWN */
  gdouble loss;                 /* 0 to 1, of a receiver report; -1: none is new */
} BitrateReport;

typedef struct
{
  const gchar *name, *description;
  gsize size;                   /* of the state, which is zero at first */
  void (*init) (gpointer rule, const BitrateLimits * limits);
  /* Returns the wanted rate. `bitrate` is the one wanted before. The caller keeps
   * the result between the limits. */
  gdouble (*feedback) (gpointer rule, const BitrateLimits * limits,
      const BitrateReport * report, gdouble bitrate);
} BitrateRule;

/* By an estimate of the transport's own */
extern const BitrateRule bitrate_estimate_rule;
/* By the round trip and the send buffer of SRT or RIST */
extern const BitrateRule bitrate_round_trip_rule;
/* By the losses that RTCP receiver reports tell of */
extern const BitrateRule bitrate_loss_rule;

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads what the elements downstream know about the network: estimates, round
 * trip times, losses and the data that wait in queues. */

#pragma once

#include <gst/gst.h>

#include "bitraterule.h"

typedef struct
{
  /* Rule that computes the bitrate from this information; NULL = no element
   * knows anything about the network. */
  const BitrateRule *rule;
  gchar *element;               /* name of the element */
  /* ns from here until the frame is displayed; 0 = unknown */
  guint64 latency;
  /* Packets or frames lost or dropped so far and not repaired, according to the
   * element's own counters. */
  guint64 lost;
  /* key frames dropped so far, according to the element */
  guint64 lost_key_frames;
  /* Identifies the receiver report that the losses come from: the value changes
   * with each new report. */
  guint64 loss_report;
  BitrateReport report;         /* complete except for the field `now` */
} GstBitrateNetwork;

/* Reads the state of the network from the elements downstream of `srcpad`, or
 * from the element `name` in the same pipeline if `name` is not NULL. An
 * element with an estimate takes precedence over SRT and RIST, and these take
 * precedence over an RTP session. Among several estimates the lowest one is
 * used. The caller frees the contents with gst_bitrate_network_clear (). */
void gst_bitrate_network_read (GstPad * srcpad, const gchar * name,
    GstBitrateNetwork * network);
void gst_bitrate_network_clear (GstBitrateNetwork * network);

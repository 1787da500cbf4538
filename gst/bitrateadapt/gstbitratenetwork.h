/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads what the elements downstream know about the network: estimated
 * bitrates, round-trip times, numbers of lost packets, and the amount of data
 * that waits in queues. */

#pragma once

#include <gst/gst.h>

#include "bitratekeyframes.h"

typedef struct
{
  /* The rule computes the bitrate from what an element reports about the
   * network. If no element reports anything, there is nothing to compute from,
   * and `rule` is NULL. */
  const BitrateRule *rule;
  gchar *element;               /* name of the element */
  /* The element that reports the state of the network (owned reference), if it
   * has the property "padding-bitrate"; otherwise NULL */
  GstElement *padder;
  /* Latency of the stream: time in ns that a frame may take from bitrateadapt
   * until the receiver displays it; 0 if unknown */
  guint64 latency;
  /* Numbers of packets or frames that were lost or dropped so far and not
   * repaired, one number for each value of BitrateLoss. Each number is the sum
   * of several counters of `element` and of the queues upstream of it. */
  guint64 lost[BITRATE_LOSS_LAST];
  /* Identifies the receiver report from which the losses were read. The value
   * changes with each new report. */
  guint64 loss_report;
  /* Information about the network for the rule that chooses the bitrate.
   * gst_bitrate_network_read () fills in this field, except `now`, `put_bytes`
   * and `is_blocked`, which its caller sets. */
  BitrateReport report;
} GstBitrateNetwork;

/* Reads the state of the network from the elements downstream of `srcpad`, or
 * from the element `name` in the same pipeline if `name` is not NULL. An
 * element with an estimate takes precedence over SRT and RIST, which take
 * precedence over an RTP session. If there are several estimates, the lowest
 * one is used. The caller frees the contents with gst_bitrate_network_clear ().
 */
void gst_bitrate_network_read (GstPad * srcpad, const gchar * name,
    GstBitrateNetwork * network);
/* Sets the property "padding-bitrate" of the element that reports the state of
 * the network, in bit/s. Does nothing if the element has no such property, or
 * if the property has this value already. */
void gst_bitrate_network_set_padding (const GstBitrateNetwork * network,
    guint bitrate);
void gst_bitrate_network_clear (GstBitrateNetwork * network);

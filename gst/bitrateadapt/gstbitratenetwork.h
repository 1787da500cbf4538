/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads what the elements downstream know about the network: estimated
 * bitrates, round-trip times, numbers of lost packets, and the amount of data
 * that waits in queues. */

#pragma once

#include <gst/gst.h>

#include "bitratekeyframes.h"

typedef struct
{
  /* Rule that computes the bitrate from what an element reports about the
   * network. NULL if no element reports anything. */
  const BitrateRule *rule;
  gchar *element;               /* name of the element */
  /* Element that reports the state of the network (owned reference). NULL if it
   * does not have the property "padding-bitrate". */
  GstElement *padder;
  /* Latency of the stream: time in ns that a frame may take from bitrateadapt
   * until the receiver displays it; 0 if unknown */
  guint64 latency;
  /* Counters of losses, one for each value of BitrateLoss. A packet or frame
   * that the sender has dropped counts as lost. A lost packet that was repaired
   * does not count. Each counter is the sum of several counters of `element`
   * and of the queues upstream of `element`. */
  guint64 lost[BITRATE_LOSS_LAST];
  /* Identifier of the receiver report from which the losses were read. The
   * value changes with each new report. */
  guint64 loss_report;
  /* Information about the network for the rule that chooses the bitrate.
   * gst_bitrate_network_read () fills in the members of `report`, except `now`,
   * `put_bytes` and `is_blocked`, which its caller sets. */
  BitrateReport report;
} GstBitrateNetwork;

/* Reads the state of the network from an element. If `name` is not NULL, this
 * is the element with this name in the same pipeline. Otherwise it is an
 * element downstream of `srcpad`. If several elements can be used, an element
 * that reports an estimate of the bitrate comes first. SRT and RIST elements
 * come next, and an RTP session comes last. If several elements report an
 * estimate, the element with the lowest estimate is used.
 *
 * The caller frees the contents of `network` with gst_bitrate_network_clear ().
 */
void gst_bitrate_network_read (GstPad * srcpad, const gchar * name,
    GstBitrateNetwork * network);
/* Sets the property "padding-bitrate" to `bitrate`, in bit/s. The property
 * belongs to the element that reports the state of the network. Does nothing if
 * this element has no such property, or if the property has this value already.
 */
void gst_bitrate_network_set_padding (const GstBitrateNetwork * network,
    guint bitrate);
void gst_bitrate_network_clear (GstBitrateNetwork * network);

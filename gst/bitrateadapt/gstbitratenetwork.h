/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What an element downstream knows of the network. */

#pragma once

#include <gst/gst.h>

#include "bitraterule.h"

typedef struct
{
  const BitrateRule *rule;      /* NULL: no element knows anything */
  gchar *element;               /* its name */
  guint64 latency;              /* ns from here to the display; 0: unknown */
  guint64 lost;                 /* what was lost or given up for good so far, by
                                 * the element's own counters */
  guint64 lost_key_frames;      /* likewise: key frames that were given up */
  guint64 loss_report;          /* another one: the losses are of a new report */
  BitrateReport report;         /* but for the time */
} GstBitrateNetwork;

/* Of the elements downstream of the pad, or of the element of that name in the same
 * pipeline. An element with an estimate has precedence over SRT and RIST, and these
 * over an RTP session. Of several estimates the lowest counts. */
void gst_bitrate_network_read (GstPad * srcpad, const gchar * name,
    GstBitrateNetwork * network);
void gst_bitrate_network_clear (GstBitrateNetwork * network);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What mmtpsink and mmtpsrc share: the scheme of their URIs, the enumeration of
 * the schedulers, the key, statistics of each channel and counters of refused
 * messages, and how the pipeline's clock and the one of the cores stand to each
 * other.
 */

#pragma once

#include <gst/gst.h>

#include "mmtppacket.h"

#define GST_MMTP_SCHEME "mmtp"
#define GST_MMTP_DEFAULT_PORT 5004      /* MMTP has none; as RTP's */
#define GST_MMTP_MAX_DELAY 60000        /* ms; docs/wire-mmtp.md, OPEN */
#define GST_MMTP_PATH_STATS "application/x-mmtp-channel"     /* of each */

/* mmtp, arrival, equal-turns, lowest-delay: MmtpSchedulerType */
GType gst_mmtp_scheduler_get_type (void);

/* ns of the clock of the cores, which is g_get_monotonic_time ()'s */
guint64 gst_mmtp_now (void);

/* The key that hexadecimal digits say; NULL says none. FALSE: error, as the
 * text is shorter than 128 bits, or not hexadecimal. The error does not repeat
 * it. */
gboolean gst_mmtp_parse_key (const gchar * text, GBytes ** key,
    GError ** error);
/* In a change of state: FALSE: the key, which the lock protects, can't be used, and
 * an error says why. */
gboolean gst_mmtp_check_key (GstElement * element, GstStateChange transition,
    GMutex * lock, gchar * const * key);

/* Takes the statistics of one more channel into the array of all. */
void gst_mmtp_append_path (GValue * array, GstStructure * channel);
/* refused-short, refused-version, ... */
void gst_mmtp_add_refusals (GstStructure * stats,
    const guint64 refused[MMTP_LAST_REFUSAL]);

/* --- from running time to the time of the cores --------------------------- */

/* An anchor that stays, so that the reading of two clocks one after the other
 * doesn't make a time of its own for each buffer, and slowly follows a clock of
 * the pipeline that is not the system's. One thread's, or under its lock. */
typedef struct
{
  gboolean valid;
  gconstpointer clock;          /* that it is for; only compared */
  GstClockTime base_time;
  gint64 anchor;                /* ns, monotonic - running time */
} GstMmtpClockMap;

/* The next get begins anew. */
void gst_mmtp_clock_map_reset (GstMmtpClockMap * map);
/* FALSE: the pipeline has no clock yet */
gboolean gst_mmtp_clock_map_get (GstMmtpClockMap * map, GstElement * element,
    gint64 * anchor);

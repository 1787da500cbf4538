/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Definitions shared by mmtpsink and mmtpsrc: the URI scheme, the enumeration
 * of the schedulers, the key, helpers for the statistics, and the conversion
 * between running time and the time of the protocol cores (gst/mmtp/core).
 */

#pragma once

#include <gst/gst.h>

#include "mmtppacket.h"

#define GST_MMTP_SCHEME "mmtp"
/* Default port of MMTP. No port is assigned to MMTP, so the port of RTP is
 * used. */
#define GST_MMTP_DEFAULT_PORT 5004
/* Greatest allowed value of the initial delay, in ms. The initial delay (D0) is
 * the latency of a session (docs/wire-mmtp.md, section 4, OPEN). */
#define GST_MMTP_MAX_DELAY 60000
/* statistics of one channel */
#define GST_MMTP_PATH_STATS "application/x-mmtp-channel"

/* Returns the type of the property `scheduler`: an enumeration with the values
 * of MmtpSchedulerType. */
GType gst_mmtp_scheduler_get_type (void);

/* Returns the current time in ns on the clock of the protocol cores (the code
 * in gst/mmtp/core). This clock is that of g_get_monotonic_time().
 */
guint64 gst_mmtp_now (void);

/* Parses a key of hexadecimal digits. If `text` is NULL, `key` becomes NULL and
 * TRUE is returned. Returns FALSE and sets `error` if the text is not
 * hexadecimal or is shorter than 128 bits. The error does not contain the text.
 * Free `key` with g_bytes_unref(). */
gboolean gst_mmtp_parse_key (const gchar * text, GBytes ** key,
    GError ** error);
/* Checks whether the value of the property `key` can be used, if `transition`
 * is the change from NULL to READY or from READY to PAUSED. If the value cannot
 * be used, posts an error and returns FALSE. Otherwise, and in all other state
 * changes, returns TRUE. The function takes `lock`, which protects the value.
 */
gboolean gst_mmtp_check_key (GstElement * element, GstStateChange transition,
    GMutex * lock, gchar * const * key);

/* Appends `channel`, the statistics of one channel (path), to `array`. Takes
 * ownership of `channel`. */
void gst_mmtp_append_path (GValue * array, GstStructure * channel);
/* Adds the numbers of refused messages to `stats`, as the fields refused-short,
 * refused-version and so on. The array `refused` contains these numbers, one
 * for each reason. */
void gst_mmtp_add_refusals (GstStructure * stats,
    const guint64 refused[MMTP_LAST_REFUSAL]);

/* --- conversion of running time to monotonic time ------------------------- */

/* Difference between the time of the protocol cores, which is monotonic time,
 * and the running time of the pipeline. The two clocks can only be read one
 * after the other, so each reading of the difference has a small error. The
 * difference is therefore stored, and all buffers get consistent times.
 *
 * If the pipeline clock is not the system clock, the difference changes slowly.
 * The stored value is then corrected in small steps.
 *
 * A GstMmtpClockMap is used by one thread only, or it is protected by a lock.
 */
typedef struct
{
  gboolean valid;
  /* Pipeline clock from which the difference (monotonic time minus running
   * time) was computed. This pointer is only compared with other pointers. It
   * holds no reference. */
  gconstpointer clock;
  GstClockTime base_time;
  gint64 anchor;                /* monotonic time minus running time, in ns */
} GstMmtpClockMap;

/* Discards the difference between the monotonic time and the running time that
 * the map stores. The next call of gst_mmtp_clock_map_get () then measures this
 * difference again. */
void gst_mmtp_clock_map_reset (GstMmtpClockMap * map);
/* Sets `anchor` to the monotonic time minus the running time, in ns. Returns
 * FALSE if the pipeline has no clock yet. */
gboolean gst_mmtp_clock_map_get (GstMmtpClockMap * map, GstElement * element,
    gint64 * anchor);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sender's clock as the receiver sees it (docs/wire-mmtp.md, section 6).
 * Messages contain only the low bits of a time. This module restores the other
 * bits, and maps due times to the receiver's clock. It also computes the
 * transit of each message, which is its arrival time minus its sending time,
 * minus a constant. Mapped due times never jump: when the estimate of the
 * clocks' offset or skew improves, the mapping changes slowly.
 */

#pragma once

#include "mmtppacket.h"

#define MMTP_CLOCK_POINTS 64

typedef struct
{
  guint64 time;                 /* in ns */
  gint64 transit;               /* in ns */
} MmtpClockPoint;

/* State of the mapping from the sender's clock to the receiver's clock. The
 * transit of a message is its arrival time minus its sending time, minus a
 * constant. The constant is chosen so that the transit of the OPEN message is
 * 0. The one-way delay of the OPEN is unknown, so each transit differs from the
 * one-way delay by an unknown constant. */
typedef struct
{
  guint64 start;                /* arrival time of OPEN, in ns */
  /* sender's time that the OPEN message contains, in us */
  guint64 sender_start;

  /* unwrapped sending time of the last message, in ticks of MMTP_TICK us */
  guint64 sent;
  /* arrival time of the message sent at `sent`, in ns */
  guint64 sent_time;
  guint64 due;                  /* last due time after unwrapping, in us */
  guint64 due_time;

  gboolean any_transit, has_announced;
  /* minimum transit (arrival time minus sending time minus a constant) of all
   * messages so far, in ns */
  gint64 min;
  /* offset of the clocks, smoothed from the values in KEEPALIVEs, in ns */
  gdouble announced;
  guint64 announced_time;

  /* TRUE after the first due time was passed to the application */
  gboolean fixed;
  gdouble offset;               /* offset that is applied to due times, in ns */
  guint64 offset_time;
  /* due time of the last output to the application, in us */
  guint64 last_due;
  /* last_due after conversion to the receiver's clock, in ns */
  guint64 last_mapped;

  /* skew of the clocks: the rate at which the transit (arrival time minus
   * sending time) of messages changes, in ns per ns */
  gdouble skew;
  gboolean has_skew;
  /* Recent minimum transits, oldest first. */
  MmtpClockPoint points[MMTP_CLOCK_POINTS];
  guint n_points;
} MmtpClock;

void mmtp_clock_init (MmtpClock * clock, guint64 now, guint64 sender_now);
/* Returns the time in ns on the receiver's clock at which a message sent at
 * `ticks` would have arrived if its transit were 0. The transit of the message
 * is its arrival time minus this value. */
gint64 mmtp_clock_unwrap_sent (MmtpClock * clock, guint64 now, guint32 ticks);
/* Unwraps a due time and returns it in us. */
guint64 mmtp_clock_unwrap_due (MmtpClock * clock, guint64 now, guint32 due);

void mmtp_clock_add_transit (MmtpClock * clock, gint64 transit);
/* Sets the offset of the clocks to the value in a KEEPALIVE, in ns. */
void mmtp_clock_set_offset (MmtpClock * clock, guint64 now, gint64 offset);
/* Adds a minimum transit in ns: the minimum over the messages that arrived
 * since the last call. The transit is the arrival time minus the sending time,
 * minus a constant. Call this function about once a second. */
void mmtp_clock_add_min (MmtpClock * clock, guint64 now, gint64 min);
/* Restarts the measurement of the skew, because messages now arrive on another
 * path. The minimum transit of one path cannot be compared with the minimum
 * transit of another path.
 */
void mmtp_clock_restart_skew (MmtpClock * clock);

/* Maps a due time in us to the receiver's clock, in ns. A time before the zero
 * of that clock becomes 0. */
guint64 mmtp_clock_map (MmtpClock * clock, guint64 now, guint64 due);
/* Does the same as mmtp_clock_map () for the due time of a buffer that is
 * passed to the application. After the first call, the results neither jump nor
 * decrease. */
guint64 mmtp_clock_map_output (MmtpClock * clock, guint64 now, guint64 due);

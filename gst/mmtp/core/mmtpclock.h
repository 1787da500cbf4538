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
  /* Time in us, on the sender's clock, at which the sender sent OPEN (its
   * request for the session). The OPEN contains this time. */
  guint64 sender_start;

  /* Sending time of the last message, in ticks. A tick lasts MMTP_TICK us. The
   * message contains only the low bits of this time. The other bits have been
   * restored. */
  guint64 sent;
  /* arrival time, in ns, of the message with the sending time `sent` */
  guint64 sent_time;
  /* last due time that was received, with all bits restored, in us on the
   * sender's clock */
  guint64 due;
  guint64 due_time;

  gboolean any_transit, has_announced;
  /* Minimum of the transits of all messages so far, in ns. A transit is the
   * arrival time of a message minus its sending time, minus a constant. */
  gint64 min;
  /* Offset between the clocks in ns: a smoothed value of the offsets that the
   * sender has announced in KEEPALIVE messages. */
  gdouble announced;
  guint64 announced_time;

  /* TRUE after the first due time was passed to the application */
  gboolean fixed;
  /* Current estimate of the offset between the clocks, in ns. It is added when
   * a due time is converted to the receiver's clock. */
  gdouble offset;
  guint64 offset_time;
  /* due time of the buffer that was last passed to the application, in us on
   * the sender's clock */
  guint64 last_due;
  /* the due time `last_due`, converted to the receiver's clock, in ns */
  guint64 last_mapped;

  /* Skew of the clocks: the difference between their speeds. It is the rate at
   * which the transit (arrival time minus sending time) of messages changes, in
   * ns per ns. */
  gdouble skew;
  gboolean has_skew;
  /* Recent minimum transits, oldest first. */
  MmtpClockPoint points[MMTP_CLOCK_POINTS];
  guint n_points;
} MmtpClock;

void mmtp_clock_init (MmtpClock * clock, guint64 now, guint64 sender_now);
/* Converts `ticks`, the sending time of a message, to the receiver's clock, in
 * ns. A message contains only the low bits of its sending time, so the function
 * restores the other bits. The conversion uses a constant offset, which is not
 * corrected later. The transit of the message is its arrival time minus the
 * returned time. */
gint64 mmtp_clock_unwrap_sent (MmtpClock * clock, guint64 now, guint32 ticks);
/* Restores a due time from its low 32 bits, `due`, because messages contain
 * only these bits. Returns the whole due time in us, on the sender's clock. */
guint64 mmtp_clock_unwrap_due (MmtpClock * clock, guint64 now, guint32 due);

void mmtp_clock_add_transit (MmtpClock * clock, gint64 transit);
/* Updates the offset of the clocks. `offset` is the value, in ns, that the
 * sender has announced in a KEEPALIVE message. In the first seconds of a
 * session, it replaces the previous value. Later, it is smoothed with the
 * earlier values. */
void mmtp_clock_set_offset (MmtpClock * clock, guint64 now, gint64 offset);
/* The transit of a message is its arrival time minus its sending time, minus a
 * constant. `min` is the minimum transit, in ns, of the messages that arrived
 * since the last call. The function stores `min` in a list of points. The skew
 * of the clocks is computed from these points. Call this function about once a
 * second. */
void mmtp_clock_add_min (MmtpClock * clock, guint64 now, gint64 min);
/* Restarts the measurement of the skew, because messages now arrive on another
 * path. The minimum transit of one path cannot be compared with the minimum
 * transit of another path.
 */
void mmtp_clock_restart_skew (MmtpClock * clock);

/* Converts a due time in us on the sender's clock to the receiver's clock, in
 * ns. A time before the zero of the receiver's clock becomes 0. */
guint64 mmtp_clock_map (MmtpClock * clock, guint64 now, guint64 due);
/* Converts the due time of a buffer that is passed to the application. `due` is
 * in microseconds on the sender's clock. The result is in ns on the receiver's
 * clock. After the first call, the offset of the clocks changes only slowly, so
 * the results do not jump. They do not decrease unless the due times decrease.
 */
guint64 mmtp_clock_map_output (MmtpClock * clock, guint64 now, guint64 due);

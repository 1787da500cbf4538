/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sender's clock as the receiver sees it: docs/wire-mmtp.md section 6. Its
 * short times made whole, transits, and due times on our clock, which never
 * jump: what is known of the offset moves them slowly, with the skew of the
 * clocks.
 */

#pragma once

#include "mmtppacket.h"

#define MMTP_CLOCK_POINTS 64

typedef struct
{
  guint64 time;                 /* ns */
  gint64 transit;               /* ns */
} MmtpClockPoint;

/* The constant of transits: what OPEN came with took no time. */
typedef struct
{
  guint64 start;                /* ns, when OPEN came */
  guint64 sender_start;         /* us, the sender's clock in OPEN */

  guint64 sent;                 /* ticks, the last one, whole */
  guint64 sent_time;            /* ns, when it came */
  guint64 due;                  /* us, the last one, whole */
  guint64 due_time;

  gboolean any_transit, has_told;
  gint64 min;                   /* ns, of all transits */
  gdouble told;                 /* ns, the offset of KEEPALIVE, smoothed */
  guint64 told_time;

  gboolean fixed;               /* a due time has been told to the
                                 * application */
  gdouble offset;               /* ns, that due times have */
  guint64 offset_time;
  guint64 last_due;             /* us, that went out */
  guint64 last_mapped;          /* ns */

  gdouble skew;                 /* ns of transit in each ns */
  gboolean has_skew;
  MmtpClockPoint points[MMTP_CLOCK_POINTS];     /* oldest first */
  guint n_points;
} MmtpClock;

void mmtp_clock_init (MmtpClock * clock, guint64 now, guint64 sender_now);
/* ns on our clock, when a message of this time would have come in no time: what
 * is between is the transit. */
gint64 mmtp_clock_unwrap_sent (MmtpClock * clock, guint64 now, guint32 ticks);
/* us, whole */
guint64 mmtp_clock_unwrap_due (MmtpClock * clock, guint64 now, guint32 due);

void mmtp_clock_add_transit (MmtpClock * clock, gint64 transit);
/* ns, of a KEEPALIVE */
void mmtp_clock_set_offset (MmtpClock * clock, guint64 now, gint64 offset);
/* ns, least transit of the time since the last call, a second or so */
void mmtp_clock_add_min (MmtpClock * clock, guint64 now, gint64 min);
/* What follows is of another channel: its transits can't be compared. */
void mmtp_clock_restart_skew (MmtpClock * clock);

/* ns on our clock; a due time before our clock's begin is 0. */
guint64 mmtp_clock_map (MmtpClock * clock, guint64 now, guint64 due);
/* The same for what goes out: from then on nothing jumps, nor goes back. */
guint64 mmtp_clock_map_output (MmtpClock * clock, guint64 now, guint64 due);

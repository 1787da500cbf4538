/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the receiver measures on one channel: the messages that came and those
 * that are lost, when the latest message came, its transit, and the least and
 * the highest transit since the last record. The receiver draws no conclusions
 * from these figures: the rate control is the sender's.
 *
 * Times are ns. A transit is the time of arrival on the receiver's clock minus
 * the time of sending, less a constant: only differences mean something.
 */

#pragma once

#include "mmtplosses.h"

typedef struct
{
  guint64 number;               /* of the channel */
  gint64 sent;                  /* ns, sender's clock less a constant */
  gsize size;                   /* bytes, of the whole message */
  gboolean is_load;             /* DATA, PROBE or REPAIR */
  guint64 repair_until;         /* ns: a repair of what is missing before this
                                 * message is too late from then on */
} MmtpArrival;

/* Messages that came within a time, for statistics */
typedef struct
{
  guint64 start;                /* ns */
  guint64 bytes;
  gint64 min;                   /* ns, transit; G_MAXINT64: no message */
} MmtpArrivalWindow;

typedef struct
{
  MmtpArrivalWindow before, present;
} MmtpArrivalWindows;

/* Messages that came between two records */
typedef struct
{
  guint64 n;
  gint64 min, highest;          /* ns, transits */
} MmtpArrivalSpan;

typedef struct
{
  guint64 silence;              /* ns without a message that are silence */

  guint64 received, bytes, late;        /* of the whole session */
  MmtpLosses losses;

  gboolean any;                 /* a message came since the path began */
  guint64 last_arrival;         /* ns, of the last message that came */
  guint64 arrival_before;       /* ns, of the one before it; 0: none */
  gboolean any_load;            /* likewise, DATA, PROBE or REPAIR */
  gint64 last_transit;          /* ns, of the last load */
  gint64 jitter;                /* ns, RFC 3550, section 6.4.1, of loads */

  gboolean has_latest;
  guint64 latest_number;        /* the highest number so far */
  guint64 latest_arrival;       /* ns, when that message came */
  gint64 latest_transit;        /* ns */

  MmtpArrivalSpan span;         /* since the last record */
  MmtpArrivalSpan told;         /* what the last record said */
  gboolean any_record;
  guint64 record_time;          /* ns, when the last record was taken */

  MmtpArrivalWindows windows;
} MmtpArrivals;

/* `silence`: after so many ns without a message the channel is silent */
void mmtp_arrivals_init (MmtpArrivals * arrivals, guint64 now,
    guint64 silence);
/* The messages that come from now on take another path: transits of the old one
 * are forgotten. */
void mmtp_arrivals_begin_path (MmtpArrivals * arrivals, guint64 now);
void mmtp_arrivals_add (MmtpArrivals * arrivals, guint64 now,
    const MmtpArrival * arrival);
/* A DATA packet that was added came after its deadline. */
void mmtp_arrivals_add_late (MmtpArrivals * arrivals);
/* Declares lost what has been waited for long enough */
void mmtp_arrivals_timeout (MmtpArrivals * arrivals, guint64 now);
guint64 mmtp_arrivals_next_wakeup (const MmtpArrivals * arrivals);

/* Writes all of the record but its channel, with at most `ranges` ranges of
 * losses; `surely` as mmtp_losses_report has it. Records that are taken at the
 * same `now` cover the same span; the first one at a later time begins another
 * span. */
void mmtp_arrivals_get_record (MmtpArrivals * arrivals, guint64 now,
    gboolean surely, guint ranges, MmtpRecord * record);

gboolean mmtp_arrivals_is_silent (const MmtpArrivals * arrivals, guint64 now);
/* Bytes per second that came in the last 0.5 to 1 s */
guint64 mmtp_arrivals_get_rate (const MmtpArrivals * arrivals, guint64 now);
/* ns, of the last 0.5 to 1 s; FALSE: no message came */
gboolean mmtp_arrivals_get_min_transit (const MmtpArrivals * arrivals,
    guint64 now, gint64 * transit);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measurements of the receiver on one path: received and lost messages, the
 * arrival time and transit of the latest message, and the minimum and maximum
 * transit since the last record. The receiver draws no conclusions from these
 * figures, because the rate control is in the sender.
 *
 * Times are in ns. A transit is the arrival time on the receiver's clock minus
 * the sending time, less a constant. Only differences of transits are
 * meaningful.
 */

#pragma once

#include "mmtplosses.h"

typedef struct
{
  guint64 number;               /* channel number */
  /* Sending time on the sender's clock less a constant, in ns. */
  gint64 sent;
  gsize size;                   /* size of the whole message, in bytes */
  gboolean is_load;             /* The message is DATA, PROBE or REPAIR. */
  /* Time in ns from which on a retransmission of the messages that are missing
   * before this one is too late. */
  guint64 repair_until;
} MmtpArrival;

/* Messages that arrived within a period, for the statistics. */
typedef struct
{
  guint64 start;                /* start of the period, in ns */
  guint64 bytes;
  /* minimum transit in ns; G_MAXINT64 if no message arrived */
  gint64 min;
} MmtpArrivalWindow;

typedef struct
{
  MmtpArrivalWindow before, present;
} MmtpArrivalWindows;

/* Messages that arrived between two records. */
typedef struct
{
  guint64 n;
  gint64 min, highest;          /* minimum and maximum transit, in ns */
} MmtpArrivalSpan;

typedef struct
{
  /* The path counts as silent after this time without a message, in ns. */
  guint64 silence;

  guint64 received, bytes, late;        /* totals of the whole session */
  MmtpLosses losses;

  /* A message has arrived since the path began. */
  gboolean any;
  guint64 last_arrival;         /* arrival time of the last message, in ns */
  /* Arrival time of the message before the last one, in ns; 0 if there was
   * none. */
  guint64 arrival_before;
  /* A DATA, PROBE or REPAIR has arrived since the path began. */
  gboolean any_load;
  /* transit of the last DATA, PROBE or REPAIR, in ns */
  gint64 last_transit;
  /* Jitter of DATA, PROBE and REPAIR as in RFC 3550, section 6.4.1, in ns. */
  gint64 jitter;

  gboolean has_latest;
  guint64 latest_number;        /* highest channel number so far */
  guint64 latest_arrival;       /* arrival time of that message, in ns */
  gint64 latest_transit;        /* transit of that message, in ns */

  MmtpArrivalSpan span;         /* messages since the last record */
  MmtpArrivalSpan reported;     /* messages that the last record covered */
  gboolean any_record;
  guint64 record_time;          /* time of the last record, in ns */

  MmtpArrivalWindows windows;
} MmtpArrivals;

/* `silence` is the time in ns without a message after which the path counts
 * as silent. */
void mmtp_arrivals_init (MmtpArrivals * arrivals, guint64 now,
    guint64 silence);
/* From now on, messages arrive over another route, for example from a new
 * address. The transits of the old route are forgotten. */
void mmtp_arrivals_begin_path (MmtpArrivals * arrivals, guint64 now);
void mmtp_arrivals_add (MmtpArrivals * arrivals, guint64 now,
    const MmtpArrival * arrival);
/* Counts a DATA packet, already added, that arrived after its deadline. */
void mmtp_arrivals_add_late (MmtpArrivals * arrivals);
/* Declares missing messages lost if they have been waited for long enough. */
void mmtp_arrivals_timeout (MmtpArrivals * arrivals, guint64 now);
guint64 mmtp_arrivals_next_wakeup (const MmtpArrivals * arrivals);

/* Fills in all fields of `record` but `channel`, with at most `ranges` loss
 * ranges. `surely` is passed on to mmtp_losses_report(). Records taken at the
 * same `now` cover the same span of messages; the first record at a later time
 * begins a new span. */
void mmtp_arrivals_get_record (MmtpArrivals * arrivals, guint64 now,
    gboolean surely, guint ranges, MmtpRecord * record);

gboolean mmtp_arrivals_is_silent (const MmtpArrivals * arrivals, guint64 now);
/* Returns the bytes per second received in the last 0.5 to 1 s. */
guint64 mmtp_arrivals_get_rate (const MmtpArrivals * arrivals, guint64 now);
/* Sets `transit` to the minimum transit of the last 0.5 to 1 s, in ns. Returns
 * FALSE if no message arrived in that time. */
gboolean mmtp_arrivals_get_min_transit (const MmtpArrivals * arrivals,
    guint64 now, gint64 * transit);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measurements of the receiver on one path: received and lost messages, the
 * arrival time and transit of the latest message, and the minimum and maximum
 * transit since the last REPORT about this path. The receiver draws no
 * conclusions from these figures, because the rate control is in the sender.
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
  /* Sending time of the message in ns: the time on the sender's clock minus a
   * constant. */
  gint64 sent;
  gsize size;                   /* size of the whole message, in bytes */
  /* TRUE if the message is a DATA, PROBE or REPAIR */
  gboolean is_load;
  /* The arrival of this message may show that messages with lower numbers are
   * missing. `repair_until` is the time in ns after which a retransmission of
   * these missing messages is too late. */
  guint64 repair_until;
} MmtpArrival;

/* Statistics of the messages that arrived on the path within one time window.
 */
typedef struct
{
  guint64 start;                /* beginning of the statistics period, in ns */
  guint64 bytes;
  /* Minimum transit in ns of the messages that arrived in the period;
   * G_MAXINT64 if no message arrived. A transit is the arrival time minus the
   * sending time, less a constant. */
  gint64 min;
} MmtpArrivalWindow;

typedef struct
{
  MmtpArrivalWindow before, present;
} MmtpArrivalWindows;

/* Statistics of the messages that arrived on a path between two records about
 * this path. A record is the part of a REPORT (feedback message) about one
 * path. */
typedef struct
{
  guint64 n;
  /* minimum and maximum transit (one-way delay less a constant), in ns */
  gint64 min, highest;
} MmtpArrivalSpan;

typedef struct
{
  /* Silence timeout in ns. If no message arrives on the path for this time, the
   * path counts as silent. */
  guint64 silence;

  guint64 received, bytes, late;        /* totals of the whole session */
  MmtpLosses losses;

  /* TRUE after the first message of the path has arrived. */
  gboolean any;
  guint64 last_arrival;         /* arrival time of the last message, in ns */
  /* arrival time of the second-to-last message, in ns; 0 if fewer than two
   * messages have arrived */
  guint64 arrival_before;
  /* TRUE after the first DATA, PROBE or REPAIR of the path has arrived. */
  gboolean any_load;
  /* transit (one-way delay less a constant) of the last DATA, PROBE or REPAIR,
   * in ns */
  gint64 last_transit;
  /* Jitter of DATA, PROBE and REPAIR messages in ns, computed as in RFC 3550,
   * section 6.4.1. */
  gint64 jitter;

  gboolean has_latest;
  guint64 latest_number;        /* highest channel number so far */
  /* arrival time, in ns, of the message with the number latest_number */
  guint64 latest_arrival;
  /* transit (one-way delay less a constant) of the message with the number
   * latest_number, in ns */
  gint64 latest_transit;

  /* statistics of the messages since the last record about this path */
  MmtpArrivalSpan span;
  /* Statistics of the messages that the latest record about this path covers. A
   * record is the part of a REPORT (feedback message) about one path. */
  MmtpArrivalSpan reported;
  gboolean any_record;
  /* time in ns of the latest REPORT that contained a record about this path */
  guint64 record_time;

  MmtpArrivalWindows windows;
} MmtpArrivals;

/* `silence` is the silence timeout in ns. If no message arrives on the path for
 * this time, the path counts as silent. */
void mmtp_arrivals_init (MmtpArrivals * arrivals, guint64 now,
    guint64 silence);
/* Call this function when the messages of the path take a new route, for
 * example because an address has changed. The one-way delays of the old route
 * are forgotten. */
void mmtp_arrivals_begin_path (MmtpArrivals * arrivals, guint64 now);
void mmtp_arrivals_add (MmtpArrivals * arrivals, guint64 now,
    const MmtpArrival * arrival);
/* Counts a DATA packet that arrived after its deadline. Call
 * mmtp_arrivals_add () for the packet before this function. */
void mmtp_arrivals_add_late (MmtpArrivals * arrivals);
/* Counts missing messages as lost if the receiver has waited long enough for
 * them. The caller calls this function at the time that
 * mmtp_arrivals_next_wakeup () returns. */
void mmtp_arrivals_timeout (MmtpArrivals * arrivals, guint64 now);
guint64 mmtp_arrivals_next_wakeup (const MmtpArrivals * arrivals);

/* Fills in `record`, the part of a REPORT (feedback message) that describes
 * this path. The caller sets the field `channel` itself. `ranges` is the
 * maximum number of ranges of lost messages in the record.
 *
 * MmtpLosses counts how often each range of lost messages was reported. These
 * counts include only the REPORTs that are sent on the fastest path.
 * `is_counted` is TRUE if this REPORT is one of them. The count of each range
 * in the record then grows by one (see mmtp_losses_report()).
 *
 * The record contains the minimum and the maximum transit of the messages that
 * have arrived since the previous record. Several REPORTs can be sent at the
 * same time `now`, on several paths, and each can contain a record about this
 * path. Each of these records then also includes the messages that the records
 * before it include. */
void mmtp_arrivals_get_record (MmtpArrivals * arrivals, guint64 now,
    gboolean is_counted, guint ranges, MmtpRecord * record);

gboolean mmtp_arrivals_is_silent (const MmtpArrivals * arrivals, guint64 now);
/* Returns the mean rate of the data received on this path in bytes per second.
 * It is measured over the last 0.5 to 1 s. */
guint64 mmtp_arrivals_get_rate (const MmtpArrivals * arrivals, guint64 now);
/* Sets `transit` to the minimum transit (one-way delay less a constant), in ns,
 * of the messages that arrived in the last 0.5 to 1 s. Returns FALSE if no
 * message arrived in that time. */
gboolean mmtp_arrivals_get_min_transit (const MmtpArrivals * arrivals,
    guint64 now, gint64 * transit);

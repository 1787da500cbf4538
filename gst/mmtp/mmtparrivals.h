/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the receiver measures of one channel [4.5.1 of the paper]: what came and
 * what is lost, transits, inter-arrival times against sending periods, capacity
 * by packet pairs; and whether a queue grows on it. In a window as long as the
 * keep-alive period, so that each report has new figures.
 */

#ifndef __MMTP_ARRIVALS_H__
#define __MMTP_ARRIVALS_H__

#include "mmtpcongestion.h"
#include "mmtplosses.h"

G_BEGIN_DECLS

typedef struct
{
  guint64 number;               /* of the channel */
  gint64 sent;                  /* ns, sender's clock less a constant */
  gsize size;                   /* of the message */
  gboolean is_load;             /* DATA or PROBE: what a sender sends less of */
  gboolean pair;                /* MMTP_FLAG_PAIR */
  guint64 repair_until;         /* ns: when what is missing before it is too
                                 * late */
} MmtpArrival;

typedef struct
{
  guint64 start;                /* ns */
  guint n;
  guint64 bytes;
  gint64 least;                 /* ns, transit */
} MmtpArrivalWindow;

/* Of the messages that can be compared to find a queue: see mmtparrivals.c */
typedef struct
{
  guint64 start;                /* ns */
  guint64 arrival;              /* ns, of the last message before it */
  guint64 bytes;
  guint n;
  gint64 least, highest, last;  /* ns, transits */
  gsize longest;                /* bytes, of DATA and PROBE */
} MmtpLoadWindow;

typedef struct
{
  guint64 time;                 /* ns */
  guint64 period;               /* ns for 2^16 bytes */
} MmtpPairSample;

/* Slowest transits of some messages; all but one of 256 are below the second */
typedef struct
{
  guint64 began;                /* ns */
  gint64 highest, second, lowest;       /* ns */
  guint n;
} MmtpTransitBlock;

#define MMTP_TRANSIT_BLOCKS 16
#define MMTP_PAIR_SAMPLES 32

typedef struct
{
  guint64 period;               /* ns, of a window */

  guint64 received, bytes, late;
  MmtpLosses losses;

  gboolean any;
  guint64 last_arrival;         /* ns */
  guint64 last_number;
  gint64 last_sent, last_transit;       /* ns */
  guint64 window_arrival;       /* ns, last_arrival at the window's begin */
  gint64 window_transit;        /* ns, of that message */
  gint64 jitter;                /* ns, as RFC 3550 6.4.1 has it */

  MmtpArrivalWindow window, before;     /* that begins; that ended */
  gboolean measured;            /* the window before has messages */
  guint64 inter_arrival;        /* ns, mean of the window before */
  gint64 accumulated;           /* ns, sum of its jitters */
  guint64 rate;                 /* bytes per second */

  MmtpTransitBlock blocks[MMTP_TRANSIT_BLOCKS]; /* a ring */
  guint block;

  MmtpPairSample samples[MMTP_PAIR_SAMPLES];    /* a ring */
  guint n_samples, next_sample;
  guint64 capacity;             /* bytes per second; 0: unknown */
  gboolean is_rough;            /* delays fluctuate more than pairs take */

  MmtpLoadWindow load, load_before;
  guint64 load_length;          /* ns, of such a window at least */
  gsize load_size;              /* bytes, the longest lately */
  guint windows_without;        /* in a row, without such a message */
  MmtpCongestion congestion;
  guint8 decrease;              /* number of the last, 0: none */
  guint64 n_decreases;
  gint64 growth;                /* ns, that it was asked for */
  guint64 decrease_rate;        /* bytes per second that came while it grew */
  gboolean decrease_waits;      /* to be sent */
  guint64 more_until;           /* ns, RECORD_MORE is said */
} MmtpArrivals;

/* `period`: ns, of keep-alives */
void mmtp_arrivals_init (MmtpArrivals * arrivals, guint64 now,
    guint64 period);
void mmtp_arrivals_add (MmtpArrivals * arrivals, guint64 now,
    const MmtpArrival * arrival);
/* A DATA packet that was added came after its deadline. */
void mmtp_arrivals_add_late (MmtpArrivals * arrivals);
/* Ends a window, gives up what is lost */
void mmtp_arrivals_timeout (MmtpArrivals * arrivals, guint64 now);
guint64 mmtp_arrivals_next_wakeup (const MmtpArrivals * arrivals);

gboolean mmtp_arrivals_is_silent (const MmtpArrivals * arrivals, guint64 now);
/* TRUE: congestion; the DECREASE to be sent. `round_trip`: ns, time before an
 * answer can show. */
gboolean mmtp_arrivals_take_decrease (MmtpArrivals * arrivals, guint64 now,
    guint64 round_trip, MmtpDecrease * decrease);
/* All of the record but its channel; at most `ranges` of losses, as
 * mmtp_losses_report has them */
void mmtp_arrivals_get_record (MmtpArrivals * arrivals, guint64 now,
    gboolean surely, guint ranges, MmtpRecord * record);
/* What comes from now on has taken another way: transits and capacity are
 * new. */
void mmtp_arrivals_begin_path (MmtpArrivals * arrivals, guint64 now);
/* ns; FALSE: no message lately */
gboolean mmtp_arrivals_get_least_transit (const MmtpArrivals * arrivals,
    gint64 * transit);

G_END_DECLS

#endif /* __MMTP_ARRIVALS_H__ */

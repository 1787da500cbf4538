/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One-way delays of a path, from the reports: the base delay, which is the
 * minimum of the last minute, or what was found when the path's queue had been
 * emptied on purpose; what even the luckiest message has to wait now, which is
 * the queue; and the high delay that nearly all messages stay below. All times
 * are ns; one-way delays come on a scale whose zero nobody knows, so that only
 * differences mean something.
 * */

#pragma once

#include <glib.h>

#define MMTP_DELAY_SPANS 10
#define MMTP_DELAY_REPORTS 3

typedef struct
{
  guint64 began;                /* ns; a span without messages is unused */
  guint n;                      /* messages */
  gint64 min, highest, second;          /* second highest of the reports */
} MmtpDelaySpan;

typedef struct
{
  MmtpDelaySpan spans[MMTP_DELAY_SPANS];        /* a ring of seconds */
  guint at;
  gboolean is_known;
  MmtpDelaySpan base_spans[MMTP_DELAY_SPANS];   /* a ring of longer spans */
  guint base_at;
  gint64 latest;                /* of the newest message */
  gint64 min, high;             /* of the last report */
  gint64 minima[MMTP_DELAY_REPORTS];    /* a ring: of the last reports */
  guint n_minima;               /* reports so far */
  gint64 spread;                /* between these two, smoothed */
  gint64 jitter;                /* RFC 3550, section 6.4.1, by the receiver */
} MmtpPathDelay;

void mmtp_path_delay_clear (MmtpPathDelay * delay);
/* A report: delays of its newest, fastest and slowest message, of `n` */
void mmtp_path_delay_add (MmtpPathDelay * delay, guint64 now, gint64 latest,
    gint64 min, gint64 high, guint n);
/* Everything in flight has been drained, and this was the minimum: it is the
 * base from now on. */
void mmtp_path_delay_rebase (MmtpPathDelay * delay, gint64 base);
/* 0 when nothing is known */
gint64 mmtp_path_delay_get_base (const MmtpPathDelay * delay);
/* The minimum of the last three reports; 0 when nothing is known */
gint64 mmtp_path_delay_get_standing (const MmtpPathDelay * delay);
/* What all but the slowest of the last ten seconds stay below */
gint64 mmtp_path_delay_get_high (const MmtpPathDelay * delay, guint64 now);

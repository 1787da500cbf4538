/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keeps a channel full and the queue on its way short. The least transits of
 * the receiver's windows, above what they are when there is none, are a queue,
 * whatever single packets had to wait; the rate that holds it where it is, is
 * what the channel carries. This goes on where packet pairs say nothing,
 * because the delay of each packet fluctuates by more than it takes to transmit
 * one, and where they say too much, because others share the medium.
 */

#ifndef __MMTP_REGULATOR_H__
#define __MMTP_REGULATOR_H__

#include <glib.h>

G_BEGIN_DECLS

/* BLOCK_TIME each */
#define MMTP_REGULATOR_BLOCKS 16
#define MMTP_REGULATOR_FLOORS 10        /* minutes */

typedef struct
{
  gdouble believed;             /* bits per second that the channel carries */
  gdouble rate;                 /* bits per second that are allowed */
  gboolean is_guess;            /* nothing has held it back yet */
  guint64 time;                 /* ns, of the window before; 0: none */
  gint64 last, last_but_one;    /* ns, least transits of the windows before */
  guint above, below;           /* windows in a row with a queue over the
                                 * target, and under it while the channel was
                                 * busy */
  gdouble noise;                /* ns, by which windows differ */
  guint n_noise;                /* windows that it has been learnt from */
  guint n_windows;              /* in a row under load */
  gdouble blocks[MMTP_REGULATOR_BLOCKS];        /* ns, means of some windows */
  guint n_blocks, block;
  gdouble sum;                  /* ns, of the block that begins */
  guint n_sum;
  guint64 block_time;           /* ns, when it began */
  gdouble usual;                /* ns, least transit without a queue */
  gdouble floors[MMTP_REGULATOR_FLOORS];        /* ns, least window in each of
                                                 * the last minutes */
  guint n_floors, floor;
  guint64 floor_time;           /* ns, when the newest began */
  gdouble queue, queue_before;  /* ns, of this window and the one before */
  guint64 corrected;            /* ns, when growth last corrected the belief */
  gdouble target;               /* ns, of a queue that is left standing */
  gdouble most;                 /* ns, that it may be */
  gint64 excess;                /* ns, of the queue when it became too long */
  guint64 excess_time;          /* ns; 0: it isn't */
  gdouble excess_believed;
} MmtpRegulator;

typedef struct
{
  guint64 now;                  /* ns */
  gint64 least;                 /* ns, least transit of the window */
  guint64 message;              /* ns that one takes */
  guint64 most;                 /* ns, of a queue that may be left standing */
  guint64 lag;                  /* ns until a change shows in a window */
  guint64 sent;                 /* bits per second, of late */
  guint64 limit;                /* bits per second that the channel surely
                                 * doesn't exceed; 0: unknown */
  gboolean is_measured;         /* something better says whether more would
                                 * fit */
} MmtpRegulatorWindow;

/* `is_guess`: the channel may carry far more */
void mmtp_regulator_init (MmtpRegulator * regulator, guint64 rate,
    gboolean is_guess);
/* The rate from now on. TRUE in `is_longer`: what seemed to be a queue didn't
 * go when less was sent: the way is longer, and its least transit another. */
guint64 mmtp_regulator_add (MmtpRegulator * regulator,
    const MmtpRegulatorWindow * window, gboolean * is_longer);
/* Something else has said what the channel carries */
guint64 mmtp_regulator_set (MmtpRegulator * regulator, guint64 rate);
/* ns, of a queue that is left standing */
guint64 mmtp_regulator_get_target (const MmtpRegulator * regulator);
/* ns, of what may stand in the queue: the target, and what has crept into what
 * is usual. Who lets so much go now and then sees the way without a queue. */
guint64 mmtp_regulator_get_drain (const MmtpRegulator * regulator);

G_END_DECLS

#endif /* __MMTP_REGULATOR_H__ */

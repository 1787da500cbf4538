/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Incipient congestion, and its contrary, from the least transits of one window
 * after the other [4.5.1 of the paper]. The sum of jitters over a time
 * telescopes to a difference of two transits; that of the two least ones is
 * what a queue has grown, whatever single packets had to wait. So a late packet
 * followed by early ones is no sign, and a random delay of each none either;
 * nor is loss.
 */

#ifndef __MMTP_CONGESTION_H__
#define __MMTP_CONGESTION_H__

#include <glib.h>

G_BEGIN_DECLS

#define MMTP_CONGESTION_WINDOWS 16
#define MMTP_CONGESTION_BLOCKS 8

typedef enum
{
  MMTP_CONGESTION_NONE,
  MMTP_CONGESTION_GROWS,        /* ask for less */
  MMTP_CONGESTION_FALLS         /* transit has dropped and stays so */
} MmtpCongestionSign;

typedef struct
{
  guint64 time;                 /* ns */
  gint64 least;                 /* ns, of its windows */
  gdouble noise;                /* ns, standard deviation of these */
} MmtpCongestionBlock;

typedef struct
{
  gint64 base[MMTP_CONGESTION_WINDOWS]; /* ns, least transits, a ring */
  guint n, next;
  gdouble past_noise;           /* ns, before it began anew; 0: never did */
  guint above, below;           /* windows in a row */
  gint64 last;                  /* ns, of the window before */
  gboolean congested;           /* base is kept as it was before */
  guint64 hold_until;           /* ns */
  gint64 level;                 /* ns, highest that was asked for */
  guint standing;               /* windows that neither grew nor fell */
  guint repeats;
  /* What grows too slowly to stand out of `base`, which it takes along */
  gdouble sum, squares, changes;        /* ns, of the block that begins */
  gint64 block_least;           /* ns, of it */
  guint n_sum;
  MmtpCongestionBlock blocks[MMTP_CONGESTION_BLOCKS];
  guint n_blocks;
} MmtpCongestion;

void mmtp_congestion_init (MmtpCongestion * congestion);
/* A window ends, with its least transit (ns). `rising`: not with its first ones
 * as the slowest. GROWS: by `growth` (ns) over what it was before; the caller
 * asks for less and says when an answer can show. */
MmtpCongestionSign mmtp_congestion_add (MmtpCongestion * congestion,
    guint64 now, gint64 least, gboolean rising, gint64 * growth);
/* No queue stands or seems to grow. */
gboolean mmtp_congestion_is_usual (const MmtpCongestion * congestion);
void mmtp_congestion_hold (MmtpCongestion * congestion, guint64 until);

G_END_DECLS

#endif /* __MMTP_CONGESTION_H__ */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sender of TFRC (RFC 5348 section 4) as CCID 3 has it (RFC 4342 sections 5
 * and 8.1): how fast to send, when the next packet may go, and which value of
 * the window counter it has. A core: no packets, no clock. Times are ns on one
 * clock of the caller's that never goes back; rates are bytes per second.
 *
 *   sender = tfrc_sender_new (&config);
 *   tfrc_sender_set_round_trip (sender, now, round_trip);   of the handshake
 *   if (tfrc_sender_next_send (sender, now) <= now)
 *     ccval = tfrc_sender_sent (sender, now, sequence, size);
 *   tfrc_sender_feedback (sender, now, &feedback);
 *   at tfrc_sender_next_wakeup (sender): tfrc_sender_timeout (sender, now)
 */

#pragma once

#include "tfrcequation.h"

typedef struct
{
  TfrcEquation equation;
  guint32 segment_size;         /* s, bytes; 0: mean of those sent (RFC 5348
                                 * section 4.1) */
  guint32 max_segment;          /* MSS, bytes, for the initial rate */
  gboolean reduce_oscillation;  /* section 4.5 */
  guint64 granularity;          /* ns: t_gran of the caller's timer (8.3) */
  guint64 max_rate;             /* bytes per second, 0: no limit of ours */
} TfrcSenderConfig;

void tfrc_sender_config_init (TfrcSenderConfig * config);

/* What an acknowledgement says */
typedef struct
{
  guint64 acknowledged;         /* sequence number, 48 bits */
  guint64 elapsed;              /* ns that the receiver held it back, where
                                 * has_elapsed */
  gboolean has_elapsed;
  gboolean has_receive_rate;    /* without it nothing but the round trip is
                                 * taken from this one */
  guint32 receive_rate;         /* bytes per second */
  gdouble loss_event_rate;      /* p, by the loss intervals or by the option; 0:
                                 * no loss yet */
  gboolean new_loss_event;      /* since the last one, whatever p */
  gboolean slow_receiver;       /* RFC 4340 section 11.6 */
  guint dropped;                /* packets that it newly reports with Drop Code
                                 * 2 (RFC 4342 section 5.2) */
  gboolean dropped_others;      /* ... with 0 or 1 */
} TfrcFeedback;

typedef struct _TfrcSender TfrcSender;

TfrcSender *tfrc_sender_new (const TfrcSenderConfig * config);
void tfrc_sender_free (TfrcSender * sender);

/* Before the first feedback */
void tfrc_sender_set_round_trip (TfrcSender * sender, guint64 now,
    guint64 round_trip);
/* While it runs; bytes per second, 0: none */
void tfrc_sender_set_max_rate (TfrcSender * sender, guint64 max_rate);

/* When the next data packet may go, `now` or earlier: at once. Credit for what
 * was not sent is less than a round trip's (4.6). */
guint64 tfrc_sender_next_send (TfrcSender * sender, guint64 now);
/* A data packet of `size` bytes of payload goes: its CCVal (RFC 4342 section
 * 8.1). `more`: another one waits behind it, so that the sender is not limited
 * by its data (RFC 5348 section 8.2.1). */
guint8 tfrc_sender_sent (TfrcSender * sender, guint64 now, guint64 sequence,
    guint32 size, gboolean more);
/* Any other packet took this number: its acknowledgement times the round trip
 * too */
void tfrc_sender_sent_other (TfrcSender * sender, guint64 now,
    guint64 sequence);
void tfrc_sender_feedback (TfrcSender * sender, guint64 now,
    const TfrcFeedback * feedback);

/* The no-feedback timer */
guint64 tfrc_sender_next_wakeup (TfrcSender * sender);
void tfrc_sender_timeout (TfrcSender * sender, guint64 now);

typedef struct
{
  gdouble rate;                 /* X */
  gdouble instant_rate;         /* X_inst */
  gdouble receive_limit;        /* recv_limit; G_MAXDOUBLE: none yet */
  guint32 receive_rate;         /* X_recv of the last feedback */
  gdouble loss_event_rate;      /* p */
  guint64 round_trip;           /* ns, R; 0: unknown */
  guint64 round_trip_variance;  /* ns, mean deviation of the samples */
  guint32 segment_size;         /* s */
  /* The application has sent less than was allowed in most of the last second.
   * The rate is then a lower bound of what the path carries, unless the loss
   * event rate limits it. */
  gboolean is_app_limited;
  guint64 feedbacks;            /* counters, which never go back */
  guint64 no_feedbacks;         /* times that the timer ran out */
  guint64 slow_receivers;       /* feedbacks with Slow Receiver */
  guint64 dropped;              /* packets reported as dropped */
} TfrcSenderState;

void tfrc_sender_get_state (TfrcSender * sender, TfrcSenderState * state);

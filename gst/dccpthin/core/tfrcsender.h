/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sender of TFRC (RFC 5348 section 4) for CCID 3 (RFC 4342 sections 5 and
 * 8.1). It computes the allowed rate, the time of the next packet, and the
 * window counter of each packet. This core does not depend on the packet
 * format, and reads no clock. The caller passes the time in ns to each
 * function. The time must never decrease. Rates are in bytes per second.
 *
 *   sender = tfrc_sender_new (&config);
 *   tfrc_sender_set_round_trip (sender, now, round_trip_of_handshake);
 *   if (tfrc_sender_next_send (sender, now) <= now)
 *     ccval = tfrc_sender_sent (sender, now, sequence, size, more);
 *   tfrc_sender_feedback (sender, now, &feedback);
 *   if (tfrc_sender_next_wakeup (sender) <= now)
 *     tfrc_sender_timeout (sender, now);
 */

#pragma once

#include "tfrcequation.h"

typedef struct
{
  TfrcEquation equation;
  /* Packet size s in bytes; 0 = mean size of the sent packets (RFC 5348 section
   * 4.1). */
  guint32 segment_size;
  /* Maximum payload size in bytes. It is also the MSS in the formula for the
   * initial rate. */
  guint32 max_segment;
  gboolean reduce_oscillation;  /* section 4.5 */
  /* t_gran, the resolution in ns of the timer with which the caller sends
   * packets (RFC 5348 section 8.3) */
  guint64 granularity;
  /* configured maximum of the sending rate in bytes per second; 0 = no maximum
   */
  guint64 max_rate;
} TfrcSenderConfig;

void tfrc_sender_config_init (TfrcSenderConfig * config);

/* The contents of one acknowledgement. */
typedef struct
{
  guint64 acknowledged;         /* acknowledged sequence number, 48 bits */
  /* time in ns from the arrival of the acknowledged packet to the
   * acknowledgement; valid if has_elapsed is TRUE */
  guint64 elapsed;
  gboolean has_elapsed;
  /* TRUE if the acknowledgement reports the receive rate. Otherwise the
   * acknowledgement does not change the allowed rate X, and only its round-trip
   * time is used. */
  gboolean has_receive_rate;
  guint32 receive_rate;         /* bytes per second */
  /* The loss event rate p. It is computed from the loss intervals, or read from
   * the Loss Event Rate option. 0 = no loss yet. */
  gdouble loss_event_rate;
  /* TRUE if there is a new loss event since the last feedback. It can be TRUE
   * although the loss event rate p has not increased. */
  gboolean new_loss_event;
  gboolean slow_receiver;       /* RFC 4340 section 11.6 */
  /* Number of packets that this feedback, but no earlier feedback, reports with
   * Drop Code 2: the receiver dropped them because its receive buffer was full
   * (RFC 4342 section 5.2). */
  guint dropped;
  /* TRUE if this feedback, but no earlier feedback, reports a packet with Drop
   * Code 0 (protocol constraints) or 1 (application not listening) */
  gboolean dropped_others;
} TfrcFeedback;

typedef struct _TfrcSender TfrcSender;

TfrcSender *tfrc_sender_new (const TfrcSenderConfig * config);
void tfrc_sender_free (TfrcSender * sender);

/* Sets the round-trip time that the handshake measured, in ns. The call is
 * ignored after the first feedback. */
void tfrc_sender_set_round_trip (TfrcSender * sender, guint64 now,
    guint64 round_trip);
/* Sets the maximum sending rate that the application has configured, in bytes
 * per second; 0 = no maximum. The rate that TFRC allows may be lower. */
void tfrc_sender_set_max_rate (TfrcSender * sender, guint64 max_rate);

/* Returns the time at which the next data packet may be sent; `now` means
 * immediately. After a pause, the sender may send a burst. The burst has fewer
 * packets than the rate allows in one round trip (RFC 5348 section 4.6). */
guint64 tfrc_sender_next_send (TfrcSender * sender, guint64 now);
/* Call this function when a data packet with `size` bytes of payload is sent.
 * `more` is TRUE if another packet waits, so the sender is not data-limited
 * (RFC 5348 section 8.2.1). Returns the window counter for the field CCVal of
 * the packet (RFC 4342 section 8.1). */
guint8 tfrc_sender_sent (TfrcSender * sender, guint64 now, guint64 sequence,
    guint32 size, gboolean more);
/* Call this function when a packet without data, with the sequence number
 * `sequence`, is sent. When this packet is acknowledged, the round-trip time is
 * measured, just as it is for a data packet. */
void tfrc_sender_sent_other (TfrcSender * sender, guint64 now,
    guint64 sequence);
void tfrc_sender_feedback (TfrcSender * sender, guint64 now,
    const TfrcFeedback * feedback);

/* Returns the time at which the no-feedback timer expires. */
guint64 tfrc_sender_next_wakeup (TfrcSender * sender);
void tfrc_sender_timeout (TfrcSender * sender, guint64 now);

typedef struct
{
  gdouble rate;                 /* X */
  gdouble instant_rate;         /* X_inst */
  gdouble receive_limit;        /* recv_limit; G_MAXDOUBLE = no limit yet */
  guint32 receive_rate;         /* X_recv of the last feedback */
  gdouble loss_event_rate;      /* p */
  guint64 round_trip;           /* ns, R; 0: unknown */
  /* mean deviation of the measured round-trip times in ns (RFC 6298) */
  guint64 round_trip_variance;
  /* Estimated queueing delay in ns: the latest round-trip time minus the
   * minimum round-trip time of the last 10 to 20 s */
  guint64 queue_delay;
  /* number of payload bytes in flight: those of all packets that were sent
   * after the latest acknowledged packet */
  guint64 in_flight;
  guint32 segment_size;         /* s */
  /* TRUE if the application recently sent less than the allowed rate X, on
   * average over about half a second. In this case, X is only a lower bound of
   * the path's capacity. If the loss event rate limits X, X shows the capacity,
   * so this field is FALSE. */
  gboolean is_app_limited;
  guint64 feedbacks;            /* counters, which never decrease */
  /* number of expirations of the no-feedback timer */
  guint64 no_feedbacks;
  /* number of feedback packets with the option Slow Receiver */
  guint64 slow_receivers;
  /* number of packets that the receiver reported as dropped */
  guint64 dropped;
} TfrcSenderState;

void tfrc_sender_get_state (TfrcSender * sender, TfrcSenderState * state);

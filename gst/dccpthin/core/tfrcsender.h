/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sender of TFRC (RFC 5348 section 4), as CCID 3 of DCCP uses it (RFC 4342
 * sections 5 and 8.1). It computes the allowed rate, the time of the next
 * packet, and the window counter of each packet. The code does not depend on
 * the packet format, and reads no clock. The caller passes the present time in
 * ns to each function. This time must never decrease. Rates are in bytes per
 * second.
 *
 * The caller uses the functions in this order:
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
  /* Packet size s in bytes for the throughput equation (RFC 5348 section 4.1).
   * 0 = the mean size of the sent packets is used. */
  guint32 segment_size;
  /* Maximum payload size of a packet in bytes. The formula for the initial rate
   * uses this size as the MSS (RFC 5348 section 4.2). */
  guint32 max_segment;
  gboolean reduce_oscillation;  /* section 4.5 */
  /* t_gran, the resolution in ns of the timer with which the caller sends
   * packets (RFC 5348 section 8.3) */
  guint64 granularity;
} TfrcSenderConfig;

void tfrc_sender_config_init (TfrcSenderConfig * config);

/* The contents of one acknowledgement. */
typedef struct
{
  guint64 acknowledged;         /* acknowledged sequence number, 48 bits */
  /* Time in ns from the arrival of the acknowledged packet until the receiver
   * sent the acknowledgement. Valid only if has_elapsed is TRUE. */
  guint64 elapsed;
  gboolean has_elapsed;
  /* TRUE if the acknowledgement reports the receive rate. If it does not, the
   * allowed rate X does not change. The acknowledgement is then used only for
   * three things: the round-trip time, the option Slow Receiver, and dropped
   * packets. */
  gboolean has_receive_rate;
  guint32 receive_rate;         /* bytes per second */
  /* Loss event rate p, from 0 to 1; 0 = no loss yet. The caller computes p from
   * the option Loss Intervals if the acknowledgement has this option. Otherwise
   * the caller reads p from the option Loss Event Rate. */
  gdouble loss_event_rate;
  /* TRUE if this feedback reports a loss event that began after the previous
   * feedback. This is possible even if the loss event rate p has not increased.
   */
  gboolean new_loss_event;
  gboolean slow_receiver;       /* RFC 4340 section 11.6 */
  /* Number of packets that this feedback reports with Drop Code 2 and that no
   * earlier feedback has reported. Drop Code 2 means that the receiver dropped
   * a packet because its receive buffer was full (RFC 4342 section 5.2). */
  guint dropped;
  /* TRUE if this feedback reports packets that were dropped for certain reasons
   * and that no earlier feedback has reported. These reasons are the Drop Codes
   * 0 (Protocol Constraints) and 1 (Application Not Listening). */
  gboolean dropped_others;
} TfrcFeedback;

typedef struct _TfrcSender TfrcSender;

TfrcSender *tfrc_sender_new (const TfrcSenderConfig * config);
void tfrc_sender_free (TfrcSender * sender);

/* Sets the round-trip time in ns that the handshake measured. After the first
 * feedback, the sender has measurements of its own. From then on, this function
 * has no effect. */
void tfrc_sender_set_round_trip (TfrcSender * sender, guint64 now,
    guint64 round_trip);

/* Returns the time in ns at which the next data packet may be sent; `now` means
 * immediately. After a pause, the sender may send a burst. The number of
 * packets in this burst is smaller than the number that the rate allows in one
 * round trip (RFC 5348 section 4.6). */
guint64 tfrc_sender_next_send (TfrcSender * sender, guint64 now);
/* Call this function when a data packet with `size` bytes of payload is sent.
 * `more` is TRUE if another packet waits to be sent. In this case, the sender
 * is not data-limited (RFC 5348 section 8.2.1). Returns the window counter,
 * which the caller writes into the header field CCVal of the packet (RFC 4342
 * section 8.1). */
guint8 tfrc_sender_sent (TfrcSender * sender, guint64 now, guint64 sequence,
    guint32 size, gboolean more);
/* Call this function when a packet without data, with the sequence number
 * `sequence`, is sent. When this packet is acknowledged, the round-trip time is
 * measured, just as it is for a data packet. */
void tfrc_sender_sent_other (TfrcSender * sender, guint64 now,
    guint64 sequence);
void tfrc_sender_feedback (TfrcSender * sender, guint64 now,
    const TfrcFeedback * feedback);

/* Returns the time in ns at which the no-feedback timer expires. At this time,
 * the caller has to call tfrc_sender_timeout (). */
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
   * minimum round-trip time of the last 10 to 20 seconds. */
  guint64 queue_delay;
  /* Number of payload bytes in flight. These are the payloads of all packets
   * that were sent after the latest acknowledged packet. */
  guint64 in_flight;
  guint32 segment_size;         /* s */
  /* TRUE if the application recently sent less than the allowed rate X, on
   * average over about half a second. In this case, the capacity of the path
   * may be higher than X. The field is always FALSE if the loss event rate
   * determines X, because the losses show that the capacity is not higher than
   * X. */
  gboolean is_app_limited;
  guint64 feedbacks;            /* counters, which never decrease */
  /* Number of times that the no-feedback timer has expired. */
  guint64 no_feedbacks;
  /* Number of feedback packets that contained the option Slow Receiver. */
  guint64 slow_receivers;
  /* Number of packets that the receiver reported as dropped because its receive
   * buffer was full (Drop Code 2). */
  guint64 dropped;
} TfrcSenderState;

void tfrc_sender_get_state (TfrcSender * sender, TfrcSenderState * state);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The operations of a congestion control (dccpccid.h) for the half-connection
 * in which we send data. Operations that are marked as optional may be NULL.
 * The connection calls the operations in this order:
 *
 *   create               when the half-connection begins
 *   set_round_trip       if the handshake measured a round-trip time
 *   next_send            while a packet waits to be sent, and again after each
 *                        of the following operations except free
 *   sent, sent_other     for each packet that is sent
 *   read_option          for each option of a received Ack
 *   feedback             for each received Ack, after its options
 *   timeout              at the time next_wakeup
 *   free                 when the half-connection ends */

#pragma once

#include "dccpccidhalf.h"

/* Values of the options of one received packet. The operation `read_option`
 * stores them here, and `feedback` reads them. Each congestion control casts
 * this memory to a struct of its own. All bytes are 0 before the first option
 * of a packet is read. */
typedef union
{
  guint64 alignment;
  guint8 bytes[512];
} DccpCcidHeard;

/* Describes a received Ack or DataAck to the congestion control. An Ack that
 * was overtaken by a packet with a greater sequence number is not reported. */
typedef struct
{
  guint64 acknowledged;         /* acknowledged sequence number */
  gboolean has_elapsed;
  /* Time in ns from the arrival of the acknowledged packet at the peer until
   * the peer sent the Ack. It is the value of the option Elapsed Time, and is
   * only valid if has_elapsed is TRUE. */
  guint64 elapsed;
  gboolean slow_receiver;       /* RFC 4340 section 11.6 */
  /* Number of packets that the peer has dropped with the Drop Code 2 (Receive
   * Buffer). Packets that an earlier Ack has reported do not count (RFC 4340
   * section 11.7). */
  guint dropped;
  /* TRUE if the peer has dropped packets with the Drop Code 0 (Protocol
   * Constraints) or 1 (Application Not Listening). Packets that an earlier Ack
   * has reported do not count (RFC 4340 section 11.7). */
  gboolean dropped_others;
  const DccpCcidHeard *heard;
} DccpCcidAck;

#define DCCP_CCID_MAX_LOSSES 28

/* Results of `feedback`. */
typedef struct
{
  /* Smoothed round-trip time in ns if the round-trip time could be measured
   * with this Ack; otherwise 0. It is passed to the half-connection in which we
   * receive data. */
  guint64 round_trip;
  guint n_losses;
  struct
  {
    /* A range of lost packets: the sequence numbers of its first and its last
     * packet. None of these packets was reported before. */
    guint64 first, last;
  } losses[DCCP_CCID_MAX_LOSSES];       /* in increasing order */
} DccpCcidNews;

/* State of the sender's congestion control. The connection and the statistics
 * use it. All fields are 0 at first. A congestion control sets only those
 * fields whose value it knows. */
typedef struct
{
  /* Allowed rate in bytes per second. A window-based algorithm sets it to its
   * window divided by the round-trip time. The connection notifies the
   * application if this rate changes. */
  gdouble rate;
  /* Rate in bytes per second at which packets are sent at this moment (X_inst
   * of RFC 5348 section 4.5). It is higher than `rate` if the latest round-trip
   * time is shorter than the mean round-trip time, and lower than `rate` if the
   * latest round-trip time is longer than the mean. */
  gdouble instant_rate;
  /* rate in bytes per second at which data arrive, as reported by the receiver;
   * 0 if unknown */
  guint32 receive_rate;
  gdouble loss_event_rate;      /* 0 to 1 */
  /* TRUE if the application sends less than `rate` permits. The path may then
   * carry more than `rate`, because `rate` was not fully used. */
  gboolean is_app_limited;
  guint64 round_trip, round_trip_variance;      /* ns; 0: unknown */
  /* estimated queueing delay in ns: the latest round-trip time minus the
   * minimum of the recent round-trip times */
  guint64 queue_delay;
  /* number of payload bytes that were sent but are not acknowledged yet */
  guint64 in_flight;
  guint64 feedbacks, no_feedbacks, loss_events; /* counters */
  guint64 packets_lost;         /* counter; see DccpStats */
} DccpCcidSenderState;

typedef struct
{
  gpointer (*create) (const DccpCcidConfig * config);
  void (*free) (gpointer sender);
  /* Optional: passes to the sender the round-trip time in ns that was measured
   * in the handshake. */
  void (*set_round_trip) (gpointer sender, guint64 now, guint64 round_trip);
  /* Returns the time in ns at which the next data packet may be sent. If this
   * is `now` or earlier, the packet may be sent immediately. G_MAXUINT64 means
   * that no packet may be sent before the next call of `feedback` or `timeout`.
   * The caller need not send a packet after this call. */
    guint64 (*next_send) (gpointer sender, guint64 now);
  /* Called when a data packet with `size` bytes of payload is sent. `more` is
   * TRUE if another packet is already waiting. Returns the value for the field
   * CCVal of the packet, from 0 to 15. */
    guint8 (*sent) (gpointer sender, guint64 now, guint64 sequence,
      guint32 size, gboolean more);
  /* Optional: called when a packet without data is sent. Such a packet has a
   * sequence number as well. */
  void (*sent_other) (gpointer sender, guint64 now, guint64 sequence);
  /* Optional: writes options of the sender of data (types 128 to 191) into a
   * Data, DataAck, Sync or SyncAck packet. With their headers, they occupy at
   * most 5 bytes. `sender` is NULL while the connection is not open yet. */
  void (*write_options) (gpointer sender, const DccpCcidContext * context,
      DccpOptionWriter * writer);
  /* Optional: reads an option that the receiver of our data has sent (types 192
   * to 255), and stores the value of the option in `heard`. The packet with the
   * option may still be discarded. For this reason, the option must have no
   * other effect before `feedback` is called. Returns FALSE if the option is
   * unknown or malformed.
   */
    gboolean (*read_option) (DccpCcidHeard * heard, const DccpOption * option);
  /* Called when an Ack has arrived. If the Ack contains feedback about
   * congestion, stores the results in `news` and returns TRUE. The caller has
   * set the fields `round_trip` and `n_losses` of `news` to 0. */
    gboolean (*feedback) (gpointer sender, guint64 now,
      const DccpCcidAck * ack, DccpCcidNews * news);
  /* `next_wakeup` and `timeout` are optional, but a sender has either both or
   * none. `next_wakeup` returns the time in ns at which the timer of the sender
   * expires. If the timer is off, `next_wakeup` returns G_MAXUINT64. When the
   * timer expires, the connection calls `timeout`, which must stop the timer or
   * set it to a later time. */
    guint64 (*next_wakeup) (gpointer sender);
  void (*timeout) (gpointer sender, guint64 now);
  /* Stores the state of the sender in `state`. The caller has set all fields of
   * `state` to 0. */
  void (*get_state) (gpointer sender, DccpCcidSenderState * state);
} DccpCcidSender;

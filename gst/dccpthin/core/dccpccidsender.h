/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The operations of a congestion control for the half-connection in which we
 * send the data; see dccpccid.h. Operations that are marked as optional may be
 * NULL. The connection calls the operations in this order:
 *
 *   create               when the half-connection begins
 *   set_round_trip       if the handshake measured a round-trip time
 *   next_send            after each operation below, while a packet waits
 *   sent, sent_other     for each packet that is sent
 *   read_option          for each option of an Ack
 *   feedback             for each Ack, after its options
 *   timeout              at the time of next_wakeup
 *   free                 when the half-connection ends
 */

#pragma once

#include "dccpccidhalf.h"

/* Memory for the values of the options of one packet, which `read_option`
 * reads. Each congestion control casts it to a struct of its own. All bytes are
 * 0 before the first option of a packet is read. */
typedef union
{
  guint64 alignment;
  guint8 bytes[512];
} DccpCcidHeard;

/* Describes an Ack or DataAck of the peer. An Ack is reported only if no packet
 * with a greater sequence number has arrived before it. */
typedef struct
{
  guint64 acknowledged;         /* acknowledged sequence number */
  gboolean has_elapsed;
  /* Value of the option Elapsed Time: time in ns that the peer waited from the
   * arrival of the acknowledged packet until it sent the Ack. Only valid if
   * has_elapsed is TRUE. */
  guint64 elapsed;
  gboolean slow_receiver;       /* RFC 4340 section 11.6 */
  /* Number of packets with Drop Code 2 (Receive Buffer) that this Ack reports
   * and no earlier Ack has reported (RFC 4340 section 11.7) */
  guint dropped;
  /* TRUE if this Ack reports packets with Drop Code 0 (Protocol Constraints) or
   * 1 (Application Not Listening) that no earlier Ack has reported (RFC 4340
   * section 11.7) */
  gboolean dropped_others;
  const DccpCcidHeard *heard;
} DccpCcidAck;

#define DCCP_CCID_MAX_LOSSES 28

/* Results of `feedback`. */
typedef struct
{
  /* Smoothed round-trip time in ns if this Ack has measured the round-trip
   * time; otherwise 0. The half-connection in which we receive data uses it
   * too. */
  guint64 round_trip;
  guint n_losses;
  struct
  {
    /* Range of lost packets, as the first and the last sequence number in it. A
     * range contains no packet that was reported before. */
    guint64 first, last;
  } losses[DCCP_CCID_MAX_LOSSES];       /* in increasing order */
} DccpCcidNews;

/* State of a congestion control, for the connection and for the statistics. All
 * fields are 0 at first. A congestion control sets only the fields for which it
 * has a value. */
typedef struct
{
  /* Allowed rate in bytes per second. A window-based algorithm reports its
   * window divided by the round-trip time. The application is notified of
   * changes. */
  gdouble rate;
  /* Rate at which packets are sent at this moment, in bytes per second. It
   * differs from `rate` if the latest round-trip time differs from the mean
   * round-trip time (X_inst of RFC 5348 section 4.5). */
  gdouble instant_rate;
  /* rate that the receiver reports; 0 = unknown */
  guint32 receive_rate;
  gdouble loss_event_rate;      /* 0 to 1 */
  /* TRUE if the application sends less than is allowed; the path may then carry
   * more than `rate` */
  gboolean is_app_limited;
  guint64 round_trip, round_trip_variance;      /* ns; 0: unknown */
  /* latest round-trip time minus the minimum of the recent round-trip times, in
   * ns */
  guint64 queue_delay;
  /* payload bytes that were sent and not acknowledged yet */
  guint64 in_flight;
  guint64 feedbacks, no_feedbacks, loss_events; /* counters */
  guint64 packets_lost;         /* counter; see DccpStats */
} DccpCcidSenderState;

typedef struct
{
  gpointer (*create) (const DccpCcidConfig * config);
  void (*free) (gpointer sender);
  /* Optional: tells the sender the round-trip time that the handshake measured.
   */
  void (*set_round_trip) (gpointer sender, guint64 now, guint64 round_trip);
  /* Returns the time at which the next data packet may be sent. `now` or an
   * earlier time means immediately; G_MAXUINT64 means not before the next call
   * of `feedback` or `timeout`. The caller may call this function without
   * sending a packet afterwards. */
    guint64 (*next_send) (gpointer sender, guint64 now);
  /* Called when a data packet with `size` bytes of payload is sent. `more` is
   * TRUE if another packet waits to be sent. Returns the CCVal of the packet, 0
   * to 15.
   */
    guint8 (*sent) (gpointer sender, guint64 now, guint64 sequence,
      guint32 size, gboolean more);
  /* Optional: called when a packet without data is sent. Such a packet has a
   * sequence number too. */
  void (*sent_other) (gpointer sender, guint64 now, guint64 sequence);
  /* Optional: writes the options of types 128 to 191 of a Data, DataAck, Sync
   * or SyncAck packet. The options with their headers have at most 5 bytes.
   * `sender` is NULL before the connection is open. */
  void (*write_options) (gpointer sender, const DccpCcidContext * context,
      DccpOptionWriter * writer);
  /* Optional: reads an option of type 192 to 255 into `heard`. The packet may
   * still be discarded, so only `feedback` may act on the option. Returns FALSE
   * if the option is unknown or malformed. */
    gboolean (*read_option) (DccpCcidHeard * heard, const DccpOption * option);
  /* Called when an Ack has arrived. Stores what the Ack says about congestion
   * in `news`, and returns FALSE if it says nothing. The caller has set the
   * fields `round_trip` and `n_losses` of `news` to 0 before the call. */
    gboolean (*feedback) (gpointer sender, guint64 now,
      const DccpCcidAck * ack, DccpCcidNews * news);
  /* `next_wakeup` and `timeout` are either both set or both NULL. `next_wakeup`
   * returns the time at which the timer of the sender expires, or G_MAXUINT64
   * if the timer is off. `timeout` is called at this time. It must stop the
   * timer or set it to a later time. */
    guint64 (*next_wakeup) (gpointer sender);
  void (*timeout) (gpointer sender, guint64 now);
  /* Fills in `state`. The caller has already set all fields of `state` to 0. */
  void (*get_state) (gpointer sender, DccpCcidSenderState * state);
} DccpCcidSender;

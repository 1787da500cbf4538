/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The operations of a congestion control (dccpccid.h) for the half-connection
 * in which we receive data. Operations that are marked as optional may be NULL.
 * The connection calls the operations in this order:
 *
 *   create            when the half-connection begins
 *   set_round_trip    if the handshake measured a round-trip time
 *   read_option       for each option of a received packet
 *   input             for each received packet, after its options
 *   wants_feedback    after each received packet, and at the time next_wakeup
 *   write_feedback    if an Ack is sent because wants_feedback returned TRUE
 *   free              when the half-connection ends */

#pragma once

#include "dccpccidhalf.h"

/* Describes a received packet to the congestion control. All valid packets are
 * reported, whatever their type is, in the order of their arrival. */
typedef struct
{
  guint64 sequence;
  gboolean is_data;             /* TRUE for Data and DataAck */
  guint8 ccval;
  guint32 size;                 /* payload size in bytes */
  /* value of the option NDP Count (RFC 4340 section 7.7): number of packets
   * without data directly before this packet; 0 if the packet has no such
   * option */
  guint64 ndp;
} DccpCcidPacket;

/* Values for the statistics. All fields are 0 at first. A congestion control
 * sets only those fields whose value it knows. */
typedef struct
{
  gdouble loss_event_rate;      /* 0 to 1 */
  guint32 receive_rate;         /* bytes per second */
  guint64 lost, loss_events, reordered, duplicates;     /* counters */
} DccpCcidReceiverState;

typedef enum
{
  DCCP_CCID_OPTION_READ,
  DCCP_CCID_OPTION_REFUSED,     /* unknown or malformed option */
  /* The option is malformed, and the connection must be reset because of it. */
  DCCP_CCID_OPTION_FATAL
} DccpCcidOptionResult;

typedef struct
{
  gpointer (*create) (const DccpCcidConfig * config);
  void (*free) (gpointer receiver);
  /* Optional: passes a measured round-trip time in ns to the receiver. It was
   * measured either in the handshake, or in the half-connection in which we
   * send data. */
  void (*set_round_trip) (gpointer receiver, guint64 round_trip);
  /* Optional: reads an option of the sender of data (types 128 to 191).
   * `receiver` is NULL while the connection is not open yet. */
    DccpCcidOptionResult (*read_option) (gpointer receiver,
      const DccpCcidContext * context, const DccpOption * option);
  void (*input) (gpointer receiver, guint64 now, const DccpCcidPacket * packet);
  /* Returns TRUE if an Ack with feedback must be sent now. The caller need not
   * send an Ack after this call. */
    gboolean (*wants_feedback) (gpointer receiver, guint64 now);
  /* Returns the time in ns at which an Ack with feedback must be sent even if
   * no further packet arrives. Returns G_MAXUINT64 if no such Ack will be
   * necessary. */
    guint64 (*next_wakeup) (gpointer receiver);
  /* Writes the feedback, which consists of options of the types 192 to 255,
   * into an Ack. Called only if `wants_feedback` returns TRUE when the Ack is
   * sent. Other Acks have no such options. After this call, `wants_feedback`
   * returns FALSE until there is new information for the peer. */
  void (*write_feedback) (gpointer receiver, const DccpCcidContext * context,
      DccpOptionWriter * writer);
  /* Stores the state of the receiver in `state`. The caller has set all fields
   * of `state` to 0. */
  void (*get_state) (gpointer receiver, DccpCcidReceiverState * state);
} DccpCcidReceiver;

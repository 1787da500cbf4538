/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The operations of a congestion control for the half-connection in which we
 * receive the data; see dccpccid.h. Operations that are marked as optional may
 * be NULL. The connection calls the operations in this order:
 *
 *   create            when the half-connection begins
 *   set_round_trip    if the handshake measured a round-trip time
 *   read_option       for each option of a packet
 *   input             for each packet, after its options
 *   wants_feedback    after each packet, and at next_wakeup
 *   write_feedback    if an Ack is sent because wants_feedback returned TRUE
 *   free              when the half-connection ends
 */

#pragma once

#include "dccpccidhalf.h"

/* Describes a received packet to the congestion control. All valid packets of
 * any type are reported, in the order of their arrival. */
typedef struct
{
  guint64 sequence;
  gboolean is_data;             /* TRUE for Data and DataAck */
  guint8 ccval;
  guint32 size;                 /* payload size in bytes */
  /* NDP Count of the packet (RFC 4340 section 7.7); 0 = none */
  guint64 ndp;
} DccpCcidPacket;

/* Values for the statistics. If a congestion control does not know a value, it
 * leaves the value at 0. */
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
  /* The option is malformed, and the connection must be reset. */
  DCCP_CCID_OPTION_FATAL
} DccpCcidOptionResult;

typedef struct
{
  gpointer (*create) (const DccpCcidConfig * config);
  void (*free) (gpointer receiver);
  /* Optional: tells the receiver the round-trip time that the handshake
   * measured, or the round-trip time that our own sender measured. */
  void (*set_round_trip) (gpointer receiver, guint64 round_trip);
  /* Optional: reads an option of type 128 to 191. `receiver` is NULL before the
   * connection is open. */
    DccpCcidOptionResult (*read_option) (gpointer receiver,
      const DccpCcidContext * context, const DccpOption * option);
  void (*input) (gpointer receiver, guint64 now, const DccpCcidPacket * packet);
  /* Returns TRUE if an Ack must be sent now. The caller may also call this
   * function only to ask, and send no Ack afterwards. */
    gboolean (*wants_feedback) (gpointer receiver, guint64 now);
  /* Returns the time at which `wants_feedback` becomes TRUE if no packet
   * arrives until then; G_MAXUINT64 = never. */
    guint64 (*next_wakeup) (gpointer receiver);
  /* Writes the options of types 192 to 255 of an Ack. Called only if
   * `wants_feedback` returns TRUE when the Ack is sent. Otherwise the Ack has
   * no such options. After this call, `wants_feedback` returns FALSE until
   * there is new information for the peer. */
  void (*write_feedback) (gpointer receiver, const DccpCcidContext * context,
      DccpOptionWriter * writer);
  /* Fills in `state`. All fields of `state` are 0 before the call. */
  void (*get_state) (gpointer receiver, DccpCcidReceiverState * state);
} DccpCcidReceiver;

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The operations of a congestion control on the side that receives the data;
 * see dccpccid.h. Operations that are marked as optional may be NULL.
 *
 *   create, and set_round_trip if the handshake measured one
 *   read_option, then input        for each packet
 *   wants_feedback                 after each packet, and at next_wakeup
 *   write_feedback                 when it returned TRUE and the Ack goes
 *   free
 */

#pragma once

#include "dccpccidhalf.h"

/* A valid packet of any type, as it came */
typedef struct
{
  guint64 sequence;
  gboolean is_data;             /* Data or DataAck */
  guint8 ccval;
  guint32 size;                 /* bytes of data */
  guint64 ndp;                  /* its NDP Count (RFC 4340 section 7.7), or 0 */
} DccpCcidPacket;

/* What the statistics show. A congestion control leaves at 0 what it does not
 * know. */
typedef struct
{
  gdouble loss_event_rate;      /* 0 to 1 */
  guint32 receive_rate;         /* bytes per second */
  guint64 lost, loss_events, reordered, duplicates;     /* counters */
} DccpCcidReceiverState;

typedef enum
{
  DCCP_CCID_OPTION_READ,
  DCCP_CCID_OPTION_REFUSED,     /* unknown, or malformed */
  DCCP_CCID_OPTION_FATAL        /* ... so that the connection is reset */
} DccpCcidOptionResult;

typedef struct
{
  gpointer (*create) (const DccpCcidConfig * config);
  void (*free) (gpointer receiver);
  /* Optional: of the handshake, or of our own sender's feedback */
  void (*set_round_trip) (gpointer receiver, guint64 round_trip);
  /* Optional: reads an option of type 128 to 191. `receiver` is NULL before the
   * connection is open. */
    DccpCcidOptionResult (*read_option) (gpointer receiver,
      const DccpCcidContext * context, const DccpOption * option);
  void (*input) (gpointer receiver, guint64 now, const DccpCcidPacket * packet);
  /* Returns TRUE if an Ack has to go now. The call does not promise that one
   * goes. */
    gboolean (*wants_feedback) (gpointer receiver, guint64 now);
  /* When it will want that if no packet comes; G_MAXUINT64: never */
    guint64 (*next_wakeup) (gpointer receiver);
  /* Writes options of types 192 to 255 on that Ack. From then on
   * `wants_feedback` returns FALSE until there is something new to report. Acks
   * that go for other reasons have no such options. */
  void (*write_feedback) (gpointer receiver, const DccpCcidContext * context,
      DccpOptionWriter * writer);
  /* `state` is zero before. */
  void (*get_state) (gpointer receiver, DccpCcidReceiverState * state);
} DccpCcidReceiver;

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The receiver of TFRC (RFC 5348 sections 5 and 6) for CCID 3 (RFC 4342
 * sections 6, 8 and 10). It finds losses and groups them into loss events. It
 * measures the receive rate. It decides when feedback is due, and what the
 * feedback contains. This core does not depend on the packet format, and reads
 * no clock. The caller passes the time in ns to each function. The time must
 * never decrease.
 */

#pragma once

#include "tfrcequation.h"
#include "tfrclosses.h"

typedef struct
{
  TfrcEquation equation;
  /* ISR, the initial sequence number: that of the first packet that the peer
   * sent */
  guint64 initial_sequence;
} TfrcReceiverConfig;

typedef struct
{
  guint64 acknowledged;         /* greatest received sequence number */
  guint64 elapsed;              /* ns since that packet arrived */
  /* Receive rate in bytes per second, measured over at least one round trip
   * (RFC 4342 errata 610 and 611); 0 = unknown. */
  guint32 receive_rate;
  /* Value of the Loss Event Rate option: 1 / p, rounded up; G_MAXUINT32 = no
   * loss. */
  guint32 loss_event_rate;
  TfrcIntervals intervals;
} TfrcReport;

typedef struct _TfrcReceiver TfrcReceiver;

TfrcReceiver *tfrc_receiver_new (const TfrcReceiverConfig * config);
void tfrc_receiver_free (TfrcReceiver * receiver);

/* Sets the round-trip time in ns that the handshake measured, or that an RTT
 * Estimate option of the sender reported (RFC 6323). An RTT Estimate is more
 * accurate than the round-trip time that the receiver derives from the window
 * counter. */
void tfrc_receiver_set_round_trip (TfrcReceiver * receiver,
    guint64 round_trip);

/* Call this function when a valid packet of any type has arrived from the peer.
 * `size` is its payload size in bytes, and `is_data` is TRUE for a Data or
 * DataAck. `ndp` is its NDP Count, the number of packets without data directly
 * before it; 0 if it has no NDP Count. */
void tfrc_receiver_input (TfrcReceiver * receiver, guint64 now,
    guint64 sequence, gboolean is_data, guint8 ccval, guint32 size,
    guint64 ndp);

/* Returns whether feedback is due. It is due after the first data packet, once
 * per round trip while data arrives, and after a new loss event (RFC 4342
 * section 6). */
gboolean tfrc_receiver_wants_feedback (TfrcReceiver * receiver, guint64 now);
/* Returns the time at which feedback will be due if no packet arrives until
 * then; G_MAXUINT64 = never. */
guint64 tfrc_receiver_next_wakeup (TfrcReceiver * receiver);
/* Stores the contents of the next feedback packet in `report`. The caller must
 * send the packet immediately, because the receiver counts the feedback as sent
 * at the time `now`. */
void tfrc_receiver_take_report (TfrcReceiver * receiver, guint64 now,
    TfrcReport * report);

typedef struct
{
  gdouble loss_event_rate;      /* p; 0 = no loss yet */
  guint64 round_trip;           /* ns, 0: unknown */
  guint32 receive_rate;
  /* counters */
  guint64 packets, bytes;       /* data */
  guint64 lost;                 /* lost packets of any type */
  guint64 loss_events;
  guint64 reordered, duplicates;
  guint64 reports;
} TfrcReceiverState;

void tfrc_receiver_get_state (TfrcReceiver * receiver,
    TfrcReceiverState * state);

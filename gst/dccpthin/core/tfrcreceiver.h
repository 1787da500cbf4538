/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The receiver of TFRC (RFC 5348 sections 5 and 6), as CCID 3 of DCCP uses it
 * (RFC 4342 sections 6, 8 and 10). It detects lost packets and groups them into
 * loss events. It measures the receive rate. It also decides when feedback must
 * be sent, and what the feedback contains. The code does not depend on the
 * packet format, and reads no clock. The caller passes the present time in ns
 * to each function. This time must never decrease.
 */

#pragma once

#include "tfrcequation.h"
#include "tfrclosses.h"

typedef struct
{
  TfrcEquation equation;
  /* Initial value of the greatest received sequence number. The packet with
   * this number counts as already received. All packets that are passed to
   * tfrc_receiver_input () for the first time have greater numbers. */
  guint64 initial_sequence;
} TfrcReceiverConfig;

typedef struct
{
  guint64 acknowledged;         /* greatest received sequence number */
  guint64 elapsed;              /* ns since that packet arrived */
  /* Rate in bytes per second at which data arrives, measured over at least one
   * round trip (RFC 4342 errata 610 and 611). 0 = unknown. */
  guint32 receive_rate;
  /* Value of the option Loss Event Rate: 1 / p, rounded up, where p is the loss
   * event rate. G_MAXUINT32 = no loss. */
  guint32 loss_event_rate;
  TfrcIntervals intervals;
} TfrcReport;

typedef struct _TfrcReceiver TfrcReceiver;

TfrcReceiver *tfrc_receiver_new (const TfrcReceiverConfig * config);
void tfrc_receiver_free (TfrcReceiver * receiver);

/* Tells the receiver a round-trip time in ns. It was measured by the handshake,
 * by our own sender, or by the peer, which reports it in the option RTT
 * Estimate (RFC 6323). An RTT Estimate is more accurate than the round-trip
 * time that the receiver derives from the window counter. */
void tfrc_receiver_set_round_trip (TfrcReceiver * receiver,
    guint64 round_trip);

/* Call this function when a valid packet of any type has arrived from the peer.
 * `size` is the payload size of the packet in bytes, and `is_data` is TRUE for
 * a Data or DataAck. `ndp` is the value of its option NDP Count: the number of
 * packets without data that were sent directly before it. `ndp` is 0 if the
 * packet does not have this option. */
void tfrc_receiver_input (TfrcReceiver * receiver, guint64 now,
    guint64 sequence, gboolean is_data, guint8 ccval, guint32 size,
    guint64 ndp);

/* Returns whether feedback is due. It is due after the first data packet, once
 * per round trip while data arrives, and after a new loss event (RFC 4342
 * section 6). */
gboolean tfrc_receiver_wants_feedback (TfrcReceiver * receiver, guint64 now);
/* Returns the time in ns at which feedback will be due if no packet arrives
 * before that time. Returns G_MAXUINT64 if no feedback will be due. */
guint64 tfrc_receiver_next_wakeup (TfrcReceiver * receiver);
/* Stores the contents of the next feedback packet in `report`. The caller must
 * send this feedback immediately, because the receiver now counts it as sent at
 * the time `now`. */
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

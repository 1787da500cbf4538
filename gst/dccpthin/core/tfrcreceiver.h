/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The receiver of TFRC (RFC 5348 sections 5 and 6) as CCID 3 has it (RFC 4342
 * sections 6, 8 and 10): finds losses and puts them together to loss events,
 * measures the rate that comes, and says when feedback is due and what it is to
 * say. A core: no packets, no clock. Times are ns on one clock of the caller's
 * that never goes back.
 */

#pragma once

#include "tfrcequation.h"
#include "tfrclosses.h"

typedef struct
{
  TfrcEquation equation;
  guint64 initial_sequence;     /* ISR: the first packet of the other end */
} TfrcReceiverConfig;

typedef struct
{
  guint64 acknowledged;         /* greatest sequence number that came */
  guint64 elapsed;              /* ns since it came */
  guint32 receive_rate;         /* bytes per second, over a round trip at least
                                 * (RFC 4342 errata 610, 611); 0: unknown yet */
  guint32 loss_event_rate;      /* as the option has it: 1 / p rounded up,
                                 * G_MAXUINT32: no loss */
  TfrcIntervals intervals;
} TfrcReport;

typedef struct _TfrcReceiver TfrcReceiver;

TfrcReceiver *tfrc_receiver_new (const TfrcReceiverConfig * config);
void tfrc_receiver_free (TfrcReceiver * receiver);

/* What the handshake measured, or an RTT Estimate of the sender (RFC 6323),
 * which is better than what the window counter tells */
void tfrc_receiver_set_round_trip (TfrcReceiver * receiver,
    guint64 round_trip);

/* A valid packet of the other end, of any type, as it came. `size`: bytes of
 * its payload; `is_data`: Data or DataAck; `ndp`: its NDP Count, or 0. */
void tfrc_receiver_input (TfrcReceiver * receiver, guint64 now,
    guint64 sequence, gboolean is_data, guint8 ccval, guint32 size,
    guint64 ndp);

/* Feedback is due: with the first data packet, once a round trip while data
 * comes, and with a new loss event (RFC 4342 section 6) */
gboolean tfrc_receiver_wants_feedback (TfrcReceiver * receiver, guint64 now);
/* When it will be due if no packet comes; G_MAXUINT64: never */
guint64 tfrc_receiver_next_wakeup (TfrcReceiver * receiver);
/* It is sent now. */
void tfrc_receiver_take_report (TfrcReceiver * receiver, guint64 now,
    TfrcReport * report);

typedef struct
{
  gdouble loss_event_rate;      /* p; 0: no loss yet */
  guint64 round_trip;           /* ns, 0: unknown */
  guint32 receive_rate;
  /* counters */
  guint64 packets, bytes;       /* data */
  guint64 lost;                 /* packets of any type */
  guint64 loss_events;
  guint64 reordered, duplicates;
  guint64 reports;
} TfrcReceiverState;

void tfrc_receiver_get_state (TfrcReceiver * receiver,
    TfrcReceiverState * state);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The operations of a congestion control on the side that sends the data; see
 * dccpccid.h. Operations that are marked as optional may be NULL.
 *
 *   create, and set_round_trip if the handshake measured one
 *   next_send           after each call below, while a packet waits
 *   sent, sent_other    for each packet that goes
 *   read_option, then feedback     for each Ack
 *   timeout             at the time of next_wakeup
 *   free
 */

#pragma once

#include "dccpccidhalf.h"

/* Space for what `read_option` reads from one packet. The congestion control
 * casts it to a type of its own. It is zero before the first option. */
typedef union
{
  guint64 alignment;
  guint8 bytes[512];
} DccpCcidHeard;

/* An Ack or DataAck that is newer than all before */
typedef struct
{
  guint64 acknowledged;         /* sequence number */
  gboolean has_elapsed;
  guint64 elapsed;              /* ns that the receiver held it back */
  gboolean slow_receiver;       /* RFC 4340 section 11.6 */
  guint dropped;                /* packets newly reported with Drop Code 2 */
  gboolean dropped_others;      /* ... with 0 or 1 (section 11.7) */
  const DccpCcidHeard *heard;
} DccpCcidAck;

#define DCCP_CCID_MAX_LOSSES 28

/* What `feedback` learns from it */
typedef struct
{
  guint64 round_trip;           /* of this Ack, for our receiver too; 0: none */
  guint n_losses;
  struct
  {
    guint64 first, last;        /* sequence numbers, both lost; none of them was
                                 * reported before */
  } losses[DCCP_CCID_MAX_LOSSES];       /* in increasing order */
} DccpCcidNews;

/* What the connection and the statistics show. A congestion control leaves at 0
 * what it does not know. */
typedef struct
{
  gdouble rate;                 /* allowed, bytes per second; with a window:
                                 * window per round trip. Applications are told
                                 * of changes */
  gdouble instant_rate;         /* the same for less than a round trip */
  guint32 receive_rate;         /* that the receiver reports; 0: unknown */
  gdouble loss_event_rate;      /* 0 to 1 */
  /* The application sends less than is allowed: the path may carry more than
   * `rate`. */
  gboolean is_app_limited;
  guint64 round_trip, round_trip_variance;      /* ns; 0: unknown */
  guint64 feedbacks, no_feedbacks, loss_events; /* counters */
} DccpCcidSenderState;

typedef struct
{
  gpointer (*create) (const DccpCcidConfig * config);
  void (*free) (gpointer sender);
  /* Optional: the round trip that the handshake measured */
  void (*set_round_trip) (gpointer sender, guint64 now, guint64 round_trip);
  /* Returns when the next data packet may go; `now` or earlier: at once;
   * G_MAXUINT64: not before `feedback` or `timeout`. The call does not promise
   * that a packet goes. */
    guint64 (*next_send) (gpointer sender, guint64 now);
  /* A data packet with `size` bytes of data goes. `more`: another one waits.
   * Returns its CCVal, 0 to 15 */
    guint8 (*sent) (gpointer sender, guint64 now, guint64 sequence,
      guint32 size, gboolean more);
  /* Optional: a packet without data goes. It has a sequence number too. */
  void (*sent_other) (gpointer sender, guint64 now, guint64 sequence);
  /* Optional: writes options of types 128 to 191 on Data, DataAck, Sync and
   * SyncAck, 5 bytes with their headers at most. `sender` is NULL before the
   * connection is open. */
  void (*write_options) (gpointer sender, const DccpCcidContext * context,
      DccpOptionWriter * writer);
  /* Optional: reads an option of type 192 to 255 into `heard`. Only `feedback`
   * may act on it: the packet may still be discarded. FALSE: unknown, or
   * malformed */
    gboolean (*read_option) (DccpCcidHeard * heard, const DccpOption * option);
  /* An Ack arrived. Returns FALSE if it says nothing about congestion.
   * `round_trip` and `n_losses` of `news` are 0 before. */
    gboolean (*feedback) (gpointer sender, guint64 now,
      const DccpCcidAck * ack, DccpCcidNews * news);
  /* Optional, both or none: a timer. G_MAXUINT64: it is off. `timeout` is
   * called when that time has come, and has to stop or advance the timer. */
    guint64 (*next_wakeup) (gpointer sender);
  void (*timeout) (gpointer sender, guint64 now);
  /* `state` is zero before. */
  void (*get_state) (gpointer sender, DccpCcidSenderState * state);
} DccpCcidSender;

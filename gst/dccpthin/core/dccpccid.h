/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Congestion control of DCCP (RFC 4340 section 10) as a table of operations,
 * as struct ccid_operations in Linux. An algorithm is one file that fills this
 * table; the connection calls nothing else. It negotiates the number, carries
 * the options and keeps the sequence numbers; the algorithm decides when data
 * may go, and what the receiver reports. docs/architecture.md says how to
 * write another one.
 *
 * Each connection has two half-connections, which may have different
 * algorithms: in one we are the sender of data, in the other the receiver.
 * Times are ns on one clock that never goes back; rates are bytes per second.
 * Operations that are marked as optional may be NULL.
 */

#pragma once

#include "dccpoption.h"

/* What a half-connection begins with */
typedef struct
{
  guint64 sequence;             /* sender: its first; receiver: the one before
                                 * the first that it hears of */
  guint32 max_segment;          /* bytes of payload that fit in a packet */
  guint32 segment_size;         /* bytes to reckon with; 0: the mean of those
                                 * sent */
  guint64 granularity;          /* ns, of the caller's timer */
  gint equation;                /* CCID 3: a TfrcEquation */
  gboolean reduce_oscillation;  /* CCID 3: RFC 5348 section 4.5 */
} DccpCcidConfig;

/* What the connection knows while options are read or written */
typedef struct
{
  guint64 now;
  guint64 round_trip;           /* of the handshake; 0: unknown */
  guint features;               /* bit i: features[i] of the table is on */
} DccpCcidContext;

/* --- the sender of data --------------------------------------------------- */

/* Space for what the options of one packet say; zero before the first of them
 * */
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

/* What the sender learned from it */
typedef struct
{
  guint64 round_trip;           /* good for our receiver too; 0: none */
  guint n_losses;
  struct
  {
    guint64 first, last;        /* sequence numbers that were not told before */
  } losses[DCCP_CCID_MAX_LOSSES];       /* in their order */
} DccpCcidNews;

typedef struct
{
  gdouble rate;                 /* that is allowed */
  gdouble instant_rate;         /* ... for less than a round trip */
  guint32 receive_rate;         /* as the receiver says; 0: unknown */
  gdouble loss_event_rate;      /* 0 to 1 */
  guint64 round_trip, round_trip_variance;      /* ns; 0: unknown */
  guint64 feedbacks, no_feedbacks, loss_events; /* counters */
} DccpCcidSenderState;

typedef struct
{
  gpointer (*create) (const DccpCcidConfig * config);
  void (*free) (gpointer sender);
  /* Optional: what the handshake measured */
  void (*set_round_trip) (gpointer sender, guint64 now, guint64 round_trip);
  /* When the next data packet may go; `now` or earlier: at once */
    guint64 (*next_send) (gpointer sender, guint64 now);
  /* It goes. `more`: another one waits. Returns its CCVal, 0 to 15 */
    guint8 (*sent) (gpointer sender, guint64 now, guint64 sequence,
      guint32 size, gboolean more);
  /* Optional: a packet without data goes */
  void (*sent_other) (gpointer sender, guint64 now, guint64 sequence);
  /* Optional: options of types 128 to 191 on Data, DataAck, Sync and SyncAck, 5
   * bytes with their headers at most. `sender` is NULL before the connection is
   * open. */
  void (*write_options) (gpointer sender, const DccpCcidContext * context,
      DccpOptionWriter * writer);
  /* Optional: an option of type 192 to 255. What it says is believed only when
   * the packet comes to `feedback`. FALSE: unknown, or malformed */
    gboolean (*read_option) (DccpCcidHeard * heard, const DccpOption * option);
  /* FALSE: it says nothing of the congestion. `news` is zero before. */
    gboolean (*feedback) (gpointer sender, guint64 now,
      const DccpCcidAck * ack, DccpCcidNews * news);
  /* Optional, both: a timer; G_MAXUINT64: it is off */
    guint64 (*next_wakeup) (gpointer sender);
  void (*timeout) (gpointer sender, guint64 now);
  void (*get_state) (gpointer sender, DccpCcidSenderState * state);
} DccpCcidSender;

/* --- the receiver of data ------------------------------------------------- */

/* A valid packet of any type, as it came */
typedef struct
{
  guint64 sequence;
  gboolean is_data;             /* Data or DataAck */
  guint8 ccval;
  guint32 size;                 /* bytes of data */
  guint64 ndp;                  /* its NDP Count (RFC 4340 section 7.7), or 0 */
} DccpCcidPacket;

typedef struct
{
  gdouble loss_event_rate;
  guint32 receive_rate;
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
  /* Optional: an option of type 128 to 191. `receiver` is NULL before the
   * connection is open. */
    DccpCcidOptionResult (*read_option) (gpointer receiver,
      const DccpCcidContext * context, const DccpOption * option);
  void (*input) (gpointer receiver, guint64 now, const DccpCcidPacket * packet);
  /* An Ack is to go now, with what `write_feedback` writes */
    gboolean (*wants_feedback) (gpointer receiver, guint64 now);
  /* When it will want that if no packet comes; G_MAXUINT64: never */
    guint64 (*next_wakeup) (gpointer receiver);
  /* Options of types 192 to 255 on that Ack */
  void (*write_feedback) (gpointer receiver, const DccpCcidContext * context,
      DccpOptionWriter * writer);
  void (*get_state) (gpointer receiver, DccpCcidReceiverState * state);
} DccpCcidReceiver;

/* --- the table ------------------------------------------------------------ */

/* An option of its own that needs more than RFC 4340 section 10.3 gives all */
typedef struct
{
  guint8 type;
  gboolean on_data;             /* may be on Data (RFC 4340 table 3) */
  gboolean needs_acknowledgement;       /* says nothing without that number */
} DccpCcidOption;

#define DCCP_CCID_MAX_FEATURES 4

typedef struct
{
  guint8 number;                /* RFC 4340 section 10, table 5; 248 to 254 are
                                 * for experiments */
  const gchar *name;
  /* Boolean features of its own: 128 to 191 are the sender's, 192 to 255 the
   * receiver's (section 10.3). The peer is asked for them, and gets them.
   * Features of two algorithms with the same number mean the same. */
  guint8 features[DCCP_CCID_MAX_FEATURES];      /* 0 behind the last */
  const DccpCcidOption *options;        /* type 0 behind the last; or NULL */
  DccpCcidSender sender;
  DccpCcidReceiver receiver;
} DccpCcid;

/* All that are registered, the preferred one first; NULL behind the last */
extern const DccpCcid *const dccp_ccids[];

/* NULL: there is none. `ccids`: as dccp_ccids */
const DccpCcid *dccp_ccid_find (const DccpCcid * const *ccids, guint number);

/* The algorithms, each in a file of its own */
extern const DccpCcid dccp_ccid_3;

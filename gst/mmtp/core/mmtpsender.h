/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sender of an MMTP session: takes buffers, puts each packet on a path
 * on which it will arrive in time, and gives up at the source what no path
 * can bring in time (Magalhães and Kravets 2001, section 4). A core: no I/O,
 * times are the caller's, randomness is the caller's.
 *
 *   sender = mmtp_sender_new (&config, entropy);
 *   path = mmtp_sender_add_path (sender, now, &path_config);
 *   mmtp_sender_put (sender, now, &buffer);           a buffer of the stream
 *   mmtp_sender_input (sender, now, path, bytes, size);    a message came
 *   while ((size = mmtp_sender_poll_output (sender, now, &path, bytes,
 *               room)))
 *     send it on that path
 *   while (mmtp_sender_poll_event (sender, &event)) ...
 *   wait until mmtp_sender_next_wakeup (sender), then mmtp_sender_timeout (...)
 *
 * Times are ns on one clock of the caller's and never go back; an earlier one
 * counts as the latest seen. Poll outputs and events after each call.
 */

#pragma once

#include "driververbs.h"
#include "mmtpbuffer.h"
#include "mmtppathinfo.h"
#include "mmtpscheduler.h"

typedef struct
{
  guint64 max_delay;            /* ns; the application's maximum of D0 */
  guint64 initial_delay;        /* ns; D0 wanted, 0: the maximum. What the
                                 * paths need raises it, up to the maximum */
  guint64 keepalive_period;     /* ns */
  guint64 session_timeout;      /* ns without a sign of the receiver */
  guint64 bit_rate;             /* bits per second requested, 0: measured */
  guint32 frame_period;         /* us requested, 0: measured */
  guint64 max_bytes;            /* that wait for a path; what was under way
                                 * on one that fell silent may be as much
                                 * again. A longer buffer waits alone. */
  gboolean retransmit;
  gboolean stored;              /* buffers may be sent long before they are
                                 * due */
  MmtpSchedulerType scheduler;
  const gchar *rate_control;    /* congestion control of paths without a
                                 * configured rate; NULL: the default; a
                                 * static string */
  GBytes *key;                  /* NULL: none; the sender takes a reference */
} MmtpSenderConfig;

/* Every field's default */
void mmtp_sender_config_init (MmtpSenderConfig * config);

typedef struct _MmtpSender MmtpSender;

MmtpSender *mmtp_sender_new (const MmtpSenderConfig * config,
    const guint8 entropy[MMTP_ENTROPY_SIZE]);
void mmtp_sender_free (MmtpSender * sender);

/* Number of the path, or -1: there are 256. The same name gets the number
 * that it had. The first one begins the handshake. */
gint mmtp_sender_add_path (MmtpSender * sender, guint64 now,
    const MmtpPathConfig * config);
/* With a warning: what is under way goes on other paths. Its address has
 * changed: add it again. */
void mmtp_sender_remove_path (MmtpSender * sender, guint64 now,
    guint id, MmtpLeaveReason reason);

/* TRUE: queued. FALSE: discarded, since it can't be in time, or no room. */
gboolean mmtp_sender_put (MmtpSender * sender, guint64 now,
    const MmtpBuffer * buffer);
/* Whether a buffer put now would find its way in time: a caller that can wait
 * waits while not. MMTP_EVENT_ROOM tells when. */
gboolean mmtp_sender_has_room (MmtpSender * sender, guint64 now);
/* FALSE: a buffer of so many bytes would fit in, if less waited. When nothing
 * waits, each one fits. */
gboolean mmtp_sender_fits (const MmtpSender * sender, gsize size);
/* NULL: none. Longer than MMTP_MAX_CAPS: FALSE, and none. */
gboolean mmtp_sender_set_caps (MmtpSender * sender, guint64 now,
    const gchar * caps);
/* No more buffers will come; MMTP_EVENT_ENDED when the receiver has all. */
void mmtp_sender_end (MmtpSender * sender, guint64 now);
/* Forget what waits (flush); the stream goes on with the next buffer. */
void mmtp_sender_flush (MmtpSender * sender, guint64 now);
/* While it runs; the receiver is told. */
void mmtp_sender_set_delays (MmtpSender * sender, guint64 now,
    guint64 max_delay, guint64 initial_delay);

void mmtp_sender_input (MmtpSender * sender, guint64 now, guint id,
    const guint8 * bytes, gsize size);
/* The path's socket refuses packets for now, or does again */
void mmtp_sender_set_blocked (MmtpSender * sender, guint64 now, guint id,
    gboolean blocked);
void mmtp_sender_timeout (MmtpSender * sender, guint64 now);
/* Size of the next message, written to `bytes`; 0: nothing to send now. `room`:
 * at least the longest message of any path. */
gsize mmtp_sender_poll_output (MmtpSender * sender, guint64 now,
    guint * path, guint8 * bytes, gsize room);
guint64 mmtp_sender_next_wakeup (MmtpSender * sender);

typedef enum
{
  MMTP_EVENT_READY,             /* session and first measurement: rate, delay */
  MMTP_EVENT_REFUSED,           /* reason: MmtpRefuseReason; it has ended */
  MMTP_EVENT_LOST,              /* session timeout: the receiver is gone */
  MMTP_EVENT_ROOM,              /* has_room is TRUE again */
  MMTP_EVENT_RATE,              /* estimated rate of all paths has changed */
  MMTP_EVENT_TOO_SLOW,          /* requested: more than all paths carry;
                                 * before it begins, and while it is so at most
                                 * once a second [4.3] */
  MMTP_EVENT_DELAY,             /* D0 has changed */
  MMTP_EVENT_PATH,           /* state of a path has changed */
  MMTP_EVENT_BROKEN,            /* the only path has fallen silent [4.6] */
  MMTP_EVENT_DISCARDED,         /* a buffer was given up at the source */
  MMTP_EVENT_ENDED              /* the receiver has all, up to the end */
} MmtpSenderEventType;

typedef struct
{
  MmtpSenderEventType type;
  guint64 rate;                 /* bits per second of the stream that fit */
  gboolean is_app_limited;      /* at least: no more was asked of the paths */
  guint64 requested;            /* bits per second */
  guint64 delay;                /* ns, D0 */
  guint8 reason;                /* of a refusal, or MmtpDiscard */
  guint version;                /* of the protocol, that the receiver speaks */
  guint path;
  MmtpPathState state;
  guint8 flags;                 /* of the buffer given up */
  gboolean is_needed;           /* others need it: a key frame would help */
  guint32 size;                 /* bytes of it */
} MmtpSenderEvent;

gboolean mmtp_sender_poll_event (MmtpSender * sender, MmtpSenderEvent * event);

/* Counters never go back. */
typedef struct
{
  gboolean ready;
  guint64 buffers, bytes;       /* put */
  guint64 packets;              /* of the stream */
  guint64 sent_buffers;         /* all of it sent */
  guint64 discarded_buffers;    /* no path could bring it in time */
  guint64 discarded_room;       /* max_bytes */
  guint64 discarded_broken;     /* they need one that was given up */
  guint64 discarded_keys, discarded_droppable;  /* of the three above */
  guint64 retransmitted;        /* packets */
  guint64 repairs;              /* REPAIR messages, sent in advance */
  guint64 unrepaired;           /* losses known that were not sent again */
  guint64 loss_lookups;         /* numbers looked up, to bound the work of a
                                 * REPORT */
  guint64 report_steps;         /* packets visited, for the same */
  guint64 queued_bytes;
  guint64 estimated_rate;       /* bits per second of the stream */
  gboolean is_app_limited;      /* at least: no more was asked of the paths */
  guint64 initial_delay;        /* ns, D0 */
  guint64 min_delay;            /* ns, that the paths need */
  guint64 refused[MMTP_LAST_REFUSAL];   /* messages */
  guint n_paths;             /* that ever were */
} MmtpSenderStats;

void mmtp_sender_get_stats (MmtpSender * sender, MmtpSenderStats * stats);
/* The last reason against the session that came without proof of the key, and
 * the version of the protocol in it; 0: none. With a key an attempt goes on in
 * spite of it. */
MmtpRefuseReason mmtp_sender_get_unverified_refusal (const MmtpSender * sender,
    guint * version);
/* FALSE: no such path */
gboolean mmtp_sender_get_path_stats (MmtpSender * sender, guint id,
    MmtpSenderPathStats * stats);

/* How the driver runs a sender, whose paths are the paths */
extern const DriverVerbs mmtp_sender_verbs;

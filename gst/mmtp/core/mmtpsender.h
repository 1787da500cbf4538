/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sender of an MMTP session: takes buffers, puts each packet on a channel
 * on which it will arrive in time, and gives up at the source what no channel
 * can bring in time (Magalhães and Kravets 2001, section 4). A core: no I/O,
 * times are the caller's, randomness is the caller's.
 *
 *   sender = mmtp_sender_new (&config, entropy);
 *   channel = mmtp_sender_add_channel (sender, now, &channel_config);
 *   mmtp_sender_put (sender, now, &buffer);           a buffer of the stream
 *   mmtp_sender_input (sender, now, channel, bytes, size);    a message came
 *   while ((size = mmtp_sender_poll_output (sender, now, &channel, bytes,
 *               room)))
 *     send it on that channel
 *   while (mmtp_sender_poll_event (sender, &event)) ...
 *   wait until mmtp_sender_next_wakeup (sender), then mmtp_sender_timeout (...)
 *
 * Times are ns on one clock of the caller's and never go back; an earlier one
 * counts as the latest seen. Poll outputs and events after each call.
 */

#ifndef __MMTP_SENDER_H__
#define __MMTP_SENDER_H__

#include "driververbs.h"
#include "mmtpgop.h"
#include "mmtppacket.h"
#include "mmtpscheduler.h"

G_BEGIN_DECLS

typedef struct
{
  guint64 max_delay;            /* ns; the application's maximum of D0 */
  guint64 initial_delay;        /* ns; D0 wanted, 0: the maximum. What the
                                 * channels need raises it, up to the maximum */
  guint64 keepalive_period;     /* ns */
  guint64 session_timeout;      /* ns without a sign of the receiver */
  guint64 bit_rate;             /* bits per second requested, 0: measured */
  guint32 frame_period;         /* us requested, 0: measured */
  guint64 max_bytes;            /* that wait for a channel; what was under way
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

typedef struct
{
  const gchar *name;            /* for statistics and events; copied */
  guint16 longest;              /* bytes of a UDP payload here, at least
                                 * MMTP_MIN_LONGEST */
  guint16 overhead;             /* bytes of IP and UDP that each packet costs */
  guint64 rate;                 /* bits per second, 0: to be measured; what the
                                 * framework knows, a beginning [4.6] */
  guint64 delay;                /* ns one way, 0: to be measured */
} MmtpChannelConfig;

typedef struct
{
  GBytes *data;                 /* the sender takes a reference */
  guint64 due;                  /* ns on the caller's clock; G_MAXUINT64: now */
  guint8 flags;                 /* of MMTP_FLAGS_OF_BUFFER */
  MmtpPrelude prelude;          /* without a mask: none */
  MmtpPicture picture;          /* zeros: what the flags say */
} MmtpBuffer;

typedef struct _MmtpSender MmtpSender;

MmtpSender *mmtp_sender_new (const MmtpSenderConfig * config,
    const guint8 entropy[MMTP_ENTROPY_SIZE]);
void mmtp_sender_free (MmtpSender * sender);

/* Number of the channel, or -1: there are 256. The same name gets the number
 * that it had. The first one begins the handshake. */
gint mmtp_sender_add_channel (MmtpSender * sender, guint64 now,
    const MmtpChannelConfig * config);
/* With a warning: what is under way goes on other channels. Its address has
 * changed: add it again. */
void mmtp_sender_remove_channel (MmtpSender * sender, guint64 now,
    guint channel, MmtpLeaveReason reason);

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

void mmtp_sender_input (MmtpSender * sender, guint64 now, guint channel,
    const guint8 * bytes, gsize size);
/* The channel's socket refuses packets for now, or does again */
void mmtp_sender_set_blocked (MmtpSender * sender, guint64 now, guint channel,
    gboolean blocked);
void mmtp_sender_timeout (MmtpSender * sender, guint64 now);
/* Size of the next message, written to `bytes`; 0: nothing to send now. `room`:
 * at least the longest message of any channel. */
gsize mmtp_sender_poll_output (MmtpSender * sender, guint64 now,
    guint * channel, guint8 * bytes, gsize room);
guint64 mmtp_sender_next_wakeup (MmtpSender * sender);

typedef enum
{
  MMTP_CHANNEL_OPENING,         /* handshake or join */
  MMTP_CHANNEL_ACTIVE,
  MMTP_CHANNEL_CONTROL,         /* too slow for D0: control messages only */
  MMTP_CHANNEL_SILENT,          /* nothing has been reported for a second */
  MMTP_CHANNEL_GONE             /* removed */
} MmtpChannelState;

const gchar *mmtp_channel_state_get_name (MmtpChannelState state);

typedef enum
{
  MMTP_EVENT_READY,             /* session and first measurement: rate, delay */
  MMTP_EVENT_REFUSED,           /* reason: MmtpRefuseReason; it has ended */
  MMTP_EVENT_LOST,              /* session timeout: the receiver is gone */
  MMTP_EVENT_ROOM,              /* has_room is TRUE again */
  MMTP_EVENT_RATE,              /* estimated rate of all channels has changed */
  MMTP_EVENT_TOO_SLOW,          /* requested: more than all channels carry;
                                 * before it begins, and while it is so at most
                                 * once a second [4.3] */
  MMTP_EVENT_DELAY,             /* D0 has changed */
  MMTP_EVENT_CHANNEL,           /* state of a channel has changed */
  MMTP_EVENT_BROKEN,            /* the only channel has fallen silent [4.6] */
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
  guint8 reason;
  guint version;                /* of the protocol, that the receiver speaks */
  guint channel;
  MmtpChannelState state;
  guint8 flags;                 /* of the buffer given up */
  gboolean is_needed;           /* others need it: a key frame would help */
  guint32 size;                 /* bytes of it */
} MmtpSenderEvent;

gboolean mmtp_sender_poll_event (MmtpSender * sender, MmtpSenderEvent * event);

/* What a channel does for the stream now, and if it is nothing, why */
typedef enum
{
  MMTP_USE_CARRIES,
  MMTP_USE_JOINING,             /* the receiver has not answered yet */
  MMTP_USE_SPARE,               /* the others suffice */
  MMTP_USE_PROBED,              /* others are better known: it gets empty
                                 * messages, and what no other can bring */
  MMTP_USE_TOO_SLOW,            /* what goes there now comes too late */
  MMTP_USE_SILENT,              /* nothing arrives there, see silence */
  MMTP_USE_BLOCKED,             /* its socket has no room */
  MMTP_USE_GONE                 /* removed */
} MmtpPathUse;

/* Counters never go back. */
typedef struct
{
  const gchar *name;
  MmtpChannelState state;
  MmtpPathUse use;
  guint64 silence;              /* ns since something last arrived, where it is
                                 * used for nothing because of that */
  gdouble share;                /* of the stream's bytes in the last second,
                                 * about: 0 to 1 */
  gdouble loss;                 /* of the messages reported in the last ten
                                 * seconds, about: 0 to 1 */
  guint64 rate;                 /* bits per second that it delivers */
  guint64 window;               /* bytes that may be in flight */
  guint64 in_flight;            /* bytes, with IP and UDP */
  guint64 delay;                /* ns one way, minimum */
  guint64 high_delay;           /* ns that nearly all messages stay below */
  guint64 round_trip;           /* ns, 0: unknown */
  guint64 jitter;               /* ns, as RFC 3550, section 6.4.1 */
  guint64 packets, bytes;       /* sent, all messages, without IP and UDP */
  guint64 data_packets;
  guint64 retransmitted;
  guint64 probes;               /* empty ones */
  guint64 reported;             /* that the receiver has */
  guint64 lost;                 /* that the receiver misses */
  guint64 late;                 /* that the receiver had too late */
  guint64 requeued;             /* under way when it fell silent or left */
  guint64 silences;             /* times it fell silent */
  guint64 report_steps;         /* sent messages visited, to bound the work of a
                                 * REPORT */
} MmtpSenderChannelStats;

typedef struct
{
  gboolean ready;
  guint64 buffers, bytes;       /* put */
  guint64 packets;              /* of the stream */
  guint64 sent_buffers;         /* all of it sent */
  guint64 discarded_buffers;    /* no channel could bring it in time */
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
  guint64 least_delay;          /* ns, that the channels need */
  guint64 refused[MMTP_LAST_REFUSAL];   /* messages */
  guint n_channels;             /* that ever were */
} MmtpSenderStats;

void mmtp_sender_get_stats (MmtpSender * sender, MmtpSenderStats * stats);
/* The last reason against the session that came without proof of the key, and
 * the version of the protocol in it; 0: none. With a key an attempt goes on in
 * spite of it. */
MmtpRefuseReason mmtp_sender_get_unverified_refusal (const MmtpSender * sender,
    guint * version);
/* FALSE: no such channel */
gboolean mmtp_sender_get_channel_stats (MmtpSender * sender, guint channel,
    MmtpSenderChannelStats * stats);

/* In words, as "silent for 0.4 s"; "" where it carries packets. To be freed */
gchar *mmtp_channel_stats_explain (const MmtpSenderChannelStats * stats);

/* How the driver runs a sender, whose paths are the channels */
extern const DriverVerbs mmtp_sender_verbs;

G_END_DECLS

#endif /* __MMTP_SENDER_H__ */

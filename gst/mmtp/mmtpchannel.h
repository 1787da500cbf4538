/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A channel as the sender sees it: its tokens [4.4 of the paper], the rate at
 * which they come [4.5], its delays from the receiver's reports, what is under
 * way on it, how it is measured before it carries data, and whether it delivers
 * [4.6]. It writes no messages: mmtpsender does, and tells it what was sent.
 */

#ifndef __MMTP_CHANNEL_H__
#define __MMTP_CHANNEL_H__

#include "mmtpkeys.h"
#include "mmtprecent.h"
#include "mmtpregulator.h"
#include "mmtpsender.h"

G_BEGIN_DECLS

#define MMTP_NO_STREAM G_MAXUINT64      /* a message that carries no packet */
#define MMTP_METER_SPANS 10     /* seconds */

/* A message that was sent */
typedef struct
{
  guint64 stream_number;        /* or MMTP_NO_STREAM */
  guint64 time;                 /* ns */
  gboolean is_pair;             /* the second of a pair */
  gboolean is_load;             /* DATA, or such a second, and not short */
  gboolean is_missed;           /* reported as lost */
} MmtpSent;

/* Bytes sent in each of the last ten seconds */
typedef struct
{
  guint64 second;               /* of the newest span */
  guint64 bytes[MMTP_METER_SPANS];
} MmtpMeter;

typedef struct
{
  guint id;
  gchar *name;
  guint16 longest;              /* bytes of a message */
  guint16 overhead;             /* bytes of IP and UDP */
  guint64 configured_rate;      /* bits per second, 0: none */
  MmtpChannelState state;
  gboolean blocked;             /* by its socket */

  /* --- messages under way: a ring, by number */
  guint64 next;                 /* number of the next message */
  guint64 unreported;           /* all below are reported */
  guint64 kept;                 /* oldest that the ring knows */
  MmtpSent *ring;
  guint ring_size;              /* a power of two, or 0 */

  /* --- rate and tokens; rates with IP and UDP */
  guint64 rate;                 /* bits per second, 0: unknown */
  guint64 capacity;             /* bits per second, by pairs, 0: unknown */
  guint64 token;                /* ns, time of the next one */
  guint64 hold;                 /* ns, pairs increase it not before */
  MmtpRegulator regulator;
  guint32 window_rate;          /* of the receiver's last window, */
  gint32 window_least;          /* by which a new one is known */
  guint64 next_drain;           /* ns */
  guint32 overrun_received, overrun_lost;       /* messages, as counted last */
  guint64 overrun_time;         /* ns, then */
  gboolean is_lossy;            /* some are lost, beside outages */
  guint64 last_loss;            /* ns, of a report that told of one; 0: never */
  guint64 pause;                /* ns, when it was let rest last */
  guint64 distrust;             /* ns, pairs say nothing before */
  gboolean is_rough;            /* pairs disagree */
  guint64 rough_time;           /* ns, when they did last; 0: never */
  guint8 decrease;              /* number of the last that was seen */
  guint since_pair;             /* DATA packets since the last pair */
  guint64 last_pair;            /* ns */
  guint pair_size;              /* bytes, usual second message of a pair */
  guint data_size;              /* bytes, usual DATA packet */
  MmtpMeter meter;

  /* --- delays */
  MmtpRecent transit;           /* ns; only differences mean something */
  gint64 high_transit;          /* ns, all but 1 of the last 256 */
  gint64 queues[MMTP_METER_SPANS];      /* ns, longest of each second */
  guint64 queue_second;         /* of the newest of them */
  gint64 calm_spread;           /* ns, of transits when there was no queue */
  guint64 calm_time;            /* ns, 0: not known */
  guint64 deadline;             /* ns, D0: what all delays are measured by */
  MmtpRecent round_trip;        /* ns */
  guint64 delay;                /* ns one way, least; MMTP_NEVER: unknown */
  guint64 high_delay;           /* ns, or MMTP_NEVER */

  /* --- reports */
  guint64 progress_age;         /* ns, when a report last said that more came,
                                 * how old the newest of that was */
  guint64 reported_bytes;
  guint64 pairs_reported;       /* of all that were sent */
  guint judged, missed;         /* of late: load that was reported on, and
                                 * how much of it was lost */
  guint unjudged;               /* of these, load that the last report was the
                                 * first on: it is perhaps lost */
  guint64 judged_from;          /* number of the first that counts */

  /* --- measuring, before it carries data */
  guint64 probing_began;        /* ns */
  guint64 probing_least;        /* ns that it takes at least */
  guint64 probing_reported;     /* pairs_reported when it began */
  guint probing_pairs;          /* to be reported */
  guint probing_sent;           /* pairs */
  guint64 next_pair;            /* ns */
  guint64 pair_time;            /* ns that a pair takes, about; 0: unknown */

  /* --- silence */
  guint64 fell_silent;          /* ns, last time; MMTP_NEVER: never did */
  guint64 penance;              /* ns that it has to be measured afterwards */

  MmtpSenderChannelStats stats;
} MmtpChannel;

MmtpChannel *mmtp_channel_new (guint id, const gchar * name);
void mmtp_channel_free (MmtpChannel * channel);
/* It comes, or comes back: what was measured is forgotten, numbers go on. */
void mmtp_channel_open (MmtpChannel * channel, guint64 now,
    const MmtpChannelConfig * config);

/* --- sending ------------------------------------------------------------- */

/* ns that `size` bytes of a message take at its rate */
guint64 mmtp_channel_get_cost (const MmtpChannel * channel, gsize size);
/* After the message with number `next` was sent */
void mmtp_channel_sent (MmtpChannel * channel, guint64 now, gsize size,
    guint64 stream_number, gboolean is_pair);
/* NULL: unknown or too long ago. `low`: low 16 bits of a reported number */
const MmtpSent *mmtp_channel_find_sent (const MmtpChannel * channel,
    guint16 low, guint64 * number);
const MmtpSent *mmtp_channel_get_sent (const MmtpChannel * channel,
    guint64 number);
/* A message is reported as lost, perhaps once more */
void mmtp_channel_note_missed (MmtpChannel * channel, guint64 number);
/* Reported ones that were sent before `time` */
void mmtp_channel_forget_sent (MmtpChannel * channel, guint64 time);
/* Whether the next DATA packet should be the first of a pair [4.5.2] */
gboolean mmtp_channel_wants_pair (const MmtpChannel * channel, guint64 now);
/* Average bits per second that were sent of late, with IP and UDP */
guint64 mmtp_channel_get_sent_rate (MmtpChannel * channel, guint64 now);

/* --- what the receiver says ---------------------------------------------- */

/* Whether no more came than was sent, docs/wire-mmtp.md section 7 */
gboolean mmtp_channel_is_possible (const MmtpChannel * channel,
    const MmtpRecord * record);
/* TRUE: more came than the last report said */
gboolean mmtp_channel_report (MmtpChannel * channel, guint64 now,
    const MmtpRecord * record);
/* The part of it that moves the rate */
void mmtp_channel_follow_record (MmtpChannel * channel, guint64 now,
    const MmtpRecord * record);
void mmtp_channel_pair_reported (MmtpChannel * channel, guint64 now,
    guint64 sent);
void mmtp_channel_add_round_trip (MmtpChannel * channel, guint64 now,
    guint64 round_trip);
/* After the regulator has seen a window */
void mmtp_channel_note_queue (MmtpChannel * channel, guint64 now);
/* Delays on the scale whose zero is `offset`, docs/wire-mmtp.md section 6 */
void mmtp_channel_update_delay (MmtpChannel * channel, gint64 offset);
/* ns in which a packet that is sent now has come, as far as anybody can know;
 * MMTP_NEVER: unknown */
guint64 mmtp_channel_get_safe_delay (const MmtpChannel * channel);
/* FALSE: more than was sent. Acts once on each number. */
gboolean mmtp_channel_decrease (MmtpChannel * channel, guint64 now,
    const MmtpDecrease * decrease);

/* --- measuring and liveness ---------------------------------------------- */

void mmtp_channel_begin_probing (MmtpChannel * channel, guint64 now);
void mmtp_channel_pair_sent (MmtpChannel * channel, guint64 now);
guint64 mmtp_channel_get_next_pair (const MmtpChannel * channel);
/* How many messages to measure it with at once: a pair, or a train [4.5.2] */
guint mmtp_channel_get_train (const MmtpChannel * channel);
/* Whether all is measured that has to be; the rate is then set */
gboolean mmtp_channel_finish_probing (MmtpChannel * channel, guint64 now);
/* ns, when it counts as silent unless a report comes; MMTP_NEVER: nothing that
 * was sent waits to be reported. `round`: ns, wait for a report and its way
 * back; `period`: of keep-alives, which are what comes next when little is
 * sent */
guint64 mmtp_channel_get_overdue (const MmtpChannel * channel, guint64 round,
    guint64 period);
/* FALSE: of what is sent nearly nothing comes, as reports say. */
gboolean mmtp_channel_delivers (const MmtpChannel * channel);
void mmtp_channel_fall_silent (MmtpChannel * channel, guint64 now);

G_END_DECLS

#endif /* __MMTP_CHANNEL_H__ */

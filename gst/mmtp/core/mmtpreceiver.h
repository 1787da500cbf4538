/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The receiver of an MMTP session: answers the handshake, measures each path
 * and reports it (Magalhães and Kravets 2001, sections 4.5 and 4.6), puts the
 * packets in order and the buffers together, and lets nothing out after its
 * time. A core: no I/O, times are the caller's, randomness is the caller's.
 *
 *   receiver = mmtp_receiver_new (&config, entropy);
 *   mmtp_receiver_input (receiver, now, &address, bytes, size);
 *   while ((size = mmtp_receiver_poll_output (receiver, now, &address, bytes,
 *               room))) send it to that address
 *   while (mmtp_receiver_poll_event (receiver, &event)) ...
 *   wait until mmtp_receiver_next_wakeup (receiver), then
 *   mmtp_receiver_timeout (receiver, now)
 *
 * Times are ns on one clock of the caller's and never go back.
 */

#pragma once

#include "driververbs.h"
#include "mmtpaddress.h"
#include "mmtppacket.h"

typedef struct
{
  guint64 min_delay;            /* ns; D0 that we want at least */
  guint64 max_delay;            /* ns; a sender that wants more gets this */
  guint64 keepalive_period;     /* ns, 0: the sender's */
  guint64 session_timeout;      /* ns */
  guint64 max_bytes;            /* that wait for what is missing */
  GBytes *key;                  /* NULL: none; the receiver takes a reference */
} MmtpReceiverConfig;

/* A message is never longer (docs/wire-mmtp.md: a REPORT of 16 records with 16
 * ranges each has 1575 bytes). */
#define MMTP_MAX_RECEIVER_MESSAGE 2048

/* Every field's default */
void mmtp_receiver_config_init (MmtpReceiverConfig * config);

typedef struct _MmtpReceiver MmtpReceiver;

MmtpReceiver *mmtp_receiver_new (const MmtpReceiverConfig * config,
    const guint8 entropy[MMTP_ENTROPY_SIZE]);
void mmtp_receiver_free (MmtpReceiver * receiver);
/* TRUE: the application takes one stream only. Behind its end no other session
 * begins; who asks for one is told. FALSE at first */
void mmtp_receiver_set_ends (MmtpReceiver * receiver, gboolean ends);

void mmtp_receiver_input (MmtpReceiver * receiver, guint64 now,
    const MmtpAddress * address, const guint8 * bytes, gsize size);
void mmtp_receiver_timeout (MmtpReceiver * receiver, guint64 now);
gsize mmtp_receiver_poll_output (MmtpReceiver * receiver, guint64 now,
    MmtpAddress * address, guint8 * bytes, gsize room);
guint64 mmtp_receiver_next_wakeup (MmtpReceiver * receiver);

typedef enum
{
  MMTP_EVENT_SESSION,           /* a sender has come; what was before is over */
  MMTP_EVENT_CAPS,              /* text, of the buffers that follow; NULL:
                                 * none */
  MMTP_EVENT_BUFFER,
  MMTP_EVENT_INITIAL_DELAY,     /* D0 has changed, `delay` */
  MMTP_EVENT_PRESENTATION_RATE, /* frame_rate, bit_rate, from the next buffer
                                 * on */
  MMTP_EVENT_JOINED,            /* path */
  MMTP_EVENT_LEFT,              /* path */
  MMTP_EVENT_TOO_LONG,          /* buffers that alone are longer than max_bytes
                                 * don't come out; once in a session */
  MMTP_EVENT_END,               /* of the stream */
  MMTP_EVENT_SILENT,            /* session timeout: the sender is gone */
  MMTP_EVENT_BACK,              /* it was not: the same session goes on */
  MMTP_EVENT_OTHER_VERSION,     /* a sender of another version was refused;
                                 * version: its own. Once for each version */
  MMTP_EVENT_OVER               /* a sender was refused, since the only stream
                                 * has ended. Once */
} MmtpReceiverEventType;

typedef struct
{
  MmtpReceiverEventType type;
  GBytes *data;                 /* of a buffer; the caller owns it */
  gchar *caps;                  /* the caller frees it */
  guint64 due;                  /* ns on the caller's clock: when the buffer was
                                 * due at the sender, corrected for skew. It is
                                 * to be played at due + delay. Never before the
                                 * one of an earlier buffer's decoding order. */
  guint8 flags;                 /* of MMTP_FLAGS_OF_BUFFER */
  MmtpPrelude prelude;
  gboolean discont;             /* something before it is missing */
  guint64 delay;                /* ns, D0 */
  guint64 wanted_delay;         /* ns, D0 as the sender has it: where it is more,
                                 * what takes longer than ours is lost */
  guint32 frame_rate;           /* milliframes per second */
  guint64 bit_rate;             /* bits per second */
  guint path;
  guint version;                /* of the wire format */
} MmtpReceiverEvent;

gboolean mmtp_receiver_poll_event (MmtpReceiver * receiver,
    MmtpReceiverEvent * event);

/* Counters never go back. */
typedef struct
{
  gboolean joined;
  guint64 received, bytes;      /* messages */
  guint64 lost, late, duplicates;
  guint64 rate;                 /* bits per second that came in the last 0.5 to
                                 * 1 s */
  gint64 transit;               /* ns, least of that time, relative */
  guint64 jitter;               /* ns, RFC 3550, section 6.4.1 */
} MmtpReceiverPathStats;

typedef struct
{
  gboolean in_session;
  guint64 sessions;
  guint64 buffers, bytes;       /* let out */
  guint64 packets;              /* DATA that came, once each */
  guint64 recovered;            /* of these, those that only a REPAIR brought */
  guint64 late;                 /* DATA packets behind their deadline */
  guint64 duplicates;           /* DATA packets that were there already */
  guint64 missing;              /* DATA packets that never came in time */
  guint64 incomplete;           /* buffers given up for that */
  guint64 no_room;              /* packets dropped for max_bytes */
  guint64 held_bytes;           /* waiting now */
  guint64 initial_delay;        /* ns, D0 */
  gint64 skew;                  /* parts per billion, of the sender's clock */
  guint64 reports;              /* sent */
  guint64 refused[MMTP_LAST_REFUSAL];   /* messages */
  guint n_paths;             /* that ever were */
} MmtpReceiverStats;

void mmtp_receiver_get_stats (MmtpReceiver * receiver,
    MmtpReceiverStats * stats);
/* FALSE: no such path */
gboolean mmtp_receiver_get_path_stats (MmtpReceiver * receiver,
    guint path, MmtpReceiverPathStats * stats);

/* How the driver runs a receiver. All paths share path 0; their addresses
 * tell them apart. */
extern const DriverVerbs mmtp_receiver_verbs;

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MMTP's messages, between bytes and structures: docs/wire-mmtp.md sections 2
 * to 4. A codec: it knows neither sessions nor times, checks what a single
 * message can be checked for, and allocates nothing.
 *
 *   reason = mmtp_packet_parse (&message, bytes, size, role);
 *   size = mmtp_packet_write (&message, bytes, room);
 */

#pragma once

#include <glib.h>

#define MMTP_VERSION 2
#define MMTP_MAX_MESSAGE 65507  /* bytes of a UDP payload */
#define MMTP_MIN_MESSAGE 15
/* The smallest "longest message" of a channel: wire-mmtp.md, sections 3, JOIN,
 * and 4, OPEN */
#define MMTP_MIN_MESSAGE_SIZE 128
#define MMTP_HEADER_SIZE 7      /* of every message */
#define MMTP_DATA_HEADER_SIZE 16
#define MMTP_TRAILER_SIZE 8
#define MMTP_DATA_OVERHEAD (MMTP_DATA_HEADER_SIZE + MMTP_TRAILER_SIZE)
#define MMTP_INIT_SIZE 64
#define MMTP_JOIN_SIZE 64
#define MMTP_OPEN_SIZE 116      /* without padding */
#define MMTP_NONCE_SIZE 16
#define MMTP_COOKIE_SIZE 32
#define MMTP_MAC_SIZE 16        /* of the handshake */
#define MMTP_MAX_PATHS 256
#define MMTP_MAX_CAPS 8192      /* bytes of text */
#define MMTP_MAX_RANGES 16      /* of losses in a record */
#define MMTP_MAX_PRELUDE 64
#define MMTP_ALL_CHANNELS 255   /* in a QUERY */

#define MMTP_NEVER G_MAXUINT64
#define MMTP_ENTROPY_SIZE 64    /* bytes that nobody can guess */

#define MMTP_TICK 10            /* us, unit of the time of sending */
#define MMTP_TICK_TIME (MMTP_TICK * G_GUINT64_CONSTANT (1000))  /* ns */
#define MMTP_TICKS_BITS 24
#define MMTP_TICKS_MASK ((1 << MMTP_TICKS_BITS) - 1)

typedef enum
{
  MMTP_DATA,
  MMTP_PROBE,
  MMTP_INIT,
  MMTP_COOKIE,
  MMTP_OPEN,
  MMTP_ACCEPT,
  MMTP_REFUSE,
  MMTP_JOIN,
  MMTP_CHALLENGE,
  MMTP_RESPONSE,
  MMTP_KEEPALIVE,
  MMTP_REPORT,
  MMTP_QUERY,
  MMTP_RESERVED_13,             /* DECREASE of version 1 */
  MMTP_LEAVE,
  MMTP_CAPS,
  MMTP_CAPS_ACK,
  MMTP_END,
  MMTP_END_ACK,
  MMTP_REPAIR,
  MMTP_LAST_TYPE
} MmtpType;

typedef enum
{
  MMTP_SENDER = 1 << 0,
  MMTP_RECEIVER = 1 << 1
} MmtpRole;

/* Why a message was refused: section 2's table */
typedef enum
{
  MMTP_VALID,
  MMTP_REFUSED_SHORT,
  MMTP_REFUSED_VERSION,
  MMTP_REFUSED_TYPE,
  MMTP_REFUSED_TRAILER,
  MMTP_REFUSED_REPLAY,
  MMTP_REFUSED_CHANNEL,
  MMTP_REFUSED_MALFORMED,
  MMTP_REFUSED_SESSION,
  MMTP_REFUSED_ADDRESS,
  MMTP_LAST_REFUSAL
} MmtpRefusal;

/* "short", "version", ...: the words of the statistics */
const gchar *mmtp_refusal_get_name (MmtpRefusal refusal);
const gchar *mmtp_type_get_name (MmtpType type);

typedef enum
{
  MMTP_FLAG_FIRST = 0x80,
  MMTP_FLAG_LAST = 0x40,
  MMTP_FLAG_DELTA = 0x20,
  MMTP_FLAG_DROPPABLE = 0x10,
  MMTP_FLAG_MARKER = 0x08,
  MMTP_FLAG_HEADER = 0x04,
  MMTP_FLAG_PRELUDE = 0x01,
  MMTP_FLAGS_OF_BUFFER = 0x3c
} MmtpFlags;

typedef enum
{
  MMTP_PRELUDE_PTS = 0x01,
  MMTP_PRELUDE_DURATION = 0x02,
  MMTP_PRELUDE_RATE = 0x04,
  MMTP_PRELUDE_DISCONT = 0x08,
  MMTP_PRELUDE_NO_TIME = 0x10,
  MMTP_PRELUDE_DTS = 0x20
} MmtpPreludeMask;

typedef struct
{
  guint8 mask;                  /* MmtpPreludeMask; 0: no prelude */
  gint32 pts;                   /* us, minus due time */
  gint32 dts;                   /* us, minus due time */
  guint32 duration;             /* us */
  guint32 frame_rate;           /* milliframes per second */
  guint64 bit_rate;             /* bits per second */
} MmtpPrelude;

typedef struct
{
  guint32 stream_number;        /* low 24 bits */
  guint32 due;                  /* us, modulo 2^32 */
  guint8 flags;                 /* MmtpFlags */
  guint8 caps_version;
  MmtpPrelude prelude;
  const guint8 *payload;        /* behind the prelude; the message's */
  gsize payload_size;
} MmtpData;

typedef struct
{
  gsize size;                   /* of the whole message */
} MmtpProbe;

typedef struct
{
  guint8 nonce[MMTP_NONCE_SIZE];        /* nonce_s */
  guint8 cookie[MMTP_COOKIE_SIZE];      /* COOKIE and OPEN */
} MmtpInit;                     /* and MmtpCookie */

typedef struct
{
  guint8 nonce[MMTP_NONCE_SIZE];
  guint8 cookie[MMTP_COOKIE_SIZE];
  guint64 token;                /* of the receiver's messages */
  guint32 initial_delay;        /* us, at most 60 s */
  guint64 bit_rate;             /* 0: unknown */
  guint32 frame_period;         /* us, 0: unknown */
  guint16 max_size;             /* bytes of a message here */
  guint16 keepalive_period;     /* ms, 10 to 10000 */
  guint64 now;                  /* us, the sender's clock */
  gboolean has_key;
  guint8 mac[MMTP_MAC_SIZE];
  gsize size;                   /* of the whole message with its padding; 0 when
                                 * written: no padding */
} MmtpOpen;

typedef struct
{
  guint8 nonce[MMTP_NONCE_SIZE];        /* nonce_s */
  guint8 nonce_r[MMTP_NONCE_SIZE];
  guint64 token;                /* of the sender's messages */
  guint32 min_delay;            /* us */
  gboolean has_key;
  guint8 mac[MMTP_MAC_SIZE];
} MmtpAccept;

typedef enum
{
  MMTP_REFUSE_VERSION = 1,
  MMTP_REFUSE_BUSY,
  MMTP_REFUSE_KEY,
  MMTP_REFUSE_COOKIE,
  MMTP_REFUSE_OVER
} MmtpRefuseReason;

typedef struct
{
  guint8 nonce[MMTP_NONCE_SIZE];
  guint8 reason;                /* MmtpRefuseReason, or one of the future */
} MmtpRefuse;

typedef struct
{
  guint64 number;               /* of the channel, whole */
  guint64 nonce;
  guint16 max_size;
} MmtpJoin;

typedef struct
{
  guint64 nonce;
  guint64 challenge;
} MmtpChallenge;                /* and MmtpResponse, without nonce */

typedef struct
{
  guint64 number;               /* of the channel, whole */
  guint32 initial_delay;        /* us */
  guint32 next;                 /* stream number */
  guint32 floor;                /* stream number */
  guint32 round_trip;           /* us, 0: unknown */
  guint8 fastest;               /* channel */
  guint8 caps_version;
  gboolean stored;
  gboolean has_offset;
  gint32 offset;                /* us */
  guint32 echo;                 /* ticks, 0: none */
  guint32 hold;                 /* ticks */
  guint16 report_period;        /* ms, wanted between REPORTs on this channel;
                                 * 0: the receiver's choice */
} MmtpKeepalive;

typedef struct
{
  guint16 first;                /* low bits of a channel number */
  guint8 count;                 /* at least 1 */
} MmtpRange;

typedef enum
{
  MMTP_RECORD_UNMEASURED = 0x01 /* nothing came since the last record: transits
                                 * and arrival mean nothing */
} MmtpRecordFlags;

/* Times are on the receiver's clock; transits are arrival minus sending time,
 * less a constant of the session, so that only differences mean something. */
typedef struct
{
  guint8 channel;
  guint8 flags;                 /* MmtpRecordFlags */
  guint32 highest;              /* channel number, low 32 bits */
  guint32 received;             /* messages */
  guint32 lost;                 /* messages */
  guint32 late;                 /* DATA packets */
  guint32 bytes;                /* low 32 bits, whole messages */
  guint32 arrival;              /* ticks, of the latest message */
  gint32 transit;               /* ticks, of the latest message */
  gint32 min_transit;           /* ticks, since the last record of the path */
  gint32 high_transit;          /* ticks, likewise the maximum */
  guint32 jitter;               /* us, as RFC 3550, section 6.4.1 */
  guint8 n_ranges;
  MmtpRange ranges[MMTP_MAX_RANGES];
} MmtpRecord;

#define MMTP_RECORD_SIZE 42     /* without ranges */
#define MMTP_MAX_RECORDS 16     /* in one report; more go in further reports */

typedef struct
{
  guint64 channel_number;
  guint32 number;               /* of the report, from 1 */
  guint32 next;                 /* stream number that is missing */
  guint8 echo_channel;
  guint32 echo;                 /* ticks */
  guint32 hold;                 /* ticks */
  guint8 n_records;
  MmtpRecord records[MMTP_MAX_RECORDS];
} MmtpReport;

typedef struct
{
  guint8 channel;
} MmtpQuery;

typedef enum
{
  MMTP_LEAVE_ASKED,
  MMTP_LEAVE_INTERFACE,
  MMTP_LEAVE_SILENT,
  MMTP_LEAVE_ERROR
} MmtpLeaveReason;

typedef struct
{
  guint8 channel;
  gboolean is_ack;
  guint8 reason;                /* MmtpLeaveReason, or one of the future */
  guint32 highest;              /* channel number from the other side */
} MmtpLeave;

typedef struct
{
  guint8 version;               /* never 0 */
  guint16 length;               /* of the whole text */
  guint16 offset;
  const guint8 *piece;          /* the message's; never empty */
  gsize piece_size;
} MmtpCaps;                     /* CAPS-ACK: version only */

typedef struct
{
  guint32 stream_number;        /* behind the last one */
} MmtpEnd;                      /* and END-ACK */

typedef struct
{
  guint32 first;                /* stream number, low 24 bits */
  guint32 mask;                 /* bit i: first + i is in it; bit 0 is set */
  guint16 sizes;                /* of their contents, combined by XOR */
  const guint8 *content;        /* so combined; the message's */
  gsize content_size;           /* of the longest */
} MmtpRepair;

typedef struct
{
  MmtpType type;
  guint8 version;               /* what bytes said; writing takes
                                 * MMTP_VERSION */
  guint8 channel;
  guint16 number;               /* low 16 bits of the channel number */
  guint32 sent;                 /* ticks */
  guint64 trailer;
  union
  {
    MmtpData data;
    MmtpProbe probe;
    MmtpInit init;              /* INIT, COOKIE */
    MmtpOpen open;
    MmtpAccept accept;
    MmtpRefuse refuse;
    MmtpJoin join;
    MmtpChallenge challenge;    /* CHALLENGE, RESPONSE */
    MmtpKeepalive keepalive;
    MmtpReport report;
    MmtpQuery query;
    MmtpLeave leave;
    MmtpCaps caps;              /* CAPS, CAPS-ACK */
    MmtpEnd end;                /* END, END-ACK */
    MmtpRepair repair;
  };
} MmtpMessage;

/* The first 7 bytes and the trailer, all that may be believed before the
 * trailer has been verified. `from`: the role whose messages are expected; with
 * the type of the other role: TYPE. They are filled in unless it is SHORT of
 * them, and a REFUSE is valid in every version. */
MmtpRefusal mmtp_packet_parse_header (MmtpMessage * message,
    const guint8 * bytes, gsize size, MmtpRole from);
/* Then the body. Pointers in the message point into `bytes`. Of INIT and OPEN
 * of another version, which the header's VERSION does not keep from being
 * answered, only `init.nonce` is filled in. */
MmtpRefusal mmtp_packet_parse_body (MmtpMessage * message,
    const guint8 * bytes, gsize size);

/* All of the message, with its trailer as it is given; returns its size, 0 when
 * `room` is too small. What its text excludes is a programming error. A
 * prelude's mask sets MMTP_FLAG_PRELUDE. */
gsize mmtp_packet_write (const MmtpMessage * message, guint8 * bytes,
    gsize room);
/* What a DATA packet costs besides its payload */
gsize mmtp_prelude_get_size (const MmtpPrelude * prelude);

/* Numbers and times of which only the low bits are sent: the value with these
 * low bits that is nearest to `near`, and not negative. */
guint64 mmtp_unwrap (guint64 low, guint bits, guint64 near);
/* A time in ns as it is written in messages: in ticks, which wrap */
guint32 mmtp_to_ticks (guint64 time);
/* For how long something is held, in ticks; MMTP_TICKS_MASK: as long, or
 * longer */
guint32 mmtp_to_hold (guint64 since, guint64 now);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses and writes MMTP messages (docs/wire-mmtp.md, sections 2 to 4). The
 * codec has no state, does not depend on sessions or clocks, and allocates no
 * memory. It checks only what can be checked from the message alone.
 *
 *   refusal = mmtp_packet_parse_header (&message, bytes, size, role);
 *   refusal = mmtp_packet_parse_body (&message, bytes, size);
 *   size = mmtp_packet_write (&message, bytes, room);
 */

#pragma once

#include "datagramblock.h"

#define MMTP_VERSION 2
#define MMTP_MAX_MESSAGE 65507  /* maximum UDP payload, in bytes */
#define MMTP_MIN_MESSAGE 15
/* Minimum value of the field "longest message" in JOIN and OPEN, in bytes
 * (docs/wire-mmtp.md, sections 3 and 4). */
#define MMTP_MIN_MESSAGE_SIZE 128
#define MMTP_HEADER_SIZE 7      /* header that every message has */
#define MMTP_DATA_HEADER_SIZE 16
#define MMTP_TRAILER_SIZE 8
#define MMTP_DATA_OVERHEAD (MMTP_DATA_HEADER_SIZE + MMTP_TRAILER_SIZE)
#define MMTP_INIT_SIZE 64
#define MMTP_JOIN_SIZE 64
#define MMTP_OPEN_SIZE 116      /* size of an OPEN without padding */
#define MMTP_NONCE_SIZE 16
#define MMTP_COOKIE_SIZE 32
#define MMTP_MAC_SIZE 16        /* MAC of the handshake messages */
#define MMTP_MAX_PATHS 256
/* maximum length of the caps, in bytes of text */
#define MMTP_MAX_CAPS 8192
/* Maximum number of loss ranges in a record. A REPORT has one record for each
 * channel that it covers. */
#define MMTP_MAX_RANGES 16
#define MMTP_MAX_PRELUDE 64
/* The field `channel` of a QUERY has this value if the QUERY asks about all
 * channels. */
#define MMTP_ALL_CHANNELS 255

#define MMTP_NEVER G_MAXUINT64
#define MMTP_ENTROPY_SIZE 64    /* size of the random seed, in bytes */

#define MMTP_TICK 10            /* length of a tick in us */
/* length of a tick in ns; many times in messages are in ticks */
#define MMTP_TICK_TIME (MMTP_TICK * G_GUINT64_CONSTANT (1000))
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
  MMTP_RESERVED_13,             /* This value was DECREASE in version 1. */
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

/* Reason why a received message was refused. docs/wire-mmtp.md, section 2, has
 * a table of the reasons. */
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

/* Returns the name of a refusal reason as the statistics use it: "short",
 * "version" and so on. */
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
  /* bits of MmtpPreludeMask; 0 if there is no prelude */
  guint8 mask;
  gint32 pts;                   /* PTS minus due time, in us */
  gint32 dts;                   /* DTS minus due time, in us */
  guint32 duration;             /* in us */
  guint32 frame_rate;           /* frame rate in frames per 1000 s */
  guint64 bit_rate;             /* in bit/s */
} MmtpPrelude;

typedef struct
{
  /* low 24 bits of the stream number, which counts the packets of the stream */
  guint32 stream_number;
  guint32 due;                  /* due time in us, modulo 2^32 */
  guint8 flags;                 /* MmtpFlags */
  guint8 caps_version;
  MmtpPrelude prelude;
  /* Payload after the prelude. It points into the received bytes and is not
   * owned. */
  const guint8 *payload;
  gsize payload_size;
  /* Memory block that contains the payload. A receiver can make a slice of the
   * block instead of copying the payload. NULL if the payload must be copied.
   * The receiver sets this field, and the codec ignores it. */
  DatagramBlock *block;
} MmtpData;

typedef struct
{
  gsize size;                   /* size of the whole PROBE message, in bytes */
} MmtpProbe;

typedef struct
{
  guint8 nonce[MMTP_NONCE_SIZE];        /* nonce_s, chosen by the sender */
  /* the cookie of COOKIE and OPEN; not used in other messages */
  guint8 cookie[MMTP_COOKIE_SIZE];
} MmtpInit;                     /* also used for COOKIE */

typedef struct
{
  guint8 nonce[MMTP_NONCE_SIZE];
  guint8 cookie[MMTP_COOKIE_SIZE];
  /* token that proves, in a session without a key, that a message comes from
   * the receiver; the receiver puts it into its messages */
  guint64 token;
  guint32 initial_delay;        /* initial delay (D0) in us, at most 60 s */
  guint64 bit_rate;             /* in bit/s; 0 if unknown */
  guint32 frame_period;         /* in us; 0 if unknown */
  /* maximum size of a message on this channel, in bytes */
  guint16 max_size;
  guint16 keepalive_period;     /* in ms, 10 to 10000 */
  guint64 now;                  /* time on the sender's clock, in us */
  gboolean has_key;
  guint8 mac[MMTP_MAC_SIZE];
  /* Size of the whole message with its padding, in bytes. When an OPEN is
   * written, 0 means without padding. */
  gsize size;
} MmtpOpen;

typedef struct
{
  guint8 nonce[MMTP_NONCE_SIZE];        /* nonce_s, from the OPEN */
  guint8 nonce_r[MMTP_NONCE_SIZE];
  /* token that proves, in a session without a key, that a message comes from
   * the sender; the sender puts it into its messages */
  guint64 token;
  /* minimum initial delay (D0) that the receiver wants, in us */
  guint32 min_delay;
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
  /* an MmtpRefuseReason, or a reason that only a later version defines */
  guint8 reason;
} MmtpRefuse;

typedef struct
{
  /* All 64 bits of the message's channel number, which counts the messages that
   * an endpoint sends on a channel. */
  guint64 number;
  guint64 nonce;
  guint16 max_size;
} MmtpJoin;

typedef struct
{
  guint64 nonce;
  guint64 challenge;
/* CHALLENGE and RESPONSE both use this struct. A RESPONSE contains no nonce, so
 * the field `nonce` is not used for it. */
} MmtpChallenge;

typedef struct
{
  guint64 number;               /* 64-bit channel number of this message */
  guint32 initial_delay;        /* initial delay (D0) in us */
  /* stream number that the next new packet of the stream will have */
  guint32 next;
  /* Packets with a stream number below this value will not be sent any more. */
  guint32 floor;
  guint32 round_trip;           /* in us; 0 if unknown */
  /* channel whose round-trip time is the shortest */
  guint8 fastest;
  guint8 caps_version;
  gboolean stored;
  gboolean has_offset;
  /* offset of the clocks of sender and receiver, in us */
  gint32 offset;
  /* Echo for measuring the round trip: sending time of the last REPORT that
   * arrived, in ticks; 0 if none has arrived. */
  guint32 echo;
  /* Time from the arrival of the last REPORT until this KEEPALIVE was sent, in
   * ticks. */
  guint32 hold;
  /* Period in ms in which the sender wants REPORTs about this channel; 0 lets
   * the receiver choose the period. */
  guint16 report_period;
} MmtpKeepalive;

typedef struct
{
  /* Low 16 bits of the number of the first message in the range. The messages
   * on a channel are numbered. */
  guint16 first;
  /* number of messages in the range, at least 1 */
  guint8 count;
} MmtpRange;

typedef enum
{
  /* No message has arrived since the last record of the path, so `arrival` and
   * the transits in this record are not new measurements. */
  MMTP_RECORD_UNMEASURED = 0x01
} MmtpRecordFlags;

/* The messages that have arrived on a channel. Times are on the receiver's
 * clock. A transit is the arrival time minus the sending time, less a constant
 * of the session that only the receiver knows. Only differences of transits are
 * meaningful. */
typedef struct
{
  guint8 channel;
  guint8 flags;                 /* MmtpRecordFlags */
  /* low 32 bits of the highest number of a received message; the messages on a
   * channel are numbered */
  guint32 highest;
  guint32 received;             /* messages received */
  guint32 lost;                 /* messages lost */
  /* number of DATA packets that arrived after their deadline */
  guint32 late;
  /* low 32 bits of the number of bytes in all received messages */
  guint32 bytes;
  /* arrival time of the latest message on the receiver's clock, in ticks */
  guint32 arrival;
  /* Transit of the latest message, in ticks: its arrival time minus its sending
   * time, less a constant. */
  gint32 transit;
  /* minimum transit, in ticks, of the messages that arrived since the previous
   * record about this path */
  gint32 min_transit;
  /* maximum transit, in ticks, of the messages that arrived since the previous
   * record about this path */
  gint32 high_transit;
  guint32 jitter;               /* in us, as in RFC 3550, section 6.4.1 */
  guint8 n_ranges;
  MmtpRange ranges[MMTP_MAX_RANGES];
} MmtpRecord;

/* size in bytes of an MmtpRecord on the wire, without the field `ranges` */
#define MMTP_RECORD_SIZE 42
/* maximum number of records in a report */
#define MMTP_MAX_RECORDS 16

typedef struct
{
  guint64 channel_number;
  guint32 number;               /* number of the report, from 1 */
  /* lowest stream number whose packet has not arrived yet */
  guint32 next;
  guint8 echo_channel;
  /* Echo for measuring the round trip: sending time of the last message that
   * arrived on echo_channel, in ticks. */
  guint32 echo;
  /* time in ticks since the message arrived whose sending time is `echo` */
  guint32 hold;
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
  /* an MmtpLeaveReason, or a reason that only a later version defines */
  guint8 reason;
  /* The channel number of a message counts the messages that an endpoint sends
   * on a channel. This field has the low 32 bits of the highest channel number
   * that has arrived from the peer. */
  guint32 highest;
} MmtpLeave;

typedef struct
{
  guint8 version;               /* version of the caps, never 0 */
  /* length in bytes of the whole text of the caps */
  guint16 length;
  guint16 offset;
  /* The part of the caps text that this message contains; never empty. It
   * points into the received bytes and is not owned. */
  const guint8 *piece;
  gsize piece_size;
} MmtpCaps;                     /* CAPS; CAPS-ACK uses the version only */

typedef struct
{
  /* stream number of the last packet of the stream, plus 1 */
  guint32 stream_number;
} MmtpEnd;                      /* END and END-ACK */

typedef struct
{
  /* low 24 bits of the stream number of the first DATA packet that the repair
   * covers */
  guint32 first;
  /* Bit i is set if the repair covers the DATA packet with the stream number
   * `first` + i. Bit 0 is always set. */
  guint32 mask;
  /* XOR of the sizes in bytes of the contents of the covered packets */
  guint16 sizes;
  /* XOR of the contents of the covered packets. It points into the received
   * bytes and is not owned. */
  const guint8 *content;
  /* size in bytes of the largest content among the covered packets */
  gsize content_size;
} MmtpRepair;

typedef struct
{
  MmtpType type;
  /* protocol version of a message that was parsed; messages are always written
   * with MMTP_VERSION */
  guint8 version;
  guint8 channel;
  /* low 16 bits of the message's number; the messages on a channel are numbered
   */
  guint16 number;
  /* sending time in ticks, modulo 2^MMTP_TICKS_BITS */
  guint32 sent;
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

/* Parses the first 7 bytes and the trailer of a message. Only these fields may
 * be used before the trailer has been verified. `from` is the role of the
 * sender. If a host in this role never sends messages of this type, the
 * function returns MMTP_REFUSED_TYPE. A REFUSE is accepted in every version.
 *
 * If `size` is at least MMTP_MIN_MESSAGE bytes, the header fields of `message`
 * are filled in, even if the message is refused. */
MmtpRefusal mmtp_packet_parse_header (MmtpMessage * message,
    const guint8 * bytes, gsize size, MmtpRole from);
/* Parses the body of a message after mmtp_packet_parse_header() has parsed its
 * header into the same `message`. Pointers in `message` point into `bytes`.
 *
 * An INIT or OPEN of another version has to be answered, although
 * mmtp_packet_parse_header() returns MMTP_REFUSED_VERSION for it. For such a
 * message, this function fills in `init.nonce` only. */
MmtpRefusal mmtp_packet_parse_body (MmtpMessage * message,
    const guint8 * bytes, gsize size);

/* Writes the whole message, including the trailer that `message` contains.
 * Returns its size in bytes, or 0 if `room` bytes are not enough. A value that
 * docs/wire-mmtp.md forbids is a programming error. MMTP_FLAG_PRELUDE is set if
 * the mask of the prelude is not 0. */
gsize mmtp_packet_write (const MmtpMessage * message, guint8 * bytes,
    gsize room);
/* Returns the number of bytes that `prelude` adds to a DATA packet; 0 if its
 * mask is 0. */
gsize mmtp_prelude_get_size (const MmtpPrelude * prelude);

/* Restores a number of which a message contains only the lowest `bits` bits,
 * `low`. Returns the nonnegative number nearest to `near` that has these low
 * bits. */
guint64 mmtp_unwrap (guint64 low, guint bits, guint64 near);
/* Converts a time in ns to ticks, the unit of the times in messages. The result
 * is modulo 2^MMTP_TICKS_BITS. */
guint32 mmtp_to_ticks (guint64 time);
/* Returns the time from `since` to `now`, both in ns, as a number of ticks. A
 * time of MMTP_TICKS_MASK ticks or more is returned as MMTP_TICKS_MASK. */
guint32 mmtp_to_hold (guint64 since, guint64 now);

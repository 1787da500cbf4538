/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses and writes MMTP messages (docs/wire-mmtp.md, sections 2 to 4). The
 * functions have no state, do not depend on sessions or clocks, and allocate no
 * memory. They check only what can be checked from the message alone.
 *
 * A message that arrives is parsed in two steps, so that the caller can verify
 * the trailer between them:
 *
 *   refusal = mmtp_packet_parse_header (&message, bytes, size, role);
 *   refusal = mmtp_packet_parse_body (&message, bytes, size);
 *
 * A message is written in one step:
 *
 *   size = mmtp_packet_write (&message, bytes, room);
 */

#pragma once

#include "datagramblock.h"

#define MMTP_VERSION 2
#define MMTP_MAX_MESSAGE 65507  /* maximum UDP payload, in bytes */
#define MMTP_MIN_MESSAGE 15
/* Minimum permitted value, in bytes, of the field "longest message" of JOIN and
 * OPEN. In this field, the sender announces the maximum size of its messages on
 * the path (docs/wire-mmtp.md, sections 3 and 4). */
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
/* Maximum length in bytes of the caps text, which describes the format of the
 * stream. */
#define MMTP_MAX_CAPS 8192
/* Maximum number of ranges of lost messages in a record. A record is the part
 * of a REPORT that describes one channel. */
#define MMTP_MAX_RANGES 16
#define MMTP_MAX_PRELUDE 64
/* Value of the field `channel` in a QUERY that asks about all channels. */
#define MMTP_ALL_CHANNELS 255

#define MMTP_NEVER G_MAXUINT64
/* size in bytes of the random seed from which all random numbers are derived */
#define MMTP_ENTROPY_SIZE 64

#define MMTP_TICK 10            /* length of a tick in us */
/* Length of a tick in ns. A tick is the unit of many times in messages. */
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
 * a table of these reasons. */
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
  /* Bit mask of the fields that the prelude contains (MmtpPreludeMask). The
   * prelude is an optional header of a buffer. If there is none, the mask is 0.
   */
  guint8 mask;
  gint32 pts;                   /* PTS minus due time, in us */
  gint32 dts;                   /* DTS minus due time, in us */
  guint32 duration;             /* in us */
  guint32 frame_rate;           /* frame rate in frames per 1000 s */
  guint64 bit_rate;             /* in bit/s */
} MmtpPrelude;

typedef struct
{
  /* Low 24 bits of the stream number. The stream number is the sequence number
   * of the packet in the stream; the first packet has the number 0. */
  guint32 stream_number;
  guint32 due;                  /* due time in us, modulo 2^32 */
  guint8 flags;                 /* MmtpFlags */
  guint8 caps_version;
  MmtpPrelude prelude;
  /* Pointer to the payload, which follows the prelude. It points into the
   * received message, which belongs to the caller. */
  const guint8 *payload;
  gsize payload_size;
  /* Memory block that contains the payload; NULL if there is none. With a
   * block, a receiver can pass on the payload as a slice of the block, without
   * copying it. Without a block, the payload must be copied. The receiver sets
   * this field. The functions that read and write messages ignore it. */
  DatagramBlock *block;
} MmtpData;

typedef struct
{
  gsize size;                   /* size of the whole PROBE message, in bytes */
} MmtpProbe;

typedef struct
{
  guint8 nonce[MMTP_NONCE_SIZE];        /* nonce_s, chosen by the sender */
  /* Cookie; used in a COOKIE message, but not in an INIT. */
  guint8 cookie[MMTP_COOKIE_SIZE];
} MmtpInit;                     /* also used for COOKIE */

typedef struct
{
  guint8 nonce[MMTP_NONCE_SIZE];
  guint8 cookie[MMTP_COOKIE_SIZE];
  /* Random token that the sender has chosen. In a session without a key, the
   * receiver puts it into the trailer of its messages. The token proves that
   * these messages come from the receiver. */
  guint64 token;
  /* Initial delay (D0) in us, at most 60 s. It is the latency of the session.
   */
  guint32 initial_delay;
  guint64 bit_rate;             /* in bit/s; 0 if unknown */
  guint32 frame_period;         /* in us; 0 if unknown */
  /* maximum size of a message on this channel, in bytes */
  guint16 max_size;
  guint16 keepalive_period;     /* in ms, 10 to 10000 */
  /* Time on the sender's clock, in us, at which this OPEN was written. */
  guint64 now;
  gboolean has_key;
  guint8 mac[MMTP_MAC_SIZE];
  /* Size in bytes of the whole message with its padding. To write an OPEN
   * without padding, set it to 0. */
  gsize size;
} MmtpOpen;

typedef struct
{
  guint8 nonce[MMTP_NONCE_SIZE];        /* nonce_s, from the OPEN */
  guint8 nonce_r[MMTP_NONCE_SIZE];
  /* Random token that the receiver has chosen. In a session without a key, the
   * sender puts it into the trailer of its messages. The token proves that
   * these messages come from the sender. */
  guint64 token;
  /* Minimum value, in us, that the receiver wants for the initial delay (D0).
   * The initial delay is the latency of the session. */
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
  /* Reason of the REFUSE: an MmtpRefuseReason, or a value that this version of
   * the protocol does not define. */
  guint8 reason;
} MmtpRefuse;

typedef struct
{
  /* Channel number of this message, with all 64 bits. It is the sequence number
   * of the message on its channel. The header of the message contains only the
   * low 16 bits. */
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
  /* Channel number of this message, with all 64 bits. It is the sequence number
   * of the message on its channel. The header of the message contains only the
   * low 16 bits. */
  guint64 number;
  guint32 initial_delay;        /* initial delay (D0) in us */
  /* stream number that the next new packet of the stream will have */
  guint32 next;
  /* Lowest stream number that the sender may still send. It will send no packet
   * with a lower stream number any more. */
  guint32 floor;
  guint32 round_trip;           /* in us; 0 if unknown */
  /* number of the channel with the shortest round-trip time */
  guint8 fastest;
  guint8 caps_version;
  gboolean stored;
  gboolean has_offset;
  /* Offset between the clocks of the sender and the receiver, in us. It equals
   * the transit of a message whose one-way delay is 0. The transit is the
   * arrival time minus the sending time, minus a constant that the receiver has
   * chosen for the whole session. */
  gint32 offset;
  /* Sending time of the last REPORT that has arrived at the sender, in ticks of
   * the receiver's clock; 0 if none has arrived. The receiver can compute the
   * round-trip time from it. */
  guint32 echo;
  /* Time in ticks between the arrival of the last REPORT at the sender and the
   * sending of this KEEPALIVE. The receiver subtracts it when it computes the
   * round-trip time. */
  guint32 hold;
  /* Interval in ms at which the receiver should send REPORTs on this channel.
   * If it is 0, the receiver chooses the interval. */
  guint16 report_period;
} MmtpKeepalive;

typedef struct
{
  /* Low 16 bits of the channel number of the first lost message in the range.
   * The channel number is the sequence number of a message on its channel. */
  guint16 first;
  /* number of lost messages in the range, at least 1 */
  guint8 count;
} MmtpRange;

typedef enum
{
  /* Set if no message has arrived since the previous record of this path.
   * `arrival` and the transits in this record are then old values and not new
   * measurements. */
  MMTP_RECORD_UNMEASURED = 0x01
} MmtpRecordFlags;

/* A record is the part of a REPORT that describes which messages have arrived
 * on one channel. Times are on the receiver's clock. The transit of a message
 * is its arrival time minus its sending time, minus a constant. Only the
 * receiver knows the constant, which stays the same for the whole session.
 * Therefore only differences of transits are meaningful. */
typedef struct
{
  guint8 channel;
  guint8 flags;                 /* MmtpRecordFlags */
  /* Low 32 bits of the highest channel number of all messages that have
   * arrived. The channel number is the sequence number of a message on its
   * channel. */
  guint32 highest;
  guint32 received;             /* messages received */
  guint32 lost;                 /* messages lost */
  /* number of DATA packets that arrived after their deadline, since the session
   * began */
  guint32 late;
  /* Total size in bytes of all messages that have arrived, modulo 2^32. */
  guint32 bytes;
  /* arrival time of the latest message, in ticks of the receiver's clock */
  guint32 arrival;
  /* Transit of the latest message, in ticks. The transit is the arrival time
   * minus the sending time, minus a constant that the receiver has chosen. */
  gint32 transit;
  /* Minimum of the transits of all messages that have arrived since the
   * previous record about this path, in ticks. A transit is the arrival time of
   * a message minus its sending time, minus a constant. The receiver has chosen
   * this constant for the whole session. */
  gint32 min_transit;
  /* Maximum of the transits of all messages that have arrived since the
   * previous record about this path, in ticks. A transit is the arrival time of
   * a message minus its sending time, minus a constant. The receiver has chosen
   * this constant for the whole session. */
  gint32 high_transit;
  guint32 jitter;               /* in us, as in RFC 3550, section 6.4.1 */
  guint8 n_ranges;
  MmtpRange ranges[MMTP_MAX_RANGES];
} MmtpRecord;

/* Size in bytes of a record in a REPORT message, not counting the ranges of
 * lost messages that the record contains. */
#define MMTP_RECORD_SIZE 42
/* maximum number of records in a REPORT */
#define MMTP_MAX_RECORDS 16

typedef struct
{
  guint64 channel_number;
  guint32 number;               /* number of the report, from 1 */
  /* Stream number of the packet that the receiver expects next. All packets
   * with lower numbers have arrived or were skipped. */
  guint32 next;
  guint8 echo_channel;
  /* Sending time of the last message that arrived on the channel
   * `echo_channel`, in ticks of the sender's clock. The sender computes the
   * round-trip time from it. */
  guint32 echo;
  /* Time in ticks between the arrival of the last message on the channel
   * `echo_channel` and the sending of this REPORT. The sender subtracts it when
   * it computes the round-trip time. */
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
  /* Reason of the LEAVE: an MmtpLeaveReason, or a value that this version of
   * the protocol does not define. */
  guint8 reason;
  /* This LEAVE removes the channel `channel`. The messages of a channel have
   * consecutive sequence numbers. `highest` is the highest sequence number of
   * all messages of the peer that have arrived on this channel. Only its low 32
   * bits are stored. */
  guint32 highest;
} MmtpLeave;

typedef struct
{
  guint8 version;               /* version of the caps, never 0 */
  /* length in bytes of the complete caps text */
  guint16 length;
  guint16 offset;
  /* The part of the caps text that is in this message; never empty. The pointer
   * points into the received message, which belongs to the caller. */
  const guint8 *piece;
  gsize piece_size;
} MmtpCaps;                     /* CAPS; CAPS-ACK uses the version only */

typedef struct
{
  /* Stream number of the last packet of the stream, plus 1. The stream number
   * is the sequence number of a packet in the stream. */
  guint32 stream_number;
} MmtpEnd;                      /* END and END-ACK */

typedef struct
{
  /* Low 24 bits of the stream number of the first DATA packet that this REPAIR
   * covers. A REPAIR covers a packet if the packet can be computed from the
   * REPAIR and the other covered packets. */
  guint32 first;
  /* Bit i is set if the REPAIR covers the DATA packet with the stream number
   * `first` + i. Bit 0 is always set. */
  guint32 mask;
  /* XOR of the sizes in bytes of the contents of all covered packets. The
   * content is the part of a packet that a REPAIR protects. */
  guint16 sizes;
  /* XOR of the contents of the covered packets. The pointer points into the
   * received message, which belongs to the caller. */
  const guint8 *content;
  /* Size of `content` in bytes. It equals the size of the largest content of a
   * covered packet. */
  gsize content_size;
} MmtpRepair;

typedef struct
{
  MmtpType type;
  /* Protocol version of a parsed message. A message is always written with the
   * version MMTP_VERSION. */
  guint8 version;
  guint8 channel;
  /* Low 16 bits of the channel number, which is the sequence number of the
   * message on its channel. */
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

/* Parses the header (7 bytes) and the trailer of a message. As long as the
 * caller has not verified the trailer, it may use only the fields of the header
 * and of the trailer.
 *
 * `from` is the role of the endpoint that has sent the message. If an endpoint
 * in this role never sends messages of this type, the function returns
 * MMTP_REFUSED_TYPE. If the message has another protocol version and is not a
 * REFUSE, the function returns MMTP_REFUSED_VERSION.
 *
 * If `size` is at least MMTP_MIN_MESSAGE bytes, the header fields of `message`
 * are filled in, even if the message is refused. */
MmtpRefusal mmtp_packet_parse_header (MmtpMessage * message,
    const guint8 * bytes, gsize size, MmtpRole from);
/* Parses the body of a message. Before that, mmtp_packet_parse_header() must
 * have parsed the header into the same `message`. Pointers in `message` point
 * into `bytes`.
 *
 * An INIT or OPEN of another protocol version has to be answered, although
 * mmtp_packet_parse_header() returns MMTP_REFUSED_VERSION for it. The caller
 * therefore passes it to this function, too, which fills in only the field
 * `init.nonce`. */
MmtpRefusal mmtp_packet_parse_body (MmtpMessage * message,
    const guint8 * bytes, gsize size);

/* Writes the whole message, including the trailer that `message` contains.
 * Returns the size of the message in bytes, or 0 if it does not fit into `room`
 * bytes. The caller must not pass values that docs/wire-mmtp.md forbids. In a
 * DATA message, the function sets MMTP_FLAG_PRELUDE if the mask of the prelude
 * is not 0, and clears it otherwise. */
gsize mmtp_packet_write (const MmtpMessage * message, guint8 * bytes,
    gsize room);
/* Returns the number of bytes that `prelude` adds to a DATA packet. Returns 0
 * if `prelude->mask` is 0, because the packet then has no prelude. */
gsize mmtp_prelude_get_size (const MmtpPrelude * prelude);

/* Restores a number of which a message contains only the lowest `bits` bits.
 * `low` is the value of these bits. Many numbers have the same low bits, so the
 * function returns the one that is nearest to `near`. The result is never
 * negative. */
guint64 mmtp_unwrap (guint64 low, guint bits, guint64 near);
/* Converts a time in ns to ticks. A tick is the unit of times in messages, and
 * is MMTP_TICK us long. The result is modulo 2^MMTP_TICKS_BITS. */
guint32 mmtp_to_ticks (guint64 time);
/* Returns the time from `since` to `now` as a number of ticks. Both arguments
 * are in ns. If the result would be above MMTP_TICKS_MASK, the function returns
 * MMTP_TICKS_MASK. */
guint32 mmtp_to_hold (guint64 since, guint64 now);

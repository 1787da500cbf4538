/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A DCCP packet, bytes to fields and back (RFC 4340 section 5), of every type.
 * Knows nothing of connections. What is refused is refused for a reason that is
 * counted; nothing is allocated, and nothing outside of the bytes is read.
 */

#pragma once

#include "datagram.h"
#include "dccpsequence.h"

#define DCCP_PROTOCOL 33        /* of IP */
#define DCCP_MIN_HEADER 12 /* bytes; with long sequence numbers 16 */
#define DCCP_MAX_HEADER 1020            /* bytes, with options: Data Offset is 8
                                         * bits of words */
#define DCCP_ENCAPSULATION_PORT 6511    /* UDP, RFC 6773 section 5.1 */

typedef enum                    /* section 5.1, table 1 */
{
  DCCP_REQUEST,
  DCCP_RESPONSE,
  DCCP_DATA,
  DCCP_ACK,
  DCCP_DATA_ACK,
  DCCP_CLOSE_REQ,
  DCCP_CLOSE,
  DCCP_RESET,
  DCCP_SYNC,
  DCCP_SYNC_ACK,
  DCCP_LISTEN,                  /* RFC 5596 */
  DCCP_LAST_TYPE
} DccpType;

typedef enum                    /* section 5.6, table 2; RFC 6773 section 4 */
{
  DCCP_RESET_UNSPECIFIED,
  DCCP_RESET_CLOSED,
  DCCP_RESET_ABORTED,
  DCCP_RESET_NO_CONNECTION,
  DCCP_RESET_PACKET_ERROR,      /* data 1: type of the packet */
  DCCP_RESET_OPTION_ERROR,      /* data: option, its first two bytes */
  DCCP_RESET_MANDATORY_ERROR,   /* the same */
  DCCP_RESET_CONNECTION_REFUSED,
  DCCP_RESET_BAD_SERVICE_CODE,
  DCCP_RESET_TOO_BUSY,
  DCCP_RESET_BAD_INIT_COOKIE,
  DCCP_RESET_AGGRESSION_PENALTY,
  DCCP_RESET_ENCAPSULATED_PORT_REUSE
} DccpResetCode;

/* Why a packet was refused, by the codec or by an endpoint; for counters */
typedef enum
{
  DCCP_ACCEPTED,
  DCCP_REFUSED_SHORT,           /* shorter than its header */
  DCCP_REFUSED_OFFSET,          /* Data Offset into the header or behind all */
  DCCP_REFUSED_TYPE,            /* reserved */
  DCCP_REFUSED_SHORT_SEQUENCE,  /* X = 0 where it must be 1 */
  DCCP_REFUSED_COVERAGE,        /* of more than there is, or too little */
  DCCP_REFUSED_CHECKSUM,
  DCCP_REFUSED_FLOW,            /* of no connection of ours */
  DCCP_REFUSED_STATE,           /* a type that has no place in this state */
  DCCP_REFUSED_SEQUENCE,        /* outside of the window */
  DCCP_REFUSED_ACKNOWLEDGEMENT, /* outside of the window */
  DCCP_REFUSED_OPTION,          /* negotiation that can't be; it is reset */
  DCCP_LAST_REFUSAL
} DccpRefusal;

typedef struct
{
  guint16 source, destination;  /* DCCP ports */
  DccpType type;
  gboolean extended;            /* X: 48 bits of sequence number, else 24 */
  guint8 ccval;                 /* 0 to 15 */
  guint8 coverage;              /* CsCov: 0: all; n: header and (n - 1) * 4
                                 * bytes of the payload */
  guint64 sequence;
  guint64 acknowledgement;      /* where the type has one */
  guint32 service_code;         /* Request, Response, Listen */
  guint8 reset_code, reset_data[3];
  const guint8 *options;        /* within the bytes that were read */
  gsize options_size;
  const guint8 *payload;
  gsize payload_size;
} DccpPacket;

const gchar *dccp_type_get_name (DccpType type);
const gchar *dccp_reset_code_get_name (guint8 code);
/* A word for statistics, as "short" */
const gchar *dccp_refusal_get_name (DccpRefusal refusal);
gboolean dccp_type_has_acknowledgement (DccpType type);
gboolean dccp_type_has_data (DccpType type);
/* Bytes before the options */
gsize dccp_type_get_header_size (DccpType type, gboolean extended);

/* `path`: for the checksum, which packets in UDP don't need (RFC 6773 section
 * 3.3); `packet` points into `bytes`. Undefined unless it is accepted. */
DccpRefusal dccp_packet_parse (DccpPacket * packet, const DatagramPath * path,
    const guint8 * bytes, gsize size);
/* Writes header and options, the latter padded to whole words, and the checksum
 * over what is covered; the payload is to follow them. A coverage of more than
 * there is becomes that of all. Bytes written, at most DCCP_MAX_HEADER; 0:
 * the options are too long. */
gsize dccp_packet_write (const DccpPacket * packet, const DatagramPath * path,
    guint8 bytes[DCCP_MAX_HEADER]);

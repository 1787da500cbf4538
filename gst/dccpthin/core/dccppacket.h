/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses and writes DCCP packets of every type (RFC 4340 section 5). This code
 * does not depend on a connection. An invalid packet is refused with a reason,
 * for which there is a counter. Parsing allocates no memory and reads nothing
 * outside the given bytes.
 */

#pragma once

#include "datagram.h"
#include "dccpsequence.h"

#define DCCP_PROTOCOL 33        /* of IP */
/* minimum header size in bytes, for sequence numbers of 24 bits; sequence
 * numbers of 48 bits need 16 bytes */
#define DCCP_MIN_HEADER 12
/* Maximum size of the header with its options in bytes. Data Offset has 8 bits
 * and counts 32-bit words. */
#define DCCP_MAX_HEADER 1020
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
  /* A packet was not expected. The first byte of the Reset's data is the type
   * of this packet. */
  DCCP_RESET_PACKET_ERROR,
  /* An option was invalid. The Reset's data are the type of this option and the
   * first two bytes of its value. */
  DCCP_RESET_OPTION_ERROR,
  DCCP_RESET_MANDATORY_ERROR,   /* data: as for DCCP_RESET_OPTION_ERROR */
  DCCP_RESET_CONNECTION_REFUSED,
  DCCP_RESET_BAD_SERVICE_CODE,
  DCCP_RESET_TOO_BUSY,
  DCCP_RESET_BAD_INIT_COOKIE,
  DCCP_RESET_AGGRESSION_PENALTY,
  DCCP_RESET_ENCAPSULATED_PORT_REUSE
} DccpResetCode;

/* Reason for which the codec or an endpoint refused a packet. There is a
 * counter for each reason. */
typedef enum
{
  DCCP_ACCEPTED,
  /* The packet is shorter than the header of its type. */
  DCCP_REFUSED_SHORT,
  /* The header field Data Offset is invalid: it points into the header or
   * beyond the end of the packet. */
  DCCP_REFUSED_OFFSET,
  DCCP_REFUSED_TYPE,            /* reserved */
  /* The header bit X is 0 although it must be 1. */
  DCCP_REFUSED_SHORT_SEQUENCE,
  /* The checksum coverage (CsCov) exceeds the packet, or covers less than we
   * accept. */
  DCCP_REFUSED_COVERAGE,
  DCCP_REFUSED_CHECKSUM,
  /* The packet belongs to none of our connections. */
  DCCP_REFUSED_FLOW,
  /* A packet of this type is not allowed in the present state of the
   * connection. */
  DCCP_REFUSED_STATE,
  DCCP_REFUSED_SEQUENCE,        /* sequence number outside the window */
  DCCP_REFUSED_ACKNOWLEDGEMENT, /* acknowledgement number outside the window */
  /* invalid feature negotiation; the connection is reset */
  DCCP_REFUSED_OPTION,
  DCCP_LAST_REFUSAL
} DccpRefusal;

typedef struct
{
  guint16 source, destination;  /* DCCP ports */
  DccpType type;
  /* Header bit X. If it is set, sequence numbers have 48 bits, otherwise 24
   * bits. */
  gboolean extended;
  guint8 ccval;                 /* 0 to 15 */
  /* CsCov: 0 = the checksum covers all bytes; n = it covers the header and (n -
   * 1) * 4 bytes of the payload. */
  guint8 coverage;
  guint64 sequence;
  /* acknowledgement number; valid only if packets of this type have one */
  guint64 acknowledgement;
  guint32 service_code;         /* of Request, Response and Listen */
  guint8 reset_code, reset_data[3];
  const guint8 *options;        /* points into the parsed bytes */
  gsize options_size;
  const guint8 *payload;
  gsize payload_size;
} DccpPacket;

const gchar *dccp_type_get_name (DccpType type);
const gchar *dccp_reset_code_get_name (guint8 code);
/* Returns the name of `refusal` as the statistics use it, such as "short". */
const gchar *dccp_refusal_get_name (DccpRefusal refusal);
gboolean dccp_type_has_acknowledgement (DccpType type);
gboolean dccp_type_has_data (DccpType type);
/* Returns the size of the header without options, in bytes. */
gsize dccp_type_get_header_size (DccpType type, gboolean extended);

/* Parses the packet in `bytes`. If `path` has ports, DCCP is encapsulated in
 * UDP and the checksum is not checked (RFC 6773 section 3.3). Otherwise the
 * checksum is checked with the addresses in `path`. If the result is
 * DCCP_ACCEPTED, `packet` points into `bytes`. Otherwise `packet` is undefined.
 */
DccpRefusal dccp_packet_parse (DccpPacket * packet, const DatagramPath * path,
    const guint8 * bytes, gsize size);
/* Writes the header, the options and the checksum. The options are padded to
 * whole 32-bit words. The caller sends the payload after these bytes. If the
 * CsCov of `packet` exceeds the payload, the checksum covers all bytes. Returns
 * the number of written bytes, which is at most DCCP_MAX_HEADER. Returns 0 if
 * the options are too long. */
gsize dccp_packet_write (const DccpPacket * packet, const DatagramPath * path,
    guint8 bytes[DCCP_MAX_HEADER]);

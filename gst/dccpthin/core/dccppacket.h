/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses and writes DCCP packets of every type (RFC 4340 section 5). This code
 * does not depend on a connection. If a packet is invalid, parsing returns the
 * reason, and there is a counter for each reason. Parsing allocates no memory
 * and reads nothing outside the given bytes.
 */

#pragma once

#include "datagram.h"
#include "dccpsequence.h"

#define DCCP_PROTOCOL 33        /* of IP */
/* Minimum size in bytes of the header of a packet. It applies to sequence
 * numbers of 24 bits. With sequence numbers of 48 bits, the header has at least
 * 16 bytes. */
#define DCCP_MIN_HEADER 12
/* Maximum size in bytes of the header with its options. The header field Data
 * Offset contains this size. The field has 8 bits and counts 32-bit words, so
 * the maximum is 255 * 4 bytes. */
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
  /* Reset Code that means that a packet was not expected. The first byte of the
   * Reset's data is the type of this packet. */
  DCCP_RESET_PACKET_ERROR,
  /* Reset Code that means that an option was invalid. The Reset has three bytes
   * of data: the type of this option, and the first two bytes of the option's
   * value. */
  DCCP_RESET_OPTION_ERROR,
  DCCP_RESET_MANDATORY_ERROR,   /* data: as for DCCP_RESET_OPTION_ERROR */
  DCCP_RESET_CONNECTION_REFUSED,
  DCCP_RESET_BAD_SERVICE_CODE,
  DCCP_RESET_TOO_BUSY,
  DCCP_RESET_BAD_INIT_COOKIE,
  DCCP_RESET_AGGRESSION_PENALTY,
  DCCP_RESET_ENCAPSULATED_PORT_REUSE
} DccpResetCode;

/* Reason for which a received packet was refused, either by the parser or by
 * the endpoint. The statistics have a counter for each reason. */
typedef enum
{
  DCCP_ACCEPTED,
  /* The packet is shorter than the header that packets of its type have. */
  DCCP_REFUSED_SHORT,
  /* The header field Data Offset is invalid: it points into the header or
   * beyond the end of the packet. */
  DCCP_REFUSED_OFFSET,
  DCCP_REFUSED_TYPE,            /* reserved */
  /* The packet has sequence numbers of 24 bits (header bit X = 0), but must
   * have sequence numbers of 48 bits. */
  DCCP_REFUSED_SHORT_SEQUENCE,
  /* The checksum coverage (CsCov) is not acceptable: it covers more bytes than
   * the packet has, or fewer bytes than the receiving endpoint requires. */
  DCCP_REFUSED_COVERAGE,
  DCCP_REFUSED_CHECKSUM,
  /* The packet belongs to no connection of the endpoint, and was not accepted
   * as the beginning of a new connection. */
  DCCP_REFUSED_FLOW,
  /* A packet of this type is not allowed in the present state of the
   * connection. */
  DCCP_REFUSED_STATE,
  DCCP_REFUSED_SEQUENCE,        /* sequence number outside the window */
  DCCP_REFUSED_ACKNOWLEDGEMENT, /* acknowledgement number outside the window */
  /* The packet contains an option because of which the connection is reset, for
   * example an invalid feature negotiation. */
  DCCP_REFUSED_OPTION,
  DCCP_LAST_REFUSAL
} DccpRefusal;

typedef struct
{
  guint16 source, destination;  /* DCCP ports */
  DccpType type;
  /* Header bit X. TRUE = the sequence numbers in this packet have 48 bits;
   * FALSE = they have 24 bits. */
  gboolean extended;
  guint8 ccval;                 /* 0 to 15 */
  /* Checksum coverage (header field CsCov): 0 means that the checksum covers
   * all bytes, and n that it covers the header and (n - 1) * 4 bytes of the
   * payload. */
  guint8 coverage;
  guint64 sequence;
  /* Acknowledgement number. It is valid only if packets of this type have an
   * acknowledgement number. */
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
/* Returns the name that the statistics use for the reason `refusal`, such as
 * "short". */
const gchar *dccp_refusal_get_name (DccpRefusal refusal);
gboolean dccp_type_has_acknowledgement (DccpType type);
gboolean dccp_type_has_data (DccpType type);
/* Returns the size in bytes of the header of a packet of this type, without
 * options. */
gsize dccp_type_get_header_size (DccpType type, gboolean extended);

/* Parses the packet in `bytes`. If `path` contains ports, the DCCP packet was
 * encapsulated in UDP, and its checksum is not checked (RFC 6773 section 3.3).
 * Otherwise the checksum is checked, which also covers the addresses in `path`.
 * If the result is DCCP_ACCEPTED, `packet` points into `bytes`. Otherwise
 * `packet` is undefined. */
DccpRefusal dccp_packet_parse (DccpPacket * packet, const DatagramPath * path,
    const guint8 * bytes, gsize size);
/* Writes the header of `packet`, with its options and its checksum, to `bytes`.
 * The options are padded to whole 32-bit words. The payload is not written: the
 * caller sends it after these bytes. If the checksum coverage of `packet`
 * exceeds its payload, the checksum covers all bytes. Returns the number of
 * written bytes, which is at most DCCP_MAX_HEADER. Returns 0 if the options are
 * too long. */
gsize dccp_packet_write (const DccpPacket * packet, const DatagramPath * path,
    guint8 bytes[DCCP_MAX_HEADER]);

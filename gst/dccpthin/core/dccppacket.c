/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of dccppacket.h: the codec of the DCCP header. It parses each
 * received packet and writes each sent packet. It also computes and checks the
 * checksum. */

#include "dccppacket.h"

#include <string.h>

#include "wire.h"

/* Offsets in bytes of the fields in the generic header of DCCP (RFC 4340
 * section 5.1). */
#define DATA_OFFSET 4
#define CCVAL_COVERAGE 5
#define CHECKSUM 6
#define TYPE_X 8
#define SEQUENCE_SHORT 9        /* 3 bytes */
#define SEQUENCE_LONG 10        /* 6 bytes */

/* Size in bytes of the generic header if the header bit X is 1, so that
 * sequence numbers have 48 bits. */
#define LONG_HEADER 16
/* Size in bytes of the acknowledgement subheader in a packet with long sequence
 * numbers (header bit X = 1). The size includes 2 reserved bytes. */
#define LONG_ACKNOWLEDGEMENT 8
/* Size in bytes of the acknowledgement subheader in a packet with short
 * sequence numbers (header bit X = 0). The size includes 1 reserved byte. */
#define SHORT_ACKNOWLEDGEMENT 4
/* Size in bytes of a 32-bit word. The header fields Data Offset and CsCov count
 * such words. */
#define WORD 4
#define MAX_COVERAGE 15
#define MAX_CCVAL 15

/* --- names ---------------------------------------------------------------- */

const gchar *
dccp_type_get_name (DccpType type)
{
  static const gchar *const names[DCCP_LAST_TYPE] = {
    "request", "response", "data", "ack", "data-ack", "close-req", "close",
    "reset", "sync", "sync-ack", "listen"
  };

  g_return_val_if_fail (type < DCCP_LAST_TYPE, NULL);
  return names[type];
}

/* Returns the name of a Reset Code. Codes that RFC 4340 section 5.6 reserves
 * have no name of their own. For them, the name of the code Unspecified is
 * returned. */
const gchar *
dccp_reset_code_get_name (guint8 code)
{
  static const gchar *const names[] = {
    "unspecified", "closed", "aborted", "no connection", "packet error",
    "option error", "mandatory error", "connection refused",
    "bad service code", "too busy", "bad init cookie", "aggression penalty",
    "encapsulated port reuse"
  };

  return names[code < G_N_ELEMENTS (names) ? code : DCCP_RESET_UNSPECIFIED];
}

const gchar *
dccp_refusal_get_name (DccpRefusal refusal)
{
  static const gchar *const names[DCCP_LAST_REFUSAL] = {
    "accepted", "short", "offset", "type", "short-sequence", "coverage",
    "checksum", "flow", "state", "sequence", "acknowledgement", "option"
  };

  g_return_val_if_fail (refusal < DCCP_LAST_REFUSAL, NULL);
  return names[refusal];
}

/* --- types ---------------------------------------------------------------- */

gboolean
dccp_type_has_acknowledgement (DccpType type)
{
  return type != DCCP_REQUEST && type != DCCP_DATA && type != DCCP_LISTEN;
}

/* Returns whether packets of this type carry data of the application (RFC 4340
 * section 5). DCCP-Listen packets carry none (RFC 5596 section 2.2.1). Some
 * other types have an application area as well, but its contents are not passed
 * to the application. */
gboolean
dccp_type_has_data (DccpType type)
{
  return type == DCCP_REQUEST || type == DCCP_RESPONSE || type == DCCP_DATA
      || type == DCCP_DATA_ACK;
}

static gboolean
has_service_code (DccpType type)
{
  return type == DCCP_REQUEST || type == DCCP_RESPONSE || type == DCCP_LISTEN;
}

/* Returns whether packets of this type may have short sequence numbers of 24
 * bits. In such a packet, the header bit X is 0 (RFC 4340 section 5.1). */
static gboolean
may_be_short (DccpType type)
{
  return type == DCCP_DATA || type == DCCP_ACK || type == DCCP_DATA_ACK;
}

gsize
dccp_type_get_header_size (DccpType type, gboolean extended)
{
  gsize size = extended ? LONG_HEADER : DCCP_MIN_HEADER;

  if (dccp_type_has_acknowledgement (type))
    size += extended ? LONG_ACKNOWLEDGEMENT : SHORT_ACKNOWLEDGEMENT;
  if (has_service_code (type) || type == DCCP_RESET)
    size += WORD;
  return size;
}

/* --- checksum ------------------------------------------------------------- */

/* Returns the sum of the pseudo-header for the checksum. It is the same
 * pseudo-header as for TCP (RFC 4340 section 9.1). In IPv4, the length field of
 * the pseudo-header has 16 bits. Here it always has 32 bits. The additional
 * bits are 0 and do not change the sum. */
static guint64
sum_pseudo_header (const DatagramPath * path, gsize length)
{
  const guint32 tail[2] =
      { g_htonl ((guint32) length), g_htonl (DCCP_PROTOCOL) };

  return wire_sum (path->local, path->address_size)
      + wire_sum (path->remote, path->address_size)
      + wire_sum (tail, sizeof (tail));
}

/* Returns how many bytes of the payload the checksum covers. `coverage` is the
 * header field CsCov, which specifies this (RFC 4340 section 9.2).
 * `payload_size` is the size of the payload in bytes. If CsCov is too great for
 * the packet, and thus invalid, the result exceeds `payload_size`. */
static gsize
get_covered (guint8 coverage, gsize payload_size)
{
  return coverage == 0 ? payload_size : (gsize) (coverage - 1) * WORD;
}

/* --- reading -------------------------------------------------------------- */

static void
read_sequence (DccpPacket * packet, const guint8 * bytes)
{
  if (packet->extended)
    packet->sequence = wire_read (bytes + SEQUENCE_LONG, 6);
  else
    packet->sequence = wire_read (bytes + SEQUENCE_SHORT, 3);
}

/* Reads the acknowledgement number from `bytes` and stores it in `packet`. If
 * packets of this type have no acknowledgement number, stores 0. Returns a
 * pointer to the bytes after the acknowledgement subheader. */
static const guint8 *
read_acknowledgement (DccpPacket * packet, const guint8 * bytes)
{
  packet->acknowledgement = 0;
  if (!dccp_type_has_acknowledgement (packet->type))
    return bytes;
  if (packet->extended) {
    packet->acknowledgement = wire_read (bytes + 2, 6);
    return bytes + LONG_ACKNOWLEDGEMENT;
  }
  packet->acknowledgement = wire_read (bytes + 1, 3);
  return bytes + SHORT_ACKNOWLEDGEMENT;
}

static void
read_subheaders (DccpPacket * packet, const guint8 * bytes)
{
  bytes += packet->extended ? LONG_HEADER : DCCP_MIN_HEADER;
  bytes = read_acknowledgement (packet, bytes);
  packet->service_code = 0;
  packet->reset_code = 0;
  memset (packet->reset_data, 0, sizeof (packet->reset_data));
  if (has_service_code (packet->type))
    packet->service_code = wire_read (bytes, 4);
  else if (packet->type == DCCP_RESET) {
    packet->reset_code = bytes[0];
    memcpy (packet->reset_data, bytes + 1, sizeof (packet->reset_data));
  }
}

static gboolean
is_whole (const DccpPacket * packet, const DatagramPath * path,
    const guint8 * bytes, gsize size)
{
  gsize covered = packet->payload - bytes
      + get_covered (packet->coverage, packet->payload_size);

  return wire_fold_sum (sum_pseudo_header (path, size) + wire_sum (bytes,
          covered))
      == G_MAXUINT16;
}

DccpRefusal
dccp_packet_parse (DccpPacket * packet, const DatagramPath * path,
    const guint8 * bytes, gsize size)
{
  gsize header_size, offset;
  guint type;

  if (size < DCCP_MIN_HEADER)
    return DCCP_REFUSED_SHORT;
  type = bytes[TYPE_X] >> 1 & 0x0f;     /* The reserved bits are ignored. */
  if (type >= DCCP_LAST_TYPE)
    return DCCP_REFUSED_TYPE;
  packet->type = type;
  packet->extended = bytes[TYPE_X] & 1;
  if (!packet->extended && !may_be_short (packet->type))
    return DCCP_REFUSED_SHORT_SEQUENCE;

  header_size = dccp_type_get_header_size (packet->type, packet->extended);
  offset = (gsize) bytes[DATA_OFFSET] * WORD;
  if (size < header_size)
    return DCCP_REFUSED_SHORT;
  if (offset < header_size || offset > size)
    return DCCP_REFUSED_OFFSET;

  packet->source = wire_read (bytes, 2);
  packet->destination = wire_read (bytes + 2, 2);
  packet->ccval = bytes[CCVAL_COVERAGE] >> 4;
  packet->coverage = bytes[CCVAL_COVERAGE] & 0x0f;
  packet->options = bytes + header_size;
  packet->options_size = offset - header_size;
  packet->payload = bytes + offset;
  packet->payload_size = size - offset;
  if (get_covered (packet->coverage, packet->payload_size) >
      packet->payload_size)
    return DCCP_REFUSED_COVERAGE;
  if (!datagram_path_has_ports (path)
      && !is_whole (packet, path, bytes, size))
    return DCCP_REFUSED_CHECKSUM;

  read_sequence (packet, bytes);
  read_subheaders (packet, bytes);
  return DCCP_ACCEPTED;
}

/* --- writing -------------------------------------------------------------- */

static void
write_sequence (const DccpPacket * packet, guint8 * bytes)
{
  if (packet->extended) {
    bytes[SEQUENCE_LONG - 1] = 0;
    wire_write (bytes + SEQUENCE_LONG, 6, packet->sequence);
  } else
    wire_write (bytes + SEQUENCE_SHORT, 3, packet->sequence);
}

static guint8 *
write_acknowledgement (const DccpPacket * packet, guint8 * bytes)
{
  if (!dccp_type_has_acknowledgement (packet->type))
    return bytes;
  if (packet->extended) {
    wire_write (bytes, 2, 0);
    wire_write (bytes + 2, 6, packet->acknowledgement);
    return bytes + LONG_ACKNOWLEDGEMENT;
  }
  bytes[0] = 0;
  wire_write (bytes + 1, 3, packet->acknowledgement);
  return bytes + SHORT_ACKNOWLEDGEMENT;
}

static void
write_subheaders (const DccpPacket * packet, guint8 * bytes)
{
  bytes += packet->extended ? LONG_HEADER : DCCP_MIN_HEADER;
  bytes = write_acknowledgement (packet, bytes);
  if (has_service_code (packet->type))
    wire_write (bytes, 4, packet->service_code);
  else if (packet->type == DCCP_RESET) {
    bytes[0] = packet->reset_code;
    memcpy (bytes + 1, packet->reset_data, sizeof (packet->reset_data));
  }
}

static void
write_options (const DccpPacket * packet, guint8 * bytes, gsize size)
{
  if (packet->options_size > 0)
    memcpy (bytes, packet->options, packet->options_size);
  memset (bytes + packet->options_size, 0, size - packet->options_size);
}

/* Computes the checksum of a packet and writes it into the header, which is in
 * `bytes`. The checksum is a sum of 16-bit words in network byte order. The
 * header and the payload are in different buffers. Each buffer is therefore
 * summed separately, and the two sums are added. This is possible because the
 * size of the header is a multiple of 4 bytes. */
static void
write_checksum (const DccpPacket * packet, const DatagramPath * path,
    guint8 coverage, guint8 * bytes, gsize header_size)
{
  guint64 sum;
  guint16 checksum;

  if (datagram_path_has_ports (path))
    return;
  sum = sum_pseudo_header (path, header_size + packet->payload_size)
      + wire_sum (bytes, header_size)
      + wire_sum (packet->payload,
      get_covered (coverage, packet->payload_size));
  checksum = ~wire_fold_sum (sum);
  memcpy (bytes + CHECKSUM, &checksum, sizeof (checksum));
}

/* Returns the value that is written into the field CsCov of the header. A
 * receiver discards a packet whose CsCov covers more bytes than the packet has.
 * If the coverage of `packet` exceeds its payload, the function therefore
 * returns 0, which means that the checksum covers all bytes. */
static guint8
get_wire_coverage (const DccpPacket * packet)
{
  return get_covered (packet->coverage, packet->payload_size) >
      packet->payload_size ? 0 : packet->coverage;
}

gsize
dccp_packet_write (const DccpPacket * packet, const DatagramPath * path,
    guint8 bytes[DCCP_MAX_HEADER])
{
  const gsize size = dccp_type_get_header_size (packet->type,
      packet->extended);
  const gsize padded = (packet->options_size + WORD - 1) / WORD * WORD;
  const guint8 coverage = get_wire_coverage (packet);

  g_return_val_if_fail (packet->type < DCCP_LAST_TYPE, 0);
  g_return_val_if_fail (packet->extended || may_be_short (packet->type), 0);
  g_return_val_if_fail (packet->ccval <= MAX_CCVAL, 0);
  g_return_val_if_fail (packet->coverage <= MAX_COVERAGE, 0);
  if (packet->options_size > DCCP_MAX_HEADER || size + padded > DCCP_MAX_HEADER)
    return 0;

  wire_write (bytes, 2, packet->source);
  wire_write (bytes + 2, 2, packet->destination);
  bytes[DATA_OFFSET] = (size + padded) / WORD;
  bytes[CCVAL_COVERAGE] = packet->ccval << 4 | coverage;
  wire_write (bytes + CHECKSUM, 2, 0);
  bytes[TYPE_X] = packet->type << 1 | (packet->extended ? 1 : 0);
  write_sequence (packet, bytes);
  write_subheaders (packet, bytes);
  write_options (packet, bytes + size, padded);
  write_checksum (packet, path, coverage, bytes, size + padded);
  return size + padded;
}

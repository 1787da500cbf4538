/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The packets of UDP-Lite; see the header. The checksum goes over every byte
 * that is covered, sent or received, and so reads eight of them at a time.
 */

#include "udplite.h"

#include <string.h>

/* RFC 3828 section 3.1: 16 bits; what is longer is covered whole or not beyond
 * this (section 3.5, jumbograms) */
#define MAX_COVERAGE 0xffff
#define ZERO_AS_SENT 0xffff     /* 0 would be no checksum, section 3.1 */

/* RFC 791 section 3.1 */
#define IPV4_MIN_HEADER 20
#define IPV4_MORE_OR_OFFSET 0x3fff

/* The sum of RFC 1071, of words as they lie in memory (its section 2 B), with
 * the carries not folded in yet */
typedef struct
{
  guint64 sum;
  gboolean odd;                 /* the next byte is the second one of a word */
} Checksum;

static guint16
read_be16 (const guint8 * data)
{
  return data[0] << 8 | data[1];
}

static void
write_be16 (guint8 * data, guint value)
{
  data[0] = value >> 8;
  data[1] = value;
}

const gchar *
udplite_verdict_get_name (UdpliteVerdict verdict)
{
  static const gchar *const names[UDPLITE_LAST] = {
    "valid", "too-short", "coverage-too-small", "coverage-too-large",
    "no-checksum", "below-minimum", "bad-checksum"
  };

  g_return_val_if_fail (verdict < UDPLITE_LAST, NULL);
  return names[verdict];
}

/* Checksum */

static guint16
fold (guint64 sum)
{
  sum = (sum & G_MAXUINT32) + (sum >> 32);
  sum = (sum & G_MAXUINT32) + (sum >> 32);
  sum = (sum & G_MAXUINT16) + (sum >> 16);
  return (sum & G_MAXUINT16) + (sum >> 16);
}

/* Two halves of 32 bits can't carry out of 64 in less than 2^32 words. */
static guint64
sum_bytes (const guint8 * data, gsize size)
{
  guint64 low = 0, high = 0, word;

  for (; size >= sizeof (word); data += sizeof (word), size -= sizeof (word)) {
    memcpy (&word, data, sizeof (word));
    low += word & G_MAXUINT32;
    high += word >> 32;
  }
  if (size > 0) {
    word = 0;
    memcpy (&word, data, size);
    low += word & G_MAXUINT32;
    high += word >> 32;
  }
  return (guint64) fold (low) + fold (high);
}

/* Bytes that begin in the middle of a word count in the other half of it: their
 * sum is that with its bytes swapped (RFC 1071 section 2 B). */
static void
checksum_add (Checksum * self, gconstpointer data, gsize size)
{
  guint16 sum = fold (sum_bytes (data, size));

  self->sum += self->odd ? GUINT16_SWAP_LE_BE (sum) : sum;
  self->odd ^= size & 1;
}

/* RFC 768, RFC 8200 section 8.1. The length is the one that IP knows, not the
 * coverage (RFC 3828 section 3.1); in 32 bits also for IPv4, which adds 0. */
static void
checksum_add_pseudo_header (Checksum * self, const UdpliteAddresses * addresses,
    gsize length)
{
  const gsize address_size = addresses->ipv6 ? 16 : 4;
  const guint32 tail[2] = {
    g_htonl ((guint32) length), g_htonl (UDPLITE_PROTOCOL)
  };

  checksum_add (self, addresses->source, address_size);
  checksum_add (self, addresses->destination, address_size);
  checksum_add (self, tail, sizeof (tail));
}

/* Its bytes lie in memory as they have to be sent. */
static guint16
checksum_get (const Checksum * self)
{
  return ~fold (self->sum);
}

/* Sending */

guint
udplite_get_wire_coverage (guint coverage, gsize size)
{
  if (coverage == 0 || coverage >= size || coverage > MAX_COVERAGE)
    return 0;
  coverage = MAX (coverage, UDPLITE_HEADER_SIZE);
  return coverage < size ? coverage : 0;
}

static gsize
get_payload_size (const DatagramPart * payload, guint n_vectors)
{
  gsize size = 0;
  guint i;

  for (i = 0; i < n_vectors; i++)
    size += payload[i].size;
  return size;
}

static void
checksum_add_payload (Checksum * self, const DatagramPart * payload,
    guint n_vectors, gsize covered)
{
  gsize size;
  guint i;

  for (i = 0; i < n_vectors && covered > 0; i++) {
    size = MIN (payload[i].size, covered);
    checksum_add (self, payload[i].data, size);
    covered -= size;
  }
}

void
udplite_write_header (guint8 * header, const UdpliteAddresses * addresses,
    guint16 source_port, guint16 destination_port, guint coverage,
    const DatagramPart * payload, guint n_vectors)
{
  gsize size = UDPLITE_HEADER_SIZE + get_payload_size (payload, n_vectors);
  Checksum checksum = { 0, };
  guint16 result;

  coverage = udplite_get_wire_coverage (coverage, size);
  write_be16 (header, source_port);
  write_be16 (header + 2, destination_port);
  write_be16 (header + 4, coverage);
  write_be16 (header + 6, 0);

  checksum_add_pseudo_header (&checksum, addresses, size);
  checksum_add (&checksum, header, UDPLITE_HEADER_SIZE);
  checksum_add_payload (&checksum, payload, n_vectors,
      (coverage ? coverage : size) - UDPLITE_HEADER_SIZE);
  result = checksum_get (&checksum);
  if (result == 0)
    result = ZERO_AS_SENT;
  memcpy (header + 6, &result, sizeof (result));
}

/* Receiving */

/* With the checksum sent among them, the words add up to all ones. */
static gboolean
is_whole (const guint8 * packet, gsize size, gsize coverage,
    const UdpliteAddresses * addresses)
{
  Checksum checksum = { 0, };

  checksum_add_pseudo_header (&checksum, addresses, size);
  checksum_add (&checksum, packet, coverage);
  return checksum_get (&checksum) == 0;
}

UdpliteVerdict
udplite_parse (const guint8 * packet, gsize size,
    const UdpliteAddresses * addresses, guint min_coverage,
    UdpliteHeader * header)
{
  gsize coverage;

  if (size < UDPLITE_HEADER_SIZE)
    return UDPLITE_TOO_SHORT;
  coverage = read_be16 (packet + 4);
  if (coverage == 0)
    coverage = size;
  header->source_port = read_be16 (packet);
  header->destination_port = read_be16 (packet + 2);
  header->coverage = coverage;

  if (coverage < UDPLITE_HEADER_SIZE)
    return UDPLITE_COVERAGE_TOO_SMALL;
  if (coverage > size)
    return UDPLITE_COVERAGE_TOO_LARGE;
  if (read_be16 (packet + 6) == 0)
    return UDPLITE_NO_CHECKSUM;
  if (coverage < min_coverage && coverage < size)
    return UDPLITE_BELOW_MINIMUM;
  if (!is_whole (packet, size, coverage, addresses))
    return UDPLITE_BAD_CHECKSUM;
  return UDPLITE_VALID;
}

/* The system has verified the checksum of the IP header. */
gboolean
udplite_parse_ipv4 (const guint8 * packet, gsize size,
    UdpliteAddresses * addresses, gsize * offset, gsize * length)
{
  gsize header_size, total;

  if (size < IPV4_MIN_HEADER || packet[0] >> 4 != 4)
    return FALSE;
  header_size = (packet[0] & 0x0f) * 4;
  total = read_be16 (packet + 2);
  if (header_size < IPV4_MIN_HEADER || total < header_size || total > size)
    return FALSE;
  if ((read_be16 (packet + 6) & IPV4_MORE_OR_OFFSET)
      || packet[9] != UDPLITE_PROTOCOL)
    return FALSE;

  memset (addresses, 0, sizeof (*addresses));
  memcpy (addresses->source, packet + 12, 4);
  memcpy (addresses->destination, packet + 16, 4);
  *offset = header_size;
  *length = total - header_size;
  return TRUE;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of udplite.h: UDP-Lite packets. */

#include "udplite.h"

#include <string.h>

#include "wire.h"

/* Maximum value of the 16-bit coverage field (RFC 3828 section 3.1). If a
 * packet is longer than this value, the checksum covers either the whole packet
 * or at most this number of bytes (section 3.5, jumbograms). */
#define MAX_COVERAGE 0xffff
/* Value that is sent as the checksum if the computed checksum is 0, because the
 * checksum field must not be 0 on the wire (RFC 3828 section 3.1). */
#define ZERO_AS_SENT 0xffff

/* RFC 791 section 3.1 */
#define IPV4_MIN_HEADER 20
#define IPV4_MORE_OR_OFFSET 0x3fff

/* A checksum that is being computed as in RFC 1071. `sum` contains carries that
 * are not folded into 16 bits yet. The 16-bit words are added in the byte order
 * of the machine (RFC 1071 section 2 B). */
typedef struct
{
  guint64 sum;
  /* TRUE if an odd number of bytes was added, so that the next byte is the
   * second byte of a 16-bit word */
  gboolean odd;
} Checksum;

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

/* Adds bytes to the checksum. The checksum is a sum of 16-bit words. The
 * function first computes the sum of the added bytes alone. If these bytes
 * begin in the middle of a 16-bit word, the two bytes of this sum must be
 * swapped before the sum is added to the checksum (RFC 1071 section 2 B). */
static void
checksum_add (Checksum * self, gconstpointer data, gsize size)
{
  guint16 sum = wire_fold_sum (wire_sum (data, size));

  self->sum += self->odd ? GUINT16_SWAP_LE_BE (sum) : sum;
  self->odd ^= size & 1;
}

/* Adds the pseudo-header of RFC 768 (IPv4) or RFC 8200 section 8.1 (IPv6). Its
 * length field contains the size of the IP payload, not the coverage (RFC 3828
 * section 3.1). The length field has 16 bits for IPv4 and 32 bits for IPv6.
 * Here, 32 bits are always added. For IPv4, the additional bits are 0 and do
 * not change the sum. */
static void
checksum_add_pseudo_header (Checksum * self, const UdpliteAddresses * addresses,
    gsize length)
{
  const guint n_words = addresses->ipv6 ? 4 : 1;
  guint32 word;
  guint i;

  for (i = 0; i < n_words; i++) {
    memcpy (&word, addresses->source + i * sizeof (word), sizeof (word));
    self->sum += word;
    memcpy (&word, addresses->destination + i * sizeof (word), sizeof (word));
    self->sum += word;
  }
  self->sum += g_htonl ((guint32) length);
  self->sum += g_htonl (UDPLITE_PROTOCOL);
}

/* Adds the UDP-Lite header to the checksum, as two words of 32 bits. The
 * carries are not lost, because the sum has 64 bits. */
static void
checksum_add_header (Checksum * self, const guint8 * header)
{
  guint32 words[UDPLITE_HEADER_SIZE / sizeof (guint32)];

  memcpy (words, header, sizeof (words));
  self->sum += (guint64) words[0] + words[1];
}

/* Returns the checksum in the byte order in which it is sent. */
static guint16
checksum_get (const Checksum * self)
{
  return ~wire_fold_sum (self->sum);
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
  wire_write (header, 2, source_port);
  wire_write (header + 2, 2, destination_port);
  wire_write (header + 4, 2, coverage);
  wire_write (header + 6, 2, 0);

  checksum_add_pseudo_header (&checksum, addresses, size);
  checksum_add_header (&checksum, header);
  checksum_add_payload (&checksum, payload, n_vectors,
      (coverage ? coverage : size) - UDPLITE_HEADER_SIZE);
  result = checksum_get (&checksum);
  if (result == 0)
    result = ZERO_AS_SENT;
  memcpy (header + 6, &result, sizeof (result));
}

/* Receiving */

/* Returns whether the bytes that the checksum covers have arrived undamaged.
 * These bytes include the checksum itself. If they are undamaged, all 16 bits
 * of the ones' complement sum of the pseudo-header and these bytes are set. */
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
  coverage = wire_read (packet + 4, 2);
  if (coverage == 0)
    coverage = size;
  header->source_port = wire_read (packet, 2);
  header->destination_port = wire_read (packet + 2, 2);
  header->coverage = coverage;

  if (coverage < UDPLITE_HEADER_SIZE)
    return UDPLITE_COVERAGE_TOO_SMALL;
  if (coverage > size)
    return UDPLITE_COVERAGE_TOO_LARGE;
  if (wire_read (packet + 6, 2) == 0)
    return UDPLITE_NO_CHECKSUM;
  if (coverage < min_coverage && coverage < size)
    return UDPLITE_BELOW_MINIMUM;
  if (!is_whole (packet, size, coverage, addresses))
    return UDPLITE_BAD_CHECKSUM;
  return UDPLITE_VALID;
}

/* The checksum of the IP header is not checked here, because the kernel has
 * already verified it. */
gboolean
udplite_parse_ipv4 (const guint8 * packet, gsize size,
    UdpliteAddresses * addresses, gsize * offset, gsize * length)
{
  gsize header_size, total;

  if (size < IPV4_MIN_HEADER || packet[0] >> 4 != 4)
    return FALSE;
  header_size = (packet[0] & 0x0f) * 4;
  total = wire_read (packet + 2, 2);
  if (header_size < IPV4_MIN_HEADER || total < header_size || total > size)
    return FALSE;
  if ((wire_read (packet + 6, 2) & IPV4_MORE_OR_OFFSET)
      || packet[9] != UDPLITE_PROTOCOL)
    return FALSE;

  memset (addresses, 0, sizeof (*addresses));
  memcpy (addresses->source, packet + 12, 4);
  memcpy (addresses->destination, packet + 16, 4);
  *offset = header_size;
  *length = total - header_size;
  return TRUE;
}

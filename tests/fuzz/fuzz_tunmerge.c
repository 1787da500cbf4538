/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzzes the merging of several UDP packets into one large packet, which the
 * kernel divides again. Whatever bytes a packet contains, the code must either
 * refuse it or merge it, and must not access memory outside the packet. A
 * merged packet must have correct checksums. The packets that the kernel makes
 * from it must have the headers of the original packets.
 *
 * Input: packets, one after the other. The first byte of each packet is its
 * kind.
 *
 * Kind 0 is an arbitrary packet. Its size (two bytes) and its bytes follow.
 *
 * Any other kind is a UDP packet with correct checksums. These fields follow
 * (see IpPacket):
 * - a byte of flags; each flag selects one of two values for a header field
 * - the size of the payload
 * - the byte that fills the payload
 * - the identification
 * - 1 plus the index of the bit that is inverted (0 = none)
 */

#include "fuzz.h"
#include "ippackets.h"
#include "tunmerge.h"

#define DF 0x4000
#define MAX_PAYLOAD 65000

typedef struct
{
  guint8 *data;
  gsize size;
} Packet;

static Packet
take_any (FuzzInput * input)
{
  Packet packet = { NULL, fuzz_take_u16 (input) };

  packet.size = MIN (packet.size, input->size);
  packet.data = fuzz_take_copy (input, packet.size);
  return packet;
}

static Packet
take_udp (FuzzInput * input)
{
  guint different = fuzz_take_u8 (input);
  IpPacket fields = { different & 1 ? 6 : 4, different & 2, different & 4,
    0, different & 8 ? DF : 0, different & 16, different & 32, 0, 0
  };
  Packet packet;
  gsize bit;

  fields.payload = fuzz_take_u16 (input) % MAX_PAYLOAD;
  fields.fill = fuzz_take_u8 (input);
  fields.id = fuzz_take_u16 (input);
  bit = fuzz_take_u32 (input);
  packet.size = ip_packet_size (&fields);
  packet.data = g_malloc (packet.size);
  ip_packet_write (&fields, packet.data);
  if (bit)
    packet.data[(bit - 1) / 8 % packet.size] ^= 1 << (bit - 1) % 8;
  return packet;
}

static guint
read16 (const guint8 * data)
{
  return data[0] << 8 | data[1];
}

/* Called after `packet` was added to the merged packet. Checks that this was
 * correct: the checksums of `packet` must be correct, and its header must match
 * the header of the first packet. `n` is the number of packets that were added
 * before. */
static void
check_accepted (const TunMerge * merge, guint n, const Packet * packet)
{
  const guint8 *data = packet->data, *first = merge->header;
  gsize ip_size = merge->header_size - 8;

  fuzz_check (packet->size > merge->header_size);
  fuzz_check (ip_size == 20 || ip_size == 40);
  fuzz_check (read16 (data + ip_size + 4) == packet->size - ip_size);
  fuzz_check (ip_packet_sum (data + ip_size, packet->size - ip_size,
          ip_packet_sum_pseudo_header (data)) == 0xffff);
  fuzz_check (memcmp (data + ip_size, first + ip_size, 4) == 0);
  if (ip_size == 20) {
    fuzz_check (ip_packet_sum (data, 20, 0) == 0xffff);
    fuzz_check (memcmp (data, first, 2) == 0);
    fuzz_check (memcmp (data + 6, first + 6, 4) == 0);
    fuzz_check (memcmp (data + 12, first + 12, 8) == 0);
    fuzz_check (read16 (data + 6) == DF
        || read16 (data + 4) == (guint16) (read16 (first + 4) + n));
  } else {
    fuzz_check (memcmp (data, first, 4) == 0);
    fuzz_check (memcmp (data + 6, first + 6, 34) == 0);
  }
}

static void
check_header (const TunMerge * merge)
{
  guint8 *header = g_malloc (merge->header_size);
  gsize ip_size = merge->header_size - 8;

  tun_merge_write_header (merge, header);
  fuzz_check (read16 (header + ip_size + 4) == 8 + merge->payload_size);
  if (ip_size == 20) {
    fuzz_check (read16 (header + 2) ==
        merge->header_size + merge->payload_size);
    fuzz_check (ip_packet_sum (header, 20, 0) == 0xffff);
  } else {
    fuzz_check (read16 (header + 4) == 8 + merge->payload_size);
  }
  g_free (header);
}

/* Tries to add `packet` to the merged packet, and returns whether it was added.
 * `payload` points to the total payload size of the packets that were added
 * before. The function updates it. */
static gboolean
merge_packet (TunMerge * merge, const Packet * packet, gsize * payload)
{
  guint n = merge->n;
  gsize size;

  if (n == 0 ? !tun_merge_begin (merge, packet->data, packet->size) :
      !tun_merge_add (merge, packet->data, packet->size)) {
    fuzz_check (merge->n == n);
    return FALSE;
  }
  size = packet->size - merge->header_size;
  fuzz_check (merge->n == n + 1 && merge->n <= TUN_MERGE_MAX_PACKETS);
  fuzz_check (*payload == n * merge->segment_size);
  fuzz_check (size <= merge->segment_size);
  *payload += size;
  fuzz_check (merge->payload_size == *payload);
  check_accepted (merge, n, packet);
  check_header (merge);
  return TRUE;
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  FuzzInput input = { data, size };
  TunMerge merge = { 0, };
  gsize payload = 0;

  while (input.size > 0) {
    Packet packet = fuzz_take_u8 (&input) == 0 ? take_any (&input) :
        take_udp (&input);

    if (!merge_packet (&merge, &packet, &payload)) {
      merge.n = 0;
      payload = 0;
    }
    g_free (packet.data);
  }
  return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds IP packets with UDP. */

#include "ippackets.h"

#include <string.h>

#define PROTOCOL_UDP 17
#define UDP_SIZE 8

static void
write16 (guint8 * data, guint value)
{
  data[0] = value >> 8;
  data[1] = value;
}

guint16
ip_packet_sum (const guint8 * data, gsize size, guint32 sum)
{
  gsize i;

  for (i = 0; i < size; i++)
    sum += i % 2 ? data[i] : data[i] << 8;
  while (sum >> 16)
    sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

static gsize
get_ip_size (guint version)
{
  return version == 4 ? 20 : 40;
}

guint16
ip_packet_sum_pseudo_header (const guint8 * packet)
{
  gsize ip_size = get_ip_size (packet[0] >> 4);
  const guint8 *addresses = packet + (ip_size == 20 ? 12 : 8);
  const guint8 *length = packet + ip_size + 4;

  return ip_packet_sum (addresses, packet + ip_size - addresses,
      PROTOCOL_UDP + (length[0] << 8 | length[1]));
}

gsize
ip_packet_header_size (const IpPacket * packet)
{
  return get_ip_size (packet->version) + UDP_SIZE;
}

gsize
ip_packet_size (const IpPacket * packet)
{
  return ip_packet_header_size (packet) + packet->payload;
}

static void
write_ip4 (const IpPacket * packet, guint8 * data)
{
  static const guint8 addresses[] = { 10, 9, 0, 1, 10, 9, 0, 2 };

  data[0] = 0x45;
  data[1] = packet->traffic_class;
  write16 (data + 2, ip_packet_size (packet));
  write16 (data + 4, packet->id);
  write16 (data + 6, packet->fragment);
  data[8] = packet->ttl;
  data[9] = PROTOCOL_UDP;
  memcpy (data + 12, addresses, sizeof (addresses));
  write16 (data + 10, (guint16) ~ ip_packet_sum (data, 20, 0));
}

static void
write_ip6 (const IpPacket * packet, guint8 * data)
{
  data[0] = 0x60 | packet->traffic_class >> 4;
  data[1] = packet->traffic_class << 4;
  write16 (data + 4, UDP_SIZE + packet->payload);
  data[6] = PROTOCOL_UDP;
  data[7] = packet->ttl;
  data[8] = data[24] = 0xfd;
  data[23] = 1;
  data[39] = 2;
}

void
ip_packet_write (const IpPacket * packet, guint8 * data)
{
  gsize size = ip_packet_size (packet);
  guint8 *udp = data + get_ip_size (packet->version);

  memset (data, 0, size - packet->payload);
  memset (udp + UDP_SIZE, packet->fill, packet->payload);
  if (packet->version == 4)
    write_ip4 (packet, data);
  else
    write_ip6 (packet, data);
  write16 (udp, packet->source_port);
  write16 (udp + 2, packet->port);
  write16 (udp + 4, UDP_SIZE + packet->payload);
  write16 (udp + 6, (guint16) ~ ip_packet_sum (udp, UDP_SIZE + packet->payload,
          ip_packet_sum_pseudo_header (data)));
}

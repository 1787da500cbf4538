/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtpsendpacket.h. */

#include "mmtpsendpacket.h"

/* Bytes per packet besides the payload: MMTP (docs/wire-mmtp.md), IPv4 and UDP
 * headers. */
#define PACKET_WORK (MMTP_DATA_OVERHEAD + 28)

gint
mmtp_send_packet_compare (const MmtpPacket * first, const MmtpPacket * second)
{
  if (first->due != second->due)
    return first->due < second->due ? -1 : 1;
  if (first->number != second->number)
    return first->number < second->number ? -1 : 1;
  return 0;
}

guint64
mmtp_send_packet_get_work (gsize size)
{
  return size + PACKET_WORK;
}

gsize
mmtp_send_packet_get_message_size (const MmtpPacket * packet)
{
  const MmtpUnit *unit = packet->unit;
  gsize size = packet->size + MMTP_DATA_OVERHEAD;

  if (unit->prelude.mask && packet->number == unit->first)
    size += mmtp_prelude_get_size (&unit->prelude);
  return size;
}

guint64
mmtp_send_unit_get_work (const MmtpUnit * unit)
{
  return unit->size + unit->n_packets * (guint64) PACKET_WORK;
}

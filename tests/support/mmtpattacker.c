/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "mmtpattacker.h"

guint32
attacker_draw (gpointer state)
{
  guint32 *x = state;

  *x ^= *x << 13;
  *x ^= *x >> 17;
  *x ^= *x << 5;
  return *x;
}

MmtpAddress
attacker_make_unknown_host (guint32 number)
{
  MmtpAddress address =
      { 6, {198, 51, number >> 16, number >> 8, 0, number}, 4, 3 };

  return address;
}

MmtpAddress
attacker_make_shared_address (void)
{
  MmtpAddress address;

  mmtp_network_get_address (0, &address);
  address.bytes[4] = 0xff;
  return address;
}

gboolean
attacker_is_unknown_host (const MmtpAddress * address)
{
  return address->bytes[0] == 198 || address->bytes[4] == 0xff;
}

void
attacker_record (Recorded * recorded, MmtpNetwork * network, MmtpRole from,
    const MmtpAddress * address, const guint8 * bytes, gsize size)
{
  g_assert (size <= sizeof (recorded->bytes));
  recorded->time = network->now;
  recorded->from = from;
  recorded->address = *address;
  recorded->size = size;
  memcpy (recorded->bytes, bytes, size);
}

void
attacker_spoil (guint32 * state, guint8 * bytes, gsize * size)
{
  guint bit = attacker_draw (state) % (*size * 8);

  if (attacker_draw (state) & 1)
    bytes[bit / 8] ^= 1 << bit % 8;
  else
    *size = attacker_draw (state) % *size;
}

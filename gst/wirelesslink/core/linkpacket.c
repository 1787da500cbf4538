/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of linkpacket.h. Defines the name of each fate of a packet,
 * such as "delivered", and inverts the damaged bits of a packet. */

#include "linkpacket.h"

static const gchar *const fate_names[LINK_FATE_LAST] = {
  "delivered", "damaged", "queue", "air", "check", "reset", "call", "receiver",
  "too-big", "frame"
};

const gchar *
link_fate_get_name (LinkFate fate)
{
  return fate_names[fate];
}

void
link_packet_apply_damage (const LinkPacket * packet, guint8 * data, gsize size)
{
  guint i;

  for (i = 0; i < packet->n_damage; i++) {
    if (packet->damage[i].offset < size)
      data[packet->damage[i].offset] ^= packet->damage[i].flip;
  }
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds forged DCCP packets. */

#include "dccppacketbuilder.h"

#include "dccpendpoint.h"

guint64
dccp_builder_draw (guint32 * state)
{
  guint64 number = 0;
  guint i;

  for (i = 0; i < 2; i++) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    number = number << 32 | *state;
  }
  return number & DCCP_SEQUENCE_MASK;
}

DccpPacket
dccp_build_packet (guint32 * state)
{
  static const guint8 payload[64];
  DccpPacket packet = {
    .type = dccp_builder_draw (state) % DCCP_LAST_TYPE,
    .extended = TRUE,
    .sequence = dccp_builder_draw (state),
    .acknowledgement = dccp_builder_draw (state),
    .reset_code = dccp_builder_draw (state) % 13,
    .service_code = DCCP_SERVICE_RTPV,
    .ccval = dccp_builder_draw (state) % 16,
    /* Three DCCP options in their wire format: Slow Receiver, Receive Rate and
     * Loss Event Rate. */
    .options = (const guint8 *) "\2\302\6\0\0\0\1\300\6\0\0\0\2",
    .options_size = dccp_builder_draw (state) % 2 ? 13 : 0,
    .payload = payload,
    .payload_size = dccp_builder_draw (state) % 2 ? sizeof (payload) : 0,
  };

  return packet;
}

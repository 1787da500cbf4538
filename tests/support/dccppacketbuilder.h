/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Forged DCCP packets for tests of attacks. The attacker of these tests does
 * not see the packets of a connection. The numbers in its packets are therefore
 * random.
 */

#ifndef __DCCPPACKETBUILDER_H__
#define __DCCPPACKETBUILDER_H__

#include "dccppacket.h"

G_BEGIN_DECLS

/* Returns a random number of 48 bits. `state` is the state of the random number
 * generator. It must not be 0, and each call changes it. */
guint64 dccp_builder_draw (guint32 * state);
/* Returns a packet of a random type with random sequence numbers in the long
 * form (48 bits). It is also random whether the packet has options and whether
 * it has a payload. */
DccpPacket dccp_build_packet (guint32 * state);

G_END_DECLS

#endif /* __DCCPPACKETBUILDER_H__ */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Forged packets of DCCP for tests of attacks: numbers are drawn, as an attacker
 * does who doesn't see the packets of a connection.
 */

#ifndef __DCCPPACKETBUILDER_H__
#define __DCCPPACKETBUILDER_H__

#include "dccppacket.h"

G_BEGIN_DECLS

/* 48 bits; `state` is not 0 and is the next one after the call. */
guint64 dccp_builder_draw (guint32 * state);
/* Of any type, with long numbers, with options and payload or without */
DccpPacket dccp_build_packet (guint32 * state);

G_END_DECLS

#endif /* __DCCPPACKETBUILDER_H__ */

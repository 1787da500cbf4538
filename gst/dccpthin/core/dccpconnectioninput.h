/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Processes the packets that arrive on a DCCP connection.
 */

#pragma once

#include "dccpconnection.h"

/* Processes a received packet by the steps 4 to 16 of RFC 4340 section 8.5.
 * `size` is the size of the packet in bytes. If the packet has data for the
 * application, describes the data in `data` and returns TRUE. */
gboolean dccp_connection_input (DccpConnection * connection, guint64 now,
    const DccpPacket * packet, gsize size, DccpData * data);

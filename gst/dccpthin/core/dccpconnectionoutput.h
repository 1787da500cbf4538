/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes the packets that a DCCP connection sends: control packets, which have
 * no data, and data packets.
 */

#pragma once

#include "dccpconnection.h"

/* Writes the next control packet that must be sent to `bytes`. Returns its size
 * in bytes, or 0 if no control packet has to be sent. */
gsize dccp_connection_poll_output (DccpConnection * connection, guint64 now,
    guint8 bytes[DCCP_MAX_CONTROL]);
/* Requests a Sync, which answers a received packet of `size` bytes. The Sync
 * must not be longer than this packet. `number` is the acknowledgement number
 * of the Sync. If the maximum number of Syncs per second is exceeded, no Sync
 * is sent (RFC 4340 section 7.5.4). */
void dccp_connection_request_sync (DccpConnection * connection,
    guint64 number, gsize size);

/* Returns the time in ns from which a data packet may be sent, or DCCP_NEVER.
 */
guint64 dccp_connection_next_send (DccpConnection * connection, guint64 now);
/* Returns the maximum payload size of a DataAck in bytes. This is `mtu` minus
 * the size of the headers and the maximum size of the options. */
guint dccp_connection_get_max_payload (const DatagramPath * path, guint mtu);
/* Writes the header of a data packet with `size` bytes of payload. Returns the
 * size of the header in bytes, or 0 if the payload is too long or must not be
 * sent now. `more` is TRUE if another packet waits to be sent. */
gsize dccp_connection_send (DccpConnection * connection, guint64 now,
    const guint8 * payload, gsize size, gboolean more,
    guint8 header[DCCP_MAX_HEADER]);

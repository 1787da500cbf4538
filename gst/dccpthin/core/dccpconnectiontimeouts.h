/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Performs the actions of the timers of a DCCP connection: repeats packets that
 * the peer has not answered, sends Syncs while the connection is idle, and ends
 * the connection if the peer does not answer in time.
 */

#pragma once

#include "dccpconnection.h"

/* Returns the time in ns at which dccp_connection_timeout () must be called
 * next, or DCCP_NEVER. */
guint64 dccp_connection_next_wakeup (DccpConnection * connection);
/* Performs the actions of all timers that have expired at the time `now`. */
void dccp_connection_timeout (DccpConnection * connection, guint64 now);

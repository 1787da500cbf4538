/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of dccpconnection.c that only the other files of a DCCP connection
 * call. These files are dccpconnectionoptions.c, dccpconnectionoutput.c,
 * dccpconnectioninput.c and dccpconnectiontimeouts.c. They share DccpConnection
 * (dccpconnection.h), because each of them needs most parts of a connection.
 */

#pragma once

#include "dccpconnection.h"

/* Enters the state `state`, and logs the change. */
void dccp_connection_set_state (DccpConnection * connection, DccpState state);
/* Returns the round-trip time in ns. If it was not measured yet, returns
 * DCCP_DEFAULT_ROUND_TRIP. */
guint64 dccp_connection_get_round_trip (DccpConnection * connection);

/* Reports an event to the application. The path of the event is set here. */
void dccp_connection_tell_event (DccpConnection * connection,
    const DccpEvent * event);
/* Reports the allowed rate to the application, if it has changed by at least 10
 * % since it was last reported. */
void dccp_connection_tell_rate (DccpConnection * connection);
/* Reports the event CONNECTED to the application, but only if the connection is
 * open and the negotiation of its features is complete. */
void dccp_connection_tell_connected (DccpConnection * connection);

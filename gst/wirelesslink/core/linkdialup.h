/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State machine of a telephone call. It does not process packets: the caller
 * reports whether a packet waits and whether any packet is in the link. The
 * state machine reports each state that it enters. Private to the link's core.
 *
 * The caller has to do the following:
 * - When a packet waits, call link_dial_up_want ().
 * - When the first packet enters the link, and when the last packet has left
 *   it, call link_dial_up_set_used ().
 * - To break the phone call, call link_dial_up_break ().
 * - At the time that link_dial_up_next_wakeup () returns, call
 *   link_dial_up_timeout ().
 * - After each of these calls, repeat link_dial_up_poll_change () until it
 *   returns FALSE.
 */

#pragma once

#include "linkconfig.h"
#include "linkreport.h"

typedef struct _LinkDialUp LinkDialUp;

LinkDialUp *link_dial_up_new (const LinkDialUpConfig * config, guint64 seed);
void link_dial_up_free (LinkDialUp * dial_up);

/* Called when a packet waits. Starts a phone call if there is none yet. */
void link_dial_up_want (LinkDialUp * dial_up, guint64 now);
/* Sets whether packets are in the link. The caller passes TRUE when the first
 * packet enters the link, and FALSE when the last packet has left it. */
void link_dial_up_set_used (LinkDialUp * dial_up, guint64 now, gboolean used);
/* Breaks the phone call if it is connected. */
void link_dial_up_break (LinkDialUp * dial_up, guint64 now);
void link_dial_up_timeout (LinkDialUp * dial_up, guint64 now);
guint64 link_dial_up_next_wakeup (const LinkDialUp * dial_up);

/* Writes the current state of the phone call to `state`. Returns TRUE if the
 * state has changed since the previous call of this function. */
gboolean link_dial_up_poll_change (LinkDialUp * dial_up, LinkCall * state);
LinkCall link_dial_up_get_state (const LinkDialUp * dial_up);
/* Writes the numbers of started, failed and broken phone calls to `stats`. Also
 * writes how long the set-up of the last connected call took. */
void link_dial_up_get_stats (const LinkDialUp * dial_up, LinkStats * stats);

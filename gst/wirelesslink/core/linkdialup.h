/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A call, as a state machine that knows nothing of packets: it is told when one
 * waits and whether any is under way, and it tells each state that it enters.
 * Private to the link's core.
 *
 *   link_dial_up_want (), _set_used (), _break (), or _timeout () at the time
 *   that link_dial_up_next_wakeup () told; after each of them
 *   while (link_dial_up_poll_change (dial_up, &state)) ...
 */

#pragma once

#include "linkconfig.h"
#include "linkreport.h"

typedef struct _LinkDialUp LinkDialUp;

LinkDialUp *link_dial_up_new (const LinkDialUpConfig * config, guint64 seed);
void link_dial_up_free (LinkDialUp * dial_up);

/* A packet waits: dials unless it does already. */
void link_dial_up_want (LinkDialUp * dial_up, guint64 now);
/* The first packet came into the link, or the last one left it. */
void link_dial_up_set_used (LinkDialUp * dial_up, guint64 now, gboolean used);
/* The call, if there is one, breaks. */
void link_dial_up_break (LinkDialUp * dial_up, guint64 now);
void link_dial_up_timeout (LinkDialUp * dial_up, guint64 now);
guint64 link_dial_up_next_wakeup (const LinkDialUp * dial_up);

/* The state that was entered, once; FALSE: none since */
gboolean link_dial_up_poll_change (LinkDialUp * dial_up, LinkCall * state);
LinkCall link_dial_up_get_state (const LinkDialUp * dial_up);
/* Sets the counters of calls. */
void link_dial_up_get_stats (const LinkDialUp * dial_up, LinkStats * stats);

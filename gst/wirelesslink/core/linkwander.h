/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A cellular link with a varying rate: the stochastic model of Winstein,
 * Sivaraman and Balakrishnan, "Stochastic Forecasts Achieve High Throughput and
 * Low Delay over Cellular Networks" (NSDI 2013), section 3.1.
 *
 * Opportunities to send 1500 bytes are a Poisson process, whose rate follows a
 * Brownian motion. During an outage there are no opportunities. The channel
 * depends only on the seed, the station and the time, not on the packets that
 * are sent. */

#pragma once

#include "linkonoff.h"

#define LINK_WANDER_BYTES 1500

typedef struct _LinkWander LinkWander;

/* Creates the cellular link of one station and one direction. `config` must
 * have passed link_config_check (). `direction` is the index into mean_rate.
 * Each station has a rate of its own. An outage affects the whole mobile host,
 * so all stations with the same seed have the same outages. */
LinkWander *link_wander_new (const LinkCellularConfig * config,
    guint direction, guint64 seed, guint32 station);
void link_wander_free (LinkWander * wander);

/* Skips all opportunities to send that are earlier than `time`. Must be called
 * once before link_wander_get_time () and link_wander_step (). */
void link_wander_skip_to (LinkWander * wander, guint64 time);
/* Returns the time of the next opportunity to send, in ns. It is a multiple of
 * 1 ms. */
guint64 link_wander_get_time (const LinkWander * wander);
/* Marks the current opportunity to send as used, and moves to the next
 * opportunity. */
void link_wander_step (LinkWander * wander);

/* Returns a copy of the random process that begins and ends the outages. The
 * copy belongs to `wander`. The caller may query the copy for any time, because
 * the queries do not affect the link. */
LinkOnOff *link_wander_get_outages (LinkWander * wander);

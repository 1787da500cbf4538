/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A cellular link whose rate wanders: the stochastic model of Winstein,
 * Sivaraman and Balakrishnan, "Stochastic Forecasts Achieve High Throughput and
 * Low Delay over Cellular Networks" (NSDI 2013), section 3.1.
 *
 * Opportunities to send 1500 bytes are a Poisson process, the rate of which
 * follows a Brownian motion; outages interrupt it. The channel is a function of
 * seed, station and time: it does not depend on what is sent over it.
 */

#pragma once

#include "linkonoff.h"

#define LINK_WANDER_BYTES 1500

typedef struct _LinkWander LinkWander;

/* The config must have passed link_config_check (). The direction is the index
 * into mean_rate. The outages are those of the mobile, so all stations of one
 * seed have the same; each station has a rate of its own. */
LinkWander *link_wander_new (const LinkCellularConfig * config,
    guint direction, guint64 seed, guint32 station);
void link_wander_free (LinkWander * wander);

/* Passes over the opportunities before this time. The two others must not be
 * called before the first call of this one. */
void link_wander_skip_to (LinkWander * wander, guint64 time);
/* The next opportunity, in ns: a whole number of ms */
guint64 link_wander_get_time (const LinkWander * wander);
/* Uses it up. */
void link_wander_step (LinkWander * wander);

/* The course of the outages, which has its own cursor */
LinkOnOff *link_wander_get_outages (LinkWander * wander);

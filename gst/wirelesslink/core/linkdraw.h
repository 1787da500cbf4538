/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers of the purposes for which the simulated link draws random numbers,
 * such as a backoff or a packet loss. A random number depends only on the seed,
 * on the number of its purpose, and on further numbers such as the index of a
 * packet (seededdraw.h). Private to the core. */

#pragma once

#include <glib.h>

/* Purposes of the random draws. The result of a draw depends on the number of
 * its purpose. These numbers therefore never change, and the number of a
 * removed purpose is never used again. */
typedef enum
{
  LINK_DRAW_BACKOFF = 1,
  LINK_DRAW_FAILURE = 2,
  LINK_DRAW_OVEN_PHASE = 3,
  LINK_DRAW_FADING = 4,
  LINK_DRAW_LOSS = 5,
  LINK_DRAW_BIT_ERROR = 6,
  LINK_DRAW_JITTER = 7,
  LINK_DRAW_DUPLICATE = 8,
  LINK_DRAW_REORDER = 9,
  LINK_DRAW_OUTAGE = 10,
  LINK_DRAW_STALL = 11,
  LINK_DRAW_BLOCK = 12,
  LINK_DRAW_CORRUPT = 13,
  LINK_DRAW_DIAL = 14,
  LINK_DRAW_BREAK = 15,
  LINK_DRAW_CELLULAR_OUTAGE = 16,
  LINK_DRAW_CELLULAR_RATE = 17,
  LINK_DRAW_CELLULAR_DELIVERY = 18
} LinkDraw;

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A link whose capacity is a row of opportunities to send 1500 bytes. They were
 * recorded, in mahimahi's format (Netravali et al. 2015): a line for each
 * opportunity, its time in ms, not falling; after the last one it begins again.
 * What is behind a # is a comment. Or a model of a cellular link yields them.
 */

#pragma once

#include "linkonoff.h"
#include "linkwander.h"

#define LINK_DELIVERY_BYTES 1500

typedef struct _LinkDelivery LinkDelivery;

LinkDelivery *link_delivery_parse (const gchar * text, GError ** error);
/* Takes the wander. */
LinkDelivery *link_delivery_new_wander (LinkWander * wander);
void link_delivery_free (LinkDelivery * delivery);
/* Sends so many bytes from this time on, which never falls from call to call;
 * returns when the last one is sent. What is left of an opportunity goes to
 * the next packet if that one waits by then, else it is wasted, as are those
 * while `outage` is bad, which must not be so for ever. */
guint64 link_delivery_send (LinkDelivery * delivery, LinkOnOff * outage,
    guint64 time, guint64 bytes);

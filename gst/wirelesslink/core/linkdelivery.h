/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A link whose capacity is a series of opportunities. An opportunity is a time
 * at which up to 1500 bytes can be sent. The opportunities come from a recorded
 * trace or from a model of a cellular link.
 *
 * A trace is in mahimahi's format (Netravali et al. 2015): each line is the
 * time of an opportunity in ms, and the times never decrease. After the last
 * line the trace begins again. Text after a # is a comment.
 */

#pragma once

#include "linkonoff.h"
#include "linkwander.h"

#define LINK_DELIVERY_BYTES 1500

typedef struct _LinkDelivery LinkDelivery;

LinkDelivery *link_delivery_parse (const gchar * text, GError ** error);
/* Takes ownership of `wander`. */
LinkDelivery *link_delivery_new_wander (LinkWander * wander);
void link_delivery_free (LinkDelivery * delivery);
/* Sends a packet of `bytes` bytes, which is ready at `time`. Returns the time
 * at which its last byte is sent. `time` must not be earlier than in the
 * previous call.
 *
 * The link sends only at certain times, the opportunities. It sends at most
 * LINK_DELIVERY_BYTES bytes at each opportunity. If a packet does not use all
 * these bytes and the next packet is already waiting, the next packet uses the
 * rest.
 *
 * `outage` is a process with a good and a bad state. During the bad state, the
 * link sends nothing. The bad state must not last forever, because this
 * function would then never return.
 */
guint64 link_delivery_send (LinkDelivery * delivery, LinkOnOff * outage,
    guint64 time, guint64 bytes);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Packets that came and that we threw away, until the other end knows by Data
 * Dropped (RFC 4340 section 11.7).
 */

#pragma once

#include "dccpoptions.h"

#define DCCP_MAX_DROPPED 256    /* that wait; the oldest go */

typedef struct
{
  guint64 sequence;
  guint8 code;
  guint8 reports;               /* that are yet to have it */
} DccpDrop;

typedef struct
{
  DccpDrop drops[DCCP_MAX_DROPPED];     /* the latest sequence number first */
  guint n;
} DccpDropped;

/* FALSE: it is there, or too many are. */
gboolean dccp_dropped_add (DccpDropped * dropped, guint64 sequence,
    DccpDropCode code);
/* Runs from the acknowledgement downwards, as many as fit */
void dccp_dropped_write (DccpDropped * dropped, guint64 acknowledgement,
    DccpOptionWriter * writer);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a link reports: events and statistics. The caller of the link and the parts
 * of the link share these types.
 */

#pragma once

#include "linkpacket.h"

#define LINK_MAX_ATTEMPTS 16

typedef enum
{
  LINK_EVENT_FATE,              /* a packet came to its end */
  LINK_EVENT_QUALITY,           /* the channel of a station changed */
  LINK_EVENT_CALL               /* the state of a call changed */
} LinkEventType;

typedef enum
{
  LINK_CALL_NONE,               /* always connected */
  LINK_CALL_IDLE,
  LINK_CALL_DIALLING,
  LINK_CALL_CONNECTED
} LinkCall;

const gchar *link_call_get_name (LinkCall call);

typedef struct
{
  LinkEventType type;
  guint64 time;                 /* ns */
  guint station;
  LinkPacket packet;            /* of a fate; the caller owns its user again
                                 * unless it was delivered */
  gdouble quality;
  LinkCall call;
} LinkEvent;

/* Counters never go back. */
typedef struct
{
  guint64 offered;              /* packets */
  guint64 offered_bytes;
  guint64 queued;               /* packets that found room in the queue */
  guint64 fates[LINK_FATE_LAST];
  guint64 delivered_bytes;      /* whole or damaged, copies not counted */
  guint64 duplicates;
  guint64 transmissions[LINK_MAX_ATTEMPTS];   /* packets that were sent so many
                                               * times; [0]: never; the last:
                                               * that often or more */
  guint64 damaged_bytes;
  guint64 airtime;              /* ns */
} LinkFlowStats;

typedef struct
{
  guint64 collisions;
  guint64 rate_changes;
  guint64 calls, calls_failed, calls_broken;
  guint64 setup_time;           /* ns, of the last successful call */
  guint64 resets;               /* of the radio link protocol */
  guint64 blocks, blocks_hit;   /* radio blocks or frames sent */
} LinkStats;

typedef struct _Link Link;

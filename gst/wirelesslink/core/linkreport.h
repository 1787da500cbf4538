/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events and statistics that a link reports. The caller and the parts of the
 * link use these types.
 */

#pragma once

#include "linkpacket.h"

#define LINK_MAX_ATTEMPTS 16

typedef enum
{
  LINK_EVENT_FATE,              /* a packet was delivered or lost */
  /* the quality of a station's channel has changed */
  LINK_EVENT_QUALITY,
  LINK_EVENT_CALL               /* the state of the dial-up call has changed */
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
  /* The packet whose fate is reported. This field is set only if `type` is
   * LINK_EVENT_FATE. If the packet was lost, its pointer `user` belongs to the
   * caller again. */
  LinkPacket packet;
  gdouble quality;
  LinkCall call;
} LinkEvent;

/* Counters never decrease. */
typedef struct
{
  guint64 offered;              /* packets */
  guint64 offered_bytes;
  guint64 queued;               /* number of packets that the queue accepted */
  guint64 fates[LINK_FATE_LAST];
  /* number of bytes of the delivered packets, including damaged packets, but
   * not including duplicates */
  guint64 delivered_bytes;
  guint64 duplicates;
  /* `transmissions[i]` is the number of packets that were transmitted i times.
   * The last entry is the number of packets that were transmitted at least
   * LINK_MAX_ATTEMPTS - 1 times. */
  guint64 transmissions[LINK_MAX_ATTEMPTS];
  guint64 damaged_bytes;
  guint64 airtime;              /* ns */
} LinkFlowStats;

typedef struct
{
  guint64 collisions;
  guint64 rate_changes;
  guint64 calls, calls_failed, calls_broken;
  /* duration in ns of the set-up of the latest phone call that was connected */
  guint64 setup_time;
  /* number of times that the radio link protocol was reset */
  guint64 resets;
  /* number of radio blocks that were sent, and number of those that had errors
   */
  guint64 blocks, blocks_hit;
} LinkStats;

typedef struct _Link Link;

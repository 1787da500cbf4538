/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A link of the simulations: both directions of a connection, each of them a
 * pipe of wirelesslink's core (linkconfig.h), or both one half-duplex pipe. The
 * core models the link; this describes it in the words of the tests and takes
 * the packets to it. Packets are the caller's, and their sizes are those of IP.
 * The seed alone decides what happens to which packet, whoever sends it.
 */

#ifndef __VIRTUALLINK_H__
#define __VIRTUALLINK_H__

#include <glib.h>

#define VIRTUAL_LINK_MS G_GUINT64_CONSTANT (1000000)
#define VIRTUAL_LINK_SECOND G_GUINT64_CONSTANT (1000000000)

#define VIRTUAL_LINK_MAX_STEPS 64
#define VIRTUAL_LINK_MAX_OUTAGES 32

typedef enum
{
  VIRTUAL_LINK_FORWARD,         /* to the receiver */
  VIRTUAL_LINK_BACK
} VirtualLinkDirection;

typedef struct
{
  guint64 rate;                 /* bytes per second */
  guint64 delay;                /* ns, behind the transmitter */
  guint64 fluctuation;          /* ns: uniform from 0, or the mean */
  gboolean exponential;
  gboolean reorders;            /* a packet may overtake others */
  guint64 queue;                /* bytes that wait, beside the one on the air */
  gdouble loss;                 /* part of the packets, or of the time */
  guint64 burst;                /* ns, mean time in which all is lost; 0: each
                                 * packet for itself */
} VirtualLinkPath;

typedef struct
{
  guint64 from, to;             /* ns since the origin */
  guint32 above;                /* only packets of more bytes */
} VirtualLinkOutage;

/* From then on; 0: as it was */
typedef struct
{
  guint64 time;                 /* ns since the origin */
  guint64 rate, delay;          /* forward */
  guint64 back_rate;
} VirtualLinkStep;

typedef struct
{
  VirtualLinkPath path[2];
  gboolean half_duplex;         /* both directions take turns on one medium, and
                                 * differ in rate and delay only */
  guint64 turnaround;           /* ns when the direction changes */
  /* All that is under way then is lost, in both directions. */
  VirtualLinkOutage outages[VIRTUAL_LINK_MAX_OUTAGES];
  guint n_outages;
  VirtualLinkStep steps[VIRTUAL_LINK_MAX_STEPS];
  guint n_steps;
} VirtualLinkConfig;

typedef struct
{
  guint64 offered, offered_bytes;
  guint64 arrived, arrived_bytes;
  guint64 overflowed;           /* no room in the queue */
  guint64 lost;                 /* on the air, or by an outage */
  guint64 busy;                 /* ns of transmission */
  guint64 max_queued;           /* bytes */
  guint64 under_way;            /* packets that are on their way now */
} VirtualLinkStats;

void virtual_link_config_add_outage (VirtualLinkConfig * config,
    guint64 from, guint64 to, guint32 above);
/* In the order of time */
void virtual_link_config_add_step (VirtualLinkConfig * config, guint64 time,
    guint64 rate, guint64 delay);
void virtual_link_config_add_back_step (VirtualLinkConfig * config,
    guint64 time, guint64 back_rate);

typedef struct _VirtualLink VirtualLink;

VirtualLink *virtual_link_new (const VirtualLinkConfig * config,
    guint64 seed, guint number, GDestroyNotify packet_free);
void virtual_link_free (VirtualLink * link);
/* The time that outages and steps count from; none happen before it is set */
void virtual_link_set_origin (VirtualLink * link, guint64 origin);
/* Takes the packet. */
void virtual_link_input (VirtualLink * link, guint64 now,
    VirtualLinkDirection direction, guint32 size, gpointer packet);
/* A packet that has arrived at `now`, in the order of arrival; NULL: none */
gpointer virtual_link_output (VirtualLink * link, guint64 now,
    VirtualLinkDirection * direction);
/* G_MAXUINT64: nothing is under way */
guint64 virtual_link_next (VirtualLink * link);
void virtual_link_get_stats (VirtualLink * link, VirtualLinkDirection direction,
    VirtualLinkStats * stats);

#endif /* __VIRTUALLINK_H__ */

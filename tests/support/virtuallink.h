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

#define SIM_MS G_GUINT64_CONSTANT (1000000)
#define SIM_SECOND G_GUINT64_CONSTANT (1000000000)

#define SIM_MAX_STEPS 64
#define SIM_MAX_OUTAGES 32

typedef enum
{
  SIM_FORWARD,             /* to the receiver */
  SIM_BACK
} SimDirection;

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
} SimPath;

typedef struct
{
  guint64 from, to;             /* ns since the origin */
  guint32 above;                /* only packets of more bytes */
} SimOutage;

/* From then on; 0: as it was */
typedef struct
{
  guint64 time;                 /* ns since the origin */
  guint64 rate, delay;          /* forward */
  guint64 back_rate;
} SimStep;

typedef struct
{
  SimPath path[2];
  gboolean half_duplex;         /* both directions take turns on one medium, and
                                 * differ in rate and delay only */
  guint64 turnaround;           /* ns when the direction changes */
  SimOutage outages[SIM_MAX_OUTAGES];  /* all that is under way then is lost,
                                        * both directions */
  guint n_outages;
  SimStep steps[SIM_MAX_STEPS];
  guint n_steps;
} SimLinkConfig;

typedef struct
{
  guint64 offered, offered_bytes;
  guint64 arrived, arrived_bytes;
  guint64 overflowed;           /* no room in the queue */
  guint64 lost;                 /* on the air, or by an outage */
  guint64 busy;                 /* ns of transmission */
  guint64 max_queued;           /* bytes */
  guint64 under_way;            /* packets that are on their way now */
} SimLinkStats;

void sim_link_config_add_outage (SimLinkConfig * config,
    guint64 from, guint64 to, guint32 above);
/* In the order of time */
void sim_link_config_add_step (SimLinkConfig * config, guint64 time,
    guint64 rate, guint64 delay);
void sim_link_config_add_back_step (SimLinkConfig * config,
    guint64 time, guint64 back_rate);

typedef struct _SimLink SimLink;

SimLink *sim_link_new (const SimLinkConfig * config,
    guint64 seed, guint number, GDestroyNotify packet_free);
void sim_link_free (SimLink * link);
/* The time that outages and steps count from; none happen before it is set */
void sim_link_set_origin (SimLink * link, guint64 origin);
/* Takes the packet. */
void sim_link_input (SimLink * link, guint64 now,
    SimDirection direction, guint32 size, gpointer packet);
/* A packet that has arrived at `now`, in the order of arrival; NULL: none */
gpointer sim_link_output (SimLink * link, guint64 now,
    SimDirection * direction);
/* G_MAXUINT64: nothing is under way */
guint64 sim_link_next (SimLink * link);
void sim_link_get_stats (SimLink * link, SimDirection direction,
    SimLinkStats * stats);

#endif /* __VIRTUALLINK_H__ */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A link for simulations. It uses the link model of wirelesslink (link.h) with
 * one Link for each direction, or with one half-duplex Link for both.
 *
 * Packets belong to the caller, and their sizes are those of IP packets. The
 * random losses depend only on the seed, and not on the protocol that sends the
 * packets.
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
  /* The direction from the sender to the receiver. */
  VIRTUAL_LINK_FORWARD,
  VIRTUAL_LINK_BACK
} VirtualLinkDirection;

typedef struct
{
  guint64 rate;                 /* bytes per second */
  /* Propagation delay in ns. It begins when the transmission of a packet has
   * ended. */
  guint64 delay;
  /* Jitter in ns: its maximum if it is uniform, its mean if it is exponential.
   */
  guint64 fluctuation;
  gboolean exponential;
  gboolean reorders;            /* A packet may overtake others. */
  /* Capacity of the queue in bytes. The packet that is being transmitted does
   * not count. */
  guint64 queue;
  /* If `burst` is 0, this is the fraction of the packets that are lost.
   * Otherwise, it is the fraction of the time that lies within bursts. All
   * packets within a burst are lost. */
  gdouble loss;
  /* Mean duration in ns of bursts in which all packets are lost; 0 for
   * independent losses. */
  guint64 burst;
} VirtualLinkPath;

typedef struct
{
  guint64 from, to;             /* ns since the origin */
  /* Packets of up to this size in bytes pass during the outage. Larger packets
   * are lost. */
  guint32 above;
} VirtualLinkOutage;

/* A change of the link's rate and delay at `time`. If a field is 0, its old
 * value remains. */
typedef struct
{
  guint64 time;                 /* ns since the origin */
  guint64 rate, delay;          /* Rate and delay of the forward direction. */
  guint64 back_rate;
} VirtualLinkStep;

typedef struct
{
  VirtualLinkPath path[2];
  /* TRUE if both directions share one medium. Their configurations must then be
   * equal except for rate and delay. */
  gboolean half_duplex;
  /* Time in ns that the shared medium needs to change the direction. */
  guint64 turnaround;
  /* Times in which the link is interrupted. During an outage, packets are lost
   * in both directions if they are in transmission or on their way to the
   * receiving host. Packets in the queue are not lost. */
  VirtualLinkOutage outages[VIRTUAL_LINK_MAX_OUTAGES];
  guint n_outages;
  VirtualLinkStep steps[VIRTUAL_LINK_MAX_STEPS];
  guint n_steps;
} VirtualLinkConfig;

typedef struct
{
  guint64 offered, offered_bytes;
  guint64 arrived, arrived_bytes;
  /* Packets that were dropped because the queue was full. */
  guint64 overflowed;
  /* Packets that were lost during transmission or in an outage. */
  guint64 lost;
  guint64 busy;                 /* ns of transmission */
  guint64 max_queued;           /* bytes */
  guint64 under_way;            /* Packets that are in flight. */
} VirtualLinkStats;

void virtual_link_config_add_outage (VirtualLinkConfig * config,
    guint64 from, guint64 to, guint32 above);
/* Steps must be added in the order of time. */
void virtual_link_config_add_step (VirtualLinkConfig * config, guint64 time,
    guint64 rate, guint64 delay);
void virtual_link_config_add_back_step (VirtualLinkConfig * config,
    guint64 time, guint64 back_rate);

typedef struct _VirtualLink VirtualLink;

VirtualLink *virtual_link_new (const VirtualLinkConfig * config,
    guint64 seed, guint number, GDestroyNotify packet_free);
void virtual_link_free (VirtualLink * link);
/* Sets the time from which the times in VirtualLinkOutage and VirtualLinkStep
 * are counted. No outage and no step happens before this call. */
void virtual_link_set_origin (VirtualLink * link, guint64 origin);
/* Takes ownership of `packet`. */
void virtual_link_input (VirtualLink * link, guint64 now,
    VirtualLinkDirection direction, guint32 size, gpointer packet);
/* Returns the next packet that has arrived at `now`, in the order of arrival,
 * or NULL. The caller owns it. */
gpointer virtual_link_output (VirtualLink * link, guint64 now,
    VirtualLinkDirection * direction);
/* Returns the time of the next event; G_MAXUINT64 if no packet is in flight.
 */
guint64 virtual_link_next (VirtualLink * link);
void virtual_link_get_stats (VirtualLink * link, VirtualLinkDirection direction,
    VirtualLinkStats * stats);

#endif /* __VIRTUALLINK_H__ */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A link for simulations, which connects two hosts in virtual time. It uses the
 * link model of the element wirelesslink (link.h), with one Link for each
 * direction, or with one half-duplex Link for both directions.
 *
 * The caller passes each packet as a pointer, and gives its size as an IP
 * packet. The link does not look into packets. The random losses depend only on
 * the seed, and not on the protocol that sends the packets. */

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
  /* Jitter of the delay in ns. If the jitter is uniform, this is its maximum.
   * If it is exponential, this is its mean. */
  guint64 fluctuation;
  gboolean exponential;
  gboolean reorders;            /* A packet may overtake others. */
  /* Capacity of the queue in bytes. The packet that the link is transmitting is
   * no longer in the queue. */
  guint64 queue;
  /* Fraction of lost packets, from 0 to 1. If `burst` is 0, packets are lost
   * independently of each other. Otherwise, losses come in bursts, and all
   * packets during a burst are lost. In this case, `loss` is the fraction of
   * the time that belongs to bursts. */
  gdouble loss;
  /* Mean duration in ns of the bursts in which all packets are lost. If it is
   * 0, there are no bursts, and packets are lost independently of each other.
   */
  guint64 burst;
} VirtualLinkPath;

typedef struct
{
  guint64 from, to;             /* ns since the origin */
  /* The outage affects only packets that are larger than this size in bytes.
   * Smaller packets pass, as on a path that loses only large packets. */
  guint32 above;
} VirtualLinkOutage;

/* A change of the link's rate or delay at `time`. If the new value of a
 * property is 0, this property does not change. */
typedef struct
{
  guint64 time;                 /* ns since the origin */
  /* Rate and delay of the forward direction after the change. */
  guint64 rate, delay;
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
  /* Times in which the link is interrupted. If a packet is in transmission or
   * on its way to the receiving host during an outage, it is lost, in both
   * directions. A packet that waits in the queue is not lost. */
  VirtualLinkOutage outages[VIRTUAL_LINK_MAX_OUTAGES];
  guint n_outages;
  VirtualLinkStep steps[VIRTUAL_LINK_MAX_STEPS];
  guint n_steps;
} VirtualLinkConfig;

typedef struct
{
  guint64 offered, offered_bytes;
  guint64 arrived, arrived_bytes;
  /* Number of packets that were dropped because the queue was full. */
  guint64 overflowed;
  /* Number of packets that were lost during their transmission or in an outage.
   */
  guint64 lost;
  guint64 busy;                 /* ns of transmission */
  guint64 max_queued;           /* bytes */
  guint64 under_way;            /* Packets that are in flight. */
} VirtualLinkStats;

void virtual_link_config_add_outage (VirtualLinkConfig * config,
    guint64 from, guint64 to, guint32 above);
/* Adds a change of the link's rate or delay. Changes must be added in the order
 * of time. */
void virtual_link_config_add_step (VirtualLinkConfig * config, guint64 time,
    guint64 rate, guint64 delay);
void virtual_link_config_add_back_step (VirtualLinkConfig * config,
    guint64 time, guint64 back_rate);

typedef struct _VirtualLink VirtualLink;

VirtualLink *virtual_link_new (const VirtualLinkConfig * config,
    guint64 seed, guint number, GDestroyNotify packet_free);
void virtual_link_free (VirtualLink * link);
/* Sets the time `origin` of the link. The link has outages and steps, which are
 * changes of rate and delay. Their times are counted from `origin`. Before this
 * call, no outage and no step happens. */
void virtual_link_set_origin (VirtualLink * link, guint64 origin);
/* Takes ownership of `packet`. */
void virtual_link_input (VirtualLink * link, guint64 now,
    VirtualLinkDirection direction, guint32 size, gpointer packet);
/* Returns the next packet that has arrived at the time `now` or before, in the
 * order of arrival. Returns NULL if there is none. The caller owns the packet.
 */
gpointer virtual_link_output (VirtualLink * link, guint64 now,
    VirtualLinkDirection * direction);
/* Returns the time in ns of the next event of the link; G_MAXUINT64 if no
 * packet is in flight. */
guint64 virtual_link_next (VirtualLink * link);
void virtual_link_get_stats (VirtualLink * link, VirtualLinkDirection direction,
    VirtualLinkStats * stats);

#endif /* __VIRTUALLINK_H__ */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Types and functions that the two parts of the simulation share. The first
 * part is the network (dccpsimulation.c), and the second part is the flows
 * (dccpsimulationflow.c).
 */

#ifndef __DCCPSIMULATIONPRIVATE_H__
#define __DCCPSIMULATIONPRIVATE_H__

#include "dccpsimulation.h"
#include "tcpmodel.h"

/* Time in ns at which the simulation starts. The simulation does not start at
 * 0, so that no time in it is 0. */
#define DCCP_SIMULATION_START (1000 * VIRTUAL_LINK_SECOND)

typedef struct _Simulation Simulation;

typedef struct
{
  guint flow;
  VirtualLinkDirection direction;
  guint32 wire_size;            /* bytes of the IP packet */
  guint64 sent;                 /* ns */
  gboolean to_client;           /* DCCP: sent to the client. */
  gboolean is_ack;              /* TCP: whether it is an acknowledgement. */
  guint number;                 /* TCP: number of the segment. */
  guint transfer;               /* TCP: number of the transfer. */
  gsize size;                   /* DCCP: size in bytes. */
  guint8 bytes[];
} Packet;

typedef struct
{
  guint64 time;
  gboolean is_behind_link;
  Packet *packet;
} Held;

typedef struct
{
  Simulation *simulation;
  guint number;
  const DccpSimulationFlow *config;
  DccpSimulationFlowResult *result;
  DccpSimulationBin bin;        /* Current interval. */
  /* Two queues with elements of the type Held. They contain packets in the
   * access network of the flow. The packets in held[0] have not reached the
   * link yet. The packets in held[1] have left it. */
  GQueue held[2];
  gboolean has_begun, has_ended;

  /* DCCP: the client sends the data. */
  DccpEndpoint *client, *server;
  gboolean is_open;
  guint64 next_packet;          /* ns, of the application */
  /* Number of packets that wait until the allowed rate permits their
   * transmission. */
  guint waiting;
  gdouble encoder_rate;         /* bytes per second, of MEDIA */
  guint64 n_data;
  /* the receiving application */
  gdouble buffered;             /* bytes */
  guint64 drained_at;           /* ns */
  gboolean is_slow;

  Tcp tcp;
  /* Only for TCP: number of transfers that have begun. */
  guint transfer;
  guint64 next_transfer;        /* ns */
} Flow;

struct _Simulation
{
  const DccpSimulationConfig *config;
  guint64 now;                  /* ns */
  guint64 next_bin;
  VirtualLink *link;
  Flow flows[DCCP_SIMULATION_MAX_FLOWS];
  guint n_flows;
};

void dccp_simulation_packet_free (gpointer packet);
/* Takes the packet. */
void simulation_send (Flow * flow, Packet * packet);

void flow_init (Flow * flow, Simulation * simulation, guint number,
    DccpSimulationFlowResult * result);
void flow_clear (Flow * flow);
/* Returns the direction in which the data of the flow are sent. */
VirtualLinkDirection flow_get_direction (const Flow * flow);
void flow_receive (Flow * flow, const Packet * packet);
/* Handles everything that is due in a flow at the current time. Returns TRUE if
 * there was something to do. */
gboolean flow_run (Flow * flow);
guint64 flow_next (Flow * flow);
void flow_end_bin (Flow * flow);

#endif /* __DCCPSIMULATIONPRIVATE_H__ */

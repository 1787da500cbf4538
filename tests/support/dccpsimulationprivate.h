/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Types and functions that the two parts of the simulation of DCCP and TCP
 * flows share. dccpsimulation.c contains the network. dccpsimulationflow.c
 * contains the flows. */

#ifndef __DCCPSIMULATIONPRIVATE_H__
#define __DCCPSIMULATIONPRIVATE_H__

#include "dccpsimulation.h"
#include "tcpmodel.h"

/* Time in ns that the virtual clock shows at the start of the simulation. It is
 * not 0, so that no time in the simulation is 0. */
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
  /* Two queues of packets. Each entry of a queue has the type Held. All these
   * packets are in the access network of the flow. held[0] contains the packets
   * that have not reached the link yet. held[1] contains the packets that have
   * left the link. */
  GQueue held[2];
  gboolean has_begun, has_ended;

  /* DCCP: the client sends the data. */
  DccpEndpoint *client, *server;
  gboolean is_open;
  guint64 next_packet;          /* ns, of the application */
  /* Number of packets that wait until the congestion control allows their
   * transmission. */
  guint waiting;
  gdouble encoder_rate;         /* bytes per second, of MEDIA */
  guint64 n_data;
  /* the receiving application */
  gdouble buffered;             /* bytes */
  guint64 drained_at;           /* ns */
  gboolean is_slow;

  Tcp tcp;
  /* Only for TCP: number of transfers that the flow has begun so far. */
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
/* Returns the direction of the link in which the flow sends its data. */
VirtualLinkDirection flow_get_direction (const Flow * flow);
void flow_receive (Flow * flow, const Packet * packet);
/* Does everything in a flow that is due at the current virtual time. Returns
 * TRUE if anything was due. The caller then calls the function again. */
gboolean flow_run (Flow * flow);
guint64 flow_next (Flow * flow);
void flow_end_bin (Flow * flow);

#endif /* __DCCPSIMULATIONPRIVATE_H__ */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Flows of DCCP and of TCP through one bottleneck, in virtual time: the endpoints
 * of the elements, an application on each, and a judge that looks at the packets
 * and their true times. The same seed gives the same figures on every machine.
 */

#ifndef __DCCPSIMULATION_H__
#define __DCCPSIMULATION_H__

#include "dccpendpoint.h"
#include "tfrcequation.h"
#include "virtuallink.h"

#define DCCP_SIMULATION_MAX_FLOWS 16
#define DCCP_SIMULATION_BIN (100 * VIRTUAL_LINK_MS)
/* What a packet has before its DCCP header: IPv4 and UDP */
#define DCCP_SIMULATION_OVERHEAD 28

typedef enum
{
  DCCP_SIMULATION_GREEDY,       /* always has data */
  DCCP_SIMULATION_CONSTANT,     /* a packet each period; what may not go in time
                                 * for the next one is dropped */
  DCCP_SIMULATION_MEDIA,        /* RFC 8867 section 4.3: an encoder that follows
                                 * the rate allowed, between two bounds */
  DCCP_SIMULATION_TCP           /* tcpmodel.h; always has data */
} DccpSimulationTraffic;

typedef struct
{
  DccpSimulationTraffic traffic;
  guint64 from, to;             /* ns; to 0: the end */
  guint64 pause_from, pause_to; /* ns, of MEDIA: it sends nothing */
  guint32 size;                 /* bytes of payload */
  guint64 period;               /* ns, of CONSTANT */
  guint64 delay;                /* ns each way, beside that of the link */
  gboolean is_reverse;          /* data goes back */
  gboolean is_short;            /* TCP: transfers of 30 to 50 kB, and in between
                                 * 10 s on average (RFC 8868 section 8.1) */
  /* The receiving application; 0: takes what comes at once */
  guint64 receive_rate;         /* bytes per second that it can take */
  guint32 receive_buffer;       /* bytes that wait for it; more is dropped, */
  gboolean says_slow;           /* and told: Slow Receiver when half full, Data
                                 * Dropped */
  /* The network */
  guint drop_each;              /* each n-th data packet is lost, 0: none */
  gboolean no_oscillation_reduction;
  TfrcEquation equation;
} DccpSimulationFlow;

typedef struct
{
  guint64 seed;
  guint64 duration;             /* ns */
  VirtualLinkConfig link;       /* rates in bytes per second of IP packets */
  DccpSimulationFlow flows[DCCP_SIMULATION_MAX_FLOWS];
  guint n_flows;
} DccpSimulationConfig;

/* Of a flow, in bins of DCCP_SIMULATION_BIN, by the time at which it happened */
typedef struct
{
  guint64 sent, arrived;        /* bytes of payload */
  guint64 dropped;              /* bytes: by the receiving application */
  gdouble rate;                 /* X at the end of the bin, bytes per second */
  gdouble loss_event_rate;      /* p, as the sender has it */
  gdouble reported;             /* X_recv that the sender has, bytes/s */
  guint64 round_trip;           /* R, ns */
  guint64 worst_delay;          /* ns, of what arrived */
} DccpSimulationBin;

typedef struct
{
  DccpSimulationBin *bins;
  guint n_bins;
  GArray *delays;               /* guint64 ns, of each packet that arrived */
  GArray *estimates;            /* guint64 ns: one-way delay as in Erixzon's
                                 * equation 5.4, half of the sender's samples */
  guint64 packets_sent, packets_arrived;
  guint64 not_sent;             /* CONSTANT and MEDIA: packets that the rate did
                                 * not allow */
  guint64 feedbacks;            /* packets back */
  gboolean is_reset;
  DccpStats sender, receiver;   /* at the end */
} DccpSimulationFlowResult;

typedef struct
{
  DccpSimulationFlowResult flows[DCCP_SIMULATION_MAX_FLOWS];
  guint n_flows;
  VirtualLinkStats link[2];
} DccpSimulationResult;

void dccp_simulation_config_init (DccpSimulationConfig * config, guint64 seed,
    guint64 duration, guint64 rate, guint64 delay, guint64 queue);
/* Its fields may be changed. */
DccpSimulationFlow *dccp_simulation_config_add (DccpSimulationConfig * config,
    DccpSimulationTraffic traffic, guint32 size);

void dccp_simulation_run (const DccpSimulationConfig * config,
    DccpSimulationResult * result);
void dccp_simulation_result_clear (DccpSimulationResult * result);

/* Bytes of payload per second that arrived from one time to another (ns) */
gdouble dccp_simulation_get_throughput (const DccpSimulationFlowResult * flow,
    guint64 from, guint64 to);
/* Coefficient of variation of the bytes that arrived in each second */
gdouble dccp_simulation_get_variation (const DccpSimulationFlowResult * flow,
    guint64 from, guint64 to);
/* Jain's index of the throughputs of the first `n` flows */
gdouble dccp_simulation_get_fairness (const DccpSimulationResult * result,
    guint n, guint64 from, guint64 to);
/* ns below which `part` of the packets that arrived were under way */
guint64 dccp_simulation_get_delay (const DccpSimulationFlowResult * flow,
    gdouble part);

#endif /* __DCCPSIMULATION_H__ */

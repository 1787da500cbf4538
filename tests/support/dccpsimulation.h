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

#define DCCP_SIM_MAX_FLOWS 16
#define DCCP_SIM_BIN (100 * SIM_MS)
/* What a packet has before its DCCP header: IPv4 and UDP */
#define DCCP_SIM_OVERHEAD 28

typedef enum
{
  DCCP_SIM_GREEDY,              /* always has data */
  DCCP_SIM_CONSTANT,            /* a packet each period; what may not go in time
                                 * for the next one is dropped */
  DCCP_SIM_MEDIA,               /* RFC 8867 section 4.3: an encoder that follows
                                 * the rate allowed, between two bounds */
  DCCP_SIM_TCP                  /* tcpmodel.h; always has data */
} DccpSimTraffic;

typedef struct
{
  DccpSimTraffic traffic;
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
} DccpSimFlow;

typedef struct
{
  guint64 seed;
  guint64 duration;             /* ns */
  SimLinkConfig link;       /* rates in bytes per second of IP packets */
  DccpSimFlow flows[DCCP_SIM_MAX_FLOWS];
  guint n_flows;
} DccpSimConfig;

/* Of a flow, in bins of DCCP_SIM_BIN, by the time at which it happened */
typedef struct
{
  guint64 sent, arrived;        /* bytes of payload */
  guint64 dropped;              /* bytes: by the receiving application */
  gdouble rate;                 /* X at the end of the bin, bytes per second */
  gdouble loss_event_rate;      /* p, as the sender has it */
  gdouble reported;             /* X_recv that the sender has, bytes/s */
  guint64 round_trip;           /* R, ns */
  guint64 worst_delay;          /* ns, of what arrived */
} DccpSimBin;

typedef struct
{
  DccpSimBin *bins;
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
} DccpSimFlowResult;

typedef struct
{
  DccpSimFlowResult flows[DCCP_SIM_MAX_FLOWS];
  guint n_flows;
  SimLinkStats link[2];
} DccpSimResult;

void dccp_sim_config_init (DccpSimConfig * config, guint64 seed,
    guint64 duration, guint64 rate, guint64 delay, guint64 queue);
/* Its fields may be changed. */
DccpSimFlow *dccp_sim_config_add (DccpSimConfig * config,
    DccpSimTraffic traffic, guint32 size);

void dccp_sim_run (const DccpSimConfig * config, DccpSimResult * result);
void dccp_sim_result_clear (DccpSimResult * result);

/* Bytes of payload per second that arrived from one time to another (ns) */
gdouble dccp_sim_get_throughput (const DccpSimFlowResult * flow,
    guint64 from, guint64 to);
/* Coefficient of variation of the bytes that arrived in each second */
gdouble dccp_sim_get_variation (const DccpSimFlowResult * flow, guint64 from,
    guint64 to);
/* Jain's index of the throughputs of the first `n` flows */
gdouble dccp_sim_get_fairness (const DccpSimResult * result, guint n,
    guint64 from, guint64 to);
/* ns below which `part` of the packets that arrived were under way */
guint64 dccp_sim_get_delay (const DccpSimFlowResult * flow, gdouble part);

#endif /* __DCCPSIMULATION_H__ */

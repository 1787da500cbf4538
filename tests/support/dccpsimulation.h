/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Flows of DCCP and TCP that share one bottleneck, in virtual time. Each DCCP
 * flow has two endpoints, which are the same as in dccpthinsink and
 * dccpthinsrc, and an application at each endpoint. The simulation observes
 * each packet and its exact time. The same seed gives the same figures on every
 * machine.
 */

#ifndef __DCCPSIMULATION_H__
#define __DCCPSIMULATION_H__

#include "dccpendpoint.h"
#include "tfrcequation.h"
#include "virtuallink.h"

#define DCCP_SIMULATION_MAX_FLOWS 16
#define DCCP_SIMULATION_BIN (100 * VIRTUAL_LINK_MS)
/* Size in bytes of the IPv4 and UDP headers in front of the DCCP header. */
#define DCCP_SIMULATION_OVERHEAD 28

typedef enum
{
  DCCP_SIMULATION_GREEDY,       /* always has data */
  /* The application generates a packet in each period. If the allowed rate is
   * too low, packets wait. While two packets wait, each new packet is dropped.
   */
  DCCP_SIMULATION_CONSTANT,
  /* RFC 8867 section 4.3: an encoder that follows the allowed rate between a
   * minimum and a maximum. */
  DCCP_SIMULATION_MEDIA,
  DCCP_SIMULATION_TCP           /* tcpmodel.h; always has data */
} DccpSimulationTraffic;

typedef struct
{
  DccpSimulationTraffic traffic;
  /* Times in ns at which the flow begins and ends. If `to` is 0, the flow ends
   * with the run. */
  guint64 from, to;
  /* Only for the traffic types DCCP_SIMULATION_CONSTANT and
   * DCCP_SIMULATION_MEDIA: the application generates nothing between these two
   * times. They are in ns, counted from the start of the simulation. */
  guint64 pause_from, pause_to;
  guint32 size;                 /* Payload size in bytes. */
  guint64 period;               /* ns, of CONSTANT */
  /* Additional one-way delay of the flow, in ns. Data are delayed before the
   * link. Packets in the other direction are delayed after the link. */
  guint64 delay;
  /* TRUE if the data are sent in the backward direction of the link,
   * VIRTUAL_LINK_BACK. By default, they are sent in the forward direction. */
  gboolean is_reverse;
  /* Only for TCP: TRUE if the flow consists of transfers of 30 to 50 kB, with
   * pauses of 10 s on average (RFC 8868 section 8.1). */
  gboolean is_short;
  /* The next three fields describe the application that receives the data. If
   * `receive_rate` is 0, it reads all data immediately.
   */
  /* Rate in bytes per second at which the receiving application reads. */
  guint64 receive_rate;
  /* Size in bytes of the receive buffer. The buffer holds data until the
   * application reads them. Data that do not fit are dropped. */
  guint32 receive_buffer;
  /* TRUE if the receiver reports its state to the sender with DCCP options. It
   * sends Slow Receiver when the buffer is more than half full, and Data
   * Dropped when it drops data. */
  gboolean says_slow;
  /* The network */
  /* If this value is n and not 0, every n-th data packet is lost. */
  guint drop_each;
  gboolean no_oscillation_reduction;
  TfrcEquation equation;
} DccpSimulationFlow;

typedef struct
{
  guint64 seed;
  guint64 duration;             /* ns */
  /* The bottleneck. Its rates are in bytes per second, and count whole IP
   * packets with all headers. */
  VirtualLinkConfig link;
  DccpSimulationFlow flows[DCCP_SIMULATION_MAX_FLOWS];
  guint n_flows;
} DccpSimulationConfig;

/* Figures of a flow for one interval of DCCP_SIMULATION_BIN. An event counts in
 * the interval in which it occurs. */
typedef struct
{
  guint64 sent, arrived;        /* bytes of payload */
  /* Bytes that the receiving application dropped. */
  guint64 dropped;
  /* Allowed rate X of the sender, in bytes per second, at the end of the
   * interval that this struct describes. */
  gdouble rate;
  /* Loss event rate p of TFRC, from which the sender computes its allowed rate
   * X, at the end of the interval that this struct describes. */
  gdouble loss_event_rate;
  /* The receive rate X_recv that the receiver reported last, in bytes per
   * second. */
  gdouble reported;
  guint64 round_trip;           /* R, ns */
  /* Maximum delay in ns of packets that arrived. */
  guint64 worst_delay;
} DccpSimulationBin;

typedef struct
{
  DccpSimulationBin *bins;
  guint n_bins;
  /* Array of guint64: the delay in ns of each data packet that arrived. */
  GArray *delays;
  /* Array of guint64, in ns: one-way delays, estimated as half of the sender's
   * round-trip time (Erixzon, equation 5.4). */
  GArray *estimates;
  guint64 packets_sent, packets_arrived;
  /* Number of packets that the application dropped because the allowed rate was
   * too low. Such packets are counted only for the traffic types
   * DCCP_SIMULATION_CONSTANT and DCCP_SIMULATION_MEDIA. */
  guint64 not_sent;
  guint64 feedbacks;            /* Packets from the data receiver. */
  gboolean is_reset;
  /* Statistics of both endpoints at the end of the run. */
  DccpStats sender, receiver;
} DccpSimulationFlowResult;

typedef struct
{
  DccpSimulationFlowResult flows[DCCP_SIMULATION_MAX_FLOWS];
  guint n_flows;
  VirtualLinkStats link[2];
} DccpSimulationResult;

void dccp_simulation_config_init (DccpSimulationConfig * config, guint64 seed,
    guint64 duration, guint64 rate, guint64 delay, guint64 queue);
/* Adds a flow to the configuration and returns it. The caller may change its
 * fields. */
DccpSimulationFlow *dccp_simulation_config_add (DccpSimulationConfig * config,
    DccpSimulationTraffic traffic, guint32 size);

void dccp_simulation_run (const DccpSimulationConfig * config,
    DccpSimulationResult * result);
void dccp_simulation_result_clear (DccpSimulationResult * result);

/* Returns the payload bytes per second that arrived between `from` and `to`
 * (ns). */
gdouble dccp_simulation_get_throughput (const DccpSimulationFlowResult * flow,
    guint64 from, guint64 to);
/* Returns the coefficient of variation of the bytes that arrived in each second
 * between `from` and `to` (ns). */
gdouble dccp_simulation_get_variation (const DccpSimulationFlowResult * flow,
    guint64 from, guint64 to);
/* Returns Jain's fairness index of the throughputs of the first `n` flows
 * between `from` and `to` (ns). */
gdouble dccp_simulation_get_fairness (const DccpSimulationResult * result,
    guint n, guint64 from, guint64 to);
/* Returns a quantile of the delays of the packets that arrived, in ns. `part`
 * (0 to 1) is the fraction of these packets that has at most this delay. */
guint64 dccp_simulation_get_delay (const DccpSimulationFlowResult * flow,
    gdouble part);

#endif /* __DCCPSIMULATION_H__ */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Simulates flows of DCCP and TCP that share one bottleneck, in virtual time. A
 * DCCP flow consists of two DCCP endpoints, with an application at each of
 * them. The endpoints are the ones that the elements dccpthinsink and
 * dccpthinsrc use, too. The simulation records each packet and its exact time.
 * The same seed gives the same figures on every machine. */

#ifndef __DCCPSIMULATION_H__
#define __DCCPSIMULATION_H__

#include "dccpendpoint.h"
#include "tfrcequation.h"
#include "virtuallink.h"

#define DCCP_SIMULATION_MAX_FLOWS 16
#define DCCP_SIMULATION_BIN (100 * VIRTUAL_LINK_MS)
/* Size in bytes of the headers before the DCCP header of each packet: the IPv4
 * header, and the UDP header that DCCP uses for its encapsulation. */
#define DCCP_SIMULATION_OVERHEAD 28

typedef enum
{
  DCCP_SIMULATION_GREEDY,       /* always has data */
  /* The application generates a packet in each period. If the congestion
   * control allows only a lower rate, packets wait. At most two packets wait,
   * and further packets are dropped. */
  DCCP_SIMULATION_CONSTANT,
  /* Traffic of a live encoder (RFC 8867 section 4.3). The bitrate of the
   * encoder follows the rate that the congestion control allows, within a
   * minimum and a maximum. */
  DCCP_SIMULATION_MEDIA,
  DCCP_SIMULATION_TCP           /* tcpmodel.h; always has data */
} DccpSimulationTraffic;

typedef struct
{
  DccpSimulationTraffic traffic;
  /* Times at which the flow begins and ends, in ns from the start of the
   * simulation. If `to` is 0, the flow ends with the simulation. A flow of TCP
   * ignores `to`. */
  guint64 from, to;
  /* Only for the traffic types DCCP_SIMULATION_CONSTANT and
   * DCCP_SIMULATION_MEDIA: a pause of the application, which generates no
   * packet from pause_from to pause_to. Both times are in ns from the start of
   * the simulation. */
  guint64 pause_from, pause_to;
  guint32 size;                 /* Payload size in bytes. */
  guint64 period;               /* ns, of CONSTANT */
  /* Additional one-way delay in ns, as in an access network that only this flow
   * uses. Packets with data are delayed before they enter the link. Packets in
   * the opposite direction, such as feedback, are delayed after they leave the
   * link. */
  guint64 delay;
  /* TRUE if the flow sends its data in the backward direction of the link
   * (VIRTUAL_LINK_BACK), and FALSE if it sends them in the forward direction.
   */
  gboolean is_reverse;
  /* Only for TCP: TRUE if the flow consists of transfers of 30 to 50 kB each,
   * with pauses of 10 s on average between them (RFC 8868 section 8.1). */
  gboolean is_short;
  /* The next three fields describe the application that receives the data. If
   * `receive_rate` is 0, the application reads all data immediately, and the
   * other two fields have no meaning. */
  /* Rate in bytes per second at which the receiving application reads data from
   * the receive buffer. */
  guint64 receive_rate;
  /* Size in bytes of the receive buffer, which holds data until the application
   * reads them. Data that do not fit into the buffer are dropped. */
  guint32 receive_buffer;
  /* TRUE if the receiver reports the state of its buffer to the sender with
   * DCCP options. It sends the option Slow Receiver when the buffer is more
   * than half full, and the option Data Dropped when it drops data. */
  gboolean says_slow;
  /* The network */
  /* If this is a number n above 0, every n-th data packet is lost. If it is 0,
   * no packet is lost in this way. */
  guint drop_each;
  gboolean no_oscillation_reduction;
  TfrcEquation equation;
} DccpSimulationFlow;

typedef struct
{
  guint64 seed;
  guint64 duration;             /* ns */
  /* The bottleneck that all flows share. Its rates are in bytes per second.
   * They count whole IP packets with all headers. */
  VirtualLinkConfig link;
  DccpSimulationFlow flows[DCCP_SIMULATION_MAX_FLOWS];
  guint n_flows;
} DccpSimulationConfig;

/* Figures of a flow for one interval, which lasts DCCP_SIMULATION_BIN ns. An
 * event counts in the interval in which it occurs. */
typedef struct
{
  guint64 sent, arrived;        /* bytes of payload */
  /* Number of payload bytes that did not fit into the receive buffer and were
   * dropped. */
  guint64 dropped;
  /* Allowed rate X of the sender, in bytes per second, at the end of this
   * interval. */
  gdouble rate;
  /* Loss event rate p of TFRC at the end of this interval. The sender computes
   * its allowed rate X from it. */
  gdouble loss_event_rate;
  /* The latest receive rate X_recv that the receiver had reported before the
   * end of this interval, in bytes per second. */
  gdouble reported;
  guint64 round_trip;           /* R, ns */
  /* Maximum time in ns from the sending to the arrival of a data packet that
   * arrived in this interval. */
  guint64 worst_delay;
} DccpSimulationBin;

typedef struct
{
  DccpSimulationBin *bins;
  guint n_bins;
  /* Array of guint64: for each data packet that arrived, the time in ns from
   * its sending to its arrival. */
  GArray *delays;
  /* Array of guint64: estimates of the one-way delay, in ns. For each feedback
   * packet, the estimate is half of the sender's round-trip time (Erixzon,
   * equation 5.4). */
  GArray *estimates;
  guint64 packets_sent, packets_arrived;
  /* Number of packets that the application dropped because the congestion
   * control did not allow their transmission in time. They are counted only for
   * the traffic types DCCP_SIMULATION_CONSTANT and DCCP_SIMULATION_MEDIA. */
  guint64 not_sent;
  guint64 feedbacks;            /* Packets from the data receiver. */
  gboolean is_reset;
  /* Statistics of the sending and of the receiving DCCP endpoint at the end of
   * the run. */
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
 * fields before the simulation starts. */
DccpSimulationFlow *dccp_simulation_config_add (DccpSimulationConfig * config,
    DccpSimulationTraffic traffic, guint32 size);

void dccp_simulation_run (const DccpSimulationConfig * config,
    DccpSimulationResult * result);
void dccp_simulation_result_clear (DccpSimulationResult * result);

/* Returns the throughput of the flow between the times `from` and `to` (ns):
 * the number of payload bytes that arrived per second. */
gdouble dccp_simulation_get_throughput (const DccpSimulationFlowResult * flow,
    guint64 from, guint64 to);
/* Returns the coefficient of variation of the throughput between `from` and
 * `to` (ns), that is, its standard deviation divided by its mean. The
 * throughput is measured in each second. */
gdouble dccp_simulation_get_variation (const DccpSimulationFlowResult * flow,
    guint64 from, guint64 to);
/* Returns Jain's fairness index of the throughputs of the first `n` flows
 * between `from` and `to` (ns). It is 1 if all these flows have the same
 * throughput, and lower otherwise. */
gdouble dccp_simulation_get_fairness (const DccpSimulationResult * result,
    guint n, guint64 from, guint64 to);
/* Returns a quantile of the delays of the packets that arrived, in ns. `part`
 * (0 to 1) says which quantile: 0.5 returns the median, and 0.95 the 95th
 * percentile. */
guint64 dccp_simulation_get_delay (const DccpSimulationFlowResult * flow,
    gdouble part);

#endif /* __DCCPSIMULATION_H__ */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Types and functions that the two parts of the simulation of MMTP sessions
 * share. mmtpsimulation.c contains the main loop. mmtpsimulationjudge.c checks
 * what the endpoints do, and computes the results. */

#ifndef __MMTPSIMULATIONPRIVATE_H__
#define __MMTPSIMULATIONPRIVATE_H__

#include "mmtpsimulation.h"
#include "tcpmodel.h"

typedef struct
{
  VirtualLink *link;
  gboolean is_up;               /* The network interface exists. */
  guint8 generation;            /* Increases with each new address. */
} MmtpSimulationEnd;

typedef struct
{
  MmtpSimulation *simulation;
  guint path;
  gboolean has_begun;
  Tcp tcp;
} MmtpSimulationFlow;

struct _MmtpSimulation
{
  MmtpSimulationConfig config;
  const MmtpSimulationEnds *ends;
  gpointer sender, receiver;
  /* Time on the sender's clock when the simulation starts, in ns. */
  guint64 sender_clock;
  guint64 now;                  /* ns, true time */
  /* True time in ns at which the source began to produce frames. It is
   * MMTP_SIMULATION_NEVER if the source has not begun.
   */
  guint64 origin;
  MmtpSimulationEnd paths[MMTP_SIMULATION_MAX_PATHS];
  GPtrArray *flows;             /* of MmtpSimulationFlow */
  guint8 *scratch;              /* MMTP_MAX_MESSAGE bytes */
  guint n_acted;
  MmtpSimulationFrame *frames;
  guint n_put;
  guint64 last_put;
  guint64 next_watch;           /* ns */
  /* TRUE if the sender has reported MMTP_EVENT_ENDED: the receiver has
   * acknowledged the end of the stream. */
  gboolean has_ended;
  /* the judge's */
  MmtpSimulationResult result;
  /* Highest number of the frames that the receiver has output so far, plus 1.
   * If it outputs a frame with a lower number, this frame is out of order. */
  guint next_frame;
  guint n_errors;
};

guint64 mmtp_simulation_to_sender (const MmtpSimulation * simulation,
    guint64 now);
guint64 mmtp_simulation_to_receiver (const MmtpSimulation * simulation,
    guint64 now);

void mmtp_simulation_judge_init (MmtpSimulation * simulation);
void mmtp_simulation_judge_clear (MmtpSimulation * simulation);
void mmtp_simulation_judge_sent (MmtpSimulation * simulation,
    VirtualLinkDirection direction, guint path, const guint8 * bytes,
    gsize size);
void mmtp_simulation_judge_packet (MmtpSimulation * simulation, guint path,
    const guint8 * bytes, gsize size);
void mmtp_simulation_judge_tcp (MmtpSimulation * simulation, guint path,
    const Tcp * tcp);
void mmtp_simulation_judge_sender_event (MmtpSimulation * simulation,
    const MmtpSenderEvent * event);
/* Handles an event of the receiver: updates the results of the simulation, and
 * frees the memory that belongs to the event. */
void mmtp_simulation_judge_receiver_event (MmtpSimulation * simulation,
    MmtpReceiverEvent * event);
void mmtp_simulation_judge_memory (MmtpSimulation * simulation);
void mmtp_simulation_judge_end (MmtpSimulation * simulation);
/* Records that a condition was violated that must always hold. Appends a text
 * about it to the errors in the result. Only the first few texts are stored,
 * but all violations are counted. */
void
mmtp_simulation_error (MmtpSimulation * simulation, const gchar * format, ...)
G_GNUC_PRINTF (2, 3);

#endif /* __MMTPSIMULATIONPRIVATE_H__ */

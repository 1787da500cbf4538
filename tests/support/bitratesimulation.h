/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Simulates an encoder that sends over a link and adapts its bitrate to the
 * rate that MMTP estimates. The simulation runs in virtual time. It consists of
 * a model of an encoder, the rule by which the element bitrateadapt chooses the
 * bitrate, the sender and receiver cores of MMTP, and the link model of the
 * element wirelesslink. A test uses the simulation as follows:
 *
 *     simulation = bitrate_simulation_new (&path, 0, 1, seed, bitrate,
 *         latency, 40 * LINK_SECOND);
 *     bitrate_simulation_run (simulation, 40 * LINK_SECOND);
 *     ... read simulation->frames ...
 *     bitrate_simulation_free (simulation);
 *
 * If the environment variable BITRATE_STEPS_LOG is set, the simulation prints
 * its state every 100 ms. All times are in ns. */

#ifndef __BITRATE_SIMULATION_H__
#define __BITRATE_SIMULATION_H__

#include "arenapaths.h"
#include "bitratecontrol.h"
#include "bitratekeyframes.h"
#include "mmtpreceiver.h"
#include "mmtpsender.h"

G_BEGIN_DECLS

#define BITRATE_NEVER G_MAXUINT64
#define BITRATE_FRAME_PERIOD (40 * LINK_MS)
#define BITRATE_MAX_FRAMES 2000

typedef struct
{
  guint64 captured;
  gboolean is_key;
  guint size;                   /* bytes */
  guint n_packets, n_arrived;
  /* Time at which the receiver passed the last packet of the frame to its
   * application. It is BITRATE_NEVER if the receiver has not done this yet. */
  guint64 shown;
} BitrateFrame;

/* A model of an encoder whose rate control has a buffer model (VBV). Frame
 * sizes vary, and key frames are larger than other frames. After a frame that
 * was too large, the encoder makes the next frames smaller. */
typedef struct
{
  guint64 bitrate;
  /* The bitrate in bit/s that is enough for the pictures, for example because
   * they are simple. The encoder does not use more, even if `bitrate` is
   * higher. */
  guint64 needed_bitrate;
  /* TRUE if the bitrate of the encoder is fixed: it keeps the value of
   * `bitrate` and does not adapt to the network. */
  gboolean is_fixed;
  gdouble debt;                 /* bytes */
  gboolean is_key_due;
} BitrateEncoder;

typedef struct
{
  guint64 now, seed;
  guint64 latency;              /* latency of MMTP */
  ArenaLinks links;
  guint flows[ARENA_N_DIRECTIONS];
  MmtpSender *sender;
  MmtpReceiver *receiver;
  gboolean is_ready;
  BitrateEncoder encoder;
  BitrateControl *control;
  BitrateFrame frames[BITRATE_MAX_FRAMES];
  guint n_frames;
  guint64 next_frame, next_control, next_log;
  BitrateKeyFrames key_frames;
  /* Number of packets that had been lost or were too late when the rule that
   * chooses the bitrate was last called. */
  guint64 lost;
  GArray *entered;              /* guint64 pairs: time, bytes */
  guint8 scratch[MMTP_MAX_MESSAGE];
} BitrateSimulation;

/* Prepares a run over `path`. `run` is the number of the run, and `n_runs` is
 * the number of all runs. They determine the seeds of the links and the section
 * of the delivery traces. The encoder starts at `bitrate` bit/s. `latency` is
 * the latency of MMTP, and `duration` is the maximum time of the run, both in
 * ns. */
BitrateSimulation *bitrate_simulation_new (const ArenaPath * path, guint run,
    guint n_runs, guint64 seed, guint64 bitrate, guint64 latency,
    guint64 duration);
void bitrate_simulation_run (BitrateSimulation * simulation, guint64 until);
void bitrate_simulation_free (BitrateSimulation * simulation);

/* Time in ns by which the sender's clock is ahead of the clock of the
 * simulation.
 */
#define BITRATE_CLOCK_OFFSET (500 * LINK_SECOND)

/* Returns the number of bytes that the sender put into the network between the
 * times `from` and `to` (ns), including the IP and UDP headers. */
guint64 bitrate_simulation_get_entered (const BitrateSimulation * simulation,
    guint64 from, guint64 to);

G_END_DECLS

#endif /* __BITRATE_SIMULATION_H__ */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One run of the arena (a benchmark of MMTP) in virtual time. Streaming
 * sessions and TCP transfers share simulated paths. The run records the arrival
 * time of each frame and the number of bytes that were sent. arenajudge.h
 * computes figures from this record, such as the share of decodable frames. */

#ifndef __ARENA_SIMULATION_H__
#define __ARENA_SIMULATION_H__

#include "arenaclip.h"
#include "arenapaths.h"
#include "tcpmodel.h"

G_BEGIN_DECLS

#define ARENA_MAX_PATHS 4
#define ARENA_MAX_SESSIONS 2
#define ARENA_MAX_TCP 1
#define ARENA_NEVER G_MAXUINT64
/* Size in bytes of the IPv4 header and the UDP header of a packet. The RTP
 * header does not count, because it is part of the packet that the stream
 * passes to the transport. */
#define ARENA_IP_UDP 28
/* Number of bytes that MMTP adds to a packet of the stream: the header and the
 * trailer of a DATA message (docs/wire-mmtp.md). */
#define ARENA_MMTP_DATA 24

typedef enum
{
  ARENA_MMTP,
  /* RTP over UDP: each packet is sent immediately, on one path. */
  ARENA_UDP
} ArenaTransport;

typedef struct
{
  ArenaTransport transport;
  const GArray *frames;         /* of ArenaFrame */
  /* Time in ns from the start of the run to the start of the session. */
  guint64 begin;
  guint64 latency;              /* ns: D0 */
  /* The frame period in ns that is part of the sender's configuration; 0 if the
   * sender does not know it in advance. */
  guint64 frame_period;
  gboolean begins_at_once;      /* see ArenaScenario */
  guint udp_path;
} ArenaSessionConfig;

typedef struct
{
  guint path;
  /* Time in ns from the start of the run to the start of the TCP flow. */
  guint64 begin;
  TcpAlgorithm algorithm;
} ArenaTcpConfig;

typedef struct
{
  const ArenaPath *paths;
  guint n_paths;
  /* `number` is the number of this run, and `n` is the number of all runs. They
   * are passed to arena_links_open (), which chooses the seeds and the sections
   * of the traces. */
  guint number, n;
  guint64 duration;             /* Duration of the streams in ns. */
  /* Times in ns between which the arriving bytes of each session and of each
   * TCP flow are counted. */
  guint64 measure_from, measure_to;
  guint n_sessions;
  ArenaSessionConfig sessions[ARENA_MAX_SESSIONS];
  guint n_tcp;
  ArenaTcpConfig tcp[ARENA_MAX_TCP];
} ArenaSimulationConfig;

/* A sample of the sender's statistics. */
typedef struct
{
  guint64 time;                 /* ns */
  guint64 estimated_rate;       /* bit/s */
} ArenaSample;

typedef struct
{
  guint64 ready_at;             /* Time in ns, or ARENA_NEVER. */
  /* Time in ns at which the first frame was due; ARENA_NEVER if the stream has
   * not begun. */
  guint64 origin;
  /* For each frame, the time in ns at which its last packet came out of the
   * receiver; ARENA_NEVER if the frame did not arrive completely. */
  guint64 *arrived;
  /* For each frame, the number of its packets that the sender never sent. They
   * are counted only if the session uses MMTP. With RTP over UDP, all elements
   * are 0. */
  guint16 *unsent;
  /* For each frame, the number of bytes that the sender sent for it, including
   * the headers of IP and UDP. They are counted only if the session uses MMTP.
   * With RTP over UDP, all elements are 0. */
  guint64 *sent_bytes;
  guint64 forward_bytes, back_bytes;    /* Bytes sent, including IP and UDP. */
  guint64 measured_bytes;       /* Bytes that arrived, including IP and UDP. */
  /* One array of guint32 for each path. It has an element for each packet that
   * arrived over the path: the packet's one-way delay in us, minus the random
   * jitter that the link added. */
  GArray *delays[ARENA_MAX_PATHS];
  /* The rate that the sender estimates for all its paths together. The array
   * contains an ArenaSample for every 50 ms. */
  GArray *samples;
} ArenaSessionRecord;

typedef struct
{
  ArenaSessionRecord sessions[ARENA_MAX_SESSIONS];
  guint64 tcp_measured_bytes[ARENA_MAX_TCP];
  /* TRUE if the run was stopped because an endpoint was in an endless loop: it
   * asked to be called again and again at the same virtual time. */
  gboolean stuck;
} ArenaRecord;

/* Returns the maximum duration of a run in virtual time, in ns. */
guint64 arena_simulation_get_length (const ArenaSimulationConfig * config);
/* Selects the rate control of all later runs by its name. NULL means the
 * default. Returns FALSE if there is no rate control with this name. */
gboolean arena_simulation_set_rate_control (const gchar * name);
/* Free with arena_record_clear () */
void arena_simulation_run (const ArenaSimulationConfig * config,
    ArenaRecord * record);
void arena_record_clear (ArenaRecord * record);

G_END_DECLS

#endif /* __ARENA_SIMULATION_H__ */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One run of the arena in virtual time: sessions stream over shared paths, next
 * to TCP transfers. The run records the arrival time of each frame and the
 * number of bytes that were sent. arenajudge.h computes the figures from this
 * record.
 */

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
/* Bytes of the IPv4 and UDP headers. The RTP header is part of the packets. */
#define ARENA_IP_UDP 28
/* Number of bytes that MMTP adds to a packet of the stream. They are the bytes
 * of a DATA message without its payload; see docs/wire-mmtp.md. */
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
  guint64 begin;                /* Time in ns at which the session begins. */
  guint64 latency;              /* ns: D0 */
  /* The frame period in ns that is configured at the sender; 0 if none is
   * configured. */
  guint64 frame_period;
  guint udp_path;
} ArenaSessionConfig;

typedef struct
{
  guint path;
  /* Time in ns at which the TCP flow begins. */
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
  /* Bytes that arrive from measure_from to measure_to (ns) are counted in
   * measured_bytes.
   */
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
  /* Time in ns at which the first frame was due. */
  guint64 origin;
  /* For each frame, the time in ns at which the receiver output the last packet
   * of the frame, or ARENA_NEVER. */
  guint64 *arrived;
  /* For each frame, the number of packets that were never sent. */
  guint16 *unsent;
  /* For each frame, the number of bytes of all its packets that were sent,
   * including the headers of IP and UDP. If the session uses RTP over UDP
   * instead of MMTP, this array and `unsent` contain only 0. */
  guint64 *sent_bytes;
  guint64 forward_bytes, back_bytes;    /* Bytes sent, including IP and UDP. */
  guint64 measured_bytes;       /* Bytes that arrived, including IP and UDP. */
  /* One array of guint32 for each path, with an element for each packet that
   * arrived over the path: its one-way delay in us, without the random jitter
   * that the link added. */
  GArray *delays[ARENA_MAX_PATHS];
  /* The estimated rate of the session, as an array of ArenaSample with one
   * sample every 50 ms. */
  GArray *samples;
} ArenaSessionRecord;

typedef struct
{
  ArenaSessionRecord sessions[ARENA_MAX_SESSIONS];
  guint64 tcp_measured_bytes[ARENA_MAX_TCP];
  /* An endpoint is in an endless loop: it requested to be called again and
   * again at the same virtual time. */
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

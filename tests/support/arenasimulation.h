/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One run of the arena in virtual time: sessions that stream over shared paths,
 * beside transfers over TCP. It records when each frame had arrived and what
 * that cost; arenajudge.h makes figures of it.
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
/* bytes of IPv4 and UDP; RTP is part of the packets */
#define ARENA_IP_UDP 28
/* bytes of a DATA message beside its payload: docs/wire-mmtp.md */
#define ARENA_MMTP_DATA 24

typedef enum
{
  ARENA_MMTP,
  ARENA_UDP                     /* each packet at once, on one path */
} ArenaTransport;

typedef struct
{
  ArenaTransport transport;
  const GArray *frames;         /* of ArenaFrame */
  guint64 begin;                /* ns: when the session begins */
  guint64 latency;              /* ns: D0 */
  guint64 frame_period;         /* ns that the sender is told; 0: nothing */
  guint udp_path;
} ArenaSessionConfig;

typedef struct
{
  guint path;
  guint64 begin;                /* ns */
  TcpAlgorithm algorithm;
} ArenaTcpConfig;

typedef struct
{
  const ArenaPath *paths;
  guint n_paths;
  guint number, n;              /* of the run, for arena_links_open () */
  guint64 duration;             /* ns: of the streams */
  guint64 measure_from, measure_to;     /* ns: bytes that arrive between are
                                         * counted in measured_bytes */
  guint n_sessions;
  ArenaSessionConfig sessions[ARENA_MAX_SESSIONS];
  guint n_tcp;
  ArenaTcpConfig tcp[ARENA_MAX_TCP];
} ArenaSimulationConfig;

/* What the sender said of itself at a time */
typedef struct
{
  guint64 time;                 /* ns */
  guint64 estimated_rate;       /* bit/s */
} ArenaSample;

typedef struct
{
  guint64 ready_at;             /* ns, or ARENA_NEVER */
  guint64 origin;               /* ns: when the first frame was due */
  guint64 *arrived;             /* ns, by frame: when the last packet of it was
                                 * let out; or ARENA_NEVER */
  guint16 *unsent;              /* by frame: packets that were never sent */
  guint64 *sent_bytes;          /* by frame: of all its packets that were sent,
                                 * with IP and UDP. Both are 0 over UDP. */
  guint64 forward_bytes, back_bytes;    /* sent, with IP and UDP */
  guint64 measured_bytes;       /* that arrived, with IP and UDP */
  GArray *delays[ARENA_MAX_PATHS];      /* of guint32, us: one-way delay of each
                                         * packet that arrived, without jitter
                                         * by chance */
  GArray *samples;              /* of ArenaSample, each 50 ms */
} ArenaSessionRecord;

typedef struct
{
  ArenaSessionRecord sessions[ARENA_MAX_SESSIONS];
  guint64 tcp_measured_bytes[ARENA_MAX_TCP];
  gboolean stuck;               /* an end wanted to be called for ever */
} ArenaRecord;

/* The longest time that a run may take */
guint64 arena_simulation_get_length (const ArenaSimulationConfig * config);
/* Selects the rate control of all later runs by its name; NULL means the
 * default. Returns FALSE if there is none of this name. */
gboolean arena_simulation_set_rate_control (const gchar * name);
/* Free with arena_record_clear () */
void arena_simulation_run (const ArenaSimulationConfig * config,
    ArenaRecord * record);
void arena_record_clear (ArenaRecord * record);

G_END_DECLS

#endif /* __ARENA_SIMULATION_H__ */

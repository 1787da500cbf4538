/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Two ends of a session over simulated paths in virtual time, and what
 * became of each frame. The judge looks at the bytes of each DATA packet and at
 * true times by itself, so that it need not believe what the ends say of
 * themselves.
 *
 *   mmtp_simulation_config_init (&config, &mmtp_simulation_cores);
 *   ... paths, source ...
 *   simulation = mmtp_simulation_new (&config);
 *   mmtp_simulation_run (simulation);
 *   mmtp_simulation_get_result (simulation)
 */

#ifndef __MMTPSIMULATION_H__
#define __MMTPSIMULATION_H__

#include "mmtpreceiver.h"
#include "mmtpsender.h"
#include "virtuallink.h"

#define MMTP_SIMULATION_MAX_PATHS 8
#define MMTP_SIMULATION_OVERHEAD 28 /* bytes of IPv4 and UDP */
#define MMTP_SIMULATION_MAX_ACTIONS 32
#define MMTP_SIMULATION_NEVER G_MAXUINT64

typedef struct _MmtpSimulation MmtpSimulation;

/* The two ends: the cores, or something simple to hold the simulation itself to
 * what can be worked out by hand. The same verbs as the cores'. */
/* *INDENT-OFF* */
typedef struct
{
  gboolean speaks_mmtp;         /* the judge may look at the packets */
  gpointer (*sender_new) (const MmtpSenderConfig * config, guint64 seed);
  void (*sender_free) (gpointer sender);
  gint (*add_path) (gpointer sender, guint64 now,
      const MmtpPathConfig * config);
  void (*remove_path) (gpointer sender, guint64 now, guint path,
      MmtpLeaveReason reason);
  gboolean (*put) (gpointer sender, guint64 now, const MmtpBuffer * buffer);
  gboolean (*has_room) (gpointer sender, guint64 now);
  void (*end) (gpointer sender, guint64 now);
  void (*sender_input) (gpointer sender, guint64 now, guint path,
      const guint8 * bytes, gsize size);
  void (*sender_timeout) (gpointer sender, guint64 now);
  gsize (*sender_poll_output) (gpointer sender, guint64 now,
      guint * path, guint8 * bytes, gsize room);
  guint64 (*sender_next_wakeup) (gpointer sender);
  gboolean (*sender_poll_event) (gpointer sender, MmtpSenderEvent * event);
  void (*get_sender_stats) (gpointer sender, MmtpSenderStats * stats);
  gboolean (*get_sender_path_stats) (gpointer sender, guint path,
      MmtpSenderPathStats * stats);

  gpointer (*receiver_new) (const MmtpReceiverConfig * config, guint64 seed);
  void (*receiver_free) (gpointer receiver);
  void (*receiver_input) (gpointer receiver, guint64 now,
      const MmtpAddress * address, const guint8 * bytes, gsize size);
  void (*receiver_timeout) (gpointer receiver, guint64 now);
  gsize (*receiver_poll_output) (gpointer receiver, guint64 now,
      MmtpAddress * address, guint8 * bytes, gsize room);
  guint64 (*receiver_next_wakeup) (gpointer receiver);
  gboolean (*receiver_poll_event) (gpointer receiver,
      MmtpReceiverEvent * event);
  void (*get_receiver_stats) (gpointer receiver, MmtpReceiverStats * stats);
  gboolean (*get_receiver_path_stats) (gpointer receiver, guint path,
      MmtpReceiverPathStats * stats);
} MmtpSimulationEnds;
/* *INDENT-ON* */

extern const MmtpSimulationEnds mmtp_simulation_cores;
/* A sender that puts each frame into one datagram on the first path at once,
 * and a receiver that lets out what comes: UDP [5.2] */
extern const MmtpSimulationEnds mmtp_simulation_udp;

typedef struct
{
  guint n;                      /* frames */
  guint64 period;               /* ns */
  guint32 size;                 /* bytes, of a video's the mean */
  gboolean video;               /* IBBPBBPBBPBB, sizes as 5 : 3 : 1 */
  gboolean stored;              /* there all at once, put while there is room */
} MmtpSimulationSource;

typedef enum
{
  MMTP_SIMULATION_ADD,          /* a path, with a new address */
  MMTP_SIMULATION_REMOVE
} MmtpSimulationActionType;

typedef struct
{
  guint64 time;                 /* ns since the origin */
  MmtpSimulationActionType type;
  guint path;
} MmtpSimulationAction;

typedef struct
{
  VirtualLinkConfig link;
  guint n_tcp;                  /* flows that share the forward direction */
  guint64 tcp_from;             /* ns since the origin; 0: from the beginning */
  gboolean is_later;            /* not there until an action adds it */
  guint64 known_rate, known_delay;      /* as MmtpPathConfig's */
} MmtpSimulationPathConfig;

typedef struct
{
  const MmtpSimulationEnds *ends;
  guint64 seed;
  MmtpSenderConfig sender;
  MmtpReceiverConfig receiver;
  MmtpSimulationPathConfig paths[MMTP_SIMULATION_MAX_PATHS];
  guint n_paths;
  guint max_size;               /* bytes of a message */
  MmtpSimulationSource source;
  MmtpSimulationAction actions[MMTP_SIMULATION_MAX_ACTIONS];
  guint n_actions;
  gint64 clock_offset;          /* ns, of the receiver's clock */
  gint64 clock_skew;            /* parts per billion, of the receiver's clock */
  guint64 timeout;              /* ns until the origin, ready or not */
  gboolean verbose;
  /* Called once in each period of virtual time; 0: never */
  guint64 watch_period;         /* ns */
  void (*watch) (MmtpSimulation * simulation, gpointer data);
  gpointer watch_data;
} MmtpSimulationConfig;

void mmtp_simulation_config_init (MmtpSimulationConfig * config,
    const MmtpSimulationEnds * ends);
/* Appends one, with the rest of the configuration zero */
MmtpSimulationPathConfig *
mmtp_simulation_config_add_path (MmtpSimulationConfig * config,
    const VirtualLinkPath * forward, const VirtualLinkPath * back);
void mmtp_simulation_config_set_source (MmtpSimulationConfig * config, guint n,
    guint64 period, guint32 size);
void mmtp_simulation_config_add_action (MmtpSimulationConfig * config,
    guint64 time, MmtpSimulationActionType type, guint path);

/* What the judge saw of a frame; times are true ones */
typedef struct
{
  guint64 due;                  /* ns; MMTP_SIMULATION_NEVER: not put yet */
  guint64 limit;                /* ns, due + D0 at the time */
  guint64 arrived;              /* ns, the last of its packets before it was let
                                 * out */
  guint64 released;             /* ns; MMTP_SIMULATION_NEVER: not */
  guint32 size;
  guint8 flags;
  gboolean refused;             /* put said no */
} MmtpSimulationFrame;

typedef struct
{
  guint64 origin;               /* ns, when the source began */
  gboolean ready;               /* the sender said so before */
  guint64 initial_delay;        /* ns, D0 at the end */
  guint frames;                 /* put */
  guint refused;                /* at once */
  guint in_time, too_late;      /* let out, and arrived before and after their
                                 * limit */
  guint missing;                /* never let out */
  guint duplicates, out_of_order, corrupt;
  guint64 worst_release;        /* ns after the limit, where the ends' clocks
                                 * differ from the truth */
  guint64 data_packets;         /* sent */
  guint64 data_arrived;
  guint64 messages[2][MMTP_LAST_TYPE];  /* sent, by direction and type */
  guint64 late_packets;         /* of these arrived after their limit */
  guint64 worst_late;           /* ns */
  guint64 max_queued, max_held;         /* bytes, by the ends' own account */
  guint64 ended_at;             /* ns, END came out; MMTP_SIMULATION_NEVER: it
                                 * didn't */
  guint64 worst_deadline;       /* ns, between a buffer's deadline at the
                                 * receiver and the true one */
  /* bytes of IP that arrived from the time on at which both the source and the
   * TCP flows had begun, until the last frame was put */
  guint64 mmtp_bytes[MMTP_SIMULATION_MAX_PATHS];
  guint64 tcp_bytes[MMTP_SIMULATION_MAX_PATHS];
  MmtpSenderStats sender;
  MmtpReceiverStats receiver;
  MmtpSenderPathStats paths[MMTP_SIMULATION_MAX_PATHS];
  MmtpReceiverPathStats arrivals[MMTP_SIMULATION_MAX_PATHS];
  VirtualLinkStats links[MMTP_SIMULATION_MAX_PATHS][2];
  guint broken_events, too_slow_events;
  GString *errors;              /* the first few things that may never be */
} MmtpSimulationResult;

MmtpSimulation *mmtp_simulation_new (const MmtpSimulationConfig * config);
void mmtp_simulation_free (MmtpSimulation * simulation);
void mmtp_simulation_run (MmtpSimulation * simulation);
/* Owned by the simulation */
const MmtpSimulationResult *mmtp_simulation_get_result
    (MmtpSimulation * simulation);
const MmtpSimulationFrame *mmtp_simulation_get_frames
    (MmtpSimulation * simulation);
/* Frames put in this time since the origin, ns, that were not let out in
 * time */
guint mmtp_simulation_count_lost (MmtpSimulation * simulation, guint64 from,
    guint64 to);
/* The lost frames among them that no decoder could have shown, because a frame
 * to which they refer was lost, too */
guint mmtp_simulation_count_useless (MmtpSimulation * simulation, guint64 from,
    guint64 to);
/* A few lines for a person */
void mmtp_simulation_print (MmtpSimulation * simulation);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MmtpSimulation, mmtp_simulation_free)
#endif /* __MMTPSIMULATION_H__ */

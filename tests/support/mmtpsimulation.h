/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Two endpoints of an MMTP session over simulated paths in virtual time. A part
 * of the simulation, which is called the judge, records the fate of each frame.
 * It parses each DATA packet and measures in virtual time, so its results do
 * not depend on the statistics of the endpoints.
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

/* Table of the functions by which the simulation uses its two endpoints. The
 * endpoints are either the sender and receiver of MMTP, or simple replacements.
 * With the replacements, the results of the simulation can be computed by hand.
 */
/* *INDENT-OFF* */
typedef struct
{
  /* TRUE if the endpoints send MMTP packets. Otherwise the part of the
   * simulation that checks the packets (the judge) does not read them. */
  gboolean speaks_mmtp;
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
/* Endpoints that do not use MMTP: the sender sends each frame immediately as
 * one datagram on the first path, and the receiver outputs each frame that
 * arrives. The MMTP paper calls such a program UDP (section 5.2). */
extern const MmtpSimulationEnds mmtp_simulation_udp;

typedef struct
{
  guint n;                      /* frames */
  guint64 period;               /* ns */
  /* Size of each frame in bytes. If `video` is TRUE, it is the mean size. */
  guint32 size;
  /* TRUE if the source is a video with the frame types IBBPBBPBBPBB. The sizes
   * of an I-frame, a P-frame and a B-frame are then in the ratio 5 : 3 : 1. */
  gboolean video;
  /* TRUE if the source is a stored stream, so that all its frames are available
   * from the beginning. The application then passes frames to the sender as
   * long as the sender has room for them. */
  gboolean stored;
} MmtpSimulationSource;

typedef enum
{
  MMTP_SIMULATION_ADD,          /* Adds a path with a new address. */
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
  /* Number of TCP flows that send over the path in the forward direction and
   * compete with MMTP. */
  guint n_tcp;
  /* Time in ns from the start of the source (`origin`) to the start of the TCP
   * flows. If it is 0, the TCP flows start at the beginning of the run instead.
   */
  guint64 tcp_from;
  /* TRUE if the path does not exist at first. An action of the type
   * MMTP_SIMULATION_ADD adds it later. */
  gboolean is_later;
  /* Rate and delay of the path, if the sender knows them in advance. The fields
   * have the same meaning as in MmtpPathConfig. If a field is 0, the sender
   * measures the value. */
  guint64 known_rate, known_delay;
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
  /* Offset of the receiver's clock in ns: the time that it shows when the
   * simulation starts. */
  gint64 clock_offset;
  /* How much faster the receiver's clock runs than the true time, in parts per
   * billion. If it is negative, the clock runs slower. */
  gint64 clock_skew;
  /* The latest time at which the source begins, in ns from the start of the
   * simulation. The source begins earlier if the session is ready before this
   * time. */
  guint64 timeout;
  gboolean verbose;
  /* Interval of virtual time between two calls of the function `watch`, in ns.
   * If it is 0, the function is never called. */
  guint64 watch_period;         /* ns */
  void (*watch) (MmtpSimulation * simulation, gpointer data);
  gpointer watch_data;
} MmtpSimulationConfig;

void mmtp_simulation_config_init (MmtpSimulationConfig * config,
    const MmtpSimulationEnds * ends);
/* Appends a path and returns it. Its two directions are `forward` and `back`.
 * All other fields of the path are zero. */
MmtpSimulationPathConfig *
mmtp_simulation_config_add_path (MmtpSimulationConfig * config,
    const VirtualLinkPath * forward, const VirtualLinkPath * back);
void mmtp_simulation_config_set_source (MmtpSimulationConfig * config, guint n,
    guint64 period, guint32 size);
void mmtp_simulation_config_add_action (MmtpSimulationConfig * config,
    guint64 time, MmtpSimulationActionType type, guint path);

/* Data that the simulation records about a frame. All times are virtual time,
 * not the time of an endpoint's clock. */
typedef struct
{
  /* Due time in ns; MMTP_SIMULATION_NEVER as long as the application has not
   * passed the frame to the sender. */
  guint64 due;
  /* Deadline of the frame in ns: its due time plus the initial delay (D0) that
   * is valid when the frame is output. */
  guint64 limit;
  /* Time in ns at which the last packet of the frame arrived at the receiver.
   * Packets that arrived after the frame had been output do not count. */
  guint64 arrived;
  /* Time in ns at which the frame was output; MMTP_SIMULATION_NEVER if it was
   * not. */
  guint64 released;
  guint32 size;
  guint8 flags;
  gboolean refused;             /* put said no */
} MmtpSimulationFrame;

typedef struct
{
  /* Time in ns at which the source started to produce frames. */
  guint64 origin;
  gboolean ready;               /* The sender reported READY before `origin`. */
  guint64 initial_delay;        /* D0 at the end, in ns. */
  guint frames;                 /* put */
  /* Number of frames that the sender refused to take from the application. */
  guint refused;
  /* Numbers of frames that the receiver output. A frame counts in `in_time` if
   * its last packet arrived before its deadline. Otherwise, it counts in
   * `too_late`. */
  guint in_time, too_late;
  /* number of frames that were in time and whose references were in time */
  guint decodable;
  guint missing;                /* never let out */
  guint duplicates, out_of_order, corrupt;
  /* Maximum time in ns from the true deadline of a frame until its output; 0 if
   * no frame was output after its deadline. It can be above 0, because the
   * clock of the receiver may differ from the true time.
   */
  guint64 worst_release;
  guint64 data_packets;         /* sent */
  guint64 data_arrived;
  /* Number of messages that were sent, for each direction (index 0: to the
   * receiver, index 1: to the sender) and each message type. */
  guint64 messages[2][MMTP_LAST_TYPE];
  /* Number of DATA packets that arrived after the deadline of their frame. */
  guint64 late_packets;
  guint64 worst_late;           /* ns */
  /* Maximum amounts of data that the endpoints held, in bytes: `max_queued` is
   * the maximum of the sender's counter `queued_bytes`, and `max_held` is the
   * maximum of the receiver's counter `held_bytes`. */
  guint64 max_queued, max_held;
  /* Time in ns at which the receiver reported the end of the stream;
   * MMTP_SIMULATION_NEVER if it did not report the end. */
  guint64 ended_at;
  /* Maximum error, in ns, of the deadlines that the receiver reports. The
   * receiver reports a deadline for each frame that it outputs. The error of a
   * reported deadline is its absolute difference from the true deadline of the
   * frame. */
  guint64 worst_deadline;
  /* Bytes of the IP packets that arrived over each path, for MMTP and for TCP.
   * They are counted only while both the source and the TCP flows of the path
   * are active, so that the rates can be compared. The count ends when the
   * application has passed the last frame to the sender. */
  guint64 mmtp_bytes[MMTP_SIMULATION_MAX_PATHS];
  guint64 tcp_bytes[MMTP_SIMULATION_MAX_PATHS];
  MmtpSenderStats sender;
  MmtpReceiverStats receiver;
  MmtpSenderPathStats paths[MMTP_SIMULATION_MAX_PATHS];
  MmtpReceiverPathStats arrivals[MMTP_SIMULATION_MAX_PATHS];
  VirtualLinkStats links[MMTP_SIMULATION_MAX_PATHS][2];
  guint broken_events, too_slow_events;
  /* Text about the first few violations of conditions that must always hold. */
  GString *errors;
} MmtpSimulationResult;

MmtpSimulation *mmtp_simulation_new (const MmtpSimulationConfig * config);
void mmtp_simulation_free (MmtpSimulation * simulation);
void mmtp_simulation_run (MmtpSimulation * simulation);
/* Owned by the simulation */
const MmtpSimulationResult *mmtp_simulation_get_result
    (MmtpSimulation * simulation);
const MmtpSimulationFrame *mmtp_simulation_get_frames
    (MmtpSimulation * simulation);
/* Returns how many of the frames with a due time between `from` and `to` were
 * not output in time. `from` and `to` are in ns and count from the start of the
 * source. */
guint mmtp_simulation_count_lost (MmtpSimulation * simulation, guint64 from,
    guint64 to);
/* Returns the number of frames that were missing, but would have been useless
 * anyway. A frame is missing if it was not output in time. A missing frame
 * would have been useless if it refers to another missing frame, because a
 * decoder could not have decoded it. Only frames with a due time between `from`
 * and `to` are counted. `from` and `to` are in ns and count from the start of
 * the source. */
guint mmtp_simulation_count_useless (MmtpSimulation * simulation, guint64 from,
    guint64 to);
/* Prints a summary of a few lines. */
void mmtp_simulation_print (MmtpSimulation * simulation);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (MmtpSimulation, mmtp_simulation_free)
#endif /* __MMTPSIMULATION_H__ */

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sender of an MMTP session. It takes buffers and sends each packet on a
 * path on which the packet arrives in time. It drops buffers that no path can
 * deliver in time (Magalhães and Kravets 2001, section 4). It is a core without
 * I/O: the caller provides times and randomness.
 *
 *   sender = mmtp_sender_new (&config, entropy);
 *   path = mmtp_sender_add_path (sender, now, &path_config);
 *   mmtp_sender_put (sender, now, &buffer);           a buffer of the stream
 *   mmtp_sender_input (sender, now, path, bytes, size);    a message arrived
 *   while ((size = mmtp_sender_poll_output (sender, now, &path, bytes,
 *               room)))
 *     send it on that path
 *   while (mmtp_sender_poll_event (sender, &event)) ...
 *   wait until mmtp_sender_next_wakeup (sender), then mmtp_sender_timeout (...)
 *
 * Times are in ns on one clock of the caller and never go back. If a time is
 * earlier than the latest time so far, the latest time counts. Poll outputs and
 * events after each call.
 */

#pragma once

#include "driververbs.h"
#include "mmtpbuffer.h"
#include "mmtppathinfo.h"
#include "mmtpscheduler.h"

/* Value of `max_lateness` that mmtpsink uses: 20 ms, in ns. It is the default
 * of the property processing-deadline of GStreamer's video sinks. A player adds
 * this time to its latency. If its decoder is fast, the player can therefore
 * show pictures that arrive up to 20 ms late. */
#define MMTP_SENDER_LATENESS G_GUINT64_CONSTANT (20000000)

typedef struct
{
  guint64 max_delay;            /* maximum of the initial delay (D0), in ns */
  /* Wanted initial delay (D0) in ns; 0 means `max_delay`. If the paths need a
   * longer delay, D0 is raised to that delay, but never above `max_delay`. */
  guint64 initial_delay;
  /* Maximum time in ns by which a packet may miss its deadline and still be
   * useful to the receiver. The default is 0. If several paths can carry the
   * stream, this time is ignored: packets on different paths overtake each
   * other, and the receiver refuses a packet that was overtaken and is late. */
  guint64 max_lateness;
  guint64 keepalive_period;     /* in ns */
  /* maximum time without a message from the receiver, in ns */
  guint64 session_timeout;
  /* requested rate of the stream in bit/s; 0 means that it is measured */
  guint64 bit_rate;
  /* frame period of the stream in us; 0 means that it is measured */
  guint32 frame_period;
  /* Maximum size in bytes of the queue of data that wait to be sent. If the
   * queue has too little room for a new buffer, less important data are
   * dropped. If this does not suffice, the new buffer is refused. If the queue
   * is empty, a buffer is accepted even if the buffer alone is longer than the
   * maximum.
   *
   * Sent packets are stored outside the queue, because they may have to be
   * retransmitted. Their total size has the same maximum. When a path falls
   * silent, the packets in flight on it are put back into the queue, and the
   * size of the queue is not checked. The queue may therefore become twice as
   * large as the maximum. */
  guint64 max_bytes;
  gboolean retransmit;
  /* maximum bitrate of padding in bit/s; 0 means no padding (mmtppadding.h) */
  guint64 padding_rate;
  /* TRUE if the stream is stored media. Its buffers may be sent long before
   * they are due. */
  gboolean stored;
  MmtpSchedulerType scheduler;
  /* Name of the congestion control for paths without a configured rate. It must
   * be a static string. NULL means the default. */
  const gchar *rate_control;
  /* Key of the application; NULL means no key. The sender takes a reference. */
  GBytes *key;
} MmtpSenderConfig;

/* Sets every field to its default. */
void mmtp_sender_config_init (MmtpSenderConfig * config);

typedef struct _MmtpSender MmtpSender;

MmtpSender *mmtp_sender_new (const MmtpSenderConfig * config,
    const guint8 entropy[MMTP_ENTROPY_SIZE]);
void mmtp_sender_free (MmtpSender * sender);

/* Adds a path and returns its id, or -1 if there are 256 paths already. If a
 * path with this name was added before, the id of that path is returned. The
 * first path starts the handshake. */
gint mmtp_sender_add_path (MmtpSender * sender, guint64 now,
    const MmtpPathConfig * config);
/* Removes a path and tells the receiver that the path was removed. Packets in
 * flight on the path are sent again on other paths. If the address of a path
 * has changed, do not remove the path, but call mmtp_sender_add_path() again.
 */
void mmtp_sender_remove_path (MmtpSender * sender, guint64 now,
    guint id, MmtpLeaveReason reason);

/* Puts a buffer into the queue and returns TRUE. If the buffer would be late,
 * or if the queue has no room for it, drops the buffer and returns FALSE. */
gboolean mmtp_sender_put (MmtpSender * sender, guint64 now,
    const MmtpBuffer * buffer);
/* Returns whether a buffer that is put into the queue now would be sent in
 * time. If the result is FALSE, a caller that can wait should wait for
 * MMTP_EVENT_ROOM. */
gboolean mmtp_sender_has_room (MmtpSender * sender, guint64 now);
/* Returns whether a buffer of `size` bytes may be put into the queue now. FALSE
 * means that the buffer has to wait until the queue is shorter. Every buffer
 * fits into an empty queue. */
gboolean mmtp_sender_fits (const MmtpSender * sender, gsize size);
/* Sets the caps; NULL means no caps. Returns FALSE, and leaves the stream
 * without caps, if they are longer than MMTP_MAX_CAPS. */
gboolean mmtp_sender_set_caps (MmtpSender * sender, guint64 now,
    const gchar * caps);
/* Ends the stream. The caller must not add any more buffers. The sender reports
 * MMTP_EVENT_ENDED when the receiver has received the complete stream. */
void mmtp_sender_end (MmtpSender * sender, guint64 now);
/* Removes all waiting packets, for a flush. They do not count as dropped. The
 * stream continues with the next buffer. */
void mmtp_sender_flush (MmtpSender * sender, guint64 now);
/* Drops all waiting buffers, because the session is over or has to end
 * immediately. They are reported as MMTP_DISCARD_CONNECTION. */
void mmtp_sender_give_up_all (MmtpSender * sender, guint64 now);
/* Changes the wanted initial delay (D0) of a running session, and the maximum
 * of D0. Sends the new D0 to the receiver. */
void mmtp_sender_set_delays (MmtpSender * sender, guint64 now,
    guint64 max_delay, guint64 initial_delay);

/* Changes the maximum bitrate of padding, in bit/s. Padding consists of
 * messages that are sent only to measure the paths. */
void mmtp_sender_set_padding (MmtpSender * sender, guint64 now, guint64 rate);

void mmtp_sender_input (MmtpSender * sender, guint64 now, guint id,
    const guint8 * bytes, gsize size);
/* Tells the sender whether the socket of the path is blocked. `blocked` is TRUE
 * if the socket accepts no packets for now, and FALSE if it accepts packets
 * again. */
void mmtp_sender_set_blocked (MmtpSender * sender, guint64 now, guint id,
    gboolean blocked);
void mmtp_sender_timeout (MmtpSender * sender, guint64 now);
/* Writes the next message to `bytes` and returns its size; 0 if there is
 * nothing to send now. `room` must be at least the maximum message size of any
 * path. */
gsize mmtp_sender_poll_output (MmtpSender * sender, guint64 now,
    guint * path, guint8 * bytes, gsize room);
guint64 mmtp_sender_next_wakeup (MmtpSender * sender);

typedef enum
{
  /* The session has begun, and the stream may begin. `rate` is a first estimate
   * of the bitrate that the paths can carry, and `delay` is the initial delay
   * (D0). */
  MMTP_EVENT_READY,
  /* The session was refused. `reason` is an MmtpRefuseReason. */
  MMTP_EVENT_REFUSED,
  /* Session timeout: the receiver no longer responds. */
  MMTP_EVENT_LOST,
  /* The queue was full and has room again. mmtp_sender_has_room() now returns
   * TRUE. */
  MMTP_EVENT_ROOM,
  /* The estimated rate of all paths together has changed. */
  MMTP_EVENT_RATE,
  /* The requested rate is higher than the sum of the rates of all paths. This
   * event is sent before the stream begins, and afterwards at most once per
   * second (section 4.3 of the MMTP paper). */
  MMTP_EVENT_TOO_SLOW,
  MMTP_EVENT_DELAY,             /* D0 has changed. */
  MMTP_EVENT_PATH,           /* The state of a path has changed. */
  MMTP_EVENT_BROKEN,            /* The only path is silent [4.6]. */
  MMTP_EVENT_DISCARDED,         /* A buffer was dropped. */
  /* The receiver has acknowledged the end of the stream. */
  MMTP_EVENT_ENDED
} MmtpSenderEventType;

typedef struct
{
  MmtpSenderEventType type;
  /* estimated stream bitrate that all paths can carry together, in bit/s */
  guint64 rate;
  /* TRUE if `rate` is only a lower bound, because the stream did not use the
   * full rate of the paths */
  gboolean is_app_limited;
  guint64 requested;            /* requested rate in bit/s */
  guint64 delay;                /* initial delay (D0), in ns */
  /* reason of a refusal, or the MmtpDiscard that says why a buffer was dropped
   */
  guint8 reason;
  guint version;                /* protocol version of the receiver */
  guint path;
  MmtpPathState state;
  guint8 flags;                 /* flags of the dropped buffer */
  /* TRUE if other buffers refer to the dropped buffer. In this case a new key
   * frame would help.
   */
  gboolean is_needed;
  guint32 size;                 /* size of the dropped buffer, in bytes */
  guint64 pts;                  /* `pts` of the dropped buffer */
} MmtpSenderEvent;

gboolean mmtp_sender_poll_event (MmtpSender * sender, MmtpSenderEvent * event);

/* Statistics of the sender. Counters never decrease. */
typedef struct
{
  gboolean ready;
  /* Number of buffers from the application, and their total size in bytes. */
  guint64 buffers, bytes;
  guint64 packets;              /* packets of the stream */
  guint64 sent_buffers;         /* buffers sent completely */
  /* number of buffers dropped because no path could deliver them in time */
  guint64 discarded_buffers;
  /* number of buffers dropped because the queue would exceed max_bytes */
  guint64 discarded_room;
  /* number of buffers dropped because they refer to a dropped buffer */
  guint64 discarded_broken;
  guint64 discarded_connection; /* dropped because the session ended */
  /* Numbers of dropped buffers of two kinds. `discarded_keys` counts those that
   * belong to key frames. `discarded_droppable` counts those that belong to
   * pictures to which no other picture refers. */
  guint64 discarded_keys, discarded_droppable;
  guint64 retransmitted;        /* retransmitted packets */
  guint64 repairs;              /* REPAIR messages sent */
  /* Number of padding messages that were sent, and their total size in bytes,
   * including the IP and UDP headers. Padding messages are sent only to measure
   * the paths. */
  guint64 padding, padding_bytes;
  /* number of packets that were reported as lost but were not retransmitted */
  guint64 unrepaired;
  /* Number of lookups of messages that a REPORT lists as lost. A message is
   * looked up by its channel number. Tests check that the number of lookups per
   * REPORT stays bounded. */
  guint64 loss_lookups;
  /* Number of packets that were examined while REPORTs were processed. Tests
   * check that this number stays bounded for each REPORT. */
  guint64 report_steps;
  guint64 queued_bytes;
  /* estimated stream bitrate that all paths can carry together, in bit/s */
  guint64 estimated_rate;
  /* TRUE if `estimated_rate` is only a lower bound, because the stream did not
   * use the full rate of the paths */
  gboolean is_app_limited;
  guint64 initial_delay;        /* initial delay (D0), in ns */
  /* initial delay (D0) that the paths need, in ns */
  guint64 min_delay;
  guint64 refused[MMTP_LAST_REFUSAL];   /* messages refused, by reason */
  /* number of paths that were ever added; includes paths that were removed */
  guint n_paths;
} MmtpSenderStats;

void mmtp_sender_get_stats (MmtpSender * sender, MmtpSenderStats * stats);
/* A REFUSE says why the receiver has refused the session. Returns the reason in
 * the last REFUSE that was not authenticated with the key, and sets `version`
 * to the protocol version in this REFUSE. Returns 0 if there was no such
 * REFUSE. A REFUSE with the reason MMTP_REFUSE_COOKIE does not count.
 *
 * If a key is set, a REFUSE that is not authenticated does not end the
 * handshake, because anybody could have sent it. A COOKIE that is not
 * authenticated although a key is set counts as a REFUSE with the reason
 * MMTP_REFUSE_KEY. */
MmtpRefuseReason mmtp_sender_get_unverified_refusal (const MmtpSender * sender,
    guint * version);
/* Fills in `stats` with the statistics of the path `id`. Returns FALSE if there
 * is no such path. */
gboolean mmtp_sender_get_path_stats (MmtpSender * sender, guint id,
    MmtpSenderPathStats * stats);

/* The operations through which the driver runs a sender. The path numbers of
 * the driver are the path ids of the sender. */
extern const DriverVerbs mmtp_sender_verbs;

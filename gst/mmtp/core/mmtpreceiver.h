/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The receiver of an MMTP session. It answers the handshake, measures each path
 * and sends reports (Magalhães and Kravets 2001, sections 4.5 and 4.6). It puts
 * the packets into order and reassembles the buffers. After its deadline, a
 * packet is accepted only if `max_lateness` allows it. The receiver is a core
 * without I/O: the caller provides times and randomness.
 *
 *   receiver = mmtp_receiver_new (&config, entropy);
 *   mmtp_receiver_input (receiver, now, &address, bytes, size);
 *   while ((size = mmtp_receiver_poll_output (receiver, now, &address, bytes,
 *               room))) send it to that address
 *   while (mmtp_receiver_poll_event (receiver, &event)) ...
 *   wait until mmtp_receiver_next_wakeup (receiver), then
 *   mmtp_receiver_timeout (receiver, now)
 *
 * Times are in ns on one clock of the caller and never go back.
 */

#pragma once

#include "driververbs.h"
#include "mmtpaddress.h"
#include "mmtppacket.h"

/* Default of the property max-lateness of mmtpsrc: 50 ms, in ns. In a stream
 * with 20 pictures per second, the next picture is due after this time. */
#define MMTP_RECEIVER_LATENESS G_GUINT64_CONSTANT (50000000)

typedef struct
{
  guint64 min_delay;            /* minimum initial delay (D0), in ns */
  /* Maximum initial delay (D0), in ns. D0 is the latency of the session: the
   * time from the due time of a buffer until the buffer is played. If a sender
   * wants a longer delay, it gets this maximum. */
  guint64 max_delay;
  /* How long after its deadline a packet is still accepted, in ns. If a later
   * packet of the stream was already output, the packet is not accepted. The
   * default is 0. */
  guint64 max_lateness;
  /* time in ns between two KEEPALIVEs of the sender on a path; 0 means the time
   * that the sender wants */
  guint64 keepalive_period;
  guint64 session_timeout;      /* in ns */
  /* maximum number of bytes of the packets that are held because earlier
   * packets are missing
   */
  guint64 max_bytes;
  /* Key of the application; NULL means no key. The receiver takes a reference.
   */
  GBytes *key;
} MmtpReceiverConfig;

/* Maximum size of a message from the receiver, in bytes. The longest message is
 * a REPORT of 16 records with 16 ranges each, which has 1575 bytes
 * (docs/wire-mmtp.md). */
#define MMTP_MAX_RECEIVER_MESSAGE 2048

/* Sets every field of the configuration to its default. */
void mmtp_receiver_config_init (MmtpReceiverConfig * config);

typedef struct _MmtpReceiver MmtpReceiver;

MmtpReceiver *mmtp_receiver_new (const MmtpReceiverConfig * config,
    const guint8 entropy[MMTP_ENTROPY_SIZE]);
void mmtp_receiver_free (MmtpReceiver * receiver);
/* Sets whether the application accepts only one stream. If `ends` is TRUE, the
 * receiver refuses every other sender after the end of this stream. The default
 * is FALSE. */
void mmtp_receiver_set_ends (MmtpReceiver * receiver, gboolean ends);

/* Processes a datagram that arrived from `address` at `now`. The buffers in the
 * events contain copies of its bytes.
 *
 * There is one exception: a driver that calls this function through
 * mmtp_receiver_verbs may keep the datagram in a DatagramBlock. A buffer may
 * then be a slice of this block, without a copy. */
void mmtp_receiver_input (MmtpReceiver * receiver, guint64 now,
    const MmtpAddress * address, const guint8 * bytes, gsize size);
void mmtp_receiver_timeout (MmtpReceiver * receiver, guint64 now);
gsize mmtp_receiver_poll_output (MmtpReceiver * receiver, guint64 now,
    MmtpAddress * address, guint8 * bytes, gsize room);
guint64 mmtp_receiver_next_wakeup (MmtpReceiver * receiver);

typedef enum
{
  /* A new session has begun, and any earlier session is over. */
  MMTP_EVENT_SESSION,
  /* The buffers after this event have the caps in `caps`. `caps` is NULL if
   * these buffers have no caps.
   */
  MMTP_EVENT_CAPS,
  MMTP_EVENT_BUFFER,
  MMTP_EVENT_INITIAL_DELAY,     /* D0 has changed to `delay`. */
  /* The presentation rate of the stream, `frame_rate` and `bit_rate`, has
   * changed. The new values apply from the next buffer on. */
  MMTP_EVENT_PRESENTATION_RATE,
  MMTP_EVENT_JOINED,            /* `path` has joined. */
  MMTP_EVENT_LEFT,              /* `path` has left. */
  /* A buffer was dropped because it is longer than max_bytes. This event is
   * sent only once per session. */
  MMTP_EVENT_TOO_LONG,
  MMTP_EVENT_END,               /* The stream has ended. */
  /* Session timeout: the sender no longer responds. */
  MMTP_EVENT_SILENT,
  /* The silent sender responds again; the session continues. */
  MMTP_EVENT_BACK,
  /* A sender was refused because it uses another protocol version, which is in
   * `version`. This event is sent once for each version. */
  MMTP_EVENT_OTHER_VERSION,
  /* A sender was refused, because the application accepts only one stream and
   * this stream has ended. This event is sent once. */
  MMTP_EVENT_OVER
} MmtpReceiverEventType;

typedef struct
{
  MmtpReceiverEventType type;
  /* For MMTP_EVENT_BUFFER: the received data. The caller must free them with
   * datagram_slice_clear (). */
  DatagramSlice data;
  gchar *caps;                  /* freed by the caller */
  /* Due time of the buffer on the caller's clock, in ns, corrected for clock
   * skew. The buffer has to be played at `due` + `delay`. If the due times of
   * successive buffers do not decrease at the sender, they do not decrease here
   * either. */
  guint64 due;
  guint8 flags;                 /* flags of MMTP_FLAGS_OF_BUFFER */
  MmtpPrelude prelude;
  /* TRUE if the previous buffer of the stream is missing */
  gboolean discont;
  guint64 delay;                /* initial delay (D0), in ns */
  /* initial delay (D0) that the sender wants, in ns. If it is more than
   * `delay`, packets that take longer than `delay` are lost. */
  guint64 wanted_delay;
  guint32 frame_rate;           /* in frames per 1000 s */
  guint64 bit_rate;             /* in bit/s */
  guint path;
  guint version;                /* protocol version */
} MmtpReceiverEvent;

gboolean mmtp_receiver_poll_event (MmtpReceiver * receiver,
    MmtpReceiverEvent * event);

/* Statistics of a path. Counters never decrease. */
typedef struct
{
  gboolean joined;
  guint64 received, bytes;      /* messages and their bytes */
  guint64 lost, late, duplicates;
  /* rate of the received messages, as a mean over the last 0.5 to 1 s, in
   * bit/s */
  guint64 rate;
  /* minimum of the transit time in the last 0.5 to 1 s, in ns. The transit time
   * is the arrival time by the receiver's clock minus the sending time by the
   * sender's clock, so only differences of transit times are meaningful. */
  gint64 transit;
  guint64 jitter;               /* in ns, as in RFC 3550, section 6.4.1 */
} MmtpReceiverPathStats;

typedef struct
{
  gboolean in_session;
  guint64 sessions;
  /* number of buffers passed on to the application, and the sum of their sizes
   * in bytes */
  guint64 buffers, bytes;
  guint64 packets;              /* DATA packets that were accepted */
  /* How many of the packets that are counted in `packets` did not arrive, but
   * were computed from REPAIR messages (forward error correction). */
  guint64 recovered;
  /* Number of DATA packets that were refused for one of two reasons:
   * - The packet arrived more than `max_lateness` after its deadline.
   * - The receiver had already passed on a later packet of the stream. */
  guint64 late;
  guint64 duplicates;           /* DATA packets that had arrived before */
  guint64 missing;              /* DATA packets that did not arrive in time */
  /* number of buffers dropped, usually because packets of them were missing */
  guint64 incomplete;
  /* number of packets dropped because the receiver would have held more than
   * max_bytes bytes */
  guint64 no_room;
  guint64 held_bytes;           /* bytes held at present */
  guint64 initial_delay;        /* initial delay (D0), in ns */
  /* How much faster the sender's clock runs than the receiver's clock, in parts
   * per billion. The value is negative if it runs more slowly. */
  gint64 skew;
  guint64 reports;              /* REPORTs sent */
  guint64 refused[MMTP_LAST_REFUSAL];   /* messages refused, by reason */
  /* highest id of all paths that were used so far, plus 1 */
  guint n_paths;
  /* Number of steps that the loops of the reorder buffer have made in this
   * session. It measures the work of the buffer, and tests check that it stays
   * bounded. */
  guint64 reorder_steps;
} MmtpReceiverStats;

void mmtp_receiver_get_stats (MmtpReceiver * receiver,
    MmtpReceiverStats * stats);
/* Fills in the statistics of a path. Returns FALSE if there is no path with
 * this id. */
gboolean mmtp_receiver_get_path_stats (MmtpReceiver * receiver,
    guint path, MmtpReceiverPathStats * stats);

/* The table of functions by which the driver accesses an MMTP receiver. The
 * driver uses one path number, 0, for all paths of the receiver. The receiver
 * distinguishes its paths by their addresses. */
extern const DriverVerbs mmtp_receiver_verbs;

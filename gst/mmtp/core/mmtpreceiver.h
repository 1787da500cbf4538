/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The receiver of an MMTP session. It answers the handshake, measures each path
 * and sends reports (Magalhães and Kravets 2001, sections 4.5 and 4.6). It puts
 * the packets into the order of the stream and reassembles the buffers. A
 * packet that arrives after its deadline is accepted only within `max_lateness`
 * after the deadline.
 *
 * The receiver is a core without I/O: the caller passes the received datagrams,
 * the time and random bytes to it. The caller uses it in this way:
 *
 *   receiver = mmtp_receiver_new (&config, entropy);
 *   mmtp_receiver_input (receiver, now, &address, bytes, size);
 *   while ((size = mmtp_receiver_poll_output (receiver, now, &address, bytes,
 *               room))) send it to that address
 *   while (mmtp_receiver_poll_event (receiver, &event)) ...
 *   wait until mmtp_receiver_next_wakeup (receiver), then
 *   mmtp_receiver_timeout (receiver, now)
 *
 * All times are in ns on one clock of the caller and never go back.
 */

#pragma once

#include "driververbs.h"
#include "mmtpaddress.h"
#include "mmtpreceiverevent.h"

/* Default of the property max-lateness of the element mmtpsrc: 50 ms, in ns.
 * This is the time between two pictures in a stream with 20 pictures per
 * second. */
#define MMTP_RECEIVER_LATENESS G_GUINT64_CONSTANT (50000000)

typedef struct
{
  /* Minimum of the initial delay (D0), in ns. D0 is the latency of the session:
   * the time from the due time of a buffer until the buffer is played. The due
   * time is the time at which the buffer would be played if the network took no
   * time. */
  guint64 min_delay;
  /* Maximum of the initial delay (D0, the latency of the session), in ns. If
   * the sender wants a longer delay, D0 is set to this maximum. */
  guint64 max_delay;
  /* Maximum lateness in ns: how long after its deadline a packet is still
   * accepted. The default is 0. A packet that arrives after its deadline is
   * refused in any case if the receiver has already passed on a later packet of
   * the stream. */
  guint64 max_lateness;
  /* Keep-alive period in ns: the interval at which the sender is expected to
   * send KEEPALIVE messages on each path. 0 means that the receiver uses the
   * period that the sender announces in its OPEN message. */
  guint64 keepalive_period;
  guint64 session_timeout;      /* in ns */
  /* Maximum number of bytes that the receiver holds. It holds packets that wait
   * for missing earlier packets, and buffers that the application has not
   * fetched yet. */
  guint64 max_bytes;
  /* Key with which the messages of the session are authenticated; NULL if there
   * is no key. mmtp_receiver_new() takes a reference. */
  GBytes *key;
} MmtpReceiverConfig;

/* Upper limit in bytes for the size of a message from the receiver. The longest
 * message is a REPORT with 16 records, one for each path. Each record has 16
 * ranges of losses. Such a REPORT has 1479 bytes (docs/wire-mmtp.md). */
#define MMTP_MAX_RECEIVER_MESSAGE 2048

/* Sets every field of the configuration to its default. */
void mmtp_receiver_config_init (MmtpReceiverConfig * config);

typedef struct _MmtpReceiver MmtpReceiver;

MmtpReceiver *mmtp_receiver_new (const MmtpReceiverConfig * config,
    const guint8 entropy[MMTP_ENTROPY_SIZE]);
void mmtp_receiver_free (MmtpReceiver * receiver);
/* If `ends` is TRUE, the application accepts only one stream: after the end of
 * this stream, the receiver refuses every sender. The default is FALSE. */
void mmtp_receiver_set_ends (MmtpReceiver * receiver, gboolean ends);

/* Processes a datagram that arrived from `address` at the time `now`. Buffers
 * that the receiver returns later contain copies of the bytes of the datagram.
 * After the call, the caller may therefore reuse the memory `bytes`.
 *
 * There is one exception. A driver that calls this function through the table
 * mmtp_receiver_verbs may keep the datagram in a DatagramBlock, which is memory
 * with a reference count. A buffer may then refer to a part of this block,
 * without a copy. */
void mmtp_receiver_input (MmtpReceiver * receiver, guint64 now,
    const MmtpAddress * address, const guint8 * bytes, gsize size);
void mmtp_receiver_timeout (MmtpReceiver * receiver, guint64 now);
gsize mmtp_receiver_poll_output (MmtpReceiver * receiver, guint64 now,
    MmtpAddress * address, guint8 * bytes, gsize room);
guint64 mmtp_receiver_next_wakeup (MmtpReceiver * receiver);

/* Stores the next event in `event`. Returns FALSE if there is none. */
gboolean mmtp_receiver_poll_event (MmtpReceiver * receiver,
    MmtpReceiverEvent * event);

/* Statistics of one path at the receiver. The counters never decrease. */
typedef struct
{
  gboolean joined;
  /* number of messages that arrived on the path, and total size of these
   * messages in bytes */
  guint64 received, bytes;
  guint64 lost, late, duplicates;
  /* Rate in bit/s at which messages arrive on the path. It is the mean over the
   * last 0.5 to 1 s. */
  guint64 rate;
  /* Minimum transit time in ns of the messages that arrived in the last 0.5 to
   * 1 s; 0 if none arrived. A transit time is the arrival time on the
   * receiver's clock, minus the sending time on the sender's clock, minus a
   * constant. Only differences of transit times are therefore meaningful. */
  gint64 transit;
  guint64 jitter;               /* in ns, as in RFC 3550, section 6.4.1 */
} MmtpReceiverPathStats;

typedef struct
{
  gboolean in_session;
  guint64 sessions;
  /* number of buffers that were passed on to the application, and total size of
   * these buffers in bytes */
  guint64 buffers, bytes;
  guint64 packets;              /* DATA packets that were accepted */
  /* Number of packets that did not arrive, but were computed from REPAIR
   * messages (forward error correction). These packets are also counted in
   * `packets`. */
  guint64 recovered;
  /* Number of DATA packets that were refused for one of two reasons:
   * - The packet arrived more than `max_lateness` after its deadline.
   * - The packet arrived after the receiver had output a later packet of the
   *   stream to the application. */
  guint64 late;
  guint64 duplicates;           /* DATA packets that had arrived before */
  /* number of packets of the stream that did not arrive in time and were
   * skipped */
  guint64 missing;
  /* number of buffers that were dropped, usually because some of their packets
   * were missing */
  guint64 incomplete;
  /* number of packets that were dropped because the receiver would otherwise
   * have held more than the configured maximum, max_bytes */
  guint64 no_room;
  guint64 held_bytes;           /* bytes held at present */
  guint64 initial_delay;        /* initial delay (D0), in ns */
  /* Skew of the sender's clock in parts per billion. It is positive if the
   * sender's clock runs faster than the receiver's clock, and negative if it
   * runs more slowly. */
  gint64 skew;
  guint64 reports;              /* REPORTs sent */
  guint64 refused[MMTP_LAST_REFUSAL];   /* messages refused, by reason */
  /* upper limit for a loop over the path ids: the highest id of all paths that
   * have been used so far, plus 1 */
  guint n_paths;
  /* Number of steps that the loops of the reorder buffer have made in this
   * session. Tests check that this number stays bounded. */
  guint64 reorder_steps;
} MmtpReceiverStats;

void mmtp_receiver_get_stats (MmtpReceiver * receiver,
    MmtpReceiverStats * stats);
/* Fills in the statistics of the path with the id `path`. Returns FALSE if
 * there is no such path. */
gboolean mmtp_receiver_get_path_stats (MmtpReceiver * receiver,
    guint path, MmtpReceiverPathStats * stats);

/* Table of the receiver's functions that the driver calls. The driver does the
 * I/O for the receiver (driver.h). It need not know the paths of the receiver:
 * for the driver, there is only one path, with the number 0, which stands for
 * all paths. When a message arrives, the receiver itself finds the path of the
 * message by the channel number in the header of the message. */
extern const DriverVerbs mmtp_receiver_verbs;

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stream of one session at the receiver. This module computes the deadline
 * of each DATA packet, and adds the packet to the reorder buffer. It computes
 * missing packets from REPAIR messages. It handles the floor, the caps and the
 * end of the stream, and creates the events that belong to the stream: buffers,
 * caps, presentation rates and the end.
 *
 * An MmtpReceiverStream is initialized when a session begins, and cleared when
 * the session ends. Times are in ns unless their comments say otherwise.
 */

#pragma once

#include "mmtpclock.h"
#include "mmtpinitialdelay.h"
#include "mmtpparity.h"
#include "mmtpreceivedcaps.h"
#include "mmtpreceiverevent.h"
#include "mmtpreceiveroutput.h"
#include "mmtpreorder.h"

typedef struct
{
  /* These four objects belong to the caller. */
  const MmtpReceiverPaths *paths;
  MmtpReceiverOutput *output;
  MmtpClock *clock;
  const MmtpInitialDelay *initial_delay;
  guint64 max_lateness;

  MmtpReorder *reorder;         /* owned */
  /* Packets and REPAIR messages that have arrived; missing packets are computed
   * from them. The store is owned by this struct. */
  MmtpStore *store;
  /* latest deadline of all packets that have arrived so far */
  guint64 latest_deadline;

  /* The floor is a stream number. The sender has announced in a KEEPALIVE that
   * it will send no packet with a lower number any more. `floor` contains the
   * low 32 bits of this number.
   *
   * The receiver cannot use the floor immediately, because packets that were
   * sent before the announcement may still arrive. `floor_waits` is TRUE while
   * the receiver does not use it yet. `floor_sent` is the time at which the
   * announcement was sent. */
  gboolean floor_waits;
  guint32 floor;
  gint64 floor_sent;

  MmtpReceivedCaps caps;
  /* version number of the caps (the description of the media format) that were
   * last announced to the application; 0 if none were announced */
  guint8 caps_version;
  gboolean has_caps;            /* The application has got caps. */
  /* TRUE if the application has already got the event
   * MMTP_EVENT_PRESENTATION_RATE that belongs to the next buffer. The next
   * event is then the buffer itself. */
  gboolean rate_reported;
  gboolean has_reported_too_long;

  gboolean end_known;
  /* The stream number that follows the last packet of the stream. Valid if
   * end_known is TRUE. */
  guint64 end_number;
  /* Time at which the receiver stops waiting for packets that are still missing
   * at the end of the stream. Valid if end_known is TRUE. */
  guint64 end_deadline;
  gboolean has_ended;           /* The application has got MMTP_EVENT_END. */

  /* number of buffers that were passed on to the application, and total size of
   * these buffers in bytes */
  guint64 buffers, bytes;
  guint64 recovered;            /* packets computed from REPAIR messages */
} MmtpReceiverStream;

/* Begins a session. The memory of the first four arguments after `self` must
 * stay valid as long as `self` is used. The reorder buffer holds at most
 * `max_bytes` bytes, and accepts packets up to `max_lateness` after their
 * deadlines. */
void mmtp_receiver_stream_init (MmtpReceiverStream * self,
    const MmtpReceiverPaths * paths, MmtpReceiverOutput * output,
    MmtpClock * clock, const MmtpInitialDelay * initial_delay,
    guint64 max_bytes, guint64 max_lateness);
/* Frees the memory of `self`. Its fields must be 0 if it was never initialized.
 */
void mmtp_receiver_stream_clear (MmtpReceiverStream * self);

/* Returns an estimate of the latest deadline of all packets that the sender has
 * sent so far. A missing packet may have a later deadline than the packets that
 * have arrived. A packet that is due now is therefore included, whose deadline
 * is the present time plus the initial delay. */
guint64 mmtp_receiver_stream_get_latest_deadline (const MmtpReceiverStream *
    self);
/* Moves all deadlines by `change`, because the initial delay has changed. */
void mmtp_receiver_stream_shift_deadlines (MmtpReceiverStream * self,
    gint64 change);

/* The following functions process a message that has arrived on `path`. */

/* `bytes` and `size` are the whole DATA message, from which `data` was parsed.
 */
void mmtp_receiver_stream_take_data (MmtpReceiverStream * self,
    MmtpReceiverPath * path, const MmtpData * data, const guint8 * bytes,
    gsize size);
void mmtp_receiver_stream_take_repair (MmtpReceiverStream * self,
    const MmtpRepair * repair);
/* Processes the floor from a KEEPALIVE that was sent at the time `sent`. */
void mmtp_receiver_stream_take_floor (MmtpReceiverStream * self,
    guint32 floor, gint64 sent);
/* Processes a CAPS message. Acknowledges it if the caps text is complete. */
MmtpRefusal mmtp_receiver_stream_take_caps (MmtpReceiverStream * self,
    MmtpReceiverPath * path, const MmtpCaps * caps);
/* Processes an END message. If the application has already got MMTP_EVENT_END,
 * the END is acknowledged. */
void mmtp_receiver_stream_take_end (MmtpReceiverStream * self,
    MmtpReceiverPath * path, const MmtpEnd * end);

void mmtp_receiver_stream_timeout (MmtpReceiverStream * self);
guint64 mmtp_receiver_stream_next_wakeup (MmtpReceiverStream * self);
/* Stores the next event of the stream in `event`. Returns FALSE if there is
 * none. MMTP_EVENT_END is the last event: when it is returned, the end of the
 * stream is also acknowledged on all paths. */
gboolean mmtp_receiver_stream_poll_event (MmtpReceiverStream * self,
    MmtpReceiverEvent * event);

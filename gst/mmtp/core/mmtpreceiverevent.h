/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The events of the receiver. The receiver reports everything that the
 * application needs to know as an event, and the received buffers are events as
 * well. The application fetches the events one by one with
 * mmtp_receiver_poll_event().
 */

#pragma once

#include "datagramblock.h"
#include "mmtppacket.h"

typedef enum
{
  /* A new session has begun, and any earlier session is over. */
  MMTP_EVENT_SESSION,
  /* The caps of the stream, which describe its media format, have changed. The
   * field `caps` contains the new caps, which apply to the buffers after this
   * event. If it is NULL, these buffers have no caps. */
  MMTP_EVENT_CAPS,
  MMTP_EVENT_BUFFER,
  MMTP_EVENT_INITIAL_DELAY,     /* D0 has changed to `delay`. */
  /* The presentation rate of the stream has changed. The fields `frame_rate`
   * and `bit_rate` contain the new values, which apply from the next buffer on.
   */
  MMTP_EVENT_PRESENTATION_RATE,
  MMTP_EVENT_JOINED,            /* `path` has joined. */
  MMTP_EVENT_LEFT,              /* `path` has left. */
  /* A buffer was dropped because it is longer than the configured maximum,
   * max_bytes. This event is sent only once per session. */
  MMTP_EVENT_TOO_LONG,
  MMTP_EVENT_END,               /* The stream has ended. */
  /* The sender no longer responds: the session timeout has expired, or another
   * sender has taken over the session. */
  MMTP_EVENT_SILENT,
  /* The sender responds again after it did not respond for some time
   * (MMTP_EVENT_SILENT). Its session continues. */
  MMTP_EVENT_BACK,
  /* A sender was refused because it uses another version of the protocol. The
   * field `version` contains this version. The event is sent only once for each
   * version. */
  MMTP_EVENT_OTHER_VERSION,
  /* A sender was refused, because the application accepts only one stream and
   * this stream has ended. The event is sent only for the first such sender. */
  MMTP_EVENT_OVER
} MmtpReceiverEventType;

typedef struct
{
  MmtpReceiverEventType type;
  /* For MMTP_EVENT_BUFFER: the received data. The caller must free them with
   * datagram_slice_clear (). */
  DatagramSlice data;
  gchar *caps;                  /* freed by the caller */
  /* Due time of the buffer in ns, on the caller's clock. The buffer has to be
   * played at the time `due` + `delay`, where `delay` is the initial delay (D0)
   * of the session. The clocks of the sender and the receiver do not run at
   * exactly the same speed, so the receiver corrects the due times. The
   * correction does not reorder buffers: a due time is earlier than that of the
   * previous buffer only if it was earlier at the sender, too. */
  guint64 due;
  guint8 flags;                 /* flags of MMTP_FLAGS_OF_BUFFER */
  MmtpPrelude prelude;
  /* TRUE if the buffer directly before this buffer in the stream is missing */
  gboolean discont;
  guint64 delay;                /* initial delay (D0), in ns */
  /* Initial delay (D0) that the sender wants, in ns. The field `delay` is the
   * D0 that is used. It is shorter than `wanted_delay` if the configuration of
   * the receiver limits D0. Packets with a one-way delay above `delay` then
   * arrive too late. */
  guint64 wanted_delay;
  guint32 frame_rate;           /* in frames per 1000 s */
  guint64 bit_rate;             /* in bit/s */
  guint path;
  guint version;                /* protocol version */
} MmtpReceiverEvent;

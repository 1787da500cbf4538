/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One buffer of the stream, as the application passes it to the sender. */

#pragma once

#include "mmtpgop.h"
#include "mmtppacket.h"

typedef struct
{
  GBytes *data;                 /* The sender takes a reference. */
  /* Due time of the buffer in ns, on the caller's clock; G_MAXUINT64 means now.
   * The buffer is late if it arrives at the receiver later than its due time
   * plus the initial delay (D0). */
  guint64 due;
  guint8 flags;                 /* flags of MMTP_FLAGS_OF_BUFFER */
  MmtpPrelude prelude;          /* A mask of 0 means no prelude. */
  /* Properties of the picture that the buffer belongs to. If all of them are 0,
   * the sender derives them from `flags`. */
  MmtpPicture picture;
  /* Presentation time of the buffer. The sender uses it only to tell the
   * application which buffer was dropped. */
  guint64 pts;
  /* First byte of the buffer's contents, if they are only a part of `data`.
   * Several buffers can thus share one GBytes. `part_size` is the size of the
   * contents in bytes. If `part` is NULL, the contents are all of `data`, and
   * `part_size` is not used. */
  const guint8 *part;
  gsize part_size;
} MmtpBuffer;

/* Reason why the sender dropped a buffer. */
typedef enum
{
  MMTP_DISCARD_LATE,            /* No path could deliver the buffer in time. */
  MMTP_DISCARD_ROOM,            /* Too many bytes were waiting. */
  /* The buffer refers to a picture that the sender has dropped. */
  MMTP_DISCARD_BROKEN,
  /* The session ended before the buffer was sent. */
  MMTP_DISCARD_CONNECTION,
  MMTP_N_DISCARDS
} MmtpDiscard;

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One buffer of the stream, as the application passes it to the sender. */

#pragma once

#include "mmtpgop.h"
#include "mmtppacket.h"

typedef struct
{
  GBytes *data;                 /* The sender takes a reference. */
  /* Due time on the caller's clock, in ns; G_MAXUINT64 means now. */
  guint64 due;
  guint8 flags;                 /* flags of MMTP_FLAGS_OF_BUFFER */
  MmtpPrelude prelude;          /* A mask of 0 means no prelude. */
  /* If all fields are 0, `flags` describe the picture. */
  MmtpPicture picture;
  /* Reported if the buffer is dropped, and not used otherwise. */
  guint64 pts;
} MmtpBuffer;

/* Reason why the sender dropped a buffer. */
typedef enum
{
  MMTP_DISCARD_LATE,            /* No path could deliver it in time. */
  MMTP_DISCARD_ROOM,            /* Too many bytes were waiting. */
  MMTP_DISCARD_BROKEN,          /* It refers to a dropped picture. */
  MMTP_DISCARD_CONNECTION,      /* The session ended before it was sent. */
  MMTP_N_DISCARDS
} MmtpDiscard;

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A buffer of the stream as the application gives it to the sender. */

#pragma once

#include "mmtpgop.h"
#include "mmtppacket.h"

typedef struct
{
  GBytes *data;                 /* the sender takes a reference */
  guint64 due;                  /* ns on the caller's clock; G_MAXUINT64: now */
  guint8 flags;                 /* of MMTP_FLAGS_OF_BUFFER */
  MmtpPrelude prelude;          /* without a mask: none */
  MmtpPicture picture;          /* zeros: what the flags say */
} MmtpBuffer;

/* Why a buffer was given up at the source */
typedef enum
{
  MMTP_DISCARD_LATE,            /* no path could bring it in time */
  MMTP_DISCARD_ROOM,            /* too many bytes wait */
  MMTP_DISCARD_BROKEN,          /* it needs one that was given up */
  MMTP_N_DISCARDS
} MmtpDiscard;

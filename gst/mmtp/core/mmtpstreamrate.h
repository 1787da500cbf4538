/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures the rate of the stream from the sizes and the due times of its
 * buffers. An MmtpStreamRate must be filled with zeros before its first use. */

#pragma once

#include <glib.h>

typedef struct
{
  /* due time in ns of the buffer with which the measurement began */
  guint64 since;
  guint64 bits;                 /* of all buffers since then */
  guint64 rate;                 /* in bit/s; 0 if unknown */
} MmtpStreamRate;

void mmtp_stream_rate_add (MmtpStreamRate * self, guint64 due, gsize size);
/* Begins a new measurement. The last rate stays valid until this ends. */
void mmtp_stream_rate_restart (MmtpStreamRate * self);

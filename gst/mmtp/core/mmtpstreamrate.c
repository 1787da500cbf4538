/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtpstreamrate.h: measures the rate of the stream. */

#include "mmtpstreamrate.h"

#define MILLISECOND G_GUINT64_CONSTANT (1000000)
/* Minimum time in ns over which the rate is measured. This time is the
 * difference between the due time of the newest buffer and the due time of the
 * first buffer in the measurement. */
#define SPAN (2000 * MILLISECOND)

void
mmtp_stream_rate_restart (MmtpStreamRate * self)
{
  self->bits = 0;
  self->since = 0;
}

void
mmtp_stream_rate_add (MmtpStreamRate * self, guint64 due, gsize size)
{
  guint64 span;

  if (due < self->since || due > self->since + 2 * SPAN) {
    self->since = due;
    self->bits = 0;
  }
  span = due - self->since;
  if (span >= SPAN) {
    self->rate = self->bits * 1000 / (span / MILLISECOND);
    self->since = due;
    self->bits = 0;
  }
  self->bits += size * 8;
}

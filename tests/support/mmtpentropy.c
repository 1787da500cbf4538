/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "mmtpentropy.h"

#include "seededdraw.h"

void
mmtp_entropy_make (guint64 seed, guint8 entropy[MMTP_ENTROPY_SIZE])
{
  guint i;

  for (i = 0; i < MMTP_ENTROPY_SIZE; i++)
    entropy[i] = seeded_draw (seed, G_MAXUINT32, 0, i, 0);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The paths of a session at the receiver. */

#include "mmtpreceiverpaths.h"

#include <string.h>

/* The sender sends KEEPALIVE messages regularly on each path. The receiver
 * measures the time between two KEEPALIVEs, and estimates from the measured
 * times how long this time usually is. A measured time above MAX_KEEPALIVE_GAP
 * (ns) must be due to an outage. The receiver then uses MAX_KEEPALIVE_GAP in
 * the estimate instead of the measured time. */
#define MAX_KEEPALIVE_GAP (2 * MMTP_SECOND)

void
mmtp_receiver_paths_clear (MmtpReceiverPaths * self)
{
  guint i;

  for (i = 0; i < self->n; i++)
    g_free (mmtp_receiver_paths_nth (self, i));
  memset (self, 0, sizeof (*self));
}

static void
reset_path (MmtpReceiverPath * path)
{
  MmtpReceiverPath old = *path;

  memset (path, 0, sizeof (*path));
  path->id = old.id;
  path->duplicates = old.duplicates;
  path->past = old.past;
  path->past.received += old.arrivals.received;
  path->past.bytes += old.arrivals.bytes;
  path->past.lost += old.arrivals.losses.lost;
  path->past.late += old.arrivals.late;
}

void
mmtp_receiver_paths_reset (MmtpReceiverPaths * self)
{
  guint i;

  for (i = 0; i < self->n; i++)
    reset_path (mmtp_receiver_paths_nth (self, i));
}

MmtpReceiverPath *
mmtp_receiver_paths_add (MmtpReceiverPaths * self, guint8 id, guint64 number,
    guint64 silence)
{
  MmtpReceiverPath *path = self->all[id];

  if (!path) {
    path = self->all[id] = g_new0 (MmtpReceiverPath, 1);
    path->id = id;
    self->ids[self->n++] = id;
  }
  if (path->known)
    return path;
  path->known = TRUE;
  path->max_size = MMTP_JOIN_SIZE * 2;
  mmtp_arrivals_init (&path->arrivals, self->now, silence);
  mmtp_replay_accept (&path->replay, number);
  return path;
}

MmtpReceiverPath *
mmtp_receiver_paths_nth (const MmtpReceiverPaths * self, guint i)
{
  return self->all[self->ids[i]];
}

MmtpReceiverPath *
mmtp_receiver_paths_find (const MmtpReceiverPaths * self, guint8 id)
{
  MmtpReceiverPath *path = self->all[id];

  return path && path->known ? path : NULL;
}

guint
mmtp_receiver_paths_count_joined (const MmtpReceiverPaths * self)
{
  guint i, n = 0;

  for (i = 0; i < self->n; i++)
    n += mmtp_receiver_paths_nth (self, i)->joined ? 1 : 0;
  return n;
}

guint64
mmtp_receiver_path_get_number (const MmtpReceiverPath * path,
    const MmtpMessage * message, const guint8 * bytes)
{
  guint64 whole;

  if (message->type != MMTP_JOIN && message->type != MMTP_KEEPALIVE)
    return mmtp_unwrap (message->number, 16, path->replay.highest);
  memcpy (&whole, bytes + MMTP_HEADER_SIZE, sizeof (whole));
  return GUINT64_FROM_BE (whole);
}

void
mmtp_receiver_paths_note_keepalive (const MmtpReceiverPaths * self,
    MmtpReceiverPath * path)
{
  /* keepalive_gap is an estimate of the time between two KEEPALIVEs on this
   * path. The sender sends KEEPALIVEs at longer intervals if the path is slow.
   * A new time that is longer than the estimate replaces it. If the new time is
   * shorter, the estimate decreases at most by an eighth, because one short
   * time does not show that the next times are short as well. */
  path->keepalive_gap = MAX (path->keepalive_gap / 8 * 7,
      MIN (self->now - path->keepalive_time, MAX_KEEPALIVE_GAP));
  path->keepalive_time = self->now;
}

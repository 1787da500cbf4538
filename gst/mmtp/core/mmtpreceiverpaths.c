/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The paths of a session at the receiver. */

#include "mmtpreceiverpaths.h"

#include <string.h>

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

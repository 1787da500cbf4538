/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of mmtpliveness.h: the session timeout, and the take-over of a
 * session by a new sender. */

#include "mmtpliveness.h"

#include <string.h>

/* A new sender can take over the session if the session's present sender does
 * not answer (docs/wire-mmtp.md, section 4, "Take-over"). To find this out, the
 * receiver sends N_QUERIES QUERYs to the present sender, at intervals of at
 * least QUERY_DISTANCE. The present sender has to answer within QUERY_TIME or
 * QUERY_ROUND_TRIPS round trips, whichever is longer. An unknown round trip
 * counts as UNKNOWN_ROUND_TRIP. */
#define QUERY_TIME MMTP_SECOND
#define QUERY_ROUND_TRIPS 2
#define UNKNOWN_ROUND_TRIP MMTP_SECOND
#define N_QUERIES 3
#define QUERY_DISTANCE (100 * MMTP_MSECOND)
/* After a valid message of the session has arrived, the session's sender counts
 * as alive for ALIVE_TIME or ALIVE_PERIODS keep-alive periods, whichever is
 * shorter. */
#define ALIVE_TIME (500 * MMTP_MSECOND)
#define ALIVE_PERIODS 2

void
mmtp_liveness_init (MmtpLiveness * self, const MmtpReceiverPaths * paths,
    MmtpReceiverOutput * output, guint64 timeout)
{
  memset (self, 0, sizeof (*self));
  self->paths = paths;
  self->output = output;
  self->timeout = timeout;
}

void
mmtp_liveness_begin_session (MmtpLiveness * self, guint64 period)
{
  self->period = period;
  mmtp_liveness_note_message (self);
}

void
mmtp_liveness_note_message (MmtpLiveness * self)
{
  self->last_valid = self->paths->now;
  self->n_queries = 0;
}

guint64
mmtp_liveness_get_end (const MmtpLiveness * self)
{
  return self->last_valid + self->timeout;
}

/* --- take-over ------------------------------------------------------------ */

static gboolean
is_same_host (const MmtpAddress * a, const MmtpAddress * b)
{
  return a->host_size > 0 && a->host_size == b->host_size
      && memcmp (a->bytes, b->bytes, a->host_size) == 0;
}

static gboolean
is_host_of_session (MmtpLiveness * self, const MmtpAddress * address)
{
  const MmtpReceiverPath *path;
  guint i;

  for (i = 0; i < self->paths->n; i++) {
    path = mmtp_receiver_paths_nth (self->paths, i);
    if (path->joined && is_same_host (&path->address, address))
      return TRUE;
  }
  return FALSE;
}

/* Returns how long the receiver waits for the answer to a QUERY, in ns. The
 * time is QUERY_TIME or two round trips of the slowest path, whichever is
 * longer. */
static guint64
get_query_time (MmtpLiveness * self)
{
  const MmtpReceiverPath *path;
  guint64 time = QUERY_TIME, round_trip;
  guint i;

  for (i = 0; i < self->paths->n; i++) {
    path = mmtp_receiver_paths_nth (self->paths, i);
    round_trip = path->round_trip ? path->round_trip : UNKNOWN_ROUND_TRIP;
    if (path->joined)
      time = MAX (time, QUERY_ROUND_TRIPS * round_trip);
  }
  return time;
}

static gboolean
is_in_doubt (MmtpLiveness * self)
{
  return self->paths->now - self->last_valid >= MIN (ALIVE_TIME,
      ALIVE_PERIODS * self->period);
}

static void
ask_whether_alive (MmtpLiveness * self)
{
  MmtpMessage message = {.type = MMTP_QUERY };
  guint i;

  if (self->n_queries == 0)
    self->first_query = self->paths->now;
  else if (self->paths->now - self->last_query < QUERY_DISTANCE)
    return;
  self->last_query = self->paths->now;
  self->n_queries++;
  for (i = 0; i < self->paths->n; i++) {
    MmtpReceiverPath *path = mmtp_receiver_paths_nth (self->paths, i);

    message.query.channel = path->id;
    if (path->joined)
      mmtp_receiver_output_add (self->output, path, &message, &path->address);
  }
}

/* Returns whether a new sender at `address` may take over the session from the
 * present sender. A new sender may appear because the sending program was
 * killed and started again. It must be on the same host as the present sender.
 *
 * The function sends QUERYs to the present sender. The result is FALSE at
 * first. If no answer has come in time, a later call returns TRUE. The network
 * path is not the reason for the silence, because the new sender has just
 * returned a valid cookie from the same host. The present sender is therefore
 * probably dead.
 *
 * As long as valid messages of the session arrive, the present sender is alive,
 * and the result is FALSE. */
gboolean
mmtp_liveness_may_take_over (MmtpLiveness * self, const MmtpAddress * address)
{
  if (!is_in_doubt (self) || !is_host_of_session (self, address))
    return FALSE;
  ask_whether_alive (self);
  return self->n_queries >= N_QUERIES
      && self->paths->now - self->first_query >= get_query_time (self);
}

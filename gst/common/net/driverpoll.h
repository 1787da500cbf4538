/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waits for file descriptors, for a time in nanoseconds, or for another thread.
 * (g_poll counts milliseconds, which is too coarse for pacing.)
 */

#pragma once

#include <glib.h>

#pragma GCC visibility push(hidden)

typedef struct
{
  gint wake_fds[2];             /* a pipe */
  gboolean is_awake;            /* there is a byte in the pipe. */
  GArray *fds;                  /* of GPollFD; the first is that of the pipe */
} DriverPoll;

void driver_poll_init (DriverPoll * poll);
void driver_poll_clear (DriverPoll * poll);

/* Ends the wait that is under way, or the next one; may be called by any
 * thread, with the lock of the owner. */
void driver_poll_wake (DriverPoll * poll);

/* Forgets all descriptors and all calls of driver_poll_wake. */
void driver_poll_reset (DriverPoll * poll);
/* `events`: of GIOCondition. Returns the index of the descriptor. */
guint driver_poll_add (DriverPoll * poll, gint fd, gushort events);
/* Waits for so many ns, G_MAXUINT64 for ever. Without the owner's lock */
void driver_poll_wait (DriverPoll * poll, guint64 time);
/* Of GIOCondition: what the last wait found */
gushort driver_poll_get_events (DriverPoll * poll, guint index);

#pragma GCC visibility pop

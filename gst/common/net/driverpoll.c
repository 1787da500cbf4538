/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See driverpoll.h. */

/* ppoll */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "driverpoll.h"

#include <glib-unix.h>
#include <poll.h>
#include <unistd.h>

/* GPollFD is the system's on every Unix. */
G_STATIC_ASSERT (sizeof (GPollFD) == sizeof (struct pollfd));

void
driver_poll_init (DriverPoll * poll)
{
  GError *error = NULL;

  if (!g_unix_open_pipe (poll->wake_fds, FD_CLOEXEC, &error)
      || !g_unix_set_fd_nonblocking (poll->wake_fds[0], TRUE, &error)
      || !g_unix_set_fd_nonblocking (poll->wake_fds[1], TRUE, &error))
    g_error ("Could not make a pipe: %s", error->message);
  poll->is_awake = FALSE;
  poll->fds = g_array_new (FALSE, FALSE, sizeof (GPollFD));
}

void
driver_poll_clear (DriverPoll * poll)
{
  close (poll->wake_fds[0]);
  close (poll->wake_fds[1]);
  g_array_free (poll->fds, TRUE);
}

void
driver_poll_wake (DriverPoll * poll)
{
  if (poll->is_awake)
    return;
  poll->is_awake = TRUE;
  while (write (poll->wake_fds[1], "", 1) < 0 && errno == EINTR);
}

guint
driver_poll_add (DriverPoll * poll, gint fd, gushort events)
{
  GPollFD added = { fd, events, 0 };

  g_array_append_val (poll->fds, added);
  return poll->fds->len - 1;
}

void
driver_poll_reset (DriverPoll * poll)
{
  gchar byte;

  if (poll->is_awake)
    while (read (poll->wake_fds[0], &byte, 1) < 0 && errno == EINTR);
  poll->is_awake = FALSE;
  g_array_set_size (poll->fds, 0);
  driver_poll_add (poll, poll->wake_fds[0], G_IO_IN);
}

void
driver_poll_wait (DriverPoll * poll, guint64 time)
{
  struct timespec timeout = { time / 1000000000, time % 1000000000 };
  guint i;

  /* A signal ends the wait early, and nothing was found then. */
  if (ppoll ((struct pollfd *) poll->fds->data, poll->fds->len,
          time == G_MAXUINT64 ? NULL : &timeout, NULL) > 0)
    return;
  for (i = 0; i < poll->fds->len; i++)
    g_array_index (poll->fds, GPollFD, i).revents = 0;
}

gushort
driver_poll_get_events (DriverPoll * poll, guint index)
{
  return g_array_index (poll->fds, GPollFD, index).revents;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See gstwaker.h. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstwaker.h"

void
gst_waker_init (GstWaker * waker)
{
  waker->poll = gst_poll_new_timer ();
  waker->woken = FALSE;
}

void
gst_waker_clear (GstWaker * waker)
{
  gst_poll_free (waker->poll);
}

void
gst_waker_wake (GstWaker * waker)
{
  if (!waker->woken)
    waker->woken = gst_poll_write_control (waker->poll);
}

void
gst_waker_reset (GstWaker * waker)
{
  if (waker->woken)
    waker->woken = !gst_poll_read_control (waker->poll);
}

void
gst_waker_add (GstWaker * waker, GstPollFD * fd, gint number)
{
  gst_poll_fd_init (fd);
  fd->fd = number;
  gst_poll_add_fd (waker->poll, fd);
  gst_poll_fd_ctl_read (waker->poll, fd, TRUE);
}

void
gst_waker_remove (GstWaker * waker, GstPollFD * fd)
{
  gst_poll_remove_fd (waker->poll, fd);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See gstwaker.h. */

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
gst_waker_wait (GstWaker * waker, GstClockTime time, GCancellable * cancellable)
{
  const gint number = g_cancellable_get_fd (cancellable);
  GstPollFD fd = GST_POLL_FD_INIT;

  if (number < 0)
    return;
  fd.fd = number;
  gst_poll_add_fd (waker->poll, &fd);
  gst_poll_fd_ctl_read (waker->poll, &fd, TRUE);
  gst_poll_wait (waker->poll, time);
  gst_poll_remove_fd (waker->poll, &fd);
  g_cancellable_release_fd (cancellable);
}

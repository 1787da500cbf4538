/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interface that all protocol cores implement: MMTP sender, MMTP receiver
 * and DCCP endpoint. The driver (driver.h) accesses a core only through this
 * table of functions.
 */

#pragma once

#include "datagram.h"

#define DRIVER_NEVER G_MAXUINT64

/* Function that logs one line for the core or for the driver. `is_packet` is
 * TRUE for lines that are written once per packet. */
typedef void (*DriverTrace) (gpointer owner, gboolean is_packet,
    const gchar * format, va_list args) G_GNUC_PRINTF (3, 0);

/* Functions that a core (the implementation of a protocol) must provide, except
 * the function that creates it. All times are in ns, on the clock of
 * g_get_monotonic_time (). `path` is the number of a path, as passed to
 * driver_add_path. */
typedef struct
{
  /* size in bytes of the struct that poll_event fills in */
  gsize event_size;
  /* Passes a received datagram to the core. Events of the core may point into
   * the datagram, so its bytes remain valid until poll_event has returned
   * FALSE. */
  void (*input) (gpointer core, guint64 now, guint path,
      const Datagram * datagram);
  /* Called when the time is reached that next_wakeup has returned. The core
   * then does what is due, such as a retransmission. */
  void (*timeout) (gpointer core, guint64 now);
  /* Writes the next datagram to datagram->bytes, which has space for `room`
   * bytes, and sets its size and its parts. If the socket is not connected,
   * also sets the path of the datagram. The parts remain valid until the core
   * gets more data to send. Returns FALSE if there is nothing to send now. */
    gboolean (*poll_output) (gpointer core, guint64 now, guint * path,
      Datagram * datagram, gsize room);
  /* Stores the next event of the core, such as received data, in `event`.
   * Returns FALSE if there is none. */
    gboolean (*poll_event) (gpointer core, gpointer event);
  /* Returns the time at which `timeout` must be called next, or DRIVER_NEVER if
   * it need not be called. */
    guint64 (*next_wakeup) (gpointer core);
  /* Tells the core whether the socket of a path is full, so that the core can
   * stop sending on this path. May be NULL. */
  void (*set_blocked) (gpointer core, guint64 now, guint path,
      gboolean is_blocked);
} DriverVerbs;

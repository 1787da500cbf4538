/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interface that all protocol cores implement: MMTP sender, MMTP receiver
 * and DCCP endpoint. The driver (driver.h) accesses a core only through this
 * table of functions.
 */

#pragma once

#include "datagram.h"

#define DRIVER_NEVER G_MAXUINT64

/* Trace callback through which a core or the driver logs one line. `is_packet`
 * is TRUE for lines that are written once per packet. */
typedef void (*DriverTrace) (gpointer owner, gboolean is_packet,
    const gchar * format, va_list args) G_GNUC_PRINTF (3, 0);

/* The functions of a core, except the function that creates the core. All times
 * are in ns, on the clock of g_get_monotonic_time (). A path is identified by
 * the number that was passed to driver_add_path. */
typedef struct
{
  gsize event_size;             /* size in bytes of an event of poll_event */
  /* Passes a received datagram to the core. The bytes of the datagram remain
   * valid until poll_event has returned FALSE. */
  void (*input) (gpointer core, guint64 now, guint path,
      const Datagram * datagram);
  /* Called when the time that next_wakeup returned has been reached. */
  void (*timeout) (gpointer core, guint64 now);
  /* Writes the next datagram to datagram->bytes, which has space for `room`
   * bytes, and sets its size and its parts. If the socket is not connected,
   * also sets the path of the datagram. The parts remain valid until the core
   * gets more data to send. Returns FALSE if there is nothing to send now. */
    gboolean (*poll_output) (gpointer core, guint64 now, guint * path,
      Datagram * datagram, gsize room);
  /* Stores the next event in `event`. Returns FALSE if there is none. */
    gboolean (*poll_event) (gpointer core, gpointer event);
  /* Returns the time at which `timeout` must be called next, or DRIVER_NEVER if
   * it need not be called. */
    guint64 (*next_wakeup) (gpointer core);
  /* Tells the core whether the socket of a path is full. May be NULL. */
  void (*set_blocked) (gpointer core, guint64 now, guint path,
      gboolean is_blocked);
} DriverVerbs;

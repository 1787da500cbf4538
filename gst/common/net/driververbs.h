/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interface between the driver and a protocol core. A core implements a
 * protocol without I/O: the MMTP sender, the MMTP receiver or the DCCP
 * endpoint. The driver (driver.h) does the I/O for the core, and calls the core
 * only through this table of functions.
 */

#pragma once

#include "datagram.h"

#define DRIVER_NEVER G_MAXUINT64

/* Function that logs one line for the core or for the driver. `is_packet` is
 * TRUE for lines that are written for each packet, or as often as that, such as
 * the lines about the waits of the driver. These lines have a more detailed log
 * level. */
typedef void (*DriverTrace) (gpointer owner, gboolean is_packet,
    const gchar * format, va_list args) G_GNUC_PRINTF (3, 0);

/* Functions that a protocol core must provide, except the function that creates
 * the core. All times are in ns, on the clock of g_get_monotonic_time ().
 * `path` is the number of a path, as passed to driver_add_path (). */
typedef struct
{
  /* size in bytes of the struct that poll_event () fills in */
  gsize event_size;
  /* Passes a received datagram to the core. The bytes of the datagram must
   * remain valid until poll_event () has returned FALSE, because events of the
   * core may point into the datagram. */
  void (*input) (gpointer core, guint64 now, guint path,
      const Datagram * datagram);
  /* Called when the time is reached that next_wakeup () has returned. The core
   * then does the work that is due at this time, such as a retransmission. */
  void (*timeout) (gpointer core, guint64 now);
  /* Asks the core for the next datagram to send. The core writes the data to
   * datagram->bytes, which has space for `room` bytes, and sets the size and
   * the parts of the datagram. The parts remain valid until the core gets more
   * data to send. The core sets the argument `path` to the number of the path
   * on which the datagram must be sent. The field datagram->path is not a
   * number: it contains the local and the remote endpoint of the datagram. The
   * core sets this field only if the socket of the path is not connected.
   * Returns FALSE if there is nothing to send now. */
    gboolean (*poll_output) (gpointer core, guint64 now, guint * path,
      Datagram * datagram, gsize room);
  /* Stores the next event of the core in `event`. An event is, for example, the
   * arrival of data. Returns FALSE if there is no event. */
    gboolean (*poll_event) (gpointer core, gpointer event);
  /* Returns the time at which the driver must call timeout () next, or
   * DRIVER_NEVER if no call is needed. */
    guint64 (*next_wakeup) (gpointer core);
  /* Tells the core whether the socket of a path is full, so that the core can
   * stop sending on this path. A core that does not need this function sets the
   * pointer to NULL. */
  void (*set_blocked) (gpointer core, guint64 now, guint path,
      gboolean is_blocked);
} DriverVerbs;

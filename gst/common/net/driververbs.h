/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The one interface of all cores of protocols: what a core is told, and what it
 * says. MMTP's sender, its receiver and DCCP's endpoint have it; the driver
 * (driver.h) knows a core by it alone.
 */

#pragma once

#include "datagram.h"

#define DRIVER_NEVER G_MAXUINT64

/* The trace callback of a core and of the driver. Logs one line. is_packet: there
 * is one for each packet. */
typedef void (*DriverTrace) (gpointer owner, gboolean is_packet,
    const gchar * format, va_list args) G_GNUC_PRINTF (3, 0);

/* What a core can do, beside the function that makes one. Times are ns of
 * g_get_monotonic_time (). Paths are the numbers of driver_add_path. */
typedef struct
{
  gsize event_size;             /* bytes of an event of this core */
  /* A datagram arrived. Its bytes stay until the events were polled. */
  void (*input) (gpointer core, guint64 now, guint path,
      const Datagram * datagram);
  /* The time has come that the core asked for. */
  void (*timeout) (gpointer core, guint64 now);
  /* Writes the next datagram to datagram->bytes, where there are `room` bytes,
   * and sets its size, its parts and, unless the socket is connected, its path.
   * Parts stay until the core gets more to send. FALSE: nothing to send now. */
    gboolean (*poll_output) (gpointer core, guint64 now, guint * path,
      Datagram * datagram, gsize room);
  /* FALSE: there is no event. */
    gboolean (*poll_event) (gpointer core, gpointer event);
  /* When to call `timeout`; DRIVER_NEVER: not at all */
    guint64 (*next_wakeup) (gpointer core);
  /* The socket of the path has no room, or has room again. May be NULL. */
  void (*set_blocked) (gpointer core, guint64 now, guint path,
      gboolean is_blocked);
} DriverVerbs;

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The driver of a protocol's core. A core does no I/O: it is told what arrived
 * and what time it is, and says what to send and when it wants to be called.
 * The driver owns the sockets of the core's paths and does the rest: it polls,
 * receives and sends in batches, keeps what a socket had no room for, and
 * reports errors of the sockets.
 *
 *   driver_init (&driver, &funcs, owner, &lock);
 *   driver_begin (&driver, &mmtp_sender_verbs, sender, input_room);
 *   driver_add_path (&driver, number, socket, output_room);
 *   driver_run (&driver, is_done, deadline, cancellable, &error);
 *   driver_end (&driver);
 *
 * Two threads may use it: one calls driver_run, and another one gives the core
 * something to send, and then calls driver_flush and driver_wake. All fields
 * are protected by the lock, which belongs to the owner.
 */

#pragma once

#include "datagramsocket.h"
#include "driververbs.h"

#define DRIVER_MAX_PATHS 256

/* What the driver waits for: file descriptors, a time, or another thread */
typedef struct
{
  gint wake_fds[2];             /* a pipe */
  gboolean is_awake;            /* there is a byte in the pipe. */
  GArray *fds;                  /* of GPollFD; the first is that of the pipe */
} DriverPoll;

/* What the owner wants to know. All are called with the lock; only take_event
 * and unlock_and_tell must be there. */
typedef struct
{
  void (*take_event) (gpointer owner, gpointer event);
  /* Whether packets of this host are wanted */
    gboolean (*allows) (gpointer owner, const DatagramPath * path);
  /* Packets of the other end arrived. */
  void (*note_heard) (gpointer owner, guint path);
  /* Packets are about to be sent. */
  void (*note_sent) (gpointer owner, guint path);
  /* An error of the socket, for example by ICMP. FALSE: the path has gone, so
   * nothing more is sent on it until driver_remove_path. */
    gboolean (*take_error) (gpointer owner, guint path, const GError * error);
  /* At the begin of each round of driver_run */
  void (*prepare) (gpointer owner);
  /* All that can be sent now was sent, and all events were taken. */
  void (*note_flushed) (gpointer owner);
  /* When the next round of driver_run must begin, in ns; DRIVER_NEVER: the
   * owner does not need one */
    guint64 (*get_wakeup) (gpointer owner);
  /* FALSE: driver_run ends with this error. */
    gboolean (*check) (gpointer owner, GError ** error);
  /* Unlocks, and tells others what the owner has noted. */
  void (*unlock_and_tell) (gpointer owner);
  DriverTrace trace;            /* or NULL */
} DriverFuncs;

typedef struct
{
  DatagramSocket *socket;       /* owned */
  GQueue unsent;                /* packets that the socket had no room for */
  guint64 retry_at;             /* ns; not before, although poll says that there
                                 * is room: the device may have none */
  gboolean has_gone;            /* take_error said so. */
  guint poll_index;             /* in `poll`, while the loop sleeps */
} DriverPath;

typedef struct
{
  const DriverFuncs *funcs;
  gpointer owner;
  GMutex *lock;

  const DriverVerbs *verbs;     /* NULL: there is no core. */
  gpointer core;
  gpointer event;               /* memory for one */
  guint8 *inputs, *outputs;     /* rooms for the packets of a batch */
  gsize input_room, output_room;        /* bytes of each */

  DriverPath *paths[DRIVER_MAX_PATHS];  /* NULL: there is no such path. */
  guint n_paths;                /* one more than the highest number */
  DriverPoll poll;
  gint watched_fd;              /* of the owner; -1: none */
  gboolean watched_is_ready;
  guint64 sleeps_until;         /* ns; 0: the loop does not sleep. */
} Driver;

void driver_init (Driver * driver, const DriverFuncs * funcs, gpointer owner,
    GMutex * lock);
void driver_clear (Driver * driver);

/* From here on, all but driver_run with the lock. */

/* A session. The core stays its owner's. input_room: bytes of the longest
 * packet that may arrive */
void driver_begin (Driver * driver, const DriverVerbs * verbs, gpointer core,
    gsize input_room);
/* Closes all paths. */
void driver_end (Driver * driver);

/* Takes the socket. output_room: bytes of the longest packet that the core
 * writes for this path. While driver_run runs, only its thread may add and
 * remove paths. */
void driver_add_path (Driver * driver, guint number, DatagramSocket * socket,
    gsize output_room);
void driver_remove_path (Driver * driver, guint number);
/* NULL: there is no such path. */
DatagramSocket *driver_get_socket (Driver * driver, guint number);
/* TRUE: packets wait until the socket has room. */
gboolean driver_is_blocked (Driver * driver, guint number);

/* The loop also wakes when this descriptor of the owner can be read; -1: none.
 * driver_take_watched: whether it could when the loop woke last. */
void driver_watch (Driver * driver, gint fd);
gboolean driver_take_watched (Driver * driver);

/* Sends what the core can send now, and takes its events. */
void driver_flush (Driver * driver);
/* The loop looks again, if it would sleep longer than the core wants to, or in
 * any case. */
void driver_wake (Driver * driver, gboolean always);

/* The loop. It ends when is_done (asked with the lock) is TRUE, when `deadline`
 * (us of g_get_monotonic_time (); G_MAXINT64: none) is over, when it is
 * cancelled, or when `check` fails; the last two are an error. `cancellable` may
 * be NULL. Without the lock. TRUE: it is done. */
gboolean driver_run (Driver * driver, gboolean (*is_done) (gpointer owner),
    gint64 deadline, GCancellable * cancellable, GError ** error);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The driver of a protocol core. A core does no I/O: the driver passes arrived
 * packets and the current time to the core, and the core returns what to send
 * and when it needs to be called. The driver owns the sockets of the core's
 * paths. It polls them, receives and sends in batches, queues packets that a
 * socket has no room for, and reports errors of the sockets.
 *
 *   driver_init (&driver, &funcs, owner, &lock);
 *   driver_begin (&driver, &mmtp_sender_verbs, sender, input_room);
 *   driver_add_path (&driver, number, socket, output_room);
 *   driver_run (&driver, is_done, deadline, cancellable, &error);
 *   driver_end (&driver);
 *
 * Two threads may use a driver. One thread calls driver_run. The other one
 * passes data to the core and then calls driver_flush and driver_wake. All
 * fields are protected by the lock, which belongs to the owner.
 */

#pragma once

#include "datagramsocket.h"
#include "driververbs.h"

#define DRIVER_MAX_PATHS 256
/* The slice of a received packet keeps its block in memory (datagramblock.h).
 * This is the maximum number of such blocks. A block has `input_room` bytes. */
#define DRIVER_MAX_SLICED 64

/* The events that the driver waits for: file descriptors, a timeout, and a
 * wake-up by another thread */
typedef struct
{
  gint wake_fds[2];             /* a pipe; a byte in it wakes the driver */
  gboolean is_awake;            /* TRUE if the pipe contains a byte */
  /* array of GPollFD; the first element is for wake_fds[0] */
  GArray *fds;
} DriverPoll;

/* Callbacks of the owner. All of them are called with the lock held. take_event
 * and unlock_and_post must be set; the other callbacks may be NULL. */
typedef struct
{
  void (*take_event) (gpointer owner, gpointer event);
  /* Returns whether packets from the remote host of `path` are accepted. */
    gboolean (*allows) (gpointer owner, const DatagramPath * path);
  /* Called after packets from the peer have arrived on `path`. */
  void (*note_heard) (gpointer owner, guint path);
  /* Called before packets are sent on `path`. */
  void (*note_sent) (gpointer owner, guint path);
  /* Reports an error of a socket, for example from ICMP. Returns FALSE if the
   * path no longer works. In this case, the driver sends nothing more on the
   * path. The path still has to be removed with driver_remove_path. */
    gboolean (*take_error) (gpointer owner, guint path, const GError * error);
  /* Called at the beginning of each round (loop iteration) of driver_run */
  void (*prepare) (gpointer owner);
  /* Called when the core has nothing more to send now and all its events were
   * processed. */
  void (*note_flushed) (gpointer owner);
  /* Returns the latest time in ns at which driver_run must begin its next loop
   * iteration. Returns DRIVER_NEVER if the owner needs no further iteration. */
    guint64 (*next_wakeup) (gpointer owner);
  /* Called in each loop iteration of driver_run. To end driver_run, this
   * callback sets `error` and returns FALSE. */
    gboolean (*check) (gpointer owner, GError ** error);
  /* Releases the lock, and then reports to other threads what the callbacks
   * above have recorded. */
  void (*unlock_and_post) (gpointer owner);
  DriverTrace trace;            /* may be NULL */
} DriverFuncs;

typedef struct
{
  DatagramSocket *socket;       /* owned */
  GQueue unsent;                /* packets that wait for room in the socket */
  /* Time in ns before which the driver does not try again to send the queued
   * packets. It is set when the device has no room although poll reports the
   * socket as writable.
   */
  guint64 retry_at;
  /* TRUE if an error has made the path unusable, that is, if take_error has
   * returned FALSE */
  gboolean has_gone;
  /* Index of the path's socket in the list of descriptors of `poll`. Valid
   * while the driver waits. */
  guint poll_index;
  /* approximate number of packets that the receive buffer of the socket can
   * hold */
  guint capacity;
} DriverPath;

/* Measures the rate of an event, such as the arrival of a packet. At a high
 * rate, the driver lets packets wait for a moment, so that it can process
 * several packets together. */
typedef struct
{
  /* start of the current measurement period, in ns */
  guint64 begin;
  guint n;                      /* number of events since `begin` */
  /* events per second, measured in the previous period */
  guint64 rate;
} DriverRate;

/* Measures how many packets arrive per second. */
typedef struct
{
  DriverRate packets;
  /* TRUE if packets arrived in the current loop iteration of driver_run */
  gboolean has_just_received;
} DriverInputRate;

/* Measures how often driver_flush_often is called, and counts the packets that
 * were passed to the core but were not sent yet. */
typedef struct
{
  DriverRate calls;
  /* TRUE if driver_flush_often is called at a high rate */
  gboolean is_busy;
  guint n_waiting;              /* number of packets that were not sent yet */
  /* time in ns at which the core got the oldest packet that was not sent yet */
  guint64 waiting_since;
} DriverOutputRate;

typedef struct
{
  const DriverFuncs *funcs;
  gpointer owner;
  GMutex *lock;

  const DriverVerbs *verbs;     /* NULL if there is no core */
  gpointer core;
  gpointer event;               /* memory for one event */
  /* Memory for a batch of received packets. Each packet is received into a
   * block of `pool` in `inputs`. If the packet is large, the core gets a slice
   * of this block. The block then stays in use, and a free block replaces it in
   * `inputs`. Small packets are copied into the block `packed`, one after the
   * other, so that their slices share a block. */
  DatagramPool *pool;
  DatagramBlock *inputs[DATAGRAM_BATCH];
  DatagramBlock *packed;        /* NULL if there is none */
  /* number of bytes of `packed` that are in use */
  gsize packed_size;
  gboolean makes_slices;
  DriverInputRate input_rate;
  guint8 *outputs;              /* memory for the packets of a batch */
  /* Size in bytes of the memory for a packet: `input_room` for a packet that is
   * received, `output_room` for a packet that is sent. */
  gsize input_room, output_room;

  /* paths[i] is NULL if no path has the number i. */
  DriverPath *paths[DRIVER_MAX_PATHS];
  guint n_paths;                /* highest number of a path plus 1 */
  DriverPoll poll;
  /* file descriptor that was passed to driver_watch; -1 if there is none */
  gint watched_fd;
  gboolean watched_is_ready;
  /* time in ns at which the wait of driver_run ends; 0 if driver_run does not
   * wait */
  guint64 sleeps_until;
  DriverOutputRate output_rate;
} Driver;

void driver_init (Driver * driver, const DriverFuncs * funcs, gpointer owner,
    GMutex * lock);
void driver_clear (Driver * driver);

/* The caller of each function below must hold the lock. The only exception is
 * driver_run, whose caller must not hold it. */

/* Starts a session with `core`, which the owner frees after driver_end.
 * `input_room` is the maximum size of a received packet, in bytes.
 *
 * If `input_room` is at least DATAGRAM_MERGED_SIZE, as for sockets with GRO,
 * the core can keep a received packet without a copy, as a slice of the
 * received data (Datagram.block). */
void driver_begin (Driver * driver, const DriverVerbs * verbs, gpointer core,
    gsize input_room);
/* Ends the session and closes all paths. */
void driver_end (Driver * driver);

/* Adds a path and takes ownership of `socket`. `output_room` is the maximum
 * size of a packet that the core writes for this path, in bytes. While
 * driver_run runs, only its thread may add and remove paths. */
void driver_add_path (Driver * driver, guint number, DatagramSocket * socket,
    gsize output_room);
void driver_remove_path (Driver * driver, guint number);
/* Returns the socket of a path; NULL if there is no path with this number. */
DatagramSocket *driver_get_socket (Driver * driver, guint number);
/* Returns TRUE if packets of path `number` are queued because its socket is
 * full. */
gboolean driver_is_blocked (Driver * driver, guint number);

/* Makes driver_run also wait until `fd`, a file descriptor of the owner, is
 * readable. If `fd` is -1, driver_run no longer waits for a descriptor of the
 * owner. driver_take_watched returns whether the descriptor was readable when
 * driver_run last woke up. */
void driver_watch (Driver * driver, gint fd);
gboolean driver_take_watched (Driver * driver);

/* Sends all packets that the core can send now, and passes the events of the
 * core to the owner. */
void driver_flush (Driver * driver);
/* Does what driver_flush and driver_wake do. Call this function after
 * `n_packets` packets were passed to the core at the time `now` in ns. If the
 * function is called at a high rate, the packets of several calls are sent
 * together, because this needs much less time than sending them separately.
 * Each packet is sent after a fraction of a millisecond at the latest. */
void driver_flush_often (Driver * driver, guint64 now, guint n_packets);
/* Wakes driver_run if the core has to be called before the current wait ends.
 * If `always` is TRUE, driver_run is woken in any case. */
void driver_wake (Driver * driver, gboolean always);

/* Runs the core until one of four things happens: `is_done` returns TRUE,
 * `deadline` is reached, `cancellable` is cancelled, or `check` fails.
 * `is_done` is called with the lock held. `deadline` is in us of
 * g_get_monotonic_time (); G_MAXINT64 means no limit. `cancellable` may be
 * NULL. Cancellation and a failed check set `error`. The caller does not hold
 * the lock. Returns TRUE if `is_done` returned TRUE. */
gboolean driver_run (Driver * driver, gboolean (*is_done) (gpointer owner),
    gint64 deadline, GCancellable * cancellable, GError ** error);

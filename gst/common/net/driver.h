/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The driver of a protocol core. A core implements a protocol but does no I/O.
 * The driver passes arrived packets and the current time to the core. The core
 * returns the packets to send and the time at which it has to be called again.
 * The driver owns the sockets of the core's paths. It polls them, receives and
 * sends in batches, queues packets that a socket has no room for, and reports
 * errors of the sockets.
 *
 *   driver_init (&driver, &funcs, owner, &lock);
 *   driver_begin (&driver, &mmtp_sender_verbs, sender, input_room);
 *   driver_add_path (&driver, number, socket, output_room);
 *   driver_run (&driver, is_done, deadline, cancellable, &error);
 *   driver_end (&driver);
 *
 * Two threads may use a driver. One thread calls driver_run. The other one
 * passes data to the core and then calls driver_flush and driver_wake. All
 * fields are protected by the lock, which belongs to the owner. */

#pragma once

#include "datagramsocket.h"
#include "driververbs.h"

#define DRIVER_MAX_PATHS 256
/* Maximum number of memory blocks that slices keep in use. A slice is a
 * reference to the bytes of a received packet, and keeps the whole block with
 * these bytes in memory (datagramblock.h). A block has `input_room` bytes. */
#define DRIVER_MAX_SLICED 64

/* State for a wait that ends when a file descriptor has an event, when a
 * timeout passes, or when another thread wakes the driver */
typedef struct
{
  /* a pipe; another thread writes a byte into it to wake the driver */
  gint wake_fds[2];
  gboolean is_awake;            /* TRUE if the pipe contains a byte */
  /* array of GPollFD; the first element is the read end of the pipe,
   * wake_fds[0] */
  GArray *fds;
} DriverPoll;

/* Functions of the owner, which is the object that uses the driver. The driver
 * calls all of them with the lock held. take_event and unlock_and_post must be
 * set; the other functions may be NULL. */
typedef struct
{
  void (*take_event) (gpointer owner, gpointer event);
  /* Returns whether the owner accepts packets from the remote host of `path`.
   * Other packets are dropped. NULL means that all packets are accepted. */
    gboolean (*allows) (gpointer owner, const DatagramPath * path);
  /* Tells the owner that packets from the peer have arrived on the path number
   * `path`. */
  void (*note_heard) (gpointer owner, guint path);
  /* Tells the owner that the driver is about to send packets on the path number
   * `path`. */
  void (*note_sent) (gpointer owner, guint path);
  /* Reports an error of the path's socket, for example from an ICMP message.
   * Returns FALSE if the owner regards the path as unusable. The driver then
   * sends nothing more on this path. The owner still has to remove the path
   * with driver_remove_path. */
    gboolean (*take_error) (gpointer owner, guint path, const GError * error);
  /* Called at the beginning of each round (loop iteration) of driver_run */
  void (*prepare) (gpointer owner);
  /* Called after the driver has sent all packets that the core allows now, and
   * has passed all events of the core to the owner. */
  void (*note_flushed) (gpointer owner);
  /* Returns the time in ns at which the owner wants driver_run to begin its
   * next loop iteration, if no other reason makes it begin earlier. Returns
   * DRIVER_NEVER if the owner does not need another iteration. */
    guint64 (*next_wakeup) (gpointer owner);
  /* Called in each loop iteration of driver_run. To end driver_run, this
   * callback sets `error` and returns FALSE. */
    gboolean (*check) (gpointer owner, GError ** error);
  /* Releases the lock, and then reports what the other callbacks have recorded,
   * for example by posting messages. This must not be done with the lock held.
   */
  void (*unlock_and_post) (gpointer owner);
  /* Logs what happens to each packet (it is sent, queued, received or dropped),
   * and each decision of the driver: its waits and timeouts, the sockets that
   * have no room, and the paths that are added or removed. May be NULL. */
  DriverTrace trace;
} DriverFuncs;

typedef struct
{
  DatagramSocket *socket;       /* owned */
  /* Queue of packets (Unsent) that were not sent because the socket had no
   * room. Each entry contains a copy of the packet. */
  GQueue unsent;
  /* Earliest time in ns at which the driver tries again to send the queued
   * packets. It is set if poll has reported the socket as writable, but sending
   * has failed because the network device has no room. */
  guint64 retry_at;
  /* TRUE if the path has become unusable: the callback take_error has returned
   * FALSE for an error of its socket */
  gboolean has_gone;
  /* Index of the path's socket in the array `fds` of the driver's `poll`. Valid
   * only while the driver waits. */
  guint poll_index;
  /* approximate number of packets that the receive buffer of the socket can
   * hold */
  guint capacity;
} DriverPath;

/* Measurement of how often an event occurs, such as the arrival of a packet. If
 * the rate is high, the driver waits for a moment and then processes several
 * packets together. */
typedef struct
{
  /* time in ns at which the current measurement period began */
  guint64 begin;
  guint n;                      /* number of events since `begin` */
  /* events per second in the previous measurement period */
  guint64 rate;
} DriverRate;

/* Measurement of how many packets per second arrive. The packets of all paths
 * are counted together. */
typedef struct
{
  DriverRate packets;
  /* TRUE if packets have arrived since the last wait of driver_run */
  gboolean has_just_received;
} DriverInputRate;

/* State of driver_may_postpone: how often the function is called, and how many
 * packets wait to be sent. If the function is called at a high rate, packets
 * are collected and sent together. */
typedef struct
{
  DriverRate calls;
  /* TRUE while driver_may_postpone is called so often that packets are collected
   * and sent together */
  gboolean is_busy;
  /* Number of packets that the owner has passed to the core since the last call
   * of driver_flush. These packets wait to be sent. */
  guint n_waiting;
  /* Time in ns at which the owner passed the first of the `n_waiting` packets
   * to the core. Valid only if `n_waiting` is not 0. */
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
  /* Memory for a batch of received packets. Each packet is received into one
   * block of the array `inputs`; all blocks come from `pool`. If the packet is
   * large, the core gets a slice, which is a reference to the bytes in this
   * block. The block then stays in use, and a free block takes its place in
   * `inputs`. Small packets are copied into the block `packed`, one after the
   * other, so that their slices share a block. */
  DatagramPool *pool;
  DatagramBlock *inputs[DATAGRAM_BATCH];
  DatagramBlock *packed;        /* NULL if there is none */
  /* number of bytes of the block `packed` that small packets occupy already */
  gsize packed_size;
  gboolean makes_slices;
  DriverInputRate input_rate;
  /* Memory into which the core writes the packets that the driver sends next:
   * DATAGRAM_BATCH packets of `output_room` bytes each. NULL if there is no
   * path. */
  guint8 *outputs;
  /* Maximum size in bytes of a received packet (`input_room`) and of a packet
   * to send (`output_room`). Each block of `inputs` has `input_room` bytes, and
   * each packet of `outputs` has `output_room` bytes. */
  gsize input_room, output_room;

  /* paths of the core; paths[i] is the path with the number i, or NULL */
  DriverPath *paths[DRIVER_MAX_PATHS];
  guint n_paths;                /* highest number of a path plus 1 */
  DriverPoll poll;
  /* File descriptor that the owner has passed to driver_watch. driver_run also
   * waits until this descriptor is readable. -1 if there is none. */
  gint watched_fd;
  gboolean watched_is_ready;
  /* Time in ns at which the present wait of driver_run ends; 0 if driver_run
   * does not wait at present */
  guint64 sleeps_until;
  DriverOutputRate output_rate;
} Driver;

void driver_init (Driver * driver, const DriverFuncs * funcs, gpointer owner,
    GMutex * lock);
void driver_clear (Driver * driver);

/* The caller of the following functions must hold the lock of the owner. The
 * only exception is driver_run: its caller must not hold the lock. */

/* Starts a session, in which the driver runs `core`. The owner of the driver
 * frees the core after driver_end. `input_room` is the maximum size of a
 * received packet, in bytes.
 *
 * If `input_room` is at least DATAGRAM_MERGED_SIZE, as for sockets with GRO,
 * the core can keep the bytes of a received packet without copying them: it
 * makes a slice of the block in which they were received (Datagram.block). */
void driver_begin (Driver * driver, const DriverVerbs * verbs, gpointer core,
    gsize input_room);
/* Ends the session that driver_begin has started, and closes all paths. */
void driver_end (Driver * driver);

/* Adds a path and takes ownership of `socket`. `output_room` is the maximum
 * size of a packet that the core writes for this path, in bytes. While
 * driver_run runs, only its thread may add and remove paths. */
void driver_add_path (Driver * driver, guint number, DatagramSocket * socket,
    gsize output_room);
void driver_remove_path (Driver * driver, guint number);
/* Returns the socket of the path `number`; NULL if there is no such path. */
DatagramSocket *driver_get_socket (Driver * driver, guint number);
/* Returns TRUE if packets of path `number` are queued because its socket is
 * full. */
gboolean driver_is_blocked (Driver * driver, guint number);

/* Makes driver_run also wait until `fd`, a file descriptor of the owner, is
 * readable. If `fd` is -1, driver_run no longer waits for a descriptor of the
 * owner.
 *
 * driver_take_watched returns whether `fd` was readable when driver_run last
 * woke up. It reports this only once: until driver_run wakes up again, further
 * calls return FALSE. */
void driver_watch (Driver * driver, gint fd);
gboolean driver_take_watched (Driver * driver);

/* Sends all packets that the core can send now, and passes the events of the
 * core to the callback take_event of the owner. */
void driver_flush (Driver * driver);
/* Call this function after `n_packets` packets were passed to the core at the
 * time `now` in ns. If it returns FALSE, the caller has to call driver_flush
 * and driver_wake now.
 *
 * If this function is called at a high rate, it may return TRUE for a fraction
 * of a millisecond. The packets of several calls are then sent together, which
 * needs much less CPU time than sending them separately. If no further call
 * comes, driver_run sends them. */
gboolean driver_may_postpone (Driver * driver, guint64 now, guint n_packets);
/* Wakes the thread of driver_run if the core has to be called before the
 * present wait ends, for example because the core has got a new, earlier
 * timeout. If `always` is TRUE, driver_run is woken in any case. */
void driver_wake (Driver * driver, gboolean always);

/* Runs the core until one of four things happens: `is_done` returns TRUE,
 * `deadline` is reached, `cancellable` is cancelled, or `check` fails.
 * `is_done` is called with the lock held. `deadline` is in us of
 * g_get_monotonic_time (); G_MAXINT64 means no limit. `cancellable` may be
 * NULL. Cancellation and a failed check set `error`. The caller does not hold
 * the lock. Returns TRUE if `is_done` returned TRUE. */
gboolean driver_run (Driver * driver, gboolean (*is_done) (gpointer owner),
    gint64 deadline, GCancellable * cancellable, GError ** error);

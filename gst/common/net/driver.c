/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implementation of driver.h: waiting, sessions and paths, output, input, and
 * the main loop.
 */

/* for ppoll */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "driver.h"

#include <glib-unix.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Maximum number of packets that are received from one socket before the driver
 * checks timers and other sockets again. Packets are received in batches, and a
 * batch is always processed completely. The number may therefore be exceeded by
 * a part of a batch. */
#define MAX_INPUTS (4 * DATAGRAM_BATCH)
/* Maximum number of datagrams per system call if each datagram may consist of
 * several packets (GRO). Without GRO, this number is larger (DATAGRAM_BATCH).
 * All packets that one system call returns are passed to the core while the
 * lock is held. The smaller number limits the time for which the lock is held.
 */
#define GRO_BATCH 16
/* A received datagram that fills at least 1/MIN_SLICED_PART of its memory block
 * is passed on without a copy, and keeps the whole block in use. For a smaller
 * datagram, this would waste too much memory, so it is copied. */
#define MIN_SLICED_PART 4
/* Alignment in bytes of the small datagrams in a memory block that several
 * datagrams share */
#define PACKED_ALIGNMENT 16

/* Maximum number of packets that are queued for a path whose socket is full.
 * Further packets are dropped. This is rare, because a core is told that the
 * path is blocked and stops sending on it. */
#define MAX_UNSENT (4 * DATAGRAM_BATCH)
/* If the network device of a socket has no room, sending fails with ENOBUFS.
 * poll does not report when the device has room again. So the driver tries
 * again after this time in ns. */
#define RETRY_TIME 1000000

/* At a high rate of packets, the driver does not wake up for each received
 * packet. After it has received packets, it pauses. Then it receives all
 * packets that have arrived during the pause. The kernel notes when packets
 * arrive, so the pause changes no arrival time.
 *
 * The driver pauses only if at least BUSY_RATE packets per second have arrived,
 * measured over RATE_PERIOD ns. This rate corresponds to several hundred
 * Mbit/s. Packets of a slower stream never wait, not even in a burst.
 *
 * Each pause is limited in three ways:
 *
 * - The pause lasts at most MAX_PAUSE ns.
 * - At most about MAX_PAUSED packets arrive during the pause.
 * - The packets that arrive during the pause fill at most 1/BUFFER_PART of the
 *   receive buffer of a socket.
 *
 * If these limits allow only a pause shorter than MIN_PAUSE ns, the driver does
 * not pause, because so short a pause would be useless. */
#define BUSY_RATE 50000
#define RATE_PERIOD 10000000
#define MAX_PAUSE 250000
#define MIN_PAUSE 20000
#define MAX_PAUSED 128
#define BUFFER_PART 4
/* Approximate memory in bytes that a packet of 1500 bytes takes in a receive
 * buffer of Linux */
#define PACKET_MEMORY 2304

/* If driver_may_postpone is called at a high rate, packets are delayed, so that
 * the packets of several calls can be sent together. The rate is high if there
 * are at least BUSY_RATE calls per second, measured over RATE_PERIOD ns. The
 * packets are then sent as soon as MAX_TOGETHER packets are waiting or MAX_WAIT
 * ns have passed.
 *
 * With one packet per call, BUSY_RATE corresponds to several hundred Mbit/s.
 * Packets of a slower stream are never delayed, not even in a burst. */
#define MAX_TOGETHER 32
#define MAX_WAIT 250000

/* A packet that waits until its socket has room again. The struct contains a
 * copy of the packet. */
typedef struct
{
  DatagramPath path;
  gsize size;
  guint8 bytes[];
} Unsent;

/* --- waiting -------------------------------------------------------------- */

/* DriverPoll waits for file descriptors, for a timeout and for a wake-up by
 * another thread. The timeout is in nanoseconds, because the milliseconds of
 * g_poll are too coarse for pacing. */

/* ppoll () expects an array of struct pollfd, but is called with an array of
 * GPollFD. On Unix, the two types have the same layout. */
G_STATIC_ASSERT (sizeof (GPollFD) == sizeof (struct pollfd));

static void
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

static void
driver_poll_clear (DriverPoll * poll)
{
  close (poll->wake_fds[0]);
  close (poll->wake_fds[1]);
  g_array_free (poll->fds, TRUE);
}

/* Ends the current wait of the driver, or a wait that driver_poll_reset has
 * prepared and that has not begun yet. May be called by any thread that holds
 * the owner's lock. */
static void
driver_poll_wake (DriverPoll * poll)
{
  if (poll->is_awake)
    return;
  poll->is_awake = TRUE;
  while (write (poll->wake_fds[1], "", 1) < 0 && errno == EINTR);
}

/* Adds the file descriptor `fd` to the list of descriptors that the next wait
 * watches. `events` are flags of GIOCondition. Returns the index of the
 * descriptor in the list. */
static guint
driver_poll_add (DriverPoll * poll, gint fd, gushort events)
{
  GPollFD added = { fd, events, 0 };

  g_array_append_val (poll->fds, added);
  return poll->fds->len - 1;
}

/* Prepares the next wait. Empties the list of descriptors, except for the pipe
 * through which another thread wakes the driver. Forgets earlier calls of
 * driver_poll_wake, so that they do not end the next wait. */
static void
driver_poll_reset (DriverPoll * poll)
{
  gchar byte;

  if (poll->is_awake)
    while (read (poll->wake_fds[0], &byte, 1) < 0 && errno == EINTR);
  poll->is_awake = FALSE;
  g_array_set_size (poll->fds, 0);
  driver_poll_add (poll, poll->wake_fds[0], G_IO_IN);
}

/* Waits until a descriptor of `poll` has an event, for at most `time` ns;
 * G_MAXUINT64 means no limit. Returns TRUE if the time has passed without an
 * event. The caller must not hold the owner's lock. */
static gboolean
driver_poll_wait (DriverPoll * poll, guint64 time)
{
  struct timespec timeout = { time / 1000000000, time % 1000000000 };
  gint result;
  guint i;

  /* There are two cases in which ppoll reports no event: the time has passed,
   * or a signal has ended the wait. The events in the list may then be those of
   * an earlier wait. They are therefore cleared. */
  result = ppoll ((struct pollfd *) poll->fds->data, poll->fds->len,
      time == G_MAXUINT64 ? NULL : &timeout, NULL);
  if (result > 0)
    return FALSE;
  for (i = 0; i < poll->fds->len; i++)
    g_array_index (poll->fds, GPollFD, i).revents = 0;
  return result == 0;
}

/* Returns what the last wait has reported for a descriptor, as flags of
 * GIOCondition. `index` is the index that driver_poll_add has returned. */
static gushort
driver_poll_get_events (DriverPoll * poll, guint index)
{
  return g_array_index (poll->fds, GPollFD, index).revents;
}

static guint64
get_now (void)
{
  return (guint64) g_get_monotonic_time () * 1000;
}

/* --- trace ---------------------------------------------------------------- */

/* The following functions only log. They do nothing if the owner has set no
 * trace, and a function that logs several packets checks this only once. */

static void
G_GNUC_PRINTF (3, 4)
trace (Driver * driver, gboolean is_packet, const gchar * format, ...)
{
#ifndef WITHOUT_TRACE
  va_list args;

  if (!driver->funcs->trace)
    return;
  va_start (args, format);
  driver->funcs->trace (driver->owner, is_packet, format, args);
  va_end (args);
#endif
}

/* Logs that `n` packets were sent on the path number `number`. */
static void
trace_sent (Driver * driver, guint number, const Datagram * datagrams, guint n)
{
#ifndef WITHOUT_TRACE
  guint i;

  if (!driver->funcs->trace)
    return;
  for (i = 0; i < n; i++)
    trace (driver, TRUE, "path %u: sent %" G_GSIZE_FORMAT " bytes", number,
        datagram_get_size (&datagrams[i]));
#endif
}

/* Logs that `n` packets for the path number `number` are not sent. `reason`
 * completes the log line. */
static void
trace_dropped (Driver * driver, guint number, const Datagram * datagrams,
    guint n, const gchar * reason)
{
#ifndef WITHOUT_TRACE
  guint i;

  if (!driver->funcs->trace)
    return;
  for (i = 0; i < n; i++)
    trace (driver, FALSE, "path %u: dropped %" G_GSIZE_FORMAT " bytes: %s",
        number, datagram_get_size (&datagrams[i]), reason);
#endif
}

/* Logs that the owner does not accept the sender of `datagram`, into which the
 * kernel has merged `n_packets` packets. */
static void
trace_refused (Driver * driver, guint number, const Datagram * datagram,
    guint n_packets)
{
#ifndef WITHOUT_TRACE
  Datagram packet;
  guint i;

  if (!driver->funcs->trace)
    return;
  for (i = 0; i < n_packets; i++) {
    datagram_get_segment (datagram, i, &packet);
    trace (driver, FALSE, "path %u: dropped %" G_GSIZE_FORMAT " received "
        "bytes: their sender is not accepted", number, packet.size);
  }
#endif
}

/* Logs that driver_may_postpone begins or ceases to collect packets. */
static void
trace_busy (Driver * driver, gboolean is_busy)
{
  trace (driver, FALSE, "packets are sent %s", is_busy ?
      "together with the next ones, because they come at a high rate" :
      "at once, because they come at a low rate");
}

/* Logs that the main loop waits from the time `now` until the time `wakeup`. If
 * `has_paused` is TRUE, arriving packets do not end the wait. */
static void
trace_wait (Driver * driver, guint64 now, guint64 wakeup, gboolean has_paused)
{
  if (wakeup == DRIVER_NEVER)
    trace (driver, TRUE, "waits without a timeout");
  else
    trace (driver, TRUE, "waits for at most %" G_GUINT64_FORMAT " us%s",
        (wakeup - MIN (now, wakeup)) / 1000,
        has_paused ? ", so that several packets are received together" : "");
}

/* --- sessions and paths --------------------------------------------------- */

void
driver_init (Driver * driver, const DriverFuncs * funcs, gpointer owner,
    GMutex * lock)
{
  const Driver empty = { funcs, owner, lock, NULL };

  *driver = empty;
  driver->watched_fd = -1;
  driver_poll_init (&driver->poll);
}

void
driver_clear (Driver * driver)
{
  driver_poll_clear (&driver->poll);
}

void
driver_begin (Driver * driver, const DriverVerbs * verbs, gpointer core,
    gsize input_room)
{
  guint i;

  driver->verbs = verbs;
  driver->core = core;
  driver->event = g_malloc0 (verbs->event_size);
  memset (&driver->output_rate, 0, sizeof (driver->output_rate));
  driver->input_room = input_room;
  driver->makes_slices = input_room >= DATAGRAM_MERGED_SIZE;
  /* The pool has DATAGRAM_BATCH blocks for the packets that are received
   * together, and one block into which small datagrams are copied (`packed`).
   * It also has DRIVER_MAX_SLICED blocks that the core may keep in use. The
   * core refers to the bytes in such a block with slices (references to parts
   * of a block). */
  driver->pool = datagram_pool_new (input_room,
      DATAGRAM_BATCH + 1 + DRIVER_MAX_SLICED);
  for (i = 0; i < DATAGRAM_BATCH; i++)
    driver->inputs[i] = datagram_pool_take (driver->pool);
}

static void
free_inputs (Driver * driver)
{
  guint i;

  if (!driver->pool)
    return;
  for (i = 0; i < DATAGRAM_BATCH; i++)
    g_clear_pointer (&driver->inputs[i], datagram_block_release);
  g_clear_pointer (&driver->packed, datagram_block_release);
  driver->packed_size = 0;
  g_clear_pointer (&driver->pool, datagram_pool_free);
}

void
driver_end (Driver * driver)
{
  while (driver->n_paths > 0)
    driver_remove_path (driver, driver->n_paths - 1);
  driver->verbs = NULL;
  driver->core = NULL;
  g_clear_pointer (&driver->event, g_free);
  free_inputs (driver);
  g_clear_pointer (&driver->outputs, g_free);
  driver->output_room = 0;
}

static void
make_output_room (Driver * driver, gsize room)
{
  if (room <= driver->output_room)
    return;
  driver->output_room = room;
  driver->outputs = g_realloc (driver->outputs, room * DATAGRAM_BATCH);
}

static guint
get_capacity (DatagramSocket * socket)
{
  gint size;

  if (!g_socket_get_option (datagram_socket_get_socket (socket), SOL_SOCKET,
          SO_RCVBUF, &size, NULL))
    return 0;
  return size / PACKET_MEMORY;
}

void
driver_add_path (Driver * driver, guint number, DatagramSocket * socket,
    gsize output_room)
{
  DriverPath *path = g_new0 (DriverPath, 1);

  g_return_if_fail (number < DRIVER_MAX_PATHS && !driver->paths[number]);
  path->socket = socket;
  path->capacity = get_capacity (socket);
  g_queue_init (&path->unsent);
  driver->paths[number] = path;
  driver->n_paths = MAX (driver->n_paths, number + 1);
  make_output_room (driver, output_room);
  trace (driver, FALSE, "path %u: added, for packets of up to %"
      G_GSIZE_FORMAT " bytes", number, output_room);
}

void
driver_remove_path (Driver * driver, guint number)
{
  DriverPath *path = driver->paths[number];
  const GList *walk;

  driver->paths[number] = NULL;
  while (driver->n_paths > 0 && !driver->paths[driver->n_paths - 1])
    driver->n_paths--;
  if (!path)
    return;
  for (walk = path->unsent.head; walk; walk = walk->next)
    trace (driver, FALSE, "path %u: dropped %" G_GSIZE_FORMAT " bytes: the "
        "path is removed", number, ((const Unsent *) walk->data)->size);
  trace (driver, FALSE, "path %u: removed", number);
  datagram_socket_free (path->socket);
  g_queue_clear_full (&path->unsent, g_free);
  g_free (path);
}

DatagramSocket *
driver_get_socket (Driver * driver, guint number)
{
  return driver->paths[number] ? driver->paths[number]->socket : NULL;
}

gboolean
driver_is_blocked (Driver * driver, guint number)
{
  return driver->paths[number]
      && !g_queue_is_empty (&driver->paths[number]->unsent);
}

void
driver_watch (Driver * driver, gint fd)
{
  driver->watched_fd = fd;
  driver->watched_is_ready = FALSE;
}

gboolean
driver_take_watched (Driver * driver)
{
  const gboolean is_ready = driver->watched_is_ready;

  driver->watched_is_ready = FALSE;
  return is_ready;
}

static void
take_error (Driver * driver, guint number, GError * error)
{
  DriverPath *path = driver->paths[number];

  trace (driver, FALSE, "path %u: %s", number, error->message);
  if (driver->funcs->take_error
      && !driver->funcs->take_error (driver->owner, number, error)) {
    trace (driver, FALSE, "path %u: nothing more is sent, because of this "
        "error", number);
    path->has_gone = TRUE;
    driver_wake (driver, TRUE);
  }
  g_error_free (error);
}

/* --- output --------------------------------------------------------------- */

/* Called when the socket of a path becomes full or has room again. Tells the
 * core whether the socket is full (`is_blocked`), so that the core can stop
 * sending on this path. Then wakes the main loop. While the socket is full, the
 * main loop has to wait with poll until the socket is writable. If the main
 * loop was already in poll, it did not wait for this socket, so it has to call
 * poll again. */
static void
set_blocked (Driver * driver, guint number, gboolean is_blocked)
{
  trace (driver, FALSE, "path %u: the socket has %s", number,
      is_blocked ? "no room" : "room again");
  if (driver->verbs->set_blocked)
    driver->verbs->set_blocked (driver->core, get_now (), number, is_blocked);
  driver_wake (driver, TRUE);
}

static void
keep_unsent (Driver * driver, guint number, const Datagram * datagrams, guint n)
{
  DriverPath *path = driver->paths[number];
  Unsent *unsent;
  guint i;

  for (i = 0; i < n; i++) {
    if (g_queue_get_length (&path->unsent) == MAX_UNSENT) {
      trace_dropped (driver, number, datagrams + i, n - i, "the queue is full");
      return;
    }
    unsent = g_malloc (sizeof (*unsent) + datagram_get_size (&datagrams[i]));
    unsent->path = datagrams[i].path;
    unsent->size = datagram_get_size (&datagrams[i]);
    datagram_copy_bytes (&datagrams[i], unsent->bytes);
    g_queue_push_tail (&path->unsent, unsent);
    trace (driver, TRUE, "path %u: queued %" G_GSIZE_FORMAT " bytes until the "
        "socket has room", number, unsent->size);
  }
}

static void
trace_gso (Driver * driver, guint number)
{
  GError *error = NULL;

  if (datagram_socket_check_gso (driver->paths[number]->socket, &error))
    return;
  trace (driver, FALSE, "path %u: %s", number, error->message);
  g_error_free (error);
}

/* Sends packets on the path number `number`. Returns how many packets, counted
 * from the beginning of `datagrams`, are finished: they were sent, or they
 * failed. The socket has no room for the other packets, so the caller has to
 * send them later.
 *
 * A call of send may fail with an ICMP error that an earlier packet has caused
 * (Linux ip(7), IP_RECVERR). The current packet was not sent in this case,
 * although nothing is wrong with it. Therefore send is called a second time for
 * the current packet. */
static guint
send_datagrams (Driver * driver, guint number, const Datagram * datagrams,
    guint n)
{
  DriverPath *path = driver->paths[number];
  gboolean again = TRUE;
  GError *error = NULL;
  guint done = 0;
  gint sent;

  while (done < n && !path->has_gone) {
    sent = datagram_socket_send (path->socket, datagrams + done, n - done,
        &error);
    trace_gso (driver, number);
    if (sent == 0)
      return done;
    if (sent > 0) {
      trace_sent (driver, number, datagrams + done, sent);
      done += sent;
      again = TRUE;
      continue;
    }
    take_error (driver, number, g_steal_pointer (&error));
    if (!again) {
      trace_dropped (driver, number, datagrams + done, 1,
          "sending has failed twice");
      done++;
    }
    again = !again;
  }
  if (done < n)
    trace_dropped (driver, number, datagrams + done, n - done,
        "the path is no longer usable");
  return n;
}

static void
send_on_path (Driver * driver, guint number, const Datagram * datagrams,
    guint n)
{
  DriverPath *path = driver->paths[number];
  guint done = 0;

  if (!path) {
    trace_dropped (driver, number, datagrams, n, "there is no such path");
    return;
  }
  if (driver->funcs->note_sent)
    driver->funcs->note_sent (driver->owner, number);
  if (g_queue_is_empty (&path->unsent)) {
    done = send_datagrams (driver, number, datagrams, n);
    if (done < n)
      set_blocked (driver, number, TRUE);
  }
  keep_unsent (driver, number, datagrams + done, n - done);
}

/* Sends the packets of a path that were queued because its socket was full.
 * Called when the socket has room again. If the socket becomes full again, the
 * remaining packets stay in the queue. */
static void
send_unsent (Driver * driver, guint number)
{
  DriverPath *path = driver->paths[number];
  Datagram datagram;
  Unsent *unsent;

  while ((unsent = g_queue_peek_head (&path->unsent))) {
    datagram_init (&datagram, unsent->bytes, unsent->size);
    datagram.path = unsent->path;
    if (send_datagrams (driver, number, &datagram, 1) == 0) {
      path->retry_at = get_now () + RETRY_TIME;
      trace (driver, TRUE, "path %u: the socket still has no room, %u packets "
          "wait, and the next attempt is made after %u us", number,
          g_queue_get_length (&path->unsent), RETRY_TIME / 1000);
      return;
    }
    g_free (g_queue_pop_head (&path->unsent));
  }
  set_blocked (driver, number, FALSE);
}

/* Sends packet number `first` and all later packets of the batch that have the
 * same path, together and in their order. Marks these packets in `is_taken`, so
 * that the caller skips them. */
static void
send_path_of (Driver * driver, const guint * numbers,
    const Datagram * datagrams, guint n, guint first, gboolean * is_taken)
{
  Datagram of_path[DATAGRAM_BATCH];
  guint i, n_of_path = 0;

  for (i = first; i < n; i++) {
    if (numbers[i] != numbers[first])
      continue;
    is_taken[i] = TRUE;
    of_path[n_of_path++] = datagrams[i];
  }
  send_on_path (driver, numbers[first], of_path, n_of_path);
}

/* Sends a batch of packets, which may belong to different paths. Packets of the
 * same path are passed to their socket with one function call, in their order.
 * Usually all packets of a batch have the same path. */
static void
send_batch (Driver * driver, const guint * numbers,
    const Datagram * datagrams, guint n)
{
  gboolean is_taken[DATAGRAM_BATCH] = { FALSE };
  guint i;

  for (i = 1; i < n && numbers[i] == numbers[0]; i++);
  if (i == n) {
    send_on_path (driver, numbers[0], datagrams, n);
    return;
  }
  for (i = 0; i < n; i++)
    if (!is_taken[i])
      send_path_of (driver, numbers, datagrams, n, i, is_taken);
}

static void
take_events (Driver * driver)
{
  while (driver->verbs->poll_event (driver->core, driver->event))
    driver->funcs->take_event (driver->owner, driver->event);
}

void
driver_flush (Driver * driver)
{
  const guint max = driver->outputs ? DATAGRAM_BATCH : 0;
  Datagram datagrams[DATAGRAM_BATCH];
  guint numbers[DATAGRAM_BATCH];
  guint64 now;
  guint n;

  driver->output_rate.n_waiting = 0;
  do {
    now = get_now ();
    for (n = 0; n < max; n++) {
      datagram_init (&datagrams[n], driver->outputs + n * driver->output_room,
          0);
      if (!driver->verbs->poll_output (driver->core, now, &numbers[n],
              &datagrams[n], driver->output_room))
        break;
    }
    send_batch (driver, numbers, datagrams, n);
  } while (n == DATAGRAM_BATCH);
  take_events (driver);
  if (driver->funcs->note_flushed)
    driver->funcs->note_flushed (driver->owner);
}

/* `rate` counts events in periods of at least RATE_PERIOD ns. If the present
 * period has lasted long enough, this function stores the number of events per
 * second in rate->rate, begins the next period, and returns TRUE. Otherwise it
 * returns FALSE. */
static gboolean
end_period (DriverRate * rate, guint64 now)
{
  const guint64 passed = now - MIN (now, rate->begin);

  if (passed < RATE_PERIOD)
    return FALSE;
  rate->rate = rate->n * G_GUINT64_CONSTANT (1000000000) / passed;
  rate->begin = now;
  rate->n = 0;
  return TRUE;
}

/* Counts one call of driver_may_postpone, and computes the rate of these calls.
 * At a high rate, the owner may leave packets unsent until its next call. If no
 * further call comes, the thread of driver_run has to send these packets. This
 * thread is therefore woken when the rate becomes high. From then on, it checks
 * for unsent packets at short intervals. */
static void
note_call (Driver * driver, guint64 now)
{
  DriverOutputRate *self = &driver->output_rate;
  const gboolean was_busy = self->is_busy;

  self->calls.n++;
  if (!end_period (&self->calls, now))
    return;
  self->is_busy = self->calls.rate >= BUSY_RATE;
  if (self->is_busy != was_busy)
    trace_busy (driver, self->is_busy);
  if (self->is_busy && !was_busy)
    driver_wake (driver, TRUE);
}

gboolean
driver_may_postpone (Driver * driver, guint64 now, guint n_packets)
{
  DriverOutputRate *self = &driver->output_rate;

  note_call (driver, now);
  if (self->n_waiting == 0)
    self->waiting_since = now;
  self->n_waiting += n_packets;
  if (!self->is_busy || self->n_waiting >= MAX_TOGETHER
      || now >= self->waiting_since + MAX_WAIT)
    return FALSE;
  if (n_packets > 0 && self->n_waiting == n_packets)
    trace (driver, TRUE, "waits for at most %u us before it sends, because "
        "further packets may follow", MAX_WAIT / 1000);
  return TRUE;
}

/* If driver_may_postpone is called at a high rate, the owner may leave packets
 * unsent until its next call, which may never come. Returns the time in ns at
 * which the main loop has to send such packets. Returns DRIVER_NEVER if all
 * packets are sent at once. */
static guint64
get_output_wakeup (Driver * driver)
{
  DriverOutputRate *self = &driver->output_rate;
  guint64 now;

  if (!self->is_busy)
    return DRIVER_NEVER;
  now = get_now ();
  self->is_busy = now < self->calls.begin + 2 * RATE_PERIOD;
  if (!self->is_busy)
    trace_busy (driver, FALSE);
  return self->is_busy ? now + MAX_WAIT : DRIVER_NEVER;
}

/* --- input ---------------------------------------------------------------- */

/* Copies a small datagram to the end of the memory block `packed`, which
 * several datagrams share. The core can then keep a reference to the bytes of
 * the datagram. If the datagram does not fit into `packed`, a free block of the
 * pool replaces `packed`. If no block is free either, the datagram is not
 * copied, and the core cannot keep a reference to its bytes. */
static void
pack (Driver * driver, Datagram * datagram)
{
  DatagramBlock *block = driver->packed;

  if (!block || datagram->size > driver->input_room - driver->packed_size) {
    block = datagram_pool_take (driver->pool);
    if (!block)
      return;
    g_clear_pointer (&driver->packed, datagram_block_release);
    driver->packed = block;
    driver->packed_size = 0;
  }
  memcpy (block->bytes + driver->packed_size, datagram->bytes, datagram->size);
  datagram->bytes = block->bytes + driver->packed_size;
  datagram->block = block;
  driver->packed_size = MIN (driver->input_room, driver->packed_size +
      (datagram->size + PACKED_ALIGNMENT - 1) / PACKED_ALIGNMENT *
      PACKED_ALIGNMENT);
}

/* Prepares a received datagram so that the core can refer to its bytes with
 * slices (references to parts of a memory block). The core then need not copy
 * the bytes. The datagram was received into the block driver->inputs[i].
 *
 * If the datagram is small, it is copied to a block that several datagrams
 * share, and the function returns NULL. If the datagram is larger, its block is
 * not used for further input: a free block of the pool becomes
 * driver->inputs[i]. The function then returns the block of the datagram, which
 * the caller has to release.
 *
 * If a free block is needed and the pool has none, the datagram is not
 * prepared, and the function returns NULL. The memory of the datagram will be
 * used for further input, so the core has to copy the bytes that it wants to
 * keep. */
static DatagramBlock *
prepare_slices (Driver * driver, guint i, Datagram * datagram)
{
  DatagramBlock *block = driver->inputs[i], *next;

  if (!driver->makes_slices)
    return NULL;
  if (datagram->size < driver->input_room / MIN_SLICED_PART) {
    pack (driver, datagram);
    return NULL;
  }
  next = datagram_pool_take (driver->pool);
  if (!next)
    return NULL;
  driver->inputs[i] = next;
  datagram->block = block;
  return block;
}

/* Returns whether the owner accepts packets from the sender of `datagram`, into
 * which the kernel has merged `n_packets` packets. The callback `allows` of the
 * owner decides this.
 *
 * The callback also counts the refused packets. Therefore it is called once for
 * each packet if the sender is refused, but only once for the whole datagram if
 * the sender is accepted. */
static gboolean
allows (Driver * driver, const Datagram * datagram, guint n_packets)
{
  guint i;

  if (!driver->funcs->allows)
    return TRUE;
  for (i = 0; i < n_packets; i++)
    if (driver->funcs->allows (driver->owner, &datagram->path))
      return TRUE;
  return FALSE;
}

static void
input (Driver * driver, guint number, const Datagram * datagram)
{
  trace (driver, TRUE, "path %u: received %" G_GSIZE_FORMAT " bytes", number,
      datagram->size);
  driver->verbs->input (driver->core, datagram->time, number, datagram);
  /* The core may have produced an event that points into this packet. All
   * events are therefore passed to the owner before the next packet is
   * processed. */
  take_events (driver);
}

/* Passes a received datagram to the core. If the kernel merged several packets
 * into this datagram, the core gets each packet by itself. Returns the number
 * of packets in the datagram. */
static guint
input_datagram (Driver * driver, guint number, guint i, Datagram * datagram)
{
  const guint n_packets = datagram_count_segments (datagram);
  DatagramBlock *block;
  Datagram segment;
  guint packet;

  if (!allows (driver, datagram, n_packets)) {
    trace_refused (driver, number, datagram, n_packets);
    return n_packets;
  }
  block = prepare_slices (driver, i, datagram);
  for (packet = 0; packet < n_packets; packet++) {
    datagram_get_segment (datagram, packet, &segment);
    input (driver, number, &segment);
  }
  g_clear_pointer (&block, datagram_block_release);
  return n_packets;
}

static guint
input_all (Driver * driver, guint number, Datagram * datagrams, gint n)
{
  guint total = 0;
  gint i;

  if (n > 0 && driver->funcs->note_heard)
    driver->funcs->note_heard (driver->owner, number);
  for (i = 0; i < n; i++)
    total += input_datagram (driver, number, i, &datagrams[i]);
  return total;
}

static void
note_received (DriverInputRate * self, guint n)
{
  self->packets.n += n;
  self->has_just_received |= n > 0;
}

/* At a high packet rate, the driver pauses: it lets arriving packets collect in
 * the sockets for a short time, and then receives them together. Returns the
 * maximum duration of the next pause in ns. 0 means no pause: the driver wakes
 * up as soon as a packet arrives. Called before each wait of the main loop. */
static guint64
get_pause (Driver * driver, guint64 now)
{
  DriverInputRate *self = &driver->input_rate;
  const gboolean has_just_received = self->has_just_received;
  guint64 pause, n = MAX_PAUSED;
  guint i;

  self->has_just_received = FALSE;
  end_period (&self->packets, now);
  if (!has_just_received || self->packets.rate < BUSY_RATE)
    return 0;
  for (i = 0; i < driver->n_paths; i++)
    if (driver->paths[i])
      n = MIN (n, driver->paths[i]->capacity / BUFFER_PART);
  pause =
      MIN (n * G_GUINT64_CONSTANT (1000000000) / self->packets.rate, MAX_PAUSE);
  return pause >= MIN_PAUSE ? pause : 0;
}

/* Receives packets from the socket of path `number` until no more packets are
 * waiting or MAX_INPUTS packets were received. Packets are received in batches.
 * The last batch is always processed completely.
 */
static void
receive (Driver * driver, guint number)
{
  DatagramSocket *socket = driver->paths[number]->socket;
  const gint max =
      datagram_socket_has_gro (socket) ? GRO_BATCH : DATAGRAM_BATCH;
  Datagram datagrams[DATAGRAM_BATCH];
  GError *error = NULL;
  guint total = 0;
  gint i, n;

  do {
    for (i = 0; i < max; i++)
      datagram_init (&datagrams[i], driver->inputs[i]->bytes,
          driver->input_room);
    n = datagram_socket_receive (socket, datagrams, max, &error);
    total += input_all (driver, number, datagrams, n);
  } while (n == max && total < MAX_INPUTS);

  note_received (&driver->input_rate, total);
  if (n < 0)
    take_error (driver, number, error);
}

/* Handles the events that poll has reported for the socket of path `number`. If
 * `has_paused` is TRUE, poll was not asked to report arriving packets. In this
 * case, the function always tries to receive packets. */
static void
look_at_path (Driver * driver, guint number, gboolean has_paused)
{
  DriverPath *path = driver->paths[number];
  const gushort events =
      driver_poll_get_events (&driver->poll, path->poll_index);

  if (has_paused || events & ~G_IO_OUT)
    receive (driver, number);
  if (events & G_IO_OUT)
    send_unsent (driver, number);
}

/* --- the loop ------------------------------------------------------------- */

void
driver_wake (Driver * driver, gboolean always)
{
  if (always || (driver->core && driver->sleeps_until > 0
          && driver->verbs->next_wakeup (driver->core) < driver->sleeps_until))
    driver_poll_wake (&driver->poll);
}

/* Lets the core do what is due now, such as a retransmission after a timeout,
 * and sends the packets that the core then has ready. Returns the time in ns at
 * which this function has to be called again. */
static guint64
do_what_is_due (Driver * driver)
{
  guint64 wakeup;

  if (driver->funcs->prepare)
    driver->funcs->prepare (driver->owner);
  driver->verbs->timeout (driver->core, get_now ());
  driver_flush (driver);
  wakeup = MIN (driver->verbs->next_wakeup (driver->core),
      get_output_wakeup (driver));
  if (driver->funcs->next_wakeup)
    wakeup = MIN (wakeup, driver->funcs->next_wakeup (driver->owner));
  return wakeup;
}

/* Returns TRUE if poll has to wait until the socket of `path` is writable. This
 * is the case if the driver has packets for the path that it could not send
 * yet.
 *
 * There is one exception. Sending may fail because the network device is full,
 * although the socket itself has room. The socket is then writable all the
 * time, so poll would return at once, again and again. The driver therefore
 * sends nothing on this path before the time path->retry_at. Until that time,
 * this function returns FALSE, so that poll does not wait for the socket.
 * Instead, poll must end at path->retry_at at the latest. `wakeup` is the time
 * at which poll ends. If `wakeup` is later than path->retry_at, this function
 * sets `wakeup` to path->retry_at. */
static gboolean
waits_for_room (DriverPath * path, guint64 * wakeup)
{
  if (g_queue_is_empty (&path->unsent))
    return FALSE;
  if (path->retry_at <= get_now ())
    return TRUE;
  *wakeup = MIN (*wakeup, path->retry_at);
  return FALSE;
}

/* Fills in the list of descriptors on which poll waits. If `waits_for_input` is
 * FALSE, arriving packets do not end the wait. `wakeup` is the time at which
 * poll stops waiting. On some paths, the driver may try to send again only at a
 * certain time. If this time is before `wakeup`, `wakeup` is set to it.
 *
 * The owner of the driver may have passed a descriptor to driver_watch(). This
 * descriptor, driver->watched_fd, is also in the list. The function returns its
 * index in the list, or 0 if the owner has passed none. */
static guint
prepare_poll (Driver * driver, gint cancel_fd, gboolean waits_for_input,
    guint64 * wakeup)
{
  DriverPath *path;
  guint i;

  driver_poll_reset (&driver->poll);
  for (i = 0; i < driver->n_paths; i++) {
    path = driver->paths[i];
    if (path)
      path->poll_index = driver_poll_add (&driver->poll,
          g_socket_get_fd (datagram_socket_get_socket (path->socket)),
          (waits_for_input ? G_IO_IN : 0)
          | (waits_for_room (path, wakeup) ? G_IO_OUT : 0));
  }
  if (cancel_fd >= 0)
    driver_poll_add (&driver->poll, cancel_fd, G_IO_IN);
  if (driver->watched_fd >= 0)
    return driver_poll_add (&driver->poll, driver->watched_fd, G_IO_IN);
  return 0;
}

/* Waits until the time `wakeup` in ns, until a descriptor is ready, or until
 * another thread wakes or cancels the driver. The caller holds the lock. The
 * function releases the lock while it waits. */
static void
sleep_until (Driver * driver, guint64 wakeup, gint cancel_fd)
{
  guint64 now = get_now ();
  const guint64 pause = get_pause (driver, now);
  gboolean has_timed_out;
  guint watched, i;

  if (pause > 0)
    wakeup = MIN (wakeup, now + pause);
  watched = prepare_poll (driver, cancel_fd, pause == 0, &wakeup);
  driver->sleeps_until = wakeup;
  trace_wait (driver, now, wakeup, pause > 0);
  driver->funcs->unlock_and_post (driver->owner);
  now = get_now ();
  has_timed_out = driver_poll_wait (&driver->poll, wakeup == DRIVER_NEVER ?
      G_MAXUINT64 : wakeup > now ? wakeup - now : 0);
  g_mutex_lock (driver->lock);
  if (has_timed_out)
    trace (driver, TRUE, "the timeout has passed");
  driver->sleeps_until = 0;
  driver->watched_is_ready = watched > 0
      && driver_poll_get_events (&driver->poll, watched) != 0;
  for (i = 0; i < driver->n_paths; i++)
    if (driver->paths[i])
      look_at_path (driver, i, pause > 0);
}

gboolean
driver_run (Driver * driver, gboolean (*is_done) (gpointer owner),
    gint64 deadline, GCancellable * cancellable, GError ** error)
{
  const gint cancel_fd = g_cancellable_get_fd (cancellable);
  gboolean done;
  guint64 wakeup;

  g_mutex_lock (driver->lock);
  while (TRUE) {
    wakeup = do_what_is_due (driver);
    done = is_done (driver->owner);
    if (done || g_get_monotonic_time () >= deadline
        || g_cancellable_set_error_if_cancelled (cancellable, error)
        || (driver->funcs->check
            && !driver->funcs->check (driver->owner, error)))
      break;
    if (deadline < G_MAXINT64)
      wakeup = MIN (wakeup, (guint64) deadline * 1000);
    sleep_until (driver, wakeup, cancel_fd);
  }
  driver->funcs->unlock_and_post (driver->owner);
  if (cancel_fd >= 0)
    g_cancellable_release_fd (cancellable);
  return done;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the driver (driver.h), which connects a protocol core with sockets,
 * over loopback. The core is a mock: it records its input, and its output is
 * set by the test. The test replaces the system calls that send, so that it
 * decides how many packets the sockets accept. No test asserts an elapsed time.
 */

#define _GNU_SOURCE             /* sendmmsg */

#include "datagramsockets.h"

#include <errno.h>
#include <unistd.h>

#include <sys/socket.h>
#include <sys/syscall.h>

#include "driver.h"

#define PATHS 3
#define SIZE 100

/* Number of packets that the sockets of this program still accept */
static gint room = G_MAXINT;

static guint n_sent;

/* The following functions replace those of the C library. */
ssize_t
sendmsg (int fd, const struct msghdr *message, int flags)
{
  if (room == 0) {
    errno = EAGAIN;
    return -1;
  }
  room--;
  n_sent++;
  return syscall (SYS_sendmsg, fd, message, flags);
}

int
sendmmsg (int fd, struct mmsghdr *messages, unsigned int n, int flags)
{
  int sent;

  if (room == 0) {
    errno = EAGAIN;
    return -1;
  }
  sent = syscall (SYS_sendmmsg, fd, messages, MIN (n, (guint) room), flags);
  room -= MAX (0, sent);
  n_sent += MAX (0, sent);
  return sent;
}

/* --- core, owner and sockets ---------------------------------------------- */

typedef struct
{
  guint path;
  guint8 first;                 /* the first byte of the packet */
  gsize size;
} Packet;

typedef struct
{
  GMutex lock;
  Driver driver;
  /* The listeners at the far ends. An entry is NULL if there is no such path.
   */
  DatagramSocket *far[PATHS];
  /* The path from the listener to the driver's socket. */
  DatagramPath back[PATHS];

  /* State of the mock core */
  GArray *to_send;              /* Packet entries that the core will send */
  guint n_polled;
  /* Packet entries that were reported as events */
  GArray *arrived;
  Packet event;
  gboolean has_event;
  guint timeouts;
  guint64 wakeup;
  /* "+1" when path 1 blocks, "-1" when it no longer blocks */
  GString *blocked;

  /* State of the mock owner */
  GString *sent, *heard;        /* one digit per event: the path */
  guint errors, rounds, flushes, packets_traced;
  /* The owner removes a path that has an error. */
  gboolean path_goes;
  /* The loop ends after this number of packets. */
  guint n_wanted;
  gint room_per_round;
  GError *broken;
} Fixture;

static void
core_input (gpointer core, guint64 now, guint path, const Datagram * datagram)
{
  Fixture *self = core;

  fail_if (self->has_event);
  self->event.path = path;
  self->event.first = datagram->bytes[0];
  self->event.size = datagram->size;
  self->has_event = TRUE;
}

static void
core_timeout (gpointer core, guint64 now)
{
  Fixture *self = core;

  self->timeouts++;
}

static gboolean
core_poll_output (gpointer core, guint64 now, guint * path,
    Datagram * datagram, gsize room)
{
  static guint8 payload[SIZE];
  static const DatagramPart part = { payload, SIZE - 1 };
  Fixture *self = core;
  Packet *packet;

  if (self->n_polled == self->to_send->len)
    return FALSE;
  packet = &g_array_index (self->to_send, Packet, self->n_polled++);
  fail_unless (room >= SIZE);
  *path = packet->path;
  /* a header and its payload */
  datagram->bytes[0] = packet->first;
  datagram->size = 1;
  datagram->parts = &part;
  datagram->n_parts = 1;
  return TRUE;
}

static gboolean
core_poll_event (gpointer core, gpointer event)
{
  Fixture *self = core;

  if (!self->has_event)
    return FALSE;
  *(Packet *) event = self->event;
  self->has_event = FALSE;
  return TRUE;
}

static guint64
core_next_wakeup (gpointer core)
{
  return ((Fixture *) core)->wakeup;
}

static void
core_set_blocked (gpointer core, guint64 now, guint path, gboolean is_blocked)
{
  Fixture *self = core;

  g_string_append_printf (self->blocked, "%c%u", is_blocked ? '+' : '-', path);
}

static const DriverVerbs core_verbs = {
  .event_size = sizeof (Packet),
  .input = core_input,
  .timeout = core_timeout,
  .poll_output = core_poll_output,
  .poll_event = core_poll_event,
  .next_wakeup = core_next_wakeup,
  .set_blocked = core_set_blocked,
};

static void
take_event (gpointer owner, gpointer event)
{
  g_array_append_val (((Fixture *) owner)->arrived, *(Packet *) event);
}

static void
note_heard (gpointer owner, guint path)
{
  g_string_append_printf (((Fixture *) owner)->heard, "%u", path);
}

static void
note_sent (gpointer owner, guint path)
{
  g_string_append_printf (((Fixture *) owner)->sent, "%u", path);
}

static gboolean
take_error (gpointer owner, guint path, const GError * error)
{
  Fixture *self = owner;

  self->errors++;
  return !self->path_goes;
}

static void
prepare (gpointer owner)
{
  Fixture *self = owner;

  self->rounds++;
  if (self->room_per_round > 0)
    room = self->room_per_round;
}

static void
note_flushed (gpointer owner)
{
  ((Fixture *) owner)->flushes++;
}

static gboolean
check (gpointer owner, GError ** error)
{
  Fixture *self = owner;

  if (!self->broken)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&self->broken));
  return FALSE;
}

static void
unlock_and_post (gpointer owner)
{
  g_mutex_unlock (&((Fixture *) owner)->lock);
}

static void
trace (gpointer owner, gboolean is_packet, const gchar * format, va_list args)
{
  ((Fixture *) owner)->packets_traced += is_packet;
}

static const DriverFuncs funcs = {
  .take_event = take_event,
  .note_heard = note_heard,
  .note_sent = note_sent,
  .take_error = take_error,
  .prepare = prepare,
  .note_flushed = note_flushed,
  .check = check,
  .unlock_and_post = unlock_and_post,
  .trace = trace,
};

static void
set_up (Fixture * self)
{
  memset (self, 0, sizeof (*self));
  g_mutex_init (&self->lock);
  driver_init (&self->driver, &funcs, self, &self->lock);
  self->to_send = g_array_new (FALSE, FALSE, sizeof (Packet));
  self->arrived = g_array_new (FALSE, FALSE, sizeof (Packet));
  self->blocked = g_string_new (NULL);
  self->sent = g_string_new (NULL);
  self->heard = g_string_new (NULL);
  self->wakeup = DRIVER_NEVER;
  room = G_MAXINT;
  driver_begin (&self->driver, &core_verbs, self, 2 * SIZE);
}

static void
tear_down (Fixture * self)
{
  guint i;

  driver_end (&self->driver);
  driver_clear (&self->driver);
  for (i = 0; i < PATHS; i++)
    g_clear_pointer (&self->far[i], datagram_socket_free);
  g_array_free (self->to_send, TRUE);
  g_array_free (self->arrived, TRUE);
  g_string_free (self->blocked, TRUE);
  g_string_free (self->sent, TRUE);
  g_string_free (self->heard, TRUE);
  g_clear_error (&self->broken);
  g_mutex_clear (&self->lock);
}

/* Adds a connected socket to the driver, and a listener at its far end. */
static void
add_sockets (Fixture * self, guint path)
{
  DatagramSocket *near;

  self->far[path] = datagram_test_listener ("127.0.0.1", 0);
  near = datagram_test_connect ("127.0.0.1",
      datagram_test_get_port (self->far[path]), NULL);
  self->back[path] = *datagram_socket_get_path (near);
  memcpy (self->back[path].remote, self->back[path].local,
      sizeof (self->back[path].remote));
  self->back[path].remote_port = datagram_test_get_port (near);
  driver_add_path (&self->driver, path, near, SIZE);
}

static void
put (Fixture * self, guint path, guint8 first)
{
  Packet packet = { path, first, SIZE };

  g_array_append_val (self->to_send, packet);
}

static void
send_from_far (Fixture * self, guint path, guint8 first)
{
  guint8 bytes[SIZE] = { first };
  Datagram datagram;
  GError *error = NULL;

  datagram_init (&datagram, bytes, SIZE);
  datagram.path = self->back[path];
  assert_equals_int (datagram_socket_send (self->far[path], &datagram, 1,
          &error), 1);
  g_assert_no_error (error);
}

/* Returns the first byte of the next packet, or -1 if there is none. */
static gint
read_at_far (Fixture * self, guint path)
{
  guint8 bytes[2 * SIZE];
  Datagram datagram;

  datagram_init (&datagram, bytes, sizeof (bytes));
  if (datagram_socket_receive (self->far[path], &datagram, 1, NULL) == 0)
    return -1;
  assert_equals_int (datagram.size, SIZE);
  return bytes[0];
}

static gboolean
has_all (gpointer owner)
{
  Fixture *self = owner;

  return self->arrived->len >= self->n_wanted;
}

static gboolean
run_until (Fixture * self, guint n_packets)
{
  self->n_wanted = n_packets;
  return driver_run (&self->driver, has_all, G_MAXINT64, NULL, NULL);
}

/* --- outgoing packets ----------------------------------------------------- */

GST_START_TEST (packets_of_each_path_keep_their_order)
{
  const guint paths[] = { 2, 0, 2, 2, 0 };
  Fixture self;
  guint i;

  set_up (&self);
  add_sockets (&self, 0);
  add_sockets (&self, 2);
  for (i = 0; i < G_N_ELEMENTS (paths); i++)
    put (&self, paths[i], i);
  put (&self, 1, 99);           /* The driver has no such path. */
  driver_flush (&self.driver);
  assert_equals_int (read_at_far (&self, 2), 0);
  assert_equals_int (read_at_far (&self, 2), 2);
  assert_equals_int (read_at_far (&self, 2), 3);
  assert_equals_int (read_at_far (&self, 2), -1);
  assert_equals_int (read_at_far (&self, 0), 1);
  assert_equals_int (read_at_far (&self, 0), 4);
  assert_equals_int (read_at_far (&self, 0), -1);
  assert_equals_string (self.sent->str, "20");
  assert_equals_int (self.packets_traced, 5);
  assert_equals_int (self.flushes, 1);
  tear_down (&self);
}

GST_END_TEST;

GST_START_TEST (more_than_a_batch_goes_at_once)
{
  Fixture self;
  guint i;

  set_up (&self);
  add_sockets (&self, 0);
  for (i = 0; i < 2 * DATAGRAM_BATCH + 5; i++)
    put (&self, 0, i);
  driver_flush (&self.driver);
  fail_if (driver_is_blocked (&self.driver, 0));
  for (i = 0; i < 2 * DATAGRAM_BATCH + 5; i++)
    assert_equals_int (read_at_far (&self, 0), i);
  assert_equals_int (read_at_far (&self, 0), -1);
  tear_down (&self);
}

GST_END_TEST;

/* The sockets accept __i__ packets at first, and the same number in each round
 * of the loop. */
GST_START_TEST (what_had_no_room_follows_in_order)
{
  const guint n = 100;
  Fixture self;
  guint i;

  set_up (&self);
  add_sockets (&self, 0);
  add_sockets (&self, 1);
  room = __i__;
  for (i = 0; i < n; i++)
    put (&self, 1, i);
  driver_flush (&self.driver);
  fail_unless (driver_is_blocked (&self.driver, 1));
  fail_if (driver_is_blocked (&self.driver, 0));
  assert_equals_string (self.blocked->str, "+1");
  /* Later packets are queued after the waiting packets, even if the socket
   * accepts packets again. */
  room = G_MAXINT;
  put (&self, 1, n);
  driver_flush (&self.driver);
  for (i = 0; i < (guint) __i__; i++)
    assert_equals_int (read_at_far (&self, 1), i);
  assert_equals_int (read_at_far (&self, 1), -1);

  self.room_per_round = MAX (1, __i__);
  while (driver_is_blocked (&self.driver, 1)) {
    send_from_far (&self, 0, 0);
    room = G_MAXINT;
    fail_unless (run_until (&self, self.arrived->len + 1));
  }
  for (i = __i__; i <= n; i++)
    assert_equals_int (read_at_far (&self, 1), i);
  assert_equals_int (read_at_far (&self, 1), -1);
  assert_equals_string (self.blocked->str, "+1-1");
  tear_down (&self);
}

GST_END_TEST;

static gboolean
is_never (gpointer owner)
{
  return FALSE;
}

/* poll() always reports the socket as writable, but sending fails with EAGAIN
 * because the device below has no room. */
GST_START_TEST (loop_does_not_spin_for_room)
{
  const gint64 begin = g_get_monotonic_time ();
  guint tries, elapsed;
  Fixture self;

  set_up (&self);
  add_sockets (&self, 0);
  room = 0;
  put (&self, 0, 1);
  fail_if (driver_run (&self.driver, is_never, begin + 30000, NULL, NULL));
  elapsed = (g_get_monotonic_time () - begin) / 1000;
  tries = self.rounds;
  fail_unless (tries <= 2 * elapsed + 4, "%u rounds in %u ms", tries, elapsed);
  tear_down (&self);
}

GST_END_TEST;

GST_START_TEST (not_everything_waits_for_room)
{
  Fixture self;
  guint i, n = 0;

  set_up (&self);
  add_sockets (&self, 0);
  room = 0;
  for (i = 0; i < 1000; i++)
    put (&self, 0, i % 200);
  driver_flush (&self.driver);
  assert_equals_int (self.n_polled, 1000);
  room = G_MAXINT;
  send_from_far (&self, 0, 7);
  while (driver_is_blocked (&self.driver, 0))
    driver_run (&self.driver, is_never, g_get_monotonic_time () + 2000, NULL,
        NULL);
  for (i = 0; read_at_far (&self, 0) == (gint) (i % 200); i++)
    n++;
  assert_equals_int (n, 4 * DATAGRAM_BATCH);
  tear_down (&self);
}

GST_END_TEST;

GST_START_TEST (path_that_is_removed_forgets_what_waits)
{
  Fixture self;

  set_up (&self);
  add_sockets (&self, 0);
  room = 0;
  put (&self, 0, 1);
  driver_flush (&self.driver);
  fail_unless (driver_is_blocked (&self.driver, 0));
  driver_remove_path (&self.driver, 0);
  fail_if (driver_is_blocked (&self.driver, 0));
  fail_if (driver_get_socket (&self.driver, 0) != NULL);
  datagram_socket_free (self.far[0]);
  add_sockets (&self, 0);
  room = G_MAXINT;
  put (&self, 0, 42);
  driver_flush (&self.driver);
  assert_equals_int (read_at_far (&self, 0), 42);
  tear_down (&self);
}

GST_END_TEST;

/* --- errors of sockets ---------------------------------------------------- */

/* Adds path 0, at whose far end no socket listens. */
static void
add_refused_path (Fixture * self)
{
  DatagramSocket *listener = datagram_test_listener ("127.0.0.1", 0);
  const guint16 port = datagram_test_get_port (listener);

  datagram_socket_free (listener);
  driver_add_path (&self->driver, 0, datagram_test_connect ("127.0.0.1", port,
          NULL), SIZE);
}

static gboolean
has_error (gpointer owner)
{
  return ((Fixture *) owner)->errors > 0;
}

/* Sends one packet and waits for the ICMP error that answers it. */
static void
get_refused (Fixture * self)
{
  self->errors = 0;
  put (self, 0, 0);
  fail_unless (driver_run (&self->driver, has_error, G_MAXINT64, NULL, NULL));
}

GST_START_TEST (refusals_are_told_and_sending_goes_on)
{
  Fixture self;
  guint before;

  set_up (&self);
  add_refused_path (&self);
  get_refused (&self);
  before = n_sent;
  put (&self, 0, 1);
  driver_flush (&self.driver);
  assert_equals_int (n_sent, before + 1);
  fail_if (driver_is_blocked (&self.driver, 0));
  tear_down (&self);
}

GST_END_TEST;

GST_START_TEST (nothing_is_sent_on_a_path_that_has_gone)
{
  Fixture self;
  guint before;

  set_up (&self);
  add_refused_path (&self);
  add_sockets (&self, 1);
  self.path_goes = TRUE;
  get_refused (&self);
  before = n_sent;
  put (&self, 0, 1);
  put (&self, 1, 2);
  driver_flush (&self.driver);
  assert_equals_int (n_sent, before + 1);
  assert_equals_int (read_at_far (&self, 1), 2);
  fail_if (driver_is_blocked (&self.driver, 0));
  tear_down (&self);
}

GST_END_TEST;

/* --- incoming packets and the loop ---------------------------------------- */

GST_START_TEST (packets_arrive_one_by_one_on_their_paths)
{
  Fixture self;
  guint i;

  set_up (&self);
  add_sockets (&self, 1);
  add_sockets (&self, 2);
  for (i = 0; i < 8; i++)
    send_from_far (&self, 1 + i % 2, i);
  fail_unless (run_until (&self, 8));
  for (i = 0; i < 8; i++) {
    const Packet *packet = &g_array_index (self.arrived, Packet, i);

    assert_equals_int (packet->path, i < 4 ? 1 : 2);
    assert_equals_int (packet->first, i < 4 ? 2 * i : 2 * (i - 4) + 1);
    assert_equals_int (packet->size, SIZE);
  }
  assert_equals_string (self.heard->str, "12");
  tear_down (&self);
}

GST_END_TEST;

GST_START_TEST (the_core_is_called_when_it_wants)
{
  const gint64 begin = g_get_monotonic_time ();
  Fixture self;

  set_up (&self);
  add_sockets (&self, 0);
  /* The wakeup time has passed already. The loop must not sleep, and must still
   * end at its deadline. */
  self.wakeup = 1;
  self.n_wanted = 1;
  fail_if (driver_run (&self.driver, has_all, begin + 2000, NULL, NULL));
  fail_unless (g_get_monotonic_time () >= begin + 2000);
  fail_unless (self.timeouts > 0);
  assert_equals_int (self.timeouts, self.rounds);
  tear_down (&self);
}

GST_END_TEST;

static gpointer
cancel_later (gpointer cancellable)
{
  g_usleep (2000);
  g_cancellable_cancel (cancellable);
  return NULL;
}

GST_START_TEST (loop_ends_when_it_is_cancelled)
{
  GCancellable *cancellable = g_cancellable_new ();
  GError *error = NULL;
  GThread *thread;
  Fixture self;

  set_up (&self);
  self.n_wanted = 1;
  thread = g_thread_new ("canceller", cancel_later, cancellable);
  fail_if (driver_run (&self.driver, has_all, G_MAXINT64, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  g_thread_join (thread);
  g_object_unref (cancellable);
  tear_down (&self);
}

GST_END_TEST;

static gpointer
break_later (gpointer data)
{
  Fixture *self = data;

  g_usleep (2000);
  g_mutex_lock (&self->lock);
  self->broken = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_FAILED, "broken");
  driver_wake (&self->driver, TRUE);
  g_mutex_unlock (&self->lock);
  return NULL;
}

GST_START_TEST (loop_wakes_for_another_thread_and_ends_with_its_error)
{
  GError *error = NULL;
  GThread *thread;
  Fixture self;

  set_up (&self);
  self.n_wanted = 1;
  thread = g_thread_new ("breaker", break_later, &self);
  fail_if (driver_run (&self.driver, has_all, G_MAXINT64, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_FAILED);
  g_clear_error (&error);
  g_thread_join (thread);
  tear_down (&self);
}

GST_END_TEST;

GST_START_TEST (loop_watches_a_descriptor_of_its_owner)
{
  Fixture self;
  gint ends[2];

  set_up (&self);
  add_sockets (&self, 0);
  fail_unless (pipe (ends) == 0);
  driver_watch (&self.driver, ends[0]);
  send_from_far (&self, 0, 0);
  fail_unless (run_until (&self, 1));
  fail_if (driver_take_watched (&self.driver));
  fail_unless (write (ends[1], "x", 1) == 1);
  send_from_far (&self, 0, 0);
  fail_unless (run_until (&self, 2));
  fail_unless (driver_take_watched (&self.driver));
  fail_if (driver_take_watched (&self.driver));
  close (ends[0]);
  close (ends[1]);
  tear_down (&self);
}

GST_END_TEST;

/* The kernel may merge packets of one socket (UDP GRO). The core gets the
 * packets one by one in any case. */
GST_START_TEST (merged_packets_reach_the_core_one_by_one)
{
  const guint n = 40;
  guint8 bytes[40][SIZE] = { {0} };
  GSocketAddress *loopback = datagram_test_address ("127.0.0.1", 0);
  GSocketAddress *remote;
  DatagramSocket *sender, *receiver;
  DatagramSocketOptions options;
  Datagram datagrams[40];
  GError *error = NULL;
  Fixture self;
  guint i;

  set_up (&self);
  driver_end (&self.driver);
  driver_begin (&self.driver, &core_verbs, &self, DATAGRAM_MERGED_SIZE);
  datagram_socket_options_init (&options);
  options.gso = options.gro = TRUE;
  receiver = datagram_socket_new_listener (loopback, &options, &error);
  g_assert_no_error (error);
  remote = datagram_test_address ("127.0.0.1",
      datagram_test_get_port (receiver));
  sender = datagram_socket_new_connected (remote, NULL, &options, &error);
  g_assert_no_error (error);
  driver_add_path (&self.driver, 1, receiver, SIZE);
  for (i = 0; i < n; i++) {
    bytes[i][0] = i;
    datagram_init (&datagrams[i], bytes[i], i == n - 1 ? 50 : SIZE);
  }
  assert_equals_int (datagram_socket_send (sender, datagrams, n, &error), n);
  fail_unless (run_until (&self, n));
  assert_equals_int (self.arrived->len, n);
  for (i = 0; i < n; i++) {
    Packet *packet = &g_array_index (self.arrived, Packet, i);

    assert_equals_int (packet->first, i);
    assert_equals_int (packet->size, i == n - 1 ? 50 : SIZE);
  }
  datagram_socket_free (sender);
  g_object_unref (loopback);
  g_object_unref (remote);
  tear_down (&self);
}

GST_END_TEST;

static Suite *
driver_suite (void)
{
  Suite *s = suite_create ("driver");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, packets_of_each_path_keep_their_order);
  tcase_add_test (tc, more_than_a_batch_goes_at_once);
  tcase_add_loop_test (tc, what_had_no_room_follows_in_order, 0, 5);
  tcase_add_test (tc, loop_does_not_spin_for_room);
  tcase_add_test (tc, not_everything_waits_for_room);
  tcase_add_test (tc, path_that_is_removed_forgets_what_waits);
  tcase_add_test (tc, refusals_are_told_and_sending_goes_on);
  tcase_add_test (tc, nothing_is_sent_on_a_path_that_has_gone);
  tcase_add_test (tc, packets_arrive_one_by_one_on_their_paths);
  tcase_add_test (tc, the_core_is_called_when_it_wants);
  tcase_add_test (tc, loop_ends_when_it_is_cancelled);
  tcase_add_test (tc, loop_wakes_for_another_thread_and_ends_with_its_error);
  tcase_add_test (tc, loop_watches_a_descriptor_of_its_owner);
  tcase_add_test (tc, merged_packets_reach_the_core_one_by_one);
  return s;
}

GST_CHECK_MAIN (driver);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the driver (driver.h), which sends and receives the packets of a
 * protocol core over sockets. The core of these tests is a mock: it records the
 * packets that it gets, and the test decides which packets it sends. The
 * packets are sent over loopback. The test replaces the functions sendmsg and
 * sendmmsg, and thus controls how many packets the sockets accept. No test
 * requires that something happens within a certain time. */

#define _GNU_SOURCE             /* sendmmsg */

#include "datagramsockets.h"

#include <errno.h>
#include <unistd.h>

#include <sys/socket.h>
#include <sys/syscall.h>

#include "driver.h"
#include "gso.h"
#include "skipped.h"

#define PATHS 3
#define SIZE 100
#define MS G_GUINT64_CONSTANT (1000000)
#define START (1000 * MS)

/* `room` is the number of messages that the sockets of this program still
 * accept. When it is 0, sending fails with the error `full_errno`. With GSO, a
 * message may consist of several packets; otherwise it is one packet. */
static gint room = G_MAXINT, full_errno = EAGAIN;
static gboolean refuses_gso;

static guint n_sent, n_merged;

/* Returns whether `message` consists of several packets that were merged for
 * GSO. The kernel splits such a message when it sends it. */
static gboolean
is_merged (const struct msghdr *message)
{
  struct msghdr *header = (struct msghdr *) message;
  struct cmsghdr *control;

  for (control = CMSG_FIRSTHDR (header); control;
      control = CMSG_NXTHDR (header, control)) {
    if (control->cmsg_level == IPPROTO_UDP && control->cmsg_type == UDP_SEGMENT)
      return TRUE;
  }
  return FALSE;
}

/* The functions sendmsg and sendmmsg of this file replace those of the C
 * library. They refuse messages when `room` is 0. */
ssize_t
sendmsg (int fd, const struct msghdr *message, int flags)
{
  const gboolean merged = is_merged (message);
  ssize_t size;

  if (room == 0 || (refuses_gso && merged)) {
    errno = room == 0 ? full_errno : EIO;
    return -1;
  }
  size = syscall (SYS_sendmsg, fd, message, flags);
  if (size >= 0) {
    room--;
    n_sent++;
    n_merged += merged;
  }
  return size;
}

int
sendmmsg (int fd, struct mmsghdr *messages, unsigned int n, int flags)
{
  guint i;

  for (i = 0; i < n; i++) {
    if (sendmsg (fd, &messages[i].msg_hdr, flags) < 0)
      return i > 0 ? (int) i : -1;
  }
  return n;
}

/* --- core, owner and sockets ---------------------------------------------- */

typedef struct
{
  guint path;
  /* value of the packet's first byte, by which the tests identify it */
  guint8 first;
  gsize size;
} Packet;

typedef struct
{
  GMutex lock;
  Driver driver;
  /* For each path, the socket at its other end, which listens for packets of
   * the driver. NULL if the driver has no path with this number.
   */
  DatagramSocket *far[PATHS];
  /* far[i] is the socket at the far end of path i. back[i] has the addresses
   * with which far[i] sends packets to the driver. */
  DatagramPath back[PATHS];

  /* State of the mock core */
  /* array of Packet: the packets that the mock core gives to the driver for
   * sending */
  GArray *to_send;
  guint n_polled;
  /* array of Packet: the packets that the driver has received and passed to the
   * mock core */
  GArray *arrived;
  /* Array of DatagramSlice: references to the memory of all received packets.
   * As long as these references exist, the driver cannot use the memory for
   * other packets. NULL if the test does not keep the packets in memory. */
  GArray *kept;
  Packet event;
  gboolean has_event;
  guint timeouts;
  guint64 wakeup;
  /* All calls of set_blocked as text. The driver tells the core by set_blocked
   * whether the socket of a path is full. "+1" means that the socket of path 1
   * was reported as full, and "-1" that it has room again. */
  GString *blocked;

  /* State of the mock owner */
  /* Texts with one digit for each call: the number of the path. `sent` records
   * the calls of note_sent (), and `heard` those of note_heard (). */
  GString *sent, *heard;
  guint errors, rounds, flushes;
  guint gso_errors_traced;
  /* Array of strings: the lines that the driver has logged. Lines that are
   * logged as often as packets begin with "LOG ", the other ones with "DEBUG ".
   */
  GPtrArray *lines;
  /* TRUE if the owner accepts no packets from the remote hosts */
  gboolean refuses_senders;
  /* TRUE if the owner declares a path unusable when its socket has an error */
  gboolean path_goes;
  /* Number of received packets after which the loop of the driver ends */
  guint n_wanted;
  gint room_per_round;
  GError *broken;
} Fixture;

static void
core_input (gpointer core, guint64 now, guint path, const Datagram * datagram)
{
  Fixture *self = core;

  fail_if (self->has_event);
  if (self->kept) {
    DatagramSlice slice;

    datagram_block_slice (datagram->block, datagram->bytes, datagram->size,
        &slice);
    g_array_append_val (self->kept, slice);
  }
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
allows (gpointer owner, const DatagramPath * path)
{
  return !((Fixture *) owner)->refuses_senders;
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
  Fixture *self = owner;
  gchar *text = g_strdup_vprintf (format, args);

  self->gso_errors_traced += !is_packet && strstr (text, "without GSO") != NULL;
  g_ptr_array_add (self->lines, g_strconcat (is_packet ? "LOG " : "DEBUG ",
          text, NULL));
  g_free (text);
}

static const DriverFuncs funcs = {
  .take_event = take_event,
  .allows = allows,
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
  self->lines = g_ptr_array_new_with_free_func (g_free);
  self->wakeup = DRIVER_NEVER;
  room = G_MAXINT;
  full_errno = EAGAIN;
  refuses_gso = FALSE;
  n_merged = 0;
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
  g_ptr_array_free (self->lines, TRUE);
  g_clear_error (&self->broken);
  g_mutex_clear (&self->lock);
}

static DatagramSocket *
connect_to (guint16 port, gboolean gso)
{
  GSocketAddress *remote = datagram_test_address ("127.0.0.1", port);
  DatagramSocketOptions options;
  GError *error = NULL;
  DatagramSocket *socket;

  datagram_socket_options_init (&options);
  options.gso = gso;
  socket = datagram_socket_new_connected (remote, NULL, &options, &error);
  g_assert_no_error (error);
  g_object_unref (remote);
  return socket;
}

/* Adds the path number `path` to the driver. Opens two sockets: a listening
 * socket, which is the far end of the path, and a socket for the driver. The
 * driver's socket is connected to the listening socket. */
static void
add_sockets_with (Fixture * self, guint path, gboolean gso)
{
  DatagramSocket *near;

  self->far[path] = datagram_test_listener ("127.0.0.1", 0);
  near = connect_to (datagram_test_get_port (self->far[path]), gso);
  self->back[path] = *datagram_socket_get_path (near);
  memcpy (self->back[path].remote, self->back[path].local,
      sizeof (self->back[path].remote));
  self->back[path].remote_port = datagram_test_get_port (near);
  driver_add_path (&self->driver, path, near, SIZE);
}

static void
add_sockets (Fixture * self, guint path)
{
  add_sockets_with (self, path, FALSE);
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

/* Reads a packet at the far end of `path` and returns its first byte. Returns
 * -1 if no packet has arrived. */
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
  put (&self, 1, 99);           /* The driver has no path 1. */
  driver_flush (&self.driver);
  assert_equals_int (read_at_far (&self, 2), 0);
  assert_equals_int (read_at_far (&self, 2), 2);
  assert_equals_int (read_at_far (&self, 2), 3);
  assert_equals_int (read_at_far (&self, 2), -1);
  assert_equals_int (read_at_far (&self, 0), 1);
  assert_equals_int (read_at_far (&self, 0), 4);
  assert_equals_int (read_at_far (&self, 0), -1);
  assert_equals_string (self.sent->str, "20");
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

/* Sends the packets of the mock core, unless driver_may_postpone () allows the
 * sender to wait. `n` packets were given to the core at the time `now`. */
static void
flush_often (Fixture * self, guint64 now, guint n)
{
  if (driver_may_postpone (&self->driver, now, n))
    return;
  driver_flush (&self->driver);
  driver_wake (&self->driver, FALSE);
}

/* Gives the mock core a packet to send on `path` at the time `now`. `first` is
 * the value of the packet's first byte. */
static void
put_often (Fixture * self, guint path, guint8 first, guint64 now)
{
  put (self, path, first);
  flush_often (self, now, 1);
}

/* Calls driver_may_postpone () every 10 us in the 20 ms before `end`, without
 * giving the core any packet. The driver then measures a high rate of calls. At
 * such a rate, it does not send the packets of each call at once, but collects
 * those of several calls.
 */
static void
call_often (Fixture * self, guint64 end)
{
  guint64 now;

  for (now = end - 20 * MS; now <= end; now += MS / 100)
    flush_often (self, now, 0);
}

GST_START_TEST (packets_of_rare_calls_do_not_wait)
{
  Fixture self;
  guint i;

  set_up (&self);
  add_sockets (&self, 0);
  for (i = 0; i < 100; i++) {
    put_often (&self, 0, i, START + i * MS);
    assert_equals_int (read_at_far (&self, 0), i);
  }
  tear_down (&self);
}

GST_END_TEST;

/* Packets are collected only if driver_may_postpone () is called frequently for
 * a longer time. In this test, it is called for each of the 100 packets of a
 * frame, within 0.1 ms. This time is short, so each packet must be sent
 * immediately. */
GST_START_TEST (packets_of_a_short_burst_do_not_wait)
{
  Fixture self;
  guint i;

  set_up (&self);
  add_sockets (&self, 0);
  put_often (&self, 0, 0, START);
  for (i = 0; i < 100; i++)
    put_often (&self, 0, i, START + 40 * MS + i * 1000);
  assert_equals_int (n_sent, 101);
  tear_down (&self);
}

GST_END_TEST;

GST_START_TEST (packets_of_frequent_calls_are_sent_together)
{
  Fixture self;
  guint i, sent;

  set_up (&self);
  add_sockets (&self, 0);
  call_often (&self, START);
  for (i = 0; i < 31; i++)
    put_often (&self, 0, i, START + i * 1000);
  assert_equals_int (read_at_far (&self, 0), -1);
  put_often (&self, 0, 31, START + 31 * 1000);
  for (i = 0; i < 32; i++)
    assert_equals_int (read_at_far (&self, 0), i);
  /* The driver still regards the rate of calls as high, so it collects packets.
   * The first of them must not wait longer than 0.25 ms (MAX_WAIT in driver.c).
   */
  sent = n_sent;
  put_often (&self, 0, 1, START + MS);
  put_often (&self, 0, 2, START + MS + MS / 5);
  assert_equals_int (n_sent, sent);
  put_often (&self, 0, 3, START + MS + MS / 4);
  assert_equals_int (n_sent, sent + 3);
  tear_down (&self);
}

GST_END_TEST;

/* Runs in a second thread, while the driver's loop runs in the first thread of
 * the test. First, the second thread calls driver_may_postpone () at such a
 * high rate that packets may be collected. Then it passes packet 7 to the mock
 * core and calls driver_may_postpone () for the last time. Packet 7 is not sent
 * for a moment, because further calls might follow. The driver
 * does not wake its loop, so the loop must send packet 7 when the timeout of
 * the loop expires. The second thread waits until packet 7 has arrived at the
 * far end of the path. It then sends packet 8 from the far end to the driver,
 * which ends the loop. */
static gpointer
put_last (gpointer data)
{
  Fixture *self = data;
  gint packet;

  g_mutex_lock (&self->lock);
  call_often (self, g_get_monotonic_time () * 1000);
  g_mutex_unlock (&self->lock);
  g_usleep (3000);
  g_mutex_lock (&self->lock);
  put_often (self, 0, 7, g_get_monotonic_time () * 1000);
  g_mutex_unlock (&self->lock);
  while ((packet = read_at_far (self, 0)) < 0)
    g_usleep (100);
  assert_equals_int (packet, 7);
  send_from_far (self, 0, 8);
  return NULL;
}

GST_START_TEST (loop_sends_the_last_packet_of_frequent_calls)
{
  GThread *thread;
  Fixture self;

  set_up (&self);
  add_sockets (&self, 0);
  put (&self, 0, 1);
  driver_flush (&self.driver);
  assert_equals_int (read_at_far (&self, 0), 1);
  thread = g_thread_new ("putter", put_last, &self);
  fail_unless (run_until (&self, 1));
  g_thread_join (thread);
  tear_down (&self);
}

GST_END_TEST;

/* The test is repeated with __i__ = 0 to 4. At first, the sockets accept __i__
 * packets in total. Later, they accept __i__ packets in each iteration of the
 * driver's loop, or one packet if __i__ is 0. All packets must be sent in
 * order. */
GST_START_TEST (queued_packets_are_sent_in_order)
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
  /* Packets are queued for path 1, because its socket was full. Now the socket
   * has room again, and the core has a new packet for this path. The driver
   * must not send the new packet before the queued ones. */
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

static void
put_many (Fixture * self, guint path, guint first, guint n)
{
  guint i;

  for (i = first; i < first + n; i++)
    put (self, path, i);
}

static void
expect_many (Fixture * self, guint path, guint first, guint n)
{
  guint i;

  for (i = first; i < first + n; i++)
    assert_equals_int (read_at_far (self, path), i);
  assert_equals_int (read_at_far (self, path), -1);
}

static gboolean
kernel_has_gso (const gchar * test)
{
  if (n_merged > 0)
    return TRUE;
  say_skipped (test, "the kernel has no GSO for UDP");
  return FALSE;
}

/* With GSO (generic segmentation offload), the kernel gets several packets as
 * one message. Here 150 packets form three messages of 64, 64 and 22 packets.
 *
 * The test is repeated with __i__ = 0 to 5. At first, the sockets accept 0, 1
 * or 2 messages, which is __i__ / 2 rounded down. They refuse the next message.
 * The error is ENOBUFS if __i__ is odd, and EAGAIN if __i__ is even. Later, the
 * sockets accept messages again. The driver must then send the remaining
 * packets in order. */
GST_START_TEST (messages_without_room_follow_in_order)
{
  static const guint n_accepted[] = { 0, 64, 128 };
  Fixture self;

  set_up (&self);
  add_sockets (&self, 0);
  add_sockets_with (&self, 1, TRUE);
  put_many (&self, 1, 0, 2);
  driver_flush (&self.driver);
  expect_many (&self, 1, 0, 2);
  if (kernel_has_gso ("messages_without_room_follow_in_order")) {
    room = __i__ / 2;
    full_errno = __i__ % 2 ? ENOBUFS : EAGAIN;
    put_many (&self, 1, 0, 150);
    driver_flush (&self.driver);
    fail_unless (driver_is_blocked (&self.driver, 1));
    expect_many (&self, 1, 0, n_accepted[__i__ / 2]);
    room = G_MAXINT;
    while (driver_is_blocked (&self.driver, 1)) {
      send_from_far (&self, 0, 0);
      fail_unless (run_until (&self, self.arrived->len + 1));
    }
    expect_many (&self, 1, n_accepted[__i__ / 2], 150 - n_accepted[__i__ / 2]);
    assert_equals_string (self.blocked->str, "+1-1");
    assert_equals_int (self.gso_errors_traced, 0);
  }
  tear_down (&self);
}

GST_END_TEST;

GST_START_TEST (refused_gso_is_logged_once_and_no_packet_is_lost)
{
  Fixture self;

  set_up (&self);
  add_sockets_with (&self, 0, TRUE);
  put_many (&self, 0, 0, 100);
  driver_flush (&self.driver);
  expect_many (&self, 0, 0, 100);
  if (kernel_has_gso ("refused_gso_is_logged_once_and_no_packet_is_lost")) {
    assert_equals_int (self.gso_errors_traced, 0);
    refuses_gso = TRUE;
    put_many (&self, 0, 100, 100);
    driver_flush (&self.driver);
    expect_many (&self, 0, 100, 100);
    assert_equals_int (self.gso_errors_traced, 1);
    refuses_gso = FALSE;
    n_merged = 0;
    put_many (&self, 0, 0, 100);
    driver_flush (&self.driver);
    expect_many (&self, 0, 0, 100);
    assert_equals_int (n_merged, 0);
    assert_equals_int (self.gso_errors_traced, 1);
    assert_equals_int (self.errors, 0);
    assert_equals_string (self.blocked->str, "");
  }
  tear_down (&self);
}

GST_END_TEST;

static gboolean
is_never (gpointer owner)
{
  return FALSE;
}

/* poll() always reports the socket as writable, but sending fails with EAGAIN,
 * as if the network device had no room. The loop must then pause before it
 * tries to send again. The test allows about two attempts per ms. */
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

/* Adds path 0. No socket listens at its far end, so the kernel answers each
 * packet with an ICMP error. */
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

/* Sends one packet on path 0. The packet causes an ICMP error. Waits until the
 * driver has told its owner (the Fixture of this test) about the error. */
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
  /* The core asks for a wakeup at a time that has passed already. The loop must
   * therefore call the core in each iteration and never sleep. It must end at
   * its deadline, which is 2 ms after `begin`. */
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

/* A driver with a socket as path 1, and another socket that sends packets to
 * it. The sender may merge packets into one message (GSO), and the receiver may
 * get merged packets (GRO). */
typedef struct
{
  Fixture fixture;
  DatagramSocket *sender;
} Merging;

static void
set_up_merging (Merging * self, gsize input_room, gsize output_room)
{
  GSocketAddress *loopback = datagram_test_address ("127.0.0.1", 0);
  GSocketAddress *remote;
  DatagramSocket *receiver;
  DatagramSocketOptions options;
  GError *error = NULL;

  set_up (&self->fixture);
  driver_end (&self->fixture.driver);
  driver_begin (&self->fixture.driver, &core_verbs, &self->fixture, input_room);
  datagram_socket_options_init (&options);
  options.gso = options.gro = TRUE;
  receiver = datagram_socket_new_listener (loopback, &options, &error);
  g_assert_no_error (error);
  remote = datagram_test_address ("127.0.0.1",
      datagram_test_get_port (receiver));
  self->sender = datagram_socket_new_connected (remote, NULL, &options, &error);
  g_assert_no_error (error);
  driver_add_path (&self->fixture.driver, 1, receiver, output_room);
  g_object_unref (loopback);
  g_object_unref (remote);
}

static void
tear_down_merging (Merging * self)
{
  datagram_socket_free (self->sender);
  tear_down (&self->fixture);
}

/* Sends `n` packets and waits until the core has received all of them. Each
 * packet has `size` bytes, except the last one, which has `last` bytes. The
 * first byte is `number` in the first packet, `number` + 1 in the second one,
 * and so on. */
static void
merging_send (Merging * self, guint number, guint n, gsize size, gsize last)
{
  guint8 *bytes = g_malloc0 (n * size);
  Datagram datagrams[DATAGRAM_BATCH];
  GError *error = NULL;
  guint i;

  for (i = 0; i < n; i++) {
    bytes[i * size] = number + i;
    datagram_init (&datagrams[i], bytes + i * size, i == n - 1 ? last : size);
  }
  assert_equals_int (datagram_socket_send (self->sender, datagrams, n, &error),
      n);
  fail_unless (run_until (&self->fixture, self->fixture.arrived->len + n));
  g_free (bytes);
}

/* With UDP GRO, the kernel may pass several packets to a socket as one message.
 * The driver must split it, so that the core gets the packets one by one. */
GST_START_TEST (merged_packets_reach_the_core_one_by_one)
{
  const guint n = 40;
  Merging self;
  guint i;

  set_up_merging (&self, DATAGRAM_MERGED_SIZE, SIZE);
  merging_send (&self, 0, n, SIZE, 50);
  assert_equals_int (self.fixture.arrived->len, n);
  for (i = 0; i < n; i++) {
    Packet *packet = &g_array_index (self.fixture.arrived, Packet, i);

    assert_equals_int (packet->first, i);
    assert_equals_int (packet->size, i == n - 1 ? 50 : SIZE);
  }
  tear_down_merging (&self);
}

GST_END_TEST;

/* --- memory of received packets ------------------------------------------- */

/* Each slice in `self->kept` is a reference to bytes in a memory block. Returns
 * how many different blocks of the driver's pool these slices keep in use. */
static guint
count_kept_blocks (Fixture * self)
{
  GHashTable *blocks = g_hash_table_new (NULL, NULL);
  guint i, n;

  for (i = 0; i < self->kept->len; i++) {
    DatagramBlock *block = g_array_index (self->kept, DatagramSlice, i).block;

    if (block->pool)
      g_hash_table_add (blocks, block);
  }
  n = g_hash_table_size (blocks);
  g_hash_table_unref (blocks);
  return n;
}

static void
check_and_free_kept (Fixture * self)
{
  guint i;

  for (i = 0; i < self->kept->len; i++) {
    DatagramSlice *slice = &g_array_index (self->kept, DatagramSlice, i);
    Packet *packet = &g_array_index (self->arrived, Packet, i);

    assert_equals_int (slice->size, packet->size);
    assert_equals_int (slice->bytes[0], packet->first);
    datagram_slice_clear (slice);
  }
  g_array_set_size (self->kept, 0);
  g_array_set_size (self->arrived, 0);
}

/* The mock core keeps references to all received packets. As long as there is a
 * reference to a packet, the whole memory block that contains the packet is in
 * use. The number of blocks in use must stay limited: when too many are in use,
 * packets must be copied instead.
 *
 * The sender sends 40 large packets, then 40 small packets, then 40 large
 * packets again, and so on. The kernel may merge 40 packets of the same size
 * into one datagram. A datagram of large packets stays in a block of its own. A
 * datagram of small packets is copied into a block that it shares with other
 * datagrams of small packets. */
GST_START_TEST (kept_packets_keep_a_limited_number_of_blocks)
{
  const gsize sizes[] = { 1400, 10 };
  Merging self;
  guint round, i;

  set_up_merging (&self, DATAGRAM_MERGED_SIZE, SIZE);
  self.fixture.kept = g_array_new (FALSE, FALSE, sizeof (DatagramSlice));
  for (round = 0; round < 3; round++) {
    for (i = 0; i < 3 * DRIVER_MAX_SLICED; i++)
      merging_send (&self, i, 40, sizes[i % 2], sizes[i % 2]);
    assert_equals_int (self.fixture.kept->len, 3 * DRIVER_MAX_SLICED * 40);
    /* The large datagrams may keep at most DRIVER_MAX_SLICED memory blocks in
     * use. The copies of the small datagrams are in one further block. */
    fail_unless (count_kept_blocks (&self.fixture) <= DRIVER_MAX_SLICED + 1);
    fail_unless (datagram_pool_get_used (self.fixture.driver.pool) <=
        DATAGRAM_BATCH + DRIVER_MAX_SLICED + 1);
    check_and_free_kept (&self.fixture);
  }
  /* The test has freed its references to the packets, so their memory blocks
   * must be free again. The driver itself may use DATAGRAM_BATCH blocks, into
   * which it receives packets, and one block for copies of small datagrams. */
  fail_unless (datagram_pool_get_used (self.fixture.driver.pool) <=
      DATAGRAM_BATCH + 1);
  g_array_free (self.fixture.kept, TRUE);
  tear_down_merging (&self);
}

GST_END_TEST;

/* The driver must copy small packets into a common memory block of 64 KB.
 * Otherwise the reference to each small packet would keep a whole block in use.
 */
GST_START_TEST (small_packets_share_a_block)
{
  Merging self;
  guint i;

  set_up_merging (&self, DATAGRAM_MERGED_SIZE, SIZE);
  self.fixture.kept = g_array_new (FALSE, FALSE, sizeof (DatagramSlice));
  for (i = 0; i < 400; i++)
    merging_send (&self, i, 1, SIZE, SIZE);
  assert_equals_int (count_kept_blocks (&self.fixture), 1);
  check_and_free_kept (&self.fixture);
  g_array_free (self.fixture.kept, TRUE);
  tear_down_merging (&self);
}

GST_END_TEST;

/* --- high rates ----------------------------------------------------------- */

/* At a high packet rate, the driver does not wake up for each packet, so
 * packets wait in the socket for a moment. The test sets a high rate in the
 * driver and then sends packets. The driver must receive all of them in order.
 */
GST_START_TEST (no_packet_is_missed_at_a_high_rate)
{
  Merging self;
  guint i;

  set_up_merging (&self, DATAGRAM_MERGED_SIZE, SIZE);
  for (i = 0; i < 200; i++) {
    self.fixture.driver.input_rate.packets.begin =
        g_get_monotonic_time () * 1000;
    self.fixture.driver.input_rate.packets.rate = 200000;
    self.fixture.driver.input_rate.has_just_received = TRUE;
    merging_send (&self, i, 1, SIZE, SIZE);
    assert_equals_int (g_array_index (self.fixture.arrived, Packet, i).first,
        i % 256);
  }
  tear_down_merging (&self);
}

GST_END_TEST;

/* --- trace ---------------------------------------------------------------- */

/* Returns how many of the logged lines begin with `text`. */
static guint
count_lines (Fixture * self, const gchar * text)
{
  guint i, n = 0;

  for (i = 0; i < self->lines->len; i++)
    n += g_str_has_prefix (g_ptr_array_index (self->lines, i), text);
  return n;
}

/* Checks that exactly the lines `expected` were logged, and forgets them. The
 * text `expected` ends each line with a newline. */
static void
expect_lines (Fixture * self, const gchar * expected)
{
  GString *text = g_string_new (NULL);
  guint i;

  for (i = 0; i < self->lines->len; i++)
    g_string_append_printf (text, "%s\n",
        (const gchar *) g_ptr_array_index (self->lines, i));
  assert_equals_string (text->str, expected);
  g_string_free (text, TRUE);
  g_ptr_array_set_size (self->lines, 0);
}

GST_START_TEST (trace_has_paths_and_sent_packets)
{
  Fixture self;

  set_up (&self);
  add_sockets (&self, 0);
  add_sockets (&self, 2);
  expect_lines (&self, "DEBUG path 0: added, for packets of up to 100 bytes\n"
      "DEBUG path 2: added, for packets of up to 100 bytes\n");
  put (&self, 2, 0);
  put (&self, 0, 1);
  put (&self, 2, 2);
  put (&self, 1, 3);            /* The driver has no path 1. */
  driver_flush (&self.driver);
  expect_lines (&self, "LOG path 2: sent 100 bytes\n"
      "LOG path 2: sent 100 bytes\n" "LOG path 0: sent 100 bytes\n"
      "DEBUG path 1: dropped 100 bytes: there is no such path\n");
  driver_remove_path (&self.driver, 2);
  driver_remove_path (&self.driver, 2);
  expect_lines (&self, "DEBUG path 2: removed\n");
  tear_down (&self);
}

GST_END_TEST;

/* A packet for a full socket is queued. The trace must not say that it was sent
 * before it was sent from the queue. */
GST_START_TEST (trace_tells_queued_packets_from_sent_ones)
{
  Fixture self;

  set_up (&self);
  add_sockets (&self, 0);
  g_ptr_array_set_size (self.lines, 0);
  room = 1;
  put_many (&self, 0, 0, 3);
  driver_flush (&self.driver);
  expect_lines (&self, "LOG path 0: sent 100 bytes\n"
      "DEBUG path 0: the socket has no room\n"
      "LOG path 0: queued 100 bytes until the socket has room\n"
      "LOG path 0: queued 100 bytes until the socket has room\n");
  while (count_lines (&self, "LOG path 0: the socket still has no room, 2 "
          "packets wait") == 0)
    driver_run (&self.driver, is_never, g_get_monotonic_time () + 2000, NULL,
        NULL);
  assert_equals_int (count_lines (&self, "LOG path 0: sent"), 0);
  /* The socket now takes one packet in each iteration of the loop. */
  self.room_per_round = 1;
  while (driver_is_blocked (&self.driver, 0))
    driver_run (&self.driver, is_never, g_get_monotonic_time () + 2000, NULL,
        NULL);
  assert_equals_int (count_lines (&self, "LOG path 0: sent 100 bytes"), 2);
  assert_equals_int (count_lines (&self,
          "DEBUG path 0: the socket has room again"), 1);
  expect_many (&self, 0, 0, 3);
  tear_down (&self);
}

GST_END_TEST;

GST_START_TEST (trace_has_packets_that_do_not_fit_into_the_queue)
{
  const guint max = 4 * DATAGRAM_BATCH;
  Fixture self;

  set_up (&self);
  add_sockets (&self, 0);
  room = 0;
  put_many (&self, 0, 0, max + 7);
  driver_flush (&self.driver);
  assert_equals_int (count_lines (&self, "LOG path 0: queued"), max);
  assert_equals_int (count_lines (&self,
          "DEBUG path 0: dropped 100 bytes: the queue is full"), 7);
  g_ptr_array_set_size (self.lines, 0);
  driver_remove_path (&self.driver, 0);
  assert_equals_int (count_lines (&self,
          "DEBUG path 0: dropped 100 bytes: the path is removed"), max);
  assert_equals_int (count_lines (&self, "DEBUG path 0: removed"), 1);
  assert_equals_int (self.lines->len, max + 1);
  tear_down (&self);
}

GST_END_TEST;

GST_START_TEST (trace_has_packets_for_a_path_that_has_gone)
{
  Fixture self;

  set_up (&self);
  add_refused_path (&self);
  self.path_goes = TRUE;
  get_refused (&self);
  assert_equals_int (count_lines (&self, "DEBUG path 0: nothing more is sent"),
      1);
  g_ptr_array_set_size (self.lines, 0);
  put_many (&self, 0, 0, 2);
  driver_flush (&self.driver);
  expect_lines (&self,
      "DEBUG path 0: dropped 100 bytes: the path is no longer usable\n"
      "DEBUG path 0: dropped 100 bytes: the path is no longer usable\n");
  tear_down (&self);
}

GST_END_TEST;

/* Sending may fail because of an ICMP error that an earlier packet has caused,
 * so the driver tries a second time. Here, both attempts fail. */
GST_START_TEST (trace_has_packets_that_cannot_be_sent)
{
  Fixture self;

  set_up (&self);
  add_sockets (&self, 0);
  room = 0;
  full_errno = EPERM;
  put (&self, 0, 0);
  driver_flush (&self.driver);
  assert_equals_int (self.errors, 2);
  assert_equals_int (count_lines (&self,
          "DEBUG path 0: dropped 100 bytes: sending has failed twice"), 1);
  assert_equals_int (count_lines (&self, "LOG path 0"), 0);
  tear_down (&self);
}

GST_END_TEST;

static gboolean
has_refused (gpointer owner)
{
  return count_lines (owner, "DEBUG path 1: dropped 100 received bytes: their "
      "sender is not accepted") >= ((Fixture *) owner)->n_wanted;
}

/* The kernel may merge the packets into one datagram (GRO). */
GST_START_TEST (trace_has_each_packet_of_a_refused_sender)
{
  guint8 bytes[3 * SIZE] = { 0 };
  Datagram datagrams[3];
  GError *error = NULL;
  Merging self;
  guint i;

  set_up_merging (&self, DATAGRAM_MERGED_SIZE, SIZE);
  self.fixture.refuses_senders = TRUE;
  for (i = 0; i < 3; i++)
    datagram_init (&datagrams[i], bytes + i * SIZE, SIZE);
  assert_equals_int (datagram_socket_send (self.sender, datagrams, 3, &error),
      3);
  self.fixture.n_wanted = 3;
  fail_unless (driver_run (&self.fixture.driver, has_refused, G_MAXINT64, NULL,
          NULL));
  assert_equals_int (count_lines (&self.fixture, "DEBUG path 1: dropped"), 3);
  assert_equals_int (count_lines (&self.fixture, "LOG path 1: received"), 0);
  assert_equals_int (self.fixture.arrived->len, 0);
  tear_down_merging (&self);
}

GST_END_TEST;

GST_START_TEST (trace_has_waits_and_timeouts)
{
  Merging self;

  set_up_merging (&self, DATAGRAM_MERGED_SIZE, SIZE);
  while (count_lines (&self.fixture, "LOG the timeout has passed") == 0)
    driver_run (&self.fixture.driver, is_never, g_get_monotonic_time () + 2000,
        NULL, NULL);
  fail_unless (count_lines (&self.fixture, "LOG waits for at most ") > 0);
  g_ptr_array_set_size (self.fixture.lines, 0);
  merging_send (&self, 0, 1, SIZE, SIZE);
  expect_lines (&self.fixture, "LOG waits without a timeout\n"
      "LOG path 1: received 100 bytes\n");
  /* At a high rate of packets, the driver lets them collect in the socket. */
  self.fixture.driver.input_rate.packets.begin = g_get_monotonic_time () * 1000;
  self.fixture.driver.input_rate.packets.rate = 200000;
  self.fixture.driver.input_rate.has_just_received = TRUE;
  merging_send (&self, 1, 1, SIZE, SIZE);
  fail_unless (g_str_has_suffix (g_ptr_array_index (self.fixture.lines, 0),
          " us, so that several packets are received together"));
  tear_down_merging (&self);
}

GST_END_TEST;

GST_START_TEST (trace_tells_when_packets_are_collected)
{
  Fixture self;

  set_up (&self);
  add_sockets (&self, 0);
  g_ptr_array_set_size (self.lines, 0);
  call_often (&self, START);
  expect_lines (&self, "DEBUG packets are sent together with the next ones, "
      "because they come at a high rate\n");
  put_often (&self, 0, 0, START);
  put_often (&self, 0, 1, START + 1000);
  expect_lines (&self, "LOG waits for at most 250 us before it sends, because "
      "further packets may follow\n");
  put_often (&self, 0, 2, START + MS / 4);
  expect_lines (&self, "LOG path 0: sent 100 bytes\n"
      "LOG path 0: sent 100 bytes\n" "LOG path 0: sent 100 bytes\n");
  put_often (&self, 0, 3, START + 100 * MS);
  expect_lines (&self, "DEBUG packets are sent at once, because they come at a "
      "low rate\n" "LOG path 0: sent 100 bytes\n");
  tear_down (&self);
}

GST_END_TEST;

GST_START_TEST (driver_needs_no_trace)
{
  DriverFuncs without_trace = funcs;
  Fixture self;

  without_trace.trace = NULL;
  set_up (&self);
  self.driver.funcs = &without_trace;
  add_sockets (&self, 0);
  room = 1;
  put_many (&self, 0, 0, 2);
  put (&self, 1, 0);            /* The driver has no path 1. */
  driver_flush (&self.driver);
  room = G_MAXINT;
  self.refuses_senders = TRUE;
  send_from_far (&self, 0, 0);
  while (driver_is_blocked (&self.driver, 0))
    driver_run (&self.driver, is_never, g_get_monotonic_time () + 2000, NULL,
        NULL);
  expect_many (&self, 0, 0, 2);
  driver_remove_path (&self.driver, 0);
  assert_equals_int (self.lines->len, 0);
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
  tcase_add_test (tc, packets_of_rare_calls_do_not_wait);
  tcase_add_test (tc, packets_of_a_short_burst_do_not_wait);
  tcase_add_test (tc, packets_of_frequent_calls_are_sent_together);
  tcase_add_test (tc, loop_sends_the_last_packet_of_frequent_calls);
  tcase_add_loop_test (tc, queued_packets_are_sent_in_order, 0, 5);
  tcase_add_loop_test (tc, messages_without_room_follow_in_order, 0, 6);
  tcase_add_test (tc, refused_gso_is_logged_once_and_no_packet_is_lost);
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
  tcase_add_test (tc, kept_packets_keep_a_limited_number_of_blocks);
  tcase_add_test (tc, small_packets_share_a_block);
  tcase_add_test (tc, no_packet_is_missed_at_a_high_rate);
  tcase_add_test (tc, trace_has_paths_and_sent_packets);
  tcase_add_test (tc, trace_tells_queued_packets_from_sent_ones);
  tcase_add_test (tc, trace_has_packets_that_do_not_fit_into_the_queue);
  tcase_add_test (tc, trace_has_packets_for_a_path_that_has_gone);
  tcase_add_test (tc, trace_has_packets_that_cannot_be_sent);
  tcase_add_test (tc, trace_has_each_packet_of_a_refused_sender);
  tcase_add_test (tc, trace_has_waits_and_timeouts);
  tcase_add_test (tc, trace_tells_when_packets_are_collected);
  tcase_add_test (tc, driver_needs_no_trace);
  return s;
}

GST_CHECK_MAIN (driver);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures the time from the push of a buffer into a network sink until its
 * packet is on the network.
 *
 *   wiretime SINK SOURCE PACKETS LIST
 *
 * Packets of 1316 bytes are pushed at 6 Mbit/s. If LIST is 1, they are pushed
 * evenly as single buffers. Otherwise LIST packets at a time are pushed in a
 * buffer list. SINK and SOURCE are elements with their properties, as in a
 * launch line. The source runs in a process of its own. The sink sends the
 * packets to the source over the loopback interface.
 *
 * A packet socket captures the packets on this interface, and the kernel writes
 * a timestamp on each. The program reads the capture only after the run, so
 * that reading does not disturb the run. It recognizes each packet by a packet
 * number, which is in the timestamp field of the RTP header.
 *
 * The program prints two lines. The first line says how many packets were
 * reordered: a packet counts if it was captured after a packet with a higher
 * packet number. The second line has, for each captured packet, the time in us
 * from the push to the capture. A packet that was captured several times counts
 * once. The program needs the capability CAP_NET_RAW.
 */

#define _GNU_SOURCE
#include "floodends.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>

#define SIZE 1316
#define RATE 6000000            /* bit/s */
#define CONNECT_TIME (20 * GST_SECOND)
#define WARM_UP_TIME (300 * GST_MSECOND)
/* Time in us for which the program waits for the last packets after the last
 * push. The rate control of a sink may delay them. */
#define DRAIN_US (100 * 1000)
#define CAPTURE_BUFFER (256 << 20)
/* Minimum size in bytes of the captured packets that the program uses. Smaller
 * packets are reports and acknowledgements of the tested elements, which are
 * ignored. */
#define MIN_CAPTURED 1000

static FloodShared *shared;

static guint64
get_time (clockid_t clock)
{
  struct timespec time;

  clock_gettime (clock, &time);
  return GST_TIMESPEC_TO_TIME (time);
}

/* --- capture -------------------------------------------------------------- */

/* Captures a packet only when it is sent. On the loopback interface, the same
 * packet would otherwise be captured a second time when it is received. Also
 * ignores packets of less than MIN_CAPTURED bytes. */
static void
ignore_received (gint fd)
{
  struct sock_filter code[] = {
    BPF_STMT (BPF_LD | BPF_B | BPF_ABS, SKF_AD_OFF + SKF_AD_PKTTYPE),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 0, 3),
    BPF_STMT (BPF_LD | BPF_W | BPF_LEN, 0),
    BPF_JUMP (BPF_JMP | BPF_JGE | BPF_K, MIN_CAPTURED, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, G_MAXUINT32),
    BPF_STMT (BPF_RET | BPF_K, 0),
  };
  struct sock_fprog program = { G_N_ELEMENTS (code), code };

  if (setsockopt (fd, SOL_SOCKET, SO_ATTACH_FILTER, &program,
          sizeof (program)) < 0)
    flood_fail (g_strerror (errno));
}

static gint
open_capture (void)
{
  struct sockaddr_ll address = {.sll_family = AF_PACKET,
    .sll_protocol = htons (ETH_P_ALL),
    .sll_ifindex = if_nametoindex ("lo")
  };
  const gint size = CAPTURE_BUFFER, yes = TRUE;
  gint fd = socket (AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

  if (fd < 0)
    flood_fail ("a packet socket needs root or the capability CAP_NET_RAW");
  ignore_received (fd);
  if (setsockopt (fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof (size)) < 0)
    setsockopt (fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof (size));
  if (setsockopt (fd, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof (yes)) < 0
      || bind (fd, (struct sockaddr *) &address, sizeof (address)) < 0)
    flood_fail (g_strerror (errno));
  return fd;
}

/* Ends the program with an error if a packet is missing in the capture. This
 * happens if the buffer of the capturing socket was full. */
static void
check_capture (gint fd)
{
  struct tpacket_stats stats;
  socklen_t size = sizeof (stats);

  if (getsockopt (fd, SOL_PACKET, PACKET_STATISTICS, &stats, &size) < 0
      || stats.tp_drops > 0)
    flood_fail ("the capture is incomplete");
}

static guint64
read_stamp (struct msghdr *message)
{
  struct cmsghdr *control;
  struct timespec stamp;

  for (control = CMSG_FIRSTHDR (message); control;
      control = CMSG_NXTHDR (message, control)) {
    if (control->cmsg_level != SOL_SOCKET
        || control->cmsg_type != SCM_TIMESTAMPNS)
      continue;
    memcpy (&stamp, CMSG_DATA (control), sizeof (stamp));
    return GST_TIMESPEC_TO_TIME (stamp);
  }
  flood_fail ("a captured packet has no timestamp");
}

/* Finds the next packet in a captured message. If the sink uses GSO, a message
 * contains several packets.
 *
 * Sets `number` to the number of the packet, which is in the timestamp field of
 * its RTP header. Moves `bytes` behind this header, so that the next call finds
 * the next packet. Returns FALSE if there is no further packet before `end`. */
static gboolean
find_packet (const guint8 ** bytes, const guint8 * end, guint * number)
{
  static const guint8 mark[] = { 0, 0, 0, FLOOD_SSRC, FLOOD_FILLING,
    FLOOD_FILLING, FLOOD_FILLING, FLOOD_FILLING
  };
  const guint8 *found = memmem (*bytes, end - *bytes, mark, sizeof (mark));

  if (!found || found - *bytes < FLOOD_SSRC_OFFSET)
    return FALSE;
  *number = GST_READ_UINT32_BE (found - FLOOD_SSRC_OFFSET
      + FLOOD_TIMESTAMP_OFFSET);
  *bytes = found + sizeof (mark);
  return TRUE;
}

/* Reads all captured packets, and prints how many of them were captured after a
 * packet with a higher number. `captured` has `n` elements. Element i is set to
 * the capture time in ns of the packet with the number `first` + i. All other
 * packets are ignored. */
static void
read_capture (gint fd, guint64 * captured, guint first, guint n)
{
  static guint8 memory[1 << 17];
  guint8 control[256];
  guint number, last = 0, n_late = 0;
  const guint8 *bytes;
  gssize size;

  while (TRUE) {
    struct iovec vector = { memory, sizeof (memory) };
    struct msghdr message = {.msg_iov = &vector,.msg_iovlen = 1,
      .msg_control = control,.msg_controllen = sizeof (control)
    };

    size = recvmsg (fd, &message, 0);
    if (size < 0)
      break;
    bytes = memory;
    while (find_packet (&bytes, memory + size, &number)) {
      if (number < first || number >= first + n || captured[number - first])
        continue;
      captured[number - first] = read_stamp (&message);
      n_late += number < last;
      last = MAX (last, number);
    }
  }
  printf ("%u\n", n_late);
}

/* --- pushing -------------------------------------------------------------- */

static void
sleep_until (guint64 time)
{
  struct timespec until;

  GST_TIME_TO_TIMESPEC (time, until);
  while (clock_nanosleep (CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL));
}

/* Waits until the time `due` of the monotonic clock. Then pushes one buffer, or
 * one buffer list of `list_size` packets. Returns the time just before the
 * push, by the clock with which the kernel timestamps packets (CLOCK_REALTIME).
 */
static guint64
push_at (GstPad * pad, guint64 due, guint list_size)
{
  GstMiniObject *packets = flood_make (SIZE, list_size);
  guint64 now;

  sleep_until (due);
  now = get_time (CLOCK_REALTIME);
  flood_push (pad, packets);
  return now;
}

static void
run (GstPad * pad, guint n, guint list_size)
{
  const guint64 interval = gst_util_uint64_scale (list_size * SIZE * 8,
      GST_SECOND, RATE);
  const guint64 begin = get_time (CLOCK_MONOTONIC);
  guint64 *pushed = g_new0 (guint64, n + list_size);
  guint64 *captured = g_new0 (guint64, n + list_size);
  guint64 due = begin, ready_at = G_MAXUINT64;
  guint i, k, first = 0;
  gint fd;

  for (; due < ready_at; first += list_size, due += interval) {
    push_at (pad, due, list_size);
    if (ready_at == G_MAXUINT64 && g_atomic_int_get (&shared->received) > 0)
      ready_at = due + WARM_UP_TIME;
    if (ready_at == G_MAXUINT64 && due > begin + CONNECT_TIME)
      flood_fail ("nothing comes out");
  }
  fd = open_capture ();
  for (i = 0; i < n; i += list_size, due += interval) {
    pushed[i] = push_at (pad, due, list_size);
    for (k = 1; k < list_size; k++)
      pushed[i + k] = pushed[i];
  }
  g_usleep (DRAIN_US);
  check_capture (fd);
  read_capture (fd, captured, first, i);
  for (k = 0; k < i; k++) {
    if (captured[k])
      printf ("%.1f ", ((gdouble) captured[k] - pushed[k]) / 1000);
  }
  printf ("\n");
}

int
main (int argc, char **argv)
{
  GstPad *pad;
  pid_t source;

  if (argc != 5) {
    g_printerr ("Usage: wiretime SINK SOURCE PACKETS LIST\n");
    return 2;
  }
  shared = flood_start_source (argv[2], NULL, &source);
  pad = flood_open_sink (argv[1]);
  run (pad, atoi (argv[3]), MAX (1, atoi (argv[4])));
  _exit (fflush (stdout) ? 1 : 0);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A small UDP sender and receiver for benchmarks. Each system call sends or
 * receives many packets.
 *
 *   udpflood receive PORT
 *   udpflood send ADDRESS PORT SIZE SECONDS
 *
 * The sender sends packets with SIZE bytes of payload as fast as possible for
 * SECONDS seconds. The receiver waits for the first packet, and ends when no
 * packet came for half a second. Both print the number of packets, and the
 * seconds from the first packet to the last one.
 *
 *   udpflood gso PACKETS SIZE
 *
 * This form sends PACKETS packets over the loopback interface to another
 * process of this program. It sends 32 packets in one message (GSO), and the
 * other process receives several packets in one message (GRO). A program that
 * sends from user space cannot be much faster. This form prints the same
 * numbers as the program bondflood:
 *
 * - the number of packets that arrived
 * - the seconds from the first packet sent to the last packet received
 * - the CPU time of the sender and that of the receiver, in seconds
 */

#define _GNU_SOURCE
#include "udpends.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define BATCH 32
#define BUFFER (8 << 20)
#define FIRST_WAIT 20           /* s */
#define IDLE_US 500000
#define MERGED 16               /* datagrams per system call, with GRO */

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

typedef struct
{
  struct mmsghdr headers[BATCH];
  struct iovec vectors[BATCH];
  char data[BATCH][2048];
} Batch;

static Batch batch;

static double
get_time (void)
{
  return udp_read_clock (CLOCK_MONOTONIC);
}

static void
fill_batch (size_t size)
{
  int i;

  for (i = 0; i < BATCH; i++) {
    batch.vectors[i].iov_base = batch.data[i];
    batch.vectors[i].iov_len = size;
    batch.headers[i].msg_hdr.msg_iov = &batch.vectors[i];
    batch.headers[i].msg_hdr.msg_iovlen = 1;
  }
}

static void
receive (int port)
{
  struct sockaddr_in address = { 0 };
  double first = 0, last = 0;
  uint64_t packets = 0;
  int fd = udp_open (SO_RCVBUFFORCE, BUFFER), n;

  address.sin_family = AF_INET;
  address.sin_port = htons (port);
  if (bind (fd, (struct sockaddr *) &address, sizeof (address)) < 0)
    udp_fail ("bind");
  fill_batch (sizeof (batch.data[0]));
  udp_set_timeout (fd, FIRST_WAIT * 1000000L);
  while ((n = recvmmsg (fd, batch.headers, BATCH, MSG_WAITFORONE, NULL)) > 0) {
    last = get_time ();
    if (packets == 0) {
      first = last;
      udp_set_timeout (fd, IDLE_US);
    }
    packets += n;
  }
  printf ("%llu %.6f\n", (unsigned long long) packets, last - first);
}

static void
send_for (const char *host, int port, size_t size, double seconds)
{
  struct sockaddr_in address = { 0 };
  int fd = udp_open (SO_SNDBUFFORCE, BUFFER), n;
  double begin, now;
  uint64_t packets = 0;

  address.sin_family = AF_INET;
  address.sin_port = htons (port);
  if (size > sizeof (batch.data[0])
      || inet_pton (AF_INET, host, &address.sin_addr) != 1) {
    errno = EINVAL;
    udp_fail (host);
  }
  if (connect (fd, (struct sockaddr *) &address, sizeof (address)) < 0)
    udp_fail ("connect");
  fill_batch (size);
  begin = get_time ();
  do {
    n = sendmmsg (fd, batch.headers, BATCH, 0);
    /* ENOBUFS means that the queue of the network interface is full.
     * ECONNREFUSED means that no receiver listens. In both cases, the packets
     * are lost and the sender continues. */
    if (n < 0 && errno != ENOBUFS && errno != ECONNREFUSED)
      udp_fail ("sendmmsg");
    packets += n > 0 ? n : 0;
    now = get_time ();
  } while (now - begin < seconds);
  printf ("%llu %.6f\n", (unsigned long long) packets, now - begin);
}

/* --- GSO and GRO ---------------------------------------------------------- */

/* Result of the receiving process, in memory that both processes share. */
typedef struct
{
  volatile uint64_t bytes;
  volatile double last;
} Received;

static void
set_udp_option (int fd, int option, int value)
{
  if (setsockopt (fd, IPPROTO_UDP, option, &value, sizeof (value)) < 0)
    udp_fail ("UDP_SEGMENT or UDP_GRO");
}

static void
receive_merged (int fd, Received * received)
{
  static char data[MERGED][65536];
  struct mmsghdr headers[MERGED] = { 0 };
  struct iovec vectors[MERGED];
  int i, n;

  prctl (PR_SET_PDEATHSIG, SIGKILL);
  set_udp_option (fd, UDP_GRO, 1);
  for (i = 0; i < MERGED; i++) {
    vectors[i].iov_base = data[i];
    vectors[i].iov_len = sizeof (data[i]);
    headers[i].msg_hdr.msg_iov = &vectors[i];
    headers[i].msg_hdr.msg_iovlen = 1;
  }
  while ((n = recvmmsg (fd, headers, MERGED, MSG_WAITFORONE, NULL)) > 0) {
    received->last = get_time ();
    for (i = 0; i < n; i++)
      received->bytes += headers[i].msg_len;
  }
}

static int
open_loopback (struct sockaddr_in *address)
{
  socklen_t size = sizeof (*address);
  int fd = udp_open (SO_RCVBUFFORCE, BUFFER);

  memset (address, 0, sizeof (*address));
  address->sin_family = AF_INET;
  address->sin_addr.s_addr = htonl (INADDR_LOOPBACK);
  if (bind (fd, (struct sockaddr *) address, sizeof (*address)) < 0
      || getsockname (fd, (struct sockaddr *) address, &size) < 0)
    udp_fail ("bind");
  return fd;
}

static void
wait_for_silence (const Received * received)
{
  uint64_t before;

  do {
    before = received->bytes;
    usleep (IDLE_US);
  } while (received->bytes != before);
}

static void
flood_merged (uint64_t packets, size_t size)
{
  static char data[65536];
  struct sockaddr_in address;
  int in = open_loopback (&address), out = udp_open (SO_SNDBUFFORCE, BUFFER);
  Received *received = mmap (NULL, sizeof (*received), PROT_READ | PROT_WRITE,
      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  double begin, cpu, cpu_of_receiver;
  clockid_t clock;
  uint64_t sent;
  pid_t pid;

  if (size == 0 || size * BATCH > 65507 || received == MAP_FAILED) {
    errno = EINVAL;
    udp_fail ("size");
  }
  pid = fork ();
  if (pid < 0)
    udp_fail ("fork");
  if (pid == 0)
    receive_merged (in, received);
  if (clock_getcpuclockid (pid, &clock) != 0
      || connect (out, (struct sockaddr *) &address, sizeof (address)) < 0)
    udp_fail ("connect");
  set_udp_option (out, UDP_SEGMENT, size);
  usleep (IDLE_US);
  begin = get_time ();
  cpu = -udp_read_clock (CLOCK_PROCESS_CPUTIME_ID);
  cpu_of_receiver = -udp_read_clock (clock);
  for (sent = 0; sent < packets; sent += BATCH) {
    if (send (out, data, size * BATCH, 0) < 0)
      udp_fail ("send");
  }
  cpu += udp_read_clock (CLOCK_PROCESS_CPUTIME_ID);
  wait_for_silence (received);
  cpu_of_receiver += udp_read_clock (clock);
  printf ("%llu %.6f %.6f %.6f\n",
      (unsigned long long) (received->bytes / size), received->last - begin,
      cpu, cpu_of_receiver);
  kill (pid, SIGKILL);
}

int
main (int argc, char **argv)
{
  if (argc == 3 && !strcmp (argv[1], "receive")) {
    receive (atoi (argv[2]));
  } else if (argc == 6 && !strcmp (argv[1], "send")) {
    send_for (argv[2], atoi (argv[3]), atoi (argv[4]), atof (argv[5]));
  } else if (argc == 4 && !strcmp (argv[1], "gso")) {
    flood_merged (atoll (argv[2]), atoi (argv[3]));
  } else {
    fprintf (stderr, "Usage: udpflood receive PORT\n"
        "       udpflood send ADDRESS PORT SIZE SECONDS\n"
        "       udpflood gso PACKETS SIZE\n");
    return 2;
  }
  return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A UDP sender with a fixed rate and a receiver that counts losses, for
 * benchmarks.
 *
 *   udprate receive PORT
 *   udprate send ADDRESS PORT SIZE SECONDS RATE [gso]
 *
 * The sender sends RATE packets per second with SIZE bytes of payload, in
 * bursts of 32 packets. Normally it sends a burst with one call of sendmmsg.
 * With `gso`, a burst is one message that the kernel cuts into packets
 * (UDP_SEGMENT). The sender prints:
 * - the number of packets that it sent,
 * - the seconds from the first burst to the last one,
 * - its CPU time in seconds,
 * - the maximum number of seconds by which a burst was late.
 *
 * The receiver waits for the first packet and ends when no packet came for half
 * a second. It prints:
 * - the number of packets that arrived,
 * - the seconds from the first packet to the last one,
 * - its CPU time in seconds,
 * - the number of packets that arrived after a packet that was sent later.
 */

#define _GNU_SOURCE
#include "udpends.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BURST 32                /* packets */
#define MAX_SIZE 2000           /* bytes */
#define BUFFER (32 << 20)
#define FIRST_WAIT 20           /* s */
#define IDLE_US 500000

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

typedef struct
{
  struct mmsghdr headers[BURST];
  struct iovec vectors[BURST];
  /* The payloads of all packets of a burst. They are adjacent in memory, so
   * that they can be passed to the kernel as one message (GSO). */
  char data[BURST * MAX_SIZE];
  size_t size;                  /* of a payload */
} Burst;

static Burst burst;

static void
fill_burst (size_t size)
{
  int i;

  burst.size = size;
  for (i = 0; i < BURST; i++) {
    burst.vectors[i].iov_base = burst.data + i * size;
    burst.vectors[i].iov_len = size;
    burst.headers[i].msg_hdr.msg_iov = &burst.vectors[i];
    burst.headers[i].msg_hdr.msg_iovlen = 1;
  }
}

/* --- receiver ------------------------------------------------------------- */

static uint64_t
read_number (int packet)
{
  uint64_t number;

  memcpy (&number, burst.vectors[packet].iov_base, sizeof (number));
  return number;
}

static void
receive (int port)
{
  struct sockaddr_in address = { 0 };
  double first = 0, last = 0;
  uint64_t packets = 0, overtaken = 0, latest = 0;
  int fd = udp_open (SO_RCVBUFFORCE, BUFFER), i, n;

  address.sin_family = AF_INET;
  address.sin_port = htons (port);
  if (bind (fd, (struct sockaddr *) &address, sizeof (address)) < 0)
    udp_fail ("bind");
  fill_burst (MAX_SIZE);
  udp_set_timeout (fd, FIRST_WAIT * 1000000L);
  while ((n = recvmmsg (fd, burst.headers, BURST, MSG_WAITFORONE, NULL)) > 0) {
    last = udp_read_clock (CLOCK_MONOTONIC);
    if (packets == 0) {
      first = last;
      udp_set_timeout (fd, IDLE_US);
    }
    for (i = 0; i < n; i++) {
      overtaken += read_number (i) < latest;
      if (read_number (i) > latest)
        latest = read_number (i);
    }
    packets += n;
  }
  printf ("%llu %.6f %.6f %llu\n", (unsigned long long) packets, last - first,
      udp_read_clock (CLOCK_PROCESS_CPUTIME_ID),
      (unsigned long long) overtaken);
}

/* --- sender --------------------------------------------------------------- */

static void
number_burst (uint64_t first)
{
  int i;

  for (i = 0; i < BURST; i++) {
    uint64_t number = first + i;

    memcpy (burst.vectors[i].iov_base, &number, sizeof (number));
  }
}

/* Sends one burst. Returns the number of packets that the kernel accepted. */
static int
send_burst (int fd, int gso)
{
  int n;

  if (gso) {
    n = send (fd, burst.data, burst.size * BURST, 0);
    n = n > 0 ? n / (int) burst.size : n;
  } else {
    n = sendmmsg (fd, burst.headers, BURST, 0);
  }
  /* ENOBUFS means that the queue of the network interface is full. ECONNREFUSED
   * means that no receiver listens. In both cases, the packets are lost and the
   * sender continues. */
  if (n < 0 && errno != ENOBUFS && errno != ECONNREFUSED)
    udp_fail ("send");
  return n < 0 ? 0 : n;
}

/* Waits until the time `time`. If this time has already passed, the function
 * returns at once. A sender that is late therefore sends the missed bursts
 * immediately, and the mean rate is correct. */
static void
wait_until (double time)
{
  struct timespec until = { time, (time - (time_t) time) * 1e9 };

  clock_nanosleep (CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static void
send_at_rate (int fd, double seconds, double rate, int gso)
{
  double begin = udp_read_clock (CLOCK_MONOTONIC), due, late = 0;
  uint64_t numbered = 0, accepted = 0;

  while (numbered < seconds * rate) {
    due = begin + numbered / rate;
    wait_until (due);
    if (udp_read_clock (CLOCK_MONOTONIC) - due > late)
      late = udp_read_clock (CLOCK_MONOTONIC) - due;
    number_burst (numbered);
    accepted += send_burst (fd, gso);
    numbered += BURST;
  }
  printf ("%llu %.6f %.6f %.6f\n", (unsigned long long) numbered,
      udp_read_clock (CLOCK_MONOTONIC) - begin,
      udp_read_clock (CLOCK_PROCESS_CPUTIME_ID), late);
  if (accepted < numbered)
    fprintf (stderr, "udprate: the socket refused %llu packets\n",
        (unsigned long long) (numbered - accepted));
}

static int
open_sender (const char *host, int port, size_t size, int gso)
{
  struct sockaddr_in address = { 0 };
  int fd = udp_open (SO_SNDBUFFORCE, BUFFER), segment = size;

  address.sin_family = AF_INET;
  address.sin_port = htons (port);
  if (size < sizeof (uint64_t) || size > MAX_SIZE
      || inet_pton (AF_INET, host, &address.sin_addr) != 1) {
    errno = EINVAL;
    udp_fail (host);
  }
  if (connect (fd, (struct sockaddr *) &address, sizeof (address)) < 0)
    udp_fail ("connect");
  if (gso && setsockopt (fd, IPPROTO_UDP, UDP_SEGMENT, &segment,
          sizeof (segment)) < 0)
    udp_fail ("UDP_SEGMENT");
  return fd;
}

int
main (int argc, char **argv)
{
  int gso = argc == 8 && !strcmp (argv[7], "gso");

  if (argc == 3 && !strcmp (argv[1], "receive")) {
    receive (atoi (argv[2]));
  } else if ((argc == 7 || gso) && !strcmp (argv[1], "send")) {
    fill_burst (atoi (argv[4]));
    send_at_rate (open_sender (argv[2], atoi (argv[3]), atoi (argv[4]), gso),
        atof (argv[5]), atof (argv[6]), gso);
  } else {
    fprintf (stderr, "Usage: udprate receive PORT\n"
        "       udprate send ADDRESS PORT SIZE SECONDS RATE [gso]\n");
    return 2;
  }
  return 0;
}
